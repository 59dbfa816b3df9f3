"""A known turn of a whole object, to measure with objects that stand askew."""

from __future__ import annotations

import math
import zlib

import numpy as np

from atop_backend.geometry.joints import rodrigues

LARGEST_TILT_RAD = math.radians(15.0)


def random_turn(seed: int, name: str) -> np.ndarray:
    """A rotation (3, 3) of Blender's world: any yaw, then a small tilt to any side.

    Args:
        name: Of the object; each gets its own turn, whichever others are turned.
    """
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    yaw, side = rng.uniform(0, 2 * math.pi, size=2)
    tilt = rng.uniform(0, LARGEST_TILT_RAD)
    upright = rodrigues(np.array([0.0, 0.0, 1.0]), yaw)
    return rodrigues(np.array([math.cos(side), math.sin(side), 0.0]), tilt) @ upright
