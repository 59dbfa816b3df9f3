"""Rigid body constraint of a joint: HINGE about the frame's Z or SLIDER along its X, limited.

Blender takes an object's origin for its centre of mass, and it cannot simulate faces of a mesh or
several pieces as one. So a stand-in is simulated: the parts' convex hull, about its centre, child
of the pivot. The parts hang on its child, the leader, which rests where the pivot is.
"""

from __future__ import annotations

from collections.abc import Iterator

import bmesh
import bpy
import numpy as np

from atop_backend.errors import InputError

from . import convert, mesh_parts, rig
from .mesh_parts import MeshPart
from .record import KEY, LEADER, STAND_IN, Articulation

_FEW_POINTS = 1000  # more only take time in a simulation
ANCHOR = "anchor"  # what holds a stand-in where the body itself cannot


def add_physics(
    context: bpy.types.Context, articulation: Articulation, body: bpy.types.Object
) -> None:
    """Let the simulation move the part on its joint, held by `body`.

    Raises:
        InputError: The part has been deleted, or is the body itself.
    """
    hangs, parts = articulation.data["parts"], articulation.parts()
    faces = any(hang["how"] == "bone" for hang in hangs)
    if not parts or (body in parts and not faces):
        raise InputError(
            "the part has nothing to hang on in a simulation",
            hint="give the object a body mesh beside the part",
        )
    added: dict = {"world": False, "collections": [], "bodies": []}
    scene = context.scene
    if scene.rigidbody_world is None:
        bpy.ops.rigidbody.world_add()
        added["world"] = True
    world = scene.rigidbody_world
    for slot in ("collection", "constraints"):
        if getattr(world, slot) is None:
            setattr(world, slot, bpy.data.collections.new(f"{articulation.tag} Physics"))
            added["collections"].append(slot)
            articulation.point(f"physics_{slot}", getattr(world, slot))
    mesh, centre = _hull(articulation)
    moving = _own_object(articulation, STAND_IN, articulation.pivot, centre, mesh)
    leader = _own_object(articulation, LEADER, moving, np.linalg.inv(centre))
    _follow(articulation, leader)
    if faces:  # a mesh cannot hold what deforms it
        body = _own_object(articulation, ANCHOR, articulation.frame, centre, mesh)
    added["frame"] = rig.frame_at_rest(articulation).tolist()
    for ob, kind, shape in ((body, "PASSIVE", "MESH"), (moving, "ACTIVE", "CONVEX_HULL")):
        if ob.rigid_body is None:
            world.collection.objects.link(ob)
            ob.rigid_body.type, ob.rigid_body.collision_shape = kind, shape
            ob.rigid_body.kinematic = kind == "PASSIVE"  # it goes where its animation takes it
            added["bodies"].append(kind)
            articulation.point(f"physics_{kind}", ob)
    if articulation.frame.name not in world.constraints.objects:
        world.constraints.objects.link(articulation.frame)
    constraint = articulation.frame.rigid_body_constraint
    constraint.object1, constraint.object2 = body, moving
    constraint.disable_collisions = True  # door and frame touch at the hinge
    articulation.store(articulation.data | {"physics": added})
    update_physics(articulation)


def update_physics(articulation: Articulation) -> None:
    """Make constraint and stand-in, if there are any, agree with the joint."""
    constraint = articulation.frame.rigid_body_constraint
    if constraint is None:
        return
    _drop_limits(articulation)
    turns = articulation.joint.kind == "revolute"
    constraint.type = "HINGE" if turns else "SLIDER"
    slot = "ang_z" if turns else "lin_x"
    setattr(constraint, f"use_limit_{slot}", True)
    # driven, since the artist changes limits on the pivot; a hinge counts its angle the other way
    limits = ("-upper", "-lower") if turns else ("lower", "upper")
    for end, expression in zip(("lower", "upper"), limits, strict=True):
        curve = articulation.frame.driver_add(f"rigid_body_constraint.limit_{slot}_{end}")
        rig.express(curve, articulation.pivot, expression, (expression.lstrip("-"),))
    data, frame = articulation.data, rig.frame_at_rest(articulation)
    moved = np.linalg.inv(frame) @ np.array(data["physics"]["frame"])
    for name in (STAND_IN, ANCHOR):  # they stay where they are while the frame has moved
        ob = articulation.pointed(name)
        if ob is not None:
            inverse = moved @ convert.as_array(ob.matrix_parent_inverse)
            ob.matrix_parent_inverse = convert.as_matrix(inverse)
    leader = articulation.pointed(LEADER)
    leader.matrix_parent_inverse = leader.parent.matrix_parent_inverse.inverted()
    data["physics"]["frame"] = frame.tolist()
    articulation.store(data)


def _drop_limits(articulation: Articulation) -> None:
    for slot in ("ang_z", "lin_x"):
        for end in ("lower", "upper"):
            articulation.frame.driver_remove(f"rigid_body_constraint.limit_{slot}_{end}")


