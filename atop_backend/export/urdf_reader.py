"""URDF: its links, shapes and joints, and the object as a .glb with every link a node.

Batch jobs look at it with all joints at zero, training clips at values that the limits allow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import trimesh

from atop_backend.errors import InputError
from atop_backend.export.glb import Body, painted, write_glb
from atop_backend.geometry.joints import rodrigues

MOVABLE = ("revolute", "continuous", "prismatic")


class Visual(NamedTuple):
    """One shape of a link, as the file has it."""

    name: str
    shapes: list[ElementTree.Element]  # what lies in its <geometry>
    pose: np.ndarray  # (4, 4), in the link
    rgba: tuple[float, ...] | None


class UrdfJoint(NamedTuple):
    """How a link hangs on another one."""

    name: str
    kind: str  # as the file has it
    parent: str
    child: str
    origin: np.ndarray  # (4, 4), of the child in the parent where the joint's value is 0
    axis: np.ndarray  # (3,), in the child; of any length
    limits: tuple[float, float]  # radians or metres; infinite where there are none
    follows: tuple[str, float, float] | None  # another joint, a factor and an offset


class Urdf(NamedTuple):
    """What a file says. Nothing but the description has been read so far."""

    file: Path
    links: dict[str, list[Visual]]  # parents before their children
    joints: dict[str, UrdfJoint]  # by the link that hangs on it


def read_urdf(file: Path) -> Urdf:
    """The description.

    Raises:
        InputError: The file is no URDF, or its joints make no tree.
    """
    try:
        robot = ElementTree.parse(file).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise InputError(
            f"{file.name} cannot be read as URDF ({error})", hint="check the file"
        ) from error
    if robot.tag != "robot":
        raise InputError(f"{file.name} is no URDF but a <{robot.tag}>", hint="give a <robot>")
    colours = {
        material.get("name", ""): rgba
        for material in robot.iterfind("material")
        if (rgba := _rgba(material)) is not None
    }
    links = {link.get("name", ""): list(_visuals(link, colours)) for link in robot.iterfind("link")}
    joints = {joint.child: joint for joint in map(_joint, robot.iterfind("joint"))}
    order = _parents_first(list(links), joints)
    return Urdf(file, {name: links[name] for name in order}, joints)


def movable_joints(urdf: Urdf) -> list[UrdfJoint]:
    """The joints that turn or slide by themselves, in the order of the file."""
    return [j for j in urdf.joints.values() if j.kind in MOVABLE and j.follows is None]


def carried_links(urdf: Urdf, link: str) -> list[str]:
    """A link and all that hangs on it, parents first."""
    carried = {link}
    for name in urdf.links:
        if name in urdf.joints and urdf.joints[name].parent in carried:
            carried.add(name)
    return [name for name in urdf.links if name in carried]


def link_poses(urdf: Urdf, values: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Poses (4, 4) of the links in the file's frame, by link.

    Args:
        values: Of joints by name, radians or metres; those that are left out are at zero.
    """
    poses: dict[str, np.ndarray] = {}
    for name in urdf.links:
        joint = urdf.joints.get(name)
        above = np.eye(4) if joint is None else poses[joint.parent]
        poses[name] = above @ _pose_in_parent(urdf, name, values)
    return poses


def urdf_to_glb(urdf: Urdf, glb: Path, values: Mapping[str, float] | None = None) -> Path:
    """Write the object, Y up and in metres, each link a node below its parent's; the path.

    Args:
        values: As for `link_poses`.

    Raises:
        InputError: The file shows nothing, or names a mesh that cannot be read.
    """
    if not any(urdf.links.values()):
        raise InputError(f"{urdf.file.name} shows nothing", hint="give links a <visual>")
    bodies = []
    for name, visuals in urdf.links.items():
        meshes = [
            (_coloured(mesh, visual.rgba), visual.pose @ pose)
            for visual in visuals
            for mesh, pose in _meshes(visual, urdf.file)
        ]
        parent = urdf.joints[name].parent if name in urdf.joints else ""
        bodies.append(Body(name, meshes, parent, _pose_in_parent(urdf, name, values or {})))
    glb.parent.mkdir(parents=True, exist_ok=True)
    return write_glb(glb, bodies)


def _pose_in_parent(urdf: Urdf, link: str, values: Mapping[str, float]) -> np.ndarray:
    joint = urdf.joints.get(link)
    if joint is None:
        return np.eye(4)
    value = values.get(joint.name, 0.0)
    if joint.follows is not None:
        leader, factor, offset = joint.follows
        value = factor * values.get(leader, 0.0) + offset
    motion = np.eye(4)
    if joint.kind in MOVABLE and value:
        axis = joint.axis / max(float(np.linalg.norm(joint.axis)), 1e-12)
        if joint.kind == "prismatic":
            motion[:3, 3] = value * axis
        else:
            motion[:3, :3] = rodrigues(axis, value)
    return joint.origin @ motion


def _joint(element: ElementTree.Element) -> UrdfJoint:
    name, kind = element.get("name", ""), element.get("type", "")
    axis, limit, mimic = (element.find(tag) for tag in ("axis", "limit", "mimic"))
    limits = (-math.inf, math.inf)
    told = set() if limit is None else {"lower", "upper"}.intersection(limit.keys())
    # a hinge with an effort alone turns freely, in robots that are in use; one missing value is 0
    if limit is not None and kind != "continuous" and (told or kind == "prismatic"):
        limits = (_number(limit, "lower", "0"), _number(limit, "upper", "0"))
    follows = None
    if mimic is not None:
        follows = (mimic.get("joint", ""), _number(mimic, "multiplier", "1"),
                   _number(mimic, "offset", "0"))  # fmt: skip
    return UrdfJoint(
        name,
        kind,
        _linked(element, "parent"),
        _linked(element, "child"),
        _pose(element.find("origin")),
        np.array(_numbers(None if axis is None else axis.get("xyz"), "1 0 0")),
        limits,
        follows,
    )


