"""How well motions about given lines or along given directions explain displacements.

Everything is in closed form. A video prior that is unsure shows the mean of several amounts,
and the mean of rotations about one axis is no rotation: it moves a point x (seen from the axis)
by alpha J x + beta x, where (alpha, 1 + beta) lies inside the unit circle and on it only for one
sure amount. Fitting alpha and beta freely finds the axis all the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_MIXED_COST = 0.1  # share of the misfit that mixed amounts would hide which is still counted
_FLAT = 1e-3  # a part this much thinner than long has no depth in which displacements could differ
_FLOOR = 1e-3  # motion below this, in the normalised frame, is no motion


class Field(NamedTuple):
    """Displacements ready to be compared with hypotheses; weights sum to 1."""

    points: np.ndarray  # (n, 3)
    weights: np.ndarray  # (n,)
    displacements: np.ndarray  # (samples, frames, n, 3)
    frames: np.ndarray  # (frames,)
    energy: np.ndarray  # (samples, frames), weighted mean square displacement


class Explained(NamedTuple):
    """What each hypothesis makes of each sample."""

    misfit: np.ndarray  # (hypotheses, samples), share of the motion left over, in [0, 1]
    amounts: np.ndarray  # (hypotheses, samples, frames), radians or normalised lengths, >= 0


def field_of(points: np.ndarray, weights: np.ndarray, displacements: np.ndarray, frames) -> Field:
    """The displacements (samples, frames, n, 3) of points (n, 3) as a `Field`."""
    weights = weights / weights.sum()
    energy = np.einsum("sfnc,sfnc,n->sf", displacements, displacements, weights)
    return Field(points, weights, displacements, np.asarray(frames), energy)


def affine_part(points: np.ndarray, weights: np.ndarray, displacements: np.ndarray) -> np.ndarray:
    """What of displacements (samples, frames, n, 3) is an affine function of the place.

    A rigid part's displacement is one, and so is any mixture of turns; whatever else a clip
    shows says nothing about any joint, and would only blur the differences between them.
    """
    roots = np.sqrt(weights / weights.sum())
    basis = np.column_stack([points - points.mean(axis=0), np.ones(len(points))])
    left, strengths, _ = np.linalg.svd(basis * roots[:, None], full_matrices=False)
    left = left[:, strengths > _FLAT * strengths[0]]
    numbers = np.einsum("nk,n,sfnc->sfkc", left, roots, displacements)
    return np.einsum("nk,sfkc->sfnc", left / roots[:, None], numbers)


class Mixtures(NamedTuple):
    """The mixed turns that best explain displacements, (h, samples, frames) each."""

    sine: np.ndarray
    cosine: np.ndarray
    alpha: np.ndarray  # what free numbers would be best
    beta: np.ndarray
    inertia: np.ndarray  # (h, 1, 1), mean square distance of the points from the line


def mix_turns(field: Field, axes: np.ndarray, origins: np.ndarray) -> Mixtures:
    """Mixed turns about lines, directed: axes (h, 3), origins (h, 3)."""
    arms = field.points - origins[:, None]
    arms -= np.einsum("hnc,hc->hn", arms, axes)[..., None] * axes[:, None]
    turned = np.cross(axes[:, None], arms)
    inertia = np.einsum("hnc,hnc,n->h", arms, arms, field.weights)[:, None, None]
    inertia = np.maximum(inertia, 1e-12)
    pulled = field.displacements * field.weights[:, None]
    alpha = np.tensordot(turned, pulled, axes=([1, 2], [2, 3])) / inertia
    beta = np.tensordot(arms, pulled, axes=([1, 2], [2, 3])) / inertia
    sine, cosine = _within_circle(alpha, beta + 1, field.frames)
    return Mixtures(sine, cosine, alpha, beta, inertia)


def explain_turns(field: Field, axes: np.ndarray, origins: np.ndarray) -> Explained:
    """Turning about lines, directed: axes (h, 3), origins (h, 3)."""
    mixed = mix_turns(field, axes, origins)
    angles = np.arctan2(mixed.sine, mixed.cosine)
    left = _left(field.energy, mixed, mixed.sine, mixed.cosine)
    sure = _left(field.energy, mixed, np.sin(angles), np.cos(angles))
    misfit = _share((1 - _MIXED_COST) * left + _MIXED_COST * sure, field.energy)
    return Explained(misfit, np.mod(angles, 2 * np.pi))


def _left(energy: np.ndarray, mixed: Mixtures, sine: np.ndarray, cosine: np.ndarray) -> np.ndarray:
    """Mean square displacement that a mixed turn leaves over, (h, samples, frames)."""
    gain = 2 * (mixed.alpha * sine + mixed.beta * (cosine - 1)) - sine**2 - (cosine - 1) ** 2
    return np.maximum(energy - mixed.inertia * gain, 0)


def _within_circle(
    sine: np.ndarray, cosine: np.ndarray, frames: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest mixtures of turns in the positive sense, (h, samples, frames) each.

    A frame may show more than half a turn only if the first frame's turn promises it.
    """
    length = np.maximum(np.hypot(sine, cosine), 1.0)
    inside, level = sine / length, cosine / length
    first = np.arctan2(np.maximum(inside[..., :1], 0), level[..., :1])
    promised = first * (frames / frames[0]) > 0.75 * np.pi
    promised[..., 0] = False
    back = (inside < 0) & ~promised
    return np.where(back, 0.0, inside), np.where(back, np.clip(cosine, -1, 1), level)


