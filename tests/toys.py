"""Toy assets written as text, so that tests carry no binary files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

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


BODY = ((-0.5, -0.4, -0.5), (0.5, 0.3, 0.5))  # Y up, as OBJ files are
LID = ((-0.5, 0.3, -0.5), (0.5, 0.4, 0.5))


def write_obj(path: Path, objects: Sequence[tuple[str, Sequence]]) -> Path:
    """An OBJ file of named boxes; a box is a pair of corners, no boxes make an empty object."""
    lines, first = [], 1
    for name, bounds in objects:
        lines.append(f"o {name}")
        if not bounds:
            continue
        vertices, triangles = boxes(*bounds)
        lines += [f"v {x:g} {y:g} {z:g}" for x, y, z in vertices]
        lines += ["f " + " ".join(str(first + corner) for corner in row) for row in triangles]
        first += len(vertices)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_chest(path: Path) -> Path:
    """A box with a lid on it, as two objects."""
    return write_obj(path, [("body", [BODY]), ("lid", [LID])])
