"""Runs inside Blender: an armature and the surfaces that follow it, as the arrays of a rig.

All in the rest pose and the world frame. A surface follows a bone by its weights under an Armature
modifier, or as a whole where it hangs on the bone; everything else below the armature stands on
the armature object itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np

from atop_backend.errors import InputError
from atop_backend.rendering.blender_colours import face_colours
from atop_backend.rendering.blender_import import SURFACES
from blender_addon.scene.rig_controls import Control
from blender_addon.scene.rig_keys import followed

OBJECT = "(object)"  # a bone of ours that stands for the armature object itself
FLIP = np.diag([-1.0, 1.0, 1.0, 1.0])  # makes the axes of a mirrored bone right-handed again
LEAST_WEIGHT = 1e-4  # in total; with less Blender leaves a vertex where it is
_EVEN = 1e-3  # relative difference of the axes' scales that still counts as uniform
_SHOWN_NAMES = 8


class Surface(NamedTuple):
    """One object of the asset and how it follows the armature."""

    object: Any
    modifier: Any  # its Armature modifier; None where it has none of its own
    bone: str  # that it follows as a whole; empty for weights, OBJECT for none


class Skin(NamedTuple):
    """All surfaces together, at rest in the world."""

    vertices: np.ndarray  # (n, 3) float64
    triangles: np.ndarray  # (m, 3)
    face_colours: np.ndarray  # (m, 3)
    weights: np.ndarray  # (n, bones) float32, as stored, not normalised; zero rows stand still


def find_armature(name: str) -> tuple[Any, Any]:
    """The armature and the scene that it is in.

    Raises:
        InputError: There is none, there are several to choose from, or it has no surfaces.
    """
    scenes = [bpy.context.scene, *(s for s in bpy.data.scenes if s is not bpy.context.scene)]
    for scene in scenes:
        armatures = sorted((o for o in scene.objects if o.type == "ARMATURE"), key=lambda o: o.name)
        if name:
            armatures = [ob for ob in armatures if ob.name == name]
        skinned = [ob for ob in armatures if any(_has_weights(s) for s in surfaces(scene, ob))]
        if len(skinned) > 1:
            raise InputError(
                f"there are {len(skinned)} rigs: {_listed(skinned)}",
                hint="name the armature that should move, --armature NAME",
            )
        if skinned:
            return skinned[0], scene
    found = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    if name and not any(ob.name == name for ob in found):
        raise InputError(
            f"there is no armature {name!r}", hint=f"there are: {_listed(found) or 'none'}"
        )
    if not found:
        raise InputError(
            "there is no armature", hint="give a mesh that is bound to an armature, a rigged asset"
        )
    raise InputError(
        f"no mesh is bound to the armature {name or _listed(found)}",
        hint="select the mesh, then the armature, and use Parent > With Automatic Weights",
    )


def _listed(objects: Sequence[Any]) -> str:
    names = sorted(ob.name for ob in objects)
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(names[:_SHOWN_NAMES]) + more


def _has_weights(surface: Surface) -> bool:
    return surface.bone != OBJECT


def surfaces(scene: Any, armature: Any) -> list[Surface]:
    """The objects of the scene that render and follow the armature, by name."""
    found = [_follows(ob, armature) for ob in sorted(scene.objects, key=lambda ob: ob.name)]
    return [surface for surface in found if surface is not None]


def _follows(ob: Any, armature: Any) -> Surface | None:
    if ob.type not in SURFACES or ob.hide_render:
        return None
    modifiers = [m for m in ob.modifiers if m.type == "ARMATURE" and m.show_viewport and m.object]
    mine = [m for m in modifiers if m.object == armature]
    if mine and len(modifiers) > 1:
        raise InputError(
            f"{ob.name!r} is deformed by {len(modifiers)} Armature modifiers",
            hint="leave one of them, or join the armatures with Object > Join",
        )
    if mine:
        return Surface(ob, mine[0], "")
    if ob.parent == armature and ob.parent_type == "ARMATURE":
        return Surface(ob, None, "")
    for target, bone in followed(ob):
        if target == armature:
            return Surface(ob, None, bone or OBJECT)
    below = ob
    while below.parent is not None:
        if below.parent == armature:
            return Surface(ob, None, below.parent_bone if below.parent_type == "BONE" else OBJECT)
        below = below.parent
    return None


def skin(armature: Any, chosen: Sequence[Surface], bones: Sequence[str], graph: Any) -> Skin:
    """The surfaces as they stand in the evaluated scene, which shows the rest pose.

    Args:
        bones: Names in the order of the weights' columns.

    Raises:
        InputError: No vertex has a weight, or there are no faces.
    """
    column = {name: index for index, name in enumerate(bones)}
    idle = {bone.name for bone in armature.data.bones if not bone.use_deform}
    parts, offset = [], 0
    for surface, mesh, world in evaluated(chosen, graph):
        vertices = _read(mesh.vertices, "co", np.float32, 3).astype(np.float64)
        triangles = _read(mesh.loop_triangles, "vertices", np.int32, 3)
        if np.linalg.det(world[:3, :3]) < 0:
            triangles = triangles[:, ::-1]
        weights = np.zeros((len(vertices), len(bones)), np.float32)
        if surface.bone in column:
            weights[:, column[surface.bone]] = 1.0
        elif not surface.bone:
            groups = {
                group.index: column[group.name]
                for group in surface.object.vertex_groups
                if group.name in column and group.name not in idle
            }
            _fill_weights(weights, mesh, groups)
            _mask(weights, mesh, surface)
        materials = [slot.material for slot in surface.object.material_slots]
        colours = face_colours(mesh, materials)
        parts.append(
            (vertices @ world[:3, :3].T + world[:3, 3], triangles + offset, colours, weights)
        )
        offset += len(vertices)
    if not parts:
        raise InputError(
            f"the meshes of {armature.name!r} have no faces", hint="give meshes with faces"
        )
    return Skin(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def evaluated(chosen: Sequence[Surface], graph: Any) -> Iterator[tuple[Surface, Any, np.ndarray]]:
    """Each surface, its evaluated mesh, which lives until the next one, and its world matrix."""
    for surface in chosen:
        ob = surface.object.evaluated_get(graph)
        mesh = ob.to_mesh(preserve_all_data_layers=True, depsgraph=graph)
        if mesh is not None and len(mesh.polygons):
            mesh.calc_loop_triangles()
            yield surface, mesh, np.array(ob.matrix_world, dtype=np.float64)
        ob.to_mesh_clear()


def _fill_weights(weights: np.ndarray, mesh: Any, groups: dict[int, int]) -> None:
    for row, vertex in zip(weights, mesh.vertices, strict=True):
        for entry in vertex.groups:
            place = groups.get(entry.group)
            if place is not None:
                row[place] += entry.weight


def _mask(weights: np.ndarray, mesh: Any, surface: Surface) -> None:
    """Let the modifier's own vertex group share each vertex between the bones and the object.

    Blender normalises the bones' weights, moves the vertex, and mixes by the group's weight.
    """
    modifier = surface.modifier
    group = modifier and surface.object.vertex_groups.get(modifier.vertex_group)
    if not group:
        return
    share = np.zeros((len(mesh.vertices), 1), np.float32)
    for row, vertex in zip(share, mesh.vertices, strict=True):
        row[0] = sum(entry.weight for entry in vertex.groups if entry.group == group.index)
    if modifier.invert_vertex_group:
        share = 1.0 - share
    totals = weights.sum(axis=1, keepdims=True)
    weights *= np.where(totals > 0, share / np.maximum(totals, 1e-30), 0.0)
    weights[:, -1] += np.where(totals > 0, 1.0 - share, 0.0)[:, 0]  # OBJECT is the last column


def _read(collection: Any, name: str, kind: type, width: int) -> np.ndarray:
    values = np.empty(len(collection) * width, dtype=kind)
    collection.foreach_get(name, values)
    return values.reshape(-1, width)


def rest_matrices(armature: Any, world: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the bones rest and end in the world, right-handed; (bones, 4, 4) and (bones, 3).

    Raises:
        InputError: The armature has no size, or different scales along its axes.
    """
    scales = np.linalg.svd(world[:3, :3], compute_uv=False)
    if not scales[-1] > 1e-9 or scales[0] / scales[-1] > 1 + _EVEN:
        raise InputError(
            f"the armature {armature.name!r} is scaled unevenly, by"
            f" {', '.join(f'{scale:.3g}' for scale in scales)}",
            hint="select it with its meshes and use Object > Apply > Scale",
        )
    rest = np.array([world @ np.array(bone.matrix_local) for bone in armature.data.bones])
    rest[:, :3, :3] /= np.linalg.norm(rest[:, :3, :3], axis=1, keepdims=True)
    if np.linalg.det(world[:3, :3]) < 0:
        rest = rest @ FLIP
    ends = np.array([bone.tail_local for bone in armature.data.bones], dtype=np.float64)
    return rest, ends @ world[:3, :3].T + world[:3, 3]


