"""What a finetuning run starts from: a network, readers of its conditions, and encoded clips."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atop_backend.diffusion import bundled
from atop_backend.diffusion.clip_folders import TrainingClip
from atop_backend.diffusion.clips import COLOUR, pack
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.denoiser import Denoiser
from atop_backend.diffusion.finetune_settings import FinetuneConfig
from atop_backend.diffusion.text import TextEncoder
from atop_backend.diffusion.transformer import MultiViewVideoTransformer
from atop_backend.diffusion.unet import MultiViewVideoUNet, Trained
from atop_backend.errors import InputError
from atop_backend.geometry.cameras import embedding


class Base(NamedTuple):
    """The network to start from and what reads its conditions."""

    denoiser: Denoiser
    network: MultiViewVideoTransformer | MultiViewVideoUNet  # owns the trained parameters
    encode_pictures: Callable[[Tensor], Tensor]
    encode_text: Callable[[str], Tensor]
    decode_pictures: Callable[[Tensor], Tensor]


class Example(NamedTuple):
    """One clip as the network sees it."""

    conditions: Conditions
    channels: Tensor  # (1, views, frames, channels, latent, latent)


def load_base(config: FinetuneConfig, device: torch.device) -> Base:
    """The published network that a run starts from.

    Raises:
        SetupError: Its weights are missing or broken.
    """
    if config.base == "mini":
        model = bundled.load()
        encoder = TextEncoder("cpu")
        denoiser = model.denoiser.to(device)
        autoencoder = model.autoencoder.to(device)
        return Base(
            denoiser,
            denoiser,
            autoencoder.encode,
            lambda words: encoder.encode([words]),
            autoencoder.decode,
        )
    from atop_backend.diffusion.imagedream import load_imagedream

    assert config.weights is not None  # the settings were checked
    parts = load_imagedream(config.weights)
    denoiser = parts.denoiser.to(device)
    autoencoder = parts.autoencoder.to(device)
    return Base(
        denoiser,
        denoiser.unet,
        autoencoder.encode,
        lambda words: parts.prompts.encode([words]),
        autoencoder.decode,
    )


def trained_parameters(
    network: MultiViewVideoTransformer | MultiViewVideoUNet, trained: Trained
) -> Iterator[tuple[str, nn.Parameter]]:
    """What a run changes: of the bundled network the frame blocks, its part that knows time."""
    if isinstance(network, MultiViewVideoUNet):
        yield from network.trained_parameters(trained)
        return
    for name, parameter in network.named_parameters():
        parts = name.split(".")
        if trained == "all" or (parts[0] == "blocks" and int(parts[1]) % 2 == 1):
            yield name, parameter


@torch.no_grad()
def example_of(base: Base, clip: TrainingClip) -> Example:
    """The clip encoded, on the network's device.

    Raises:
        InputError: It lacks what this network learns from.
    """
    device = next(base.network.parameters()).device
    rgb = torch.from_numpy(clip.rgb).permute(0, 1, 4, 2, 3).float().to(device) / 255
    latents = torch.stack([base.encode_pictures(view) for view in rgb]).float()
    mask = torch.from_numpy(clip.mask)[:, None].float()
    if base.denoiser.channels == COLOUR.stop:
        positions, channels = torch.zeros_like(rgb[:, 0]), latents[:, 1:]
    elif clip.positions is None or clip.silhouettes is None or clip.motions is None:
        raise InputError(
            "a clip has no positions, silhouettes and motions, which the bundled model learns from",
            hint="render the clips with `atop clips`, or finetune ImageDream",
        )
    else:
        positions = torch.from_numpy(clip.positions).permute(0, 3, 1, 2).float()
        outlines = torch.from_numpy(clip.silhouettes)[:, :, None].float().to(device)
        motions = torch.from_numpy(clip.motions).float().to(device) / clip.part_radius
        channels = pack(latents[:, 1:], outlines, motions)
    conditions = Conditions(
        rgb=rgb[None, :, 0],
        mask=mask[None],
        positions=positions[None],
        rest_latents=latents[None, :, 0],
        cameras=torch.tensor([[embedding(camera).tolist() for camera in clip.cameras]]),
        text=base.encode_text(clip.prompt).float(),
        frames=torch.tensor(clip.frames[None], dtype=torch.float32),
        part_centre=torch.tensor(clip.part_centre[None], dtype=torch.float32),
        part_radius=torch.tensor([clip.part_radius], dtype=torch.float32),
    )
    return Example(conditions.to(device), channels[None])
