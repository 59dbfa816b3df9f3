"""Room doors: leaves that swing or slide in a frame."""

from __future__ import annotations

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import fronts, leaves, phrases, prompts, solids
from atop_backend.synthetic.assembly import Assembly
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.leaves import HingeSide, Opening
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.pieces import Paints, Pieces, chance, choose, mirrored
from atop_backend.synthetic.prompts import Words, join, words

INWARDS = words(
    "swings inward|opens inward|is pushed open|swings back|opens to the back|opens away"
    "|rotates inward|swings in|opens|swings open|is opened",
    "push {} open|push {}|open {}|push {} inward|swing {} inward|open {} inward",
)
INWARDS_SHUT = words("closes|swings shut|is pulled shut|shuts", "close {}|pull {} shut|shut {}")
OUTWARDS = words(
    "opens outward|swings outward|is pulled open|swings forward|opens to the front|opens"
    "|swings open|is opened|swings out",
    "pull {} open|open {}|pull {} outward|swing {} open",
)


class Doorway:
    """Pieces of a leaf and its surroundings, which may still be turned back to front."""

    def __init__(self) -> None:
        self.fixed: Pieces = []
        self.moving: Pieces = []

    def finish(self, make: Assembly, joint: JointMotion, inwards: bool) -> JointMotion:
        """Add everything to an assembly, mirrored front to back for a leaf that opens inwards."""
        if not inwards:
            make.fix_all(self.fixed)
            make.move_all(self.moving)
            return joint
        make.fix_all(mirrored(self.fixed, 1, 0.0))
        make.move_all(mirrored(self.moving, 1, 0.0))
        ax, ay, az = joint.axis
        x, y, z = joint.origin
        if joint.kind == "prismatic":
            return slider((ax, -ay, az), (x, -y, z), joint.upper)
        return hinge(
            (-ax, ay, -az), (x, -y, z), joint.upper
        )  # an axial vector mirrors the other way


def swing_words(
    rng: np.random.Generator, side: HingeSide, inwards: bool, told: float = 0.4
) -> tuple[Words, Words | None]:
    """Words for a leaf that swings towards the viewer or away, and for the way back."""
    base, shut = (INWARDS, INWARDS_SHUT) if inwards else (OUTWARDS, prompts.SWING_SHUT)
    if side in ("left", "right") and rng.random() < told:
        sided = words(
            f"opens, hinged on the {side}|swings open on its {side} hinges"
            f"|turns about its {side} edge|swings open, hinge on the {side}"
            f"|rotates about the {side} side"
        )
        return join(base, sided), shut
    return base, shut


def door_grip(
    rng: np.random.Generator,
    opening: Opening,
    side: str,
    paints: Paints,
    height: float | None = None,
) -> Pieces:
    """Handles on both faces of a room door, or on one; near the free edge."""
    style = choose(rng, {"lever": 4, "plate_lever": 2, "knob": 3, "pull": 2, "none": 1.2})
    if style == "none":
        return []
    free = opening.x1 if side == "left" else opening.x0
    inwards = -1.0 if side == "left" else 1.0
    x = free + inwards * float(np.clip(rng.uniform(0.045, 0.09), 0, 0.3 * opening.width))
    share = height if height is not None else rng.uniform(0.42, 0.54)
    z = opening.z0 + share * opening.height
    y = opening.y0
    size = rng.uniform(0.018, 0.035)
    out = rng.uniform(0.04, 0.07)
    parts: list[np.ndarray] = []
    if style == "knob":
        profile = [(0.9 * size, 0.0), (0.4 * size, 0.2 * out), (0.4 * size, 0.5 * out),
                   (1.2 * size, 0.75 * out), (0.9 * size, out), (0.0, out)]  # fmt: skip
        knob = solids.lathe(profile, (0, 0, 0), "y", 10)
        parts.append(knob[:, ::-1] * np.array([1.0, -1.0, 1.0]) + np.array([x, y, z]))
    elif style == "pull":
        half = rng.uniform(0.1, 0.45) * min(1.0, opening.height / 2)
        half = min(half, 0.45 * opening.height)
        bar = solids.cylinder((x, y - out, z - half), (0, 0, 2 * half), 0.5 * size, segments=8)
        posts = [
            solids.cylinder((x, y, z + s * 0.8 * half), (0, -out, 0), 0.35 * size, segments=6)
            for s in (-1, 1)
        ]
        parts += [bar, *posts]
    else:
        if style == "plate_lever":
            parts.append(solids.box((x - size, y - 0.008, z - 0.14), (x + size, y, z + 0.08)))
        else:
            parts.append(solids.cylinder((x, y, z), (0, -0.012, 0), size, segments=12))
        parts.append(solids.cylinder((x, y, z), (0, -out, 0), 0.4 * size, segments=8))
        reach = inwards * rng.uniform(0.09, 0.14)
        a, b = sorted((x - 0.3 * inwards * size, x + reach))
        if chance(rng, 0.5):
            parts.append(
                solids.box(
                    (a, y - out - 0.008, z - 0.4 * size), (b, y - out + 0.008, z + 0.4 * size)
                )
            )
        else:
            parts.append(solids.cylinder((a, y - out, z), (b - a, 0, 0), 0.35 * size, segments=8))
    pieces: Pieces = [(np.concatenate(parts), paints.handle)]
    if chance(rng, 0.88):
        pieces += mirrored(pieces, 1, (opening.y0 + opening.y1) / 2)
    if chance(rng, 0.2) and style != "pull":
        lock = solids.cylinder((x, y, z - 0.09), (0, -0.01, 0), 0.6 * size, segments=8)
        pieces.append((lock, paints.metal))
    return pieces


