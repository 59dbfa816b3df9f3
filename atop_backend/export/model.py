"""The articulated object that every exporter writes: baked meshes, one joint a part, SI units.

The export frame is right-handed with Z up, in metres. A joint's value is 0 in the pose in which
the asset was given (closed), and positive the way the prompt asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError
from atop_backend.export.hulls import collision_hulls
from atop_backend.export.inertia import DEFAULT_DENSITY, MassProperties, estimate_mass
from atop_backend.export.names import identifier, unique_identifiers

Up = Literal["y", "z"]

Y_UP_SUFFIXES = (".gltf", ".glb", ".obj")
Y_UP_TO_Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # file (x, y, z) -> (x, -z, y)
LEAST_RANGE = 1e-3  # radians or metres; solvers refuse limits of equal value


class MovingPart(NamedTuple):
    """Triangles of one part and how they move, in the frame and units of the asset file."""

    name: str
    triangles: np.ndarray  # (m,) bool over the triangles of the whole object
    joint: JointMotion
    parent: int = -1  # index of the part that carries this one, such as a knob's door


class Link(NamedTuple):
    """One rigid body; vertices are relative to `origin`, along the axes of the export frame."""

    name: str
    source_name: str  # as the artist wrote it
    origin: np.ndarray  # (3,) metres; a point on the axis, zero for the base
    vertices: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (m, 3), outward winding where the surface is closed
    mass: MassProperties | None  # None where there is nothing to weigh
    hulls: list[tuple[np.ndarray, np.ndarray]]


class ArticulatedModel(NamedTuple):
    """A fixed base and the parts on it or on each other; `joints[i]` moves `links[i]`."""

    name: str
    base: Link
    links: list[Link]
    joints: list[JointMotion]  # export frame, metres and radians
    joint_names: list[str]
    parents: list[int]  # of each link: the link that carries it, -1 for the base
    density: float  # kg/m3 behind the estimates of mass

    def parent_of(self, index: int) -> Link:
        """The link that carries a link."""
        return self.base if self.parents[index] < 0 else self.links[self.parents[index]]

    def carried_by(self, index: int) -> list[int]:
        """The links that hang on a link, -1 for the base."""
        return [child for child, parent in enumerate(self.parents) if parent == index]

    def moved_by(self, index: int) -> list[Link]:
        """The link of a joint and all that hangs on it, directly or not."""
        below = [link for child in self.carried_by(index) for link in self.moved_by(child)]
        return [self.links[index], *below]


def asset_up(asset: Path | str) -> Up:
    """The axis that points upwards in the frame of an asset file."""
    return "y" if Path(asset).suffix.lower() in Y_UP_SUFFIXES else "z"


def build_model(
    name: str,
    vertices: np.ndarray,
    triangles: np.ndarray,
    parts: Sequence[MovingPart],
    up: Up,
    metres_per_unit: float = 1.0,
    density: float = DEFAULT_DENSITY,
) -> ArticulatedModel:
    """The model of an object whose mesh and joints are in the frame and units of its file.

    Args:
        vertices: (n, 3), the pose in which the asset was given.
        triangles: (m, 3).
        metres_per_unit: Size of one file unit.
        density: kg/m3, for the estimates of mass.

    Raises:
        InputError: Parts overlap, are empty, do not fit the mesh, or hang on each other in a ring.
    """
    _check(vertices, triangles, parts, metres_per_unit, density)
    turn = Y_UP_TO_Z_UP if up == "y" else np.eye(3)
    vertices = vertices @ turn.T * metres_per_unit
    joints = [_to_export(part.joint, turn, metres_per_unit) for part in parts]
    names = unique_identifiers(part.name for part in parts)
    links = [
        _link(link_name, part.name, joint.origin, vertices, triangles[part.triangles], density)
        for link_name, part, joint in zip(names, parts, joints, strict=True)
    ]
    moved = np.zeros(len(triangles), dtype=bool)
    for part in parts:
        moved |= part.triangles
    return ArticulatedModel(
        name=identifier(name, "object"),
        base=_link("base", "base", (0.0, 0.0, 0.0), vertices, triangles[~moved], density),
        links=links,
        joints=joints,
        joint_names=[f"{link_name}_joint" for link_name in names],
        parents=[part.parent for part in parts],
        density=density,
    )


def part_pose(joint: JointMotion, value: float) -> np.ndarray:
    """Where a link's frame stands at one joint value, (4, 4); radians or metres.

    What carries the link is at rest.
    """
    axis, pose = np.asarray(joint.axis), np.eye(4)
    pose[:3, 3] = joint.origin
    if joint.kind == "prismatic":
        pose[:3, 3] += axis * value
        return pose
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])  # Rodrigues' formula
    pose[:3, :3] += np.sin(value) * cross + (1 - np.cos(value)) * cross @ cross
    return pose


def _check(
    vertices: np.ndarray,
    triangles: np.ndarray,
    parts: Sequence[MovingPart],
    metres_per_unit: float,
    density: float,
) -> None:
    if not parts:
        raise InputError("no part moves", hint="articulate a part before exporting")
    if not (metres_per_unit > 0 and density > 0):
        raise InputError(
            f"unit size {metres_per_unit} and density {density} do not make an object",
            hint="both are positive numbers",
        )
    if not np.isfinite(vertices).all():
        raise InputError("the mesh has vertices that are not finite", hint="repair the asset")
    owners = np.zeros(len(triangles), dtype=int)
    for part in parts:
        if part.triangles.shape != (len(triangles),):
            raise InputError(
                f"part {part.name!r} labels {len(part.triangles)} of {len(triangles)} triangles",
                hint="all parts must come from the same state of the asset",
            )
        if not part.triangles.any():
            raise InputError(f"part {part.name!r} has no triangles", hint="name another part")
        owners += part.triangles
    if owners.max() > 1:
        shared = [part.name for part in parts if (owners[part.triangles] > 1).any()]
        raise InputError(
            f"parts {', '.join(map(repr, shared))} share triangles",
            hint="export each triangle with one part only",
        )
    for part in parts:
        above, steps = part.parent, 0
        while above != -1:
            steps += 1
            if not 0 <= above < len(parts) or steps > len(parts):
                raise InputError(
                    f"part {part.name!r} hangs on no part that hangs on the base",
                    hint="name the index of the part that carries it, or -1",
                )
            above = parts[above].parent


def _to_export(joint: JointMotion, turn: np.ndarray, metres_per_unit: float) -> JointMotion:
    axis = turn @ np.asarray(joint.axis)
    axis /= np.linalg.norm(axis)
    origin = turn @ np.asarray(joint.origin) * metres_per_unit
    travel = metres_per_unit if joint.kind == "prismatic" else 1.0
    lower, upper = joint.lower * travel, joint.upper * travel
    return replace(
        joint,
        axis=tuple(axis.tolist()),
        origin=tuple(origin.tolist()),
        lower=lower,
        upper=max(upper, lower + LEAST_RANGE),
    )


def _link(
    name: str,
    source_name: str,
    origin: Sequence[float],
    vertices: np.ndarray,
    triangles: np.ndarray,
    density: float,
) -> Link:
    used, inverse = np.unique(triangles, return_inverse=True)
    points = vertices[used] - np.asarray(origin)
    faces = inverse.reshape(-1, 3)
    if not len(faces):
        return Link(name, source_name, np.asarray(origin), points, faces, None, [])
    faces = _outward(points, faces)
    mass = estimate_mass(points, faces, density)
    return Link(
        name, source_name, np.asarray(origin), points, faces, mass, collision_hulls(points, faces)
    )


def _outward(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The faces, all turned round if the surface they enclose is inside out (a mirrored mesh)."""
    corners = points[faces] - points.mean(axis=0)
    volume = np.einsum("nc,nc->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    size = np.ptp(points, axis=0).max()
    return faces[:, ::-1] if volume < -1e-6 * size**3 else faces
