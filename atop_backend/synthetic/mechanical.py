"""Robot arms, propellers, drawbridges and turrets."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge
from atop_backend.synthetic.sketch import HOUSEHOLD, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    frame,
    rotate,
    sphere,
    tube,
)

WORKSHOP = (*HOUSEHOLD, palette.WOODS)
_UP = np.array((0.0, 0.0, 1.0))


def robot_arm(rng: np.random.Generator) -> Draft:
    """An arm of links on a base, each joint an upright, a bending or a rolling one."""
    s = Sketch(rng)
    links, thick = int(rng.integers(2, 5)), s.between(0.03, 0.07)
    s.fix(cylinder((0, 0, 0), (0, 0, 0.05), thick * s.between(1.6, 3.0), segments=16), "trim")
    at, along = np.array((0.0, 0.0, 0.05)), _UP
    bend = np.array((1.0, 0.0, 0.0)) if s.chance(0.5) else np.array((0.0, 1.0, 0.0))
    bend = rotate(bend[None, None], _UP, s.between(-np.pi, np.pi), (0, 0, 0))[0, 0]
    chosen = int(rng.integers(links))
    lines: list[tuple[np.ndarray, np.ndarray, str]] = []
    for i in range(links):
        moves = i >= chosen
        radius, long = thick * (1 - 0.15 * i), s.between(0.15, 0.4)
        rolls = i == 0 or s.chance(0.2)
        if rolls:  # turns about the link's own direction
            s.add(cylinder(at, along * 0.04, radius * 1.2, segments=14), "accent", moves)
            lines.append((at, along, "roll"))
        else:
            pin = radius * s.between(1.1, 1.5)
            s.add(
                cylinder(at - bend * pin, 2 * pin * bend, radius * 0.9, segments=14),
                "accent",
                i - 1 >= chosen,
            )
            lines.append((at, bend, "bend"))
            along = rotate(along[None, None], bend, s.degrees(-80, 80), (0, 0, 0))[0, 0]
        if s.chance(0.5):
            s.add(cylinder(at, along * long, radius * 0.75, radius * 0.65, 12), "body", moves)
        else:
            for side in (-1, 1):
                start = at + side * bend * radius * 0.6
                s.add(cylinder(start, along * long, radius * 0.3, segments=8), "body", moves)
        at = at + along * long
    s.move(sphere(at, thick * 0.7, 10, 6), "accent")
    if s.chance(0.6):  # a gripper
        for side in (-1, 1):
            finger = [at + side * bend * thick * 0.3, at + side * bend * thick + along * thick]
            s.move(
                tube(
                    [*finger, at + side * bend * thick * 0.6 + along * thick * 2.2], thick * 0.16, 6
                ),
                "metal",
            )
    origin, axis, how = lines[chosen]
    joint = hinge(axis * s.sign(), origin, s.degrees(25, 90))
    objects = ("robot arm", "robot", "manipulator", "mechanical arm")
    parts = (
        ("arm", "upper arm", "link", "forearm", "arm segment")
        if how == "bend"
        else ("arm", "link", "turret")
    )
    motion = say.join(say.TURN, say.words("swings|pivots|moves", "swing {}|move {}"))
    return s.draft("robot arm", joint, objects, parts, motion, directed=False)


def propeller(rng: np.random.Generator) -> Draft:
    """A windmill, an aeroplane, a helicopter, a boat's screw or a turbine: the rotor turns."""
    s = Sketch(rng, WORKSHOP)
    style = s.one_of("windmill", "plane", "helicopter", "turbine")
    count, radius = int(rng.integers(2, 7)), s.between(0.3, 0.6)
    if style == "windmill":
        high = radius * s.between(1.3, 2.2)
        s.fix(
            cylinder((0, 0, 0), (0, 0, high), radius * 0.4, radius * 0.22, int(rng.integers(6, 16)))
        )
        s.fix(cylinder((0, 0, high), (0, 0, radius * 0.3), radius * 0.26, 0.01, 12), "top")
        centre, axis = np.array((0.0, -radius * 0.36, high * 0.95)), np.array((0.0, 1.0, 0.0))
        s.fix(cylinder(centre, (0, radius * 0.36, 0), radius * 0.05, segments=8), "metal")
    elif style == "plane":
        long = radius * s.between(2.0, 3.0)
        s.fix(cylinder((0, 0, 0), (0, long, 0), radius * 0.28, radius * 0.1, 12))
        s.fix(box((-long * 0.7, long * 0.2, -0.02), (long * 0.7, long * 0.42, 0.02)), "trim")
        s.fix(box((-long * 0.25, long * 0.88, -0.015), (long * 0.25, long, 0.015)), "trim")
        s.fix(box((-0.015, long * 0.85, 0), (0.015, long, radius * 0.5)), "trim")
        centre, axis = np.array((0.0, -0.03, 0.0)), np.array((0.0, 1.0, 0.0))
        s.fix(cylinder((0, -0.05, 0), (0, 0.06, 0), radius * 0.06, segments=8), "metal")
    elif style == "helicopter":
        radius *= 1.5
        s.fix(sphere((0, 0, 0), (radius * 0.22, radius * 0.4, radius * 0.25), 14, 8))
        s.fix(
            cylinder(
                (0, radius * 0.3, radius * 0.05),
                (0, radius * 0.9, 0.05),
                radius * 0.08,
                radius * 0.03,
                8,
            )
        )
        for x in (-1, 1):
            s.fix(
                cylinder(
                    (x * radius * 0.18, -radius * 0.35, -radius * 0.36), (0, radius * 0.7, 0), 0.012
                ),
                "metal",
            )
            s.fix(
                cylinder(
                    (x * radius * 0.18, 0, -radius * 0.36),
                    (-x * radius * 0.1, 0, radius * 0.25),
                    0.01,
                ),
                "metal",
            )
        centre, axis = np.array((0.0, 0.0, radius * 0.36)), np.array((0.0, 0.0, -1.0))
        s.fix(cylinder((0, 0, radius * 0.2), (0, 0, radius * 0.18), 0.018, segments=8), "metal")
    else:
        high = radius * s.between(1.6, 2.6)
        s.fix(cylinder((0, 0, 0), (0, 0, high), radius * 0.09, radius * 0.05, 12))
        s.fix(box((-0.05, -0.08, high - 0.04), (0.05, 0.2, high + 0.05)), "top")
        centre, axis, count = np.array((0.0, -0.11, high)), np.array((0.0, 1.0, 0.0)), 3
        s.fix(cylinder(centre, (0, 0.05, 0), 0.03, segments=8), "metal")
    wide, pitch = radius * s.between(0.06, 0.2), s.degrees(8, 40)
    begin = s.between(0, 2 * np.pi)
    for i in range(count):
        mark = s.mark()
        blade = [
            (radius * 0.08, -wide * 0.4),
            (radius, -wide * s.between(0.3, 1.0)),
            (radius, wide * 0.5),
            (radius * 0.08, wide * 0.4),
        ]
        s.move(extrude(blade, "xz", -0.006, 0.006), "front")
        s.turn(mark, (1, 0, 0), pitch)
        s.turn(mark, (0, 1, 0), begin + 2 * np.pi * i / count)
        if style == "helicopter":
            s.turn(mark, (1, 0, 0), np.pi / 2)
        s.shift(mark, centre)
    s.move(cylinder(centre - axis * 0.03, axis * 0.05, radius * 0.09, segments=10), "accent")
    sign = s.sign()
    joint = hinge(axis * sign, centre, s.degrees(30, 180))
    motion = say.join(say.SPIN, say.TURN)
    names = {
        "windmill": ("windmill", "mill"),
        "plane": ("airplane", "plane", "aircraft"),
        "helicopter": ("helicopter",),
        "turbine": ("wind turbine", "turbine"),
    }[style]
    parts = (
        ("propeller", "rotor", "blades") if style != "windmill" else ("sails", "blades", "rotor")
    )
    return s.draft(style, joint, names, parts, motion, directed=False)


