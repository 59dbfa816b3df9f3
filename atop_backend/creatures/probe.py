"""How well a rig prior moves creatures that it was never trained on."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

import torch
from torch import Tensor

from atop_backend.creatures.data import (
    ACTS,
    CreatureDrawer,
    StoredCreatures,
    packed_creatures,
    take,
)
from atop_backend.diffusion.denoiser import Denoiser
from atop_backend.diffusion.sample import sample
from atop_backend.training.data import HELD_OUT_SEED, Draw

_PER_DRAW = 16


class HeldOut(NamedTuple):
    """Held-out creatures; entry i of the draws is that of act i of each."""

    kinds: list[str]
    acts: list[list[int]]
    draws: list[Draw]


def held_out(drawer: CreatureDrawer, count: int) -> list[HeldOut]:
    """Creatures that are never trained on, in each of their motions."""
    sets = []
    for first in range(0, count, _PER_DRAW):
        size = min(_PER_DRAW, count - first)
        packed = packed_creatures(HELD_OUT_SEED + first, size)
        stored = drawer.draw(packed, torch.Generator().manual_seed(first))
        noise = torch.Generator(device=drawer.device).manual_seed(first)
        sets.append(HeldOut(packed.kinds, packed.acts, [
            _of_act(stored, act, noise) for act in range(ACTS)
        ]))  # fmt: skip
    return sets


def _of_act(stored: StoredCreatures, act: int, noise: torch.Generator) -> Draw:
    which = torch.full((len(stored.rgb),), act, device=stored.rgb.device)
    return take(stored, which, torch.zeros_like(which), 0.01, noise)


class Outcome(NamedTuple):
    """Of one creature in one motion; errors are shares of the true motion's size."""

    kind: str
    act: int
    error: float  # of a sample
    mean_error: float  # of the mean over all motions of this creature: knows it, not the words
    amount: float  # size of the sampled motion over that of the true one
    recognised: bool  # of all motions of the creature the true one is nearest to the sample


def outcomes(
    denoiser: Denoiser, sets: list[HeldOut], steps: int, guidance_scale: float = 1.0,
    acts: int = ACTS,
) -> list[Outcome]:  # fmt: skip
    """One outcome for each creature and motion; that of no motion at all has the error 1."""
    found = []
    for entry in sets:
        truths = torch.stack([draw.channels for draw in entry.draws], dim=1)
        weights = (entry.draws[0].part_share[:, :, None] > 0).float()
        for act in range(acts):
            conditions = entry.draws[act].conditions
            generator = torch.Generator(device=weights.device).manual_seed(act)
            motions = sample(denoiser, conditions, steps, guidance_scale, generator, 1, 64).float()
            for row, kind in enumerate(entry.kinds):
                found.append(_outcome(kind, entry.acts[row][act], act, motions[row], truths[row],
                                      weights[row]))  # fmt: skip
    return found


def _outcome(
    kind: str, name: int, act: int, motion: Tensor, truths: Tensor, weights: Tensor
) -> Outcome:
    def size(values: Tensor) -> float:
        return math.sqrt(float((weights * values.square()).sum()))

    whole = max(size(truths[act]), 1e-6)
    distances = [size(motion - truth) for truth in truths]
    nearest = min(range(len(distances)), key=distances.__getitem__)
    return Outcome(
        kind, name, distances[act] / whole, size(truths.mean(dim=0) - truths[act]) / whole,
        size(motion) / whole, nearest == act,
    )  # fmt: skip


def summary(found: list[Outcome]) -> str:
    """Medians over all motions, then by kind, as lines of text."""
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in found:
        kinds[outcome.kind].append(outcome)
    rows = [("all", found), *sorted(kinds.items())]
    return "\n".join(
        f"{name} {len(some)} motions: error {_median([o.error for o in some]):.3f} "
        f"(mean motion {_median([o.mean_error for o in some]):.3f}, none 1), "
        f"amount {_median([o.amount for o in some]):.2f}, "
        f"recognised {sum(o.recognised for o in some) / len(some):.3f} (chance {1 / ACTS:.3f})"
        for name, some in rows
    )


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
