"""What the artist picked as the part, and what object it is part of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import bpy
import numpy as np

from atop_backend.errors import InputError

from . import convert
from .mesh_parts import MeshPart
from .record import KEY, STAND_IN
from .write import ancestors, root_parts

Source = Literal["OBJECTS", "VERTEX_GROUP", "MATERIAL", "FACES", "ATTRIBUTE"]
Part = bpy.types.Object | MeshPart
SURFACES = ("MESH", "CURVE", "SURFACE", "FONT", "META")
FULL_WEIGHT = 0.5  # a face belongs to a vertex group if all its corners weigh this much
_REACH = 0.1  # of a part's size: what is nearer belongs to the same thing
_FAR_LARGER = 20.0  # times a part's size: rooms and ground planes are no part of it


def owner(part: Part) -> bpy.types.Object:
    """The object that the part is or lies on."""
    return part.object if isinstance(part, MeshPart) else part


def pick_parts(
    context: bpy.types.Context,
    source: Source,
    name: str = "",
    way: Literal["bone", "separate"] = "bone",
) -> list[Part]:
    """What the panel's part picker means now.

    Args:
        name: Of the vertex group, material or face attribute.

    Raises:
        InputError: Nothing fits; says what to select.
    """
    if source == "OBJECTS":
        chosen = [ob for ob in context.selected_objects if has_faces(ob)]
        active = context.view_layer.objects.active
        if not chosen and active is not None and has_faces(active):
            chosen = [active]
        return root_parts(chosen)
    ob = context.view_layer.objects.active
    if ob is None or ob.type != "MESH":
        raise InputError("no mesh is active", hint="click the mesh object that has the part")
    if ob.mode == "EDIT":
        ob.update_from_editmode()
    faces, label = _faces(ob, source, name)
    if len(faces) == len(ob.data.polygons) > 0:
        return root_parts([ob])
    return root_parts([MeshPart(ob, faces, label, way)])


def has_faces(ob: bpy.types.Object) -> bool:
    """Whether the object or something below it has a surface, or it stands for a collection."""

    def shows(each: bpy.types.Object) -> bool:
        return each.type in SURFACES or each.instance_type == "COLLECTION"

    return shows(ob) or any(map(shows, ob.children_recursive))


def _faces(ob: bpy.types.Object, source: Source, name: str) -> tuple[np.ndarray, str]:
    polygons = ob.data.polygons
    match source:
        case "FACES":
            chosen = np.empty(len(polygons), bool)
            polygons.foreach_get("select", chosen)
            label = f"{ob.name} part"
        case "MATERIAL":
            slots = [slot.material and slot.material.name for slot in ob.material_slots]
            _require(name, [slot for slot in slots if slot], "material", ob)
            numbers = np.empty(len(polygons), np.int32)
            polygons.foreach_get("material_index", numbers)
            wanted = np.array([slot == name for slot in slots])
            chosen, label = wanted[numbers.clip(max=len(wanted) - 1)], name
        case "ATTRIBUTE":
            attributes = [a.name for a in ob.data.attributes if a.domain == "FACE"]
            _require(name, attributes, "face attribute", ob)
            attribute = ob.data.attributes[name]
            kind = {"BOOLEAN": bool, "INT": np.int32, "INT8": np.int32}.get(
                attribute.data_type, np.float32
            )
            values = np.empty(len(polygons), kind)
            attribute.data.foreach_get("value", values)
            chosen, label = values > 0.5, name
        case _:
            _require(name, [group.name for group in ob.vertex_groups], "vertex group", ob)
            chosen, label = _grouped(ob, ob.vertex_groups[name].index), name
    if not chosen.any():
        what = "no face is selected" if source == "FACES" else f"{name!r} has no faces"
        raise InputError(f"{what} on {ob.name!r}", hint="assign or select the faces that move")
    return np.flatnonzero(chosen), label


def _require(name: str, names: list[str], what: str, ob: bpy.types.Object) -> None:
    if name in names:
        return
    listed = ", ".join(names[:20]) or "none"
    raise InputError(
        f"{ob.name!r} has no {what} {name!r}" if name else f"no {what} is chosen",
        hint=f"it has {listed}",
    )


def _grouped(ob: bpy.types.Object, group: int) -> np.ndarray:
    """Which faces have all their corners in a vertex group, (polygons,)."""
    inside = np.array(
        [
            any(g.group == group and g.weight >= FULL_WEIGHT for g in vertex.groups)
            for vertex in ob.data.vertices
        ],
        bool,
    )
    corners = np.empty(len(ob.data.loops), np.int32)
    ob.data.loops.foreach_get("vertex_index", corners)
    starts = np.empty(len(ob.data.polygons), np.int32)
    ob.data.polygons.foreach_get("loop_start", starts)
    if not len(starts):
        return np.zeros(0, bool)
    return np.logical_and.reduceat(inside[corners], starts)


def whole_object(context: bpy.types.Context, parts: Sequence[Part]) -> list[bpy.types.Object]:
    """The parts and what they are part of, as an artist would say.

    That is their common hierarchy; without one, their own collection; without that, whatever
    touches them and is not far larger.
    """
    owners = {owner(part) for part in parts}
    below = {child for ob in owners for child in ob.children_recursive} | owners
    tops = {(ancestors(ob) or [ob])[-1] for ob in owners}
    family = {ob for top in tops for ob in (top, *top.children_recursive)}
    if any(isinstance(part, MeshPart) for part in parts) or _meshes(family - below):
        return _here(context, family)
    for ob in owners:
        for collection in ob.users_collection:
            inside = set(collection.all_objects)
            if collection != context.scene.collection and _meshes(inside - below):
                return _here(context, inside | below)
    return _here(context, below | _touching(context, below))


def _is_stand_in(ob: bpy.types.Object) -> bool:
    return f"{KEY}_{STAND_IN}" in ob and KEY not in ob  # the frame points at one by that name


def _meshes(objects: set[bpy.types.Object]) -> bool:
    return any(ob.type in SURFACES for ob in objects)


def _here(context: bpy.types.Context, objects: set[bpy.types.Object]) -> list[bpy.types.Object]:
    here = (ob for ob in objects if ob.name in context.scene.objects and not _is_stand_in(ob))
    return sorted(here, key=lambda ob: ob.name)


def _touching(context: bpy.types.Context, parts: set[bpy.types.Object]) -> set[bpy.types.Object]:
    low, high = bounds(parts)
    size = float(np.linalg.norm(high - low))
    with context.temp_override(area=None, region=None):  # where local view hides nothing
        seen = [ob for ob in context.view_layer.objects if ob.visible_get()]
    others = [ob for ob in seen if ob not in parts and _meshes({ob})]
    boxes = {ob: bounds({ob}) for ob in others}
    near, pending = set(), [(low, high)]
    while pending:
        low, high = pending.pop()
        for ob, (start, end) in boxes.items():
            if ob in near or np.linalg.norm(end - start) > _FAR_LARGER * size:
                continue
            if (start <= high + _REACH * size).all() and (end >= low - _REACH * size).all():
                near.add(ob)
                pending.append((start, end))
    return near


def bounds(objects: set[bpy.types.Object]) -> tuple[np.ndarray, np.ndarray]:
    """Low and high corner in the world, (3,) each."""
    corners = []
    for ob in objects:
        world = convert.as_array(ob.matrix_world)
        corners.append(np.array(ob.bound_box) @ world[:3, :3].T + world[:3, 3])
    points = np.concatenate(corners)
    return points.min(axis=0), points.max(axis=0)
