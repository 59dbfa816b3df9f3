"""The rectangle that a door or drawer fills, and the edge that a door hangs on."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

HingeSide = Literal["left", "right", "top", "bottom"]


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
