"""Whole kitchen rows: base units, wall units, tall units and built-in appliances in one object."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from atop_backend.synthetic import leaves, solids
from atop_backend.synthetic.appliances import knobs
from atop_backend.synthetic.assembly import Assembly, niche
from atop_backend.synthetic.carcass import Body
from atop_backend.synthetic.cooking import drop_door, oven_look
from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.layout import split
from atop_backend.synthetic.leaves import Leaf, Opening
from atop_backend.synthetic.objects import MOVING, STATIC
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.pieces import chance, choose
from atop_backend.synthetic.storage import Fitting, Spec, divide, finish, install

_BASE = {"drawer_door": 4.0, "door": 3.0, "drawers": 3.0, "pullout": 0.4, "fixed": 0.3, "open": 0.3}
_WALL = {"door": 6.0, "flap": 1.5, "open": 0.8, "door_open": 0.6}
_TALL = {"door_door": 3.0, "door": 2.0, "door_drawers": 1.0, "door_open_drawer": 0.6}
_WORDS = ("kitchen", "kitchen unit", "kitchen counter", "kitchen cabinet", "kitchen", "counter")


def _spec(programs: dict[str, float]) -> Spec:
    return Spec("kitchen", _WORDS, (1, 1), (1, 1), (1, 1), (1,), programs, {"none": 1.0},
                most_drawers=4, natural=(PAINTS, WOODS))  # fmt: skip


class _Row:
    """The units of one kitchen: what they share, and what has been placed so far."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.make = Assembly(rng, (PAINTS, WOODS, PAINTS, METALS))
        self.thick = rng.uniform(0.014, 0.028)
        self.gap = rng.uniform(0.002, 0.006)
        self.wall = rng.uniform(0.014, 0.022)
        self.fittings: list[Fitting] = []

    def unit(self, body: Body, programs: dict[str, float]) -> None:
        """A cupboard with doors or drawers."""
        cells = divide(self.rng, _spec(programs), body, False)
        self.fittings.append(Fitting(body, cells, False, self.thick, self.gap, 0.0))

    def appliance(self, body: Body, kind: str, moves: bool) -> Leaf:
        """A built-in oven or dishwasher; its door folds down, if anything."""
        make, rng, low, high = self.make, self.rng, body.low, body.high
        wall = 0.04
        mouth = (low[0] + wall, high[0] - wall, low[2] + wall, high[2] - wall)
        make.fix(niche(low, high, mouth, body.depth - wall), make.paints.metal)
        top = high[2]
        if kind == "oven":
            top -= rng.uniform(0.08, 0.13)
            strip = solids.box(
                (low[0] + 0.003, low[1] - self.thick, top + 0.002),
                (high[0] - 0.003, low[1], high[2]),
            )
            make.fix(strip, make.paints.trim)
            shares = np.linspace(-0.38, 0.38, int(rng.integers(3, 6)))
            spots = [(body.middle + share * body.width, (top + high[2]) / 2) for share in shares]
            knobs(make, spots, low[1] - self.thick, 0.018)
        bottom = low[2] + (rng.uniform(0.0, 0.2) if kind == "oven" and chance(rng, 0.4) else 0.0)
        if bottom > low[2]:
            panel = solids.box(
                (low[0] + 0.003, low[1] - self.thick, low[2]),
                (high[0] - 0.003, low[1], bottom - 0.003),
            )
            make.fix(panel, make.paints.front)
        y = low[1]
        opening = Opening(low[0], high[0], bottom, top, y - self.thick, y).shrunk(0.002)
        upper = np.radians(rng.uniform(75, 90))
        window = 0.85 if kind == "oven" else 0.05
        leaf = drop_door(make, opening, oven_look(rng), upper, window)
        make.put(leaf, moves)
        return leaf


def kitchen(rng: np.random.Generator) -> Draft:
    """A row of units; one door or drawer of it moves."""
    row = _Row(rng)
    make = row.make
    width, depth = rng.uniform(1.4, 3.4), rng.uniform(0.5, 0.65)
    foot, height = rng.uniform(0.06, 0.15), rng.uniform(0.82, 0.94)
    x0, x1 = -width / 2, width / 2
    tall = chance(rng, 0.3)
    if tall:
        wide = rng.uniform(0.5, 0.75)
        left = chance(rng, 0.5)
        middle = x0 + wide / 2 if left else x1 - wide / 2
        body = Body(wide, depth, rng.uniform(1.9, 2.2) - foot, foot, row.wall, True, middle)
        row.unit(body, _TALL)
        x0, x1 = (x0 + wide, x1) if left else (x0, x1 - wide)
    count = max(2, round((x1 - x0) / rng.uniform(0.45, 0.75)))
    edges = split(rng, x0, x1, count)
    fixed = int(rng.integers(count)) if chance(rng, 0.5) else -1
    folds = chance(rng, 0.2)  # the appliance's door is what moves
    device, device_leaf = choose(rng, {"oven": 2, "dishwasher": 1}), None
    for i, (a, b) in enumerate(pairwise(edges)):
        body = Body(b - a, depth, height - foot, foot, row.wall, True, (a + b) / 2)
        if i == fixed:
            device_leaf = row.appliance(body, device, folds)
        else:
            row.unit(body, _BASE)
    make.fix(solids.box((-width / 2, -depth / 2 + 0.05, 0), (width / 2, depth / 2, foot)),
             make.paints.trim)  # fmt: skip
    _worktop(row, x0, x1, depth, height, fixed >= 0, edges, fixed)
    if chance(rng, 0.6):
        _wall_units(
            row, x0, x1, depth, height, (edges[fixed], edges[fixed + 1]) if fixed >= 0 else None
        )
    look = leaves.any_look(rng)
    if look.line != "outer":
        look = look._replace(line="outer" if chance(rng, 0.7) else "middle")
    spec = _spec(_BASE)._replace(handle_height=None if chance(rng, 0.4) else 0.8)
    part = STATIC if folds and device_leaf is not None else MOVING
    leaf, parts = install(rng, make.builder, make.paints, row.fittings, look, spec, part)
    if folds and device_leaf is not None:
        leaf, parts = device_leaf, ("door", f"{device} door", f"{device} door", f"{device}'s door")
    return finish(rng, spec, make.builder, leaf, parts)


