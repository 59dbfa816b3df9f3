"""Things on a foot or a wall: lamps, fans, globes, clocks, telescopes, microscopes."""

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
    rounded_rectangle,
    sphere,
    tube,
)

_CHAIN = ("lower arm", "upper arm", "head")


def _shade(s: Sketch, at: np.ndarray, direction: np.ndarray, size: float, moves: bool) -> None:
    """A lamp's shade that opens along `direction`: cone, bell, bar or ball."""
    style = s.rng.random()
    if style < 0.55:
        s.add(
            cylinder(
                at, direction * size, size * s.between(0.2, 0.4), size * s.between(0.55, 0.8), 16
            ),
            "front",
            moves,
        )
        s.add(
            cylinder(
                at + direction * size * 0.9, direction * size * 0.15, size * 0.35, segments=10
            ),
            "glass",
            moves,
        )
    elif style < 0.75:
        s.add(cylinder(at, direction * size * 0.35, size * 0.75, segments=18), "front", moves)
    elif style < 0.9:
        side = np.array((direction[1], -direction[0], 0.0))
        length = np.linalg.norm(side)
        side = side / length if length > 0.2 else np.array((1.0, 0.0, 0.0))
        s.add(cylinder(at - side * size, side * 2 * size, size * 0.25, segments=10), "front", moves)
    else:
        s.add(sphere(at + direction * size * 0.4, size * 0.5, 14, 8), "front", moves)


def lamp(rng: np.random.Generator) -> Draft:
    """A desk or floor lamp of two arms and a head on joints with visible pins."""
    s = Sketch(rng, (*HOUSEHOLD, palette.METALS))
    size, thick = s.between(0.08, 0.15), s.between(0.007, 0.016)
    heading = s.one_of(-np.pi / 2, 0.0, np.pi, s.degrees(-180, 180))
    forward = np.array((np.cos(heading), np.sin(heading), 0.0))
    sideways = np.array((-np.sin(heading), np.cos(heading), 0.0))
    foot = s.between(0.08, 0.14)
    style = s.rng.random()
    if style < 0.6:
        s.fix(cylinder((0, 0, 0), (0, 0, 0.025), foot, foot * s.between(0.7, 1.0), 20), "trim")
    elif style < 0.85:
        s.fix(box((-foot, -foot * 0.8, 0), (foot, foot * 0.8, 0.025)), "trim")
    else:  # clamp
        s.fix(box((-0.03, -0.03, -0.08), (0.03, 0.03, 0.03)), "dark")
        s.fix(box((-0.03, -0.03, -0.09), (0.03, 0.12, -0.075)), "dark")
    part = s.one_of(
        "base", "base", "lower arm", "lower arm", "upper arm", "upper arm", "head", "head"
    )
    rank = {"base": 0, "lower arm": 0, "upper arm": 1, "head": 2}[part]
    base = np.array((0.0, 0.0, s.one_of(s.between(0.03, 0.08), s.between(0.05, 0.9))))
    s.fix(cylinder((0, 0, 0.02), (0, 0, base[2] - 0.02), thick * 1.2, segments=10), "metal")
    lower, upper = s.between(0.18, 0.4), s.between(0.18, 0.4)
    if s.chance(0.25):
        lower = 0.08
    angles = (s.degrees(50, 125), s.degrees(-40, 60), s.degrees(-120, -20))
    joints = [base]
    for length, angle in zip((lower, upper), angles[:2], strict=True):
        way = np.cos(angle) * forward + np.sin(angle) * np.array((0.0, 0.0, 1.0))
        joints.append(joints[-1] + length * way)
    double = s.chance(0.35)
    for i in range(2):
        moves = i >= rank
        way = joints[i + 1] - joints[i]
        for offset in (-1.5, 1.5) if double else (0.0,):
            start = joints[i] + offset * thick * sideways
            s.add(cylinder(start, way, thick * (0.6 if double else 1.0), segments=8), "body", moves)
    for i, at in enumerate(joints):
        pin = thick * s.between(2.0, 3.2)
        knuckle = cylinder(at - pin * sideways, 2 * pin * sideways, thick * 1.5, segments=10)
        s.add(knuckle, "metal", i > rank)
    direction = np.cos(angles[2]) * forward + np.sin(angles[2]) * np.array((0.0, 0.0, 1.0))
    _shade(s, joints[2], direction, size, True)
    objects = ("lamp", "desk lamp", "table lamp", "reading lamp")
    if part == "base":
        joint = hinge((0, 0, s.sign()), base, s.degrees(40, 140))
        parts = ("arm", "lamp arm", "upper part", "lamp head and arm")
        return s.draft(
            "lamp", joint, objects, parts, say.join(say.SWIVEL, say.TURN), directed=False
        )
    joint = hinge(sideways * s.sign(), joints[rank], s.degrees(20, 60))
    motion, back = s.tilting(joint)
    names = {
        "lower arm": ("arm", "lower arm", "lamp arm"),
        "upper arm": ("arm", "upper arm", "lamp arm"),
        "head": ("head", "shade", "lamp head", "lampshade"),
    }[part]
    return s.draft("lamp", joint, objects, names, motion, back, directed=False)


