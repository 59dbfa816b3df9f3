"""More hand tools: sliding knives, callipers, vices, clamps, wrenches, clippers, corkscrews."""

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
    knurled,
    rounded_rectangle,
    sphere,
    tube,
)
from atop_backend.synthetic.tools import resting

ONE_HALF = ("one half", "one arm", "arm", "leg", "one leg", "one side", "handle")


def sliding_knife(rng: np.random.Generator) -> Draft:
    """A knife whose blade slides along it: snap-off, trapezoid, razor or out of the front."""
    s = Sketch(rng)
    length, wide, thick = s.between(0.1, 0.19), s.between(0.014, 0.036), s.between(0.007, 0.02)
    low, high, half = -length / 2, length / 2, wide / 2
    style = s.one_of("snap", "snap", "trapezoid", "front")
    nose = s.between(0.3, 0.9)
    if style == "trapezoid":  # a bent, tapering grip
        belly = s.between(0.0, 0.5) * half
        shape = [(low, -half - belly), (low * 0.3, -half), (high * 0.6, -half)]
        shape += [(high, -half * nose), (high, half * nose), (high * 0.6, half)]
        shape += [(low * 0.3, half * 0.9), (low, half * 0.6 - belly)]
    else:
        shape = rounded_rectangle((low, -half), (high, half), half * s.between(0.1, 0.9))
    slot = thick * 0.16
    for y in (-thick / 2, slot):
        s.fix(extrude(shape, "xz", y, y + thick / 2 - slot), "body")
    s.fix(box((low * 0.9, -slot, -half * 0.8), (low * 0.5, slot, half * 0.6)), "dark")
    for i in range(int(rng.integers(0, 6))):  # ribs where the hand holds it
        x = low * (0.2 + 0.1 * i)
        s.fix(box((x, -thick * 0.56, -half * 0.7), (x + 0.003, -thick / 2, half * 0.3)), "trim")
    out, tall = s.one_of(0.0, s.between(0.0, 0.3)) * length, half * s.between(0.5, 0.75)
    end, tail = high + out - 0.002, low * s.between(-0.2, 0.4)
    blade = [(tail, -tall), (end - tall * s.between(0.0, 2.0), -tall), (end, tall), (tail, tall)]
    if style == "front":
        blade = [(tail, -tall), (end - 3 * tall, -tall), (end, 0), (end - 3 * tall, tall)]
        blade.append((tail, tall))
    if s.chance(0.5):
        blade = [(x, -z) for x, z in blade][::-1]
    s.move(extrude(blade, "xz", -slot * 0.6, slot * 0.6), "metal")
    at, size = low * s.between(-0.2, 0.3), half * s.between(0.25, 0.5)
    place = s.one_of("face", "face", "back", "none")
    if place == "face":
        s.move(box((at, -thick / 2 - size, -size), (at + 3 * size, -thick / 2, size)), "accent")
    elif place == "back":
        low_z = half if style != "trapezoid" else half * 0.95
        s.move(box((at, -slot, low_z), (at + 3 * size, slot, low_z + size)), "accent")
    objects = ("knife", "utility knife", "box cutter", "cutter", "craft knife", "snap-off knife")
    room = high - tail - 0.1 * length
    if out > 0.12 * length and s.chance(0.3):
        joint, words = slider((-1, 0, 0), (high, 0, 0), out), (say.RETRACT, say.EXTEND)
    else:
        travel = min(room - out, 0.45 * length) * s.between(0.6, 1.0)
        if travel < 0.05 * length:
            travel = 0.05 * length
        joint, words = slider((1, 0, 0), (high, 0, 0), travel), (say.EXTEND, say.RETRACT)
    parts = ("blade", "knife blade", "cutting blade", "cutter blade")
    if place != "none":
        parts = (*parts, "blade", "slider")
    joint = resting(s, joint, 0.15)
    return s.draft("knife", joint, objects, parts, *words)


