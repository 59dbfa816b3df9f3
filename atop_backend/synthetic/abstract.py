"""Assemblies of no category: they teach where a hinge, a rail or an axle must be, at any angle."""

from __future__ import annotations

from typing import Any

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    frame,
    lathe,
    rounded_rectangle,
    sphere,
    tube,
)

ANY = (palette.WOODS, palette.PAINTS, palette.METALS)
OBJECTS = ("object", "device", "machine", "thing", "assembly")
ROTATES = say.words(
    "rotates|turns|swings|opens|pivots|moves|hinges", "rotate {}|turn {}|swing {}|move {}|open {}"
)
SLIDES = say.words(
    "slides|moves|slides along|is pushed along|shifts|is moved", "slide {}|move {}|push {} along"
)
PULLED = say.words("slides out|is pulled out|comes out|moves out", "pull {} out|slide {} out")


def any_direction(s: Sketch, joint: JointMotion) -> JointMotion:
    """The assembly turned: a third stays upright, a third leans, a third lies anyhow."""
    style = s.rng.random()
    joint = s.lay(
        joint, (0, 0, 1), s.one_of(0, 0.5, 1, 1.5) * np.pi + s.one_of(0, s.degrees(-45, 45))
    )
    if style < 0.35:
        return joint
    direction = s.between(-np.pi, np.pi)
    angle = s.degrees(7, 45) if style < 0.75 else s.degrees(45, 180)
    return s.lay(joint, (np.cos(direction), np.sin(direction), 0.0), angle)


def _body(s: Sketch, low: Any, high: Any) -> None:
    """A base between two corners: a block, a rounded block or two blocks, sometimes with feet."""
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    style = s.rng.random()
    if style < 0.5:
        s.fix(box(low, high))
    elif style < 0.75:
        radius = s.between(0.1, 0.5) * min(high[:2] - low[:2])
        s.fix(extrude(rounded_rectangle(low[:2], high[:2], radius), "xy", low[2], high[2]))
    else:
        middle = low + (high - low) * s.between(0.3, 0.7)
        s.fix(box(low, (high[0], high[1], middle[2])))
        inset = 0.08 * (high - low) * (1, 1, 0)
        s.fix(box((*(low + inset)[:2], middle[2]), high - inset), "top")
    if s.chance(0.4):  # something on it that stays
        at = low + (high - low) * s.rng.random(3)
        size = s.between(0.05, 0.2) * (high - low).max()
        solid = s.one_of(
            box(at - size / 2, at + size / 2),
            sphere(at, size / 2, 10, 6),
            cylinder(at - (0, 0, size / 2), (0, 0, size), size / 3, segments=12),
        )
        if at[2] < high[2] - size:  # never in the way on top
            s.fix(solid, "accent")


def _plate(s: Sketch, wide: float, long: float, thick: float) -> None:
    """A moving plate in 0..long along -y from the hinge at y = 0, z = 0..thick."""
    style = s.rng.random()
    half = wide / 2
    if style < 0.4:
        s.move(box((-half, -long, 0), (half, 0, thick)))
    elif style < 0.6:
        outline = rounded_rectangle(
            (-half, -long), (half, 0), s.between(0.1, 0.5) * min(half, long)
        )
        s.move(extrude(outline, "xy", 0, thick))
    elif style < 0.75:
        tip = s.between(0.1, 0.9) * half
        s.move(extrude([(-half, 0), (half, 0), (tip, -long), (-tip, -long)], "xy", 0, thick))
    elif style < 0.88:
        rim = 0.2 * min(half, long)
        s.move(
            frame(
                (-half, -long, 0),
                (half, 0, thick),
                (-half + rim, -long + rim, 0),
                (half - rim, -rim, 0),
                "z",
            )
        )
    else:
        angles = np.linspace(0, -np.pi, 12)
        s.move(extrude(np.stack([half * np.cos(angles), long * np.sin(angles)], 1), "xy", 0, thick))
    if s.chance(0.4):
        size = s.between(0.03, 0.1) * min(wide, long)
        at = (s.between(-0.2, 0.2) * wide, -long * s.between(0.7, 0.92), thick)
        s.move(cylinder(at, (0, 0, size * 1.5), size, segments=10), "handle")