def _blades(s: Sketch, centre: np.ndarray, radius: float, moves: bool) -> None:
    """Fan blades around an axis along y."""
    count, pitch, broad = int(s.rng.integers(3, 6)), s.degrees(12, 35), s.between(0.25, 0.45)
    for i in range(count):
        mark = s.mark()
        w = radius * broad
        outline = [
            (radius * 0.1, -w * 0.3),
            (radius * 0.95, -w * 0.6),
            (radius, w * 0.4),
            (radius * 0.1, w * 0.3),
        ]
        s.add(extrude(outline, "xz", -0.003, 0.003), "front", moves)
        s.turn(mark, (1, 0, 0), pitch)
        s.turn(mark, (0, 1, 0), 2 * np.pi * i / count)
        s.shift(mark, centre)
    s.add(cylinder(centre - (0, 0.03, 0), (0, 0.06, 0), radius * 0.18, segments=12), "trim", moves)


def fan(rng: np.random.Generator) -> Draft:
    """A table, floor or ceiling fan: blades rotate, the head swings or tilts."""
    s = Sketch(rng)
    radius = s.between(0.12, 0.25)
    part = s.one_of("blades", "blades", "head", "tilt", "ceiling", "ceiling")
    objects = ("fan", "electric fan", "ventilator")
    if part == "ceiling":
        s.fix(cylinder((0, 0, 0.3), (0, 0, 0.04), 0.06), "body")
        s.fix(cylinder((0, 0, 0.05), (0, 0, 0.27), 0.012, segments=8), "metal")
        s.fix(cylinder((0, 0, 0.0), (0, 0, 0.07), 0.08, 0.05), "body")
        mark = s.mark()
        _blades(s, np.zeros(3), s.between(0.4, 0.6), True)
        s.turn(mark, (1, 0, 0), np.pi / 2)
        s.shift(mark, (0, 0, -0.03))
        joint = hinge((0, 0, s.sign()), (0, 0, 0), s.degrees(40, 180))
        return s.draft(
            "fan",
            joint,
            ("ceiling fan", "fan"),
            ("blades", "fan blades", "rotor", "propeller"),
            say.SPIN,
            directed=False,
        )
    high = s.between(0.25, 0.9)
    s.fix(cylinder((0, 0, 0), (0, 0, 0.03), radius * s.between(0.6, 0.9), segments=20), "trim")
    s.fix(cylinder((0, 0, 0.03), (0, 0, high - 0.07), 0.018, segments=10), "body")
    head = part in ("head", "tilt")
    centre = np.array((0.0, -0.1, high))
    s.add(cylinder((0, 0.06, high), (0, -0.12, 0), 0.05, segments=14), "body", head)
    s.add(cylinder((0, 0, high - 0.07), (0, 0, 0.05), 0.028, segments=10), "metal", part == "head")
    if part == "tilt":
        s.fix(cylinder((-0.06, 0, high - 0.04), (0.12, 0, 0), 0.012, segments=8), "metal")
    _blades(s, centre, radius * 0.85, head or part == "blades")
    if head or s.chance(0.6):  # cage
        for y in (-0.15, -0.05):
            angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
            rim = (
                centre * (1, 0, 1)
                + (0, y, 0)
                + radius * np.stack([np.cos(angles), 0 * angles, np.sin(angles)], 1)
            )
            s.add(tube(rim, 0.005, 4, closed=True), "metal", head)
        for angle in np.linspace(0, np.pi, 5, endpoint=False):
            way = radius * np.array((np.cos(angle), 0.0, np.sin(angle)))
            s.add(cylinder((0, -0.15, high) - way, 2 * way, 0.003, segments=4), "metal", head)
        s.add(cylinder((0, -0.155, high), (0, 0.01, 0), radius * 0.25, segments=12), "metal", head)
    if part == "blades":
        axis, motion = s.twist((0, -1, 0))
        joint = hinge(axis, centre, s.degrees(40, 180))
        return s.draft(
            "fan",
            joint,
            objects,
            ("blades", "fan blades", "rotor", "propeller"),
            say.join(motion, say.SPIN),
            directed=False,
        )
    if part == "head":
        axis, motion = s.swivel()
        joint = hinge(axis, (0, 0, high), s.degrees(25, 80))
        motion = say.join(motion, say.words("oscillates"))
    else:
        joint = hinge((s.sign(), 0, 0), (0, 0, high - 0.04), s.degrees(10, 35))
        motion = say.join(
            say.words("tilts|is tilted", "tilt {}"),
            say.words("tilts back" if joint.axis[0] < 0 else "tilts forward"),
        )
    return s.draft("fan", joint, objects, ("head", "fan head", "top"), motion, directed=False)


