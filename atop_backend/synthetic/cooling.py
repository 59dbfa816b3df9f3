"""Refrigerators and freezers."""

from __future__ import annotations

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import cues, leaves, phrases, prompts, solids
from atop_backend.synthetic.assembly import Assembly, feet
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.layout import Cell, names
from atop_backend.synthetic.leaves import Leaf, Look
from atop_backend.synthetic.openings import HingeSide, Opening
from atop_backend.synthetic.pieces import chance, choose

FRIDGE_WORDS = ("refrigerator", "fridge", "refrigerator", "fridge freezer")
_FRONTS = {"slab": 6.0, "rounded": 1.5, "bevelled": 2.0, "bowed": 2.0}


def refrigerator(rng: np.random.Generator) -> Draft:
    """A refrigerator: one door, two doors above each other, side by side, French doors, drawers."""
    make = Assembly(rng)
    form = choose(
        rng,
        {"single": 2.2, "freezer_top": 3, "freezer_bottom": 2.5, "drawer_bottom": 1.5, "side": 2.5,
         "french": 3, "four": 1, "mini": 1.5, "glass": 1},
    )  # fmt: skip
    wide = form in ("side", "french", "four")
    small = form == "mini" or (form in ("single", "glass") and chance(rng, 0.3))
    width = rng.uniform(0.78, 1.0) if wide else rng.uniform(0.45, 0.75)
    height = rng.uniform(0.5, 0.95) if small else rng.uniform(1.35, 2.0)
    depth = rng.uniform(0.45, 0.75)
    base = rng.uniform(0.01, 0.09)
    low = np.array([-width / 2, -depth / 2, base])
    high = np.array([width / 2, depth / 2, height])
    thick = rng.uniform(0.03, 0.085)
    wall = rng.uniform(0.025, 0.06)
    hollow = chance(rng, 0.8)
    look = leaves.any_look(rng, appliance=True)._replace(
        door="glass" if form == "glass" else choose(rng, _FRONTS),
        drawer="slab",
        handle_length=float(rng.uniform(0.3, 1.4)),
        handle_margin=float(rng.uniform(0.025, 0.07)),
        line=choose(rng, {"outer": 1, "middle": 3, "inner": 4}),  # type: ignore[arg-type]
    )
    covered = chance(rng, 0.6 if look.handle == "none" else 0.4)
    shown = covered or look.handle != "none" or look.edge != "none" or look.hinges != "hidden"
    # Where nothing shows it, a door hangs on the right, as most are sold.
    cells = _cells(rng, form, cues.usual_side(rng, shown, left=0.2), low, high)
    target = _target(rng, cells)
    make.fix(
        solids.open_box(low, high, wall, "-y") if hollow else solids.box(low, high),
        make.paints.body,
    )
    if chance(rng, 0.5):
        make.fix(feet(low, high, base, 0.02), make.paints.dark)
    else:
        back = rng.uniform(0.0, 0.05)
        make.fix(solids.box((low[0] + 0.01, low[1] + back, 0), (high[0] - 0.01, high[1], base)),
                 make.paints.trim)  # fmt: skip
    if hollow:
        _inside(make, cells, target, low, high, wall)
    crisper = None
    if hollow and cells[target].use != "drawer" and chance(rng, 0.06):
        crisper = _crisper(make, cells[target], low, high, wall)
    leaf = _hang(make, cells, target, look, thick, hollow, low, depth - wall, crisper is not None)
    if covered:
        _hinge_covers(make, cells, high, low[1], thick)
    elif chance(rng, 0.2):  # a top cover over the hinges
        make.fix(
            solids.box((low[0], low[1], high[2]), (high[0], high[1], high[2] + 0.02)),
            make.paints.trim,
        )
    if crisper is not None:
        parts = ("drawer", "crisper", "vegetable drawer", "drawer", "crisper drawer")
        words = (phrases.DRAWER, phrases.DRAWER_BACK)
        return make.draft("refrigerator drawer", crisper, FRIDGE_WORDS, parts, words)
    parts = names(cells, target)
    cell = cells[target]
    if form in ("freezer_top", "freezer_bottom", "drawer_bottom"):
        freezer = (cell.z0 + cell.z1 > low[2] + high[2]) == (form == "freezer_top")
        parts = (*parts, f"freezer {cell.noun}" if freezer else f"refrigerator {cell.noun}")
    return make.draft_leaf("refrigerator", leaf, FRIDGE_WORDS, parts)


