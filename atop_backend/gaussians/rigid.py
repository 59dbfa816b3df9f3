"""Rigid motions of point sets: the nearest one to given places, and one that can be optimised."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Rigid(NamedTuple):
    """A rotation about a centre and then a shift, one a frame."""

    rotations: Float[Tensor, "frames 3 3"]  # act on column vectors
    shifts: Float[Tensor, "frames 3"]
    centre: Float[Tensor, " 3"]

    def place(self, points: Float[Tensor, "n 3"]) -> Float[Tensor, "frames n 3"]:
        """Where points at rest are in each frame."""
        turned = torch.einsum("fij,nj->fni", self.rotations, points - self.centre)
        return turned + (self.centre + self.shifts)[:, None]

    def turned(
        self, axis_angles: Float[Tensor, "frames 3"], shifts: Float[Tensor, "frames 3"]
    ) -> Rigid:
        """This motion, then small rotations about the moved centre and small shifts."""
        x, y, z = axis_angles.unbind(dim=1)
        zero = torch.zeros_like(x)
        rows = [torch.stack(r, dim=1) for r in ((zero, -z, y), (z, zero, -x), (-y, x, zero))]
        turns = torch.linalg.matrix_exp(torch.stack(rows, dim=1))
        return Rigid(turns @ self.rotations, self.shifts + shifts, self.centre)


def at_rest(points: Float[Tensor, "n 3"], frames: int) -> Rigid:
    """No motion, about the middle of the points."""
    rotations = torch.eye(3, dtype=points.dtype, device=points.device).repeat(frames, 1, 1)
    return Rigid(rotations, points.new_zeros(frames, 3), points.mean(dim=0))


@torch.no_grad()
def best_rigid(
    points: Float[Tensor, "n 3"],
    goals: Float[Tensor, "frames n 3"],
    weights: Float[Tensor, " n"],
) -> Rigid:
    """The rigid motion with the least weighted squared distance to the goals (Kabsch)."""
    shares = (weights / weights.sum())[:, None]
    centre, middles = (shares * points).sum(dim=0), (shares * goals).sum(dim=1)
    spread = torch.einsum("ni,fnj->fij", shares * (points - centre), goals - middles[:, None])
    left, _, right = torch.linalg.svd(spread)
    signs = torch.ones(len(goals), 3, dtype=points.dtype, device=points.device)
    signs[:, 2] = torch.linalg.det(left @ right).sign()  # a rotation, not a reflection
    rotations = ((left * signs[:, None]) @ right).transpose(1, 2)
    return Rigid(rotations, middles - centre, centre)