def panel(rng: np.random.Generator) -> Draft:
    """A plate on one edge of a body, with knuckles, a living hinge, or nothing but the seam."""
    s = Sketch(rng, ANY)
    wide, long, thick = s.between(0.3, 1.2), s.between(0.2, 1.0), s.between(0.008, 0.12)
    gap, radius = s.between(0.0, 0.01), s.between(0.3, 1.0) * thick + 0.004
    depth = s.between(0.02, 0.7)
    over = s.between(-0.1, 0.15)
    front = -long * (1 - over)
    _body(s, (-wide / 2 * (1 + over), front, -depth), (wide / 2 * (1 + over), 0, -gap))
    knuckles = s.chance(0.6)
    _plate(s, wide, long, thick)
    level = s.one_of(0.0, thick / 2, thick)
    shift = s.one_of(0.0, radius, radius) if knuckles else 0.0
    pivot = (0.0, shift, level if not shift else thick / 2)
    if pivot[2] > 0 and not shift:
        pivot = (0.0, 0.0, 0.0)  # turning about its upper edge it would cut into the body
    if knuckles:
        count = int(rng.integers(1, 4))
        for i in range(count):
            x = wide * ((i + 0.5) / count - 0.5)
            size = wide * s.between(0.05, 0.25) / count
            s.move(cylinder((x, *pivot[1:]), (size, 0, 0), radius, segments=10), "metal")
            s.fix(cylinder((x - size, *pivot[1:]), (size, 0, 0), radius, segments=10), "metal")
    joint = hinge((-1, 0, 0), pivot, s.degrees(30, 130))
    joint = any_direction(s, joint)
    parts = ("panel", "flap", "plate", "lid", "cover", "door", "board")
    motion = say.join(ROTATES, say.OPEN, say.words("swings open|swings out", "swing {} open"))
    return s.draft("panel", joint, OBJECTS, parts, motion, say.CLOSE)


def rail(rng: np.random.Generator) -> Draft:
    """A block that runs along a rail, between two rails, in a groove or in a channel."""
    s = Sketch(rng, ANY)
    long, wide, thick = s.between(0.5, 1.2), s.between(0.08, 0.4), s.between(0.03, 0.12)
    block = s.between(0.1, 0.45) * long
    start = -long / 2 if s.chance(0.6) else s.between(-0.5, 0.2) * long
    start = min(max(start, -long / 2), 0.35 * long - block)
    travel = (long / 2 - block - start) * s.between(0.5, 1.0)
    style = s.one_of("rail", "two rods", "channel", "plate")
    height = s.between(0.04, 0.25)
    sizes = [(start, start + block)]
    if style == "rail":
        r = wide * s.between(0.15, 0.35)
        s.fix(box((-long / 2, -r, 0), (long / 2, r, thick)), "metal")
        for y in (-wide / 2, r + 0.002):
            s.move(
                box((sizes[0][0], y, thick * 0.2), (sizes[0][1], y + wide / 2 - r - 0.002, thick))
            )
        s.move(box((start, -wide / 2, thick + 0.001), (start + block, wide / 2, thick + height)))
    elif style == "two rods":
        r = thick * 0.35
        for y in (-wide / 2, wide / 2):
            s.fix(cylinder((-long / 2, y, 0), (long, 0, 0), r, segments=10), "metal")
        for x in (-long / 2 - 0.04, long / 2):
            s.fix(box((x, -wide / 2 - 2 * r, -thick), (x + 0.04, wide / 2 + 2 * r, thick)))
        s.move(
            box((start, -wide / 2 - 1.6 * r, -r * 1.4), (start + block, wide / 2 + 1.6 * r, height))
        )
    elif style == "channel":
        s.fix(box((-long / 2, -wide / 2 - thick, -thick), (long / 2, wide / 2 + thick, 0)))
        for y in (-wide / 2 - thick, wide / 2):
            s.fix(box((-long / 2, y, 0), (long / 2, y + thick, height)))
        s.move(
            box(
                (start, -wide / 2 + 0.002, 0.002),
                (start + block, wide / 2 - 0.002, height * s.between(0.6, 1.6)),
            )
        )
    else:
        s.fix(box((-long / 2, -wide / 2, -thick), (long / 2, wide / 2, 0)))
        s.fix(box((-long / 2, -0.012, 0), (long / 2, 0.012, 0.006)), "dark")
        size = min(wide, block) * 0.4
        x = start + block / 2
        s.move(cylinder((x, 0, 0.001), (0, 0, height), size, size * s.between(0.6, 1.0), 14))
    if s.chance(0.3):
        s.move(cylinder((start + block / 2, 0, height), (0, 0, 0.08), 0.02, segments=8), "handle")
    joint = slider((1, 0, 0), (start + block / 2, 0, 0), travel)
    joint = any_direction(s, joint)
    parts = ("block", "slider", "carriage", "piece", "part")
    return s.draft("rail", joint, OBJECTS, parts, SLIDES, directed=travel > 0.35 * (long - block))


