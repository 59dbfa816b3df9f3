"""Safes: thick doors with dials, wheels, keypads and strong hinges."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import cues, fronts, prompts, solids
from atop_backend.synthetic.assembly import Assembly, feet, niche
from atop_backend.synthetic.draft import Draft, hinge
from atop_backend.synthetic.leaves import Leaf, Opening, hinge_joint
from atop_backend.synthetic.palette import METALS, PAINTS
from atop_backend.synthetic.pieces import Pieces, chance, choose


def safe(rng: np.random.Generator) -> Draft:
    """A safe; its lock sits away from the hinge, which often shows its knuckles."""
    make = Assembly(rng, (METALS, METALS[3:6], PAINTS))
    width, depth, height = rng.uniform(0.3, 0.75), rng.uniform(0.28, 0.7), rng.uniform(0.25, 1.1)
    form = choose(rng, {"any": 6, "cube": 2, "flat": 2, "tall": 1.5})
    if form == "cube":
        width = depth = height = rng.uniform(0.3, 0.6)
    elif form == "flat":  # for a hotel room
        height = rng.uniform(0.45, 0.65) * width
    elif form == "tall":  # for guns
        height = rng.uniform(1.2, 1.7)
    base = rng.uniform(0.01, 0.06) if chance(rng, 0.5) else 0.0
    low, high = np.array([-width / 2, -depth / 2, base]), np.array([width / 2, depth / 2, height])
    if base:
        make.fix(feet(low, high, base, 0.02), make.paints.dark)
    wall = rng.uniform(0.03, 0.09) * max(1.0, width / 0.5)
    wall = min(wall, 0.2 * width)
    mouth = (low[0] + wall, high[0] - wall, low[2] + wall, high[2] - wall)
    thick = rng.uniform(0.02, 0.09)
    inset = chance(rng, 0.6)
    if inset:  # a thicker one could not turn in its frame
        thick = min(thick, 0.16 * (mouth[1] - mouth[0]))
    make.fix(niche(low, high, mouth, depth - wall), make.paints.body)
    barrels = chance(rng, 0.7)
    central = chance(rng, 0.3)  # the lock, so that only hinges tell the side
    side = cues.usual_side(rng, barrels or not central, left=0.3)
    gap = rng.uniform(0.002, 0.006)
    if inset:
        proud = rng.uniform(0.0, 0.5) * thick
        opening = Opening(*mouth, low[1] - proud, low[1] - proud + thick).shrunk(gap)
    else:
        edge = rng.uniform(0.0, 0.8) * wall
        opening = Opening(low[0] + edge, high[0] - edge, low[2] + edge, high[2] - edge,
                          low[1] - thick, low[1]).shrunk(gap)  # fmt: skip
    if chance(rng, 0.5):
        make.fix(
            solids.box((mouth[0], low[1] + thick + 0.05, (low[2] + high[2]) / 2 - 0.008),
                       (mouth[1], high[1] - wall, (low[2] + high[2]) / 2 + 0.008)),
            make.paints.inside,
        )  # fmt: skip
    line = "outer" if inset else ("outer", "middle", "inner")[int(rng.integers(3))]
    corner = np.array([opening.x0, opening.y0, opening.z0])
    far = np.array([opening.x1, opening.y1, opening.z1])
    style = choose(rng, {"slab": 5, "bevelled": 2, "raised": 1.5, "shaker": 1, "rounded": 0.7})
    pieces = fronts.front(rng, style, corner, far, make.paints)
    knuckle = rng.uniform(0.008, 0.028 if line == "outer" else 0.018)
    knuckle *= barrels
    joint = hinge_joint(opening, side, line, np.radians(np.clip(rng.normal(100, 20), 70, 160)),
                        knuckle if line == "outer" else 0.0)  # fmt: skip
    fixed: Pieces = []
    if knuckle:
        on_door, fixed = _knuckles(make, opening, joint.origin, side, knuckle)
        pieces += on_door
    target = choose(rng, {"door": 9.0, "lock": 1.0})
    lock, axis = _lock(make, opening, side, central)
    leaf = Leaf(pieces, fixed, joint, side, plain=bool(not knuckle and central))
    if target == "lock" and axis is not None:
        make.put(leaf, moving=False)
        make.move_all(lock)
        turning = hinge((0, -1, 0), axis, np.radians(rng.uniform(60, 180)))
        return make.draft(
            "safe dial", turning, ("safe", "vault"), ("knob", "dial", "wheel", "handle", "lock"),
            (prompts.TURN, None), directed=False,
        )  # fmt: skip
    leaf.pieces.extend(lock)
    make.put(leaf, moving=True)
    return make.draft_leaf("safe", leaf, ("safe", "safe", "vault", "strongbox"),
                           ("door", "door", "heavy door"))  # fmt: skip


def _knuckles(
    make: Assembly, opening: Opening, origin, side: str, radius: float
) -> tuple[Pieces, Pieces]:
    """Barrels along the hinge line, on the door and on the body in turn."""
    rng = make.rng
    size = opening.height * rng.uniform(0.08, 0.2)
    on_door: Pieces = []
    on_body: Pieces = []
    for share in (0.2, 0.8) if chance(rng, 0.75) else (0.2, 0.5, 0.8):
        z = opening.z0 + share * opening.height
        x, y = origin[0], origin[1]
        halves = chance(rng, 0.5)
        tall = size / 2 if halves else size
        barrel = solids.cylinder((x, y, z - size / 2), (0, 0, tall), radius, segments=10)
        on_body.append((barrel, make.paints.metal))
        if halves:
            barrel = solids.cylinder((x, y, z), (0, 0, tall), radius, segments=10)
            on_door.append((barrel, make.paints.metal))
    return on_door, on_body


def _lock(
    make: Assembly, opening: Opening, side: str, central: bool
) -> tuple[Pieces, np.ndarray | None]:
    """What locks the door, in its middle or near its free edge; the axis point that it turns on."""
    rng, pieces = make.rng, []
    free = 0.5 if central else rng.uniform(0.6, 0.88)
    share = free if side == "left" else 1 - free
    x = opening.x0 + share * opening.width
    z = opening.z0 + rng.uniform(0.4, 0.6) * opening.height
    y = opening.y0
    size = 0.14 * min(opening.width, opening.height)
    styles = {
        "dial": 3,
        "wheel": 2,
        "keypad": 2,
        "lever": 1.5,
        "dial_lever": 2,
        "knob": 1.5,
        "panel": 1.5,
        "pad_bar": 2,
        "keyhole": 0.7,
    }
    style = choose(rng, styles)
    axis = np.array([x, y, z])
    deep = size * rng.uniform(0.3, 0.8)
    if style == "keypad":
        pad = solids.box((x - size, y - 0.012, z - 1.2 * size), (x + size, y, z + 1.2 * size))
        pieces.append((pad, make.paints.dark))
        for i in range(9):
            kx, kz = x + (i % 3 - 1) * 0.55 * size, z + (i // 3 - 1.3) * 0.55 * size
            key = solids.box((kx - 0.18 * size, y - 0.016, kz - 0.18 * size),
                             (kx + 0.18 * size, y - 0.012, kz + 0.18 * size))  # fmt: skip
            pieces.append((key, make.paints.handle))
        return pieces, None
    if style == "panel":
        return _lock_panel(make, opening, (x, z), size), None
    if style == "keyhole":
        plate = solids.cylinder(axis, (0, -0.006, 0), 0.35 * size, segments=10)
        return [(plate, make.paints.metal)], None
    if style == "pad_bar":
        return _pad_and_bar(rng, make, opening, side, size), None
    if style in ("dial", "dial_lever", "knob"):
        sizes = (size, 0.85 * size) if style != "knob" else (0.5 * size, 0.6 * size)
        pieces.append((solids.cylinder((x, y, z), (0, -0.3 * deep, 0), sizes[0], segments=18),
                       make.paints.metal))  # fmt: skip
        pieces.append((solids.cylinder((x, y - 0.3 * deep, z), (0, -deep, 0), 0.6 * sizes[0],
                                       0.5 * sizes[1], 14), make.paints.handle))  # fmt: skip
    if style == "wheel":
        turn = np.linspace(0, 2 * np.pi, 18, endpoint=False)
        rim = np.stack([x + 1.2 * size * np.cos(turn), 0 * turn + y - deep - 0.02,
                        z + 1.2 * size * np.sin(turn)], axis=1)  # fmt: skip
        pieces.append((solids.tube(rim, 0.09 * size, 6, closed=True), make.paints.handle))
        pieces.append((solids.cylinder((x, y, z), (0, -deep - 0.03, 0), 0.2 * size, segments=10),
                       make.paints.metal))  # fmt: skip
        spokes = int(rng.integers(3, 6))
        for angle in np.arange(spokes) * 2 * np.pi / spokes + rng.uniform(0, 1):
            reach = 1.2 * size * np.array([np.cos(angle), 0.0, np.sin(angle)])
            pieces.append((solids.cylinder((x, y - deep - 0.02, z), reach, 0.06 * size, segments=6),
                           make.paints.handle))  # fmt: skip
    if style in ("lever", "dial_lever"):
        lz = z - (2.0 * size if style == "dial_lever" else 0.0)
        if style == "lever":
            lz = z
        pieces_lever = [
            solids.cylinder((x, y, lz), (0, -0.05, 0), 0.25 * size, segments=10),
            solids.box((min(x, x - (1 if side == "left" else -1) * 1.6 * size), y - 0.055,
                        lz - 0.15 * size),
                       (max(x, x - (1 if side == "left" else -1) * 1.6 * size), y - 0.038,
                        lz + 0.15 * size)),
        ]  # fmt: skip
        pieces.append((np.concatenate(pieces_lever), make.paints.handle))
        if style == "dial_lever":
            return pieces, None
    return pieces, axis


def _pad_and_bar(
    rng: np.random.Generator, make: Assembly, opening: Opening, side: str, size: float
) -> Pieces:
    """A bar to pull at near the free edge, and a keypad anywhere between it and the middle."""
    way = 1.0 if side == "left" else -1.0
    edge = opening.x1 if side == "left" else opening.x0
    x = edge - way * rng.uniform(0.06, 0.14) * opening.width
    half = rng.uniform(0.08, 0.35) * opening.height
    z, y, thick = opening.centre[2], opening.y0, rng.uniform(0.006, 0.014)
    bar = solids.box((x - thick, y - 0.05, z - half), (x + thick, y - 0.035, z + half))
    stands = [
        solids.box((x - thick, y - 0.035, at - thick), (x + thick, y, at + thick))
        for at in (z - 0.8 * half, z + 0.8 * half)
    ]
    px = x - way * (size + thick + rng.uniform(0.02, 0.3) * opening.width)
    px = min(max(px, opening.x0 + size), opening.x1 - size)
    pz = z + rng.uniform(-0.2, 0.25) * opening.height
    pad = solids.box((px - 0.6 * size, y - 0.01, pz - size), (px + 0.6 * size, y, pz + size))
    screen = solids.box((px - 0.4 * size, y - 0.013, pz + 0.4 * size),
                        (px + 0.4 * size, y - 0.01, pz + 0.8 * size))  # fmt: skip
    return [
        (np.concatenate([bar, *stands]), make.paints.handle),
        (pad, make.paints.dark), (screen, make.paints.glass),
    ]  # fmt: skip


def _lock_panel(
    make: Assembly, opening: Opening, centre: tuple[float, float], size: float
) -> Pieces:
    """A dark plate with a display, a few keys and a knob or lever, as on safes of hotels."""
    rng, (x, z), y = make.rng, centre, opening.y0
    wide = min(1.3 * size, opening.x1 - x - 0.01, x - opening.x0 - 0.01)
    tall = min(rng.uniform(1.3, 2.4) * size, 0.45 * opening.height)
    z = (
        (opening.z0 + opening.z1) / 2
        if abs(z - opening.centre[2]) + tall > 0.48 * opening.height
        else z
    )
    plate = solids.box((x - wide, y - 0.006, z - tall), (x + wide, y, z + tall))
    screen = solids.box((x - 0.6 * wide, y - 0.009, z + 0.55 * tall),
                        (x + 0.6 * wide, y - 0.006, z + 0.85 * tall))  # fmt: skip
    keys = []
    for i in range(6):
        kx, kz = x + (i % 3 - 1) * 0.5 * wide, z + (0.2 - 0.3 * (i // 3)) * tall
        keys.append(solids.box((kx - 0.16 * wide, y - 0.01, kz - 0.09 * tall),
                               (kx + 0.16 * wide, y - 0.006, kz + 0.09 * tall)))  # fmt: skip
    knob = solids.cylinder((x, y, z - 0.6 * tall), (0, -0.03, 0), 0.3 * wide, segments=12)
    return [
        (plate, make.paints.dark), (screen, make.paints.glass),
        (np.concatenate(keys), make.paints.accent), (knob, make.paints.handle),
    ]  # fmt: skip


KINDS = {"safe": (3.0, safe)}
