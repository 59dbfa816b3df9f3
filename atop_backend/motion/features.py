"""What the shape alone tells about possible joints: boxes, contact, round pieces, directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atop_backend.geometry import boxes, collision
from atop_backend.geometry.joints import line_angle_deg, perpendiculars, unit
from atop_backend.geometry.meshes import RestShape, check_part
from atop_backend.geometry.surfaces import connected_surfaces

_PIECES = 24  # connected pieces looked at, largest first
_SLAB = 0.8  # share of a flat part's surface that is its slab; the rest may be a handle
_FLAT = 0.5  # a part is flat if it is so much thinner than wide
_STICKS_OUT = 0.15  # of the slab's thickness, and at least 0.01; less than that is no handle
_HANDLE = (0.003, 0.25)  # share of the surface that a handle has


class Round(NamedTuple):
    """A piece of surface that turns into itself about an axis: a cylinder, cone or ring."""

    axis: np.ndarray  # (3,)
    centre: np.ndarray  # (3,), on the axis, at the middle of the piece
    radius: float  # mean distance of its surface from the axis
    share: float  # of the area of the surface it was found on


class Features(NamedTuple):
    """The shape as the fit sees it."""

    box: boxes.Box  # of the part
    slab: boxes.Box | None  # of a flat part without what sticks out of it, if anything does
    handle: np.ndarray | None  # (3,), middle of that, if it is no more than a handle
    body_box: boxes.Box
    part_points: np.ndarray  # (n, 3), spread evenly over the part
    part_normals: np.ndarray  # (n, 3)
    body: collision.Obstacle
    gaps: np.ndarray  # (n,), distance of each part point from the body
    contact: np.ndarray  # (k, 3), the part points that meet the body; nearest ones if none do
    rounds: tuple[Round, ...]
    directions: np.ndarray  # (d, 3), undirected, best founded first
    sources: tuple[str, ...]  # where each direction comes from


def shape_features(shape: RestShape, points: int, generator: np.random.Generator) -> Features:
    """The features of a shape.

    Args:
        points: Samples on the part; the rest gets three times as many (paper 5.1: 2,048 each).

    Raises:
        InputError: The part is no solid thing, or is the whole object.
    """
    check_part(shape)
    corners = shape.vertices[shape.triangles]
    part, body = _solid(corners[shape.part]), _solid(corners[shape.body])
    body_box = boxes.oriented_box(body)
    box = boxes.oriented_box(part, body_box.axes)
    part_points, owners = collision.scatter(part, points, generator)
    normals, _ = boxes.triangle_normals(part)
    surface = collision.obstacle(body, 3 * points, generator)
    gaps = collision.distance_to(surface, part_points)
    reach = max(0.015, float(np.quantile(gaps, 0.02)) + 0.01)
    contact = part_points[gaps <= reach]
    rounds = _rounds(part, body, box)
    directions, sources = _directions(part, box, body_box, rounds)
    return Features(
        box,
        *_slab_and_handle(box, part_points),
        body_box,
        part_points,
        normals[owners],
        surface,
        gaps,
        contact,
        rounds,
        directions,
        sources,
    )


def _solid(corners: np.ndarray) -> np.ndarray:
    _, areas = boxes.triangle_normals(corners)
    return corners[areas > 1e-12]


def _slab_and_handle(
    box: boxes.Box, points: np.ndarray
) -> tuple[boxes.Box | None, np.ndarray | None]:
    """The thinnest layer that holds most of a flat part's points (n, 3), and the middle of others.

    A door turns about an edge of its slab, most often the one far from its handle; its box is
    thicker by the handle.
    """
    thin = int(np.argmin(box.half))
    if box.half[thin] > _FLAT * np.delete(box.half, thin).min():
        return None, None
    heights = (points - box.centre) @ box.axes[thin]
    ordered = np.sort(heights)
    count = int(_SLAB * len(ordered))
    first = int(np.argmin(ordered[count:] - ordered[:-count]))
    low, high = ordered[first], ordered[first + count]
    margin = max(0.01, _STICKS_OUT * (high - low))
    outside = (heights < low - margin) | (heights > high + margin)
    if not outside.any():
        return None, None
    half = box.half.copy()
    half[thin] = (high - low) / 2
    slab = box._replace(centre=box.centre + (low + high) / 2 * box.axes[thin], half=half)
    if not _HANDLE[0] < outside.mean() < _HANDLE[1]:
        return slab, None
    return slab, points[outside].mean(axis=0)


def _directions(
    part: np.ndarray, box: boxes.Box, body_box: boxes.Box, rounds: tuple[Round, ...]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Directions that differ by more than a degree, and where each comes from."""
    normals, shares = boxes.dominant_directions(part)
    named = [("box", axis) for axis in box.axes]
    named += [("round", piece.axis) for piece in rounds]
    named += [("body box", axis) for axis in body_box.axes]
    named += [("up", np.array([0.0, 0.0, 1.0]))]
    named += [("normal", axis) for axis in normals[shares > 0.05][:3]]
    kept: list[np.ndarray] = []
    sources: list[str] = []
    for source, axis in named:
        if all(line_angle_deg(axis, other) > 1.0 for other in kept):
            kept.append(axis)
            sources.append(source)
    return np.stack(kept), tuple(sources)


