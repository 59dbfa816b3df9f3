"""The rest shape: one list of triangles in the normalised frame, and the way back to the file.

The normalised frame has the bounding-box centre at the origin and the farthest vertex at
distance 1, Z up. Numpy alone, because Blender's Python imports it too.
"""

from __future__ import annotations

import math
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError
from atop_backend.geometry.alignment import squaring_rotation

THINNEST = 1e-4  # a part narrower than this share of its length counts as a line
# file axes of a format that has Y up, as Blender's importers turn it: world (x, y, z) = file
# (x, -z, y), written as world_to_file
Y_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
Z_UP = np.eye(3)


class RestShape(NamedTuple):
    """The object at rest."""

    vertices: np.ndarray  # (n, 3) float64, normalised frame
    triangles: np.ndarray  # (m, 3) int64, counter-clockwise from outside
    part: np.ndarray  # (m,) bool, true for triangles of the part that moves
    normalised_to_file: np.ndarray  # (4, 4) float64, rotation, uniform scale and shift
    part_names: tuple[str, ...]  # the selectors that were asked for
    # (m,) bool, pieces taken away because they hide the part, not in the pictures; None for none
    covers: np.ndarray | None = None
    cover_names: tuple[str, ...] = ()  # what they are, in words

    @property
    def body(self) -> np.ndarray:
        """(m,) bool, what the part moves against: neither part nor taken away."""
        return ~self.part if self.covers is None else ~(self.part | self.covers)


def build_shape(
    world_vertices: np.ndarray,
    triangles: np.ndarray,
    part: np.ndarray,
    part_names: tuple[str, ...],
    world_to_file: np.ndarray,
    turn: np.ndarray | None = None,
    covers: np.ndarray | None = None,
    cover_names: tuple[str, ...] = (),
) -> RestShape:
    """The checked rest shape of triangles in the world frame of Blender.

    Args:
        world_vertices: (n, 3); only those that triangles use may count, so the rest is dropped.
        world_to_file: Rotation (3, 3) from the world frame to the file's.
        turn: Rotation (3, 3) of the whole object before all else; the way back undoes it, as it
            undoes that which squares the object up.
        covers: (m,) bool, pieces that are taken away; without them another side may be the front.
        cover_names: What they are, in words.

    Raises:
        InputError: There is nothing to see, or the part cannot move as a solid.
    """
    if len(triangles) == 0:
        raise InputError("the object has no faces", hint="give a mesh with faces that render")
    used, flat = np.unique(triangles, return_inverse=True)
    vertices, triangles = world_vertices[used].astype(np.float64), flat.reshape(-1, 3)
    if not np.isfinite(vertices).all():
        bad = int((~np.isfinite(vertices).all(axis=1)).sum())
        raise InputError(
            f"{bad} of {len(vertices)} vertices are not finite numbers",
            hint="clean the mesh up, for instance with Mesh > Clean Up in Blender",
        )
    part = np.asarray(part, dtype=bool)
    turn = np.eye(3) if turn is None else np.asarray(turn, dtype=np.float64)
    covers = np.zeros(len(part), dtype=bool) if covers is None else covers
    turn = squaring_rotation(vertices @ turn.T, triangles[~covers], part[~covers]) @ turn
    vertices = vertices @ turn.T
    centre = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    radius = float(np.linalg.norm(vertices - centre, axis=1).max())
    if radius == 0.0:
        raise InputError("the object is a single point", hint="give a mesh that has a size")
    rotation = world_to_file @ turn.T
    normalised_to_file = np.eye(4)
    normalised_to_file[:3, :3] = radius * rotation
    normalised_to_file[:3, 3] = rotation @ centre
    shape = RestShape(
        (vertices - centre) / radius,
        triangles.astype(np.int64),
        part,
        normalised_to_file,
        part_names,
        covers,
        cover_names,
    )
    check_part(shape)
    return shape


def check_part(shape: RestShape) -> None:
    """Raise `InputError` unless some, but not all, is the part, and the part has a surface."""
    names = ", ".join(shape.part_names)
    if not shape.part.any():
        raise InputError(f"part {names} has no faces", hint="name a part that has faces")
    if shape.part.all():
        raise InputError(
            f"part {names} is the whole object",
            hint="name one part of it; the rest is what it moves against",
        )
    extents = principal_extents(part_vertices(shape))
    if extents[1] < THINNEST * extents[0] or triangle_areas(shape)[shape.part].sum() < 1e-12:
        raise InputError(
            f"part {names} is a line or a point and has no surface",
            hint="name a part that has a surface; a flat sheet is enough",
        )


