"""Objects are squared up before they are looked at, whatever way they stand in the scene."""

import math

import numpy as np
import pytest

from atop_backend.geometry.alignment import squaring_rotation
from atop_backend.geometry.joints import rodrigues
from tests.conftest import boxes

Z = np.array([0.0, 0.0, 1.0])


def cupboard():
    """A cupboard with a door on the left of its front, slightly proud of the body."""
    vertices, triangles = boxes(
        ((-0.6, -0.3, -0.5), (0.6, 0.3, 0.5)), ((-0.6, -0.33, -0.5), (-0.1, -0.3, 0.5))
    )
    return vertices, triangles, np.arange(len(triangles)) >= 12


def angle_deg(rotation):
    return math.degrees(math.acos(np.clip((np.trace(rotation) - 1) / 2, -1, 1)))


def test_a_square_object_with_its_part_in_front_stays_as_it_is():
    assert angle_deg(squaring_rotation(*cupboard())) < 1e-4


@pytest.mark.parametrize("yaw_deg", [0, 7, 50, 90, 133, 180, 260, 341])
@pytest.mark.parametrize("tilt_deg", [0, 4, 15])
def test_any_turn_is_undone(yaw_deg, tilt_deg):
    vertices, triangles, part = cupboard()
    heading = np.array([math.cos(1.1), math.sin(1.1), 0.0])
    turn = rodrigues(heading, math.radians(tilt_deg)) @ rodrigues(Z, math.radians(yaw_deg))
    back = squaring_rotation(vertices @ turn.T, triangles, part)
    assert angle_deg(back @ turn) < 1e-3


def test_a_part_on_top_calls_for_no_quarter_turn():
    vertices, triangles = boxes(
        ((-0.5, -0.3, 0), (0.5, 0.3, 0.5)), ((-0.5, -0.3, 0.5), (0.5, 0.3, 0.55))
    )
    part = np.arange(len(triangles)) >= 12
    for quarter in range(4):
        turn = rodrigues(Z, quarter * math.pi / 2)
        assert angle_deg(squaring_rotation(vertices @ turn.T, triangles, part)) < 1e-4


def test_round_objects_are_stood_up_and_not_turned():
    angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    low = np.column_stack([ring, np.zeros(64)])
    high = np.column_stack([ring, np.ones(64)])
    ends = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    vertices = np.concatenate([low, high, ends])
    i, j = np.arange(64), (np.arange(64) + 1) % 64
    sides = [np.stack([i, j, i + 64], 1), np.stack([j, j + 64, i + 64], 1)]
    caps = [np.stack([j, i, np.full(64, 128)], 1), np.stack([i + 64, j + 64, np.full(64, 129)], 1)]
    triangles = np.concatenate(sides + caps)
    part = np.zeros(len(triangles), dtype=bool)
    part[-64:] = True
    turn = rodrigues(np.array([1.0, 0.0, 0.0]), math.radians(12)) @ rodrigues(Z, 0.4)
    back = squaring_rotation(vertices @ turn.T, triangles, part)
    assert math.degrees(math.acos((back @ turn)[2, 2])) < 0.01
    assert angle_deg(back) < 13


def test_an_object_far_from_upright_is_left_as_it_lies():
    vertices, triangles, part = cupboard()
    turn = rodrigues(np.array([1.0, 0.0, 0.0]), math.radians(40))
    back = squaring_rotation(vertices @ turn.T, triangles, part)
    assert (back @ turn)[2, 2] < math.cos(math.radians(30))


def test_the_result_is_a_rotation_for_any_soup():
    rng = np.random.default_rng(0)
    for _ in range(20):
        vertices = rng.normal(size=(30, 3))
        triangles = rng.integers(30, size=(40, 3))
        part = np.arange(40) < 9
        rotation = squaring_rotation(vertices, triangles, part)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-9)
        assert np.linalg.det(rotation) > 0
