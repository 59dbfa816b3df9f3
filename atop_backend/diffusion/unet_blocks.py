"""Parts of the inflated multi-view U-Net, with the parameter names of the published weights.

Pictures of a clip are folded into the batch in the order (batch, frames, views). Convolutions and
normalisation then act on each frame by itself, which is what 1 x 3 x 3 kernels do, and statistics
are those the image model was trained with.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from atop_backend.diffusion.temporal import TemporalBlock, TemporalMode


class Folding(NamedTuple):
    """How a clip is folded into a batch of pictures."""

    batch: int
    frames: int
    views: int


class Context(NamedTuple):
    """What every block of the network may read."""

    folding: Folding
    embedding: Float[Tensor, "pictures features"]  # time and camera
    text: Float[Tensor, "batch words features"]
    image: Float[Tensor, "batch views tokens features"] | None
    mask: Float[Tensor, "batch views 1 size size"]
    frames: Float[Tensor, "batch frames"]  # share of the motion that is done


def step_features(steps: Float[Tensor, " n"], width: int) -> Float[Tensor, "n width"]:
    """Sinusoidal features of diffusion steps, cosines first, as in the published weights."""
    half = width // 2
    rates = torch.exp(-math.log(10000.0) * torch.arange(half, device=steps.device) / half)
    angles = steps.float()[:, None] * rates
    return torch.cat([angles.cos(), angles.sin()], dim=1)


def attend(queries: Tensor, keys: Tensor, values: Tensor, heads: int) -> Tensor:
    """Multi-head attention of tokens (batch, tokens, channels)."""
    q, k, v = (rearrange(x, "b n (h d) -> b h n d", h=heads) for x in (queries, keys, values))
    return rearrange(F.scaled_dot_product_attention(q, k, v), "b h n d -> b n (h d)")


class ResidualBlock(nn.Module):
    """Two 3 x 3 convolutions around a skip, with time and camera added between them."""

    def __init__(self, inputs: int, outputs: int, embedding: int) -> None:
        super().__init__()
        self.in_layers = nn.Sequential(
            nn.GroupNorm(32, inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, padding=1)
        )
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(embedding, outputs))
        self.out_layers = nn.Sequential(
            nn.GroupNorm(32, outputs),
            nn.SiLU(),
            nn.Identity(),  # the published weights count a dropout here
            nn.Conv2d(outputs, outputs, 3, padding=1),
        )
        self.skip_connection = nn.Identity() if inputs == outputs else nn.Conv2d(inputs, outputs, 1)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        h = self.in_layers(x) + self.emb_layers(context.embedding)[:, :, None, None]
        return self.skip_connection(x) + self.out_layers(h)


class Downsample(nn.Module):
    """Half the size, by a strided convolution."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.op = nn.Conv2d(channels, channels, 3, stride=2, padding=1)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        return self.op(x)


