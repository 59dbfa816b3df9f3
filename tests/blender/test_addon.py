"""The add-on as a whole in real Blender, with a scripted backend."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from fake_layout import draw  # noqa: E402
from scenes import box, dump, moved, two_boxes, world_points  # noqa: E402

import blender_addon  # noqa: E402
from atop_backend.contracts import JointMotion  # noqa: E402
from blender_addon.core.job import Job  # noqa: E402
from blender_addon.scene import convert, edit, record  # noqa: E402
from blender_addon.ui import monitor, panels, props  # noqa: E402

ROOT = Path(__file__).parents[2]
HINGE = JointMotion("revolute", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.0, 1.5)


def cabinet():
    """A body and its door, the door being active and selected."""
    body = box("Body", location=(0.0, 0.1, 0.0))
    door = box("Door", body, (0.0, -0.1, 0.0))
    select(door)
    return door


def select(*objects):
    """Make these the selection, the last one active."""
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob in objects)
    bpy.context.view_layer.objects.active = objects[-1]


def articulate(prompt="the door swings open", **choices):
    """Press the button and wait for the end."""
    for name, value in choices.items():
        setattr(bpy.context.scene.atop, name, value)
    return bpy.ops.atop.articulate(prompt=prompt)


def start_without_waiting(monkeypatch, prompt):
    """Press the button as in a window, where the timer does the rest."""
    monkeypatch.setattr("blender_addon.ui.operators.finish_in_background", lambda *_: {"FINISHED"})
    bpy.ops.atop.articulate(prompt=prompt)
    deadline = time.monotonic() + 10
    while not bpy.context.window_manager.atop_job.fraction and time.monotonic() < deadline:
        monitor.tick()
        time.sleep(0.02)


def finish(seconds=10.0):
    """Tick until nothing is left."""
    deadline = time.monotonic() + seconds
    while monitor.tick() is not None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return bpy.context.window_manager.atop_job


def test_registering_twice_in_a_row_works(addon):
    for _ in range(2):
        blender_addon.unregister()
        blender_addon.register()
    assert hasattr(bpy.types.Scene, "atop")


@pytest.mark.parametrize("leave", ["unregistered", "after a job"])
def test_blender_ends_cleanly_after_the_addon(leave, tmp_path):
    """bpy 4.2 crashes and 4.5 hangs at its end if something of ours is still registered."""
    program = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import bpy
bpy.context.preferences.addons.new().module = "blender_addon"
import blender_addon
blender_addon.register()
if {leave == "after a job"}:
    bpy.context.scene.atop.prompt = "it opens"
    bpy.context.scene.atop.source = "MATERIAL"
    bpy.app.timers.register(blender_addon.ui.monitor.tick, persistent=True)
blender_addon.unregister()
"""
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], timeout=60, env=environment)
    assert done.returncode == 0


def test_the_button_writes_the_joint_and_says_what_it_is(addon):
    door = cabinet()
    before = world_points(door)
    assert articulate() == {"FINISHED"}
    state = bpy.context.window_manager.atop_job
    assert (state.running, state.failed, state.message) == (False, False, "revolute as scripted")
    addon.scene.frame_set(49)
    expected = moved(before, convert.rigid_motion(HINGE, 1.5))
    np.testing.assert_allclose(world_points(door), expected, atol=1e-5)


@pytest.mark.parametrize("way", ["bone", "separate"])
def test_a_material_of_one_mesh_is_articulated(addon, way):
    ob = two_boxes()
    for name in ("Plain", "Paint"):
        ob.data.materials.append(bpy.data.materials.new(name))
    for polygon in ob.data.polygons:
        polygon.material_index = int(polygon.index >= 6)
    select(ob)
    assert articulate(source="MATERIAL", material="Paint", way=way) == {"FINISHED"}
    found = record.articulation_of(ob) or next(record.articulations())
    assert found.data["prompt"] == "the door swings open"
    assert len(edit.answers_of(found)) == 3


def test_the_request_holds_what_the_panel_says(addon, tmp_path):
    cabinet()
    articulate("pull it by 30 cm over 3 seconds", motion="slider", quality="DRAFT", seed=7)
    request = json.loads(next((tmp_path / "jobs").glob("*/request.json")).read_text())
    assert (request["motion"], request["seed"], request["amount"]) == ("slider", 7, 0.3)
    assert request["parts"] == ["Door"]
    assert "generate.videos=false" in request["overrides"]
    found = next(record.articulations())
    action = found.pivot.animation_data.action
    assert tuple(action.frame_range) == (1.0, 1.0 + 3 * 24)


