"""What several test modules share: one toy object."""

from __future__ import annotations

import numpy as np
import pytest

from atop_backend.geometry.meshes import RestShape

_CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
_SIDES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def boxes(*bounds: tuple[tuple[float, ...], tuple[float, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of axis-aligned boxes, 12 triangles each, outward winding."""
    vertices = [np.array(low) + _CORNERS * (np.array(high) - low) for low, high in bounds]
    triangles = [_SIDES + 8 * index for index in range(len(bounds))]
    return np.concatenate(vertices), np.concatenate(triangles)


@pytest.fixture
def box_with_lid() -> RestShape:
    """A box with a flat lid on top, the lid being the part; normalised frame."""
    vertices, triangles = boxes(((-0.5, -0.5, -0.4), (0.5, 0.5, 0.3)),
                                ((-0.5, -0.5, 0.3), (0.5, 0.5, 0.4)))  # fmt: skip
    part = np.arange(len(triangles)) >= 12
    return RestShape(vertices / 0.81, triangles, part, np.eye(4), ("lid",))
