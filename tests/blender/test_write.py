"""Writing a joint into a scene: the part rests where it was, moves rigidly, and comes back."""

from __future__ import annotations

import math

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from scenes import add, box, dump, moved, two_boxes, world_points  # noqa: E402

from atop_backend.contracts import JointMotion  # noqa: E402
from atop_backend.errors import InputError  # noqa: E402
from blender_addon.scene import animate, convert, record, write  # noqa: E402
from blender_addon.scene.mesh_parts import MeshPart  # noqa: E402

TILTED = tuple((np.array([0.2, -0.3, 0.93]) / np.linalg.norm([0.2, -0.3, 0.93])).tolist())
HINGE = JointMotion("revolute", TILTED, (0.5, -0.2, 0.3), 0.0, 1.9)
SLIDER = JointMotion("prismatic", TILTED, (0.5, -0.2, 0.3), -0.1, 0.7)
LID = JointMotion("revolute", (1.0, 0.0, 0.0), (0.0, 0.1, 2.0), 0.0, math.radians(265))
PARENTS = ("none", "plain", "non-uniform", "negative", "delta", "grandparent")
JOINTS = pytest.mark.parametrize("joint", [HINGE, SLIDER, LID], ids=["hinge", "slider", "lid"])


def check_motion(context, ob, joint, before, start=1, duration=48, scale=1.0):
    """At the first frame nothing has moved; at the last the part has moved rigidly."""
    scene = context.scene
    scene.frame_set(start)
    np.testing.assert_allclose(world_points(ob), before, atol=1e-6 * scale, rtol=0)
    scene.frame_set(start + duration)
    expected = moved(before, convert.rigid_motion(joint, convert.full_travel(joint)))
    np.testing.assert_allclose(world_points(ob), expected, atol=1e-5 * scale, rtol=0)
    scene.frame_set(start)


def turned_parent(kind):
    """A parent with an awkward transform."""
    parent = add(bpy.data.objects.new("Body", None), location=(0.3, -0.2, 0.5))
    parent.rotation_euler = (0.3, -0.5, 1.1)
    match kind:
        case "non-uniform":
            parent.scale = (2.0, 0.5, 1.3)
        case "negative":
            parent.scale = (-1.0, 1.0, 1.0)
        case "delta":
            parent.delta_location, parent.delta_rotation_euler = (0.1, 0.2, 0.3), (0.4, 0.1, 0.2)
            parent.delta_scale = (1.5, 1.5, 0.5)
        case "grandparent":
            above = add(bpy.data.objects.new("Above", None), scale=(1.0, 3.0, 0.7))
            above.rotation_euler = (0.1, 0.2, 0.3)
            parent.parent = above
    bpy.context.view_layer.update()
    return parent


@JOINTS
@pytest.mark.parametrize(
    "kind", ["none", "plain", "non-uniform", "negative", "delta", "grandparent"]
)
def test_a_part_under_any_parent_rests_moves_and_reverts(context, joint, kind):
    parent = None if kind == "none" else turned_parent(kind)
    door = box(parent=parent, location=(0.1, 0.2, 0.3))
    if parent:
        door.matrix_parent_inverse = convert.as_matrix(convert.rigid_motion(HINGE, 0.4))
    before, scene_before = world_points(door), dump()
    written = write.write_joint(context, [door], joint)
    check_motion(context, door, joint, before)
    write.revert(context, written)
    assert dump() == scene_before


@JOINTS
@pytest.mark.parametrize("scale", [(1, 2, 0.3), (-1, 1, 1), (-1, -1, -1), (1, 0, 1), (0, 0, 0)])
def test_a_part_of_any_scale_rests_moves_and_reverts(context, joint, scale):
    door = box(location=(0.1, 0.2, 0.3), scale=scale)
    before, scene_before = world_points(door), dump()
    written = write.write_joint(context, [door], joint)
    check_motion(context, door, joint, before)
    write.revert(context, written)
    assert dump() == scene_before


