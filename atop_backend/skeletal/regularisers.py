"""What a good motion is, whatever guides it. Each term is off where its weight is 0.

Lengths in radii of the body, angles in radians, times in frames.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from atop_backend.skeletal.rotations import matrices_to_euler

CONTACT_HEIGHT = 0.03  # radii; what is lower stands on the ground


def roughness(values: Float[Tensor, "frames *rest"]) -> Float[Tensor, ""]:
    """Mean square of the temporal Laplacian."""
    if len(values) < 3:
        return values.new_zeros(())
    return (values[:-2] - 2 * values[1:-1] + values[2:]).square().sum(dim=-1).mean()


def penetration(points: Float[Tensor, "frames n 3"]) -> Float[Tensor, ""]:
    """Mean square of how deep points are below the ground, over the points that are."""
    depths = (-points[..., 2]).clamp_min(0)
    below = (depths.detach() > 0).sum(dim=1).clamp_min(1)
    return (depths.square().sum(dim=1) / below).mean()


def sliding(points: Float[Tensor, "frames n 3"]) -> Float[Tensor, ""]:
    """Mean square of how far points on the ground move along it between frames."""
    low = torch.maximum(points[:-1, :, 2], points[1:, :, 2]).detach()
    contact = ((CONTACT_HEIGHT - low) / CONTACT_HEIGHT).clamp(0, 1)
    steps = (points[1:, :, :2] - points[:-1, :, :2]).square().sum(dim=-1)
    return (contact * steps).sum() / contact.sum().clamp_min(1)


def beyond_limits(
    rotations: Float[Tensor, "frames j 3 3"],
    limits: Float[Tensor, "j 3 2"],
    limited: Bool[Tensor, "j 3"],
) -> Float[Tensor, "frames j 3"]:
    """How far each Euler angle is beyond its limits, radians; 0 where there are none.

    Args:
        limits: Lower and upper XYZ angles; anything where not `limited`.
    """
    angles = matrices_to_euler(rotations)
    below = (limits[..., 0] - angles).clamp_min(0)
    above = (angles - limits[..., 1]).clamp_min(0)
    return torch.where(limited, below + above, torch.zeros_like(angles))
