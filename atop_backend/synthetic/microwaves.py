"""Microwave ovens."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import leaves, prompts, solids
from atop_backend.synthetic.appliances import knobs, window_door
from atop_backend.synthetic.assembly import Assembly, feet, niche
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.leaves import Leaf, Opening, hinge_joint
from atop_backend.synthetic.pieces import chance, choose


def microwave(rng: np.random.Generator) -> Draft:
    """A microwave oven: door hinged left beside its controls, now and then otherwise."""
    make = Assembly(rng)
    width, depth, height = rng.uniform(0.42, 0.78), rng.uniform(0.28, 0.5), rng.uniform(0.24, 0.45)
    base = rng.uniform(0.0, 0.02)
    low, high = np.array([-width / 2, -depth / 2, base]), np.array([width / 2, depth / 2, height])
    if base > 0.004:
        make.fix(feet(low, high, base, 0.014), make.paints.dark)
    hinge_side = choose(rng, {"left": 6.5, "right": 2.5, "bottom": 1.2})
    controls = rng.uniform(0.14, 0.3) * width
    if (hinge_side == "bottom" and chance(rng, 0.5)) or chance(rng, 0.06):
        controls = 0.0
    over = hinge_side == "bottom" and controls == 0.0 and chance(rng, 0.7)
    strip = rng.uniform(0.04, 0.08) if over else 0.0
    x0, x1 = low[0], high[0] - controls
    if hinge_side == "right":
        x0, x1 = low[0] + controls, high[0]
    thick = rng.uniform(0.012, 0.045)
    rim = rng.uniform(0.0, 0.02) if chance(rng, 0.5) else 0.0
    opening = Opening(x0 + rim, x1, low[2] + rim, high[2] - rim - strip, low[1] - thick, low[1])
    opening = opening.shrunk(0.0015)
    inside = (opening.x0 + 0.02, opening.x1 - 0.02, opening.z0 + 0.02, opening.z1 - 0.02)
    hollow = chance(rng, 0.75)
    make.fix(niche(low, high, inside, 0.85 * depth) if hollow else solids.box(low, high),
             make.paints.body)  # fmt: skip
    if hollow and chance(rng, 0.5):
        plate = 0.38 * min(inside[1] - inside[0], 0.8 * depth)
        make.fix(
            solids.cylinder(((inside[0] + inside[1]) / 2, -0.05 * depth, inside[2]), (0, 0, 0.012),
                            plate, segments=14), make.paints.glass,
        )  # fmt: skip
    pieces = window_door(rng, opening, make.paints, 0.88, rng.uniform(0.08, 0.22))
    look = leaves.any_look(rng, appliance=True)._replace(
        handle=choose(rng, {"bar": 3, "round_bar": 2, "bow": 2, "u": 2, "grip": 0.7, "none": 3.5,
                            "wedge": 1}),
        handle_length=float(rng.uniform(0.5, 0.95)), handle_height=0.5,
        handle_margin=float(rng.uniform(0.015, 0.04)),
        line=("outer", "middle", "inner")[int(rng.integers(3))],
    )  # fmt: skip
    pieces += leaves.door_handle(rng, opening, hinge_side, look, make.paints)  # type: ignore[arg-type]
    most = 95 if hinge_side == "bottom" else 130
    upper = float(np.radians(np.clip(rng.normal(95, 14), 60, most)))
    leaf = Leaf(pieces, [], hinge_joint(opening, hinge_side, look.line, upper), hinge_side)  # type: ignore[arg-type]
    target = choose(rng, {"door": 9.0, "button": 0.5 if controls else 0.0,
                          "dial": 0.5 if controls else 0.0})  # fmt: skip
    make.put(leaf, moving=target == "door")
    far = (x1, high[0]) if hinge_side != "right" else (low[0], x0)
    other = _controls(make, far, low, high, thick, target) if controls else None
    if target == "door" or other is None:
        return make.draft_leaf("microwave", leaf, ("microwave", "microwave oven", "microwave"),
                               ("door", "door", "front door"))  # fmt: skip
    return other


def _controls(
    make: Assembly,
    across: tuple[float, float],
    low: np.ndarray,
    high: np.ndarray,
    thick: float,
    target: str,
) -> Draft | None:
    """The panel of a microwave: display, buttons or dials; a draft if one of them moves."""
    rng = make.rng
    x0, x1 = across
    y = low[1] - (thick if chance(rng, 0.7) else 0.3 * thick)
    if chance(rng, 0.85) or target != "door":
        make.fix(solids.box((x0 + 0.002, y, low[2]), (x1, low[1], high[2])), make.paints.trim)
    else:
        y = low[1]
    wide, tall, mid = x1 - x0, high[2] - low[2], (x0 + x1) / 2
    objects = ("microwave", "microwave oven")
    if chance(rng, 0.7):
        top = high[2] - 0.1 * tall
        make.fix(
            solids.box(
                (x0 + 0.15 * wide, y - 0.002, top - 0.13 * tall), (x1 - 0.15 * wide, y, top)
            ),
            make.paints.dark,
        )
    if target == "dial" or (target == "door" and chance(rng, 0.35)):
        places = [(mid, low[2] + share * tall) for share in (0.3, 0.6)]
        chosen = int(rng.integers(2)) if target == "dial" else None
        axis = knobs(make, places, y, min(0.3 * wide, 0.12 * tall), chosen)
        if axis is None:
            return None
        joint = hinge((0, -1, 0), axis, np.radians(rng.uniform(60, 270)))
        return make.draft("microwave dial", joint, objects, ("knob", "dial", "timer knob"),
                          (prompts.TURN, None), directed=False)  # fmt: skip
    deep = rng.uniform(0.003, 0.01)
    columns, rows = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    chosen = int(rng.integers(columns * rows)) if target == "button" else -1
    origin = None
    for i in range(columns * rows):
        x = x0 + wide * (0.18 + 0.64 * (i % columns + 0.5) / columns)
        z = low[2] + tall * (0.08 + 0.6 * (i // columns + 0.5) / rows)
        half = np.array([0.26 * wide / columns, deep, 0.24 * tall / rows])
        centre = np.array([x, y - deep, z])
        (make.move if i == chosen else make.fix)(
            solids.box(centre - half, centre + half), make.paints.accent
        )
        origin = centre if i == chosen else origin
    if origin is None:
        return None
    return make.draft("microwave button", slider((0, 1, 0), origin, 1.2 * deep), objects,
                      ("button", "start button", "key"), (prompts.PRESS, None))  # fmt: skip


KINDS = {"microwave": (3.2, microwave)}
