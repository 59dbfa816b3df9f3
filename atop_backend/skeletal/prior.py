"""Along words, with the bundled prior: it sees where the surface goes, and the bones follow.

The prior denoises the 3D motion of the surface that four views of the rest pose show, for one
period of a gait or one gesture. Each patch's place on the rig is known, so the pose follows by
least squares. Gaits are seen on the spot, as on a treadmill; what stands on the ground then tells
how the body travels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.config import AnimateConfig
from atop_backend.contracts import AnimateRequest
from atop_backend.diffusion import bundled, guidance
from atop_backend.diffusion.bundled import BundledModel
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.device import pick_device, working_dtype
from atop_backend.diffusion.generate import encode_text
from atop_backend.diffusion.sample import predict, sample
from atop_backend.diffusion.schedule import Estimate, signal_and_noise
from atop_backend.geometry.rigs import Placement, Rig
from atop_backend.reporting import Tick
from atop_backend.skeletal import distil, parameters
from atop_backend.skeletal.distil import Guidance, Motion, Plan, Step
from atop_backend.skeletal.guided import Distilled, counter
from atop_backend.skeletal.kinematics import Pose, rest_to_posed, skeleton_of, skin_vertices
from atop_backend.skeletal.regularisers import CONTACT_HEIGHT
from atop_backend.skeletal.restviews import RestViews, rest_views
from atop_backend.skeletal.surface import Surface

PRIOR_SHARES = tuple((index + 1) / 12 for index in range(12))  # of the motion, at each frame
GAIN = 6.0  # brings the spread of motions, in radii, near that of the noise

_LOOP = 1.5  # a motion whose ends are not farther apart than this many of its steps goes round
_CONTACT_VERTICES = 1500  # that are looked at for what stands on the ground
_STEADY = 1 / 6  # share of the period over which the speed of travel is averaged


class Field(NamedTuple):
    """Where the surface goes, in the frame of the normalised rig."""

    bound: Float[Tensor, "n j 4"]  # bound points of the patches
    rest: Float[Tensor, "n 3"]
    motions: Float[Tensor, "frames n 3"]
    weights: Float[Tensor, " n"]  # pixels of a patch that see the body, as a share; mean 1


def follow_prior(
    request: AnimateRequest, settings: AnimateConfig, rig: Rig, placement: Placement, tick: Tick
) -> Distilled:
    """The motion that the bundled prior sees in a prompt."""
    model = bundled.load(name="rig")
    views = rest_views(rig)
    notes = []
    match settings.prior_guidance:
        case "sampled":
            steps = settings.prior_steps + settings.root_steps + settings.field_steps
            count = counter(steps, tick)
            motions = imagine(
                model, views, request.prompt, settings, request.seed, request.device,
                lambda step, total: count(),
            )  # fmt: skip
            field = field_of(views, motions)
            round_ = goes_round(field.motions)
            loop = request.cyclic or round_
            if loop and not round_:
                notes.append(
                    "the motion that was imagined does not end as it begins; it was made to"
                )
            motion = fit_field(rig, field, settings, loop, count)
        case "x0" | "sds":
            still = torch.zeros(views.bound.shape[0], len(PRIOR_SHARES), 3, *views.bound.shape[-2:])
            field, loop = field_of(views, still), request.cyclic
            plan = Plan(_controls(loop), settings.words_steps, True, settings.learning_rate)
            judge = Judge(model, views, request, settings, field.rest)
            motion = _follow(rig, field, judge, (plan,), settings, loop, counter(plan.steps, tick))
    start = 0.0 if loop else PRIOR_SHARES[0]
    pose = motion.pose(parameters.body_of(rig), torch.linspace(start, 1, request.frames))
    if settings.travel:
        pose = travelling(rig, pose)
    name = str(model.facts.get("name", "rig"))
    return Distilled(rig, placement, pose, request.fps, name, (), tuple(notes))


def imagine(
    model: BundledModel, views: RestViews, prompt: str, settings: AnimateConfig, seed: int,
    device_name: str, on_step: Tick,
) -> Float[Tensor, "views frames 3 latent latent"]:  # fmt: skip
    """Where each patch of the views goes, in the cameras' frame."""
    device = pick_device(device_name)
    conditions = conditions_of(views, model, encode_text(prompt)).to(device)
    generator = torch.Generator().manual_seed(seed)
    denoiser = model.denoiser.to(device, working_dtype(device))
    channels = sample(
        denoiser, conditions, settings.prior_steps, settings.prior_scale, generator, on_step=on_step
    )
    return channels[0].float().cpu() / GAIN


def conditions_of(
    views: RestViews, model: BundledModel, text: Float[Tensor, "1 tokens features"]
) -> Conditions:
    """What the prior is told, as it was trained."""
    with torch.no_grad():
        latents = model.autoencoder.encode(views.rgb[None])
    return Conditions(
        rgb=views.rgb[None],
        mask=views.mask[None].float(),
        positions=views.positions[None],
        rest_latents=latents,
        cameras=views.cameras[None],
        text=text.float(),
        frames=torch.tensor([PRIOR_SHARES]),
        part_centre=torch.zeros(1, 3),
        part_radius=torch.ones(1),
    )


def field_of(views: RestViews, motions: Float[Tensor, "views frames 3 latent latent"]) -> Field:
    """The motions of the patches that see the body."""
    share = _seen_share(views)
    seen = share > 0
    bound = views.bound.permute(0, 3, 4, 1, 2)[seen]
    bound = torch.cat(
        [views.scale * bound[..., :3] + views.shift * bound[..., 3:], bound[..., 3:]], dim=-1
    )
    weights = share[seen]
    return Field(
        bound,
        bound[..., :3].sum(dim=1),
        views.scale * motions.permute(0, 3, 4, 1, 2)[seen].transpose(0, 1),
        weights / weights.mean(),
    )


