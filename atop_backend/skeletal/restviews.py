"""Four views of a rigged character at rest, and the bound point that each patch of them shows.

The rig prior tells where the surface seen by each patch goes. Skinning is linear in bound points
(`kinematics.bind`), so a patch moves exactly as the mean of the bound points under its pixels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from atop_backend.errors import InputError
from atop_backend.geometry import cameras
from atop_backend.geometry.rigs import Rig
from atop_backend.preview import draw_mesh

PATCH_PX = 8  # side of a patch of the views, one latent pixel
BACKGROUND = 0.75  # display value, as the network was trained with
ELEVATION_DEG = 18.0


class RestViews(NamedTuple):
    """What the four cameras see of a character at rest, in the cameras' normalised frame."""

    rgb: Float[Tensor, "views 3 size size"]
    mask: Bool[Tensor, "views 1 size size"]
    positions: Float[Tensor, "views 3 size size"]  # 0 on the background
    cameras: Float[Tensor, "views 16"]
    bound: Float[Tensor, "views j 4 latent latent"]  # mean bound points of the patches
    scale: float  # the frame of the rig = scale * that of the cameras + shift
    shift: Float[Tensor, " 3"]


def rest_views(rig: Rig) -> RestViews:
    """The views of a rig.

    Raises:
        InputError: Nothing of it is seen.
    """
    low, high = rig.vertices.min(axis=0), rig.vertices.max(axis=0)
    shift = (low + high) / 2
    scale = float(np.linalg.norm(rig.vertices - shift, axis=1).max())
    vertices = (rig.vertices - shift) / scale
    views = cameras.rig(math.radians(ELEVATION_DEG))
    corners = vertices[rig.triangles]
    drawn = [draw_mesh(view, vertices, rig.triangles, rig.face_colours) for view in views]
    seen = [drawing.faces for drawing in drawn]
    if not any((faces >= 0).any() for faces in seen):
        raise InputError("nothing of the mesh is seen", hint="give a mesh with faces")
    positions = np.stack([
        cameras.seen_positions(view, faces, vertices, rig.triangles)
        for view, faces in zip(views, seen, strict=True)
    ])  # fmt: skip
    faces = torch.as_tensor(np.stack(seen))
    mask = faces[:, None] >= 0
    rgb = torch.as_tensor(np.stack([drawing.rgb for drawing in drawn]), dtype=torch.float32)
    points = torch.as_tensor(positions, dtype=torch.float32).permute(0, 3, 1, 2)
    bound = bound_patches(
        faces[None],
        points[None],
        torch.as_tensor(corners, dtype=torch.float32)[None],
        torch.as_tensor(rig.weights[rig.triangles], dtype=torch.float32)[None],
    )
    embeddings = torch.stack([torch.as_tensor(cameras.embedding(view)) for view in views])
    return RestViews(
        torch.where(mask, rgb.permute(0, 3, 1, 2), BACKGROUND), mask, points, embeddings.float(),
        bound[0], scale, torch.as_tensor(shift, dtype=torch.float32),
    )  # fmt: skip


def bound_patches(
    faces: Int[Tensor, "clips views size size"],
    positions: Float[Tensor, "clips views 3 size size"],
    corners: Float[Tensor, "clips triangles 3 3"],
    weights: Float[Tensor, "clips triangles 3 j"],
) -> Float[Tensor, "clips views j 4 latent latent"]:
    """Mean bound point of the pixels of each patch that see the mesh; 0 where none does.

    Args:
        faces: Triangle that each pixel sees, -1 for none.
        positions: Point that it sees.
        weights: Of the triangles' corners.
    """
    clips, views, size, _ = faces.shape
    side, bones = size // PATCH_PX, weights.shape[-1]
    found = []
    for clip in range(clips):  # one at a time to bound the memory
        view, row, column = torch.nonzero(faces[clip] >= 0, as_tuple=True)
        face = faces[clip][view, row, column].long()
        points = positions[clip][view, :, row, column]
        shares = _barycentric(points, corners[clip][face])
        own = (shares[:, :, None] * weights[clip][face]).sum(dim=1)
        bound = own[:, :, None] * torch.cat([points, torch.ones_like(points[:, :1])], 1)[:, None]
        patch = (view * side + row // PATCH_PX) * side + column // PATCH_PX
        sums = bound.new_zeros(views * side * side, bones * 4)
        sums.index_add_(0, patch, bound.flatten(1))
        counts = bound.new_zeros(len(sums), 1).index_add_(
            0, patch, torch.ones_like(bound[:, 0, :1])
        )
        means = (sums / counts.clamp_min(1)).view(views, side, side, bones, 4)
        found.append(means.permute(0, 3, 4, 1, 2))
    return torch.stack(found)


def _barycentric(
    points: Float[Tensor, "n 3"], corners: Float[Tensor, "n 3 3"]
) -> Float[Tensor, "n 3"]:
    """Shares of a triangle's corners in points of its plane, kept within the triangle."""
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    offset = points - corners[:, 0]
    normal = torch.linalg.cross(first, second)
    area = normal.square().sum(dim=1).clamp_min(1e-20)
    b = (torch.linalg.cross(offset, second) * normal).sum(dim=1) / area
    c = (torch.linalg.cross(first, offset) * normal).sum(dim=1) / area
    shares = torch.stack([1 - b - c, b, c], dim=1).clamp_min(0)
    return shares / shares.sum(dim=1, keepdim=True).clamp_min(1e-6)


def patch_motions(
    matrices: Float[Tensor, "*lead frames j 3 4"],
    bound: Float[Tensor, "*lead views j 4 latent latent"],
) -> Float[Tensor, "*lead views frames 3 latent latent"]:
    """How far each patch's point goes from where it rests, when bones take it along."""
    still = torch.eye(4, device=matrices.device, dtype=matrices.dtype)[:3]
    moving = (matrices - still).transpose(-3, -2).flatten(-2)  # (frames, 3, j * 4)
    places = bound.flatten(-4, -3).flatten(-2)  # (views, j * 4, places)
    motions = moving.flatten(-3, -2).unsqueeze(-3) @ places  # (views, frames * 3, places)
    side = bound.shape[-1]
    return motions.unflatten(-1, (side, side)).unflatten(-3, (-1, 3))