def leaf_of(rng: np.random.Generator, opening: Opening, style: str, paints: Paints) -> Pieces:
    """A room door's leaf, alike on both faces as far as the style goes."""
    low = np.array([opening.x0, opening.y0, opening.z0])
    high = np.array([opening.x1, opening.y1, opening.z1])
    if style == "arched":
        top = opening.z1 - min(0.5 * opening.width, 0.3 * opening.height)
        angles = np.linspace(0, np.pi, 9)
        arc = np.stack(
            [
                (opening.x0 + opening.x1) / 2 + 0.5 * opening.width * np.cos(angles),
                top + (opening.z1 - top) * np.sin(angles),
            ],
            axis=1,
        )
        outline = np.concatenate([[[opening.x0, opening.z0], [opening.x1, opening.z0]], arc])
        return [(solids.extrude(outline, "xz", opening.y0, opening.y1), paints.front)]
    if style == "grid":
        return _grid_leaf(rng, opening, paints)
    if style == "braced":
        pieces = fronts.front(rng, "planks", low, high, paints)
        for share in (0.12, 0.85):
            z = opening.z0 + share * opening.height
            pieces.append((solids.box((opening.x0 + 0.02, opening.y1, z - 0.05),
                                      (opening.x1 - 0.02, opening.y1 + 0.02, z + 0.05)),
                           paints.trim))  # fmt: skip
        return pieces
    return fronts.front(rng, style, low, high, paints)


def _grid_leaf(rng: np.random.Generator, opening: Opening, paints: Paints) -> Pieces:
    """A leaf with raised or sunken panels in two columns on both faces."""
    low = np.array([opening.x0, opening.y0, opening.z0])
    high = np.array([opening.x1, opening.y1, opening.z1])
    pieces: Pieces = [(solids.box(low, high), paints.front)]
    rows, columns = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    edges = np.linspace(0.06, 0.96, rows + 1)
    out = 0.006
    for i in range(rows):
        for j in range(columns):
            x = np.array([j, j + 1]) / columns
            x = (
                opening.x0
                + opening.width * (0.1 + 0.8 * x)
                + 0.04 * opening.width * np.array([1, -1])
            )
            z = (
                opening.z0
                + opening.height * edges[i : i + 2]
                + 0.03 * opening.height * np.array([1, -1])
            )
            panel = solids.box((x[0], opening.y0 - out, z[0]), (x[1], opening.y1 + out, z[1]))
            pieces.append((panel, paints.panel))
    return pieces


def surround(
    rng: np.random.Generator, make: Assembly, way: Doorway, span: Opening, deep: tuple[float, float]
) -> None:
    """A frame around a doorway, and sometimes a threshold, a fanlight or a piece of wall."""
    wide = rng.uniform(0.04, 0.13)
    y0, y1 = deep
    paint = make.paints.trim if chance(rng, 0.7) else make.paints.body
    top = span.z1
    light = rng.uniform(0.2, 0.45) if chance(rng, 0.1) else 0.0
    bars = [
        solids.box((span.x0 - wide, y0, span.z0), (span.x0, y1, top + wide)),
        solids.box((span.x1, y0, span.z0), (span.x1 + wide, y1, top + wide)),
        solids.box((span.x0, y0, top), (span.x1, y1, top + wide)),
    ]
    if light:
        upper = top + wide
        bars.append(
            solids.frame(
                (span.x0 - wide, y0, upper),
                (span.x1 + wide, y1, upper + light),
                (span.x0, 0, upper),
                (span.x1, 0, upper + light - wide),
                "y",
            )
        )
        pane = solids.box((span.x0, (y0 + y1) / 2 - 0.004, upper),
                          (span.x1, (y0 + y1) / 2 + 0.004, upper + light - wide))  # fmt: skip
        way.fixed.append((pane, make.paints.glass))
    if chance(rng, 0.2):
        bars.append(solids.box((span.x0 - wide, y0, span.z0 - 0.02), (span.x1 + wide, y1, span.z0)))
    way.fixed.append((np.concatenate(bars), paint))
    if chance(rng, 0.16) and not light:
        around = rng.uniform(0.15, 0.7)
        thin = (y1 - y0) * rng.uniform(0.6, 0.95)
        middle = (y0 + y1) / 2
        walls = [
            solids.box((span.x0 - wide - around, middle - thin / 2, span.z0),
                       (span.x0 - wide, middle + thin / 2, top + wide)),
            solids.box((span.x1 + wide, middle - thin / 2, span.z0),
                       (span.x1 + wide + around, middle + thin / 2, top + wide)),
            solids.box((span.x0 - wide - around, middle - thin / 2, top + wide),
                       (span.x1 + wide + around, middle + thin / 2, top + wide + 0.4 * around)),
        ]  # fmt: skip
        way.fixed.append((np.concatenate(walls), make.paints.body))


