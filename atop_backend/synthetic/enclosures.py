"""Boxes behind one big door: fuse boxes, wood stoves, vending machines, racks, show cases."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import carcass, leaves, solids
from atop_backend.synthetic.appliances import window_door
from atop_backend.synthetic.assembly import Assembly, feet, niche
from atop_backend.synthetic.cues import hinges
from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.leaves import Leaf, Look, hinge_joint
from atop_backend.synthetic.openings import HingeSide, Opening
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.pieces import Pieces, chance, choose


def _side(rng: np.random.Generator) -> HingeSide:
    return "left" if chance(rng, 0.5) else "right"


def _marked(rng: np.random.Generator, look: Look) -> Look:
    """A look whose doors show their free edge by a lock more often than by a handle."""
    handle = choose(rng, {"none": 5, "latch": 2, "knob": 1, "grip": 1.5, "u": 1})
    edge = choose(rng, {"lock": 5, "tab": 1.5, "recess": 1, "none": 1.5})
    return look._replace(handle=handle, edge=edge, handle_height=0.5, handle_length=0.3)


def _upper(rng: np.random.Generator, most: float = 150.0) -> float:
    return float(np.radians(np.clip(rng.normal(100, 18), 65, most)))


def wall_box(rng: np.random.Generator) -> Draft:
    """A shallow box on a wall: fuses, keys, medicines, a meter; its door has a lock or a latch."""
    make = Assembly(rng, (METALS, PAINTS))
    width, height, depth = rng.uniform(0.2, 0.6), rng.uniform(0.25, 0.9), rng.uniform(0.06, 0.22)
    low, high = np.array([-width / 2, -depth / 2, 0.0]), np.array([width / 2, depth / 2, height])
    wall = rng.uniform(0.006, 0.03)
    make.fix(solids.open_box(low, high, wall, "-y"), make.paints.body)
    inset = chance(rng, 0.3)
    thick = min(rng.uniform(0.003, 0.02), 0.25 * depth)
    edge = wall if inset else rng.uniform(-0.006, 0.004)
    y0 = low[1] if inset else low[1] - thick
    opening = Opening(low[0] + edge, high[0] - edge, low[2] + edge, high[2] - edge, y0, y0 + thick)
    opening = opening.shrunk(0.002)
    look = _marked(rng, leaves.any_look(rng))._replace(
        door=choose(rng, {"slab": 5, "bevelled": 1, "glass": 1.5, "raised": 1, "sheet": 0.7}),
        line="outer",
    )
    side: HingeSide = "top" if chance(rng, 0.08) else _side(rng)
    leaf = leaves.door(rng, opening, side, look, make.paints, _upper(rng))
    make.put(leaf, moving=True)
    form = choose(rng, {"fuses": 2, "shelves": 1.5, "empty": 1})
    back = high[1] - wall
    if form == "fuses":
        for z in np.linspace(0.25, 0.75, int(rng.integers(1, 4))) * height:
            for x in np.linspace(-0.3, 0.3, int(rng.integers(4, 8))) * width:
                fuse = solids.box((x - 0.03 * width, back - 0.3 * depth, z - 0.03),
                                  (x + 0.03 * width, back, z + 0.03))  # fmt: skip
                make.fix(fuse, make.paints.dark)
    elif form == "shelves":
        inner = low + wall + np.array([0, thick + 0.01, 0]), high - wall
        make.fix_all(carcass.shelves(rng, *inner, int(rng.integers(1, 4)), make.paints, True))
    objects = {
        "fuses": ("fuse box", "electrical panel", "switch box", "electrical cabinet", "meter box"),
        "shelves": ("medicine cabinet", "first aid cabinet", "bathroom cabinet", "wall cabinet"),
        "empty": ("key cabinet", "key box", "junction box", "metal box", "mailbox"),
    }[form]
    return make.draft_leaf("wall box", leaf, objects, ("door", "door", "cover", "front"))


def stove(rng: np.random.Generator) -> Draft:
    """A stove for wood on short legs, with a chimney pipe and a door on visible hinges."""
    make = Assembly(rng, (METALS[3:6], METALS, PAINTS))
    width, depth, height = rng.uniform(0.4, 0.8), rng.uniform(0.35, 0.6), rng.uniform(0.55, 1.1)
    base = rng.uniform(0.05, 0.25)
    low, high = np.array([-width / 2, -depth / 2, base]), np.array([width / 2, depth / 2, height])
    make.fix(feet(low, high, base, 0.03), make.paints.body)
    rim, lower = rng.uniform(0.03, 0.12) * width, rng.uniform(0.05, 0.3) * (height - base)
    x0, x1 = low[0] + rim, high[0] - rim
    z0, z1 = low[2] + lower, high[2] - rng.uniform(0.05, 0.15) * (height - base)
    mouth = (x0 + 0.02, x1 - 0.02, z0 + 0.02, z1 - 0.02)
    make.fix(niche(low, high, mouth, 0.75 * depth), make.paints.body)
    plate = rng.uniform(0.01, 0.04)
    lid = (low[0] - plate, low[1] - 0.05, height), (high[0] + plate, high[1], height + 0.02)
    make.fix(solids.box(*lid), make.paints.top)
    if chance(rng, 0.7):
        make.fix(
            solids.cylinder((0, 0.1 * depth, height), (0, 0, rng.uniform(0.2, 0.8)), 0.07,
                            segments=12), make.paints.metal,
        )  # fmt: skip
    if chance(rng, 0.6):
        for share in np.linspace(0.1, 0.6, int(rng.integers(2, 5))):
            z = z0 + 0.03 + 0.2 * (z1 - z0) * share
            log = solids.cylinder((0.7 * x0, -0.1 * depth + 0.4 * share * depth, z + 0.05),
                                  (0.7 * (x1 - x0), 0, 0), 0.04, segments=7)  # fmt: skip
            make.fix(log, make.paints.accent)
    thick = rng.uniform(0.015, 0.04)
    opening = Opening(x0, x1, z0, z1, low[1] - thick, low[1])
    side = _side(rng)
    pieces = window_door(rng, opening, make.paints, 0.75, rng.uniform(0.1, 0.2))
    look = leaves.any_look(rng)._replace(
        handle=choose(rng, {"bar": 2, "u": 2, "round_bar": 2, "latch": 2, "knob": 2, "none": 1}),
        handle_length=0.35, handle_height=float(rng.uniform(0.4, 0.6)),
    )  # fmt: skip
    pieces += leaves.door_handle(rng, opening, side, look, make.paints)
    knuckle = rng.uniform(0.008, 0.018)
    joint = hinge_joint(opening, side, "outer", _upper(rng), knuckle)
    fixed: Pieces = []
    shown = chance(rng, 0.8)
    if shown:
        turning, fixed = hinges(rng, opening, side, "knuckles", joint, knuckle, make.paints)
        pieces += turning
    leaf = Leaf(pieces, fixed, joint, side, look.handle == "none" and not shown)
    make.put(leaf, moving=True)
    objects = ("wood stove", "stove", "wood burning stove", "fireplace", "furnace", "oven")
    return make.draft_leaf("stove", leaf, objects, ("door", "door", "glass door", "front door"))


def vending_machine(rng: np.random.Generator) -> Draft:
    """A tall machine whose whole front swings open, its keys and its lock beside the free edge."""
    make = Assembly(rng)
    width, depth, height = rng.uniform(0.7, 1.1), rng.uniform(0.6, 0.85), rng.uniform(1.6, 2.0)
    low, high = np.array([-width / 2, -depth / 2, 0.03]), np.array([width / 2, depth / 2, height])
    make.fix(feet(low, high, 0.03, 0.03), make.paints.dark)
    make.fix(solids.open_box(low, high, 0.03, "-y"), make.paints.body)
    inner = low + 0.035 + np.array([0, 0.04, 0]), high - 0.035
    make.fix_all(carcass.shelves(rng, *inner, int(rng.integers(3, 7)), make.paints))
    thick = rng.uniform(0.04, 0.12)
    opening = Opening(low[0], high[0], low[2], high[2], low[1] - thick, low[1]).shrunk(0.003)
    side = _side(rng)
    strip, free = rng.uniform(0.18, 0.3) * width, -1.0 if side == "right" else 1.0
    face, z = opening.y0, low[2] + 0.3 * height

    def plate(
        across: tuple[float, float], tall: tuple[float, float], paint: int, out: float = 0.004
    ) -> None:
        a, b = sorted(free * (width / 2 - x) for x in across)
        pieces.append((solids.box((a, face - out, tall[0]), (b, face, tall[1])), paint))

    corners = (opening.x0, face, opening.z0), (opening.x1, opening.y1, opening.z1)
    pieces: Pieces = [(solids.box(*corners), make.paints.front)]
    plate((strip, width - 0.06), (z, height - 0.1), make.paints.glass)
    plate((strip, width - 0.06), (0.15, z - 0.06), make.paints.dark)
    plate((0.25 * strip, 0.75 * strip), (0.65 * height, 0.72 * height), make.paints.dark)
    for i in range(int(rng.integers(2, 5)) * 2):
        at, level = strip * (0.35 + 0.3 * (i % 2)), (0.6 - 0.05 * (i // 2)) * height
        plate((at - 0.02, at + 0.02), (level - 0.02, level + 0.02), make.paints.accent, 0.01)
    plate((0.3 * strip, 0.7 * strip), (0.3 * height, 0.34 * height), make.paints.metal, 0.01)
    joint = hinge_joint(opening, side, "middle" if chance(rng, 0.5) else "inner", _upper(rng, 120))
    leaf = Leaf(pieces, [], joint, side)
    make.put(leaf, moving=True)
    objects = ("vending machine", "snack machine", "drinks machine", "vending machine")
    return make.draft_leaf(
        "vending machine", leaf, objects, ("door", "front door", "front", "door")
    )


def rack(rng: np.random.Generator) -> Draft:
    """A cabinet for servers: a slotted, glazed or plain door, its latch halfway up."""
    make = Assembly(rng, (METALS[3:6], METALS, PAINTS))
    width, depth, height = rng.uniform(0.45, 0.8), rng.uniform(0.4, 0.9), rng.uniform(0.4, 2.0)
    base = rng.uniform(0.0, 0.08)
    low, high = np.array([-width / 2, -depth / 2, base]), np.array([width / 2, depth / 2, height])
    make.fix(solids.open_box(low, high, 0.025, "-y"), make.paints.body)
    if base > 0.01:
        make.fix(feet(low, high, base, 0.025), make.paints.dark)
    level, top = low[2] + 0.05, high[2] - 0.1
    while level < top and chance(rng, 0.9):
        tall = 0.045 * int(rng.integers(1, 5))
        end = min(level + tall, top) - 0.006
        unit = solids.box((low[0] + 0.05, low[1] + 0.06, level),
                          (high[0] - 0.05, high[1] - 0.1, end))  # fmt: skip
        make.fix(unit, make.paints.dark if chance(rng, 0.6) else make.paints.metal)
        level += tall + (0.1 if chance(rng, 0.3) else 0.0)
    thick = rng.uniform(0.01, 0.03)
    opening = Opening(low[0], high[0], low[2], high[2], low[1] - thick, low[1]).shrunk(0.003)
    look = leaves.any_look(rng)._replace(
        door=choose(rng, {"glass": 3, "lattice": 2, "louvre": 1.5, "slab": 2, "shaker": 1}),
        handle=choose(rng, {"grip": 4, "latch": 2, "bar": 1.5, "none": 1}),
        handle_length=0.3, handle_margin=0.03, handle_height=0.5,
    )  # fmt: skip
    leaf = leaves.door(rng, opening, _side(rng), look, make.paints, _upper(rng))
    make.put(leaf, moving=True)
    objects = ("server rack", "rack", "network cabinet", "server cabinet", "cabinet")
    return make.draft_leaf("rack", leaf, objects, ("door", "door", "front door", "rack door"))


def show_case(rng: np.random.Generator) -> Draft:
    """A case of glass on a plinth or legs; one of its panes is a door with a small lock."""
    make = Assembly(rng, (WOODS, METALS, PAINTS))
    width, depth = rng.uniform(0.35, 1.0), rng.uniform(0.35, 0.6)
    foot, tall = rng.uniform(0.1, 0.9), rng.uniform(0.35, 1.2)
    low, high = (
        np.array([-width / 2, -depth / 2, foot]),
        np.array([width / 2, depth / 2, foot + tall]),
    )
    post, thin = rng.uniform(0.012, 0.03), 0.008
    make.fix(solids.box((low[0], low[1], 0), (high[0], high[1], foot)), make.paints.body)
    for x in (low[0], high[0] - post):
        for y in (low[1], high[1] - post):
            make.fix(solids.box((x, y, foot), (x + post, y + post, high[2])), make.paints.trim)
    make.fix(solids.box((low[0], low[1], high[2]), (high[0], high[1], high[2] + post)),
             make.paints.trim)  # fmt: skip
    for x in (low[0], high[0] - thin):
        pane = solids.box((x, low[1] + post, foot), (x + thin, high[1] - post, high[2]))
        make.fix(pane, make.paints.glass)
    make.fix(solids.box((low[0] + post, high[1] - thin, foot), (high[0] - post, high[1], high[2])),
             make.paints.glass)  # fmt: skip
    inner = low + post + np.array([0, 0.02, 0]), high - post
    make.fix_all(carcass.shelves(rng, *inner, int(rng.integers(0, 3)), make.paints, True))
    y0 = low[1] - rng.uniform(0.008, 0.016)
    opening = Opening(low[0], high[0], foot, high[2], y0, low[1]).shrunk(0.002)
    look = _marked(rng, leaves.any_look(rng))._replace(
        door="glass" if chance(rng, 0.75) else "slab", line="outer"
    )
    paints = make.paints if look.door == "glass" else make.paints._replace(front=make.paints.glass)
    leaf = leaves.door(rng, opening, _side(rng), look, paints, _upper(rng))
    make.put(leaf, moving=True)
    objects = ("display case", "show case", "glass cabinet", "display cabinet", "vitrine")
    return make.draft_leaf("display case", leaf, objects, ("door", "door", "glass door", "front"))


KINDS = {
    "wall box": (1.2, wall_box),
    "stove": (0.7, stove),
    "vending machine": (0.5, vending_machine),
    "rack": (0.5, rack),
    "display case": (0.5, show_case),
}
