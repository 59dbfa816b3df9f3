"""A part that hangs on a part that has a joint already, pressed at any frame."""

from __future__ import annotations

import json

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from pressing import articulate, cabinet, select  # noqa: E402
from scenes import box, world_points  # noqa: E402

from blender_addon.scene import record  # noqa: E402

KNOB = {"type": "revolute", "axis": [0, -1, 0], "origin": [0.5, -0.3, 0.6], "range": [0, 1]}


def joint_frame(ob) -> np.ndarray:
    """Where the joint of a part lies in the world, (4, 4)."""
    found = record.articulation_of(ob)
    assert found is not None
    return np.array(found.frame.matrix_world)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("frame", [1, 200])
def test_the_joint_of_a_knob_is_laid_for_the_closed_door_at_any_frame(
    addon, frame, times, monkeypatch
):
    door = cabinet()
    knob = box("Knob", box("Plate", door, (0.4, -0.1, 0.5), (0.2, 0.2, 0.2)), (0.0, -0.1, 0.0))
    given = world_points(knob)
    assert articulate() == {"FINISHED"}
    addon.scene.frame_set(frame)  # long after the door's last key, or at its first
    select(knob)
    monkeypatch.setenv("ATOP_FAKE_JOINT", json.dumps(KNOB))

    for _ in range(times):
        assert articulate("the knob turns") == {"FINISHED"}

    assert len(list(record.articulations())) == 2
    addon.scene.frame_set(1)
    np.testing.assert_allclose(world_points(knob), given, atol=1e-5)
    np.testing.assert_allclose(joint_frame(knob)[:3, 2], KNOB["axis"], atol=1e-5)
    np.testing.assert_allclose(joint_frame(knob)[:3, 3], KNOB["origin"], atol=1e-5)
    addon.scene.frame_set(200)
    assert np.linalg.norm(world_points(knob) - given, axis=1).min() > 0.1
