"""A joint in words says what one sees from the front."""

from __future__ import annotations

import math

import numpy as np
import pytest
from toys import boxes

from atop_backend import sentences
from atop_backend.contracts import JointMotion
from atop_backend.geometry.meshes import RestShape

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@pytest.fixture
def door():
    """A cabinet with its door in front, at -Y."""
    vertices, triangles = boxes(((-0.5, -0.3, -0.6), (0.5, 0.3, 0.6)),
                                ((-0.5, -0.34, -0.6), (0.5, -0.3, 0.6)))  # fmt: skip
    return RestShape(vertices, triangles, np.arange(24) >= 12, np.eye(4), ("door",))


@pytest.mark.parametrize(
    ("axis", "origin", "said"),
    [
        (Z, (-0.5, -0.3, 0.0), "on the left edge"),
        (Z, (0.5, -0.34, 0.3), "on the right edge"),
        (X, (0.2, -0.3, -0.6), "on the bottom edge"),
        (X, (0.0, -0.32, 0.6), "on the top edge"),
        (Z, (0.0, -0.32, 0.0), "on an upright axis through the middle"),
        (Y, (0.0, 0.0, 0.0), "on a level axis through the middle"),
        ((0.0, math.sqrt(0.5), math.sqrt(0.5)), (0.0, 0.0, 0.0), "on a slanting axis"),
    ],
)
def test_a_hinge_is_placed_as_seen_from_the_front(door, axis, origin, said):
    joint = JointMotion("revolute", axis, origin, 0.0, 1.0)
    assert sentences.hinge_place(joint, door) == said


@pytest.mark.parametrize(
    ("axis", "said"),
    [
        ((0.0, -1.0, 0.0), "to the front"),
        (X, "to the right"),
        ((0.0, 0.0, -1.0), "down"),
        ((0.0, -math.sqrt(0.5), math.sqrt(0.5)), "aslant"),
    ],
)
def test_a_slider_goes_where_it_is_seen_to_go(axis, said):
    joint = JointMotion("prismatic", axis, (0.0, 0.0, 0.0), 0.0, 1.0)
    assert said in sentences.slide_direction(joint)


def test_a_sentence_has_type_place_travel_and_confidence(door):
    joint = JointMotion("revolute", Z, (-0.5, -0.3, 0.0), 0.0, 1.0)
    text = sentences.describe(joint, door, math.radians(95), 0.93)
    assert text == "revolute, hinge on the left edge, turns 95 degrees, confidence 0.93"


def test_what_was_taken_away_to_see_the_part_is_said(door):
    opened = door._replace(cover_names=("'lid'", "'strap'"))
    assert sentences.taken_away(opened) == "seen with 'lid' and 'strap' taken away"
    assert sentences.taken_away(door) == ""
