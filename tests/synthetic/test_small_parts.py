"""Small parts that turn or slide: the words and the shape have to agree with the joint."""

from __future__ import annotations

import numpy as np
from drafts import draft

from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.posing import move

SEEDS = range(40)


def middle(triangles: np.ndarray) -> np.ndarray:
    points = triangles.reshape(-1, 3)
    return (points.min(axis=0) + points.max(axis=0)) / 2


def outward(thing: Draft) -> float:
    """How far the part's middle lies along the joint's axis from the middle of the rest."""
    triangles, moving = thing.builder.triangles, thing.builder.moving
    away = middle(triangles[moving]) - middle(triangles[~moving])
    return float(away @ np.asarray(thing.joint.axis))


def says(thing: Draft, *words: str) -> bool:
    return any(word in text for text in thing.prompts for word in words)


def test_a_cap_is_unscrewed_counterclockwise_as_seen_from_its_end():
    senses = {"off": [], "on": []}
    for seed in range(80):
        thing = draft("screw_cap", seed)
        if says(thing, "unscrew", "loosen"):
            senses["off"].append(outward(thing))
        elif says(thing, "tight", "screw the cap on"):
            senses["on"].append(outward(thing))
    assert min(map(len, senses.values())) >= 3
    assert min(senses["off"]) > 0 > max(senses["on"])


def test_rings_of_cameras_turn_about_the_view_and_dials_about_the_upright():
    seen = {"ring": 0, "dial": 0}
    for seed in SEEDS:
        thing = draft("camera", seed)
        if thing.joint.kind != "revolute" or thing.directed:
            continue
        part = "dial" if says(thing, "dial") else "ring"
        assert np.argmax(np.abs(thing.joint.axis)) == {"ring": 1, "dial": 2}[part]
        seen[part] += 1
    assert min(seen.values()) >= 3


def test_a_blade_slides_along_its_knife_and_out_of_it_when_it_is_extended():
    for seed in SEEDS:
        thing = draft("sliding_knife", seed)
        triangles, moving = thing.builder.triangles, thing.builder.moving
        axis = np.asarray(thing.joint.axis)
        grip = triangles[~moving].reshape(-1, 3)
        spread = np.ptp(grip @ axis)
        assert spread > 0.95 * np.ptp(grip, axis=0).max()
        out = (triangles[moving].reshape(-1, 3) @ axis).max() - (grip @ axis).max()
        after = move(triangles[moving], thing.joint, thing.joint.upper).reshape(-1, 3) @ axis
        extends = says(thing, "extend", "slides out", "telescopes", "pulled out", "comes out")
        if extends:
            assert after.max() - (grip @ axis).max() > max(out, 0.0)
        else:
            assert says(thing, "in", "retract")
            assert after.min() > (grip @ axis).min() - 0.1 * spread


def test_the_trigger_of_a_spray_bottle_swings_towards_the_bottle():
    seen = 0
    for seed in SEEDS:
        thing = draft("spray", seed)
        if not says(thing, "trigger"):
            continue
        part = thing.builder.triangles[thing.builder.moving]
        lowest = part.reshape(-1, 3)[part.reshape(-1, 3)[:, 2].argmin()]
        assert move(lowest, thing.joint, thing.joint.upper)[1] > lowest[1]
        seen += 1
    assert seen >= 3
