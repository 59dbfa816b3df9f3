"""Hypotheses with their amounts: read off displacements, else tried from a ladder, or assumed."""

from __future__ import annotations

import numpy as np

from atop_backend.motion.displacement import Field
from atop_backend.motion.features import Features
from atop_backend.motion.hypotheses import Hypotheses
from atop_backend.motion.pool import Pool, pool_slides, pool_turns
from atop_backend.motion.silhouettes import Outlines, move, overlap

_ANGLES_RAD = (0.35, 0.8, 1.3, 1.8)
_LENGTHS = (0.25, 0.6, 1.0)  # of the part's extent along the slide, twice its half
_USUAL = 2  # the rung assumed where nothing at all is known about the amount
_COARSE_POINTS = 250


def pool_of(
    revolute: bool,
    tried: Hypotheses,
    features: Features,
    field: Field | None,
    outlines: Outlines | None,
    frames: np.ndarray,
) -> Pool:
    """Directed hypotheses explained by the best that is known: displacements, outlines, nothing."""
    if field is not None:
        return (pool_turns if revolute else pool_slides)(tried, field)
    if outlines is not None:
        return pool_by_outline(revolute, tried, features, outlines, frames)
    return pool_by_guess(revolute, tried, features, frames)


def usual_amounts(revolute: np.ndarray, axes: np.ndarray, features: Features) -> np.ndarray:
    """How far joints like these usually go, (h,), radians or lengths; for axes (h, 3)."""
    lengths = np.maximum(_extents(axes, features), 0.1) * _LENGTHS[1]
    return np.where(revolute, _ANGLES_RAD[_USUAL], lengths)


def _extents(axes: np.ndarray, features: Features) -> np.ndarray:
    """Extents of the part's box along axes (h, 3)."""
    return 2 * np.abs(axes @ features.box.axes.T) @ features.box.half


def _rungs(revolute: bool, tried: Hypotheses, features: Features) -> np.ndarray:
    """Final amounts to try, (h, rungs)."""
    if revolute:
        return np.tile(_ANGLES_RAD, (len(tried.axes), 1))
    return np.maximum(_extents(tried.axes, features), 0.1)[:, None] * np.array(_LENGTHS)


def pool_by_outline(
    revolute: bool, tried: Hypotheses, features: Features, outlines: Outlines, frames: np.ndarray
) -> Pool:
    """Hypotheses with the rung whose outline agrees best with the samples' silhouettes.

    The misfit is the share of the outline that is missed.
    """
    rungs = _rungs(revolute, tried, features)
    points = outlines.points[:: max(1, len(outlines.points) // _COARSE_POINTS)]
    kinds = np.full(len(tried.axes), revolute)
    found = np.stack(
        [
            overlap(
                outlines, move(kinds, tried.axes, tried.origins, rung[:, None] * frames, points)
            )
            for rung in rungs.T
        ]
    )  # (rungs, h, samples)
    best = found.mean(axis=2).argmax(axis=0)
    rows = np.arange(len(tried.axes))
    amounts = rungs[rows, best][:, None, None] * frames
    return Pool(
        kinds,
        tried.axes,
        tried.origins,
        np.array(tried.sources, dtype=object),
        np.array(tried.places, dtype=object),
        1 - found[best, rows],
        np.repeat(amounts, outlines.targets.shape[0], axis=1),
    )


def pool_by_guess(
    revolute: bool, tried: Hypotheses, features: Features, frames: np.ndarray
) -> Pool:
    """Hypotheses with usual amounts, where geometry alone must decide."""
    kinds = np.full(len(tried.axes), revolute)
    ends = usual_amounts(kinds, tried.axes, features)
    return Pool(
        kinds,
        tried.axes,
        tried.origins,
        np.array(tried.sources, dtype=object),
        np.array(tried.places, dtype=object),
        np.ones((len(tried.axes), 1)),
        ends[:, None, None] * frames,
    )
