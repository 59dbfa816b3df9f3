"""The paper's network at full size, or a small twin of it, with random weights and conditions.

A clip has 4 views x 10 frames of 256 x 256 pixels (latents of 32 x 32): the clean rest frame and
nine that are denoised.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from diffusers import AutoencoderKL
from torch import nn
from transformers import CLIPVisionConfig, CLIPVisionModel

from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.imagedream import ImageDreamDenoiser
from atop_backend.diffusion.towers import LatentAutoencoder, PictureEncoder
from atop_backend.diffusion.unet import IMAGEDREAM, TINY, MultiViewVideoUNet
from atop_backend.geometry.cameras import embedding, rig

MOVED_FRAMES = 9  # and the rest frame
CAMERAS = rig(elevation_rad=0.35)


class Sizes(NamedTuple):
    """How large everything is."""

    unet: Any
    tower: dict[str, Any]
    autoencoder: tuple[int, ...]
    words: int
    pixels: int
    steps: int  # of sampling
    distilled: int  # steps of distillation; the first carries the preparation of all
    matrix: int  # side of the matrices that set the ceiling


FULL = Sizes(
    IMAGEDREAM,
    # CLIP ViT-H/14
    {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32,
     "num_attention_heads": 16, "image_size": 224, "patch_size": 14, "hidden_act": "gelu"},
    (128, 256, 512, 512),  # Stable Diffusion's
    77, 256, 50, 20, 8192,
)  # fmt: skip
TWIN = Sizes(
    TINY,
    {"hidden_size": TINY.ip_features, "intermediate_size": 48, "num_hidden_layers": 3,
     "num_attention_heads": 2, "image_size": 28, "patch_size": 14},
    (32, 32, 32, 32),
    12, 64, 2, 2, 256,
)  # fmt: skip


class Parts(NamedTuple):
    """The model with random weights, as `load_imagedream` makes it."""

    denoiser: ImageDreamDenoiser
    autoencoder: LatentAutoencoder


def build(sizes: Sizes, device: torch.device, dtype: torch.dtype) -> Parts:
    """All parts on the device; nothing is zero that training would fill."""
    torch.manual_seed(0)
    with device:
        unet = MultiViewVideoUNet(sizes.unet)
        tower = CLIPVisionModel(CLIPVisionConfig(**sizes.tower))
        levels = len(sizes.autoencoder)
        layout: dict[str, Any] = {
            "down_block_types": ("DownEncoderBlock2D",) * levels,
            "up_block_types": ("UpDecoderBlock2D",) * levels,
            "block_out_channels": sizes.autoencoder,
            "layers_per_block": 2,
            "latent_channels": 4,
            "scaling_factor": 0.18215,
        }
        vae = AutoencoderKL(**layout)
        no_words = torch.randn(1, sizes.words, sizes.unet.context_dim)
    for parameter in unet.parameters():
        if not parameter.any():
            nn.init.normal_(parameter, std=0.01)
    pictures = PictureEncoder(tower).to(device)
    denoiser = ImageDreamDenoiser(unet, pictures, no_words).to(device, dtype)
    for module in (denoiser, vae):
        module.eval().requires_grad_(False)
    return Parts(denoiser, LatentAutoencoder(vae))


def draw_conditions(sizes: Sizes, parts: Parts, device: torch.device) -> Conditions:
    """Conditions of one clip from random pictures, encoded as a job does."""
    rgb = torch.rand(4, 3, sizes.pixels, sizes.pixels, device=device)
    mask = torch.zeros(1, 4, 1, sizes.pixels, sizes.pixels)
    quarter = sizes.pixels // 4
    mask[..., quarter : 2 * quarter, quarter : 2 * quarter] = 1
    frames = torch.arange(1, MOVED_FRAMES + 1) / MOVED_FRAMES
    return Conditions(
        rgb=rgb[None],
        mask=mask,
        positions=torch.zeros(1, 4, 3, sizes.pixels, sizes.pixels),
        rest_latents=parts.autoencoder.encode(rgb)[None],
        cameras=torch.tensor([[embedding(camera).tolist() for camera in CAMERAS]]),
        text=torch.randn(1, sizes.words, sizes.unet.context_dim),
        frames=frames[None],
        part_centre=torch.zeros(1, 3),
        part_radius=torch.ones(1),
    ).to(device)
