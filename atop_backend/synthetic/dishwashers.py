"""Dishwashers: doors that fold down, racks and drawers that roll out."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import leaves, prompts, solids
from atop_backend.synthetic.appliances import window_door
from atop_backend.synthetic.assembly import Assembly, niche
from atop_backend.synthetic.cooking import oven_look
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.leaves import Leaf, Opening, hinge_joint
from atop_backend.synthetic.pieces import chance, choose


def dishwasher(rng: np.random.Generator) -> Draft:
    """A dishwasher: a door that folds down, or a rack that rolls out when it is open or absent."""
    make = Assembly(rng)
    width, depth, height = rng.uniform(0.42, 0.66), rng.uniform(0.5, 0.65), rng.uniform(0.7, 0.92)
    if chance(rng, 0.08):
        height *= 0.6
    base = rng.uniform(0.0, 0.12)
    low, high = np.array([-width / 2, -depth / 2, base]), np.array([width / 2, depth / 2, height])
    if base > 0.02:
        recess = rng.uniform(0.0, 0.07)
        make.fix(solids.box((low[0], low[1] + recess, 0), (high[0], high[1], base)),
                 make.paints.trim)  # fmt: skip
    strip = rng.uniform(0.07, 0.13) if chance(rng, 0.45) else 0.0
    wall = rng.uniform(0.02, 0.05)
    mouth = (low[0] + wall, high[0] - wall, low[2] + wall, high[2] - max(strip, wall))
    make.fix(niche(low, high, mouth, depth - wall), make.paints.body)
    thick = rng.uniform(0.02, 0.06)
    if strip:
        make.fix(solids.box((low[0], low[1] - thick, high[2] - strip + 0.003),
                            (high[0], low[1], high[2])), make.paints.trim)  # fmt: skip
    if chance(rng, 0.3):
        make.fix(solids.box((low[0], low[1] - thick, high[2]), (high[0], high[1], high[2] + 0.025)),
                 make.paints.top)  # fmt: skip
    target = choose(rng, {"door": 6.5, "rack": 3.5, "drawer": 0.4})
    if target == "drawer":
        opening = Opening(low[0], high[0], low[2], high[2] - strip, low[1] - thick, low[1])
        return _dish_drawer(make, opening.shrunk(0.002), depth)
    racks = _dish_racks(make, mouth, low, depth - wall, target == "rack")
    opening = Opening(low[0], high[0], low[2], high[2] - strip, low[1] - thick, low[1]).shrunk(
        0.002
    )
    look = oven_look(rng)
    if chance(rng, 0.25):
        look = look._replace(handle="none")
    pieces = window_door(rng, opening, make.paints, 0.12, 0.15)
    pieces += leaves.door_handle(rng, opening, "bottom", look, make.paints)
    if not strip and chance(rng, 0.5):
        z = opening.z1 - rng.uniform(0.05, 0.12)
        pieces.append(
            (
                solids.box(
                    (opening.x0, opening.y0 - 0.002, z), (opening.x1, opening.y0, opening.z1)
                ),
                make.paints.trim,
            )
        )
    upper = np.radians(np.clip(rng.normal(88, 6), 70, 92))
    leaf = Leaf(pieces, [], hinge_joint(opening, "bottom", look.line, upper), "bottom")
    objects = ("dishwasher", "dishwasher", "dish washer")
    if racks is None:
        make.put(leaf, moving=True)
        return make.draft_leaf("dishwasher", leaf, objects, ("door", "door", "front door"))
    joint, parts = racks
    if chance(rng, 0.7):
        flat = leaf._replace(joint=hinge(leaf.joint.axis, leaf.joint.origin, np.pi / 2))
        make.put(flat, moving=False, opened=rng.uniform(0.94, 1.0))
    words = (prompts.join(prompts.SLIDE_OUT, prompts.OPEN), prompts.SLIDE_IN)
    return make.draft("dishwasher rack", joint, objects, parts, words)


def _dish_drawer(make: Assembly, opening: Opening, depth: float) -> Draft:
    """A dishwasher whose front slides out with a tub behind it."""
    rng, long = make.rng, 0.85 * depth
    tub = solids.open_box(
        (opening.x0 + 0.055, opening.y1 - 1e-4, opening.z0 + 0.055),
        (opening.x1 - 0.055, opening.y1 + long, opening.z0 + 0.7 * opening.height),
        0.012,
        "+z",
    )
    look = oven_look(rng)
    pieces = window_door(rng, opening, make.paints, 0.0, 0.15)
    pieces += leaves.door_handle(rng, opening, "bottom", look, make.paints)
    pieces.append((tub, make.paints.inside))
    joint = slider((0, -1, 0), opening.centre, long * rng.uniform(0.55, 0.9))
    leaf = Leaf(pieces, [], joint, "out")
    make.put(leaf, moving=True)
    return make.draft_leaf("dishwasher", leaf, ("dishwasher", "dish drawer", "dishwasher"),
                           ("drawer", "front", "tub", "drawer"))  # fmt: skip


def _dish_racks(
    make: Assembly,
    mouth: tuple[float, float, float, float],
    low: np.ndarray,
    deep: float,
    moves: bool,
):
    """One to three racks in the tub; joint and names of the one that moves."""
    rng = make.rng
    x0, x1, z0, z1 = mouth
    count = int(rng.choice([1, 2, 3], p=[0.25, 0.6, 0.15]))
    chosen = int(rng.integers(count)) if moves else -1
    pitch = (z1 - z0 - 0.06) / count
    y0, y1 = low[1] + rng.uniform(0.01, 0.05), low[1] + 0.93 * deep
    result = None
    for i in range(count):
        floor = z0 + 0.05 + i * pitch
        tall = pitch * rng.uniform(0.3, 0.6) if i < 2 else 0.03
        rack = _wire_basket((x0 + 0.012, y0, floor), (x1 - 0.012, y1, floor + tall), rng)
        (make.move if i == chosen else make.fix)(rack, make.paints.metal)
        if i == chosen:
            level = ("bottom", "lower") if i == 0 else ("top", "upper")
            if count == 3 and i == 1:
                level = ("middle", "second")
            names = ["rack", "tray", "dish rack"]
            if count > 1:
                names += [f"{word} {noun}" for word in level for noun in ("rack", "basket")]
            centre = ((x0 + x1) / 2, (y0 + y1) / 2, floor + tall / 2)
            joint = slider((0, -1, 0), centre, (y1 - y0) * rng.uniform(0.6, 0.92))
            result = (joint, tuple(names))
    return result


def _wire_basket(
    low: tuple[float, float, float], high: tuple[float, float, float], rng: np.random.Generator
) -> np.ndarray:
    """A basket of bars, or one with closed sides."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    if chance(rng, 0.3):
        return solids.open_box(low, high, 0.006, "+z")
    wire = 0.004
    loops = []
    for z in (z0, z1):
        loops.append(
            solids.frame(
                (x0, y0, z - wire),
                (x1, y1, z + wire),
                (x0 + 2 * wire, y0 + 2 * wire, 0),
                (x1 - 2 * wire, y1 - 2 * wire, 0),
                "z",
            )
        )
    for x in np.linspace(x0, x1, 8):
        loops.append(solids.box((x - wire / 2, y0, z0), (x + wire / 2, y1, z0 + wire)))
        for y in (y0, y1):
            loops.append(
                solids.box((x - wire / 2, y - wire / 2, z0), (x + wire / 2, y + wire / 2, z1))
            )
    for y in np.linspace(y0, y1, 5)[1:-1]:
        for x in (x0, x1):
            loops.append(
                solids.box((x - wire / 2, y - wire / 2, z0), (x + wire / 2, y + wire / 2, z1))
            )
    return np.concatenate(loops)


KINDS = {"dishwasher": (3.2, dishwasher)}
