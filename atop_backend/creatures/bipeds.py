"""What figures on two legs do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from atop_backend.creatures.anatomy import FORWARD, LEFT, UP
from atop_backend.creatures.gaits import Gait, go, leap, leg_length, stand
from atop_backend.creatures.motion import FRAMES, SHARES, WAVE, Animator, hold, rise
from atop_backend.creatures.repertoire import Act, Acts

_SIDES = {1: "left", -1: "right"}


def _direction(side: int, out: np.ndarray | float, forward: np.ndarray | float,
               up: np.ndarray | float) -> np.ndarray:  # fmt: skip
    parts = np.broadcast_arrays(np.zeros(FRAMES), out, forward, up)[1:]
    return np.stack([side * parts[0], -parts[1], parts[2]], axis=1)


def _blend(first: np.ndarray, second: np.ndarray, share: np.ndarray) -> np.ndarray:
    return first + (second - first) * share[:, None]


def _hang(animator: Animator, swing: np.ndarray | float = 0.0, flex: float = 0.25) -> None:
    """Arms down, swung in opposite directions; positive swings the left one forward."""
    for limb in animator.creature.arms:
        angle = limb.side * np.broadcast_to(np.asarray(swing), (FRAMES,))
        upper = _direction(limb.side, 0.18, np.sin(angle), -np.cos(angle))
        bent = angle + flex
        animator.aim(limb.bones, upper, _direction(limb.side, 0.1, np.sin(bent), -np.cos(bent)))


def _arm(animator: Animator, side: int, share: np.ndarray, upper: np.ndarray, fore: np.ndarray
         ) -> None:  # fmt: skip
    """One arm from hanging to given directions and back."""
    for limb in animator.creature.arms:
        if limb.side == side:
            rest = _direction(side, 0.18, 0.0, -1.0), _direction(side, 0.1, 0.25, -1.0)
            animator.aim(limb.bones, _blend(rest[0], upper, share), _blend(rest[1], fore, share))


def _sway(animator: Animator, amount: float) -> None:
    """Shoulders turn against the hips with the steps."""
    animator.curl(animator.creature.spine[1:], UP, -0.15 * amount * np.cos(WAVE))


def walk(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    gait = Gait(0.62 * amount, 0.1 + 0.06 * amount, rng.uniform(0.56, 0.64))
    _hang(animator, -0.45 * amount * np.cos(WAVE))
    _sway(animator, amount)
    go(animator, gait)


def walk_backwards(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _hang(animator, 0.3 * amount * np.cos(WAVE))
    go(animator, Gait(0.45 * amount, 0.12, 0.62, backwards=True))


def run(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.pitch(animator.creature.spine[1:], 0.25)
    _hang(animator, -0.8 * amount * np.cos(WAVE), flex=1.4)
    _sway(animator, 1.3 * amount)
    go(animator, Gait(0.95 * amount, 0.38, rng.uniform(0.34, 0.42), bounce=0.04, crouch=0.04))
    animator.settle(0.06 * leg_length(animator) * np.maximum(np.cos(2 * WAVE + 1.2), 0))


def sneak(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.pitch(animator.creature.spine[1:], 0.55)
    _hang(animator, -0.2 * np.cos(WAVE), flex=1.2)
    go(animator, Gait(0.5 * amount, 0.2, 0.65, crouch=0.18))


def march(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _hang(animator, -0.7 * amount * np.cos(WAVE), flex=0.15)
    go(animator, Gait(0.35, 0.42 * amount, 0.55))


def jump(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    fly = hold(0.2, 0.5, 0.55, 0.85)
    _hang(animator, 0.0)
    for side in (1, -1):
        _arm(animator, side, fly, _direction(side, 0.5, 0.3, 0.9), _direction(side, 0.3, 0.3, 1.0))
    animator.pitch(animator.creature.spine[1:], 0.4 * (1 - fly) * hold(0, 0.2, 0.75, 1))
    leap(animator, 0.4 * amount, 0.25)


def hop(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _hang(animator, 0.0, flex=0.9)
    leap(animator, 0.16 * amount, 0.12)


def jumping_jack(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    open_ = hold(0.05, 0.45, 0.55, 0.95)
    for side in (1, -1):
        angle = 2.6 * open_
        up = _direction(side, np.sin(angle) + 0.15, 0.0, -np.cos(angle))
        _arm(animator, side, np.ones(FRAMES), up, up)
    length = leg_length(animator)
    animator.shift[:, 2] += length * (0.12 * np.sin(2 * np.pi * SHARES) ** 2 - 0.08)
    for leg in animator.creature.legs:
        target = np.tile(animator.ankle(leg), (FRAMES, 1))
        target[:, 0] += 0.35 * amount * length * leg.side * open_
        animator.plant(leg, target, np.zeros(FRAMES))
    animator.settle(0.1 * length * np.sin(2 * np.pi * SHARES) ** 2)


def wave(side: int) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        _hang(animator)
        swing = 0.55 * amount * np.sin(3 * WAVE)
        fore = _direction(side, 0.25 + swing, 0.2, 1.0)
        _arm(animator, side, hold(0, 0.2, 0.8, 1), _direction(side, 1.0, 0.15, 0.15), fore)

    return act


def wave_both(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    for side in (1, -1):
        swing = 0.5 * amount * np.sin(3 * WAVE)
        _arm(animator, side, hold(0, 0.2, 0.8, 1), _direction(side, 0.8, 0.1, 0.7),
             _direction(side, 0.2 + swing, 0.1, 1.0))  # fmt: skip


def raise_arm(side: int, out: float, forward: float, up: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        _hang(animator)
        there = _direction(side, out, forward, up)
        _arm(animator, side, hold(0, 0.35, 0.7, 1), there, there)

    return act


def raise_arms(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    for side in (1, -1):
        up = _direction(side, 0.3, 0.1, 1.0)
        _arm(animator, side, hold(0, 0.35, 0.7, 1), up, up)


def stretch(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    raise_arms(animator, rng, amount)
    animator.pitch(animator.creature.spine[1:], -0.25 * amount * hold())
    animator.pitch(animator.creature.neck, -0.3 * hold())


def clap(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    for side in (1, -1):
        gap = 0.25 - 0.6 * np.cos(3 * WAVE) * 0.5
        _arm(animator, side, hold(0, 0.15, 0.85, 1), _direction(side, 0.35, 0.6, -0.6),
             _direction(side, gap - 0.55, 1.0, 0.2))  # fmt: skip


def cheer(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    for side in (1, -1):
        pump = 0.4 * np.sin(2 * WAVE)
        _arm(animator, side, hold(0, 0.2, 0.85, 1), _direction(side, 0.5, 0.1, 0.8 + pump),
             _direction(side, 0.15, 0.1, 1.0))  # fmt: skip
    animator.shift[:, 2] += 0.06 * amount * leg_length(animator) * (np.cos(2 * WAVE) - 1)
    stand(animator)


def punch(side: int) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        guard, hit = hold(0, 0.2, 0.8, 1), hold(0.3, 0.5, 0.55, 0.75)
        for each in (1, -1):
            share = hit if each == side else np.zeros(FRAMES)
            upper = _blend(
                _direction(each, 0.25, 0.2, -0.9), _direction(each, 0.0, 1.0, 0.0), share
            )
            fore = _blend(
                _direction(each, -0.1, 0.6, 0.8), _direction(each, -0.1, 1.0, 0.05), share
            )
            _arm(animator, each, guard, upper, fore)
        animator.curl(animator.creature.spine[1:], UP, -side * 0.5 * amount * hit)

    return act


def kick(side: int) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        _hang(animator, -0.4 * side * hold(), flex=0.6)
        back, out = hold(0.05, 0.25, 0.3, 0.45), hold(0.3, 0.5, 0.55, 0.95)
        for leg in animator.creature.legs:
            if leg.side == side:
                animator.turn(leg.hip, LEFT, 0.6 * back - 1.2 * amount * out)
                animator.turn(leg.knee, LEFT, 1.2 * back + 0.15 * out)
        animator.pitch(animator.creature.spine[1:], -0.2 * amount * out)

    return act


def raise_knee(side: int) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        _hang(animator)
        up = hold(0, 0.35, 0.65, 1)
        for leg in animator.creature.legs:
            if leg.side == side:
                animator.turn(leg.hip, LEFT, -1.4 * amount * up)
                animator.turn(leg.knee, LEFT, 1.5 * amount * up)

    return act


def nod(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _hang(animator)
    animator.pitch(animator.creature.neck, 0.3 * amount * (1 - np.cos(2 * WAVE)))


def shake_head(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _hang(animator)
    animator.curl(animator.creature.neck, UP, 0.7 * amount * np.sin(2 * WAVE))


def look(yaw: float, pitch: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        _hang(animator)
        animator.curl(animator.creature.neck, UP, yaw * amount * hold())
        animator.pitch(animator.creature.neck, pitch * amount * hold())

    return act


def bow(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    down = hold(0, 0.4, 0.6, 1)
    _hang(animator, 0.0, flex=0.1)
    animator.pitch(animator.creature.spine[1:], 1.0 * amount * down)
    animator.pitch(animator.creature.neck, 0.3 * down)


def lean(side: int) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        _hang(animator)
        animator.curl(animator.creature.spine[1:], FORWARD, -side * 0.5 * amount * hold())

    return act


def crouch(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    down = hold(0, 0.4, 0.6, 1)
    length = leg_length(animator)
    for side in (1, -1):
        _arm(animator, side, down, _direction(side, 0.1, 1.0, -0.3), _direction(side, 0, 1.0, 0.0))
    animator.shift[:, 2] -= 0.5 * min(amount, 1.2) * length * down
    animator.shift[:, 1] += 0.12 * length * down
    animator.pitch(animator.creature.spine[1:], 0.6 * down)
    stand(animator)


def sit(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    down = rise(0.05, 0.7)
    length = leg_length(animator)
    _hang(animator, 0.0, flex=0.5)
    animator.shift[:, 2] -= 0.47 * length * down
    animator.shift[:, 1] += 0.42 * length * down
    animator.pitch(animator.creature.spine[1:], 0.5 * hold(0.05, 0.4, 0.6, 0.95) + 0.05 * down)
    stand(animator)


def turn_around(angle: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        _hang(animator, 0.2 * np.sin(2 * WAVE))
        animator.turn_whole(UP, angle * rise(0.0, 0.95))
        length = leg_length(animator)
        for leg in animator.creature.legs:
            beat = np.maximum(np.sin(2 * WAVE + (0 if leg.side > 0 else np.pi)), 0)
            animator.turn(leg.hip, LEFT, -0.5 * beat)
            animator.turn(leg.knee, LEFT, 0.9 * beat)
        animator.settle(0.0 * length)

    return act


def dance(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    length = leg_length(animator)
    animator.shift[:, 0] += 0.16 * amount * length * np.sin(WAVE)
    animator.shift[:, 2] += 0.07 * amount * length * (np.cos(2 * WAVE) - 1)
    animator.curl(animator.creature.spine[1:], FORWARD, 0.3 * amount * np.sin(WAVE))
    animator.curl(animator.creature.neck, FORWARD, -0.3 * np.sin(WAVE))
    for side in (1, -1):
        beat = 0.5 + 0.5 * side * np.sin(WAVE)
        _arm(animator, side, np.ones(FRAMES), _direction(side, 0.8, 0.3, -0.4 + 0.6 * beat),
             _direction(side, 0.2, 0.8, -0.2 + 1.2 * beat))  # fmt: skip
    stand(animator)


def idle(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _hang(animator, 0.04 * np.sin(WAVE))
    animator.shift[:, 2] += 0.015 * amount * leg_length(animator) * (np.cos(WAVE) - 1)
    animator.pitch(animator.creature.spine[1:], 0.05 * amount * np.sin(WAVE))
    animator.curl(animator.creature.neck, UP, 0.08 * amount * np.sin(WAVE))
    stand(animator)


def _sided(verb: str, make: Callable[[int], Act]) -> Acts:
    """The same for both sides; `verb` has {side}."""
    return [
        (tuple(each.format(side=word) for each in verb.split("|")), 0.6, make(side))
        for side, word in _SIDES.items()
    ]


ACTS: Acts = [
    (("walk", "walk forward", "stroll", "walk along", "take a walk", "go for a walk"), 3.0, walk),
    (("run", "jog", "run fast", "sprint", "run forward"), 2.0, run),
    (("walk backwards", "step backwards"), 0.6, walk_backwards),
    (("sneak", "creep", "tiptoe", "sneak forward"), 0.7, sneak),
    (("march", "walk with high knees", "march like a soldier"), 0.7, march),
    (("jump", "jump up", "leap into the air"), 1.5, jump),
    (("hop", "hop on the spot", "bounce"), 0.8, hop),
    (("do jumping jacks", "do a jumping jack"), 0.5, jumping_jack),
    *_sided("wave with the {side} hand|wave its {side} hand|wave the {side} arm", wave),
    (("wave", "wave hello", "wave goodbye", "wave a hand", "greet"), 1.0, wave(-1)),
    (("wave both hands", "wave both arms", "wave with both hands"), 0.7, wave_both),
    *_sided("raise the {side} arm|lift its {side} arm|raise its {side} hand",
            lambda side: raise_arm(side, 0.3, 0.1, 1.0)),
    *_sided("point forward with the {side} arm|reach forward with the {side} hand",
            lambda side: raise_arm(side, 0.05, 1.0, 0.05)),
    (("raise both arms", "lift the arms", "reach up", "raise its hands", "put its hands up"), 1.0,
     raise_arms),
    (("stretch", "stretch its arms", "stretch its back"), 0.7, stretch),
    (("clap", "clap its hands", "applaud"), 0.7, clap),
    (("cheer", "celebrate"), 0.6, cheer),
    *_sided("punch with the {side} fist|punch with the {side} hand", punch),
    (("punch", "throw a punch", "box"), 0.6, punch(-1)),
    *_sided("kick with the {side} leg|kick with the {side} foot", kick),
    (("kick", "kick a ball", "kick forward"), 0.6, kick(-1)),
    *_sided("raise the {side} knee|lift its {side} leg|raise its {side} leg", raise_knee),
    (("nod", "nod its head", "say yes"), 1.0, nod),
    (("shake its head", "say no", "shake the head"), 1.0, shake_head),
    *_sided("look to the {side}|look {side}|turn its head to the {side}",
            lambda side: look(0.9 * side, 0.0)),
    (("look up", "look at the sky"), 0.5, look(0.0, -0.6)),
    (("look down", "lower its head"), 0.5, look(0.0, 0.6)),
    (("bow", "take a bow", "bend forward", "bow down"), 1.0, bow),
    *_sided("lean to the {side}|bend to the {side}", lean),
    (("crouch", "squat", "duck", "do a squat", "bend its knees"), 1.0, crouch),
    (("sit down", "sit", "take a seat"), 1.0, sit),
    *_sided("turn to the {side}|turn {side}", lambda side: turn_around(side * np.pi / 2)),
    (("turn around", "spin around"), 0.5, turn_around(np.pi)),
    (("dance", "dance to the music", "sway to the music"), 1.5, dance),
    (("stand still", "stand idle", "breathe", "idle", "rest"), 1.0, idle),
]  # fmt: skip
