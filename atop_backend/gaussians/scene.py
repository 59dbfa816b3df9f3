"""Renders of a cloud as a denoiser sees clips: all its channels, all views, all moved frames."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from atop_backend.contracts import Camera
from atop_backend.diffusion.clips import COLOUR, SILHOUETTE, pack
from atop_backend.diffusion.conditions import Conditions
from atop_backend.gaussians.cloud import GaussianCloud, fit_features
from atop_backend.gaussians.render import (
    PAPER_ORDER,
    Blend,
    Layer,
    Rays,
    accumulate,
    blending_matrix,
    latent_rays,
    object_scale,
    render_frames,
)


class Scene(NamedTuple):
    """What stays the same while the part moves."""

    views: tuple[Rays, ...]
    blend: Blend
    backdrops: tuple[Layer, ...]  # the static Gaussians
    background: Float[Tensor, 5]  # latent of blank picture, and no silhouette
    leftovers: Float[Tensor, "views 1 4 height width"]  # of the rest views, beyond the cloud
    mask: Float[Tensor, "views 1 height width"]  # share of the part in each pixel at rest
    tracks: Float[Tensor, "views pixels n_part"]  # share of each Gaussian in what is seen of it
    part_radius: Float[Tensor, ""]
    rest_latents: Float[Tensor, "views 4 height width"]
    channels: int

    def reach(
        self, clip: Float[Tensor, "views frames channels height width"]
    ) -> Bool[Tensor, "views frames height width"]:
        """Where the part is at rest or in the clip, and one pixel around that."""
        if self.channels > 4:
            moved = clip[:, :, SILHOUETTE.start] > 0.6
        else:
            change = clip[:, :, COLOUR] - self.rest_latents[:, None]
            moved = change.norm(dim=2) > 1.0
        places = (moved | (self.mask > 0.2)).float()
        return F.max_pool2d(places, 3, stride=1, padding=1) > 0


def prepare(
    cloud: GaussianCloud,
    cameras: tuple[Camera, ...],
    conditions: Conditions,
    channels: int,
    paper_betas: bool,
) -> tuple[GaussianCloud, Scene]:
    """The cloud with features by which frame 0 shows the rest views, and its scene.

    Args:
        conditions: Of one clip.
        channels: Of the denoiser: 4 are colour latents, 8 the bundled model's (`clips.pack`).
    """
    rest_latents = conditions.rest_latents[0]
    size = rest_latents.shape[-1]
    views = tuple(
        latent_rays(camera, size, rest_latents.device, rest_latents.dtype) for camera in cameras
    )
    order = PAPER_ORDER if paper_betas else Blend()
    blend = order._replace(scale=object_scale(cloud.centres[0]))
    blank = _blank_latent(conditions)
    cloud = fit_features(cloud, rest_latents, views, blank, blend)
    outlined = torch.cat([cloud.features, cloud.moving[:, None].to(rest_latents)], dim=1)
    cloud = cloud._replace(features=outlined)
    background = torch.cat([blank, blank.new_zeros(1)])
    still, part = _values(cloud, ~cloud.moving), _values(cloud, cloud.moving)
    backdrops = tuple(accumulate(*still, view, blend) for view in views)
    mask = F.adaptive_avg_pool2d(conditions.mask[0], size)
    drawn = render_frames(
        part[0][None], *part[1:], views, background, blend, backdrops=backdrops
    ).transpose(2, 3)
    drawn = drawn.unflatten(3, (size, size))[:, :, :4]
    shares = torch.stack(
        [blending_matrix(part[0], part[1], part[2], view, blend) for view in views]
    )
    seen = (mask > 0).flatten(1)[:, :, None]
    return cloud, Scene(
        views=views,
        blend=blend,
        backdrops=backdrops,
        background=background,
        leftovers=(rest_latents[:, None] - drawn) * (1 - mask[:, None]),
        mask=mask,
        tracks=seen * shares / shares.sum(dim=2, keepdim=True).clamp_min(1e-12),
        part_radius=conditions.part_radius[0],
        rest_latents=rest_latents,
        channels=channels,
    )


def _values(cloud: GaussianCloud, chosen: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return (
        cloud.centres[0, chosen],
        cloud.factors[chosen],
        cloud.log_weights[chosen],
        cloud.features[chosen],
    )


def _blank_latent(conditions: Conditions) -> Float[Tensor, 4]:
    """The latent of the background: the median where no view sees the object."""
    latents = conditions.rest_latents[0]
    seen = (conditions.positions[0] != 0).any(dim=1, keepdim=True).to(latents)
    empty = F.adaptive_avg_pool2d(seen, latents.shape[-1])[:, 0] == 0
    if not empty.any():
        return latents.new_zeros(4)
    return latents.transpose(0, 1)[:, empty].median(dim=1).values


def render_clip(
    scene: Scene,
    cloud: GaussianCloud,
    part_centres: Float[Tensor, "frames n_part 3"],
    recompute: bool = False,
) -> Float[Tensor, "views frames channels height width"]:
    """The clip in which the part's Gaussians are at `part_centres`, as the denoiser's channels."""
    rest, factors, log_weights, features = _values(cloud, cloud.moving)
    size = scene.mask.shape[-1]
    pictures = render_frames(
        part_centres,
        factors,
        log_weights,
        features,
        scene.views,
        scene.background,
        scene.blend,
        scene.backdrops,
        recompute,
    )
    pictures = pictures.transpose(2, 3).unflatten(3, (size, size))
    colours = pictures[:, :, :4] + scene.leftovers
    if scene.channels == 4:
        return colours
    shifts = (part_centres - rest) / scene.part_radius
    motions = torch.einsum("vpn,fnc->vfcp", scene.tracks, shifts).unflatten(3, (size, size))
    return pack(colours, pictures[:, :, 4:], motions)
