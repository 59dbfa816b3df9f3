"""Motions and the lines found back from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atop_backend.contracts import JointMotion
from atop_backend.geometry import joints


def random_unit(rng):
    return joints.unit(rng.normal(size=3))


def test_rodrigues_turns_x_into_y_about_z():
    turned = joints.rodrigues(np.array([0.0, 0.0, 1.0]), math.pi / 2) @ [1, 0, 0]
    np.testing.assert_allclose(turned, [0, 1, 0], atol=1e-15)


def test_rodrigues_takes_many_axes_and_gives_rotations():
    rng = np.random.default_rng(0)
    axes = joints.unit(rng.normal(size=(5, 4, 3)))
    turns = joints.rodrigues(axes, rng.uniform(-3, 3, (5, 4)))
    identity = np.broadcast_to(np.eye(3), turns.shape)
    np.testing.assert_allclose(turns @ np.swapaxes(turns, -1, -2), identity, atol=1e-14)
    np.testing.assert_allclose(np.einsum("...ij,...j->...i", turns, axes), axes, atol=1e-14)


def test_a_hinge_keeps_its_axis_and_a_slider_keeps_distances():
    axis = (0.6, 0.0, 0.8)
    hinge = JointMotion("revolute", axis, (1.0, 2.0, 3.0), 0.0, 1.0)
    on_axis = np.array([1.0, 2.0, 3.0]) + 5 * np.array(axis)
    np.testing.assert_allclose(joints.transform_points(hinge, 0.7, on_axis), on_axis, atol=1e-12)
    slider = JointMotion("prismatic", axis, (1.0, 2.0, 3.0), 0.0, 1.0)
    moved = joints.transform_points(slider, 0.5, np.zeros((2, 3)))
    np.testing.assert_allclose(moved, [[0.3, 0.0, 0.4]] * 2)


@pytest.mark.parametrize("angle", [0.02, 0.5, 1.5, 3.0, math.pi])
def test_a_screw_is_found_back_from_moved_points(angle):
    rng = np.random.default_rng(1)
    axis, origin = random_unit(rng), rng.normal(size=3)
    points = rng.normal(size=(20, 3))
    turn = joints.rodrigues(axis, angle)
    moved = (points - origin) @ turn.T + origin + 0.3 * axis
    screw = joints.screw_of(*joints.fit_rigid(points, moved, np.ones(20)), np.zeros(3))
    assert screw.angle_rad == pytest.approx(angle, abs=1e-6)
    assert joints.line_angle_deg(screw.axis, axis) < 1e-4
    assert joints.point_line_distance(screw.origin, origin, axis) < 1e-5
    assert abs(screw.slide) == pytest.approx(0.3, abs=1e-6)


def test_a_pure_slide_is_no_screw():
    points = np.random.default_rng(2).normal(size=(10, 3))
    assert joints.screw_of(*joints.fit_rigid(points, points + 1, np.ones(10)), np.zeros(3)) is None


def test_rigid_fit_follows_the_weights():
    points = np.random.default_rng(3).normal(size=(12, 3))
    targets = points + np.array([1.0, 0.0, 0.0])
    targets[0] += 50
    weights = np.ones(12)
    weights[0] = 1e-12
    rotation, translation = joints.fit_rigid(points, targets, weights)
    np.testing.assert_allclose(rotation, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(translation, [1, 0, 0], atol=1e-6)


def test_rigid_fit_never_mirrors():
    points = np.random.default_rng(4).normal(size=(9, 3)) * [1, 1, 0]
    rotation, _ = joints.fit_rigid(points, points * [-1, 1, 1], np.ones(9))
    assert np.linalg.det(rotation) == pytest.approx(1.0)


def test_angles_between_lines_ignore_direction_and_see_tiny_ones():
    axis = np.array([0.0, 0.0, 1.0])
    other = joints.rodrigues(np.array([1.0, 0, 0]), math.radians(1e-5)) @ axis
    assert joints.line_angle_deg(axis, -other) == pytest.approx(1e-5, rel=1e-6)


def test_perpendiculars_make_a_right_handed_frame():
    axis = random_unit(np.random.default_rng(5))
    first, second = joints.perpendiculars(axis)
    np.testing.assert_allclose(np.linalg.det([first, second, axis]), 1.0)
