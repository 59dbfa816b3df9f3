"""Rigid body constraints: limited like the joint, simulated, and taken back by Revert."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from scenes import add, box, dump, moved, two_boxes, world_points  # noqa: E402

from atop_backend.contracts import JointMotion  # noqa: E402
from atop_backend.errors import InputError  # noqa: E402
from blender_addon.scene import convert, edit, pick, write  # noqa: E402
from blender_addon.scene.mesh_parts import MeshPart  # noqa: E402

FALLS = JointMotion("revolute", (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), 0.0, 1.2)  # at the lower edge
SINKS = JointMotion("prismatic", (0.0, 0.0, -1.0), (0.5, -0.95, 1.0), 0.0, 0.5)


def carrier():
    """What holds the pieces of an object together."""
    return add(bpy.data.objects.new("Carrier", None))


def one_mesh():
    """The second slab of one mesh, moved by a bone."""
    ob = two_boxes()
    return [MeshPart(ob, np.arange(6, 12), "Flap")], [ob], slice(8, 16)


def cut_off():
    """The same, cut off."""
    ob = two_boxes()
    return [MeshPart(ob, np.arange(6, 12), "Flap", "separate")], [ob], slice(0, 0)


def one_object():
    """A door under a body."""
    parent = carrier()
    box("Body", parent)
    door = box("Flap", parent, (0.0, -1.0, 0.0))
    return [door], [door], slice(None)


def two_objects():
    """A door of two pieces, one of them constrained."""
    parent = carrier()
    box("Body", parent)
    door, glass = (box(name, parent, (0.0, -1.0, 0.0)) for name in ("Flap", "Glass"))
    constraint = glass.constraints.new("LIMIT_SCALE")
    constraint.use_min_x, constraint.min_x = True, 0.1
    return [door, glass], [door, glass], slice(None)


SCENES = pytest.mark.parametrize("make", [one_object, two_objects, one_mesh, cut_off])


def simulated(frames=40):
    """Play from the first frame on, as the simulation needs it."""
    for frame in range(1, frames):
        bpy.context.scene.frame_set(frame)


@SCENES
@pytest.mark.parametrize("joint", [FALLS, SINKS], ids=["hinge", "slider"])
def test_the_part_swings_under_gravity_up_to_its_limit_and_reverts(context, make, joint):
    parts, seen, which = make()
    context.scene.frame_set(1)
    start = dump()
    body = edit.physics_body(context, parts)
    written = write.write_joint(context, parts, joint, physics_body=body)
    written.pivot.animation_data.action = None  # the simulation alone moves it
    written.pivot["open"] = 0.0
    seen = seen if which != slice(0, 0) else written.parts()
    which = which if which != slice(0, 0) else slice(None)
    before = [world_points(ob)[which] for ob in seen]
    simulated()
    end = convert.rigid_motion(joint, joint.upper)
    for ob, points in zip(seen, before, strict=True):
        np.testing.assert_allclose(world_points(ob)[which], moved(points, end), atol=0.06)
    context.scene.frame_set(1)
    write.revert(context, written)
    assert dump() == start


@SCENES
def test_open_still_moves_a_part_that_can_be_simulated(context, make):
    parts, seen, which = make()
    written = write.write_joint(
        context, parts, FALLS, physics_body=edit.physics_body(context, parts)
    )
    context.scene.rigidbody_world.enabled = False
    context.scene.frame_set(1)
    seen = written.parts() if which == slice(0, 0) else seen
    which = slice(None) if which == slice(0, 0) else which
    before = [world_points(ob)[which] for ob in seen]
    context.scene.frame_set(49)
    end = convert.rigid_motion(FALLS, FALLS.upper)
    for ob, points in zip(seen, before, strict=True):
        np.testing.assert_allclose(world_points(ob)[which], moved(points, end), atol=1e-5)


def test_limits_changed_on_the_pivot_are_those_of_the_simulation(context):
    parts, _, _ = one_object()
    written = write.write_joint(
        context, parts, FALLS, physics_body=edit.physics_body(context, parts)
    )
    written.pivot["upper"] = 0.4  # as the field in the panel does
    written.pivot.update_tag()
    context.view_layer.update()
    constraint = written.frame.rigid_body_constraint
    # Blender's hinge counts the other way, as the simulations above show
    assert constraint.limit_ang_z_lower == pytest.approx(-0.4)
    write.set_joint(written, SINKS)
    context.view_layer.update()
    assert constraint.type == "SLIDER"
    assert constraint.limit_lin_x_upper == pytest.approx(0.5)


@pytest.mark.parametrize("make", [two_objects, one_mesh])
def test_a_stand_in_stays_around_its_part_when_the_axis_is_moved(context, make):
    parts, _, _ = make()
    written = write.write_joint(
        context, parts, FALLS, physics_body=edit.physics_body(context, parts)
    )
    context.scene.frame_set(1)
    stand_in = written.pointed("stand_in")
    before = world_points(stand_in)
    write.set_joint(written, SINKS)
    np.testing.assert_allclose(world_points(stand_in), before, atol=1e-5)
    np.testing.assert_allclose(
        [before.min(0), before.max(0)], [(0, -1, 0), (1, -0.9, 2)], atol=1e-5
    )
    assert stand_in not in pick.whole_object(context, parts)


def test_a_part_without_anything_to_hang_on_is_refused(context):
    door = box()
    written = write.write_joint(context, [door], FALLS)
    before = dump()
    with pytest.raises(InputError, match="nothing for the part to hang on"):
        edit.add_physics(context, written)
    assert dump() == before
