"""A joint -> empties, limits, keyframes and parenting in the scene; and exactly back again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError

from ..core.keyframes import Easing, open_keys
from . import animate, convert, mesh_parts, physics, rig
from .mesh_parts import MeshPart
from .record import LEADER, NOT_OF_A_LAYER, Articulation, articulations


def write_joint(
    context: bpy.types.Context,
    parts: Sequence[bpy.types.Object | MeshPart],
    joint: JointMotion,
    *,
    frame_start: float = 1.0,
    duration_frames: float = 48.0,
    easing: Easing = "EASE",
    physics_body: bpy.types.Object | None = None,
    tag: str = "",
) -> Articulation:
    """Give the parts a joint and move them along it; their rest pose stays where it is.

    Articulating the same parts again moves their joint and adds a second action.

    Args:
        parts: Objects, or faces of mesh objects, that move as one.
        joint: In the world frame and scene units, for the pose that the scene shows now.
        frame_start: The last frame at rest.
        duration_frames: From rest to open.
        physics_body: Gives the joint a rigid body constraint to this object as well.
        tag: Name for the empties and the action; the first part's name if empty.

    Raises:
        InputError: Linked data, a parent whose scale is zero, or faces that are none or all.
    """
    keys = open_keys(frame_start, duration_frames, easing)
    roots = root_parts(parts)
    name = tag or roots[0].name
    found = find_articulation(roots)
    articulation = found or _attach(context, roots, joint, name)
    if found:
        _remember_layer(articulation)
        _refresh_parents(context, articulation)
    set_joint(articulation, joint)
    action = animate.write_keys(articulation.pivot, keys, f"{name} Open")
    articulation.point("action", action)
    if physics_body is not None:
        physics.add_physics(context, articulation, physics_body)
    context.view_layer.update()
    animate.show_frame(articulation.pivot, context.scene.frame_current_final)
    context.view_layer.update()
    return articulation


def set_joint(articulation: Articulation, joint: JointMotion) -> None:
    """Move the joint under its parts: other axis, kind or range, same keyframes, same rest pose.

    Args:
        joint: In the world frame of the pose in which the articulation was written.
    """
    data = articulation.data
    world = rig.aim_rig(articulation, joint, np.array(data["parent_world"]))
    inverse = np.linalg.inv(world)
    for index, hang in enumerate(data["parts"]):
        part = articulation.pointed(f"part_{index}")
        if part is None:
            continue
        match hang["how"]:
            case "parent":
                rest = np.array(hang["parent_world"]) @ np.array(hang["inverse"])
                part.matrix_parent_inverse = convert.as_matrix(inverse @ rest)
            case "child_of":
                part.constraints[hang["constraint"]].inverse_matrix = convert.as_matrix(inverse)
    articulation.store(data | {"joint": joint.to_dict()})
    physics.update_physics(articulation)


def revert(context: bpy.types.Context, articulation: Articulation) -> None:
    """Take back the latest `write_joint` on these parts: all that it added, nothing else.

    Raises:
        InputError: A part has been given another joint later, which must be reverted first.
    """
    data = articulation.data
    if data["layers"]:
        _restore_layer(articulation)
        context.view_layer.update()
        return
    for index, hang in enumerate(data["parts"]):
        part = articulation.pointed(f"part_{index}")
        carriers = articulation.pivot, articulation.pointed(LEADER)
        if part is not None and hang["how"] == "parent" and part.parent not in carriers:
            raise InputError(
                f"{part.name!r} has been given another parent since",
                hint="revert or clear that one first",
            )
    physics.remove_physics(articulation)
    for index, hang in enumerate(data["parts"]):
        part = articulation.pointed(f"part_{index}")
        if part is None:
            continue
        match hang["how"]:
            case "parent":
                rig.set_parent(part, articulation.pointed(f"parent_{index}"), hang)
            case "child_of":
                part.constraints.remove(part.constraints[hang["constraint"]])
    for index, hang in enumerate(data["parts"]):
        mesh_parts.detach(context, articulation, index, hang)
    action = articulation.pointed("action")
    for ob in (articulation.pivot, articulation.frame):
        bpy.data.objects.remove(ob)
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)
    context.view_layer.update()


def check_editable(ob: bpy.types.Object) -> None:
    """`InputError` with the remedy if the object cannot be given a joint in this file."""
    if ob.library is not None or (ob.override_library and ob.override_library.is_system_override):
        raise InputError(
            f"{ob.name!r} is linked from another file and cannot be changed here",
            hint="use Object > Library Override > Make, or make it local",
        )
    if ob.instance_type == "COLLECTION":
        raise InputError(
            f"{ob.name!r} is an instance of a collection, its parts are not in this scene",
            hint="use Object > Apply > Make Instances Real, then pick the part",
        )


def root_parts(
    parts: Sequence[bpy.types.Object | MeshPart],
) -> list[bpy.types.Object | MeshPart]:
    """The parts without those that hang on another part and so move with it anyway."""
    if not parts:
        raise InputError("no part is selected", hint="select the object that should move")
    objects = [part for part in parts if not isinstance(part, MeshPart)]
    faces = [part for part in parts if isinstance(part, MeshPart)]
    for part in objects:
        check_editable(part)
    for part in faces:
        check_editable(part.object)
        mesh_parts.check(part)
    names = {part.name_full for part in objects}

    def follows(ob: bpy.types.Object) -> bool:
        return any(above.name_full in names for above in ancestors(ob))

    return [
        *(part for part in objects if not follows(part)),
        *(p for p in faces if p.object.name_full not in names and not follows(p.object)),
    ]


def ancestors(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """Parent, grandparent and so on."""
    found = []
    while (ob := ob.parent) is not None:
        found.append(ob)
    return found


def find_articulation(roots: Sequence[bpy.types.Object | MeshPart]) -> Articulation | None:
    """The articulation that moves exactly these parts."""
    wanted = {
        (part.object.name_full, part.fingerprint())
        if isinstance(part, MeshPart)
        else (part.name_full, "")
        for part in roots
    }
    for articulation in articulations():
        objects, origins = set(), set()
        for index, hang in enumerate(articulation.data["parts"]):
            part = articulation.pointed(f"part_{index}")
            source = articulation.pointed(f"body_{index}") or part
            if part is not None and source is not None:
                objects.add((part.name_full, ""))
                origins.add((source.name_full, hang.get("faces", "")))
        bones = any(hang["how"] == "bone" for hang in articulation.data["parts"])
        if wanted == origins or (wanted == objects and not bones):
            return articulation
    return None


def display_size(parts: Sequence[bpy.types.Object | MeshPart]) -> float:
    """A quarter of the parts' size in the world, in scene units: how large the empties look."""
    corners = []
    for part in parts:
        if isinstance(part, MeshPart):
            corners.append(mesh_parts.corners_in_world(part))
            continue
        for ob in (part, *part.children_recursive):
            world = convert.as_array(ob.matrix_world)
            corners.append(np.array(ob.bound_box) @ world[:3, :3].T + world[:3, 3])
    size = float(np.linalg.norm(np.ptp(np.concatenate(corners), axis=0)))
    return 0.25 * size if size > 0 else 1.0


