"""ImageDream's image prompt: a few learned queries that read the hidden states of CLIP."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from atop_backend.diffusion.unet_blocks import attend


class _Reading(nn.Module):
    def __init__(self, width: int, heads: int, head_width: int) -> None:
        super().__init__()
        self.heads = heads
        inner = heads * head_width
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.to_q = nn.Linear(width, inner, bias=False)
        self.to_kv = nn.Linear(width, 2 * inner, bias=False)
        self.to_out = nn.Linear(inner, width, bias=False)

    def forward(self, picture: Tensor, latents: Tensor) -> Tensor:
        latents = self.norm2(latents)
        keys, values = self.to_kv(torch.cat([self.norm1(picture), latents], dim=1)).chunk(2, dim=2)
        return self.to_out(attend(self.to_q(latents), keys, values, self.heads))


class Resampler(nn.Module):
    """Image tokens for cross-attention.

    Args:
        features: Of CLIP's hidden states.
        width: Of the tokens, as of the words beside them.
        tokens: How many come out.
    """

    def __init__(
        self, features: int, width: int, tokens: int, heads: int, head_width: int, depth: int
    ) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.randn(1, tokens, width) / width**0.5)
        self.proj_in = nn.Linear(features, width)
        self.layers = nn.ModuleList(
            nn.ModuleList(
                [
                    _Reading(width, heads, head_width),
                    nn.Sequential(
                        nn.LayerNorm(width),
                        nn.Linear(width, 4 * width, bias=False),
                        nn.GELU(),
                        nn.Linear(4 * width, width, bias=False),
                    ),
                ]
            )
            for _ in range(depth)
        )
        self.proj_out = nn.Linear(width, width)
        self.norm_out = nn.LayerNorm(width)

    def forward(
        self, hidden: Float[Tensor, "pictures patches features"]
    ) -> Float[Tensor, "pictures tokens width"]:
        picture = self.proj_in(hidden)
        latents = self.latents.expand(len(hidden), -1, -1)
        for reading, perceptron in self.layers:  # type: ignore[misc]
            latents = latents + reading(picture, latents)
            latents = latents + perceptron(latents)
        return self.norm_out(self.proj_out(latents))
