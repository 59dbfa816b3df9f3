"""Mesh files beside URDF and MJCF."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from atop_backend.export.model import ArticulatedModel, Link


def write_meshes(model: ArticulatedModel, folder: Path) -> dict[str, list[Path]]:
    """Write one .obj a link and one a collision hull; link name -> the mesh, then its hulls."""
    folder.mkdir(parents=True, exist_ok=True)
    return {
        link.name: _write_link(link, folder)
        for link in (model.base, *model.links)
        if len(link.triangles)
    }


def _write_link(link: Link, folder: Path) -> list[Path]:
    paths = [folder / f"{link.name}.obj"]
    write_obj(paths[0], link.vertices, link.triangles)
    for number, (vertices, triangles) in enumerate(link.hulls):
        paths.append(folder / f"{link.name}_hull_{number}.obj")
        write_obj(paths[-1], vertices, triangles)
    return paths


def write_obj(path: Path, vertices: np.ndarray, triangles: np.ndarray) -> None:
    """Write vertices (n, 3) and triangles (m, 3) as Wavefront text."""
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (triangles + 1).tolist()]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