def globe(rng: np.random.Generator) -> Draft:
    """A globe in a bow, turning about its slanted axis, or a disco ball or turntable."""
    s = Sketch(rng, (*HOUSEHOLD, palette.WOODS))
    radius, slant = (
        s.between(0.1, 0.2),
        s.one_of(np.radians(23.4), np.radians(23.4), s.degrees(0, 40)),
    )
    high = radius * s.between(1.4, 2.0)
    mark = s.mark()
    s.move(sphere((0, 0, 0), radius, 20, 11), "front")
    bow = radius * s.between(1.08, 1.2)
    angles = np.linspace(-np.pi / 2, np.pi / 2, 11)
    path = np.stack([bow * np.cos(angles), 0 * angles, bow * np.sin(angles)], axis=1)
    s.fix(tube(path, radius * 0.04, 6), "metal")
    for sign in (-1, 1):
        s.fix(
            cylinder((0, 0, sign * radius * 0.98), (0, 0, sign * radius * 0.25), radius * 0.03),
            "metal",
        )
    s.turn(mark, (0, 1, 0), slant)
    s.shift(mark, (0, 0, high))
    s.fix(cylinder((0, 0, 0), (0, 0, radius * 0.12), radius * 0.7, radius * 0.5, 20), "body")
    low = np.array((bow * np.cos(-np.pi / 4 - slant), 0.0, high + bow * np.sin(-np.pi / 4 - slant)))
    s.fix(
        tube([(0, 0, radius * 0.1), (low[0] * 0.3, 0, radius * 0.3), low], radius * 0.06, 8), "body"
    )
    axis = s.sign() * np.array((np.sin(slant), 0.0, np.cos(slant)))
    joint = hinge(axis, (0, 0, high), s.degrees(40, 180))
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, np.pi / 2, np.pi))
    parts = ("sphere", "ball", "globe", "world globe")
    return s.draft(
        "globe",
        joint,
        ("globe", "world globe", "earth globe"),
        parts,
        say.join(say.SPIN, say.TURN),
        directed=False,
    )


