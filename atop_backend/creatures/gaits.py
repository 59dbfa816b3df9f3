"""Ways of getting along and of standing on legs, shared by all bodies that have them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atop_backend.creatures.anatomy import Leg
from atop_backend.creatures.motion import FRAMES, SHARES, WAVE, Angles, Animator


class Gait(NamedTuple):
    """One period of steps on the spot, as on a treadmill. Lengths in lengths of a leg."""

    stride: float
    lift: float  # of a foot
    duty: float  # share of the period for which a foot stands
    bounce: float = 0.02
    crouch: float = 0.01
    backwards: bool = False


def leg_length(animator: Animator) -> float:
    """Height of the hips over the ankles."""
    leg = animator.creature.legs[0]
    heads = animator.creature.heads
    return float(heads[leg.hip][2] - heads[leg.ankle][2])


def stretched_height(length: float, reach: float) -> float:
    """Height of a straight leg that stands half a stride away."""
    return float(np.sqrt(max(length**2 - reach**2, 0.04 * length**2)))


def step(gait: Gait, phase: np.ndarray, length: float) -> tuple[np.ndarray, Angles]:
    """Where a foot is from where it rests, (frames, 3), and the roll of the toes."""
    swing = np.clip((phase - gait.duty) / (1 - gait.duty), 0, 1)
    back = np.where(phase < gait.duty, phase / gait.duty - 0.5,
                    0.5 - swing * swing * (3 - 2 * swing))  # fmt: skip
    if gait.backwards:
        back = -back
    lifted = np.sin(np.pi * swing)
    offset = np.stack([np.zeros(FRAMES), gait.stride * back, gait.lift * lifted], axis=1)
    return length * offset, 0.5 * lifted * (0.6 - swing)


def go(animator: Animator, gait: Gait, phases: dict[int, float] | None = None) -> None:
    """Move the hips and legs.

    Args:
        phases: By hip bone; those of a walk if left out.
    """
    length = leg_length(animator)
    low = stretched_height(length, 0.5 * gait.stride * length) * 0.985
    bob = gait.bounce * length * np.cos(2 * WAVE + 0.5)
    animator.shift[:, 2] += low - length - (gait.bounce + gait.crouch) * length + bob
    for leg in animator.creature.legs:
        phase = leg.phase if phases is None else phases[leg.hip]
        offset, roll = step(gait, (SHARES + phase) % 1, length)
        animator.plant(leg, animator.ankle(leg) + offset, roll)


def stand(animator: Animator, *free: Leg) -> None:
    """Keep the feet where they rest, whatever the hips do; not those of `free` legs."""
    for leg in animator.creature.legs:
        if leg not in free:
            animator.plant(leg, np.tile(animator.ankle(leg), (FRAMES, 1)), np.zeros(FRAMES))


def leap(animator: Animator, height: float, dip: float, tuck: float = 0.0) -> None:
    """Crouch, fly with the feet below, and land. Lengths in lengths of a leg."""
    length = leg_length(animator)
    down = np.exp(-(((SHARES - 0.2) / 0.11) ** 2)) + np.exp(-(((SHARES - 0.82) / 0.1) ** 2))
    flight = np.clip((SHARES - 0.32) / 0.4, 0, 1)
    fly = 4 * flight * (1 - flight)
    animator.shift[:, 2] += length * (height * fly - dip * down - 0.02)
    for leg in animator.creature.legs:
        target = np.tile(animator.ankle(leg), (FRAMES, 1))
        target[:, 2] += length * (height + tuck) * fly
        animator.plant(leg, target, 0.5 * fly)
