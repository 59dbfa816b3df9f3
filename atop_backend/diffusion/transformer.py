"""`MultiViewVideoTransformer`, the bundled denoiser.

Tokens are 2 x 2 patches of the latents. Blocks come in pairs: the first attends over all views of
one frame, which keeps the views consistent in 3D; the second over all frames of one view, which
carries the motion and is modulated by the part's mask (the roles of the paper's multi-view and
temporal attention, section 4.2). Differences from the paper's U-Net, all for speed on small
machines: transformer instead of U-Net; words are appended to keys and values instead of a
cross-attention pass of their own; the rest views enter through a convolutional stem that also
sees the part's mask and the 3D point under each pixel, which the mesh gives for free; next to the
colours the net denoises the part's silhouette and the 3D motion of the part's visible points.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Literal

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from atop_backend.diffusion.autoencoder import ResidualBlock
from atop_backend.diffusion.clips import CHANNELS
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.denoiser import ClipLatents

PATCH = 2
STEM_CHANNELS = 3 + 1 + 1 + 3 + 3  # rgb, part, object, points, points relative to the part
CAMERA_FEATURES = 16


@dataclass(frozen=True, slots=True)
class TransformerConfig:
    """Sizes of the network; the defaults are those of the bundled weights."""

    width: int = 384
    depth: int = 12  # even: pairs of view and frame blocks
    head_width: int = 64
    stem_widths: tuple[int, int] = (96, 160)  # at a quarter and an eighth of the picture
    views: int = 4
    latent_size: int = 32
    channels: int = CHANNELS
    text_features: int = 384
    kept_places: int = 0  # tokens of a view that are computed, those with most mask; 0 for all

    def to_dict(self) -> dict[str, object]:
        """The sizes as plain values."""
        return asdict(self)


TINY = TransformerConfig(width=32, depth=2, head_width=16, stem_widths=(8, 16))
# The prior of rigged characters: the motion alone, where the body is seen.
RIG = TransformerConfig(width=256, depth=10, stem_widths=(64, 128), channels=3, kept_places=64)
TINY_RIG = replace(TINY, channels=3, kept_places=64)


def sinusoids(values: Float[Tensor, " n"], width: int) -> Float[Tensor, "n width"]:
    """Sinusoidal features of numbers in [0, 1], wavelengths from 1/1000 to 10."""
    half = width // 2
    rates = torch.exp(-math.log(1e4) * torch.arange(half, device=values.device) / half) * 1000.0
    angles = values.float()[:, None] * rates[None]
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def _perceptron(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.SiLU(), nn.Linear(outputs, outputs))


class Stem(nn.Module):
    """Features of the rest views, one token per 16 x 16 pixels.

    Thin handles and knobs are what tells a left hinge from a right one, so the pictures come in
    at full size and in coordinates relative to the part as well.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        fine, coarse = config.stem_widths
        self.layers = nn.Sequential(
            nn.PixelUnshuffle(4),
            nn.Conv2d(16 * STEM_CHANNELS, fine, 3, padding=1),
            ResidualBlock(fine),
            nn.Conv2d(fine, coarse, 3, stride=2, padding=1),
            ResidualBlock(coarse),
            nn.Conv2d(coarse, config.width, 3, stride=2, padding=1),
        )
        self.latents = nn.Linear(4 * PATCH * PATCH, config.width)

    def forward(self, conditions: Conditions, dtype: torch.dtype) -> Tensor:
        """Tokens (batch, views, places, width)."""
        seen = (conditions.positions != 0).any(dim=2, keepdim=True)
        centre = conditions.part_centre[:, None, :, None, None]
        radius = conditions.part_radius[:, None, None, None, None]
        relative = ((conditions.positions - centre) / radius).clamp(-4, 4) * 0.5 * seen
        pictures = torch.cat(
            [
                conditions.rgb * 2 - 1,
                conditions.mask,
                seen,
                conditions.positions,
                relative,
            ],
            dim=2,
        ).to(dtype)
        batch = pictures.shape[0]
        pixels = pictures.flatten(0, 1).contiguous(memory_format=torch.channels_last)
        features = rearrange(self.layers(pixels), "(b v) d h w -> b v (h w) d", b=batch)
        return features + self.latents(_patches(conditions.rest_latents.to(dtype)))


def _patches(
    x: Float[Tensor, "*lead channels height width"],
) -> Float[Tensor, "*lead places features"]:
    return F.pixel_unshuffle(x, PATCH).flatten(-2).transpose(-1, -2)


def _taken(x: Float[Tensor, "*lead places features"], kept: Tensor) -> Tensor:
    """The kept places of every view, (*lead, kept, features)."""
    return x.gather(-2, kept[..., None].expand(*kept.shape, x.shape[-1]))


