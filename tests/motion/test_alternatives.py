"""Where clips show a wrong joint as a whole, the right one is among the other answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import things
from simulate import ideal_evidence
from test_fit import errors, fit

from atop_backend.contracts import JointMotion

SAID = 4  # the answer and three others


def offers(answers, joint: JointMotion) -> bool:
    """Whether one of the first answers is this joint."""
    for answer in answers[:SAID]:
        if answer.joint.kind == joint.kind:
            angle, offset = errors(answer.joint, joint)
            if angle < 5 and offset < 0.1:
                return True
    return False


def test_a_door_shown_to_open_from_the_wrong_side_may_open_from_the_other():
    shape, joint = things.cabinet("left")
    mirrored = JointMotion("revolute", (0.0, 0.0, 1.0), (-joint.origin[0], *joint.origin[1:]), 0, 1)
    answers = fit(shape, ideal_evidence(shape, mirrored))
    assert not offers(answers[:1], joint)
    assert offers(answers, joint)


@pytest.mark.parametrize("make", [things.knob, things.bucket, things.wheel])
def test_what_turns_may_turn_the_other_way(make):
    shape, joint = make()
    answers = fit(shape, ideal_evidence(shape, joint.flipped()))
    assert not offers(answers[:1], joint)
    assert offers(answers, joint)


def test_a_drawer_shown_as_a_flap_may_be_drawn_out():
    shape, joint = things.drawer()
    flap = JointMotion("revolute", (1.0, 0.0, 0.0), (0.0, joint.origin[1] - 0.35, -0.1), 0, 1.2)
    answers = fit(shape, ideal_evidence(shape, flap))
    assert answers[0].joint.kind == "revolute"
    assert offers(answers, joint)


def test_other_answers_differ_and_go_as_far_as_such_joints_do():
    shape, joint = things.cabinet()
    answers = fit(shape, ideal_evidence(shape, joint))
    assert len(answers) >= SAID
    chances = [answer.confidence for answer in answers]
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) <= 1 + 1e-9
    for rank, answer in enumerate(answers):
        for other in answers[:rank]:
            cosine = np.dot(answer.joint.axis, other.joint.axis)
            gap = np.linalg.norm(np.subtract(answer.joint.origin, other.joint.origin))
            alike = answer.joint.kind == other.joint.kind and cosine > math.cos(math.radians(15))
            assert not (alike and (gap < 0.1 or answer.joint.kind == "prismatic"))
