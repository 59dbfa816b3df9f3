"""What tells, on a door without a handle, which edge is hung and which one is free."""

from __future__ import annotations

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import solids
from atop_backend.synthetic.openings import HingeSide, Opening
from atop_backend.synthetic.pieces import Paints, Pieces, chance, choose

# On the free edge of a door; "gap" and "bevel" shape the leaf itself.
EDGES = {
    "recess": 3.0, "lip": 2.0, "tab": 2.0, "lock": 2.0, "notch": 1.0, "gap": 2.0, "bevel": 2.0,
}  # fmt: skip
HINGES = {"hidden": 3.0, "knuckles": 1.0, "plates": 1.0, "strap": 0.8, "piano": 0.2}
_SHOWN = {"hidden": 1.4, "knuckles": 1.4, "plates": 0.6, "strap": 0.6, "piano": 0.4}


def any_hinges(rng: np.random.Generator, plain: bool) -> str:
    """A kind of hinge drawn by how common it is, seen more often on a `plain` front."""
    return choose(rng, _SHOWN if plain else HINGES)


def any_edge(rng: np.random.Generator, plain: bool) -> str:
    """What marks the free edge, if anything; common on a front without a handle."""
    return choose(rng, EDGES) if chance(rng, 0.6 if plain else 0.04) else "none"


def usual_side(rng: np.random.Generator, shown: bool, left: float) -> HingeSide:
    """Hinge side of a single door: as often either where something shows it, else as is usual.

    Were a custom kept where a handle shows the side too, a model would trust it over the handle.

    Args:
        shown: Whether a handle, a lock, a seam or the hinges tell the side.
        left: Share of such doors that hang on the left in the world, seen from the front.
    """
    return "left" if chance(rng, 0.5 if shown else left) else "right"


def upright(side: str) -> bool:
    """Whether the hinge line is a vertical edge."""
    return side in ("left", "right")


def along_free_edge(
    opening: Opening,
    side: HingeSide,
    across: tuple[float, float],
    along: tuple[float, float],
    out: tuple[float, float],
) -> np.ndarray:
    """A box on a door's face beside its free edge.

    Args:
        opening: The closed door.
        side: Edge that carries the hinge.
        across: Distances from the free edge, metres, into the leaf.
        along: From where to where along the edge, as shares of it.
        out: Depths y from the front to the back of the box.
    """
    x0, x1, z0, z1, _, _ = opening
    near, far = across
    if upright(side):
        a, b = (x1 - far, x1 - near) if side == "left" else (x0 + near, x0 + far)
        c, d = (z0 + share * opening.height for share in along)
    else:
        a, b = (x0 + share * opening.width for share in along)
        c, d = (z1 - far, z1 - near) if side == "bottom" else (z0 + near, z0 + far)
    return solids.box((a, out[0], c), (b, out[1], d))


def short_of(opening: Opening, side: HingeSide, gap: float) -> Opening:
    """The leaf that stops `gap` metres before its free edge would be."""
    match side:
        case "left":
            return opening._replace(x1=opening.x1 - gap)
        case "right":
            return opening._replace(x0=opening.x0 + gap)
        case "top":
            return opening._replace(z0=opening.z0 + gap)
        case "bottom":
            return opening._replace(z1=opening.z1 - gap)


def bevelled_slab(opening: Opening, side: HingeSide, cut: float) -> np.ndarray:
    """A plain leaf whose free edge is cut off by `cut` metres towards the viewer, to grip it."""
    x0, x1, z0, z1, y0, y1 = opening
    deep = y0 + 0.85 * (y1 - y0)
    if upright(side):
        outline = [(x0, y1), (x1, y1)]
        outline += [(x1, deep), (x1 - cut, y0), (x0, y0)] if side == "left" else [
            (x1, y0), (x0 + cut, y0), (x0, deep)
        ]  # fmt: skip
        return solids.extrude(outline, "xy", z0, z1)
    outline = [(y0, z0), (y1, z0), (y1, z1), (deep, z1), (y0, z1 - cut)] if side == "bottom" else [
        (y0, z0 + cut), (deep, z0), (y1, z0), (y1, z1), (y0, z1)
    ]  # fmt: skip
    return solids.extrude(outline, "yz", x0, x1)