@pytest.mark.parametrize(
    "mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]
)
def test_every_rotation_mode_of_the_part_keeps_its_pose(context, mode):
    door = box(parent=turned_parent("non-uniform"))
    door.rotation_mode = mode
    door.rotation_euler, door.rotation_quaternion = (0.3, 0.4, 0.5), (0.9, 0.1, 0.2, 0.3)
    door.rotation_axis_angle = (0.7, 0.1, 0.2, 0.9)
    door.delta_rotation_euler, door.delta_scale = (0.1, 0.1, 0.1), (1.0, 1.2, 1.0)
    before = world_points(door)
    write.write_joint(context, [door], HINGE)
    check_motion(context, door, HINGE, before)


def test_a_parent_without_volume_is_refused_and_nothing_is_left(context):
    parent = add(bpy.data.objects.new("Flat", None), scale=(1.0, 0.0, 1.0))
    door = box(parent=parent)
    before = dump()
    with pytest.raises(InputError, match="scale of zero"):
        write.write_joint(context, [door], HINGE)
    assert dump() == before


def test_an_object_far_away_keeps_its_place_to_single_precision(context):
    door = box(location=(1000.0, -2000.0, 500.0))
    joint = convert.transform_joint(HINGE, np.array(door.matrix_world, float))
    before = world_points(door)
    write.write_joint(context, [door], joint)
    check_motion(context, door, joint, before, scale=500)


@pytest.mark.parametrize(("first", "fps", "base"), [(100, 24, 1.001), (-50, 25, 1.0)])
def test_frames_anywhere_and_odd_rates_work(context, first, fps, base):
    scene = context.scene
    context.preferences.edit.use_negative_frames = True
    scene.frame_start, scene.frame_end, scene.frame_current = max(first, 0), 300, first + 3
    scene.render.fps, scene.render.fps_base = fps, base
    door = box()
    before, frames = world_points(door), dump()["frames"]
    write.write_joint(context, [door], SLIDER, frame_start=first, duration_frames=30)
    assert dump()["frames"] == frames
    check_motion(context, door, SLIDER, before, first, 30)


def test_a_second_articulation_adds_an_action_and_keeps_the_first(context):
    door = box(parent=turned_parent("non-uniform"))
    before = world_points(door)
    start = dump()
    first = write.write_joint(context, [door], HINGE)
    first_action, after_first = first.pivot.animation_data.action, dump()
    second = write.write_joint(context, [door], SLIDER, frame_start=10, duration_frames=20)
    assert second.pivot == first.pivot
    assert second.pivot.animation_data.action != first_action
    assert len(bpy.data.actions) == 2
    check_motion(context, door, SLIDER, before, 10, 20)
    context.scene.frame_set(1)
    write.revert(context, second)
    assert dump() == after_first
    check_motion(context, door, HINGE, before)
    write.revert(context, first)
    assert dump() == start


def test_existing_animation_goes_on_under_the_joint(context):
    door = box()
    for frame, x in ((1, 0.0), (49, 0.5)):
        door.location.x = x
        door.keyframe_insert("location", frame=frame)
    track = door.animation_data.nla_tracks.new()
    strip_action = bpy.data.actions.new("Held")
    track.strips.new("Held", 200, strip_action)
    door.driver_add("rotation_euler", 1).driver.expression = "0.25"
    context.scene.frame_set(49)
    at_the_end = world_points(door)
    context.scene.frame_set(1)
    before, start = world_points(door), dump()
    written = write.write_joint(context, [door], HINGE)
    np.testing.assert_allclose(world_points(door), before, atol=1e-6)
    context.scene.frame_set(49)
    expected = moved(at_the_end, convert.rigid_motion(HINGE, HINGE.upper))
    np.testing.assert_allclose(world_points(door), expected, atol=1e-5)
    context.scene.frame_set(1)
    write.revert(context, written)
    assert dump() == start


