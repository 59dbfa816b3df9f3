"""How well samples on held-out generated objects tell the motion, without any fitting tricks."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

import torch
from torch import Tensor

from atop_backend.diffusion.clips import MOTION
from atop_backend.diffusion.denoiser import Denoiser
from atop_backend.diffusion.sample import sample
from atop_backend.synthetic.render import block_means
from atop_backend.training.data import (
    HELD_OUT_SEED,
    PHRASES,
    ClipDrawer,
    Draw,
    PackedObjects,
    packed_objects,
    take,
)

FIT_FRAMES = (2, 5, 8)  # of the nine moved frames; thirds of the motion


class HeldOut(NamedTuple):
    """Held-out objects and their clean clips at the frames that the fit uses."""

    objects: PackedObjects
    draw: Draw


def held_out(drawer: ClipDrawer, count: int, per_draw: int = 16) -> list[HeldOut]:
    """Objects that are never trained on, with their first phrase."""
    sets = []
    for first in range(0, count, per_draw):
        size = min(per_draw, count - first)
        objects = packed_objects(HELD_OUT_SEED + first, size)
        generator = torch.Generator().manual_seed(first)
        stored = drawer.draw(objects, generator)
        frames = torch.tensor(FIT_FRAMES, device=drawer.device).expand(size, -1)
        phrases = torch.full((size,), first % PHRASES, device=drawer.device)
        noise = torch.Generator(device=drawer.device).manual_seed(first)
        sets.append(HeldOut(objects, take(stored, frames, phrases, 0.01, noise)))
    return sets


class Outcome(NamedTuple):
    """Of one object, from the mean motion of its samples in the last frame."""

    kind: str
    revolute: bool
    motion_error: float  # relative error of the displacement field
    axis_error_deg: float  # undirected, the true type told
    right_sign: bool


def outcomes(
    denoiser: Denoiser, sets: list[HeldOut], steps: int, samples: int, guidance_scale: float = 1.0
) -> list[Outcome]:
    """One outcome per held-out object."""
    found = []
    for index, entry in enumerate(sets):
        conditions = entry.draw.conditions
        device = conditions.rgb.device
        generator = torch.Generator(device=device).manual_seed(index)
        clips = sample(
            denoiser, conditions, steps, guidance_scale, generator, samples, batch=64
        ).unflatten(0, (-1, samples))
        motions = clips[:, :, :, -1, MOTION].mean(dim=1).float()
        truth = entry.draw.channels[:, :, -1, MOTION]
        points, share = block_means(conditions.positions, conditions.mask[:, :, 0] > 0)
        for row, kind in enumerate(entry.objects.kinds):
            radius = conditions.part_radius[row]
            found.append(
                _outcome(
                    kind,
                    entry.objects,
                    row,
                    *(
                        value.movedim(1, -1).reshape(-1, value.shape[1]).double().cpu()
                        for value in (
                            points[row],
                            motions[row] * radius,
                            truth[row] * radius,
                            share[row],
                        )
                    ),
                )
            )
    return found


def _outcome(
    kind: str,
    objects: PackedObjects,
    row: int,
    points: Tensor,
    motions: Tensor,
    truth: Tensor,
    share: Tensor,
) -> Outcome:
    seen = share[:, 0] > 0
    points, motions, truth, weights = points[seen], motions[seen], truth[seen], share[seen]
    revolute = bool(objects.batch.revolute[row])
    axis = objects.batch.axes[row].double()
    if not len(points):
        return Outcome(kind, revolute, math.nan, 90.0, False)
    size = (weights * truth.square().sum(dim=1, keepdim=True)).sum()
    error = ((weights * (motions - truth).square().sum(dim=1, keepdim=True)).sum() / size).sqrt()
    found = _screw_axis(points, motions, weights) if revolute else (weights * motions).sum(dim=0)
    cosine = float(torch.nn.functional.cosine_similarity(found, axis, dim=0))
    angle = math.degrees(math.acos(min(1.0, abs(cosine))))
    return Outcome(kind, revolute, float(error), angle, cosine > 0)


def _screw_axis(points: Tensor, motions: Tensor, weights: Tensor) -> Tensor:
    """Rotation axis of the best rigid motion of points (n, 3) (Kabsch), scaled by the angle."""
    share = weights / weights.sum()
    before = points - (share * points).sum(dim=0)
    moved = points + motions
    after = moved - (share * moved).sum(dim=0)
    u, _, vh = torch.linalg.svd((share * before).T @ after)
    flip = torch.diag(torch.tensor([1.0, 1.0, float(torch.det(vh.T @ u.T).sign())]).double())
    rotation = vh.T @ flip @ u.T
    skew = rotation - rotation.T
    return torch.stack([skew[2, 1], skew[0, 2], skew[1, 0]])


def summary(found: list[Outcome]) -> str:
    """Shares over all objects and the worst kinds, as lines of text."""
    good = [outcome for outcome in found if math.isfinite(outcome.motion_error)]
    errors = sorted(outcome.motion_error for outcome in good)
    lines = [
        f"{len(good)} objects: axis within 5 deg {_share(good, 5):.3f}, within 10 deg "
        f"{_share(good, 10):.3f}, right sign {sum(o.right_sign for o in good) / len(good):.3f}, "
        f"motion error median {errors[len(errors) // 2]:.3f}"
    ]
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in good:
        kinds[outcome.kind].append(outcome)
    ranked = sorted(kinds.items(), key=lambda item: _share(item[1], 10))
    lines += [
        f"{kind} {len(some)}: within 10 deg {_share(some, 10):.2f}, sign "
        f"{sum(o.right_sign for o in some) / len(some):.2f}"
        for kind, some in ranked
    ]
    return "\n".join(lines)


def _share(found: list[Outcome], degrees: float) -> float:
    return sum(outcome.axis_error_deg < degrees for outcome in found) / len(found)
