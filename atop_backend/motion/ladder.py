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


def _rungs(revolute: bool, tried: Hypotheses, features: Features) -> np.ndarray:
    """Final amounts to try, (h, rungs)."""
    if revolute:
        return np.tile(_ANGLES_RAD, (len(tried.axes), 1))
    box = features.box
    extents = 2 * np.abs(tried.axes @ box.axes.T) @ box.half
    return np.maximum(extents, 0.1)[:, None] * np.array(_LENGTHS)


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
    ends = _rungs(revolute, tried, features)[:, _USUAL if revolute else 1]
    return Pool(
        np.full(len(tried.axes), revolute),
        tried.axes,
        tried.origins,
        np.array(tried.sources, dtype=object),
        np.array(tried.places, dtype=object),
        np.ones((len(tried.axes), 1)),
        ends[:, None, None] * frames,
    )
