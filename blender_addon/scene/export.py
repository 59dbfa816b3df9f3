"""The whole object with all its joints as a description that the backend's exporters read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from atop_backend.errors import InputError

from . import edit, mesh_parts, pick, read, write
from .record import Articulation, articulations


def joints_of_object(articulation: Articulation) -> list[Articulation]:
    """All joints of the object that this joint is on, this one first."""
    parts = edit.parts_again(articulation)
    inside = {ob.name_full for ob in pick.whole_object(bpy.context, parts)}
    others = [
        other
        for other in articulations()
        if other.frame != articulation.frame
        and any(part.name_full in inside for part in other.parts())
    ]
    return [articulation, *others]


def object_name(articulation: Articulation) -> str:
    """What the whole object is called: the top of its hierarchy, or else the part."""
    above = write.ancestors(articulation.frame)
    return above[-1].name if above else articulation.tag


def write_description(context: bpy.types.Context, articulation: Articulation, folder: Path) -> Path:
    """Write description.json and mesh.npz of the object in its rest pose; returns the former.

    Raises:
        InputError: The joint's parts have been deleted.
    """
    joints = joints_of_object(articulation)
    parts = [edit.parts_again(joint) for joint in joints]
    if not all(parts):
        raise InputError(
            f"the part of {articulation.tag!r} has been deleted", hint="revert the joint"
        )
    every = [part for several in parts for part in several]
    with read.at_rest(context, every):
        objects = pick.whole_object(context, every)
        vertices, triangles, owners = _collect(context, objects, joints)
        entries = [
            {
                "name": joint.tag,
                "joint": edit.joint_now(joint).to_dict(),
                "parent": _carrier(joint, joints),
            }
            for joint in joints
        ]
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "mesh.npz", vertices=vertices, triangles=triangles, part=owners)
    units = context.scene.unit_settings
    description = {
        "name": object_name(articulation),
        "up": "z",
        "metres_per_unit": units.scale_length if units.system != "NONE" else 1.0,
        "mesh": "mesh.npz",
        "parts": entries,
    }
    path = folder / "description.json"
    path.write_text(json.dumps(description, indent=1), encoding="utf-8")
    return path


def _carrier(joint: Articulation, joints: list[Articulation]) -> int:
    """Index of the joint whose part carries this joint, such as a knob's door; -1 for none."""
    pivots = [other.pivot for other in joints if other.frame != joint.frame]
    for ob in write.ancestors(joint.frame):
        targets = [c.target for c in ob.constraints if c.type == "CHILD_OF"]
        found = next((pivot for pivot in (ob, *targets) if pivot in pivots), None)
        if found is not None:
            return [other.pivot for other in joints].index(found)
    return -1


def _collect(
    context: bpy.types.Context, objects: list[bpy.types.Object], joints: list[Articulation]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """World vertices (n, 3), triangles (m, 3) and the joint of each triangle (m,), -1 for none."""
    graph = context.evaluated_depsgraph_get()
    vertices, triangles, owners, offset = [], [], [], 0
    for ob in objects:
        if ob.type not in pick.SURFACES:
            continue
        evaluated = ob.evaluated_get(graph)
        mesh = evaluated.to_mesh()
        if mesh is None or not len(mesh.polygons):
            continue
        mesh.calc_loop_triangles()
        places = _numbers(mesh.vertices, "co", np.float32, 3).astype(np.float64)
        world = np.array(evaluated.matrix_world, dtype=np.float64)
        vertices.append(places @ world[:3, :3].T + world[:3, 3])
        corners = _numbers(mesh.loop_triangles, "vertices", np.int32, 3)
        if np.linalg.det(world[:3, :3]) < 0:
            corners = corners[:, ::-1]
        triangles.append(corners + offset)
        offset += len(places)
        owners.append(_owners(ob, mesh, joints))
        evaluated.to_mesh_clear()
    return np.concatenate(vertices), np.concatenate(triangles), np.concatenate(owners)


def _owners(ob: bpy.types.Object, mesh: bpy.types.Mesh, joints: list[Articulation]) -> np.ndarray:
    """The joint that moves each triangle of an evaluated mesh, (m,), -1 for none."""
    owners = np.full(len(mesh.loop_triangles), -1)
    polygons = _numbers(mesh.loop_triangles, "polygon_index", np.int32, 1)[:, 0]
    carriers = [ob, *write.ancestors(ob)]
    nearest = len(carriers)
    for index, joint in enumerate(joints):
        for number, hang in enumerate(joint.data["parts"]):
            part = joint.pointed(f"part_{number}")
            if hang["how"] == "bone" and part == ob:
                if len(mesh.polygons) != len(ob.data.polygons):
                    raise InputError(
                        f"modifiers change the faces of {ob.name!r}",
                        hint="apply them, or articulate the part with Separate",
                    )
                owners[np.isin(polygons, mesh_parts.faces_again(joint, number))] = index
            elif part in carriers[:nearest]:
                nearest = carriers.index(part)  # a part on a part moves by its own joint
                owners[:] = index
    return owners


def _numbers(collection: Any, name: str, kind: type, width: int) -> np.ndarray:
    values = np.empty(len(collection) * width, kind)
    collection.foreach_get(name, values)
    return values.reshape(-1, width)