def drawbridge(rng: np.random.Generator) -> Draft:
    """A drawbridge or a ramp that comes down in front of a gate, or a trapdoor in a floor."""
    s = Sketch(rng, WORKSHOP)
    wide, t = s.between(0.5, 1.0), s.between(0.03, 0.08)
    if s.chance(0.5):
        high, side = s.between(0.8, 1.5), s.between(0.15, 0.5)
        low = (-wide / 2 - side, 0.0, 0.0)
        hole = high * s.between(0.6, 0.85)
        s.fix(
            frame(
                low,
                (-low[0], s.between(0.1, 0.5), high),
                (-wide * 0.44, 0, 0.02),
                (wide * 0.44, 0, hole),
                "y",
            )
        )
        if s.chance(0.5):
            for x in (low[0], -low[0]):
                s.fix(cylinder((x, 0.15, 0), (0, 0, high * 1.3), side * 0.7, segments=14), "top")
        pin = (0.0, -0.01, t * 0.5)
        s.move(box((-wide / 2, -t - 0.01, t * 0.5), (wide / 2, -0.01, hole + 0.04)), "front")
        for x in (-wide * 0.4, wide * 0.4):
            s.fix(cylinder((x - 0.05, -0.01, t * 0.5), (0.1, 0, 0), t * 0.3, segments=8), "metal")
        s.fix(box((-wide, -hole * s.between(0.1, 1.2), -0.06), (wide, 0.0, -0.01)), "inside")
        joint = hinge((1, 0, 0), pin, s.degrees(50, 88))
        objects, parts = (
            ("castle", "drawbridge", "gate", "truck"),
            ("bridge", "drawbridge", "ramp", "gate"),
        )
        return s.draft(
            "drawbridge", joint, objects, parts, say.join(say.FOLD_DOWN, say.OPEN), say.FOLD_UP
        )
    deep, rim = wide * s.between(0.7, 1.3), s.between(0.1, 0.4)
    low, top = (-wide / 2 - rim, -deep / 2 - rim, -t), (wide / 2 + rim, deep / 2 + rim, 0.0)
    s.fix(frame(low, top, (-wide / 2, -deep / 2, 0), (wide / 2, deep / 2, 0), "z"))
    gap = 0.006
    s.move(
        box((-wide / 2 + gap, -deep / 2 + gap, -t * 0.9), (wide / 2 - gap, deep / 2 - gap, 0.0)),
        "front",
    )
    ring = np.linspace(0, np.pi, 6)
    path = np.stack([0.06 * np.cos(ring), 0 * ring - deep * 0.38, 0.05 * np.sin(ring)], axis=1)
    s.move(tube(path, 0.008, 6), "handle")
    for x in (-wide * 0.3, wide * 0.3):
        s.fix(box((x - 0.04, deep / 2, 0.0), (x + 0.04, deep / 2 + 0.1, 0.008)), "metal")
        s.move(box((x - 0.04, deep / 2 - 0.15, 0.0), (x + 0.04, deep / 2 - gap, 0.008)), "metal")
    joint = hinge((-1, 0, 0), (0, deep / 2 - gap * 0.5, 0.004), s.degrees(50, 110))
    return s.draft(
        "trapdoor",
        joint,
        ("trapdoor", "floor", "hatch"),
        ("trapdoor", "hatch", "door", "lid"),
        say.join(say.OPEN, say.LIFT),
        say.LOWER,
    )


