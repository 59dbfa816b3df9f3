"""The rig that the artist means, a copy of it for the backend, and the rig found again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from atop_backend.errors import InputError

from . import convert, read, rig_keys, write

PICTURES = (".png", ".jpg", ".jpeg", ".webp")
Mat4 = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class PickedRig:
    """A rig by name and number alone, to be found again after undo or renaming."""

    name: str
    uid: int  # session id of the armature object
    world: Mat4  # matrix of the armature when the copy was written
    keyed: bool  # whether the armature object itself was animated then


def rig_of(ob: bpy.types.Object | None) -> bpy.types.Object | None:
    """The armature that an object is, is bound to or hangs on; None without one. Cheap."""
    for _ in range(64):
        if ob is None or ob.type == "ARMATURE":
            return ob
        for modifier in ob.modifiers:
            if modifier.type == "ARMATURE" and modifier.object is not None:
                return modifier.object
        ob = ob.parent
    return None


def rigs_in(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """All armatures of a scene that meshes are bound to, by name."""
    found = (ob for ob in scene.objects if ob.type == "ARMATURE" and rig_keys.skins(ob))
    return sorted(found, key=lambda ob: ob.name)


def require_rig(ob: bpy.types.Object | None) -> bpy.types.Object:
    """The armature of an object, checked to be one that can be animated here.

    Raises:
        InputError: There is none, it has no bones or no mesh, or it belongs to another file.
    """
    armature = rig_of(ob)
    if armature is None:
        name = "nothing" if ob is None else repr(ob.name)
        raise InputError(
            f"{name} is selected, which has no armature",
            hint="select a mesh that is bound to an armature, or the armature itself",
        )
    write.check_editable(armature)
    if not len(armature.data.bones):
        raise InputError(f"{armature.name!r} has no bones", hint="add bones in edit mode")
    if not any(ob.type == "MESH" for ob in rig_keys.skins(armature)):
        raise InputError(
            f"no mesh is bound to {armature.name!r}",
            hint="select the mesh, then the armature, and use Parent > With Automatic Weights",
        )
    return armature


def selected_bones(armature: bpy.types.Object) -> tuple[str, ...]:
    """Names of the bones that are selected in pose mode; none in other modes."""
    if armature.mode != "POSE":
        return ()
    selected = [
        pose.name
        for pose in armature.pose.bones
        if (pose if hasattr(pose, "select") else pose.bone).select  # moved in Blender 5.0
    ]
    return tuple(selected)


def write_rig_copy(
    context: bpy.types.Context, armature: bpy.types.Object, folder: Path
) -> tuple[Path, PickedRig]:
    """Save the rig to a file of its own; the artist's file is as before afterwards.

    Raises:
        InputError: The folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "scene.blend"
    inside = context.view_layer.objects
    bound = [ob for ob in rig_keys.skins(armature) if ob.name in inside and not ob.hide_render]
    read.write_objects(context, dict.fromkeys((armature, *bound)), path)
    return path, pick_rig(armature)


def write_camera(scene: bpy.types.Scene, video: Path, path: Path) -> Path:
    """Write the scene's camera as it sees pictures of the video's size; returns the path.

    Raises:
        InputError: The scene has no camera that could have taken it, or the video has no size.
    """
    if scene.camera is None:
        raise InputError(
            "the scene has no camera",
            hint="add one where the video was taken, or have it guessed",
        )
    width, height = picture_size(video)
    camera = convert.camera_of(scene.camera, width, height)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([camera.to_dict()]), encoding="utf-8")
    return path


def picture_size(video: Path) -> tuple[int, int]:
    """Width and height in pixels of a video, or of the first picture in a folder.

    Raises:
        InputError: Blender cannot read it.
    """
    file = video
    if video.is_dir():
        pictures = (p for p in sorted(video.iterdir()) if p.suffix.lower() in PICTURES)
        file = next(pictures, video)
    try:
        image = bpy.data.images.load(str(file), check_existing=False)
    except RuntimeError as error:
        raise InputError(f"{file} cannot be read", hint="choose a video or pictures") from error
    try:
        width, height = image.size
    finally:
        bpy.data.images.remove(image)
    if not width or not height:
        raise InputError(f"{file} has no picture", hint="choose a video or pictures")
    return width, height


def pick_rig(armature: bpy.types.Object) -> PickedRig:
    """The rig as it stands now, for later."""
    world = convert.as_array(armature.matrix_world)
    keyed = any(
        path.startswith(("location", "rotation", "scale", "delta"))
        for path in rig_keys.keyed_paths(armature)
    )
    return PickedRig(armature.name, armature.session_uid, tuple(map(tuple, world.tolist())), keyed)


def find_rig(picked: PickedRig) -> bpy.types.Object:
    """The armature again, after whatever the artist did meanwhile.

    Raises:
        InputError: It was deleted, or another file was loaded.
    """
    for ob in bpy.data.objects:
        if ob.session_uid == picked.uid and ob.type == "ARMATURE":
            return ob
    raise InputError(
        f"{picked.name!r} is no longer in this file",
        hint="it was deleted or another file was opened; the result stays in its folder",
    )


def world_now(armature: bpy.types.Object, picked: PickedRig) -> tuple[np.ndarray, np.ndarray]:
    """Where the motion's rest is now, and how it has been moved since the copy; (4, 4) each.

    An armature with animation of its own moves with the timeline, so it counts as unmoved.
    """
    then = np.array(picked.world)
    if picked.keyed:
        return then, np.eye(4)
    now = convert.as_array(armature.matrix_world)
    return now, now @ np.linalg.inv(then)