def peg(rng: np.random.Generator) -> Draft:
    """A peg, a rod or a drawer in a hole: it is drawn out, or pressed in like a button."""
    s = Sketch(rng, ANY)
    wide, high, deep = s.between(0.3, 1.0), s.between(0.3, 1.0), s.between(0.3, 1.0)
    size = s.between(0.04, 0.38) * min(wide, high)
    x, z = s.between(-0.5, 0.5) * (wide - 2.4 * size), s.between(-0.5, 0.5) * (high - 2.4 * size)
    low, hole = (-wide / 2, 0, -high / 2), size * s.between(1.01, 1.1)
    out = s.between(0.0, 0.4) * deep if s.chance(0.5) else s.between(0.0, 0.06) * deep
    round_hole = s.chance(0.5)
    if round_hole:
        s.fix(box(low, (wide / 2, deep, high / 2)))
        s.fix(cylinder((x, 0, z), (0, -0.012, 0), size * 1.3, segments=16), "trim")
        reach = deep * s.between(0.4, 0.95)
        s.move(cylinder((x, reach, z), (0, -reach - out - 0.012, 0), size, segments=16))
    else:
        s.fix(
            frame(
                low,
                (wide / 2, deep, high / 2),
                (x - hole, 0, z - hole),
                (x + hole, 0, z + hole),
                "y",
            )
        )
        reach = deep * s.between(0.4, 0.95)
        s.move(box((x - size, -out, z - size), (x + size, reach, z + size)))
    face = -out - 0.012 * round_hole
    if s.chance(0.4):
        knob = size * s.between(0.2, 0.6)
        s.move(cylinder((x, face, z), (0, -knob * 1.5, 0), knob, segments=10), "handle")
    pressed = out > 0.05 * deep and s.chance(0.4)
    if pressed:
        joint = any_direction(s, slider((0, 1, 0), (x, face, z), out * s.between(0.5, 0.9)))
        return s.draft("peg", joint, OBJECTS, ("button", "peg", "pin", "plunger", "key"), say.PRESS)
    joint = any_direction(s, slider((0, -1, 0), (x, face, z), reach * s.between(0.4, 0.9)))
    parts = ("peg", "pin", "rod", "drawer", "block", "piece", "insert")
    return s.draft("peg", joint, OBJECTS, parts, PULLED, say.SLIDE_IN)


