"""Doors and drawers with their joints: a front, its handle, its hinges, what hangs on it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import fronts, handles, solids
from atop_backend.synthetic.draft import hinge, slider
from atop_backend.synthetic.pieces import Paints, Pieces, chance

HingeSide = Literal["left", "right", "top", "bottom"]
Line = Literal["outer", "middle", "inner"]

# Axis that opens a leaf towards -Y, its free edge first.
_AXES = {"left": (0, 0, -1), "right": (0, 0, 1), "top": (-1, 0, 0), "bottom": (1, 0, 0)}
_DEPTH_OF_LINE = {"outer": 0.0, "middle": 0.5, "inner": 1.0}


class Opening(NamedTuple):
    """The rectangle that a front fills, and the depths of its outer and inner face."""

    x0: float
    x1: float
    z0: float
    z1: float
    y0: float  # outer face, towards the viewer
    y1: float  # inner face

    @property
    def width(self) -> float:
        """Along X."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Along Z."""
        return self.z1 - self.z0

    @property
    def centre(self) -> np.ndarray:
        """Of the box."""
        return np.array([self.x0 + self.x1, self.y0 + self.y1, self.z0 + self.z1]) / 2

    def shrunk(self, gap: float) -> Opening:
        """Smaller by `gap` on every side, as deep as before."""
        return self._replace(x0=self.x0 + gap, x1=self.x1 - gap, z0=self.z0 + gap, z1=self.z1 - gap)


class Look(NamedTuple):
    """What the fronts of one object have in common."""

    door: str  # a front style
    drawer: str
    handle: str
    handle_length: float  # share of the front's shorter side, before limits
    handle_margin: float  # metres from the free edge to the handle
    handle_height: float  # share of the door's height; nan means by the door's place
    hinges: str  # "hidden", "knuckles", "strap", "plates"
    line: Line  # where the hinge line lies in the leaf's thickness


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
    hinges = ("hidden", "hidden", "hidden", "knuckles", "plates", "strap")[int(rng.integers(6))]
    return Look(
        door="slab" if appliance and chance(rng, 0.6) else door,
        drawer=drawer,
        handle=handles.any_kind(rng, appliance),
        handle_length=float(rng.uniform(0.2, 0.9) ** 1.5) if not chance(rng, 0.1) else 1.6,
        handle_margin=float(rng.uniform(0.02, 0.09)),
        handle_height=float("nan") if chance(rng, 0.6) else float(rng.uniform(0.25, 0.75)),
        hinges="hidden" if appliance and chance(rng, 0.8) else hinges,
        line=("outer", "middle", "inner")[int(rng.integers(3))],
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
    low = np.array([opening.x0, opening.y0, opening.z0])
    high = np.array([opening.x1, opening.y1, opening.z1])
    pieces = fronts.front(rng, look.door, low, high, paints)
    pieces += door_handle(rng, opening, side, look, paints, tall)
    if chance(rng, 0.1):
        pieces.append((_keyhole(rng, opening, side), paints.metal))
    thick = opening.y1 - opening.y0
    knuckle = float(np.clip(0.35 * thick, 0.004, 0.014))
    offset = knuckle if look.hinges == "knuckles" and look.line == "outer" else 0.0
    joint = hinge_joint(opening, side, look.line, upper_rad, offset)
    fixed: Pieces = []
    if look.hinges != "hidden":
        on_leaf, on_body = _hinges(rng, opening, side, look, joint, knuckle, paints)
        pieces += on_leaf
        fixed += on_body
    return Leaf(pieces, fixed, joint, side, look.handle == "none")


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


def _keyhole(rng: np.random.Generator, opening: Opening, side: HingeSide) -> np.ndarray:
    """A small lock near the free edge, a cue of its own where there is no handle."""
    along = rng.uniform(0.35, 0.65)
    near = rng.uniform(0.02, 0.05)
    near = min(near, 0.2 * min(opening.width, opening.height))
    x, z = {
        "left": (opening.x1 - near, opening.z0 + along * opening.height),
        "right": (opening.x0 + near, opening.z0 + along * opening.height),
        "top": (opening.x0 + along * opening.width, opening.z0 + near),
        "bottom": (opening.x0 + along * opening.width, opening.z1 - near),
    }[side]
    return solids.cylinder((x, opening.y0, z), (0, -0.006, 0), 0.35 * near, segments=8)


def _hinges(
    rng: np.random.Generator,
    opening: Opening,
    side: HingeSide,
    look: Look,
    joint: JointMotion,
    knuckle: float,
    paints: Paints,
) -> tuple[Pieces, Pieces]:
    """Visible hinges on the hinge line: what turns with the leaf, what stays."""
    upright = side in ("left", "right")
    along = opening.height if upright else opening.width
    start = opening.z0 if upright else opening.x0
    count = 2 if along < 1.2 or chance(rng, 0.4) else 3
    size = float(np.clip(along * rng.uniform(0.06, 0.14), 0.03, 0.16))
    inset = rng.uniform(0.1, 0.2)
    inwards = 1.0 if side in ("left", "bottom") else -1.0
    on_leaf: Pieces = []
    on_body: Pieces = []
    for share in np.linspace(inset, 1 - inset, count):
        middle = start + share * along
        base = np.array(joint.origin)
        base[2 if upright else 0] = middle - size / 2
        direction = (0, 0, size) if upright else (size, 0, 0)
        if look.hinges == "knuckles" or look.hinges == "strap":
            pin = solids.cylinder(base, direction, knuckle, segments=8)
            (on_leaf if chance(rng, 0.5) else on_body).append((pin, paints.metal))
        reach = min(
            opening.width if upright else opening.height,
            (0.7 if look.hinges == "strap" else 0.12) * (opening.width if upright else along),
        )
        wide = size * (0.35 if look.hinges == "strap" else 0.8)
        edge = joint.origin[0] if upright else joint.origin[2]
        a, b = sorted((edge, edge + inwards * reach))
        if look.hinges in ("strap", "plates"):
            y0, y1 = opening.y0 - 0.003, opening.y0
            if upright:
                plate = solids.box((a, y0, middle - wide / 2), (b, y1, middle + wide / 2))
            else:
                plate = solids.box((middle - wide / 2, y0, a), (middle + wide / 2, y1, b))
            on_leaf.append((plate, paints.metal))
    return on_leaf, on_body


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
