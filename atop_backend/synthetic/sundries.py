"""What fits nowhere else: inner drawers, vans, faders, steering wheels, dishes, rollers, levers."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import METALLIC, WOODEN, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    lathe,
    open_box,
    rotate,
    rounded_rectangle,
    tube,
)


def inner_drawer(rng: np.random.Generator) -> Draft:
    """A tray, rack or drawer inside a cabinet or oven whose door stands open or is absent."""
    s = Sketch(rng, (*WOODEN, *METALLIC))
    w, d, h = s.between(0.25, 0.5), s.between(0.22, 0.35), s.between(0.25, 0.9)
    wall = s.between(0.012, 0.03)
    s.fix(open_box((-w, -d, 0), (w, d, 2 * h), wall, "-y"), "body")
    count = int(s.between(1, 5))
    chosen = int(s.between(0, count))
    rack = s.chance(0.35)
    levels = np.linspace(wall, 2 * h - wall, count + 1)
    near = -d + s.between(0.005, 0.04)
    half = w - wall - s.between(0.003, 0.012)
    far = d - wall - s.between(0.01, 0.06)
    deep = s.between(0.3, 0.8)
    for i in range(count):
        z0, room = levels[i] + 0.012, levels[i + 1] - levels[i]
        for x in (-w + wall, w - wall):  # runners
            a, b = sorted((x, x - np.sign(x) * 0.006))
            s.fix(box((a, near, z0 - 0.008), (b, far, z0 - 0.002)), "metal")
        moves = i == chosen
        if rack:
            for y in (near, far - 0.006):
                s.add(box((-half, y, z0), (half, y + 0.006, z0 + 0.006)), "metal", moves)
            for x in np.linspace(-half, half - 0.004, 7):
                s.add(box((x, near, z0), (x + 0.004, far, z0 + 0.004)), "metal", moves)
            continue
        tall = max(0.03, deep * (room - 0.03))
        s.add(open_box((-half, near, z0), (half, far, z0 + tall), 0.007, "+z"), "front", moves)
    side = s.one_of("left", "right", "bottom", "none")
    t = s.between(0.015, 0.03)
    if side in ("left", "right"):
        way = -1 if side == "left" else 1
        door = box((min(way * w, -way * w), -d - t, 0), (max(way * w, -way * w), -d, 2 * h))
        turn = s.degrees(88, 115)
        s.fix(rotate(door, (0, 0, way), turn, (way * w, -d - t, 0)), "panel")
    elif side == "bottom" and h < 0.5:
        door = box((-w, -d - t, 0), (w, -d, 2 * h))
        s.fix(rotate(door, (1, 0, 0), s.degrees(86, 91), (0, -d - t, 0)), "panel")
    travel = (far - near) * s.between(0.4, 0.85)
    joint = slider((0, -1, 0), (0, near, levels[chosen]), travel)
    if rack:
        objects, parts = (
            ("oven", "rack oven", "dishwasher", "cooker"),
            ("rack", "shelf", "grid", "tray"),
        )
    else:
        objects = ("cabinet", "cupboard", "wardrobe", "pantry", "kitchen cabinet", "refrigerator")
        parts = ("inner drawer", "drawer", "tray", "pull-out tray", "drawer behind the door")
    return s.draft("inner drawer", joint, objects, parts, say.SLIDE_OUT, say.SLIDE_IN)


def van(rng: np.random.Generator) -> Draft:
    """A van or lorry: a side door slides, a rear or cab door swings, or a ramp comes down."""
    s = Sketch(rng)
    long, wide, tall = s.between(1.2, 2.6), s.between(0.6, 0.9), s.between(0.7, 1.2)
    r, t = s.between(0.12, 0.2), 0.03
    base = r * 1.1
    part = s.one_of("slide", "rear", "ramp", "cab")
    x0, x1 = -long / 2, long / 2  # it drives towards -X and shows its side
    y0, y1 = -wide / 2, wide / 2
    nose = s.between(0.25, 0.45)
    s.fix(box((x0, y0, base), (x1 - t, y1, base + tall)), "body")
    cab = [(x0 - nose, base), (x0, base), (x0, base + tall), (x0 - 0.3 * nose, base + 0.9 * tall)]
    cab.append((x0 - nose, base + s.between(0.35, 0.6) * tall))
    s.fix(extrude(cab, "xz", y0, y1), "body")
    for x in (x0 - 0.3 * nose, x1 - 1.3 * r):
        for y in (y0, y1):
            way = -0.06 if y < 0 else 0.06
            s.fix(cylinder((x, y, r), (0, way, 0), r, segments=14), "dark")
    objects = ("van", "lorry", "truck", "delivery van", "minibus", "car", "trailer")
    z0, z1 = base + 0.06 * tall, base + 0.94 * tall
    if part == "slide":
        a, size = x0 + 0.08 * long, long * s.between(0.3, 0.42)
        side = s.sign()
        out = side * wide / 2
        low, high = sorted((out + side * 0.002, out + side * t))
        s.move(box((a, low, z0), (a + size, high, z1)), "front")
        grip_low, grip_high = sorted((out + side * t, out + side * (t + 0.02)))
        s.move(box((a + 0.05 * size, grip_low, base + 0.5 * tall),
                   (a + 0.2 * size, grip_high, base + 0.54 * tall)), "handle")  # fmt: skip
        joint = slider((1, 0, 0), (a, out, base), size * s.between(0.6, 1.0))
        parts = ("sliding door", "side door", "door", "cargo door")
        words = say.SLIDE, say.SLIDE_SHUT
        return s.draft("van", joint, objects, parts, *words)
    if part == "cab":  # a door of the cab, hung at its front edge
        side = s.sign()
        out = side * wide / 2
        low, high = sorted((out, out + side * 0.02))
        a = x0 - 0.28 * nose
        s.move(box((a, low, z0), (x0 + 0.25 * nose, high, z1 - 0.1 * tall)), "front")
        s.move(box((a + 0.1 * nose, low + side * 0.003, base + 0.55 * tall),
                   (x0 + 0.2 * nose, high + side * 0.003, z1 - 0.14 * tall)), "glass")  # fmt: skip
        joint = hinge((0, 0, side), (a, out + side * 0.02, base), s.degrees(40, 75))
        return s.draft("van", joint, objects, ("door", "cab door", "driver's door", "front door"),
                       say.SWING, say.SWING_SHUT)  # fmt: skip
    if part == "ramp":
        s.move(
            box((x1 - t + 0.001, y0, base), (x1, y1, base + tall * s.between(0.4, 1.0))), "front"
        )
        joint = hinge((0, 1, 0), (x1, 0, base), s.degrees(70, 105))
        parts = ("tailgate", "ramp", "rear flap", "loading ramp", "tail lift")
        return s.draft("van", joint, objects, parts, say.FOLD_DOWN, say.FOLD_UP)
    for side in (-1, 1):
        low, high = sorted((side * 0.004, side * wide / 2))
        s.add(box((x1 - t + 0.001, low, base), (x1, high, base + tall)), "front", side < 0)
    joint = hinge((0, 0, -1), (x1, -wide / 2, base), s.degrees(80, 140))
    parts = ("rear door", "back door", "cargo door", "door")
    return s.draft("van", joint, objects, parts, say.SWING, say.SWING_SHUT)


def fader(rng: np.random.Generator) -> Draft:
    """Faders in slots on a sloping or upright face: one slides up, down or along."""
    s = Sketch(rng)
    count, pitch = int(s.between(1, 9)), s.between(0.02, 0.05)
    long, upright = s.between(0.06, 0.2), s.chance(0.4)
    w = count * pitch / 2 + 0.02
    s.fix(box((-w, -0.012, 0), (w, 0, long + 0.06)), "body")
    chosen = int(s.between(0, count))
    at = 0.0
    for i in range(count):
        x = (i - (count - 1) / 2) * pitch
        s.fix(box((x - 0.0015, -0.0125, 0.03), (x + 0.0015, -0.012, 0.03 + long)), "dark")
        z = 0.03 + long * s.between(0.05, 0.95)
        size = 0.3 * pitch
        grip = box((x - size, -0.024, z - 0.7 * size), (x + size, -0.0126, z + 0.7 * size))
        s.add(grip, "handle", i == chosen)
        at = z if i == chosen else at
    room = 0.03 + long - at
    up = room > 0.5 * long
    travel = (room if up else at - 0.03) * s.between(0.6, 0.98)
    x = (chosen - (count - 1) / 2) * pitch
    joint = slider((0, 0, 1 if up else -1), (x, -0.012, at), travel)
    objects = ("mixing desk", "mixer", "dimmer", "equalizer", "control panel", "thermostat")
    parts = ("slider", "fader", "control", "knob", "slide control")
    words = (say.SLIDE_UP, say.SLIDE_DOWN) if up else (say.SLIDE_DOWN, say.SLIDE_UP)
    if not upright:  # lying, its far end a little higher
        joint = s.lay(joint, (1, 0, 0), -s.degrees(60, 90))
        word = "forward|slides forward|moves away" if up else "slides back|moves towards you"
        words = (say.words(f"slides|moves|is pushed|{word}", "slide {}|move {}"),) * 2
    return s.draft("fader", joint, objects, parts, words[0])


def steering_wheel(rng: np.random.Generator) -> Draft:
    """A rim on spokes before a column, a helm or a hand crank's disc: it turns about its shaft."""
    s = Sketch(rng)
    r, rod = s.between(0.12, 0.25), s.between(0.006, 0.02)
    turns = np.linspace(0, 2 * np.pi, 22, endpoint=False)
    rim = np.stack([r * np.cos(turns), 0 * turns, r * np.sin(turns)], axis=1)
    s.move(tube(rim, rod, 6, closed=True), "handle")
    spokes, helm = int(s.between(1, 7)), s.chance(0.25)
    for angle in s.between(0, 6) + np.arange(spokes) * 2 * np.pi / spokes:
        reach = (1.3 if helm else 1.0) * r * np.array((np.cos(angle), 0, np.sin(angle)))
        s.move(cylinder((0, 0, 0), reach, 0.8 * rod, segments=6), "metal")
    s.move(cylinder((0, 0.3 * rod, 0), (0, -2 * rod, 0), 0.25 * r, segments=14), "dark")
    length = s.between(0.1, 0.4)
    s.fix(cylinder((0, 0.3 * rod, 0), (0, length, 0), 0.14 * r, segments=12), "trim")
    if s.chance(0.6):  # a dashboard
        wide, tall = s.between(0.3, 0.6), s.between(0.08, 0.2)
        s.fix(box((-wide, length, -tall), (wide * s.between(0.3, 1), length + 0.1, tall)), "body")
    else:
        s.fix(box((-0.6 * r, length, -1.6 * r), (0.6 * r, length + 0.12, 0.3 * r)), "body")
    axis, motion = s.twist((0, -1, 0))
    joint = hinge(axis, (0, 0, 0), s.degrees(30, 160))
    joint = s.lay(joint, (1, 0, 0), -s.degrees(0, 35))
    objects = ("car", "dashboard", "ship", "boat", "truck", "machine")
    parts = ("steering wheel", "wheel", "helm", "hand wheel")
    return s.draft("steering wheel", joint, objects, parts, motion, directed=False)


