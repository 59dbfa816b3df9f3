"""Bodies that stand on legs: bipeds, quadrupeds, birds and many-legged ones."""

from __future__ import annotations

import numpy as np

from atop_backend.creatures.anatomy import Creature, Draft, Leg, Limb
from atop_backend.creatures.palette import style_of

_PEOPLE = ("man", "woman", "person", "character", "figure", "human", "robot", "knight", "boy",
           "girl", "soldier", "zombie", "monster", "dancer", "astronaut", "hero", "creature",
           "child", "guy", "worker", "android", "goblin", "ape", "alien")  # fmt: skip
_DOGS = ("dog", "fox", "wolf", "cat", "animal", "creature", "tiger", "lion", "puppy", "kitten",
         "panther", "beast")  # fmt: skip
_HOOVED = ("horse", "deer", "cow", "goat", "sheep", "donkey", "animal", "creature", "pony", "bull",
           "antelope", "beast")  # fmt: skip
_HEAVY = ("elephant", "bear", "pig", "rhino", "hippo", "dinosaur", "animal", "creature", "lizard",
          "crocodile", "monster")  # fmt: skip
_BIRDS = ("bird", "chicken", "hen", "pigeon", "crow", "duck", "ostrich", "eagle", "parrot",
          "penguin", "flamingo", "creature", "animal")  # fmt: skip
_CRAWLERS = ("spider", "crab", "insect", "beetle", "bug", "ant", "creature", "robot", "monster")


def _mirrored(points: list[list[float]], side: int) -> list[list[float]]:
    return [[side * x, y, z] for x, y, z in points]


def biped(rng: np.random.Generator) -> Creature:
    """A figure on two legs with arms out, at a slant or down."""
    draft, style = Draft(), style_of(rng)
    u = rng.uniform
    leg, trunk = u(0.75, 1.1), u(0.5, 0.75)
    hips, shoulders, thick = u(0.08, 0.14), u(0.15, 0.26), u(0.75, 1.4)
    head, neck = u(0.09, 0.18), u(0.05, 0.12)
    upper, fore, hand = u(0.24, 0.36), u(0.22, 0.34), u(0.06, 0.13)
    slump = u(-0.03, 0.05)
    base = leg + 0.04
    back = [[0, 0.01, base], [0, slump, base + 0.35 * trunk], [0, slump, base + 0.7 * trunk],
            [0, 0, base + trunk]]  # fmt: skip
    spine = draft.chain("spine", back, -1)
    top = back[-1][2]
    forward = -u(0.0, 0.06)
    throat = draft.chain("neck", [[0, 0, top], [0, forward, top + neck],
                                  [0, forward, top + neck + 1.8 * head]], spine[-1])  # fmt: skip
    waist, chest = 0.13 * thick, 0.14 * thick
    deep = u(0.6, 0.95)
    widths = [hips + 0.05 * thick, waist, chest, 0.7 * shoulders]
    draft.tube(spine, widths, [deep * width for width in widths], 1, style.sides,
               style.power + 1, style.blend)  # fmt: skip
    draft.tube(throat[:1], [0.05 * thick, 0.05 * thick], None, 0, style.sides, 2, style.blend)
    middle = np.array([0, forward, top + neck + 0.9 * head])
    draft.blob(throat[-1], middle, (head * u(0.7, 1), head * u(0.8, 1.05), head), 0, style.sides,
               style.power)  # fmt: skip
    nose = middle + np.array([0, -0.95 * head, -0.1 * head])
    draft.blob(throat[-1], nose, (0.18 * head, 0.3 * head, 0.2 * head), 0, 6)
    for side in (1, -1):
        eye = middle + np.array([0.35 * side * head, -0.85 * head, 0.25 * head])
        draft.blob(throat[-1], eye, (0.14 * head,) * 3, 4, 6)
    if rng.random() < 0.6:
        draft.blob(throat[-1], middle + np.array([0, 0.15 * head, 0.45 * head]),
                   (head * 0.95, head * 1.0, head * 0.7), 3, style.sides)  # fmt: skip
    drop = rng.choice([0.0, 0.0, np.radians(35), np.radians(50), np.radians(75)])
    legs, arms = [], []
    thigh = leg * u(0.46, 0.54)
    forwards = u(0.0, 0.03)
    size = u(0.8, 1.3)
    for side in (1, -1):
        line = [[hips, 0.01, base - 0.02], [hips, 0.01 - forwards, base - thigh],
                [hips, 0.02, 0.07], [hips, -0.13 * size, 0.02]]  # fmt: skip
        bones = draft.chain("leg_" + "LR"[side < 0], _mirrored(line, side), spine[0])
        draft.tube(bones[:2], [0.085 * thick, 0.06 * thick, 0.045 * thick], None, 2, style.sides,
                   style.power, style.blend)  # fmt: skip
        draft.blob(bones[2], np.array([side * hips, -0.05 * size, 0.04]),
                   (0.05 * size, 0.12 * size, 0.04), 3, style.sides, 3)  # fmt: skip
        legs.append(Leg(bones[0], bones[1], bones[2], side, -1, 0.0 if side > 0 else 0.5))
        shoulder = np.array([shoulders, 0.0, top - 0.04])
        line = [shoulder]
        for length, extra in ((upper, 0.0), (fore, u(0, 0.1)), (hand, 0.0)):
            slant = min(drop + extra, 1.4)
            line.append(line[-1] + length * np.array([np.cos(slant), -extra, -np.sin(slant)]))
        bones = draft.chain("arm_" + "LR"[side < 0], _mirrored([list(p) for p in line], side),
                            spine[-1])  # fmt: skip
        draft.tube(bones, [0.06 * thick, 0.047 * thick, 0.036 * thick, 0.03 * thick], None,
                   1 if style.sleeves else 0, style.sides, style.power, style.blend)  # fmt: skip
        centre = 0.5 * (draft.heads[bones[-1]] + draft.tails[bones[-1]])
        draft.blob(bones[-1], centre, (0.055, 0.045, 0.045), 0, 6)
        arms.append(Limb(bones, side))
    return draft.finish("biped", _PEOPLE, style.colours, spine, throat, (), tuple(legs),
                        tuple(arms))  # fmt: skip