def caliper(rng: np.random.Generator) -> Draft:
    """A calliper, slide rule or bar clamp: one jaw slides along a flat bar."""
    s = Sketch(rng, METALLIC)
    length, wide, thick = s.between(0.15, 0.4), s.between(0.01, 0.03), s.between(0.003, 0.01)
    jaw = s.between(0.03, 0.12)
    s.fix(box((0, -thick / 2, 0), (length, thick / 2, wide)), "metal")
    s.fix(extrude([(0, 0), (0, -jaw), (0.006, -jaw), (0.025, 0)], "xz", -thick, thick), "body")
    at = length * s.between(0.02, 0.5) + 0.025
    mark = s.mark()
    ring = frame(
        (0, -thick, -0.004), (0.05, thick, wide + 0.004), (0, -thick * 0.55, -0.001),
        (0, thick * 0.55, wide + 0.001), "x",
    )  # fmt: skip
    s.move(ring)
    claw = [(0.025, -0.004), (0.019, -jaw), (0.025, -jaw), (0.05, -0.004)]
    if s.chance(0.5):
        claw = [(0, -0.004), (0, -jaw), (0.006, -jaw), (0.05, -0.004)]
    s.move(extrude(claw, "xz", -thick, thick))
    if s.chance(0.5):
        screen = box((0.006, -thick * 1.3, 0.1 * wide), (0.044, -thick, 0.9 * wide))
        s.move(screen, "glass")
    s.move(cylinder((0.025, 0, wide + 0.004), (0, 0, 0.008), 0.006, segments=10), "dark")
    s.shift(mark, (at, 0, 0))
    room = length - 0.05 - at
    apart = room > 0.3 * length or at < 0.3 * length
    travel = room * s.between(0.5, 0.9) if apart else (at - 0.03) * s.between(0.5, 0.9)
    joint = resting(s, slider((1 if apart else -1, 0, 0), (at, 0, 0), travel), 0.3)
    objects = ("caliper", "vernier caliper", "gauge", "bar clamp", "measuring tool")
    words = (say.SLIDES_APART, say.SLIDES_TOGETHER)
    there, back = words if apart else words[::-1]
    return s.draft("caliper", joint, objects, ("jaw", "slider", "sliding jaw"), there, back)


def vise(rng: np.random.Generator) -> Draft:
    """A bench vice: its front jaw slides, or the bar of its screw turns."""
    s = Sketch(rng, METALLIC)
    wide, high, deep = s.between(0.08, 0.14), s.between(0.08, 0.14), s.between(0.1, 0.16)
    gap, jaw = s.between(0.005, 0.06), s.between(0.03, 0.05)
    s.fix(box((-0.7 * wide, 0, 0), (0.7 * wide, deep, 0.02)), "trim")
    s.fix(box((-0.4 * wide, 0.02, 0.02), (0.4 * wide, deep - 0.01, 0.7 * high)), "body")
    s.fix(box((-wide / 2, 0, 0.6 * high), (wide / 2, jaw, high)), "body")
    level, turns = 0.4 * high, s.chance(0.5)
    front = -gap - jaw
    slides = not turns
    beam = box((-0.2 * wide, front, level), (0.2 * wide, 0.6 * deep, level + 0.18 * high))
    s.add(beam, "metal", slides)
    s.add(box((-0.3 * wide, front, 0.3 * high), (0.3 * wide, -gap, 0.62 * high)), "body", slides)
    s.add(box((-wide / 2, front, 0.6 * high), (wide / 2, -gap, high)), "body", slides)
    mark, r = s.mark(), 0.1 * high
    reach = s.between(0.06, 0.12)
    s.move(cylinder((0, front, 0), (0, -0.04, 0), r, segments=12), "metal")
    s.move(cylinder((-reach, front - 0.028, 0), (2 * reach, 0, 0), 0.4 * r, segments=8), "metal")
    for x in (-reach, reach):
        s.move(sphere((x, front - 0.028, 0), 0.7 * r, 8, 5), "metal")
    s.turn(mark, (0, 1, 0), s.degrees(0, 180))
    s.shift(mark, (0, 0, level))
    objects = ("vise", "bench vise", "vice", "bench vice", "clamp")
    if turns:
        axis, motion = s.twist((0, -1, 0))
        joint = hinge(axis, (0, front, level), s.degrees(60, 178))
        names = ("handle", "bar", "crank", "screw handle")
        return s.draft("vise", joint, objects, names, motion, directed=False)
    joint = slider((0, -1, 0), (0, front, level), s.between(0.3, 0.7) * deep * 0.8)
    names = ("jaw", "front jaw", "movable jaw", "sliding jaw")
    return s.draft("vise", joint, objects, names, say.join(say.OPEN, say.EXTEND), say.RETRACT)


