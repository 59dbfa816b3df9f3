"""Mass and inertia guessed from shape and a density: estimates, and labelled so in every file."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import trimesh

# kg/m3; between softwood (500) and particle board (700), what most furniture is made of
DEFAULT_DENSITY = 600.0
# An open mesh bounds no volume: its surface is taken as a sheet this share of its size thick.
SHEET_THICKNESS = 0.02
# Solvers need some mass and some inertia, however small the part.
LEAST_MASS_KG = 1e-3
LEAST_INERTIA_SHARE = 1e-3


class MassProperties(NamedTuple):
    """Kilograms, metres; inertia about the centre of mass along the axes of the link."""

    mass: float
    centre: np.ndarray  # (3,)
    inertia: np.ndarray  # (3, 3), symmetric, positive definite


def estimate_mass(vertices: np.ndarray, triangles: np.ndarray, density: float) -> MassProperties:
    """Mass properties of a surface filled with matter of one density.

    A watertight surface gives its volume; any other one the volume of a sheet, at most that of
    its bounding box, with the inertia of the box.

    Args:
        vertices: (n, 3) metres.
        triangles: (m, 3) indices.
        density: kg/m3.
    """
    mesh = trimesh.Trimesh(vertices, triangles, process=True)
    extents = np.maximum(mesh.extents, 1e-3 * max(mesh.extents.max(), 1e-6))
    if mesh.is_watertight and mesh.is_winding_consistent and abs(mesh.volume) > 0:
        mass = max(abs(float(mesh.volume)) * density, LEAST_MASS_KG)
        centre = np.asarray(mesh.center_mass)
        inertia = np.asarray(mesh.moment_inertia) / mesh.volume * mass
    else:
        sheet = float(mesh.area * SHEET_THICKNESS * extents.max())
        mass = max(min(sheet, float(np.prod(extents))) * density, LEAST_MASS_KG)
        centre = mesh.bounds.mean(axis=0)
        inertia = box_inertia(mass, extents)
    return MassProperties(mass, centre, _regular(inertia, mass, extents))


def box_inertia(mass: float, extents: np.ndarray) -> np.ndarray:
    """Inertia (3, 3) of a solid box about its centre; mass in kg, extents (3,) in metres."""
    squares = extents**2
    return np.diag(mass / 12 * (squares.sum() - squares))


def _regular(inertia: np.ndarray, mass: float, extents: np.ndarray) -> np.ndarray:
    """The inertia with principal moments that a real body can have."""
    moments, axes = np.linalg.eigh((inertia + inertia.T) / 2)
    floor = LEAST_INERTIA_SHARE * mass * float((extents**2).sum())
    moments = np.maximum(moments, floor)
    moments[2] = min(moments[2], moments[0] + moments[1])  # triangle inequality
    return axes @ np.diag(moments) @ axes.T
