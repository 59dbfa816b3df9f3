"""Every kind of generated object, over several seeds."""

from __future__ import annotations

import numpy as np
import pytest
from drafts import draft
from solidity import depths, gap, surface_points

from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.generate import kinds
from atop_backend.synthetic.objects import MAX_TRIANGLES
from atop_backend.synthetic.posing import move

SEEDS = range(2)
# Their parts sink into a housing that is drawn solid, as in most real models.
SUNK = {
    "switch",
    "keyboard",
    "knob_panel",
    "peg",
    "pen",
    "lighter",
    "bottle",
    "fitting",
    "dispenser",
    "mouse",
    "press",
}


def halves(thing: Draft) -> tuple[np.ndarray, np.ndarray]:
    triangles, moving = thing.builder.triangles, thing.builder.moving
    return triangles[moving], triangles[~moving]


@pytest.mark.parametrize("kind", kinds())
def test_a_kind_is_complete_and_repeatable(kind):
    for seed in SEEDS:
        first = draft(kind, seed)
        again = kinds()[kind][1](np.random.default_rng(seed))
        assert first.joint == again.joint
        assert first.prompts == again.prompts
        assert np.array_equal(first.builder.triangles, again.builder.triangles)
        assert np.array_equal(first.builder.moving, again.builder.moving)
        assert np.isfinite(first.builder.triangles).all()
        assert 0 < first.builder.moving.sum() < len(first.builder.moving)
        assert len(first.builder.triangles) <= 1.5 * MAX_TRIANGLES
        assert np.isclose(np.linalg.norm(first.joint.axis), 1.0, atol=1e-9)
        assert first.joint.lower == 0.0 < first.joint.upper
        assert len(first.prompts) >= 6
        assert all(text == text.strip() and "{" not in text for text in first.prompts)


@pytest.mark.parametrize("kind", kinds())
def test_a_part_touches_its_object_and_stays_at_its_hinge(kind):
    for seed in SEEDS:
        thing = draft(kind, seed)
        part, rest = halves(thing)
        size = np.ptp(thing.builder.triangles.reshape(-1, 3), axis=0).max()
        rng = np.random.default_rng(0)
        assert gap(part, rest, rng) < 0.06 * size, f"seed {seed}: apart at rest"
        if thing.joint.kind == "revolute":
            turned = move(part, thing.joint, thing.joint.upper)
            assert gap(turned, rest, rng) < 0.09 * size, f"seed {seed}: lost on the way"


@pytest.mark.parametrize("kind", [kind for kind in kinds() if kind not in SUNK])
def test_a_part_moves_without_passing_through_the_rest(kind):
    for seed in SEEDS:
        thing = draft(kind, seed)
        if any("press" in text for text in thing.prompts):
            continue  # a button in a solid housing
        part, rest = halves(thing)
        size = np.ptp(part.reshape(-1, 3), axis=0).max()
        points = surface_points(part, 30, np.random.default_rng(1))
        at_rest = depths(points, rest)
        for share in (0.3, 1.0):
            moved = move(points, thing.joint, share * thing.joint.upper)
            deeper = depths(moved, rest) - at_rest > 0.03 * size
            assert deeper.mean() <= 0.1, f"seed {seed}: {deeper.mean():.0%} inside at {share}"
