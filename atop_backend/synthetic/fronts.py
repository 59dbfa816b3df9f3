"""Fronts of doors and drawers: upright rectangular leaves in many styles, facing -Y."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from atop_backend.synthetic import solids
from atop_backend.synthetic.pieces import Paints, Pieces, chance, choose

DOORS = {
    "slab": 8.0, "shaker": 4.0, "glass": 2.0, "louvre": 0.8, "raised": 2.0, "planks": 0.8,
    "rounded": 0.8, "bevelled": 1.0, "double_panel": 1.2, "bowed": 0.5, "lattice": 0.6,
    "sheet": 0.5,
}  # fmt: skip
DRAWERS = {"slab": 8.0, "shaker": 2.5, "raised": 1.5, "bevelled": 1.2, "rounded": 0.6, "bowed": 0.4}


def any_style(rng: np.random.Generator, drawer: bool = False) -> str:
    """A style drawn by how common it is."""
    return choose(rng, DRAWERS if drawer else DOORS)


def front(
    rng: np.random.Generator,
    style: str,
    low: np.ndarray,
    high: np.ndarray,
    paints: Paints,
) -> Pieces:
    """A leaf that fills the box from `low` to `high`, its outer face at `low[1]`.

    Decoration never stands out of the box by more than a fifth of its thickness.
    """
    (x0, y0, z0), (x1, y1, z1) = low, high
    width, thick, height = x1 - x0, y1 - y0, z1 - z0
    small = min(width, height)
    rim = float(np.clip(small * rng.uniform(0.12, 0.24), 0.01, 0.11))
    match style:
        case "slab":
            return [(solids.box(low, high), paints.front)]
        case "sheet":  # one face without thickness, as in many low-polygon models
            return [(solids.box(low, high)[[4, 5]], paints.front)]
        case "shaker":
            return _framed(rng, low, high, rim, paints.panel, paints)
        case "glass":
            return _framed(rng, low, high, rim * rng.uniform(0.4, 1.0), paints.glass, paints)
        case "louvre":
            return _louvred(rng, low, high, rim, paints)
        case "raised":
            out = 0.2 * thick
            raised = solids.box((x0 + rim, y0 - out, z0 + rim), (x1 - rim, y0, z1 - rim))
            return [(solids.box(low, high), paints.front), (raised, paints.panel)]
        case "planks":
            count = int(np.clip(round(width / rng.uniform(0.07, 0.15)), 2, 7))
            edges = np.linspace(x0, x1, count + 1)
            gap = 0.04 * width / count
            pieces = [
                (solids.box((a + gap, y0, z0), (b - gap, y1 - 0.3 * thick, z1)), paints.front)
                for a, b in pairwise(edges)
            ]
            back = solids.box((x0, y1 - 0.35 * thick, z0), (x1, y1, z1))
            return [*pieces, (back, paints.front)]
        case "rounded":
            corner = small * rng.uniform(0.05, 0.3)
            outline = solids.rounded_rectangle((x0, z0), (x1, z1), corner)
            return [(solids.extrude(outline, "xz", y0, y1), paints.front)]
        case "bevelled":
            cut = min(0.6 * thick, 0.1 * small)
            side = [(x0, y1), (x1, y1), (x1, y0 + cut), (x1 - cut, y0), (x0 + cut, y0)]
            side.append((x0, y0 + cut))
            return [(solids.extrude(side, "xy", z0, z1), paints.front)]
        case "double_panel":
            split = z0 + height * rng.uniform(0.35, 0.65)
            lower = _framed(rng, low, np.array([x1, y1, split]), rim * 0.7, paints.panel, paints)
            upper = np.array([x0, y0, split])
            fill = paints.glass if chance(rng, 0.3) else paints.panel
            return lower + _framed(rng, upper, high, rim * 0.7, fill, paints)
        case "bowed":
            turn = np.linspace(-1, 1, 7)
            arc = np.stack([x0 + width * (turn + 1) / 2, y0 + 0.5 * thick * turn**2], axis=1)
            outline = np.concatenate([[[x0, y1]], arc, [[x1, y1]]])
            return [(solids.extrude(outline, "xy", z0, z1), paints.front)]
        case "lattice":
            return _latticed(rng, low, high, rim * 0.6, paints)
    raise ValueError(f"unknown front {style!r}")


def _ring(low: np.ndarray, high: np.ndarray, rim: float) -> np.ndarray:
    """The outer frame of a leaf."""
    inset = np.array([rim, 0.0, rim])
    return solids.frame(low, high, np.asarray(low) + inset, np.asarray(high) - inset, "y")


def _framed(
    rng: np.random.Generator,
    low: np.ndarray,
    high: np.ndarray,
    rim: float,
    fill: int,
    paints: Paints,
) -> Pieces:
    """A frame around a thinner panel."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    rim = min(rim, 0.35 * min(x1 - x0, z1 - z0))
    near, far = y0 + (y1 - y0) * rng.uniform(0.2, 0.5), y1 - (y1 - y0) * rng.uniform(0.0, 0.35)
    panel = solids.box((x0 + rim, near, z0 + rim), (x1 - rim, far, z1 - rim))
    return [(_ring(low, high, rim), paints.front), (panel, fill)]


def _louvred(
    rng: np.random.Generator, low: np.ndarray, high: np.ndarray, rim: float, paints: Paints
) -> Pieces:
    """A frame around tilted slats, open or with a board behind."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    rim = min(rim, 0.2 * min(x1 - x0, z1 - z0))
    thick, inner = y1 - y0, z1 - z0 - 2 * rim
    count = int(np.clip(round(inner / rng.uniform(0.06, 0.14)), 3, 9))
    pitch = inner / count
    # A slat's section leans outwards and down, within the leaf's thickness.
    rise, plump = 0.75 * pitch, 0.2 * pitch
    section = np.array([(0.1, 0.0), (0.9, rise), (0.9, rise + plump), (0.1, plump)])
    section[:, 0] = y0 + thick * section[:, 0]
    slat = solids.extrude(section, "yz", x0 + rim, x1 - rim)
    levels = z0 + rim + pitch * np.arange(count)
    slats = np.concatenate([slat + np.array([0.0, 0.0, level]) for level in levels])
    pieces = [(_ring(low, high, rim), paints.front), (slats, paints.panel)]
    if chance(rng, 0.5):
        board = solids.box((x0 + rim, y1 - 0.1 * thick, z0 + rim), (x1 - rim, y1, z1 - rim))
        pieces.append((board, paints.panel))
    return pieces


def _latticed(
    rng: np.random.Generator, low: np.ndarray, high: np.ndarray, rim: float, paints: Paints
) -> Pieces:
    """A frame with muntins, usually in front of glass."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    rim = min(rim, 0.2 * min(x1 - x0, z1 - z0))
    pieces = _framed(rng, low, high, rim, paints.glass, paints)
    if chance(rng, 0.2):
        pieces.pop()  # bars only
    columns = int(rng.integers(1, 4))
    rows = int(rng.integers(1, 5)) if columns > 1 else int(rng.integers(2, 5))
    bar, back = rim * rng.uniform(0.15, 0.35), y0 + 0.8 * (y1 - y0)
    for x in np.linspace(x0 + rim, x1 - rim, columns + 1)[1:-1]:
        pieces.append(
            (solids.box((x - bar, y0, z0 + rim), (x + bar, back, z1 - rim)), paints.front)
        )
    for z in np.linspace(z0 + rim, z1 - rim, rows + 1)[1:-1]:
        pieces.append(
            (solids.box((x0 + rim, y0, z - bar), (x1 - rim, back, z + bar)), paints.front)
        )
    return pieces
