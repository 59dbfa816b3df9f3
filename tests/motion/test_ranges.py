"""Limits of a joint."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import things

from atop_backend.contracts import JointMotion
from atop_backend.motion.features import shape_features
from atop_backend.motion.ranges import LEAST, apply_prompt, cut_at_collision, within_limits
from atop_backend.prompt_amount import prompt_amount
from atop_backend.synthetic.solids import box


def test_a_motion_into_the_body_is_cut_where_it_gets_there():
    wall = [box((-0.5, 0.5, -0.5), (0.5, 0.6, 0.5)), box((-0.5, 0, -0.6), (0.5, 0.6, -0.5))]
    block = [box((-0.2, 0.0, -0.5), (0.2, 0.2, -0.2))]
    joint = JointMotion("prismatic", (0.0, 1.0, 0.0), (0.0, 0.1, -0.3), 0.0, 0.6)
    shape, joint = things.thing(wall, block, joint)
    metre = shape.normalised_to_file[0, 0]
    features = shape_features(shape, 512, np.random.default_rng(0))
    assert cut_at_collision(features, joint).upper * metre == pytest.approx(0.3, abs=0.1)
    short = replace(joint, upper=0.25 / metre)
    assert cut_at_collision(features, short) == short


def test_a_range_is_never_empty_nor_endless():
    assert within_limits("revolute", 0.0) == LEAST["revolute"] > 0
    assert within_limits("prismatic", 0.0) == LEAST["prismatic"] > 0
    assert within_limits("revolute", 100.0) == pytest.approx(2 * math.pi)


def test_a_prompt_overrules_the_video_in_the_units_of_the_file():
    shape, joint = things.drawer()
    metre = shape.normalised_to_file[0, 0]
    slid = apply_prompt(joint, prompt_amount("pull it out by 10 cm"), shape)
    assert slid.upper * metre == pytest.approx(0.1)
    half = apply_prompt(joint, prompt_amount("open it halfway"), shape)
    assert half.upper == pytest.approx(joint.upper / 2)
    assert apply_prompt(joint, prompt_amount("open it 70 degrees"), shape) == joint
    hinge = things.cabinet()[1]
    turned = apply_prompt(hinge, prompt_amount("open it 70 degrees"), shape)
    assert turned.upper == pytest.approx(math.radians(70))
