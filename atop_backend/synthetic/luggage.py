"""Suitcases, briefcases, instrument cases, books, binders, mailboxes and pianos."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import HOUSEHOLD, WOODEN, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    open_box,
    rounded_rectangle,
    tube,
)

LEATHER = (palette.WOODS, palette.PAINTS)


def _grip(s: Sketch, centre, half: float, out: np.ndarray, thick: float, moves: bool) -> None:
    """A carrying handle along x, standing out by `out`."""
    x, y, z = centre
    path = np.array([(x - half, y, z), (x - half, y, z), (x + half, y, z), (x + half, y, z)])
    path[1:3] += out
    s.add(tube(path, thick, 6), "handle", moves)


def suitcase(rng: np.random.Generator) -> Draft:
    """A suitcase or briefcase, lying or standing: the lid falls open, or the handle moves."""
    s = Sketch(rng, LEATHER)
    wide, tall = s.between(0.35, 0.75), s.between(0.26, 0.5)
    deep = s.between(0.08, 0.26)
    split = s.one_of(0.5, 0.5, s.between(0.55, 0.85))  # share of the lower half
    wall, radius = 0.006, s.between(0.005, 0.05)
    low = deep * split
    hollow = s.chance(0.6)
    part = s.one_of("lid", "lid", "lid", "lid", "grip")
    body, cover = (-wide / 2, -tall / 2, 0.0), (wide / 2, tall / 2, deep)
    if hollow:
        s.fix(open_box(body, (wide / 2, tall / 2, low), wall, "+z"))
        s.add(
            open_box((-wide / 2, -tall / 2, low + 0.001), cover, wall, "-z"), "front", part == "lid"
        )
    else:
        outline = rounded_rectangle(body[:2], (wide / 2, tall / 2), radius)
        s.fix(extrude(outline, "xy", 0, low))
        s.add(extrude(outline, "xy", low + 0.001, deep), "front", part == "lid")
    back, pin = tall / 2, 0.005
    for x in (-wide * 0.32, wide * 0.32):
        s.fix(cylinder((x - 0.03, back + pin * 0.6, low), (0.03, 0, 0), pin, segments=8), "metal")
        s.add(
            cylinder((x, back + pin * 0.6, low), (0.03, 0, 0), pin, segments=8),
            "metal",
            part == "lid",
        )
    front = -tall / 2
    for x in (-wide * 0.3, wide * 0.3):  # locks
        s.fix(box((x - 0.02, front - 0.006, low - 0.03), (x + 0.02, front, low)), "metal")
        s.add(
            box((x - 0.02, front - 0.008, low), (x + 0.02, front, low + 0.025)),
            "metal",
            part == "lid",
        )
    half, reach = s.between(0.05, 0.09), s.between(0.02, 0.05)
    level = low - 0.025
    mark = s.mark()
    _grip(s, (0, front, level), half, np.array((0, -reach, 0)), 0.007, part == "grip")
    for x in (-half, half):
        s.fix(
            box((x - 0.012, front - 0.006, level - 0.01), (x + 0.012, front, level + 0.01)), "metal"
        )
    standing = s.chance(0.4)
    objects = ("suitcase", "briefcase", "case", "luggage", "travel case")
    if part == "grip":
        s.turn(mark, (1, 0, 0), 1.3, (0, front, level))
        joint = hinge((-1, 0, 0), (0, front, level), 1.3)
        parts, motion, back_words = ("handle", "grip", "carrying handle"), say.FOLD_OUT, say.FOLD_IN
    else:
        joint = hinge((-1, 0, 0), (0, back + pin * 0.6, low), s.degrees(60, 115))
        parts, motion, back_words = (
            ("lid", "cover", "top", "upper half"),
            say.join(say.OPEN, say.LIFT),
            say.LOWER,
        )
        if standing:
            parts, motion, back_words = (
                ("lid", "cover", "shell"),
                say.join(say.OPEN, say.FOLD_DOWN),
                say.SWING_SHUT,
            )
            joint = hinge(joint.axis, joint.origin, s.degrees(60, 100))
    if standing:  # on its hinge, the lid towards the viewer or away
        joint = s.lay(joint, (1, 0, 0), -np.pi / 2)
        joint = s.lay(joint, (0, 0, 1), s.one_of(np.pi, np.pi, 0.0))
    return s.draft("suitcase", joint, objects, parts, motion, back_words)


def trolley_case(rng: np.random.Generator) -> Draft:
    """An upright suitcase on wheels: the pull handle comes out, a wheel spins, the front opens."""
    s = Sketch(rng)
    wide, deep, high = s.between(0.34, 0.5), s.between(0.2, 0.3), s.between(0.5, 0.75)
    part = s.one_of("pull", "pull", "wheel", "wheel", "door", "grip")
    radius = s.between(0.022, 0.035)
    base = 2 * radius + 0.012
    split = deep * s.between(-0.1, 0.3)
    outline = rounded_rectangle((-wide / 2, base), (wide / 2, base + high), s.between(0.01, 0.08))
    s.fix(extrude(outline, "xz", split + 0.001, deep / 2))
    s.add(extrude(outline, "xz", -deep / 2, split), "front", part == "door")
    for x in np.linspace(-wide * 0.35, wide * 0.35, int(rng.integers(2, 6))):
        rib = box(
            (x - 0.01, -deep / 2 - 0.006, base + high * 0.1),
            (x + 0.01, -deep / 2, base + high * 0.9),
        )
        s.add(rib, "trim", part == "door")
    chosen = (s.sign(), s.sign())
    for side in (-1, 1):
        for end in (-1, 1):
            x, y = side * wide * 0.42, end * deep * 0.38
            moves = part == "wheel" and (side, end) == chosen
            s.add(cylinder((x - 0.01, y, radius), (0.02, 0, 0), radius, segments=14), "dark", moves)
            s.fix(box((x - 0.016, y - 0.01, radius), (x - 0.012, y + 0.01, base)), "trim")
            s.fix(box((x - 0.016, y - 0.01, base - 0.008), (x + 0.014, y + 0.01, base)), "trim")
    top, half = base + high, wide * s.between(0.18, 0.3)
    y, out = deep * 0.3, s.between(0.01, 0.3)
    for x in (-half, half):
        s.add(
            cylinder((x, y, top - 0.02), (0, 0, out + 0.03), 0.008, segments=8),
            "metal",
            part == "pull",
        )
        s.fix(cylinder((x, y, top - 0.002), (0, 0, 0.006), 0.014, segments=8), "trim")
    s.add(
        box((-half - 0.012, y - 0.014, top + out), (half + 0.012, y + 0.014, top + out + 0.025)),
        "handle",
        part == "pull",
    )
    objects = ("suitcase", "trolley case", "luggage", "carry-on")
    if part == "pull":
        if out > 0.15 and s.chance(0.6):
            joint = slider((0, 0, -1), (0, y, top), out - 0.008)
            return s.draft(
                "suitcase",
                joint,
                objects,
                ("handle", "pull handle"),
                say.join(say.SLIDE_DOWN, say.RETRACT),
                say.SLIDE_UP,
            )
        joint = slider((0, 0, 1), (0, y, top), s.between(0.15, 0.4))
        return s.draft(
            "suitcase",
            joint,
            objects,
            ("handle", "pull handle", "telescopic handle"),
            say.join(say.SLIDE_UP, say.EXTEND),
            say.SLIDE_DOWN,
        )
    if part == "wheel":
        joint = hinge(
            (s.sign(), 0, 0),
            (chosen[0] * wide * 0.42, chosen[1] * deep * 0.38, radius),
            s.degrees(60, 180),
        )
        return s.draft(
            "suitcase", joint, objects, ("wheel", "one wheel", "caster"), say.SPIN, directed=False
        )
    if part == "grip":
        front, level = -deep / 2, base + high * s.between(0.55, 0.85)
        mark = s.mark()
        _grip(s, (0, front, level), 0.06, np.array((0, 0, -0.045)), 0.008, True)
        s.turn(mark, (-1, 0, 0), 0.25, (0, front, level))
        joint = hinge((-1, 0, 0), (0, front, level), s.degrees(50, 80))
        return s.draft(
            "suitcase",
            joint,
            objects,
            ("handle", "grip"),
            say.join(say.TILT_UP, say.FOLD_OUT),
            say.TILT_DOWN,
        )
    side = s.sign()
    joint = hinge((0, 0, side), (side * wide / 2, split, base + high / 2), s.degrees(60, 120))
    return s.draft(
        "suitcase",
        joint,
        objects,
        ("front", "lid", "cover", "front half"),
        say.SWING,
        say.SWING_SHUT,
    )


def book(rng: np.random.Generator) -> Draft:
    """A book, binder, album or folder: its cover turns about the spine."""
    s = Sketch(rng, LEATHER)
    wide, tall, thick = s.between(0.14, 0.28), s.between(0.2, 0.34), s.between(0.012, 0.08)
    sheet = s.between(0.0015, 0.005)
    s.fix(box((-wide / 2, -tall / 2, 0), (wide / 2, tall / 2, sheet)))
    s.fix(
        box(
            (-wide / 2 + sheet, -tall * 0.48, sheet),
            (wide * 0.48, tall * 0.48, thick - sheet - 0.001),
        ),
        "inside",
    )
    binder = s.chance(0.35)
    if binder:
        for y in (-tall * 0.2, tall * 0.2):
            s.fix(
                cylinder((-wide * 0.4, y, thick * 0.5), (0, 0.006, 0), thick * 0.38, segments=12),
                "metal",
            )
    s.fix(box((-wide / 2 - sheet, -tall / 2, 0), (-wide / 2, tall / 2, thick)), "body")
    s.move(box((-wide / 2, -tall / 2, thick - sheet), (wide / 2, tall / 2, thick)), "body")
    if s.chance(0.5):
        s.move(
            box((-wide * 0.2, tall * 0.1, thick), (wide * 0.25, tall * 0.3, thick + 0.0006)),
            "accent",
        )
    joint = hinge((0, -1, 0), (-wide / 2, 0, thick), s.degrees(50, 170))
    if s.chance(0.4):
        joint = s.lay(joint, (1, 0, 0), np.pi / 2)
    if s.chance(0.5):
        joint = s.lay(joint, (0, 0, 1), s.one_of(np.pi / 2, -np.pi / 2, np.pi, s.degrees(-60, 60)))
    objects = ("book", "album", "notebook") if not binder else ("binder", "folder", "ring binder")
    motion = say.join(
        say.OPEN, say.FLIP, say.words("turns over|is turned|swings open", "turn {} over")
    )
    return s.draft("book", joint, objects, ("cover", "front cover"), motion, say.CLOSE)


def mailbox(rng: np.random.Generator) -> Draft:
    """A letter box: its flag goes up, or its door folds down or lifts."""
    s = Sketch(rng)
    wide, long, high = s.between(0.16, 0.28), s.between(0.3, 0.5), s.between(0.18, 0.3)
    angles = np.linspace(0, np.pi, 9)
    straight = high - wide / 2 if high > wide / 2 else 0.05
    arch = np.stack([np.cos(angles) * wide / 2, straight + np.sin(angles) * wide / 2], axis=1)
    shape = np.concatenate([[(-wide / 2, 0), (wide / 2, 0)], arch])
    post = s.between(0.0, 1.0)
    s.fix(extrude(shape, "xz", -long / 2, long / 2))
    if s.chance(0.6):
        s.fix(box((-0.04, -0.04, -post), (0.04, 0.04, 0)), "trim")
    part, front, side = s.one_of("flag", "flag", "door"), -long / 2, s.sign()
    s.add(extrude(shape * (1.03, 1.0), "xz", front - 0.008, front - 0.001), "front", part == "door")
    s.add(
        cylinder((0, front - 0.008, straight), (0, -0.02, 0), 0.01, segments=8),
        "handle",
        part == "door",
    )
    x, y, z = side * (wide / 2 + 0.004), -long * s.between(0.1, 0.3), straight * 0.7
    s.fix(cylinder((x - side * 0.006, y, z), (side * 0.014, 0, 0), 0.008, segments=8), "metal")
    near, far = sorted((x, x + side * 0.006))
    mark, tall = s.mark(), s.between(0.1, 0.18)
    s.add(box((near, y - 0.008, z - 0.01), (far, y + 0.008, z + tall)), "accent", part == "flag")
    s.add(
        box((near, y - 0.008, z + tall * 0.7), (far, y + 0.06, z + tall)), "accent", part == "flag"
    )
    down = s.chance(0.6)
    if down:
        s.turn(mark, (-1, 0, 0), np.pi / 2, (x, y, z))
    objects = ("mailbox", "letter box", "post box")
    if part == "flag":
        joint = hinge((1 if down else -1, 0, 0), (x, y, z), s.degrees(70, 90))
        up, away = (
            say.words("goes up|is raised|swings up|rotates up", "raise {}|put {} up"),
            say.words("goes down|is lowered|swings down", "lower {}|put {} down"),
        )
        there, back = (up, away) if down else (away, up)
        return s.draft("mailbox", joint, objects, ("flag", "red flag", "signal flag"), there, back)
    joint = hinge((1, 0, 0), (0, front - 0.001, 0), s.degrees(60, 110))
    return s.draft(
        "mailbox", joint, objects, ("door", "front door", "flap"), say.FOLD_DOWN, say.FOLD_UP
    )


def piano(rng: np.random.Generator) -> Draft:
    """An upright or a grand piano: top lid, fallboard, a key or a pedal."""
    s = Sketch(rng, WOODEN if rng.random() < 0.5 else HOUSEHOLD)
    wide, high, deep = s.between(1.2, 1.5), s.between(0.95, 1.25), s.between(0.3, 0.45)
    shelf, out = 0.6, s.between(0.22, 0.3)
    part = s.one_of("top", "fallboard", "key", "key", "grand")
    if part == "grand":
        long = s.between(1.3, 1.9)
        angles = np.linspace(0, np.pi / 2, 6)
        curve = np.stack(
            [wide / 2 - wide * 0.45 * np.sin(angles), long * (0.45 + 0.4 * (1 - np.cos(angles)))], 1
        )
        shape = np.concatenate(
            [
                [(-wide / 2, 0.0), (wide / 2, 0.0)],
                curve,
                [(wide * 0.0, long), (-wide * 0.3, long), (-wide / 2, long * 0.92)],
            ]
        )
        s.fix(extrude(shape, "xy", 0.65, 0.9))
        s.fix(box((-wide / 2, -out, 0.62), (wide / 2, 0, 0.72)))
        for i in range(14):
            x = -wide * 0.46 + wide * 0.92 * i / 14
            s.fix(box((x, -out + 0.02, 0.72), (x + wide * 0.055, -0.02, 0.735)), "panel")
        for x, y in ((-wide * 0.42, 0.05), (wide * 0.42, 0.05), (-wide * 0.2, long * 0.85)):
            s.fix(cylinder((x, y, 0), (0, 0, 0.65), 0.05, segments=8), "trim")
        s.move(extrude(shape + np.array((-0.01, 0.0)), "xy", 0.902, 0.93), "top")
        joint = hinge((0, -1, 0), (-wide / 2 - 0.01, long / 2, 0.902), s.degrees(25, 60))
        return s.draft(
            "piano",
            joint,
            ("grand piano", "piano"),
            ("lid", "top", "cover"),
            say.join(say.OPEN, say.LIFT),
            say.LOWER,
        )
    s.fix(box((-wide / 2, 0, 0), (wide / 2, deep, high)))
    for x in (-wide / 2, wide / 2 - 0.05):
        s.fix(box((x, -out, 0), (x + 0.05, 0, shelf + 0.12)), "trim")
    s.fix(box((-wide / 2 + 0.05, -out, shelf - 0.06), (wide / 2 - 0.05, 0, shelf)))
    count = int(rng.integers(12, 29))
    chosen, edge = int(rng.integers(count)), wide / 2 - 0.07
    for i in range(count):
        x0, x1 = -edge + 2 * edge * i / count, -edge + 2 * edge * (i + 0.94) / count
        s.add(
            box((x0, -out + 0.03, shelf + 0.004), (x1, -0.01, shelf + 0.026)),
            "panel",
            part == "key" and i == chosen,
        )
        if i % 7 not in (2, 6) and i + 1 < count:
            x = x1 + 0.003
            s.fix(box((x - 0.006, -0.12, shelf + 0.026), (x + 0.006, -0.01, shelf + 0.036)), "dark")
    s.add(
        box((-wide / 2 - 0.01, -0.02, high + 0.001), (wide / 2 + 0.01, deep, high + 0.03)),
        "top",
        part == "top",
    )
    objects = ("piano", "upright piano")
    if part == "top":
        joint = hinge((-1, 0, 0), (0, deep, high + 0.001), s.degrees(50, 100))
        return s.draft(
            "piano",
            joint,
            objects,
            ("lid", "top lid", "top"),
            say.join(say.OPEN, say.LIFT),
            say.LOWER,
        )
    if part == "fallboard":
        s.move(box((-edge, -out + 0.02, shelf + 0.04), (edge, -0.012, shelf + 0.055)), "front")
        joint = hinge((-1, 0, 0), (0, -0.012, shelf + 0.055), s.degrees(60, 90))
        return s.draft(
            "piano",
            joint,
            objects,
            ("fallboard", "keyboard cover", "keyboard lid", "lid"),
            say.join(say.OPEN, say.LIFT),
            say.LOWER,
        )
    joint = hinge((1, 0, 0), (x0, -0.005, shelf + 0.02), np.radians(s.between(2.5, 4.5)))
    return s.draft("piano", joint, objects, ("key", "piano key", "one key"), say.PRESS_DOWN)


KINDS = {
    "suitcase": (2.2, suitcase),
    "trolley_case": (1.3, trolley_case),
    "book": (0.8, book),
    "mailbox": (0.7, mailbox),
    "piano": (0.8, piano),
}
