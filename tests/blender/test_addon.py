"""The add-on as a whole in real Blender, with a scripted backend."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from fake_layout import draw  # noqa: E402
from pressing import articulate, cabinet, select  # noqa: E402
from scenes import dump, moved, two_boxes, world_points  # noqa: E402

import blender_addon  # noqa: E402
from atop_backend.contracts import JointMotion  # noqa: E402
from blender_addon.scene import answers, convert, record  # noqa: E402
from blender_addon.ui import monitor, panels, props  # noqa: E402

ROOT = Path(__file__).parents[2]
HINGE = JointMotion("revolute", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.0, 1.5)


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
    assert len(answers.answers_of(found)) == 3


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


def test_settings_are_as_before_after_a_run(addon):
    cabinet()
    before = dump()
    articulate()
    bpy.ops.atop.revert()
    assert dump() == before


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


def test_check_backend_lists_what_it_found(addon):
    assert bpy.ops.atop.check_backend() == {"FINISHED"}
    report = addon.preferences.addons["blender_addon"].preferences.report
    assert report.splitlines() == ["ok   Python   3.11", "ok   weights  mini"]
    assert "everything that a job needs" in draw(panels.ATOP_PT_part)


def test_check_backend_says_what_is_missing_and_what_to_do(addon, monkeypatch):
    monkeypatch.setenv("ATOP_FAKE_BAD", "missing")
    with pytest.raises(RuntimeError, match="weights: missing: install them"):
        bpy.ops.atop.check_backend()
    report = addon.preferences.addons["blender_addon"].preferences.report
    assert "BAD weights  missing" in report


@pytest.mark.parametrize(
    ("python", "said"),
    [
        ("", "not set up"),
        ("/no/python", "there is no Python at /no/python"),
        ("bare", "has no atop-backend"),
    ],
)
def test_check_backend_of_a_python_without_it_says_what_to_do(addon, tmp_path, python, said):
    options = addon.preferences.addons["blender_addon"].preferences
    options.python = python
    if python == "bare":  # without site-packages nothing is installed
        bare = tmp_path / "bare"
        bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
        bare.chmod(0o755)
        options.python = str(bare)
    with pytest.raises(RuntimeError):
        bpy.ops.atop.check_backend()
    assert options.report.startswith("BAD ")
    assert said in options.report
    assert "\n -> " in options.report
