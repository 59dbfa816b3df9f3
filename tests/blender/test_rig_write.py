"""A motion on a rig: every pose exact, in whatever channels the rig has, and exactly back again."""

from __future__ import annotations

import json

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from rig_motions import check, make_motion, motion_dict, wander, wanted_poses, write  # noqa: E402
from rig_scenes import CREATURE, armature, hang, save, tube  # noqa: E402
from scenes import world_points  # noqa: E402

from atop_backend.rendering import rigs  # noqa: E402
from blender_addon.scene import rig_keys, rig_write  # noqa: E402

MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
ROOT = (wander(9, 7, step=0.1), np.linspace((0, 0, 0), (1, -2, 0.5), 9))


@pytest.fixture
def rig(context):
    """A creature with a body, somewhere in the scene."""
    made = armature(location=(0.3, -1, 0.2), rotation_euler=(0.2, 0.3, 1))
    tube(made)
    return made


@pytest.mark.parametrize("mode", MODES)
def test_poses_are_exact_and_channels_run_smoothly_in_every_rotation_mode(rig, tmp_path, mode):
    for pose in rig.pose.bones:
        pose.rotation_mode = mode
    world = np.array(rig.matrix_world)
    motion = make_motion(tmp_path, count=24)
    write(rig, motion)
    check(rig, motion, world, range(1, 25))
    name = rig_keys.rotation_channels(motion.rotations[:, 0], mode)[0]
    curves = rig_keys.curves_of(rig.animation_data.action)
    assert {curve.data_path for curve in curves} == {f'pose.bones["{b}"].{name}' for b in CREATURE}
    turned = 2 * np.arccos(np.abs((motion.rotations[1:] * motion.rotations[:-1]).sum(-1))).max()
    for curve in curves:
        values = np.array([point.co[1] for point in curve.keyframe_points])
        limit = turned if mode == "QUATERNION" else np.pi
        assert np.abs(np.diff(values)).max() < limit
    assert all(pose.rotation_mode == mode for pose in rig.pose.bones)


@pytest.mark.parametrize("mode", MODES)
def test_the_object_carries_the_motion_of_the_whole(rig, tmp_path, mode):
    rig.rotation_mode = mode
    bpy.context.view_layer.update()
    world = np.array(rig.matrix_world)
    motion = make_motion(tmp_path, root=ROOT)
    assert write(rig, motion) == ""
    check(rig, motion, world, range(1, 10))


@pytest.mark.parametrize("how", ["parent", "delta", "small", "mirrored", "mirrored bone", "bone"])
def test_the_whole_is_carried_right_however_the_armature_hangs(rig, tmp_path, how):
    root, size = "OBJECT", 1.0
    match how:
        case "parent":
            carrier = bpy.data.objects.new("Carrier", None)
            bpy.context.scene.collection.objects.link(carrier)
            carrier.location, carrier.rotation_euler, carrier.scale = (
                (1, 2, 3),
                (0, 1, 1),
                (2, 2, 2),
            )
            rig.parent = carrier
        case "delta":
            rig.delta_location, rig.delta_rotation_euler = (0.1, 0.2, 0.3), (0.5, 0.2, 0.1)
            rig.delta_scale = (2, 2, 2)
        case "small":
            rig.scale, root = (0.01, 0.01, 0.01), "BONE"
        case "mirrored":
            rig.scale = (-1, 1, 1)
        case "mirrored bone":
            rig.scale, root = (-1, 1, 1), "BONE"
        case "bone":
            root = "BONE"
    bpy.context.view_layer.update()
    world = np.array(rig.matrix_world)
    before = world_points(bpy.data.objects["Body"])
    motion = make_motion(tmp_path, root=ROOT)
    write(rig, motion, root=root)
    moving = any(not c.data_path.startswith("pose") for c in
                 rig_keys.curves_of(rig.animation_data.action))  # fmt: skip
    assert moving == (root == "OBJECT")
    if "mirrored" in how:
        # the rotations are in axes whose X is flipped
        flipped = motion.rotations * np.array([1, 1, -1, -1])
        motion = motion._replace(rotations=flipped)
    check(rig, motion, world, range(1, 10), atol=2e-4)
    rig_write.revert(bpy.context, rig)
    np.testing.assert_allclose(world_points(bpy.data.objects["Body"]), before, atol=1e-5 * size)


def test_every_root_bone_carries_the_whole_where_there_are_several(context, tmp_path):
    rig = armature(CREATURE | {"tail": ((0, 0.5, 1), (0, 1, 1), "")})
    tube(rig)
    world = np.array(rig.matrix_world)
    motion = make_motion(tmp_path, bones=[*CREATURE, "tail"], root=ROOT)
    write(rig, motion, root="BONE")
    check(rig, motion, world, range(1, 10))