def _seen_share(views: RestViews) -> Float[Tensor, "views latent latent"]:
    """Share of each patch's pixels that see the body."""
    side = views.mask.shape[-1] // views.bound.shape[-1]
    return torch.nn.functional.avg_pool2d(views.mask.float(), side)[:, 0]


def goes_round(motions: Float[Tensor, "frames n 3"]) -> bool:
    """Whether the last frame leads on to the first."""
    steps = motions.diff(dim=0).square().mean(dim=(1, 2)).sqrt()
    jump = (motions[0] - motions[-1]).square().mean().sqrt()
    return bool(jump <= _LOOP * steps.max())


def fit_field(
    rig: Rig,
    field: Field,
    settings: AnimateConfig,
    cyclic: bool,
    tick: Callable[[], None] = lambda: None,
) -> Motion:
    """The motion of the bones that takes the surface where the field says."""
    targets = field.rest + field.motions

    def towards(points: Tensor, step: Step) -> Tensor:
        error = (points - targets).square().sum(dim=-1)
        return settings.field_weight * (field.weights * error).mean()

    plans = (
        Plan(_controls(cyclic), settings.root_steps, False, 2 * settings.learning_rate),
        Plan(_controls(cyclic), settings.field_steps, True, 2 * settings.learning_rate),
    )
    return _follow(rig, field, towards, plans, settings, cyclic, tick)


def _controls(cyclic: bool) -> int:
    return len(PRIOR_SHARES) + (not cyclic)


def _follow(
    rig: Rig, field: Field, judge: Guidance, plans: Sequence[Plan], settings: AnimateConfig,
    cyclic: bool, tick: Callable[[], None],
) -> Motion:  # fmt: skip
    """What guidance makes of the patches of a field."""
    count = len(field.rest)
    ones = torch.ones(count)
    surface = Surface(field.bound, torch.zeros(count, 3), ones, 0.0, field.rest, ones)
    times = torch.tensor(PRIOR_SHARES)
    return distil.distil(rig, surface, judge, times, plans, settings, cyclic, tick=tick)


class Judge:
    """Guidance by score distillation: the prior judges where the patches have come to."""

    def __init__(
        self, model: BundledModel, views: RestViews, request: AnimateRequest,
        settings: AnimateConfig, rest: Float[Tensor, "n 3"],
    ) -> None:  # fmt: skip
        self._device = pick_device(request.device)
        self._denoiser = model.denoiser.to(self._device, working_dtype(self._device))
        conditions = conditions_of(views, model, encode_text(request.prompt))
        self._conditions = conditions.to(self._device)
        self._generator = torch.Generator().manual_seed(request.seed)
        self._views, self._settings = views, settings
        self._seen = _seen_share(views) > 0
        self._rest = rest

    def __call__(self, points: Float[Tensor, "frames n 3"], step: Step) -> Float[Tensor, ""]:
        """The loss of a step, a mean over patches."""
        settings, frames = self._settings, len(points)
        places = torch.zeros(*self._seen.shape, frames, 3)
        places[self._seen] = GAIN / self._views.scale * (points - self._rest).transpose(0, 1)
        channels = places.permute(0, 3, 4, 1, 2).to(self._device)
        time = guidance.annealed_time(step.progress, self._generator)
        alpha, sigma = signal_and_noise("v", time)
        noise = torch.randn(channels.shape, generator=self._generator).to(self._device)

        def estimate(noisy: Tensor) -> Estimate:
            told = predict(
                self._denoiser, noisy[None], time, self._conditions, settings.prior_scale
            )
            return Estimate(told.signal[0], told.noise[0])

        kind = "sds" if settings.prior_guidance == "sds" else "x0"
        loss = guidance.distillation_loss(kind, channels, estimate, alpha, sigma, noise)
        return settings.field_weight * 2 * loss.cpu() / (GAIN**2 * frames * points.shape[1])


def travelling(rig: Rig, pose: Pose) -> Pose:
    """The same motion of the limbs, the body carried so that what stands on the ground stays."""
    picks = np.unique(np.linspace(0, len(rig.vertices) - 1, _CONTACT_VERTICES).astype(int))
    some = rig._replace(vertices=rig.vertices[picks], weights=rig.weights[picks])
    points = skin_vertices(some, rest_to_posed(skeleton_of(rig), pose))
    low = torch.maximum(points[:-1, :, 2], points[1:, :, 2])
    contact = ((CONTACT_HEIGHT - low) / CONTACT_HEIGHT).clamp(0, 1)[..., None]
    steps = (contact * points.diff(dim=0)[..., :2]).sum(dim=1)
    standing = contact.sum(dim=1)
    steps = torch.where(standing > 0, steps / standing.clamp_min(1e-6), torch.nan)
    steps = _steady(steps)
    shifts = pose.root_shifts.clone()
    shifts[1:, :2] -= steps.cumsum(dim=0)
    return pose._replace(root_shifts=shifts)


def _steady(steps: Float[Tensor, "steps 2"]) -> Float[Tensor, "steps 2"]:
    """Running means of the steps; one in the air goes on as those around it."""
    reach = max(1, round(_STEADY * len(steps) / 2))
    means = []
    for index in range(len(steps)):
        near = steps[max(0, index - reach) : index + reach + 1]
        means.append(near.nanmean(dim=0))
    means = torch.stack(means)
    return torch.where(means.isnan(), steps.nanmean(dim=0), means).nan_to_num()
