"""Moves the part's Gaussians until their renders are what the denoiser expects (paper 4.4)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.contracts import Camera, Guidance
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.denoiser import Denoiser
from atop_backend.diffusion.guidance import (
    annealed_time,
    clip_pixels,
    sds_loss,
    uniform_time,
    x0_loss,
)
from atop_backend.diffusion.sample import OnStep, predict, sample
from atop_backend.diffusion.schedule import signal_and_noise
from atop_backend.gaussians.cloud import GaussianCloud
from atop_backend.gaussians.scene import Scene, prepare, render_clip

ClipChannels = Float[Tensor, "views frames channels height width"]


@dataclass(frozen=True, slots=True)
class OptimiseConfig:
    """How the part's Gaussians are moved. The defaults do on two CPU cores."""

    steps: int = 120  # the paper does not say; `PAPER` takes 1000
    learning_rate: float = 5e-3  # in units of the object's radius (paper 5.1)
    guidance_scale: float = 2.0  # the paper's 5 is for ImageDream
    rescale: float = 0.2  # of the guided signal in x0, see `sample.predict`
    sampling_steps: int = 8  # of the clip that "sampled" follows
    rigidity: float = 3.0  # weight of the squared distance to each frame's best rigid motion
    smoothness: float = 0.3  # weight of squared second differences over time
    paper_betas: bool = False  # the betas as printed
    colour_weight: float = 0.3  # of squared errors in "sampled"; colours smear before outlines do
    elsewhere: float = 0.05  # weight of pixels where the part neither is nor comes, in "sampled"
    recompute: bool = False  # the memory of one picture instead of all, for a third more time


PAPER = OptimiseConfig(
    steps=1000,
    guidance_scale=5.0,
    sampling_steps=50,
    rigidity=0.0,
    smoothness=0.0,
    paper_betas=True,
    recompute=True,
)


def articulate_cloud(
    cloud: GaussianCloud,
    cameras: tuple[Camera, ...],
    denoiser: Denoiser,
    conditions: Conditions,
    guidance: Guidance,
    config: OptimiseConfig,
    generator: torch.Generator,
    target: ClipChannels | None = None,
    on_step: OnStep | None = None,
) -> GaussianCloud:
    """The cloud with the part's centres moved in all frames but the first.

    Args:
        cloud: At rest in every frame; its features are fitted here.
        conditions: Of one clip; frame k of them is frame k + 1 of the cloud.
        guidance: "sampled" fits the renders to one clip, "sds" distils as in Eq. 12, "x0" in its
            reconstruction form with falling times.
        target: The clip that "sampled" follows, as the denoiser's channels; None samples one.
    """
    cloud, scene = prepare(cloud, cameras, conditions, denoiser.channels, config.paper_betas)
    total = config.steps
    if guidance == "sampled" and target is None:
        total += config.sampling_steps
        target = _sampled_target(denoiser, conditions, config, generator, total, on_step)
    before = total - config.steps
    rest = cloud.centres[0, cloud.moving]
    offsets = torch.zeros_like(cloud.centres[1:, cloud.moving]).requires_grad_()
    optimiser = torch.optim.Adam([offsets], lr=config.learning_rate)
    for step in range(config.steps):
        optimiser.zero_grad()
        renders = render_clip(scene, cloud, rest + offsets, config.recompute)
        progress = step / config.steps
        match guidance:
            case "sampled":
                loss = _squared_error(renders, target, scene, config)  # type: ignore[arg-type]
            case "sds" | "x0":
                loss = _distil(renders, denoiser, conditions, guidance, config, progress, generator)
        if config.rigidity:
            loss = loss + config.rigidity * rigidity_loss(rest, rest + offsets)
        if config.smoothness:
            loss = loss + config.smoothness * smoothness_loss(offsets)
        loss.backward()
        optimiser.step()
        if on_step is not None:
            on_step(before + step + 1, total)
    centres = cloud.centres.clone()
    centres[1:, cloud.moving] = rest + offsets.detach()
    return cloud._replace(centres=centres)


def _sampled_target(
    denoiser: Denoiser,
    conditions: Conditions,
    config: OptimiseConfig,
    generator: torch.Generator,
    total: int,
    on_step: OnStep | None,
) -> Tensor:
    def count(step: int, _: int) -> None:
        if on_step is not None:
            on_step(step, total)

    return sample(
        denoiser,
        conditions,
        config.sampling_steps,
        config.guidance_scale,
        generator,
        on_step=count,
    )[0]


def _squared_error(
    renders: Tensor, target: Tensor, scene: Scene, config: OptimiseConfig
) -> Float[Tensor, ""]:
    """Mean squared error where the part is or may come, and a little elsewhere."""
    errors = (renders - target).square()
    coloured = config.colour_weight * errors[:, :, :4].sum(dim=2)
    places = torch.where(scene.reach(target), 1.0, config.elsewhere)
    return (places * (coloured + errors[:, :, 4:].sum(dim=2))).mean()


def _distil(
    renders: Tensor,
    denoiser: Denoiser,
    conditions: Conditions,
    guidance: Guidance,
    config: OptimiseConfig,
    progress: float,
    generator: torch.Generator,
) -> Float[Tensor, ""]:
    """One step of score distillation: one time for all views and frames, fresh noise."""
    noise = torch.randn(renders.shape, generator=generator, device=generator.device)
    noise = noise.to(renders.device)
    if guidance == "sds":
        time, rescale, loss = uniform_time(generator), 0.0, sds_loss
    else:
        time, rescale, loss = annealed_time(progress, generator), config.rescale, x0_loss
    alpha, sigma = signal_and_noise(denoiser.prediction, time)

    def ask(noisy: Tensor) -> Tensor:
        estimate = predict(denoiser, noisy[None], time, conditions, config.guidance_scale, rescale)
        return (estimate.noise if guidance == "sds" else estimate.signal)[0]

    leaf = renders.detach().requires_grad_()
    (pull,) = torch.autograd.grad(loss(leaf, ask, alpha, sigma, noise), leaf)
    return (clip_pixels(pull) * renders).sum() / renders[:, :, 0].numel()


def rigidity_loss(
    rest: Float[Tensor, "n 3"], moved: Float[Tensor, "frames n 3"]
) -> Float[Tensor, ""]:
    """Mean squared distance of the points to the best rigid motion of each frame."""
    with torch.no_grad():
        centred, goals = rest - rest.mean(dim=0), moved - moved.mean(dim=1, keepdim=True)
        left, _, right = torch.linalg.svd(torch.einsum("ni,fnj->fij", centred, goals))
        signs = torch.ones(len(moved), 3, dtype=rest.dtype, device=rest.device)
        signs[:, 2] = torch.linalg.det(left @ right).sign()  # a rotation, not a reflection
        rotations = (left * signs[:, None]) @ right
        rigid = centred @ rotations + moved.mean(dim=1, keepdim=True)
    return (moved - rigid).square().sum(dim=2).mean()


def smoothness_loss(offsets: Float[Tensor, "frames n 3"]) -> Float[Tensor, ""]:
    """Mean squared second difference over time, the rest frame before the first included."""
    path = torch.cat([torch.zeros_like(offsets[:1]), offsets])
    if len(path) < 3:
        return offsets.new_zeros(())
    bends = path[2:] - 2 * path[1:-1] + path[:-2]
    return bends.square().sum(dim=2).mean()