class Block(nn.Module):
    """Attention over one pair of axes and a perceptron, with adaptive norms (adaLN-single).

    The modulation of all blocks comes from one shared layer; each adds its own learned offset.
    """

    def __init__(self, config: TransformerConfig, reads_text: bool, reads_mask: bool) -> None:
        super().__init__()
        width = config.width
        self.heads = width // config.head_width
        self.modulation = nn.Parameter(torch.zeros(6, width))
        self.to_qkv = nn.Linear(width, 3 * width, bias=False)
        self.text_to_kv = nn.Linear(width, 2 * width, bias=False) if reads_text else None
        self.mask_to_film = nn.Linear(width, 2 * width) if reads_mask else None
        self.to_out = nn.Linear(width, width)
        self.expand = nn.Linear(width, 4 * width)
        self.contract = nn.Linear(4 * width, width)

    def forward(self, x: Tensor, modulation: Tensor, text: Tensor, film: Tensor | None) -> Tensor:
        """New tokens.

        Args:
            x: (batch, outer, inner, places, width); attends over inner and places.
            modulation: (batch, outer, inner, 6, width), from time, frame, camera, part and text.
            text: (batch, words, width).
            film: (batch, outer, 1, places, width), features of the part's mask per view.
        """
        batch, outer, inner, places, width = x.shape
        shift, scale, gate, shift_2, scale_2, gate_2 = (modulation + self.modulation)[
            ..., None, :
        ].unbind(dim=3)
        y = F.layer_norm(x, (width,)) * (1 + scale) + shift
        if self.mask_to_film is not None:
            gamma, beta = self.mask_to_film(film).chunk(2, dim=-1)
            y = y * (1 + gamma) + beta
        qkv = self.to_qkv(y).view(batch * outer, inner * places, 3, self.heads, -1)
        queries, keys, values = qkv.unbind(dim=2)
        queries, keys = _unit(queries), _unit(keys)
        if self.text_to_kv is not None:
            words = self.text_to_kv(text).view(batch, 1, text.shape[1], 2, self.heads, -1)
            words = words.expand(-1, outer, -1, -1, -1, -1).flatten(0, 1)
            keys = torch.cat([keys, _unit(words[:, :, 0])], dim=1)
            values = torch.cat([values, words[:, :, 1]], dim=1)
        attended = F.scaled_dot_product_attention(
            queries.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2)
        )
        attended = attended.transpose(1, 2).reshape(batch, outer, inner, places, width)
        x = x + (1 + gate) * self.to_out(attended)
        y = F.layer_norm(x, (width,)) * (1 + scale_2) + shift_2
        return x + (1 + gate_2) * self.contract(F.gelu(self.expand(y), approximate="tanh"))


def _unit(x: Tensor) -> Tensor:
    """Vectors of unit root mean square: keeps attention stable in bfloat16."""
    return F.rms_norm(x, (x.shape[-1],), eps=1e-5)


