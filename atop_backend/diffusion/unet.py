"""`MultiViewVideoUNet`, the paper's network: ImageDream's U-Net inflated to multi-view clips.

The image part has the layout and parameter names of the published weights (773 tensors,
941,672,900 parameters); everything the paper adds lies under `temporal`. The rest frame is given
clean, in slot 0 of the time axis, and not denoised; without `rest_frame` all frames are denoised
as in the paper, and the first of them is the one that Eq. 7 attends to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

import torch
from einops import rearrange, repeat
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from atop_backend.diffusion.denoiser import ClipLatents
from atop_backend.diffusion.resampler import Resampler
from atop_backend.diffusion.schedule import TRAINING_STEPS
from atop_backend.diffusion.temporal import TemporalMode
from atop_backend.diffusion.unet_blocks import (
    Context,
    Downsample,
    Folding,
    InputConvolution,
    ResidualBlock,
    SpatialTransformer,
    TransformerBlock,
    Upsample,
    step_features,
)

Trained = Literal["paper", "paper_code", "all"]

_ADDED = "temporal"
_TRAINED_ENDINGS: dict[Trained, tuple[str, ...]] = {
    "paper": ("attn1.to_q.weight", "attn2.to_q.weight"),  # section 4.5
    "paper_code": (
        "attn1.to_q.weight",
        "attn2.to_q.weight",
        "attn2.to_k_ip.weight",
        "attn2.to_v_ip.weight",
    ),
    "all": ("",),
}


ADDED_SETTINGS = ("temporal", "mask_channels", "rest_frame")  # sizes the image model has not


@dataclass(frozen=True, slots=True)
class UNetConfig:
    """Sizes; the defaults are ImageDream's, under the names of its `unet/config.json`."""

    in_channels: int = 4
    model_channels: int = 320
    channel_mult: tuple[int, ...] = (1, 2, 4, 4)
    num_res_blocks: int = 2
    attention_resolutions: tuple[int, ...] = (4, 2, 1)
    num_head_channels: int = 64
    context_dim: int = 1024
    camera_dim: int = 16
    with_ip: bool = True  # False is MVDream, which has no image prompt
    ip_dim: int = 16
    ip_weight: float = 1.0
    ip_features: int = 1280  # of CLIP ViT-H
    ip_heads: int = 12
    ip_head_channels: int = 64
    ip_depth: int = 4
    temporal: TemporalMode | None = "full"  # None is the image model
    mask_channels: int = 64
    rest_frame: bool = True

    def to_dict(self) -> dict[str, object]:
        """The sizes as plain values."""
        return asdict(self)


IMAGEDREAM = UNetConfig()
TINY = UNetConfig(
    model_channels=32,
    channel_mult=(1, 2),
    num_res_blocks=1,
    attention_resolutions=(2, 1),
    num_head_channels=8,
    context_dim=32,
    ip_dim=4,
    ip_features=24,
    ip_heads=2,
    ip_head_channels=8,
    ip_depth=1,
    mask_channels=8,
)


