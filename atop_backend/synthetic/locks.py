"""Handles of doors and windows, bolts, padlocks and clasps."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import METALLIC, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    frame,
    lathe,
    rounded_rectangle,
    tube,
)


def door_handle(rng: np.random.Generator) -> Draft:
    """A piece of door or a plate with a lever, a knob, a thumb turn or a key."""
    s = Sketch(rng, (palette.WOODS, palette.PAINTS, palette.METALS))
    wide, high, deep = s.between(0.12, 0.9), s.between(0.25, 2.0), s.between(0.025, 0.05)
    s.fix(box((-wide / 2, 0, 0), (wide / 2, deep, high)))
    side = s.sign()
    x, z = side * wide * s.between(0.2, 0.38), high * s.between(0.4, 0.6)
    if s.chance(0.6):
        plate = rounded_rectangle((x - 0.022, z - 0.09), (x + 0.022, z + 0.07), 0.02)
        s.fix(extrude(plate, "xz", -0.004, 0), "metal")
    style = s.one_of("lever", "lever", "lever", "knob", "turn")
    stem = s.between(0.03, 0.06)
    names = ("door", "room door", "entrance door")
    if style == "lever":
        s.fix(cylinder((x, 0, z), (0, -0.01, 0), 0.024, segments=14), "metal")
        s.move(cylinder((x, -0.01, z), (0, -stem, 0), 0.009, segments=10), "handle")
        reach = -side * s.between(0.09, 0.13)
        if s.chance(0.5):
            s.move(tube([(x, -stem - 0.005, z), (x + reach, -stem - 0.005, z)], 0.009, 8), "handle")
        else:
            near, far = sorted((x - np.sign(reach) * 0.01, x + reach))
            s.move(box((near, -stem - 0.013, z - 0.011), (far, -stem - 0.003, z + 0.011)), "handle")
        joint = hinge((0, 1 if reach > 0 else -1, 0), (x, 0, z), s.degrees(25, 60))
        motion = say.join(
            say.TILT_DOWN, say.words("is pushed down|is pressed down", "press {} down")
        )
        return s.draft(
            "door handle",
            joint,
            names,
            ("handle", "door handle", "lever", "latch"),
            motion,
            say.TILT_UP,
        )
    if style == "knob":
        profile = [(0, 0), (0.012, 0), (0.012, 0.02), (0.028, 0.035), (0.026, 0.055), (0, 0.06)]
        knob = lathe([(r, -h) for r, h in profile][::-1], (x, 0, z), "y", 16)
        s.move(knob, "handle")
        if s.chance(0.5):
            s.move(box((x - 0.002, -0.064, z - 0.006), (x + 0.002, -0.058, z + 0.006)), "dark")
        parts = ("knob", "door knob", "handle")
    else:
        s.fix(cylinder((x, 0, z), (0, -0.012, 0), 0.025, segments=16), "metal")
        s.move(cylinder((x, -0.012, z), (0, -0.006, 0), 0.016, segments=12), "handle")
        s.move(box((x - 0.004, -0.036, z - 0.02), (x + 0.004, -0.016, z + 0.02)), "handle")
        parts = ("lock", "thumb turn", "latch", "key")
    axis, motion = s.twist((0, -1, 0))
    joint = hinge(axis, (x, 0, z), s.degrees(40, 120))
    return s.draft("door handle", joint, names, parts, motion, directed=False)


def window_handle(rng: np.random.Generator) -> Draft:
    """A glazed frame with a lever that turns in its plane, or a crank on its sill."""
    s = Sketch(rng, (palette.WOODS, palette.PAINTS))
    wide, high, deep = s.between(0.3, 1.0), s.between(0.4, 1.4), s.between(0.03, 0.07)
    rim = s.between(0.04, 0.08)
    low, top = (-wide / 2, 0, 0), (wide / 2, deep, high)
    s.fix(frame(low, top, (-wide / 2 + rim, 0, rim), (wide / 2 - rim, 0, high - rim), "y"))
    s.fix(box((-wide / 2, 0.4 * deep, 0), (wide / 2, 0.5 * deep, high)), "glass")
    r = s.between(0.008, 0.014)
    names = ("window", "casement window", "window frame")
    crank = s.chance(0.3)
    side = s.sign()
    x = side * (wide / 2 - rim / 2) * (s.between(0.2, 0.9) if crank else 1.0)
    z = rim / 2 if crank else high * s.between(0.3, 0.6)
    if crank:
        s.fix(box((x - 4 * r, -2 * r, z - r), (x + 4 * r, 0, z + r)), "metal")
    else:
        plate = rounded_rectangle((x - 1.3 * r, z - 4 * r), (x + 1.3 * r, z + 4 * r), r)
        s.fix(extrude(plate, "xz", -0.5 * r, 0), "metal")
    mark, out, long = s.mark(), r * s.between(2, 4), r * s.between(7, 12)
    s.move(cylinder((0, 0, 0), (0, -out, 0), 0.9 * r, segments=12), "metal")
    arm = rounded_rectangle((-0.9 * r, -long), (0.9 * r, 1.2 * r), 0.8 * r)
    s.move(extrude(arm, "xz", -out - 0.7 * r, -out), "handle")
    if crank:
        knob = cylinder((0, -out, -long + r), (0, -2.5 * r, 0), r, 0.8 * r, 10)
        s.move(knob, "handle")
    start = s.degrees(-180, 180) if crank else s.one_of(0.0, 0.0, np.pi / 2, np.pi)
    s.turn(mark, (0, 1, 0), start)
    s.shift(mark, (x, -2 * r if crank else 0, z))
    axis, motion = s.twist((0, -1, 0))
    joint = hinge(axis, (x, 0, z), s.degrees(60, 178) if crank else s.degrees(70, 95))
    parts = ("crank", "handle", "window crank") if crank else ("handle", "window handle", "lever")
    return s.draft("window handle", joint, names, parts, motion, directed=False)


def bolt(rng: np.random.Generator) -> Draft:
    """A sliding bolt on a plate, a padlock's shackle, or a toggle clasp."""
    s = Sketch(rng, METALLIC)
    style = s.one_of("bolt", "bolt", "padlock", "clasp")
    if style == "bolt":
        long, radius = s.between(0.06, 0.16), s.between(0.004, 0.009)
        s.fix(box((-long / 2, 0, -radius * 2.5), (long / 2, 0.004, radius * 2.5)))
        hole = (0.0, -0.1 * radius, 1.2 * radius)
        for x in (-long * 0.35, long * 0.3):
            low, high = (x, -radius * 2.6, -radius * 1.6), (x + radius * 2, 0, radius * 1.6)
            ring = frame(low, high, (0, -2.2 * radius, -1.05 * radius), hole, "x")
            s.fix(ring, "metal")
        way = s.sign()
        start = -way * long * 0.2
        s.move(
            cylinder(
                (start - long * 0.42, -radius * 1.15, 0), (long * 0.84, 0, 0), radius, segments=12
            ),
            "metal",
        )
        s.move(
            cylinder((start, -radius * 1.5, 0), (0, -radius * 3, 0), radius * 0.7, segments=10),
            "handle",
        )
        x = way * long * 0.75
        low, high = (x - 0.01, -radius * 2.6, -radius * 1.8), (x + 0.01, 0, radius * 1.8)
        s.fix(frame(low, high, (0, -2.3 * radius, -1.2 * radius), hole, "x"), "metal")
        s.fix(box((-long, 0.004, -radius * 5), (long, 0.02, radius * 5)), "top")
        joint = slider((way, 0, 0), (start, 0, 0), long * s.between(0.25, 0.4))
        words = say.join(say.SLIDE, say.SLIDE_RIGHT if way > 0 else say.SLIDE_LEFT)
        return s.draft(
            "bolt", joint, ("bolt", "latch", "door bolt"), ("bolt", "bar", "latch", "pin"), words
        )
    if style == "padlock":
        wide, high, deep = s.between(0.03, 0.06), s.between(0.03, 0.05), s.between(0.012, 0.02)
        outline = rounded_rectangle((-wide / 2, 0), (wide / 2, high), wide * s.between(0.05, 0.4))
        s.fix(extrude(outline, "xz", -deep / 2, deep / 2))
        bow, rise, r = wide * 0.32, s.between(0.015, 0.04), wide * s.between(0.07, 0.11)
        angles = np.linspace(0, np.pi, 8)
        arc = np.stack(
            [bow * np.cos(angles), 0 * angles, high + rise + bow * np.sin(angles)], axis=1
        )
        s.move(tube([(bow, 0, high - 0.01), *arc, (-bow, 0, high - 0.01 + 0.009)], r, 8), "metal")
        if s.chance(0.5):
            joint = slider((0, 0, 1), (0, 0, high), high * s.between(0.2, 0.5))
            return s.draft(
                "padlock",
                joint,
                ("padlock", "lock"),
                ("shackle", "bow", "bail"),
                say.join(say.SLIDE_UP, say.OPEN),
                say.SLIDE_DOWN,
            )
        joint = hinge((0, 0, s.sign()), (bow, 0, high), s.degrees(60, 170))
        return s.draft(
            "padlock", joint, ("padlock", "lock"), ("shackle", "bow"), say.SWIVEL, directed=False
        )
    wide, high = s.between(0.02, 0.04), s.between(0.04, 0.08)
    s.fix(box((-wide, 0, -high), (wide, high * s.between(0.3, 1.5), -0.001)))
    s.fix(box((-wide, 0, 0), (wide, high * 0.5, high * s.between(0.4, 1.0))), "top")
    s.fix(box((-wide * 0.4, -0.006, high * 0.15), (wide * 0.4, 0, high * 0.3)), "metal")
    pin = (0.0, -0.006, -high * 0.6)
    s.fix(cylinder((-wide * 0.5, *pin[1:]), (wide, 0, 0), 0.004, segments=8), "metal")
    s.move(box((-wide * 0.4, -0.009, pin[2] - 0.004), (wide * 0.4, -0.004, high * 0.14)), "metal")
    joint = hinge((1, 0, 0), pin, s.degrees(50, 110))
    return s.draft(
        "clasp",
        joint,
        ("box", "case", "clasp"),
        ("latch", "clasp", "lock"),
        say.join(say.FOLD_DOWN, say.FLIP),
        say.FOLD_UP,
    )


KINDS = {
    "door_handle": (1.3, door_handle),
    "window_handle": (0.7, window_handle),
    "bolt": (1.0, bolt),
}
