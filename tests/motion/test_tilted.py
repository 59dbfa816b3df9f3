"""Hinges off the box axes of generated objects, found to a fraction of a degree."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import tilted_joints


@pytest.mark.parametrize("tilt", [7, 13, 30])
def test_a_tilted_hinge_is_found_in_clips_that_are_a_tenth_noise(tilt):
    angles, offsets = [], []
    for thing in tilted_joints.tilted_objects(tilt, 4):
        assert tilt == pytest.approx(thing.off_box_deg, abs=1)
        clean = tilted_joints.perfect_evidence(thing)
        assert clean is not None
        evidence = tilted_joints.with_noise(clean, 0.1, thing.seed)
        rows = {row.fit: row for row in tilted_joints.fit_all(thing, evidence)}
        assert rows["paper's box hypotheses"].axis_deg > tilt - 1
        assert rows["refined"].type_right
        angles.append(rows["refined"].axis_deg)
        offsets.append(rows["refined"].offset)
    assert np.mean(angles) < 1
    assert np.mean(offsets) < 0.02
