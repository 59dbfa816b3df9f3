"""The makings of a creature: bones in a tree, and skin lofted around them with smooth weights.

A creature stands on the ground, Z up, and looks towards -Y; its left is +X. All bones rest with
the axes of the world, so a bone's rotation is one about the world's axes as its parent carries it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

MOST_BONES = 32

LEFT = np.array([1.0, 0.0, 0.0])
FORWARD = np.array([0.0, -1.0, 0.0])
UP = np.array([0.0, 0.0, 1.0])

_RINGS_A_BONE = 3


class Leg(NamedTuple):
    """Three bones that end on the ground."""

    hip: int
    knee: int
    ankle: int
    side: int  # 1 left, -1 right
    bend: int  # which way the knee points: -1 forward, 1 backward
    phase: float  # of a walk, share of the period


class Limb(NamedTuple):
    """A chain of bones that ends in the air, such as an arm or a wing."""

    bones: tuple[int, ...]
    side: int


class Creature(NamedTuple):
    """A rigged creature at rest; lengths as built, its size is free."""

    kind: str
    words: tuple[str, ...]  # what a person would call it
    bones: tuple[str, ...]
    parents: Int[np.ndarray, " j"]
    heads: Float[np.ndarray, "j 3"]
    tails: Float[np.ndarray, "j 3"]
    vertices: Float[np.ndarray, "n 3"]
    triangles: Int[np.ndarray, "m 3"]
    weights: Float[np.ndarray, "n j"]
    materials: Int[np.ndarray, " m"]
    colours: Float[np.ndarray, "shades 3"]
    spine: tuple[int, ...]  # from the hips to the chest
    neck: tuple[int, ...]  # ends with the head; empty where there is none
    tail: tuple[int, ...]
    legs: tuple[Leg, ...]
    arms: tuple[Limb, ...]
    wings: tuple[Limb, ...]


class Draft:
    """A creature while it is built."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.parents: list[int] = []
        self.heads: list[np.ndarray] = []
        self.tails: list[np.ndarray] = []
        self._vertices: list[np.ndarray] = []
        self._triangles: list[np.ndarray] = []
        self._weights: list[np.ndarray] = []
        self._materials: list[np.ndarray] = []
        self._count = 0

    def chain(self, name: str, points: Sequence[Sequence[float]], parent: int) -> tuple[int, ...]:
        """New bones from each point to the next, each the parent of the next."""
        added = []
        for index, (head, tail) in enumerate(itertools.pairwise(points)):
            self.names.append(f"{name}.{index + 1}")
            self.parents.append(parent)
            self.heads.append(np.asarray(head, dtype=np.float64))
            self.tails.append(np.asarray(tail, dtype=np.float64))
            parent = len(self.names) - 1
            added.append(parent)
        return tuple(added)

    def tube(
        self,
        bones: Sequence[int],
        widths: Sequence[float],
        heights: Sequence[float] | None = None,
        material: int = 0,
        sides: int = 8,
        power: float = 2.0,
        blend: float = 0.25,
    ) -> None:
        """Skin around a chain of bones, closed at both ends.

        Args:
            widths: Half widths at the joints, one more than bones; across, where a bone is level.
            heights: Half heights; as the widths if left out.
            power: Of the superellipse: 2 is round, 6 nearly a box.
            blend: Share of a bone over which its joints bend softly.
        """
        count = len(bones)
        joints = np.array([*(self.heads[bone] for bone in bones), self.tails[bones[-1]]])
        places = np.linspace(0, count, _RINGS_A_BONE * count + 1)
        knots = np.arange(count + 1)
        line = np.stack([np.interp(places, knots, joints[:, axis]) for axis in range(3)], axis=1)
        across, along = _frames(line)
        wide = np.interp(places, knots, widths)
        high = wide if heights is None else np.interp(places, knots, heights)
        ring = _superellipse(sides, power)
        body = (
            line[:, None]
            + (wide[:, None] * ring[:, 0])[..., None] * across[:, None]
            + (high[:, None] * ring[:, 1])[..., None] * along[:, None]
        )
        weights = self._chain_weights(bones, places, blend)
        # rounded ends: one smaller ring and a point beyond each
        tangents = np.cross(across, along)
        ends = []
        for end, sign in ((0, -1.0), (-1, 1.0)):
            reach = min(wide[end], high[end])
            direction = (
                tangents[end] if tangents[end] @ (line[-1] - line[0]) > 0 else -tangents[end]
            )
            small = line[end] + 0.7 * (body[end] - line[end]) + 0.6 * sign * reach * direction
            ends.append((small, line[end] + 0.9 * sign * reach * direction))
        rings = np.concatenate([ends[0][0][None], body, ends[1][0][None]])
        ring_weights = np.concatenate([weights[:1], weights, weights[-1:]])
        vertices = np.concatenate([rings.reshape(-1, 3), ends[0][1][None], ends[1][1][None]])
        rows = np.concatenate([np.repeat(ring_weights, sides, axis=0), weights[:1], weights[-1:]])
        self._add(vertices, _ring_triangles(len(rings), sides), rows, material)

    def blob(
        self,
        bone: int,
        centre: np.ndarray,
        radii: Sequence[float],
        material: int = 0,
        sides: int = 8,
        power: float = 2.0,
    ) -> None:
        """An ellipsoid, or nearly a box with a high power, that one bone carries."""
        angles = np.linspace(-np.pi / 2, np.pi / 2, 6)[1:-1]
        ring = _superellipse(sides, power)
        cosine, sine = (
            np.sign(value) * np.abs(value) ** (2 / power)
            for value in (np.cos(angles), np.sin(angles))
        )
        unit = np.concatenate(
            [
                np.stack([np.outer(cosine, ring[:, 0]), np.outer(cosine, ring[:, 1]),
                          np.repeat(sine[:, None], sides, axis=1)], axis=2).reshape(-1, 3),
                [[0, 0, -1], [0, 0, 1]],
            ]
        )  # fmt: skip
        weights = np.zeros((len(unit), MOST_BONES))
        weights[:, bone] = 1
        self._add(centre + unit * radii, _ring_triangles(len(angles), sides), weights, material)

    def _chain_weights(self, bones: Sequence[int], places: np.ndarray, blend: float) -> np.ndarray:
        """Weights (rings, MOST_BONES): soft over each joint, also over that with the parent."""
        weights = np.zeros((len(places), MOST_BONES))
        owners = [self.parents[bones[0]], *bones]
        share = np.ones(len(places))
        for joint in range(len(bones) - 1, -1, -1):
            beyond = np.clip((places - joint) / (2 * max(blend, 1e-3)) + 0.5, 0, 1)
            beyond = beyond * beyond * (3 - 2 * beyond)
            if joint == 0 and (owners[0] < 0 or blend < 0.05):
                beyond = np.ones_like(beyond)
            weights[:, bones[joint]] += share * beyond
            share = share * (1 - beyond)
        if owners[0] >= 0:
            weights[:, owners[0]] += share
        return weights

    def _add(
        self, vertices: np.ndarray, triangles: np.ndarray, weights: np.ndarray, material: int
    ) -> None:
        self._vertices.append(vertices)
        self._triangles.append(triangles + self._count)
        self._weights.append(weights)
        self._materials.append(np.full(len(triangles), material))
        self._count += len(vertices)

    def finish(
        self,
        kind: str,
        words: tuple[str, ...],
        colours: np.ndarray,
        spine: tuple[int, ...] = (),
        neck: tuple[int, ...] = (),
        tail: tuple[int, ...] = (),
        legs: tuple[Leg, ...] = (),
        arms: tuple[Limb, ...] = (),
        wings: tuple[Limb, ...] = (),
    ) -> Creature:
        """The creature, standing on the ground."""
        vertices = np.concatenate(self._vertices)
        ground = np.array([0.0, 0.0, vertices[:, 2].min()])
        return Creature(
            kind, words, tuple(self.names), np.array(self.parents),
            np.array(self.heads) - ground, np.array(self.tails) - ground, vertices - ground,
            np.concatenate(self._triangles),
            np.concatenate(self._weights)[:, : len(self.names)],
            np.concatenate(self._materials), colours, spine, neck, tail, legs, arms, wings,
        )  # fmt: skip


