"""Hypotheses of both kinds side by side, with what the evidence makes of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atop_backend.motion.displacement import Explained, Field, explain_slides, explain_turns
from atop_backend.motion.hypotheses import Hypotheses


class Pool(NamedTuple):
    """Directed joints of both kinds."""

    revolute: np.ndarray  # (h,) bool
    axes: np.ndarray  # (h, 3)
    origins: np.ndarray  # (h, 3)
    sources: np.ndarray  # (h,) str, what the direction is founded on
    places: np.ndarray  # (h,) str, what the line's place is founded on; empty for slides
    misfit: np.ndarray  # (h, samples), share of the motion left unexplained
    amounts: np.ndarray  # (h, samples, frames)

    def take(self, picks: np.ndarray) -> Pool:
        """The picked hypotheses, in that order."""
        return Pool(*(values[picks] for values in self))

    def join(self, other: Pool) -> Pool:
        """These hypotheses, then the others."""
        return Pool(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


def pool_turns(tried: Hypotheses, field: Field) -> Pool:
    """Directed hinges, explained by displacements."""
    return _pool(True, tried, explain_turns(field, tried.axes, tried.origins))


def pool_slides(tried: Hypotheses, field: Field) -> Pool:
    """Directed sliders, explained by displacements."""
    return _pool(False, tried, explain_slides(field, tried.axes))


def _pool(revolute: bool, tried: Hypotheses, explained: Explained) -> Pool:
    return Pool(
        np.full(len(tried.axes), revolute),
        tried.axes,
        tried.origins,
        np.array(tried.sources, dtype=object),
        np.array(tried.places, dtype=object),
        explained.misfit,
        explained.amounts,
    )


def distinct(
    pool: Pool, order: np.ndarray, count: int, angle_deg: float, offset: float
) -> np.ndarray:
    """The first `count` of `order` that differ from each other by an angle or an offset.

    Directions count: a joint and its reverse are different.
    """
    kept: list[int] = []
    for candidate in order:
        if len(kept) == count:
            break
        if not alike(pool, int(candidate), np.array(kept, dtype=int), angle_deg, offset).any():
            kept.append(int(candidate))
    return np.array(kept, dtype=int)


def offsets(pool: Pool, one: int, others: np.ndarray | slice = slice(None)) -> np.ndarray:
    """Distance of each other hypothesis's origin from the line of one, (k,)."""
    axis = pool.axes[one]
    gaps = pool.origins[others] - pool.origins[one]
    return np.linalg.norm(gaps - np.outer(gaps @ axis, axis), axis=1)


def alike(pool: Pool, one: int, others: np.ndarray, angle_deg: float, offset: float) -> np.ndarray:
    """Whether each of the other hypotheses is the same as one within the tolerances, (k,)."""
    close = pool.axes[others] @ pool.axes[one] >= np.cos(np.radians(angle_deg))
    beside = offsets(pool, one, others) < offset
    return close & (pool.revolute[others] == pool.revolute[one]) & (beside | ~pool.revolute[one])