def part_vertices(shape: RestShape) -> np.ndarray:
    """Vertices of the part, (k, 3)."""
    return shape.vertices[np.unique(shape.triangles[shape.part])]


def principal_extents(points: np.ndarray) -> np.ndarray:
    """Sizes (3,) along the principal directions of points (k, 3), longest direction first."""
    centred = points - points.mean(axis=0)
    directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    return np.ptp(centred @ directions, axis=0)


def save_shape(path: Path, shape: RestShape) -> None:
    """Write the shape as compressed npz, all or nothing.

    Vertices are kept in single precision, as Blender's meshes are.
    """
    aside = path.with_name(f".{path.name}.partial")
    with aside.open("wb") as stream:
        np.savez_compressed(
            stream,
            vertices=shape.vertices.astype(np.float32),
            triangles=shape.triangles.astype(np.int32),
            part=shape.part,
            normalised_to_file=shape.normalised_to_file,
            part_names=np.array(shape.part_names, dtype=np.str_),
            covers=np.zeros_like(shape.part) if shape.covers is None else shape.covers,
            cover_names=np.array(shape.cover_names, dtype=np.str_),
        )
    os.replace(aside, path)


def load_shape(path: Path) -> RestShape:
    """The shape that `save_shape` wrote.

    Raises:
        InputError: The file is missing or is not such a file.
    """
    try:
        with np.load(path, allow_pickle=False) as data:
            known = "covers" in data.files  # older files have nothing taken away
            return RestShape(
                data["vertices"].astype(np.float64),
                data["triangles"].astype(np.int64),
                data["part"],
                data["normalised_to_file"],
                tuple(str(name) for name in data["part_names"]),
                data["covers"] if known else np.zeros_like(data["part"]),
                tuple(str(name) for name in data["cover_names"]) if known else (),
            )
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(
            f"{path} cannot be read as a rest shape ({error})", hint="run the render stage again"
        ) from error


def triangle_areas(shape: RestShape) -> np.ndarray:
    """Areas (m,) in the normalised frame."""
    corners = shape.vertices[shape.triangles]
    return 0.5 * np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )


def sample_surface(
    shape: RestShape, count: int, rng: np.random.Generator, part: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Points and unit normals (count, 3) drawn evenly by area.

    Args:
        part: True for points on the part that moves, False for what it moves against.
    """
    chosen = np.flatnonzero(shape.part if part else shape.body)
    areas = triangle_areas(shape)[chosen]
    if areas.sum() <= 0:
        raise InputError(
            f"the {'part' if part else 'rest of the object'} has no surface",
            hint="name a part that has faces, and not the whole object",
        )
    picks, weights = sample_triangles(areas, count, rng)
    corners = shape.vertices[shape.triangles[chosen[picks]]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.einsum("nk,nkc->nc", weights, corners), normals / np.maximum(lengths, 1e-300)


def sample_triangles(
    areas: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Triangles (count,) drawn evenly by area, and a place on each as corner weights (count, 3)."""
    # one draw in each of `count` equal shares of the area: even cover, the same distribution
    shares = (np.arange(count) + rng.random(count)) / count
    cumulative = np.cumsum(areas / areas.sum())
    picks = np.searchsorted(cumulative, shares).clip(max=len(areas) - 1)
    first, second = rng.random((2, count))
    root = np.sqrt(first)
    return picks, np.stack([1 - root, root * (1 - second), root * second], axis=1)


def joint_to_file(joint: JointMotion, shape: RestShape) -> JointMotion:
    """A joint of the normalised frame in the frame and units of the asset file."""
    return _moved(joint, shape.normalised_to_file)


def joint_to_normalised(joint: JointMotion, shape: RestShape) -> JointMotion:
    """A joint in the frame and units of the asset file in the normalised frame."""
    return _moved(joint, np.linalg.inv(shape.normalised_to_file))


def _moved(joint: JointMotion, similarity: np.ndarray) -> JointMotion:
    scale = float(np.cbrt(np.linalg.det(similarity[:3, :3])))
    axis = similarity[:3, :3] @ np.asarray(joint.axis) / scale
    axis /= math.hypot(*axis)
    origin = similarity[:3, :3] @ np.asarray(joint.origin) + similarity[:3, 3]
    travel = scale if joint.kind == "prismatic" else 1.0
    return replace(
        joint,
        axis=tuple(map(float, axis)),
        origin=tuple(map(float, origin)),
        lower=joint.lower * travel,
        upper=joint.upper * travel,
    )
