"""One piece of storage furniture from its specification: body, fronts, joint, sentences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atop_backend.synthetic import carcass, leaves, ornament, phrases, solids
from atop_backend.synthetic.carcass import Body
from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.layout import (
    DOORS,
    Cell,
    choose_target,
    fill_column,
    names,
    split,
)
from atop_backend.synthetic.leaves import Leaf, Look, Opening
from atop_backend.synthetic.objects import MOVING, STATIC, Builder
from atop_backend.synthetic.palette import PAINTS, WOODS, scheme
from atop_backend.synthetic.pieces import Paints, Pieces, chance, choose, paints, place
from atop_backend.synthetic.prompts import sentences

Range = tuple[float, float]

CHEAP_HANDLES = ("bar", "blade", "grip", "none", "square_knob")


class Spec(NamedTuple):
    """What one kind of furniture is like; lengths in metres."""

    kind: str
    objects: tuple[str, ...]
    width: Range
    depth: Range
    height: Range
    columns: tuple[float, ...]  # weights of one, two, three ... columns
    programs: dict[str, float]  # weights of column programs
    bases: dict[str, float]
    base_height: Range = (0.05, 0.2)
    tops: dict[str, float] = {"none": 4.0, "flush": 2.0, "overhang": 4.0, "rounded": 0.5}  # noqa: RUF012
    doors: float = 0.6  # share of doors among targets where there are drawers too
    handle_height: float | None = None  # of doors; None draws it
    most_drawers: int = 5
    natural: tuple[np.ndarray, ...] = (WOODS, PAINTS)
    appliance: bool = False
    inset: float = 0.35
    corner: float = 0.03  # probability of a back that fits into a corner
    stands: bool = True  # on the floor, so that things may be put on it
    tilt: bool = False  # doors at the bottom edge only tilt
    hollow: float = 0.8


def storage(rng: np.random.Generator, spec: Spec) -> Draft:
    """A piece of storage furniture with one front that moves."""
    builder = Builder()
    colours = paints(builder, scheme(rng, spec.natural))
    base_style = choose(rng, spec.bases)
    base = 0.0 if base_style == "none" else rng.uniform(*spec.base_height)
    body = Body(
        rng.uniform(*spec.width), rng.uniform(*spec.depth), rng.uniform(*spec.height) - base,
        base, rng.uniform(0.014, 0.032), chance(rng, spec.hollow),
    )  # fmt: skip
    inset = body.hollow and chance(rng, spec.inset)
    look = leaves.any_look(rng, spec.appliance)
    fitting = fit_out(rng, body, divide(rng, spec, body, inset), inset)
    out = 0.0 if inset else fitting.thick
    top_style = choose(rng, spec.tops)
    crowned = top_style != "none" and chance(rng, 0.12)
    lid = (
        ornament.crown(rng, body, colours, out)
        if crowned
        else carcass.top(rng, top_style, body, colours, out)
    )
    place(builder, [*carcass.base(rng, base_style, body, colours), *lid], STATIC)
    if base_style.startswith("legs") and chance(rng, 0.25):
        place(builder, ornament.apron(rng, body, colours), STATIC)
    if spec.corner and chance(rng, spec.corner):
        place(builder, ornament.corner_back(rng, body, colours), STATIC)
    if chance(rng, 0.08):
        look = look._replace(line="outer")  # the posts are in the way of any other
        place(builder, ornament.posts(rng, body, colours), STATIC)
    if spec.stands and body.high[2] < 1.3 and not crowned and chance(rng, 0.15):
        level = max((float(piece[..., 2].max()) for piece, _ in lid), default=body.high[2])
        things = ornament.on_top(rng, body.width, body.low[1], body.high[1], level, colours)
        place(builder, things, STATIC)
    leaf, parts = install(rng, builder, colours, [fitting], look, spec)
    return finish(rng, spec, builder, leaf, parts)


def install(
    rng: np.random.Generator,
    builder: Builder,
    colours: Paints,
    fittings: list[Fitting],
    look: Look,
    spec: Spec,
    part: int = MOVING,
) -> tuple[Leaf, tuple[str, ...]]:
    """Build bodies and their fronts; the front that moves, and its names.

    Args:
        rng: Source of every draw.
        builder: Takes all pieces.
        colours: Its materials.
        fittings: Bodies that stand side by side and share one front plane.
        look: Styles of the fronts.
        spec: Tells how often doors move and where their handles are.
        part: STATIC where something else of the object moves.
    """
    cells = [cell for fitting in fittings for cell in fitting.cells]
    places = [(fitting, i) for fitting in fittings for i in range(len(fitting.cells))]
    target = choose_target(rng, cells, spec.doors)
    if sum(cell.moves for cell in cells) > 8:
        look = look._replace(
            door="slab", drawer="slab", handle=CHEAP_HANDLES[int(rng.integers(5))], hinges="hidden"
        )
    opened = _opened(rng, cells, target)
    for fitting in fittings:
        place(builder, carcass.shell(rng, fitting.body, colours), STATIC)
        place(builder, _dividers(fitting, colours), STATIC)
    wanted: Leaf | None = None
    for k, (fitting, i) in enumerate(places):
        leaf = _fit(rng, spec, fitting, i, look, colours)
        seen = k == target or k in opened
        if leaf is None or (fitting.body.hollow and cells[k].use in DOORS and seen):
            place(builder, _filling(rng, fitting, i, colours), STATIC)
        if leaf is None:
            continue
        place(builder, leaf.fixed, STATIC)
        amount = leaf.joint.upper * rng.uniform(0.3, 1.0) if k in opened else 0.0
        place(builder, leaf.pieces, part if k == target else STATIC, leaf.joint, amount)
        wanted = leaf if k == target else wanted
    assert wanted is not None
    return wanted, names(cells, target)


def finish(
    rng: np.random.Generator,
    spec: Spec,
    builder: Builder,
    leaf: Leaf,
    parts: tuple[str, ...],
) -> Draft:
    """The finished draft with its sentences."""
    if leaf.side == "out":
        opening, closing = phrases.DRAWER, phrases.DRAWER_BACK
    else:
        opening, closing = phrases.swing(rng, leaf.side, 0.85 if leaf.plain else 0.4)
    wanted = int(rng.integers(12, 28))
    return Draft(
        spec.kind,
        builder,
        leaf.joint,
        True,
        sentences(rng, spec.objects, parts, opening, wanted),
        sentences(rng, spec.objects, parts, closing, wanted, opening=False),
    )


class Fitting(NamedTuple):
    """How fronts sit on a body."""

    body: Body
    cells: list[Cell]
    inset: bool
    thick: float  # of the fronts
    gap: float  # between neighbouring fronts
    reveal: float  # how far inset fronts lie behind the body's front
    stile: float = 0.0  # half the width of the frame that shows between fronts

    def opening(self, index: int) -> Opening:
        """The closed front of one cell."""
        cell, front = self.cells[index], self.body.low[1]
        y0 = front + (self.reveal if self.inset else -self.thick)
        shrink = self.gap / 2 + (self.body.wall / 2 if self.inset and not self.stile else 0.0)
        x0, x1, z0, z1 = self.framed(cell)
        return Opening(x0, x1, z0, z1, y0, y0 + self.thick).shrunk(shrink)

    def framed(self, cell: Cell) -> tuple[float, float, float, float]:
        """A cell without the frame around it: x0, x1, z0, z1; there is none inside a pair."""
        return (
            cell.x0 + (0.0 if cell.pair == 1 else self.stile),
            cell.x1 - (0.0 if cell.pair == -1 else self.stile),
            cell.z0 + self.stile,
            cell.z1 - self.stile,
        )

    def inner(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the free space behind one cell's front."""
        cell, body = self.cells[index], self.body
        half = body.wall / 2
        low = np.array([cell.x0 + half, body.low[1], cell.z0 + half])
        high = np.array([cell.x1 - half, body.high[1] - body.wall, cell.z1 - half])
        if self.inset:
            low[1] += self.reveal + self.thick
        inside = np.array([body.wall, 0.0, body.wall])
        return np.maximum(low, body.low + inside), np.minimum(high, body.high - inside)


