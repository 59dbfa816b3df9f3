"""Placing the axis by hand: edges, normals, handles."""

from __future__ import annotations

import math

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import bmesh  # noqa: E402
import numpy as np  # noqa: E402
from scenes import add, box, world_points  # noqa: E402

from atop_backend.contracts import JointMotion  # noqa: E402
from blender_addon.scene import edit, snap, write  # noqa: E402
from blender_addon.ui import gizmo  # noqa: E402

HINGE = JointMotion("revolute", (0.0, 0.0, 1.0), (0.5, 0.0, 0.0), 0.0, 1.5)
SLIDER = JointMotion("prismatic", (0.0, -1.0, 0.0), (0.5, 0.0, 1.0), 0.0, 0.4)


def triangulated(ob, split):
    """Cut the faces into triangles, and apart like files with flat shading do."""
    mesh = bmesh.new()
    mesh.from_mesh(ob.data)
    bmesh.ops.recalc_face_normals(mesh, faces=mesh.faces)
    bmesh.ops.triangulate(mesh, faces=mesh.faces)
    if split:
        bmesh.ops.split_edges(mesh, edges=mesh.edges)
    mesh.to_mesh(ob.data)
    mesh.free()
    bpy.context.view_layer.update()


@pytest.mark.parametrize("split", [False, True], ids=["welded", "split"])
@pytest.mark.parametrize("opened", [0.0, 1.0])
def test_the_axis_snaps_to_the_side_of_a_flat_face_and_not_to_its_triangles(context, split, opened):
    door = box()
    triangulated(door, split)
    written = write.write_joint(context, [door], HINGE)
    written.pivot.animation_data.action = None
    written.pivot["open"] = opened
    written.pivot.update_tag()
    context.view_layer.update()
    turn = gizmo.convert.rigid_motion(HINGE, 1.5 * opened)
    aim = turn @ (0.95, 0.0, 1.1, 1.0)  # on the front, near its right side and its diagonal
    away = turn[:3, :3] @ (0.0, -1.0, 0.0)
    line = snap.snap_axis(context, written, aim[:3] + 3 * away, -away, normal=False)
    np.testing.assert_allclose(np.abs(line.axis), (0, 0, 1), atol=1e-5)
    np.testing.assert_allclose(line.origin, (1.0, 0.0, 1.0), atol=1e-5)
    write.set_joint(written, snap.joint_on(written, line))
    assert written.joint.axis == pytest.approx((0, 0, 1), abs=1e-5)
    assert written.joint.origin[:2] == pytest.approx((1.0, 0.0), abs=1e-5)


def test_the_axis_snaps_to_a_face_normal(context):
    door = box()
    triangulated(door, False)
    written = write.write_joint(context, [door], SLIDER)
    line = snap.snap_axis(
        context, written, np.array([0.5, -3.0, 0.9]), np.array([0.0, 1.0, 0.0]), normal=True
    )
    np.testing.assert_allclose(np.abs(line.axis), (0, 1, 0), atol=1e-6)
    assert snap.joint_on(written, line).axis == pytest.approx((0, -1, 0), abs=1e-6)


def test_a_ray_that_misses_snaps_to_nothing(context):
    written = write.write_joint(context, [box()], HINGE)
    far, up = np.array([50.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    assert snap.snap_axis(context, written, far, up, normal=False) is None


def test_an_axis_moved_by_hand_keeps_the_rest_pose_under_a_parent_that_has_moved(context):
    body = add(bpy.data.objects.new("Body", None))
    door = box("Door", body)
    written = write.write_joint(context, [door], HINGE)
    body.location, body.rotation_euler = (3.0, 0.0, 0.0), (0.0, 0.0, 0.4)
    context.view_layer.update()
    before = world_points(door)
    frame = np.array(written.frame.matrix_world, float)
    frame[:3, 3] += (0.2, 0.1, 0.0)
    edit.set_frame(written, frame)
    np.testing.assert_allclose(world_points(door), before, atol=2e-6)
    np.testing.assert_allclose(np.array(written.frame.matrix_world), frame, atol=2e-6)


@pytest.mark.parametrize("joint", [HINGE, SLIDER], ids=["hinge", "slider"])
@pytest.mark.parametrize("amount", [0.0, 0.3, 1.0])
def test_the_open_handle_reads_back_the_amount_at_which_it_is_drawn(context, joint, amount):
    written = write.write_joint(context, [box()], joint)
    written.pivot["open"] = amount
    place = gizmo.handle_places(written)["open"]
    assert gizmo.open_at(written, np.array(place)) == pytest.approx(amount, abs=1e-5)


def test_beyond_its_range_the_open_handle_stops(context):
    written = write.write_joint(context, [box()], SLIDER)
    assert gizmo.open_at(written, np.array([0.5, -9.0, 1.0])) == 1.0
    assert gizmo.open_at(written, np.array([0.5, 9.0, 1.0])) == 0.0


def test_the_drawn_arc_runs_from_rest_to_open_around_the_axis(context):
    written = write.write_joint(context, [box()], HINGE)
    axis, arc = gizmo.axis_lines(written)
    np.testing.assert_allclose(axis[:, :2], [[0.5, 0.0]] * 2, atol=1e-6)
    size = written.frame.empty_display_size
    distances = np.linalg.norm(arc - (0.5, 0.0, 0.0), axis=1)
    assert distances.max() == pytest.approx(size, rel=1e-5)
    ends = arc[[1, -2]] - (0.5, 0.0, 0.0)
    cosine = ends[0] @ ends[1] / size**2
    assert cosine == pytest.approx(math.cos(1.5), abs=1e-4)


def test_the_drawn_arc_starts_where_the_part_lies_however_far_it_is_open(context):
    at_the_side = JointMotion("revolute", (0.0, 0.0, -1.0), (0.0, 0.05, 0.0), 0.0, 1.5)
    written = write.write_joint(context, [box()], at_the_side)
    for amount in (0.0, 1.0):
        written.pivot.animation_data.action = None
        written.pivot["open"] = amount
        written.pivot.update_tag()
        context.view_layer.update()
        start = gizmo.axis_lines(written)[1][1] - (0.0, 0.05, 0.0)
        np.testing.assert_allclose(start / np.linalg.norm(start), (1.0, 0.0, 0.0), atol=1e-5)
