"""Which triangle each pixel of a camera sees, by scan conversion in numpy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atop_backend.contracts import Camera
from atop_backend.geometry import cameras, with_pytorch3d


class Visible(NamedTuple):
    """What the pixels of a picture see."""

    faces: np.ndarray  # (height, width) int64, index of the triangle, -1 for none
    depths: np.ndarray  # (height, width), infinite where nothing is seen


def visible_faces(camera: Camera, corners: np.ndarray) -> Visible:
    """The nearest triangle at each pixel's centre, hidden surfaces removed.

    Args:
        corners: (m, 3, 3) in the camera's world; both sides of a triangle are seen.
    """
    if with_pytorch3d.draws():
        return Visible(*with_pytorch3d.nearest_faces(camera, corners))
    pixels, depths = cameras.project(camera, corners)
    usable = np.flatnonzero((depths > 1e-3).all(axis=1))
    places, ids, seen = _fragments(camera, pixels, depths, usable)
    order = np.argsort(-seen)  # of those written to one place the last stays: the nearest
    nearest = np.full(camera.width_px * camera.height_px, np.inf)
    owner = np.full(camera.width_px * camera.height_px, -1)
    nearest[places[order]] = seen[order]
    owner[places[order]] = ids[order]
    shape = (camera.height_px, camera.width_px)
    return Visible(owner.reshape(shape), nearest.reshape(shape))


def _fragments(
    camera: Camera, pixels: np.ndarray, depths: np.ndarray, usable: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pixel index, triangle and depth wherever a triangle covers the centre of a pixel.

    Scan conversion without loops: triangles are repeated by their rows, rows by their pixels.

    Args:
        pixels: Projected corners (m, 3, 2); `depths` (m, 3) are theirs.
    """
    corners, inverse = pixels[usable], 1 / depths[usable]
    # edges as a x + b y + c, positive inside
    following = np.roll(corners, -1, axis=1)
    a = corners[..., 1] - following[..., 1]
    b = following[..., 0] - corners[..., 0]
    c = -(a * corners[..., 0] + b * corners[..., 1])
    area = c.sum(axis=1)
    solid = np.abs(area) > 1e-9
    usable, corners, inverse, area = usable[solid], corners[solid], inverse[solid], area[solid]
    edges = np.stack([a, b, c], axis=-1)[solid] * np.sign(area)[:, None, None]
    # 1 / depth is linear on the screen; corner k lies opposite edge k + 1
    slopes = np.einsum("nk,nkc->nc", np.roll(inverse, 1, axis=1), edges) / np.abs(area)[:, None]

    top = np.clip(np.ceil(corners[..., 1].min(axis=1) - 0.5), 0, None).astype(int)
    bottom = np.floor(corners[..., 1].max(axis=1) - 0.5).astype(int)
    bottom = np.minimum(bottom, camera.height_px - 1)
    triangle, y = _ranges(top, bottom)
    middle = y + 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = edges[triangle, :, 1] * middle[:, None] + edges[triangle, :, 2]
        slope = edges[triangle, :, 0]
        crossing = -rest / slope
        left = np.where(slope > 0, crossing, -np.inf).max(axis=1)
        right = np.where(slope < 0, crossing, np.inf).min(axis=1)
    outside = ((slope == 0) & (rest < 0)).any(axis=1)
    right = np.where(outside, -np.inf, right)
    start = np.ceil(np.clip(left, 0, camera.width_px) - 0.5).astype(int)
    end = np.floor(np.clip(right, -1, camera.width_px) - 0.5).astype(int)
    row, x = _ranges(start, end)
    triangle, y = triangle[row], y[row]
    plane = slopes[triangle]
    seen = 1 / (plane[:, 0] * (x + 0.5) + plane[:, 1] * (y + 0.5) + plane[:, 2])
    return y * camera.width_px + x, usable[triangle], seen


def _ranges(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Index of each range, and each of its whole numbers from `start` to `end` inclusive."""
    counts = np.maximum(end - start + 1, 0)
    owner = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, start[owner] + within
