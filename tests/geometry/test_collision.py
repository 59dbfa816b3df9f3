"""Sweeps, contact and evenly spread points."""

from __future__ import annotations

import numpy as np
import pytest

from atop_backend.geometry.collision import distance_to, obstacle, passes_through, scatter
from atop_backend.synthetic.solids import box, frame


@pytest.fixture
def wall():
    corners = box((-1, 0, -1), (1, 0.02, 1))
    return obstacle(corners, 3000, np.random.default_rng(0))


def straight(start, end, steps=10):
    """Tracks (steps + 1, n, 3) of points that go straight from start to end (n, 3)."""
    shares = np.linspace(0, 1, steps + 1)[:, None, None]
    return np.asarray(start) * (1 - shares) + np.asarray(end) * shares


def test_a_point_through_a_wall_collides_from_the_step_where_it_does(wall):
    hit = passes_through(wall, straight([[0.1, -0.5, 0.2]], [[0.1, 0.5, 0.2]]))[:, 0]
    assert not hit[:4].any()
    assert hit[6:].all()


def test_points_beside_or_along_a_wall_do_not_collide(wall):
    along = straight([[-0.8, -0.01, 0.0], [1.05, -0.4, 0.0]], [[0.8, -0.01, 0.0], [1.05, 0.4, 0.0]])
    assert not passes_through(wall, along).any()


def test_leaving_and_sliding_on_a_surface_in_contact_is_no_collision(wall):
    tracks = straight([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, -0.5, 0.0], [0.5, 0.0, 0.0]])
    assert not passes_through(wall, tracks).any()


def test_a_point_through_the_hole_of_a_frame_passes():
    corners = frame((-1, 0, -1), (1, 0.1, 1), (-0.3, 0, -0.3), (0.3, 0.1, 0.3), "y")
    ring = obstacle(corners, 3000, np.random.default_rng(0))
    tracks = straight(
        [[0.28, -0.3, 0.28], [0.35, -0.3, 0.0]], [[0.28, 0.4, 0.28], [0.35, 0.4, 0.0]]
    )
    assert passes_through(ring, tracks)[-1].tolist() == [False, True]


def test_distances_are_those_to_the_triangles_not_to_the_samples(wall):
    points = np.array([[0.013, -0.3, 0.027], [0.4, -0.002, 0.31]])
    np.testing.assert_allclose(distance_to(wall, points), [0.3, 0.002], atol=1e-9)


def test_scattered_points_lie_on_the_surface_in_proportion_to_area():
    big, small = box((0, 0, 0), (1, 1, 1)), box((5, 0, 0), (5.5, 0.5, 0.5))
    points, owners = scatter(np.concatenate([big, small]), 500, np.random.default_rng(1))
    assert (owners >= 12).sum() == pytest.approx(100, abs=2)
    on_side = np.isclose(points[owners < 12], 0) | np.isclose(points[owners < 12], 1)
    assert on_side.any(axis=1).all()
