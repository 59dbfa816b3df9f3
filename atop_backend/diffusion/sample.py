"""DDIM sampling with classifier-free guidance, for either denoiser."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.diffusion.conditions import Conditions, drop_text
from atop_backend.diffusion.denoiser import ClipLatents, Denoiser
from atop_backend.diffusion.schedule import (
    Estimate,
    interpret,
    sampling_times,
    signal_and_noise,
)

OnStep = Callable[[int, int], None]  # steps done, steps in all; raise from it to stop


@torch.no_grad()
def sample(
    denoiser: Denoiser,
    conditions: Conditions,
    steps: int,
    guidance_scale: float,
    generator: torch.Generator,
    samples: int = 1,
    batch: int = 4,
    eta: float = 0.0,
    on_step: OnStep | None = None,
) -> Float[Tensor, "clips views frames channels latent latent"]:
    """Channels of new clips: `samples` of the first entry of the conditions, then of the next.

    Args:
        guidance_scale: 1 takes the words as trained, and needs one pass a step instead of two.
        generator: Draws all noise on its own device, so that a seed means the same everywhere.
        batch: Clips that are denoised together; limits memory. The first noise of each clip does
            not depend on it.
        eta: Fresh noise a step, from 0 (deterministic DDIM) to 1 (ancestral).
    """
    repeated = conditions.repeat(samples)
    noise = _draw(_clip_shape(denoiser, repeated), generator, repeated.rgb)
    chunks = range(0, len(noise), batch)
    total = steps * len(chunks)
    clips = []
    for number, start in enumerate(chunks):
        entries = slice(start, start + batch)

        def count(step: int, before: int = number * steps) -> None:
            if on_step is not None:
                on_step(before + step, total)

        part = Conditions(*(value[entries] for value in repeated))
        clips.append(
            _denoise(denoiser, noise[entries], part, steps, guidance_scale, generator, eta, count)
        )
    return torch.cat(clips)


def _denoise(
    denoiser: Denoiser,
    latents: Tensor,
    conditions: Conditions,
    steps: int,
    guidance_scale: float,
    generator: torch.Generator,
    eta: float,
    count: Callable[[int], None],
) -> Tensor:
    times = sampling_times(denoiser.prediction, steps)
    for step, (time, next_time) in enumerate(itertools.pairwise(times)):
        estimate = predict(denoiser, latents, time, conditions, guidance_scale)
        alpha, sigma = signal_and_noise(denoiser.prediction, time)
        next_alpha, next_sigma = signal_and_noise(denoiser.prediction, next_time)
        fresh = eta * next_sigma / sigma * math.sqrt(max(0.0, 1 - (alpha / next_alpha) ** 2))
        kept = math.sqrt(next_sigma**2 - fresh**2)
        latents = next_alpha * estimate.signal + kept * estimate.noise
        if fresh:
            latents = latents + fresh * _draw(tuple(latents.shape), generator, latents)
        count(step + 1)
    return latents


def predict(
    denoiser: Denoiser,
    noisy: ClipLatents,
    time: float,
    conditions: Conditions,
    guidance_scale: float,
    rescale: float = 0.0,
) -> Estimate:
    """Signal and noise in latents, as the guided denoiser sees them.

    Args:
        rescale: Share of the correction that gives the guided signal the spread of the plain one
            (MVDream; 0.2 in ImageDream's distillation). Guidance alone makes colours too strong.
    """
    alpha, sigma = signal_and_noise(denoiser.prediction, time)
    timestep = torch.full((len(noisy),), time, device=noisy.device)
    if guidance_scale == 1.0:
        told = denoiser.denoise(noisy, timestep, conditions)
        return interpret(denoiser.prediction, told, noisy, alpha, sigma)
    joined = noisy.is_cuda and len(noisy) == 1  # a GPU is not busy with one clip
    told, untold = _both(denoiser, noisy, timestep, conditions, joined)
    guided = untold + guidance_scale * (told - untold)
    estimate = interpret(denoiser.prediction, guided, noisy, alpha, sigma)
    if rescale == 0.0:
        return estimate
    plain = interpret(denoiser.prediction, told, noisy, alpha, sigma).signal
    axes = tuple(range(1, noisy.ndim))
    ratio = plain.std(dim=axes, keepdim=True) / estimate.signal.std(dim=axes, keepdim=True)
    signal = estimate.signal * (rescale * ratio + 1 - rescale)
    return Estimate(signal, (noisy - alpha * signal) / sigma)


def _both(
    denoiser: Denoiser, noisy: Tensor, timestep: Tensor, conditions: Conditions, joined: bool
) -> tuple[Tensor, Tensor]:
    """What the denoiser answers with and without the words, in one pass or with half the memory."""
    without = drop_text(conditions)
    if not joined:
        return tuple(denoiser.denoise(noisy, timestep, told) for told in (conditions, without))  # type: ignore[return-value]
    pairs = Conditions(*map(torch.cat, zip(conditions, without, strict=True)))
    answers = denoiser.denoise(torch.cat([noisy, noisy]), timestep.repeat(2), pairs)
    return answers.chunk(2)  # type: ignore[return-value]


def _clip_shape(denoiser: Denoiser, conditions: Conditions) -> tuple[int, ...]:
    batch, views, _, height, width = conditions.rest_latents.shape
    return (batch, views, conditions.frames.shape[1], denoiser.channels, height, width)


def _draw(shape: tuple[int, ...], generator: torch.Generator, like: Tensor) -> Tensor:
    return torch.randn(shape, generator=generator, device=generator.device).to(like.device)
