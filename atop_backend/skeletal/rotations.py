"""Rotations as vectors (axis times angle), matrices, quaternions and Euler angles, in torch."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

_SMALL = 1e-6  # squared angle below which series replace quotients


def cross_matrices(vectors: Float[Tensor, "*lead 3"]) -> Float[Tensor, "*lead 3 3"]:
    """The matrices by which a product is the cross product with each vector."""
    x, y, z = vectors.unbind(-1)
    zero = torch.zeros_like(x)
    rows = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], dim=-1)
    return rows.unflatten(-1, (3, 3))


def vectors_to_matrices(vectors: Float[Tensor, "*lead 3"]) -> Float[Tensor, "*lead 3 3"]:
    """The exponential map (Rodrigues), with gradients that stay finite at no rotation."""
    squares = vectors.square().sum(dim=-1)
    small = squares < _SMALL
    safe = torch.where(small, torch.ones_like(squares), squares)
    angles = safe.sqrt()
    first = torch.where(small, 1 - squares / 6, angles.sin() / angles)[..., None, None]
    second = torch.where(small, 0.5 - squares / 24, (1 - angles.cos()) / safe)[..., None, None]
    cross = cross_matrices(vectors)
    identity = torch.eye(3, dtype=vectors.dtype, device=vectors.device)
    return identity + first * cross + second * (cross @ cross)


def matrices_to_quaternions(matrices: Float[Tensor, "*lead 3 3"]) -> Float[Tensor, "*lead 4"]:
    """Unit quaternions wxyz with w >= 0, from the largest of the four ways to compute them."""
    m = matrices
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    fours = torch.stack(
        [1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], dim=-1
    )
    yz, zx, xy = (
        m[..., 2, 1] - m[..., 1, 2],
        m[..., 0, 2] - m[..., 2, 0],
        m[..., 1, 0] - m[..., 0, 1],
    )
    xy_, zx_, yz_ = (
        m[..., 1, 0] + m[..., 0, 1],
        m[..., 0, 2] + m[..., 2, 0],
        m[..., 2, 1] + m[..., 1, 2],
    )
    ways = torch.stack(
        [
            torch.stack([fours[..., 0], yz, zx, xy], dim=-1),
            torch.stack([yz, fours[..., 1], xy_, zx_], dim=-1),
            torch.stack([zx, xy_, fours[..., 2], yz_], dim=-1),
            torch.stack([xy, zx_, yz_, fours[..., 3]], dim=-1),
        ],
        dim=-2,
    )
    best = fours.argmax(dim=-1)[..., None, None].expand(*fours.shape[:-1], 1, 4)
    chosen = torch.nn.functional.normalize(ways.gather(-2, best).squeeze(-2), dim=-1)
    return torch.where(chosen[..., :1] < 0, -chosen, chosen)


def matrices_to_vectors(matrices: Float[Tensor, "*lead 3 3"]) -> Float[Tensor, "*lead 3"]:
    """Rotation vectors of at most half a turn."""
    quaternions = matrices_to_quaternions(matrices)
    sines = quaternions[..., 1:].norm(dim=-1, keepdim=True)
    angles = 2 * torch.atan2(sines, quaternions[..., :1])
    factors = torch.where(sines < 1e-9, torch.full_like(sines, 2), angles / sines.clamp_min(1e-30))
    return factors * quaternions[..., 1:]


def angles_between(
    first: Float[Tensor, "*lead 3 3"], second: Float[Tensor, "*lead 3 3"]
) -> Float[Tensor, "*lead"]:
    """The angle of the turn from one rotation to the other, radians."""
    return matrices_to_vectors(first.mT @ second).norm(dim=-1)


def matrices_to_euler(matrices: Float[Tensor, "*lead 3 3"]) -> Float[Tensor, "*lead 3"]:
    """Blender's XYZ Euler angles: the matrix is Rz(z) Ry(y) Rx(x), y within a quarter turn."""
    m = matrices
    sine = (-m[..., 2, 0]).clamp(-1 + 1e-6, 1 - 1e-6)  # keeps the gradient finite
    return torch.stack(
        [
            torch.atan2(m[..., 2, 1], m[..., 2, 2]),
            torch.asin(sine),
            torch.atan2(m[..., 1, 0], m[..., 0, 0]),
        ],
        dim=-1,
    )


def continuous(quaternions: Float[Tensor, "frames *lead 4"]) -> Float[Tensor, "frames *lead 4"]:
    """The same rotations with signs by which neighbouring frames are near, for keyframes."""
    result = [quaternions[0]]
    for following in quaternions[1:]:
        turned = (following * result[-1]).sum(dim=-1, keepdim=True) < 0
        result.append(torch.where(turned, -following, following))
    return torch.stack(result)