def test_several_objects_become_a_queue(addon):
    body = box("Body", location=(0.0, 0.1, 0.0))
    drawers = [box(f"Drawer {i}", body, (0.0, -0.1, 0.5 * i), (1, 1, 0.2)) for i in range(3)]
    select(*drawers)
    assert articulate(together=False) == {"FINISHED"}
    assert sorted(found.tag for found in record.articulations()) == [ob.name for ob in drawers]


def test_a_failure_reaches_the_panel_with_its_remedy_and_changes_nothing(addon):
    cabinet()
    before = dump()
    with pytest.raises(RuntimeError, match="the part is flat: give it some thickness"):
        articulate("it fails")
    state = bpy.context.window_manager.atop_job
    assert (state.failed, state.message, state.hint) == (
        True,
        "the part is flat",
        "give it some thickness",
    )
    assert dump() == before
    assert "give it some thickness" in draw(panels.ATOP_PT_part)


def test_an_empty_prompt_is_refused_with_an_example(addon):
    cabinet()
    with pytest.raises(RuntimeError, match="the door swings open"):
        articulate("  ")
    assert not monitor.busy()


def test_cancel_leaves_no_process_and_no_change(addon, monkeypatch):
    cabinet()
    before = dump()
    start_without_waiting(monkeypatch, "it opens slowly")
    assert monitor.busy()
    assert "atop.cancel" in draw(panels.ATOP_PT_part)
    pid = monitor._job.pid
    begun = time.monotonic()
    assert bpy.ops.atop.cancel() == {"FINISHED"}
    state = finish()
    assert time.monotonic() - begun < 1.0
    assert (state.message, state.failed) == ("cancelled", False)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert dump() == before


def test_watching_a_job_never_holds_blender_up(addon, monkeypatch):
    cabinet()
    start_without_waiting(monkeypatch, "it opens calmly")
    durations, running = [], True
    while running:
        begun = time.perf_counter()
        running = monitor.tick() is not None
        if running:  # the last tick writes the joint into the scene
            durations.append(time.perf_counter() - begun)
        time.sleep(0.02)
    assert len(durations) > 10
    assert np.quantile(durations, 0.9) < 0.1


def test_a_late_result_after_cancel_is_discarded(addon, monkeypatch):
    cabinet()
    before = dump()
    monkeypatch.setattr("blender_addon.ui.operators.finish_in_background", lambda *_: {"FINISHED"})
    bpy.ops.atop.articulate(prompt="it is late")
    monitor.tick()
    bpy.ops.atop.cancel()
    assert finish().message == "cancelled"
    assert dump() == before


def test_a_job_that_takes_too_long_is_cancelled_and_says_so(addon, monkeypatch):
    cabinet()
    start_without_waiting(monkeypatch, "it opens slowly")
    monkeypatch.setattr(Job, "seconds", property(lambda self: 1e6))
    state = finish()
    assert state.failed
    assert "longer than 900 seconds" in state.message


@pytest.mark.parametrize("what", ["deleted", "renamed", "other file", "undone"])
def test_what_the_artist_does_during_a_run_is_survived(addon, monkeypatch, what):
    door = cabinet()
    start_without_waiting(monkeypatch, "it opens calmly")
    match what:
        case "deleted":
            bpy.data.objects.remove(door)
        case "renamed":
            door.name = "Another name"
        case "other file":
            bpy.ops.wm.read_homefile(use_empty=True)
        case "undone":
            bpy.ops.ed.undo_push(message="x")
    state = finish(60)
    if what in ("renamed", "undone"):
        assert not state.failed
        assert len(list(record.articulations())) == 1
    else:
        assert "no longer in this file" in state.message
        assert not list(record.articulations())


def test_an_object_that_is_moved_during_a_run_gets_its_joint_where_it_is(addon, monkeypatch):
    door = cabinet()
    monkeypatch.setattr("blender_addon.ui.operators.finish_in_background", lambda *_: {"FINISHED"})
    bpy.ops.atop.articulate(prompt="the door swings open")
    door.parent.location.x += 5.0
    addon.view_layer.update()
    before = world_points(door)
    finish()
    np.testing.assert_allclose(world_points(door), before, atol=2e-6)
    found = record.require_articulation(door)
    assert edit.joint_now(found).origin[0] == pytest.approx(5.0, abs=1e-5)


