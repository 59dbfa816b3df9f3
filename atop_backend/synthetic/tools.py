"""Hand tools: staplers, scissors, pliers and knives."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import METALLIC, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    rounded_rectangle,
    tube,
)


def resting(s: Sketch, joint, standing: float = 0.4):
    """The object as drawn in the xz plane, or laid on its side, and turned about z at random."""
    if not s.chance(standing):
        joint = s.lay(joint, (1, 0, 0), s.sign() * np.pi / 2)
    if s.chance(0.5):
        joint = s.lay(joint, (0, 0, 1), s.one_of(np.pi / 2, -np.pi / 2, np.pi, s.degrees(-60, 60)))
    return joint


def stapler(rng: np.random.Generator) -> Draft:
    """A stapler, or a punch: an upper arm over a base, hinged at the back on a pin."""
    s = Sketch(rng)
    length, wide = s.between(0.11, 0.2), s.between(0.018, 0.035)
    base, arm = s.between(0.006, 0.014), s.between(0.014, 0.03)
    height = s.between(0.02, 0.04)  # of the pin
    open_rad = s.degrees(0, 14)
    pin = (length * s.between(0.32, 0.46), height)
    front = -length / 2
    if s.chance(0.5):
        s.fix(box((front, -wide / 2, 0), (length / 2, wide / 2, base)), "body")
    else:
        outline = rounded_rectangle((front, -wide / 2), (length / 2, wide / 2), wide * 0.45)
        s.fix(extrude(outline, "xy", 0, base), "body")
    s.fix(
        box((front + 0.008, -wide * 0.25, base), (front + 0.025, wide * 0.25, base + 0.002)),
        "metal",
    )
    for y in (-wide * 0.5, wide * 0.5 - 0.002):  # cheeks that hold the pin
        cheek = [(pin[0] - 0.015, base * 0.5), (length / 2, base * 0.5)]
        cheek += [(length / 2, height * 0.9), (pin[0] + 0.006, height + 0.007)]
        cheek += [(pin[0] - 0.008, height + 0.005)]
        s.fix(extrude(cheek, "xz", y, y + 0.002), s.one_of("body", "metal"))
    s.fix(cylinder((pin[0], -wide * 0.55, height), (0, wide * 1.1, 0), 0.003, segments=8), "metal")
    mark, w = s.mark(), wide * s.between(0.36, 0.45)
    low = height - 0.006
    top = low + arm
    back = length / 2 * s.between(0.95, 1.0)
    nose = s.between(0.2, 0.9)
    shape = [(front, low), (back, low), (back, low + arm * s.between(0.5, 0.9))]
    shape += [(back - 0.02, top), (front + length * 0.25, top + arm * s.between(-0.1, 0.2))]
    shape += [(front, low + arm * nose)]
    s.move(extrude(shape, "xz", -w, w))
    magazine = box((front - 0.001, -w * 0.7, low - 0.008), (pin[0] - 0.02, w * 0.7, low))
    if s.chance(0.5):
        s.move(magazine, "metal")
    lift = (pin[0], 0.0, height)
    s.turn(mark, (0, 1, 0), open_rad, lift)
    joint = hinge((0, 1, 0), lift, s.degrees(25, 90) if s.chance(0.7) else s.degrees(90, 170))
    if s.chance(0.35):  # pressed instead: it closes onto the base
        clearance = (low - 0.008 - base) / max(pin[0] - front, 1e-6)
        closing = open_rad + np.arctan(clearance) * 0.9
        if closing > np.radians(3):
            joint = hinge((0, -1, 0), lift, closing)
            joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, np.pi / 2, -np.pi / 2, np.pi))
            parts = ("top", "upper arm", "arm", "lever", "top part", "handle")
            motion = say.join(say.PRESS_DOWN, say.TILT_DOWN)
            return s.draft("stapler", joint, ("stapler", "office stapler"), parts, motion)
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, np.pi / 2, -np.pi / 2, np.pi))
    parts = ("top", "upper arm", "arm", "lid", "cover", "top part", "upper part", "handle")
    motion = say.join(say.OPEN, say.LIFT)
    return s.draft("stapler", joint, ("stapler", "office stapler"), parts, motion, say.LOWER)


def scissors(rng: np.random.Generator) -> Draft:
    """Scissors, shears or tongs crossed at a screw: one half turns."""
    s = Sketch(rng, METALLIC)
    blade, grip = s.between(0.06, 0.14), s.between(0.05, 0.1)
    wide, thick = s.between(0.008, 0.018), s.between(0.0015, 0.004)
    half_open = s.degrees(2, 30)
    ring_out, ring = s.between(0.014, 0.028), s.between(0.003, 0.005)
    both = s.between(0.7, 1.4)
    loop = s.chance(0.85)
    chosen = s.sign()
    for side in (-1, 1):
        mark, moves = s.mark(), side == chosen
        y = 0.0 if side > 0 else -thick
        tip = wide * s.between(0.05, 0.3)
        shape = [(-wide / 2, -wide / 2), (wide / 2, -wide / 2), (wide / 2, blade * 0.2)]
        shape += [(side * tip - tip * 0.5, blade), (-wide / 2, blade * 0.3)]
        s.add(extrude(shape, "xz", y, y + thick), "metal", moves)
        out = -side * (ring_out + wide * 0.3)
        shank = [(-wide / 2, 0), (wide / 2, 0), (out * 0.8 + wide * 0.3, -grip * 0.55)]
        shank += [(out * 0.8 - wide * 0.3, -grip * 0.55)]
        s.add(extrude(shank, "xz", y, y + thick), "metal", moves)
        if loop:
            angles = np.linspace(0, 2 * np.pi, 13)[:-1]
            path = np.stack(
                [
                    out + ring_out * np.cos(angles),
                    np.full(12, y + thick / 2),
                    -grip * 0.55 - ring_out * both + ring_out * both * np.sin(angles),
                ],
                axis=1,
            )
            s.add(tube(path, ring, 6, closed=True), "handle", moves)
        else:
            way = (out * 0.6, 0, -grip)
            s.add(cylinder((out * 0.8, y + thick / 2, -grip * 0.5), way, ring), "handle", moves)
        s.turn(mark, (0, 1, 0), side * half_open / 2)
    s.fix(cylinder((0, -thick * 1.4, 0), (0, thick * 2.8, 0), wide * 0.3, segments=10), "trim")
    upper = s.degrees(20, 60)
    joint = hinge((0, chosen, 0), (0, 0, 0), upper)
    joint = resting(s, joint, 0.3)
    objects = ("scissors", "pair of scissors", "shears")
    parts = ("blade", "one blade", "handle", "one half", "one side", "scissor blade")
    motion = say.join(
        say.OPEN, say.words("swings out|rotates|turns|spreads", "spread {}|rotate {}")
    )
    back = say.join(say.CLOSE, say.words("rotates|turns|folds in", "rotate {}"))
    return s.draft("scissors", joint, objects, parts, motion, back)


def pliers(rng: np.random.Generator) -> Draft:
    """Pliers: two crossed levers with thick jaws and long curved grips."""
    s = Sketch(rng, METALLIC)
    jaw, grip = s.between(0.03, 0.07), s.between(0.09, 0.14)
    wide, thick = s.between(0.01, 0.016), s.between(0.006, 0.012)
    bow, spread = s.between(0.015, 0.035), s.degrees(4, 25)
    chosen, nose = s.sign(), s.between(0.2, 0.8)
    for side in (-1, 1):
        mark, moves = s.mark(), side == chosen
        inner = 0.0006 * side
        head = [(inner, -wide * 0.5), (side * wide, 0), (side * wide * nose, jaw), (inner, jaw)]
        s.add(extrude(head, "xz", -thick / 2, thick / 2), "metal", moves)
        out = -side * bow
        path = np.array([(0, 0, 0), (out * 0.7, 0, -grip * 0.25), (out, 0, -grip * 0.6)])
        path = np.concatenate([path, [(out * 0.9, 0, -grip)]])
        s.add(tube(path[:3], thick * 0.45, 6), "metal", moves)
        s.add(tube(path[1:] * (1, 1, 1.0), thick * 0.6, 8), "accent", moves)
        s.turn(mark, (0, 1, 0), side * spread / 2)
    s.fix(cylinder((0, -thick * 0.7, 0), (0, thick * 1.4, 0), wide * 0.75, segments=14), "metal")
    joint = resting(s, hinge((0, chosen, 0), (0, 0, 0), s.degrees(15, 45)), 0.3)
    parts = ("handle", "one handle", "jaw", "lever", "one half", "grip", "arm")
    motion = say.join(say.OPEN, say.words("swings out|rotates|spreads", "spread {}|rotate {}"))
    back = say.join(say.CLOSE, say.words("is squeezed|rotates in", "squeeze {}"))
    return s.draft("pliers", joint, ("pliers", "tongs", "wrench", "cutter"), parts, motion, back)


def pocket_knife(rng: np.random.Generator) -> Draft:
    """A folding knife, multi-tool or razor: blades in a grip, turning about a pin at its end."""
    s = Sketch(rng, METALLIC)
    length, high, thick = s.between(0.08, 0.12), s.between(0.014, 0.026), s.between(0.009, 0.018)
    plate = thick * 0.28
    outline = rounded_rectangle((-length / 2, -high / 2), (length / 2, high / 2), high * 0.45, 3)
    if s.chance(0.4):
        outline[:, 1] += 0.25 * high * np.cos(outline[:, 0] / length * np.pi) - 0.12 * high
    for y in (-thick / 2, thick / 2 - plate):
        s.fix(extrude(outline, "xz", y, y + plate), "handle")
    s.fix(box((-length * 0.42, -thick / 4, -high * 0.42), (length * 0.42, thick / 4, -high * 0.3)))
    pin = (length / 2 - high * 0.45, 0.0, high * 0.05)
    s.fix(cylinder((pin[0], -thick * 0.55, pin[2]), (0, thick * 1.1, 0), high * 0.14), "metal")
    blades = int(rng.integers(1, 4))
    chosen = int(rng.integers(blades))
    room = (thick - 2 * plate) / blades
    for i in range(blades):
        mark, moves = s.mark(), i == chosen
        reach, tall = length * s.between(0.7, 0.84), high * s.between(0.5, 0.75)
        y = -thick / 2 + plate + room * (i + 0.1)
        x, z = pin[0], pin[2]
        shape = [(x + high * 0.15, z - tall / 3), (x + high * 0.15, z + tall / 3)]
        shape += [(x - reach * 0.8, z + tall * 0.62), (x - reach, z + tall * s.between(-0.3, 0.5))]
        shape += [(x - reach * 0.6, z - tall * 0.35)]
        s.add(extrude(shape, "xz", y, y + room * 0.8), "metal", moves)
        if not moves and s.chance(0.3):
            s.turn(mark, (0, 1, 0), s.degrees(40, 180), pin)
    joint = hinge((0, 1, 0), pin, s.degrees(110, 180))
    joint = resting(s, joint, 0.3)
    objects = ("knife", "pocket knife", "folding knife", "pocketknife", "multi-tool")
    motion, back = say.join(say.FOLD_OUT, say.OPEN), say.join(say.FOLD_IN, say.CLOSE)
    return s.draft("knife", joint, objects, ("blade", "knife blade"), motion, back)


def cutter(rng: np.random.Generator) -> Draft:
    """A utility cutter whose blade, with or without its thumb slider, comes out of the grip."""
    s = Sketch(rng)
    length, wide, thick = s.between(0.12, 0.17), s.between(0.016, 0.03), s.between(0.008, 0.016)
    wall = thick * 0.25
    low, high = -length / 2, length / 2
    for y in (-thick / 2, thick / 2 - wall):  # two shells with a slot for the blade between
        shape = [(low, -wide / 2), (high - wide * 0.3, -wide / 2), (high, -wide * 0.2)]
        shape += [(high, wide * 0.35), (high - wide * 0.2, wide / 2), (low, wide / 2)]
        s.fix(extrude(shape, "xz", y, y + wall), "body")
    inner = thick / 2 - wall
    s.fix(box((low, -inner, -wide / 2), (high - wide, inner, -wide * 0.4)), "body")
    s.fix(box((low, -inner, wide * 0.4), (high - wide, inner, wide / 2)), "body")
    out = s.between(0.0, 0.25) * length
    blade = [(low + length * 0.4, -wide * 0.3), (high + out, -wide * 0.3)]
    blade += [
        (high + out - wide * s.between(0.2, 0.6), wide * 0.3),
        (low + length * 0.4, wide * 0.3),
    ]
    s.move(extrude(blade, "xz", -inner * 0.4, inner * 0.4), "metal")
    if s.chance(0.7):
        at, size = low + length * s.between(0.45, 0.6), wide * 0.35
        s.move(
            box((at - size, thick / 2, -size * 0.6), (at + size, thick / 2 + size, size * 0.6)),
            "accent",
        )
    joint = slider((1, 0, 0), (high, 0, 0), length * s.between(0.15, 0.4))
    joint = resting(s, joint, 0.3)
    objects = ("knife", "utility knife", "box cutter", "cutter", "craft knife")
    parts = ("blade", "knife blade", "cutting blade")
    return s.draft("knife", joint, objects, parts, say.EXTEND, say.RETRACT)


def knife_block(rng: np.random.Generator) -> Draft:
    """A slanted block with knives standing in it; one is drawn out along its blade."""
    s = Sketch(rng)
    width, high, depth = s.between(0.08, 0.16), s.between(0.18, 0.26), s.between(0.1, 0.16)
    lean = s.degrees(5, 40)
    mark = s.mark()
    s.fix(box((-width / 2, -depth / 2, 0), (width / 2, depth / 2, high)), "top")
    count = int(rng.integers(2, 6))
    chosen = int(rng.integers(count))
    for i in range(count):
        x = width * ((i + 0.5) / count - 0.5)
        y, moves = s.between(-0.3, 0.3) * depth, i == chosen
        grip, size = s.between(0.07, 0.12), s.between(0.008, 0.012)
        s.add(
            box((x - size * 0.6, y - size, high), (x + size * 0.6, y + size, high + grip)),
            "handle",
            moves,
        )
        if moves:
            blade = box((x - 0.001, y - size * 1.2, high * 0.15), (x + 0.001, y + size * 1.2, high))
            s.move(blade, "metal")
            start = (x, y, high)
    s.turn(mark, (1, 0, 0), lean)
    joint = slider((0, 0, 1), start, high * s.between(0.5, 0.84))
    direction = (0.0, -np.sin(lean), np.cos(lean))
    middle = np.array(
        [
            start[0],
            *(np.array([[np.cos(lean), -np.sin(lean)], [np.sin(lean), np.cos(lean)]]) @ start[1:]),
        ]
    )
    joint = slider(direction, middle, joint.upper)
    motion = say.join(
        say.EXTEND, say.words("is drawn out|is taken out|lifts out", "draw {}|take {} out")
    )
    return s.draft(
        "knife",
        joint,
        ("knife block", "knife holder"),
        ("knife", "one knife"),
        motion,
        say.SLIDE_IN,
    )


KINDS = {
    "stapler": (2.0, stapler),
    "scissors": (1.2, scissors),
    "pliers": (1.0, pliers),
    "pocket_knife": (1.3, pocket_knife),
    "cutter": (1.8, cutter),
    "knife_block": (0.5, knife_block),
}
