"""Evidence by gaussians on the object that follow a prior through its clip (paper 4.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from atop_backend.config import Config
from atop_backend.contracts import Camera, Guidance
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.generate import Prior
from atop_backend.gaussians.cloud import build_cloud
from atop_backend.gaussians.optimise import PAPER, OptimiseConfig, articulate_cloud
from atop_backend.geometry.cameras import DISTANCE
from atop_backend.geometry.meshes import RestShape, sample_surface
from atop_backend.motion.evidence import BLOCK_PX, MotionEvidence, evidence_from_tracks


def follow_prior(
    prior: Prior,
    conditions: Conditions,
    shape: RestShape,
    cameras: tuple[Camera, ...],
    guidance: Guidance,
    config: Config,
    seed: int,
    latents: np.ndarray | None,
    on_step: Callable[[int, int], None],
) -> MotionEvidence:
    """Where gaussians on the part go when their renders are pulled towards what the prior expects.

    Args:
        conditions: Of one clip.
        latents: Colours of sampled clips, (samples, views, frames, 4, 32, 32); "sampled" follows
            the first where the prior has colours alone, and samples anew where it has more.
    """
    settings, literal = config.fit, config.fit.hypotheses == "paper"
    rng = np.random.default_rng(seed)
    points = [
        torch.tensor(sample_surface(shape, settings.points, rng, part)[0], dtype=torch.float32)
        for part in (True, False)
    ]
    cloud = build_cloud(
        points[0].to(prior.device),
        points[1].to(prior.device),
        frames=conditions.frames.shape[1] + 1,
        pixel_size=BLOCK_PX * DISTANCE / cameras[0].focal_px,
    )
    how = replace(
        PAPER if literal else OptimiseConfig(),
        steps=settings.optimise_steps,
        learning_rate=settings.learning_rate,
    )
    if literal:
        how = replace(how, guidance_scale=config.generate.guidance_scale,
                      sampling_steps=config.generate.steps)  # fmt: skip
    target = None
    if latents is not None and prior.denoiser.channels == latents.shape[3]:
        target = torch.from_numpy(latents[0]).float().to(prior.device)
    moved = articulate_cloud(
        cloud, cameras, prior.denoiser, conditions, guidance, how,
        torch.Generator().manual_seed(seed), target=target, on_step=on_step,
    )  # fmt: skip
    centres = moved.centres[:, moved.moving].cpu().numpy()
    return evidence_from_tracks(centres, conditions.frames[0].cpu().numpy(), cameras)
