"""Laptops, displays, phones, cameras and eyeglasses."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    rounded_rectangle,
    tube,
)


def laptop(rng: np.random.Generator) -> Draft:
    """A laptop: the screen turns about barrels at the back edge of the keyboard half."""
    s = Sketch(rng)
    width, base, screen = s.between(0.28, 0.4), s.between(0.01, 0.03), s.between(0.004, 0.014)
    depth = width * s.between(0.62, 0.78)
    back = depth / 2
    corner = s.one_of(0.0005, s.between(0.004, 0.02))
    outline = rounded_rectangle((-width / 2, -back), (width / 2, back), corner, 2)
    s.fix(extrude(outline, "xy", 0, base))
    wedge = s.between(0.0, 0.01)
    if s.chance(0.85):  # keyboard as keys or as one field
        if s.chance(0.4):
            rows, columns = int(rng.integers(3, 5)), int(rng.integers(6, 11))
            xs = np.linspace(-0.43 * width, 0.43 * width, columns + 1)
            ys = np.linspace(-0.08 * depth, 0.38 * depth, rows + 1)
            for x0, x1 in zip(xs[:-1], xs[1:] - width * 0.012, strict=True):
                for y0, y1 in zip(ys[:-1], ys[1:] - width * 0.012, strict=True):
                    s.fix(box((x0, y0, base), (x1, y1, base + 0.002)), "dark")
        else:
            low = (-0.43 * width, -0.08 * depth, base)
            s.fix(box(low, (0.43 * width, 0.38 * depth, base + 0.001)), "dark")
        low = (-0.13 * width, -0.42 * depth, base)
        s.fix(box(low, (0.13 * width, -0.14 * depth, base + 0.0006)), "trim")
    level = base + 0.0025
    radius = s.between(0.003, 0.008)
    pivot_y = back - s.between(-radius, 2 * radius)
    pivot_z = s.one_of(base + radius * 0.2, level, base + screen * 0.5)
    if s.chance(0.5):
        s.fix(cylinder((-width * 0.4, pivot_y, pivot_z), (width * 0.12, 0, 0), radius), "dark")
        s.fix(cylinder((width * 0.28, pivot_y, pivot_z), (width * 0.12, 0, 0), radius), "dark")
    else:
        s.move(cylinder((-width * 0.3, pivot_y, pivot_z), (width * 0.6, 0, 0), radius), "dark")
    mark = s.mark()
    front = -back + s.between(-0.001, 0.01)
    outline = rounded_rectangle((-width / 2, front), (width / 2, pivot_y), corner, 2)
    s.move(extrude(outline, "xy", level, level + screen + wedge * 0.2), "body")
    rim = s.between(0.006, 0.025)
    low = (-width / 2 + rim, front + rim, level - 0.0006)
    s.move(box(low, (width / 2 - rim, pivot_y - rim * s.between(1, 2.5), level)), "glass")
    if s.chance(0.4):
        middle = (0, (front + pivot_y) / 2, level + screen + wedge * 0.2)
        s.move(cylinder(middle, (0, 0, 0.0005), width * 0.05, segments=12), "accent")
    pivot = (0.0, pivot_y, pivot_z)
    objects = ("laptop", "notebook computer", "computer", "notebook")
    parts = ("screen", "lid", "display", "laptop screen", "top")
    start = s.rng.random()
    full = s.degrees(95, 140)
    if start < 0.45:  # closed
        joint = hinge((-1, 0, 0), pivot, full)
        motion, back_words = say.join(say.OPEN, say.LIFT), say.LOWER
        return s.draft("laptop", joint, objects, parts, motion, back_words)
    angle = s.degrees(60, 125)
    s.turn(mark, (-1, 0, 0), angle, pivot)
    if start < 0.75:  # open, to be closed
        joint = hinge((1, 0, 0), pivot, angle)
        return s.draft("laptop", joint, objects, parts, say.LOWER, say.join(say.OPEN, say.LIFT))
    joint = hinge((-1, 0, 0), pivot, s.degrees(20, 60))
    motion = say.join(say.TILT_BACK, say.words("opens further|opens wider|opens", "open {} wider"))
    return s.draft("laptop", joint, objects, parts, motion, say.TILT_FORWARD)


def display(rng: np.random.Generator) -> Draft:
    """A monitor or television on a stand: it tilts, swivels or is raised."""
    s = Sketch(rng)
    width = s.between(0.4, 1.0)
    height, thick = width * s.between(0.5, 0.75), width * s.between(0.03, 0.12)
    foot, neck = width * s.between(0.2, 0.4), width * s.between(0.02, 0.06)
    middle = height / 2 + width * s.between(0.05, 0.25)
    way = s.one_of("tilt", "tilt", "tilt", "swivel", "swivel", "raise", "button")
    stand_moves = way == "swivel" and s.chance(0.4)
    base = width * s.between(0.015, 0.04)
    style = s.rng.random()
    if style < 0.4:
        outline = rounded_rectangle((-foot, -foot * 0.6), (foot, foot * 0.6), foot * 0.2)
        s.fix(extrude(outline, "xy", 0, base), "trim")
    elif style < 0.75:
        oval = cylinder((0, 0, 0), (0, 0, base), foot, foot * s.between(0.6, 1.0), 20)
        oval[..., 1] *= s.between(0.6, 1.0)
        s.fix(oval, "trim")
    else:
        for side in (-1, 1):
            s.fix(tube([(0, 0, base), (side * foot, -foot * 0.7, base)], base, 6), "trim")
            s.fix(tube([(0, 0, base), (side * foot, foot * 0.7, base)], base, 6), "trim")
    top = middle + height * s.between(-0.15, 0.1)
    if s.chance(0.5):
        s.add(cylinder((0, 0, base), (0, 0, top - base), neck), "trim", stand_moves)
    else:
        s.add(box((-neck, -neck * 0.5, base), (neck, neck * 0.5, top)), "trim", stand_moves)
    gap = neck * s.between(0.3, 1.2)
    pivot = (0.0, -neck * s.between(0.3, 1.0), top - neck * s.between(0.2, 1.0))
    s.add(
        cylinder((-neck * 1.3, pivot[1], pivot[2]), (neck * 2.6, 0, 0), neck * 0.5),
        "metal",
        stand_moves,
    )
    screen_moves = way != "button"
    face = -neck - gap - thick
    low = (-width / 2, face, middle - height / 2)
    plump = s.chance(0.35)
    s.add(box(low, (width / 2, -neck - gap, middle + height / 2)), "body", screen_moves)
    if plump:
        bulge = (-width * 0.3, -neck - gap, middle - height * 0.3)
        high = (width * 0.3, -neck - gap + min(gap, thick) * 0.9, middle + height * 0.3)
        s.add(box(bulge, high), "body", screen_moves)
    rim = width * s.between(0.01, 0.05)
    chin = rim * s.one_of(1, 1, 3)
    glass = box(
        (low[0] + rim, face - 0.002, low[2] + chin),
        (width / 2 - rim, face, middle + height / 2 - rim),
    )
    s.add(glass, "glass", screen_moves)
    bracket = box((-neck, -neck - gap, pivot[2] - neck), (neck, pivot[1], pivot[2] + neck))
    s.add(bracket, "metal", screen_moves)
    objects = ("monitor", "display", "screen", "TV", "television", "computer monitor")
    parts = ("screen", "display", "monitor", "panel")
    if way == "button":
        at = (width * s.between(-0.3, 0.45), face, low[2] + chin * 0.5)
        push = cylinder(at, (0, -width * 0.012, 0), max(chin * 0.3, width * 0.006), segments=10)
        s.move(push, "accent")
        joint = slider((0, 1, 0), at, width * 0.01)
        return s.draft("display", joint, objects, ("button", "power button"), say.PRESS)
    if way == "raise":
        joint = slider((0, 0, s.sign()), pivot, width * s.between(0.05, 0.12))
        if joint.axis[2] < 0:
            travel = min(joint.upper, (low[2] - base) * 0.9)
            joint = slider((0, 0, -1), pivot, travel)
            return s.draft("display", joint, objects, parts, say.SLIDE_DOWN, say.SLIDE_UP)
        return s.draft("display", joint, objects, parts, say.SLIDE_UP, say.SLIDE_DOWN)
    if way == "swivel":
        axis, motion = s.swivel()
        joint = hinge(axis, (0, 0, top), s.degrees(20, 75))
        return s.draft("display", joint, objects, parts, motion, directed=False)
    sign = s.sign()  # turning about +X tips the top backwards
    joint = hinge((-sign, 0, 0), pivot, s.degrees(10, 30))
    neutral = say.words("tilts|is tilted|rotates|pivots", "tilt {}|rotate {}")
    if s.chance(0.4):
        return s.draft("display", joint, objects, parts, neutral, directed=False)
    words = (say.TILT_FORWARD, say.TILT_BACK)
    motion, back = words if sign < 0 else words[::-1]
    return s.draft("display", joint, objects, parts, motion, back)


def phone(rng: np.random.Generator) -> Draft:
    """A phone that folds, flips or slides, one with keys, or a handset on its cradle."""
    s = Sketch(rng)
    wide, high, thick = s.between(0.04, 0.065), s.between(0.08, 0.12), s.between(0.007, 0.014)
    style, lying = s.one_of("flip", "flip", "slide", "key", "fold"), s.chance(0.5)
    outline = rounded_rectangle((-wide / 2, 0), (wide / 2, high), wide * s.between(0.05, 0.25), 2)
    objects = ("phone", "mobile phone", "cell phone", "cellphone")
    s.fix(extrude(outline, "xz", 0, thick))
    keys = [(x * wide * 0.28, high * (0.12 + 0.13 * row)) for row in range(4) for x in (-1, 0, 1)]
    size, chosen = wide * 0.1, int(rng.integers(12))
    for i, (x, z) in enumerate(keys):
        moves = style == "key" and i == chosen
        s.add(
            box((x - size, -0.0016, z - size * 0.6), (x + size, 0, z + size * 0.6)), "trim", moves
        )
    if style == "key":
        low, top = (-wide * 0.42, -0.0008, high * 0.65), (wide * 0.42, 0, high * 0.95)
        s.fix(box(low, top), "glass")
        joint = slider((0, 1, 0), (*keys[chosen], 0), 0.0014)
        draft = (joint, ("key", "button"), say.PRESS, None)
    elif style == "slide":
        s.move(extrude(outline, "xz", -thick * 1.3, -0.0022), "front")
        face = -thick * 1.3
        s.move(
            box((-wide * 0.42, face - 0.0008, high * 0.1), (wide * 0.42, face, high * 0.93)),
            "glass",
        )
        joint = slider((0, 0, 1), (0, 0, 0), high * s.between(0.3, 0.5))
        motion, back = say.SLIDE, say.SLIDE_SHUT
        if not lying:
            motion, back = say.join(motion, say.SLIDE_UP), say.join(back, say.SLIDE_DOWN)
        draft = (joint, ("screen", "front", "slider", "top half"), motion, back)
    else:
        radius = thick * s.between(0.4, 0.6)
        pivot = (0.0, -radius * 0.5, high + radius if style == "flip" else high)
        s.fix(cylinder((-wide * 0.2, *pivot[1:]), (wide * 0.4, 0, 0), radius), "dark")
        face = -0.0022 - thick * 0.8
        lid = rounded_rectangle((-wide / 2, 0.002), (wide / 2, pivot[2]), wide * 0.1, 2)
        s.move(extrude(lid, "xz", face, -0.0022), "front")
        s.move(box((-wide * 0.4, -0.0022, high * 0.3), (wide * 0.4, -0.0018, high * 0.9)), "glass")
        for x in (-wide * 0.4, wide * 0.22):
            s.move(cylinder((x, *pivot[1:]), (wide * 0.18, 0, 0), radius), "front")
        joint = hinge((-1, 0, 0), pivot, s.degrees(130, 175))
        draft = (
            joint,
            ("cover", "flip", "screen", "lid", "upper half"),
            say.join(say.FLIP, say.FOLD_OUT),
            say.join(say.CLOSE, say.FOLD_IN),
        )
    joint, parts, motion, back = draft
    if lying:
        joint = s.lay(joint, (1, 0, 0), -np.pi / 2)
    return s.draft("phone", joint, objects, parts, motion, back)


def eyeglasses(rng: np.random.Generator) -> Draft:
    """Eyeglasses: one temple folds in, or out where it lies folded."""
    s = Sketch(rng)
    half, lens_w, lens_h = s.between(0.062, 0.075), s.between(0.021, 0.03), s.between(0.014, 0.026)
    length, thick = s.between(0.12, 0.15), s.between(0.0012, 0.0035)
    roundness = s.between(0.3, 1.0)
    rimmed, lens_x = s.chance(0.8), half - lens_w - s.between(0.002, 0.006)
    for side in (-1, 1):
        outline = rounded_rectangle((-lens_w, -lens_h), (lens_w, lens_h), roundness * lens_h, 3)
        at = np.array([side * lens_x, 0.0])
        s.fix(extrude(outline * 0.97 + at, "xz", -thick * 0.2, thick * 0.2), "glass")
        if rimmed:
            path = np.insert(outline + at, 1, 0.0, axis=1)
            s.fix(tube(path, thick, 6, closed=True), "body")
        corner = side * half
        near, far = sorted((side * (lens_x + lens_w * 0.9), corner))
        s.fix(box((near, -thick, lens_h * 0.45), (far, thick * 2, lens_h * 0.75)), "body")
    inner = lens_x - lens_w
    bridge = [(-inner, 0, lens_h * 0.3), (0, -thick, lens_h * 0.55), (inner, 0, lens_h * 0.3)]
    s.fix(tube(bridge, thick, 6), "body")
    chosen = s.sign()
    folded = s.chance(0.15)
    level, tall = lens_h * 0.6, s.between(0.0015, 0.006)
    hook = s.between(0.02, 0.05)
    drop = hook * s.between(0.4, 1.0)
    for side in (-1, 1):
        mark, x = s.mark(), side * half
        y0 = thick * 2.2
        profile = [(y0, level - tall), (y0, level + tall), (length - hook, level + tall)]
        profile += [(length, level - drop), (length - 0.004, level - drop - tall)]
        profile += [(length - hook, level - tall)]
        s.add(extrude(profile, "yz", x - thick * 0.8, x + thick * 0.8), "front", side == chosen)
        pin = (x - side * thick * 0.3, y0, level)
        barrel = cylinder(
            (pin[0], y0, level - tall * 1.3), (0, 0, tall * 2.6), thick * 0.9, segments=8
        )
        s.add(barrel, "metal", side == chosen)
        if side != chosen and s.chance(0.2):
            s.turn(mark, (0, 0, side), s.degrees(60, 88), pin)
        if side == chosen:
            joint = hinge((0, 0, side), pin, s.degrees(60, 89))
            if folded:
                s.turn(mark, (0, 0, side), joint.upper, pin)
                joint = joint.flipped()
    name = "left" if chosen < 0 else "right"
    parts = ("temple", "leg", "arm", f"{name} temple", f"{name} arm", "one leg", f"{name} leg")
    objects = ("glasses", "eyeglasses", "sunglasses", "spectacles")
    motion, back = (say.FOLD_OUT, say.FOLD_IN) if folded else (say.FOLD_IN, say.FOLD_OUT)
    return s.draft("eyeglasses", joint, objects, parts, motion, back)


KINDS = {
    "laptop": (3.0, laptop),
    "display": (2.2, display),
    "phone": (1.2, phone),
    "eyeglasses": (2.0, eyeglasses),
}