class MultiViewVideoUNet(nn.Module):
    """Predicts the noise in the latents of all views and frames of a clip."""

    prediction: Literal["epsilon"] = "epsilon"

    def __init__(self, config: UNetConfig = IMAGEDREAM) -> None:
        super().__init__()
        self.config = config
        self.channels = config.in_channels
        self.checkpointing = False  # trades a second forward pass for memory while training
        width = config.model_channels
        embedding = 4 * width
        self.time_embed = _perceptron(width, embedding)
        self.camera_embed = _perceptron(config.camera_dim, embedding)
        if config.with_ip:
            self.image_embed = Resampler(
                config.ip_features,
                config.context_dim,
                config.ip_dim,
                config.ip_heads,
                config.ip_head_channels,
                config.ip_depth,
            )
        first = InputConvolution(config.in_channels, width, 3, padding=1)
        self.input_blocks = nn.ModuleList([nn.ModuleList([first])])
        channels, kept, shrunk = width, [width], 1
        for level, factor in enumerate(config.channel_mult):
            for _ in range(config.num_res_blocks):
                block: list[nn.Module] = [ResidualBlock(channels, factor * width, embedding)]
                channels = factor * width
                if shrunk in config.attention_resolutions:
                    block.append(_transformer(channels, config))
                self.input_blocks.append(nn.ModuleList(block))
                kept.append(channels)
            if level < len(config.channel_mult) - 1:
                self.input_blocks.append(nn.ModuleList([Downsample(channels)]))
                kept.append(channels)
                shrunk *= 2
        self.middle_block = nn.ModuleList(
            [
                ResidualBlock(channels, channels, embedding),
                _transformer(channels, config),
                ResidualBlock(channels, channels, embedding),
            ]
        )
        self.output_blocks = nn.ModuleList()
        for level, factor in reversed(list(enumerate(config.channel_mult))):
            for number in range(config.num_res_blocks + 1):
                widened = channels + kept.pop()
                block: list[nn.Module] = [ResidualBlock(widened, factor * width, embedding)]
                channels = factor * width
                if shrunk in config.attention_resolutions:
                    block.append(_transformer(channels, config))
                if level and number == config.num_res_blocks:
                    block.append(Upsample(channels))
                    shrunk //= 2
                self.output_blocks.append(nn.ModuleList(block))
        self.out = nn.Sequential(
            nn.GroupNorm(32, width), nn.SiLU(), nn.Conv2d(width, config.in_channels, 3, padding=1)
        )

    @property
    def dtype(self) -> torch.dtype:
        """The numbers the network computes in."""
        return next(self.parameters()).dtype

    def read_pictures(
        self, hidden: Float[Tensor, "batch views patches features"]
    ) -> Float[Tensor, "batch views tokens width"]:
        """Image tokens of CLIP's hidden states; zeros stand for no picture."""
        return self.image_embed(hidden.flatten(0, 1)).unflatten(0, hidden.shape[:2])

    def forward(
        self,
        latents: ClipLatents,
        timestep: Float[Tensor, " batch"],
        text: Float[Tensor, "batch words width"],
        image: Float[Tensor, "batch views tokens width"] | None,
        cameras: Float[Tensor, "batch views 16"],
        mask: Float[Tensor, "batch views 1 size size"],
        frames: Float[Tensor, "batch frames"],
        rest_latents: Float[Tensor, "batch views channels latent latent"],
    ) -> ClipLatents:
        """The noise in the latents.

        Args:
            timestep: Share of the schedule, 0 (clean) to 1 (noise).
            image: From `read_pictures`; None for a network without image prompt.
        """
        dtype = self.dtype
        times = timestep[:, None].expand(-1, latents.shape[2])
        if self.config.rest_frame:
            latents = torch.cat([rest_latents[:, :, None].to(latents), latents], dim=2)
            times = torch.cat([torch.zeros_like(times[:, :1]), times], dim=1)
            frames = torch.cat([torch.zeros_like(frames[:, :1]), frames], dim=1)
        batch, views, count = latents.shape[:3]
        context = Context(
            folding=Folding(batch, count, views),
            embedding=self._embed(times, cameras, views, dtype),
            text=text.to(dtype),
            image=None if image is None else image.to(dtype),
            mask=mask.to(dtype),
            frames=frames,
        )
        x = rearrange(latents.to(dtype), "b v f c h w -> (b f v) c h w")
        kept = []
        for block in self.input_blocks:
            x = self._run(block, x, context)
            kept.append(x)
        x = self._run(self.middle_block, x, context)
        for block in self.output_blocks:
            x = self._run(block, torch.cat([x, kept.pop()], dim=1), context)
        noise = rearrange(self.out(x), "(b f v) c h w -> b v f c h w", b=batch, v=views)
        noise = noise.to(latents.dtype)
        return noise[:, :, 1:] if self.config.rest_frame else noise

    def _embed(
        self, times: Tensor, cameras: Tensor, views: int, dtype: torch.dtype
    ) -> Float[Tensor, "pictures features"]:
        steps = (times * (TRAINING_STEPS - 1)).round().flatten()
        time = self.time_embed(step_features(steps, self.config.model_channels).to(dtype))
        camera = self.camera_embed(cameras.to(dtype))
        time = repeat(time, "(b f) c -> b f v c", b=len(times), v=views)
        return (time + camera[:, None]).flatten(0, 2)

    def _run(self, block: nn.Module, x: Tensor, context: Context) -> Tensor:
        for layer in block:  # type: ignore[attr-defined]
            if self.checkpointing and torch.is_grad_enabled():
                x = checkpoint(layer, x, context, use_reentrant=False)  # type: ignore[assignment]
            else:
                x = layer(x, context)
        return x

    def image_state(self) -> dict[str, Tensor]:
        """The parameters of the image model alone, under their published names."""
        return {name: value for name, value in self.state_dict().items() if not _is_added(name)}

    def trained_parameters(self, trained: Trained) -> Iterator[tuple[str, nn.Parameter]]:
        """The parameters that finetuning changes.

        Args:
            trained: "paper" takes the temporal blocks and the query projections (section 4.5);
                "paper_code" adds keys and values of the image prompt, as the released code does.
        """
        endings = _TRAINED_ENDINGS[trained]
        for name, parameter in self.named_parameters():
            if _is_added(name) or name.endswith(endings):
                yield name, parameter


def _is_added(name: str) -> bool:
    return _ADDED in name.split(".")


def _perceptron(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.SiLU(), nn.Linear(outputs, outputs))


def _transformer(channels: int, config: UNetConfig) -> SpatialTransformer:
    block = TransformerBlock(
        channels,
        config.num_head_channels,
        config.context_dim,
        config.with_ip,
        config.ip_weight,
        config.temporal,
        config.mask_channels,
    )
    return SpatialTransformer(channels, block)
