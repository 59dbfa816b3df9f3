"""Bodies at rest as one glTF file for Blender, each a node of its own name."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import trimesh

from atop_backend.geometry.meshes import Y_UP

_MOST_COLOURS = 64  # of one mesh that become materials; more stay as vertex colours


class Body(NamedTuple):
    """One rigid piece. Poses are (4, 4), Z up, metres."""

    name: str
    meshes: list[tuple[trimesh.Trimesh, np.ndarray]]  # each with its pose in the body
    parent: str = ""  # a body that comes before it; empty for the world
    pose: np.ndarray | None = None  # in the parent; None for none of its own


def write_glb(path: Path, bodies: list[Body]) -> Path:
    """Write the bodies, Y up as the format has it, each a node below its parent's; the path."""
    turn = np.eye(4)
    turn[:3, :3] = Y_UP
    base = "file"
    while base in {body.name for body in bodies}:  # many call a body "world"
        base += "_"
    scene = trimesh.Scene(base_frame=base)
    for body in bodies:
        pose = np.eye(4) if body.pose is None else body.pose
        scene.graph.update(
            frame_to=body.name, frame_from=body.parent or base,
            matrix=pose if body.parent else turn @ pose,
        )  # fmt: skip
        pieces = [(piece, pose) for mesh, pose in body.meshes for piece in _one_colour_each(mesh)]
        for number, (piece, pose) in enumerate(pieces):
            name = f"{body.name}__{number}"
            scene.add_geometry(
                piece, node_name=name, geom_name=name, parent_node_name=body.name, transform=pose
            )
    path.write_bytes(scene.export(file_type="glb"))  # type: ignore[arg-type]
    return path


def painted(mesh: trimesh.Trimesh, rgba: np.ndarray) -> trimesh.Trimesh:
    """The mesh with one plain material; `rgba` are display values in [0, 1]."""
    colour = np.asarray(rgba, dtype=np.float64).clip(0, 1)
    linear = np.where(
        colour[:3] <= 0.04045, colour[:3] / 12.92, ((colour[:3] + 0.055) / 1.055) ** 2.4
    )
    material = trimesh.visual.material.PBRMaterial(
        baseColorFactor=np.append(linear, colour[3] if len(colour) > 3 else 1.0),
        metallicFactor=0.0, roughnessFactor=0.9, doubleSided=True,
    )  # fmt: skip
    plain = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    plain.visual = trimesh.visual.TextureVisuals(material=material)
    return plain


def _one_colour_each(mesh: trimesh.Trimesh) -> list[trimesh.Trimesh]:
    """The mesh, cut up by the colours of its faces so that each piece has a plain material."""
    if not isinstance(mesh.visual, trimesh.visual.ColorVisuals):
        return [mesh]  # textures and materials go through as they are
    colours, which = np.unique(mesh.visual.face_colors, axis=0, return_inverse=True)
    if len(colours) > _MOST_COLOURS:
        return [mesh]
    which = which.reshape(-1)
    return [painted(_faces(mesh, which == k), colour / 255) for k, colour in enumerate(colours)]


def _faces(mesh: trimesh.Trimesh, chosen: np.ndarray) -> trimesh.Trimesh:
    corners = mesh.triangles[chosen].reshape(-1, 3)
    return trimesh.Trimesh(corners, np.arange(len(corners)).reshape(-1, 3), process=False)