@pytest.mark.parametrize("kind", ["COPY_LOCATION", "CHILD_OF", "LIMIT_LOCATION", "TRACK_TO"])
def test_a_constrained_part_keeps_its_constraints_and_still_moves_rigidly(context, kind):
    target = add(bpy.data.objects.new("Target", None), location=(1.0, 2.0, 0.5))
    door = box(parent=turned_parent("plain"))
    constraint = door.constraints.new(kind)
    if hasattr(constraint, "target"):
        constraint.target = target
    else:
        constraint.use_max_x = True
    before, start = world_points(door), dump()
    written = write.write_joint(context, [door], HINGE)
    check_motion(context, door, HINGE, before)
    assert door.constraints[0].type == kind
    write.revert(context, written)
    assert dump() == start


@pytest.mark.parametrize("kind", ["BONE", "VERTEX", "ARMATURE"])
def test_special_parents_are_kept(context, kind):
    if kind == "VERTEX":
        parent = box("Body", location=(1.0, 2.0, 3.0))
    else:
        from blender_addon.scene.mesh_parts import _one_bone_armature

        parent = add(_one_bone_armature(context, "Rig", "Root"), location=(1.0, 2.0, 3.0))
        parent.pose.bones[0].rotation_mode = "XYZ"
        parent.pose.bones[0].rotation_euler = (0.2, 0.3, 0.4) if kind == "BONE" else (0, 0, 0)
    door = box(location=(0.1, 0.2, 0.3))
    door.parent, door.parent_type = parent, kind
    if kind == "BONE":
        door.parent_bone = "Root"
    if kind == "VERTEX":
        door.parent_vertices = (3, 0, 0)
    before, start = world_points(door), dump()
    written = write.write_joint(context, [door], HINGE)
    check_motion(context, door, HINGE, before)
    carried = written.frame.matrix_world.copy()
    parent.location.x += 1.0
    context.view_layer.update()
    assert written.frame.matrix_world.translation.x == pytest.approx(
        carried.translation.x + 1, 1e-5
    )
    parent.location.x -= 1.0
    write.revert(context, written)
    assert dump() == start


def test_several_parts_move_as_one_and_empties_among_them_do_no_harm(context):
    body = turned_parent("non-uniform")
    group = add(bpy.data.objects.new("Group", None), body)
    door, glass = box("Door", group), box("Glass", body, (0.2, 0.0, 0.1))
    handle = box("Handle", door, (0.4, 0.0, 0.0))
    before = [world_points(ob) for ob in (door, glass, handle)]
    start = dump()
    written = write.write_joint(context, [group, door, handle, glass], HINGE)
    assert written.parts() == [group, glass]
    for ob, points in zip((door, glass, handle), before, strict=True):
        check_motion(context, ob, HINGE, points)
    write.revert(context, written)
    assert dump() == start


def test_an_object_and_faces_of_another_move_as_one(context):
    body = turned_parent("plain")
    cabinet, handle = two_boxes(), box("Handle", body, (0.3, -1.2, 0.0))
    cabinet.parent = body
    points, more = world_points(cabinet), world_points(handle)
    start = dump()
    written = write.write_joint(
        context, [MeshPart(cabinet, np.arange(6, 12), "Door"), handle], HINGE
    )
    assert written.frame.parent == body
    check_motion(context, handle, HINGE, more)
    context.scene.frame_set(49)
    expected = moved(points[8:], convert.rigid_motion(HINGE, HINGE.upper))
    np.testing.assert_allclose(world_points(cabinet)[8:], expected, atol=1e-5)
    context.scene.frame_set(1)
    write.revert(context, written)
    assert dump() == start