def test_settings_are_as_before_after_a_run(addon):
    cabinet()
    before = dump()
    articulate()
    bpy.ops.atop.revert()
    assert dump() == before


def test_disabling_during_a_run_ends_the_process(addon, monkeypatch):
    cabinet()
    start_without_waiting(monkeypatch, "it opens slowly")
    pid = monitor._job.pid
    blender_addon.unregister()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    blender_addon.register()


def test_every_greyed_button_has_a_reason(addon):
    from blender_addon.ui import operators

    options = addon.preferences.addons["blender_addon"].preferences
    assert "Select the object" in operators.why_not_now(addon)
    cabinet()
    assert operators.why_not_now(addon) == ""
    addon.scene.atop.source = "MATERIAL"
    assert "Choose the material" in operators.why_not_now(addon)
    options.python = ""
    assert "backend's Python" in operators.why_not_now(addon)
    with pytest.raises(RuntimeError, match="backend's Python"):
        bpy.ops.atop.articulate(prompt="it opens")


@pytest.mark.parametrize("panel", panels.CLASSES)
@pytest.mark.parametrize("source", [item[0] for item in (("OBJECTS",), ("MATERIAL",), ("FACES",))])
def test_every_panel_draws_in_every_state(addon, panel, source):
    addon.scene.atop.source = source
    draw(panel)
    cabinet()
    draw(panel)
    articulate(source="OBJECTS")
    addon.scene.atop.source = source
    assert draw(panel)


def test_the_panels_draw_fast_with_ten_thousand_objects(addon):
    cabinet()
    articulate()
    empties = [bpy.data.objects.new(f"e{i}", None) for i in range(10_000)]
    for ob in empties:
        addon.scene.collection.objects.link(ob)
    for panel in panels.CLASSES:
        draw(panel)
    begun = time.perf_counter()
    for _ in range(20):
        for panel in panels.CLASSES:
            draw(panel)
    assert (time.perf_counter() - begun) / 20 < 0.01  # our recording layout is most of it


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


def test_refit_keeps_the_answer_nearest_to_the_corrected_axis(addon):
    door = cabinet()
    articulate()
    bpy.ops.atop.flip()
    assert bpy.ops.atop.refit() == {"FINISHED"}
    found = record.require_articulation(door)
    assert found.joint.axis == pytest.approx((0.0, 0.0, -1.0), abs=1e-6)
    assert len(bpy.data.actions) == 2


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


def test_the_joint_is_copied_to_the_drawers_of_a_stack_and_mirrored_to_the_other_door(addon):
    body = box("Body", location=(0.0, 0.1, 0.0))
    left = box("Left", body, (0.0, -0.1, 0.0))
    right = box("Right", body, (1.0, -0.1, 0.0))
    select(left)
    articulate()
    select(right, left)
    assert bpy.ops.atop.articulate_similar(mirror=True) == {"FINISHED"}
    joint = edit.joint_now(record.require_articulation(right))
    np.testing.assert_allclose(joint.axis, (0, 0, -1), atol=1e-6)
    assert joint.origin[0] == pytest.approx(2.0, abs=1e-5)


def test_physics_is_added_by_a_button(addon):
    door = cabinet()
    articulate()
    assert bpy.ops.atop.add_physics() == {"FINISHED"}
    found = record.require_articulation(door)
    assert found.frame.rigid_body_constraint.object1.name == "Body"
    assert found.frame.rigid_body_constraint.type == "HINGE"


def test_the_cache_is_measured_and_only_jobs_are_cleared(addon, tmp_path):
    cabinet()
    articulate()
    other = tmp_path / "jobs" / "mine" / "keep.txt"
    other.parent.mkdir()
    other.write_text("keep")
    bpy.ops.atop.measure_cache()
    options = addon.preferences.addons["blender_addon"].preferences
    assert " MB in " in options.cache_note
    bpy.ops.atop.clear_cache()
    assert other.is_file()
    assert not list((tmp_path / "jobs").glob("*/request.json"))
    assert not props.preferences.get(addon).cache_note.startswith("0 MB in 0")
