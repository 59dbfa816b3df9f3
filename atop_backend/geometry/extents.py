"""Where a part is and how large, as the bundled network is told in training and in use."""

from __future__ import annotations

import numpy as np


def part_extent(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Centre of the bounding box of a part's vertices (n, 3) and the largest distance from it."""
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    return centre, float(np.linalg.norm(points - centre, axis=1).max())
