"""What a video prior says about a part's motion, in one form for every kind of guidance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atop_backend.contracts import Camera
from atop_backend.errors import InputError

BLOCK_PX = 8  # pixels of a rest view behind one latent pixel


class MotionEvidence(NamedTuple):
    """Displacements and silhouettes of the moving part, of several samples of one clip.

    Either of `displacements` and `silhouettes` may be missing. Everything is in the normalised
    frame; a sample may be wrong as a whole.
    """

    points: np.ndarray  # (n, 3), rest points on the part
    displacements: np.ndarray | None  # (samples, frames, n, 3)
    weights: np.ndarray  # (n,), positive; how much of the part each point stands for
    silhouettes: np.ndarray | None  # (samples, views, frames, 32, 32), area share in [0, 1]
    cameras: tuple[Camera, ...]
    frames: np.ndarray  # (frames,), share of the motion that is done, rising, in (0, 1]


def block_points(
    positions: np.ndarray, part_mask: np.ndarray, block_px: int = BLOCK_PX
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean part point (n, 3), share of part pixels (n,) and place (n, 3: view, row, column).

    One entry for every latent pixel that sees the part.

    Args:
        positions: Surface point under each pixel, (views, height, width, 3).
        part_mask: Where the part is seen, (views, height, width).
    """
    views, height, width = part_mask.shape
    rows, columns = height // block_px, width // block_px
    shape = (views, rows, block_px, columns, block_px)
    shares = part_mask.reshape(shape).mean(axis=(2, 4))
    sums = np.where(part_mask[..., None], positions, 0.0).reshape(*shape, 3).mean(axis=(2, 4))
    places = np.argwhere(shares > 0)
    found = shares[tuple(places.T)]
    return sums[tuple(places.T)].astype(np.float64) / found[:, None], found, places


def evidence_from_clip(
    positions: np.ndarray,
    part_mask: np.ndarray,
    cameras: tuple[Camera, ...],
    silhouettes: np.ndarray | None,
    motions: np.ndarray | None,
    frames: np.ndarray,
) -> MotionEvidence:
    """The evidence in samples of the bundled model's channels.

    Args:
        positions: Surface point under each pixel at rest, (views, height, width, 3).
        part_mask: Where the part is seen at rest, (views, height, width).
        silhouettes: Area share of the part, (samples, views, frames, rows, columns).
        motions: Mean displacement of the part pixels of each block, in the normalised frame,
            (samples, views, frames, 3, rows, columns).
    """
    if not part_mask.any():
        raise InputError(
            "the part is seen in none of the four views",
            hint="hide what covers it, or choose a part that can be seen from outside",
        )
    points, weights, places = block_points(positions, part_mask)
    view, row, column = places.T
    displacements = None
    if motions is not None:
        picked = np.asarray(motions, dtype=np.float64)[:, view, :, :, row, column]
        displacements = np.ascontiguousarray(picked.transpose(1, 2, 0, 3))
    if silhouettes is not None:
        silhouettes = np.asarray(silhouettes, dtype=np.float64)
    return MotionEvidence(
        points, displacements, weights, silhouettes, cameras, np.asarray(frames, np.float64)
    )


def evidence_from_tracks(
    centres: np.ndarray, frames: np.ndarray, cameras: tuple[Camera, ...]
) -> MotionEvidence:
    """The evidence in points that were followed through a clip, such as gaussian centres.

    Args:
        centres: Places of the points, (frames + 1, n, 3); the first is the rest state.
    """
    centres = np.asarray(centres, dtype=np.float64)
    return MotionEvidence(
        points=centres[0],
        displacements=(centres[1:] - centres[0])[None],
        weights=np.ones(centres.shape[1]),
        silhouettes=None,
        cameras=cameras,
        frames=np.asarray(frames, np.float64),
    )