def quadruped(rng: np.random.Generator) -> Creature:
    """An animal on four legs."""
    draft, style = Draft(), style_of(rng)
    u = rng.uniform
    build = int(rng.integers(3))  # like a dog, like a horse, heavy
    words = (_DOGS, _HOOVED, _HEAVY)[build]
    tall = (u(0.3, 0.6), u(0.6, 0.95), u(0.3, 0.6))[build]
    long = u(0.75, 1.15)
    thick = (u(0.7, 1.2), u(0.8, 1.2), u(1.3, 1.9))[build]
    half = long / 2
    spine = draft.chain("spine", [[0, half, tall], [0, 0.15 * half, tall + u(-0.02, 0.05)],
                                  [0, -half, tall + u(-0.03, 0.05)]], -1)  # fmt: skip
    belly = 0.15 * thick
    widths = [0.85 * belly, 0.9 * belly, u(0.95, 1.15) * belly]
    draft.tube(spine, widths, [1.15 * width for width in widths], 0, style.sides,
               style.power, style.blend)  # fmt: skip
    chest = np.array([0, -half, tall + 0.3 * belly])
    slope, length = (u(0.3, 0.9), u(0.7, 1.2), u(-0.1, 0.5))[build], u(0.18, 0.36)
    if build == 1:
        length *= 1.4
    direction = np.array([0, -np.cos(slope), np.sin(slope)])
    skull = (0.11 * thick**0.4) * u(0.8, 1.25)
    joints = [chest, chest + 0.5 * length * direction, chest + length * direction]
    muzzle = u(0.12, 0.3)
    joints.append(joints[-1] + (skull + muzzle) * np.array([0, -0.95, -u(0.05, 0.5)]))
    neck = draft.chain("neck", [list(p) for p in joints], spine[-1])
    draft.tube(neck[:2], [0.75 * belly, 0.6 * skull + 0.2 * belly, 0.75 * skull], None, 0,
               style.sides, style.power, style.blend)  # fmt: skip
    draft.blob(neck[2], joints[2] + [0, -0.3 * skull, 0], (0.85 * skull, skull, 0.85 * skull), 0,
               style.sides, style.power)  # fmt: skip
    snout = 0.5 * (joints[2] + joints[3]) + [0, -0.2 * skull, 0]
    draft.blob(neck[2], snout, (0.45 * skull, 0.5 * skull + 0.5 * muzzle, 0.4 * skull),
               2 if style.sleeves else 0, 6)  # fmt: skip
    pointed = u(0.4, 1.2)
    for side in (1, -1):
        ear = joints[2] + np.array([0.6 * side * skull, 0.1 * skull, 0.9 * skull])
        draft.blob(neck[2], ear, (0.25 * skull, 0.12 * skull, pointed * skull), 3, 6)
        eye = joints[2] + np.array([0.65 * side * skull, -0.75 * skull, 0.35 * skull])
        draft.blob(neck[2], eye, (0.13 * skull,) * 3, 4, 6)
    reach, sag = u(0.25, 0.7), u(-0.8, 0.6)
    start = np.array([0, half + 0.6 * belly, tall + 0.5 * belly])
    ends = [list(start + reach * share * np.array([0, np.cos(sag), np.sin(sag)]))
            for share in np.linspace(0, 1, 4)]  # fmt: skip
    tail = draft.chain("tail", ends, spine[0])
    bushy = u(0.02, 0.09)
    draft.tube(tail, [0.03, bushy, bushy, 0.02], None, 3 if rng.random() < 0.4 else 0, 6, 2,
               style.blend)  # fmt: skip
    legs = []
    stance, slim = 0.75 * belly, 0.05 * thick * u(0.8, 1.2)
    for front in (True, False):
        at = -half * u(0.8, 0.95) if front else half * u(0.85, 1.0)
        bend = 1 if front else -1
        hock = u(0.06, 0.2) * tall
        for side in (1, -1):
            parent = spine[-1] if front else spine[0]
            line = [[stance, at, tall - 0.1 * belly], [stance, at + bend * hock, 0.52 * tall],
                    [stance, at - 0.1 * bend * hock, 0.09 * tall + 0.02],
                    [stance, at - 0.08 - 0.04 * thick, 0.02]]  # fmt: skip
            name = ("foreleg_" if front else "hindleg_") + "LR"[side < 0]
            bones = draft.chain(name, _mirrored(line, side), parent)
            draft.tube(bones[:2], [1.9 * slim, 1.15 * slim, 0.8 * slim], None, 0, style.sides,
                       style.power, style.blend)  # fmt: skip
            paw = np.array([side * stance, at - 0.1 * bend * hock - 0.03, 0.035])
            draft.blob(bones[2], paw, (1.1 * slim, 1.1 * slim + 0.04, 0.05), 2, style.sides, 3)
            diagonal = 0.5 if (side > 0) == front else 0.0
            legs.append(
                Leg(
                    bones[0],
                    bones[1],
                    bones[2],
                    side,
                    bend,
                    diagonal if front else (diagonal + 0.25) % 1,
                )
            )
    return draft.finish("quadruped", words, style.colours, spine, neck, tail, tuple(legs))


