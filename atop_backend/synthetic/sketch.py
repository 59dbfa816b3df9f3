"""A pad on which a kind is drawn: solids with named colours, then joint and words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import palette
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.objects import MOVING, STATIC, Builder
from atop_backend.synthetic.prompts import Words, sentences
from atop_backend.synthetic.solids import rotate

HOUSEHOLD = (palette.PAINTS, palette.METALS)
WOODEN = (palette.WOODS,)
METALLIC = (palette.METALS,)


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

    def lay(self, joint: JointMotion, axis: Sequence[float], angle_rad: float) -> JointMotion:
        """Turn the whole object, and return its joint turned with it."""
        self.turn(0, axis, angle_rad)
        line = np.array([joint.axis, joint.origin, (0.0, 0.0, 0.0)])[None]
        direction, origin, _ = rotate(line, axis, angle_rad, (0, 0, 0))[0]
        if joint.kind == "revolute":
            return hinge(direction, origin, joint.upper)
        return slider(direction, origin, joint.upper)

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
        closing = sentences(self.rng, objects, parts, back, wanted) if back else ()
        return Draft(kind, builder, joint, directed, prompts, closing)
