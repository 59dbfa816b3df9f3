"""The cloud of Gaussians that stands for a shape in motion (paper 4.4).

Frame 0 is the rest pose. Static Gaussians stay where they are; the part's have a centre a frame.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from atop_backend.errors import InputError
from atop_backend.gaussians.render import Blend, Rays, blending_matrix

_SPACING_TO_SIGMA = 0.85  # closes the gaps between samples without smearing the surface
_CUTOFF_PIXELS = 0.5  # a thinner Gaussian would fall between rays


class GaussianCloud(NamedTuple):
    """Gaussians with a centre in every frame."""

    centres: Float[Tensor, "frames n 3"]  # frame 0 is the rest pose
    factors: Float[Tensor, " n"] | Float[Tensor, "n 3 3"]  # 1 / sigma, or precision = U U^T
    features: Float[Tensor, "n channels"]
    log_weights: Float[Tensor, " n"]
    moving: Bool[Tensor, " n"]

    def displacements(self) -> Float[Tensor, "moved n_moving 3"]:
        """How far each Gaussian of the part is from its rest place in each moved frame."""
        centres = self.centres[:, self.moving]
        return centres[1:] - centres[0]


def build_cloud(
    part_points: Float[Tensor, "n_part 3"],
    rest_points: Float[Tensor, "n_rest 3"],
    frames: int,
    pixel_size: float,
    channels: int = 4,
) -> GaussianCloud:
    """Gaussians at sampled surface points, all frames at rest, features 0.

    Args:
        frames: Frames of the clip, the rest frame included.
        pixel_size: Width of a rendered pixel at the object, the least sensible sigma is half.
    """
    if min(len(part_points), len(rest_points)) < 2:
        raise InputError(
            f"{len(part_points)} points lie on the part and {len(rest_points)} on the rest",
            hint="both need some surface",
        )
    points = torch.cat([part_points, rest_points])
    spacing = torch.cat([_mean_spacing(part_points), _mean_spacing(rest_points)])
    sigmas = (_SPACING_TO_SIGMA * spacing).clamp_min(_CUTOFF_PIXELS * pixel_size)
    moving = torch.zeros(len(points), dtype=torch.bool, device=points.device)
    moving[: len(part_points)] = True
    return GaussianCloud(
        centres=points.expand(frames, -1, -1).clone(),
        factors=1 / sigmas,
        features=points.new_zeros(len(points), channels),
        log_weights=points.new_zeros(len(points)),
        moving=moving,
    )


def _mean_spacing(points: Float[Tensor, "n 3"]) -> Float[Tensor, " n"]:
    """Mean distance to the nearest other point, once for every point."""
    distances = torch.cdist(points, points)
    distances.fill_diagonal_(torch.inf)
    return distances.amin(dim=1).mean().expand(len(points))


def fit_features(
    cloud: GaussianCloud,
    targets: Float[Tensor, "views channels height width"],
    views: tuple[Rays, ...],
    background: Float[Tensor, " channels"],
    blend: Blend,
    ridge: float = 1e-3,
) -> GaussianCloud:
    """The cloud with features by which frame 0 looks like `targets` from all views.

    Random features would give a score model nothing to recognise. What no view sees keeps the
    mean of what is seen.

    Args:
        ridge: Weight of staying near that mean, in pixels of full cover.
    """
    rest = cloud.centres[0]
    shares = torch.cat(
        [blending_matrix(rest, cloud.factors, cloud.log_weights, view, blend) for view in views]
    )
    wanted = targets.flatten(2).transpose(1, 2).flatten(0, 1)
    cover = shares.sum(dim=1, keepdim=True)
    wanted = wanted - (1 - cover) * background
    mean = (cover * wanted).sum(dim=0) / cover.square().sum().clamp_min(1e-12)
    normal = shares.T @ shares
    normal.diagonal().add_(ridge)
    offsets = torch.linalg.solve(normal, shares.T @ (wanted - cover * mean))
    return cloud._replace(features=mean + offsets)
