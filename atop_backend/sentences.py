"""A joint in words for people: what it is, where its axis lies, how far it moves."""

from __future__ import annotations

import math

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.geometry.meshes import RestShape, part_vertices

# In the normalised frame: Z up, the front looks along -Y, so left is -X for who stands before it.
SIDES = (("left", "right"), ("front", "back"), ("bottom", "top"))
DIRECTIONS = (("to the left", "to the right"), ("to the front", "to the back"), ("down", "up"))
NEAR_AXIS = math.cos(math.radians(30))
MIDDLE = 0.4  # of half the part's size; an axis nearer to its centre is no edge


def describe(joint: JointMotion, shape: RestShape, travel: float, confidence: float) -> str:
    """A sentence such as "revolute, hinge on the left edge, turns 95 degrees, confidence 0.93".

    Args:
        joint: In the normalised frame.
        travel: How far it moves, in radians or file units.
    """
    if joint.kind == "revolute":
        where = f"hinge {hinge_place(joint, shape)}"
        motion = f"turns {math.degrees(travel):.0f} degrees"
    else:
        where = f"slides {slide_direction(joint)}"
        motion = f"moves {travel:.3g} units"
    return f"{joint.kind}, {where}, {motion}, confidence {confidence:.2f}"


def taken_away(shape: RestShape) -> str:
    """What was taken away to see a hidden part, "seen with 'door' taken away"; empty for none."""
    names = " and ".join(shape.cover_names)
    return f"seen with {names} taken away" if names else ""


def hinge_place(joint: JointMotion, shape: RestShape) -> str:
    """Where on its part a hinge lies, as seen from the front."""
    vertices = part_vertices(shape)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    centre, half = (low + high) / 2, np.maximum((high - low) / 2, 1e-9)
    axis = np.asarray(joint.axis)
    offset = np.asarray(joint.origin) - centre
    offset -= (offset @ axis) * axis
    along = int(np.abs(axis).argmax())
    if abs(axis[along]) < NEAR_AXIS:
        return "on a slanting axis"
    across = [index for index in range(3) if index != along]
    # thin sides count less: a hinge behind a door's left edge is on its left edge
    weights = np.array([offset[index] / half.max() for index in across])
    side = across[int(np.abs(weights).argmax())]
    if abs(offset[side]) < MIDDLE * half[side]:
        return f"on {'an upright' if along == 2 else 'a level'} axis through the middle"
    return f"on the {SIDES[side][int(offset[side] > 0)]} edge"


def slide_direction(joint: JointMotion) -> str:
    """Where a slider goes, as seen from the front."""
    axis = np.asarray(joint.axis)
    along = int(np.abs(axis).argmax())
    words = DIRECTIONS[along][int(axis[along] > 0)]
    return words if abs(axis[along]) > NEAR_AXIS else f"aslant, mostly {words}"
