"""Doors and drawers with their joints: a front, its handle, its hinges, what hangs on it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import cues, fronts, handles, solids
from atop_backend.synthetic.draft import hinge, slider
from atop_backend.synthetic.openings import HingeSide, Opening
from atop_backend.synthetic.pieces import Paints, Pieces, chance

Line = Literal["outer", "middle", "inner"]

# Axis that opens a leaf towards -Y, its free edge first.
_AXES = {"left": (0, 0, -1), "right": (0, 0, 1), "top": (-1, 0, 0), "bottom": (1, 0, 0)}
_DEPTH_OF_LINE = {"outer": 0.0, "middle": 0.5, "inner": 1.0}


class Look(NamedTuple):
    """What the fronts of one object have in common."""

    door: str  # a front style
    drawer: str
    handle: str
    handle_length: float  # share of the front's shorter side, before limits
    handle_margin: float  # metres from the free edge to the handle
    handle_height: float  # share of the door's height; nan means by the door's place
    hinges: str  # a key of `cues.HINGES`
    line: Line  # where the hinge line lies in the leaf's thickness
    edge: str  # what marks the free edge of doors: a key of `cues.EDGES`, or "none"


class Leaf(NamedTuple):
    """A part that moves, in its closed pose."""

    pieces: Pieces
    fixed: Pieces  # hinge halves and rails that stay
    joint: JointMotion
    side: str  # hinge side, or "out"
    plain: bool = False  # nothing on it tells where its free edge is


def any_look(rng: np.random.Generator, appliance: bool = False) -> Look:
    """A look drawn by how common it is."""
    door = fronts.any_style(rng)
    drawer = door if door in fronts.DRAWERS and chance(rng, 0.8) else fronts.any_style(rng, True)
    handle = handles.any_kind(rng, appliance)
    hinges = cues.any_hinges(rng, handle == "none")
    hinges = "hidden" if appliance and handle != "none" and chance(rng, 0.8) else hinges
    line: Line = ("outer", "middle", "inner")[int(rng.integers(3))]
    return Look(
        door="slab" if appliance and chance(rng, 0.6) else door,
        drawer=drawer,
        handle=handle,
        handle_length=float(rng.uniform(0.2, 0.9) ** 1.5) if not chance(rng, 0.1) else 1.6,
        handle_margin=float(rng.uniform(0.02, 0.09)),
        handle_height=float("nan") if chance(rng, 0.6) else float(rng.uniform(0.25, 0.75)),
        hinges=hinges,
        line="outer" if hinges != "hidden" and chance(rng, 0.7) else line,
        edge=cues.any_edge(rng, handle == "none"),
    )


def hinge_joint(
    opening: Opening, side: HingeSide, line: Line, upper_rad: float, offset: float = 0.0
) -> JointMotion:
    """The joint of a leaf that swings towards the viewer.

    Args:
        opening: The closed leaf.
        side: Edge that carries the hinge.
        line: Which depth of the leaf the hinge line lies at.
        upper_rad: How far it opens.
        offset: How far the line lies outside the edge, metres (knuckles).
    """
    x, _, z = opening.centre
    y = opening.y0 + _DEPTH_OF_LINE[line] * (opening.y1 - opening.y0)
    if line == "outer":
        y -= offset
    edges = {
        "left": (opening.x0, y, z),
        "right": (opening.x1, y, z),
        "top": (x, y, opening.z1),
        "bottom": (x, y, opening.z0),
    }
    return hinge(_AXES[side], edges[side], upper_rad)


def door(
    rng: np.random.Generator,
    opening: Opening,
    side: HingeSide,
    look: Look,
    paints: Paints,
    upper_rad: float,
    *,
    tall: float | None = None,
) -> Leaf:
    """A leaf that swings open towards the viewer.

    Args:
        rng: Source of every draw.
        opening: The closed leaf.
        side: Edge that carries the hinge.
        look: Styles of front, handle and hinges.
        paints: Materials.
        upper_rad: How far it opens.
        tall: Height of the handle as a share of the door's height; None draws it.
    """
    if look.door == "sheet":  # has no thickness for the hinge line to lie in
        look = look._replace(line="outer")
    thick = opening.y1 - opening.y0
    leaf = opening
    if look.edge == "gap":
        leaf = cues.short_of(opening, side, min(0.35 * look.handle_margin, 0.06 * opening.width))
    pieces = _leaf_front(rng, leaf, side, look, paints)
    pieces += door_handle(rng, leaf, side, look, paints, tall)
    pieces += cues.edge_pieces(
        look.edge, leaf, side, paints, 0.7 * look.handle_margin, look.handle_length
    )
    locked = chance(rng, 0.1)
    if locked:
        pieces.append((cues.keyhole(rng, leaf, side), paints.metal))
    knuckle = float(np.clip(rng.uniform(0.25, 0.6) * thick, 0.004, 0.022))
    barrels = look.hinges in ("knuckles", "piano") and look.line == "outer"
    joint = hinge_joint(opening, side, look.line, upper_rad, knuckle if barrels else 0.0)
    fixed: Pieces = []
    if look.hinges != "hidden":
        on_leaf, on_body = cues.hinges(rng, opening, side, look.hinges, joint, knuckle, paints)
        pieces += on_leaf
        fixed += on_body
    plain = look.handle == "none" and not locked
    plain = plain and look.edge == "none" and look.hinges == "hidden"
    return Leaf(pieces, fixed, joint, side, plain)


def _leaf_front(
    rng: np.random.Generator, leaf: Opening, side: HingeSide, look: Look, paints: Paints
) -> Pieces:
    """The leaf of a door without what is on it."""
    if look.edge == "bevel" and look.door == "slab":
        cut = min(0.6 * look.handle_margin, 0.12 * min(leaf.width, leaf.height))
        return [(cues.bevelled_slab(leaf, side, cut), paints.front)]
    low = np.array([leaf.x0, leaf.y0, leaf.z0])
    high = np.array([leaf.x1, leaf.y1, leaf.z1])
    return fronts.front(rng, look.door, low, high, paints)


def door_handle(
    rng: np.random.Generator,
    opening: Opening,
    side: HingeSide,
    look: Look,
    paints: Paints,
    tall: float | None = None,
) -> Pieces:
    """The handle of a swinging leaf: along its free edge, now and then elsewhere."""
    upright = side in ("left", "right")
    across = opening.width if upright else opening.height
    along = opening.height if upright else opening.width
    margin = min(max(look.handle_margin, 0.05 * across), 0.25 * across)
    reach = across * (1 if side in ("left", "bottom") else -1)
    edge = (opening.x0 if side == "left" else opening.x1) if upright else (
        opening.z0 if side == "bottom" else opening.z1
    )  # fmt: skip
    free = edge + reach - np.sign(reach) * margin
    if chance(rng, 0.04):
        free = edge + reach * 0.5  # in the middle of the leaf
    length = float(np.clip(look.handle_length * min(along, 1.2 * across), 0.06, 0.92 * along))
    if look.handle in handles.ROUND:
        length = float(np.clip(length, 0.12, 0.34))
    share = 0.5 if not upright else (tall if tall is not None else look.handle_height)
    if np.isnan(share):
        share = rng.uniform(0.4, 0.6)
    spare = 0.5 * length / along + 0.03
    share = 0.5 if spare >= 0.5 else float(np.clip(share, spare, 1 - spare))
    crosswise = chance(rng, 0.06) and length < 0.5 * across
    if crosswise:
        free = edge + reach - np.sign(reach) * (0.5 * length + 0.04 * across)
    if upright:
        at = (free, opening.y0, opening.z0 + share * opening.height)
    else:
        at = (opening.x0 + share * opening.width, opening.y0, free)
    return handles.handle(rng, look.handle, at, upright == crosswise, length, paints)


def drawer(
    rng: np.random.Generator,
    opening: Opening,
    depth: float,
    look: Look,
    paints: Paints,
    *,
    boxed: bool = True,
    clearance: float = 0.012,
) -> Leaf:
    """A drawer that slides out towards the viewer.

    Args:
        rng: Source of every draw.
        opening: The closed front.
        depth: Free depth behind the front, metres.
        look: Styles of front and handle.
        paints: Materials.
        boxed: Whether there is a box behind the front.
        clearance: Between the box and what surrounds it, metres.
    """
    low = np.array([opening.x0, opening.y0, opening.z0])
    high = np.array([opening.x1, opening.y1, opening.z1])
    pieces = fronts.front(rng, look.drawer, low, high, paints)
    pieces += _drawer_handles(rng, opening, look, paints)
    if chance(rng, 0.05):  # a label holder
        half, z = min(0.04, 0.2 * opening.width), opening.z0 + 0.8 * opening.height
        x, tall = (opening.x0 + opening.x1) / 2, 0.06 * opening.height
        label = solids.box(
            (x - half, opening.y0 - 0.003, z - tall), (x + half, opening.y0, z + tall)
        )
        pieces.append((label, paints.metal))
    length = depth * rng.uniform(0.8, 0.97)
    if boxed:
        spare = min(clearance, 0.1 * opening.height)
        floor = opening.z0 + spare
        top = opening.z1 - spare - opening.height * rng.uniform(0.02, 0.35)
        wall = float(np.clip(0.03 * opening.width, 0.005, 0.014))
        tray = solids.open_box(
            (opening.x0 + clearance, opening.y1 - 1e-4, floor),
            (opening.x1 - clearance, opening.y1 + length, top),
            wall,
            "+z",
        )
        pieces.append((tray, paints.inside))
    travel = length * rng.uniform(0.5, 0.92)
    joint = slider((0, -1, 0), opening.centre, travel)
    return Leaf(pieces, [], joint, "out")


def _drawer_handles(
    rng: np.random.Generator, opening: Opening, look: Look, paints: Paints
) -> Pieces:
    """The handle of a drawer, or two of them on a wide one."""
    length = float(np.clip(look.handle_length * opening.width * 0.8, 0.06, 0.92 * opening.width))
    if opening.height > 1.25 * opening.width:
        return _pull_out_handle(rng, opening, look, paints)
    share = 0.5 if np.isnan(look.handle_height) else 0.35 + 0.3 * look.handle_height
    if look.handle == "blade" or chance(rng, 0.12):
        share = 0.9
    lying = True
    if look.handle in handles.ROUND:
        length = float(np.clip(length, 0.12, 0.34))
        lying = chance(rng, 0.3)
    places = [0.5]
    if opening.width > 0.55 and length < 0.4 * opening.width and look.handle_length < 0.45:
        places = [0.25, 0.75]
    pieces: Pieces = []
    for place in places:
        at = (
            opening.x0 + place * opening.width,
            opening.y0,
            opening.z0 + share * opening.height,
        )
        pieces += handles.handle(rng, look.handle, at, lying, length, paints)
    return pieces


def _pull_out_handle(
    rng: np.random.Generator, opening: Opening, look: Look, paints: Paints
) -> Pieces:
    """The handle of a tall, narrow front that is pulled out: in its middle line."""
    upright = chance(rng, 0.55)
    room = opening.height if upright else opening.width
    length = float(np.clip(0.4 * look.handle_length * room, 0.06, 0.8 * room))
    if look.handle in handles.ROUND:
        length = float(np.clip(length, 0.12, 0.34))
    share = rng.uniform(0.5, 0.85) if not upright else rng.uniform(0.5, 0.75)
    share = min(share, 1.0 - 0.55 * length / opening.height) if upright else share
    at = (
        (opening.x0 + opening.x1) / 2,
        opening.y0,
        opening.z0 + share * opening.height,
    )
    return handles.handle(rng, look.handle, at, not upright, length, paints)
