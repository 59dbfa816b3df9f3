"""Ovens, ranges and toaster ovens."""

from __future__ import annotations

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import leaves, prompts, solids
from atop_backend.synthetic.appliances import knobs, window_door
from atop_backend.synthetic.assembly import Assembly, feet, niche
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.leaves import Leaf, Look, Opening, hinge_joint
from atop_backend.synthetic.pieces import chance, choose


def drop_door(
    make: Assembly, opening: Opening, look: Look, upper_rad: float, window: float = 0.85
) -> Leaf:
    """A door hinged at its bottom edge with its handle near the top."""
    rng = make.rng
    pieces = window_door(rng, opening, make.paints, window, rng.uniform(0.08, 0.2))
    pieces += leaves.door_handle(rng, opening, "bottom", look, make.paints)
    joint = hinge_joint(opening, "bottom", look.line, upper_rad)
    return Leaf(pieces, [], joint, "bottom")


def oven_look(rng: np.random.Generator) -> Look:
    """Ovens nearly all have a wide bar at the top of the door."""
    return leaves.any_look(rng, appliance=True)._replace(
        handle=choose(rng, {"bar": 4, "round_bar": 4, "bow": 2, "u": 2, "wedge": 1, "grip": 0.5,
                            "none": 0.4}),
        handle_length=float(rng.uniform(0.5, 1.6)),
        handle_margin=float(rng.uniform(0.03, 0.08)),
    )  # fmt: skip


def _hob(make: Assembly, low: np.ndarray, high: np.ndarray) -> None:
    """Burners, rings or a glass plate on top of a range."""
    rng, z = make.rng, high[2]
    style = choose(rng, {"plate": 1.5, "burners": 2, "grates": 2, "none": 0.7})
    if style == "none":
        return
    width, depth = high[0] - low[0], high[1] - low[1]
    if style == "plate" or chance(rng, 0.3):
        make.fix(
            solids.box(
                (low[0] + 0.02, low[1] + 0.03, z), (high[0] - 0.02, high[1] - 0.06, z + 0.005)
            ),
            make.paints.dark,
        )
    places = [
        (low[0] + sx * width, low[1] + sy * depth) for sx in (0.27, 0.73) for sy in (0.3, 0.68)
    ]
    for x, y in places:
        size = rng.uniform(0.06, 0.1)
        make.fix(solids.cylinder((x, y, z), (0, 0, 0.012), size, segments=12), make.paints.dark)
        if style == "grates":
            for dx, dy in ((1.6 * size, 0.006), (0.006, 1.6 * size)):
                make.fix(solids.box((x - dx, y - dy, z + 0.02), (x + dx, y + dy, z + 0.032)),
                         make.paints.dark)  # fmt: skip