def _linked(joint: ElementTree.Element, tag: str) -> str:
    found = joint.find(tag)
    if found is None:
        raise InputError(f"joint {joint.get('name')!r} has no <{tag}>", hint="mend the URDF")
    return found.get("link", "")


def _parents_first(names: list[str], joints: Mapping[str, UrdfJoint]) -> Iterator[str]:
    done: set[str] = set()
    while names:
        ready = [name for name in names if name not in joints or joints[name].parent in done]
        if not ready:
            raise InputError(f"links {names[:5]} hang on nothing", hint="mend the URDF's joints")
        yield from ready
        done.update(ready)
        names = [name for name in names if name not in done]


def _visuals(
    link: ElementTree.Element, colours: Mapping[str, tuple[float, ...]]
) -> Iterator[Visual]:
    for visual in link.iterfind("visual"):
        material = visual.find("material")
        rgba = None
        if material is not None:
            rgba = _rgba(material) or colours.get(material.get("name", ""))
        shapes, pose = list(visual.iterfind("geometry/*")), _pose(visual.find("origin"))
        yield Visual(visual.get("name", ""), shapes, pose, rgba)


def _rgba(material: ElementTree.Element) -> tuple[float, ...] | None:
    colour = material.find("color")
    return None if colour is None else tuple(_numbers(colour.get("rgba"), "1 1 1 1"))


def _pose(origin: ElementTree.Element | None) -> np.ndarray:
    """The (4, 4) pose of an <origin>; roll, pitch and yaw about fixed axes."""
    if origin is None:
        return np.eye(4)
    roll, pitch, yaw = _numbers(origin.get("rpy"), "0 0 0")
    pose = trimesh.transformations.euler_matrix(roll, pitch, yaw, "sxyz")
    pose[:3, 3] = _numbers(origin.get("xyz"), "0 0 0")
    return pose


def _number(element: ElementTree.Element, name: str, default: str) -> float:
    return _numbers(element.get(name), default)[0]


def _numbers(text: str | None, default: str) -> list[float]:
    try:
        values = [float(word) for word in (text or default).split()]
    except ValueError as error:
        raise InputError(f"the URDF has {text!r} for numbers", hint="mend it") from error
    if len(values) != len(default.split()) or not all(map(math.isfinite, values)):
        raise InputError(f"the URDF has {text!r} for numbers", hint="mend it")
    return values


def _meshes(visual: Visual, file: Path) -> Iterator[tuple[trimesh.Trimesh, np.ndarray]]:
    """The shapes of a <visual>, each with its pose in the frame of its <origin>."""
    for shape in visual.shapes:
        match shape.tag:
            case "box":
                yield trimesh.creation.box(_numbers(shape.get("size"), "1 1 1")), np.eye(4)
            case "cylinder":
                radius, length = _number(shape, "radius", "1"), _number(shape, "length", "1")
                yield trimesh.creation.cylinder(radius, length), np.eye(4)
            case "sphere":
                radius = _number(shape, "radius", "1")
                yield trimesh.creation.icosphere(radius=radius), np.eye(4)
            case "mesh":
                yield from _load(shape, file)


def _coloured(mesh: trimesh.Trimesh, rgba: tuple[float, ...] | None) -> trimesh.Trimesh:
    """The mesh with the colour of its <visual>, unless its own file gives it a material."""
    plain = isinstance(mesh.visual, trimesh.visual.ColorVisuals) and not mesh.visual.defined
    return mesh if rgba is None or not plain else painted(mesh, np.array(rgba))


def _load(shape: ElementTree.Element, file: Path) -> Iterator[tuple[trimesh.Trimesh, np.ndarray]]:
    name = shape.get("filename", "")
    path = _place(name, file.parent)
    if not path.is_file():
        raise InputError(
            f"{file.name} names the mesh {name!r}, which is not there",
            hint="keep the meshes beside the URDF, as it has their paths",
        )
    scale = np.diag([*_numbers(shape.get("scale"), "1 1 1"), 1.0])
    try:
        scene = trimesh.load_scene(path, process=False)
    except Exception as error:  # it raises whatever its readers do
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise InputError(
            f"the mesh {name!r} of {file.name} cannot be read ({reason})", hint="export it anew"
        ) from error
    for node in scene.graph.nodes_geometry:
        pose, geometry = scene.graph[node]
        mesh = scene.geometry[geometry]
        if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces):
            yield mesh, scale @ pose


def _place(name: str, folder: Path) -> Path:
    """Where a mesh file lies; `package://` is of some workspace, so it is looked for upwards."""
    for scheme in ("package://", "model://"):
        if name.startswith(scheme):
            parts = Path(name.removeprefix(scheme)).parts
            tails = [Path(*parts[start:]) for start in range(len(parts))]
            places = (above / tail for above in (folder, *folder.parents) for tail in tails)
            return next((place for place in places if place.is_file()), folder / name)
    return folder / name.removeprefix("file://")
