"""What a kind of object returns before it is posed and normalised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic.objects import Builder

Vector = Sequence[float] | np.ndarray


class Draft(NamedTuple):
    """One object in metres, front facing -Y and up +Z, closed unless its kind says otherwise."""

    kind: str  # category, such as "microwave"
    builder: Builder
    joint: JointMotion  # from the drawn pose (0) to the end of the motion, in metres or radians
    directed: bool  # False where neither sense of the motion is the right one
    prompts: tuple[str, ...]  # sentences for the motion along the joint
    closing_prompts: tuple[str, ...] = ()  # sentences for the way back


def _numbers(vector: Vector) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in vector)
    return x, y, z


def _unit(vector: Vector) -> tuple[float, float, float]:
    length = math.sqrt(sum(float(value) ** 2 for value in vector))
    return _numbers([float(value) / length for value in vector])


def hinge(axis: Vector, origin: Vector, upper_rad: float) -> JointMotion:
    """A revolute joint that starts at rest; the axis may have any length."""
    return JointMotion("revolute", _unit(axis), _numbers(origin), 0.0, float(upper_rad))


def slider(axis: Vector, origin: Vector, upper: float) -> JointMotion:
    """A prismatic joint that starts at rest and travels `upper` metres along `axis`."""
    return JointMotion("prismatic", _unit(axis), _numbers(origin), 0.0, float(upper))
