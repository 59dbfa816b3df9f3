"""One object being put together: what stays, what moves, and the draft at the end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import phrases, solids
from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.leaves import Leaf
from atop_backend.synthetic.objects import MOVING, STATIC, Builder
from atop_backend.synthetic.palette import METALS, PAINTS, scheme
from atop_backend.synthetic.pieces import Pieces, paints, place
from atop_backend.synthetic.prompts import Words, sentences

APPLIANCE_COLOURS = (METALS, PAINTS, PAINTS[[0, 1, 2, 11]])


class Assembly:
    """An object in the making; metres, front facing -Y."""

    def __init__(
        self, rng: np.random.Generator, natural: tuple[np.ndarray, ...] = APPLIANCE_COLOURS
    ) -> None:
        self.rng = rng
        self.builder = Builder()
        self.paints = paints(self.builder, scheme(rng, natural))

    def fix(self, triangles: np.ndarray, paint: int) -> None:
        """Add something that stays."""
        self.builder.add(triangles, paint, STATIC)

    def move(self, triangles: np.ndarray, paint: int) -> None:
        """Add something of the moving part."""
        self.builder.add(triangles, paint, MOVING)

    def fix_all(self, pieces: Pieces) -> None:
        """Add pieces that stay."""
        place(self.builder, pieces, STATIC)

    def move_all(self, pieces: Pieces) -> None:
        """Add pieces of the moving part."""
        place(self.builder, pieces, MOVING)

    def put(self, leaf: Leaf, moving: bool, opened: float = 0.0) -> None:
        """Add a door or drawer, opened by a share of its range."""
        place(self.builder, leaf.fixed, STATIC)
        place(
            self.builder,
            leaf.pieces,
            MOVING if moving else STATIC,
            leaf.joint,
            opened * leaf.joint.upper,
        )

    def draft(
        self,
        kind: str,
        joint: JointMotion,
        objects: Sequence[str],
        parts: Sequence[str],
        vocabularies: tuple[Words, Words | None],
        directed: bool = True,
    ) -> Draft:
        """The finished draft, with sentences for the motion and for the way back."""
        there, back = vocabularies
        wanted = int(self.rng.integers(12, 26))
        return Draft(
            kind,
            self.builder,
            joint,
            directed,
            sentences(self.rng, objects, parts, there, wanted),
            sentences(self.rng, objects, parts, back, wanted, opening=False) if back else (),
        )

    def draft_leaf(
        self, kind: str, leaf: Leaf, objects: Sequence[str], parts: Sequence[str]
    ) -> Draft:
        """The finished draft of an object whose moving part is a door or a drawer."""
        words = (
            (phrases.DRAWER, phrases.DRAWER_BACK)
            if leaf.side == "out"
            else phrases.swing(self.rng, leaf.side, 0.85 if leaf.plain else 0.4)
        )
        return self.draft(kind, leaf.joint, objects, parts, words)


def niche(
    low: Sequence[float] | np.ndarray,
    high: Sequence[float] | np.ndarray,
    mouth: tuple[float, float, float, float],
    depth: float,
) -> np.ndarray:
    """A block with a rectangular hole in its front, `depth` metres deep.

    Args:
        low: Corner of the block.
        high: Opposite corner of the block.
        mouth: x0, x1, z0, z1 of the hole.
        depth: Of the hole.
    """
    (lx, ly, lz), (hx, hy, hz) = low, high
    x0, x1, z0, z1 = mouth
    behind = solids.box((lx, ly + depth, lz), (hx, hy, hz))
    around = solids.frame((lx, ly, lz), (hx, ly + depth, hz), (x0, 0.0, z0), (x1, 0.0, z1), "y")
    return np.concatenate([around, behind])


def feet(
    low: Sequence[float] | np.ndarray, high: Sequence[float] | np.ndarray, tall: float, size: float
) -> np.ndarray:
    """Four short feet below a block that stands at height `tall`."""
    (lx, ly, _), (hx, hy, _) = low, high
    return np.concatenate(
        [
            solids.cylinder((x, y, 0.0), (0, 0, tall), 0.8 * size, size, segments=8)
            for x in (lx + 2 * size, hx - 2 * size)
            for y in (ly + 2 * size, hy - 2 * size)
        ]
    )
