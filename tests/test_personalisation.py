"""The objects on which personalisation is shown: closed doors that swing up about the top edge."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from needs import needs_torch

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
pytestmark = needs_torch


@pytest.fixture(scope="module")
def line():
    """The first microwaves of the line."""
    from personalisation_figures import lifting_objects

    return list(itertools.islice(lifting_objects(), 4))


def test_the_door_stays_at_its_top_edge_and_goes_up_and_out(line):
    from atop_backend.geometry.joints import transform_points

    for _, made, _ in line:
        door = made.triangles[made.moving].reshape(-1, 3).astype(float)
        body = made.triangles[~made.moving].reshape(-1, 3).astype(float)
        up = np.array([0.0, 0.0, 1.0])  # objects are tilted by 15 degrees at most
        there = transform_points(made.joint, made.joint.upper, door)
        height = np.ptp(door @ up)
        top = door[door @ up > (door @ up).max() - 0.05 * height]
        moved = transform_points(made.joint, made.joint.upper, top)
        assert np.linalg.norm(moved - top, axis=1).max() < 0.5 * height
        assert (there.mean(axis=0) - door.mean(axis=0)) @ up > 0.2 * height
        away = np.linalg.norm(there.mean(axis=0) - body.mean(axis=0))
        assert away > np.linalg.norm(door.mean(axis=0) - body.mean(axis=0))


def test_words_do_not_tell_the_motion_and_no_object_is_in_two_sets(line):
    from personalisation_figures import COUNTS, PROMPTS

    words = {word for prompt in PROMPTS for word in prompt.split()}
    assert words.isdisjoint({"up", "upwards", "lift", "lifts", "top", "flip", "swings"})
    seeds = [seed for seed, _, _ in line]
    assert len(set(seeds)) == len(seeds)
    assert COUNTS["train"] == 6


def test_a_door_that_is_not_closed_is_not_taken():
    from personalisation_figures import lifting

    from atop_backend.synthetic.generate import generate
    from atop_backend.synthetic.posing import moved

    rng = np.random.default_rng(0)
    seed = 0
    while (made := generate(seed, "microwave")) and lifting(made, rng) is None:
        seed += 1
    ajar = made._replace(
        triangles=moved(made.triangles, made.moving, made.joint, 0.5).astype(np.float32)
    )
    assert lifting(ajar, rng) is None
