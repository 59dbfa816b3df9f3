"""What an artist does with a joint that is there: other answers, flip, limits, fit anew, copies."""

from __future__ import annotations

import json

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from fake_layout import draw  # noqa: E402
from pressing import articulate, cabinet, finish, select, start_without_waiting  # noqa: E402
from scenes import box, moved, world_points  # noqa: E402

from atop_backend.contracts import JointMotion  # noqa: E402
from blender_addon.scene import answers, convert, edit, record  # noqa: E402
from blender_addon.ui import panels  # noqa: E402


def test_alternatives_flip_and_limits_change_the_motion_live(addon):
    door = cabinet()
    articulate()
    before_open = world_points(door)
    found = record.require_articulation(door)
    found.pivot["open"] = 1.0
    found.pivot.animation_data.action = None
    found.pivot.update_tag()

    def expect(kind, axis, travel):
        joint = JointMotion(kind, axis, (0.0, 0.0, 0.0), 0.0, travel)
        np.testing.assert_allclose(
            world_points(door), moved(before_open, convert.rigid_motion(joint, travel)), atol=1e-5
        )

    expect("revolute", (0.0, 0.0, 1.0), 1.5)
    bpy.ops.atop.choose_answer(index=2)
    expect("prismatic", (0.0, -1.0, 0.0), 0.4)
    bpy.ops.atop.step_answer(step=1)
    expect("revolute", (0.0, 0.0, 1.0), 1.5)
    bpy.ops.atop.flip()
    expect("revolute", (0.0, 0.0, -1.0), 1.5)
    found.pivot["upper"] = 0.5  # as the field in the panel does
    found.pivot.update_tag()
    expect("revolute", (0.0, 0.0, -1.0), 0.5)
    bpy.ops.atop.set_limits(lower=-0.2, upper=0.7)
    assert (found.joint.lower, found.joint.upper) == pytest.approx((-0.2, 0.7))
    bpy.ops.atop.set_open(amount=0.5)
    expect("revolute", (0.0, 0.0, -1.0), 0.35)


def last_request(jobs):
    """The request of the newest job."""
    path = max(jobs.glob("*/request.json"), key=lambda file: file.stat().st_mtime_ns)
    return json.loads(path.read_text())


def lay_by_hand(found, shift=(0.2, 0.0, 0.0), tilt=0.1):
    """Drag the axis: shifted, and tilted about X."""
    frame = np.array(found.frame.matrix_world, float)
    frame[:3, 3] += shift
    tilted = JointMotion("revolute", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 1.0)
    frame[:3, :3] = convert.rigid_motion(tilted, tilt)[:3, :3] @ frame[:3, :3]
    edit.set_frame(found, frame)
    return found.joint


def test_a_new_fit_starts_from_the_corrected_axis_on_the_videos_of_its_job(addon, tmp_path):
    door = cabinet()
    articulate()
    found = record.require_articulation(door)
    job, action = found.data["job"], found.pivot.animation_data.action
    laid = lay_by_hand(found)
    assert bpy.ops.atop.refit() == {"FINISHED"}
    asked = last_request(tmp_path / "jobs")
    assert asked["earlier"] == job
    assert asked["initial"]["axis"] == pytest.approx(laid.axis)
    assert asked["initial"]["origin"] == pytest.approx(laid.origin)
    assert found.joint.axis == pytest.approx(laid.axis, abs=1e-6)
    assert found.joint.origin[0] == pytest.approx(laid.origin[0] + 0.01, abs=1e-6)
    assert found.joint.upper == pytest.approx(1.2)
    assert found.pivot.animation_data.action == action
    assert answers.hand_laid(found).origin == pytest.approx(laid.origin)
    assert len(answers.answers_of(found)) == 4  # the new one, then those from before
    refitted = found.data["job"]
    assert bpy.ops.atop.refit() == {"FINISHED"}
    assert last_request(tmp_path / "jobs")["earlier"] == refitted