def clamp(rng: np.random.Generator) -> Draft:
    """A C-shaped clamp whose screw turns, or an adjustable wrench whose jaw or worm moves."""
    s = Sketch(rng, METALLIC)
    if s.chance(0.5):
        tall, reach, t = s.between(0.06, 0.16), s.between(0.04, 0.1), s.between(0.008, 0.014)
        shape = [(0, 0), (reach, 0), (reach, t), (t, t), (t, tall), (reach, tall)]
        s.fix(extrude([*shape, (reach, tall + t), (0, tall + t)], "xz", -t * 0.6, t * 0.6), "body")
        x, down = reach - t, s.between(0.2, 0.7) * tall
        s.move(cylinder((x, 0, tall + t + 0.03), (0, 0, -down - t - 0.03), 0.35 * t), "metal")
        s.move(cylinder((x, 0, tall - down), (0, 0, -0.004), 0.9 * t, segments=12), "metal")
        way = np.array((s.between(0.5, 1.0), s.between(-1.0, 1.0), 0.0)) * 0.03
        top = np.array((x, 0, tall + t + 0.026))
        s.move(cylinder(top - way, 2 * way, 0.2 * t, segments=8), "handle")
        joint = resting(s, hinge((0, 0, 1), (x, 0, tall), s.degrees(60, 178)), 0.5)
        joint, motion = s.either_way(joint)
        names = ("screw", "handle", "spindle", "bar", "clamp screw")
        objects = ("clamp", "c-clamp", "screw clamp", "g-clamp")
        return s.draft("clamp", joint, objects, names, motion, directed=False)
    length, wide, t = s.between(0.15, 0.28), s.between(0.014, 0.024), s.between(0.006, 0.012)
    s.fix(box((-wide / 2, -t / 2, -length), (wide / 2, t / 2, 0)), "body")
    head = [
        (-1.6, 0),
        (-0.6, 1.4),
        (-0.6, 2.6),
        (-1.7, 2.6),
        (-2.2, 0.6),
        (-0.5, -1.0),
        (0.5, -1.0),
    ]
    s.fix(extrude([(x * wide, z * wide) for x, z in head] + [(wide, 0), (1.3 * wide, 0.3 * wide)],
                  "xz", -t, t), "body")  # fmt: skip
    jaw, turns = s.between(0.0, 0.5) * wide, s.chance(0.4)
    mark = s.mark()
    claw = [(-0.3, 0.5), (1.6, 0.5), (1.4, 1.2), (0.5, 1.4), (0.5, 2.4), (-0.3, 2.4)]
    s.add(extrude([(x * wide, z * wide) for x, z in claw], "xz", -0.7 * t, 0.7 * t), "metal",
          not turns)  # fmt: skip
    s.shift(mark, (jaw, 0, 0))
    at = (0.5 * wide, 0.0, -0.1 * wide)
    s.add(knurled(at, (0.9 * wide, 0, 0), 1.3 * t, teeth=12, depth=0.2), "trim", turns)
    objects = ("wrench", "adjustable wrench", "spanner", "monkey wrench")
    if turns:
        joint = resting(s, hinge((s.sign(), 0, 0), at, s.degrees(40, 178)), 0.3)
        names = ("worm", "screw", "adjusting wheel", "thumb wheel", "knurl")
        return s.draft("wrench", joint, objects, names, say.TURN, directed=False)
    joint = resting(s, slider((1, 0, 0), (0, 0, wide), wide * s.between(0.4, 1.0)), 0.3)
    motion = say.join(say.OPEN, say.SLIDES_APART)
    names = ("jaw", "movable jaw", "lower jaw")
    return s.draft("wrench", joint, objects, names, motion, say.SLIDES_TOGETHER)


