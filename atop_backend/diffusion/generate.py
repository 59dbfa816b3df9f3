"""From rest views and a sentence to clips, with whichever network the settings name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from atop_backend.config import GenerateConfig
from atop_backend.contracts import Camera
from atop_backend.diffusion import bundled
from atop_backend.diffusion.autoencoder import Autoencoder
from atop_backend.diffusion.checkpoints import finetuned_facts, finetuned_file, load_over
from atop_backend.diffusion.clips import COLOUR, GeneratedClip, most_typical, unpack
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.denoiser import Denoiser
from atop_backend.diffusion.device import pick_device, working_dtype
from atop_backend.diffusion.sample import OnStep, sample
from atop_backend.diffusion.text import TextEncoder
from atop_backend.errors import InputError
from atop_backend.geometry import cameras
from atop_backend.geometry.extents import part_extent

if TYPE_CHECKING:
    from atop_backend.diffusion.towers import LatentAutoencoder


class Prior(NamedTuple):
    """What generates: a network, its autoencoder and its reader of words."""

    denoiser: Denoiser
    autoencoder: Autoencoder | LatentAutoencoder
    encode_text: Callable[[str], Float[Tensor, "1 tokens features"]]
    device: torch.device
    name: str


class RestScene(NamedTuple):
    """The rest views as arrays, and where the part is."""

    rgb: np.ndarray  # (views, size, size, 3) uint8
    part_mask: np.ndarray  # (views, size, size) bool
    positions: np.ndarray  # (views, size, size, 3), normalised
    cameras: tuple[Camera, ...]
    part_vertices: np.ndarray  # (n, 3), normalised


@lru_cache(maxsize=1)
def load_prior(
    settings: GenerateConfig,
    seed: int,
    device_name: str,
    weights: Path | None = None,
    finetuned: Path | None = None,
) -> Prior:
    """The network and autoencoder that the settings name; kept for the next call like it.

    Raises:
        InputError: The settings need weights, and none are named.
        SetupError: Weights or the device are missing.
    """
    device = pick_device(device_name)
    dtype = working_dtype(device)
    match settings.model:
        case "imagedream":
            return _load_imagedream(device, dtype, weights, finetuned)
        case "mini":
            model = bundled.random_model(seed) if settings.random_weights else bundled.load()
            name = str(model.facts.get("name", "mini"))
            if finetuned is not None:
                file = finetuned_file(finetuned)
                finetuned_facts(file, "mini")
                load_over(model.denoiser, file)
            return Prior(
                model.denoiser.to(device, dtype),
                model.autoencoder.to(device),
                encode_text,
                device,
                name + _tuned(finetuned),
            )


def _load_imagedream(
    device: torch.device, dtype: torch.dtype, weights: Path | None, finetuned: Path | None
) -> Prior:
    from atop_backend.diffusion.imagedream import load_imagedream

    if weights is None:
        raise InputError(
            "the imagedream preset needs ImageDream's weights, which are not included",
            hint="name their folder with --weights, or use the default preset",
        )
    model = load_imagedream(weights, finetuned)
    return Prior(
        model.denoiser.to(device, dtype),
        model.autoencoder.to(device),
        lambda prompt: model.prompts.encode([prompt]),
        device,
        f"imagedream from {weights}" + _tuned(finetuned),
    )


def _tuned(finetuned: Path | None) -> str:
    """What a network's name says of its finetuning."""
    return "" if finetuned is None else f", finetuned in {finetuned_file(finetuned).parent.name}"


@lru_cache(maxsize=1)
def _text_encoder() -> TextEncoder:
    return TextEncoder("cpu")


def encode_text(prompt: str) -> Float[Tensor, "1 tokens features"]:
    """The features of a prompt's words, as the bundled network reads them."""
    return _text_encoder().encode([prompt])


def build_conditions(
    prior: Prior, scene: RestScene, text: Float[Tensor, "1 tokens features"],
    frames: tuple[float, ...],
) -> Conditions:  # fmt: skip
    """The conditions of one clip, as the network was trained with them."""
    rgb = torch.from_numpy(scene.rgb).permute(0, 3, 1, 2).float() / 255
    centre, radius = part_extent(scene.part_vertices)
    with torch.no_grad():
        rest_latents = prior.autoencoder.encode(rgb.to(prior.device)).cpu()
    positions = torch.from_numpy(scene.positions).permute(0, 3, 1, 2).float()
    conditions = Conditions(
        rgb=rgb[None],
        mask=torch.from_numpy(scene.part_mask)[None, :, None].float(),
        positions=positions[None],
        rest_latents=rest_latents[None],
        cameras=torch.tensor([[cameras.embedding(c).tolist() for c in scene.cameras]]),
        text=text.float(),
        frames=torch.tensor([frames], dtype=torch.float32),
        part_centre=torch.tensor(centre[None], dtype=torch.float32),
        part_radius=torch.tensor([radius], dtype=torch.float32),
    )
    return conditions.to(prior.device)


def generate_clip(
    prior: Prior, conditions: Conditions, settings: GenerateConfig, seed: int,
    on_step: OnStep | None = None,
) -> GeneratedClip:  # fmt: skip
    """Independent samples of one clip, on the CPU, for the fit."""
    channels = sample(
        prior.denoiser, conditions, settings.steps, settings.guidance_scale,
        torch.Generator().manual_seed(seed), samples=settings.samples, on_step=on_step,
    )  # fmt: skip
    return _in_units(channels.float().cpu(), conditions)


def _in_units(channels: Tensor, conditions: Conditions) -> GeneratedClip:
    """Channels of samples in natural units; a network of colours alone tells no more."""
    frames = conditions.frames[0].cpu()
    if channels.shape[3] == COLOUR.stop:
        return GeneratedClip(channels, None, None, frames)
    return unpack(channels, frames, float(conditions.part_radius[0]))


def decode_pictures(
    prior: Prior, clip: GeneratedClip
) -> UInt8[np.ndarray, "views frames size size 3"]:
    """The frames of the clip's most typical sample."""
    latents = clip.latents[most_typical(clip)].to(prior.device)
    with torch.no_grad():
        rgb = prior.autoencoder.decode(latents).clamp(0, 1)
    return (rgb.permute(0, 1, 3, 4, 2) * 255).round().byte().cpu().numpy()


def save_clip(path: Path, clip: GeneratedClip) -> None:
    """Write a clip as an npz file."""
    arrays = {name: value.numpy() for name, value in clip._asdict().items() if value is not None}
    np.savez_compressed(path, **arrays)
