"""Chairs that swivel, fold, recline or have movable arms, and folding tables and boards."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import HOUSEHOLD, Sketch
from atop_backend.synthetic.solids import (
    Plane,
    box,
    cylinder,
    extrude,
    rounded_rectangle,
    tube,
)

PADDED = (*HOUSEHOLD, palette.WOODS)


def _pad(s: Sketch, low, high, moves: bool, plane: Plane = "xy", colour: str = "front") -> None:
    """A cushion: a box, or one with rounded corners in a plane."""
    if s.chance(0.4):
        s.add(box(low, high), colour, moves)
        return
    u, v, w = {"xy": (0, 1, 2), "xz": (0, 2, 1), "yz": (1, 2, 0)}[plane]
    radius = s.between(0.1, 0.4) * min(high[u] - low[u], high[v] - low[v])
    outline = rounded_rectangle((low[u], low[v]), (high[u], high[v]), radius, 2)
    s.add(extrude(outline, plane, low[w], high[w]), colour, moves)


def office_chair(rng: np.random.Generator) -> Draft:
    """An office chair or a stool: the seat swivels or rises, the back tilts, a caster rolls."""
    s = Sketch(rng, PADDED)
    wide, seat, thick = s.between(0.4, 0.55), s.between(0.42, 0.55), s.between(0.04, 0.1)
    part = s.one_of("seat", "seat", "seat", "rise", "back", "caster", "arm")
    stool = part in ("seat", "rise") and s.chance(0.25)
    moves = part in ("seat", "rise")
    legs, reach = int(rng.integers(4, 6)), s.between(0.26, 0.34)
    caster = 0.03
    star = not s.chance(0.25) or part == "caster"
    chosen = int(rng.integers(legs))
    if star:
        for i in range(legs):
            angle = 2 * np.pi * i / legs + 0.3
            way = reach * np.array((np.cos(angle), np.sin(angle), 0.0))
            s.fix(cylinder((0, 0, 0.1), way - (0, 0, 0.03), 0.022, 0.016, 8), "metal")
            ends = np.array((-np.sin(angle), np.cos(angle), 0.0))
            hub = np.add(way, (0, 0, caster))
            roll = part == "caster" and i == chosen
            for side in (-1, 1):
                start = hub + side * 0.012 * ends
                s.add(cylinder(start, side * 0.014 * ends, caster, segments=12), "dark", roll)
            s.fix(box(hub - (0.01, 0.01, 0.0), np.add(hub, (0.01, 0.01, 0.06))), "metal")
            if roll:
                axle, centre = ends, hub
    else:
        s.fix(cylinder((0, 0, 0), (0, 0, 0.02), reach, segments=20), "metal")
    s.fix(cylinder((0, 0, 0.02), (0, 0, seat * 0.6), 0.032, segments=12), "metal")
    s.add(cylinder((0, 0, seat * 0.5), (0, 0, seat * 0.5), 0.018, segments=10), "metal", moves)
    s.add(box((-0.1, -0.12, seat - 0.03), (0.1, 0.12, seat)), "dark", moves)
    if stool and s.chance(0.7):
        s.move(cylinder((0, 0, seat), (0, 0, thick), wide * 0.4, segments=20), "front")
    else:
        low = (-wide / 2, -wide / 2, seat)
        _pad(s, low, (wide / 2, wide / 2, seat + thick), moves)
    back_moves = moves or part == "back"
    pivot = (0.0, wide / 2 - 0.03, seat + thick * 0.3)
    if not stool:
        mark = s.mark()
        gap, tall = s.between(0.03, 0.15), s.between(0.3, 0.6)
        s.add(
            box((-0.03, wide / 2 - 0.02, seat), (0.03, wide / 2 + 0.02, seat + gap + tall * 0.6)),
            "metal",
            back_moves,
        )
        low = (-wide * 0.45, wide / 2 - 0.05, seat + thick + gap)
        _pad(s, low, (wide * 0.45, wide / 2, seat + thick + gap + tall), back_moves, "xz")
        s.turn(mark, (-1, 0, 0), s.degrees(0, 12), pivot)
        side = s.sign()
        for x in (-1, 1) if s.chance(0.5) or part == "arm" else ():
            arm = part == "arm" and x == side
            edge, level = x * (wide / 2 + 0.03), seat + s.between(0.2, 0.24)
            s.add(
                box((edge - 0.015, -0.02, seat), (edge + 0.015, 0.03, level - 0.1)), "metal", moves
            )
            s.add(
                box((edge - 0.01, -0.015, level - 0.16), (edge + 0.01, 0.025, level)),
                "metal",
                moves or arm,
            )
            _pad(s, (edge - 0.035, -0.14, level), (edge + 0.035, 0.14, level + 0.03), moves or arm)
            s.add(
                box((min(0, edge), -0.02, seat - 0.02), (max(0, edge), 0.03, seat)), "metal", moves
            )
    objects = (
        ("chair", "office chair", "swivel chair", "desk chair")
        if not stool
        else ("stool", "bar stool", "chair")
    )
    if part == "seat":
        joint = hinge((0, 0, s.sign()), (0, 0, seat), s.degrees(50, 180))
        parts = ("seat", "chair seat", "upper part", "chair")
        return s.draft(
            "chair",
            joint,
            objects,
            parts,
            say.join(say.SWIVEL, say.TURN, say.words("spins", "spin {}")),
            directed=False,
        )
    if part == "rise":
        joint = slider((0, 0, 1), (0, 0, seat), seat * s.between(0.15, 0.35))
        return s.draft(
            "chair", joint, objects, ("seat", "chair seat"), say.SLIDE_UP, say.SLIDE_DOWN
        )
    if part == "back":
        joint = hinge((-1, 0, 0), pivot, s.degrees(15, 40))
        return s.draft(
            "chair",
            joint,
            objects,
            ("back", "backrest", "back rest"),
            say.TILT_BACK,
            say.TILT_FORWARD,
        )
    if part == "arm":
        joint = slider((0, 0, 1), (edge, 0, level), 0.09)
        name = "left armrest" if side < 0 else "right armrest"
        return s.draft(
            "chair", joint, objects, ("armrest", "arm rest", name), say.SLIDE_UP, say.SLIDE_DOWN
        )
    joint = hinge(np.multiply(axle, s.sign()), centre, s.degrees(60, 180))
    return s.draft(
        "chair", joint, objects, ("caster", "wheel", "one wheel"), say.SPIN, directed=False
    )


def folding_chair(rng: np.random.Generator) -> Draft:
    """A chair whose seat folds up against its back, as folding and theatre chairs have."""
    s = Sketch(rng, PADDED)
    wide, seat, deep = s.between(0.38, 0.5), s.between(0.4, 0.48), s.between(0.36, 0.45)
    tall, t = s.between(0.75, 0.95), s.between(0.012, 0.03)
    theatre = s.chance(0.35)
    thick = s.between(0.015, 0.04) if not theatre else s.between(0.05, 0.12)
    back = deep / 2
    if theatre:
        for x in (-1, 1):
            edge = x * (wide / 2 + 0.03)
            s.fix(box((edge - 0.025, -deep * 0.3, 0), (edge + 0.025, back, seat + 0.18)), "trim")
            s.fix(
                box((edge - 0.035, -deep * 0.4, seat + 0.18), (edge + 0.035, back, seat + 0.22)),
                "top",
            )
        s.fix(box((-wide / 2, back - 0.02, seat + 0.03), (wide / 2, back + 0.05, tall)), "body")
        pivot = (0.0, back - 0.06, seat + thick * 0.4)
        s.fix(cylinder((-wide / 2 - 0.01, *pivot[1:]), (wide + 0.02, 0, 0), thick * 0.25), "metal")
    else:
        slope = s.between(0.0, 0.15)
        for x in (-1, 1):
            edge = x * (wide / 2 + t)
            s.fix(
                tube(
                    [
                        (edge, -deep * 0.55, 0),
                        (edge, back + slope * 0.3, seat),
                        (edge, back + slope, tall),
                    ],
                    t,
                    6,
                ),
                "metal",
            )
            s.fix(
                tube(
                    [
                        (edge - x * 2.2 * t, back + 0.1, 0),
                        (edge - x * 2.2 * t, -deep * 0.1, seat - thick - t),
                    ],
                    t,
                    6,
                ),
                "metal",
            )
        s.fix(
            box(
                (-wide / 2, back + slope * 0.75 - 0.01, tall - 0.25),
                (wide / 2, back + slope * 0.75 + 0.012, tall - 0.02),
            ),
            "front",
        )
        pivot = (0.0, back - 0.015, seat - t * 0.5)
        s.fix(
            cylinder((-wide / 2 - t, *pivot[1:]), (wide + 2 * t, 0, 0), t * 0.7, segments=8),
            "metal",
        )
    _pad(
        s,
        (-wide / 2 + t * 0.6, -deep / 2, seat - thick * 0.5),
        (wide / 2 - t * 0.6, pivot[1], seat + thick * 0.5),
        True,
    )
    joint = hinge((-1, 0, 0), pivot, s.degrees(50, 82))
    objects = (
        ("chair", "folding chair")
        if not theatre
        else ("chair", "theater seat", "cinema seat", "folding chair")
    )
    return s.draft(
        "folding chair",
        joint,
        objects,
        ("seat", "chair seat"),
        say.FOLD_UP,
        say.join(say.FOLD_DOWN, say.LOWER),
    )


def recliner(rng: np.random.Generator) -> Draft:
    """An armchair, lounger or car seat: back, footrest or armrest turn."""
    s = Sketch(rng, PADDED)
    wide, seat, deep = s.between(0.5, 0.7), s.between(0.3, 0.45), s.between(0.5, 0.6)
    thick, tall = s.between(0.1, 0.2), s.between(0.5, 0.75)
    part = s.one_of("back", "back", "back", "foot", "arm")
    arms = part != "back" or s.chance(0.7)
    for x in (-1, 1):
        if arms and part != "arm":
            near, far = sorted((x * wide / 2, x * (wide / 2 + s.between(0.08, 0.15))))
            s.fix(box((near, -deep / 2, 0.04), (far, deep / 2, seat + 0.2)))
        else:
            s.fix(
                box(
                    (x * wide / 2 - 0.03, -deep / 2, 0),
                    (x * wide / 2 + 0.03, deep / 2, seat - thick),
                ),
                "trim",
            )
    s.fix(box((-wide / 2, -deep / 2, seat - thick), (wide / 2, deep / 2, seat)), "front")
    pivot = (0.0, deep / 2, seat + 0.01)
    mark = s.mark()
    _pad(
        s,
        (-wide / 2 + 0.01, deep / 2 - 0.0, seat + 0.012),
        (wide / 2 - 0.01, deep / 2 + thick, seat + tall),
        part == "back",
        "xz",
    )
    if s.chance(0.4):
        _pad(
            s,
            (-wide * 0.25, deep / 2, seat + tall + 0.01),
            (wide * 0.25, deep / 2 + thick * 0.8, seat + tall + 0.17),
            part == "back",
            "xz",
        )
    lean = s.degrees(0, 15)
    s.turn(mark, (-1, 0, 0), lean, pivot)
    objects = ("armchair", "recliner", "chair", "seat", "car seat", "lounge chair")
    if part == "foot":
        front = -deep / 2 - 0.015
        low = (-wide * 0.45, front - 0.05, 0.06)
        s.move(box(low, (wide * 0.45, front, seat - 0.03)), "front")
        joint = hinge((-1, 0, 0), (0, front, seat - 0.03), s.degrees(45, 90))
        parts = ("footrest", "leg rest", "foot rest")
        return s.draft(
            "chair", joint, objects, parts, say.join(say.TILT_UP, say.FOLD_OUT), say.TILT_DOWN
        )
    if part == "arm":
        side = s.sign()
        for x in (-1, 1):
            edge = x * (wide / 2 + 0.05)
            level = seat + 0.2
            _pad(
                s,
                (edge - 0.03, -deep * 0.4, level),
                (edge + 0.03, deep / 2 + thick * 0.4, level + 0.05),
                x == side,
            )
            s.fix(
                cylinder(
                    (edge - x * 0.03, deep / 2 + thick * 0.3, level + 0.025),
                    (-x * 0.04, 0, 0),
                    0.02,
                ),
                "metal",
            )
        joint = hinge(
            (-1, 0, 0), (side * wide / 2, deep / 2 + thick * 0.3, level + 0.025), s.degrees(60, 95)
        )
        parts = ("armrest", "arm rest", "left armrest" if side < 0 else "right armrest")
        return s.draft(
            "chair", joint, objects, parts, say.join(say.FOLD_UP, say.TILT_UP), say.TILT_DOWN
        )
    if s.chance(0.35):
        joint = hinge((1, 0, 0), pivot, s.degrees(20, 60))
        return s.draft(
            "chair", joint, objects, ("back", "backrest"), say.TILT_FORWARD, say.TILT_BACK
        )
    joint = hinge((-1, 0, 0), pivot, s.degrees(20, 65))
    return s.draft(
        "chair", joint, objects, ("back", "backrest", "seat back"), say.TILT_BACK, say.TILT_FORWARD
    )


KINDS = {
    "office_chair": (2.5, office_chair),
    "folding_chair": (1.6, folding_chair),
    "recliner": (1.3, recliner),
}
