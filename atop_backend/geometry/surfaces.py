"""Surfaces of a mesh that hang together."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

_SAME = 1e-5  # corners nearer than this are one


def connected_surfaces(corners: np.ndarray, sides: np.ndarray | None = None) -> np.ndarray:
    """A number (m,) for each triangle, the same for those that touch at a corner.

    Args:
        corners: (m, 3, 3).
        sides: (m,); triangles of different sides never hang together.
    """
    keys = np.round(corners.reshape(-1, 3) / _SAME).astype(np.int64)
    if sides is not None:
        keys = np.column_stack([keys, np.repeat(sides, 3)])
    _, names = np.unique(keys, axis=0, return_inverse=True)
    names = names.reshape(-1, 3)
    rows, columns = names[:, [0, 1]].ravel(), names[:, [1, 2]].ravel()
    count = int(names.max()) + 1
    links = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(count, count))
    return connected_components(links, directed=False)[1][names[:, 0]]
