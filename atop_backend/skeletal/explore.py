"""A start for following a video: many guesses in every frame, and the best smooth way through them.

Outlines have many local minima, such as two legs on one leg's outline. So each frame keeps several
guesses, improves each by itself, and a shortest path through the frames picks one of each. The next
guesses have one limb shaken, or as a frame near by has it, or exchanged with its mirror image.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from atop_backend.geometry.rigs import Rig
from atop_backend.skeletal import parameters
from atop_backend.skeletal.kinematics import rest_to_posed, skin
from atop_backend.skeletal.parameters import Body, Variables
from atop_backend.skeletal.surface import Surface

Losses = Callable[[Float[Tensor, "frames k n 3"]], Float[Tensor, "frames k"]]

_SHAKE = 0.6  # radians, largest standard deviation of a shaken bone
_BORROW = 0.35  # chance that a guess borrows a limb of a frame near by
_EXCHANGE = 0.3  # chance that a limb and its mirror image are exchanged
_SYMMETRIC = 0.1  # radii by which a bone's ends may miss its partner's mirror image
_FARTHEST = 3  # frames to borrow from
_JUMP = 0.5  # cost of a squared radius that a point moves between frames
_REST = 2e-4  # cost of a squared radian away from rest, summed over bones


def explore(
    rig: Rig,
    body: Body,
    surface: Surface,
    losses: Losses,
    start: Variables,
    guesses: int,
    rounds: int,
    steps: int,
    rate: float,
    generator: torch.Generator,
    tick: Callable[[], None],
) -> Variables:
    """Variables with values in every frame, rid of the worst local minima.

    Args:
        losses: How badly `k` bodies explain each frame.
        start: Values in every frame: where the body as a whole is.
        guesses: Kept in every frame.
        tick: Called after each step.
    """
    frames = len(start.turns)
    basis = torch.eye(frames * guesses)
    limbs, mirror, best = limbs_of(body), mirror_of(rig), start
    for _ in range(rounds):
        tried = _guesses(best, limbs, mirror, guesses, generator)
        leaves = Variables(*(value.clone().requires_grad_() for value in tried))
        optimiser = torch.optim.Adam(
            [{"params": [leaves.bones], "lr": rate},
             {"params": [leaves.turns, leaves.shifts], "lr": rate / 3}], betas=(0.9, 0.95),
        )  # fmt: skip
        for step in range(steps + 1):
            pose = parameters.pose(body, leaves, basis)
            points = skin(rest_to_posed(body.skeleton, pose), surface.bound)
            points = points.view(frames, guesses, -1, 3)
            costs = losses(points)
            costs = costs + _REST * leaves.bones.square().sum(dim=(1, 2)).view(frames, guesses)
            if step == steps:
                break
            optimiser.zero_grad()
            costs.sum().backward()
            optimiser.step()
            tick()
        path = best_path(costs.detach(), points.detach())
        places = torch.arange(frames) * guesses + path
        best = Variables(*(value.detach()[places] for value in leaves))
    return best


def _guesses(
    best: Variables,
    limbs: Bool[Tensor, "free free"],
    mirror: Mirror | None,
    count: int,
    generator: torch.Generator,
) -> Variables:
    """Guesses of all frames, those of one frame after each other: the best, and it with one limb
    changed to what a frame near by has, or shaken, or exchanged with its mirror image.

    Args:
        limbs: Which bones move when each bone does.
    """
    frames, free = len(best.turns), len(limbs)
    tried = best.bones[:, None].repeat(1, count, 1, 1)
    picks = torch.randint(free, (frames, count), generator=generator)
    changed = limbs[picks]
    steps = torch.randint(1, _FARTHEST + 1, (frames, count), generator=generator)
    steps[:, ::2] *= -1
    frame = torch.arange(frames)[:, None]
    others = best.bones[(frame + steps).clamp(0, frames - 1)]
    size = torch.rand((frames, count, 1, 1), generator=generator) * _SHAKE
    shaken = tried + size * torch.randn(tried.shape, generator=generator)
    kind = torch.rand((frames, count), generator=generator)
    moved = torch.where((kind < _BORROW)[..., None, None], others, shaken)
    if mirror is not None:
        exchange = kind > 1 - _EXCHANGE
        moved = torch.where(exchange[..., None, None], mirror.image(tried), moved)
        both = changed | limbs[torch.as_tensor(mirror.partners)[picks]]
        changed = torch.where(exchange[..., None], both, changed)
    changed[:, 0] = False
    bones = torch.where(changed[..., None], moved, tried)
    whole = (value.repeat_interleave(count, dim=0) for value in (best.turns, best.shifts))
    return Variables(bones.flatten(0, 1), *whole)


class Mirror(NamedTuple):
    """The left-right symmetry of a skeleton at rest."""

    partners: tuple[int, ...]  # of each free bone; itself in the middle
    maps: Float[Tensor, "free 3 3"]  # a partner's rotation vector to the mirrored one of the bone

    def image(self, bones: Float[Tensor, "*lead free 3"]) -> Float[Tensor, "*lead free 3"]:
        """Rotation vectors of the pose's mirror image."""
        return torch.einsum("bij,...bj->...bi", self.maps, bones[..., list(self.partners), :])


def mirror_of(rig: Rig) -> Mirror | None:
    """The symmetry of a normalised rig across its upright middle plane, None where it has none."""
    free = np.flatnonzero(rig.free())
    heads, tails = rig.rest[free, :3, 3], rig.tails[free]
    best: Mirror | None = None
    most = 0
    for axis in (0, 1):
        flip = np.ones(3)
        flip[axis] = -1
        distances = np.linalg.norm(heads[:, None] * flip - heads, axis=2)
        distances += np.linalg.norm(tails[:, None] * flip - tails, axis=2)
        partners = distances.argmin(axis=1)
        paired = partners != np.arange(len(free))
        mutual = partners[partners] == np.arange(len(free))
        near = distances.min(axis=1, initial=np.inf) < _SYMMETRIC
        if mutual.all() and near.all() and paired.sum() > most:
            rotations = rig.rest[free, :3, :3]
            # a rotation vector is mirrored with the other sign, as a turn's sense is
            maps = rotations.transpose(0, 2, 1) @ np.diag(-flip) @ rotations[partners]
            most = int(paired.sum())
            best = Mirror(tuple(map(int, partners)), torch.as_tensor(maps, dtype=torch.float32))
    return best


def limbs_of(body: Body) -> Bool[Tensor, "free free"]:
    """For each free bone, which free bones are it or hang on it."""
    parents = body.skeleton.parents
    result = torch.zeros(len(body.free), len(body.free), dtype=torch.bool)
    for column, bone in enumerate(body.free):
        while bone >= 0:
            if bone in body.free:
                result[body.free.index(bone), column] = True
            bone = parents[bone]
    return result


def best_path(
    costs: Float[Tensor, "frames k"], points: Float[Tensor, "frames k n 3"]
) -> Int[Tensor, " frames"]:
    """The guess of each frame that together cost least, with what the body moves (Viterbi)."""
    total, origins = costs[0], []
    for frame in range(1, len(costs)):
        steps = points[frame][None] - points[frame - 1][:, None]  # (before, now, n, 3)
        ways = total[:, None] + _JUMP * steps.square().sum(dim=-1).mean(dim=-1)
        best = ways.min(dim=0)
        total = costs[frame] + best.values
        origins.append(best.indices)
    path = [int(total.argmin())]
    for origin in reversed(origins):
        path.append(int(origin[path[-1]]))
    return torch.tensor(path[::-1])
