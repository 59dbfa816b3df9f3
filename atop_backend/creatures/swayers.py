"""What bodies without legs do: snakes, fish, and arms on a foot."""

from __future__ import annotations

import numpy as np

from atop_backend.creatures.anatomy import FORWARD, LEFT, UP
from atop_backend.creatures.motion import SHARES, WAVE, Animator, hold, rise
from atop_backend.creatures.repertoire import Act, Acts


def _wave_along(animator: Animator, axis: np.ndarray, size: float, waves: float) -> None:
    """A wave that runs from the head to the tail."""
    creature = animator.creature
    front, rear = creature.neck, creature.tail
    total = len(front) + len(rear)
    animator.turn_whole(axis, size * np.sin(WAVE))
    for index, bone in enumerate(front):
        animator.turn(bone, axis, size * np.sin(WAVE + 2 * np.pi * waves * (index + 1) / total))
    for index, bone in enumerate(rear):
        lag = 2 * np.pi * waves * (index + 1) / total
        animator.turn(bone, axis, -size * np.sin(WAVE - lag))


def slither(size: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        _wave_along(animator, UP, size * amount, rng.uniform(1.2, 1.8))

    return act


def inch(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    """The middle goes up and down."""
    up = np.sin(np.pi * SHARES) ** 2
    creature = animator.creature
    for chain, sign in ((creature.neck, 1), (creature.tail, -1)):
        half = len(chain) // 2
        for bone in chain[:half]:
            animator.turn(bone, LEFT, sign * 0.9 * amount * up / max(half, 1))
        for bone in chain[half:]:
            animator.turn(bone, LEFT, -sign * 0.9 * amount * up / max(len(chain) - half, 1))
    animator.settle()


def raise_head(sway: float, strike: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        front = animator.creature.neck
        up = hold(0, 0.3, 0.75, 1)
        animator.curl(front[: len(front) // 2], LEFT, -1.1 * amount * up)
        end = strike * hold(0.4, 0.5, 0.52, 0.65)
        animator.curl(front[len(front) // 2 :], LEFT, (0.8 * amount + end) * up)
        animator.curl(front, UP, sway * np.sin(2 * WAVE) * up)

    return act


def coil(side: int) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        animator.curl(animator.creature.tail, UP, 4.0 * side * amount * rise(0, 0.95))
        animator.curl(animator.creature.neck, UP, 0.8 * side * amount * rise(0, 0.95))

    return act


def lash(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.tail, UP, 1.0 * amount * np.sin(2 * WAVE))


def turn(angle: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        animator.curl(animator.creature.neck, UP, 0.8 * angle * hold())
        animator.turn_whole(UP, angle * rise(0.1, 0.95))

    return act


def look(yaw: float, pitch: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        end = animator.creature.neck[-max(1, len(animator.creature.neck) // 2) :]
        animator.curl(end, UP, yaw * amount * hold())
        animator.curl(end, LEFT, pitch * amount * hold())

    return act


def shake_head(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.neck[-3:], UP, 0.7 * amount * np.sin(2 * WAVE))


def nod(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    front = animator.creature.neck
    animator.curl(front[-3:], LEFT, -0.35 * amount * (1 - np.cos(2 * WAVE)))


def swim(size: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        animator.curl(animator.creature.neck, UP, 0.4 * size * amount * np.sin(WAVE))
        animator.turn_whole(UP, 0.3 * size * amount * np.sin(WAVE))
        for index, bone in enumerate(animator.creature.tail):
            growing = size * amount * (0.5 + 0.25 * index)
            animator.turn(bone, UP, -growing * np.sin(WAVE - 0.7 * (index + 1)))
        _fins(animator, 0.2 * np.sin(WAVE))

    return act


def undulate(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    """As a dolphin swims, up and down."""
    animator.turn_whole(LEFT, 0.1 * amount * np.sin(WAVE))
    for index, bone in enumerate(animator.creature.tail):
        animator.turn(bone, LEFT, -0.3 * amount * np.sin(WAVE - 0.6 * (index + 1)))


def _fins(animator: Animator, angle: np.ndarray) -> None:
    for limb in animator.creature.wings:
        animator.turn(limb.bones[0], FORWARD, limb.side * angle)


def flap_fins(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _fins(animator, 0.7 * amount * np.sin(2 * WAVE))


def leap(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.turn_whole(LEFT, -0.7 * amount * np.sin(WAVE) * hold(0, 0.2, 0.8, 1))
    animator.shift[:, 2] += 0.6 * amount * np.sin(np.pi * SHARES) ** 2


def float_(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.shift[:, 2] += 0.03 * amount * np.sin(WAVE)
    _fins(animator, 0.25 * amount * np.sin(WAVE))
    animator.curl(animator.creature.tail, UP, 0.12 * amount * np.sin(WAVE))


def bend(axis: np.ndarray, angle: float, beats: int = 0, stay: bool = False) -> Act:
    """An arm bends and comes back, swings to and fro `beats` times, or stays bent."""

    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        path = np.sin(beats * WAVE) if beats else rise(0.05, 0.9) if stay else hold(0, 0.4, 0.6, 1)
        animator.curl(animator.creature.neck, axis, angle * amount * path)

    return act


def ripple(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    links = animator.creature.neck
    for index, bone in enumerate(links):
        lag = 4.0 * index / len(links)
        size = 0.9 * amount / np.sqrt(len(links))
        animator.turn(bone, FORWARD, size * np.sin(WAVE - lag))


def circle(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.neck, LEFT, 0.6 * amount * np.sin(WAVE))
    animator.curl(animator.creature.neck, FORWARD, 0.6 * amount * np.cos(WAVE))


def reach(yaw: float, angle: float) -> Act:
    """Turn on the foot, bend forward, and come back."""

    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        links = animator.creature.neck
        animator.curl(links, LEFT, angle * amount * hold(0.1, 0.45, 0.6, 0.95))
        animator.turn(links[0], UP, yaw * hold(0, 0.35, 0.65, 1))

    return act


def fold(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    down = hold(0, 0.4, 0.6, 1)
    for index, bone in enumerate(animator.creature.neck):
        animator.turn(bone, LEFT, (0.9 if index % 2 else -0.6) * amount * down)


def tip(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.neck[-1:], LEFT, 0.35 * amount * (1 - np.cos(2 * WAVE)))


def spin(angle: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        animator.turn(animator.creature.neck[0], UP, angle * rise(0.0, 0.95))

    return act


SNAKE_ACTS: Acts = [
    (("slither", "crawl", "slither forward", "wriggle", "move along", "walk"), 3.0, slither(0.42)),
    (("slither fast", "run", "wriggle fast", "swim"), 1.0, slither(0.6)),
    (("inch along", "creep", "crawl like a caterpillar"), 0.8, inch),
    (("raise its head", "rear up", "look up", "lift its head"), 1.2, raise_head(0.0, 0.0)),
    (("sway its head", "dance", "sway to the music"), 1.0, raise_head(0.5, 0.0)),
    (("strike", "bite", "attack"), 1.0, raise_head(0.0, -0.6)),
    (("coil up to the left", "curl up"), 0.5, coil(1)),
    (("coil up to the right",), 0.4, coil(-1)),
    (("wag its tail", "shake its tail", "lash its tail"), 0.8, lash),
    (("turn to the left", "turn left"), 0.5, turn(np.pi / 2)),
    (("turn to the right", "turn right"), 0.5, turn(-np.pi / 2)),
    (("look to the left", "look left"), 0.5, look(0.9, 0)),
    (("look to the right", "look right"), 0.5, look(-0.9, 0)),
    (("shake its head",), 0.6, shake_head),
    (("nod", "nod its head"), 0.6, nod),
    (("lie still", "rest", "breathe", "idle"), 0.6, slither(0.03)),
]

FISH_ACTS: Acts = [
    (("swim", "swim forward", "swim along", "move along"), 3.0, swim(0.3)),
    (("swim fast", "dart", "flee"), 1.0, swim(0.5)),
    (("swim like a dolphin", "undulate", "swim up and down"), 0.8, undulate),
    (("wag its tail", "beat its tail", "flap its tail"), 1.0, lash),
    (("flap its fins", "wave its fins", "wave", "flap"), 1.0, flap_fins),
    (("jump", "leap", "leap out of the water"), 1.0, leap),
    (("turn to the left", "turn left"), 0.6, turn(np.pi / 2)),
    (("turn to the right", "turn right"), 0.6, turn(-np.pi / 2)),
    (("float", "rest", "breathe", "idle", "hover"), 0.8, float_),
]

ARM_ACTS: Acts = [
    (
        ("sway", "sway to the music", "dance", "swing from side to side", "sway in the wind"),
        1.5,
        bend(FORWARD, 0.6, 1),
    ),
    (("wave", "wave hello", "swing"), 1.3, bend(FORWARD, 0.7, 2)),
    (("swing back and forth", "rock back and forth"), 0.8, bend(LEFT, 0.7, 1)),
    (("ripple", "wriggle", "writhe", "undulate"), 1.0, ripple),
    (("circle", "move in a circle", "swirl"), 0.8, circle),
    (("bow", "bend forward", "bend down", "bend", "bow down"), 1.3, bend(LEFT, 1.3)),
    (("bend to the left", "lean to the left"), 0.7, bend(FORWARD, -1.1)),
    (("bend to the right", "lean to the right"), 0.7, bend(FORWARD, 1.1)),
    (("bend backwards", "lean back", "look up"), 0.7, bend(LEFT, -0.9)),
    (("curl up", "roll up", "droop", "wilt"), 0.8, bend(LEFT, 2.4, stay=True)),
    (
        ("reach forward", "stretch forward", "grab something", "pick something up"),
        1.0,
        reach(0.0, 1.2),
    ),
    (("reach to the left",), 0.6, reach(np.pi / 2, 1.2)),
    (("reach to the right",), 0.6, reach(-np.pi / 2, 1.2)),
    (("fold", "fold up", "crouch"), 0.7, fold),
    (("nod", "nod its head"), 0.8, tip),
    (("turn to the left", "turn left", "rotate to the left"), 0.6, spin(np.pi / 2)),
    (("turn to the right", "turn right", "rotate to the right"), 0.6, spin(-np.pi / 2)),
    (("stand still", "rest", "idle"), 0.5, bend(FORWARD, 0.03, 1)),
]
