"""Desks with a hutch and a wide flat drawer, and what lies on them: staplers, punches, cutters."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import phrases, solids
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.assembly import Assembly
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.pieces import chance
from atop_backend.synthetic.sketch import Sketch
from atop_backend.synthetic.solids import box, cylinder, extrude, open_box, rounded_rectangle

_DESKS = ("desk", "desk", "writing desk", "computer desk", "table", "secretary desk", "vanity")


def hutch_desk(rng: np.random.Generator) -> Draft:
    """A desk on panels or legs with wide flat drawers in an apron, alike in front and behind."""
    make = Assembly(rng, (WOODS, PAINTS, METALS))
    width, depth, height = rng.uniform(0.7, 1.6), rng.uniform(0.4, 0.8), rng.uniform(0.68, 0.8)
    thick, wall = rng.uniform(0.015, 0.045), rng.uniform(0.015, 0.035)
    tall = rng.uniform(0.05, 0.16)  # of the apron
    x0, x1, y0, y1 = -width / 2, width / 2, -depth / 2, depth / 2
    out = rng.uniform(0.0, 0.03)
    make.fix(solids.box((x0 - out, y0 - out, height - thick), (x1 + out, y1 + out, height)),
             make.paints.top)  # fmt: skip
    z1 = height - thick
    z0 = z1 - tall
    size = wall if chance(rng, 0.5) else rng.uniform(0.03, 0.06)
    for a in (x0, x1 - size):  # panels, or legs at the corners
        if size == wall:
            make.fix(solids.box((a, y0, 0), (a + size, y1, z1)), make.paints.body)
            continue
        for b in (y0, y1 - size):
            make.fix(solids.box((a, b, 0), (a + size, b + size, z1)), make.paints.trim)
        make.fix(solids.box((a, y0 + size, z0), (a + size, y1 - size, z1)), make.paints.body)
    behind = chance(rng, 0.7)
    if behind:
        make.fix(solids.box((x0 + size, y1 - wall, z0), (x1 - size, y1, z1)), make.paints.body)
    count = int(rng.choice([1, 1, 1, 2, 2, 3]))
    edges = np.linspace(x0 + size, x1 - size, count + 1)
    for x in edges[1:-1]:
        make.fix(solids.box((x - wall / 2, y0, z0), (x + wall / 2, y1 - wall, z1)),
                 make.paints.body)  # fmt: skip
    chosen, travel = int(rng.integers(count)), 0.0
    shared = _drawer_look(rng, wall)
    for i in range(count):
        low = np.array([edges[i] + (wall / 2 + 0.003) * (i > 0) + 0.003 * (i == 0), y0, z0])
        high = np.array([edges[i + 1] - (wall / 2 + 0.003), y1 - wall, z1 - 0.003])
        travel = _flat_drawer(make, low, high, shared, make.move if i == chosen else make.fix)
    if chance(rng, 0.6):
        _hutch(make, (x0, x1), (y1 - rng.uniform(0.3, 0.6) * depth, y1), height)
    middle = (edges[chosen] + edges[chosen + 1]) / 2
    joint = slider((0, -1, 0), (middle, y0, (z0 + z1) / 2), travel)
    parts = ("drawer", "drawer", "flat drawer", "desk drawer", "wide drawer", "keyboard drawer")
    if count > 1:
        spot = "left" if chosen == 0 else ("right" if chosen == count - 1 else "middle")
        parts = ("drawer", f"{spot} drawer", f"{spot} drawer")
        parts += (f"drawer on the {spot}",) if spot != "middle" else ("middle desk drawer",)
    words = (phrases.DRAWER, phrases.DRAWER_BACK)
    return make.draft("hutch desk", joint, _DESKS, parts, words)


def _drawer_look(rng: np.random.Generator, wall: float) -> dict[str, float]:
    """What the drawers of one desk share: handle, how far the front stands out, their depth."""
    return {
        "handle": rng.random(),
        "proud": rng.uniform(0.0, 0.01) if chance(rng, 0.6) else 0.0,
        "thick": rng.uniform(0.006, wall),
        "open": float(chance(rng, 0.7)),
        "deep": rng.uniform(0.6, 0.97),
        "travel": rng.uniform(0.45, 0.85),
    }


def _flat_drawer(
    make: Assembly, low: np.ndarray, high: np.ndarray, look: dict[str, float], add
) -> float:
    """A drawer that fills the space between two corners; how far it slides out."""
    paints = make.paints
    front = low[1] - look["proud"]
    back = low[1] + look["deep"] * (high[1] - low[1])
    add(solids.box((low[0], front, low[2]), (high[0], low[1] + look["thick"], high[2])),
        paints.front)  # fmt: skip
    tall = high[2] - low[2]
    inner = (low[0] + 0.006, low[1] + look["thick"] - 1e-4, low[2] + 0.003)
    outer = (high[0] - 0.006, back, high[2] - 0.12 * tall)
    tray = open_box(inner, outer, 0.005, "+z") if look["open"] else box(inner, outer)
    add(tray, paints.inside)
    middle, wide = (low[0] + high[0]) / 2, high[0] - low[0]
    z = (low[2] + high[2]) / 2
    if look["handle"] < 0.25:  # a bar
        half = (0.06 + 0.3 * look["handle"]) * wide
        bar = (middle - half, front - 0.025, z - 0.006), (middle + half, front - 0.013, z + 0.006)
        add(box(*bar), paints.handle)
        for x in (middle - 0.9 * half, middle + 0.9 * half):
            add(box((x - 0.005, front - 0.014, z - 0.005), (x + 0.005, front, z + 0.005)),
                paints.handle)  # fmt: skip
    elif look["handle"] < 0.55:  # one knob, or two
        size = 0.18 * tall
        for x in (
            (middle,) if look["handle"] < 0.4 else (middle - 0.28 * wide, middle + 0.28 * wide)
        ):
            add(cylinder((x, front, z), (0, -1.8 * size, 0), 0.7 * size, size, 10), paints.handle)
    return look["travel"] * (back - low[1])


def _hutch(
    make: Assembly, across: tuple[float, float], along: tuple[float, float], level: float
) -> None:
    """Shelves between two sides on the back of a desk, some with a back and pigeonholes."""
    rng, paint = make.rng, make.paints.body
    (x0, x1), (y0, y1) = across, along
    tall, t = rng.uniform(0.2, 0.75), rng.uniform(0.012, 0.025)
    for x in (x0, x1 - t):
        make.fix(solids.box((x, y0, level), (x + t, y1, level + tall)), paint)
    levels = np.linspace(level, level + tall - t, int(rng.integers(2, 5)))[1:]
    for z in levels:
        make.fix(solids.box((x0 + t, y0, z), (x1 - t, y1, z + t)), paint)
    if chance(rng, 0.6):
        make.fix(solids.box((x0 + t, y1 - 0.006, level), (x1 - t, y1, levels[-1])),
                 make.paints.inside)  # fmt: skip
    if chance(rng, 0.5):
        for x in np.linspace(x0, x1, int(rng.integers(3, 6)))[1:-1]:
            z = levels[0]
            make.fix(solids.box((x - t / 2, y0, level), (x + t / 2, y1 - 0.006, z)), paint)


def long_stapler(rng: np.random.Generator) -> Draft:
    """A stapler in many builds: its arm, its cover or its base turns about a pin near the back."""
    s = Sketch(rng)
    length, wide = s.between(0.09, 0.3), s.between(0.016, 0.045)
    front, back = -length / 2, length / 2
    base, arm = length * s.between(0.03, 0.09), length * s.between(0.06, 0.2)
    style = s.one_of("cheeks", "post", "bare", "wrapped")
    x = back - length * s.between(0.03, 0.3)
    lift = base + length * s.between(0.03, 0.14)
    rise = s.degrees(0, 20)
    if s.chance(0.5):
        s.fix(box((front, -wide / 2, 0), (back, wide / 2, base)), "trim")
    else:
        outline = rounded_rectangle((front, -wide / 2), (back, wide / 2), wide * 0.4)
        s.fix(extrude(outline, "xy", 0, base), "trim")
    if s.chance(0.5):
        plate = box((front + 0.02 * length, -0.3 * wide, base), (front + 0.12 * length, 0.3 * wide,
                                                                base + 0.01 * length))  # fmt: skip
        s.fix(plate, "metal")
    half = wide * s.between(0.3, 0.44)
    if style in ("cheeks", "post"):
        reach = length * s.between(0.03, 0.09)
        shape = [(x - reach, 0), (x + reach, 0), (x + 0.5 * reach, lift + 0.4 * reach)]
        shape.append((x - 0.5 * reach, lift + 0.4 * reach))
        for y in (-wide / 2, half) if style == "cheeks" else (-0.2 * wide,):
            deep = wide / 2 - half if style == "cheeks" else 0.4 * wide
            s.fix(extrude(shape, "xz", y, y + deep), "body")
    else:
        low = 0.6 * lift
        s.fix(box((x - 0.05 * length, -0.8 * half, base), (x + 0.04 * length, 0.8 * half, low)),
              "metal")  # fmt: skip
    if style != "bare":
        s.fix(cylinder((x, -0.55 * wide, lift), (0, 1.1 * wide, 0), 0.02 * length, segments=8),
              "metal")  # fmt: skip
    mark = s.mark()
    under, top = lift - 0.35 * base, lift + arm
    tail = x + (back - x) * s.between(0.5, 1.15)
    nose = front - length * s.between(-0.03, 0.03)
    shape = [(nose, under), (tail, under), (tail, under + arm * s.between(0.4, 0.9))]
    shape += [(x - 0.05 * length, top), (front + 0.3 * length, under + arm * s.between(0.7, 1.1))]
    shape.append((nose, under + arm * s.between(0.3, 0.9)))
    s.move(extrude(shape, "xz", -half, half), "front")
    if s.chance(0.4):
        under_nose = box((nose + 0.01 * length, -0.7 * half, under - 0.4 * base),
                         (x - 0.15 * length, 0.7 * half, under))  # fmt: skip
        s.move(under_nose, "metal")
    if s.chance(0.3):
        pad = box((front + 0.02 * length, -0.8 * half, under + 0.9 * arm),
                  (front + 0.3 * length, 0.8 * half, under + 1.15 * arm))  # fmt: skip
        s.move(pad, "dark")
    pin = (x, 0.0, lift)
    s.turn(mark, (0, 1, 0), rise, pin)
    room = rise + np.arctan(0.5 * (under - 0.4 * base - base) / (x - nose))
    pressed = room > np.radians(4) and s.chance(0.35)
    joint = hinge((0, -1, 0), pin, room) if pressed else hinge((0, 1, 0), pin, s.degrees(20, 100))
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, np.pi / 2, -np.pi / 2, np.pi, s.degrees(0, 360)))
    objects = ("stapler", "stapler", "office stapler", "desktop stapler", "tacker")
    parts = ("top", "upper arm", "arm", "lid", "cover", "top part", "upper part", "handle", "lever")
    if pressed:
        return s.draft("stapler", joint, objects, parts, say.join(say.PRESS_DOWN, say.TILT_DOWN),
                       say.LIFT)  # fmt: skip
    return s.draft("stapler", joint, objects, parts, say.join(say.OPEN, say.LIFT), say.LOWER)


def paper_punch(rng: np.random.Generator) -> Draft:
    """A punch for two or four holes: a bar or a wide lever over a base, hinged behind."""
    s = Sketch(rng, (METALS, PAINTS))
    wide, deep = s.between(0.08, 0.3), s.between(0.06, 0.16)
    base, post = s.between(0.006, 0.03), s.between(0.02, 0.05)
    x, y = wide / 2, deep / 2
    s.fix(box((-x, -y, 0), (x, y, base)), "dark")
    y1 = y * s.between(0.3, 0.85)
    hinge_z = base + post
    for side in (-1, 1):  # bearings
        a, b = sorted((side * 0.42 * wide, side * 0.5 * wide))
        cheek = [
            (y1 - 0.2 * deep, base),
            (y1 + 0.12 * deep, base),
            (y1 + 0.05 * deep, hinge_z + 0.006),
        ]
        cheek.append((y1 - 0.05 * deep, hinge_z + 0.006))
        s.fix(extrude(cheek, "yz", a, b), "body")
    if s.chance(0.6):
        for side in (-1, 1):  # the punches
            at = (side * wide * 0.25, y1 - 0.3 * deep, base)
            s.fix(cylinder(at, (0, 0, 0.5 * post), 0.03 * deep, segments=8), "metal")
    s.fix(cylinder((-x, y1, hinge_z), (wide, 0, 0), 0.004, segments=8), "metal")
    mark, half = s.mark(), wide * s.between(0.15, 0.41)
    thick, front = s.between(0.004, 0.02), -y * s.between(0.6, 1.1)
    lever = [(y1 + 0.05 * deep, hinge_z - 0.003), (y1 + 0.05 * deep, hinge_z + thick)]
    lever += [(front, hinge_z + thick * s.between(0.7, 1.3)), (front, hinge_z - 0.003)]
    s.move(extrude(lever, "yz", -half, half), "front")
    rise = s.degrees(2, 35)
    s.turn(mark, (-1, 0, 0), rise, (0, y1, hinge_z))
    room = (rise + np.arctan(0.45 * post / (y1 - front))) * s.between(0.6, 1.0)
    joint = hinge((1, 0, 0), (0, y1, hinge_z), room)
    words, back = say.join(say.PRESS_DOWN, say.TILT_DOWN), say.LIFT
    if s.chance(0.4):
        joint = hinge((-1, 0, 0), (0, y1, hinge_z), s.degrees(20, 60))
        words, back = say.LIFT, say.LOWER
    objects = ("hole punch", "paper punch", "punch", "hole puncher", "perforator")
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, 0.0, np.pi / 2, -np.pi / 2, np.pi))
    return s.draft("punch", joint, objects, ("lever", "handle", "arm", "bar", "top"), words, back)


def paper_cutter(rng: np.random.Generator) -> Draft:
    """A board with a long blade at one edge, which comes down about a pin at its far end."""
    s = Sketch(rng, (WOODS, PAINTS, METALS))
    wide, deep, thick = s.between(0.2, 0.45), s.between(0.25, 0.5), s.between(0.01, 0.03)
    s.fix(box((-wide / 2, -deep / 2, 0), (wide / 2, deep / 2, thick)), "top")
    if s.chance(0.6):
        guide = box((-wide / 2, deep / 2 - 0.02, thick), (wide / 2 - 0.02, deep / 2, thick + 0.01))
        s.fix(guide, "trim")
    side = s.sign()
    x, t = side * (wide / 2 + 0.004), 0.003
    pin = (x, deep / 2 - s.between(0.005, 0.03), thick)
    a, b = sorted((x, x - side * 0.02))
    s.fix(box((a, pin[1] - 0.012, 0), (b, pin[1] + 0.012, thick + 0.008)), "metal")
    mark, tall = s.mark(), s.between(0.015, 0.05)
    reach = -deep / 2 - s.between(0.0, 0.03)
    blade = [(pin[1] + 0.01, thick), (pin[1] + 0.01, thick + 0.6 * tall), (reach, thick + tall)]
    blade.append((reach, thick - 0.2 * thick))
    s.move(extrude(blade, "yz", x - t, x + t), "metal")
    grip = s.between(0.06, 0.12)
    s.move(cylinder((x, reach, thick + 0.5 * tall), (0, -grip, 0), 0.01, 0.012, 10), "handle")
    start = s.degrees(0, 70)
    s.turn(mark, (-1, 0, 0), start, pin)
    objects = ("paper cutter", "guillotine", "paper trimmer", "cutting board")
    parts = ("blade", "handle", "arm", "lever", "knife")
    if start > np.radians(15) and s.chance(0.6):
        joint = hinge((1, 0, 0), pin, start)
        return s.draft("paper cutter", joint, objects, parts, say.TILT_DOWN, say.LIFT)
    joint = hinge((-1, 0, 0), pin, s.degrees(20, 100) - 0.5 * start)
    if joint.upper < 0.2:
        joint = hinge((-1, 0, 0), pin, 0.35)
    return s.draft("paper cutter", joint, objects, parts, say.LIFT, say.TILT_DOWN)


def tape_holder(rng: np.random.Generator) -> Draft:
    """A stand with a roll, of tape, paper, thread or cable: the roll turns on its pin."""
    s = Sketch(rng)
    radius, half = s.between(0.02, 0.07), s.between(0.006, 0.06)
    level = radius * s.between(1.1, 1.6)
    cheek, pin = s.between(0.002, 0.01), radius * s.between(0.08, 0.2)
    outline = [(-1.4 * radius, 0), (2.4 * radius * s.between(0.6, 1.0), 0), (0.5 * radius, level)]
    outline += [(0.3 * radius, level + 2 * pin), (-0.3 * radius, level + 2 * pin)]
    gap = 0.08 * half + 0.001
    for y in (-half - gap - cheek, half + gap):
        s.fix(extrude(outline, "xz", y, y + cheek), "body")
    reach = half + gap + cheek
    s.fix(box((-1.4 * radius, -reach, -0.15 * radius), (1.4 * radius, reach, 0)), "body")
    s.fix(cylinder((0, -reach, level), (0, 2 * reach, 0), pin, segments=10), "metal")
    ring = solids.lathe(
        [(0.35 * radius, -half), (radius, -half), (radius, half), (0.35 * radius, half),
         (0.35 * radius, -half)], (0, 0, 0), "y", 20,
    )  # fmt: skip
    s.move(ring + np.array((0, 0, level)), "front")
    core = solids.lathe(
        [(1.02 * pin, -half), (0.35 * radius, -half), (0.35 * radius, half), (1.02 * pin, half),
         (1.02 * pin, -half)], (0, 0, 0), "y", 14,
    )  # fmt: skip
    s.move(core + np.array((0, 0, level)), "accent")
    if s.chance(0.6):  # a loose end
        s.move(box((radius * 0.2, -half, level + 0.97 * radius),
                   (radius * 0.9, half, level + 1.0 * radius)), "front")  # fmt: skip
    joint = hinge((0, s.sign(), 0), (0, 0, level), s.degrees(60, 178))
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, np.pi / 2, np.pi / 2))
    objects = ("tape dispenser", "tape holder", "roll holder", "toilet paper holder", "spool stand")
    return s.draft("roll holder", joint, objects, ("roll", "tape", "reel", "spool", "roll"),
                   say.SPIN, directed=False)  # fmt: skip


KINDS = {
    "hutch desk": (3.0, hutch_desk),
    "long stapler": (2.6, long_stapler),
    "paper punch": (1.0, paper_punch),
    "paper cutter": (0.6, paper_cutter),
    "roll holder": (0.6, tape_holder),
}
