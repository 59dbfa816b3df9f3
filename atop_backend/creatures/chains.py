"""Bodies without legs: snakes, fish, and arms that stand on a foot."""

from __future__ import annotations

import numpy as np

from atop_backend.creatures.anatomy import Creature, Draft, Limb
from atop_backend.creatures.palette import style_of

_SNAKES = ("snake", "worm", "eel", "cobra", "serpent", "caterpillar", "creature", "animal")
_FISH = ("fish", "shark", "dolphin", "whale", "carp", "creature", "animal")
_ARMS = ("arm", "crane", "robot arm", "tentacle", "stalk", "plant", "lamp", "flower", "manipulator",
         "column", "bar", "pole", "antenna", "object", "trunk")  # fmt: skip


def snake(rng: np.random.Generator) -> Creature:
    """A long body that lies on the ground, its head in front."""
    draft, style = Draft(), style_of(rng)
    u = rng.uniform
    count, thick = int(rng.integers(9, 15)), u(0.04, 0.09)
    tapering = u(0.2, 0.8)
    points = [[0, share - 0.5, thick] for share in np.linspace(0, 1, count + 1)]
    # the root is amid the body, so that both ends swing
    middle = count // 2
    front = draft.chain("front", points[: middle + 1][::-1], -1)
    rear = draft.chain("rear", points[middle:], front[0])
    widths = thick * np.interp(np.linspace(0, 1, count + 1), [0, 0.15, 0.5, 1],
                               [0.9, 0.8, 1.0, tapering])  # fmt: skip
    draft.tube(front, list(widths[: middle + 1][::-1]), None, 0, style.sides, 2, style.blend)
    draft.tube(rear, list(widths[middle:]), None, 0 if rng.random() < 0.6 else 1, style.sides, 2,
               style.blend)  # fmt: skip
    head = np.array(points[0])
    draft.blob(front[-1], head, (1.2 * thick, 1.7 * thick, 0.9 * thick), 3, style.sides)
    for side in (1, -1):
        draft.blob(front[-1], head + np.array([0.7 * side * thick, -0.9 * thick, 0.6 * thick]),
                   (0.25 * thick,) * 3, 4, 6)  # fmt: skip
    return draft.finish("snake", _SNAKES, style.colours, (front[0],), front[1:], rear)


def fish(rng: np.random.Generator) -> Creature:
    """A fish with a tail fin, side fins and mostly a fin on its back."""
    draft, style = Draft(), style_of(rng)
    u = rng.uniform
    high, wide = u(0.12, 0.28), u(0.08, 0.15)
    level = 0.5
    front = draft.chain("front", [[0, 0.0, level], [0, -0.2, level], [0, -0.45, level]], -1)
    rear = draft.chain("rear", [[0, y, level] for y in (0, 0.15, 0.3, 0.42, 0.6)], front[0])
    draft.tube(front, [wide, wide, 0.35 * wide], [high, 0.9 * high, 0.3 * high], 0, style.sides, 2,
               style.blend)  # fmt: skip
    draft.tube(rear[:3], [wide, 0.75 * wide, 0.4 * wide, 0.2 * wide],
               [high, 0.75 * high, 0.4 * high, 0.22 * high], 0, style.sides, 2,
               style.blend)  # fmt: skip
    flat = rng.random() < 0.3  # as a whale's
    fluke = [0.02, 0.02] if not flat else [0.08, u(0.18, 0.3)]
    draft.tube(rear[3:], fluke, [0.08, u(0.18, 0.3)] if not flat else [0.02, 0.02], 3, 6, 3,
               style.blend)  # fmt: skip
    if rng.random() < 0.8:
        draft.blob(front[0], np.array([0, 0, level + high]), (0.015, 0.12, u(0.06, 0.15)), 3, 6)
    fins = []
    span = u(0.15, 0.3)
    for side in (1, -1):
        root = [0.8 * wide, -0.15, level - 0.4 * high]
        tip = [0.8 * wide + span, 0.0, level - 0.5 * high]
        bones = draft.chain("fin_" + "LR"[side < 0],
                            [[side * x, y, z] for x, y, z in (root, tip)], front[0])  # fmt: skip
        draft.tube(bones, [0.06, 0.09], [0.015, 0.01], 3, 6, 3, style.blend)
        fins.append(Limb(bones, side))
        draft.blob(front[1], np.array([side * 0.7 * wide, -0.36, level + 0.2 * high]),
                   (0.03, 0.03, 0.03), 4, 6)  # fmt: skip
    return draft.finish("fish", _FISH, style.colours, front[:1], front[1:], rear, (), (),
                        tuple(fins))  # fmt: skip


def arm(rng: np.random.Generator) -> Creature:
    """A chain that stands upright on the ground: an arm, a tentacle, a plain bar."""
    draft, style = Draft(), style_of(rng)
    u = rng.uniform
    count = int(rng.integers(1, 8))
    thick, tapering = u(0.04, 0.12), u(0.3, 1.0)
    plain = rng.random() < 0.3
    lean = u(-0.3, 0.3) if rng.random() < 0.5 else 0.0
    low = 0.05 if plain else u(0.08, 0.2)
    foot = draft.chain("foot", [[0, 0, 0.0], [0, 0, low]], -1)
    points = [np.array([0, 0, low])]
    slant = 0.0
    for _ in range(count):
        slant += lean
        step = np.array([0, -np.sin(slant), np.cos(slant)]) / count
        points.append(points[-1] + u(0.8, 1.2) * step)
    links = draft.chain("link", [list(p) for p in points], foot[0])
    widths = list(thick * np.linspace(1, tapering, count + 1))
    if plain:
        whole = [*foot, *links]
        draft.tube(whole, [thick, *widths], None, 0, style.sides, style.power, 0.3)
    else:
        base = u(1.3, 3.0) * thick
        draft.tube(foot, [base, base], None, 1, style.sides, style.power, 0.0)
        draft.tube(links, widths, None, 0, style.sides, style.power, style.blend)
        tip = points[-1]
        match int(rng.integers(3)):
            case 0:  # gripper
                for side in (1, -1):
                    draft.blob(
                        links[-1], tip + np.array([0.06 * side, 0, 0.06]), (0.025, 0.04, 0.08), 3, 6
                    )
            case 1:  # head of a lamp or flower
                draft.blob(links[-1], tip, (u(0.08, 0.16), u(0.08, 0.16), 0.07), 3, style.sides)
            case _:
                pass
    return draft.finish("arm", _ARMS, style.colours, foot, links)
