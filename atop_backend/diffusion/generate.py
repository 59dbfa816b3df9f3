"""From rest views and a sentence to clips, with whichever network the settings name."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from atop_backend.config import GenerateConfig
from atop_backend.contracts import Camera
from atop_backend.diffusion import bundled
from atop_backend.diffusion.autoencoder import Autoencoder
from atop_backend.diffusion.clips import GeneratedClip, unpack
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.denoiser import Denoiser
from atop_backend.diffusion.device import pick_device
from atop_backend.diffusion.sample import OnStep, sample
from atop_backend.diffusion.text import TextEncoder
from atop_backend.errors import SetupError
from atop_backend.geometry import cameras


class Prior(NamedTuple):
    """What generates: a network, its autoencoder, and the numbers they compute in."""

    denoiser: Denoiser
    autoencoder: Autoencoder
    device: torch.device
    dtype: torch.dtype
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
    settings: GenerateConfig, seed: int, device_name: str, weights: Path | None
) -> Prior:
    """The network and autoencoder that the settings name; kept for the next call like it.

    Raises:
        SetupError: Weights or the device are missing.
    """
    device = pick_device(device_name)
    if settings.model == "imagedream":
        raise SetupError(
            "the imagedream preset needs ImageDream's weights, which this version cannot load yet",
            hint="use the default preset",
        )
    dtype = torch.bfloat16 if _fast_bfloat16(device) else torch.float32
    model = bundled.random_model(seed) if settings.random_weights else bundled.load()
    return Prior(
        model.denoiser.to(device, dtype),
        model.autoencoder.to(device),
        device,
        dtype,
        str(model.facts.get("name", "mini")),
    )


def _fast_bfloat16(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 matrices in hardware (GPUs, CPUs with AMX)."""
    if device.type == "cpu":
        supported = getattr(torch.cpu, "_is_amx_tile_supported", None)
        return bool(supported and supported())
    return device.type == "cuda"


@lru_cache(maxsize=1)
def _text_encoder() -> TextEncoder:
    return TextEncoder("cpu")


def encode_text(prompt: str) -> Float[Tensor, "1 tokens features"]:
    """The features of a prompt's words."""
    return _text_encoder().encode([prompt])


def build_conditions(
    prior: Prior, scene: RestScene, text: Float[Tensor, "1 tokens features"],
    frames: tuple[float, ...],
) -> Conditions:  # fmt: skip
    """The conditions of one clip, as the network was trained with them."""
    rgb = torch.from_numpy(scene.rgb).permute(0, 3, 1, 2).float() / 255
    low, high = scene.part_vertices.min(axis=0), scene.part_vertices.max(axis=0)
    centre = (low + high) / 2
    radius = np.linalg.norm(scene.part_vertices - centre, axis=1).max()
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
    radius = float(conditions.part_radius[0])
    return unpack(channels.float().cpu(), conditions.frames[0].cpu(), radius)


class Pictures(NamedTuple):
    """Decoded frames of one sample."""

    rgb: UInt8[np.ndarray, "views frames size size 3"]
    silhouettes: Float[np.ndarray, "views frames latent latent"]


def generate_pictures(
    prior: Prior, conditions: Conditions, settings: GenerateConfig, seed: int,
    on_step: OnStep | None = None,
) -> Pictures:  # fmt: skip
    """One sample with the frames and steps of a video that people look at."""
    frames = [(i + 1) / settings.video_frames for i in range(settings.video_frames)]
    told = conditions._replace(frames=torch.tensor([frames], device=prior.device))
    channels = sample(
        prior.denoiser, told, settings.video_steps, settings.video_guidance_scale,
        torch.Generator().manual_seed(seed), on_step=on_step,
    )  # fmt: skip
    clip = unpack(channels.float(), told.frames[0], float(told.part_radius[0]))
    with torch.no_grad():
        rgb = prior.autoencoder.decode(clip.latents[0]).clamp(0, 1)
    assert clip.silhouettes is not None
    pixels = (rgb.permute(0, 1, 3, 4, 2) * 255).round().byte()
    return Pictures(pixels.cpu().numpy(), clip.silhouettes[0].cpu().numpy())


def save_clip(path: Path, clip: GeneratedClip) -> None:
    """Write a clip as an npz file."""
    arrays = {name: value.numpy() for name, value in clip._asdict().items() if value is not None}
    np.savez_compressed(path, **arrays)