def dish(rng: np.random.Generator) -> Draft:
    """A bowl, a panel or a lamp in a fork on a mast: it tilts, or turns about the mast."""
    s = Sketch(rng)
    r, mast = s.between(0.15, 0.4), s.between(0.2, 0.8)
    s.fix(cylinder((0, 0, 0), (0, 0, mast), 0.06 * r, segments=10), "metal")
    s.fix(box((-0.5 * r, -0.5 * r, -0.02), (0.5 * r, 0.5 * r, 0)), "trim")
    turns, tilt = s.chance(0.5), s.degrees(10, 60)
    block = box((-0.1 * r, -0.1 * r, mast), (0.1 * r, 0.1 * r, mast + 0.15 * r))
    s.add(block, "trim", turns)
    level = mast + 0.1 * r
    mark = s.mark()
    if s.chance(0.5):
        share = np.linspace(0, 1, 6)
        inner = [(r * x, 0.3 * r * x * x + 0.03 * r) for x in share[::-1]]
        outer = [(r * x, 0.3 * r * x * x) for x in share]
        s.move(lathe([*outer, *inner], (0, 0, 0.12 * r), "z", 18), "front")
        for angle in (0.5, 2.6, 4.7):
            rim = np.array((r * np.cos(angle), r * np.sin(angle), 0.42 * r))
            s.move(cylinder(rim, np.array((0, 0, 0.9 * r)) - rim, 0.02 * r, segments=5), "metal")
        s.move(cylinder((0, 0, 0.82 * r), (0, 0, 0.15 * r), 0.07 * r, segments=8), "dark")
        parts, objects = (
            ("dish", "bowl", "reflector", "antenna"),
            ("satellite dish", "antenna", "radar"),
        )
    else:
        wide = r * s.between(0.8, 1.6)
        s.move(box((-wide, -r, 0.12 * r), (wide, r, 0.18 * r)), "glass")
        s.move(box((-0.1 * r, -0.9 * r, 0.06 * r), (0.1 * r, 0.9 * r, 0.12 * r)), "metal")
        parts, objects = (
            ("panel", "solar panel", "board", "head"),
            ("solar panel", "collector", "sign"),
        )
    s.move(box((-0.05 * r, -0.05 * r, 0.0), (0.05 * r, 0.05 * r, 0.15 * r)), "metal")
    s.turn(mark, (1, 0, 0), tilt)  # it looks to the front and up
    s.shift(mark, (0, -0.1 * r, level))
    if turns:
        axis, motion = s.swivel()
        joint = hinge(axis, (0, 0, level), s.degrees(30, 120))
        return s.draft("dish", joint, objects, parts, motion, directed=False)
    up = tilt > np.radians(35)
    joint = hinge((-1 if up else 1, 0, 0), (0, -0.1 * r, level), s.degrees(12, 25))
    words = say.words("tilts|rotates|pivots|turns|is adjusted", "tilt {}|adjust {}|rotate {}")
    return s.draft("dish", joint, objects, parts, words, directed=False)


