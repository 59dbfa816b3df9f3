"""Whole pictures of Gaussians by gsplat's CUDA kernels, where it is installed.

It sorts Gaussians by depth and lays them over each other instead of blending all at once, and is
made for whole pictures on a GPU; `render` is for any rays on any device. Both cover a pixel in the
same way: a Gaussian met with log-density d hides 1 - exp(-exp d) of what is behind it.
"""

from __future__ import annotations

import importlib.util

import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.contracts import Camera
from atop_backend.errors import SetupError

_BLUR = 0.01  # squared pixels that keep tiny Gaussians from vanishing; gsplat's own 0.3 fattens
_NEAR = 1e-3


def available(device: torch.device) -> bool:
    """Whether gsplat can render there."""
    return device.type == "cuda" and importlib.util.find_spec("gsplat") is not None


def rasterise(
    centres: Float[Tensor, "n 3"],
    sigmas: Float[Tensor, " n"],
    log_weights: Float[Tensor, " n"],
    features: Float[Tensor, "n channels"],
    camera: Camera,
) -> tuple[Float[Tensor, "pixels channels"], Float[Tensor, " pixels"]]:
    """Features over nothing, and the cover of each pixel, row by row.

    Args:
        log_weights: As `render.accumulate` has them.

    Raises:
        SetupError: gsplat is not installed.
    """
    try:
        import gsplat
    except ImportError as error:
        raise SetupError(
            "gsplat is not installed", hint="pip install gsplat, or set animate.renderer=metaballs"
        ) from error
    device = centres.device
    upright = torch.tensor([1.0, 0.0, 0.0, 0.0], device=device)
    focal, width, height = camera.focal_px, camera.width_px, camera.height_px
    intrinsics = [[focal, 0.0, width / 2], [0.0, focal, height / 2], [0.0, 0.0, 1.0]]
    picture, cover, _ = gsplat.rasterization(
        means=centres,
        quats=upright.expand(len(centres), 4),
        scales=sigmas[:, None].expand(-1, 3),
        opacities=1 - (-log_weights.exp()).exp(),
        colors=features,
        viewmats=torch.tensor(camera.world_to_camera, dtype=centres.dtype, device=device)[None],
        Ks=torch.tensor(intrinsics, dtype=centres.dtype, device=device)[None],
        width=width,
        height=height,
        near_plane=_NEAR,
        eps2d=_BLUR,
        packed=False,
    )
    return picture[0].flatten(0, 1), cover[0].flatten()
