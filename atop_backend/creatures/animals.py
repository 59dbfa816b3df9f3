"""What animals on four legs, birds and many-legged ones do."""

from __future__ import annotations

import numpy as np

from atop_backend.creatures.anatomy import FORWARD, LEFT, UP
from atop_backend.creatures.gaits import Gait, go, leap, leg_length, stand, step
from atop_backend.creatures.motion import FRAMES, SHARES, WAVE, Animator, hold, rise
from atop_backend.creatures.repertoire import Act, Acts


def _follow_steps(animator: Animator, amount: float) -> None:
    """Head and tail go along with the steps."""
    animator.curl(animator.creature.neck, LEFT, 0.08 * amount * np.cos(2 * WAVE))
    animator.curl(animator.creature.tail, UP, 0.25 * amount * np.sin(WAVE))


def walk(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _follow_steps(animator, amount)
    go(animator, Gait(0.6 * amount, 0.16, rng.uniform(0.6, 0.68)))


def walk_backwards(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _follow_steps(animator, amount)
    go(animator, Gait(0.45 * amount, 0.14, 0.64, backwards=True))


def trot(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    """Diagonal legs together."""
    legs = animator.creature.legs
    diagonal = {leg.hip: 0.5 * ((index // 2 + (leg.side > 0)) % 2)
                for index, leg in enumerate(legs)}  # fmt: skip
    _follow_steps(animator, 0.6 * amount)
    go(animator, Gait(0.7 * amount, 0.25, 0.47, bounce=0.04), diagonal)


def gallop(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    """Hind legs, then forelegs, the back bending between."""
    legs = animator.creature.legs
    front = {leg.hip for leg in legs[:2]}
    phases = {leg.hip: (0.5 if leg.hip in front else 0.0) + (0.08 if leg.side > 0 else 0.0)
              for leg in legs}  # fmt: skip
    animator.curl(animator.creature.spine[1:], LEFT, 0.3 * amount * np.sin(WAVE))
    animator.turn_whole(LEFT, 0.1 * amount * np.cos(WAVE))
    animator.curl(animator.creature.neck, LEFT, -0.25 * amount * np.sin(WAVE))
    animator.curl(animator.creature.tail, LEFT, 0.3 * amount * np.sin(WAVE + 1))
    go(animator, Gait(1.05 * amount, 0.4, 0.36, bounce=0.02, crouch=0.03), phases)
    animator.settle(0.08 * leg_length(animator) * np.maximum(np.sin(WAVE + 2.5), 0))


def jump(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.turn_whole(LEFT, -0.3 * amount * hold(0.25, 0.4, 0.45, 0.6))
    animator.turn_whole(LEFT, 0.3 * amount * hold(0.5, 0.65, 0.7, 0.85))
    leap(animator, 0.6 * amount, 0.25, 0.1)


def hop(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    leap(animator, 0.25 * amount, 0.15)


def nod(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.neck, LEFT, 0.3 * amount * (1 - np.cos(2 * WAVE)))


def shake_head(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.neck, UP, 0.6 * amount * np.sin(2 * WAVE))


def look(yaw: float, pitch: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        animator.curl(animator.creature.neck, UP, yaw * amount * hold())
        animator.curl(animator.creature.neck, LEFT, pitch * amount * hold())

    return act


def head_down(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.spine[1:], LEFT, 0.12 * hold(0, 0.3, 0.7, 1))
    chew = 0.1 * np.sin(3 * WAVE)
    animator.curl(animator.creature.neck, LEFT, (1.3 * amount + chew) * hold(0, 0.3, 0.7, 1))
    stand(animator)


def howl(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.neck, LEFT, -0.9 * amount * hold())


def wag(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.tail, UP, 1.0 * amount * np.sin(2 * WAVE))


def lift_tail(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.tail, LEFT, 1.0 * amount * hold())


def sit(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    """The hind part down, the forelegs where they stand."""
    down = rise(0.05, 0.7)
    length = leg_length(animator)
    animator.turn_whole(LEFT, -0.6 * down)
    animator.shift[:, 2] -= 0.55 * length * down
    animator.shift[:, 1] -= 0.1 * length * down
    animator.curl(animator.creature.neck, LEFT, 0.5 * down)
    animator.curl(animator.creature.tail, LEFT, 0.6 * down)
    stand(animator)
    animator.settle()


def lie_down(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.shift[:, 2] -= 0.75 * leg_length(animator) * rise(0.05, 0.8)
    animator.curl(animator.creature.neck, LEFT, 0.3 * rise(0.3, 0.9))
    stand(animator)
    animator.settle()


def crouch(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.shift[:, 2] -= 0.35 * min(amount, 1.3) * leg_length(animator) * hold(0, 0.4, 0.6, 1)
    stand(animator)


def play_bow(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    """The front down, the hind part up."""
    down = hold(0, 0.35, 0.65, 1)
    animator.turn_whole(LEFT, 0.4 * min(amount, 1.2) * down)
    animator.curl(animator.creature.neck, LEFT, -0.4 * down)
    stand(animator)


def rear_up(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    up = hold(0, 0.35, 0.65, 1)
    legs = animator.creature.legs
    animator.turn_whole(LEFT, -0.7 * min(amount, 1.3) * up)
    animator.shift[:, 2] -= 0.08 * leg_length(animator) * up
    for leg in legs[:2]:
        animator.turn(leg.hip, LEFT, -0.4 * up)
        animator.turn(leg.knee, LEFT, 0.9 * up * leg.bend)
    stand(animator, *legs[:2])
    animator.settle()


def lift_paw(side: int) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        up = hold(0, 0.3, 0.7, 1)
        for leg in animator.creature.legs[:2]:
            if leg.side == side:
                beat = 0.25 * np.sin(3 * WAVE) * up
                animator.turn(leg.hip, LEFT, -0.9 * amount * up + beat)
                animator.turn(leg.knee, LEFT, -0.6 * up)

    return act


def buck(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    """A kick with both hind legs."""
    up, out = hold(0.1, 0.4, 0.5, 0.9), hold(0.3, 0.5, 0.55, 0.75)
    hind = animator.creature.legs[2:]
    animator.turn_whole(LEFT, 0.35 * amount * up)
    animator.shift[:, 2] += 0.1 * leg_length(animator) * up
    for leg in hind:
        animator.turn(leg.hip, LEFT, 1.1 * amount * out)
        animator.turn(leg.knee, LEFT, 0.6 * (up - out))
    stand(animator, *hind)
    animator.settle()


def turn_around(angle: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        animator.turn_whole(UP, angle * rise(0.0, 0.95))
        animator.curl(animator.creature.neck, UP, np.sign(angle) * 0.3 * hold())
        for index, leg in enumerate(animator.creature.legs):
            beat = np.maximum(np.sin(2 * WAVE + np.pi * ((index // 2 + index) % 2)), 0)
            animator.turn(leg.hip, LEFT, -0.35 * beat)
            animator.turn(leg.knee, LEFT, -0.7 * beat * leg.bend)
        animator.settle()

    return act


def dance(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    length = leg_length(animator)
    animator.shift[:, 0] += 0.12 * amount * length * np.sin(WAVE)
    animator.shift[:, 2] += 0.1 * amount * length * (np.cos(2 * WAVE) - 1)
    animator.curl(animator.creature.neck, UP, 0.4 * amount * np.sin(WAVE))
    animator.curl(animator.creature.tail, UP, -0.6 * amount * np.sin(WAVE))
    stand(animator)


def idle(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.shift[:, 2] += 0.03 * amount * leg_length(animator) * (np.cos(WAVE) - 1)
    animator.curl(animator.creature.neck, LEFT, 0.07 * amount * np.sin(WAVE))
    animator.curl(animator.creature.tail, UP, 0.15 * amount * np.sin(WAVE))
    stand(animator)


def _wings(animator: Animator, up: np.ndarray, lag: float, share: np.ndarray) -> None:
    """Wings out, at an angle over the level, from where they rest and back."""
    for limb in animator.creature.wings:
        directions = []
        for index, bone in enumerate(limb.bones):
            rest = animator.creature.tails[bone] - animator.creature.heads[bone]
            rest = rest / np.linalg.norm(rest)
            angle = up - lag * index * np.gradient(up)
            out = np.stack(
                [limb.side * np.cos(angle), np.full(FRAMES, 0.15), np.sin(angle)], axis=1
            )
            directions.append(rest + (out - rest) * share[:, None])
        animator.aim(limb.bones, *directions)


def flap(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _wings(animator, 0.1 + 0.8 * amount * np.sin(2 * WAVE), 0.6, np.ones(FRAMES))


def fly(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    """Up in the air, legs drawn in."""
    _wings(animator, 0.1 + 0.8 * amount * np.sin(2 * WAVE), 0.6, np.ones(FRAMES))
    animator.turn_whole(LEFT, 0.35)
    for leg in animator.creature.legs:
        animator.turn(leg.hip, LEFT, 0.6)
        animator.turn(leg.knee, LEFT, 0.5)
    animator.shift[:, 2] += animator.size * (0.35 + 0.05 * np.cos(2 * WAVE))


def take_off(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _wings(animator, 0.1 + 0.9 * np.sin(2 * WAVE - 1), 0.6, rise(0.05, 0.3))
    height = leg_length(animator)
    animator.shift[:, 2] += animator.size * 0.5 * amount * rise(0.4, 1) - 0.25 * height * hold(
        0.1, 0.3, 0.35, 0.5
    )
    for leg in animator.creature.legs:
        target = np.tile(animator.ankle(leg), (FRAMES, 1))
        target[:, 2] += animator.size * 0.5 * amount * rise(0.45, 1)
        animator.plant(leg, target, 0.4 * rise(0.45, 0.7))


def spread_wings(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    _wings(animator, 0.35 * amount * np.ones(FRAMES), 0.0, hold(0, 0.35, 0.7, 1))


def peck(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    down = hold(0, 0.3, 0.7, 1)
    animator.turn_whole(LEFT, 0.5 * amount * down)
    animator.curl(animator.creature.neck, LEFT, (0.8 + 0.35 * np.sin(3 * WAVE)) * amount * down)
    stand(animator)


def bird_bow(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.turn_whole(LEFT, 0.6 * amount * hold(0, 0.4, 0.6, 1))
    stand(animator)


def run_of_birds(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    go(animator, Gait(1.0 * amount, 0.35, 0.4, bounce=0.03, crouch=0.05))
    animator.settle(0.06 * leg_length(animator) * np.maximum(np.cos(2 * WAVE + 1.2), 0))


def walk_of_birds(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.neck, LEFT, 0.25 * amount * np.cos(2 * WAVE))
    go(animator, Gait(0.7 * amount, 0.2, 0.6))


def crawl(speed: float) -> Act:
    """Tripods of legs in turn."""

    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        gait = Gait(speed, 0.5, 0.55)
        for leg in animator.creature.legs:
            offset, _ = step(gait, (SHARES + leg.phase) % 1, 1.0)
            animator.turn(leg.hip, UP, -leg.side * 0.6 * amount * offset[:, 1] / speed * speed * 2)
            animator.turn(leg.hip, FORWARD, leg.side * 0.5 * offset[:, 2])
        animator.settle()

    return act


def crawler_crouch(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    down = hold(0, 0.4, 0.6, 1)
    for leg in animator.creature.legs:
        animator.turn(leg.hip, FORWARD, leg.side * 0.35 * amount * down)
        animator.turn(leg.ankle, FORWARD, -leg.side * 0.35 * amount * down)
    animator.settle()


def crawler_jump(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    crawler_crouch(animator, rng, amount)
    flight = np.clip((SHARES - 0.4) / 0.4, 0, 1)
    animator.settle(animator.size * amount * 4 * flight * (1 - flight))


def threaten(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    """The front legs up."""
    up = hold(0, 0.3, 0.7, 1)
    for leg in animator.creature.legs[:2]:
        animator.turn(leg.hip, FORWARD, leg.side * (0.9 * amount + 0.2 * np.sin(3 * WAVE)) * up)
        animator.turn(leg.hip, UP, -leg.side * 0.4 * up)
    animator.turn_whole(LEFT, -0.2 * up)
    animator.settle()


def crawler_dance(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    for leg in animator.creature.legs:
        beat = np.maximum(np.sin(2 * WAVE + 2 * np.pi * leg.phase), 0)
        animator.turn(leg.hip, FORWARD, leg.side * 0.5 * amount * beat)
    animator.turn_whole(UP, 0.25 * amount * np.sin(WAVE))
    animator.settle()


def crawler_idle(animator: Animator, rng: np.random.Generator, amount: float) -> None:
    animator.curl(animator.creature.tail, LEFT, 0.12 * amount * np.sin(WAVE))
    animator.curl(animator.creature.neck, UP, 0.15 * amount * np.sin(WAVE))


def turn_only(angle: float) -> Act:
    def act(animator: Animator, rng: np.random.Generator, amount: float) -> None:
        crawl(0.6)(animator, rng, 0.5)
        animator.turn_whole(UP, angle * rise(0.0, 0.95))

    return act


_HEAD: Acts = [
    (("nod", "nod its head"), 0.8, nod),
    (("shake its head", "shake the head"), 0.8, shake_head),
    (("look to the left", "look left", "turn its head to the left"), 0.5, look(0.9, 0.0)),
    (("look to the right", "look right", "turn its head to the right"), 0.5, look(-0.9, 0.0)),
    (("look up", "raise its head"), 0.5, look(0.0, -0.6)),
]
_TURNS: Acts = [
    (("turn to the left", "turn left"), 0.4, turn_around(np.pi / 2)),
    (("turn to the right", "turn right"), 0.4, turn_around(-np.pi / 2)),
    (("turn around", "spin around"), 0.4, turn_around(np.pi)),
]
_STILL = ("stand still", "stand idle", "breathe", "idle", "rest")
_ON_FOOT = ("walk", "walk forward", "stroll", "walk along", "go for a walk", "take a walk")

QUADRUPED_ACTS: Acts = [
    (_ON_FOOT, 3.0, walk),
    (("trot", "jog", "trot along"), 1.3, trot),
    (("run", "gallop", "run fast", "sprint", "run forward"), 2.2, gallop),
    (("walk backwards", "step backwards", "back away"), 0.5, walk_backwards),
    (("jump", "leap", "jump up", "pounce"), 1.5, jump),
    (("hop", "bounce", "hop on the spot"), 0.6, hop),
    *_HEAD, *_TURNS,
    (("eat", "graze", "sniff the ground", "eat grass", "drink", "lower its head"), 1.2, head_down),
    (("howl", "howl at the moon", "roar"), 0.7, howl),
    (("wag its tail", "wag the tail", "swing its tail"), 1.2, wag),
    (("raise its tail", "lift its tail"), 0.4, lift_tail),
    (("sit down", "sit", "take a seat"), 1.2, sit),
    (("lie down", "lay down", "lie on the ground", "go to sleep"), 0.9, lie_down),
    (("crouch", "duck", "bend its legs"), 0.7, crouch),
    (("bow", "stretch", "bow down", "stretch its back"), 0.8, play_bow),
    (("rear up", "stand on its hind legs", "rear on its hind legs"), 0.9, rear_up),
    (("raise its left paw", "lift the left foreleg", "wave its left paw"), 0.6, lift_paw(1)),
    (("raise its right paw", "lift the right foreleg", "wave its right paw"), 0.6, lift_paw(-1)),
    (("wave", "scratch the ground", "wave a paw", "greet"), 0.6, lift_paw(-1)),
    (("kick", "buck", "kick with its hind legs", "kick backwards"), 0.8, buck),
    (("dance", "dance to the music", "sway to the music"), 0.8, dance),
    (_STILL, 0.8, idle),
]  # fmt: skip

BIRD_ACTS: Acts = [
    (_ON_FOOT, 2.5, walk_of_birds),
    (("run", "run fast", "sprint", "jog"), 1.2, run_of_birds),
    (("hop", "jump", "bounce", "jump up"), 1.3, hop),
    *_HEAD, *_TURNS,
    (("flap its wings", "flap", "beat its wings", "wave its wings"), 1.6, flap),
    (("fly", "fly in the air", "fly forward"), 1.3, fly),
    (("take off", "start to fly", "fly up", "lift off"), 0.8, take_off),
    (("spread its wings", "open its wings", "stretch its wings", "stretch"), 0.9, spread_wings),
    (("peck", "eat", "peck at the ground", "pick up grains"), 1.3, peck),
    (("bow", "bow down"), 0.6, bird_bow),
    (("wag its tail", "shake its tail"), 0.6, wag),
    (("crouch", "duck", "squat"), 0.6, crouch),
    (("dance", "dance to the music", "sway to the music"), 0.8, dance),
    (_STILL, 0.7, idle),
]  # fmt: skip

CRAWLER_ACTS: Acts = [
    ((*_ON_FOOT, "crawl", "crawl forward"), 2.5, crawl(0.6)),
    (("run", "scuttle", "run fast"), 1.2, crawl(1.0)),
    (("raise its front legs", "threaten", "wave", "rear up", "attack"), 1.2, threaten),
    (("jump", "leap", "jump up"), 1.0, crawler_jump),
    (("crouch", "duck", "squat", "bend its legs"), 0.8, crawler_crouch),
    (("dance", "dance to the music"), 0.8, crawler_dance),
    (("turn to the left", "turn left"), 0.4, turn_only(np.pi / 2)),
    (("turn to the right", "turn right"), 0.4, turn_only(-np.pi / 2)),
    (_STILL, 0.7, crawler_idle),
]
