"""MJCF: one folder with the model and its meshes, ready for MuJoCo."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.export.meshes import write_meshes
from atop_backend.export.model import ArticulatedModel, Link
from atop_backend.export.urdf import numbers

# Friction that brings a free part to rest in about this time, in seconds.
SETTLING_TIME = 0.5
# MuJoCo's limits are springs; twice its time step is the stiffest that stays stable, in seconds.
LIMIT_TIME = 0.004


def write_mjcf(model: ArticulatedModel, folder: Path) -> Path:
    """Write `<name>.xml` and `meshes/` into a folder; the path of the model.

    Parts never collide with each other or with the base, since hulls are wider than the meshes
    they stand for and would jam; they do collide with everything else in a scene.
    """
    meshes = write_meshes(model, folder / "meshes")
    root = ElementTree.Element("mujoco", model=model.name)
    root.append(
        ElementTree.Comment(
            f" mass, inertia and damping are estimates from volume and {model.density:g} kg/m3 "
        )
    )
    ElementTree.SubElement(
        root, "compiler", angle="radian", meshdir="meshes", inertiafromgeom="false"
    )
    ElementTree.SubElement(root, "option", integrator="implicitfast")
    assets = ElementTree.SubElement(root, "asset")
    base = ElementTree.SubElement(ElementTree.SubElement(root, "worldbody"), "body", name="base")
    _add_shapes(assets, base, model.base, meshes.get("base", []))
    _add_bodies(assets, base, model, -1, meshes)
    contact = ElementTree.SubElement(root, "contact")
    for first, second in combinations(["base", *(link.name for link in model.links)], 2):
        ElementTree.SubElement(contact, "exclude", body1=first, body2=second)
    path = folder / f"{model.name}.xml"
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    return path


def _add_bodies(
    assets: ElementTree.Element,
    parent: ElementTree.Element,
    model: ArticulatedModel,
    carrier: int,
    meshes: dict[str, list[Path]],
) -> None:
    """The bodies that hang on a link, -1 for the base, and what hangs on them."""
    for index in model.carried_by(carrier):
        link = model.links[index]
        place = numbers(link.origin - model.parent_of(index).origin)
        body = ElementTree.SubElement(parent, "body", name=link.name, pos=place)
        _add_joint(body, model, index)
        _add_shapes(assets, body, link, meshes[link.name])
        _add_bodies(assets, body, model, index, meshes)


def _add_shapes(
    assets: ElementTree.Element, body: ElementTree.Element, link: Link, meshes: list[Path]
) -> None:
    if link.mass is not None:
        inertia = link.mass.inertia
        upper = [inertia[at] for at in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        ElementTree.SubElement(
            body,
            "inertial",
            pos=numbers(link.mass.centre),
            mass=f"{link.mass.mass:.9g}",
            fullinertia=numbers(upper),
        )
    for number, path in enumerate(meshes):
        # "shell": open surfaces have no volume, and the inertia is given above anyway
        ElementTree.SubElement(assets, "mesh", name=path.stem, file=path.name, inertia="shell")
        shown = {"contype": "0", "conaffinity": "0", "group": "2"}
        ElementTree.SubElement(
            body,
            "geom",
            {"type": "mesh", "mesh": path.stem} | (shown if number == 0 else {"group": "3"}),
        )


def _add_joint(body: ElementTree.Element, model: ArticulatedModel, index: int) -> None:
    joint = model.joints[index]
    moved = sum(moved_inertia(link, joint) for link in model.moved_by(index))
    ElementTree.SubElement(
        body,
        "joint",
        name=model.joint_names[index],
        type="hinge" if joint.kind == "revolute" else "slide",
        axis=numbers(joint.axis),
        limited="true",
        range=numbers((joint.lower, joint.upper)),
        solreflimit=numbers((LIMIT_TIME, 1)),
        damping=f"{moved / SETTLING_TIME:.6g}",
    )


def moved_inertia(link: Link, joint: JointMotion) -> float:
    """What a joint has to accelerate of a link: kg m2 about a hinge's axis, kg on a slider."""
    assert link.mass is not None  # a moving part always has triangles
    mass, centre, inertia = link.mass
    if joint.kind == "prismatic":
        return mass
    axis = np.asarray(joint.axis)
    distance = np.linalg.norm(np.cross(axis, link.origin + centre - np.asarray(joint.origin)))
    return float(axis @ inertia @ axis + mass * distance**2)
