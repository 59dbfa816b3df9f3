"""Things from a pocket or a desk: pens, lighters, syringes, USB sticks."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import METALLIC, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    lathe,
    open_box,
    rounded_rectangle,
)
from atop_backend.synthetic.tools import resting


def pen(rng: np.random.Generator) -> Draft:
    """A pen or marker: its cap comes off, or its button is clicked."""
    s = Sketch(rng)
    length, radius = s.between(0.11, 0.15), s.between(0.004, 0.009)
    style = s.one_of("cap", "cap", "click")
    body = length * s.between(0.55, 0.7) if style == "cap" else length * 0.85
    s.fix(cylinder((0, 0, 0), (0, 0, body), radius, segments=14), "body")
    if style == "cap":
        s.fix(cylinder((0, 0, body), (0, 0, radius * 3), radius * 0.8, radius * 0.2), "metal")
        over = radius * s.between(1.05, 1.3)
        s.move(
            cylinder((0, 0, body - radius), (0, 0, length - body), over, over * 0.9, 14), "accent"
        )
        if s.chance(0.7):
            clip = box(
                (over * 0.9, -radius * 0.25, body), (over * 1.4, radius * 0.25, length - radius)
            )
            s.move(clip, "metal")
        joint = slider((0, 0, 1), (0, 0, body), (length - body) * s.between(1.0, 1.6))
        parts, motion, back = (
            ("cap", "pen cap"),
            say.PULL_OFF,
            say.words("goes back on", "put {} on"),
        )
    else:
        s.fix(cylinder((0, 0, 0), (0, 0, -radius * 4), radius, radius * 0.25), "metal")
        press = radius * s.between(1.0, 2.5)
        s.fix(
            box(
                (radius * 0.9, -radius * 0.2, body * 0.6), (radius * 1.5, radius * 0.2, body * 0.95)
            ),
            "metal",
        )
        s.move(cylinder((0, 0, body - press), (0, 0, press * 2.2), radius * 0.55), "accent")
        joint = slider((0, 0, -1), (0, 0, body), press)
        parts, motion, back = ("button", "clicker", "top button"), say.PRESS, None
    if s.chance(0.7):
        joint = s.lay(joint, (1, 0, 0), s.one_of(np.pi / 2, -np.pi / 2))
        joint = s.lay(joint, (0, 0, 1), s.degrees(-180, 180))
    return s.draft("pen", joint, ("pen", "ballpoint pen", "marker"), parts, motion, back)


def lighter(rng: np.random.Generator) -> Draft:
    """A flip-top lighter, or a disposable one with a button or wheel."""
    s = Sketch(rng, METALLIC)
    wide, deep, high = s.between(0.018, 0.04), s.between(0.009, 0.015), s.between(0.035, 0.06)
    lid = high * s.between(0.35, 0.65)
    style = s.one_of("flip", "flip", "wheel", "button")
    s.fix(box((-wide / 2, -deep / 2, 0), (wide / 2, deep / 2, high)), "body")
    inner = wide * 0.3
    if style == "flip":
        s.fix(box((-inner, -deep * 0.35, high), (inner, deep * 0.35, high + lid * 0.45)), "metal")
        side = s.sign()
        corner = (wide / 2, deep / 2, high + lid)
        shell = open_box((-corner[0], -corner[1], high + 0.0003), corner, 0.001, "-z")
        s.move(shell)
        at = (side * (wide / 2 + 0.0012), 0, high)
        s.fix(cylinder((at[0], -deep * 0.4, high), (0, deep * 0.8, 0), 0.0014, segments=8), "metal")
        joint = hinge((0, side, 0), at, s.degrees(90, 170))
        parts, motion, back = ("lid", "cap", "top"), say.join(say.FLIP, say.OPEN), say.CLOSE
        return s.draft("lighter", joint, ("lighter", "flip lighter"), parts, motion, back)
    s.fix(box((0, -deep * 0.45, high), (wide / 2, deep * 0.45, high + lid * 0.5)), "metal")
    radius = lid * 0.28
    centre = (-wide * 0.12, 0, high + radius * 1.6)
    moves = style == "wheel"
    s.add(
        cylinder((centre[0], -deep * 0.3, centre[2]), (0, deep * 0.6, 0), radius, segments=12),
        "metal",
        moves,
    )
    level = high + radius * 0.9
    button = box((-wide / 2, -deep * 0.35, high + 0.0005), (-wide * 0.22, deep * 0.35, level))
    s.add(button, "accent", not moves)
    if moves:
        joint = hinge((0, s.sign(), 0), centre, s.degrees(60, 180))
        return s.draft(
            "lighter", joint, ("lighter",), ("wheel", "spark wheel"), say.TURN, directed=False
        )
    joint = slider((0, 0, -1), (-wide * 0.35, 0, level), radius * 0.8)
    return s.draft("lighter", joint, ("lighter",), ("button", "gas button"), say.PRESS_DOWN)


def syringe(rng: np.random.Generator) -> Draft:
    """A barrel with a plunger: a syringe, a pump or a glue gun's rod."""
    s = Sketch(rng)
    length, radius = s.between(0.06, 0.14), s.between(0.007, 0.014)
    wall = radius * 0.15
    profile = [(radius - wall, 0), (radius, 0), (radius, length), (radius - wall, length)]
    s.fix(lathe([*profile, profile[0]], (0, 0, 0), "z", 14), "glass")
    s.fix(
        box((-radius * 2, -radius * 0.7, length - 0.002), (-radius * 0.9, radius * 0.7, length)),
        "glass",
    )
    s.fix(
        box((radius * 0.9, -radius * 0.7, length - 0.002), (radius * 2, radius * 0.7, length)),
        "glass",
    )
    s.fix(cylinder((0, 0, 0), (0, 0, -radius), radius, radius * 0.3, 14), "glass")
    s.fix(cylinder((0, 0, -radius), (0, 0, -length * 0.4), radius * 0.08, segments=6), "metal")
    start = length * s.between(0.05, 0.9)
    s.move(cylinder((0, 0, start), (0, 0, radius * 0.6), radius - wall * 1.1, segments=14), "dark")
    s.move(cylinder((0, 0, start), (0, 0, length), radius * 0.35, segments=8), "front")
    s.move(cylinder((0, 0, start + length), (0, 0, 0.002), radius * 1.1, segments=14), "front")
    pull = start < length * 0.5
    travel = (length * 0.95 - start if pull else start) * s.between(0.6, 0.95)
    joint = slider((0, 0, 1 if pull else -1), (0, 0, length), travel)
    joint = s.lay(joint, (1, 0, 0), s.one_of(0.0, np.pi, np.pi / 2, -np.pi / 2))
    motion = say.EXTEND if pull else say.join(say.PRESS, say.RETRACT)
    return s.draft("syringe", joint, ("syringe", "pump"), ("plunger", "piston", "rod"), motion)


