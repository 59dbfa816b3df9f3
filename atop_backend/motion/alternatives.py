"""Other answers, for when the best one is wrong: each wrong in another way than the others.

A video prior that errs does so as a whole: it opens a door from the wrong side, shows a drawer
where there is a flap, or turns a lid the wrong way. What its clips then say of all the other
joints tells little; the shape still tells which of them could be. Or the clips are right and the
best answer only beat the right one narrowly: then what they say counts in full.
"""

from __future__ import annotations

import numpy as np

from atop_backend.geometry.joints import unit
from atop_backend.motion.features import Features
from atop_backend.motion.hypotheses import MEASURED
from atop_backend.motion.ladder import usual_amounts
from atop_backend.motion.pool import Pool, alike, distinct, offsets

_WIDE = {True: 28, False: 6}  # hinges and sliders of the shape that are looked at besides
_FIRM = ("edge", "round", "contact", "")  # places that a joint may have whatever clips show
_UNEXPLAINED = 0.5  # share of the motion missed beyond which an amount means nothing
_HEARD = 0.05  # how much of what the clips as a whole say of another answer is believed
_CHOSEN = 1.5  # for what a sample by itself would choose, log probability
_OUTWARDS = 0.5  # for a part that starts straight away from the rest, log probability
# Off for each answer already given that is of the same kind, parallel to it, about the same.
_SAME_KIND, _PARALLEL, _NEAR = 0.25, 1.0, 2.0
_FRONT = np.array([0.0, -0.5, 0.0])  # beside the way from the rest's middle, in its half extents
_RIVAL = 1.5  # log odds of the clips being right after all
_REVERSED, _OTHER_EDGE = 1.5, 1.0  # what clips get wrong most often, log probability
DIFFERENT_DEG, DIFFERENT = 15.0, 0.1  # answers nearer than this are one


def of_the_shape(tried: Pool, features: Features, frames: np.ndarray) -> Pool:
    """Hypotheses that the shape offers, different from each other, with amounts that make sense.

    Args:
        tried: Every hypothesis, both ways.
        frames: Shares of the motion, as in the evidence.
    """
    firm = np.isin(tried.places, _FIRM) & ~np.isin(tried.sources, MEASURED)
    rank = np.array([_FIRM.index(place) if place in _FIRM else 9 for place in tried.places])
    order = np.flatnonzero(firm)[np.argsort(rank[firm], kind="stable")]
    picks = []
    for revolute, count in _WIDE.items():
        family = order[tried.revolute[order] == revolute]
        picks.append(distinct(tried, family, count, DIFFERENT_DEG, DIFFERENT))
    wide = tried.take(np.concatenate(picks))
    usual = usual_amounts(wide.revolute, wide.axes, features)
    blank = unexplained(wide)[:, None, None]
    return wide._replace(amounts=np.where(blank, usual[:, None, None] * frames, wide.amounts))


def in_order(
    pool: Pool,
    terms: dict[str, np.ndarray],
    features: Features,
    best: int,
    wide: int,
    count: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Other answers than the best, likeliest first: indices (k,) and log probabilities (k,).

    Args:
        best: Index of the best answer.
        wide: How many at the end of the pool come from `of_the_shape`.
        count: The most to give.
    """
    everyone = np.arange(len(pool.axes))
    said = sum(terms.get(name, np.zeros(len(everyone))) for name in ("displacement", "silhouette"))
    score = terms["total"] - (1 - _HEARD) * said + _OUTWARDS * _outwards(pool, features)
    score = score + _way_bonus(pool, best)
    near = _near(pool, best, features)
    for choice in set(np.argmin(pool.misfit, axis=0).tolist()):
        if not near[choice]:
            score = score + _CHOSEN * alike(pool, choice, everyone, DIFFERENT_DEG, DIFFERENT)
    free = ~alike(pool, best, everyone, DIFFERENT_DEG, DIFFERENT)
    # their amounts are no motion at all; the same lines come again with usual ones
    free[: len(free) - wide] &= ~unexplained(pool)[: len(free) - wide]
    score = score - _likeness(pool, best, features)
    rivals = terms["total"] - terms["total"][best] + _RIVAL
    kept: list[int] = []
    scores: list[float] = []
    while len(kept) < count and free.any():
        chances = np.logaddexp(score, rivals)
        pick = int(np.flatnonzero(free)[np.argmax(chances[free])])
        kept.append(pick)
        scores.append(float(chances[pick]))
        free &= ~alike(pool, pick, everyone, DIFFERENT_DEG, DIFFERENT)
        score = score - _likeness(pool, pick, features)
    return np.array(kept, dtype=int), np.array(scores)


def _outwards(pool: Pool, features: Features) -> np.ndarray:
    """Cosine between a part's first movement and the way out for it, (h,).

    Out is from the middle of the rest to the part, and to the front, where squaring up has
    brought the side from which the part is seen.
    """
    rest = features.body_box
    extents = np.abs(rest.axes.T) @ rest.half
    out = unit((features.box.centre - rest.centre) / np.maximum(extents, 1e-3) + _FRONT)
    arms = features.box.centre - pool.origins
    starts = np.where(pool.revolute[:, None], np.cross(pool.axes, arms), pool.axes)
    return starts @ out / np.maximum(np.linalg.norm(starts, axis=1), 0.2 * features.box.radius)


def unexplained(pool: Pool) -> np.ndarray:
    """Which hypotheses explain no sample, (h,) bool, so that their amounts mean nothing."""
    return pool.misfit.min(axis=1) > _UNEXPLAINED


def _likeness(pool: Pool, given: int, features: Features) -> np.ndarray:
    """What is taken off for being wrong, if at all, as a given answer is, (h,)."""
    same_kind = pool.revolute == pool.revolute[given]
    cosines = np.abs(pool.axes @ pool.axes[given])
    parallel = cosines > np.cos(np.radians(DIFFERENT_DEG))
    alike_ = np.where(same_kind, np.where(parallel, _PARALLEL, _SAME_KIND), 0.0)
    return alike_ + _NEAR * _near(pool, given, features)


def _near(pool: Pool, given: int, features: Features) -> np.ndarray:
    """Whether each is about the same motion as a given one, (h,) bool."""
    beside = offsets(pool, given) < max(DIFFERENT, 0.35 * features.box.radius)
    close = pool.axes @ pool.axes[given] > np.cos(np.radians(2 * DIFFERENT_DEG))
    return (pool.revolute == pool.revolute[given]) & close & (beside | ~pool.revolute)


def _way_bonus(pool: Pool, best: int) -> np.ndarray:
    """For the two ways in which clips err most, (h,): the way back, and from the other edge."""
    beside = (offsets(pool, best) < DIFFERENT) | ~pool.revolute
    back = pool.axes @ pool.axes[best] < -np.cos(np.radians(DIFFERENT_DEG))
    back &= pool.revolute == pool.revolute[best]
    return back * np.where(beside, _REVERSED, _OTHER_EDGE)