def _rack(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """A wire shelf between two corners, at the lower one's height."""
    x0, y0, z = low
    x1, y1, _ = high
    bars = [solids.box((x, y0, z), (x + 0.005, y1, z + 0.005)) for x in np.linspace(x0, x1, 7)]
    bars += [solids.box((x0, y, z), (x1, y + 0.008, z + 0.008)) for y in (y0, y1 - 0.008)]
    return np.concatenate(bars)


def oven(rng: np.random.Generator) -> Draft:
    """A range or a built-in oven: drop-down door, knobs, perhaps a drawer or a second door."""
    make = Assembly(rng)
    free = chance(rng, 0.68)  # a range with a hob on it
    width = rng.uniform(0.5, 0.95)
    depth = rng.uniform(0.45, 0.7)
    height = rng.uniform(0.8, 0.98) if free else rng.uniform(0.45, 1.2)
    base = rng.uniform(0.02, 0.1) if free else 0.0
    low, high = np.array([-width / 2, -depth / 2, base]), np.array([width / 2, depth / 2, height])
    if base:
        make.fix(feet(low, high, base, 0.018), make.paints.dark)
    panel = rng.uniform(0.07, 0.16) if chance(rng, 0.88) else 0.0
    panel_z = high[2] - panel
    drawer_z = low[2] + (rng.uniform(0.12, 0.24) if chance(rng, 0.5 if free else 0.15) else 0.0)
    double = height - drawer_z > 0.75 and chance(rng, 0.35)
    split = drawer_z + (panel_z - drawer_z) * rng.uniform(0.5, 0.68)
    spans = [(drawer_z, split), (split, panel_z)] if double else [(drawer_z, panel_z)]
    thick, wall = rng.uniform(0.025, 0.06), rng.uniform(0.03, 0.07)
    hollow = chance(rng, 0.8)
    target = choose(
        rng,
        {
            "door": 7.5,
            "drawer": 1.3 if drawer_z > low[2] else 0.0,
            "knob": 0.8 if panel else 0.0,
            "rack": 0.8 if hollow and not double else 0.0,
        },
    )
    pull = _oven_body(make, low, high, spans, drawer_z, wall, hollow, target == "rack")
    if free:
        _hob(make, low, high)
        if chance(rng, 0.4):  # a guard along the back
            tall = rng.uniform(0.06, 0.2)
            make.fix(
                solids.box((low[0], high[1] - 0.05, high[2]), (high[0], high[1], high[2] + tall)),
                make.paints.trim,
            )
    face = low[1] - thick
    if panel:
        front = face if chance(rng, 0.6) else low[1] - 0.3 * thick
        make.fix(solids.box((low[0], front, panel_z + 0.003), (high[0], low[1], high[2])),
                 make.paints.trim)  # fmt: skip
        axis = _panel(make, low, high, panel_z, front, panel, target == "knob")
        if axis is not None:
            joint = hinge((0, -1, 0), axis, np.radians(rng.uniform(60, 270)))
            return _finish_knob(make, joint, low, spans, look_thick=thick, drawer_z=drawer_z)
    leaf = _oven_leaves(make, low, high, spans, drawer_z, thick, hollow, target)
    objects = ("oven", "oven", "stove", "range", "cooker") if free else ("oven", "wall oven")
    if pull is not None:
        parts = ("rack", "oven rack", "shelf", "tray", "grill rack")
        words = (prompts.join(prompts.SLIDE_OUT, prompts.EXTEND), prompts.SLIDE_IN)
        return make.draft("oven rack", pull, ("oven", "stove", "range"), parts, words)
    assert leaf is not None
    parts = ["door", "door", "front door"] if leaf.side != "out" else ["drawer", "bottom drawer"]
    return make.draft_leaf("oven", leaf, objects, parts)


def _oven_body(
    make: Assembly,
    low: np.ndarray,
    high: np.ndarray,
    spans: list[tuple[float, float]],
    drawer_z: float,
    wall: float,
    hollow: bool,
    rack_moves: bool,
) -> JointMotion | None:
    """The block with a cavity behind each door and the drawer; the joint of a rack that moves."""
    rng = make.rng
    if not hollow:
        make.fix(solids.box(low, high), make.paints.body)
        return None
    pull = None
    depth = (high[1] - low[1]) - wall
    floors = [(drawer_z, z0, z1) for z0, z1 in spans]
    if drawer_z > low[2]:
        floors.insert(0, (drawer_z, low[2], drawer_z))
    edges = [low[2], *[z1 for _, _, z1 in floors]]
    edges[-1] = high[2]
    for (_, z0, z1), bottom, ceiling in zip(floors, edges[:-1], edges[1:], strict=True):
        mouth = (low[0] + wall, high[0] - wall, z0 + 0.6 * wall, z1 - 0.6 * wall)
        block = niche((low[0], low[1], bottom), (high[0], high[1], ceiling), mouth, depth)
        make.fix(block, make.paints.body)
        if z1 == drawer_z:
            continue
        moves = rack_moves and pull is None
        if moves or chance(rng, 0.6):
            z = z0 + rng.uniform(0.35, 0.6) * (z1 - z0)
            near, far = low[1] + 0.02, low[1] + depth - 0.02
            rack = _rack(np.array([mouth[0], near, z]), np.array([mouth[1], far, z]))
            (make.move if moves else make.fix)(rack, make.paints.metal)
            if moves:
                travel = (far - near) * rng.uniform(0.5, 0.85)
                pull = slider((0, -1, 0), (0, (near + far) / 2, z), travel)
    return pull


def _panel(
    make: Assembly, low: np.ndarray, high: np.ndarray, z: float, y: float, tall: float, turns: bool
) -> np.ndarray | None:
    """Knobs and a display above the door; the axis point of the knob that turns."""
    rng = make.rng
    count = int(rng.integers(2, 7))
    middle = z + tall / 2
    radius = min(tall * rng.uniform(0.2, 0.36), 0.35 * (high[0] - low[0]) / count)
    shares = (np.arange(count) + 0.5) / count
    if count % 2 == 0 and chance(rng, 0.5):  # leave room for a display
        shares = np.where(shares < 0.5, shares * 0.75, 1 - (1 - shares) * 0.75)
        make.fix(
            solids.box((-0.09, y - 0.003, middle - 0.025), (0.09, y, middle + 0.025)),
            make.paints.dark,
        )
    places = [(float(low[0] + share * (high[0] - low[0])), middle) for share in shares]
    if not turns and chance(rng, 0.12):
        return None
    return knobs(make, places, y, radius, int(rng.integers(count)) if turns else None)


def _finish_knob(
    make: Assembly,
    joint,
    low: np.ndarray,
    spans: list[tuple[float, float]],
    look_thick: float,
    drawer_z: float,
) -> Draft:
    """Close the doors of an oven whose knob turns."""
    look = oven_look(make.rng)
    for z0, z1 in spans:
        opening = Opening(low[0], -low[0], z0, z1, low[1] - look_thick, low[1]).shrunk(0.003)
        make.put(drop_door(make, opening, look, 1.0), moving=False)
    if drawer_z > low[2]:
        panel = solids.box((low[0] + 0.003, low[1] - look_thick, low[2]),
                           (-low[0] - 0.003, low[1], drawer_z - 0.003))  # fmt: skip
        make.fix(panel, make.paints.front)
    return make.draft(
        "oven knob", joint, ("oven", "stove", "range", "cooker"),
        ("knob", "knob", "dial", "burner knob", "control knob"),
        (prompts.TURN, None), directed=False,
    )  # fmt: skip


def _side_door(make: Assembly, opening: Opening, look: Look, side: str) -> Leaf:
    """An oven door hinged at one of its sides."""
    rng = make.rng
    upper = float(np.radians(np.clip(rng.normal(95, 15), 60, 130)))
    pieces = window_door(rng, opening, make.paints, 0.7, rng.uniform(0.1, 0.22))
    look = look._replace(handle_length=min(look.handle_length, 0.9))
    pieces += leaves.door_handle(rng, opening, side, look, make.paints, 0.5)  # type: ignore[arg-type]
    return Leaf(pieces, [], hinge_joint(opening, side, look.line, upper), side)  # type: ignore[arg-type]


def _oven_leaves(
    make: Assembly,
    low: np.ndarray,
    high: np.ndarray,
    spans: list[tuple[float, float]],
    drawer_z: float,
    thick: float,
    hollow: bool,
    target: str,
) -> Leaf | None:
    """Hang doors and drawer; the one that moves comes back. Doors before a moving rack are open."""
    rng, look = make.rng, oven_look(make.rng)
    side = rng.uniform(0.0, 0.02)
    wanted: Leaf | None = None
    chosen = int(rng.integers(len(spans)))
    sideways = None  # wood stoves and some built-in ovens
    if target == "door" and chance(rng, 0.07):
        sideways = "left" if chance(rng, 0.5) else "right"
    for i, (z0, z1) in enumerate(spans):
        opening = Opening(low[0] + side, high[0] - side, z0, z1, low[1] - thick, low[1]).shrunk(
            0.003
        )
        upper = float(np.radians(np.clip(rng.normal(85, 8), 60, 95)))
        moves = target == "door" and i == chosen
        crossing = i == 1 or drawer_z > low[2]  # something below that the thickness would meet
        if sideways:
            leaf = _side_door(make, opening, look, sideways)
        else:
            line = "outer" if crossing else look.line
            leaf = drop_door(make, opening, look._replace(line=line), upper)
        if target == "rack":
            flat = hinge(leaf.joint.axis, leaf.joint.origin, np.radians(rng.uniform(84, 90)))
            make.put(leaf._replace(joint=flat), moving=False, opened=1.0)
        else:
            make.put(leaf, moves)
        wanted = leaf if moves else wanted
    if drawer_z > low[2]:
        opening = Opening(low[0] + side, high[0] - side, low[2], drawer_z, low[1] - thick, low[1])
        room = (high[1] - low[1] - 0.08) if hollow else 0.2
        leaf = leaves.drawer(
            rng, opening.shrunk(0.003), room, look, make.paints, boxed=hollow, clearance=0.075
        )
        make.put(leaf, target == "drawer")
        wanted = leaf if target == "drawer" else wanted
    return wanted


def toaster_oven(rng: np.random.Generator) -> Draft:
    """A small oven with a glass drop-down door and knobs beside it."""
    make = Assembly(rng)
    width, depth, height = rng.uniform(0.38, 0.6), rng.uniform(0.26, 0.42), rng.uniform(0.22, 0.38)
    base = rng.uniform(0.008, 0.025)
    low, high = np.array([-width / 2, -depth / 2, base]), np.array([width / 2, depth / 2, height])
    make.fix(feet(low, high, base, 0.014), make.paints.dark)
    side = rng.uniform(0.16, 0.28) * width if chance(rng, 0.85) else 0.0
    x0, x1 = low[0] + 0.02, high[0] - side - 0.01
    z0, z1 = low[2] + rng.uniform(0.01, 0.05), high[2] - rng.uniform(0.015, 0.05)
    make.fix(niche(low, high, (x0 + 0.012, x1 - 0.012, z0 + 0.012, z1 - 0.012), 0.85 * depth),
             make.paints.body)  # fmt: skip
    thick = rng.uniform(0.01, 0.025)
    opening = Opening(x0, x1, z0, z1, low[1] - thick, low[1])
    look = oven_look(rng)
    if look.handle_length > 1.2:
        look = look._replace(handle_length=1.1)
    leaf = drop_door(make, opening, look, np.radians(rng.uniform(70, 90)), window=0.95)
    make.fix(_rack(np.array([x0 + 0.015, low[1] + 0.02, base + 0.4 * height]),
                   np.array([x1 - 0.015, 0.3 * depth, 0.0])), make.paints.metal)  # fmt: skip
    if side:
        count = int(rng.integers(2, 5))
        levels = np.linspace(low[2], high[2], count + 2)[1:-1]
        x = (x1 + high[0]) / 2
        radius = min(0.3 * side, 0.3 * (height - base) / count)
        knobs(make, [(x, z) for z in levels], low[1], radius)
    make.put(leaf, moving=True)
    return make.draft_leaf("toaster oven", leaf, ("toaster oven", "oven", "mini oven"),
                           ("door", "door", "glass door"))  # fmt: skip


KINDS = {
    "oven": (3.5, oven),
    "toaster oven": (1.0, toaster_oven),
}