def _attach(
    context: bpy.types.Context,
    roots: list[bpy.types.Object | MeshPart],
    joint: JointMotion,
    name: str,
) -> Articulation:
    """Build the rig and hang the parts on it; nothing is changed if that is impossible."""
    hangs = [_plan(context, part) for part in roots]
    carrier, carrier_hang = _carrier(roots, hangs)
    first = roots[0].object if isinstance(roots[0], MeshPart) else roots[0]
    own = [c for c in first.users_collection if not c.library and not c.override_library]
    # in the part's own collections, so that the empties hide along with it
    collections = own or [context.scene.collection]
    articulation = rig.build_rig(name, display_size(roots), collections, joint, name)
    rig.set_parent(
        articulation.frame, carrier, carrier_hang | {"inverse": rig.IDENTITY_HANG["inverse"]}
    )
    for index, (part, hang) in enumerate(zip(roots, hangs, strict=True)):
        if isinstance(part, MeshPart):
            hang |= mesh_parts.attach(context, articulation, index, part, part.name)
            continue
        articulation.point(f"part_{index}", part)
        articulation.point(f"parent_{index}", part.parent)
        if hang["how"] == "parent":
            rig.set_parent(part, articulation.pivot, rig.IDENTITY_HANG)
        else:
            constraint = part.constraints.new("CHILD_OF")
            constraint.name, constraint.target = f"{name} Joint", articulation.pivot
            hang["constraint"] = constraint.name
    world = rig.parent_world(context, carrier, carrier_hang)
    articulation.store(articulation.data | {"parts": hangs, "parent_world": world.tolist()})
    return articulation