def remove_physics(articulation: Articulation) -> None:
    """Take back what `add_physics` made."""
    data = articulation.data
    added = data.pop("physics", None)
    if added is None:
        return
    _drop_limits(articulation)
    for scene in bpy.data.scenes:
        world = scene.rigidbody_world
        if world is None:
            continue
        frame = articulation.frame
        if world.constraints is not None and frame.name in world.constraints.objects:
            world.constraints.objects.unlink(frame)
        for kind in added["bodies"]:
            ob = articulation.pointed(f"physics_{kind}")
            if ob is not None and world.collection and ob.name in world.collection.objects:
                world.collection.objects.unlink(ob)
                with bpy.context.temp_override(scene=scene, object=ob, active_object=ob):
                    if ob.rigid_body is not None:
                        bpy.ops.rigidbody.object_remove()
            articulation.point(f"physics_{kind}", None)
        for slot in added["collections"]:
            collection = articulation.pointed(f"physics_{slot}")
            articulation.point(f"physics_{slot}", None)
            if collection is not None and not len(collection.objects):
                bpy.data.collections.remove(collection)
        if added["world"]:
            with bpy.context.temp_override(scene=scene):
                bpy.ops.rigidbody.world_remove()
    _follow(articulation, articulation.pivot)
    mesh = articulation.pointed(STAND_IN).data
    bpy.data.objects.remove(articulation.pointed(LEADER))
    bpy.data.meshes.remove(mesh)  # and with it the objects that it is the shape of
    for name in (STAND_IN, LEADER, ANCHOR):
        articulation.point(name, None)
    articulation.store(data)


def _own_object(
    articulation: Articulation,
    name: str,
    parent: bpy.types.Object,
    place: np.ndarray,
    mesh: bpy.types.Mesh | None = None,
) -> bpy.types.Object:
    """An object of the simulation, which no render shows.

    Args:
        name: Under which the articulation remembers it.
        place: Where it rests in the frame of its parent, (4, 4).
    """
    ob = bpy.data.objects.new(f"{articulation.tag} Physics", mesh)
    ob.display_type, ob.hide_render = "WIRE", True
    ob.empty_display_size = 0.2 * articulation.frame.empty_display_size
    ob[f"{KEY}_{STAND_IN}"] = True  # it is no piece of the object that people see
    for collection in articulation.frame.users_collection:
        collection.objects.link(ob)
    rig.set_parent(ob, parent, rig.IDENTITY_HANG | {"inverse": place.tolist()})
    articulation.point(name, ob)
    return ob


def _hull(articulation: Articulation) -> tuple[bpy.types.Mesh, np.ndarray]:
    """The convex hull of all parts about its centre, and that centre in the frame, (4, 4)."""
    points = _outermost(np.concatenate(list(_points(articulation))))
    centre = np.eye(4)
    centre[:3, 3] = (points.min(axis=0) + points.max(axis=0)) / 2
    mesh = bpy.data.meshes.new(f"{articulation.tag} Physics")
    shape = bmesh.new()
    try:
        for point in points - centre[:3, 3]:
            shape.verts.new(point)
        hull = bmesh.ops.convex_hull(shape, input=shape.verts)
        inside = {v for v in hull["geom_interior"] if isinstance(v, bmesh.types.BMVert)}
        bmesh.ops.delete(shape, geom=list(inside))
        shape.to_mesh(mesh)
    finally:
        shape.free()
    return mesh, centre


def _outermost(points: np.ndarray) -> np.ndarray:
    """Of many points those that lie outermost in some direction: enough for a hull, (k, 3)."""
    if len(points) <= _FEW_POINTS:
        return points
    directions = np.random.default_rng(0).normal(size=(_FEW_POINTS // 2, 3))
    directions = np.concatenate([directions, np.eye(3), -np.eye(3)])
    return points[np.unique([int(np.argmax(points @ along)) for along in directions])]


def _points(articulation: Articulation) -> Iterator[np.ndarray]:
    """Points of each part in the frame of the pivot, (n, 3) each."""
    still = np.linalg.inv(convert.as_array(articulation.frame.matrix_world))
    moving = np.linalg.inv(convert.as_array(articulation.pivot.matrix_world))
    for index, hang in enumerate(articulation.data["parts"]):
        part = articulation.pointed(f"part_{index}")
        if part is None:
            continue
        if hang["how"] == "bone":
            faces = mesh_parts.faces_again(articulation, index)
            corners = mesh_parts.corners_in_world(MeshPart(part, faces, hang["group"]))
            yield corners @ still[:3, :3].T + still[:3, 3]
            continue
        for ob in (part, *part.children_recursive):
            matrix = moving @ convert.as_array(ob.matrix_world)
            yield np.array(ob.bound_box) @ matrix[:3, :3].T + matrix[:3, 3]


def _follow(articulation: Articulation, leader: bpy.types.Object) -> None:
    """Hang all parts on the pivot or on the leader, which rest in the same place."""
    for index, hang in enumerate(articulation.data["parts"]):
        part = articulation.pointed(f"part_{index}")
        if part is None:
            continue
        match hang["how"]:
            case "bone":
                armature = articulation.pointed(f"armature_{index}")
                armature.pose.bones[0].constraints[0].target = leader
            case "child_of":
                part.constraints[hang["constraint"]].target = leader
            case "parent":
                inverse = part.matrix_parent_inverse.copy()
                part.parent = leader
                part.matrix_parent_inverse = inverse
