"""What the generator makes: a triangle soup with one moving part, its joint and its prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from atop_backend.contracts import JointMotion

MAX_TRIANGLES = 2048
STATIC, MOVING = 0, 1


class ArticulatedObject(NamedTuple):
    """One generated object at rest, in the normalised frame of `geometry.cameras`."""

    kind: str  # category, such as "microwave"
    triangles: np.ndarray  # (n, 3, 3) float32
    materials: np.ndarray  # (n,) int16, index into `colours`
    colours: np.ndarray  # (m, 3) float32, display (sRGB) values in [0, 1]
    moving: np.ndarray  # (n,) bool, the part that the prompt names
    joint: JointMotion  # from 0, the rest pose, to `upper`, where the prompt's motion ends
    directed: bool  # False where neither sense of the motion is the right one (knobs, wheels)
    prompts: tuple[str, ...]  # sentences that all describe this motion


class Builder:
    """Collects solids, in metres with the front facing -Y, and labels them.

    Every solid is a closed or open surface given as triangles; `part` is `STATIC` or `MOVING`.
    """

    def __init__(self) -> None:
        self._triangles: list[np.ndarray] = []
        self._materials: list[np.ndarray] = []
        self._moving: list[np.ndarray] = []
        self.colours: list[np.ndarray] = []

    def material(self, colour: Sequence[float] | np.ndarray) -> int:
        """A new material of this display colour; its index."""
        self.colours.append(np.clip(np.asarray(colour, dtype=np.float64), 0.02, 0.98))
        return len(self.colours) - 1

    def add(self, triangles: np.ndarray, material: int, part: int) -> None:
        """Add triangles (n, 3, 3) of one material to the static or the moving side."""
        count = len(triangles)
        self._triangles.append(np.asarray(triangles, dtype=np.float64))
        self._materials.append(np.full(count, material, dtype=np.int16))
        self._moving.append(np.full(count, part == MOVING))

    def turn(self, rotation: np.ndarray) -> None:
        """Turn all solids so far about the origin by a rotation (3, 3)."""
        self._triangles = [triangles @ rotation.T for triangles in self._triangles]

    @property
    def triangles(self) -> np.ndarray:
        """All triangles so far, (n, 3, 3)."""
        return np.concatenate(self._triangles)

    @property
    def materials(self) -> np.ndarray:
        """Material index of each triangle, (n,)."""
        return np.concatenate(self._materials)

    @property
    def moving(self) -> np.ndarray:
        """Whether each triangle belongs to the moving part, (n,)."""
        return np.concatenate(self._moving)
