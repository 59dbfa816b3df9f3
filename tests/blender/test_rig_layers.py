"""What a rig did before is kept beside its new motion, and all of it comes back."""

from __future__ import annotations

import json

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from rig_motions import check, make_motion, wander, write  # noqa: E402
from rig_scenes import CREATURE, armature, save, tube  # noqa: E402
from scenes import dump  # noqa: E402

from atop_backend.errors import InputError  # noqa: E402
from blender_addon.core.rig_motion import read_motion  # noqa: E402
from blender_addon.scene import rig_write  # noqa: E402

ROOT = (wander(9, 7, step=0.1), np.linspace((0, 0, 0), (1, -2, 0.5), 9))


@pytest.fixture
def rig(context):
    """A creature with a body, somewhere in the scene."""
    made = armature(location=(0.3, -1, 0.2), rotation_euler=(0.2, 0.3, 1))
    tube(made)
    return made


def full_dump(rig):
    """All that an artist could notice, with poses and what controls them."""
    shown = dump()
    shown["pose"] = {
        pose.name: (
            pose.rotation_mode,
            *(tuple(getattr(pose, name)) for name in rig_write._CHANNELS),
            [(c.name, c.mute) for c in pose.constraints],
        )
        for pose in rig.pose.bones
    }
    drivers = rig.animation_data.drivers if rig.animation_data else ()
    shown["drivers"] = [(d.data_path, d.mute) for d in drivers]
    slot = getattr(rig.animation_data, "action_slot", None)
    shown["slot"] = slot.identifier if slot else None
    return shown


def walk_already(rig):
    """An action that the rig has before; returns it."""
    pose = rig.pose.bones["arm"]
    for frame, angle in ((1, 0.0), (20, 1.0)):
        pose.rotation_quaternion = (np.cos(angle / 2), np.sin(angle / 2), 0, 0)
        pose.location = (0, 0, angle)
        pose.keyframe_insert("rotation_quaternion", frame=frame)
        pose.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    rig.animation_data.action.name = "Walk"
    return rig.animation_data.action


def test_the_animation_that_was_there_stays_in_the_file(rig, tmp_path):
    walk_already(rig)
    world = np.array(rig.matrix_world)
    motion = make_motion(tmp_path)
    write(rig, motion)
    check(rig, motion, world, range(1, 10))
    path = save(tmp_path / "saved.blend")
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = bpy.data.objects["Rig"]
    assert "Walk" in bpy.data.actions
    assert rig.animation_data.action.name == "Rig Motion"
    check(rig, motion, world, range(1, 10))
    rig_write.revert(bpy.context, rig)
    assert rig.animation_data.action.name == "Walk"


def test_an_nla_strip_lies_over_what_was_there(rig, tmp_path):
    walk_already(rig)
    world = np.array(rig.matrix_world)
    motion = make_motion(tmp_path)
    write(rig, motion, target="NLA")
    assert [t.strips[0].action.name for t in rig.animation_data.nla_tracks] == [
        "Walk",
        "Rig Motion",
    ]
    check(rig, motion, world, range(1, 10))
    bpy.context.scene.frame_set(20)
    assert rig.pose.bones["arm"].location[2] == pytest.approx(1.0)


def test_a_loop_as_a_strip_fills_the_scene(rig, tmp_path):
    bpy.context.scene.frame_end = 60
    motion = make_motion(tmp_path, cyclic=True)
    motion = motion._replace(
        rotations=np.concatenate([motion.rotations[:-1], motion.rotations[:1]])
    )
    world = np.array(rig.matrix_world)
    write(rig, motion, target="NLA")
    check(rig, motion, world, range(41, 50))


@pytest.mark.parametrize("target", ["ACTION", "NLA"])
@pytest.mark.parametrize("before", ["nothing", "action", "pose", "controls", "strip"])
def test_revert_restores_everything(rig, tmp_path, target, before):
    match before:
        case "action":
            walk_already(rig)
        case "pose":
            for pose in rig.pose.bones:
                pose.location, pose.rotation_quaternion = (1, 2, 3), (0.6, 0.8, 0, 0)
        case "controls":
            rig.pose.bones["hand"].constraints.new("IK").chain_count = 2
            limit = rig.pose.bones["leg"].constraints.new("LIMIT_ROTATION")
            limit.use_limit_x = True
            rig.pose.bones["leg"].rotation_mode = "XYZ"
            rig.pose.bones["chest"].driver_add("location", 1).driver.expression = "0.5"
            muted = rig.pose.bones["arm"].constraints.new("DAMPED_TRACK")
            muted.mute = True
        case "strip":
            action = walk_already(rig)
            rig.animation_data.nla_tracks.new().strips.new("Old", 1, action)
            rig.animation_data.action = None
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(3)
    start = full_dump(rig)
    write(rig, make_motion(tmp_path, root=ROOT), target=target)
    middle = full_dump(rig)
    write(rig, make_motion(tmp_path, bones=["arm"]), target=target, root="BONE")
    rig_write.revert(bpy.context, rig)
    assert full_dump(rig) == middle
    rig_write.revert(bpy.context, rig)
    assert full_dump(rig) == start
    with pytest.raises(InputError, match="no motion from here"):
        rig_write.revert(bpy.context, rig)


def test_a_motion_that_does_not_fit_is_refused_and_changes_nothing(rig, tmp_path):
    start = full_dump(rig)
    motion = make_motion(tmp_path, bones=[*CREATURE, "wing"])
    with pytest.raises(InputError, match="no bone wing any more"):
        write(rig, motion)
    assert full_dump(rig) == start
    broken = tmp_path / "broken.json"
    for text in ("{}", "not json", json.dumps({"version": 2, "bones": []})):
        broken.write_text(text)
        with pytest.raises(InputError, match="cannot be read"):
            read_motion(broken)
    with pytest.raises(InputError, match="cannot be read"):
        read_motion(tmp_path / "missing.json")


def test_a_strip_that_is_being_edited_is_not_disturbed(rig, tmp_path):
    action = walk_already(rig)
    track = rig.animation_data.nla_tracks.new()
    strip = track.strips.new("Old", 1, action)
    rig.animation_data.action = None
    track.select = strip.select = True
    rig.animation_data.nla_tracks.active = track
    rig.animation_data.use_tweak_mode = True
    with pytest.raises(InputError, match="tweak mode"):
        write(rig, make_motion(tmp_path))
