"""Chances that mean what they say."""

from __future__ import annotations

import numpy as np
import pytest

from atop_backend.motion.confidence import (
    calibrate,
    calibration_error,
    confidences,
    signs_of_trust,
    softmax,
)

SLOPES = (-2.0, 0.5, 1.5, 1.5)


def test_chances_sum_to_at_most_one_and_grow_with_every_sign():
    shares = softmax(np.array([3.0, 1.0, 0.0]))
    low = confidences(shares, signs_of_trust(shares, 0.25, 0.3), SLOPES)
    high = confidences(shares, signs_of_trust(shares, 1.0, 0.9), SLOPES)
    assert low.sum() <= 1 + 1e-12
    assert high.sum() <= 1 + 1e-12
    assert high[0] > low[0]


def test_a_single_answer_has_a_chance_below_one():
    shares = np.array([1.0])
    chances = confidences(shares, signs_of_trust(shares, 1.0, 1.0), SLOPES)
    assert chances.shape == (1,)
    assert 0.5 < chances[0] < 1


def test_calibration_finds_the_map_that_made_the_outcomes():
    rng = np.random.default_rng(0)
    signs = np.column_stack([np.ones(4000), rng.normal(size=(4000, 3))])
    truth = np.array([-0.5, 1.0, 0.5, 2.0])
    chances = 1 / (1 + np.exp(-signs @ truth))
    right = (rng.random(4000) < chances).astype(float)
    found = calibrate(signs, right)
    np.testing.assert_allclose(found, truth, atol=0.2)
    assert calibration_error(1 / (1 + np.exp(-signs @ found)), right) < 0.03


def test_outcomes_that_are_all_right_do_not_break_calibration():
    signs = np.column_stack([np.ones(50), np.random.default_rng(1).normal(size=(50, 3))])
    assert np.isfinite(calibrate(signs, np.ones(50))).all()


def test_overconfidence_is_measured():
    assert calibration_error(np.full(100, 0.95), np.arange(100) < 50) == pytest.approx(0.45)
