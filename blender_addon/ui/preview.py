# pyright: reportInvalidTypeForm=false
"""The videos of a job in an Image Editor: they play, loop and scrub with the timeline."""

import shutil
from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty

from atop_backend.contracts import JobResult
from atop_backend.errors import InputError

from ..scene.record import articulation_of
from . import monitor
from .edit_operators import JointOperator

MOVIES = (  # identifier, label, description and the name under which the job lists the file
    ("BOTH", "Both", "Generated above, fitted below", "comparison"),
    ("FITTED", "Fitted", "The joint on the real mesh, from the same four views", "fitted"),
    *((f"VIEW_{i}", f"View {i + 1}", "Generated, from one view", f"video {i}") for i in range(4)),
)


class ATOP_OT_show_preview(JointOperator, bpy.types.Operator):
    """Play what was generated and what was fitted, in step with the timeline"""

    bl_idname = "atop.show_preview"
    bl_label = "Show Preview"
    bl_options = {"REGISTER"}

    movie: EnumProperty(
        name="Movie", description="Which one to play", items=[entry[:3] for entry in MOVIES]
    )
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
        name = next(name for identifier, *_, name in MOVIES if identifier == self.movie)
        if name not in movies:
            raise InputError(
                f"this answer has no movie {name!r}", hint=f"it has {', '.join(movies)}"
            )
        area = open_area(context, self.new_window)
        show(area, load_movie(movies[name]), context.scene.atop.frame_start)
        if area is None:
            return f"Saved {movies[name]}"
        return f"Playing {movies[name].name} with the timeline"


def save_movies(job: Path, tag: str) -> dict[str, Path]:
    """Put the movies of a job beside the .blend; returns where they are, by the job's names.

    An unsaved file, and a folder that cannot be written to, leave them in the job folder, which is
    in the extension's user folder.

    Raises:
        InputError: The job made none, or its folder has been cleared.
    """
    result = job / "result.json"
    if not result.is_file():
        raise InputError(f"the videos in {job} have been cleared", hint="articulate the part again")
    files = JobResult.from_dict(monitor.read_result(str(result))).files
    movies = {name: job / file for name, file in files.items() if file.endswith(".mp4")}
    if not movies:
        raise InputError(
            "this answer has no videos", hint="articulate with Quality set to Standard"
        )
    return {name: beside_blend(movie, tag, name) for name, movie in movies.items()}


def beside_blend(movie: Path, tag: str, name: str) -> Path:
    """A copy of the movie beside the .blend; the movie itself where that cannot be."""
    if not bpy.data.filepath:
        return movie
    blend = Path(bpy.data.filepath)
    plain = "".join(c if c.isalnum() else "_" for c in f"{blend.stem} {tag} {name}")
    saved = blend.with_name(f"{plain}.mp4")
    try:
        shutil.copyfile(movie, saved)
    except OSError:
        return movie
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