def room_door(rng: np.random.Generator) -> Draft:
    """One or two leaves in a frame, opening towards the viewer or away."""
    make = Assembly(rng, (WOODS, PAINTS, METALS))
    way = Doorway()
    double = chance(rng, 0.28)
    width = rng.uniform(1.2, 1.9) if double else rng.uniform(0.65, 1.1)
    height = rng.uniform(1.85, 2.5)
    span = Opening(-width / 2, width / 2, 0.0, height, 0.0, 0.0)
    thick, deep = rng.uniform(0.03, 0.065), rng.uniform(0.07, 0.22)
    front = -deep / 2 + (rng.uniform(0.0, deep - thick) if chance(rng, 0.3) else 0.0)
    surround(rng, make, way, span, (-deep / 2, deep / 2))
    gap = rng.uniform(0.002, 0.006)
    look = leaves.any_look(rng)
    style = choose(rng, {"slab": 5, "shaker": 1.5, "grid": 3, "double_panel": 2, "glass": 1.2,
                         "lattice": 1.2, "braced": 0.8, "louvre": 0.4, "arched": 0.4})  # fmt: skip
    room = 0.0 if chance(rng, 0.6) else 0.01
    side: HingeSide = "left" if chance(rng, 0.5) else "right"
    upper = float(np.radians(np.clip(rng.normal(90, 14), 50, 120)))
    if front > -deep / 2 + 0.01:  # beyond a right angle the frame is in the way
        upper = min(upper, float(np.radians(91)))
    spans = [(-width / 2, 0.0, "left"), (0.0, width / 2, "right")] if double else [
        (-width / 2, width / 2, side)
    ]  # fmt: skip
    chosen = int(rng.integers(len(spans)))
    grip_height = rng.uniform(0.42, 0.54)
    pivot = chance(rng, 0.04)  # turns on pins in floor and lintel, away from its edge
    hinge_in = rng.uniform(0.06, 0.3) * (width / len(spans))
    state = rng.bit_generator.state
    joint = None
    for i, (x0, x1, hinged) in enumerate(spans):
        if i:
            rng.bit_generator.state = state  # both leaves look alike
        opening = Opening(x0, x1, room, height, front, front + thick).shrunk(gap)
        pieces = leaf_of(rng, opening, style, make.paints)
        grip = door_grip(rng, opening, hinged, make.paints, grip_height)
        pieces += grip
        shown = chance(rng, 0.7) if look.hinges != "hidden" else not grip and chance(rng, 0.6)
        knuckle = rng.uniform(0.008, 0.016) if shown else 0.0
        moved = leaves.hinge_joint(opening, hinged, "outer", upper, knuckle)  # type: ignore[arg-type]
        if pivot:
            inset = hinge_in * (1.0 if hinged == "left" else -1.0)
            ox, _, oz = moved.origin
            moved = hinge(moved.axis, (ox + inset, front + 0.5 * thick, oz), min(upper, 1.5))
        elif knuckle:
            pieces += _pins(opening, moved, knuckle, make.paints)
        if i == chosen:
            way.moving += pieces
            joint, side = moved, hinged  # type: ignore[assignment]
        else:
            way.fixed += pieces
    assert joint is not None
    if chance(rng, 0.5) and not pivot:  # the stop that the leaf closes against
        way.fixed.append((_stop(span, front + thick, min(0.03, deep / 3)), make.paints.trim))
    inwards = chance(rng, 0.4)
    joint = way.finish(make, joint, inwards)
    parts = ["door", "door", "leaf", "door panel"]
    if double:
        parts = ["door", f"{side} door", f"door on the {side}", f"{side} leaf", f"{side} door leaf"]
    objects = ("doorway", "door frame", "entrance") if chance(rng, 0.4) else ()
    return make.draft("door", joint, objects, parts, swing_words(rng, side, inwards))


