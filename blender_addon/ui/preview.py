# pyright: reportInvalidTypeForm=false
"""The videos of a job in an Image Editor: they play, loop and scrub with the timeline."""

import shutil
from pathlib import Path

import bpy
from bpy.props import BoolProperty

from atop_backend.contracts import JobResult
from atop_backend.errors import InputError

from ..scene.record import articulation_of
from . import monitor
from .edit_operators import JointOperator

BEST = "comparison"  # generated and fitted side by side, if the job made it


class ATOP_OT_show_preview(JointOperator, bpy.types.Operator):
    """Play what was generated beside what was fitted, in step with the timeline"""

    bl_idname = "atop.show_preview"
    bl_label = "Show Preview"
    bl_options = {"REGISTER"}

    new_window: BoolProperty(
        name="New Window", description="Instead of the largest other area", default=True
    )

    @classmethod
    def poll(cls, context):
        found = articulation_of(context.view_layer.objects.active)
        cls.poll_message_set("Select a part that has been articulated from a prompt")
        return found is not None and "job" in found.data

    def change(self, context, found):
        movies = save_movies(Path(found.data["job"]), found.tag)
        image = load_movie(movies[0])
        area = open_area(context, self.new_window)
        show(area, image, context.scene.atop.frame_start)
        if area is None:
            return f"Saved {movies[0]}"
        return f"Playing {movies[0].name} with the timeline"


def save_movies(job: Path, tag: str) -> list[Path]:
    """Put the movies of a job beside the .blend, best to look at first; returns where they are.

    An unsaved file leaves them in the job folder, which is in the extension's user folder.

    Raises:
        InputError: The job made none, or its folder has been cleared.
    """
    result = job / "result.json"
    if not result.is_file():
        raise InputError(f"the videos in {job} have been cleared", hint="articulate the part again")
    files = JobResult.from_dict(monitor.read_result(str(result))).files
    movies = {name: job / file for name, file in files.items() if file.endswith(".mp4")}
    names = sorted(movies, key=lambda name: (name != BEST, name))
    if not names:
        raise InputError(
            "this answer has no videos", hint="articulate with Quality set to Standard"
        )
    if not bpy.data.filepath:
        return [movies[name] for name in names]
    folder = Path(bpy.data.filepath).parent
    stem = Path(bpy.data.filepath).stem
    saved = []
    for name in names:
        plain = "".join(c if c.isalnum() else "_" for c in f"{stem} {tag} {name}")
        saved.append(folder / f"{plain}.mp4")
        shutil.copyfile(movies[name], saved[-1])
    return saved


def load_movie(path: Path) -> bpy.types.Image:
    """The movie as an image, read anew if it was loaded before."""
    image = bpy.data.images.load(str(path), check_existing=True)
    image.reload()
    return image


def open_area(context: bpy.types.Context, new_window: bool) -> bpy.types.Area | None:
    """An Image Editor: one that is open, else a new window; None without a user interface."""
    windows = context.window_manager.windows
    for window in windows:
        for area in window.screen.areas:
            if area.type == "IMAGE_EDITOR":
                return area
    if bpy.app.background:
        return None
    if new_window:
        bpy.ops.wm.window_new()
        area = windows[-1].screen.areas[0]
    else:
        area = max(context.screen.areas, key=lambda a: a.width * a.height)
    area.type = "IMAGE_EDITOR"
    return area


def show(area: bpy.types.Area | None, image: bpy.types.Image, frame_start: int) -> None:
    """Show the movie looping from a frame of the timeline on."""
    if area is None:
        return
    space = area.spaces.active
    space.image = image
    user = space.image_user
    user.frame_duration = image.frame_duration
    user.frame_start = frame_start
    user.use_cyclic = user.use_auto_refresh = True
    window = next(w for w in bpy.context.window_manager.windows if area in w.screen.areas[:])
    region = next(r for r in area.regions if r.type == "WINDOW")
    if not bpy.app.background:
        with bpy.context.temp_override(window=window, area=area, region=region):
            bpy.ops.image.view_all(fit_view=True)
    area.tag_redraw()


CLASSES = (ATOP_OT_show_preview,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
