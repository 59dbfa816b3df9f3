"""How the front of a piece of furniture is divided into doors, drawers and open compartments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from atop_backend.synthetic.pieces import chance, choose

DOORS = frozenset({"left", "right", "top", "bottom"})  # by hinge side


class Cell(NamedTuple):
    """A rectangle of the front and what fills it."""

    use: str  # hinge side of a door, "drawer", "open" or "fixed"
    x0: float
    x1: float
    z0: float
    z1: float
    pair: int = 0  # -1 or 1: this is the left or right leaf of a pair of doors

    @property
    def moves(self) -> bool:
        """Whether it holds a door or a drawer."""
        return self.use in DOORS or self.use == "drawer"

    @property
    def noun(self) -> str:
        """What the cell's front is called."""
        return "drawer" if self.use == "drawer" else "door"


PROGRAMS: dict[str, tuple[str, ...]] = {
    "door": ("door",),
    "drawer_door": ("drawer", "door"),
    "drawer": ("drawer",),
    "drawers": ("drawers",),
    "open_door": ("open", "door"),
    "door_open": ("door", "open"),
    "door_drawer": ("door", "drawer"),
    "door_drawers": ("door", "drawers"),
    "door_door": ("door", "door"),
    "open_drawer": ("open", "drawer"),
    "open_drawers": ("open", "drawers"),
    "drawer_open": ("drawer", "open"),
    "door_open_drawer": ("door", "open", "drawer"),
    "open": ("open",),
    "fixed": ("fixed",),
    "flap": ("flap",),
    "flap_door": ("flap", "door"),
    "drop_drawers": ("drop", "drawers"),
    "drop": ("drop",),
    "drops": ("drop", "drop", "drop"),
    "drops_two": ("drop", "drop"),
    "pullout": ("pullout",),
    "drawer_pullout": ("drawer", "pullout"),
    "nook_drawers": ("open", "drawers", "drawer"),
}
_SHARES = {"door": 1.0, "drawers": 1.0, "open": 0.6, "drawer": 0.28, "flap": 0.5, "drop": 0.6,
           "fixed": 1.0, "pullout": 1.0}  # fmt: skip


def split(rng: np.random.Generator, low: float, high: float, count: int) -> np.ndarray:
    """Edges (count + 1,) of parts of a length: mostly equal, sometimes not."""
    shares = np.ones(count)
    if count > 1 and chance(rng, 0.35):
        shares = rng.uniform(0.6, 1.6, count)
        if count == 3 and chance(rng, 0.6):
            shares[2] = shares[0]
    return low + (high - low) * np.concatenate([[0.0], np.cumsum(shares) / shares.sum()])


def fill_column(
    rng: np.random.Generator,
    program: str,
    bounds: tuple[float, float, float, float],
    most_drawers: int = 5,
    lone_side: str | None = None,
) -> list[Cell]:
    """Cells of one column from top to bottom.

    Args:
        rng: Source of every draw.
        program: A key of `PROGRAMS`.
        bounds: x0, x1, z0, z1 of the column.
        most_drawers: In a stack of drawers.
        lone_side: Hinge side of doors that do not come in pairs; None draws it.
    """
    x0, x1, z0, z1 = bounds
    steps = PROGRAMS[program]
    shares = np.array([_SHARES[step] * rng.uniform(0.7, 1.3) for step in steps])
    edges = z1 - (z1 - z0) * np.concatenate([[0.0], np.cumsum(shares) / shares.sum()])
    side = lone_side or ("left" if chance(rng, 0.5) else "right")
    cells: list[Cell] = []
    for step, upper, lower in zip(steps, edges[:-1], edges[1:], strict=True):
        if step == "drawers":
            room = max(1, int((upper - lower) / 0.09))
            count = min(int(rng.integers(2, most_drawers + 1)), room)
            heights = np.ones(count) if chance(rng, 0.6) else np.linspace(1, 1.9, count)
            lines = upper - (upper - lower) * np.concatenate(
                [[0.0], np.cumsum(heights) / heights.sum()]
            )
            cells += [Cell("drawer", x0, x1, b, a) for a, b in pairwise(lines)]
        elif step == "door":
            cells += _doors(rng, (x0, x1, lower, upper), side)
        else:
            use = {"flap": "top", "drop": "bottom", "pullout": "drawer"}.get(step, step)
            cells.append(Cell(use, x0, x1, lower, upper))
    return cells


def _doors(
    rng: np.random.Generator, bounds: tuple[float, float, float, float], side: str
) -> list[Cell]:
    """One door, or a pair where one would be wide."""
    x0, x1, z0, z1 = bounds
    aspect = (x1 - x0) / (z1 - z0)
    pair = chance(rng, 0.9 if x1 - x0 > 0.65 else (0.25 if aspect > 0.7 else 0.05))
    if not pair:
        return [Cell(side, x0, x1, z0, z1)]
    middle = (x0 + x1) / 2
    if chance(rng, 0.05):
        middle += 0.12 * (x1 - x0) * rng.uniform(-1, 1)
    if x1 - x0 > 0.5 and chance(rng, 0.13):
        return _uncommon_pair(rng, bounds, middle)
    return [Cell("left", x0, middle, z0, z1, -1), Cell("right", middle, x1, z0, z1, 1)]


