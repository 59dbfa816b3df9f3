"""What the sentence itself says against a hypothesis, whatever the clips show."""

from __future__ import annotations

import numpy as np

from atop_backend.motion.features import Features
from atop_backend.motion.pool import Pool
from atop_backend.motion.silhouettes import move
from atop_backend.prompt_motion import SaidMotion

# How sure each kind of saying is, log odds: on generated objects 99.9, 98 and 93 % are true.
_KIND, _RISE, _SIDE = 4.0, 3.5, 2.5
_LEVEL = 0.15  # sine of the way up or down below which a motion is neither
_UPRIGHT = 0.7  # cosine to the vertical above which a hinge has a left and a right side


def contradicted(pool: Pool, ends: np.ndarray, features: Features, said: SaidMotion) -> np.ndarray:
    """How much of what was said each hypothesis contradicts, (h,), in log odds.

    Args:
        ends: Amounts at the end of the motion, (h,).
    """
    against = np.zeros(len(pool.axes))
    if said.kind is not None:
        against += _KIND * (pool.revolute != (said.kind == "revolute"))
    centre = features.box.centre
    if said.rise:
        moved = move(pool.revolute, pool.axes, pool.origins, ends[:, None], centre[None])[:, 0, 0]
        way = moved - centre
        climb = way[:, 2] / np.maximum(np.linalg.norm(way, axis=1), 1e-9)
        against += _RISE * (climb * said.rise < -_LEVEL)
    if said.hinge_side:
        upright = pool.revolute & (np.abs(pool.axes[:, 2]) > _UPRIGHT)
        there = (pool.origins[:, 0] - centre[0]) * said.hinge_side > 0
        against += _SIDE * ~(upright & there)
    return against
