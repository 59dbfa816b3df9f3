"""Bins with a flap, a door or a pedal, and desks and beds that are raised."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.containers import BIN_NAMES, round_body
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import HOUSEHOLD, Sketch
from atop_backend.synthetic.solids import box, cylinder, frame, lathe, open_box, sphere


def flap_bin(rng: np.random.Generator) -> Draft:
    """A public bin: a flap hangs in its mouth, or its front is a door hinged at one side."""
    s = Sketch(rng)
    wide, deep, high = s.between(0.35, 0.6), s.between(0.35, 0.6), s.between(0.8, 1.2)
    part = s.one_of("flap", "flap", "door", "top")
    front, t = -deep / 2, s.between(0.012, 0.03)
    mouth_low, mouth_high = high * s.between(0.6, 0.7), high * s.between(0.82, 0.9)
    half = wide * s.between(0.25, 0.42)
    s.fix(box((-wide / 2, front + t, 0.03), (wide / 2, deep / 2, 0.06)))
    for x in (-wide / 2, wide / 2 - t):
        s.fix(box((x, front + t, 0.03), (x + t, deep / 2, high)))
    s.fix(box((-wide / 2, deep / 2 - t, 0.03), (wide / 2, deep / 2, high)))
    lid = high + s.between(0.02, 0.1)
    s.add(
        box(
            (-wide / 2 - 0.01, front - 0.01, high + 0.001), (wide / 2 + 0.01, deep / 2 + 0.01, lid)
        ),
        "top",
        part == "top",
    )
    split = mouth_low - 0.05
    upper_low, upper_high = (-wide / 2, front, split + 0.004), (wide / 2, front + t, high)
    s.fix(frame(upper_low, upper_high, (-half, 0, mouth_low), (half, 0, mouth_high), "y"))
    door = box((-wide / 2, front, 0.03), (wide / 2, front + t, split))
    s.add(door, "front", part == "door")
    flap = box(
        (-half + 0.004, front + t * 0.3, mouth_low + 0.004),
        (half - 0.004, front + t * 0.8, mouth_high - 0.004),
    )
    s.add(flap, "panel", part == "flap")
    if part == "flap" and s.chance(0.6):
        s.move(
            box(
                (-half * 0.4, front - 0.002, mouth_low + 0.02),
                (half * 0.4, front + t * 0.3, mouth_low + 0.05),
            ),
            "dark",
        )
    side = s.sign()
    if part == "door" or s.chance(0.5):
        x = -side * wide * 0.4
        s.add(
            cylinder((x, front, split * 0.6), (0, -0.02, 0), 0.02, segments=10),
            "handle",
            part == "door",
        )
    if part == "flap":
        joint = hinge(
            (s.one_of(1, 1, -1), 0, 0), (0, front + t * 0.55, mouth_high - 0.004), s.degrees(30, 75)
        )
        parts = ("flap", "lid", "door", "push flap")
        motion = say.words(
            "swings|swings open|opens|is pushed open|tilts", "open {}|push {}|swing {} open"
        )
        return s.draft("trash can", joint, BIN_NAMES, parts, motion, directed=False)
    if part == "door":
        joint = hinge((0, 0, side), (side * wide / 2, front, split / 2), s.degrees(60, 120))
        return s.draft(
            "trash can",
            joint,
            BIN_NAMES,
            ("door", "front door", "front"),
            say.SWING,
            say.SWING_SHUT,
        )
    joint = hinge((-1, 0, 0), (0, deep / 2 + 0.01, high + 0.001), s.degrees(40, 95))
    return s.draft(
        "trash can",
        joint,
        BIN_NAMES,
        ("lid", "top", "cover"),
        say.join(say.OPEN, say.LIFT),
        say.LOWER,
    )


def pedal_bin(rng: np.random.Generator) -> Draft:
    """A bin with a pedal: the pedal is pressed, the lid lifts, or the inner pail comes out."""
    s = Sketch(rng)
    radius, high = s.between(0.1, 0.17), s.between(0.25, 0.65)
    part = s.one_of("lid", "lid", "pedal", "pedal", "pail")
    s.fix(cylinder((0, 0, 0), (0, 0, 0.025), radius * 1.03, segments=20), "dark")
    body = round_body(radius, radius * s.between(0.95, 1.05), high - 0.026, 0.008, 20)
    s.fix(body + np.array((0.0, 0.0, 0.026)))
    if part == "pail":
        pail = round_body(radius * 0.8, radius * 0.85, high - 0.05, 0.006, 16)
        s.move(pail + np.array((0.0, 0.0, 0.045)), "accent")
        joint = slider((0, 0, 1), (0, 0, high), high * s.between(0.4, 0.9))
        return s.draft(
            "trash can",
            joint,
            BIN_NAMES,
            ("inner bucket", "pail", "liner", "insert"),
            say.LIFT_OFF,
            say.PUT_ON,
        )
    pedal = part == "pedal"
    reach, z = s.between(0.04, 0.08), s.between(0.03, 0.05)
    pivot = (0.0, -radius * 0.9, z)
    wide = radius * s.between(0.2, 0.45)
    s.add(
        box((-wide * 0.3, -radius - reach * 0.6, z - 0.004), (wide * 0.3, pivot[1], z + 0.004)),
        "metal",
        pedal,
    )
    s.add(
        box((-wide, -radius - reach, z - 0.005), (wide, -radius - reach * 0.4, z + 0.007)),
        "dark",
        pedal,
    )
    dome = s.between(0.0, 0.08)
    rim = radius * 1.06
    profile = [(0, 0), (rim, 0), (rim, 0.02), (rim * 0.7, 0.02 + dome * 0.7), (0, 0.02 + dome)]
    s.add(lathe(profile, (0, 0, high + 0.001), "z", 20), "front", not pedal)
    back = rim + 0.006
    s.fix(box((-0.03, radius * 0.95, high * 0.8), (0.03, back + 0.006, high)), "dark")
    s.add(
        cylinder((-0.022, back, high + 0.002), (0.044, 0, 0), 0.007, segments=8), "dark", not pedal
    )
    if pedal:
        joint = hinge((1, 0, 0), pivot, np.arctan((z - 0.012) / (radius * 0.1 + reach)))
        parts = ("pedal", "foot pedal", "step")
        return s.draft(
            "trash can", joint, BIN_NAMES, parts, say.join(say.PRESS_DOWN, say.TILT_DOWN)
        )
    joint = hinge((-1, 0, 0), (0, back, high + 0.002), s.degrees(50, 95))
    return s.draft(
        "trash can",
        joint,
        BIN_NAMES,
        ("lid", "cover", "top"),
        say.join(say.OPEN, say.LIFT),
        say.LOWER,
    )


def lift_table(rng: np.random.Generator) -> Draft:
    """A table, a bed or a music stand whose top is raised on columns, or tilts on them."""
    s = Sketch(rng, (*HOUSEHOLD, palette.WOODS))
    wide, deep, high = s.between(0.6, 1.5), s.between(0.4, 0.8), s.between(0.5, 0.8)
    t, leg = s.between(0.02, 0.05), s.between(0.03, 0.06)
    tilts = s.chance(0.4)
    columns = (-0.35 * wide, 0.35 * wide) if s.chance(0.7) else (0.0,)
    for x in columns:
        s.fix(box((x - leg, -deep * 0.45, 0), (x + leg, deep * 0.45, 0.04)), "metal")
        s.fix(
            box((x - leg * 0.7, -leg * 0.7, 0.04), (x + leg * 0.7, leg * 0.7, high * 0.6)), "metal"
        )
        s.add(
            box((x - leg * 0.5, -leg * 0.5, high * 0.25), (x + leg * 0.5, leg * 0.5, high - 0.03)),
            "trim",
            not tilts,
        )
    bar = box((-max(wide * 0.4, leg), -leg, high - 0.03), (max(wide * 0.4, leg), leg, high - 0.001))
    s.add(bar, "metal", not tilts)
    s.move(box((-wide / 2, -deep / 2, high), (wide / 2, deep / 2, high + t)), "top")
    if s.chance(0.3):
        s.move(
            box((-wide / 2, -deep / 2 - 0.015, high), (wide / 2, -deep / 2, high + t + 0.02)), "top"
        )
    objects = ("table", "desk", "standing desk")
    if tilts:
        objects = ("drafting table", "drawing desk", "table", "desk")
        front = s.chance(0.6)
        if front:
            pivot = (0.0, -leg, high)
            joint = hinge((1, 0, 0), pivot, s.degrees(10, 40))
        else:
            pivot = (0.0, leg, high)
            joint = hinge((-1, 0, 0), pivot, s.degrees(10, 40))
        motion = say.words("tilts|is tilted|pivots|rotates", "tilt {}|rotate {}")
        return s.draft("table", joint, objects, ("top", "table top", "board"), motion)
    joint = slider((0, 0, 1), (0, 0, high), high * s.between(0.2, 0.34))
    return s.draft(
        "table",
        joint,
        objects,
        ("top", "table top", "desk top", "upper part"),
        say.SLIDE_UP,
        say.SLIDE_DOWN,
    )


def caster(rng: np.random.Generator) -> Draft:
    """A caster under a corner: its fork swivels about an upright line, or its wheel spins."""
    s = Sketch(rng)
    radius, thick = s.between(0.04, 0.1), s.between(0.015, 0.04)
    plate = radius * s.between(0.8, 1.6)
    top = radius * s.between(2.15, 2.5)
    s.fix(box((-plate, -plate, top), (plate, plate, top + 0.008)), "metal")
    if s.chance(0.6):
        far = radius * s.between(2, 12)
        s.fix(
            box(
                (-plate * 1.2, -plate * 1.2, top + 0.008),
                (far, far, top + s.between(0.02, 2.0) * radius),
            )
        )
    swivels = s.chance(0.5)
    trail = radius * s.between(0.2, 0.5)
    angle = s.between(-np.pi, np.pi)
    mark = s.mark()
    s.add(cylinder((0, 0, top - 0.012), (0, 0, 0.011), radius * 0.6, segments=14), "metal", swivels)
    for x in (-1, 1):
        near, far = sorted((x * (thick / 2 + 0.002), x * (thick / 2 + 0.007)))
        s.add(
            box((near, -radius * 0.3, radius * 0.8), (far, trail + radius * 0.25, top - 0.012)),
            "metal",
            swivels,
        )
    s.add(
        box(
            (-thick / 2 - 0.007, -radius * 0.3, top - 0.02),
            (thick / 2 + 0.007, trail + radius * 0.25, top - 0.012),
        ),
        "metal",
        swivels,
    )
    s.move(cylinder((-thick / 2, trail, radius), (thick, 0, 0), radius, segments=20), "dark")
    s.move(
        cylinder((-thick * 0.56, trail, radius), (thick * 1.12, 0, 0), radius * 0.45, segments=10),
        "trim",
    )
    s.turn(mark, (0, 0, 1), angle)
    objects = ("caster", "cart", "trolley", "furniture caster")
    if swivels:
        joint = hinge((0, 0, s.sign()), (0, 0, top), s.degrees(40, 170))
        return s.draft(
            "caster", joint, objects, ("caster", "wheel", "fork"), say.SWIVEL, directed=False
        )
    axle = np.array((np.cos(angle), np.sin(angle), 0.0))
    centre = np.array((-np.sin(angle) * trail, np.cos(angle) * trail, radius))
    joint = hinge(axle * s.sign(), centre, s.degrees(60, 180))
    return s.draft("caster", joint, objects, ("wheel",), say.SPIN, directed=False)


def bell(rng: np.random.Generator) -> Draft:
    """A bell in a yoke, a punching ball, a swing or a sign that hangs and swings."""
    s = Sketch(rng, (*HOUSEHOLD, palette.WOODS))
    wide, high = s.between(0.3, 0.8), s.between(0.5, 1.2)
    for x in (-1, 1):
        s.fix(box((x * wide / 2 - 0.025, -0.04, 0), (x * wide / 2 + 0.025, 0.04, high + 0.02)))
        s.fix(
            box((x * wide / 2 - 0.04, -high * 0.25, 0), (x * wide / 2 + 0.04, high * 0.25, 0.03)),
            "trim",
        )
    level = high * 0.96
    s.fix(cylinder((-wide / 2, 0, level), (wide, 0, 0), 0.012, segments=8), "metal")
    style = s.one_of("bell", "swing", "sign")
    drop = high * s.between(0.5, 0.8)
    if style == "bell":
        r = min(wide * 0.36, drop * 0.5)
        s.move(box((-r * 0.5, -0.02, level - 0.03), (r * 0.5, 0.02, level + 0.03)), "top")
        profile = [
            (r, -drop),
            (r * 0.75, -drop * 0.7),
            (r * 0.55, -drop * 0.3),
            (r * 0.3, -0.03),
            (0, -0.03),
        ]
        s.move(lathe(profile, (0, 0, level), "z", 18), "metal")
        s.move(sphere((0, 0, level - drop), r * 0.2, 8, 5), "dark")
    elif style == "swing":
        for x in (-wide * 0.3, wide * 0.3):
            s.move(cylinder((x, 0, level), (0, 0, -drop), 0.008, segments=6), "metal")
        s.move(
            box((-wide * 0.34, -0.1, level - drop - 0.02), (wide * 0.34, 0.1, level - drop)),
            "front",
        )
    else:
        s.move(
            open_box(
                (-wide * 0.42, -0.012, level - drop),
                (wide * 0.42, 0.012, level - 0.06),
                0.004,
                "+z",
            ),
            "front",
        )
        for x in (-wide * 0.3, wide * 0.3):
            s.move(cylinder((x, 0, level - 0.06), (0, 0, 0.075), 0.006, segments=6), "metal")
    joint = hinge((s.sign(), 0, 0), (0, 0, level), s.degrees(20, 70))
    objects = {
        "bell": ("bell", "church bell"),
        "swing": ("swing", "playground swing"),
        "sign": ("sign", "hanging sign"),
    }
    parts = {
        "bell": ("bell",),
        "swing": ("seat", "swing seat", "swing"),
        "sign": ("sign", "board", "panel"),
    }
    motion = say.words("swings|rotates|swings to and fro|tilts|moves", "swing {}|rotate {}|tilt {}")
    return s.draft(style, joint, objects[style], parts[style], motion, directed=False)


KINDS = {
    "flap_bin": (1.0, flap_bin),
    "pedal_bin": (1.0, pedal_bin),
    "lift_table": (0.8, lift_table),
    "caster": (0.8, caster),
    "bell": (0.6, bell),
}
