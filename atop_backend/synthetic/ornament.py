"""What makes a plain cabinet look like a real one: mouldings, posts, aprons, things on top."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import solids
from atop_backend.synthetic.carcass import Body
from atop_backend.synthetic.pieces import Paints, Pieces, chance, choose


def crown(rng: np.random.Generator, body: Body, paints: Paints, out: float) -> Pieces:
    """Boards that step outwards above the box, perhaps with a crest.

    Args:
        rng: Draws the steps.
        body: The box below.
        paints: Materials.
        out: Thickness of the fronts before the box.
    """
    (x0, y0, _), (x1, y1, z) = body.low, body.high
    y0 -= out
    pieces: Pieces = []
    side = 0.0
    for _ in range(int(rng.integers(2, 4))):
        side += rng.uniform(0.006, 0.025)
        tall = rng.uniform(0.012, 0.04)
        board = solids.box((x0 - side, y0 - side, z), (x1 + side, y1, z + tall))
        pieces.append((board, paints.top))
        z += tall
    if chance(rng, 0.3):
        pieces.append((_crest(rng, x0, x1, y0, y0 + 0.03, z), paints.trim))
    return pieces


def _crest(
    rng: np.random.Generator, x0: float, x1: float, y0: float, y1: float, z: float
) -> np.ndarray:
    """An arched or pointed board."""
    across = np.linspace(x0, x1, 9)
    share = np.abs(np.linspace(-1, 1, 9))
    tall = rng.uniform(0.06, 0.14) * (x1 - x0)
    lift = 1 - share if chance(rng, 0.4) else np.cos(share * np.pi / 2)
    line = np.stack([across, z + 0.01 + tall * lift], axis=1)
    outline = np.concatenate([[[x0, z], [x1, z]], line[::-1]])
    return solids.extrude(outline, "xz", y0, y1)


def posts(rng: np.random.Generator, body: Body, paints: Paints) -> Pieces:
    """Posts beside the front corners, square or turned, from the floor to the top."""
    size = rng.uniform(0.015, 0.035)
    (x0, y0, _), (x1, _, z1) = body.low, body.high
    tall = z1 - rng.uniform(0.0, 0.01)
    pieces: Pieces = []
    turned = chance(rng, 0.4)
    for x in (x0 - size, x1 + size):
        if turned:
            radii = size * rng.uniform(0.5, 1.0, 6)
            profile = [(0.0, 0.0), *zip(radii, np.linspace(0.0, tall, 6), strict=True), (0.0, tall)]
            pieces.append((solids.lathe(profile, (x, y0 + size, 0), "z", 8), paints.trim))
        else:
            pieces.append(
                (solids.box((x - size, y0, 0), (x + size, y0 + 2 * size, tall)), paints.trim)
            )
    return pieces


def apron(rng: np.random.Generator, body: Body, paints: Paints) -> Pieces:
    """A curved board between the legs, below the box."""
    deep = min(0.6 * body.base, 0.08)
    if deep < 0.02:
        return []
    (x0, y0, z), (x1, _, _) = body.low, body.high
    across = np.linspace(x0 + 0.01, x1 - 0.01, 9)
    dip = np.abs(np.linspace(-1, 1, 9)) ** rng.uniform(1.0, 4.0)
    line = np.stack([across, z - deep * (0.25 + 0.75 * dip)], axis=1)
    outline = np.concatenate([line, [[x1 - 0.01, z], [x0 + 0.01, z]]])
    return [(solids.extrude(outline, "xz", y0 + 0.005, y0 + 0.022), paints.trim)]


def corner_back(rng: np.random.Generator, body: Body, paints: Paints) -> Pieces:
    """A wedge or a bow behind the box, as high as it is: corner cupboards, curved counters."""
    (x0, _, z0), (x1, y1, z1) = body.low, body.high
    deep = body.width * rng.uniform(0.2, 0.5)
    if chance(rng, 0.6):
        line = [(0.5 * (x0 + x1), y1 + deep)]
    else:
        turn = np.linspace(0.0, np.pi, 9)[1:-1]
        line = [
            (0.5 * (x0 + x1) + 0.5 * (x1 - x0) * np.cos(a), y1 + deep * np.sin(a)) for a in turn
        ]
    outline = [(x0, y1), (x1, y1), *line]
    return [(solids.extrude(outline, "xy", z0, z1), paints.body)]


def on_top(
    rng: np.random.Generator, width: float, low_y: float, back: float, z: float, paints: Paints
) -> Pieces:
    """Something that stands on a piece of furniture: mirror, screen, vase, boxes, backboard."""
    style = choose(rng, {"mirror": 1.5, "screen": 1.5, "vase": 2, "boxes": 2, "backboard": 1.5,
                         "lamp": 1, "shelf": 1})  # fmt: skip
    x = rng.uniform(-0.35, 0.35) * width
    y = low_y + (back - low_y) * rng.uniform(0.4, 0.7)
    if style == "mirror":
        half, tall = width * rng.uniform(0.2, 0.45), rng.uniform(0.4, 0.9)
        frame = solids.frame(
            (-half, back - 0.04, z),
            (half, back - 0.01, z + tall),
            (-half + 0.04, 0, z + 0.04),
            (half - 0.04, 0, z + tall - 0.04),
            "y",
        )
        pane = solids.box(
            (-half + 0.04, back - 0.03, z + 0.04), (half - 0.04, back - 0.02, z + tall - 0.04)
        )
        return [(frame, paints.body), (pane, paints.glass)]
    if style == "screen":
        half = min(0.4 * width, rng.uniform(0.25, 0.6))
        y = back - 0.12
        screen = solids.box(
            (x * 0.3 - half, y, z + 0.07), (x * 0.3 + half, y + 0.04, z + 0.07 + 1.1 * half)
        )
        foot = solids.box((x * 0.3 - 0.1, y - 0.05, z), (x * 0.3 + 0.1, y + 0.08, z + 0.07))
        return [(screen, paints.dark), (foot, paints.dark)]
    if style in ("vase", "lamp"):
        size, tall = rng.uniform(0.03, 0.08), rng.uniform(0.12, 0.35)
        radii = size * rng.uniform(0.4, 1.2, 5)
        profile = [(0.0, 0.0), *zip(radii, np.linspace(0, tall, 5), strict=True), (0.0, tall)]
        pieces = [(solids.lathe(profile, (x, y, z), "z", 10), paints.accent)]
        if style == "lamp":
            shade = solids.cylinder((x, y, z + tall), (0, 0, 0.18), 0.12, 0.08, 12)
            pieces.append((shade, paints.front))
        return pieces
    if style == "backboard":
        tall = rng.uniform(0.05, 0.5)
        return [
            (solids.box((-width / 2, back - 0.02, z), (width / 2, back, z + tall)), paints.body)
        ]
    if style == "shelf":
        tall, deep = rng.uniform(0.2, 0.7), (back - low_y) * rng.uniform(0.35, 0.7)
        hutch = solids.open_box(
            (-width / 2, back - deep, z), (width / 2, back, z + tall), 0.018, "-y"
        )
        board = solids.box((-width / 2 + 0.02, back - deep, z + tall / 2),
                           (width / 2 - 0.02, back - 0.02, z + tall / 2 + 0.015))  # fmt: skip
        return [(hutch, paints.body), (board, paints.body)]
    pieces = []
    for _ in range(int(rng.integers(1, 4))):
        size = np.array([rng.uniform(0.03, 0.12), rng.uniform(0.03, 0.1), rng.uniform(0.04, 0.25)])
        centre = np.array([rng.uniform(-0.4, 0.4) * width, y, z + size[2]])
        pieces.append((solids.box(centre - size, centre + size), paints.accent))
    return pieces
