"""Latent channels of a clip, and generated clips as the fit reads them."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

COLOUR = slice(0, 4)
SILHOUETTE = slice(4, 5)
MOTION = slice(5, 8)
CHANNELS = 8

# Brings mean and spread of the channels near those of the noise.
SILHOUETTE_GAIN, SILHOUETTE_SHIFT = 3.0, 0.3
MOTION_GAIN = 1.0


class GeneratedClip(NamedTuple):
    """Samples of one clip, in natural units."""

    latents: Float[Tensor, "samples views frames 4 latent latent"]
    silhouettes: Float[Tensor, "samples views frames latent latent"] | None  # area share in [0, 1]
    motions: Float[Tensor, "samples views frames 3 latent latent"] | None  # normalised displacement
    frames: Float[Tensor, " frames"]


def most_typical(clip: GeneratedClip) -> int:
    """The sample whose outlines are nearest to those of all others; the first where none are."""
    if clip.silhouettes is None:
        return 0
    outlines = clip.silhouettes.flatten(1)
    return int(torch.cdist(outlines, outlines, p=1).sum(dim=1).argmin())


def pack(
    latents: Float[Tensor, "*lead 4 latent latent"],
    silhouettes: Float[Tensor, "*lead 1 latent latent"],
    motions: Float[Tensor, "*lead 3 latent latent"],
) -> Float[Tensor, "*lead 8 latent latent"]:
    """Channels for the denoiser; `motions` is in units of the part's radius."""
    return torch.cat(
        [
            latents,
            silhouettes * SILHOUETTE_GAIN - SILHOUETTE_SHIFT,
            motions * MOTION_GAIN,
        ],
        dim=-3,
    )


def unpack(
    channels: Float[Tensor, "samples views frames 8 latent latent"],
    frames: Float[Tensor, " frames"],
    part_radius: float,
) -> GeneratedClip:
    """Channels of samples of one clip in natural units; the inverse of `pack`."""
    silhouettes = (channels[..., SILHOUETTE, :, :] + SILHOUETTE_SHIFT) / SILHOUETTE_GAIN
    return GeneratedClip(
        latents=channels[..., COLOUR, :, :],
        silhouettes=silhouettes.squeeze(-3).clamp(0, 1),
        motions=channels[..., MOTION, :, :] / MOTION_GAIN * part_radius,
        frames=frames,
    )