def usb_stick(rng: np.random.Generator) -> Draft:
    """A USB stick: a swivelling cover, a cap, or a plug that slides out."""
    s = Sketch(rng)
    length, wide, thick = s.between(0.035, 0.06), s.between(0.014, 0.02), s.between(0.006, 0.01)
    plug = s.between(0.012, 0.017)
    style = s.one_of("swivel", "cap", "slide")
    end = length / 2
    outline = rounded_rectangle((-end, -wide / 2), (end, wide / 2), wide * s.between(0.1, 0.45))
    plug_box = box(
        (end - plug, -wide * 0.35, -thick * 0.27), (end + plug, wide * 0.35, thick * 0.27)
    )
    objects = ("USB stick", "usb drive", "flash drive", "thumb drive")
    if style == "slide":
        wall = thick * 0.2
        for z in (-thick / 2, thick / 2 - wall):
            s.fix(extrude(outline, "xy", z, z + wall), "body")
        for y in (-wide / 2, wide / 2 - wall):
            s.fix(box((-end * 0.9, y, -thick / 2), (end * 0.9, y + wall, thick / 2)), "body")
        back = s.between(0.5, 1.0) * plug
        s.move(plug_box - np.array([back, 0, 0]), "metal")
        s.move(box((-0.004, -0.003, thick * 0.3), (0.004, 0.003, thick * 0.65)), "accent")
        joint, parts = slider((1, 0, 0), (end, 0, 0), back), ("plug", "connector", "slider")
        motion, back_words = say.EXTEND, say.RETRACT
    else:
        s.fix(extrude(outline, "xy", -thick / 2, thick / 2), "body")
        s.fix(plug_box, "metal")
        if style == "cap":
            s.move(
                box((end + 0.0005, -wide / 2, -thick / 2), (end + plug * 1.3, wide / 2, thick / 2))
            )
            joint = slider((1, 0, 0), (end, 0, 0), plug * s.between(1.4, 2.2))
            parts, motion, back_words = ("cap", "cover"), say.PULL_OFF, None
        else:
            plate, pin = thick * 0.14, -end + wide / 2
            cover = rounded_rectangle(
                (pin - wide / 2, -wide / 2), (end + plug, wide / 2), wide * 0.3
            )
            for z in (-thick / 2 - plate, thick / 2):
                s.move(extrude(cover, "xy", z, z + plate), "metal")
            s.fix(cylinder((pin, 0, -thick), (0, 0, 2 * thick), wide * 0.15, segments=10), "accent")
            joint = hinge((0, 0, s.sign()), (pin, 0, 0), s.degrees(90, 180))
            parts, motion, back_words = ("cover", "swivel cover", "cap"), say.SWIVEL, None
    joint = resting(s, joint, 0.6)
    directed = style != "swivel"
    return s.draft("usb stick", joint, objects, parts, motion, back_words, directed=directed)


KINDS = {
    "pen": (0.8, pen),
    "lighter": (0.9, lighter),
    "syringe": (0.7, syringe),
    "usb_stick": (1.1, usb_stick),
}
