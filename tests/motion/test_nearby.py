"""A fit that starts from a joint which a person has laid stays near it and makes it exact."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import things
from simulate import ideal_evidence, with_noise
from test_fit import BOTH, FAST, errors

from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError
from atop_backend.geometry.joints import rodrigues
from atop_backend.motion.fit import fit_joint
from atop_backend.motion.nearby import NEAR, NEAR_DEG


def fit_from(initial, shape, evidence, config=FAST):
    return fit_joint(shape, evidence, config, BOTH, np.random.default_rng(0), initial)


def laid_by_hand(joint, degrees, shift):
    """The joint as somebody with a mouse would lay it: turned and shifted off."""
    turn = rodrigues(np.array([0.6, 0.8, 0.0]), math.radians(degrees))
    axis = turn @ joint.axis
    origin = np.add(joint.origin, (0.6 * shift, 0.0, 0.8 * shift))
    return replace(joint, axis=tuple(axis.tolist()), origin=tuple(origin.tolist()), upper=0.3)


@pytest.mark.parametrize("make", [things.cabinet, things.chest, lambda: things.tilted_flap(13)])
def test_a_rough_axis_is_made_exact(make):
    shape, joint = make()
    rough = laid_by_hand(joint, 8, 0.06)
    evidence = with_noise(ideal_evidence(shape, joint, 3), 0.1, np.random.default_rng(0))
    found = fit_from(rough, shape, evidence)[0].joint
    angle, offset = errors(found, joint)
    assert angle < 1
    assert offset < 0.02
    assert found.upper == pytest.approx(joint.upper, rel=0.1)


def other_side(joint):
    """The hinge on the other side of the cabinet's door, opening outwards too."""
    x, y, z = joint.origin
    return replace(joint.flipped(), origin=(-x, y, z))


def test_the_answer_stays_where_the_hand_put_it_though_the_videos_show_another_side():
    shape, joint = things.cabinet()
    asked = other_side(joint)
    answers = fit_from(asked, shape, ideal_evidence(shape, joint))
    angle, offset = errors(answers[0].joint, asked)
    assert angle < NEAR_DEG
    assert offset < NEAR
    assert answers[0].confidence < 0.5
    assert errors(answers[1].joint, joint)[0] < 1  # the videos' own answer is the next one


def test_a_direction_turned_around_by_hand_is_kept_and_its_line_made_exact():
    shape, joint = things.chest()
    rough = laid_by_hand(joint, 6, 0.05).flipped()
    found = fit_from(rough, shape, ideal_evidence(shape, joint))[0].joint
    angle, offset = errors(found, joint.flipped())
    assert angle < 1
    assert offset < 0.01


def test_a_slide_follows_the_shape_near_the_given_direction():
    shape, joint = things.drawer()
    found = fit_from(laid_by_hand(joint, 9, 0.1), shape, ideal_evidence(shape, joint))[0].joint
    assert found.kind == "prismatic"
    assert errors(found, joint)[0] < 1


def test_a_given_hinge_is_kept_a_hinge_though_the_part_slides():
    shape, joint = things.drawer()
    hinge = JointMotion("revolute", (0.0, 0.0, 1.0), joint.origin, 0.0, 1.0)
    assert fit_from(hinge, shape, ideal_evidence(shape, joint))[0].joint.kind == "revolute"


def test_outlines_alone_can_make_a_rough_axis_better():
    shape, joint = things.cabinet()
    evidence = ideal_evidence(shape, joint)._replace(displacements=None)
    angle, offset = errors(fit_from(laid_by_hand(joint, 8, 0.05), shape, evidence)[0].joint, joint)
    assert angle < 2
    assert offset < 0.05


def test_the_paper_preset_refuses_to_start_from_a_joint():
    shape, joint = things.cabinet()
    literal = replace(FAST, hypotheses="paper", refine=False, geometry=False)
    with pytest.raises(InputError, match="cannot start from a given joint"):
        fit_from(joint, shape, ideal_evidence(shape, joint), literal)