def roller(rng: np.random.Generator) -> Draft:
    """A disc at the end of a grip, or a paint roller: it spins on its pin."""
    s = Sketch(rng)
    r, grip = s.between(0.025, 0.05), s.between(0.07, 0.15)
    half = s.one_of(0.0015, s.between(0.02, 0.12))
    pin = 0.12 * r
    s.move(cylinder((0, -half, 0), (0, 2 * half, 0), r if half < 0.01 else 0.5 * r, segments=20),
           "metal" if half < 0.01 else "front")  # fmt: skip
    s.fix(cylinder((0, -half - 0.004, 0), (0, 2 * half + 0.008, 0), pin, segments=8), "trim")
    away = r + 0.012
    if half < 0.01:
        for y in (-0.005, 0.003):
            s.fix(box((-pin, y, -pin), (away, y + 0.002, pin)), "trim")
        s.fix(cylinder((away, 0, 0), (grip, 0, 0), 0.008, 0.011, 10), "handle")
    else:
        path = [(0, half + 0.003, 0), (0, half + 0.015, 0), (away, half + 0.015, 0), (away, 0, 0)]
        s.fix(tube([*path, (away + 0.03, 0, 0)], 0.7 * pin, 6), "metal")
        s.fix(cylinder((away + 0.03, 0, 0), (grip, 0, 0), 0.009, 0.012, 10), "handle")
    joint = hinge((0, s.sign(), 0), (0, 0, 0), s.degrees(60, 178))
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, np.pi / 2, s.degrees(0, 360)))
    objects = ("pizza cutter", "pizza wheel") if half < 0.01 else ("paint roller", "lint roller")
    parts = ("wheel", "blade", "disc") if half < 0.01 else ("roller", "roll", "drum")
    return s.draft("roller", joint, objects, parts, say.SPIN, directed=False)