def _pins(opening: Opening, joint: JointMotion, radius: float, paints: Paints) -> Pieces:
    """Three knuckles on the hinge line."""
    x, y, _ = joint.origin
    pins = [
        solids.cylinder(
            (x, y, opening.z0 + share * opening.height - 0.05), (0, 0, 0.1), radius, segments=8
        )
        for share in (0.12, 0.5, 0.88)
    ]
    return [(np.concatenate(pins), paints.metal)]


def _stop(span: Opening, y: float, deep: float) -> np.ndarray:
    """A strip along the frame behind the leaf."""
    wide = 0.015
    return np.concatenate(
        [
            solids.box((span.x0, y, 0), (span.x0 + wide, y + deep, span.z1)),
            solids.box((span.x1 - wide, y, 0), (span.x1, y + deep, span.z1)),
            solids.box((span.x0, y, span.z1 - wide), (span.x1, y + deep, span.z1)),
        ]
    )


def sliding_door(rng: np.random.Generator) -> Draft:
    """A barn door on a rail, or a patio door of two panels."""
    make = Assembly(rng, (WOODS, PAINTS, METALS))
    way = Doorway()
    width, height = rng.uniform(0.7, 1.1), rng.uniform(1.9, 2.3)
    thick = rng.uniform(0.03, 0.05)
    right = chance(rng, 0.5)
    way_to = 1.0 if right else -1.0
    style = choose(rng, {"glass": 4, "lattice": 1.5, "slab": 2, "shaker": 2, "braced": 1})
    if chance(rng, 0.45):
        opening = _barn_rail(rng, make, way, width, height, thick, way_to)
        travel = width * rng.uniform(0.75, 1.0)
        kind = "barn door"
    else:
        total = Opening(-width, width, 0.0, height, 0.0, 0.0)
        surround(rng, make, way, total, (-1.6 * thick, 1.6 * thick))
        x0 = -width + 0.003 if right else -0.03
        near = -1.0 if chance(rng, 0.5) else 1.0
        y = (-1.3 if near < 0 else 0.3) * thick
        opening = Opening(x0, x0 + width + 0.027, 0.01, height - 0.003, y, y + thick)
        other = Opening(
            -0.03 if right else -width,
            width if right else 0.03,
            0.01,
            height,
            (0.3 if near < 0 else -1.3) * thick,
            (1.3 if near < 0 else -0.3) * thick,
        )
        way.fixed += leaf_of(rng, other, style, make.paints)
        travel = width * rng.uniform(0.6, 0.93)
        kind = "sliding door"
    way.moving += leaf_of(rng, opening, style, make.paints)
    way.moving += door_grip(rng, opening, "right" if right else "left", make.paints, 0.45)
    joint = slider((way_to, 0, 0), opening.centre, travel)
    joint = way.finish(make, joint, chance(rng, 0.2))
    parts = ("door", "sliding door", "door", "panel", "glass door" if style == "glass" else "door")
    return make.draft(kind, joint, (), parts, phrases.slide_sideways(rng, right))


def _barn_rail(
    rng: np.random.Generator,
    make: Assembly,
    way: Doorway,
    width: float,
    height: float,
    thick: float,
    way_to: float,
) -> Opening:
    """A rail over a doorway in a wall; the door that hangs from it."""
    wall, gap = rng.uniform(0.06, 0.15), rng.uniform(0.01, 0.03)
    reach = width * 2.05
    x0, x1 = sorted((-way_to * 0.55 * width, way_to * (reach - 0.55 * width)))
    z = height + rng.uniform(0.04, 0.1)
    rail = solids.box((x0, -gap - thick, z), (x1, -gap - 0.4 * thick, z + 0.05))
    way.fixed.append((rail, make.paints.metal))
    half = 0.45 * width
    walls = [
        solids.box((x0, 0, 0), (-half, wall, z + 0.2)),
        solids.box((half, 0, 0), (x1, wall, z + 0.2)),
        solids.box((-half, 0, height - 0.08), (half, wall, z + 0.2)),
    ]
    way.fixed.append((np.concatenate(walls), make.paints.body))
    for x in (-0.35 * width, 0.35 * width):
        strap = solids.box(
            (x - 0.02, -gap - 1.2 * thick, height - 0.15), (x + 0.02, -gap - thick, z + 0.08)
        )
        wheel = solids.cylinder((x, -gap - 1.1 * thick, z + 0.09), (0, 0.6 * thick, 0), 0.04,
                                segments=10)  # fmt: skip
        way.moving.append((np.concatenate([strap, wheel]), make.paints.metal))
    return Opening(-width / 2, width / 2, 0.01, height, -gap - thick, -gap)


KINDS = {
    "door": (3.2, room_door),
    "sliding door": (0.9, sliding_door),
}