def divide(rng: np.random.Generator, spec: Spec, body: Body, inset: bool) -> list[Cell]:
    """The division of the front; has a door or drawer for certain."""
    low, high = body.low, body.high
    margin = body.wall / 2 if inset else 0.0
    x0, x1, z0, z1 = low[0] + margin, high[0] - margin, low[2] + margin, high[2] - margin
    weights = np.array(spec.columns)
    while True:
        count = int(rng.choice(len(weights), p=weights / weights.sum())) + 1
        edges = split(rng, x0, x1, count)
        same = chance(rng, 0.4)
        program = choose(rng, spec.programs)
        cells: list[Cell] = []
        for i in range(count):
            side = None
            if count > 1 and i in (0, count - 1) and chance(rng, 0.85):  # on the outer wall
                side = "left" if i == 0 else "right"
            cells += fill_column(
                rng,
                program if same else choose(rng, spec.programs),
                (edges[i], edges[i + 1], z0, z1),
                spec.most_drawers,
                side,
            )
        if any(cell.moves for cell in cells) and len(cells) <= 16:
            return cells


def fit_out(rng: np.random.Generator, body: Body, cells: list[Cell], inset: bool) -> Fitting:
    """How the fronts of one body sit: thickness, gaps, reveal."""
    smallest = min(min(cell.x1 - cell.x0, cell.z1 - cell.z0) for cell in cells)
    stile = min(rng.uniform(0.008, 0.05), 0.16 * smallest) if chance(rng, 0.3) else 0.0
    return Fitting(
        body, cells, inset, rng.uniform(0.012, 0.032), rng.uniform(0.001, 0.006),
        rng.uniform(0.0, 0.012), stile,
    )  # fmt: skip


