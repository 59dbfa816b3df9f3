"""Rigid body constraint of a joint: HINGE about the frame's Z or SLIDER along its X, limited."""

from __future__ import annotations

import bpy

from atop_backend.errors import InputError

from .record import Articulation


def add_physics(
    context: bpy.types.Context, articulation: Articulation, body: bpy.types.Object
) -> None:
    """Let the simulation move the part on its joint, held by `body`.

    Raises:
        InputError: The part is not an object of its own.
    """
    part = next(iter(articulation.parts()), None)
    if (
        part is None
        or part == body
        or any(hang["how"] == "bone" for hang in articulation.data["parts"])
    ):
        raise InputError(
            "a simulated part must be an object of its own",
            hint="choose Separate as the way to move faces of one mesh",
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
    for ob, kind, shape in ((body, "PASSIVE", "MESH"), (part, "ACTIVE", "CONVEX_HULL")):
        if ob.rigid_body is None:
            world.collection.objects.link(ob)
            ob.rigid_body.type, ob.rigid_body.collision_shape = kind, shape
            added["bodies"].append(kind)
            articulation.point(f"physics_{kind}", ob)
    if articulation.frame.name not in world.constraints.objects:
        world.constraints.objects.link(articulation.frame)
    constraint = articulation.frame.rigid_body_constraint
    constraint.object1, constraint.object2 = body, part
    constraint.disable_collisions = True  # door and frame touch at the hinge
    articulation.store(articulation.data | {"physics": added})
    update_limits(articulation)


def update_limits(articulation: Articulation) -> None:
    """Make the rigid body constraint, if there is one, agree with the joint."""
    constraint = articulation.frame.rigid_body_constraint
    if constraint is None:
        return
    joint = articulation.joint
    turns = joint.kind == "revolute"
    constraint.type = "HINGE" if turns else "SLIDER"
    slot = "ang_z" if turns else "lin_x"
    setattr(constraint, f"use_limit_{slot}", True)
    setattr(constraint, f"limit_{slot}_lower", joint.lower)
    setattr(constraint, f"limit_{slot}_upper", joint.upper)


def remove_physics(articulation: Articulation) -> None:
    """Take back what `add_physics` made."""
    data = articulation.data
    added = data.pop("physics", None)
    if added is None:
        return
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
    articulation.store(data)
