"""Gaussians that ride on the skinned surface: bound to places on triangles.

A Gaussian reaches beyond its centre, so each lies a little under the skin, and is as small as the
limb is thin there: outlines are those of the mesh, without holes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.errors import InputError
from atop_backend.geometry.meshes import sample_triangles
from atop_backend.geometry.rigs import Rig

_CANDIDATES = 3000  # places that are looked at to choose from
_SIGMA_TO_SPACING = 2.2  # Gaussians as far apart as this still cover the skin
_SIGMA_TO_THICKNESS = 0.22  # of a limb, where it is thin
_THINNEST = 0.35  # of the largest sigma; thinner ones would take all the Gaussians
_SIGMA_TO_DEPTH = 1.8  # how far under the skin a Gaussian lies
_FACING_AWAY = -0.3  # cosine of normals on opposite sides of a limb


class Surface(NamedTuple):
    """Gaussians of a rig, to be moved by `kinematics.skin`."""

    bound: Float[Tensor, "n j 4"]
    colours: Float[Tensor, "n 3"]  # display colours
    factors: Float[Tensor, " n"]  # 1 / sigma
    log_weight: float  # of every Gaussian, see `pictures.calibrated`
    rest: Float[Tensor, "n 3"]
    depths: Float[Tensor, " n"]  # under the skin

    @property
    def reach(self) -> Float[Tensor, " n"]:
        """How far from each centre the body extends."""
        return _SIGMA_TO_DEPTH / self.factors

    def thinned(self, step: int) -> Surface:
        """Every `step`-th Gaussian, for a rough look."""
        return self._map(lambda part: part[::step])

    def to(self, device: torch.device) -> Surface:
        """The surface on a device."""
        return self._map(lambda part: part.to(device))

    def _map(self, change: Callable[[Tensor], Tensor]) -> Surface:
        parts = (change(part) if isinstance(part, Tensor) else part for part in self)
        return Surface(*parts)  # type: ignore[arg-type]

    @property
    def sigma(self) -> float:
        """The largest sigma."""
        return float(1 / self.factors.min())


def bind_gaussians(rig: Rig, count: int, rng: np.random.Generator) -> Surface:
    """About `count` Gaussians over the surface at rest, closer together where it is thin.

    A Gaussian is the weighted mean of its triangle's skinned corners, each pushed inwards, which
    is itself a bound point (see `kinematics.bind`).
    """
    corners = rig.vertices[rig.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if np.einsum("nc,nc->", corners[:, 0], normals) < 0:  # six times the volume: inside out
        normals = -normals
    areas = 0.5 * np.linalg.norm(normals, axis=1)
    if not areas.sum() > 0:
        raise InputError("the mesh of the rig has no surface", hint="give a mesh with faces")
    normals /= np.maximum(2 * areas, 1e-30)[:, None]
    faces, places = sample_triangles(areas, max(_CANDIDATES, count), rng)
    points = np.einsum("nk,nkc->nc", places, corners[faces])
    thickness = _thickness(points, normals[faces])
    sigmas = _sigmas(thickness, float(areas.sum()), count)
    chosen = _spread(sigmas**-2, count, rng)
    faces, places, points, sigmas = faces[chosen], places[chosen], points[chosen], sigmas[chosen]
    depths = np.minimum(_SIGMA_TO_DEPTH * sigmas, thickness[chosen] / 2)
    points = points - depths[:, None] * normals[faces]
    bound = _bind_places(rig, faces, places, points)
    return Surface(
        torch.as_tensor(bound, dtype=torch.float32),
        torch.as_tensor(rig.face_colours[faces], dtype=torch.float32),
        torch.as_tensor(1 / sigmas, dtype=torch.float32),
        0.0,
        torch.as_tensor(points, dtype=torch.float32),
        torch.as_tensor(depths, dtype=torch.float32),
    )


def _bind_places(rig: Rig, faces: np.ndarray, places: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Bound points (n, j, 4) of places on triangles, moved to `points` at rest."""
    vertices = rig.triangles[faces]
    shifts = points - np.einsum("nk,nkc->nc", places, rig.vertices[vertices])
    corners = rig.vertices[vertices] + shifts[:, None]
    homogeneous = np.concatenate([corners, np.ones_like(corners[..., :1])], axis=2)
    return np.einsum("nk,nkj,nkc->njc", places, rig.weights[vertices], homogeneous)


def _thickness(points: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Distance (n,) from each point to the skin on the other side; infinite where there is none."""
    result = np.full(len(points), np.inf)
    for start in range(0, len(points), 500):
        offsets = points[None] - points[start : start + 500, None]
        facing = normals[start : start + 500] @ normals.T
        distances = np.linalg.norm(offsets, axis=2)
        inwards = -np.einsum("nmc,nc->nm", offsets, normals[start : start + 500])
        across = (facing < _FACING_AWAY) & (inwards > 0.6 * distances)
        result[start : start + 500] = np.where(across, distances, np.inf).min(axis=1)
    return result


def _sigmas(thickness: np.ndarray, area: float, count: int) -> np.ndarray:
    """Sigma (n,) of a Gaussian at each place, so that about `count` of them cover the area."""
    low, high = 1e-6, 10.0 * area**0.5
    for _ in range(60):
        largest = (low * high) ** 0.5
        sigmas = np.clip(_SIGMA_TO_THICKNESS * thickness, _THINNEST * largest, largest)
        needed = area * ((_SIGMA_TO_SPACING * sigmas) ** -2.0).mean()
        low, high = (largest, high) if needed > count else (low, largest)
    return sigmas


def _spread(shares: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of `count` entries, evenly drawn in proportion to their shares."""
    cumulative = np.cumsum(shares / shares.sum())
    return np.searchsorted(cumulative, (np.arange(count) + rng.random()) / count).clip(
        max=len(shares) - 1
    )