def _hinge_covers(
    make: Assembly, cells: list[Cell], high: np.ndarray, front: float, thick: float
) -> None:
    """Covers on top of a refrigerator, over the hinges of the doors that reach up there."""
    rng = make.rng
    wide, tall = rng.uniform(0.03, 0.09), rng.uniform(0.008, 0.03)
    deep = rng.uniform(0.03, 0.12)
    paint = make.paints.dark if chance(rng, 0.5) else make.paints.trim
    for cell in cells:
        if cell.use not in ("left", "right") or cell.z1 < high[2] - 1e-6:
            continue
        a, b = (cell.x0, cell.x0 + wide) if cell.use == "left" else (cell.x1 - wide, cell.x1)
        cover = solids.box((a, front - 0.8 * thick, high[2]), (b, front + deep, high[2] + tall))
        make.fix(cover, paint)


def _cells(
    rng: np.random.Generator, form: str, side: HingeSide, low: np.ndarray, high: np.ndarray
) -> list[Cell]:
    """How the front is divided; single doors hang on `side`."""
    x0, x1, z0, z1 = low[0], high[0], low[2], high[2]
    middle = z0 + (z1 - z0) * rng.uniform(0.28, 0.42)
    high_middle = z0 + (z1 - z0) * rng.uniform(0.6, 0.75)
    split = 0.0 if form != "side" else (x1 - x0) * rng.choice([0.0, -0.06, -0.1])
    pair = [Cell("left", x0, split, middle, z1, -1), Cell("right", split, x1, middle, z1, 1)]
    match form:
        case "freezer_top":
            return [Cell(side, x0, x1, high_middle, z1), Cell(side, x0, x1, z0, high_middle)]
        case "freezer_bottom":
            return [Cell(side, x0, x1, middle, z1), Cell(side, x0, x1, z0, middle)]
        case "drawer_bottom":
            return [Cell(side, x0, x1, middle, z1), *_drawers(rng, x0, x1, z0, middle)]
        case "side":
            return [cell._replace(z0=z0) for cell in pair]
        case "french":
            return [*pair, *_drawers(rng, x0, x1, z0, middle)]
        case "four":
            below = [cell._replace(z0=z0, z1=middle) for cell in pair]
            return [*pair, *below]
    return [Cell(side, x0, x1, z0, z1)]


def _drawers(rng: np.random.Generator, x0: float, x1: float, z0: float, z1: float) -> list[Cell]:
    """One freezer drawer, or two above each other."""
    if chance(rng, 0.6):
        return [Cell("drawer", x0, x1, z0, z1)]
    middle = z0 + (z1 - z0) * rng.uniform(0.45, 0.6)
    return [Cell("drawer", x0, x1, middle, z1), Cell("drawer", x0, x1, z0, middle)]


def _target(rng: np.random.Generator, cells: list[Cell]) -> int:
    """Mostly a door, now and then a drawer."""
    weights = np.array([0.4 if cell.use == "drawer" else 1.0 for cell in cells])
    return int(rng.choice(len(cells), p=weights / weights.sum()))


def _inside(
    make: Assembly, cells: list[Cell], target: int, low: np.ndarray, high: np.ndarray, wall: float
) -> None:
    """Walls between compartments, and shelves behind the target."""
    rng = make.rng
    y0, y1 = low[1] + 0.002, high[1] - wall
    for level in {cell.z0 for cell in cells if cell.z0 > low[2] + 0.05}:
        make.fix(
            solids.box(
                (low[0] + wall, y0, level - wall / 2), (high[0] - wall, y1, level + wall / 2)
            ),
            make.paints.body,
        )
    cell = cells[target]
    for share in (0.25, 0.5, 0.75):
        if cell.use == "drawer" or chance(rng, 0.4):
            continue
        z = cell.z0 + share * (cell.z1 - cell.z0)
        shelf = solids.box(
            (max(cell.x0, low[0] + wall), y0 + 0.14, z - 0.006),
            (min(cell.x1, high[0] - wall), y1, z + 0.006),
        )
        make.fix(shelf, make.paints.inside if chance(rng, 0.5) else make.paints.glass)


