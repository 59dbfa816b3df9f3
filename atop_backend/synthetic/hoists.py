"""Cranes, excavators, barriers, seesaws and presses."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import HOUSEHOLD, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    sphere,
)

WORKSHOP = (*HOUSEHOLD, palette.WOODS)


def crane(rng: np.random.Generator) -> Draft:
    """A crane, an excavator, a barrier or a seesaw: its boom goes up or down, or swings."""
    s = Sketch(rng, WORKSHOP)
    style = s.one_of("excavator", "barrier", "seesaw", "catapult")
    if style == "barrier":
        high, long, side = s.between(0.8, 1.1), s.between(1.5, 3.0), s.sign()
        s.fix(box((-0.15, -0.12, 0), (0.15, 0.12, high)))
        pivot = (0.0, -0.14, high * 0.9)
        s.fix(cylinder((0, -0.12, pivot[2]), (0, -0.05, 0), 0.05, segments=12), "metal")
        near, far = sorted((-side * 0.3, side * long))
        s.move(box((near, -0.2, pivot[2] - 0.05), (far, -0.14, pivot[2] + 0.05)), "front")
        for i in range(1, 4):
            x = side * long * i / 4
            s.move(
                box((x - 0.1, -0.205, pivot[2] - 0.052), (x + 0.1, -0.2, pivot[2] + 0.052)),
                "accent",
            )
        joint = hinge((0, -side, 0), pivot, s.degrees(50, 88))
        objects, parts = (
            ("barrier", "gate barrier", "boom gate"),
            ("arm", "boom", "bar", "barrier arm"),
        )
        return s.draft(
            "barrier",
            joint,
            objects,
            parts,
            say.join(say.TILT_UP, say.OPEN),
            say.join(say.TILT_DOWN, say.CLOSE),
        )
    if style == "seesaw":
        long, high = s.between(1.2, 2.4), s.between(0.3, 0.5)
        for y in (-1, 1):
            s.fix(
                extrude([(-0.2, 0), (0.2, 0), (0.0, high)], "xz", y * 0.16 - 0.03, y * 0.16 + 0.03),
                "trim",
            )
        s.fix(cylinder((0, -0.2, high), (0, 0.4, 0), 0.03, segments=10), "metal")
        mark = s.mark()
        s.move(box((-long / 2, -0.11, high + 0.02), (long / 2, 0.11, high + 0.06)), "front")
        for x in (-1, 1):
            at = np.array((x * long * 0.42, 0.0, high + 0.06))
            s.move(box(at - (0.02, 0.1, 0), at + np.array((0.02, 0.1, 0.18))), "accent")
        tilt = np.arctan2(high * 0.8, long / 2) * s.sign()
        s.turn(mark, (0, 1, 0), tilt, (0, 0, high))
        joint = hinge((0, -np.sign(tilt), 0), (0, 0, high), 2 * abs(tilt))
        return s.draft(
            "seesaw",
            joint,
            ("seesaw", "balance", "scale"),
            ("board", "plank", "beam"),
            say.words("tilts|tips over|swings|rotates", "tilt {}|tip {}"),
            directed=False,
        )
    if style == "catapult":
        wide, long = s.between(0.3, 0.5), s.between(0.8, 1.2)
        for x in (-1, 1):
            s.fix(
                box((x * wide / 2 - 0.03, -long / 2, 0.08), (x * wide / 2 + 0.03, long / 2, 0.15))
            )
            s.fix(box((x * wide / 2 - 0.03, -0.05, 0.15), (x * wide / 2 + 0.03, 0.05, 0.5)))
            for y in (-0.35, 0.35):
                hub = (x * (wide / 2 + 0.035), y * long, 0.12)
                s.fix(cylinder(hub, (x * 0.04, 0, 0), 0.12, segments=14), "trim")
        pivot = (0.0, 0.0, 0.22)
        s.fix(cylinder((-wide / 2, *pivot[1:]), (wide, 0, 0), 0.03, segments=8), "metal")
        mark = s.mark()
        s.move(cylinder((0, 0, 0.22), (0, 0, long * 0.7), 0.03, segments=8), "front")
        s.move(sphere((0, 0, 0.22 + long * 0.72), (0.08, 0.04, 0.08), 10, 6), "front")
        start = s.degrees(30, 75)
        s.turn(mark, (-1, 0, 0), start, pivot)
        joint = hinge((1, 0, 0), pivot, start)
        return s.draft(
            "catapult",
            joint,
            ("catapult", "trebuchet"),
            ("arm", "throwing arm", "beam"),
            say.TILT_UP,
            say.TILT_DOWN,
        )
    wide, long = s.between(0.5, 0.7), s.between(0.8, 1.0)
    for x in (-1, 1):
        s.fix(
            box((x * wide / 2 - 0.08, -long / 2, 0), (x * wide / 2 + 0.08, long / 2, 0.2)), "dark"
        )
    part = s.one_of("cab", "boom", "stick", "stick", "bucket")
    rank = ("cab", "boom", "stick", "bucket").index(part)
    s.fix(cylinder((0, 0, 0.1), (0, 0, 0.12), 0.16, segments=16), "metal")
    cab = rank == 0
    s.add(box((-wide * 0.45, -0.25, 0.225), (wide * 0.45, 0.45, 0.45)), "body", cab)
    s.add(box((-wide * 0.45, -0.25, 0.45), (-wide * 0.05, 0.1, 0.75)), "glass", cab)
    angles = (s.degrees(25, 65), s.degrees(-70, -10), s.degrees(-150, -60))
    at, size = np.array((0.12, -0.25, 0.45)), 0.06
    for i, (length, angle) in enumerate(zip((0.8, 0.55, 0.2), angles, strict=True)):
        moves = i + 1 >= rank
        way = length * np.array((0.0, -np.cos(angle), np.sin(angle)))
        if i == rank - 1:
            pivot = at
        pin = cylinder(at - (size * 1.4, 0, 0), (size * 2.8, 0, 0), size * 0.5, segments=10)
        s.add(pin, "metal", i >= rank)
        s.add(cylinder(at, way, size * (1 - 0.2 * i), size * 0.7, 4 if i < 2 else 6), "body", moves)
        at = at + way
    s.move(box(at - (0.12, 0.1, 0.08), at + np.array((0.12, 0.06, 0.06))), "dark")
    objects = ("excavator", "digger", "crane")
    if cab:
        joint = hinge((0, 0, s.sign()), (0, 0, 0.2), s.degrees(30, 120))
        parts = ("cab", "upper body", "cabin", "turret")
        return s.draft(
            "excavator", joint, objects, parts, say.join(say.SWIVEL, say.TURN), directed=False
        )
    joint = hinge((s.sign(), 0, 0), pivot, s.degrees(15, 35))
    motion, back = s.tilting(joint)
    parts = {
        "boom": ("boom", "arm"),
        "stick": ("stick", "arm", "forearm"),
        "bucket": ("bucket", "shovel"),
    }[part]
    return s.draft("excavator", joint, objects, parts, motion, back, directed=False)


def press(rng: np.random.Generator) -> Draft:
    """A press, a drill stand, a lift or a jack: a plate or a column travels up or down."""
    s = Sketch(rng)
    wide, high = s.between(0.3, 0.6), s.between(0.5, 1.0)
    s.fix(box((-wide / 2, -wide / 2, 0), (wide / 2, wide / 2, 0.06)))
    style = s.one_of("frame", "column", "jack")
    down = s.chance(0.5)
    level = high * (s.between(0.6, 0.8) if down else s.between(0.15, 0.4))
    if style == "frame":
        for x in (-1, 1):
            s.fix(cylinder((x * wide * 0.42, 0, 0.06), (0, 0, high), 0.022, segments=10), "metal")
        s.fix(box((-wide / 2, -wide * 0.2, high + 0.06), (wide / 2, wide * 0.2, high + 0.14)))
        s.move(
            box((-wide * 0.48, -wide * 0.3, level), (wide * 0.48, wide * 0.3, level + 0.05)),
            "front",
        )
    elif style == "column":
        s.fix(cylinder((0, wide * 0.35, 0.06), (0, 0, high), 0.03, segments=12), "metal")
        s.move(cylinder((0, wide * 0.35, level), (0, 0, 0.12), 0.05, segments=12), "front")
        s.move(box((-0.06, -wide * 0.35, level), (0.06, wide * 0.35, level + 0.1)), "front")
        s.move(cylinder((0, -wide * 0.2, level), (0, 0, -0.07), 0.02, 0.005, 10), "metal")
    else:
        s.fix(cylinder((0, 0, 0.06), (0, 0, high * 0.4), wide * 0.2, segments=14), "body")
        level = high * 0.42 + (high * 0.3 if down else 0.0)
        s.move(
            cylinder(
                (0, 0, high * 0.1), (0, 0, level - high * 0.1 + 0.06), wide * 0.13, segments=12
            ),
            "metal",
        )
        s.move(
            box((-wide * 0.3, -wide * 0.3, level + 0.06), (wide * 0.3, wide * 0.3, level + 0.1)),
            "front",
        )
    if style == "jack":
        travel = high * (0.27 if down else 0.3)
    else:
        travel = (level - 0.15) * 0.9 if down else (high - level - 0.06) * s.between(0.6, 0.9)
    joint = slider((0, 0, -1 if down else 1), (0, 0, level), max(travel, 0.05))
    words = (say.SLIDE_DOWN, say.SLIDE_UP)
    there, back = words if down else words[::-1]
    objects = ("press", "machine", "lift", "drill press", "jack")
    return s.draft("press", joint, objects, ("plate", "platform", "head", "slide"), there, back)


KINDS = {
    "crane": (1.1, crane),
    "press": (1.0, press),
}