@pytest.mark.parametrize("off", ["use_inherit_rotation", "use_local_location"])
@pytest.mark.parametrize("root", ["OBJECT", "BONE"])
def test_bones_with_unusual_inheritance_are_posed_all_the_same(rig, tmp_path, off, root):
    for name in ("hips", "arm", "leg"):
        setattr(rig.data.bones[name], off, False)
    world = np.array(rig.matrix_world)
    # the leg has no rotation of its own, and must turn with the hips all the same
    motion = make_motion(tmp_path, bones=["hips", "chest", "arm"], root=ROOT)
    write(rig, motion, root=root)
    check(rig, motion, world, range(1, 10))


def test_a_pose_that_was_left_over_does_not_shine_through(rig, tmp_path):
    world = np.array(rig.matrix_world)
    for pose in rig.pose.bones:
        pose.location, pose.scale, pose.rotation_quaternion = (1, 2, 3), (2, 1, 1), (0, 1, 0, 0)
    motion = make_motion(tmp_path, bones=["chest", "arm"])
    write(rig, motion)
    check(rig, motion, world, range(1, 10), bones=("hips", "chest", "arm"))


@pytest.mark.parametrize(
    ("fps", "scene_fps", "frames"), [(24, 24, range(10, 19)), (8, 24, range(10, 35, 3))]
)
def test_start_and_frame_rate_are_respected(rig, tmp_path, fps, scene_fps, frames):
    bpy.context.scene.render.fps = scene_fps
    world = np.array(rig.matrix_world)
    motion = make_motion(tmp_path, fps=fps, root=ROOT)
    write(rig, motion, frame_start=10.0)
    check(rig, motion, world, frames)
    curve = rig_keys.curves_of(rig.animation_data.action)[0]
    assert [point.co[0] for point in curve.keyframe_points] == list(frames)


def test_a_rate_that_does_not_divide_is_laid_on_whole_frames(rig, tmp_path):
    bpy.context.scene.render.fps = 24
    world = np.array(rig.matrix_world)
    motion = make_motion(tmp_path, count=31, fps=30, root=(wander(31, 7), np.zeros((31, 3))))
    write(rig, motion)
    curve = rig_keys.curves_of(rig.animation_data.action)[0]
    assert [point.co[0] for point in curve.keyframe_points] == list(range(1, 26))
    same = [0, 5, 10, 15, 20, 25, 30]  # seconds that both rates have
    part = motion._replace(**{name: getattr(motion, name)[same] for name in motion._fields[3:]})
    check(rig, part, world, [1, 5, 9, 13, 17, 21, 25])


def test_a_loop_goes_on_without_a_step_and_travels_on(rig, tmp_path):
    motion = make_motion(tmp_path, root=(np.tile([1.0, 0, 0, 0], (9, 1)), ROOT[1]), cyclic=True)
    turns = motion.rotations.copy()
    turns[-1] = -turns[0]  # the same rotation
    motion = motion._replace(rotations=turns)
    world = np.array(rig.matrix_world)
    write(rig, motion, frame_start=5.0)
    check(rig, motion, world, range(5, 14))
    later = motion._replace(root_translations=ROOT[1] + 2 * ROOT[1][-1])
    check(rig, later._replace(rotations=turns), world, range(21, 29))
    for curve in rig_keys.curves_of(rig.animation_data.action):
        assert [modifier.type for modifier in curve.modifiers] == ["CYCLES"]


@pytest.mark.parametrize("control", ["ik", "copy", "driver", "spline"])
def test_controls_are_muted_so_that_the_motion_is_seen(context, tmp_path, control):
    rig = armature(CREATURE | {"target": ((1, 0, 1), (1, 0, 1.5), "")})
    rig.data.bones["target"].use_deform = False
    tube(rig, bones=list(CREATURE))
    match control:
        case "ik":
            ik = rig.pose.bones["hand"].constraints.new("IK")
            ik.target, ik.subtarget = rig, "target"
        case "copy":
            for name in CREATURE:
                copy = rig.pose.bones[name].constraints.new("COPY_TRANSFORMS")
                copy.target, copy.subtarget = rig, "target"
        case "driver":
            rig.pose.bones["leg"].driver_add("rotation_quaternion", 1).driver.expression = "0.7"
        case "spline":
            curve = bpy.data.objects.new("Path", bpy.data.curves.new("Path", "CURVE"))
            bpy.context.scene.collection.objects.link(curve)
            curve.data.splines.new("POLY").points.add(3)
            spline = rig.pose.bones["hand"].constraints.new("SPLINE_IK")
            spline.target, spline.chain_count = curve, 2
    world = np.array(rig.matrix_world)
    motion = make_motion(tmp_path)
    said = write(rig, motion)
    check(rig, motion, world, range(1, 10), bones=CREATURE)
    assert said.startswith("muted what controlled")


