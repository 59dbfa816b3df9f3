"""What geometry says about a joint: collisions, contact, attachment. None of it is in the paper."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from atop_backend.geometry.collision import distance_to, passes_through
from atop_backend.motion.features import Features
from atop_backend.motion.silhouettes import move

_SWEEP_POINTS = 160  # of the part; enough to see a door go into its cabinet
_STEP = 0.08  # longest step of a swept point, in the normalised frame
_BUMP = 0.2  # share of the part that passes through the body where that is plainly wrong
_NEAR = 0.03  # a hinge may run this far beside where part and body meet
_FAR = 0.12  # a hinge this much farther from where part and body meet gets no credit for contact
_BESIDE = 0.5  # half widths from its middle beyond which a hinge is at one side of a part
_OPEN = np.radians(120)  # contact that leaves no wider gap as seen along a line is all around it
_LOOSE = 0.10  # a part this much farther from the body than at rest has come off


class Terms(NamedTuple):
    """One number in [0, 1] for each hypothesis, of the handle in [-1, 1]; less is better."""

    collision: np.ndarray  # (h,), how much of the part passes through the body
    contact: np.ndarray  # (h,), how far the hinge runs from where part and body meet
    attachment: np.ndarray  # (h,), how far the part ends up from the body
    handle: np.ndarray  # (h,), 1: hinge and handle are at one edge, -1: at opposite ones


def geometry_terms(
    features: Features,
    revolute: np.ndarray,
    axes: np.ndarray,
    origins: np.ndarray,
    amounts: np.ndarray,
) -> Terms:
    """The terms of hypotheses (h,) with axes and origins (h, 3) and final amounts (h,)."""
    points = features.part_points[:: max(1, len(features.part_points) // _SWEEP_POINTS)]
    crossed = sweep(features, points, revolute, axes, origins, amounts)[:, -1]
    ends = move(revolute, axes, origins, amounts[:, None], points)[:, 0]
    gaps = distance_to(features.body, ends).min(axis=1)
    rest = float(features.gaps.min())
    return Terms(
        collision=1 - np.exp(-crossed / _BUMP),
        contact=np.where(revolute, _contact(features, axes, origins), 0.0),
        attachment=np.clip((gaps - rest) / _LOOSE, 0, 1),
        handle=np.where(revolute, _handle_side(features, axes, origins), 0.0),
    )


def sweep(
    features: Features,
    points: np.ndarray,
    revolute: np.ndarray,
    axes: np.ndarray,
    origins: np.ndarray,
    amounts: np.ndarray,
) -> np.ndarray:
    """Share of the part that has passed through the body by each step, (h, steps).

    Steps are equal shares of the whole motion to `amounts` (h,).
    """
    arms = points - origins[:, None]
    arms -= np.einsum("hnc,hc->hn", arms, axes)[..., None] * axes[:, None]
    reach = np.where(revolute, np.linalg.norm(arms, axis=2).max(axis=1), 1.0) * amounts
    steps = int(np.clip(np.ceil(reach.max(initial=0) / _STEP), 4, 24))
    shares = np.linspace(0, 1, steps + 1)
    tracks = move(revolute, axes, origins, amounts[:, None] * shares, points)
    return passes_through(features.body, tracks).mean(axis=-1)


def _handle_side(features: Features, axes: np.ndarray, origins: np.ndarray) -> np.ndarray:
    """Place of the handle on the way from a flat part's middle to its hinge, in [-1, 1], (h,)."""
    if features.handle is None:
        return np.zeros(len(axes))
    box = features.box
    thin = np.eye(3)[np.argmin(box.half)]
    half = np.maximum(box.half, 1e-6)
    within = axes @ box.axes.T  # in the box's frame, and in half extents
    hinges = (origins - box.centre) @ box.axes.T / half
    handle = (features.handle - box.centre) @ box.axes.T / half
    across = np.cross(thin, within)
    beside = np.sum(hinges * across, axis=1)
    told = (np.abs(within @ thin) < 0.5) & (np.abs(beside) > _BESIDE)
    return np.where(told, np.clip(beside * (across @ handle), -1, 1), 0.0)


def _contact(features: Features, axes: np.ndarray, origins: np.ndarray) -> np.ndarray:
    """How far each line runs from the contact at its nearest, within the part's length.

    A line that contact surrounds, as a lever's pin is by the rim of its socket, is at its place.
    """
    if len(features.contact) == 0:
        return np.zeros(len(axes))
    along = features.part_points @ axes.T - np.sum(origins * axes, axis=1)
    shares = np.linspace(0, 1, 16)[:, None]
    stations = along.min(axis=0) * (1 - shares) + along.max(axis=0) * shares  # (16, h)
    places = origins + stations[..., None] * axes
    gaps = cKDTree(features.contact).query(places)[0].min(axis=0)
    far = np.clip((gaps - _NEAR) / _FAR, 0, 1)
    for row in np.nonzero(far)[0]:
        if _surrounded(features.contact, axes[row], origins[row]):
            far[row] = 0.0
    return far


def _surrounded(points: np.ndarray, axis: np.ndarray, origin: np.ndarray) -> bool:
    """Whether points (k, 3) lie all around a line, as seen along it."""
    aside = np.eye(3)[np.abs(axis).argmin()]
    across = np.cross(axis, aside)
    across /= np.linalg.norm(across)
    arms = points - origin
    angles = np.sort(np.arctan2(arms @ np.cross(axis, across), arms @ across))
    gaps = np.diff(angles, append=angles[0] + 2 * np.pi)
    return bool(gaps.max() < _OPEN)