def _face_frame(fitting: Fitting) -> np.ndarray:
    """The frame between the fronts of a hollow body: one ring around every cell or pair."""
    body, lip = fitting.body, 0.0 if fitting.inset else 0.008
    y0, y1 = body.low[1], body.low[1] + 0.018
    rings = []
    for i, cell in enumerate(fitting.cells):
        if cell.pair == 1:
            continue
        whole = cell if cell.pair == 0 else cell._replace(x1=fitting.cells[i + 1].x1, pair=0)
        x0, x1, z0, z1 = fitting.framed(whole)
        rings.append(
            solids.frame(
                (whole.x0, y0, whole.z0),
                (whole.x1, y1, whole.z1),
                (x0 + lip, 0.0, z0 + lip),
                (x1 - lip, 0.0, z1 - lip),
                "y",
            )
        )
    return np.concatenate(rings)


def _dividers(fitting: Fitting, colours: Paints) -> Pieces:
    """Boards between the cells of a hollow body."""
    body = fitting.body
    if not body.hollow:
        return []
    half = body.wall / 2
    y0 = body.low[1] + 1e-3
    y1 = body.high[1] - body.wall
    boards = [_face_frame(fitting)] if fitting.stile else []
    seen = set()
    for cell in fitting.cells:
        if cell.pair != 1 and cell.x0 > body.low[0] + 0.03:
            key = (round(cell.x0, 3), round(cell.z0, 3))
            if key not in seen:
                seen.add(key)
                boards.append(
                    solids.box((cell.x0 - half, y0, cell.z0), (cell.x0 + half, y1, cell.z1))
                )
        if cell.z0 > body.low[2] + 0.03 and (fitting.inset or cell.use in ("open", "fixed")
                                             or cell.use in DOORS):  # fmt: skip
            boards.append(solids.box((cell.x0, y0, cell.z0 - half), (cell.x1, y1, cell.z0 + half)))
    return [(np.concatenate(boards), colours.body)] if boards else []


