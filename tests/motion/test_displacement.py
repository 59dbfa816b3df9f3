"""Closed-form amounts of motion, also of mixed and doubtful ones."""

from __future__ import annotations

import numpy as np
import pytest

from atop_backend.contracts import JointMotion
from atop_backend.geometry.joints import point_line_distance, rodrigues, transform_points, unit
from atop_backend.motion.displacement import (
    affine_part,
    explain_slides,
    explain_turns,
    field_of,
    last_amount,
    line_of_turn,
)

FRAMES = np.array([1 / 3, 2 / 3, 1.0])
AXIS, ORIGIN = np.array([0.0, 0.6, 0.8]), np.array([0.2, -0.1, 0.3])


def field(*ends, kind="revolute", shrink=1.0):
    """Displacements of one sample for each end of a joint's motion."""
    points = np.random.default_rng(0).uniform(-1, 1, (60, 3)) * [0.5, 0.1, 0.4]
    joint = JointMotion(kind, tuple(AXIS), tuple(ORIGIN), -10, 10)
    moved = [
        [transform_points(joint, end * share, points) - points for share in FRAMES] for end in ends
    ]
    return field_of(points, np.ones(60), shrink * np.array(moved), FRAMES)


@pytest.mark.parametrize("end", [0.1, 1.2, 2.5, 3.8, 5.5])
def test_a_turn_is_measured_in_every_frame_even_beyond_half_a_turn(end):
    found = explain_turns(field(end), AXIS[None], ORIGIN[None])
    np.testing.assert_allclose(found.amounts[0, 0], end * FRAMES, atol=1e-9)
    assert found.misfit[0, 0] < 1e-3


def test_a_turn_the_other_way_is_not_explained_by_a_directed_hinge():
    found = explain_turns(field(-0.5), np.stack([AXIS, -AXIS]), np.stack([ORIGIN, ORIGIN]))
    assert found.misfit[0, 0] > 0.9
    assert found.misfit[1, 0] < 1e-3


def test_the_mean_of_several_amounts_is_a_turn_about_the_same_line_and_no_other():
    mixed = field(0.8, 1.6)
    mean = field_of(
        mixed.points, mixed.weights, mixed.displacements.mean(axis=0, keepdims=True), FRAMES
    )
    lines = np.stack([ORIGIN, ORIGIN + np.array([0.2, 0, 0])])
    found = explain_turns(mean, np.stack([AXIS, AXIS]), lines)
    assert found.misfit[0, 0] < 0.02
    assert found.misfit[1, 0] > 0.05
    assert found.amounts[0, 0, -1] == pytest.approx(1.2, abs=0.01)


def test_a_slide_is_measured_and_never_negative():
    slid = field(0.4, kind="prismatic")
    found = explain_slides(slid, np.stack([AXIS, -AXIS]))
    np.testing.assert_allclose(found.amounts[0, 0], 0.4 * FRAMES)
    np.testing.assert_allclose(found.amounts[1, 0], 0)
    assert found.misfit[0, 0] < 1e-3
    assert found.misfit[1, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("shrink", [1.0, 0.5])
def test_the_line_of_a_turn_is_found_in_closed_form(shrink):
    place = line_of_turn(field(1.0, shrink=shrink), AXIS)
    assert point_line_distance(place, ORIGIN, AXIS) < 1e-9


def test_a_slide_has_no_line():
    assert line_of_turn(field(0.0, kind="prismatic"), AXIS) is None


def test_the_end_of_the_motion_is_a_weighted_median_over_samples():
    amounts = np.outer([1.0, 1.1, 3.0], FRAMES)
    assert last_amount(amounts, FRAMES, np.ones(3)) == pytest.approx(1.1)
    assert last_amount(amounts, FRAMES, np.array([0.01, 0.01, 1.0])) == pytest.approx(3.0)


def test_no_motion_is_explained_by_nothing():
    still = field(0.0)
    assert explain_turns(still, AXIS[None], ORIGIN[None]).misfit[0, 0] == pytest.approx(1.0)


def test_what_no_rigid_motion_could_show_is_left_out():
    rng = np.random.default_rng(5)
    points, weights = rng.normal(size=(300, 3)), rng.uniform(0.5, 1.5, 300)
    turned = points @ rodrigues(unit(np.array([1.0, 2.0, 3.0])), 0.7).T + (0.1, 0.0, 0.2)
    motion = (turned - points)[None, None]
    noise = 0.1 * rng.normal(size=motion.shape)
    np.testing.assert_allclose(affine_part(points, weights, motion), motion, atol=1e-9)
    left = affine_part(points, weights, motion + noise) - motion
    assert np.mean(left**2) < 0.03 * np.mean(noise**2)  # 4 of 300 numbers a coordinate


def test_flat_parts_have_affine_parts_too():
    rng = np.random.default_rng(6)
    points = rng.normal(size=(200, 3)) * (1.0, 1e-9, 1.0)
    motion = (points @ rodrigues(np.array([0.0, 0.0, 1.0]), 0.9).T - points)[None, None]
    found = affine_part(points, np.ones(200), motion)
    np.testing.assert_allclose(found, motion, atol=1e-7)
