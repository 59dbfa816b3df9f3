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
from .record import Articulation, articulations


def write_joint(
    context: bpy.types.Context,
    parts: Sequence[bpy.types.Object] | MeshPart,
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
        parts: Objects that move as one, or faces of one mesh.
        joint: In the world frame and scene units, for the pose that the scene shows now.
        frame_start: The last frame at rest.
        duration_frames: From rest to open.
        physics_body: Gives the joint a rigid body constraint to this object as well.
        tag: Name for the empties and the action; the first part's name if empty.

    Raises:
        InputError: Linked data, or a parent whose scale is zero.
    """
    keys = open_keys(frame_start, duration_frames, easing)
    if isinstance(parts, MeshPart):
        check_editable(parts.object)
        name = tag or parts.name
        found = mesh_parts.find(parts)
        articulation = found or mesh_parts.attach(context, parts, joint, name)
    else:
        roots = root_objects(parts)
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
    physics.update_limits(articulation)


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
        if part is not None and hang["how"] == "parent" and part.parent != articulation.pivot:
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
    mesh_parts.detach(context, articulation)
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


def root_objects(parts: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """The parts without those that hang on another part and so move with it anyway."""
    if not parts:
        raise InputError("no part is selected", hint="select the object that should move")
    for part in parts:
        check_editable(part)
    names = {part.name_full for part in parts}

    def hangs_on_a_part(ob: bpy.types.Object) -> bool:
        while (ob := ob.parent) is not None:
            if ob.name_full in names:
                return True
        return False

    return [part for part in parts if not hangs_on_a_part(part)]


def find_articulation(roots: Sequence[bpy.types.Object]) -> Articulation | None:
    """The articulation that moves exactly these objects."""
    wanted = {ob.name_full for ob in roots}
    for articulation in articulations():
        if {ob.name_full for ob in articulation.parts()} == wanted:
            return articulation
    return None


def display_size(parts: Sequence[bpy.types.Object]) -> float:
    """A quarter of the parts' size in the world, in scene units: how large the empties look."""
    corners = [
        convert.as_array(ob.matrix_world) @ (*corner, 1.0)
        for part in parts
        for ob in (part, *part.children_recursive)
        for corner in ob.bound_box
    ]
    size = float(np.linalg.norm(np.ptp(corners, axis=0)[:3]))
    return 0.25 * size if size > 0 else 1.0


def local_collections(
    context: bpy.types.Context, ob: bpy.types.Object
) -> list[bpy.types.Collection]:
    """The collections for new helpers of an object: its own, so that they hide along with it."""
    own = [collection for collection in ob.users_collection if collection.library is None]
    return own or [context.scene.collection]


def _attach(
    context: bpy.types.Context, roots: list[bpy.types.Object], joint: JointMotion, name: str
) -> Articulation:
    """Build the rig and hang the objects on it; nothing is changed if that is impossible."""
    hangs = []
    for part in roots:
        hang: dict[str, Any] = rig.parenting(part)
        world = rig.parent_world(context, part.parent, hang)
        convert.invert(world, part.parent.name if part.parent else part.name)
        constrained = any(not constraint.mute for constraint in part.constraints)
        deformed = part.parent is not None and hang["type"] in rig.DEFORMING_PARENTS
        # constraints act after parenting: such a part takes the motion as its last constraint
        late = constrained or deformed or part.override_library is not None
        hangs.append(
            hang | {"parent_world": world.tolist(), "how": "child_of" if late else "parent"}
        )
    collections = local_collections(context, roots[0])
    articulation = rig.build_rig(name, display_size(roots), collections, joint, name)
    carrier = _common_parent(roots)
    if carrier is not None and all(part.parent == carrier for part in roots):
        carrier_hang = hangs[0] | ({"type": "OBJECT"} if hangs[0]["how"] == "child_of" else {})
    else:
        carrier_hang = rig.IDENTITY_HANG
    rig.set_parent(
        articulation.frame, carrier, carrier_hang | {"inverse": rig.IDENTITY_HANG["inverse"]}
    )
    for index, (part, hang) in enumerate(zip(roots, hangs, strict=True)):
        articulation.point(f"part_{index}", part)
        articulation.point(f"parent_{index}", part.parent)
        if hang["how"] == "parent":
            rig.set_parent(part, articulation.pivot, rig.IDENTITY_HANG)
        else:
            constraint = part.constraints.new("CHILD_OF")
            constraint.name, constraint.target = f"{name} Joint", articulation.pivot
            hang["constraint"] = constraint.name
    frame_world = rig.parent_world(context, carrier, carrier_hang)
    articulation.store(articulation.data | {"parts": hangs, "parent_world": frame_world.tolist()})
    return articulation


def _common_parent(roots: list[bpy.types.Object]) -> bpy.types.Object | None:
    """The nearest object that carries all of them."""

    def chain(ob: bpy.types.Object) -> list[bpy.types.Object]:
        found = []
        while (ob := ob.parent) is not None:
            found.append(ob)
        return found

    others = [set(chain(ob)) for ob in roots[1:]]
    return next((ob for ob in chain(roots[0]) if all(ob in other for other in others)), None)


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
    data = articulation.data
    layer = {"joint": data["joint"], "parent_world": data["parent_world"], "parts": data["parts"]}
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
    articulation.store(data | {"parts": layer["parts"], "parent_world": layer["parent_world"]})
    set_joint(articulation, JointMotion.from_dict(layer["joint"]))
    if newest is not None and newest.users == 0:
        bpy.data.actions.remove(newest)
