"""Gaussian splatting without kernels, in dense torch: what gsplat's `rasterization` computes.

EWA splatting (Zwicker et al. 2001) as in 3D Gaussian Splatting: each Gaussian is projected to a
Gaussian in the picture, then laid over those behind it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

LEAST_ALPHA, MOST_ALPHA = 1 / 255, 0.999  # gsplat's own


def rasterization(
    *, means: Tensor, quats: Tensor, scales: Tensor, opacities: Tensor, colors: Tensor,
    viewmats: Tensor, Ks: Tensor, width: int, height: int, near_plane: float, eps2d: float,
    packed: bool,
) -> tuple[Tensor, Tensor, dict[str, Any]]:  # fmt: skip
    """Pictures (1, height, width, channels), covers (1, height, width, 1); round Gaussians only."""
    assert torch.equal(quats, torch.tensor([1.0, 0, 0, 0]).expand_as(quats))
    assert not packed
    seen = means @ viewmats[0, :3, :3].T + viewmats[0, :3, 3]
    x, y, z = seen.unbind(1)
    focal = Ks[0, 0, 0]
    zero = torch.zeros_like(z)
    rows = [focal / z, zero, -focal * x / z**2, zero, focal / z, -focal * y / z**2]
    jacobians = torch.stack(rows, dim=1).unflatten(1, (2, 3))
    covariances = scales[:, :1, None] ** 2 * jacobians @ jacobians.mT + eps2d * torch.eye(2)
    places = torch.stack([focal * x / z + Ks[0, 0, 2], focal * y / z + Ks[0, 1, 2]], dim=1)
    across, down = torch.meshgrid(torch.arange(width) + 0.5, torch.arange(height) + 0.5,
                                  indexing="xy")  # fmt: skip
    offsets = torch.stack([across, down], dim=-1).reshape(-1, 1, 2) - places
    squares = torch.einsum("pni,nij,pnj->pn", offsets, covariances.inverse(), offsets)
    alphas = (opacities * torch.exp(-0.5 * squares)).clamp_max(MOST_ALPHA)
    alphas = alphas * (alphas >= LEAST_ALPHA) * (z > near_plane)
    order = z.argsort()
    alphas = alphas[:, order]
    passed = torch.cumprod(1 - alphas, dim=1)
    weights = alphas * torch.cat([torch.ones_like(passed[:, :1]), passed[:, :-1]], dim=1)
    picture = (weights @ colors[order]).reshape(1, height, width, -1)
    return picture, weights.sum(dim=1).reshape(1, height, width, 1), {}
