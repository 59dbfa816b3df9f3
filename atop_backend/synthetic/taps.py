"""More taps and valves: mixers, garden taps, bath and shower mixers, ball and radiator valves."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.optics import grip, point, tick
from atop_backend.synthetic.sketch import METALLIC, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    knurled,
    lathe,
    rounded_rectangle,
    sphere,
    tube,
)

_TAPS = ("faucet", "tap", "kitchen faucet", "mixer tap", "sink faucet", "water tap")
_LEVERS = ("lever", "handle", "switch", "tap lever", "mixer lever")
WATER_ON = say.words(
    "is lifted|is raised|lifts up|tilts up|is pulled up|moves up", "lift {}|raise {}|pull {} up"
)
WATER_OFF = say.words("is lowered|is pushed down|tilts down", "push {} down|lower {}")


def _arch(s: Sketch, level: float, reach: float, r: float, moves: bool) -> None:
    """A spout over -Y: a high arch, a low curve or an angular pipe, with a nozzle at its end."""
    style = s.one_of("arch", "arch", "curve", "square")
    if style == "arch":
        rise = reach * s.between(0.2, 1.2)
        angles = np.linspace(0, np.pi * s.between(0.9, 1.05), 9)
        arc = np.stack([0 * angles, -np.cos(angles), np.sin(angles)], 1) * reach / 2
        path = [(0, 0, level), *(arc * (1, -1, 1) + (0, -reach / 2, level + rise))]
        path.append(path[-1] - np.array((0, 0, reach * s.between(0.05, 0.4))))
    elif style == "curve":
        t = np.linspace(0, 1, 7)
        up = reach * s.between(0.1, 0.5)
        path = list(np.stack([0 * t, -reach * t, level + up * np.sin(np.pi * 0.7 * t)], 1))
        path.append(path[-1] - np.array((0, 0, 2 * r)))
    else:
        rise = reach * s.between(0.0, 0.8)
        path = [(0, 0, level), (0, 0, level + rise + r), (0, -reach, level + rise + r)]
        path.append((0, -reach, level + rise - 1.5 * r))
        if rise < 2 * r:
            path = path[1:]
    s.add(tube(path, r, s.one_of(6, 8, 8)), "body", moves)
    end = np.array(path[-1])
    s.add(cylinder(end, (0, 0, -r), 1.15 * r, segments=10), "trim", moves)


def _blade(s: Sketch, long: float, r: float) -> None:
    """A moving lever along -Y from the origin: a rod, a tapered paddle, a loop or a curved bar."""
    style = s.one_of("rod", "paddle", "paddle", "loop", "curve")
    if style == "rod":
        s.move(cylinder((0, 0, 0), (0, -long, 0), 0.4 * r, 0.3 * r, 8), "handle")
        if s.chance(0.3):
            s.move(sphere((0, -long, 0), 0.6 * r, 8, 5), "handle")
    elif style == "paddle":
        a, b, t = s.between(0.4, 0.9) * r, s.between(0.3, 0.9) * r, 0.3 * r
        s.move(extrude([(-a, 0), (-b, -long), (b, -long), (a, 0)], "xy", -t, t), "handle")
    elif style == "loop":
        a = s.between(0.6, 1.0) * r
        path = [(-a, 0, 0), (-a, -0.9 * long, 0), (0, -long, 0), (a, -0.9 * long, 0), (a, 0, 0)]
        s.move(tube(path, 0.25 * r, 6), "handle")
    else:
        t = np.linspace(0, 1, 5)
        bend = s.between(0.15, 0.45) * long * t**2
        s.move(tube(np.stack([0 * t, -long * t, bend], 1), 0.4 * r, 8), "handle")


def mixer(rng: np.random.Generator) -> Draft:
    """A single-lever tap: its lever, on top or at a side, lifts or turns, or its spout swings."""
    s = Sketch(rng, METALLIC)
    r = s.between(0.018, 0.028)
    high, reach = s.between(0.08, 0.25), s.between(0.12, 0.24)
    s.fix(cylinder((0, 0, 0), (0, 0, 0.012), 1.5 * r, segments=16), "trim")
    part = s.one_of("top lift", "top turn", "side", "side", "side", "spout", "hose")
    spout = part == "spout"
    side = s.sign()
    long = s.between(0.06, 0.14)
    level = high * s.between(0.35, 0.75)
    s.fix(cylinder((0, 0, 0), (0, 0, 0.95 * level), 1.1 * r, segments=16), "body")
    s.add(
        cylinder((0, 0, 0.95 * level), (0, 0, high - 0.95 * level), r, segments=16), "body", spout
    )
    if part.startswith("top"):
        start = (0, -0.6 * r, level)
        way = np.array((0, -reach, s.between(-0.1, 0.6) * reach))
        s.fix(cylinder(start, way, 0.6 * r, 0.5 * r, 10), "body")
        s.fix(cylinder(start + way, (0, 0, -1.5 * r), 0.5 * r, segments=10), "trim")
        mark, cap = s.mark(), r * s.between(0.6, 1.5)
        s.move(cylinder((0, 0, 0.002), (0, 0, cap), r, r * s.between(0.8, 1.0), 16), "handle")
        inner = s.mark()
        _blade(s, long, r)
        s.turn(inner, (1, 0, 0), -s.degrees(0, 50))
        s.shift(inner, (0, 0, 0.7 * cap))
        if part == "top lift":
            s.shift(mark, (0, 0, high))
            joint = hinge((-1, 0, 0), (0, 0, high), s.degrees(12, 40))
            return s.draft("faucet", joint, _TAPS, _LEVERS, WATER_ON, WATER_OFF)
        s.turn(mark, (0, 0, 1), s.degrees(-60, 60))
        s.shift(mark, (0, 0, high))
        axis, motion = s.twist((0, 0, 1))
        joint = hinge(axis, (0, 0, high), s.degrees(25, 90))
        return s.draft("faucet", joint, _TAPS, _LEVERS, motion, directed=False)
    if part == "hose":
        top, drop = high + 0.5 * reach, 0.4 * reach
        s.fix(tube([(0, 0, high), (0, 0, top), (0, -reach, top)], r * 0.7, 8), "body")
        s.fix(cylinder((0, -reach, top + r), (0, 0, -2 * r), r, segments=12), "body")
        s.move(cylinder((0, -reach, top - r), (0, 0, -drop), 0.8 * r, r, 12), "handle")
        s.move(cylinder((0, -reach, top + r), (0, 0, -2 * r), 0.4 * r, segments=8), "dark")
        joint = slider((0, 0, -1), (0, -reach, top), s.between(0.3, 0.9) * drop)
        names = ("spray head", "spout", "hose", "pull-down head", "nozzle")
        motion = say.join(say.SLIDE_DOWN, say.words("is pulled out", "pull {} out|pull {} down"))
        return s.draft("faucet", joint, _TAPS, names, motion, say.SLIDE_UP)
    _arch(s, high, reach, 0.75 * r, spout)
    stub = r * s.between(1.2, 2.2)
    level *= 0.7
    s.fix(cylinder((0, 0, level), (side * stub, 0, 0), 0.8 * r, segments=12), "body")
    # The lever turns about the axis of its stub, which is level: to and from the user.
    mark, cap = s.mark(), r * s.between(0.4, 1.2)
    turning = not spout
    s.add(cylinder((0, 0, 0), (cap, 0, 0), 0.85 * r, segments=14), "handle", turning)
    if turning:
        inner = s.mark()
        _blade(s, long, r)
        raised = s.between(-0.2, 1.9)
        s.turn(inner, (0, 0, 1), s.between(0.0, 0.5))  # leans outwards
        s.turn(inner, (1, 0, 0), -raised)
        s.shift(inner, (0.6 * cap, 0, 0))
    if side < 0:
        s.turn(mark, (0, 0, 1), np.pi)
        s.turn(mark, (1, 0, 0), np.pi - 2 * raised if turning else 0.0)
    s.shift(mark, (side * stub, 0, level))
    if not turning:
        axis, motion = s.swivel()
        joint = hinge(axis, (0, 0, high), s.degrees(40, 110))
        names = ("spout", "pipe", "faucet spout", "neck")
        return s.draft("faucet", joint, _TAPS, names, motion, directed=False)
    back = raised < 0.9 or s.chance(0.3)  # turning about -X lifts what points to the front
    joint = hinge((-1 if back else 1, 0, 0), (0, 0, level), s.degrees(20, 70))
    motion, home = s.tilting(joint)
    extra = say.words("is pushed back", "push {} back")
    if not back:
        extra = say.words("is pulled forward|is pulled", "pull {} forward|pull {}")
    motion = say.join(motion, extra)
    return s.draft("faucet", joint, _TAPS, _LEVERS, motion, home, directed=False)


def garden_tap(rng: np.random.Generator) -> Draft:
    """A tap on a wall or a barrel: a T, a wheel or a lever on its stem turns, or its spout."""
    s = Sketch(rng, METALLIC)
    r = s.between(0.01, 0.02)
    wall = s.between(0.03, 0.1)
    s.fix(box((-wall, 0, -wall), (wall, s.between(0.01, 0.15), wall)), "trim")
    reach = r * s.between(3, 6)
    s.fix(cylinder((0, 0, 0), (0, -reach, 0), r, segments=14), "body")
    s.fix(cylinder((0, -0.1 * r, 0), (0, -0.5 * r, 0), 1.8 * r, segments=16), "body")
    drop = s.between(1.5, 4.0) * r
    spout = s.chance(0.15)
    path = [(0, -reach, 0), (0, -reach - 2 * r, -0.3 * r), (0, -reach - 2.5 * r, -drop)]
    s.add(tube(path, 0.9 * r, 8), "body", spout)
    mark, stem = s.mark(), r * s.between(1.5, 3.5)
    s.fix(cylinder((0, 0, 0), (0, 0, stem), 0.6 * r, segments=12), "metal")
    s.fix(knurled((0, 0, 0.3 * stem), (0, 0, 0.4 * stem), r, teeth=6), "metal")
    _wheel(s, stem, r * s.between(1.3, 2.6), not spout)
    lean = s.one_of(0.0, 0.0, s.degrees(10, 90))
    s.turn(mark, (1, 0, 0), lean)
    at = (0, -0.7 * reach, 0)
    s.shift(mark, at)
    objects = ("tap", "garden tap", "faucet", "spigot", "water tap")
    if spout:
        joint = hinge((0, s.sign(), 0), (0, 0, 0), s.degrees(30, 80))
        return s.draft("faucet", joint, objects, ("spout", "pipe"), say.TURN, directed=False)
    outward = (0.0, -np.sin(lean), np.cos(lean))
    axis, motion = s.twist(outward)
    if s.chance(0.25):
        opening = float(np.dot(axis, outward)) > 0
        motion = say.join(motion, say.OPEN if opening else say.CLOSE)
    joint = hinge(axis, at, s.degrees(45, 178))
    names = ("handle", "tap handle", "knob", "wheel", "valve", "switch")
    return s.draft("faucet", joint, objects, names, motion, directed=False)


def _wheel(s: Sketch, level: float, size: float, moves: bool) -> None:
    """A handle about the z axis: a T, a spoked wheel, a ridged knob, a star or a flat lever."""
    style = s.one_of("tee", "wheel", "wheel", "knob", "star", "lever")
    mark = s.mark()
    if style == "tee":
        bar = cylinder((-size, 0, level), (2 * size, 0, 0), 0.2 * size, segments=8)
        s.add(bar, "accent", moves)
    elif style == "wheel":
        steps = 12
        angles = np.arange(steps) * 2 * np.pi / steps
        rim = np.stack([size * np.cos(angles), size * np.sin(angles), 0 * angles + level], 1)
        s.add(tube(rim, size * s.between(0.08, 0.16), 6, closed=True), "accent", moves)
        spokes = int(s.rng.integers(2, 6))
        for turn in np.arange(spokes) * 2 * np.pi / spokes:
            way = (size * np.cos(turn), size * np.sin(turn), 0)
            s.add(cylinder((0, 0, level), way, 0.08 * size, segments=6), "accent", moves)
        if s.chance(0.2):  # a crank on the rim
            peg = cylinder((size, 0, level), (0, 0, 0.6 * size), 0.12 * size, segments=8)
            s.add(peg, "handle", moves)
    elif style == "knob":
        grip(s, level - 0.2 * size, size * s.between(0.4, 1.0), 0.7 * size, moves, True, "accent")
    elif style == "star":
        count = int(s.rng.integers(3, 7))
        star = knurled(
            (0, 0, level - 0.2 * size), (0, 0, 0.4 * size), size, teeth=count, depth=0.45
        )
        s.add(star, "accent", moves)
    else:
        long = size * s.between(1.5, 3.0)
        s.add(box((-0.3 * size, -0.2 * size, level), (long, 0.2 * size, level + 0.15 * size)),
              "accent", moves)  # fmt: skip
    s.add(cylinder((0, 0, level - 0.3 * size), (0, 0, 0.5 * size), 0.28 * size), "metal", moves)
    s.turn(mark, (0, 0, 1), s.between(-np.pi, np.pi))


def bath_mixer(rng: np.random.Generator) -> Draft:
    """A level cylinder on a wall with a knob at each end, or a lever on top or in front."""
    s = Sketch(rng, METALLIC)
    r, half = s.between(0.018, 0.03), s.between(0.08, 0.16)
    s.fix(cylinder((-half, 0, 0), (2 * half, 0, 0), r, segments=16), "body")
    for x in (-0.7 * half, 0.7 * half):
        s.fix(cylinder((x, 0, 0), (0, 2.5 * r, 0), 0.6 * r, segments=10), "body")
        s.fix(cylinder((x, 2.2 * r, 0), (0, 0.4 * r, 0), 1.3 * r, segments=14), "body")
    if s.chance(0.7):
        s.fix(box((-1.5 * half, 2.6 * r, -half), (1.5 * half, 2.6 * r + 0.01, half)), "panel")
    if s.chance(0.6):
        path = [(0, 0, 0), (0, -2.5 * r, -0.3 * r), (0, -s.between(3, 6) * r, -r)]
        s.fix(tube([*path, (0, path[2][1] - 0.3 * r, -2 * r)], 0.6 * r, 8), "body")
    style, side = s.one_of("ends", "ends", "ends", "lever"), s.sign()
    objects = ("faucet", "bath mixer", "shower mixer", "tap", "shower faucet", "thermostat")
    if style == "lever":
        mark = s.mark()
        s.move(cylinder((0, 0, 0), (0, 0, 1.2 * r), 1.05 * r, segments=16), "handle")
        inner = s.mark()
        _blade(s, s.between(0.06, 0.1), r)
        s.turn(inner, (1, 0, 0), -s.degrees(0, 30))
        s.shift(inner, (0, 0, 0.8 * r))
        s.shift(mark, (0, 0, r))
        if s.chance(0.5):
            joint = hinge((-1, 0, 0), (0, 0, 1.3 * r), s.degrees(15, 40))
            return s.draft("faucet", joint, objects, _LEVERS, WATER_ON, WATER_OFF)
        axis, motion = s.twist((0, 0, 1))
        joint = hinge(axis, (0, 0, r), s.degrees(25, 70))
        return s.draft("faucet", joint, objects, _LEVERS, motion, directed=False)
    knob, wide = r * s.between(1.0, 2.2), r * s.between(1.0, 1.25)
    ridged, handled = s.chance(0.6), s.chance(0.5)
    state = s.rng.bit_generator.state
    for end in (-1, 1):
        s.rng.bit_generator.state = state  # both ends alike
        mark, moves = s.mark(), end == side
        grip(s, 0.003, knob, wide, moves, ridged, "handle")
        if handled:
            peg = cylinder((0, 0, 0.6 * knob), (2.2 * wide, 0, 0), 0.25 * wide, segments=8)
            s.add(peg, "handle", moves)
        else:
            tick(s, 0.003, knob, wide, moves)
        s.turn(mark, (0, 1, 0), end * np.pi / 2)
        s.turn(mark, (1, 0, 0), s.between(-np.pi, np.pi))
        s.shift(mark, (end * half, 0, 0))
    name = "left" if side < 0 else "right"
    axis, motion = s.twist((side, 0, 0))
    joint = hinge(axis, (side * half, 0, 0), s.degrees(40, 120))
    parts = ("knob", "handle", f"{name} knob", f"{name} handle", "temperature knob")
    return s.draft("faucet", joint, objects, parts, motion, directed=False)


def pipe_valve(rng: np.random.Generator) -> Draft:
    """A pipe, level or upright, with a wheel or a long lever on a stem that points anywhere."""
    s = Sketch(rng, METALLIC)
    bore, half = s.between(0.02, 0.05), s.between(0.08, 0.25)
    s.fix(cylinder((-half, 0, 0), (2 * half, 0, 0), bore, segments=14), "body")
    for x in (-half, half - 0.3 * bore, -0.5 * half, 0.5 * half):
        if abs(x) > 0.6 * half or s.chance(0.5):
            s.fix(cylinder((x, 0, 0), (0.3 * bore, 0, 0), 1.5 * bore, segments=14), "trim")
    bonnet = bore * s.between(1.0, 2.0)
    s.fix(lathe([(1.3 * bore, 0), (0.9 * bore, bonnet), (0, bonnet)], (0, 0, 0), "z", 14), "body")
    stem = bonnet + bore * s.between(0.3, 2.0)
    s.fix(cylinder((0, 0, 0), (0, 0, stem), 0.3 * bore, segments=8), "metal")
    if s.chance(0.4):  # a quarter-turn lever, along the pipe when open
        long, wide = bore * s.between(2.5, 5), bore * s.between(0.25, 0.4)
        mark, side = s.mark(), s.sign()
        rise = bore * s.between(0.0, 0.8)
        path = [(0, stem), (bore, stem), (1.5 * bore, stem + rise), (long, stem + rise)]
        upper = [(x, z + 0.2 * bore) for x, z in path[::-1]]
        s.move(extrude(path + upper, "xz", -wide, wide), "accent")
        s.move(cylinder((0, 0, stem - 0.1 * bore), (0, 0, 0.5 * bore), 0.4 * bore, segments=6))
        open_ = s.chance(0.6)
        s.turn(mark, (0, 0, 1), (0.0 if open_ else np.pi / 2) + (0.0 if side > 0 else np.pi))
        upper_rad = np.pi / 2 * s.between(0.9, 1.0)
        motion = say.join(say.TURN, say.CLOSE if open_ else say.OPEN)
        parts = ("lever", "handle", "valve lever", "valve handle")
    else:
        _wheel(s, stem, bore * s.between(1.1, 2.4), True)
        motion = None
        upper_rad = s.degrees(60, 178)
        parts = ("wheel", "hand wheel", "valve wheel", "handle", "valve handle")
    joint = hinge((0, 0, s.sign()), (0, 0, 0), upper_rad)
    lean = s.one_of(0.0, np.pi / 2, np.pi / 2, s.degrees(-90, 90))
    joint = s.lay(joint, (1, 0, 0), lean)
    if s.chance(0.4):  # the pipe stands upright
        joint = s.lay(joint, (0, 1, 0), np.pi / 2)
    if motion is None:
        joint, motion = s.either_way(joint)
    objects = ("valve", "ball valve", "gate valve", "pipe", "pipe valve", "shutoff valve")
    return s.draft("valve", joint, objects, parts, motion, directed=False)


def end_knob(rng: np.random.Generator) -> Draft:
    """A ridged round head at the end of a stub: a radiator valve, a bed or door knob, a lid nut."""
    s = Sketch(rng, METALLIC)
    r = s.between(0.015, 0.03)
    if s.chance(0.5):
        outline = rounded_rectangle((-3 * r, -2 * r), (3 * r, 2 * r), r * s.between(0, 1))
        s.fix(extrude(outline, "xy", -r * s.between(0.5, 4), 0), "body")
    else:
        s.fix(cylinder((-3 * r, 0, -r), (6 * r, 0, 0), r * s.between(0.5, 0.9)), "body")
        s.fix(sphere((0, 0, -r), 1.1 * r, 12, 7), "body")
        s.fix(cylinder((0, 0, -r), (0, 0, -s.between(1, 4) * r), 0.6 * r), "body")
    neck = r * s.between(0.2, 1.5)
    s.fix(cylinder((0, 0, -r), (0, 0, r + neck), 0.5 * r, segments=12), "metal")
    length, wide = r * s.between(0.8, 2.6), r * s.between(0.7, 1.6)
    grip(s, neck, length, wide, True, s.chance(0.8), "handle")
    if s.chance(0.5):
        tick(s, neck, length, wide, True)
    if s.chance(0.4):
        s.move(sphere((0, 0, neck + length), (0.95 * wide, 0.95 * wide, 0.3 * wide), 14, 5), "trim")
    joint = point(s, hinge((0, 0, 1), (0, 0, 0), s.degrees(40, 178)), 0.2, 0.4)
    joint, motion = s.either_way(joint)
    objects = ("valve", "radiator valve", "thermostatic valve", "pipe", "device")
    parts = ("knob", "head", "valve head", "handle", "cap")
    return s.draft("valve", joint, objects, parts, motion, directed=False)


KINDS = {
    "mixer": (1.6, mixer),
    "garden_tap": (0.9, garden_tap),
    "bath_mixer": (0.8, bath_mixer),
    "pipe_valve": (1.2, pipe_valve),
    "end_knob": (0.7, end_knob),
}
