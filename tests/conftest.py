"""What several test modules share: one toy object."""

from __future__ import annotations

import numpy as np
import pytest
from toys import boxes

from atop_backend.geometry.meshes import RestShape


@pytest.fixture
def box_with_lid() -> RestShape:
    """A box with a flat lid on top, the lid being the part; normalised frame."""
    vertices, triangles = boxes(((-0.5, -0.5, -0.4), (0.5, 0.5, 0.3)),
                                ((-0.5, -0.5, 0.3), (0.5, 0.5, 0.4)))  # fmt: skip
    part = np.arange(len(triangles)) >= 12
    return RestShape(vertices / 0.81, triangles, part, np.eye(4), ("lid",))