def explain_slides(field: Field, axes: np.ndarray) -> Explained:
    """Sliding along directions (h, 3)."""
    mean = np.einsum("sfnc,n->sfc", field.displacements, field.weights)
    amounts = np.maximum(np.einsum("sfc,hc->hsf", mean, axes), 0.0)
    left = np.maximum(field.energy - amounts**2, 0)
    return Explained(_share(left, field.energy), amounts)


def _share(left: np.ndarray, energy: np.ndarray) -> np.ndarray:
    total = energy.sum(axis=-1) + _FLOOR**2 * energy.shape[-1]
    return np.minimum((left.sum(axis=-1) + _FLOOR**2 * energy.shape[-1]) / total, 1.0)


def last_amount(amounts: np.ndarray, frames: np.ndarray, trust: np.ndarray) -> float:
    """The amount at the end of the motion, from amounts (samples, frames).

    Frames are taken to be evenly paced, as generated clips are: each frame says what the end
    is, later ones more surely.

    Args:
        trust: How much each sample counts, (samples,).
    """
    ends = amounts @ frames / (frames @ frames) * frames[-1]
    order = np.argsort(ends)
    summed = np.cumsum(trust[order])
    return float(ends[order][np.searchsorted(summed, 0.5 * summed[-1])])


def line_of_turn(field: Field, axis: np.ndarray) -> np.ndarray | None:
    """The point (3,) whose parallel to `axis` best explains the samples' mean as a turn, or None.

    With K the cross product with the axis, d = (alpha K + beta) (p - o): linear in alpha and beta
    about the points' centre, then linear in o.
    """
    centre = field.weights @ field.points
    arms = field.points - centre
    arms -= np.outer(arms @ axis, axis)
    moved = field.displacements.mean(axis=0)
    moved = moved - (moved @ axis)[..., None] * axis
    inertia = max(float(np.einsum("nc,nc,n->", arms, arms, field.weights)), 1e-12)
    alphas = np.einsum("fnc,nc,n->f", moved, np.cross(axis, arms), field.weights) / inertia
    betas = np.einsum("fnc,nc,n->f", moved, arms, field.weights) / inertia
    means = np.einsum("fnc,n->fc", moved, field.weights)
    cross = np.cross(axis, np.eye(3)).T
    blocks = -(alphas[:, None, None] * cross + betas[:, None, None] * np.eye(3))
    matrix = np.einsum("fab,fac->bc", blocks, blocks)
    strength = np.trace(matrix)
    if strength < 1e-8:
        return None
    matrix += strength * np.outer(axis, axis)
    if np.linalg.cond(matrix) > 1e6:
        return None
    return centre + np.linalg.solve(matrix, np.einsum("fab,fa->b", blocks, means))
