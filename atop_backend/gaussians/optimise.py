"""Moves the part's Gaussians until their renders are what the denoiser expects (paper 4.4)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.contracts import Camera, Guidance
from atop_backend.diffusion.clips import COLOUR, MOTION, MOTION_GAIN
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.denoiser import Denoiser
from atop_backend.diffusion.guidance import (
    annealed_time,
    clip_pixels,
    distillation_loss,
    uniform_time,
)
from atop_backend.diffusion.sample import OnStep, predict, sample
from atop_backend.diffusion.schedule import Estimate, signal_and_noise
from atop_backend.gaussians.cloud import GaussianCloud
from atop_backend.gaussians.rigid import Rigid, at_rest, best_rigid
from atop_backend.gaussians.scene import Scene, prepare, render_clip

ClipChannels = Float[Tensor, "views frames channels height width"]


@dataclass(frozen=True, slots=True)
class OptimiseConfig:
    """How the part's Gaussians are moved. The defaults do on two CPU cores."""

    steps: int = 60  # the paper does not say; `PAPER` takes 1000
    learning_rate: float = 5e-3  # in units of the object's radius and in radians (paper 5.1)
    rigid: bool = True  # the part moves as one; the paper moves every Gaussian by itself
    start: bool = True  # from the motion channels of one sample, where the denoiser has them
    guidance_scale: float = 1.0  # halves the work; the paper's 5 is for ImageDream
    rescale: float = 0.2  # of the guided signal in x0, see `sample.predict`
    sampling_steps: int = 4  # of the clip that "sampled" follows, and of the start
    chained: bool = True  # a frame adds to the one before, so early frames draw later ones along
    rigidity: float = 3.0  # if not rigid: weight of squared distances to each frame's best motion
    smoothness: float = 0.3  # weight of squared second differences over time
    paper_betas: bool = False  # the betas as printed
    colour_weight: float = 0.3  # of squared errors in "sampled"; colours smear before outlines do
    elsewhere: float = 0.05  # weight of pixels where the part neither is nor comes, in "sampled"
    recompute: bool = False  # the memory of one picture instead of all, for a third more time


PAPER = OptimiseConfig(
    steps=1000,
    guidance_scale=5.0,
    sampling_steps=50,
    rigid=False,
    start=False,
    chained=False,
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
    motions = config.start and denoiser.channels > COLOUR.stop
    asks = target is None and (guidance == "sampled" or motions)
    before = config.sampling_steps if asks else 0
    total = before + config.steps
    if asks:
        target = _sampled_clip(denoiser, conditions, config, generator, total, on_step)
    rest = cloud.centres[0, cloud.moving]
    path = _Path(rest, len(cloud.centres) - 1, config)
    if motions and target is not None:
        path.start(_shown_motion(target, scene, rest))
    optimiser = torch.optim.Adam(path.values, lr=config.learning_rate)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step / config.steps))
    for step in range(config.steps):
        optimiser.zero_grad()
        places = path.places()
        renders = render_clip(scene, cloud, places, config.recompute)
        match guidance:
            case "sampled":
                loss = _squared_error(renders, target, scene, config)  # type: ignore[arg-type]
            case "sds" | "x0":
                progress = step / config.steps
                loss = _distil(renders, denoiser, conditions, guidance, config, progress, generator)
        if config.rigidity and not config.rigid:
            loss = loss + config.rigidity * rigidity_loss(rest, places)
        if config.smoothness:
            loss = loss + config.smoothness * smoothness_loss(places - rest)
        loss.backward()
        optimiser.step()
        falling.step()
        if on_step is not None:
            on_step(before + step + 1, total)
    centres = cloud.centres.clone()
    centres[1:, cloud.moving] = path.places().detach()
    return cloud._replace(centres=centres)


class _Path:
    """Places of the part's Gaussians over time, and the numbers that are optimised."""

    def __init__(self, rest: Tensor, frames: int, config: OptimiseConfig) -> None:
        self._rest = rest
        self._config = config
        self._base = at_rest(rest, frames)
        shapes = ((frames, 3), (frames, 3)) if config.rigid else ((frames, *rest.shape),)
        self.values = [rest.new_zeros(shape).requires_grad_() for shape in shapes]

    def start(self, base: Rigid) -> None:
        """Continue from a motion."""
        self._base = base

    def places(self) -> Float[Tensor, "frames n 3"]:
        chained = self._config.chained
        values = [value.cumsum(dim=0) if chained else value for value in self.values]
        if self._config.rigid:
            return self._base.turned(*values).place(self._rest)
        return self._base.place(self._rest) + values[0]


def _shown_motion(clip: Tensor, scene: Scene, rest: Tensor) -> Rigid:
    """The rigid motion that a clip's motion channels tell."""
    points = scene.tracks @ rest
    shifts = clip[:, :, MOTION].flatten(3).permute(1, 0, 3, 2) / MOTION_GAIN * scene.part_radius
    seen = scene.mask.flatten()
    return best_rigid(points.flatten(0, 1), (points + shifts).flatten(1, 2), seen)


def _rate(progress: float) -> float:
    """Share of the learning rate: full, then falling to 0, so that noise averages out."""
    return min(1.0, 2 * (1 - progress))


def _sampled_clip(
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
    kind = "sds" if guidance == "sds" else "x0"
    if kind == "sds":
        time, rescale = uniform_time(generator), 0.0
    else:
        time, rescale = annealed_time(progress, generator), config.rescale
    alpha, sigma = signal_and_noise(denoiser.prediction, time)

    def ask(noisy: Tensor) -> Estimate:
        found = predict(denoiser, noisy[None], time, conditions, config.guidance_scale, rescale)
        return Estimate(found.signal[0], found.noise[0])

    leaf = renders.detach().requires_grad_()
    (pull,) = torch.autograd.grad(distillation_loss(kind, leaf, ask, alpha, sigma, noise), leaf)
    return (clip_pixels(pull) * renders).sum() / renders[:, :, 0].numel()


def rigidity_loss(
    rest: Float[Tensor, "n 3"], moved: Float[Tensor, "frames n 3"]
) -> Float[Tensor, ""]:
    """Mean squared distance of the points to the best rigid motion of each frame."""
    rigid = best_rigid(rest, moved, torch.ones_like(rest[:, 0])).place(rest)
    return (moved - rigid).square().sum(dim=2).mean()


def smoothness_loss(offsets: Float[Tensor, "frames n 3"]) -> Float[Tensor, ""]:
    """Mean squared second difference over time, the rest frame before the first included."""
    path = torch.cat([torch.zeros_like(offsets[:1]), offsets])
    if len(path) < 3:
        return offsets.new_zeros(())
    bends = path[2:] - 2 * path[1:-1] + path[:-2]
    return bends.square().sum(dim=2).mean()