def tongs(rng: np.random.Generator) -> Draft:
    """Tongs, tweezers, a nutcracker, compasses or a clothes peg: arms joined at or near one end."""
    s = Sketch(rng, METALLIC)
    length, wide, thick = s.between(0.08, 0.3), s.between(0.004, 0.02), s.between(0.002, 0.008)
    style = s.one_of("tongs", "compass", "peg", "ring")
    spread = s.degrees(3, 35)
    chosen, bow = s.sign(), s.between(0.0, 0.05) * length
    pin = s.between(0.25, 0.5) * length if style == "peg" else 0.0
    for side in (-1, 1):
        mark, moves = s.mark(), side == chosen
        inner, outer = 0.0004 * side, side * (thick + 0.0004)
        shape = [(inner, pin), (outer, pin), (outer + side * bow, -0.5 * length)]
        shape += [(inner + side * thick * 0.4, pin - length), (inner, pin - length)]
        shape += [(inner + side * bow, -0.5 * length)]
        s.add(extrude(shape, "xz", -wide / 2, wide / 2), "metal", moves)
        if style == "tongs":
            tip = np.array((side * thick * 0.5, 0, -length))
            s.add(sphere(tip, (thick, wide, wide), 8, 5), "accent", moves)
        elif style == "ring" or (style == "compass" and not moves):
            at, top = pin - 0.8 * length, pin - 0.4 * length
            hold = cylinder((side * thick, 0, at), (0, 0, top - at), wide * 0.7, segments=8)
            s.add(hold, "handle", moves)
        s.turn(mark, (0, 1, 0), -side * spread / 2)
    round_ = s.between(0.6, 1.4) * wide
    s.fix(cylinder((0, -0.7 * wide, 0), (0, 1.4 * wide, 0), round_ * 0.6, segments=12), "trim")
    if style == "compass":
        s.fix(cylinder((0, 0, 0), (0, 0, 0.12 * length), 0.4 * wide, segments=8), "trim")
    closing = spread > np.radians(15) and s.chance(0.4)
    # The lower end of the right arm goes right, apart from the other, when it turns about -Y.
    apart = hinge((0, -chosen, 0), (0, 0, 0), s.degrees(15, 60))
    together = hinge((0, chosen, 0), (0, 0, 0), 0.8 * spread)
    joint = resting(s, together if closing else apart, 0.4)
    objects = {
        "tongs": ("tongs", "tweezers", "ice tongs"),
        "compass": ("compass", "drawing compass", "divider"),
        "peg": ("clothespin", "peg", "clip"),
        "ring": ("nutcracker", "garlic press", "press"),
    }[style]
    opening = say.join(say.OPEN, say.words("swings out|spreads", "spread {}|pull {} apart"))
    closed = say.join(say.CLOSE, say.words("is squeezed|moves in", "squeeze {}|push {} in"))
    there, back = (closed, opening) if closing else (opening, closed)
    return s.draft("tongs", joint, objects, ONE_HALF, there, back)