@pytest.mark.parametrize("cleared", [False, True], ids=["videos kept", "videos cleared"])
def test_a_new_fit_knows_where_the_object_has_gone_since(addon, tmp_path, monkeypatch, cleared):
    door = cabinet()
    start_without_waiting(monkeypatch, "it opens calmly")
    bpy.data.objects["Body"].location.x += 5.0  # after its copy was written, before the joint came
    finish()
    monkeypatch.undo()
    found = record.require_articulation(door)
    assert edit.joint_now(found).origin[0] == pytest.approx(5.0, abs=1e-5)
    bpy.data.objects["Body"].location.x += 2.0  # and again, after it came
    addon.view_layer.update()
    if cleared:
        bpy.ops.atop.clear_cache()
    assert bpy.ops.atop.refit() == {"FINISHED"}
    asked = last_request(tmp_path / "jobs")
    assert (asked["earlier"] is None) == cleared
    assert asked["initial"]["origin"][0] == pytest.approx(7.0 if cleared else 0.0, abs=1e-5)
    assert edit.joint_now(found).origin[0] == pytest.approx(7.01, abs=1e-5)


def test_limits_set_by_hand_outlast_a_new_fit(addon):
    door = cabinet()
    articulate()
    bpy.ops.atop.set_limits(lower=-0.1, upper=0.7)
    bpy.ops.atop.refit()
    joint = record.require_articulation(door).joint
    assert (joint.lower, joint.upper) == pytest.approx((-0.1, 0.7))


def test_a_direction_turned_around_by_hand_is_where_a_new_fit_starts(addon, tmp_path):
    cabinet()
    articulate()
    bpy.ops.atop.flip()
    bpy.ops.atop.refit()
    assert last_request(tmp_path / "jobs")["initial"]["axis"] == pytest.approx([0, 0, -1])


def test_a_joint_that_is_gone_when_its_new_fit_comes_is_missed_with_a_message(addon, monkeypatch):
    cabinet()
    articulate()
    monkeypatch.setattr("blender_addon.ui.refit.finish_in_background", lambda *_: {"FINISHED"})
    bpy.ops.atop.refit()
    bpy.ops.atop.revert()
    state = finish()
    assert state.failed
    assert "no longer in this file" in state.message
    assert not list(record.articulations())


def test_what_was_corrected_by_hand_stays_in_the_list_of_answers(addon):
    door = cabinet()
    articulate()
    found = record.require_articulation(door)
    assert "by hand" not in draw(panels.ATOP_PT_joint)
    laid = lay_by_hand(found)
    assert answers.chosen_now(found) == answers.BY_HAND
    bpy.ops.atop.choose_answer(index=1)
    assert answers.chosen_now(found) == 1
    assert "by hand" in draw(panels.ATOP_PT_joint)
    bpy.ops.atop.step_answer(step=-2)
    assert answers.chosen_now(found) == answers.BY_HAND
    assert found.joint.origin == pytest.approx(laid.origin)
    again = lay_by_hand(found, tilt=-0.3)
    bpy.ops.atop.choose_answer(index=0)
    bpy.ops.atop.choose_answer(index=answers.BY_HAND)
    assert found.joint.axis == pytest.approx(again.axis)


def test_reverting_the_second_articulation_brings_the_answers_of_the_first_back(addon):
    door = cabinet()
    articulate("the door swings open")
    articulate("the door swings out")
    found = record.require_articulation(door)
    assert found.data["prompt"] == "the door swings out"
    bpy.ops.atop.revert()
    assert found.data["prompt"] == "the door swings open"


def test_baking_replaces_the_driver_by_keyframes(addon):
    door = cabinet()
    articulate()
    addon.scene.frame_set(25)
    half = world_points(door)
    assert bpy.ops.atop.bake() == {"FINISHED"}
    found = record.require_articulation(door)
    assert not len(found.pivot.animation_data.drivers)
    for frame in (1, 49, 25):
        addon.scene.frame_set(frame)
    np.testing.assert_allclose(world_points(door), half, atol=1e-5)


def test_physics_is_added_by_a_button(addon):
    door = cabinet()
    articulate()
    assert bpy.ops.atop.add_physics() == {"FINISHED"}
    found = record.require_articulation(door)
    assert found.frame.rigid_body_constraint.object1.name == "Body"
    assert found.frame.rigid_body_constraint.type == "HINGE"


def test_physics_asked_for_beforehand_is_there_or_said_to_be_missing(addon):
    select(box("Lonely"))
    articulate(physics=True)
    assert "without physics" in bpy.context.window_manager.atop_job.message
    door = cabinet()
    articulate(physics=True)
    assert "without physics" not in bpy.context.window_manager.atop_job.message
    assert record.require_articulation(door).frame.rigid_body_constraint is not None
