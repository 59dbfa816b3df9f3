"""Furniture whose lid, leaf or writing flap turns: benches, school desks, folding tables."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import carcass, handles, prompts, solids
from atop_backend.synthetic.assembly import Assembly
from atop_backend.synthetic.carcass import Body
from atop_backend.synthetic.draft import Draft, hinge
from atop_backend.synthetic.objects import STATIC
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.pieces import chance, choose, place
from atop_backend.synthetic.prompts import join, words

FURNITURE_COLOURS = (WOODS, PAINTS, METALS)


def storage_bench(rng: np.random.Generator) -> Draft:
    """A bench or ottoman whose seat lifts about its back edge."""
    make = Assembly(rng, FURNITURE_COLOURS)
    width, depth, height = rng.uniform(0.5, 1.5), rng.uniform(0.35, 0.55), rng.uniform(0.35, 0.5)
    base = rng.uniform(0.03, 0.12) if chance(rng, 0.5) else 0.0
    body = Body(width, depth, height - base, base, rng.uniform(0.015, 0.03), True)
    legs = choose(rng, {"legs_square": 2, "legs_turned": 2, "plinth": 1})
    place(make.builder, carcass.base(rng, legs, body, make.paints), STATIC)
    make.fix(solids.open_box(body.low, body.high, body.wall, "+z"), make.paints.body)
    thick, out = rng.uniform(0.02, 0.1), rng.uniform(0.0, 0.02)
    (x0, y0, _), (x1, y1, z) = body.low, body.high
    style = choose(rng, {"box": 3, "cushion": 3})
    if style == "cushion":
        side = solids.rounded_rectangle((x0 - out, z), (x1 + out, z + thick), 0.4 * thick)
        make.move(solids.extrude(side, "xz", y0 - out, y1), make.paints.front)
    else:
        make.move(solids.box((x0 - out, y0 - out, z), (x1 + out, y1, z + thick)), make.paints.front)
    back = chance(rng, 0.4)
    if back:  # a backrest, which the lid must not meet
        tall = rng.uniform(0.25, 0.55)
        near = y1 + thick + 0.01
        make.fix(solids.box((x0, near, 0), (x1, near + 0.03, z + tall)), make.paints.body)
        make.fix(solids.box((x0, y1, z - 0.06), (x1, near, z - 0.02)), make.paints.body)
    upper = np.radians(rng.uniform(55, 88 if back else 105))
    joint = hinge((-1, 0, 0), (0, y1, z), upper)
    objects = ("storage bench", "bench", "ottoman", "blanket box", "hallway bench")
    parts = ("seat", "lid", "top", "seat cushion" if style == "cushion" else "bench lid")
    return make.draft(
        "bench", joint, objects, parts, (join(prompts.LIFT, prompts.OPEN), prompts.LOWER)
    )


def lid_desk(rng: np.random.Generator) -> Draft:
    """A desk whose level or sloping top lifts about its back edge, as in old schools."""
    make = Assembly(rng, FURNITURE_COLOURS)
    width, depth, height = rng.uniform(0.5, 1.0), rng.uniform(0.4, 0.6), rng.uniform(0.55, 0.8)
    tall = rng.uniform(0.08, 0.18)
    slope = rng.uniform(0.0, 0.4) * tall if chance(rng, 0.6) else 0.0
    shelf = rng.uniform(0.05, 0.14) if chance(rng, 0.5) else 0.0  # the part at the back that stays
    x0, x1, y0, y1 = -width / 2, width / 2, -depth / 2, depth / 2
    line = y1 - shelf
    z0, front, back = height - tall, height - slope, height
    wall = 0.016
    cheek = [(y0, z0), (y1, z0), (y1, back), (line, back), (y0, front)]
    for a in (x0, x1 - wall):
        make.fix(solids.extrude(cheek, "yz", a, a + wall), make.paints.body)
    make.fix(solids.box((x0, y0, z0), (x1, y1, z0 + wall)), make.paints.body)
    make.fix(solids.box((x0, y0, z0), (x1, y0 + wall, front - 0.002)), make.paints.body)
    make.fix(solids.box((x0, y1 - wall, z0), (x1, y1, back)), make.paints.body)
    if shelf:
        make.fix(solids.box((x0, line, back - wall), (x1, y1, back + 0.015)), make.paints.top)
    thick, out = rng.uniform(0.012, 0.03), rng.uniform(0.0, 0.04)
    lean = (back - front) / (line - y0)
    lid = [(line, back), (line, back + thick), (y0 - out, front - out * lean + thick),
           (y0 - out, front - out * lean)]  # fmt: skip
    side = rng.uniform(0.0, 0.02)
    make.move(solids.extrude(lid, "yz", x0 - side, x1 + side), make.paints.front)
    body = Body(width, depth, tall, z0, wall, True)
    legs = choose(rng, {"legs_square": 3, "legs_turned": 3, "sides": 1, "sled": 1})
    place(make.builder, carcass.base(rng, legs, body, make.paints), STATIC)
    most = 85 if shelf else 105
    z = back + (thick if shelf else 0.0)
    joint = hinge((-1, 0, 0), (0, line, z), np.radians(rng.uniform(45, most)))
    objects = ("desk", "school desk", "writing desk", "vanity", "dressing table")
    parts = ("lid", "top", "desk lid", "desktop", "flap")
    return make.draft(
        "desk", joint, objects, parts, (join(prompts.LIFT, prompts.OPEN), prompts.LOWER)
    )


def drop_leaf(rng: np.random.Generator) -> Draft:
    """A table whose side leaf hangs down or is level, and turns about the edge of its top."""
    make = Assembly(rng, FURNITURE_COLOURS)
    width, depth, height = rng.uniform(0.35, 1.0), rng.uniform(0.6, 1.1), rng.uniform(0.55, 0.78)
    thick, leaf = rng.uniform(0.015, 0.035), rng.uniform(0.2, 0.4)
    leaf = min(leaf, height - 0.1)
    x, y = width / 2, depth / 2
    make.fix(solids.box((-x, -y, height - thick), (x, y, height)), make.paints.top)
    inset = rng.uniform(0.03, 0.08)
    body = Body(width - 2 * inset, depth - 2 * inset, 0.09, height - thick - 0.09, 0.018, True)
    make.fix(solids.frame(body.low, body.high, body.low + 0.02, body.high - 0.02, "z"),
             make.paints.body)  # fmt: skip
    legs = choose(rng, {"legs_square": 3, "legs_turned": 3, "sides": 1})
    place(make.builder, carcass.base(rng, legs, body, make.paints), STATIC)
    side = "left" if chance(rng, 0.5) else "right"
    hangs = chance(rng, 0.6)
    gap = 0.003
    for name, sign in (("left", -1.0), ("right", 1.0)):
        if name != side and chance(rng, 0.4):
            continue
        level = not hangs if name == side else chance(rng, 0.5)
        if level:
            a, b = sorted((sign * (x + gap), sign * (x + gap + leaf)))
            board = solids.box((a, -y, height - thick), (b, y, height))
        else:
            a, b = sorted((sign * (x + gap), sign * (x + gap + thick)))
            board = solids.box((a, -y, height - thick - leaf), (b, y, height - thick - gap))
        if name == side:
            make.move(board, make.paints.top)
        else:
            make.fix(board, make.paints.top)
    sign = -1.0 if side == "left" else 1.0
    origin = (sign * (x + gap), 0, height - thick)
    # Raising the right leaf turns it counter-clockwise seen from the front, which looks along +Y.
    rise = (0, -sign, 0)
    upper = np.radians(rng.uniform(80, 90))
    raise_words = words("folds up|swings up|is raised|is lifted|flips up|unfolds",
                        "raise {}|fold {} up|lift {}|flip {} up")  # fmt: skip
    lower_words = words("folds down|is lowered|swings down|drops down|flips down",
                        "lower {}|fold {} down|drop {}|flip {} down")  # fmt: skip
    parts = ("leaf", f"{side} leaf", f"leaf on the {side}", "table leaf", "flap", f"{side} flap")
    objects = ("table", "drop-leaf table", "folding table", "kitchen table")
    there, back = (raise_words, lower_words) if hangs else (lower_words, raise_words)
    axis = rise if hangs else (0, sign, 0)
    return make.draft("drop-leaf table", hinge(axis, origin, upper), objects, parts, (there, back))


def wall_table(rng: np.random.Generator) -> Draft:
    """A table top or bed that folds down from a wall board or a shallow cupboard."""
    make = Assembly(rng, FURNITURE_COLOURS)
    width, long = rng.uniform(0.5, 1.2), rng.uniform(0.4, 0.9)
    level, thick = rng.uniform(0.3, 0.75), rng.uniform(0.018, 0.04)
    x = width / 2
    deep = rng.uniform(0.02, 0.25)
    top = level + long + rng.uniform(0.03, 0.3)
    bottom = level - rng.uniform(0.05, 0.25)
    if deep > 0.08:
        make.fix(
            solids.open_box((-x - 0.02, 0, bottom), (x + 0.02, deep, top), 0.018, "-y"),
            make.paints.body,
        )
        make.fix(_shelf(x, deep, (level + top) / 2), make.paints.inside)
    else:
        make.fix(solids.box((-x - 0.02, 0, bottom), (x + 0.02, deep, top)), make.paints.body)
    make.move(solids.box((-x, -thick, level), (x, 0, level + long)), make.paints.front)
    if chance(rng, 0.6):
        grip = choose(rng, {"knob": 1, "bar": 1, "grip": 1, "u": 1})
        at = (0.0, -thick, level + 0.93 * long)
        make.move_all(handles.handle(rng, grip, at, True, 0.15, make.paints))
    if chance(rng, 0.4):  # folding legs lie against the leaf
        for s in (-0.8, 0.8):
            make.move(
                solids.box(
                    (s * x - 0.02, -thick - 0.03, level + 0.3 * long),
                    (s * x + 0.02, -thick, level + 0.95 * long),
                ),
                make.paints.metal,
            )
    y = 0.0 if chance(rng, 0.7) else -thick
    joint = hinge((1, 0, 0), (0, y, level), np.radians(rng.uniform(80, 90)))
    objects = ("wall table", "folding table", "wall desk", "wall bed", "changing table")
    parts = ("table top", "flap", "leaf", "board", "top")
    return make.draft("wall table", joint, objects, parts, (prompts.FOLD_DOWN, prompts.FOLD_UP))


def _shelf(half: float, deep: float, z: float) -> np.ndarray:
    """A shelf inside a shallow cupboard."""
    return solids.box((-half, 0.03, z - 0.008), (half, deep - 0.02, z + 0.008))


KINDS = {
    "storage bench": (0.6, storage_bench),
    "lid desk": (0.5, lid_desk),
    "drop-leaf table": (0.5, drop_leaf),
    "wall table": (0.4, wall_table),
}
