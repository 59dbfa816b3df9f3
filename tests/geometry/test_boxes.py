"""Oriented boxes of panels, rods, discs and turned things."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atop_backend.geometry.boxes import dominant_directions, oriented_box
from atop_backend.geometry.joints import line_angle_deg, rodrigues, unit
from atop_backend.synthetic.solids import box, cylinder

TURN = rodrigues(unit(np.array([1.0, 2.0, 3.0])), math.radians(40))


def worst_axis_deg(found, true_axes):
    """The largest angle of a true box axis to its nearest found one."""
    return max(line_angle_deg(found, axis).min() for axis in true_axes)


@pytest.mark.parametrize(
    "size", [(1.0, 0.6, 0.3), (1.0, 1.0, 0.02), (1.0, 1.0, 1.0), (1.0, 0.02, 0.02)]
)
def test_a_turned_box_is_found_exactly_even_where_its_sides_are_equal(size):
    half = np.array(size) / 2
    corners = box(-half, half) @ TURN.T + [0.2, 0.1, -0.3]
    found = oriented_box(corners)
    assert worst_axis_deg(found.axes, TURN.T) < 1e-4
    np.testing.assert_allclose(np.sort(found.half), np.sort(half), atol=1e-9)
    np.testing.assert_allclose(found.centre, [0.2, 0.1, -0.3], atol=1e-9)
    assert np.linalg.det(found.axes) == pytest.approx(1.0)


def test_a_handle_and_unequal_triangles_do_not_turn_the_box_of_a_door():
    door = box((-0.4, -0.02, -0.6), (0.4, 0.02, 0.6))
    grip = cylinder((0.3, -0.06, 0.1), (0, 0, 0.3), 0.02, segments=32)
    found = oriented_box(np.concatenate([door, grip]) @ TURN.T)
    assert worst_axis_deg(found.axes, TURN.T) < 1e-4


def test_a_disc_takes_its_free_directions_from_the_reference():
    disc = cylinder((0, 0, 0), (0, 0.05, 0), 0.5, segments=64)
    reference = rodrigues(np.array([0.0, 1.0, 0.0]), math.radians(20))
    found = oriented_box(disc, reference)
    assert worst_axis_deg(found.axes, reference) < 1.5


def test_a_single_triangle_has_a_box():
    found = oriented_box(np.array([[[0.0, 0, 0], [1.0, 0, 0], [0.0, 0.5, 0]]]))
    assert found.half[2] == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(found.axes).all()


def test_dominant_directions_are_normals_by_area():
    directions, shares = dominant_directions(box((0, 0, 0), (1.0, 0.5, 0.1)))
    assert line_angle_deg(directions[0], np.array([0.0, 0, 1])) < 1e-6
    assert shares[0] == pytest.approx(0.5 / 0.65)
    assert shares.sum() == pytest.approx(1.0)


def test_a_box_of_many_triangles_is_that_of_the_same_surface_in_few():
    corners = box((-0.5, -0.3, -0.1), (0.5, 0.3, 0.1)) @ TURN.T
    few = oriented_box(corners)
    while len(corners) < 20_000:
        middles = (corners + np.roll(corners, -1, axis=1)) / 2
        parts = [np.stack([corners[:, i], middles[:, i], middles[:, i - 1]], 1) for i in range(3)]
        corners = np.concatenate([*parts, middles])
    many = oriented_box(corners)
    assert worst_axis_deg(many.axes, few.axes) < 1e-4
    np.testing.assert_allclose(many.half, few.half, atol=1e-6)