def _pieces(corners: np.ndarray) -> list[np.ndarray]:
    """Triangles (m, 3, 3) split into connected surfaces, largest area first."""
    labels = connected_surfaces(corners)
    _, areas = boxes.triangle_normals(corners)
    totals = np.bincount(labels, areas)
    return [corners[labels == label] for label in np.argsort(-totals)[:_PIECES]]


def _rounds(part: np.ndarray, body: np.ndarray, box: boxes.Box) -> tuple[Round, ...]:
    """Round pieces of the part, and small ones of the body beside it (pins, knuckles, axles)."""
    total = boxes.triangle_normals(part)[1].sum()
    found = []
    pieces = _pieces(part)
    for piece in [part, *pieces] if len(pieces) > 1 else [part]:
        found += _round(piece, total)
    near = np.abs((body.mean(axis=1) - box.centre) @ box.axes.T) < box.half + 0.1
    beside = body[near.all(axis=1)]
    if len(beside):
        for piece in _pieces(beside):
            found += [entry for entry in _round(piece, total) if entry.radius < 0.5 * box.radius]
    found.sort(key=lambda entry: -entry.share)
    return tuple(found[:8])


def _round(corners: np.ndarray, total_area: float) -> list[Round]:
    """The surface as a round piece, if it is one: its normals all point at one axis."""
    normals, areas = boxes.triangle_normals(corners)
    if len(corners) < 8:
        return []
    middles = corners.mean(axis=1)
    spread = np.linalg.eigh((normals * areas[:, None]).T @ normals)[1]
    best = None
    for axis in spread.T:
        entry = _round_about(axis, middles, normals, areas)
        if entry is not None and (best is None or entry[1] > best[1]):
            best = entry
    if best is None:
        return []
    piece, area, side = best
    # the side of a cylinder or cone makes one angle with its axis all around
    mean = areas[side] @ normals[side] / areas[side].sum()
    about = normals[side] - mean
    exact = np.linalg.eigh((about * areas[side, None]).T @ about)[1][:, 0]
    better = _round_about(exact, middles, normals, areas)
    if better is not None and better[1] > 0.99 * area:
        piece, area, _ = better
    return [piece._replace(share=float(area / total_area))]


def _round_about(
    axis: np.ndarray, middles: np.ndarray, normals: np.ndarray, areas: np.ndarray
) -> tuple[Round, float, np.ndarray] | None:
    """The round surface about a given direction, its area and its triangles (m,), or None."""
    side = np.abs(normals @ axis) < 0.9
    if side.sum() < 6 or areas[side].sum() < 0.2 * areas.sum():
        return None
    basis = np.stack(perpendiculars(axis))
    across = unit(normals[side] @ basis.T)
    flat, weight = middles[side] @ basis.T, areas[side].copy()
    tangent = np.stack([-across[:, 1], across[:, 0]], axis=1)
    offsets = np.sum(flat * tangent, axis=1)
    for _ in range(4):  # reweighted, so that a handle on a round lid does not pull
        matrix = (tangent * weight[:, None]).T @ tangent
        if np.linalg.cond(matrix) > 1e4:
            return None
        centre = np.linalg.solve(matrix, tangent.T @ (weight * offsets))
        misses = np.abs(offsets - tangent @ centre)
        radius = np.average(np.linalg.norm(flat - centre, axis=1), weights=weight)
        weight = areas[side] / (1 + (misses / (0.05 * radius + 1e-9)) ** 2)
    good = misses < 0.15 * radius
    bins = np.unique(
        np.floor(np.arctan2(across[good, 1], across[good, 0]) / (np.pi / 6)).astype(int)
    )
    area = areas[side][good].sum()
    if area < 0.6 * areas[side].sum() or len(bins) < 7 or radius < 1e-3:
        return None
    along = middles[side] @ axis
    point = centre @ basis + 0.5 * (along.min() + along.max()) * axis
    members = np.zeros(len(areas), dtype=bool)
    members[np.flatnonzero(side)[good]] = True
    return Round(axis, point, float(radius), 0.0), area, members
