# pyright: reportInvalidTypeForm=false
"""The add-on's preferences: where the backend is, which model, where jobs are kept."""

import json
import os
from contextlib import suppress
from pathlib import Path

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

PACKAGE = __package__.rpartition(".")[0]
SETUP_COMMAND = "bash scripts/setup.sh"
KEPT = ("python", "model", "weights", "finetuned", "device", "cache", "time_limit_s")


class ArticulatePreferences(bpy.types.AddonPreferences):
    """Saved with Blender's preferences."""

    bl_idname = PACKAGE

    python: StringProperty(
        name="Backend Python",
        description="The Python that has atop-backend installed, as scripts/setup.sh prints it",
        subtype="FILE_PATH",
    )
    model: EnumProperty(
        name="Model",
        items=(
            ("BUNDLED", "Bundled", "The small model that comes with the backend"),
            ("IMAGEDREAM", "ImageDream", "A folder of ImageDream weights; wants a GPU"),
        ),
    )
    weights: StringProperty(
        name="ImageDream Folder", description="Holds the weights", subtype="DIR_PATH"
    )
    finetuned: StringProperty(
        name="Finetuned Weights",
        description="A file that `atop finetune` wrote for the model above; empty for none",
        subtype="FILE_PATH",
    )
    device: StringProperty(name="Device", description="auto, cpu, cuda or cuda:1", default="auto")
    cache: StringProperty(
        name="Cache Folder",
        description="Where jobs are kept; empty for the extension's own folder",
        subtype="DIR_PATH",
    )
    time_limit_s: IntProperty(
        name="Time Limit",
        description="Seconds after which a job is cancelled",
        default=900,
        min=10,
    )
    report: StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    cache_note: StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    def draw(self, context: bpy.types.Context) -> None:
        """The page in Edit > Preferences > Add-ons."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "python")
        row = layout.row()
        row.operator("atop.check_backend", icon="CHECKMARK")
        row.operator("atop.copy_setup_command", icon="COPYDOWN")
        if self.report:
            box = layout.box().column(align=True)
            for line in self.report.splitlines():
                bad = line.lstrip().startswith(("BAD", "->"))
                box.label(text=line, icon="ERROR" if bad else "BLANK1", translate=False)
        layout.separator()
        layout.prop(self, "model")
        if self.model == "IMAGEDREAM":
            layout.prop(self, "weights")
        layout.prop(self, "finetuned")
        layout.prop(self, "device")
        layout.prop(self, "time_limit_s")
        layout.separator()
        layout.prop(self, "cache")
        row = layout.row()
        row.operator("atop.measure_cache", icon="FILE_FOLDER")
        row.operator("atop.clear_cache", icon="TRASH")
        if self.cache_note:
            layout.label(text=self.cache_note, translate=False)


def get(context: bpy.types.Context) -> ArticulatePreferences:
    """The preferences of this add-on."""
    return context.preferences.addons[PACKAGE].preferences


def cache_folder(context: bpy.types.Context) -> Path:
    """Where jobs are kept: as set, else the extension's own user folder."""
    chosen = get(context).cache
    if chosen:
        return Path(bpy.path.abspath(chosen))
    if PACKAGE.startswith("bl_ext."):
        return Path(bpy.utils.extension_path_user(PACKAGE, path="jobs"))
    return Path(bpy.utils.user_resource("DATAFILES", path="atop"))


def cache_size(folder: Path) -> tuple[int, int]:
    """Files and bytes below a folder."""
    sizes = [
        os.path.getsize(os.path.join(place, name))
        for place, _, names in os.walk(folder)
        for name in names
    ]
    return len(sizes), sum(sizes)


def settings_file() -> Path:
    """Where settings outlast disabling, which makes Blender forget them, and updates."""
    if PACKAGE.startswith("bl_ext."):
        return Path(bpy.utils.extension_path_user(PACKAGE)) / "settings.json"
    return Path(bpy.utils.user_resource("DATAFILES", path="atop")) / "settings.json"


def remember() -> None:
    """Write what differs from the defaults; a folder that cannot be written to is no error."""
    options = get(bpy.context)
    kept = {name: getattr(options, name) for name in KEPT if options.is_property_set(name)}
    with suppress(OSError):
        path = settings_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(kept), encoding="utf-8")


def recall() -> None:
    """Take back what `remember` wrote, where nothing else has been set since."""
    options = get(bpy.context)
    with suppress(OSError, ValueError):
        kept = json.loads(settings_file().read_text(encoding="utf-8"))
        for name in KEPT:
            if name in kept and not options.is_property_set(name):
                with suppress(TypeError):  # of an older or newer version
                    setattr(options, name, kept[name])


def register():
    bpy.utils.register_class(ArticulatePreferences)
    recall()


def unregister():
    remember()
    bpy.utils.unregister_class(ArticulatePreferences)