def _fit(
    rng: np.random.Generator,
    spec: Spec,
    fitting: Fitting,
    index: int,
    look: Look,
    colours: Paints,
) -> Leaf | None:
    """The door or drawer of one cell."""
    cell, body = fitting.cells[index], fitting.body
    if not cell.moves:
        return None
    opening = fitting.opening(index)
    if cell.use == "drawer":
        clearance = body.wall / 2 + 0.004 if not fitting.inset else 0.004
        if cell.x0 < body.low[0] + 1e-6 or cell.x1 > body.high[0] - 1e-6:
            clearance += body.wall / 2 if not fitting.inset else 0.0
        if fitting.stile:
            clearance = max(clearance - fitting.stile, 0.004 if fitting.inset else 0.013)
        if not body.hollow:
            return leaves.drawer(rng, opening, 0.4 * body.depth, look, colours, boxed=False)
        depth = body.high[1] - body.wall - opening.y1
        return leaves.drawer(rng, opening, depth, look, colours, clearance=clearance)
    beside = _has_neighbour(fitting.cells, index) and 2 * fitting.stile < fitting.thick
    line = look.line
    tight = fitting.inset or beside or cell.use == "top"
    if tight and not (line == "middle" and fitting.thick < 0.016):
        line = "outer"
    most = 112.0 if beside else 150.0
    upper = float(np.clip(rng.normal(93.0, 14.0), 60.0, most))
    if fitting.inset and fitting.reveal > 0.004:
        upper = min(upper, 105.0)
    if spec.tilt and cell.use == "bottom":
        upper = rng.uniform(25.0, 55.0)
    tall = spec.handle_height
    if tall is None and np.isnan(look.handle_height):
        middle = (cell.z0 + cell.z1) / 2
        tall = {True: 0.82, False: 0.18}[middle < 0.75] if cell.z1 - cell.z0 < 1.1 else 0.5
    elif tall is not None and not np.isnan(look.handle_height):
        tall = look.handle_height
    return leaves.door(
        rng,
        opening,
        cell.use,  # type: ignore[arg-type]
        look._replace(line=line),
        colours,
        float(np.radians(upper)),
        tall=tall,
    )


def _has_neighbour(cells: list[Cell], index: int) -> bool:
    """Whether another cell lies just beyond the hinge of this one."""
    cell = cells[index]
    near = 1e-6
    for i, other in enumerate(cells):
        if i == index or other.use == "open":
            continue
        level = other.z0 < cell.z1 - near and other.z1 > cell.z0 + near
        stacked = other.x0 < cell.x1 - near and other.x1 > cell.x0 + near
        if (
            (cell.use == "left" and level and abs(other.x1 - cell.x0) < near)
            or (cell.use == "right" and level and abs(other.x0 - cell.x1) < near)
            or (cell.use == "top" and stacked and abs(other.z0 - cell.z1) < near)
            or (cell.use == "bottom" and stacked and abs(other.z1 - cell.z0) < near)
        ):
            return True
    return False


def _filling(rng: np.random.Generator, fitting: Fitting, index: int, colours: Paints) -> Pieces:
    """What a compartment holds: shelves and things, or a fixed panel before it."""
    cell = fitting.cells[index]
    if cell.use == "fixed":
        opening = fitting.opening(index)
        panel = solids.box(
            (opening.x0, opening.y0, opening.z0), (opening.x1, opening.y1, opening.z1)
        )
        return [(panel, colours.front)]
    if not fitting.body.hollow:
        if cell.use == "open":
            opening = fitting.opening(index)
            y = fitting.body.low[1]
            mouth = solids.box((opening.x0, y - 0.002, opening.z0), (opening.x1, y, opening.z1))
            return [(mouth, colours.dark)]
        return []
    low, high = fitting.inner(index)
    low[1] += rng.uniform(0.005, 0.08)
    height = high[2] - low[2]
    if height < 0.1 or high[1] - low[1] < 0.05:
        return []
    count = int(min(rng.integers(0, 4), height / 0.18))
    return carcass.shelves(rng, low, high, count, colours, chance(rng, 0.2))


def _opened(rng: np.random.Generator, cells: list[Cell], target: int) -> set[int]:
    """Other fronts that stand open at rest; none of them is in the way of the target."""
    if not chance(rng, 0.12):
        return set()
    goal = cells[target]
    free = [
        i
        for i, cell in enumerate(cells)
        if i != target
        and cell.use in ("drawer", "left", "right")
        and (cell.z1 <= goal.z0 + 1e-6 or cell.z0 >= goal.z1 - 1e-6)
    ]
    return {free[int(rng.integers(len(free)))]} if free else set()