def clock(rng: np.random.Generator) -> Draft:
    """A wall or table clock or a gauge: one hand turns about the middle, or a key is wound."""
    s = Sketch(rng, (*HOUSEHOLD, palette.WOODS))
    radius, deep = s.between(0.1, 0.25), s.between(0.02, 0.08)
    if s.chance(0.7):
        s.fix(cylinder((0, deep, 0), (0, -deep, 0), radius, segments=24))
        s.fix(cylinder((0, 0, 0), (0, -0.003, 0), radius * 0.9, segments=24), "panel")
    else:
        corners = (radius, radius)
        outline = rounded_rectangle(
            (-corners[0], -corners[1]), corners, radius * s.between(0.0, 0.5)
        )
        s.fix(extrude(outline, "xz", 0, deep))
        s.fix(extrude(outline * 0.9, "xz", -0.003, 0), "panel")
    for angle in np.arange(12) * np.pi / 6:
        at = np.array((np.cos(angle), 0.0, np.sin(angle))) * radius * 0.8
        s.fix(box(at - (0.006, 0.006, 0.006), np.add(at, (0.006, 0.0, 0.006))), "dark")
    hands = int(rng.integers(1, 4))
    chosen = int(rng.integers(hands))
    for i in range(hands):
        mark, moves = s.mark(), i == chosen
        long, wide = radius * (0.5, 0.72, 0.75)[i], radius * (0.045, 0.03, 0.012)[i]
        y = -0.008 - 0.005 * i
        shape = [
            (-wide, -long * 0.15),
            (wide, -long * 0.15),
            (wide * 0.6, long),
            (-wide * 0.6, long),
        ]
        s.add(extrude(shape, "xz", y - 0.002, y), "dark", moves)
        s.turn(mark, (0, 1, 0), s.degrees(0, 360))
    s.fix(cylinder((0, 0, 0), (0, -0.024, 0), radius * 0.05, segments=10), "metal")
    axis, motion = s.twist((0, -1, 0))
    joint = hinge(axis, (0, 0, 0), s.degrees(30, 180))
    name = ("hour hand", "minute hand", "second hand")[chosen]
    parts = ("hand", name, "clock hand", "pointer")
    return s.draft("clock", joint, ("clock", "wall clock", "watch"), parts, motion, directed=False)


def telescope(rng: np.random.Generator) -> Draft:
    """A telescope, camera or spotlight on a tripod: the tube tilts or swings around."""
    s = Sketch(rng)
    long, radius, high = s.between(0.4, 0.9), s.between(0.03, 0.08), s.between(0.5, 1.1)
    for i in range(3):
        angle = 2 * np.pi * i / 3 + 0.5
        foot = np.array((np.cos(angle), np.sin(angle), 0.0)) * high * 0.4
        s.fix(cylinder((0, 0, high), foot - (0, 0, high), 0.014, segments=6), "metal")
    swing = s.chance(0.45)
    s.fix(cylinder((0, 0, high - 0.03), (0, 0, 0.06), 0.03, segments=12), "dark")
    level = high + 0.05 + radius
    for x in (-radius - 0.014, radius + 0.004):
        s.add(box((x, -0.02, high + 0.03), (x + 0.01, 0.02, level + 0.02)), "metal", swing)
    s.add(
        box((-radius - 0.014, -0.02, high + 0.03), (radius + 0.014, 0.02, high + 0.04)),
        "metal",
        swing,
    )
    mark = s.mark()
    s.move(cylinder((0, long * 0.45, level), (0, -long, 0), radius * 0.85, radius, 16), "body")
    s.move(
        cylinder((0, -long * 0.55, level), (0, -long * 0.15, 0), radius * 1.1, segments=16), "dark"
    )
    s.move(
        cylinder((0, long * 0.45, level), (0, long * 0.12, 0), radius * 0.4, segments=10), "dark"
    )
    s.turn(mark, (-1, 0, 0), s.degrees(-20, 45), (0, 0, level))
    objects, parts = (
        ("telescope", "spotting scope", "spotlight"),
        ("tube", "telescope tube", "head", "scope"),
    )
    if swing:
        axis, motion = s.swivel()
        joint = hinge(axis, (0, 0, level), s.degrees(30, 120))
        return s.draft("telescope", joint, objects, parts, motion, directed=False)
    axis = s.sign()
    joint = hinge((axis, 0, 0), (0, 0, level), s.degrees(10, 35))
    motion = say.words("tilts|is tilted|pivots|rotates", "tilt {}|rotate {}")
    return s.draft("telescope", joint, objects, parts, motion, directed=False)


