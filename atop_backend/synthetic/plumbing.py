"""Faucets, toilets and valves."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import METALLIC, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    frame,
    lathe,
    open_box,
    rounded_rectangle,
    sphere,
    tube,
)

FAUCET_NAMES = ("faucet", "tap", "water tap", "sink faucet", "kitchen faucet")


def _spout(s: Sketch, height: float, reach: float, radius: float, moves: bool) -> None:
    """A spout that starts upwards at (0, 0, height) and ends over the basin, towards -Y."""
    style = s.rng.random()
    if style < 0.45:  # gooseneck
        bend = reach / 2
        rise = s.between(0.05, 0.3) * reach + 0.5 * bend
        angles = np.linspace(0, np.pi * s.between(0.85, 1.0), 9)
        arc = np.stack(
            [0 * angles, -bend + bend * np.cos(angles), height + rise + bend * np.sin(angles)], 1
        )
        drop = arc[-1] - np.array([0, 0, s.between(0.1, 0.7) * rise])
        s.add(tube([(0, 0, height), *arc, drop], radius, 8), "body", moves)
    elif style < 0.7:  # straight or rising bar, then down
        rise = s.between(0.0, 0.5) * reach
        end = np.array([0.0, -reach, height + radius + rise])
        path = [(0, radius, height + radius), end, end - np.array([0, 0, 2.2 * radius])]
        s.add(tube(path, radius, 8), "body", moves)
    elif style < 0.85:  # flat block
        w, h = radius * s.between(1.0, 1.8), radius * s.between(0.8, 1.6)
        mark = s.mark()
        s.add(box((-w, -reach, height), (w, w, height + h)), "body", moves)
        s.turn(mark, (1, 0, 0), -s.degrees(0, 15), (0, 0, height))
    else:  # swan neck out of corners
        rise = s.between(0.6, 1.2) * reach
        path = [(0, 0, height), (0, 0, height + rise), (0, -reach, height + rise)]
        path.append((0, -reach, height + 0.55 * rise))
        s.add(tube(path, radius, s.one_of(4, 8)), "body", moves)


def _cross(s: Sketch, centre, size: float, moves: bool, colour: str = "handle") -> None:
    """A handle with its axis along z: cross, star, knob, lever or wings."""
    x, y, z = centre
    style = int(s.rng.integers(5))
    if style == 0:  # cross
        for way in ((1, 0, 0), (0, 1, 0)):
            bar = size * np.array(way)
            s.add(cylinder(np.array(centre) - bar, 2 * bar, size * 0.14, segments=8), colour, moves)
        s.add(cylinder((x, y, z - size * 0.3), (0, 0, size * 0.6), size * 0.3), colour, moves)
    elif style == 1:  # knob with flutes
        waist = [(0, -0.4), (0.5, -0.4), (0.75, 0.0), (0.7, 0.35), (0, 0.5)]
        s.add(lathe(size * np.array(waist), centre, "z", int(s.rng.integers(6, 14))), colour, moves)
    elif style == 2:  # lever to one side
        angle = s.between(-np.pi, np.pi)
        end = np.array([np.cos(angle), np.sin(angle), s.between(0.0, 0.4)]) * size * 2
        s.add(cylinder(centre, end, size * 0.2, size * 0.14, segments=8), colour, moves)
        s.add(cylinder((x, y, z - size * 0.4), (0, 0, size * 0.7), size * 0.4), colour, moves)
    elif style == 3:  # wings
        angle = s.between(0, np.pi)
        bar = size * 1.1 * np.array([np.cos(angle), np.sin(angle), 0])
        s.add(cylinder(np.array(centre) - bar, 2 * bar, size * 0.2, segments=8), colour, moves)
        s.add(sphere(centre, size * 0.35, 10, 6), colour, moves)
    else:  # round wheel with spokes
        angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
        rim = np.stack([np.cos(angles), np.sin(angles), 0 * angles], 1) * size + np.array(centre)
        s.add(tube(rim, size * 0.13, 6, closed=True), colour, moves)
        for way in ((1, 0, 0), (0, 1, 0)):
            bar = size * np.array(way)
            s.add(cylinder(np.array(centre) - bar, 2 * bar, size * 0.1, segments=6), colour, moves)


def faucet(rng: np.random.Generator) -> Draft:
    """A faucet: the spout swivels, a lever lifts or turns, or one of two handles turns."""
    s = Sketch(rng, METALLIC)
    height, radius = s.between(0.06, 0.2), s.between(0.012, 0.022)
    reach, stout = s.between(0.12, 0.25), s.between(1.2, 1.9)
    if s.chance(0.6):
        s.fix(cylinder((0, 0, 0), (0, 0, 0.012), radius * s.between(1.8, 2.6)), "body")
    layout = s.one_of("top", "side", "pair", "pair", "front")
    if layout == "pair":
        return _pair_faucet(s, height, radius, reach)
    spout_moves = s.chance(0.4)
    low = height * s.between(0.4, 0.8)
    s.fix(cylinder((0, 0, 0), (0, 0, low), radius * stout, segments=14), "body")
    if layout == "side":  # stub and lever on one side
        side, level = s.sign(), height * s.between(0.3, 0.7)
        s.add(
            cylinder((0, 0, low), (0, 0, height - low), radius * stout, segments=14),
            "body",
            spout_moves,
        )
        _spout(s, height, reach, radius, spout_moves)
        turning = not spout_moves
        stub = radius * (stout + s.between(0.8, 2.0))
        s.fix(cylinder((0, 0, level), (side * stub, 0, 0), radius * 0.8, segments=10), "body")
        cap = radius * s.between(0.5, 1.5)
        s.add(cylinder((side * stub, 0, level), (side * cap, 0, 0), radius), "handle", turning)
        angle, length = s.between(-0.3, 2.0), s.between(0.05, 0.12)
        way = np.array([side * s.between(0.0, 0.6), -np.cos(angle), np.sin(angle)]) * length
        at = (side * (stub + cap * 0.6), 0, level)
        s.add(cylinder(at, way, radius * 0.4, radius * 0.3, segments=8), "handle", turning)
        joint = hinge((s.sign(), 0, 0), (0, 0, level), s.degrees(25, 80))
        motion, back = s.tilting(joint) if turning else (say.TURN, None)
    elif layout == "front":  # a knob or lever that faces the user, on an upright body
        s.fix(cylinder((0, 0, low), (0, 0, height - low), radius * stout, segments=14), "body")
        spout_moves, turning = False, True
        _spout(s, height, reach, radius, False)
        size, level = radius * s.between(0.8, 1.4), height * s.between(0.3, 0.6)
        mark = s.mark()
        _cross(s, (0, 0, radius * stout + size * 0.5), size, True)
        s.turn(mark, (1, 0, 0), np.pi / 2)
        s.shift(mark, (0, 0, level))
        axis, motion = s.twist((0, -1, 0))
        joint, back = hinge(axis, (0, 0, level), s.degrees(40, 180)), None
    else:  # a lever on top
        spout_level = s.between(0.45, 0.8) * height
        s.fix(cylinder((0, 0, low), (0, 0, height - low), radius * stout, segments=14), "body")
        path = [(0, 0, spout_level), (0, -reach, spout_level + s.between(-0.1, 0.5) * reach)]
        path.append((0, -reach, path[1][2] - 2 * radius))
        s.fix(tube(path, radius * s.between(0.6, 1.0), 8), "body")
        spout_moves, turning = False, True
        cap = radius * s.between(0.8, 1.8)
        s.move(cylinder((0, 0, height), (0, 0, cap), radius * stout * 0.98), "handle")
        length, backwards = s.between(0.06, 0.16), s.chance(0.2)
        slope = s.between(0.0, 0.7)
        way = np.array([0, 1.0 if backwards else -1.0, slope]) * length
        start = (0, 0, height + cap * 0.7)
        if s.chance(0.5):
            s.move(cylinder(start, way, radius * 0.45, radius * 0.35, segments=8), "handle")
        else:
            mark, wide = s.mark(), radius * s.between(0.4, 1.0)
            end = (wide, way[1], height + cap + radius * 0.1)
            near, far = sorted((0.0, float(way[1])))
            s.move(box((-wide, near, height + cap * 0.6), (wide, far, end[2])), "handle")
            tip = np.arctan(slope) * (1 if backwards else -1)
            s.turn(mark, (1, 0, 0), tip, (0, 0, height + cap * 0.6))
        if s.chance(0.6):
            lift = (1 if backwards else -1, 0, 0)
            joint = hinge(lift, (0, 0, height + cap * 0.3), s.degrees(15, 45))
            motion, back = say.TILT_UP, say.TILT_DOWN
            parts = ("lever", "handle", "faucet handle", "faucet lever")
            return s.draft("faucet", joint, FAUCET_NAMES, parts, motion, back)
        axis, motion = s.twist((0, 0, 1))
        joint, back = hinge(axis, (0, 0, height), s.degrees(30, 90)), None
    if spout_moves:
        axis, motion = s.swivel()
        joint = hinge(axis, (0, 0, height), s.degrees(40, 110))
        parts = ("spout", "nozzle", "pipe", "faucet spout")
        return s.draft("faucet", joint, FAUCET_NAMES, parts, motion, directed=False)
    parts = ("lever", "handle", "knob", "switch") if layout == "front" else ("lever", "handle")
    return s.draft("faucet", joint, FAUCET_NAMES, parts, motion, back, directed=False)


def _pair_faucet(s: Sketch, height: float, radius: float, reach: float) -> Draft:
    """Two handles with a spout between them; upright on a basin, or out of a wall."""
    half, size = s.between(0.07, 0.13), s.between(0.018, 0.032)
    which = s.one_of(-1, 0, 1, -1, 1)
    level = s.between(0.02, 0.07)
    wall = s.chance(0.25)
    mark = s.mark()
    if s.chance(0.6):
        low, high = (-half - size, -size * 1.2), (half + size, size * 1.2)
        s.fix(extrude(rounded_rectangle(low, high, size), "xy", 0, 0.02), "body")
    else:
        s.fix(cylinder((-half, 0, level * 0.6), (2 * half, 0, 0), radius * 0.7), "body")
    for side in (-1, 1):
        s.fix(cylinder((side * half, 0, 0), (0, 0, level), size * 0.7, size * 0.5), "body")
    state = s.rng.bit_generator.state
    for side in (-1, 1):
        s.rng.bit_generator.state = state  # both handles alike
        _cross(s, (side * half, 0, level + size * 0.4), size, side == which)
    if wall:
        s.turn(mark, (1, 0, 0), np.pi / 2)
    collar = height * 0.4
    if wall:
        s.fix(cylinder((0, 0, 0), (0, -collar, 0), radius * 1.3), "body")
        path = [(0, -collar, 0), (0, -collar - reach, 0.01), (0, -collar - reach, -2.5 * radius)]
        s.add(tube(path, radius * 0.8, 8), "body", which == 0)
        s.fix(box((-half * 2, 0, -half * 1.2), (half * 2, 0.02, half * 1.2)), "trim")
    else:
        s.fix(cylinder((0, 0, 0), (0, 0, collar), radius * 1.4), "body")
        _spout(s, collar, reach, radius, which == 0)
    if which == 0:
        axis, motion = s.swivel() if not wall else (np.array([0.0, s.sign(), 0.0]), say.TURN)
        joint = hinge(axis, (0, 0, 0), s.degrees(40, 120))
        parts = ("spout", "nozzle", "pipe", "faucet spout")
        return s.draft("faucet", joint, FAUCET_NAMES, parts, motion, directed=False)
    outward = (0, -1, 0) if wall else (0, 0, 1)
    axis, motion = s.twist(outward)
    joint = hinge(axis, (which * half, 0, 0), s.degrees(45, 180))
    name = "left" if which < 0 else "right"
    parts = ("handle", f"{name} handle", f"{name} knob", f"{name} tap", "knob", "valve handle")
    return s.draft("faucet", joint, FAUCET_NAMES, parts, motion, directed=False)


def _oval(outline, front: float, wide: float, long: float, back: float) -> np.ndarray:
    """A lathe profile stretched to a toilet's outline: `long` to the front, straight behind."""
    solid = lathe(outline, (0.0, 0.0, 0.0), "z", 20)
    y = solid[..., 1]
    solid[..., 1] = np.where(y < 0, y * long, y * back) + front
    solid[..., 0] *= wide
    return solid


