"""Garden gates and saloon doors between posts."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import fronts, leaves, solids
from atop_backend.synthetic.assembly import Assembly
from atop_backend.synthetic.doorways import Doorway, door_grip, leaf_of, surround, swing_words
from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.leaves import Opening
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.pieces import Paints, Pieces, chance, choose


def gate(rng: np.random.Generator) -> Draft:
    """A garden gate between posts: pickets, bars or boards; one leaf or two; some slide."""
    make = Assembly(rng, (WOODS, METALS, PAINTS))
    way = Doorway()
    double = chance(rng, 0.35)
    width = rng.uniform(1.6, 3.6) if double else rng.uniform(0.8, 1.6)
    height = rng.uniform(0.7, 1.8)
    post, thick = rng.uniform(0.05, 0.16), rng.uniform(0.025, 0.06)
    fence = rng.uniform(0.4, 1.2) if chance(rng, 0.4) else 0.0
    style = choose(rng, {"pickets": 4, "bars": 4, "boards": 2})
    tall = height * rng.uniform(1.0, 1.2)
    for s in (-1, 1):
        x = s * (width / 2 + post / 2)
        way.fixed.append((solids.box((x - post / 2, -post / 2, 0), (x + post / 2, post / 2, tall)),
                          make.paints.trim))  # fmt: skip
        if fence:
            a, b = sorted((x + s * post / 2, x + s * (post / 2 + fence)))
            section = Opening(a, b, 0.05, height, -thick / 2, thick / 2)
            way.fixed += _gate_leaf(rng, section, style, make.paints)
    if chance(rng, 0.15):
        way.fixed.append(
            (
                solids.box(
                    (-width / 2 - post, -post / 2, tall), (width / 2 + post, post / 2, tall + post)
                ),
                make.paints.trim,
            )
        )
    side = "left" if chance(rng, 0.5) else "right"
    joint = None
    spans = [("left", -width / 2, 0.0), ("right", 0.0, width / 2)] if double else [
        (side, -width / 2, width / 2)
    ]  # fmt: skip
    y = rng.choice([-0.5 * thick, -0.5 * post])
    for hinged, x0, x1 in spans:
        opening = Opening(x0, x1, rng.uniform(0.03, 0.1), height, y, y + thick).shrunk(0.012)
        pieces = _gate_leaf(rng, opening, style, make.paints)
        if chance(rng, 0.6):
            pieces += door_grip(rng, opening, hinged, make.paints, rng.uniform(0.55, 0.8))
        if hinged == side:
            way.moving += pieces
            upper = np.radians(np.clip(rng.normal(88, 12), 55, 115))
            joint = leaves.hinge_joint(opening, hinged, "outer", upper)  # type: ignore[arg-type]
        else:
            way.fixed += pieces
    assert joint is not None
    inwards = chance(rng, 0.45)
    joint = way.finish(make, joint, inwards)
    parts = ["gate", "gate", "garden gate"]
    if double:
        parts = ["gate", f"{side} gate", f"gate on the {side}", f"{side} leaf", f"{side} wing"]
    return make.draft("gate", joint, ("fence",) if fence else (), parts,
                      swing_words(rng, side, inwards))  # type: ignore[arg-type]  # fmt: skip


def _gate_leaf(rng: np.random.Generator, opening: Opening, style: str, paints: Paints) -> Pieces:
    """Pickets on rails, bars in a frame, or boards."""
    x0, x1, z0, z1, y0, y1 = opening
    thick, mid = y1 - y0, (y0 + y1) / 2
    if style == "boards":
        return fronts.front(rng, "planks", np.array([x0, y0, z0]), np.array([x1, y1, z1]), paints)
    count = int(np.clip((x1 - x0) / rng.uniform(0.09, 0.16), 4, 14))
    centres = np.linspace(x0, x1, count + 1)
    centres = (centres[:-1] + centres[1:]) / 2
    parts = []
    if style == "bars":
        rim = float(np.clip(0.04 * (x1 - x0), 0.02, 0.06))
        parts.append(solids.frame((x0, y0, z0), (x1, y1, z1), (x0 + rim, 0, z0 + rim),
                                  (x1 - rim, 0, z1 - rim), "y"))  # fmt: skip
        wide = 0.25 * thick
        parts += [solids.box((x - wide, mid - wide, z0 + rim), (x + wide, mid + wide, z1 - rim))
                  for x in centres]  # fmt: skip
        return [(np.concatenate(parts), paints.front)]
    wide = 0.32 * (x1 - x0) / count
    peak = chance(rng, 0.5)
    for x in centres:
        if peak:
            outline = [
                (x - wide, z0),
                (x + wide, z0),
                (x + wide, z1 - wide),
                (x, z1),
                (x - wide, z1 - wide),
            ]
            parts.append(solids.extrude(outline, "xz", y0, mid))
        else:
            parts.append(solids.box((x - wide, y0, z0), (x + wide, mid, z1)))
    for share in (0.15, 0.8):
        z = z0 + share * (z1 - z0)
        parts.append(solids.box((x0, mid, z - 0.03), (x1, y1, z + 0.03)))
    return [(np.concatenate(parts), paints.front)]


def saloon_door(rng: np.random.Generator) -> Draft:
    """A pair of short leaves between posts that swing both ways."""
    make = Assembly(rng, (WOODS, PAINTS))
    way = Doorway()
    width, height = rng.uniform(0.8, 1.4), rng.uniform(1.6, 2.2)
    deep, thick = rng.uniform(0.08, 0.16), rng.uniform(0.02, 0.04)
    surround(rng, make, way, Opening(-width / 2, width / 2, 0, height, 0, 0), (-deep / 2, deep / 2))
    z0, z1 = height * rng.uniform(0.2, 0.35), height * rng.uniform(0.65, 0.85)
    style = choose(rng, {"louvre": 4, "shaker": 1, "slab": 1, "planks": 1})
    side = "left" if chance(rng, 0.5) else "right"
    for hinged, x0, x1 in (("left", -width / 2, 0.0), ("right", 0.0, width / 2)):
        opening = Opening(x0, x1, z0, z1, -thick / 2, thick / 2).shrunk(0.6 * thick)
        pieces = leaf_of(rng, opening, style, make.paints)
        if hinged == side:
            way.moving += pieces
            joint = leaves.hinge_joint(opening, hinged, "middle", np.radians(rng.uniform(60, 95)))  # type: ignore[arg-type]
        else:
            way.fixed += pieces
    inwards = chance(rng, 0.5)
    joint = way.finish(make, joint, inwards)
    parts = ("door", f"{side} door", f"{side} saloon door", f"door on the {side}", "swing door")
    return make.draft(
        "saloon door", joint, (), parts, swing_words(rng, side, inwards), directed=True
    )  # type: ignore[arg-type]


KINDS = {"gate": (0.8, gate), "saloon door": (0.25, saloon_door)}
