"""URDF through yourdfpy: a glTF of the robot at rest, and the joints of its links."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from atop_backend.errors import InputError, SetupError
from atop_backend.tuning.assets import Mover, rest_value, to_y_up, travel_from
from atop_backend.tuning.glb import Body, write_glb


def read_urdf(path: Path, scratch: Path) -> tuple[Path, list[Mover]]:
    """The file for Blender and every joint that can move; links below a joint move with it.

    Raises:
        InputError: The file is no URDF, or names a mesh that is not there.
        SetupError: yourdfpy is not installed.
    """
    try:
        import yourdfpy
    except ImportError as error:
        raise SetupError(
            "URDF clips need the package yourdfpy", hint="pip install 'atop-backend[clips]'"
        ) from error
    places: dict[str, Path] = {}  # of the meshes; yourdfpy leaves out what it cannot find

    def find(fname: str) -> str:
        found = yourdfpy.urdf.filename_handler_magic(fname, dir=str(path.parent))
        places[fname] = Path(found)
        return found

    try:
        robot = yourdfpy.URDF.load(
            str(path), build_scene_graph=True, load_meshes=True, filename_handler=find
        )
        limits = {
            joint.name: _limits(joint)
            for joint in robot.robot.joints
            if joint.type in ("revolute", "continuous", "prismatic") and joint.mimic is None
        }
        driven = [name for name in robot.actuated_joint_names if name in limits]
        robot.update_cfg({name: rest_value(limits[name]) for name in driven})
    except Exception as error:  # it raises whatever its XML and mesh readers do
        raise InputError(
            f"{path.name} cannot be read as URDF ({_first_line(error)})", hint="check the file"
        ) from error
    missing = [name for name, place in places.items() if not place.is_file()]
    if missing:
        raise InputError(
            f"{path.name} names the mesh {missing[0]!r}, which is not there",
            hint="keep the meshes beside the URDF, as it has their paths",
        )
    scene, links = robot.scene, set(robot.link_map)
    bodies = {name: Body(name, []) for name in robot.link_map}
    for node in scene.graph.nodes_geometry:
        pose, geometry = scene.graph.get(node)
        link = node
        while link not in links:
            link = scene.graph.transforms.parents[link]
        bodies[link].meshes.append((scene.geometry[geometry], np.asarray(pose)))
    movers = []
    for joint in robot.robot.joints:
        if joint.name not in limits:
            continue
        pose = robot.get_transform(joint.child)
        motion = travel_from(
            "prismatic" if joint.type == "prismatic" else "revolute",
            pose[:3, :3] @ (np.array([1.0, 0, 0]) if joint.axis is None else joint.axis),
            pose[:3, 3],
            rest_value(limits[joint.name]),
            limits[joint.name],
            joint.name,
        )
        below = [name for name in links if _is_below(robot, name, joint.child)]
        nodes = tuple(sorted(name for name in below if bodies[name].meshes))
        if motion is not None and nodes:
            movers.append(Mover(joint.child, nodes, to_y_up(motion)))
    if not movers:
        return path, []
    return write_glb(scratch / "robot.glb", list(bodies.values())), movers


def _limits(joint) -> tuple[float, float]:
    if joint.type == "continuous" or joint.limit is None:
        return -math.inf, math.inf
    lower, upper = joint.limit.lower, joint.limit.upper
    return (0.0 if lower is None else lower), (0.0 if upper is None else upper)  # as URDF has it


def _is_below(robot, link: str, above: str) -> bool:
    parents = {joint.child: joint.parent for joint in robot.robot.joints}
    while link != above and link in parents:
        link = parents[link]
    return link == above


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:160]
