"""What cabinets stand on, are boxed in by and carry on top."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atop_backend.synthetic import solids
from atop_backend.synthetic.pieces import Paints, Pieces, chance, choose


class Body(NamedTuple):
    """A box with its front at -Y, standing `base` above the floor; metres."""

    width: float
    depth: float
    height: float  # of the box alone
    base: float  # from the floor to the box
    wall: float
    hollow: bool
    middle: float = 0.0  # x of its middle
    setback: float = 0.0  # y of its middle

    @property
    def low(self) -> np.ndarray:
        """Lower left front corner."""
        y = self.setback - self.depth / 2
        return np.array([self.middle - self.width / 2, y, self.base])

    @property
    def high(self) -> np.ndarray:
        """Upper right back corner."""
        y = self.setback + self.depth / 2
        return np.array([self.middle + self.width / 2, y, self.base + self.height])


def shell(rng: np.random.Generator, body: Body, paints: Paints) -> Pieces:
    """The box itself: solid, hollow, without a back, or of separate boards."""
    low, high, wall = body.low, body.high, body.wall
    if not body.hollow:
        return [(solids.box(low, high), paints.body)]
    style = choose(rng, {"box": 6.0, "backless": 1.0, "boards": 3.0})
    if style == "box":
        return [(solids.open_box(low, high, wall, "-y"), paints.body)]
    inset = np.array([wall, 0.0, wall])
    if style == "backless":
        return [(solids.frame(low, high, low + inset, high - inset, "y"), paints.body)]
    (x0, y0, z0), (x1, y1, z1) = low, high
    top_out = 0.0 if chance(rng, 0.5) else 0.002
    boards = [
        solids.box((x0, y0, z0), (x0 + wall, y1, z1)),
        solids.box((x1 - wall, y0, z0), (x1, y1, z1)),
        solids.box((x0 + wall, y0 + 1e-3, z0), (x1 - wall, y1, z0 + wall)),
        solids.box((x0 - top_out, y0 - top_out, z1 - wall), (x1 + top_out, y1, z1 + 1e-4)),
    ]
    back = solids.box((x0 + wall, y1 - 0.4 * wall, z0 + wall), (x1 - wall, y1, z1 - wall))
    inner = paints.inside if chance(rng, 0.4) else paints.body
    return [(np.concatenate(boards), paints.body), (back, inner)]


def base(rng: np.random.Generator, style: str, body: Body, paints: Paints) -> Pieces:
    """What the box stands on: fills the gap of height `body.base` below it."""
    tall = body.base
    if tall <= 0.0 or style == "none":
        return []
    (x0, y0, _), (x1, y1, _) = body.low, body.high
    if style == "plinth":
        back = rng.uniform(0.0, 0.08)
        side = rng.uniform(0.0, 0.03)
        plinth = solids.box((x0 + side, y0 + back, 0), (x1 - side, y1, tall))
        return [(plinth, paints.trim)]
    if style == "sides":
        wide = body.wall
        cheeks = [
            solids.box((x0, y0, 0), (x0 + wide, y1, tall)),
            solids.box((x1 - wide, y0, 0), (x1, y1, tall)),
        ]
        return [(np.concatenate(cheeks), paints.body)]
    if style == "sled":
        bar = rng.uniform(0.008, 0.018)
        loops = []
        for x in (x0 + 0.03, x1 - 0.03):
            path = [
                (x, y0 + 0.04, tall), (x, y0 + 0.04, bar), (x, y1 - 0.04, bar), (x, y1 - 0.04, tall)
            ]  # fmt: skip
            loops.append(solids.tube(path, bar, 4))
        return [(np.concatenate(loops), paints.metal)]
    return [(_legs(rng, style, body), paints.metal if style == "casters" else paints.trim)]


def _legs(rng: np.random.Generator, style: str, body: Body) -> np.ndarray:
    """Four legs, or six under a wide box: square, turned, tapered, splayed, or on casters."""
    tall = body.base
    (x0, y0, _), (x1, y1, _) = body.low, body.high
    thick = float(np.clip(0.04 * min(body.width, body.depth), 0.012, 0.035)) * rng.uniform(0.6, 1.3)
    inset = thick + rng.uniform(0.0, 0.08) * min(body.width, body.depth)
    xs = [x0 + inset, x1 - inset]
    if body.width > 1.6:
        xs.insert(1, body.middle)
    splay = rng.uniform(0.1, 0.3) * tall if chance(rng, 0.4) else 0.0
    legs = []
    for x in xs:
        for y in (y0 + inset, y1 - inset):
            if style == "legs_square":
                legs.append(solids.box((x - thick, y - thick, 0), (x + thick, y + thick, tall)))
            elif style == "casters":
                size = 0.45 * tall
                legs.append(solids.cylinder((x - 0.3 * size, y, size), (0.6 * size, 0, 0), size,
                                            segments=10))  # fmt: skip
                legs.append(solids.box((x - 0.2 * size, y - 0.2 * size, size * 1.5),
                                       (x + 0.2 * size, y + 0.2 * size, tall)))  # fmt: skip
            else:
                shift = np.array([np.sign(x - body.middle) * splay, np.sign(y) * splay, 0.0])
                taper = rng.uniform(1.0, 2.2)
                foot = np.array([x, y, 0.0]) + shift
                legs.append(
                    solids.cylinder(foot, (x, y, tall) - foot, thick / taper, thick, segments=8)
                )
    return np.concatenate(legs)


def top(rng: np.random.Generator, style: str, body: Body, paints: Paints, out: float) -> Pieces:
    """A board on the box.

    Args:
        rng: Draws thickness and shape.
        style: "none", "flush", "overhang" or "rounded".
        body: The box below.
        paints: Materials.
        out: Thickness of the fronts that stand before the box; the board covers them.
    """
    if style == "none":
        return []
    (x0, y0, _), (x1, y1, z1) = body.low, body.high
    thick = rng.uniform(0.012, 0.05)
    side = 0.0 if style == "flush" else rng.uniform(0.005, 0.04)
    front = out if style == "flush" else out + rng.uniform(0.0, 0.05)
    back = 0.0 if chance(rng, 0.6) else side
    if style == "rounded":
        outline = solids.rounded_rectangle(
            (x0 - side, y0 - front), (x1 + side, y1 + back), rng.uniform(0.02, 0.15), 3
        )
        return [(solids.extrude(outline, "xy", z1, z1 + thick), paints.top)]
    board = solids.box((x0 - side, y0 - front, z1), (x1 + side, y1 + back, z1 + thick))
    return [(board, paints.top)]


def shelves(
    rng: np.random.Generator,
    low: np.ndarray,
    high: np.ndarray,
    count: int,
    paints: Paints,
    things: bool = False,
) -> Pieces:
    """Boards, and things on them where wanted, in a compartment between two corners."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    thick = 0.015
    pieces: Pieces = []
    levels = z0 + (z1 - z0) * (np.arange(1, count + 1) / (count + 1))
    for level in levels:
        board = solids.box((x0, y0, level - thick / 2), (x1, y1, level + thick / 2))
        pieces.append((board, paints.inside))
    if things:
        pitch = (z1 - z0) / (count + 1)
        for floor in (z0, *levels[:2]):
            pieces += _things(rng, (x0, y0, floor), (x1, y1, floor + pitch), paints)
    return pieces


def _things(
    rng: np.random.Generator,
    low: tuple[float, float, float],
    high: tuple[float, float, float],
    paints: Paints,
) -> Pieces:
    """A few books, boxes or vessels standing in a row."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    pieces: Pieces = []
    x = x0 + rng.uniform(0.05, 0.3) * (x1 - x0)
    colours = (paints.accent, paints.dark, paints.handle, paints.trim)
    for _ in range(int(rng.integers(1, 5))):
        wide = rng.uniform(0.03, 0.2) * (x1 - x0)
        tall = rng.uniform(0.35, 0.8) * (z1 - z0)
        if x + wide > x1 - 0.02:
            break
        deep = rng.uniform(0.4, 0.8) * (y1 - y0)
        paint = colours[int(rng.integers(len(colours)))]
        base = z0 + 0.008
        pieces.append((solids.box((x, y1 - deep, base), (x + wide, y1 - 0.02, base + tall)), paint))
        x += wide + rng.uniform(0.003, 0.05)
    return pieces