def test_of_two_objects_that_share_a_mesh_only_the_chosen_one_moves(context):
    left = box("Left")
    right = add(bpy.data.objects.new("Right", left.data), location=(3.0, 0.0, 0.0))
    before, other = world_points(left), world_points(right)
    write.write_joint(context, [left], HINGE)
    check_motion(context, left, HINGE, before)
    context.scene.frame_set(49)
    np.testing.assert_array_equal(world_points(right), other)


@pytest.mark.parametrize("way", ["bone", "separate"])
@JOINTS
def test_faces_of_one_mesh_move_and_revert(context, way, joint):
    cabinet = two_boxes()
    cabinet.parent = turned_parent("non-uniform")
    cabinet.vertex_groups.new(name="Other")
    context.view_layer.update()
    before, start = world_points(cabinet), dump()
    part = MeshPart(cabinet, np.arange(6, 12), "Door", way)
    written = write.write_joint(context, [part], joint)
    end = convert.rigid_motion(joint, joint.upper)
    context.scene.frame_set(49)
    if way == "bone":
        after = world_points(cabinet)
        np.testing.assert_allclose(after[:8], before[:8], atol=1e-6)
        np.testing.assert_allclose(after[8:], moved(before[8:], end), atol=1e-5)
    else:
        np.testing.assert_array_equal(world_points(cabinet), before[:8])
        after = world_points(written.parts()[0])
        np.testing.assert_allclose(after, moved(before[8:], end), atol=1e-5)
    context.scene.frame_set(1)
    again = write.write_joint(context, [part] if way == "bone" else written.parts(), joint)
    assert again.frame == written.frame
    write.revert(context, again)
    write.revert(context, written)
    np.testing.assert_array_equal(world_points(cabinet), before)
    assert dump() == start


@pytest.mark.parametrize("kind", ["MIRROR", "ARRAY", "SUBSURF", "BEVEL", "SOLIDIFY"])
@pytest.mark.parametrize("keys", [False, True], ids=["plain", "shape keys"])
def test_modifiers_and_shape_keys_of_a_part_stay_and_move_along(context, kind, keys):
    door = box()
    if keys:
        door.shape_key_add(name="Basis")
        door.shape_key_add(name="Bent").data[0].co.x -= 0.2
        door.data.shape_keys.key_blocks["Bent"].value = 0.5
    door.modifiers.new("Own", kind)
    before, start = world_points(door), dump()
    written = write.write_joint(context, [door], HINGE)
    check_motion(context, door, HINGE, before)
    write.revert(context, written)
    assert dump() == start


@pytest.mark.parametrize("mode", ["EDIT", "SCULPT", "WEIGHT_PAINT", "VERTEX_PAINT"])
@pytest.mark.parametrize("kind", ["object", "bone", "separate"])
def test_any_mode_survives(context, mode, kind):
    cabinet = two_boxes()
    context.view_layer.objects.active = cabinet
    cabinet.select_set(True)
    bpy.ops.object.mode_set(mode=mode)
    start = dump()
    part = cabinet if kind == "object" else MeshPart(cabinet, np.arange(6, 12), "Door", kind)
    written = write.write_joint(context, [part], HINGE)
    assert cabinet.mode == mode
    assert context.view_layer.objects.active == cabinet
    write.revert(context, written)
    assert dump() == start


@pytest.mark.parametrize("how", ["eye", "viewport", "excluded", "two scenes"])
def test_hidden_and_shared_objects_take_their_joint_along(context, how):
    collection = bpy.data.collections.new("Hidden")
    context.scene.collection.children.link(collection)
    door = box()
    context.scene.collection.objects.unlink(door)
    collection.objects.link(door)
    before = world_points(door)
    layer = context.view_layer.layer_collection.children["Hidden"]
    match how:
        case "eye":
            door.hide_set(True)
        case "viewport":
            door.hide_viewport = True
        case "excluded":
            layer.exclude = True
        case "two scenes":
            bpy.data.scenes.new("Other").collection.children.link(collection)
    written = write.write_joint(context, [door], HINGE)
    layer.exclude, door.hide_viewport = False, False
    door.hide_set(False)
    check_motion(context, door, HINGE, before)
    assert written.pivot.name in collection.objects


