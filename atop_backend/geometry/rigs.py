"""The rigged asset: a mesh bound to a tree of bones, at rest. Numpy alone, for Blender's Python.

World frame of the scene: metres, Z up. Every bone's rest matrix is rigid; a uniform scale of the
armature only shows in positions.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from atop_backend.errors import InputError

MOST_BONES = 1000
_RIGID = 1e-3  # largest departure of a rest matrix from a rotation


class Rig(NamedTuple):
    """A skinned mesh and its skeleton, all bones at rest."""

    vertices: np.ndarray  # (n, 3) float64, world
    triangles: np.ndarray  # (m, 3) int64
    face_colours: np.ndarray  # (m, 3) display colours in [0, 1]
    bones: tuple[str, ...]  # parents before children
    parents: np.ndarray  # (j,) int64, -1 for a root
    rest: np.ndarray  # (j, 4, 4) bone_to_world, rigid
    tails: np.ndarray  # (j, 3) far ends of the bones, world
    weights: np.ndarray  # (n, j) float32, rows add up to 1
    deform: np.ndarray  # (j,) bool, moves some vertex
    limits: np.ndarray  # (j, 3, 2) XYZ Euler angles in the bone's rest axes, radians; NaN for none
    chosen: np.ndarray  # (j,) bool, may move

    @property
    def carrier(self) -> int:
        """The bone that carries the whole body, such as the hips; root motion is its motion.

        Above it there are only bones that move nothing by themselves and have one child.
        """
        bone = int(np.flatnonzero(self.parents < 0)[0])
        if (self.parents < 0).sum() > 1:
            return bone
        while not self.deform[bone]:
            children = np.flatnonzero(self.parents == bone)
            if len(children) != 1:
                break
            bone = int(children[0])
        return bone

    def depth(self) -> np.ndarray:
        """Number of bones between each bone and its root, (j,)."""
        depths = np.zeros(len(self.bones), dtype=np.int64)
        for bone, parent in enumerate(self.parents):
            depths[bone] = 0 if parent < 0 else depths[parent] + 1
        return depths

    def free(self) -> np.ndarray:
        """(j,) bool, the bones whose rotation is sought: chosen, and not what root motion does."""
        free = self.chosen.copy()
        bone = self.carrier
        if (self.parents < 0).sum() == 1:
            while bone >= 0:
                free[bone] = False
                bone = int(self.parents[bone])
        return free


class Placement(NamedTuple):
    """Where the normalised frame lies: world = scale * normalised + shift."""

    scale: float
    shift: np.ndarray  # (3,)


def build_rig(
    vertices: np.ndarray,
    triangles: np.ndarray,
    face_colours: np.ndarray,
    bones: tuple[str, ...],
    parents: np.ndarray,
    rest: np.ndarray,
    tails: np.ndarray,
    weights: np.ndarray,
    limits: np.ndarray | None = None,
    chosen: np.ndarray | None = None,
) -> Rig:
    """The checked rig; weights are normalised, bones sorted so that parents come first.

    Vertices that no bone moves follow the first root bone, as if they stood on the object.

    Args:
        weights: (n, j), any non-negative numbers.
        limits: None for no limits.
        chosen: None lets every bone move that moves some vertex.

    Raises:
        InputError: There is no mesh, no bone or no weight, or a bone's rest pose is not rigid.
    """
    if len(triangles) == 0 or len(vertices) == 0:
        raise InputError("the rig has no mesh", hint="parent a mesh to the armature with weights")
    if not len(bones):
        raise InputError("the armature has no bones", hint="give an armature with bones")
    if len(bones) > MOST_BONES:
        raise InputError(
            f"the armature has {len(bones)} bones, more than {MOST_BONES}",
            hint="give the deform skeleton alone",
        )
    if not np.isfinite(vertices).all():
        raise InputError("some vertices are not finite numbers", hint="clean the mesh up")
    weights = np.nan_to_num(np.maximum(weights, 0.0)).astype(np.float64)
    totals = weights.sum(axis=1, keepdims=True)
    if not (totals > 0).any():
        raise InputError(
            "no vertex has a weight for any bone",
            hint="bind the mesh, in Blender with Parent > With Automatic Weights",
        )
    order = _parents_first(np.asarray(parents, dtype=np.int64))
    place = np.argsort(order)
    parents = np.array([-1 if p < 0 else place[p] for p in np.asarray(parents)[order]])
    weights = np.where(totals > 0, weights / np.maximum(totals, 1e-30), 0.0)[:, order]
    weights[totals[:, 0] <= 0, 0] = 1.0
    rest = np.asarray(rest, dtype=np.float64)[order]
    _check_rigid(rest, [bones[index] for index in order])
    count = len(bones)
    deform = np.asarray((weights > 1e-4).any(axis=0))
    limits = np.full((count, 3, 2), np.nan) if limits is None else np.asarray(limits)[order]
    chosen = deform if chosen is None else np.asarray(chosen, dtype=bool)[order]
    return Rig(
        np.asarray(vertices, dtype=np.float64),
        np.asarray(triangles, dtype=np.int64),
        np.clip(np.asarray(face_colours, dtype=np.float64), 0.0, 1.0),
        tuple(bones[index] for index in order),
        parents.astype(np.int64),
        rest,
        np.asarray(tails, dtype=np.float64)[order],
        weights.astype(np.float32),
        deform,
        limits.astype(np.float64),
        chosen,
    )


def _parents_first(parents: np.ndarray) -> np.ndarray:
    """Order of the bones in which every parent comes before its children."""
    order: list[int] = []
    waiting = [bone for bone, parent in enumerate(parents) if parent < 0]
    while waiting:
        bone = waiting.pop(0)
        order.append(bone)
        waiting += [child for child, parent in enumerate(parents) if parent == bone]
    if len(order) != len(parents):
        raise InputError("the bones form a ring", hint="give bones that form a tree")
    return np.array(order)


def _check_rigid(rest: np.ndarray, names: list[str]) -> None:
    rotations = rest[:, :3, :3]
    errors = np.abs(rotations @ rotations.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    bad = (errors > _RIGID) | (np.linalg.det(rotations) < 0) | ~np.isfinite(rest).all(axis=(1, 2))
    if bad.any():
        raise InputError(
            f"bone {names[int(np.argmax(bad))]} is scaled unevenly, sheared or mirrored at rest",
            hint="apply the armature's scale, in Blender with Object > Apply > Scale",
        )


def choose(rig: Rig, names: tuple[str, ...]) -> Rig:
    """The rig with only the named bones free to move; no names leave it as it is."""
    if not names:
        return rig
    unknown = [name for name in names if name not in rig.bones]
    if unknown:
        raise InputError(
            f"the armature has no bone {', '.join(unknown)}",
            hint=f"its bones are {', '.join(rig.bones[:40])}",
        )
    return rig._replace(chosen=np.array([name in names for name in rig.bones]))


def normalise(rig: Rig) -> tuple[Rig, Placement]:
    """The rig with its middle above the origin, its lowest point at height 0, and radius 1.

    The radius is that of the bounding box's circumscribed sphere.
    """
    low, high = rig.vertices.min(axis=0), rig.vertices.max(axis=0)
    scale = float(np.linalg.norm(high - low)) / 2
    if scale == 0.0:
        raise InputError("the mesh is a single point", hint="give a mesh that has a size")
    shift = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
    rest = rig.rest.copy()
    rest[:, :3, 3] = (rest[:, :3, 3] - shift) / scale
    moved = rig._replace(
        vertices=(rig.vertices - shift) / scale, rest=rest, tails=(rig.tails - shift) / scale
    )
    return moved, Placement(scale, shift)


def save_rig(path: Path, rig: Rig) -> None:
    """Write the rig as compressed npz, all or nothing; weights as (vertex, bone, value) rows."""
    vertex, bone = np.nonzero(rig.weights)
    arrays = rig._asdict()
    del arrays["weights"]
    arrays["bones"] = np.array(rig.bones, dtype=np.str_)
    arrays["weight_vertices"] = vertex.astype(np.int32)
    arrays["weight_bones"] = bone.astype(np.int32)
    arrays["weight_values"] = rig.weights[vertex, bone]
    aside = path.with_name(f".{path.name}.partial")
    with aside.open("wb") as stream:
        np.savez_compressed(stream, **arrays)
    os.replace(aside, path)


def load_rig(path: Path) -> Rig:
    """The rig that `save_rig` wrote.

    Raises:
        InputError: The file is missing or is not such a file.
    """
    try:
        with np.load(path, allow_pickle=False) as data:
            fields = {name: data[name] for name in Rig._fields if name != "weights"}
            weights = np.zeros((len(fields["vertices"]), len(fields["bones"])), dtype=np.float32)
            weights[data["weight_vertices"], data["weight_bones"]] = data["weight_values"]
    except (OSError, KeyError, ValueError, IndexError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(
            f"{path} cannot be read as a rig ({error})", hint="read the rigged asset again"
        ) from error
    fields["bones"] = tuple(str(name) for name in fields["bones"])
    return Rig(weights=weights, **fields)
