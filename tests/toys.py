"""Toy assets written as text, so that tests carry no binary files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conftest import boxes

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
