"""Runs inside Blender: casts rays to find what hides the part, and takes it away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from mathutils.bvhtree import BVHTree

from atop_backend.contracts import Camera
from atop_backend.geometry.cameras import camera_centre, pixel_rays, project
from atop_backend.geometry.meshes import (
    RestShape,
    part_vertices,
    sample_surface,
    triangle_areas,
)
from atop_backend.rendering import uncover

_RAYS = 1500  # a view, at most
_POINTS, _DIRECTIONS = 24, 64  # on the part, and from each of them outwards
_MOST_HITS = 64  # of one ray; a stack of sheets deeper than that stays
_HAIR = 5e-4  # normalised; what lies nearer in front of the part is its own surface, doubled
_STEP = 1e-5  # past a surface, to meet the next


class Rays(NamedTuple):
    """Triangles of the rest of the object that rays meet, as pairs of a ray and a triangle."""

    views: np.ndarray  # (rays,), the camera of each ray that would meet the part
    outline_px: float  # pixels of all views that the part would fill if nothing hid it
    between: np.ndarray  # (pairs, 2), met on the way to the part
    around: np.ndarray  # (pairs, 2), met on the way from the part outwards


def cast(shape: RestShape, cameras: Sequence[Camera]) -> Rays:
    """Rays from the cameras to the part, and from the part in all directions."""
    rest = np.flatnonzero(~shape.part)
    corners = shape.vertices.tolist()
    part = BVHTree.FromPolygons(corners, shape.triangles[shape.part].tolist(), all_triangles=True)
    body = BVHTree.FromPolygons(corners, shape.triangles[rest].tolist(), all_triangles=True)
    views: list[int] = []
    between: list[tuple[int, int]] = []
    step = _stride(shape, cameras)
    for view, camera in enumerate(cameras):
        eye = camera_centre(camera)
        for direction in _pixels_of_part(shape, camera, step):
            distance = part.ray_cast(eye, direction)[3]
            if distance is not None:
                found = _all_hits(body, eye, direction, distance - _HAIR)
                between += [(len(views), rest[triangle]) for triangle in found]
                views.append(view)
    rng = np.random.default_rng(0)
    points, normals = sample_surface(shape, _POINTS, rng, part=True)
    around: list[tuple[int, int]] = []
    directions = _sphere(_DIRECTIONS)
    for index, start in enumerate(np.repeat(points + _HAIR * normals, len(directions), axis=0)):
        found = _all_hits(body, start, directions[index % len(directions)], 4.0)
        around += [(index, rest[triangle]) for triangle in found]
    pairs = (np.array(list_, dtype=np.int64).reshape(-1, 2) for list_ in (between, around))
    return Rays(np.array(views, dtype=np.int64), float(len(views) * step**2), *pairs)


def _stride(shape: RestShape, cameras: Sequence[Camera]) -> int:
    """Pixels from ray to ray."""
    boxes = [np.ptp(project(camera, part_vertices(shape))[0], axis=0) for camera in cameras]
    return max(1, math.ceil(math.sqrt(max(map(np.prod, boxes)) / _RAYS)))


def _pixels_of_part(shape: RestShape, camera: Camera, step: int) -> np.ndarray:
    """Unit directions (n, 3) through every so-manyth pixel of the part's bounds."""
    pixels, _ = project(camera, part_vertices(shape))
    size = np.array([camera.width_px, camera.height_px])
    low = np.floor(pixels.min(axis=0)).astype(int).clip(0, size)
    high = np.ceil(pixels.max(axis=0)).astype(int).clip(0, size)
    rays = pixel_rays(camera)[low[1] : high[1] : step, low[0] : high[0] : step].reshape(-1, 3)
    return rays / np.linalg.norm(rays, axis=1, keepdims=True)


def _sphere(count: int) -> np.ndarray:
    """Evenly spread unit directions (count, 3), a Fibonacci lattice."""
    height = 1 - (2 * np.arange(count) + 1) / count
    turn = np.arange(count) * math.pi * (3 - math.sqrt(5))
    radius = np.sqrt(1 - height**2)
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn), height])


def _all_hits(tree: Any, start: np.ndarray, direction: np.ndarray, limit: float) -> list[int]:
    """Triangles that a ray meets up to a distance, nearest first."""
    found: list[int] = []
    done = 0.0
    while len(found) < _MOST_HITS and done < limit:
        _, _, index, distance = tree.ray_cast(start + done * direction, direction, limit - done)
        if index is None:
            break
        found.append(index)
        done += distance + _STEP
    return found


def uncovered(
    shape: RestShape, rays: Rays, owners: np.ndarray, names: Sequence[Sequence[str]]
) -> RestShape | None:
    """The shape with what hides its part marked as covers, or None where nothing can be taken.

    Whole objects of the scene are tried first, then connected pieces of their meshes. Small
    pieces that would be left in the air go as well.

    Args:
        owners: The object of each triangle, (m,), an index into `names`.
        names: Of each object: its own name and of all above it, nearest first.
    """
    held = np.bincount(owners, shape.part, minlength=len(names)) > 0
    pieces = uncover.object_pieces(names, held)
    chosen = uncover.choose(_sight(shape, rays, owners, len(names)), pieces)
    if chosen:
        gone = np.any([pieces[index].leaves for index in chosen], axis=0)[owners] & ~shape.part
        words = uncover.describe([pieces[index].name for index in chosen], whole=True)
        gone |= uncover.hanging(shape, owners, gone)
        return shape._replace(covers=gone, cover_names=words)
    rest = np.flatnonzero(~shape.part)
    labels = np.full(len(owners), -1)
    labels[rest] = uncover.connected(shape.vertices, shape.triangles[rest], owners[rest])
    # only those that a ray meets can help; all others are one leaf that stays
    met = np.unique(labels[rays.between[:, 1]])
    leaves = np.where(shape.part | ~np.isin(labels, met), len(met), np.searchsorted(met, labels))
    pieces = [uncover.Piece("", np.arange(len(met) + 1) == leaf) for leaf in range(len(met))]
    chosen = uncover.choose(_sight(shape, rays, leaves, len(met) + 1), pieces)
    if not chosen:
        return None
    firsts = [int(np.flatnonzero(leaves == leaf)[0]) for leaf in chosen]
    words = uncover.describe([names[int(owners[first])][0] for first in firsts], whole=False)
    gone = np.isin(leaves, chosen)
    return shape._replace(covers=gone | uncover.hanging(shape, labels, gone), cover_names=words)


def _sight(shape: RestShape, rays: Rays, leaves: np.ndarray, count: int) -> uncover.Sight:
    blockers = np.zeros((len(rays.views), count), dtype=bool)
    blockers[rays.between[:, 0], leaves[rays.between[:, 1]]] = True
    around = np.zeros((_POINTS * _DIRECTIONS, count), dtype=bool)
    around[rays.around[:, 0], leaves[rays.around[:, 1]]] = True
    areas = np.bincount(leaves, triangle_areas(shape) * ~shape.part, minlength=count)
    return uncover.Sight(rays.views, blockers, around, areas)
