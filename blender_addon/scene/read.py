"""A copy of just the objects that the backend has to see, and the parts found again afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import bpy
import numpy as np

from atop_backend.errors import InputError

from . import animate, convert
from .mesh_parts import MeshPart, object_mode
from .pick import Part, owner, whole_object
from .record import Articulation, articulation_of


@dataclass(frozen=True, slots=True)
class PickedPart:
    """A part by names and files alone, to be found again after undo, renaming or mode changes."""

    name: str
    uids: tuple[int, ...]  # session ids of the objects
    faces: tuple[str, ...]  # beside each: a file of face indices, or empty for the whole object
    polygons: tuple[int, ...]  # beside each: how many faces the mesh had
    way: Literal["bone", "separate"]
    world: tuple[tuple[float, ...], ...]  # matrix of the first object, at rest


@contextmanager
def at_rest(
    context: bpy.types.Context, parts: Sequence[Part], but: Articulation | None = None
) -> Iterator[None]:
    """Close the joints that move the parts now, since a new one starts from their rest.

    Args:
        but: Left as it is, for it is about to be written anew.
    """
    found: dict[str, Articulation] = {}
    for part in parts:
        articulation = articulation_of(owner(part))
        # a knob's own, its door's, ...; with constraints a frame can hang on what it moves
        while articulation is not None and articulation.frame.name_full not in found:
            found[articulation.frame.name_full] = articulation
            articulation = articulation_of(articulation.frame.parent)
    if but is not None:
        found.pop(but.frame.name_full, None)
    kept = []
    for articulation in found.values():
        pivot = articulation.pivot
        action = pivot.animation_data.action if pivot.animation_data else None
        kept.append((pivot, action, pivot["open"]))
        if action is not None:
            pivot.animation_data.action = None
        pivot["open"] = 0.0
        pivot.update_tag()
    context.view_layer.update()
    try:
        yield
    finally:
        for pivot, action, value in kept:
            if action is not None:
                animate.assign_action(pivot, action)
            pivot["open"] = value
            pivot.update_tag()
        context.view_layer.update()


def write_scene_copy(
    context: bpy.types.Context, parts: Sequence[Part], folder: Path
) -> tuple[Path, tuple[str, ...], PickedPart]:
    """Save the whole object to a file of its own.

    Returns:
        The file, the backend's selectors of the parts in it, and the parts by name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "scene.blend"
    objects = whole_object(context, parts)
    with at_rest(context, parts):
        picked = _note_parts(parts, folder)
        moving = {ob for part in parts for ob in (owner(part), *owner(part).children_recursive)}
        shown = [ob for ob in moving if ob.hide_render and ob.library is None]
        try:
            for ob in shown:
                ob.hide_render = False  # the backend sees what renders
            write_objects(context, objects, path)
        finally:
            for ob in shown:
                ob.hide_render = True
    return path, _selectors(parts, picked), picked


def write_objects(
    context: bpy.types.Context, objects: Iterable[bpy.types.Object], path: Path
) -> None:
    """Save objects and all that they need, as a scene at the present frame, to a file of its own.

    Raises:
        InputError: The file cannot be written.
    """
    copy = bpy.data.scenes.new("atop copy")
    try:
        for ob in objects:
            if ob.mode == "EDIT":
                ob.update_from_editmode()
            copy.collection.objects.link(ob)
        copy.frame_current = context.scene.frame_current
        copy.render.fps = context.scene.render.fps
        copy.render.fps_base = context.scene.render.fps_base
        copy.view_layers[0].update()  # Blender 5.2 crashes on writing a scene without it
        bpy.data.libraries.write(
            str(path), {copy}, path_remap="ABSOLUTE", fake_user=True, compress=False
        )
    except RuntimeError as error:
        raise InputError(
            f"the scene copy {path} cannot be written ({error})",
            hint="set another cache folder in the add-on's preferences",
        ) from error
    finally:
        bpy.data.scenes.remove(copy)


def _note_parts(parts: Sequence[Part], folder: Path) -> PickedPart:
    files, counts = [], []
    for index, part in enumerate(parts):
        files.append("")
        counts.append(len(part.object.data.polygons) if isinstance(part, MeshPart) else 0)
        if isinstance(part, MeshPart):
            files[-1] = str(folder / f"part_{index}.npy")
            np.save(files[-1], part.faces.astype(np.int64))
    ways = [part.way for part in parts if isinstance(part, MeshPart)]
    world = convert.as_array(owner(parts[0]).matrix_world)
    return PickedPart(
        parts[0].name,
        tuple(owner(part).session_uid for part in parts),
        tuple(files),
        tuple(counts),
        ways[0] if ways else "bone",  # type: ignore[arg-type]
        tuple(map(tuple, world.tolist())),
    )


def _selectors(parts: Sequence[Part], picked: PickedPart) -> tuple[str, ...]:
    names = []
    for part, file in zip(parts, picked.faces, strict=True):
        names.append(f"faces:{file}#{owner(part).name}" if file else owner(part).name)
    return tuple(names)


def find_parts(picked: PickedPart) -> list[Part]:
    """The parts again, after whatever the artist did meanwhile.

    Raises:
        InputError: An object was deleted, another file was loaded or the mesh was changed.
    """
    by_uid = {ob.session_uid: ob for ob in bpy.data.objects}
    found: list[Part] = []
    for uid, file, count in zip(picked.uids, picked.faces, picked.polygons, strict=True):
        ob = by_uid.get(uid)
        if ob is None:
            raise InputError(
                f"{picked.name!r} is no longer in this file",
                hint="it was deleted or another file was opened; the result stays in its folder",
            )
        if not file:
            found.append(ob)
            continue
        with object_mode(bpy.context, ob):
            if len(ob.data.polygons) != count:
                raise InputError(
                    f"the mesh of {ob.name!r} has been changed since",
                    hint="articulate the part again",
                )
        found.append(MeshPart(ob, np.load(file), picked.name, picked.way))
    return found


def moved_since(
    context: bpy.types.Context, parts: Sequence[Part], picked: PickedPart
) -> np.ndarray:
    """How the part's object has been moved since the copy was written, (4, 4); identity if not."""
    before = np.array(picked.world)
    with at_rest(context, parts):
        now = convert.as_array(owner(parts[0]).matrix_world)
    if np.allclose(before, now, rtol=0, atol=1e-7 * max(1.0, np.abs(before).max())):
        return np.eye(4)
    if abs(np.linalg.det(before[:3, :3])) < 1e-12:
        return np.eye(4)
    convert.invert(now, owner(parts[0]).name)  # flattened meanwhile: nothing can turn there
    return now @ np.linalg.inv(before)