def _plan(context: bpy.types.Context, part: bpy.types.Object | MeshPart) -> dict[str, Any]:
    """How a part will hang on the pivot, after checks; changes nothing."""
    if isinstance(part, MeshPart):
        world = convert.as_array(part.object.matrix_world)
        convert.invert(world, part.object.name)
        return {}
    hang: dict[str, Any] = rig.parenting(part)
    world = rig.parent_world(context, part.parent, hang)
    convert.invert(world, part.parent.name if part.parent else part.name)
    constrained = any(not constraint.mute for constraint in part.constraints)
    deformed = part.parent is not None and hang["type"] in rig.DEFORMING_PARENTS
    # constraints act after parenting: such a part takes the motion as its last constraint
    late = constrained or deformed or part.override_library is not None
    return hang | {"parent_world": world.tolist(), "how": "child_of" if late else "parent"}


def _carrier(
    roots: list[bpy.types.Object | MeshPart], hangs: list[dict[str, Any]]
) -> tuple[bpy.types.Object | None, dict[str, Any]]:
    """The nearest object that carries all parts, and how the joint frame hangs on it."""
    chains = [
        [part.object, *ancestors(part.object)] if isinstance(part, MeshPart) else ancestors(part)
        for part in roots
    ]
    carrier = next((ob for ob in chains[0] if all(ob in chain for chain in chains[1:])), None)
    hang = hangs[0]
    alike = all(not isinstance(part, MeshPart) and part.parent == carrier for part in roots)
    if carrier is None or not alike or hang["type"] in rig.DEFORMING_PARENTS:
        return carrier, rig.IDENTITY_HANG
    return carrier, hang


def _refresh_parents(context: bpy.types.Context, articulation: Articulation) -> None:
    """Note where the carriers are now, since the new joint belongs to the present pose."""
    data = articulation.data
    for index, hang in enumerate(data["parts"]):
        if hang["how"] == "parent":
            parent = articulation.pointed(f"parent_{index}")
            hang["parent_world"] = rig.parent_world(context, parent, hang).tolist()
    frame = articulation.frame
    world = rig.parent_world(context, frame.parent, rig.parenting(frame))
    articulation.store(data | {"parent_world": world.tolist()})


def _remember_layer(articulation: Articulation) -> None:
    """Keep the joint and its answers as they are, for `revert` to come back to."""
    data = articulation.data
    layer = {key: value for key, value in data.items() if key not in NOT_OF_A_LAYER}
    layer["joint"] = articulation.joint.to_dict()
    animation = articulation.pivot.animation_data
    number = len(data["layers"])
    articulation.point(f"layer_action_{number}", animation.action if animation else None)
    articulation.store(data | {"layers": [*data["layers"], layer]})


def _restore_layer(articulation: Articulation) -> None:
    data = articulation.data
    layer = data["layers"].pop()
    newest = articulation.pointed("action")
    older = articulation.pointed(f"layer_action_{len(data['layers'])}")
    animate.assign_action(articulation.pivot, older)
    articulation.point(f"layer_action_{len(data['layers'])}", None)
    articulation.point("action", older)
    kept = {key: data[key] for key in data if key in layer or key in NOT_OF_A_LAYER}
    articulation.store(kept | layer)
    set_joint(articulation, JointMotion.from_dict(layer["joint"]))
    if newest is not None and newest.users == 0:
        bpy.data.actions.remove(newest)
