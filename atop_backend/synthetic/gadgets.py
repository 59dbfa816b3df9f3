"""More assemblies of no category: shells, hatches, fittings, rods; any size, at any angle."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.abstract import ANY, OBJECTS, PULLED, ROTATES, any_direction
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    frame,
    lathe,
    open_box,
    rounded_rectangle,
    sphere,
    tube,
)


def hatch(rng: np.random.Generator) -> Draft:
    """A front with one or several inset or overlaid hatches; one swings on visible hinges."""
    s = Sketch(rng, ANY)
    columns, rows = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    wide, high, deep = s.between(0.4, 1.2), s.between(0.4, 1.2), s.between(0.05, 0.8)
    cell = np.array((wide / columns, high / rows))
    thick, rim = s.between(0.01, 0.05), s.between(0.05, 0.2) * cell.min()
    overlay = s.chance(0.5)
    s.fix(
        box((-wide / 2, 0.0 if overlay else thick, -high / 2), (wide / 2, deep + thick, high / 2))
    )
    chosen = int(rng.integers(columns * rows))
    for index in range(columns * rows):
        row, column = divmod(index, columns)
        centre = np.array((column + 0.5, row + 0.5)) * cell - np.array((wide, high)) / 2
        half = cell / 2 - rim
        if not overlay:
            low, top = centre - cell / 2, centre + cell / 2
            inner = half + 0.004
            ring = frame(
                (low[0], 0.0, low[1]), (top[0], thick, top[1]),
                (centre[0] - inner[0], 0.0, centre[1] - inner[1]),
                (centre[0] + inner[0], 0.0, centre[1] + inner[1]), "y",
            )  # fmt: skip
            s.fix(ring)
        if index != chosen and s.chance(0.3):
            continue
        moves = index == chosen
        y0, y1 = (-thick, -0.001) if overlay else (0.0, thick - 0.001)
        s.add(box((centre[0] - half[0], y0, centre[1] - half[1]),
                  (centre[0] + half[0], y1, centre[1] + half[1])), "front", moves)  # fmt: skip
        along_x, side = s.chance(0.4), s.sign()  # hinge direction, and its side
        u = 0 if not along_x else 1
        edge = centre.copy()
        edge[u] += side * (half[u] + 0.002)
        grip = centre.copy()
        grip[u] -= side * half[u] * s.between(0.7, 0.88)
        size = half.min() * s.between(0.06, 0.15)
        if s.chance(0.7):
            knob = cylinder((grip[0], y0, grip[1]), (0, -size * 1.5, 0), size, segments=10)
            s.add(knob, "handle", moves)
        direction = np.array((0.0, 0.0, 1.0)) if u == 0 else np.array((1.0, 0.0, 0.0))
        pin = np.array((edge[0], y0, edge[1]))
        if s.chance(0.6):
            radius, reach = thick * s.between(0.25, 0.5), half[1 - u] * s.between(0.1, 0.25)
            for place in (-0.6, 0.6):
                at = pin + direction * half[1 - u] * place
                s.fix(cylinder(at, direction * reach, radius, segments=8), "metal")
                s.add(cylinder(at, -direction * reach, radius, segments=8), "metal", moves)
        if moves:
            # opening swings the free edge towards -Y
            free = np.zeros(3)
            free[2 * u] = -side
            joint = hinge(np.cross(free, (0.0, -1.0, 0.0)), pin, s.degrees(50, 130))
    joint = any_direction(s, joint)
    parts = ("door", "hatch", "flap", "panel", "cover", "small door")
    return s.draft("hatch", joint, OBJECTS, parts, say.join(say.SWING, say.OPEN), say.SWING_SHUT)


def shell(rng: np.random.Generator) -> Draft:
    """Two halves of one body that open like a shell, or a random vessel with a hinged lid."""
    s = Sketch(rng, ANY)
    wide, deep = s.between(0.3, 1.0), s.between(0.3, 1.0)
    lower, upper = s.between(0.05, 0.5), s.between(0.03, 0.4)
    style = s.one_of("box", "rounded", "round", "wedge")
    back = deep / 2
    if style == "box":
        wall = 0.05 * min(wide, deep, 2 * lower)
        s.fix(open_box((-wide / 2, -back, -lower), (wide / 2, back, 0), wall, "+z"))
        s.move(open_box((-wide / 2, -back, 0.002), (wide / 2, back, upper), wall, "-z"))
    elif style == "rounded":
        outline = rounded_rectangle(
            (-wide / 2, -back), (wide / 2, back), s.between(0.1, 0.5) * wide
        )
        s.fix(extrude(outline, "xy", -lower, 0))
        s.move(extrude(outline, "xy", 0.002, upper))
    elif style == "round":
        bulge = rng.uniform(0.6, 1.2, 3)
        profile = [(0, -lower), (bulge[0] * 0.7, -lower), (bulge[1], -lower * 0.5), (1, 0), (0, 0)]
        body = lathe(profile, (0, 0, 0), "z", 18) * (wide / 2, back, 1)
        dome = [
            (0, 0.002),
            (1, 0.002),
            (s.between(0.7, 1.0), upper * 0.5),
            (bulge[2] * 0.4, upper),
            (0, upper),
        ]
        s.fix(body)
        s.move(lathe(dome, (0, 0, 0), "z", 18) * (wide / 2, back, 1))
    else:
        slope = s.between(0.1, 0.9)
        s.fix(
            extrude(
                [(-back, -lower * slope), (back, -lower), (back, 0), (-back, 0)],
                "yz",
                -wide / 2,
                wide / 2,
            )
        )
        s.move(
            extrude(
                [(-back, 0.002), (back, 0.002), (back, upper), (-back, upper * slope)],
                "yz",
                -wide / 2,
                wide / 2,
            )
        )
    pin, radius = (0.0, back + s.one_of(0.0, 0.01), 0.0), s.between(0.01, 0.03) * max(wide, 0.4)
    span = wide * (0.1 if style == "round" else 0.35)
    for x in (-span, span) if s.chance(0.6) else (0.0,):
        s.fix(cylinder((x, *pin[1:]), (span * 0.4, 0, 0), radius, segments=8), "metal")
        s.move(cylinder((x, *pin[1:]), (-span * 0.4, 0, 0), radius, segments=8), "metal")
    if s.chance(0.5):
        size = wide * s.between(0.03, 0.1)
        s.move(
            box((-size, -back - size * 0.6, 0.002), (size, -back + size * 0.2, min(upper, size))),
            "handle",
        )
    joint = any_direction(s, hinge((-1, 0, 0), pin, s.degrees(40, 140)))
    parts = ("lid", "cover", "top", "upper half", "shell", "one half")
    return s.draft("shell", joint, OBJECTS, parts, say.join(ROTATES, say.OPEN), say.CLOSE)


def fitting(rng: np.random.Generator) -> Draft:
    """A small knob, button, lever or cap somewhere on a larger body."""
    s = Sketch(rng, ANY)
    size = rng.uniform(0.3, 1.0, 3)
    style = s.one_of("block", "drum", "blocks")
    if style == "block":
        s.fix(box(-size / 2, size / 2))
    elif style == "drum":
        s.fix(cylinder((0, 0, -size[2] / 2), (0, 0, size[2]), size[0] / 2, segments=22))
        size[1] = size[0]
    else:
        s.fix(box(-size / 2, size / 2))
        for _ in range(int(rng.integers(1, 4))):
            at, part = rng.uniform(-0.5, 0.5, 3) * size, size * rng.uniform(0.2, 0.6, 3)
            at[2] = min(at[2], size[2] / 2 - part[2] / 2)
            s.fix(box(at - part / 2, at + part / 2), "panel")
    radius = s.between(0.03, 0.12) * size[:2].min()
    room = np.maximum(size[:2] / 2 * (0.6 if style == "drum" else 1.0) - 1.5 * radius, 0.0)
    x, y = rng.uniform(-1, 1, 2) * room
    top, tall = size[2] / 2, radius * s.between(0.4, 1.6)
    what = s.one_of("knob", "knob", "button", "button", "lever", "cap")
    for _ in range(int(rng.integers(0, 4))):  # alike ones that stay
        other = rng.uniform(-1, 1, 2) * room
        if np.abs(other - (x, y)).max() > 2.6 * radius and what != "lever":
            s.fix(cylinder((*other, top), (0, 0, tall), radius, segments=14), "front")
    if what == "lever":
        angle = s.between(-np.pi, np.pi)
        reach = (
            radius
            * s.between(3.0, 8.0)
            * np.array((np.cos(angle), np.sin(angle), s.between(0.1, 0.6)))
        )
        s.move(cylinder((x, y, top), (0, 0, tall), radius, segments=12))
        s.move(cylinder((x, y, top + tall * 0.7), reach, radius * 0.35, segments=8), "handle")
        joint = hinge((0, 0, s.sign()), (x, y, top), s.degrees(30, 100))
        joint = any_direction(s, joint)
        return s.draft(
            "fitting", joint, OBJECTS, ("lever", "handle", "crank"), say.TURN, directed=False
        )
    squared = s.chance(0.3)
    if squared:
        low = np.array((x - radius, y - radius, top))
        s.move(box(low, np.add(low, (2 * radius, 2 * radius, tall))), "front")
    else:
        sides = int(rng.integers(6, 20))
        s.move(
            cylinder((x, y, top), (0, 0, tall), radius, radius * s.between(0.7, 1.0), sides),
            "front",
        )
    if what == "knob":
        if s.chance(0.6):
            tick = box(
                (x - radius * 0.1, y, top + tall),
                (x + radius * 0.1, y + radius * 0.9, top + tall * 1.2),
            )
            s.move(tick, "accent")
        axis, motion = s.twist((0, 0, 1))
        joint = hinge(axis, (x, y, top), s.degrees(40, 180))
        if s.chance(0.7):
            joint = any_direction(s, joint)
            motion = say.TURN
        return s.draft("fitting", joint, OBJECTS, ("knob", "dial", "wheel"), motion, directed=False)
    if what == "button":
        joint = any_direction(s, slider((0, 0, -1), (x, y, top), tall * s.between(0.4, 0.9)))
        return s.draft("fitting", joint, OBJECTS, ("button", "key", "plunger"), say.PRESS)
    joint = any_direction(s, slider((0, 0, 1), (x, y, top), tall * s.between(1.0, 4.0)))
    return s.draft("fitting", joint, OBJECTS, ("cap", "plug", "stopper"), say.PULL_OFF)


def rod(rng: np.random.Generator) -> Draft:
    """A rod that comes out of a tube, a bar through two eyes, a bolt, or nested boxes."""
    s = Sketch(rng, ANY)
    long, radius = s.between(0.4, 1.0), s.between(0.02, 0.12)
    style = s.one_of("tube", "eyes", "nested")
    out = s.between(0.02, 0.5) * long
    if style == "tube":
        wall = radius * s.between(0.1, 0.4)
        profile = [
            (radius + 0.001, 0),
            (radius + wall, 0),
            (radius + wall, long),
            (radius + 0.001, long),
            (radius + 0.001, 0),
        ]
        s.fix(lathe(profile, (0, 0, 0), "z", 16))
        s.fix(
            cylinder((0, 0, -radius), (0, 0, radius), radius * s.between(1.2, 2.5), segments=16),
            "trim",
        )
        s.move(cylinder((0, 0, long * 0.1), (0, 0, long * 0.9 + out), radius, segments=16))
        top = long + out
    elif style == "eyes":
        base = radius * s.between(1.6, 3.0)
        s.fix(box((base, -radius * 2, -long * 0.1), (base + radius, radius * 2, long * 0.9)))
        for z in (0.0, long * 0.6):
            inner = radius * 1.02
            ring = frame((-radius * 1.7, -radius * 1.7, z), (base, radius * 1.7, z + long * 0.12),
                         (-inner, -inner, 0), (inner, inner, 0), "z")  # fmt: skip
            s.fix(ring, "metal")
        s.move(cylinder((0, 0, -long * 0.2), (0, 0, long + out), radius, segments=14), "metal")
        if s.chance(0.6):
            grip = cylinder(
                (0, 0, long * 0.35), (0, -radius * s.between(2, 4), 0), radius * 0.5, segments=8
            )
            s.move(grip, "handle")
        top = long * 0.8 + out
    else:
        wide, high = radius * s.between(1.5, 4.0), radius * s.between(1.5, 4.0)
        wall = radius * 0.2
        outer = np.array((wide, high))
        s.fix(
            frame(
                (-wide, -high, 0),
                (wide, high, long),
                (-wide + wall, -high + wall, 0),
                (wide - wall, high - wall, 0),
                "z",
            )
        )
        inner = outer - wall - 0.002
        s.move(box((-inner[0], -inner[1], 0.05 * long), (inner[0], inner[1], long + out)))
        top = long + out
    if s.chance(0.5):
        s.move(sphere((0, 0, top), radius * s.between(0.8, 1.0), 12, 7), "handle")
    back = style != "eyes" and out > 0.25 * long and s.chance(0.4)
    if back:
        joint = any_direction(s, slider((0, 0, -1), (0, 0, long), out * 0.9 - radius * 0.2))
        return s.draft(
            "rod", joint, OBJECTS, ("rod", "bar", "pin", "bolt"), say.join(say.RETRACT, say.PRESS)
        )
    reach = long * (0.2 if style == "eyes" else 0.6)
    joint = any_direction(s, slider((0, 0, 1), (0, 0, long), reach * s.between(0.5, 0.95)))
    parts = ("rod", "bar", "pin", "bolt", "inner tube", "piston")
    return s.draft("rod", joint, OBJECTS, parts, say.join(PULLED, say.EXTEND), say.RETRACT)


def crank(rng: np.random.Generator) -> Draft:
    """A bow, a yoke or a crank that turns about a line through two bearings."""
    s = Sketch(rng, ANY)
    wide, reach, thick = s.between(0.2, 0.6), s.between(0.15, 0.7), s.between(0.012, 0.05)
    gap = thick * s.between(0.6, 1.2)
    style = s.one_of("bow", "bow", "flap", "drum")
    post = s.between(0.05, 0.5)
    for side in (-1, 1):
        x = side * (wide + gap)
        near, far = sorted((x, x + side * thick * s.between(1.0, 3.0)))
        s.fix(box((near, -thick * 2, -post), (far, thick * 2, thick * 2)))
    s.fix(
        box((-wide - gap, -thick * 2, -post - 0.04), (wide + gap, s.between(2, 10) * thick, -post))
    )
    s.fix(cylinder((-wide - gap, 0, 0), (2 * (wide + gap), 0, 0), thick * 0.4, segments=8), "metal")
    mark = s.mark()
    if style == "bow":
        path = [(-wide, 0, 0), (-wide, 0, reach), (wide, 0, reach), (wide, 0, 0)]
        s.move(tube(path, thick * 0.6, 8))
    elif style == "flap":
        s.move(box((-wide, -thick * 0.7, -thick * 0.7), (wide, thick * 0.7, reach)))
    else:
        s.move(
            cylinder((-wide, 0, 0), (2 * wide, 0, 0), min(reach, post * 0.95) * 0.9, segments=16)
        )
        s.move(box((-wide * 0.9, -thick, 0), (-wide * 0.7, thick, min(reach, post))), "accent")
    limit = np.pi / 2 if style != "drum" else np.pi
    start = s.between(-0.6, 0.6) * limit
    s.turn(mark, (1, 0, 0), start)
    sign = -1 if start > 0 else 1
    joint = hinge((sign, 0, 0), (0, 0, 0), (abs(start) + s.between(0.1, 0.9) * limit) * 0.95)
    joint = any_direction(s, joint)
    names = {
        "bow": ("handle", "bow", "bracket"),
        "flap": ("flap", "plate"),
        "drum": ("drum", "roller"),
    }
    return s.draft("crank", joint, OBJECTS, (*names[style], "part"), ROTATES, directed=False)


KINDS = {
    "hatch": (2.2, hatch),
    "shell": (1.8, shell),
    "fitting": (1.8, fitting),
    "rod": (1.8, rod),
    "crank": (1.0, crank),
}
