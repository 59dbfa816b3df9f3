"""Apply to Similar: copies, mirrored pairs, drawers of a stack, faces of the same mesh."""

from __future__ import annotations

import math

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from pressing import articulate, select  # noqa: E402
from scenes import add, box, moved, two_boxes, world_points  # noqa: E402

from blender_addon.scene import animate, answers, convert, edit, record  # noqa: E402

AXIS, ORIGIN = (0, 0, 1), (0, 0, 0)  # of the scripted backend's hinge


def pair():
    """A body with a left and a right door, the left one articulated."""
    body = box("Body", location=(0.0, 0.1, 0.0))
    left = box("Left", body, (0.0, -0.1, 0.0))
    right = box("Right", body, (1.0, -0.1, 0.0))
    select(left)
    articulate()
    return left, right


def joint_of(ob):
    """Where the joint of an object is in the world now."""
    return edit.joint_now(record.require_articulation(ob))


@pytest.mark.parametrize("opened", [1, 49])
def test_the_other_door_of_a_pair_opens_the_other_way_however_far_the_first_is_open(addon, opened):
    left, right = pair()
    addon.scene.frame_set(opened)
    select(right, left)
    assert bpy.ops.atop.articulate_similar(mirror=True) == {"FINISHED"}
    assert joint_of(right).axis == pytest.approx((0, 0, -1), abs=1e-6)
    assert joint_of(right).origin[0] == pytest.approx(2.0, abs=1e-5)


def test_a_handle_that_is_not_in_the_middle_does_not_tilt_the_mirrored_hinge(addon):
    left, right = pair()
    box("Handle", right, (0.4, -0.2, 1.5), (0.1, 1.0, 0.4))
    select(right, left)
    bpy.ops.atop.articulate_similar(mirror=True)
    assert joint_of(right).axis == pytest.approx((0, 0, -1), abs=1e-6)


def test_a_copy_that_was_mirrored_by_its_scale_opens_like_a_mirror_image(addon):
    left, _ = pair()
    copy = add(bpy.data.objects.new("Copy", left.data), location=(4.0, 0.0, 0.0), scale=(-1, 1, 1))
    select(copy, left)
    bpy.ops.atop.articulate_similar()
    assert joint_of(copy).axis == pytest.approx((0, 0, -1), abs=1e-6)
    assert joint_of(copy).origin[0] == pytest.approx(4.0, abs=1e-5)


@pytest.mark.parametrize("linked", [True, False], ids=["linked data", "own data"])
def test_a_turned_and_scaled_copy_gets_the_joint_where_it_is_on_it(addon, linked):
    left, _ = pair()
    data = left.data if linked else left.data.copy()
    copy = add(bpy.data.objects.new("Copy", data), location=(4.0, 1.0, 0.0), scale=(2, 2, 2))
    copy.rotation_euler = (math.radians(90), 0.0, 0.0)
    addon.view_layer.update()
    before = world_points(copy)
    select(copy, left)
    bpy.ops.atop.articulate_similar()
    joint = joint_of(copy)
    assert joint.axis == pytest.approx((0, -1, 0), abs=1e-6)
    assert joint.origin == pytest.approx((4.0, 1.0, 0.0), abs=1e-5)
    addon.scene.frame_set(49)
    expected = moved(before, convert.rigid_motion(joint, 1.5))
    np.testing.assert_allclose(world_points(copy), expected, atol=1e-5)


def test_the_drawers_of_a_stack_get_the_slide_as_it_was_corrected_though_all_origins_are_at_zero(
    addon,
):
    body = box("Body", location=(0.0, 0.1, 0.0))
    drawers = []
    for row in range(3):
        drawer = box(f"Drawer {row}", body, scale=(1, 1, 0.2))
        drawer.data.transform(convert.as_matrix(np.diag([1, 1, 0.2, 1])))
        drawer.data.transform(convert.mathutils.Matrix.Translation((0, -0.1, 0.5 * row)))
        drawer.scale = (1, 1, 1)
        drawers.append(drawer)
    addon.view_layer.update()
    select(drawers[0])
    articulate()
    bpy.ops.atop.choose_answer(index=2)
    bpy.ops.atop.set_limits(lower=0.0, upper=0.25)
    addon.scene.atop.easing = "LINEAR"
    before = [world_points(ob) for ob in drawers]
    select(*drawers[1:], drawers[0])
    bpy.ops.atop.articulate_similar()
    addon.scene.frame_set(49)
    for ob, points in zip(drawers, before, strict=True):
        np.testing.assert_allclose(
            world_points(ob) - points, len(points) * [(0, -0.25, 0)], atol=1e-5
        )
    curve = animate.open_curve(record.require_articulation(drawers[2]).pivot)
    assert {point.interpolation for point in curve.keyframe_points} == {"LINEAR"}


def test_other_faces_of_the_same_mesh_are_similar_parts_too(addon):
    ob = two_boxes()
    for name in ("Upper", "Lower"):
        ob.data.materials.append(bpy.data.materials.new(name))
    for polygon in ob.data.polygons:
        polygon.material_index = int(polygon.index >= 6)
    before = world_points(ob)
    select(ob)
    articulate(source="MATERIAL", material="Upper")
    addon.scene.atop.material = "Lower"
    assert bpy.ops.atop.articulate_similar() == {"FINISHED"}
    first, second = record.articulations()
    shift = np.subtract(edit.joint_now(second).origin, edit.joint_now(first).origin)
    assert sorted(np.abs(shift).round(5)) == [0, 0, 1]
    addon.scene.frame_set(49)
    joints = [edit.joint_now(found) for found in (first, second)]
    ends = [convert.rigid_motion(joint, 1.5) for joint in joints]
    upper = moved(before[:8], ends[0] if joints[0].origin == ORIGIN else ends[1])
    np.testing.assert_allclose(world_points(ob)[:8], upper, atol=1e-5)


def test_what_is_selected_beside_similar_parts_is_left_alone(addon):
    left, right = pair()
    handle = box("Handle", right, (0.4, -0.1, 0.5), (0.1, 0.1, 0.1))
    empty = add(bpy.data.objects.new("Empty", None))
    select(handle, empty, right, left)
    bpy.ops.atop.articulate_similar()
    assert len(list(record.articulations())) == 2
    assert record.articulation_of(empty) is None


def test_nothing_but_the_part_itself_is_no_similar_part(addon):
    left, _ = pair()
    empty = add(bpy.data.objects.new("Empty", None))
    select(empty, left)
    with pytest.raises(RuntimeError, match="nothing to copy the joint to"):
        bpy.ops.atop.articulate_similar()
    assert answers.chosen_now(record.require_articulation(left)) == 0