def turret(rng: np.random.Generator) -> Draft:
    """A cannon, a tank's turret or a searchlight: it swings around, or its barrel is raised."""
    s = Sketch(rng)
    wide, long, high = s.between(0.5, 0.8), s.between(0.8, 1.2), s.between(0.15, 0.35)
    s.fix(box((-wide / 2, -long / 2, 0.08), (wide / 2, long / 2, high)))
    for x in (-1, 1):
        for y in np.linspace(-0.38, 0.38, int(rng.integers(2, 6))):
            s.fix(
                cylinder((x * wide / 2, y * long, 0.1), (x * 0.08, 0, 0), 0.1, segments=12), "dark"
            )
    swing = s.chance(0.6)
    size = wide * s.between(0.28, 0.4)
    y0 = long * s.between(-0.15, 0.2)
    tall = s.between(0.12, 0.25)
    if s.chance(0.5):
        s.add(
            cylinder((0, y0, high + 0.002), (0, 0, tall), size, size * s.between(0.6, 1.0), 14),
            "front",
            swing,
        )
    else:
        s.add(box((-size, y0 - size, high + 0.002), (size, y0 + size, high + tall)), "front", swing)
    pivot = (0.0, y0 - size * 0.6, high + tall * 0.6)
    mark = s.mark()
    reach = long * s.between(0.5, 0.9)
    s.move(cylinder(pivot, (0, -reach, 0), s.between(0.02, 0.06), segments=12), "metal")
    s.turn(mark, (-1, 0, 0), s.degrees(0, 15), pivot)
    objects = ("tank", "cannon", "gun", "turret")
    if swing:
        axis, motion = s.swivel()
        joint = hinge(axis, (0, y0, high), s.degrees(30, 140))
        return s.draft("turret", joint, objects, ("turret", "tower", "top"), motion, directed=False)
    joint = hinge((-1, 0, 0), pivot, s.degrees(10, 40))
    return s.draft(
        "turret", joint, objects, ("barrel", "gun barrel", "cannon"), say.TILT_UP, say.TILT_DOWN
    )


KINDS = {
    "robot_arm": (1.6, robot_arm),
    "propeller": (0.9, propeller),
    "gate_bridge": (0.9, drawbridge),
    "turret": (0.5, turret),
}