def bird(rng: np.random.Generator) -> Creature:
    """A bird with folded or spread wings."""
    draft, style = Draft(), style_of(rng)
    u = rng.uniform
    leg, long, fat = u(0.2, 0.8), u(0.4, 0.7), u(0.13, 0.24)
    lean, tall = u(0.1, 1.1), leg + 0.7 * fat + 0.05
    axis = np.array([0, -np.cos(lean), np.sin(lean)])
    back = [list(np.array([0, 0.0, tall]) + share * long * axis) for share in (-0.35, 0.1, 0.55)]
    spine = draft.chain("spine", back, -1)
    draft.tube(spine, [0.7 * fat, fat, 0.75 * fat], None, 0, style.sides, 2, style.blend)
    chest = np.array(back[-1])
    length, slope, skull = u(0.1, 0.45), u(0.7, 1.5), u(0.07, 0.13)
    direction = np.array([0, -np.cos(slope), np.sin(slope)])
    joints = [chest, chest + 0.5 * length * direction, chest + length * direction]
    joints.append(joints[-1] + np.array([0, -1.6 * skull, 0]))
    neck = draft.chain("neck", [list(p) for p in joints], spine[-1])
    draft.tube(neck[:2], [0.5 * fat, 0.6 * skull, 0.6 * skull], None, 0, style.sides, 2,
               style.blend)  # fmt: skip
    draft.blob(neck[2], joints[2], (0.9 * skull, 1.05 * skull, skull), 0, style.sides)
    beak = joints[2] + np.array([0, -1.3 * skull, -0.1 * skull])
    draft.blob(neck[2], beak, (0.3 * skull, u(0.5, 1.4) * skull, 0.25 * skull), 3, 6)
    for side in (1, -1):
        eye = joints[2] + np.array([0.6 * side * skull, -0.7 * skull, 0.35 * skull])
        draft.blob(neck[2], eye, (0.16 * skull,) * 3, 4, 6)
    rump = np.array(back[0])
    plume = u(0.15, 0.4)
    tail = draft.chain("tail", [list(rump + share * plume * np.array([0, 0.95, u(-0.2, 0.3)]))
                                for share in (0, 0.5, 1)], spine[0])  # fmt: skip
    draft.tube(tail, [0.06, 0.09, 0.1], [0.03, 0.02, 0.015], 3, 6, 3, style.blend)
    legs, wings = [], []
    spread = rng.random() < 0.5
    span = u(0.35, 0.8)
    slim = u(0.02, 0.04)
    for side in (1, -1):
        hip = 0.5 * fat
        hook = u(0.03, 0.08)
        line = [[hip, 0.0, tall - 0.4 * fat], [hip, -hook, 0.55 * leg], [hip, 0.02, 0.05],
                [hip, -0.1, 0.015]]  # fmt: skip
        bones = draft.chain("leg_" + "LR"[side < 0], _mirrored(line, side), spine[0])
        draft.tube(bones[:2], [2.2 * slim, slim, 0.8 * slim], None, 2, 6, 2, style.blend)
        draft.blob(bones[2], np.array([side * hip, -0.04, 0.02]), (0.05, 0.09, 0.02), 2, 6, 3)
        legs.append(Leg(bones[0], bones[1], bones[2], side, -1, 0.0 if side > 0 else 0.5))
        root = 0.5 * (np.array(back[1]) + chest) + [0.75 * fat, 0, 0.2 * fat]
        out = (np.array([1.0, 0.1, 0.1]) if spread else
               np.array([0.15, 0, 0]) - 0.95 * axis + [0, 0, -0.1])  # fmt: skip
        ends = [
            list(root + share * span * out / np.linalg.norm(out)) for share in (0, 0.35, 0.7, 1)
        ]
        bones = draft.chain("wing_" + "LR"[side < 0], _mirrored(ends, side), spine[-1])
        if spread:
            draft.tube(bones, [0.13, 0.15, 0.12, 0.05], [0.03, 0.02, 0.015, 0.01], 1, 8, 3,
                       style.blend)  # fmt: skip
        else:
            draft.tube(bones, [0.03, 0.03, 0.02, 0.01], [0.1, 0.13, 0.1, 0.04], 1, 8, 2,
                       style.blend)  # fmt: skip
        wings.append(Limb(bones, side))
    return draft.finish("bird", _BIRDS, style.colours, spine, neck, tail, tuple(legs), (),
                        tuple(wings))  # fmt: skip