def _worktop(
    row: _Row,
    x0: float,
    x1: float,
    depth: float,
    height: float,
    hob: bool,
    edges: np.ndarray,
    at: int,
) -> None:
    """The board on the base units, with a sink, a tap, a hob and a splashback."""
    make, rng = row.make, row.rng
    thick, out = rng.uniform(0.02, 0.05), row.thick + rng.uniform(0.0, 0.03)
    top = height + thick
    make.fix(solids.box((x0, -depth / 2 - out, height), (x1, depth / 2, top)), make.paints.top)
    if chance(rng, 0.5):
        tall = rng.uniform(0.05, 0.6)
        make.fix(solids.box((x0, depth / 2, height), (x1, depth / 2 + 0.02, top + tall)),
                 make.paints.panel)  # fmt: skip
    if hob and chance(rng, 0.7):
        middle = (edges[at] + edges[at + 1]) / 2
        make.fix(solids.box((middle - 0.25, -0.2, top), (middle + 0.25, 0.2, top + 0.006)),
                 make.paints.dark)  # fmt: skip
    if chance(rng, 0.5):
        x = rng.uniform(x0 + 0.35, x1 - 0.35) if x1 - x0 > 0.8 else (x0 + x1) / 2
        rim = solids.frame((x - 0.25, -0.18, top), (x + 0.25, 0.2, top + 0.008),
                           (x - 0.22, -0.15, 0), (x + 0.22, 0.13, 0), "z")  # fmt: skip
        basin = solids.box((x - 0.22, -0.15, top), (x + 0.22, 0.13, top + 0.002))
        make.fix(rim, make.paints.metal)
        make.fix(basin, make.paints.dark)
        path = [(x, 0.17, top), (x, 0.17, top + 0.25), (x, 0.05, top + 0.28), (x, 0.0, top + 0.2)]
        make.fix(solids.tube(path, 0.012, 6), make.paints.metal)


def _wall_units(
    row: _Row,
    x0: float,
    x1: float,
    depth: float,
    height: float,
    hob: tuple[float, float] | None,
) -> None:
    """Units that hang above the worktop; a hood over the hob."""
    make, rng = row.make, row.rng
    base, tall, deep = (
        height + rng.uniform(0.45, 0.65),
        rng.uniform(0.35, 0.8),
        rng.uniform(0.28, 0.38),
    )
    back = depth / 2
    spans = [(x0, x1)]
    if hob is not None:
        spans = [(x0, hob[0]), (hob[1], x1)]
        middle, half = (hob[0] + hob[1]) / 2, (hob[1] - hob[0]) / 2
        section = [(back - 0.45, base), (back, base), (back, base + 0.3), (back - 0.2, base + 0.12)]
        make.fix(solids.extrude(section, "yz", middle - 0.9 * half, middle + 0.9 * half),
                 make.paints.metal)  # fmt: skip
        make.fix(
            solids.box(
                (middle - 0.12, back - 0.22, base + 0.1), (middle + 0.12, back, base + tall)
            ),
            make.paints.metal,
        )
    for a, b in spans:
        if b - a < 0.25:
            continue
        edges = split(rng, a, b, max(1, round((b - a) / rng.uniform(0.4, 0.8))))
        for left, right in pairwise(edges):
            body = Body(right - left, deep, tall, base, row.wall, True, (left + right) / 2,
                        back - deep / 2)  # fmt: skip
            if chance(rng, 0.92):
                row.unit(body, _WALL)


def island(rng: np.random.Generator) -> Draft:
    """Base units side by side below one overhanging worktop."""
    row = _Row(rng)
    make = row.make
    width, depth = rng.uniform(0.9, 2.2), rng.uniform(0.55, 0.95)
    foot, height = rng.uniform(0.04, 0.14), rng.uniform(0.84, 0.95)
    edges = split(rng, -width / 2, width / 2, int(rng.integers(2, 5)))
    for a, b in pairwise(edges):
        row.unit(Body(b - a, depth, height - foot, foot, row.wall, True, (a + b) / 2), _BASE)
    inset = rng.uniform(0.0, 0.06)
    make.fix(
        solids.box(
            (-width / 2 + inset, -depth / 2 + 0.04, 0), (width / 2 - inset, depth / 2 - inset, foot)
        ),
        make.paints.trim,
    )
    out, side, back = rng.uniform(0.03, 0.12), rng.uniform(0.0, 0.2), rng.uniform(0.0, 0.4)
    make.fix(solids.box((-width / 2 - side, -depth / 2 - out, height),
                        (width / 2 + side, depth / 2 + back, height + rng.uniform(0.02, 0.06))),
             make.paints.top)  # fmt: skip
    look = leaves.any_look(rng)._replace(line="outer" if chance(rng, 0.6) else "middle")
    spec = _spec(_BASE)._replace(
        objects=("kitchen island", "island", "kitchen counter", "counter", "kitchen block")
    )
    leaf, parts = install(rng, make.builder, make.paints, row.fittings, look, spec)
    return finish(rng, spec, make.builder, leaf, parts)


KINDS = {"kitchen": (2.5, kitchen), "kitchen island": (1.2, island)}