@pytest.mark.parametrize(
    "name", ["Door: left / \"inner\" 'x'", "ДверьШкафа 扉", "x" * 63, " leading and trailing "]
)
def test_any_name_works(context, name):
    door = box(name)
    before, start = world_points(door), dump()
    written = write.write_joint(context, [door], HINGE)
    check_motion(context, door, HINGE, before)
    write.revert(context, written)
    assert dump() == start
    cabinet = two_boxes(name)
    before = world_points(cabinet)
    write.write_joint(context, [MeshPart(cabinet, np.arange(6, 12), name)], HINGE)
    context.scene.frame_set(49)
    expected = moved(before[8:], convert.rigid_motion(HINGE, HINGE.upper))
    np.testing.assert_allclose(world_points(cabinet)[8:], expected, atol=1e-5)


def test_auto_key_and_a_keying_set_change_nothing(context):
    context.scene.tool_settings.use_keyframe_insert_auto = True
    keying = context.scene.keying_sets.new(idname="Mine", name="Mine")
    door = box()
    keying.paths.add(door, "location")
    context.scene.keying_sets.active = keying
    written = write.write_joint(context, [door], HINGE)
    assert door.animation_data is None
    assert [curve.data_path for curve in animate.fcurves_of(written.pivot)] == ['["open"]']
    assert context.scene.tool_settings.use_keyframe_insert_auto


def test_the_limit_stops_a_hand_that_goes_too_far(context):
    door = box()
    written = write.write_joint(context, [door], HINGE)
    before = world_points(door)
    written.pivot.driver_remove("rotation_euler")
    written.pivot.rotation_euler.z = 2.5
    expected = moved(before, convert.rigid_motion(HINGE, HINGE.upper))
    np.testing.assert_allclose(world_points(door), expected, atol=1e-5)


def test_a_collection_instance_is_refused_with_the_remedy(context):
    collection = bpy.data.collections.new("Cabinet")
    instance = add(bpy.data.objects.new("Cabinet", None))
    instance.instance_type, instance.instance_collection = "COLLECTION", collection
    before = dump()
    with pytest.raises(InputError, match="Make Instances Real"):
        write.write_joint(context, [instance], HINGE)
    assert dump() == before


def test_of_two_identical_cabinets_only_one_moves_and_renaming_does_not_lose_it(context):
    doors = [box("Door", location=(3.0 * i, 0.0, 0.0)) for i in range(2)]
    points = [world_points(door) for door in doors]
    start = dump()
    written = write.write_joint(context, [doors[0]], HINGE)
    doors[0].name, written.frame.name = "Renamed", "Also renamed"
    check_motion(context, doors[0], HINGE, points[0])
    context.scene.frame_set(49)
    np.testing.assert_array_equal(world_points(doors[1]), points[1])
    context.scene.frame_set(1)
    write.revert(context, record.require_articulation(doors[0]))
    doors[0].name = "Door"
    assert dump() == start


def test_a_joint_survives_saving_and_opening_the_file(context, tmp_path):
    door = box("Door")
    before, start = world_points(door), dump()
    write.write_joint(context, [door], HINGE)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    door = bpy.data.objects["Door"]
    check_motion(bpy.context, door, HINGE, before)
    write.revert(bpy.context, record.require_articulation(door))
    assert dump() == start


@JOINTS
def test_physics_adds_a_limited_constraint_and_revert_removes_it(context, joint):
    body, door = box("Body", location=(0.0, 1.0, 0.0)), box()
    start = dump()
    written = write.write_joint(context, [door], joint, physics_body=body)
    constraint = written.frame.rigid_body_constraint
    assert constraint.type == ("HINGE" if joint.kind == "revolute" else "SLIDER")
    assert constraint.object1 == body
    write.revert(context, written)
    assert dump() == start
