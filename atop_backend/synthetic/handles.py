"""Handles of doors and drawers, each standing on a front that faces -Y."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import solids
from atop_backend.synthetic.pieces import Paints, Pieces, choose

# Local frame of a handle: across, out of the front, along its length.
_UPRIGHT = np.array([[1.0, 0, 0], [0, -1.0, 0], [0, 0, 1.0]])
_LYING = np.array([[0, 0, 1.0], [0, -1.0, 0], [1.0, 0, 0]])

FURNITURE = {
    "bar": 5.0, "round_bar": 3.0, "bow": 3.0, "u": 2.0, "knob": 5.0, "square_knob": 1.5,
    "cup": 1.0, "grip": 1.5, "ring": 0.8, "blade": 1.5, "wedge": 0.7, "none": 4.0,
    "hole": 0.5, "drop": 0.6, "latch": 0.5,
}  # fmt: skip
APPLIANCE = {
    "bar": 4.0, "round_bar": 4.0, "bow": 2.0, "u": 2.0, "grip": 2.5, "blade": 1.0, "wedge": 2.0,
    "none": 2.5,
}  # fmt: skip
ROUND = frozenset(
    {"knob", "square_knob", "ring", "hole", "drop", "latch"}
)  # as long as wide: length does not stretch them


def handle(
    rng: np.random.Generator,
    kind: str,
    at: tuple[float, float, float],
    lying: bool,
    length: float,
    paints: Paints,
) -> Pieces:
    """A handle of one kind centred at a point of the front's surface.

    Args:
        rng: Draws the proportions.
        kind: A key of `FURNITURE` or `APPLIANCE`.
        at: Point on the front, which faces -Y.
        lying: Whether the length runs along X rather than Z.
        length: Of the grip, metres; knobs take a fifth of it.
        paints: Materials; the handle's own and the dark one are used.
    """
    turn = _LYING if lying else _UPRIGHT
    mirrors = not lying  # the upright frame is left-handed
    pieces = []
    for triangles, dark in _local(rng, kind, length):
        triangles = triangles @ turn + np.asarray(at)
        pieces.append(
            (triangles[:, ::-1] if mirrors else triangles, paints.dark if dark else paints.handle)
        )
    return pieces


def _local(rng: np.random.Generator, kind: str, length: float) -> list[tuple[np.ndarray, bool]]:
    """Solids of a handle in its local frame, and whether each is dark."""
    half = length / 2
    out = float(np.clip(length * rng.uniform(0.12, 0.35), 0.018, 0.07))
    thick = float(np.clip(out * rng.uniform(0.15, 0.4), 0.004, 0.016))
    if rng.random() < 0.12:  # as clumsy as on toys and in games
        out, thick = 1.5 * out, 2.0 * thick
    match kind:
        case "bar":
            inset = half * rng.uniform(0.6, 0.98)
            wide = thick * rng.uniform(0.6, 2.0)
            return [
                (solids.box((-wide, out - thick, -half), (wide, out + thick, half)), False),
                *(
                    (
                        solids.box(
                            (-wide * 0.7, 0, s * inset - thick),
                            (wide * 0.7, out, s * inset + thick),
                        ),
                        False,
                    )
                    for s in (-1, 1)
                ),
            ]
        case "round_bar":
            inset = half * rng.uniform(0.6, 0.92)
            bar = solids.cylinder((0, out, -half), (0, 0, length), thick, segments=8)
            return [(bar, False)] + [
                (
                    solids.cylinder(
                        (0, 0, s * inset), (0, out, 0), thick * 0.75, segments=6, caps=False
                    ),
                    False,
                )
                for s in (-1, 1)
            ]
        case "bow":
            angles = np.linspace(-1.0, 1.0, 7)
            path = np.stack(
                [0 * angles, out * (1 - np.abs(angles) ** rng.uniform(1.8, 4)), half * angles],
                axis=1,
            )
            return [(solids.tube(path, thick, 6), False)]
        case "u":
            lean = half * rng.uniform(0.75, 1.0)
            path = [(0, 0, -half), (0, out, -lean), (0, out, lean), (0, 0, half)]
            return [(solids.tube(path, thick, int(rng.choice([4, 6]))), False)]
        case "knob":
            return [(_knob(rng, length), False)]
        case "square_knob":
            size, deep = length * rng.uniform(0.08, 0.14), out * 0.6
            post = solids.box((-size * 0.5, 0, -size * 0.5), (size * 0.5, deep, size * 0.5))
            head = solids.box((-size, deep, -size), (size, deep * 1.5, size))
            return [(post, False), (head, False)]
        case "cup":
            turn = np.linspace(0, np.pi / 2, 5)
            tall = half * rng.uniform(0.35, 0.6)
            arc = np.stack([tall * np.cos(turn) - tall / 2, out * np.sin(turn)], axis=1)
            arc = np.concatenate([arc, [[-tall / 2, out * 0.8], [tall * 0.35, 0.0]]])
            return [(solids.extrude(arc, "xy", -half, half), False)]
        case "grip":
            wide = float(np.clip(half * rng.uniform(0.2, 0.5), 0.008, 0.05))
            plate = solids.box((-wide, -0.001, -half), (wide, 0.0015, half))
            if rng.random() < 0.5:
                return [(plate, True)]
            rim = 0.004
            ring = solids.frame(
                (-wide - rim, 0, -half - rim), (wide + rim, 0.004, half + rim),
                (-wide, 0, -half), (wide, 0, half), "y",
            )  # fmt: skip
            return [(plate, True), (ring, False)]
        case "ring":
            size = length * rng.uniform(0.12, 0.2)
            turn = np.linspace(0, 2 * np.pi, 12, endpoint=False)
            path = np.stack([size * np.sin(turn), 0 * turn + size * 0.3, size * np.cos(turn)], 1)
            path[:, 2] -= size
            plate = solids.cylinder((0, 0, 0), (0, size * 0.4, 0), size * 0.5, segments=8)
            return [(solids.tube(path, size * 0.16, 5, closed=True), False), (plate, False)]
        case "blade":
            thin = rng.uniform(0.002, 0.006)
            return [(solids.box((-thin, 0, -half), (thin, out * 0.8, half)), False)]
        case "wedge":
            slope = half * rng.uniform(0.6, 0.95)
            wide = thick * rng.uniform(1.0, 2.5)
            side = [(0, -half), (out, -slope), (out, slope), (0, half)]
            return [(solids.extrude(side, "yz", -wide, wide), False)]
        case "hole":
            size = length * rng.uniform(0.08, 0.16)
            return [(solids.cylinder((0, -0.001, 0), (0, 0.0025, 0), size, segments=14), True)]
        case "drop":
            size = length * rng.uniform(0.08, 0.14)
            plate = solids.cylinder((0, 0, 0), (0, 0.3 * size, 0), size, segments=8)
            drop = solids.cylinder((0, 0.5 * size, 0), (0, 0, -3 * size), 0.2 * size, 0.5 * size, 8)
            return [(plate, False), (drop, False)]
        case "latch":
            size = length * rng.uniform(0.08, 0.15)
            plate = solids.box((-size, 0, -1.6 * size), (size, 0.003, 1.6 * size))
            post = solids.cylinder((0, 0, 0), (0, out * 0.6, 0), 0.4 * size, segments=8)
            reach = 3 * size
            lever = solids.box(
                (-reach, out * 0.5, -0.3 * size), (0.5 * size, out * 0.8, 0.3 * size)
            )
            return [(plate, False), (post, False), (lever, False)]
        case "none":
            return []
    raise ValueError(f"unknown handle {kind!r}")


def _knob(rng: np.random.Generator, length: float) -> np.ndarray:
    """A turned knob: ball, mushroom, cylinder or cone."""
    size = length * rng.uniform(0.09, 0.16)
    deep = size * rng.uniform(0.9, 2.0)
    shapes = (
        [(size * 0.5, 0), (size * 0.45, deep * 0.4), (size, deep * 0.6), (size * 0.8, deep)],
        [(size, 0), (size, deep * 0.9)],
        [(size * 0.6, 0), (size, deep)],
        [(size * 0.4, 0), (size * 0.4, deep * 0.3), (size, deep * 0.65), (size * 0.6, deep)],
    )
    profile = [*shapes[int(rng.integers(len(shapes)))], (0.0, deep)]
    return solids.lathe(profile, (0, 0, 0), "y", int(rng.choice([6, 8, 10, 12])))


def any_kind(rng: np.random.Generator, appliance: bool = False) -> str:
    """A handle kind drawn by how common it is."""
    return choose(rng, APPLIANCE if appliance else FURNITURE)
