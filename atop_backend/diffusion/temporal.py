"""What the paper adds to the image model: attention over time, steered by the part's mask.

Every output starts at zero, so that before any training the video network answers exactly as the
image network does on each frame.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

TemporalMode = Literal["full", "first_frame_only", "first_frame_tokens"]

_FRAMES_OF_THE_PAPER = 9  # moved frames; spreads the encoding as whole frame numbers would


def frame_features(
    frames: Float[Tensor, "batch frames"], width: int
) -> Float[Tensor, "batch frames width"]:
    """Sinusoidal features of how far the motion is, from 0 (rest) to 1.

    Without them nothing in the network could tell an early frame from a late one.
    """
    half = width // 2
    rates = torch.exp(-math.log(10000.0) * torch.arange(half, device=frames.device) / half)
    angles = frames.float()[:, :, None] * _FRAMES_OF_THE_PAPER * rates
    return torch.cat([angles.sin(), angles.cos()], dim=2)


def _mask_net(width: int, channels: int) -> nn.Sequential:
    """Two convolutions, the second zero at first (the f and g of the paper)."""
    net = nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.SiLU(), nn.Conv2d(width, channels, 3, padding=1)
    )
    for parameter in net[2].parameters():
        nn.init.zeros_(parameter)
    return net


class TemporalBlock(nn.Module):
    """gamma * z + beta from the mask (Fig. 5), then attention over frames at each place (Eq. 6, 7).

    Args:
        mask_width: Channels between the two convolutions of the mask. The released code has as
            many as features, which makes up 82 % of all that it trains.
        mode: "full" lets each frame see all frames, as the released code does. "first_frame_only"
            is Eq. 7 to the letter: one key at each place, so the softmax is 1, the queries do
            nothing and every frame gets the same. "first_frame_tokens" offers all places of the
            first frame as keys.
    """

    def __init__(self, channels: int, head_width: int, mask_width: int, mode: TemporalMode) -> None:
        super().__init__()
        self.heads = channels // head_width
        self.mode = mode
        self.norm = nn.LayerNorm(channels)
        self.gamma = _mask_net(mask_width, channels)
        self.beta = _mask_net(mask_width, channels)
        self.to_q = nn.Linear(channels, channels, bias=False)
        self.to_k = nn.Linear(channels, channels, bias=False)
        self.to_v = nn.Linear(channels, channels, bias=False)
        self.to_out = nn.Linear(channels, channels)
        nn.init.zeros_(self.to_out.weight)
        nn.init.zeros_(self.to_out.bias)

    def forward(
        self,
        x: Float[Tensor, "pictures places channels"],
        views: int,
        mask: Float[Tensor, "batch views 1 size size"],
        frames: Float[Tensor, "batch frames"],
    ) -> Float[Tensor, "pictures places channels"]:
        """What is added to the tokens; pictures are in the order (batch, frames, views)."""
        batch, count = frames.shape
        side = math.isqrt(x.shape[1])
        # area shares: a thin part would vanish from the nearest pixels of a small map
        small = F.adaptive_avg_pool2d(mask.flatten(0, 1).to(x.dtype), side)
        gamma, beta = (
            rearrange(net(small), "(b v) c h w -> b 1 v (h w) c", b=batch)
            for net in (self.gamma, self.beta)
        )
        z = rearrange(self.norm(x), "(b f v) l c -> b f v l c", b=batch, f=count)
        z = (1 + gamma) * z + beta
        z = z + frame_features(frames, x.shape[2]).to(x.dtype)[:, :, None, None]
        return rearrange(self.to_out(self._attend(z)), "b f v l c -> (b f v) l c")

    def _attend(self, z: Float[Tensor, "batch frames views places channels"]) -> Tensor:
        first = z[:, :1] if self.mode != "full" else z
        if self.mode == "first_frame_tokens":
            first = first.expand_as(z)
            split, joined = "b f v l (h d) -> (b f v) h l d", "(b f v) h l d -> b f v l (h d)"
        else:
            split, joined = "b f v l (h d) -> (b v l) h f d", "(b v l) h f d -> b f v l (h d)"
        q, k, v = (
            rearrange(tokens, split, h=self.heads)
            for tokens in (self.to_q(z), self.to_k(first), self.to_v(first))
        )
        sizes = dict(zip("bfvl", z.shape, strict=False))
        sizes.pop("l" if self.mode == "first_frame_tokens" else "f")
        return rearrange(F.scaled_dot_product_attention(q, k, v), joined, **sizes)
