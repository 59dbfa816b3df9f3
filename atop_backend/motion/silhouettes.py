"""How well the part's outline under a hypothesis agrees with the sampled silhouettes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atop_backend.contracts import Camera
from atop_backend.geometry import cameras as rigs
from atop_backend.geometry.joints import rodrigues

_FINE = 2  # splats fall into pixels this many times finer than the silhouettes
_BEHIND = 0.04  # a point this far behind the body's nearest surface is hidden


class Outlines(NamedTuple):
    """The sampled silhouettes and all that is needed to draw others like them."""

    targets: np.ndarray  # (samples, views, frames, size, size)
    points: np.ndarray  # (n, 3), on the part
    cameras: tuple[Camera, ...]
    depths: np.ndarray  # (views, fine, fine), of the body at rest; infinite where it is not


def outlines_of(
    targets: np.ndarray,
    cameras: tuple[Camera, ...],
    part_points: np.ndarray,
    body_points: np.ndarray,
) -> Outlines:
    """Silhouettes (samples, views, frames, size, size), ready for `overlap`."""
    fine = targets.shape[-1] * _FINE
    depths = np.full((len(cameras), fine * fine), np.inf)
    for view, camera in enumerate(cameras):
        cells, distances, seen = _cells(camera, body_points, fine)
        np.minimum.at(depths[view], cells[seen], distances[seen])
    return Outlines(targets, part_points, cameras, depths.reshape(-1, fine, fine))


def _cells(camera: Camera, points: np.ndarray, fine: int):
    """Fine pixel index, depth and whether it is inside the picture, of points (..., 3)."""
    pixels, depths = rigs.project(camera, points)
    places = np.floor(pixels * (fine / camera.width_px)).astype(np.int64)
    seen = np.all((places >= 0) & (places < fine), axis=-1) & (depths > 0.1)
    places = np.clip(places, 0, fine - 1)
    return places[..., 1] * fine + places[..., 0], depths, seen


def draw(outlines: Outlines, moved: np.ndarray) -> np.ndarray:
    """Area share of the part in each pixel, (..., views, size, size), for points (..., n, 3)."""
    lead = moved.shape[:-2]
    flat = moved.reshape(-1, *moved.shape[-2:])
    fine = outlines.depths.shape[-1]
    size = fine // _FINE
    drawn = np.zeros((len(flat), len(outlines.cameras), size, size))
    rows = np.arange(len(flat))[:, None] * fine * fine
    for view, camera in enumerate(outlines.cameras):
        cells, depths, seen = _cells(camera, flat, fine)
        seen &= depths < outlines.depths[view].reshape(-1)[cells] + _BEHIND
        counts = np.bincount((rows + cells)[seen], minlength=len(flat) * fine * fine)
        filled = _close((counts > 0).reshape(-1, fine, fine))
        drawn[:, view] = filled.reshape(-1, size, _FINE, size, _FINE).mean(axis=(2, 4))
    return drawn.reshape(*lead, *drawn.shape[1:])


def _close(filled: np.ndarray) -> np.ndarray:
    """Fill the holes that sparse points leave: a pixel between two opposite filled ones."""
    padded = np.pad(filled, ((0, 0), (1, 1), (1, 1)))
    across = padded[:, 1:-1, :-2] & padded[:, 1:-1, 2:]
    along = padded[:, :-2, 1:-1] & padded[:, 2:, 1:-1]
    return filled | across | along


def move(
    kinds_revolute: np.ndarray,
    axes: np.ndarray,
    origins: np.ndarray,
    amounts: np.ndarray,
    points: np.ndarray,
) -> np.ndarray:
    """Points (n, 3) moved by hypotheses (h,) and amounts (h, frames): (h, frames, n, 3)."""
    turns = np.where(kinds_revolute[:, None], amounts, 0.0)
    rotations = rodrigues(np.broadcast_to(axes[:, None], (*turns.shape, 3)), turns)
    arms = points - origins[:, None]
    turned = np.einsum("hfij,hnj->hfni", rotations, arms) + origins[:, None, None]
    slid = np.where(kinds_revolute[:, None], 0.0, amounts)[..., None] * axes[:, None]
    return turned + slid[:, :, None]


def overlap(outlines: Outlines, moved: np.ndarray) -> np.ndarray:
    """Overlap with each sample, (h, samples): intersection over union of all moved frames.

    Args:
        moved: Part points under each hypothesis, (h, frames, n, 3).
    """
    drawn = draw(outlines, moved).transpose(0, 2, 1, 3, 4)[:, None]  # (h, 1, views, frames, ...)
    axes = (2, 3, 4, 5)
    both = np.minimum(drawn, outlines.targets).sum(axis=axes)
    either = np.maximum(drawn, outlines.targets).sum(axis=axes)
    return both / np.maximum(either, 1e-9)
