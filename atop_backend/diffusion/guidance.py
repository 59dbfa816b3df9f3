"""Distillation losses: how a denoiser pulls rendered latents towards clips it believes in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.diffusion.schedule import Estimate

Clip = Float[Tensor, "views frames channels height width"]

EARLIEST, LATEST = 0.02, 0.98  # times outside teach little: nothing is hidden, or everything


def sds_loss(
    latents: Clip,
    predict_noise: Callable[[Clip], Clip],
    alpha: float,
    sigma: float,
    noise: Clip,
) -> Float[Tensor, ""]:
    """Score distillation loss (Eq. 12); only its gradient, sigma^2 times the error, has a meaning.

    Args:
        latents: Renders of the moving part; the one input that gets a gradient.
        predict_noise: The denoiser with guidance at the time of alpha; called without grad.
        alpha: Factor of the signal at that time; `sigma` is that of the noise.
        noise: Standard normal sample, drawn by the caller so that runs can be repeated.
    """
    with torch.no_grad():
        noisy = alpha * latents + sigma * noise
        gradient = sigma**2 * (predict_noise(noisy) - noise)
    return (gradient * latents).sum()


def x0_loss(
    latents: Clip,
    predict_signal: Callable[[Clip], Clip],
    alpha: float,
    sigma: float,
    noise: Clip,
) -> Float[Tensor, ""]:
    """Half the squared distance to what the denoiser makes of the noisy latents (MVDream).

    Its gradient is that of score distillation with weight sigma / alpha. Arguments as in
    `sds_loss`, with the denoiser's clean signal instead of its noise.
    """
    with torch.no_grad():
        target = predict_signal(alpha * latents + sigma * noise)
    return 0.5 * (latents - target).square().sum()


def distillation_loss(
    kind: Literal["sds", "x0"],
    latents: Clip,
    estimate: Callable[[Clip], Estimate],
    alpha: float,
    sigma: float,
    noise: Clip,
) -> Float[Tensor, ""]:
    """`sds_loss` or `x0_loss`, with the half of the denoiser's estimate that it needs."""
    if kind == "sds":
        return sds_loss(latents, lambda noisy: estimate(noisy).noise, alpha, sigma, noise)
    return x0_loss(latents, lambda noisy: estimate(noisy).signal, alpha, sigma, noise)


def uniform_time(generator: torch.Generator) -> float:
    """A time for plain score distillation."""
    share = torch.rand((), generator=generator, device=generator.device).item()
    return EARLIEST + (LATEST - EARLIEST) * share


def annealed_time(progress: float, generator: torch.Generator) -> float:
    """A time from a window that falls with the run: first the motion at large, then its amount.

    As ImageDream distils, in the first 70 % of the run: the lower end falls from 0.98 to 0.02, the
    upper end from 0.98 to 0.5.

    Args:
        progress: Share of the run that is done, 0 to 1.
    """
    fallen = min(1.0, progress / 0.7)
    low = LATEST + (EARLIEST - LATEST) * fallen
    high = LATEST + (0.5 - LATEST) * fallen
    share = torch.rand((), generator=generator, device=generator.device).item()
    return low + (high - low) * share


def clip_pixels(
    gradient: Float[Tensor, "*lead channels height width"], largest: float = 1.0
) -> Float[Tensor, "*lead channels height width"]:
    """The gradient with no pixel's vector longer than `largest`: one wild pixel moves nothing."""
    gradient = torch.nan_to_num(gradient)
    lengths = gradient.norm(dim=-3, keepdim=True)
    return gradient * (largest / lengths.clamp_min(largest))