def crawler(rng: np.random.Generator) -> Creature:
    """Six or eight legs that reach out to the sides."""
    draft, style = Draft(), style_of(rng)
    u = rng.uniform
    pairs, height = int(rng.integers(3, 5)), u(0.15, 0.4)
    long, wide = u(0.2, 0.4), u(0.12, 0.24)
    spine = draft.chain("spine", [[0, 0.1, height], [0, -long, height]], -1)
    draft.tube(spine, [wide, 0.9 * wide], [0.6 * wide, 0.55 * wide], 0, style.sides, style.power,
               style.blend)  # fmt: skip
    abdomen = draft.chain("tail", [[0, 0.1, height], [0, 0.1 + u(0.2, 0.5), height + u(0, 0.1)]],
                          spine[0])  # fmt: skip
    bulge = u(0.8, 1.6) * wide
    draft.tube(abdomen, [0.6 * bulge, bulge], None, 1, style.sides, 2, style.blend)
    neck = draft.chain("neck", [[0, -long, height], [0, -long - 0.15, height]], spine[-1])
    draft.blob(neck[0], np.array([0, -long - 0.08, height]), (0.6 * wide, 0.1, 0.5 * wide), 0,
               style.sides)  # fmt: skip
    for side in (1, -1):
        draft.blob(neck[0], np.array([0.3 * side * wide, -long - 0.17, height + 0.25 * wide]),
                   (0.04, 0.04, 0.04), 4, 6)  # fmt: skip
    knee_height, reach, slim = height + u(0.05, 0.3), u(0.3, 0.6), u(0.02, 0.05)
    legs = []
    for pair in range(pairs):
        at = 0.1 - (long + 0.05) * (pair + 0.3) / pairs
        fan = np.linspace(-0.7, 0.7, pairs)[::-1][pair]
        out = np.array([np.cos(fan), np.sin(fan), 0])
        for side in (1, -1):
            root = np.array([0.7 * wide, at, height])
            line = [root, root + 0.4 * reach * out + [0, 0, knee_height - height],
                    root + 0.8 * reach * out + [0, 0, 0.35 * (knee_height - height) - 0.2 * height],
                    root + 1.05 * reach * out + [0, 0, 0.01 - height]]  # fmt: skip
            bones = draft.chain(f"leg{pair + 1}_" + "LR"[side < 0],
                                _mirrored([list(p) for p in line], side), spine[0])  # fmt: skip
            draft.tube(bones, [1.6 * slim, 1.2 * slim, slim, 0.5 * slim], None, 2, 6, 2,
                       style.blend)  # fmt: skip
            legs.append(
                Leg(bones[0], bones[1], bones[2], side, -1, 0.5 * ((pair + (side > 0)) % 2))
            )
    return draft.finish("crawler", _CRAWLERS, style.colours, spine, neck, abdomen, tuple(legs))