def _uncommon_pair(
    rng: np.random.Generator, bounds: tuple[float, float, float, float], middle: float
) -> list[Cell]:
    """Two doors that do not hang on the outer edges: on a post between them, or both on one side.

    Between some of them is a panel that does not move, as in corner and blind cabinets.
    """
    x0, x1, z0, z1 = bounds
    sides = choose(rng, {"right left": 5, "left left": 1, "right right": 1, "left right": 2})
    first, second = sides.split()
    if sides != "left right" and chance(rng, 0.6):
        return [Cell(first, x0, middle, z0, z1), Cell(second, middle, x1, z0, z1)]
    half = rng.uniform(0.08, 0.2) * (x1 - x0)
    a, b = middle - half, middle + half
    return [
        Cell(first, x0, a, z0, z1),
        Cell("fixed" if chance(rng, 0.8) else "open", a, b, z0, z1),
        Cell(second, b, x1, z0, z1),
    ]


def names(cells: Sequence[Cell], target: int) -> tuple[str, ...]:
    """Names of one front as seen from before the object, most with a place that tells it apart.

    "left" and "right" are said only of what lies on that side of x = 0.
    """
    cell = cells[target]
    noun = cell.noun
    alike = [other for other in cells if other.moves and other.noun == noun]
    column, level = _across(alike, cell), _height(alike, cell)
    found = [noun, noun]
    for word in (column, level):
        if word:
            found += [f"{word} {noun}"] * 2
    if not column and len(alike) < sum(other.moves for other in cells):
        # alone of its kind, but on one side of the object
        column = "left" if cell.x1 < 0.02 else ("right" if cell.x0 > -0.02 else "")
        found += [f"{column} {noun}"] * bool(column)
    if column and level:
        found += [f"{level} {column} {noun}", f"{level} {noun} on the {column}"]
    elif column in ("left", "right"):
        found += [f"{noun} on the {column}", f"{column}-hand {noun}"]
    if level in ("top", "bottom"):
        found.append(f"{'upper' if level == 'top' else 'lower'} {noun}")
        found.append(f"{noun} at the {level}")
    rows = _rows(alike, cell)
    if len(rows) > 2:
        rank = rows.index(round((cell.z0 + cell.z1) / 2, 3))
        ordinals = ("first", "second", "third", "fourth", "fifth", "sixth")
        if 0 < rank < len(rows) - 1 and rank < len(ordinals):
            found.append(f"{ordinals[rank]} {noun} from the top")
            found.append(f"{ordinals[rank]} {noun}")
    if noun == "drawer" and cell.z1 - cell.z0 > 1.25 * (cell.x1 - cell.x0):
        found += ["pull-out", "pull-out unit", "front"]
    if len(alike) == 1 or (noun == "door" and cell.z1 - cell.z0 > 1.2):
        found.append(f"{noun}")
    return tuple(found)


def _across(alike: Sequence[Cell], cell: Cell) -> str:
    """Where the cell's column is among its like: "left", "right", "middle" or ""."""
    here = (cell.x0 + cell.x1) / 2
    middles = sorted({round((other.x0 + other.x1) / 2, 3) for other in alike})
    level = [
        round((other.x0 + other.x1) / 2, 3)
        for other in alike
        if other.z0 < cell.z1 - 1e-6 and other.z1 > cell.z0 + 1e-6
    ]
    if len(set(level)) < 2 and len(middles) < 2:
        return ""
    row = sorted(set(level)) if len(set(level)) > 1 else middles
    rank = row.index(round(here, 3))
    if rank == 0 and here < -0.02:
        return "left"
    if rank == len(row) - 1 and here > 0.02:
        return "right"
    return "middle" if len(row) == 3 and rank == 1 else ""


def _rows(alike: Sequence[Cell], cell: Cell) -> list[float]:
    """Heights of the fronts in the cell's column, from the top."""
    return sorted(
        {
            round((other.z0 + other.z1) / 2, 3)
            for other in alike
            if other.x0 < cell.x1 - 1e-6 and other.x1 > cell.x0 + 1e-6
        },
        reverse=True,
    )


def _height(alike: Sequence[Cell], cell: Cell) -> str:
    """Where the cell is in its column: "top", "bottom", "middle" or ""."""
    rows = _rows(alike, cell)
    rank = rows.index(round((cell.z0 + cell.z1) / 2, 3))
    if len(rows) == 1:
        return ""
    if rank == 0:
        return "top"
    if rank == len(rows) - 1:
        return "bottom"
    return "middle" if len(rows) == 3 else ""


def choose_target(rng: np.random.Generator, cells: Sequence[Cell], doors: float = 0.6) -> int:
    """Index of the front that is to move: a door in a share `doors` of objects that have both."""
    movable = [i for i, cell in enumerate(cells) if cell.moves]
    leaves = [i for i in movable if cells[i].use in DOORS]
    drawers = [i for i in movable if cells[i].use == "drawer"]
    group = leaves if leaves and (not drawers or chance(rng, doors)) else drawers
    return group[int(rng.integers(len(group)))]


def program_of(rng: np.random.Generator, weights: dict[str, float]) -> str:
    """A column program drawn by weight."""
    return choose(rng, weights)
