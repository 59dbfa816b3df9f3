"""URDF: one folder with the description and its meshes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from atop_backend.export.inertia import MassProperties
from atop_backend.export.meshes import write_meshes
from atop_backend.export.model import ArticulatedModel, Link

# URDF demands these; no video tells them. Strong and quick enough for a hand.
EFFORT_PER_KG = 100.0  # newtons or newton-metres
VELOCITY = {"revolute": math.pi, "prismatic": 1.0}  # rad/s, m/s


def write_urdf(model: ArticulatedModel, folder: Path) -> Path:
    """Write `<name>.urdf` and `meshes/` into a folder; the path of the description."""
    meshes = write_meshes(model, folder / "meshes")
    robot = ElementTree.Element("robot", name=model.name)
    robot.append(
        ElementTree.Comment(
            f" mass and inertia are estimates from volume and {model.density:g} kg/m3;"
            " effort and velocity are guesses "
        )
    )
    for link in (model.base, *model.links):
        _add_link(robot, link, meshes.get(link.name, []))
    for index in range(len(model.links)):
        _add_joint(robot, model, index)
    path = folder / f"{model.name}.urdf"
    ElementTree.indent(robot)
    ElementTree.ElementTree(robot).write(path, encoding="utf-8", xml_declaration=True)
    return path


def _add_link(robot: ElementTree.Element, link: Link, meshes: list[Path]) -> None:
    element = ElementTree.SubElement(robot, "link", name=link.name)
    if link.mass is not None:
        _add_inertial(element, link.mass)
    for number, path in enumerate(meshes):
        shape = ElementTree.SubElement(element, "collision" if number else "visual")
        geometry = ElementTree.SubElement(shape, "geometry")
        ElementTree.SubElement(geometry, "mesh", filename=f"meshes/{path.name}")


def _add_inertial(element: ElementTree.Element, mass: MassProperties) -> None:
    inertial = ElementTree.SubElement(element, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=numbers(mass.centre), rpy="0 0 0")
    ElementTree.SubElement(inertial, "mass", value=f"{mass.mass:.9g}")
    names = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2)}
    names["izz"] = (2, 2)
    ElementTree.SubElement(
        inertial, "inertia", {name: f"{mass.inertia[at]:.9g}" for name, at in names.items()}
    )


def _add_joint(robot: ElementTree.Element, model: ArticulatedModel, index: int) -> None:
    link, joint, parent = model.links[index], model.joints[index], model.parent_of(index)
    element = ElementTree.SubElement(robot, "joint", name=model.joint_names[index], type=joint.kind)
    ElementTree.SubElement(element, "parent", link=parent.name)
    ElementTree.SubElement(element, "child", link=link.name)
    origin = numbers(link.origin - parent.origin)  # all frames have the same axes at rest
    ElementTree.SubElement(element, "origin", xyz=origin, rpy="0 0 0")
    ElementTree.SubElement(element, "axis", xyz=numbers(joint.axis))
    mass = sum(moved.mass.mass for moved in model.moved_by(index) if moved.mass is not None)
    ElementTree.SubElement(
        element,
        "limit",
        lower=f"{joint.lower:.9g}",
        upper=f"{joint.upper:.9g}",
        effort=f"{EFFORT_PER_KG * mass:.4g}",
        velocity=f"{VELOCITY[joint.kind]:.4g}",
    )


def numbers(values: Iterable[float]) -> str:
    """Numbers as XML attributes hold them."""
    return " ".join(f"{float(value):.9g}" for value in values)