def toilet(rng: np.random.Generator) -> Draft:
    """A toilet: lid, seat, tank cover, flush lever or button."""
    s = Sketch(rng)
    height, wide = s.between(0.36, 0.44), s.between(0.17, 0.2)
    long, behind = s.between(0.24, 0.3), s.between(0.14, 0.18)
    foot = s.between(0.5, 0.75)
    bowl = [(0, 0), (foot, 0), (foot * 0.9, height * 0.45), (0.95, height * 0.8), (1, height)]
    bowl += [(0.8, height), (0.5, height * 0.6), (0, height * 0.55)]
    s.fix(_oval(bowl, 0, wide, long, behind))
    part = s.one_of("lid", "lid", "lid", "seat", "lever", "tank", "button")
    ring, cover, gap = s.between(0.012, 0.025), s.between(0.01, 0.03), 0.002
    pivot = (0.0, behind * s.between(0.85, 1.0), height + gap)
    tank_low, tank_depth = height - s.between(-0.02, 0.05), s.between(0.15, 0.2)
    tank_wide, tank_high = wide * s.between(0.95, 1.25), height + s.between(0.25, 0.42)
    tank_front = max(behind, pivot[1]) + 0.05
    low = (-tank_wide, tank_front, tank_low)
    s.fix(box((-wide * 0.6, 0, 0), (wide * 0.6, tank_front + tank_depth * 0.8, height * 0.98)))
    s.fix(open_box(low, (tank_wide, tank_front + tank_depth, tank_high), 0.02, "+z"))
    top = (-tank_wide - 0.012, tank_front - 0.012, tank_high)
    lid_top = (-top[0], tank_front + tank_depth + 0.012, tank_high + s.between(0.02, 0.05))
    s.add(box(top, lid_top), "top", part == "tank")
    hole = s.between(0.55, 0.75)
    mark = s.mark()
    seat = [(hole, gap), (1.02, gap), (1.02, ring), (hole, ring), (hole, gap)]
    s.add(_oval([(r, z + height) for r, z in seat], 0, wide, long, behind), "front", part == "seat")
    for x in (-wide * 0.4, wide * 0.4):
        bar = cylinder((x - 0.02, pivot[1], height + gap + 0.01), (0.04, 0, 0), 0.012, segments=8)
        s.fix(bar, "metal")
    if part != "lid" and s.chance(0.3):
        s.turn(mark, (-1, 0, 0), s.degrees(75, 88), pivot)
    mark = s.mark()
    lid = [(0, ring + gap), (1.04, ring + gap), (1.04, ring + cover), (0, ring + cover * 1.3)]
    s.add(_oval([(r, z + height) for r, z in lid], 0, wide, long, behind), "front", part == "lid")
    if part == "seat" or (part != "lid" and s.chance(0.3)):
        s.turn(mark, (-1, 0, 0), s.degrees(90, 93), pivot)
    objects = ("toilet", "toilet bowl", "wc")
    lever_side, level = s.sign(), tank_high - 0.06
    x = lever_side * tank_wide * 0.7
    if part == "button" or s.chance(0.3):
        centre = (0, tank_front + tank_depth / 2, lid_top[2] - 0.004)
        button = cylinder(centre, (0, 0, 0.014), s.between(0.018, 0.035), segments=14)
        s.add(button, "metal", part == "button")
    if part == "lever" or s.chance(0.4):
        moves = part == "lever"
        stub = cylinder((x, tank_front, level), (0, -0.02, 0), 0.012, segments=8)
        s.add(stub, "metal", moves)
        reach = -lever_side * s.between(0.05, 0.09)
        near, far = sorted((x, x + reach))
        bar = box(
            (near, tank_front - 0.03, level - 0.009), (far, tank_front - 0.018, level + 0.009)
        )
        s.add(bar, "metal", moves)
    if part == "lid":
        joint = hinge((-1, 0, 0), pivot, s.degrees(75, 92))
        parts = ("lid", "toilet lid", "cover")
        return s.draft("toilet", joint, objects, parts, say.join(say.OPEN, say.LIFT), say.LOWER)
    if part == "seat":
        joint = hinge((-1, 0, 0), pivot, s.degrees(70, 86))
        parts = ("seat", "toilet seat", "seat ring")
        return s.draft("toilet", joint, objects, parts, say.LIFT, say.LOWER)
    if part == "tank":
        joint = slider((0, 0, 1), (0, tank_front, tank_high), s.between(0.08, 0.2))
        parts = ("tank lid", "tank cover", "lid of the tank", "cistern lid")
        return s.draft("toilet", joint, objects, parts, say.LIFT_OFF, say.PUT_ON)
    if part == "button":
        joint = slider((0, 0, -1), centre, 0.008)
        return s.draft("toilet", joint, objects, ("flush button", "button"), say.PRESS_DOWN)
    joint = hinge((0, -lever_side, 0), (x, tank_front, level), s.degrees(25, 50))
    motion = say.join(say.TILT_DOWN, say.words("is pressed|is flushed", "push {}|press {}"))
    return s.draft("toilet", joint, objects, ("flush lever", "lever", "handle"), motion)


