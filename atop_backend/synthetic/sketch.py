"""A pad on which a kind is drawn: solids with named colours, then joint and words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import palette
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.objects import MOVING, STATIC, Builder
from atop_backend.synthetic.prompts import (
    CLOCKWISE,
    COUNTERCLOCKWISE,
    SWIVEL,
    SWIVEL_LEFT,
    SWIVEL_RIGHT,
    TILT_DOWN,
    TILT_UP,
    TURN,
    Words,
    join,
    sentences,
    words,
)
from atop_backend.synthetic.solids import rotate

HOUSEHOLD = (palette.PAINTS, palette.METALS)
WOODEN = (palette.WOODS,)
METALLIC = (palette.METALS,)

SWIVELS = words(
    "tilts|rotates|turns|pivots|swings|moves|is tilted|is adjusted", "tilt {}|rotate {}|adjust {}"
)


class Sketch:
    """Draws for one object; metres, front facing -Y, up +Z."""

    def __init__(
        self, rng: np.random.Generator, natural: tuple[np.ndarray, ...] = HOUSEHOLD
    ) -> None:
        self.rng = rng
        self.scheme = palette.scheme(rng, natural)
        self._solids: list[tuple[np.ndarray, str, int]] = []
        self._colours: dict[str, np.ndarray] = {}

    def between(self, low: float, high: float) -> float:
        """A number drawn evenly from a range."""
        return low + (high - low) * self.rng.random()

    def chance(self, probability: float) -> bool:
        """Whether something with this probability happens."""
        return self.rng.random() < probability

    def one_of(self, *choices):
        """One of the arguments."""
        return choices[int(self.rng.random() * len(choices))]

    def sign(self) -> int:
        """-1 or 1."""
        return 1 if self.rng.random() < 0.5 else -1

    def degrees(self, low: float, high: float) -> float:
        """An angle in radians, drawn evenly from a range in degrees."""
        return float(np.radians(self.between(low, high)))

    def colour(self, name: str, value: np.ndarray) -> None:
        """Let `name` stand for a colour of this object's own instead of the scheme's."""
        self._colours[name] = value

    def add(self, solid: np.ndarray, colour: str = "body", moves: bool = False) -> None:
        """Add a solid that moves or stays."""
        self._solids.append((solid, colour, MOVING if moves else STATIC))

    def fix(self, solid: np.ndarray, colour: str = "body") -> None:
        """Add a solid that stays."""
        self._solids.append((solid, colour, STATIC))

    def move(self, solid: np.ndarray, colour: str = "front") -> None:
        """Add a solid of the moving part."""
        self._solids.append((solid, colour, MOVING))

    def mark(self) -> int:
        """A place in the list of solids, for `turn`."""
        return len(self._solids)

    def turn(
        self, mark: int, axis: Sequence[float] | np.ndarray, angle_rad: float, origin=(0, 0, 0)
    ) -> None:
        """Turn everything added since `mark`."""
        for i in range(mark, len(self._solids)):
            solid, colour, part = self._solids[i]
            self._solids[i] = (rotate(solid, axis, angle_rad, origin), colour, part)

    def shift(self, mark: int, offset: Sequence[float] | np.ndarray) -> None:
        """Shift everything added since `mark`."""
        for i in range(mark, len(self._solids)):
            solid, colour, part = self._solids[i]
            self._solids[i] = (solid + np.asarray(offset), colour, part)

    def lay(self, joint: JointMotion, axis: Sequence[float], angle_rad: float) -> JointMotion:
        """Turn the whole object, and return its joint turned with it."""
        self.turn(0, axis, angle_rad)
        line = np.array([joint.axis, joint.origin, (0.0, 0.0, 0.0)])[None]
        direction, origin, _ = rotate(line, axis, angle_rad, (0, 0, 0))[0]
        if joint.kind == "revolute":
            return hinge(direction, origin, joint.upper)
        return slider(direction, origin, joint.upper)

    def climb(self, joint: JointMotion) -> float:
        """How far up the middle of the moving part goes, in parts of how far it goes at all."""
        points = np.concatenate([s for s, _, part in self._solids if part == MOVING])
        middle = (points.min(axis=(0, 1)) + points.max(axis=(0, 1))) / 2
        axis = np.asarray(joint.axis)
        if joint.kind == "prismatic":
            return float(axis[2])
        turned = rotate(middle[None], axis, joint.upper, joint.origin)[0] - middle
        return float(turned[2] / max(np.sqrt(turned @ turned), 1e-9))

    def tilting(self, joint: JointMotion) -> tuple[Words, Words | None]:
        """Words for a part that tilts up or down, whichever it does, and for the way back."""
        climb = self.climb(joint)
        if abs(climb) < 0.35 or self.chance(0.25):
            return SWIVELS, None
        return (TILT_UP, TILT_DOWN) if climb > 0 else (TILT_DOWN, TILT_UP)

    def twist(self, outward: Sequence[float] | np.ndarray) -> tuple[np.ndarray, Words]:
        """An axis for something that turns either way, and words that fit it.

        Args:
            outward: From the part towards somebody who faces it.
        """
        sign = self.sign()
        axis = sign * np.asarray(outward, dtype=np.float64)
        way = CLOCKWISE if sign < 0 else COUNTERCLOCKWISE
        return axis, self.one_of(TURN, TURN, TURN, join(TURN, way), way)

    def either_way(self, joint: JointMotion) -> tuple[JointMotion, Words]:
        """A joint that turns either way about the axis of this one, and words that fit it.

        They are true for somebody who looks from the front or from above, whatever the part faces.
        """
        towards = np.asarray(joint.axis)
        if towards[1] > 0.5 or towards[2] < -0.5:
            towards = -towards
        axis, motion = self.twist(towards)
        return hinge(axis, joint.origin, joint.upper), motion

    def swivel(self) -> tuple[np.ndarray, Words]:
        """An upright axis for a part that faces the front and swivels, and words that fit it."""
        sign = self.sign()
        axis = np.array([0.0, 0.0, float(sign)])
        if self.chance(0.6):
            return axis, SWIVEL
        return axis, join(SWIVEL, SWIVEL_RIGHT if sign > 0 else SWIVEL_LEFT)

    def draft(
        self,
        kind: str,
        joint: JointMotion,
        objects: Sequence[str],
        parts: Sequence[str],
        motion: Words,
        back: Words | None = None,
        directed: bool = True,
    ) -> Draft:
        """The finished draft.

        Args:
            kind: Category.
            joint: Of the moving part, from the pose as drawn.
            objects: Names of the whole.
            parts: Names of the moving part.
            motion: Words for the motion along the joint.
            back: Words for the way back, where it is natural to ask for it.
            directed: False where neither sense is the right one.
        """
        builder, indices = Builder(), {}
        for solid, name, part in self._solids:
            if name not in indices:
                value = self._colours.get(name)
                value = getattr(self.scheme, name) if value is None else value
                indices[name] = builder.material(value)
            builder.add(solid, indices[name], part)
        wanted = int(self.rng.integers(10, 26))
        prompts = sentences(self.rng, objects, parts, motion, wanted)
        closing = sentences(self.rng, objects, parts, back, wanted, opening=False) if back else ()
        return Draft(kind, builder, joint, directed, prompts, closing)