def limits(armature: Any, mirrored: bool) -> np.ndarray:
    """Limit Rotation of each bone in its own axes, (bones, 3, 2) radians; NaN where there is none.

    Args:
        mirrored: Whether the local X axes have been flipped, which turns about Y and Z around.
    """
    found = np.full((len(armature.data.bones), 3, 2), np.nan)
    for row, bone in zip(found, armature.data.bones, strict=True):
        for constraint, plain in rotation_limits(armature.pose.bones[bone.name]):
            if not plain:
                continue
            for axis, letter in enumerate("xyz"):
                if getattr(constraint, f"use_limit_{letter}"):
                    low = getattr(constraint, f"min_{letter}")
                    high = getattr(constraint, f"max_{letter}")
                    row[axis] = sorted((-low, -high)) if mirrored and axis else (low, high)
    return found


def rotation_limits(bone: Any) -> list[tuple[Any, bool]]:
    """The Limit Rotation constraints of a pose bone that are in force.

    Beside each, whether it limits XYZ angles in the bone's own axes, as the limits of a rig do.
    """
    found = []
    for constraint in bone.constraints:
        if constraint.type == "LIMIT_ROTATION" and not constraint.mute and constraint.influence:
            own = bone.rotation_mode if len(bone.rotation_mode) == 3 else "XYZ"
            order = own if constraint.euler_order == "AUTO" else constraint.euler_order
            found.append((constraint, constraint.owner_space == "LOCAL" and order == "XYZ"))
    return found


def movable(armature: Any, controls: Sequence[Control]) -> np.ndarray:
    """(bones,) bool: those that deform and are not locked, or only because they are controlled."""
    controlled = {name for control in controls for name in control.bones}
    free = []
    for bone in armature.data.bones:
        pose = armature.pose.bones[bone.name]
        locked = all(pose.lock_rotation) and bone.name not in controlled
        free.append(bone.use_deform and not locked)
    return np.array(free)
