"""A job while it runs: cancelled, late, overdue, and whatever the artist does meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from fake_layout import draw  # noqa: E402
from pressing import articulate, cabinet, finish, select, start_without_waiting  # noqa: E402
from scenes import box, dump, world_points  # noqa: E402

import blender_addon  # noqa: E402
from blender_addon.core.job import Job  # noqa: E402
from blender_addon.scene import edit, record  # noqa: E402
from blender_addon.ui import monitor, panels  # noqa: E402


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


def test_disabling_during_a_run_ends_the_process(addon, monkeypatch):
    cabinet()
    start_without_waiting(monkeypatch, "it opens slowly")
    pid = monitor._job.pid
    blender_addon.unregister()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    blender_addon.register()


BLENDER = """
import sys, time
sys.path[:0] = sys.argv[2:4]
import bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.preferences.addons.new().module = "blender_addon"
import blender_addon
blender_addon.register()
options = bpy.context.preferences.addons["blender_addon"].preferences
options.python, options.cache = sys.argv[1], sys.argv[4]
from pressing import cabinet
from blender_addon.ui import monitor, operators
cabinet()
operators.finish_in_background = lambda *_: {"FINISHED"}
bpy.ops.atop.articulate(prompt="it opens slowly")
while True:
    monitor.tick()
    print(monitor._job.pid, flush=True)
    time.sleep(0.05)
"""


def gone(pid):
    """Whether there is no such process any more."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_killing_blender_ends_the_backend(addon, tmp_path):
    python = addon.preferences.addons["blender_addon"].preferences.python
    here = Path(__file__).parent
    arguments = [python, str(here.parents[1]), str(here), str(tmp_path / "jobs")]
    with subprocess.Popen(
        [sys.executable, "-c", BLENDER, *arguments], stdout=subprocess.PIPE, text=True
    ) as blender:
        assert blender.stdout is not None
        lines = (line for line in blender.stdout if line.strip().isdigit())
        pid = int(next(lines))
        assert not gone(pid)
        blender.kill()
    deadline = time.monotonic() + 10
    while not gone(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert gone(pid)


def test_several_objects_become_a_queue(addon):
    body = box("Body", location=(0.0, 0.1, 0.0))
    drawers = [box(f"Drawer {i}", body, (0.0, -0.1, 0.5 * i), (1, 1, 0.2)) for i in range(3)]
    select(*drawers)
    assert articulate() == {"FINISHED"}
    assert sorted(found.tag for found in record.articulations()) == [ob.name for ob in drawers]