def edge_pieces(
    kind: str,
    opening: Opening,
    side: HingeSide,
    paints: Paints,
    size: float,
    share: float,
) -> Pieces:
    """What marks the free edge of a door, on its face.

    Args:
        kind: A key of `EDGES`, or "none".
        opening: The closed door.
        side: Edge that carries the hinge.
        paints: Materials.
        size: How wide the mark is, metres, before limits.
        share: How much of the edge it takes, 0 to 1; a mark of 0.7 and more runs all along it.
    """
    across = opening.width if upright(side) else opening.height
    long = opening.height if upright(side) else opening.width
    size = min(size, 0.15 * across)
    half = 0.5 if share > 0.7 else max(0.5 * share, 0.03)
    along = (0.5 - half, 0.5 + half)
    face = opening.y0
    match kind:
        case "recess":
            plate = along_free_edge(opening, side, (0.0, size), along, (face - 0.0015, face))
            return [(plate, paints.dark)]
        case "lip":
            bar = along_free_edge(opening, side, (0.0, 0.7 * size), along, (face - size, face))
            return [(bar, paints.handle)]
        case "tab":
            small = min(0.3, max(0.04, size) / long)
            tab = along_free_edge(
                opening, side, (0.0, 0.4 * size), (0.5 - small, 0.5 + small), (face - size, face)
            )
            return [(tab, paints.handle)]
        case "lock" | "notch":
            x, _, z = along_free_edge(
                opening, side, (size, size), (0.5, 0.5), (face, face)
            ).reshape(-1, 3)[0]
            radius, out = (0.4 * size, 0.008) if kind == "lock" else (0.95 * size, 0.0015)
            disc = solids.cylinder((x, face, z), (0, -out, 0), radius, segments=10)
            return [(disc, paints.metal if kind == "lock" else paints.dark)]
    return []


def keyhole(rng: np.random.Generator, opening: Opening, side: HingeSide) -> np.ndarray:
    """A small lock near the free edge, a cue of its own where there is no handle."""
    along = rng.uniform(0.35, 0.65)
    near = min(rng.uniform(0.02, 0.05), 0.2 * min(opening.width, opening.height))
    x, z = {
        "left": (opening.x1 - near, opening.z0 + along * opening.height),
        "right": (opening.x0 + near, opening.z0 + along * opening.height),
        "top": (opening.x0 + along * opening.width, opening.z0 + near),
        "bottom": (opening.x0 + along * opening.width, opening.z1 - near),
    }[side]
    return solids.cylinder((x, opening.y0, z), (0, -0.006, 0), 0.35 * near, segments=8)


def hinges(
    rng: np.random.Generator,
    opening: Opening,
    side: HingeSide,
    kind: str,
    joint: JointMotion,
    knuckle: float,
    paints: Paints,
) -> tuple[Pieces, Pieces]:
    """Visible hinges on the hinge line: what turns with the leaf, what stays.

    Args:
        rng: Source of every draw.
        opening: The closed door.
        side: Edge that carries the hinge.
        kind: A key of `HINGES` other than "hidden".
        joint: Its origin tells where the hinge line lies.
        knuckle: Radius of the barrels, metres.
        paints: Materials.
    """
    stands = upright(side)
    along = opening.height if stands else opening.width
    start = opening.z0 if stands else opening.x0
    count = 2 if along < 1.2 or chance(rng, 0.4) else 3
    size = float(np.clip(along * rng.uniform(0.06, 0.14), 0.03, 0.16))
    if kind == "piano":
        count, size = 1, 0.96 * along
    inset = rng.uniform(0.1, 0.2)
    inwards = 1.0 if side in ("left", "bottom") else -1.0
    on_leaf: Pieces = []
    on_body: Pieces = []
    shares = np.linspace(inset, 1 - inset, count) if count > 1 else np.array([0.5])
    turning = chance(rng, 0.5)
    for share in shares:
        middle = start + share * along
        base = np.array(joint.origin)
        base[2 if stands else 0] = middle - size / 2
        direction = (0, 0, size) if stands else (size, 0, 0)
        if kind != "plates":
            pin = solids.cylinder(base, direction, knuckle, segments=8)
            (on_leaf if turning else on_body).append((pin, paints.metal))
        if kind not in ("strap", "plates"):
            continue
        reach = min(
            opening.width if stands else opening.height,
            (0.7 if kind == "strap" else 0.12) * (opening.width if stands else along),
        )
        wide = size * (0.35 if kind == "strap" else 0.8)
        edge = joint.origin[0] if stands else joint.origin[2]
        a, b = sorted((edge, edge + inwards * reach))
        y0, y1 = opening.y0 - 0.003, opening.y0
        if stands:
            plate = solids.box((a, y0, middle - wide / 2), (b, y1, middle + wide / 2))
        else:
            plate = solids.box((middle - wide / 2, y0, a), (middle + wide / 2, y1, b))
        on_leaf.append((plate, paints.metal))
    return on_leaf, on_body