class Upsample(nn.Module):
    """Twice the size: nearest neighbours, then a convolution."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        return self.conv(F.interpolate(x, scale_factor=2, mode="nearest"))


class InputConvolution(nn.Conv2d):
    """The first layer; takes the context only to be called like the others."""

    def forward(self, x: Tensor, context: Context) -> Tensor:  # type: ignore[override]
        return super().forward(x)


class MultiViewAttention(nn.Module):
    """Self-attention over all tokens of all views of one frame (Eq. 3)."""

    def __init__(self, channels: int, head_width: int) -> None:
        super().__init__()
        self.heads = channels // head_width
        self.to_q = nn.Linear(channels, channels, bias=False)
        self.to_k = nn.Linear(channels, channels, bias=False)
        self.to_v = nn.Linear(channels, channels, bias=False)
        self.to_out = nn.ModuleList([nn.Linear(channels, channels)])

    def forward(self, x: Tensor, folding: Folding) -> Tensor:
        """New tokens; x is (pictures, places, channels)."""
        x = rearrange(x, "(bf v) l c -> bf (v l) c", v=folding.views)
        x = self.to_out[0](attend(self.to_q(x), self.to_k(x), self.to_v(x), self.heads))
        return rearrange(x, "bf (v l) c -> (bf v) l c", v=folding.views)


class PromptAttention(nn.Module):
    """Attention to words plus attention to the rest picture of the same view (Eq. 5)."""

    def __init__(
        self, channels: int, head_width: int, features: int, with_image: bool, image_weight: float
    ) -> None:
        super().__init__()
        self.heads = channels // head_width
        self.image_weight = image_weight
        self.to_q = nn.Linear(channels, channels, bias=False)
        self.to_k = nn.Linear(features, channels, bias=False)
        self.to_v = nn.Linear(features, channels, bias=False)
        if with_image:
            self.to_k_ip = nn.Linear(features, channels, bias=False)
            self.to_v_ip = nn.Linear(features, channels, bias=False)
        self.to_out = nn.ModuleList([nn.Linear(channels, channels)])

    def forward(self, x: Tensor, context: Context) -> Tensor:
        """New tokens; x is (pictures, places, channels)."""
        folding = context.folding
        queries = self.to_q(x)
        words = rearrange(queries, "(b p) l c -> b (p l) c", b=folding.batch)
        keys, values = self.to_k(context.text), self.to_v(context.text)
        found = attend(words, keys, values, self.heads)
        found = rearrange(found, "b (p l) c -> (b p) l c", l=x.shape[1])
        if context.image is not None:
            keys, values = (
                layer(context.image)[:, None].expand(-1, folding.frames, -1, -1, -1).flatten(0, 2)
                for layer in (self.to_k_ip, self.to_v_ip)
            )
            found = found + self.image_weight * attend(queries, keys, values, self.heads)
        return self.to_out[0](found)


class GatedPerceptron(nn.Module):
    """Two linear layers with a GELU gate."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        projection = nn.ModuleDict({"proj": nn.Linear(channels, 8 * channels)})
        self.net = nn.ModuleList([projection, nn.Identity(), nn.Linear(4 * channels, channels)])

    def forward(self, x: Tensor) -> Tensor:
        projection: Any = self.net[0]
        values, gates = projection["proj"](x).chunk(2, dim=-1)
        return self.net[2](values * F.gelu(gates))


class TransformerBlock(nn.Module):
    """Views, then time, then prompts, then a perceptron; time is what the paper adds."""

    def __init__(
        self,
        channels: int,
        head_width: int,
        features: int,
        with_image: bool,
        image_weight: float,
        temporal: TemporalMode | None,
        mask_width: int,
    ) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(channels)
        self.attn1 = MultiViewAttention(channels, head_width)
        self.norm2 = nn.LayerNorm(channels)
        self.attn2 = PromptAttention(channels, head_width, features, with_image, image_weight)
        self.norm3 = nn.LayerNorm(channels)
        self.ff = GatedPerceptron(channels)
        self.temporal = (
            None if temporal is None else TemporalBlock(channels, head_width, mask_width, temporal)
        )

    def forward(self, x: Tensor, context: Context) -> Tensor:
        """New tokens; x is (pictures, places, channels)."""
        x = x + self.attn1(self.norm1(x), context.folding)
        if self.temporal is not None:
            x = x + self.temporal(x, context.folding.views, context.mask, context.frames)
        x = x + self.attn2(self.norm2(x), context)
        return x + self.ff(self.norm3(x))


class SpatialTransformer(nn.Module):
    """A transformer block over the places of a feature map."""

    def __init__(self, channels: int, block: TransformerBlock) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(32, channels, eps=1e-6)
        self.proj_in = nn.Linear(channels, channels)
        self.transformer_blocks = nn.ModuleList([block])
        self.proj_out = nn.Linear(channels, channels)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        height = x.shape[2]
        tokens = self.proj_in(rearrange(self.norm(x), "p c h w -> p (h w) c"))
        tokens = self.proj_out(self.transformer_blocks[0](tokens, context))
        return x + rearrange(tokens, "p (h w) c -> p c h w", h=height)
