"""Along words: a video diffusion model judges rendered videos of the body (AKD).

Score distillation through the pixels: Gaussians on a checkerboard ground are rendered, encoded,
noised, and pulled towards what the model makes of them.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from atop_backend.config import AnimateConfig
from atop_backend.contracts import AnimateRequest
from atop_backend.diffusion import guidance
from atop_backend.diffusion.cogvideox import CogVideoX, Words
from atop_backend.diffusion.device import pick_device
from atop_backend.geometry.rigs import Placement, Rig
from atop_backend.reporting import Tick
from atop_backend.skeletal import distil, parameters
from atop_backend.skeletal.distil import Plan, Step
from atop_backend.skeletal.guided import Distilled, counter
from atop_backend.skeletal.kinematics import Pose
from atop_backend.skeletal.pictures import (
    SKY,
    calibrated,
    camera_around,
    checkerboard,
    draw_whole,
    follow_shifts,
    moved,
    rays_of,
)
from atop_backend.skeletal.surface import Surface, bind_gaussians


def follow_words(
    request: AnimateRequest, settings: AnimateConfig, rig: Rig, placement: Placement, tick: Tick
) -> Distilled:
    """The motion that CogVideoX sees in a prompt."""
    assert request.weights is not None
    device = pick_device(request.device)
    model = CogVideoX.load(request.weights, device)
    words = model.read(request.prompt)
    frames = model.frames_for(request.frames)
    rng = np.random.default_rng(request.seed)
    surface = calibrated(rig, bind_gaussians(rig, settings.points, rng))
    with torch.device(device):  # all tensors of the search live there
        generator = torch.Generator(device).manual_seed(request.seed)
        judge = Judge(model, words, surface.to(device), rig, settings, generator)
        times = torch.linspace(0, 1, frames)
        controls = max(4, round(frames / settings.frames_per_control)) if settings.splines else 0
        plan = Plan(controls, settings.words_steps, True, settings.learning_rate)
        motion = distil.distil(
            rig, judge.surface, judge, times, (plan,), settings, request.cyclic,
            tick=counter(plan.steps, tick),
        )  # fmt: skip
        pose = motion.pose(parameters.body_of(rig), times)
    pose = Pose(*(part.cpu() for part in pose))
    name = f"CogVideoX in {request.weights.name}"
    return Distilled(rig, placement, pose, request.fps, name, (), ())


class Judge:
    """Guidance by the model: the distillation loss of the rendered video."""

    def __init__(
        self,
        model: CogVideoX,
        words: Words,
        surface: Surface,
        rig: Rig,
        settings: AnimateConfig,
        generator: torch.Generator,
    ) -> None:
        self.surface = surface
        self._model, self._words = model, words
        self._settings, self._generator = settings, generator
        height, width = model.picture_size
        small = min(1.0, settings.words_px / width)
        middle = (0.0, 0.0, float(rig.vertices[:, 2].max()) / 2)
        self._camera = camera_around(
            middle,
            math.radians(settings.azimuth_deg),
            math.radians(settings.elevation_deg),
            max(8, round(width * small)),
            max(8, round(height * small)),
        )
        self._rays = rays_of(self._camera)

    def __call__(self, points: Float[Tensor, "frames n 3"], step: Step) -> Float[Tensor, ""]:
        """The loss of a step, a mean over latents."""
        settings, model = self._settings, self._model
        pictures = self.pictures(points, step.shifts)
        enlarged = torch.nn.functional.interpolate(
            pictures, size=model.picture_size, mode="bilinear", align_corners=False
        )
        latents = model.encode(enlarged)
        noise = torch.randn(latents.shape, generator=self._generator)
        time = guidance.annealed_time(step.progress, self._generator)
        estimate = model.estimate(self._words, time, settings.words_scale)
        _, alpha, sigma = model.levels(time)
        loss = guidance.distillation_loss(
            settings.distillation, latents, estimate, alpha, sigma, noise
        )
        return settings.words_weight * loss / latents.numel()

    def pictures(
        self, points: Float[Tensor, "frames n 3"], shifts: Float[Tensor, "frames 3"]
    ) -> Float[Tensor, "frames 3 height width"]:
        """The video of the body, from a camera that follows the root if it is to."""
        settings, camera = self._settings, self._camera
        carried = follow_shifts(shifts) if settings.follow else torch.zeros_like(shifts)
        drawn = [self._picture(points[frame], carried[frame]) for frame in range(len(points))]
        stacked = torch.stack(drawn).unflatten(1, (camera.height_px, camera.width_px))
        return stacked.permute(0, 3, 1, 2)

    def _picture(
        self, points: Float[Tensor, "n 3"], carried: Float[Tensor, " 3"]
    ) -> Float[Tensor, "pixels 3"]:
        settings, surface, rays = self._settings, self.surface, self._rays
        ground = settings.ground
        background = (
            checkerboard(moved(rays, carried))
            if ground
            else torch.tensor(SKY).expand(len(rays[1]), 3)
        )

        def render(centres: Tensor) -> Tensor:
            seen = centres - carried  # the camera goes along the ground, whose height stays
            return draw_whole(
                seen, surface, self._camera, rays, background, ground, settings.renderer
            )[0]

        # one picture's intermediate results at a time
        return checkpoint(render, points, use_reentrant=False)
