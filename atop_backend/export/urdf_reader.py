"""URDF as a static .glb: every link a node at joint values of zero, meshes and shapes baked in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import trimesh

from atop_backend.errors import InputError
from atop_backend.export.model import Y_UP_TO_Z_UP


class MovableLink(NamedTuple):
    """A link that some joint moves, and that joint's name."""

    link: str
    joint: str


def movable_links(urdf: Path) -> list[MovableLink]:
    """The links below joints that are not fixed, in the order of the file.

    Raises:
        InputError: The file is no URDF.
    """
    return [
        MovableLink(_child(joint, "child").get("link", ""), joint.get("name", ""))
        for joint in _parse(urdf).iterfind("joint")
        if joint.get("type") not in ("fixed", "floating", "planar")
    ]


def urdf_to_glb(urdf: Path, glb: Path) -> None:
    """Write the object of a URDF, Y up and in metres, each link a node below its parent's.

    Raises:
        InputError: The file is no URDF, or a mesh that it names cannot be read.
    """
    robot = _parse(urdf)
    scene = trimesh.Scene(base_frame="world")
    root_turn = np.eye(4)
    root_turn[:3, :3] = Y_UP_TO_Z_UP.T
    parents = {
        _child(joint, "child").get("link", ""): (
            _child(joint, "parent").get("link", ""),
            _pose(joint.find("origin")),
        )
        for joint in robot.iterfind("joint")
    }
    names = [link.get("name", "") for link in robot.iterfind("link")]
    for link in _parents_first(names, parents):
        parent, pose = parents.get(link, ("world", root_turn))
        scene.graph.update(frame_to=link, frame_from=parent, matrix=pose)
    for link in robot.iterfind("link"):
        for number, visual in enumerate(link.iterfind("visual")):
            name = f"{link.get('name')}_visual_{number}"
            for mesh in _meshes(visual, urdf.parent):
                scene.add_geometry(
                    mesh, node_name=name, geom_name=name, parent_node_name=link.get("name"),
                    transform=_pose(visual.find("origin")),
                )  # fmt: skip
    if not scene.geometry:
        raise InputError(f"{urdf} shows nothing", hint="give links a <visual>")
    glb.parent.mkdir(parents=True, exist_ok=True)
    glb.write_bytes(scene.export(file_type="glb"))  # type: ignore[arg-type]


def _parse(urdf: Path) -> ElementTree.Element:
    try:
        robot = ElementTree.parse(urdf).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise InputError(f"{urdf} cannot be read ({error})", hint="check the file") from error
    if robot.tag != "robot":
        raise InputError(f"{urdf} is no URDF but a <{robot.tag}>", hint="give a <robot>")
    return robot


def _child(element: ElementTree.Element, tag: str) -> ElementTree.Element:
    found = element.find(tag)
    if found is None:
        raise InputError(f"joint {element.get('name')!r} has no <{tag}>", hint="mend the URDF")
    return found


def _parents_first(names: list[str], parents: dict[str, tuple[str, np.ndarray]]) -> Iterator[str]:
    done, pending = {"world"}, list(names)
    while pending:
        ready = [name for name in pending if parents.get(name, ("world",))[0] in done]
        if not ready:
            raise InputError(f"links {pending[:5]} hang on nothing", hint="mend the URDF's joints")
        yield from ready
        done.update(ready)
        pending = [name for name in pending if name not in done]


def _pose(origin: ElementTree.Element | None) -> np.ndarray:
    """The (4, 4) pose of an <origin>; roll, pitch and yaw about fixed axes."""
    if origin is None:
        return np.eye(4)
    roll, pitch, yaw = _numbers(origin.get("rpy"), "0 0 0")
    pose = trimesh.transformations.euler_matrix(roll, pitch, yaw, "sxyz")
    pose[:3, 3] = _numbers(origin.get("xyz"), "0 0 0")
    return pose


def _numbers(text: str | None, default: str) -> list[float]:
    try:
        values = [float(word) for word in (text or default).split()]
    except ValueError as error:
        raise InputError(f"the URDF has {text!r} for numbers", hint="mend it") from error
    if len(values) != len(default.split()) or not all(map(math.isfinite, values)):
        raise InputError(f"the URDF has {text!r} for numbers", hint="mend it")
    return values


def _meshes(visual: ElementTree.Element, folder: Path) -> Iterator[trimesh.Trimesh]:
    """The shape of a <visual>, in the frame of its <origin>."""
    for shape in visual.iterfind("geometry/*"):
        match shape.tag:
            case "box":
                yield trimesh.creation.box(_numbers(shape.get("size"), "1 1 1"))
            case "cylinder":
                (radius,), (length,) = (
                    _numbers(shape.get(name), "1") for name in ("radius", "length")
                )
                yield trimesh.creation.cylinder(radius, length)
            case "sphere":
                yield trimesh.creation.icosphere(radius=_numbers(shape.get("radius"), "1")[0])
            case "mesh":
                yield _load(shape, folder)


def _load(shape: ElementTree.Element, folder: Path) -> trimesh.Trimesh:
    name = shape.get("filename", "").removeprefix("file://")
    path = folder / name
    if name.startswith("package://"):  # of some workspace: look upwards for the rest of the path
        parts = Path(name.removeprefix("package://")).parts
        tails = [Path(*parts[start:]) for start in range(len(parts))]
        places = [above / tail for above in (folder, *folder.parents) for tail in tails]
        path = next((place for place in places if place.is_file()), path)
    try:
        mesh = trimesh.load(path, force="mesh")
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"the mesh {name!r} of the URDF cannot be read ({error})", hint="check its path"
        ) from error
    mesh.apply_scale(_numbers(shape.get("scale"), "1 1 1"))
    return mesh  # type: ignore[return-value]