def valve(rng: np.random.Generator) -> Draft:
    """A pipe with a hand wheel or a lever on a stem."""
    s = Sketch(rng, METALLIC)
    bore, half = s.between(0.02, 0.06), s.between(0.1, 0.25)
    s.fix(cylinder((-half, 0, 0), (2 * half, 0, 0), bore), "body")
    for x in (-half, half - bore * 0.3):
        s.fix(cylinder((x, 0, 0), (bore * 0.3, 0, 0), bore * 1.7, segments=14), "trim")
    s.fix(sphere((0, 0, 0), bore * s.between(1.2, 1.6)), "body")
    stem = bore * s.between(1.8, 3.5)
    mark = s.mark()
    s.fix(cylinder((0, 0, 0), (0, 0, stem), bore * 0.4, segments=10), "metal")
    size = bore * s.between(1.2, 2.2)
    _cross(s, (0, 0, stem), size, True, "accent")
    lean = s.one_of(0.0, np.pi / 2, s.degrees(0, 90))
    s.turn(mark, (1, 0, 0), lean)
    outward = (0.0, -np.sin(lean), np.cos(lean))
    axis, motion = s.twist(outward)
    joint = hinge(axis, (0, 0, 0), s.degrees(60, 180))
    parts = ("wheel", "handle", "hand wheel", "valve handle", "knob")
    return s.draft("valve", joint, ("valve", "pipe", "water valve"), parts, motion, directed=False)