def _frames(line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions across a line, level ones first, each (n, 3)."""
    tangents = np.gradient(line, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True).clip(1e-9)
    overall = np.abs(line[-1] - line[0])
    side = LEFT if overall[0] < 0.8 * np.linalg.norm(overall) else FORWARD
    along = np.cross(tangents, side)
    along /= np.linalg.norm(along, axis=1, keepdims=True).clip(1e-9)
    return np.cross(along, tangents), along


def _superellipse(sides: int, power: float) -> np.ndarray:
    angles = (np.arange(sides) + 0.5) * 2 * np.pi / sides
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.sign(ring) * np.abs(ring) ** (2 / power)


def _ring_triangles(rings: int, sides: int) -> np.ndarray:
    """Triangles between rings of vertices, and fans to the two points that follow them."""
    around = np.arange(sides)
    following = (around + 1) % sides
    triangles = []
    for ring in range(rings - 1):
        a, b = ring * sides + around, ring * sides + following
        triangles += [np.stack([a, b, a + sides], axis=1),
                      np.stack([b, b + sides, a + sides], axis=1)]  # fmt: skip
    first, last = rings * sides, rings * sides + 1
    top = (rings - 1) * sides
    triangles.append(np.stack([np.full(sides, first), following, around], axis=1))
    triangles.append(np.stack([np.full(sides, last), top + around, top + following], axis=1))
    return np.concatenate(triangles)
