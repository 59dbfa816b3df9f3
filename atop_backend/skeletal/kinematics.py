"""Forward kinematics of a skeleton and linear blend skinning, in torch.

A bone's rotation is relative to its rest pose and in its own axes, as Blender's pose bones have
it; root motion is a rigid motion of the whole armature in the world, applied after the pose.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.geometry.rigs import Rig


class Skeleton(NamedTuple):
    """The bone tree as tensors."""

    parents: tuple[int, ...]  # before their children, -1 for a root
    rest: Float[Tensor, "j 4 4"]  # bone_to_world
    rest_inverse: Float[Tensor, "j 4 4"]
    rest_local: Float[Tensor, "j 4 4"]  # bone_to_parent; bone_to_world of a root


class Pose(NamedTuple):
    """Rotations of all bones and the motion of the whole, frame by frame."""

    rotations: Float[Tensor, "frames j 3 3"]  # of the bone in its rest axes
    root_rotations: Float[Tensor, "frames 3 3"]  # p -> R p + t in the world
    root_shifts: Float[Tensor, "frames 3"]


def skeleton_of(rig: Rig, dtype: torch.dtype = torch.float32) -> Skeleton:
    """The rig's skeleton."""
    inverse = np.linalg.inv(rig.rest)
    local = rig.rest.copy()
    for bone, parent in enumerate(rig.parents):
        if parent >= 0:
            local[bone] = inverse[parent] @ rig.rest[bone]

    def tensor(array: np.ndarray) -> Tensor:
        return torch.as_tensor(array, dtype=dtype)

    return Skeleton(
        tuple(int(parent) for parent in rig.parents), tensor(rig.rest), tensor(inverse),
        tensor(local),
    )  # fmt: skip


def rest_pose(frames: int, bones: int, dtype: torch.dtype = torch.float32) -> Pose:
    """No motion."""
    return Pose(
        torch.eye(3, dtype=dtype).expand(frames, bones, 3, 3),
        torch.eye(3, dtype=dtype).expand(frames, 3, 3),
        torch.zeros(frames, 3, dtype=dtype),
    )


def bone_matrices(skeleton: Skeleton, pose: Pose) -> Float[Tensor, "frames j 4 4"]:
    """bone_to_world of every bone in every frame."""
    turned = skeleton.rest_local[:, :3, :3] @ pose.rotations
    heads = skeleton.rest_local[:, :3, 3].expand(*turned.shape[:2], 3)
    local = affine(turned, heads)
    root = affine(pose.root_rotations, pose.root_shifts)
    posed: list[Tensor] = []
    for bone, parent in enumerate(skeleton.parents):
        posed.append((root if parent < 0 else posed[parent]) @ local[:, bone])
    return torch.stack(posed, dim=1)


def affine(
    linear: Float[Tensor, "*lead 3 3"], shifts: Float[Tensor, "*lead 3"]
) -> Float[Tensor, "*lead 4 4"]:
    """Homogeneous matrices of x -> linear x + shift."""
    upper = torch.cat([linear, shifts[..., None]], dim=-1)
    lower = torch.zeros_like(upper[..., :1, :])
    lower[..., 3] = 1
    return torch.cat([upper, lower], dim=-2)


def rest_to_posed(skeleton: Skeleton, pose: Pose) -> Float[Tensor, "frames j 4 4"]:
    """Where each bone takes the points that hang on it."""
    return bone_matrices(skeleton, pose) @ skeleton.rest_inverse


def bind(points: Float[Tensor, "n 3"], weights: Float[Tensor, "n j"]) -> Float[Tensor, "n j 4"]:
    """Points as `skin` takes them: homogeneous, once for each bone, times its weight.

    Skinning is linear in these, so any weighted sum of bound points (a place on a triangle) is
    a bound point too.
    """
    homogeneous = torch.cat([points, torch.ones_like(points[:, :1])], dim=1)
    return weights[:, :, None] * homogeneous[:, None, :]


def skin(
    matrices: Float[Tensor, "frames j 4 4"], bound: Float[Tensor, "n j 4"]
) -> Float[Tensor, "frames n 3"]:
    """Linear blend skinning: the weighted sum of where each bone takes each point."""
    moving = matrices[:, :, :3].permute(0, 2, 1, 3).flatten(2)  # (frames, 3, j * 4)
    return (moving @ bound.flatten(1).T).mT


def skin_vertices(rig: Rig, matrices: Float[Tensor, "frames j 4 4"], chunk: int = 4096
                  ) -> Float[Tensor, "frames n 3"]:  # fmt: skip
    """The whole mesh in every frame, some vertices at a time to bound the memory."""
    vertices = torch.as_tensor(rig.vertices, dtype=matrices.dtype)
    weights = torch.as_tensor(rig.weights, dtype=matrices.dtype)
    parts = [
        skin(matrices, bind(vertices[start : start + chunk], weights[start : start + chunk]))
        for start in range(0, len(vertices), chunk)
    ]
    return torch.cat(parts, dim=1)


def pose_of(rig: Rig, matrices: Float[Tensor, "frames j 4 4"]) -> Pose:
    """The pose nearest to given rest_to_posed matrices; stretch and shift of bones is dropped.

    The carrier's motion is taken as root motion; bones that are not free stay at rest.
    """
    skeleton = skeleton_of(rig, matrices.dtype)
    posed = matrices @ skeleton.rest
    carrier = matrices[:, rig.carrier]
    root_rotations = nearest_rotations(carrier[:, :3, :3])
    head = skeleton.rest[rig.carrier, :3, 3]
    shifts = posed[:, rig.carrier, :3, 3] - root_rotations @ head
    rotations = rest_pose(len(matrices), len(rig.bones), matrices.dtype).rotations.clone()
    free, above = rig.free(), {-1: root_rotations}  # world rotation of the bones so far
    for bone, parent in enumerate(skeleton.parents):
        still = above[parent] @ skeleton.rest_local[bone, :3, :3]
        above[bone] = nearest_rotations(posed[:, bone, :3, :3]) if free[bone] else still
        rotations[:, bone] = still.mT @ above[bone]
    return Pose(rotations, root_rotations, shifts)


def nearest_rotations(matrices: Float[Tensor, "*lead 3 3"]) -> Float[Tensor, "*lead 3 3"]:
    """The rotations nearest to matrices (orthogonal Procrustes)."""
    left, _, right = torch.linalg.svd(matrices)
    signs = torch.ones_like(matrices[..., 0])
    signs[..., 2] = torch.linalg.det(left @ right)
    return (left * signs[..., None, :]) @ right
