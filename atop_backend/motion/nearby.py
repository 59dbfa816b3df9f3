"""What lies near a joint that a person has laid: the line itself, its refinement, the shape's."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.geometry.joints import unit
from atop_backend.motion.displacement import Field
from atop_backend.motion.features import Features
from atop_backend.motion.hypotheses import Line, lines_of
from atop_backend.motion.ladder import pool_of
from atop_backend.motion.pool import Pool, alike
from atop_backend.motion.refine import pooled_field, refined_lines
from atop_backend.motion.silhouettes import Outlines

NEAR_DEG, NEAR = 15.0, 0.15  # a hand is surer than this; what is farther off is another answer
_MOST = 24  # hypotheses of the shape near a given joint that get the costly terms


class Given(NamedTuple):
    """A given joint as the videos see it."""

    line: Pool  # one hypothesis: the given line, directed as the videos have it move
    against_the_videos: bool  # the person wants it to move the other way

    def near(self, pool: Pool, picks: np.ndarray) -> np.ndarray:
        """Which of the picked hypotheses lie near the given joint and move like it, (k,) bool."""
        return alike(self.line.join(pool), 0, 1 + picks, NEAR_DEG, NEAR)


def around(
    initial: JointMotion,
    tried: Pool,
    features: Features,
    field: Field | None,
    outlines: Outlines | None,
    frames: np.ndarray,
) -> tuple[Given, Pool]:
    """The given joint, and every hypothesis worth scoring near it.

    A person who turns an axis around knows better than the videos which way the part moves; where
    the line runs can still be read off them, so it is sought in the direction that they show.

    Args:
        initial: In the normalised frame.
        tried: The hypotheses of the shape, both ways.
    """
    revolute = initial.kind == "revolute"
    axis = unit(np.asarray(initial.axis, dtype=np.float64))
    origin = np.asarray(initial.origin, dtype=np.float64) if revolute else features.box.centre
    place = "given" if revolute else ""

    def explained(lines: list[Line]) -> Pool:
        hypotheses = lines_of(features.box, lines)
        return pool_of(revolute, hypotheses, features, field, outlines, frames)

    both = explained([(sign * axis, origin, "given", place) for sign in (1.0, -1.0)])
    misfits = both.misfit.mean(axis=1)
    backwards = bool(misfits[1] < misfits[0])
    line = both.take(np.array([int(backwards)]))
    given = Given(line, backwards)
    found = [line]
    if field is not None and revolute:
        trust = np.maximum(1 - line.misfit[0], 0.02) ** 2
        mean, tilt = pooled_field(field, trust), math.radians(NEAR_DEG)
        lines = refined_lines(features, mean, line.axes[0], line.origins[0], NEAR, tilt)
        # the given line made exact is founded as well as the given line
        lines[0] = (*lines[0][:2], "given", "given")
        found.append(explained(lines))
    near = np.flatnonzero(given.near(tried, np.arange(len(tried.axes))))
    best = near[np.argsort(tried.misfit[near].mean(axis=1), kind="stable")][:_MOST]
    pool = found[0].join(tried.take(best))
    return given, pool if len(found) == 1 else pool.join(found[1])
