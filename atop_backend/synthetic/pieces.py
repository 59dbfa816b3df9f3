"""Coloured pieces of an object that are still free to be moved before they are added to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import solids
from atop_backend.synthetic.objects import Builder
from atop_backend.synthetic.palette import Scheme

Piece = tuple[np.ndarray, int]  # triangles (n, 3, 3) and a material of the builder
Pieces = list[Piece]


class Paints(NamedTuple):
    """Material indices under the same names as a scheme's colours."""

    body: int
    front: int
    panel: int
    top: int
    inside: int
    trim: int
    handle: int
    metal: int
    dark: int
    glass: int
    accent: int


def paints(builder: Builder, colours: Scheme) -> Paints:
    """Registers every colour of a scheme with the builder."""
    return Paints(*(builder.material(colour) for colour in colours))


def moved(triangles: np.ndarray, joint: JointMotion, amount: float) -> np.ndarray:
    """The triangles after the joint has travelled `amount` radians or metres."""
    if joint.kind == "prismatic":
        return triangles + amount * np.array(joint.axis)
    return solids.rotate(triangles, joint.axis, amount, joint.origin)


def place(
    builder: Builder,
    pieces: Iterable[Piece],
    part: int,
    joint: JointMotion | None = None,
    amount: float = 0.0,
) -> None:
    """Add pieces to an object, moved along a joint first where an amount is given."""
    for triangles, material in pieces:
        if joint is not None and amount != 0.0:
            triangles = moved(triangles, joint, amount)
        builder.add(triangles, material, part)


def mirrored(pieces: Iterable[Piece], axis: int, at: float) -> Pieces:
    """Copies of the pieces on the other side of the plane where coordinate `axis` equals `at`."""
    copies = []
    for triangles, material in pieces:
        copy = triangles[:, ::-1].copy()
        copy[..., axis] = 2.0 * at - copy[..., axis]
        copies.append((copy, material))
    return copies


def chance(rng: np.random.Generator, probability: float) -> bool:
    """True with the given probability."""
    return bool(rng.random() < probability)


def choose(rng: np.random.Generator, weights: dict[str, float]) -> str:
    """A key drawn in proportion to its weight."""
    names = list(weights)
    edges = np.cumsum(list(weights.values()))
    return names[int(np.searchsorted(edges, rng.random() * edges[-1]))]