def microscope(rng: np.random.Generator) -> Draft:
    """A microscope: the focus knob turns, the turret turns, or the tube goes down."""
    s = Sketch(rng)
    wide, deep, high = s.between(0.12, 0.16), s.between(0.16, 0.22), s.between(0.3, 0.4)
    s.fix(box((-wide / 2, -deep / 2, 0), (wide / 2, deep / 2, 0.04)))
    s.fix(box((-0.03, deep / 2 - 0.06, 0.04), (0.03, deep / 2, high * 0.85)))
    s.fix(box((-0.03, -0.03, high * 0.72), (0.03, deep / 2, high * 0.85)))
    s.fix(box((-0.06, -0.07, high * 0.38), (0.06, deep / 2 - 0.05, high * 0.41)), "dark")
    part = s.one_of("knob", "knob", "turret", "tube")
    s.add(
        cylinder((0, -0.02, high * 0.85), (0, -0.04, 0.12), 0.018, segments=12),
        "trim",
        part == "tube",
    )
    s.add(
        cylinder((0, -0.02, high * 0.72), (0, 0, -0.03), 0.035, segments=14),
        "metal",
        part in ("turret", "tube"),
    )
    for angle in (0.0, 2.1, 4.2):
        at = (0.02 * np.cos(angle), -0.02 + 0.02 * np.sin(angle), high * 0.72 - 0.03)
        s.add(cylinder(at, (0, 0, -0.04), 0.009, segments=8), "metal", part in ("turret", "tube"))
    side, level = s.sign(), high * s.between(0.25, 0.6)
    for x in (-1, 1):
        stub = cylinder(
            (x * 0.03, deep / 2 - 0.03, level),
            (x * 0.025, 0, 0),
            s.between(0.016, 0.028),
            segments=16,
        )
        s.add(stub, "dark", part == "knob" and x == side)
    objects = ("microscope",)
    if part == "knob":
        axis, _ = s.twist((side, 0, 0))
        joint = hinge(axis, (side * 0.03, deep / 2 - 0.03, level), s.degrees(40, 180))
        return s.draft(
            "microscope", joint, objects, ("knob", "focus knob", "wheel"), say.TURN, directed=False
        )
    if part == "turret":
        joint = hinge((0, 0, s.sign()), (0, -0.02, high * 0.7), s.degrees(60, 120))
        return s.draft(
            "microscope",
            joint,
            objects,
            ("turret", "nosepiece", "objective turret"),
            say.TURN,
            directed=False,
        )
    joint = hinge((0, 0, s.sign()), (0, -0.02, high * 0.8), s.degrees(40, 150))
    return s.draft(
        "microscope", joint, objects, ("tube", "head", "eyepiece"), say.SWIVEL, directed=False
    )


KINDS = {
    "lamp": (3.0, lamp),
    "fan": (1.5, fan),
    "globe": (1.0, globe),
    "clock": (1.0, clock),
    "telescope": (0.5, telescope),
    "microscope": (0.4, microscope),
}
