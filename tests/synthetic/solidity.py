"""Measures of generated objects for tests: what lies inside what, and what touches what."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree


def surface_points(triangles: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Points (count, 3) spread evenly over the triangles."""
    edges = triangles[:, 1:] - triangles[:, :1]
    areas = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    chosen = rng.choice(len(triangles), count, p=areas / areas.sum())
    u, v = rng.random((2, count, 1))
    flip = u + v > 1
    u, v = np.where(flip, 1 - u, u), np.where(flip, 1 - v, v)
    return triangles[chosen, 0] + u * edges[chosen, 0] + v * edges[chosen, 1]


def winding(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """How many closed solids each point lies in (van Oosterom and Strackee 1983)."""
    corners = triangles[None] - points[:, None, None]
    lengths = np.linalg.norm(corners, axis=-1)
    a, b, c = (corners[:, :, i] for i in range(3))
    la, lb, lc = (lengths[:, :, i] for i in range(3))
    volume = np.einsum("pti,pti->pt", a, np.cross(b, c))
    spread = la * lb * lc + np.einsum("pti,pti->pt", a, b) * lc
    spread += np.einsum("pti,pti->pt", b, c) * la + np.einsum("pti,pti->pt", c, a) * lb
    return np.arctan2(volume, spread).sum(axis=1) / (2 * np.pi)


def distances(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Distance of each point to the nearest triangle."""
    result = np.full(len(points), np.inf)
    sides = np.roll(triangles, -1, axis=1) - triangles
    normals = np.cross(sides[:, 0], -sides[:, 2])
    keep = np.linalg.norm(normals, axis=1) > 1e-14
    triangles, sides, normals = triangles[keep], sides[keep], normals[keep]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    for i, point in enumerate(points):
        away = point - triangles  # (m, 3 corners, 3)
        along = np.einsum("mci,mci->mc", away, sides) / np.einsum("mci,mci->mc", sides, sides)
        nearest = away - np.clip(along, 0, 1)[..., None] * sides
        edge = np.linalg.norm(nearest, axis=2).min(axis=1)
        over = np.einsum("mi,mci->mc", normals, np.cross(sides, away))
        height = np.abs(np.einsum("mi,mi->m", normals, away[:, 0]))
        result[i] = np.where((over >= 0).all(axis=1), height, edge).min()
    return result


def depths(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """How deep each point lies inside the solids; 0 outside."""
    inside = winding(points, triangles) > 0.5
    result = np.zeros(len(points))
    result[inside] = distances(points[inside], triangles)
    return result


def gap(first: np.ndarray, second: np.ndarray, rng: np.random.Generator) -> float:
    """About the smallest distance between two surfaces."""
    a = np.concatenate([surface_points(first, 700, rng), first.reshape(-1, 3)])
    b = np.concatenate([surface_points(second, 700, rng), second.reshape(-1, 3)])
    return float(cKDTree(b).query(a)[0].min())
