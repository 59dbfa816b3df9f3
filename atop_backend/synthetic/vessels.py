"""Pots, kettles, bottles, jars, mugs, dispensers, buckets and baskets."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.containers import round_body
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import HOUSEHOLD, WOODEN, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    lathe,
    sphere,
    tube,
)

VESSELS = (*HOUSEHOLD, palette.GLASSES)


def arc(radius: float, tall: float, start_deg: float, stop_deg: float, steps: int) -> np.ndarray:
    """Points (steps, 2) on an ellipse around 0, from one angle to another."""
    angles = np.radians(np.linspace(start_deg, stop_deg, steps))
    return np.stack([radius * np.cos(angles), tall * np.sin(angles)], axis=1)


def _lid(s: Sketch, radius: float, level: float, dome: float, rim: float, knob: float) -> None:
    """A round moving lid with a knob on top."""
    profile = [(0, level), (radius, level), (radius, level + rim)]
    profile += [
        (radius * 0.75, level + rim + dome * 0.55),
        (radius * 0.35, level + rim + dome * 0.92),
    ]
    profile.append((0, level + rim + dome))
    s.move(lathe(profile, (0, 0, 0), "z", 20))
    top = level + rim + dome
    style = s.rng.random()
    if style < 0.4:
        s.move(
            cylinder((0, 0, top - knob * 0.2), (0, 0, knob), knob * 0.5, knob * 0.8, 12), "handle"
        )
    elif style < 0.6:
        s.move(sphere((0, 0, top + knob * 0.5), knob * 0.6, 10, 6), "handle")
    elif style < 0.85:
        bow = [(-knob, 0, top - knob * 0.1), (-knob, 0, top + knob * 0.7)]
        bow += [(knob, 0, top + knob * 0.7), (knob, 0, top - knob * 0.1)]
        s.move(tube(bow, knob * 0.2, 6), "handle")


def pot(rng: np.random.Generator) -> Draft:
    """A cooking pot or pan with one or two handles, whose lid is lifted off or hinged."""
    s = Sketch(rng, VESSELS)
    radius = s.between(0.08, 0.16)
    height = radius * s.between(0.5, 1.8)
    foot = radius * s.between(0.8, 1.0)
    s.fix(round_body(foot, radius, height, radius * 0.06, 22))
    grip, level = radius * s.between(0.25, 0.5), height * s.between(0.7, 0.92)
    thick = radius * s.between(0.05, 0.1)
    style = s.rng.random()
    turn = s.one_of(0.0, 0.0, np.pi / 2, s.degrees(-180, 180))
    mark = s.mark()
    near = foot + (radius - foot) * level / height
    if style < 0.65:
        for side in (-1, 1):
            reach = near + grip * s.between(0.8, 1.2) if side < 0 else reach
            if style < 0.45:
                bow = [(side * near * 0.93, -grip, level), (side * reach, -grip, level)]
                bow += [(side * reach, grip, level), (side * near * 0.93, grip, level)]
                s.fix(tube(bow, thick, 6), "handle")
            else:
                low, high = sorted((side * near * 0.97, side * reach))
                s.fix(
                    box((low, -grip * 0.7, level - thick), (high, grip * 0.7, level + thick)),
                    "handle",
                )
    else:
        s.fix(
            cylinder(
                (near * 0.95, 0, level),
                (radius * s.between(1.0, 2.0), 0, thick),
                thick * 1.5,
                segments=8,
            ),
            "handle",
        )
    s.turn(mark, (0, 0, 1), turn)
    over = s.between(0.97, 1.05)
    dome, rim = radius * s.between(0.0, 0.5), radius * s.between(0.03, 0.12)
    _lid(s, radius * over, height, dome, rim, radius * s.between(0.12, 0.28))
    objects = ("pot", "cooking pot", "pan", "saucepan", "kitchen pot", "casserole")
    parts = ("lid", "cover", "pot lid")
    if s.chance(0.12):
        back = radius * over + 0.004
        s.fix(box((-0.012, radius * 0.95, height - 0.03), (0.012, back + 0.006, height)), "metal")
        s.move(cylinder((-0.015, back, height), (0.03, 0, 0), 0.005, segments=8), "metal")
        joint = hinge((-1, 0, 0), (0, back, height), s.degrees(50, 100))
        return s.draft("pot", joint, objects, parts, say.join(say.OPEN, say.LIFT), say.LOWER)
    joint = slider((0, 0, 1), (0, 0, height), radius * s.between(0.5, 1.8))
    return s.draft("pot", joint, objects, parts, say.join(say.LIFT_OFF, say.OPEN), say.PUT_ON)


def kettle(rng: np.random.Generator) -> Draft:
    """A kettle or teapot: the lid lifts off or flips about the back, the bail handle swings."""
    s = Sketch(rng, VESSELS)
    radius, top = s.between(0.07, 0.11), s.between(0.4, 0.95)
    height = radius * s.between(1.0, 2.6)
    belly = s.between(0.95, 1.35)
    profile = [
        (0, 0),
        (radius * s.between(0.7, 1.0), 0),
        (radius * belly, height * s.between(0.2, 0.45)),
    ]
    profile += [(radius * (top + belly) * 0.53, height * 0.8), (radius * top, height)]
    mouth = radius * top
    profile += [(mouth * 0.9, height), (mouth * 0.9, height * 0.6), (0, height * 0.6)]
    s.fix(lathe(profile, (0, 0, 0), "z", 22))
    facing = s.sign()  # the spout points to the left or to the right
    thick = radius * s.between(0.08, 0.13)
    tip = facing * radius * s.between(1.7, 2.2)
    spout = [(facing * radius * 0.8, 0, height * s.between(0.3, 0.7))]
    spout += [(facing * radius * 1.35, 0, height * 0.65), (tip, 0, height * s.between(0.9, 1.1))]
    s.fix(tube(spout, thick * s.between(1.0, 1.6), 8))
    style = s.one_of("lift", "lift", "flip", "flip", "bail")
    if style == "bail" or s.chance(0.3):
        ear, tall = radius * max(top, 0.85) * 1.02, radius * s.between(0.8, 1.4)
        moves = style == "bail"
        for side in (-1, 1):
            s.fix(
                box(
                    (side * ear - thick, -thick, height * 0.85),
                    (side * ear + thick, thick, height + thick),
                ),
                "metal",
            )
        path = [(x * ear, 0, height + z * tall) for x, z in arc(1.0, 1.0, 0, 180, 9)]
        mark = s.mark()
        s.add(tube(path, thick * 0.6, 6), "handle", moves)
        if moves:
            lean = s.degrees(0, 75) * s.one_of(0, 1)
            sign = s.sign()
            s.turn(mark, (sign, 0, 0), lean, (0, 0, height))
            upper = s.degrees(40, 80) + (lean if lean > 0.3 else 0.0)
            joint = hinge((-sign, 0, 0), (0, 0, height), upper)
            motion = say.words(
                "swings|rotates|pivots|folds over|moves", "swing {}|rotate {}|fold {}"
            )
            objects = ("kettle", "teapot", "tea kettle")
            draft_words = (joint, objects, ("handle", "bail handle", "grip"), motion)
    else:
        bow = [(-facing * radius * (0.9 + 0.75 * a), 0, height * (0.5 + 0.42 * b)) for a, b in
               ((0.0, 0.9), (0.75, 0.95), (1.0, 0.5), (0.9, -0.2), (0.1, -0.75))]  # fmt: skip
        s.fix(tube(bow, thick, 8), "handle")
    if style == "bail":
        profile = [
            (0, height),
            (mouth * 0.95, height),
            (mouth * 0.6, height + mouth * 0.2),
            (0, height + mouth * 0.3),
        ]
        s.fix(lathe(profile, (0, 0, 0), "z", 18), "front")
        joint, objects, parts, motion = draft_words
        return s.draft("kettle", joint, objects, parts, motion, directed=False)
    _lid(
        s,
        mouth * s.between(0.92, 1.03),
        height,
        mouth * s.between(0.1, 0.5),
        mouth * 0.08,
        mouth * s.between(0.2, 0.35),
    )
    objects, parts = (
        ("kettle", "teapot", "tea kettle", "jug", "coffee pot"),
        ("lid", "cover", "top"),
    )
    if style == "flip":
        back = -facing * mouth * 1.06
        s.move(
            cylinder(
                (back, -mouth * 0.2, height + 0.002), (0, mouth * 0.4, 0), mouth * 0.06, segments=8
            ),
            "metal",
        )
        s.fix(
            box((back - 0.006, -mouth * 0.3, height - 0.012), (back + 0.006, mouth * 0.3, height)),
            "metal",
        )
        joint = hinge((0, -facing, 0), (back, 0, height + 0.002), s.degrees(50, 110))
        return s.draft("kettle", joint, objects, parts, say.join(say.OPEN, say.LIFT), say.LOWER)
    joint = slider((0, 0, 1), (0, 0, height), radius * s.between(0.5, 1.5))
    return s.draft("kettle", joint, objects, parts, say.join(say.LIFT_OFF, say.OPEN), say.PUT_ON)


def bottle(rng: np.random.Generator) -> Draft:
    """A bottle, jar or can: its cap is screwed, lifted off, flipped, or its pump is pressed."""
    s = Sketch(rng, VESSELS)
    radius, height = s.between(0.025, 0.06), s.between(0.1, 0.26)
    neck = radius * s.one_of(s.between(0.3, 0.6), s.between(0.85, 1.0))
    shoulder = height * s.between(0.55, 0.92)
    bend = height * s.between(0.02, 0.15)
    waist = radius * s.between(0.85, 1.0)
    profile = [(0, 0), (radius, 0), (waist, shoulder * 0.5), (radius, shoulder)]
    profile += [(neck * 1.05, min(shoulder + bend, height * 0.97)), (neck, height), (0, height)]
    s.fix(lathe(profile, (0, 0, 0), "z", 20))
    if s.chance(0.4):
        band = [(waist * 1.01, shoulder * 0.2), (radius * 1.012, shoulder * 0.2)]
        band += [(radius * 1.012, shoulder * 0.8), (waist * 1.01, shoulder * 0.8)]
        s.fix(lathe(band, (0, 0, 0), "z", 20), "accent")
    style = s.one_of("cap", "cap", "cap", "twist", "pump", "flip", "cork")
    cap = s.between(0.012, 0.05)
    objects = (
        ("bottle", "jar", "container", "water bottle", "flask")
        if style != "pump"
        else ("dispenser", "soap dispenser", "pump bottle", "bottle")
    )
    if style in ("cap", "twist"):
        over = neck * s.between(1.05, 1.25)
        low = height - cap * s.between(0.2, 0.8)
        s.move(
            cylinder(
                (0, 0, low),
                (0, 0, cap),
                over,
                over * s.between(0.85, 1.0),
                int(rng.integers(10, 24)),
            )
        )
        if s.chance(0.4):
            s.move(
                cylinder(
                    (0, 0, low + cap), (0, 0, cap * 0.4), over * s.between(0.3, 0.7), segments=12
                )
            )
        parts = ("cap", "lid", "bottle cap", "top")
        if style == "twist":
            axis, motion = s.twist((0, 0, 1))
            joint = hinge(axis, (0, 0, low), s.degrees(60, 180))
            motion = say.join(
                motion,
                say.words(
                    "is unscrewed" if axis[2] > 0 else "is screwed on",
                    "unscrew {}" if axis[2] > 0 else "screw on {}",
                ),
            )
            return s.draft("bottle", joint, objects, parts, motion, directed=False)
        joint = slider((0, 0, 1), (0, 0, low), cap * s.between(1.0, 3.0))
        return s.draft(
            "bottle", joint, objects, parts, say.join(say.LIFT_OFF, say.OPEN), say.PUT_ON
        )
    if style == "cork":
        s.move(
            cylinder((0, 0, height - cap), (0, 0, cap * 1.6), neck * 0.7, neck * 0.85, 12), "top"
        )
        joint = slider((0, 0, 1), (0, 0, height), cap * s.between(1.0, 3.0))
        return s.draft(
            "bottle", joint, ("bottle", "wine bottle"), ("cork", "stopper", "plug"), say.LIFT_OFF
        )
    if style == "flip":
        over = neck * 1.15
        s.fix(cylinder((0, 0, height - 0.002), (0, 0, cap), over, segments=16), "front")
        level = height + cap
        s.move(
            cylinder(
                (0, 0, level + 0.001), (0, 0, cap * s.between(0.3, 1.0)), over, over * 0.95, 16
            )
        )
        s.move(
            box((-over * 0.3, over * 0.85, level - 0.002), (over * 0.3, over * 1.1, level + 0.004))
        )
        joint = hinge((-1, 0, 0), (0, over * 1.08, level), s.degrees(80, 150))
        return s.draft(
            "bottle",
            joint,
            objects,
            ("cap", "lid", "flip top"),
            say.join(say.FLIP, say.LIFT),
            say.LOWER,
        )
    stem, press = neck * s.between(0.3, 0.5), s.between(0.012, 0.03)
    s.fix(cylinder((0, 0, height), (0, 0, cap * 0.6), neck * 1.15, segments=14), "trim")
    base = height + cap * 0.6
    s.move(cylinder((0, 0, base), (0, 0, press + 0.006), stem, segments=10))
    head = base + press + 0.004
    size = neck * s.between(0.7, 1.1)
    s.move(cylinder((0, 0, head), (0, 0, 0.012), size, segments=14))
    s.move(
        cylinder(
            (0, 0, head + 0.006), (0, -radius * s.between(0.9, 1.5), -0.004), stem * 0.7, segments=8
        )
    )
    joint = slider((0, 0, -1), (0, 0, head), press * 0.95)
    return s.draft(
        "dispenser", joint, objects, ("pump", "pump head", "head", "nozzle"), say.PRESS_DOWN
    )


def mug(rng: np.random.Generator) -> Draft:
    """A mug, jar, tin or urn with a loose or a hinged lid."""
    s = Sketch(rng, (*VESSELS, *WOODEN))
    radius = s.between(0.035, 0.09)
    height = radius * s.between(1.2, 3.0)
    waist = s.between(0.75, 1.2)
    wall = radius * 0.08
    profile = [
        (0, 0),
        (radius * s.between(0.7, 1.0), 0),
        (radius * waist, height * 0.5),
        (radius, height),
    ]
    profile += [(radius - wall, height), (radius * waist - wall, height * 0.5), (0, wall)]
    s.fix(lathe(profile, (0, 0, 0), "z", 20))
    side = s.sign()
    if s.chance(0.6):
        bow = [
            (side * radius * min(waist, 1.0) * 0.9, 0, height * 0.2),
            (side * radius * 1.6, 0, height * 0.3),
        ]
        bow += [(side * radius * 1.6, 0, height * 0.7), (side * radius * 0.9, 0, height * 0.8)]
        s.fix(tube(bow, radius * s.between(0.07, 0.13), 6), "handle")
    _lid(
        s,
        radius * s.between(0.95, 1.06),
        height,
        radius * s.between(0, 0.4),
        radius * 0.12,
        radius * s.between(0.2, 0.35),
    )
    objects, parts = (
        ("mug", "jar", "cup", "tin", "canister", "beer stein", "sugar bowl"),
        ("lid", "cover", "top"),
    )
    if s.chance(0.35):
        pin = (side * radius * 1.1, 0, height)
        s.move(
            cylinder(
                (pin[0], -radius * 0.2, height), (0, radius * 0.4, 0), radius * 0.08, segments=8
            ),
            "metal",
        )
        s.fix(
            box(
                (pin[0] - radius * 0.1, -radius * 0.25, height * 0.85),
                (pin[0] + radius * 0.1, radius * 0.25, height),
            ),
            "metal",
        )
        joint = hinge((0, side, 0), pin, s.degrees(50, 110))
        return s.draft("mug", joint, objects, parts, say.join(say.LIFT, say.OPEN), say.LOWER)
    joint = slider((0, 0, 1), (0, 0, height), radius * s.between(0.5, 2.0))
    return s.draft("mug", joint, objects, parts, say.join(say.LIFT_OFF, say.OPEN), say.PUT_ON)


KINDS = {
    "pot": (3.0, pot),
    "kettle": (2.2, kettle),
    "bottle": (2.2, bottle),
    "mug": (1.0, mug),
}
