"""The search for a motion: variables, guidance and regularisers in one optimisation loop.

The guidance is a function of the moving Gaussians, so videos and diffusion models share the loop.
Coarse to fine: first the body as a whole, then all bones on few control points, then on all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.config import AnimateConfig
from atop_backend.geometry.rigs import Rig
from atop_backend.skeletal import parameters, regularisers
from atop_backend.skeletal.joint_classes import ClassLimits, beyond_class, limits_by_class
from atop_backend.skeletal.kinematics import Pose, rest_to_posed, skin
from atop_backend.skeletal.parameters import Body, Variables
from atop_backend.skeletal.surface import Surface

_ROOT_RATE = 0.5  # learning rate of the root, of that of the bones


class Step(NamedTuple):
    """What guidance may know of the step it is asked in."""

    last: bool  # in the last stage, where details count
    progress: float  # share of the run, 0 to 1
    shifts: Float[Tensor, "frames 3"]  # of the root, for cameras that follow


Guidance = Callable[[Float[Tensor, "frames n 3"], Step], Tensor]


class Plan(NamedTuple):
    """One stage of the run."""

    controls: int  # control points; 0 for a frame each
    steps: int
    bones: bool  # the bones move and the body turns; else it is only carried along
    rate: float  # learning rate, radians; of shifts, radii


def plans(settings: AnimateConfig, frames: int) -> tuple[Plan, ...]:
    """Coarse to fine: the body as a whole, all bones on few control points, then on all."""
    rate = settings.learning_rate
    if not settings.splines:
        coarse = fine = 0
    else:
        fine = max(4, min(frames, round(frames / settings.frames_per_control)))
        coarse = max(4, fine // 2)
    return (
        Plan(coarse, settings.root_steps, False, 2 * rate),
        Plan(coarse, settings.coarse_steps, True, rate),
        Plan(fine, settings.fine_steps, True, 0.5 * rate),
    )


class Motion(NamedTuple):
    """A motion between times 0 and 1."""

    variables: Variables
    plan: Plan  # of its control points
    times: Float[Tensor, " frames"]  # that it was made for
    cyclic: bool

    def basis(self, at: Float[Tensor, " frames"]) -> Float[Tensor, "frames controls"]:
        """Shares of the control points at some times."""
        return _basis(at, self.plan, self.cyclic, self.times)

    def pose(self, body: Body, at: Float[Tensor, " frames"]) -> Pose:
        """The poses at some times."""
        return parameters.pose(body, self.variables, self.basis(at))


class Weighted(NamedTuple):
    """The regularisers with their weights and what they need to know of the rig."""

    settings: AnimateConfig
    limits: Float[Tensor, "j 3 2"]
    limited: Tensor  # (j, 3) bool
    classes: ClassLimits  # of bones whose rig gives no limits


def weigh(settings: AnimateConfig, rig: Rig) -> Weighted:
    """The regularisers of a rig; limits are those of its bones."""
    limits = torch.as_tensor(rig.limits, dtype=torch.float32)
    limited = ~limits.isnan().any(dim=-1)
    return Weighted(settings, torch.nan_to_num(limits), limited, limits_by_class(rig))


def regularise(
    weighted: Weighted,
    body: Body,
    variables: Variables,
    basis: Float[Tensor, "frames controls"],
    pose: Pose,
    points: Float[Tensor, "frames n 3"],
) -> Float[Tensor, ""]:
    """The weighted sum of the terms that are on."""
    settings = weighted.settings
    total = points.new_zeros(())
    vectors = torch.einsum("fk,kbc->fbc", basis, variables.bones)
    if settings.smooth_weight:
        bones = vectors.flatten(1)
        whole = torch.cat([basis @ variables.turns, basis @ variables.shifts], dim=1)
        rough = regularisers.roughness(bones) + regularisers.roughness(whole)
        total = total + settings.smooth_weight * rough
    if settings.ground_weight:
        total = total + settings.ground_weight * regularisers.penetration(points)
    if settings.slide_weight:
        total = total + settings.slide_weight * regularisers.sliding(points)
    if settings.limit_weight and weighted.limited.any():
        beyond = regularisers.beyond_limits(pose.rotations, weighted.limits, weighted.limited)
        total = total + settings.limit_weight * beyond.square().sum(dim=(1, 2)).mean()
    if settings.limit_weight:
        beyond = beyond_class(vectors, weighted.classes)
        total = total + settings.limit_weight * beyond.square().sum(dim=1).mean()
    if settings.rest_weight:
        total = total + settings.rest_weight * variables.bones.square().sum(dim=-1).mean()
    return total


def distil(
    rig: Rig,
    surface: Surface,
    guidance: Guidance,
    times: Float[Tensor, " frames"],
    stages: Sequence[Plan],
    settings: AnimateConfig,
    cyclic: bool = False,
    start: Motion | None = None,
    tick: Callable[[], None] = lambda: None,
) -> Motion:
    """The motion that the guidance and the regularisers agree on.

    Args:
        rig: Normalised.
        times: Of the frames that the guidance looks at.
        stages: One after the other.
        start: None for the rest pose.
        tick: Called after each step; may raise to cancel.
    """
    body = parameters.body_of(rig)
    weighted = weigh(settings, rig)
    total, done = sum(plan.steps for plan in stages), 0
    still = parameters.at_rest(body, len(times))
    motion = start or Motion(still, Plan(0, 0, False, 0.0), times, False)
    for number, plan in enumerate(stages):
        basis = _basis(times, plan, cyclic, times)
        variables = parameters.convert(motion.variables, motion.basis(times), basis)
        leaves = Variables(*(value.detach().clone().requires_grad_() for value in variables))
        # a body that may turn, but not bend, turns to where its limbs are
        moved = [leaves.turns, leaves.shifts] if plan.bones else [leaves.shifts]
        groups = [{"params": moved, "lr": _ROOT_RATE * plan.rate}]
        if plan.bones and body.free:
            groups.append({"params": [leaves.bones], "lr": plan.rate})
        optimiser = torch.optim.Adam(groups, betas=(0.9, 0.95))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda step, steps=plan.steps: 1 - 0.8 * step / max(steps, 1)
        )
        for _ in range(plan.steps):
            pose = parameters.pose(body, leaves, basis)
            points = skin(rest_to_posed(body.skeleton, pose), surface.bound)
            step = Step(number == len(stages) - 1, done / total, basis @ leaves.shifts)
            loss = guidance(points, step)
            loss = loss + regularise(weighted, body, leaves, basis, pose, points)
            optimiser.zero_grad()
            loss.backward()
            for leaf in leaves:
                if leaf.grad is not None:
                    torch.nan_to_num_(leaf.grad)
            optimiser.step()
            schedule.step()
            done += 1
            tick()
        motion = Motion(Variables(*(value.detach() for value in leaves)), plan, times, cyclic)
    return motion


def _basis(
    at: Float[Tensor, " frames"], plan: Plan, cyclic: bool, fitted: Float[Tensor, " fitted"]
) -> Float[Tensor, "frames controls"]:
    """The basis of a stage at some times; frames on their own are joined by straight lines."""
    if plan.controls:
        return parameters.spline_basis(at, plan.controls, cyclic)
    own = parameters.frame_basis(len(fitted), cyclic)
    after = torch.searchsorted(fitted.contiguous(), at.contiguous()).clamp(1, len(fitted) - 1)
    share = ((at - fitted[after - 1]) / (fitted[after] - fitted[after - 1]))[:, None]
    return (1 - share) * own[after - 1] + share * own[after]