def basin(rng: np.random.Generator) -> Draft:
    """A sink or bath with a tap: the spout swivels, a handle turns, or the plug lever lifts."""
    s = Sketch(rng)
    wide, deep, high = s.between(0.4, 0.8), s.between(0.35, 0.5), s.between(0.1, 0.2)
    stand = s.between(0.0, 0.7)
    rim, ledge = 0.03, 0.1
    low, top = (-wide / 2, -deep / 2, stand), (wide / 2, deep / 2, stand + high)
    s.fix(
        frame(
            low,
            top,
            (-wide / 2 + rim, -deep / 2 + rim, 0),
            (wide / 2 - rim, deep / 2 - ledge, 0),
            "z",
        )
    )
    s.fix(box(low, (wide / 2, deep / 2, stand + 0.02)))
    if stand > 0.15:
        s.fix(cylinder((0, 0, 0), (0, 0, stand), wide * 0.18, wide * 0.12, 14), "trim")
    level, y = stand + high, deep / 2 - ledge / 2
    part, side = s.one_of("spout", "handle", "handle", "lever"), s.sign()
    reach, rise = deep * s.between(0.25, 0.4), s.between(0.08, 0.22)
    path = [
        (0, y, level),
        (0, y, level + rise),
        (0, y - reach * 0.6, level + rise + 0.02),
        (0, y - reach, level + rise * 0.7),
    ]
    s.add(tube(path, 0.013, 8), "metal", part == "spout")
    if part == "lever":
        z = level + rise
        s.move(cylinder((0, y, z + 0.012), (0, 0, 0.02), 0.016, segments=12), "metal")
        s.move(cylinder((0, y, z + 0.026), (0, -reach * 0.5, 0.02), 0.007, segments=8), "metal")
        joint = hinge((-1, 0, 0), (0, y, z + 0.012), s.degrees(15, 40))
        return s.draft(
            "sink",
            joint,
            ("sink", "basin", "washbasin"),
            ("lever", "tap lever", "faucet handle"),
            say.TILT_UP,
            say.TILT_DOWN,
        )
    for x in (-1, 1):
        at = np.array((x * 0.09, y, level))
        s.fix(cylinder(at, (0, 0, 0.03), 0.018, segments=10), "metal")
        moves = part == "handle" and x == side
        s.add(
            cylinder(np.add(at, (0, 0, 0.03)), (0, 0, 0.022), 0.012, segments=10), "handle", moves
        )
        for way in ((0.03, 0, 0), (0, 0.03, 0)):
            bar = np.array(way)
            s.add(
                cylinder(np.add(at, (0, 0, 0.045)) - bar, 2 * bar, 0.006, segments=6),
                "handle",
                moves,
            )
    objects = ("sink", "basin", "washbasin", "bathroom sink")
    if part == "spout":
        axis, motion = s.swivel()
        joint = hinge(axis, (0, y, level), s.degrees(30, 90))
        return s.draft("sink", joint, objects, ("spout", "faucet", "tap"), motion, directed=False)
    axis, motion = s.twist((0, 0, 1))
    joint = hinge(axis, (side * 0.09, y, level), s.degrees(45, 180))
    name = "left" if side < 0 else "right"
    parts = ("handle", f"{name} handle", f"{name} tap", "tap handle")
    return s.draft("sink", joint, objects, parts, motion, directed=False)


KINDS = {
    "faucet": (4.5, faucet),
    "toilet": (2.5, toilet),
    "valve": (1.0, valve),
    "basin": (0.8, basin),
}
