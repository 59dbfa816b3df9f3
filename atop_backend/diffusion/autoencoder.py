"""The bundled model's own small autoencoder: 256 x 256 pictures to 4 x 32 x 32 latents and back.

The paper uses Stable Diffusion's (83.65 M parameters); this one (2.4 M) runs in milliseconds on a
CPU and is trained on the same generated pictures as the denoiser.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class ResidualBlock(nn.Module):
    """Two 3 x 3 convolutions around a skip, statistics per picture."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(8, channels)
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(F.silu(self.first(F.silu(self.norm(x)))))


class Autoencoder(nn.Module):
    """Convolutional autoencoder whose latents have about zero mean and unit spread.

    Args:
        fine: Channels at a quarter of the picture's size.
        coarse: Channels at an eighth of it.
    """

    latent_shift: Tensor
    latent_scale: Tensor

    def __init__(self, fine: int = 64, coarse: int = 128) -> None:
        super().__init__()
        self.config = {"fine": fine, "coarse": coarse}
        self.encoder = nn.Sequential(
            nn.PixelUnshuffle(4),
            nn.Conv2d(48, fine, 3, padding=1),
            ResidualBlock(fine),
            nn.Conv2d(fine, coarse, 3, stride=2, padding=1),
            ResidualBlock(coarse),
            ResidualBlock(coarse),
            nn.Conv2d(coarse, 4, 3, padding=1),
        )
        self.decoder = nn.Sequential(
            nn.Conv2d(4, coarse, 3, padding=1),
            ResidualBlock(coarse),
            ResidualBlock(coarse),
            ResidualBlock(coarse),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(coarse, fine, 3, padding=1),
            ResidualBlock(fine),
            ResidualBlock(fine),
            ResidualBlock(fine),
            nn.Conv2d(fine, 48, 3, padding=1),
            nn.PixelShuffle(4),
        )
        self.register_buffer("latent_shift", torch.zeros(4, 1, 1))
        self.register_buffer("latent_scale", torch.ones(4, 1, 1))

    def encode(
        self, rgb: Float[Tensor, "*lead 3 size size"]
    ) -> Float[Tensor, "*lead 4 latent latent"]:
        """Scaled latents of pictures with display values in [0, 1]."""
        lead = rgb.shape[:-3]
        raw = self.encoder(rgb.flatten(0, -4) * 2 - 1)
        return ((raw - self.latent_shift) / self.latent_scale).unflatten(0, lead)

    def decode(
        self, latents: Float[Tensor, "*lead 4 latent latent"]
    ) -> Float[Tensor, "*lead 3 size size"]:
        """Pictures of scaled latents, not clamped."""
        lead = latents.shape[:-3]
        raw = latents.flatten(0, -4) * self.latent_scale + self.latent_shift
        return (self.decoder(raw) * 0.5 + 0.5).unflatten(0, lead)
