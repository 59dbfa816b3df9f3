"""MJCF through MuJoCo: a glTF of the model at rest, and the hinges and slides of its bodies.

Colours come along, textures do not.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from atop_backend.errors import InputError, missing_package
from atop_backend.export.glb import Body, painted, write_glb
from atop_backend.tuning.assets import Mover, rest_value, to_y_up, travel_from

_COLLISION_GROUP = 3  # by MuJoCo's convention, geoms from here on are not shown


def read_mjcf(path: Path, scratch: Path) -> tuple[Path, list[Mover]]:
    """The file for Blender and every hinge and slide with a range; bodies below move along.

    Raises:
        InputError: MuJoCo refuses the file.
        SetupError: mujoco is not installed.
    """
    try:
        import mujoco
    except ImportError as error:
        raise missing_package("MJCF clips need", "mujoco", "clips") from error
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise InputError(
            f"{path.name} cannot be read as MJCF ({str(error).splitlines()[0][:200]})",
            hint="check that MuJoCo loads it",
        ) from error
    data = mujoco.MjData(model)
    kinds = {
        int(mujoco.mjtJoint.mjJNT_HINGE): "revolute",
        int(mujoco.mjtJoint.mjJNT_SLIDE): "prismatic",
    }
    joints = [number for number in range(model.njnt) if int(model.jnt_type[number]) in kinds]
    limits = {number: _limits(model, number) for number in joints}
    for number in joints:
        data.qpos[model.jnt_qposadr[number]] = rest_value(limits[number])
    mujoco.mj_kinematics(model, data)
    names = _body_names(model)
    bodies = [Body(name, []) for name in names]
    for geom in range(model.ngeom):
        mesh = _geom_mesh(mujoco, model, geom)
        if mesh is not None:
            pose = np.eye(4)
            pose[:3, :3] = data.geom_xmat[geom].reshape(3, 3)
            pose[:3, 3] = data.geom_xpos[geom]
            bodies[model.geom_bodyid[geom]].meshes.append((mesh, pose))
    movers = []
    for number in joints:
        motion = travel_from(
            kinds[int(model.jnt_type[number])],  # type: ignore[arg-type]
            data.xaxis[number],
            data.xanchor[number],
            rest_value(limits[number]),
            limits[number],
            model.joint(number).name or f"number {number}",
        )
        body = int(model.jnt_bodyid[number])
        nodes = tuple(
            names[other]
            for other in range(model.nbody)
            if bodies[other].meshes and _is_below(model, other, body)
        )
        if motion is not None and nodes:
            movers.append(Mover(names[body], nodes, to_y_up(motion)))
    if not movers:
        return path, []
    return write_glb(scratch / "model.glb", bodies), movers


def _limits(model: Any, joint: int) -> tuple[float, float]:
    if not model.jnt_limited[joint]:
        return -math.inf, math.inf
    return float(model.jnt_range[joint, 0]), float(model.jnt_range[joint, 1])


def _body_names(model: Any) -> list[str]:
    """A name for each body, different from all others."""
    return [model.body(number).name or f"body_{number}" for number in range(model.nbody)]


def _is_below(model: Any, body: int, above: int) -> bool:
    while body != above and body != 0:
        body = int(model.body_parentid[body])
    return body == above


def _geom_mesh(mujoco: Any, model: Any, geom: int) -> trimesh.Trimesh | None:
    """What a geom looks like in its own frame; None for what is not shown or has no end."""
    material = int(model.geom_matid[geom])
    colour = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]
    if model.geom_group[geom] >= _COLLISION_GROUP or colour[3] == 0:
        return None
    size = model.geom_size[geom]
    kind = mujoco.mjtGeom(int(model.geom_type[geom]))
    match kind:
        case mujoco.mjtGeom.mjGEOM_MESH:
            mesh = model.mesh(int(model.geom_dataid[geom]))
            number = mesh.id
            start, count = model.mesh_vertadr[number], model.mesh_vertnum[number]
            first, faces = model.mesh_faceadr[number], model.mesh_facenum[number]
            shape = trimesh.Trimesh(
                model.mesh_vert[start : start + count],
                model.mesh_face[first : first + faces],
                process=False,
            )
        case mujoco.mjtGeom.mjGEOM_BOX:
            shape = trimesh.creation.box(2 * size)
        case mujoco.mjtGeom.mjGEOM_SPHERE:
            shape = trimesh.creation.icosphere(radius=size[0])
        case mujoco.mjtGeom.mjGEOM_CYLINDER:
            shape = trimesh.creation.cylinder(size[0], 2 * size[1])
        case mujoco.mjtGeom.mjGEOM_CAPSULE:
            shape = trimesh.creation.capsule(2 * size[1], size[0])
            shape.apply_translation([0, 0, -shape.bounds.mean(axis=0)[2]])
        case mujoco.mjtGeom.mjGEOM_ELLIPSOID:
            shape = trimesh.creation.icosphere()
            shape.apply_scale(size)
        case _:
            return None  # planes and height fields are the floor
    return painted(shape, colour)