def disc(rng: np.random.Generator) -> Draft:
    """A disc, drum, knob, gear or cross that spins on an axle or on a face."""
    s = Sketch(rng, ANY)
    radius, thick = s.between(0.08, 0.5), s.between(0.02, 0.3)
    body = radius * s.between(0.5, 3.0)
    style = s.one_of("face", "face", "fork", "axle")
    middle = thick / 2
    if style == "face":
        x, y = s.rng.uniform(-0.4, 0.4, 2) * body * s.one_of(0, 1)
        _body(s, (-body, -body * s.between(0.5, 1.2), -body * s.between(0.1, 1.0)), (body, body, 0))
    elif style == "fork":
        x = y = 0.0
        for z in (-0.05 - thick * 0.1, thick * 1.1):
            s.fix(box((-radius * 0.25, -radius * 0.25, z), (radius * 1.3, radius * 0.25, z + 0.05)))
        s.fix(
            box((radius * 1.1, -radius * 0.25, -0.05), (radius * 1.3, radius * 0.25, thick * 1.15))
        )
    else:
        x = y = 0.0
        s.fix(
            cylinder((0, 0, -body * 0.6), (0, 0, body * 0.6 + thick * 1.3), radius * 0.15), "metal"
        )
        s.fix(box((-radius * 0.5, -radius * 0.5, -body), (radius * 0.5, radius * 0.5, -body * 0.4)))
    at = (x, y, 0.002)
    shape = s.one_of("disc", "disc", "pointer", "gear", "cross", "profile")
    if shape in ("disc", "pointer"):
        s.move(
            cylinder(
                at, (0, 0, thick), radius, radius * s.between(0.7, 1.0), int(rng.integers(10, 26))
            )
        )
        if shape == "pointer" and style != "fork":
            bar = (radius * 0.12, radius * 0.9)
            s.move(box((x - bar[0], y, thick), (x + bar[0], y + bar[1], thick * 1.5)), "accent")
    elif shape == "gear":
        s.move(cylinder(at, (0, 0, thick), radius * 0.85, segments=20))
        for angle in np.linspace(0, 2 * np.pi, int(rng.integers(5, 13)), endpoint=False):
            way = np.array((np.cos(angle), np.sin(angle), 0.0)) * radius
            centre = np.array((x, y, middle))
            s.move(cylinder(centre + way * 0.8, way * 0.25, thick * 0.45, segments=4))
    elif shape == "cross":
        for angle in np.arange(int(rng.integers(1, 4))) * np.pi / 3:
            way = np.array((np.cos(angle), np.sin(angle), 0.0)) * radius
            s.move(cylinder(np.array((x, y, middle)) - way, 2 * way, thick * 0.4, segments=8))
        s.move(cylinder(at, (0, 0, thick), radius * 0.3, segments=12))
    else:
        radii = radius * s.rng.uniform(0.4, 1.0, 4)
        profile = [(0, 0), *zip(radii, np.linspace(0, thick, 4), strict=True), (0, thick)]
        s.move(lathe(profile, at, "z", 16))
    axis, _ = s.twist((0, 0, 1))
    joint = any_direction(s, hinge(axis, (x, y, middle), s.degrees(40, 180)))
    parts = ("disc", "wheel", "knob", "dial", "drum", "part")
    return s.draft("disc", joint, OBJECTS, parts, say.join(say.TURN, say.SPIN), directed=False)


def arm(rng: np.random.Generator) -> Draft:
    """An arm, crank or pointer on a pivot, above or beside its support, or in a fork."""
    s = Sketch(rng, ANY)
    long, wide, thick = s.between(0.3, 1.0), s.between(0.02, 0.1), s.between(0.015, 0.08)
    base = s.between(0.06, 0.3)
    angle = s.between(-np.pi, np.pi)
    tall = s.between(0.02, 0.8)
    _body(s, (-base, -base, -tall), (base, base, 0))
    gap = 0.003
    fork = s.chance(0.3)
    s.fix(cylinder((0, 0, 0), (0, 0, thick * 1.3 + gap), wide * s.between(0.2, 0.45)), "metal")
    mark = s.mark()
    style = s.rng.random()
    back = s.between(0.0, 0.4) * long
    if style < 0.4:
        s.move(box((-back, -wide / 2, gap), (long, wide / 2, gap + thick)))
    elif style < 0.7:
        outline = rounded_rectangle((-max(back, wide), -wide), (long, wide), wide)
        s.move(extrude(outline, "xy", gap, gap + thick))
    else:
        path = [(0, 0, gap + thick / 2), (long * 0.6, 0, gap + thick / 2)]
        path.append((long * s.between(0.7, 1.0), 0, gap + s.between(0.5, 4.0) * thick))
        s.move(tube(path, thick / 2, 8))
    if s.chance(0.5):
        end = (long * 0.92, 0, gap + thick)
        s.move(
            cylinder(end, (0, 0, thick * s.between(0.5, 3.0)), wide * s.between(0.4, 1.0)), "handle"
        )
    s.turn(mark, (0, 0, 1), angle)
    if fork:
        s.fix(cylinder((0, 0, thick * 1.15 + gap), (0, 0, thick), wide, segments=12), "trim")
    joint = any_direction(s, hinge((0, 0, s.sign()), (0, 0, 0), s.degrees(30, 150)))
    parts = ("arm", "lever", "bar", "crank", "handle", "pointer")
    return s.draft("arm", joint, OBJECTS, parts, ROTATES, directed=False)


KINDS = {
    "panel": (3.0, panel),
    "rail": (2.4, rail),
    "peg": (2.4, peg),
    "disc": (1.5, disc),
    "arm": (1.4, arm),
}