class MultiViewVideoTransformer(nn.Module):
    """Denoises the moved frames of four views at once; predicts v = alpha noise - sigma signal."""

    prediction: Literal["v"] = "v"

    def __init__(self, config: TransformerConfig = TransformerConfig()) -> None:
        super().__init__()
        self.config = config
        self.channels = config.channels
        width, places = config.width, (config.latent_size // PATCH) ** 2
        patch_features = PATCH * PATCH * config.channels
        self.read_latents = nn.Linear(patch_features, width)
        self.stem = Stem(config)
        self.read_mask = nn.Linear(16 * 16, width)
        self.place = nn.Parameter(torch.randn(config.views, places, width) * 0.02)
        self.read_time = _perceptron(128, width)
        self.read_frame = _perceptron(64, width)
        self.read_camera = _perceptron(CAMERA_FEATURES, width)
        self.read_part = _perceptron(4, width)
        self.text_mean = nn.Linear(config.text_features, width)
        self.text_tokens = nn.Sequential(
            nn.LayerNorm(config.text_features),
            nn.Linear(config.text_features, width),
            nn.GELU(),
            nn.Linear(width, width),
        )
        self.modulate = nn.Linear(width, 6 * width)
        self.blocks = nn.ModuleList(
            Block(config, reads_text=index % 2 == 0, reads_mask=index % 2 == 1)
            for index in range(config.depth)
        )
        self.modulate_out = nn.Linear(width, 2 * width)
        self.write_latents = nn.Linear(width, patch_features)
        self.checkpointing = False  # trades a second forward pass for memory while training
        self.run_block = Block.forward  # training puts a compiled version here
        self._initialise()

    def _initialise(self) -> None:
        for block in self.blocks:
            for layer in (block.to_out, block.contract):
                layer.weight.data.mul_(1 / math.sqrt(2 * self.config.depth))  # type: ignore
            if block.mask_to_film is not None:
                nn.init.zeros_(block.mask_to_film.weight)  # type: ignore[arg-type]
                nn.init.zeros_(block.mask_to_film.bias)  # type: ignore[arg-type]
        for layer in (self.modulate, self.modulate_out, self.write_latents):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def denoise(
        self, latents: ClipLatents, timestep: Float[Tensor, " batch"], conditions: Conditions
    ) -> ClipLatents:
        """The prediction v for noisy channels; see `Denoiser`."""
        return self(latents, timestep, conditions)

    def forward(self, latents: Tensor, timestep: Tensor, conditions: Conditions) -> Tensor:
        """As `denoise`."""
        dtype = self.read_latents.weight.dtype
        views = latents.shape[1]
        rest = self.stem(conditions, dtype) + self.place[:views]
        patches = _patches(latents.to(dtype))
        mask = F.pixel_unshuffle(conditions.mask.to(dtype), 16).flatten(-2).transpose(-1, -2)
        kept = None
        if self.config.kept_places:
            kept = mask.float().sum(dim=-1).topk(self.config.kept_places, dim=-1).indices
            rest, mask = _taken(rest, kept), _taken(mask, kept)
            patches = _taken(patches, kept[:, :, None].expand(*patches.shape[:3], -1))
        x = self.read_latents(patches) + rest[:, :, None]
        film = self.read_mask(mask)[:, :, None]
        text = conditions.text.to(dtype)
        words = self.text_tokens(text)
        modulation, last = self._modulations(timestep, text, conditions, dtype)

        for index in range(0, len(self.blocks), 2):
            by_frame = x.transpose(1, 2).contiguous()
            x = self._run(index, by_frame, modulation.transpose(1, 2).contiguous(), words, None)
            by_view = x.transpose(1, 2).contiguous()
            x = self._run(index + 1, by_view, modulation, words, film)

        shift, scale = last[..., None, :].chunk(2, dim=-1)
        x = self.write_latents(F.layer_norm(x, (x.shape[-1],)) * (1 + scale) + shift)
        if kept is not None:
            everywhere = x.new_zeros(*x.shape[:3], self.place.shape[1], x.shape[-1])
            places = kept[:, :, None, :, None].expand_as(x)
            x = everywhere.scatter(3, places, x)
        side = self.config.latent_size // PATCH
        grid = x.transpose(-1, -2).unflatten(-1, (side, side))
        return F.pixel_shuffle(grid, PATCH)

    def _modulations(
        self, timestep: Tensor, text: Tensor, conditions: Conditions, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        """Shared modulation (batch, views, frames, 6, width) and that of the last layer."""
        batch, frames = conditions.frames.shape
        part = torch.cat([conditions.part_centre, conditions.part_radius.log()[:, None]], dim=1)
        signal = (
            self.read_time(sinusoids(timestep, 128).to(dtype))
            + self.read_part(part.to(dtype))
            + self.text_mean(text.mean(dim=1))
        )
        times = self.read_frame(sinusoids(conditions.frames.flatten(), 64).to(dtype))
        cameras = self.read_camera(conditions.cameras.to(dtype))
        signal = signal[:, None, None] + cameras[:, :, None] + times.view(batch, 1, frames, -1)
        signal = F.silu(signal)
        return self.modulate(signal).unflatten(-1, (6, -1)), self.modulate_out(signal)

    def _run(
        self, index: int, x: Tensor, modulation: Tensor, text: Tensor, film: Tensor | None
    ) -> Tensor:
        block = self.blocks[index]
        if self.checkpointing and self.training:
            return checkpoint(self.run_block, block, x, modulation, text, film, use_reentrant=False)
        return self.run_block(block, x, modulation, text, film)  # type: ignore[arg-type]


def forward_flops(
    config: TransformerConfig, views: int = 4, frames: int = 3, words: int = 24
) -> float:
    """Floating-point operations of the matrix products of one forward pass of one clip."""
    width, places = config.width, (config.latent_size // PATCH) ** 2
    kept = config.kept_places or places
    tokens = views * frames * kept
    pairs = config.depth // 2
    linear = config.depth * 24 * width**2 * tokens
    extra = pairs * (4 * width**2 * words + 4 * width**2 * views * kept)
    attention = pairs * 4 * width * tokens * ((views * kept + words) + frames * kept)
    ends = 4 * width * PATCH**2 * config.channels * tokens
    fine, coarse = config.stem_widths
    stem = (
        (16 * places) * 18 * (16 * STEM_CHANNELS * fine + 2 * fine**2)
        + (4 * places) * 18 * (fine * coarse + 2 * coarse**2)
        + places * 18 * coarse * width
    )
    return float(linear + extra + attention + ends + views * stem)
