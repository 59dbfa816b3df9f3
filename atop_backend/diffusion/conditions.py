"""What a denoiser is told: rest views, the part, the motion in words, cameras and frame times."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Conditions(NamedTuple):
    """Conditions of a batch of clips; the image prior ignores what it has no input for."""

    rgb: Float[Tensor, "batch views 3 size size"]  # rest views, display values in [0, 1]
    mask: Float[Tensor, "batch views 1 size size"]  # 1 where the moving part is seen
    positions: Float[Tensor, "batch views 3 size size"]  # point seen, normalised; 0 on background
    rest_latents: Float[Tensor, "batch views 4 latent latent"]  # scaled latents of the rest views
    cameras: Float[Tensor, "batch views 16"]  # geometry.cameras.embedding
    text: Float[Tensor, "batch tokens features"]
    frames: Float[Tensor, "batch frames"]  # share of the motion that is done, in (0, 1]
    part_centre: Float[Tensor, "batch 3"]  # bounding-box centre of the part, normalised
    part_radius: Float[Tensor, " batch"]  # largest distance of a part vertex from it

    def to(self, device: torch.device | str) -> Conditions:
        """The same conditions on another device."""
        return Conditions(*(value.to(device) for value in self))

    def repeat(self, count: int) -> Conditions:
        """Each entry `count` times in a row, for several samples of one clip."""
        return Conditions(*(value.repeat_interleave(count, dim=0) for value in self))


def drop_text(conditions: Conditions) -> Conditions:
    """The unconditional branch of classifier-free guidance: zeros in place of the words."""
    return conditions._replace(text=torch.zeros_like(conditions.text))
