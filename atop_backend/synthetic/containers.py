"""Bins, chests, cartons, cases and coolers: bodies with a lid, a flap or a bail handle."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import HOUSEHOLD, WOODEN, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    lathe,
    open_box,
    rounded_rectangle,
)

BIN_NAMES = ("trash can", "bin", "garbage can", "trash bin", "waste bin", "dustbin")
LID_NAMES = ("lid", "cover", "top")


def round_body(
    radius: float, top_radius: float, height: float, wall: float, segments: int = 20
) -> np.ndarray:
    """A round open vessel standing on z = 0."""
    floor = min(wall, height * 0.2)
    profile = [
        (0.0, 0.0),
        (radius, 0.0),
        (top_radius, height),
        (top_radius - wall, height),
        (max(radius - wall, 0.2 * radius), floor),
        (0.0, floor),
    ]
    return lathe(profile, (0.0, 0.0, 0.0), "z", segments)


def slab(width: float, depth: float, low: float, high: float, radius: float) -> np.ndarray:
    """A flat plate with rounded corners, centred on the z axis."""
    outline = rounded_rectangle((-width / 2, -depth / 2), (width / 2, depth / 2), radius, 2)
    return extrude(outline, "xy", low, high)


def trash_can(rng: np.random.Generator) -> Draft:
    """A bin whose lid is hinged at the back, with a pedal, a rim or a grip in front."""
    s = Sketch(rng)
    height, lid = s.between(0.35, 0.9), s.between(0.015, 0.07)
    is_round, over = s.chance(0.5), s.between(0.0, 0.015)
    width = height * s.between(0.45, 0.8)
    depth = width if is_round else width * s.between(0.7, 1.3)
    if is_round:
        taper = s.between(0.75, 1.0)
        s.fix(round_body(width / 2 * taper, width / 2, height, 0.015, int(rng.integers(14, 28))))
        back = depth / 2 + over
        dome = s.between(0.0, 0.12)
        rim = width / 2 + over
        profile = [(0, 0), (rim, 0), (rim, lid), (rim * 0.6, lid + dome * 0.7), (0, lid + dome)]
        s.move(lathe(profile, (0, 0, height), "z", 20))
    else:
        s.fix(open_box((-width / 2, -depth / 2, 0), (width / 2, depth / 2, height), 0.015, "+z"))
        back = depth / 2 + over
        w, d = width + 2 * over, depth + 2 * over
        if s.chance(0.5):
            s.move(slab(w, d, height, height + lid, s.between(0.005, 0.08)))
        else:
            slope = s.between(0.0, 0.12)
            profile = [(-d / 2, height), (d / 2, height), (d / 2, height + lid + slope)]
            profile.append((-d / 2, height + lid))
            s.move(extrude(profile, "yz", -w / 2, w / 2))
    if s.chance(0.6):  # knuckles at the back
        span = width * s.between(0.15, 0.4)
        for x in (-span, 0.0, span) if s.chance(0.5) else (0.0,):
            s.fix(box((x - 0.02, back - 0.01, height - 0.06), (x + 0.02, back + 0.02, height)))
            half = cylinder((x - 0.025, back, height), (0.05, 0, 0), 0.012, segments=8)
            s.add(half, "metal", x == 0.0)
    if s.chance(0.5):  # pedal
        s.fix(box((-0.05, -depth / 2 - 0.07, 0.01), (0.05, -depth / 2 + 0.02, 0.035)), "dark")
    if s.chance(0.35):  # grip
        y = -depth / 2 - over
        s.move(box((-0.04, y - 0.03, height + lid * 0.2), (0.04, y + 0.02, height + lid)), "handle")
    if s.chance(0.3):
        s.fix(cylinder((0, 0, -0.03), (0, 0, 0.03), width * 0.42, segments=16), "dark")
    joint = hinge((-1, 0, 0), (0, back, height), s.degrees(50, 105))
    return s.draft(
        "trash can", joint, BIN_NAMES, LID_NAMES, say.join(say.OPEN, say.LIFT), say.LOWER
    )


def swing_bin(rng: np.random.Generator) -> Draft:
    """A bin whose lid tips about a line through its middle."""
    s = Sketch(rng)
    height, width = s.between(0.4, 0.8), s.between(0.25, 0.45)
    depth = width * s.between(0.7, 1.1)
    s.fix(open_box((-width / 2, -depth / 2, 0), (width / 2, depth / 2, height), 0.012, "+z"))
    rise = s.between(0.08, 0.2)
    for x in (-width / 2, width / 2 - 0.02):  # cheeks of the hood
        outline = [(-depth / 2, height), (depth / 2, height), (0.0, height + rise)]
        s.fix(extrude(outline, "yz", x, x + 0.02), "top")
    slope = float(np.arctan2(rise, depth / 2))
    y, z = -depth / 4, height + rise / 2
    length = 0.92 * float(np.hypot(rise, depth / 2))
    mark = s.mark()
    inner = width / 2 - 0.024
    thick = s.between(0.008, 0.016)
    s.move(box((-inner, y - length / 2, z - thick), (inner, y + length / 2, z)))
    s.turn(mark, (1, 0, 0), slope, (0, y, z))
    mark = s.mark()
    s.fix(box((-inner, -y - length / 2, z - thick), (inner, -y + length / 2, z)), "top")
    s.turn(mark, (1, 0, 0), -slope, (0, -y, z))
    joint = hinge((s.sign(), 0, 0), (0, y, z), s.degrees(30, 80))
    parts = ("lid", "flap", "swing lid", "swinging lid")
    motion = say.words("swings|tilts|rotates|turns|opens|flips", "open {}|swing {}|tilt {}|push {}")
    return s.draft("trash can", joint, BIN_NAMES, parts, motion, directed=False)


def wheelie_bin(rng: np.random.Generator) -> Draft:
    """An outdoor bin on two wheels: its lid opens, or a wheel spins."""
    s = Sketch(rng)
    width, depth, height = s.between(0.45, 0.6), s.between(0.5, 0.75), s.between(0.85, 1.1)
    taper = s.between(0.7, 0.95)
    wall = 0.02
    front, back = -depth / 2, depth / 2
    side = [(front * taper, 0.06), (back * taper, 0.06), (back, height), (front, height)]
    for x in (-width / 2, width / 2 - wall):
        s.fix(extrude(side, "yz", x, x + wall))
    inner = width / 2 - wall
    for y_low, y_high in ((front * taper, front), (back * taper - wall, back - wall)):
        wall_side = [(y_low, 0.06), (y_low + wall, 0.06), (y_high + wall, height), (y_high, height)]
        s.fix(extrude(wall_side, "yz", -inner, inner))
    s.fix(box((-inner, front * taper, 0.06), (inner, back * taper, 0.08)))
    s.fix(box((-width / 2 - 0.02, front - 0.02, height - 0.05), (width / 2 + 0.02, front, height)))
    spin = s.chance(0.25)
    radius, which = s.between(0.08, 0.14), s.sign()
    axle = (back * taper, radius)
    for side_sign in (-1, 1):
        x = side_sign * (width / 2 + 0.01)
        turning = spin and side_sign == which
        s.add(cylinder((x, *axle), (side_sign * 0.05, 0, 0), radius, segments=18), "dark", turning)
        hub = cylinder((x, *axle), (side_sign * 0.058, 0, 0), radius * 0.5, segments=8)
        s.add(hub, "metal", turning)
    s.fix(cylinder((-width / 2, *axle), (width, 0, 0), 0.015, segments=8), "metal")
    hinge_y = back + s.between(0.02, 0.06)
    bar = cylinder((-width * 0.4, hinge_y, height), (width * 0.8, 0, 0), 0.016, segments=8)
    s.fix(bar, "body")
    for x in (-width * 0.3, width * 0.3):
        s.fix(box((x - 0.02, back - 0.02, height - 0.04), (x + 0.02, hinge_y, height - 0.005)))
    dome = s.between(0.02, 0.08)
    lid = [(front - 0.04, height), (hinge_y, height), (hinge_y, height + 0.02)]
    lid += [
        (back * 0.4, height + dome),
        (front * 0.4, height + dome),
        (front - 0.04, height + 0.02),
    ]
    s.add(extrude(lid, "yz", -width / 2 - 0.02, width / 2 + 0.02), "front", not spin)
    if spin:
        joint = hinge((s.sign(), 0, 0), (which * width / 2, *axle), s.degrees(60, 180))
        side_name = "left" if which < 0 else "right"
        parts = ("wheel", f"{side_name} wheel")
        return s.draft("trash can", joint, BIN_NAMES, parts, say.SPIN, directed=False)
    joint = hinge((-1, 0, 0), (0, hinge_y, height), s.degrees(60, 180 if s.chance(0.3) else 110))
    names = (*BIN_NAMES, "wheelie bin", "outdoor bin")
    return s.draft("trash can", joint, names, LID_NAMES, say.join(say.OPEN, say.LIFT), say.LOWER)


def _hinge_knuckles(s: Sketch, y: float, z: float, width: float, radius: float) -> None:
    """Visible hinges along a line of given width: leaves on the lid, barrels on the body."""
    for x in (-width * 0.3, width * 0.3) if width < 1.2 else (-width * 0.35, 0.0, width * 0.35):
        half = width * 0.06
        s.fix(cylinder((x - half, y, z), (half, 0, 0), radius, segments=8), "metal")
        s.move(cylinder((x, y, z), (half, 0, 0), radius, segments=8), "metal")


def chest(rng: np.random.Generator) -> Draft:
    """A chest, trunk, box or cooler: a body, and a lid hinged along its back edge."""
    s = Sketch(rng, WOODEN if rng.random() < 0.5 else HOUSEHOLD)
    name, objects, width, depth, height = s.one_of(
        ("chest", ("chest", "trunk", "treasure chest"), (0.7, 1.2), (0.4, 0.6), (0.3, 0.55)),
        ("box", ("box", "storage box", "container"), (0.2, 0.6), (0.15, 0.5), (0.08, 0.4)),
        (
            "box",
            ("jewelry box", "jewellery box", "music box"),
            (0.15, 0.3),
            (0.1, 0.2),
            (0.06, 0.14),
        ),
        ("cooler", ("cooler", "ice box", "cool box"), (0.4, 0.8), (0.3, 0.45), (0.3, 0.45)),
        ("toolbox", ("toolbox", "tool box", "tool case"), (0.35, 0.6), (0.18, 0.28), (0.15, 0.25)),
    )
    width, depth, height = s.between(*width), s.between(*depth), s.between(*height)
    lid = height * s.between(0.06, 0.7) if name != "cooler" else height * s.between(0.1, 0.25)
    wall = min(width, height) * s.between(0.03, 0.12)
    over = s.one_of(0.0, 0.0, s.between(0.0, 0.03)) * width
    low = (-width / 2, -depth / 2, 0.0)
    s.fix(open_box(low, (width / 2, depth / 2, height), wall, "+z"))
    inside = box((low[0] + wall, low[1] + wall, wall), (-low[0] - wall, -low[1] - wall, wall * 1.2))
    s.fix(inside, "inside")
    back, front = depth / 2 + over, -depth / 2 - over
    half = width / 2 + over
    if s.chance(0.3) and name != "cooler":  # rounded lid
        angles = np.linspace(0, np.pi, int(rng.integers(7, 12)))
        arch = np.stack([np.cos(angles) * back, height + lid * np.sin(angles)], axis=1)
        s.move(extrude(arch, "yz", -half, half))
        if s.chance(0.5):
            strip = np.stack(
                [np.cos(angles) * (back + 0.008), height + (lid + 0.01) * np.sin(angles)], axis=1
            )
            for x in (-half * 0.7, half * 0.7 - 0.03):
                s.move(extrude(strip, "yz", x, x + 0.03), "metal")
                band = box(
                    (x, -depth / 2 - 0.008, 0),
                    (x + 0.03, -depth / 2, height),
                )
                s.fix(band, "metal")
    elif lid > 2.2 * wall and s.chance(0.7):  # hollow lid
        s.move(open_box((-half, front, height), (half, back, height + lid), wall * 0.8, "-z"))
    else:
        s.move(box((-half, front, height), (half, back, height + max(lid, 0.01))))
    if s.chance(0.5):
        radius = s.between(0.006, 0.015) * max(1.0, width)
        _hinge_knuckles(s, back, height, width, radius)
    _clasp(s, front, height, width, lid)
    if s.chance(0.3):  # side handles
        for x in (-1, 1):
            outer = x * (width / 2 + 0.03)
            grip = height * s.between(0.55, 0.75)
            s.fix(
                box((outer - 0.03, -0.06, grip - 0.012), (outer + 0.03, 0.06, grip + 0.012)),
                "handle",
            )
    if s.chance(0.3):
        for x in (-1, 1):
            for y in (-1, 1):
                at = np.array((x * width * 0.44, y * depth * 0.42, 0.0))
                s.fix(cylinder(at, (0, 0, -height * 0.08), width * 0.03, segments=8), "trim")
    joint = hinge((-1, 0, 0), (0, back, height), s.degrees(50, 115))
    return s.draft(name, joint, objects, LID_NAMES, say.join(say.OPEN, say.LIFT), say.LOWER)


def _clasp(s: Sketch, front: float, seam: float, width: float, lid: float) -> None:
    """A lock, a latch or a grip in the middle of the front, on the lid or across the seam."""
    style = s.rng.random()
    size = s.between(0.02, 0.06) * max(width, 0.2)
    if style < 0.3:
        s.move(box((-size, front - size * 0.4, seam - size), (size, front, seam + size)), "metal")
    elif style < 0.55:
        s.fix(box((-size, front - size * 0.3, seam - 2 * size), (size, front, seam)), "metal")
        s.move(box((-size, front - size * 0.4, seam), (size, front, seam + size)), "metal")
    elif style < 0.75:
        high = seam + max(lid * 0.4, size * 0.3)
        s.move(box((-2 * size, front - size, seam + 0.001), (2 * size, front, high)), "handle")


def lidded_box(rng: np.random.Generator) -> Draft:
    """A box whose lid is lifted straight off, pushed along or pulled out like a matchbox."""
    s = Sketch(rng, WOODEN if rng.random() < 0.4 else HOUSEHOLD)
    width, depth, height = s.between(0.15, 0.6), s.between(0.15, 0.5), s.between(0.06, 0.5)
    wall = min(width, depth, height) * s.between(0.04, 0.1)
    lid = height * s.between(0.08, 0.5)
    s.fix(open_box((-width / 2, -depth / 2, 0), (width / 2, depth / 2, height), wall, "+z"))
    style = rng.random()
    objects, parts = ("box", "container", "gift box", "case"), LID_NAMES
    if style < 0.6:  # a lid that reaches over the sides, or lies on the rim
        over = wall * s.between(0.3, 1.2) if s.chance(0.6) else 0.0
        skirt = lid if over else 0.0
        low = (-width / 2 - over, -depth / 2 - over, height - skirt)
        top = height + wall + (0.0 if over else lid * 0.3)
        if over:
            s.move(open_box(low, (-low[0], -low[1], top), over, "-z"))
        else:
            s.move(box(low, (-low[0], -low[1], top)))
        if s.chance(0.5):
            knob = s.between(0.015, 0.04)
            s.move(cylinder((0, 0, top), (0, 0, knob * 1.2), knob, segments=12), "handle")
        joint = slider((0, 0, 1), (0, 0, height), max(skirt, height * 0.2) * s.between(1.0, 2.0))
        return s.draft("box", joint, objects, parts, say.join(say.LIFT_OFF, say.OPEN), say.PUT_ON)
    if style < 0.8:  # a lid in grooves
        way = s.one_of((0, -1), (1, 0), (-1, 0))
        inner_x, inner_y = width / 2 - wall * 0.5, depth / 2 - wall * 0.5
        s.move(box((-inner_x, -inner_y, height), (inner_x, inner_y, height + wall * 0.7)))
        size = min(width, depth) * 0.1
        at = np.array((way[0] * inner_x * 0.8, way[1] * inner_y * 0.8, height + wall * 0.7))
        s.move(cylinder(at, (0, 0, wall * 0.6), size * 0.6, segments=10), "handle")
        for side in (-1, 1):
            if way[0]:
                y = side * (depth / 2 - wall * 0.25)
                s.fix(
                    box(
                        (-width / 2, y - wall / 4, height), (width / 2, y + wall / 4, height + wall)
                    )
                )
            else:
                x = side * (width / 2 - wall * 0.25)
                s.fix(
                    box(
                        (x - wall / 4, -depth / 2, height), (x + wall / 4, depth / 2, height + wall)
                    )
                )
        reach = width if way[0] else depth
        joint = slider((*way, 0), (0, 0, height), reach * s.between(0.4, 0.9))
        return s.draft(
            "box", joint, objects, ("lid", "sliding lid", "cover"), say.SLIDE, say.SLIDE_SHUT
        )
    gap = wall * 0.15  # a tray in a sleeve
    s = Sketch(rng)
    s.fix(box((-width / 2, -depth / 2, 0), (-width / 2 + wall, depth / 2, height)))
    s.fix(box((width / 2 - wall, -depth / 2, 0), (width / 2, depth / 2, height)))
    s.fix(box((-width / 2, -depth / 2, 0), (width / 2, depth / 2, wall)))
    s.fix(box((-width / 2, -depth / 2, height - wall), (width / 2, depth / 2, height)))
    low = (-width / 2 + wall + gap, -depth / 2, wall + gap)
    high = (-low[0], depth / 2 - wall, height - wall - gap)
    s.move(open_box(low, high, wall * 0.6, "+z"))
    if s.chance(0.6):
        y, z = -depth / 2, height / 2
        s.move(cylinder((0, y, z), (0, -wall, 0), height * 0.1, segments=10), "handle")
    joint = slider((0, -1, 0), (0, 0, height / 2), depth * s.between(0.4, 0.8))
    parts = ("tray", "drawer", "inner box")
    return s.draft(
        "box", joint, ("box", "matchbox", "gift box"), parts, say.SLIDE_OUT, say.SLIDE_IN
    )


def carton(rng: np.random.Generator) -> Draft:
    """A carton with four flaps, some standing open; one of them moves."""
    s = Sketch(rng, WOODEN)
    width, depth, height = s.between(0.3, 0.6), s.between(0.25, 0.5), s.between(0.15, 0.5)
    sheet = s.between(0.004, 0.012)
    s.fix(open_box((-width / 2, -depth / 2, 0), (width / 2, depth / 2, height), sheet, "+z"))
    chosen, upper = int(rng.integers(4)), s.degrees(90, 200)
    sides = ("front", "back", "left", "right")
    top_is_across = s.chance(0.5)  # whether the front and back flaps lie on top
    chosen_is_covered = (chosen < 2) != top_is_across
    for i, sign in enumerate((-1, 1, -1, 1)):
        across = i < 2
        on_top = across == top_is_across
        level = height + (sheet * 1.1 if on_top else 0.0)
        reach = (depth if across else min(width, depth)) / 2 * s.between(0.9, 0.995)
        mark = s.mark()
        if across:
            near, far = sorted((sign * depth / 2, sign * (depth / 2 - reach)))
            flap = box((-width / 2, near, level), (width / 2, far, level + sheet))
            axis, origin = (-sign, 0, 0), (0, sign * depth / 2, level)
        else:
            near, far = sorted((sign * width / 2, sign * (width / 2 - reach)))
            flap = box((near, -depth / 2, level), (far, depth / 2, level + sheet))
            axis, origin = (0, sign, 0), (sign * width / 2, 0, level)
        s.add(flap, "front", i == chosen)
        if i == chosen:
            joint = hinge(axis, origin, upper)
        elif (on_top and chosen_is_covered) or s.chance(0.4):
            s.turn(mark, axis, s.degrees(100, 220), origin)
    names = ("flap", f"{sides[chosen]} flap", "lid", "one flap")
    objects = ("box", "carton", "cardboard box")
    return s.draft("box", joint, objects, names, say.join(say.OPEN, say.LIFT), say.LOWER)


KINDS = {
    "trash_can": (3.0, trash_can),
    "swing_bin": (0.7, swing_bin),
    "wheelie_bin": (1.0, wheelie_bin),
    "chest": (3.5, chest),
    "lidded_box": (2.2, lidded_box),
    "carton": (1.5, carton),
}
