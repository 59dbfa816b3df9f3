"""What a sentence says, and a handle, decide where clips are at odds; clear clips outweigh them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import things
from simulate import ideal_evidence
from test_fit import BOTH, FAST

from atop_backend.contracts import JointMotion
from atop_backend.motion.evidence import MotionEvidence
from atop_backend.motion.features import shape_features
from atop_backend.motion.fit import fit_joint
from atop_backend.motion.hypotheses import turns
from atop_backend.prompt_motion import NOTHING_SAID, SaidMotion


def answer(thing: things.Thing, evidence: MotionEvidence, said: SaidMotion) -> JointMotion:
    rng = np.random.default_rng(0)
    return fit_joint(thing[0], evidence, FAST, BOTH, rng, said=said)[0].joint


def at_odds(thing: things.Thing, other: JointMotion) -> MotionEvidence:
    """Samples of which as many show one joint as another."""
    one, two = (ideal_evidence(thing[0], joint) for joint in (thing[1], other))
    both = {
        name: np.concatenate([getattr(one, name), getattr(two, name)])
        for name in ("displacements", "silhouettes")
    }
    return one._replace(**both)


@pytest.mark.parametrize("kind", BOTH)
def test_the_kind_that_was_said_decides_between_samples_at_odds(kind):
    thing = things.drawer()
    front = thing[1].origin[1] - 0.35
    flap = JointMotion("revolute", (1.0, 0.0, 0.0), (0.0, front, -0.1), 0, 1.2)
    assert answer(thing, at_odds(thing, flap), SaidMotion(kind)).kind == kind


@pytest.mark.parametrize("side", [-1, 1])
def test_the_side_that_was_said_decides_between_samples_at_odds(side):
    shape, joint = things.cabinet("left")
    place = (-joint.origin[0], *joint.origin[1:])
    other = JointMotion("revolute", (0.0, 0.0, 1.0), place, 0, 1.5)
    found = answer((shape, joint), at_odds((shape, joint), other), SaidMotion(hinge_side=side))
    assert found.origin[0] * side > 0.1


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_handle_decides_between_samples_at_odds(side):
    shape, joint = things.cabinet(side)
    place = (-joint.origin[0], *joint.origin[1:])
    other = JointMotion("revolute", (0.0, 0.0, -joint.axis[2]), place, 0, joint.upper)
    found = answer((shape, joint), at_odds((shape, joint), other), NOTHING_SAID)
    assert found.origin[0] == pytest.approx(joint.origin[0], abs=0.01)


@pytest.mark.parametrize("rise", [-1, 1])
def test_the_way_that_was_said_decides_between_samples_at_odds(rise):
    shape, joint = things.bucket()
    found = answer((shape, joint), at_odds((shape, joint), joint.flipped()), SaidMotion(rise=rise))
    arm = shape.vertices[shape.triangles[shape.part]].reshape(-1, 3).mean(axis=0) - found.origin
    turned = math.cos(found.upper) * arm + math.sin(found.upper) * np.cross(found.axis, arm)
    assert (turned - arm)[2] * rise > -0.05


def test_clear_clips_outweigh_a_word():
    thing = things.chest()
    said = SaidMotion("prismatic", -1)
    assert answer(thing, ideal_evidence(*thing), said) == pytest.approx(
        answer(thing, ideal_evidence(*thing), NOTHING_SAID)
    )


def test_a_door_may_turn_about_the_edges_of_its_slab_whatever_its_handle_adds():
    shape, joint = things.cabinet()
    features = shape_features(shape, 768, np.random.default_rng(0))
    assert features.slab is not None
    thin = int(np.argmin(features.box.half))
    assert features.slab.half[thin] < 0.6 * features.box.half[thin]
    found = turns(features, None)
    front = joint.origin[1] - 2 * features.slab.half[thin]  # of the slab, not of the handle
    parallel = np.abs(found.axes[:, 2]) > 0.999
    gaps = np.hypot(found.origins[:, 0] - joint.origin[0], found.origins[:, 1] - front)
    assert gaps[parallel].min() < 0.01


def test_a_plain_board_has_no_slab_of_its_own():
    shape, _ = things.chest()
    assert shape_features(shape, 768, np.random.default_rng(0)).slab is None