def _crisper(
    make: Assembly, cell: Cell, low: np.ndarray, high: np.ndarray, wall: float
) -> JointMotion:
    """A tray that slides out of the lower part of a compartment; its joint."""
    rng = make.rng
    x0 = max(cell.x0, low[0] + wall) + 0.012
    x1 = min(cell.x1, high[0] - wall) - 0.012
    z0 = cell.z0 + wall + 0.01
    tall = min(rng.uniform(0.1, 0.22), 0.3 * (cell.z1 - cell.z0))
    near, far = low[1] + rng.uniform(0.04, 0.1), high[1] - wall - 0.03
    make.move(solids.open_box((x0, near, z0), (x1, far, z0 + tall), 0.01, "+z"), make.paints.front)
    if chance(rng, 0.5):
        half = 0.2 * (x1 - x0)
        middle = (x0 + x1) / 2
        grip = solids.box(
            (middle - half, near - 0.015, z0 + 0.75 * tall),
            (middle + half, near, z0 + 0.9 * tall),
        )
        make.move(grip, make.paints.handle)
    centre = ((x0 + x1) / 2, (near + far) / 2, z0 + tall / 2)
    return slider((0, -1, 0), centre, (far - near) * rng.uniform(0.5, 0.85))


def _hang(
    make: Assembly,
    cells: list[Cell],
    target: int,
    look: Look,
    thick: float,
    hollow: bool,
    low: np.ndarray,
    room: float,
    behind: bool,
) -> Leaf:
    """Hang all doors and drawers; the one of the target comes back.

    It stays, wide open, where what moves is `behind` it.
    """
    rng = make.rng
    gap = rng.uniform(0.002, 0.01)
    extra = rng.uniform(0.0, 0.012)  # a seal between the door and the body
    tall = None if chance(rng, 0.3) else rng.uniform(0.4, 0.6)
    wanted: Leaf | None = None
    for i, cell in enumerate(cells):
        y1 = low[1] - extra
        opening = Opening(cell.x0, cell.x1, cell.z0, cell.z1, y1 - thick, y1).shrunk(gap / 2)
        if cell.use == "drawer":
            leaf = leaves.drawer(
                rng, opening, room if hollow else 0.4 * room,
                look._replace(handle_height=0.9) if chance(rng, 0.7) else look, make.paints,
                boxed=hollow, clearance=0.065,
            )  # fmt: skip
        else:
            height = tall
            if tall is not None and cell.z1 - cell.z0 < 0.75 and len(cells) > 1:
                height = 0.2 if cell.z0 > low[2] + 0.3 else 0.8
            upper = float(np.radians(np.clip(rng.normal(100, 16), 70, 150)))
            leaf = leaves.door(
                rng,
                opening,
                cell.use,  # type: ignore[arg-type]
                look,
                make.paints,
                upper,
                tall=height,
            )
            leaf.pieces.extend(_door_extras(make, opening, hollow, i == target))
        if behind and i == target:
            wide = np.radians(rng.uniform(95, 120))
            leaf = leaf._replace(joint=hinge(leaf.joint.axis, leaf.joint.origin, wide))
        make.put(leaf, i == target and not behind, float(behind and i == target))
        if i == target:
            wanted = leaf
    assert wanted is not None
    return wanted


def _door_extras(make: Assembly, opening: Opening, hollow: bool, moving: bool) -> list:
    """Bins inside the door, a badge or a dispenser outside it."""
    rng, pieces = make.rng, []
    x0, x1 = opening.x0, opening.x1
    if hollow and moving and chance(rng, 0.5):
        margin = 0.075
        for share in (0.12, 0.4, 0.68):
            z = opening.z0 + share * opening.height
            if chance(rng, 0.8) and opening.width > 0.25 and opening.height > 0.4:
                tray = solids.box(
                    (x0 + margin, opening.y1, z), (x1 - margin, opening.y1 + 0.09, z + 0.06)
                )
                pieces.append((tray, make.paints.inside))
    if chance(rng, 0.15) and opening.height > 0.6:
        z = opening.z0 + 0.62 * opening.height
        mid = (x0 + x1) / 2
        wide = 0.28 * opening.width
        panel = solids.box(
            (mid - wide, opening.y0 - 0.004, z), (mid + wide, opening.y0, z + 0.5 * wide + 0.12)
        )
        pieces.append((panel, make.paints.dark))
    return pieces


