"""The answers of a fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atop_backend.contracts import JointKind, JointMotion
from atop_backend.motion.ranges import within_limits

MOST_ANSWERS = 5  # different answers handed back


class Candidate(NamedTuple):
    """One possible joint."""

    joint: JointMotion  # normalised frame; lower is 0, the rest state
    confidence: float  # chance of being right, in [0, 1]
    source: str  # what it is founded on, such as "box edge"
    terms: dict[str, float]  # parts of its score in units of log probability, and "total"
    signs: tuple[float, ...] = ()  # inputs of the confidence map; of the best candidate only


def joint_from(kind: JointKind, axis: np.ndarray, origin: np.ndarray, end: float) -> JointMotion:
    """The joint from rest to `end` about a line or along a direction, (3,) each."""
    x, y, z = map(float, axis / np.linalg.norm(axis))
    a, b, c = map(float, origin)
    return JointMotion(kind, (x, y, z), (a, b, c), 0.0, within_limits(kind, end))
