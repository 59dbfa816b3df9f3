"""Storage and appliances of bare boxes, as in simulation assets and drafts of games.

A body, fronts with a seam around them, and little or nothing on them. What is not told by a handle
is as it is in most of the real things: see the shares in `_FORMS`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from atop_backend.synthetic import prompts, solids
from atop_backend.synthetic.assembly import Assembly
from atop_backend.synthetic.cues import usual_side
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.layout import Cell, choose_target, names
from atop_backend.synthetic.leaves import Leaf, hinge_joint
from atop_backend.synthetic.openings import HingeSide, Opening
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.pieces import Pieces, chance, choose

Range = tuple[float, float]


class Form(NamedTuple):
    """Sizes in metres, and how the fronts of one kind of thing move."""

    objects: tuple[str, ...]
    width: Range
    depth: Range
    height: Range
    layouts: dict[str, float]  # weights of the divisions that `_cells` knows
    right: float  # share that hangs on the right, seen from the front, where nothing shows it
    weight: float
    thick: Range = (0.015, 0.04)


_FORMS = (
    Form(("refrigerator", "fridge"), (0.45, 0.8), (0.5, 0.75), (0.8, 2.0),
         {"one": 4, "two": 4, "pair": 2, "drawer below": 1}, 0.75, 3.0, (0.03, 0.09)),
    Form(("refrigerator", "mini fridge", "fridge", "minibar"), (0.4, 0.6), (0.4, 0.6), (0.4, 0.9),
         {"one": 1}, 0.75, 1.5, (0.02, 0.07)),
    Form(("cabinet", "cupboard", "kitchen cabinet", "storage cabinet", "wall cabinet"),
         (0.3, 1.3), (0.25, 0.65), (0.35, 1.2),
         {"one": 5, "two": 1, "pair": 5, "row": 2, "drawer above": 2, "flap": 0.5, "drawers": 1},
         0.5, 4.0),
    Form(("wardrobe", "closet", "cupboard", "tall cabinet", "locker"), (0.35, 1.6), (0.35, 0.65),
         (1.5, 2.3), {"one": 3, "two": 1, "pair": 5, "row": 2, "drawer below": 1}, 0.5, 2.0),
    Form(("microwave", "microwave oven"), (0.42, 0.6), (0.3, 0.45), (0.24, 0.36),
         {"beside controls": 5, "one": 1.5}, 0.06, 1.5),
    Form(("washing machine", "dryer", "washer"), (0.5, 0.65), (0.5, 0.65), (0.75, 0.95),
         {"below controls": 3, "one": 1}, 0.25, 0.8),
    Form(("oven", "built-in oven"), (0.5, 0.65), (0.5, 0.6), (0.5, 0.65),
         {"drop": 2, "drop below controls": 4}, 0.5, 1.5),
    Form(("dishwasher",), (0.45, 0.65), (0.5, 0.62), (0.75, 0.9),
         {"drop": 3, "drop below controls": 3}, 0.5, 1.5),
    Form(("safe", "safe", "strongbox"), (0.25, 0.6), (0.25, 0.55), (0.2, 0.9), {"one": 1}, 0.68,
         2.0, (0.02, 0.08)),
    Form(("nightstand", "dresser", "chest of drawers", "drawer unit"), (0.35, 1.2), (0.35, 0.55),
         (0.4, 1.2), {"drawers": 5, "drawer above": 1, "two rows": 1.5}, 0.5, 2.5),
    Form(("box", "crate", "chest", "storage box"), (0.2, 1.0), (0.2, 0.6), (0.12, 0.6),
         {"lid": 1}, 0.5, 1.0),
)  # fmt: skip
_COVERED = ("front", "trim", "handle", "dark", "inside", "metal")


def block(rng: np.random.Generator) -> Draft:
    """A cabinet, appliance, safe or chest of drawers of bare boxes; one front of it moves."""
    form = _FORMS[int(choose(rng, {str(i): form.weight for i, form in enumerate(_FORMS)}))]
    make = Assembly(rng, (PAINTS, METALS, WOODS))
    if chance(rng, 0.35):  # one material for everything
        make.paints = make.paints._replace(**dict.fromkeys(_COVERED, make.paints.body))
    width, depth, height = (rng.uniform(*size) for size in (form.width, form.depth, form.height))
    base = rng.uniform(0.02, 0.12) * height if chance(rng, 0.3) else 0.0
    layout = choose(rng, form.layouts)
    low, high = np.array([-width / 2, -depth / 2, base]), np.array([width / 2, depth / 2, height])
    _stand(make, low, high, base)
    if layout == "lid":
        return _lidded(make, form, low, high)
    told = choose(rng, {"nothing": 5, "box": 4, "knob": 1, "barrels": 1, "both": 1})
    side = usual_side(rng, told != "nothing", 1.0 - form.right)
    cells = _cells(rng, layout, side, low, high)
    hollow = chance(rng, 0.6)
    wall = min(rng.uniform(0.01, 0.03), 0.08 * width)
    make.fix(solids.open_box(low, high, wall, "-y") if hollow else solids.box(low, high),
             make.paints.body)  # fmt: skip
    thick = min(rng.uniform(*form.thick), 0.2 * depth)
    target = choose_target(rng, cells, 0.75)
    front = make.paints.front if chance(rng, 0.5) else make.paints.body
    gap, wanted = rng.uniform(0.0, 0.012), None
    for i, cell in enumerate(cells):
        opening = Opening(cell.x0, cell.x1, cell.z0, cell.z1, low[1] - thick, low[1]).shrunk(
            gap / 2
        )
        if not cell.moves:
            panel = solids.box((opening.x0, opening.y0, opening.z0), (opening.x1, opening.y1 + 1e-4,
                                opening.z1))  # fmt: skip
            make.fix(panel, make.paints.dark if cell.use == "fixed" else make.paints.body)
            continue
        leaf = _leaf(make, opening, cell, told, front, (depth - wall) if hollow else 0.0, wall)
        make.put(leaf, i == target)
        wanted = leaf if i == target else wanted
    assert wanted is not None
    return make.draft_leaf("block", wanted, form.objects, names(cells, target))


def _stand(make: Assembly, low: np.ndarray, high: np.ndarray, base: float) -> None:
    """A plinth or four square feet below the body."""
    if not base:
        return
    (x0, y0, _), (x1, y1, _) = low, high
    if chance(make.rng, 0.5):
        make.fix(solids.box((x0, y0 + 0.03, 0), (x1, y1, base)), make.paints.trim)
        return
    size = 0.06 * (x1 - x0)
    for x in (x0, x1 - size):
        for y in (y0, y1 - size):
            make.fix(solids.box((x, y, 0), (x + size, y + size, base)), make.paints.trim)


def _cells(
    rng: np.random.Generator, layout: str, side: HingeSide, low: np.ndarray, high: np.ndarray
) -> list[Cell]:
    """The division of a front; single doors hang on `side`."""
    x0, x1, z0, z1 = low[0], high[0], low[2], high[2]
    tall = z1 - z0
    split = z0 + tall * rng.uniform(0.3, 0.7)
    match layout:
        case "two":
            return [Cell(side, x0, x1, split, z1), Cell(side, x0, x1, z0, split)]
        case "pair":
            return [Cell("left", x0, 0.0, z0, z1, -1), Cell("right", 0.0, x1, z0, z1, 1)]
        case "row":
            edges = np.linspace(x0, x1, int(rng.integers(3, 5)))
            sides = [("left", "right")[int(rng.integers(2))] for _ in edges[1:]]
            sides[0] = "left" if chance(rng, 0.8) else "right"
            sides[-1] = "right" if chance(rng, 0.8) else "left"
            return [
                Cell(use, a, b, z0, z1)
                for use, a, b in zip(sides, edges[:-1], edges[1:], strict=True)
            ]
        case "drawer above":
            split = z1 - tall * rng.uniform(0.15, 0.35)
            return [Cell("drawer", x0, x1, split, z1), Cell(side, x0, x1, z0, split)]
        case "drawer below":
            split = z0 + tall * rng.uniform(0.15, 0.4)
            return [Cell(side, x0, x1, split, z1), Cell("drawer", x0, x1, z0, split)]
        case "drawers":
            edges = np.linspace(z1, z0, int(rng.integers(3, 6)))
            return [Cell("drawer", x0, x1, b, a) for a, b in pairwise(edges)]
        case "two rows":
            edges = np.linspace(z1, z0, int(rng.integers(3, 5)))
            return [
                Cell("drawer", *columns, b, a)
                for a, b in pairwise(edges)
                for columns in ((x0, 0.0), (0.0, x1))
            ]
        case "beside controls":
            edge = x1 - rng.uniform(0.15, 0.3) * (x1 - x0)
            if side == "right":
                return [Cell("fixed", x0, -edge, z0, z1), Cell(side, -edge, x1, z0, z1)]
            return [Cell(side, x0, edge, z0, z1), Cell("fixed", edge, x1, z0, z1)]
        case "below controls" | "drop below controls":
            edge = z1 - rng.uniform(0.1, 0.25) * tall
            use = "bottom" if layout.startswith("drop") else side
            return [Cell("fixed", x0, x1, edge, z1), Cell(use, x0, x1, z0, edge)]
        case "drop":
            return [Cell("bottom", x0, x1, z0, z1)]
        case "flap":
            return [Cell("top", x0, x1, z0, z1)]
    return [Cell(side, x0, x1, z0, z1)]


def _leaf(
    make: Assembly,
    opening: Opening,
    cell: Cell,
    told: str,
    paint: int,
    room: float,
    wall: float,
) -> Leaf:
    """A box for a door or a drawer, with a box for a handle or with barrels at its hinge."""
    rng = make.rng
    low = np.array([opening.x0, opening.y0, opening.z0])
    high = np.array([opening.x1, opening.y1, opening.z1])
    pieces: Pieces = [(solids.box(low, high), paint)]
    handled = told in ("box", "knob", "both")
    if handled:
        pieces.append((_handle(rng, opening, cell, told == "knob"), make.paints.handle))
    if cell.use == "drawer":
        if room and chance(rng, 0.7):
            tray = solids.open_box(
                (low[0] + wall + 0.004, opening.y1 - 1e-4, low[2] + 0.1 * opening.height + wall),
                (high[0] - wall - 0.004, opening.y1 + 0.9 * room, high[2] - 0.15 * opening.height),
                0.006, "+z",
            )  # fmt: skip
            pieces.append((tray, make.paints.inside))
        travel = (room or 0.5) * rng.uniform(0.4, 0.8)
        return Leaf(pieces, [], slider((0, -1, 0), opening.centre, travel), "out")
    upper = np.radians(np.clip(rng.normal(92, 14), 60, 105))
    line = "outer" if chance(rng, 0.7) else "middle"
    joint = hinge_joint(opening, cell.use, line, float(upper))  # type: ignore[arg-type]
    fixed: Pieces = []
    barrels = told in ("barrels", "both") and line == "outer"
    if barrels:
        fixed = [(_barrels(opening, cell, joint.origin), make.paints.metal)]
    return Leaf(pieces, fixed, joint, cell.use, plain=not handled and not barrels)


def _handle(rng: np.random.Generator, opening: Opening, cell: Cell, knob: bool) -> np.ndarray:
    """A bar of one box, or a small cube, near the free edge of a door or amid a drawer."""
    across = opening.width if cell.use in ("left", "right", "drawer") else opening.height
    out = rng.uniform(0.015, 0.05)
    thin = min(rng.uniform(0.01, 0.03), 0.1 * across)
    long = thin if knob else rng.uniform(0.1, 0.8) * 0.5
    near = thin / 2 + rng.uniform(0.02, 0.12) * across
    x, _, z = opening.centre
    if cell.use in ("left", "right"):
        x = opening.x1 - near if cell.use == "left" else opening.x0 + near
        half = (thin / 2, thin / 2 if knob else long * opening.height)
        spare = opening.height / 2 - half[1]
        z += spare * rng.uniform(-0.6, 0.6) * chance(rng, 0.5)
    else:
        if cell.use != "drawer":
            z = opening.z1 - near if cell.use == "bottom" else opening.z0 + near
        half = (thin / 2 if knob else long * opening.width, thin / 2)
    return solids.box(
        (x - half[0], opening.y0 - out, z - half[1]), (x + half[0], opening.y0, z + half[1])
    )


def _barrels(opening: Opening, cell: Cell, origin: tuple[float, float, float]) -> np.ndarray:
    """Two upright or level barrels on the hinge line."""
    x, y, z = origin
    solids_found = []
    for share in (0.2, 0.8):
        if cell.use in ("left", "right"):
            at = (x, y, opening.z0 + share * opening.height - 0.04 * opening.height)
            along = (0, 0, 0.08 * opening.height)
        else:
            at = (opening.x0 + share * opening.width - 0.04 * opening.width, y, z)
            along = (0.08 * opening.width, 0, 0)
        radius = 0.3 * (opening.y1 - opening.y0)
        solids_found.append(solids.cylinder(at, along, radius, segments=8))
    return np.concatenate(solids_found)


def _lidded(make: Assembly, form: Form, low: np.ndarray, high: np.ndarray) -> Draft:
    """A box whose lid swings up about its back edge."""
    rng = make.rng
    lid = rng.uniform(0.05, 0.4) * (high[2] - low[2])
    seam = high[2] - lid
    body = solids.open_box(low, (high[0], high[1], seam), 0.04 * (high[0] - low[0]), "+z")
    make.fix(body if chance(rng, 0.6) else solids.box(low, (high[0], high[1], seam)),
             make.paints.body)  # fmt: skip
    make.move(solids.box((low[0], low[1], seam + rng.uniform(0.0, 0.004)), high), make.paints.front)
    if chance(rng, 0.3):
        half = 0.1 * (high[0] - low[0])
        make.move(solids.box((-half, low[1] - 0.02, seam + 0.3 * lid), (half, low[1], high[2])),
                  make.paints.handle)  # fmt: skip
    joint = hinge((-1, 0, 0), (0, high[1], seam), np.radians(rng.uniform(50, 110)))
    words = (prompts.join(prompts.LIFT, prompts.OPEN), prompts.LOWER)
    return make.draft("block", joint, form.objects, ("lid", "lid", "cover", "top"), words)


KINDS = {"block": (6.0, block)}