def test_controls_of_bones_that_do_not_move_stay(rig, tmp_path):
    rig.pose.bones["leg"].constraints.new("COPY_ROTATION")
    assert write(rig, make_motion(tmp_path, bones=["arm", "hand"])) == ""
    assert not rig.pose.bones["leg"].constraints[0].mute


def test_limits_stay_in_force(rig, tmp_path):
    limit = rig.pose.bones["arm"].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.use_limit_y, limit.use_limit_z = (
        "LOCAL",
        *[True] * 3,
    )
    write(rig, make_motion(tmp_path))
    assert not limit.mute


@pytest.mark.parametrize("obstacle", ["mesh", "constraint", "driver"])
def test_a_bone_carries_the_whole_where_the_object_cannot(context, tmp_path, obstacle):
    rig = armature()
    tube(rig, parent=obstacle != "mesh")
    match obstacle:
        case "constraint":
            rig.constraints.new("LIMIT_DISTANCE")
        case "driver":
            rig.driver_add("location", 0).driver.expression = "0.0"
    world = np.array(rig.matrix_world)
    motion = make_motion(tmp_path, root=ROOT)
    assert write(rig, motion).startswith("the root bone carries the motion: ")
    check(rig, motion, world, range(1, 10))


def test_a_rig_that_was_moved_meanwhile_moves_from_where_it_is(rig, tmp_path):
    then = np.array(rig.matrix_world)
    rig.location, rig.rotation_euler = (5, 0, 1), (0, 0, 2)
    bpy.context.view_layer.update()
    now = np.array(rig.matrix_world)
    motion = make_motion(tmp_path, root=ROOT)
    by = now @ np.linalg.inv(then)
    write(rig, motion, world=now, moved=by)
    for index, frame in enumerate(range(1, 10)):
        bpy.context.scene.frame_set(frame)
        wanted = by @ wanted_poses(rig, motion, then)["hand"][index]
        shown = np.array(rig.matrix_world) @ np.array(rig.pose.bones["hand"].matrix)
        np.testing.assert_allclose(shown, wanted, atol=1e-4)


def test_what_hangs_on_the_rig_follows(rig, tmp_path):
    crate = tube(rig, "Crate", ["leg"], modifier=False, weighted=False, parent=False)
    hang(crate, rig, "hand")
    before = world_points(crate)
    hand = np.array(rig.matrix_world) @ np.array(rig.pose.bones["hand"].matrix)
    motion = make_motion(tmp_path, root=ROOT)
    world = np.array(rig.matrix_world)
    write(rig, motion)
    bpy.context.scene.frame_set(6)
    moved = wanted_poses(rig, motion, world)["hand"][5] @ np.linalg.inv(hand)
    np.testing.assert_allclose(
        world_points(crate), before @ moved[:3, :3].T + moved[:3, 3], atol=2e-4
    )


@pytest.mark.parametrize("suffix", ["blend", "glb"])
def test_the_backend_writes_a_scene_and_a_gltf_with_the_motion(rig, tmp_path, suffix):
    asset = tmp_path / f"asset.{suffix}"
    if suffix == "blend":
        save(asset)
    else:
        bpy.ops.export_scene.gltf(filepath=str(asset))
    path = tmp_path / "motion.json"
    path.write_text(json.dumps(motion_dict({"arm": wander(9, 1), "leg": wander(9, 2)}, root=ROOT)))
    files = rigs.write_motion(asset, path, tmp_path / "out", fps=24.0)
    assert sorted(files) == ["blend", "glb"]
    bpy.ops.wm.open_mainfile(filepath=str(files["blend"]))
    made = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end, scene.frame_current) == (1, 9, 1)
    bones = ("hips", "arm", "hand", "leg")
    shown = shown_heads(made, bones)
    assert np.ptp(shown, axis=0).max() > 0.5
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    bpy.ops.import_scene.gltf(filepath=str(files["glb"]))
    made = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    first = bpy.data.actions[0].frame_range[0]
    # a glTF begins at zero; its bones have other axes but the same joints
    np.testing.assert_allclose(shown_heads(made, bones, first), shown, atol=1e-3)


def shown_heads(rig, bones, first=1):
    """World places of the heads of bones in nine frames, (frames, bones, 3)."""
    found = []
    for frame in range(9):
        bpy.context.scene.frame_set(int(first) + frame)
        found.append([rig.matrix_world @ rig.pose.bones[name].head for name in bones])
    return np.array(found)