def hand_brake(rng: np.random.Generator) -> Draft:
    """A lever out of a console between seats, a pump handle or a slot machine's arm."""
    s = Sketch(rng)
    long, wide = s.between(0.15, 0.35), s.between(0.03, 0.08)
    outline = rounded_rectangle((-wide, -0.6 * long), (wide, 0.5 * long), 0.3 * wide)
    s.fix(extrude(outline, "xy", -0.05, 0), "body")
    for x in (-0.5 * wide, 0.3 * wide):
        s.fix(box((x, 0.3 * long, 0), (x + 0.2 * wide, 0.4 * long, 0.03)), "metal")
    pin = (0.0, 0.35 * long, 0.02)
    s.fix(cylinder((-0.5 * wide, pin[1], pin[2]), (wide, 0, 0), 0.005, segments=8), "metal")
    mark, t = s.mark(), 0.2 * wide
    s.move(box((-t, pin[1] - 0.6 * long, 0.02 - t), (t, pin[1] + 0.01, 0.02 + t)), "metal")
    grip = cylinder((0, pin[1] - 0.6 * long, 0.02), (0, -0.4 * long, 0), 1.4 * t, 1.7 * t, 10)
    s.move(grip, "handle")
    if s.chance(0.5):
        tip = cylinder((0, pin[1] - long, 0.02), (0, -0.02, 0), 0.7 * t, segments=8)
        s.move(tip, "accent")
    start = s.degrees(4, 50)
    s.turn(mark, (-1, 0, 0), start, pin)
    joint = hinge((-1, 0, 0), pin, s.degrees(15, 45))
    words, back = say.join(say.TILT_UP, say.words("is pulled up", "pull {} up")), say.TILT_DOWN
    if start > np.radians(25):
        joint = hinge((1, 0, 0), pin, start - np.radians(4))
        words, back = say.TILT_DOWN, say.TILT_UP
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, 0.0, np.pi / 2, -np.pi / 2, np.pi))
    objects = ("car", "console", "machine", "pump", "press")
    parts = ("handbrake", "lever", "parking brake", "handle", "brake lever", "arm")
    return s.draft("hand brake", joint, objects, parts, words, back)


KINDS = {
    "inner_drawer": (1.6, inner_drawer),
    "van": (1.2, van),
    "fader": (0.7, fader),
    "steering_wheel": (0.6, steering_wheel),
    "dish": (0.5, dish),
    "roller": (0.5, roller),
    "hand_brake": (0.5, hand_brake),
}