def chest_freezer(rng: np.random.Generator) -> Draft:
    """A chest with a lid that swings up about its back edge."""
    make = Assembly(rng)
    width, depth = rng.uniform(0.6, 1.7), rng.uniform(0.5, 0.75)
    height, thick = rng.uniform(0.7, 0.95), rng.uniform(0.04, 0.11)
    base = rng.uniform(0.0, 0.05)
    low, high = np.array([-width / 2, -depth / 2, base]), np.array([width / 2, depth / 2, height])
    wall = rng.uniform(0.03, 0.07)
    make.fix(
        solids.open_box(low, high, wall, "+z") if chance(rng, 0.8) else solids.box(low, high),
        make.paints.body,
    )
    if base > 0.01:
        make.fix(feet(low, high, base, 0.025), make.paints.dark)
    out = rng.uniform(0.0, 0.02)
    x0, x1 = low[0] - out, high[0] + out
    if chance(rng, 0.3):
        outline = solids.rounded_rectangle((x0, low[1] - out), (x1, high[1]), 0.06)
        make.move(solids.extrude(outline, "xy", height, height + thick), make.paints.front)
    else:
        make.move(
            solids.box((x0, low[1] - out, height), (x1, high[1], height + thick)),
            make.paints.front,
        )
    if chance(rng, 0.7):
        grip = width * rng.uniform(0.08, 0.2)
        make.move(
            solids.box((-grip, low[1] - out - 0.03, height + 0.2 * thick),
                       (grip, low[1] - out, height + 0.7 * thick)),
            make.paints.handle,
        )  # fmt: skip
    if chance(rng, 0.5):
        make.fix(
            solids.box((0.25 * width, low[1] - 0.004, base + 0.05),
                       (0.4 * width, low[1], base + 0.2)),
            make.paints.dark,
        )  # fmt: skip
    for x in (-0.35 * width, 0.35 * width):
        make.fix(solids.cylinder((x - 0.04, high[1] + 0.008, height), (0.08, 0, 0), 0.01,
                                 segments=8), make.paints.metal)  # fmt: skip
    line = height + (0.0 if chance(rng, 0.7) else 0.5 * thick)
    joint = hinge((-1, 0, 0), (0, high[1] + (0.008 if line == height else 0.0), line),
                  np.radians(rng.uniform(60, 95)))  # fmt: skip
    objects = ("chest freezer", "freezer", "deep freezer")
    return make.draft(
        "freezer", joint, objects, ("lid", "lid", "door", "cover", "top"),
        (prompts.join(prompts.LIFT, prompts.OPEN), prompts.LOWER),
    )  # fmt: skip


def ice_cream_freezer(rng: np.random.Generator) -> Draft:
    """A chest with two panes on top that slide over each other, along its length or its depth."""
    make = Assembly(rng)
    width, depth, height = rng.uniform(0.8, 1.8), rng.uniform(0.55, 0.75), rng.uniform(0.75, 0.95)
    low, high = np.array([-width / 2, -depth / 2, 0.04]), np.array([width / 2, depth / 2, height])
    make.fix(solids.open_box(low, high, 0.06, "+z"), make.paints.body)
    make.fix(feet(low, high, 0.04, 0.025), make.paints.dark)
    x0, x1, y0, y1 = low[0] + 0.03, high[0] - 0.03, low[1] + 0.03, high[1] - 0.03
    thin = rng.uniform(0.008, 0.02)
    upper = int(rng.integers(2))  # which of the two panes lies above the other
    chosen = int(rng.integers(2))
    overlap = 0.03
    for i, (a, b) in enumerate(((x0, overlap), (-overlap, x1))):
        z = height + (1.4 * thin if i == upper else 0.0)
        rim = 0.03
        pane = solids.box((a + rim, y0 + rim, z + 0.2 * thin), (b - rim, y1 - rim, z + 0.8 * thin))
        ring = solids.frame((a, y0, z), (b, y1, z + thin), (a + rim, y0 + rim, 0),
                            (b - rim, y1 - rim, 0), "z")  # fmt: skip
        add = make.move if i == chosen else make.fix
        add(ring, make.paints.front)
        add(pane, make.paints.glass)
        if chance(rng, 0.6):
            grip = a + rim / 2 if i == 0 else b - rim / 2
            add(solids.box((grip - 0.012, -0.08, z + thin), (grip + 0.012, 0.08, z + thin + 0.02)),
                make.paints.handle)  # fmt: skip
    right = chosen == 0
    travel = (x1 - x0) / 2 * rng.uniform(0.5, 0.9)
    joint = slider((1 if right else -1, 0, 0), (0.25 * (x1 - x0) * (-1 if right else 1), 0, height),
                   travel)  # fmt: skip
    spot = "left" if right else "right"
    objects = ("freezer", "chest freezer", "ice cream freezer", "display freezer")
    parts = ("lid", "glass lid", f"{spot} lid", f"lid on the {spot}", "sliding lid", "pane")
    return make.draft("freezer", joint, objects, parts, phrases.slide_sideways(rng, right))


KINDS = {
    "refrigerator": (4.5, refrigerator),
    "chest freezer": (0.6, chest_freezer),
    "ice cream freezer": (0.3, ice_cream_freezer),
}
