"""How much signal and noise there is at each time, and conversions between predictions.

Time runs from 0 (clean) to 1 (noise) for both networks. The bundled one predicts v on a continuous
cosine schedule. ImageDream's predicts the noise on the 1000 steps of Stable Diffusion 2.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.diffusion.denoiser import Prediction

TRAINING_STEPS = 1000
_BETAS = (0.00085, 0.012)  # of Stable Diffusion, evenly spaced in their square roots


class Estimate(NamedTuple):
    """What a network's output says about noisy latents: noisy = alpha signal + sigma noise."""

    signal: Tensor
    noise: Tensor


@cache
def alpha_bars() -> Float[Tensor, " steps"]:
    """Share of signal power left after each of Stable Diffusion's steps."""
    roots = torch.linspace(_BETAS[0] ** 0.5, _BETAS[1] ** 0.5, TRAINING_STEPS, dtype=torch.float64)
    return (1 - roots.square()).cumprod(dim=0)


def step_index(time: float) -> int:
    """The training step of Stable Diffusion that is nearest to a time."""
    return round(time * (TRAINING_STEPS - 1))


def signal_and_noise(prediction: Prediction, time: float) -> tuple[float, float]:
    """The factors alpha and sigma at a time; their squares add up to 1."""
    match prediction:
        case "v":
            return math.cos(time * math.pi / 2), math.sin(time * math.pi / 2)
        case "epsilon":
            share = float(alpha_bars()[step_index(time)])
            return math.sqrt(share), math.sqrt(1 - share)


def sampling_times(prediction: Prediction, steps: int) -> list[float]:
    """Times from noise to clean: where each step starts, and last where the final one ends."""
    match prediction:
        case "v":
            return [1 - i / steps for i in range(steps + 1)]
        case "epsilon":
            stride = TRAINING_STEPS // steps
            indices = [i * stride + 1 for i in reversed(range(steps))]  # as ImageDream samples
            if indices[0] < 900:  # few of those steps would not begin in noise
                indices = [round((TRAINING_STEPS - 1) * (1 - i / steps)) for i in range(steps)]
            return [index / (TRAINING_STEPS - 1) for index in (*indices, 0)]


def interpret(
    prediction: Prediction, output: Tensor, noisy: Tensor, alpha: float, sigma: float
) -> Estimate:
    """Signal and noise that a network's output implies."""
    match prediction:
        case "v":
            return Estimate(alpha * noisy - sigma * output, alpha * output + sigma * noisy)
        case "epsilon":
            return Estimate((noisy - sigma * output) / alpha, output)


def training_target(
    prediction: Prediction,
    signal: Tensor,
    noise: Tensor,
    alpha: float | Tensor,
    sigma: float | Tensor,
) -> Tensor:
    """What a network should answer."""
    match prediction:
        case "v":
            return alpha * noise - sigma * signal
        case "epsilon":
            return noise