def clipper(rng: np.random.Generator) -> Draft:
    """A lever pressed onto a body: nail clippers, a hole punch, a lemon press, a hand stamp."""
    s = Sketch(rng, METALLIC)
    length, wide = s.between(0.05, 0.16), s.between(0.01, 0.05)
    base = length * s.between(0.04, 0.2)
    back = length / 2
    if s.chance(0.5):
        s.fix(box((-wide / 2, -back, 0), (wide / 2, back, base)), "body")
    else:
        outline = rounded_rectangle((-wide / 2, -back), (wide / 2, back), wide * 0.4)
        s.fix(extrude(outline, "xy", 0, base), "body")
    post = back * s.between(0.3, 0.9)
    level = base + length * s.between(0.05, 0.15)
    s.fix(
        box((-0.35 * wide, post - 0.1 * back, 0), (0.35 * wide, post + 0.1 * back, level)), "trim"
    )
    s.fix(cylinder((-0.55 * wide, post, level), (1.1 * wide, 0, 0), 0.06 * back), "metal")
    mark, thick = s.mark(), length * s.between(0.02, 0.08)
    s.move(
        box((-0.42 * wide, -back * s.between(0.8, 1.2), level), (0.42 * wide, post, level + thick))
    )
    if s.chance(0.5):
        pad = box(
            (-0.5 * wide, -back, level + thick), (0.5 * wide, -0.5 * back, level + 1.6 * thick)
        )
        s.move(pad, "accent")
    rise = s.degrees(0, 45)
    s.turn(mark, (-1, 0, 0), rise, (0, post, level))
    room = rise + np.arctan((level - base) / (back + post)) * 0.8
    pressed = s.chance(0.7) and room > np.radians(5)
    joint = hinge(
        (1 if pressed else -1, 0, 0), (0, post, level), room if pressed else s.degrees(20, 70)
    )
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, 0.0, np.pi / 2, -np.pi / 2, np.pi))
    objects = ("hole punch", "punch", "nail clippers", "press", "stamp")
    words = (say.join(say.PRESS_DOWN, say.TILT_DOWN), say.LIFT)
    there, back_words = words if pressed else (say.LIFT, say.LOWER)
    parts = ("lever", "handle", "arm", "top", "upper lever")
    return s.draft("punch", joint, objects, parts, there, back_words)


def corkscrew(rng: np.random.Generator) -> Draft:
    """A winged corkscrew: an arm comes down or up beside it, or the handle on top turns."""
    s = Sketch(rng, METALLIC)
    r, high = s.between(0.012, 0.02), s.between(0.07, 0.1)
    s.fix(cylinder((0, 0, 0), (0, 0, 0.5 * high), 1.3 * r, r, 16), "body")
    for turn in (0.0, np.pi):
        mark = s.mark()
        s.fix(box((0.7 * r, -0.3 * r, 0.4 * high), (0.95 * r, 0.3 * r, high)), "body")
        s.turn(mark, (0, 0, 1), turn)
    turns = s.chance(0.4)
    top = high * s.between(1.1, 1.5)
    s.add(cylinder((0, 0, -0.3 * high), (0, 0, top + 0.3 * high), 0.3 * r), "metal", turns)
    bar = np.array((s.between(0.5, 1.0), s.between(-1, 1), 0.0)) * 2 * r
    s.add(tube([(0, 0, top) + end * bar for end in (-1, 1)], 0.3 * r, 8), "handle", turns)
    up, chosen = s.degrees(0, 150), s.sign()  # from hanging down
    for side in (-1, 1):
        mark = s.mark()
        x = side * 1.2 * r
        arm = box((x - 0.25 * r, -0.3 * r, -0.1 * high), (x + 0.25 * r, 0.3 * r, high))
        moves = not turns and side == chosen
        s.add(arm, "metal", moves)
        s.add(cylinder((x, -0.5 * r, high), (0, r, 0), 0.6 * r, segments=12), "metal", moves)
        s.turn(mark, (0, -side, 0), up, (x, 0, high))
    objects = ("corkscrew", "wine opener", "bottle opener")
    if turns:
        axis, motion = s.twist((0, 0, 1))
        joint = hinge(axis, (0, 0, top), s.degrees(60, 178))
        names = ("handle", "screw", "top handle", "key")
        return s.draft("corkscrew", joint, objects, names, motion, directed=False)
    x = chosen * 1.2 * r
    raised = up > np.radians(75)
    way = chosen if raised else -chosen
    room = up if raised else np.radians(150) - up
    joint = hinge((0, way, 0), (x, 0, high), room * s.between(0.6, 0.95))
    name = "left" if chosen < 0 else "right"
    parts = ("arm", "wing", "lever", f"{name} arm", f"{name} wing")
    words = (say.TILT_DOWN, say.TILT_UP) if raised else (say.TILT_UP, say.TILT_DOWN)
    return s.draft("corkscrew", joint, objects, parts, *words)


KINDS = {
    "sliding_knife": (2.0, sliding_knife),
    "caliper": (0.6, caliper),
    "vise": (0.6, vise),
    "clamp": (0.8, clamp),
    "tongs": (0.8, tongs),
    "clipper": (0.8, clipper),
    "corkscrew": (0.4, corkscrew),
}
