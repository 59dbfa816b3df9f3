"""The variables of a motion: a rotation vector for each free bone and six numbers of the root.

They are given at control points; a cubic B-spline in time makes frames of them, or each frame has
its own. Rotations use the exponential map, root motion turns about the carrier's head.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.geometry.rigs import Rig
from atop_backend.skeletal.kinematics import Pose, Skeleton, skeleton_of
from atop_backend.skeletal.rotations import vectors_to_matrices


class Variables(NamedTuple):
    """What is optimised; rest pose where all are zero."""

    bones: Float[Tensor, "controls free 3"]  # rotation vectors in the bones' rest axes
    turns: Float[Tensor, "controls 3"]  # rotation vector of the whole, in the world
    shifts: Float[Tensor, "controls 3"]  # of the carrier's head


class Body(NamedTuple):
    """What does not change while a motion is sought."""

    skeleton: Skeleton
    free: tuple[int, ...]  # the bones with variables
    pivot: Float[Tensor, " 3"]  # head of the carrier at rest


def body_of(rig: Rig) -> Body:
    """The body of a rig."""
    pivot = torch.as_tensor(rig.rest[rig.carrier, :3, 3], dtype=torch.float32)
    return Body(skeleton_of(rig), tuple(map(int, np.flatnonzero(rig.free()))), pivot)


def at_rest(body: Body, controls: int) -> Variables:
    """Variables of no motion."""
    return Variables(
        torch.zeros(controls, len(body.free), 3), torch.zeros(controls, 3), torch.zeros(controls, 3)
    )


def pose(body: Body, variables: Variables, basis: Float[Tensor, "frames controls"]) -> Pose:
    """The pose in every frame."""
    vectors = torch.einsum("fk,kbc->fbc", basis, variables.bones)
    count = len(body.skeleton.parents)
    rotations = torch.eye(3).expand(len(basis), count, 3, 3).clone()
    rotations[:, list(body.free)] = vectors_to_matrices(vectors)
    turned = vectors_to_matrices(basis @ variables.turns)
    shifts = body.pivot + basis @ variables.shifts - turned @ body.pivot
    return Pose(rotations, turned, shifts)


def spline_basis(times: Float[Tensor, " frames"], controls: int, cyclic: bool = False
                 ) -> Float[Tensor, "frames controls"]:  # fmt: skip
    """Weights of the control points of a uniform cubic B-spline at times from 0 to 1.

    Args:
        controls: At least 4 (3 if cyclic, where time 1 is time 0 again).
    """
    spans = controls if cyclic else controls - 3
    places = times * spans
    first = places.floor().clamp(max=spans if cyclic else spans - 1)
    t = (places - first)[:, None]
    weights = torch.cat(
        [(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3], dim=1
    ) / 6  # fmt: skip
    columns = first.long()[:, None] + torch.arange(4)
    basis = torch.zeros(len(times), controls)
    return basis.scatter_add(1, columns % controls if cyclic else columns, weights)


def frame_basis(frames: int, cyclic: bool = False) -> Float[Tensor, "frames controls"]:
    """Every frame on its own; the last is the first again if cyclic."""
    basis = torch.eye(frames)
    return torch.cat([basis[:-1, :-1], basis[:1, :-1]]) if cyclic else basis


def convert(variables: Variables, old: Float[Tensor, "frames k"], new: Float[Tensor, "frames m"]
            ) -> Variables:  # fmt: skip
    """Variables of another basis whose values in the frames are nearest to the old ones."""
    change = torch.linalg.lstsq(new, old).solution if len(new) >= new.shape[1] else (
        torch.linalg.pinv(new) @ old)  # fmt: skip
    return Variables(
        torch.einsum("mk,kbc->mbc", change, variables.bones),
        change @ variables.turns,
        change @ variables.shifts,
    )
