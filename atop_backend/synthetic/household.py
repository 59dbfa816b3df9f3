"""Small things of a house: dispensers, mice, turntables, pet doors, basins."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import HOUSEHOLD, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    frame,
    lathe,
    rounded_rectangle,
    tube,
)


def dispenser(rng: np.random.Generator) -> Draft:
    """A soap pump, a wall dispenser with a push bar or a hinged cover, or a water tap."""
    s = Sketch(rng)
    style = s.one_of("pump", "pump", "bar", "cover", "water")
    objects = ("dispenser", "soap dispenser")
    if style == "pump":
        wide, high = s.between(0.03, 0.06), s.between(0.1, 0.18)
        deep = wide * s.between(0.6, 1.0)
        if s.chance(0.5):
            outline = rounded_rectangle((-wide, -deep), (wide, deep), deep * s.between(0.1, 0.9))
            s.fix(extrude(outline, "xy", 0, high))
        else:
            profile = [
                (0, 0),
                (wide, 0),
                (wide * s.between(0.8, 1.1), high * 0.6),
                (wide * 0.5, high),
                (0, high),
            ]
            s.fix(lathe(profile, (0, 0, 0), "z", 18))
        neck = wide * s.between(0.25, 0.45)
        s.fix(cylinder((0, 0, high), (0, 0, 0.02), neck * 1.3, segments=14), "trim")
        base, press = high + 0.02, s.between(0.012, 0.025)
        s.move(
            cylinder((0, 0, base - 0.005), (0, 0, press + 0.01), neck * 0.45, segments=8), "metal"
        )
        head = base + press
        way = s.one_of(np.array((0.0, -1.0, 0.0)), np.array((float(s.sign()), 0.0, 0.0)))
        reach = wide * s.between(0.8, 1.6)
        if s.chance(0.5):
            s.move(cylinder((0, 0, head), (0, 0, 0.012), neck, segments=14), "front")
            s.move(
                cylinder(
                    (0, 0, head + 0.006), way * reach + (0, 0, -0.004), neck * 0.4, segments=8
                ),
                "front",
            )
        else:
            path = np.array(
                [
                    (0, 0, head),
                    (0, 0, head + 0.014),
                    way * reach + (0, 0, head + 0.014),
                    way * reach + (0, 0, head),
                ]
            )
            s.move(tube(path, neck * 0.45, 8), "front")
        if s.chance(0.3):
            joint = hinge((0, 0, s.sign()), (0, 0, head), s.degrees(60, 150))
            return s.draft(
                "dispenser",
                joint,
                objects,
                ("pump head", "nozzle", "pump"),
                say.TURN,
                directed=False,
            )
        joint = slider((0, 0, -1), (0, 0, head), press * 0.9)
        return s.draft(
            "dispenser", joint, objects, ("pump", "pump head", "top"), say.PRESS_DOWN, say.SLIDE_UP
        )
    wide, deep, high = s.between(0.1, 0.3), s.between(0.08, 0.2), s.between(0.2, 0.4)
    front = -deep / 2
    if style == "cover":
        s.fix(box((-wide / 2, 0, 0), (wide / 2, deep / 2, high)))
        s.fix(box((-wide * 0.4, front * 0.8, high * 0.1), (wide * 0.4, 0, high * 0.85)), "inside")
        low, top = (-wide / 2, front, 0.0), (wide / 2, -0.001, high)
        s.move(
            frame(low, top, (-wide * 0.46, 0, high * 0.03), (wide * 0.46, 0, high * 0.97), "y"),
            "front",
        )
        s.move(box((-wide / 2, front - 0.006, 0), (wide / 2, front, high)), "front")
        joint = hinge((1, 0, 0), (0, -0.001, 0), s.degrees(40, 90))
        names = ("dispenser", "towel dispenser", "paper dispenser", "soap dispenser")
        return s.draft(
            "dispenser", joint, names, ("cover", "front cover", "front"), say.FOLD_DOWN, say.FOLD_UP
        )
    s.fix(box((-wide / 2, front, high * 0.25), (wide / 2, deep / 2, high)))
    if style == "bar":
        s.fix(
            box((-wide * 0.3, front * 0.5, high * 0.15), (wide * 0.3, deep / 2, high * 0.25)),
            "trim",
        )
        pivot, reach = (0.0, front - 0.006, high * 0.4), high * s.between(0.15, 0.35)
        bar = box(
            (-wide * 0.3, front - 0.03, pivot[2] - reach),
            (wide * 0.3, front - 0.012, pivot[2] + 0.01),
        )
        mark = s.mark()
        s.move(bar, "front")
        s.turn(mark, (-1, 0, 0), 0.5, pivot)
        s.fix(cylinder((-wide * 0.32, *pivot[1:]), (wide * 0.64, 0, 0), 0.006, segments=8), "metal")
        joint = hinge((1, 0, 0), pivot, 0.4)
        return s.draft(
            "dispenser",
            joint,
            objects,
            ("lever", "push bar", "bar", "handle"),
            say.PRESS,
            directed=True,
        )
    s.fix(box((-wide / 2, front, 0), (wide / 2, deep / 2, high * 0.05)), "trim")
    s.fix(box((-wide / 2, 0, 0), (wide / 2, deep / 2, high * 0.3)))
    bottle = [
        (0, high),
        (wide * 0.2, high),
        (wide * 0.4, high * 1.15),
        (wide * 0.42, high * 1.6),
        (0, high * 1.62),
    ]
    s.fix(lathe(bottle, (0, 0, 0), "z", 16), "glass")
    taps, chosen = (-1, 1), s.sign()
    for side in taps:
        x, z, moves = side * wide * 0.22, high * 0.5, side == chosen
        s.fix(cylinder((x, front, z), (0, -0.03, 0), 0.012, segments=8), "metal")
        s.fix(cylinder((x, front - 0.03, z + 0.01), (0, 0, -0.04), 0.01, segments=8), "metal")
        lever = cylinder((x, front - 0.028, z + 0.012), (0, -0.03, 0.012), 0.007, segments=8)
        s.add(lever, "accent", moves)
    pivot = (chosen * wide * 0.22, front - 0.03, high * 0.5 + 0.012)
    joint = hinge((1, 0, 0), pivot, s.degrees(20, 45))
    name = "left tap" if chosen < 0 else "right tap"
    names = ("dispenser", "water dispenser", "water cooler")
    return s.draft(
        "dispenser",
        joint,
        names,
        ("lever", "tap lever", name, "faucet lever"),
        say.TILT_DOWN,
        say.TILT_UP,
    )


def mouse(rng: np.random.Generator) -> Draft:
    """A computer mouse: a button is pressed or the wheel turns."""
    s = Sketch(rng)
    wide, long, high = s.between(0.05, 0.07), s.between(0.09, 0.12), s.between(0.025, 0.04)
    part, side = s.one_of("wheel", "button"), s.sign()
    hump = [
        (-long / 2, 0),
        (long / 2, 0),
        (long * 0.48, high * 0.6),
        (long * 0.15, high),
        (-long * 0.1, high * 0.92),
        (-long / 2, high * 0.45),
    ]
    back = [(max(y, -long * 0.08), z) for y, z in hump]
    s.fix(
        extrude(
            [(-long * 0.08, 0), *back[1:5], (-long * 0.08, high * 0.9)], "yz", -wide / 2, wide / 2
        )
    )
    s.fix(box((-wide / 2, -long / 2, 0), (wide / 2, -long * 0.08, high * 0.3)))
    shape = [
        (-long / 2, high * 0.32),
        (-long * 0.085, high * 0.32),
        (-long * 0.085, high * 0.9),
        (-long / 2, high * 0.45),
    ]
    for x in (-1, 1):
        near, far = sorted((x * wide * 0.06, x * wide / 2))
        s.add(extrude(shape, "yz", near, far), "front", part == "button" and x == side)
    y, z, r = -long * 0.3, high * 0.55, high * s.between(0.25, 0.36)
    s.add(
        cylinder((-wide * 0.045, y, z), (wide * 0.09, 0, 0), r, segments=16),
        "dark",
        part == "wheel",
    )
    objects = ("mouse", "computer mouse")
    if part == "wheel":
        joint = hinge((s.sign(), 0, 0), (0, y, z), s.degrees(40, 180))
        return s.draft(
            "mouse",
            joint,
            objects,
            ("wheel", "scroll wheel"),
            say.join(say.TURN, say.SPIN),
            directed=False,
        )
    joint = hinge((1, 0, 0), (0, -long * 0.085, high * 0.9), s.degrees(2, 5))
    parts = ("button", "left button" if side < 0 else "right button", "mouse button")
    return s.draft("mouse", joint, objects, parts, say.PRESS_DOWN)


def turntable(rng: np.random.Generator) -> Draft:
    """A record player, a cake stand or a rotating tray: plate, tone arm or dust cover."""
    s = Sketch(rng, (*HOUSEHOLD, palette.WOODS))
    wide, deep, high = s.between(0.38, 0.5), s.between(0.32, 0.4), s.between(0.06, 0.14)
    if s.chance(0.35):  # a tray on a foot
        radius, foot = s.between(0.12, 0.25), s.between(0.03, 0.18)
        s.fix(cylinder((0, 0, 0), (0, 0, 0.015), radius * s.between(0.4, 0.8), segments=18))
        s.fix(cylinder((0, 0, 0.015), (0, 0, foot), radius * 0.12, segments=10))
        s.move(cylinder((0, 0, foot + 0.015), (0, 0, 0.014), radius, segments=24), "front")
        for i in range(int(rng.integers(0, 5))):
            angle = s.between(0, 6.28)
            at = radius * 0.6 * np.array((np.cos(angle), np.sin(angle), 0)) + (0, 0, foot + 0.029)
            s.move(
                cylinder(at, (0, 0, s.between(0.03, 0.1)), radius * 0.14, segments=8),
                ("accent", "trim")[i % 2],
            )
        joint = hinge((0, 0, s.sign()), (0, 0, foot), s.degrees(50, 180))
        return s.draft(
            "turntable",
            joint,
            ("turntable", "cake stand", "lazy susan"),
            ("plate", "tray", "top"),
            say.join(say.TURN, say.SPIN),
            directed=False,
        )
    part = s.one_of("plate", "arm", "cover", "knob")
    s.fix(box((-wide / 2, -deep / 2, 0), (wide / 2, deep / 2, high)))
    radius = deep * 0.4
    x = -wide / 2 + radius + 0.03
    s.add(
        cylinder((x, 0, high + 0.001), (0, 0, 0.02), radius, segments=24), "dark", part == "plate"
    )
    s.add(
        cylinder((x, 0, high + 0.021), (0, 0, 0.001), radius * 0.35, segments=14),
        "accent",
        part == "plate",
    )
    base = np.array((wide / 2 - 0.06, deep * 0.3, high))
    s.add(cylinder(base, (0, 0, 0.04), 0.018, segments=12), "metal", part == "arm")
    tip = np.array((x + radius * s.between(0.7, 1.1), -deep * 0.25, high + 0.032))
    s.add(
        cylinder(np.add(base, (0, 0, 0.032)), tip - base - (0, 0, 0.032), 0.005, segments=8),
        "metal",
        part == "arm",
    )
    s.add(
        box(tip - (0.008, 0.012, 0.006), np.add(tip, (0.008, 0.008, 0.004))), "dark", part == "arm"
    )
    knob = (wide / 2 - 0.05, -deep * 0.35, high)
    s.add(cylinder(knob, (0, 0, 0.014), 0.017, segments=14), "handle", part == "knob")
    objects = ("record player", "turntable")
    if part == "cover":
        corner = (wide / 2, deep / 2, high + 0.075)
        s.move(box((-corner[0], -corner[1], high + 0.06), corner), "glass")
        for side in (-1, 1):
            near, far = sorted((side * wide * 0.49, side * wide / 2))
            s.move(box((near, -deep / 2, high + 0.001), (far, deep / 2, high + 0.06)), "glass")
        joint = hinge((-1, 0, 0), (0, deep / 2, high + 0.001), s.degrees(40, 80))
        return s.draft(
            "turntable",
            joint,
            objects,
            ("cover", "lid", "dust cover"),
            say.join(say.OPEN, say.LIFT),
            say.LOWER,
        )
    if part == "plate":
        joint = hinge((0, 0, s.sign()), (x, 0, high), s.degrees(60, 180))
        return s.draft(
            "turntable",
            joint,
            objects,
            ("plate", "record", "platter", "disc"),
            say.join(say.TURN, say.SPIN),
            directed=False,
        )
    if part == "knob":
        axis, motion = s.twist((0, 0, 1))
        joint = hinge(axis, knob, s.degrees(40, 150))
        return s.draft("turntable", joint, objects, ("knob", "dial"), motion, directed=False)
    joint = hinge((0, 0, s.sign()), base, s.degrees(15, 45))
    return s.draft("turntable", joint, objects, ("arm", "tone arm"), say.SWIVEL, directed=False)


def pet_door(rng: np.random.Generator) -> Draft:
    """A flap that hangs from its upper edge in a frame: pet door, letter slot, vending flap."""
    s = Sketch(rng, (palette.WOODS, palette.PAINTS, palette.METALS))
    wide, high, deep = s.between(0.15, 0.4), s.between(0.12, 0.45), s.between(0.02, 0.08)
    margin = s.between(0.03, 0.2)
    outer = np.array((wide / 2 + margin, high + 2 * margin))
    below = s.between(0.0, 0.5)
    low, top = (-outer[0], 0.0, -margin - below), (outer[0], deep, high + margin)
    s.fix(frame(low, top, (-wide / 2, 0, 0), (wide / 2, 0, high), "y"))
    if s.chance(0.5):
        rim = 0.02
        s.fix(
            frame(
                (-wide / 2 - rim, -0.008, -rim),
                (wide / 2 + rim, 0, high + rim),
                (-wide / 2, 0, 0),
                (wide / 2, 0, high),
                "y",
            ),
            "trim",
        )
    gap, t = 0.003, deep * s.between(0.15, 0.4)
    y = deep / 2
    s.move(box((-wide / 2 + gap, y - t / 2, gap), (wide / 2 - gap, y + t / 2, high - gap)), "front")
    if s.chance(0.4):
        s.move(
            box((-wide * 0.2, y - t / 2 - 0.006, high * 0.1), (wide * 0.2, y - t / 2, high * 0.2)),
            "handle",
        )
    s.fix(cylinder((-wide / 2, y, high - gap), (wide, 0, 0), min(0.004, t), segments=8), "metal")
    inwards = s.chance(0.5)
    joint = hinge((1 if inwards else -1, 0, 0), (0, y, high - gap), s.degrees(30, 80))
    objects = ("pet door", "cat flap", "door", "mail slot", "vending machine")
    motion = say.words(
        "swings|swings open|opens|lifts|is pushed open|flips up", "open {}|push {} open|lift {}"
    )
    return s.draft(
        "pet door", joint, objects, ("flap", "door", "cover"), motion, say.LOWER, directed=False
    )


KINDS = {
    "dispenser": (1.5, dispenser),
    "mouse": (0.5, mouse),
    "turntable": (0.8, turntable),
    "pet_door": (0.8, pet_door),
}
