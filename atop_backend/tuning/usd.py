"""USD with UsdPhysics joints through Pixar's library; Blender opens the file itself."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError, missing_package
from atop_backend.geometry.joints import joint_under, screw_of
from atop_backend.tuning.assets import Mover, travel_from


def read_usd(path: Path, scratch: Path) -> tuple[Path, list[Mover]]:
    """A copy of the stage for Blender and every hinge and slider in it.

    Blender keeps of a prim's path the last name alone, so what moves gets names of its own; a
    joint is in the frame of the first shape that it moves, which Blender shows too, so that units
    and upward axis do not matter here.

    Raises:
        InputError: The file is no USD.
        SetupError: usd-core is not installed.
    """
    try:
        from pxr import Tf, Usd, UsdGeom, UsdPhysics
    except ImportError as error:
        raise missing_package("USD clips need", "usd-core", "clips") from error
    try:
        stage = Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        raise InputError(
            f"{path.name} cannot be read as USD ({str(error).splitlines()[-1].strip()[:200]})",
            hint="check that it opens in usdview or Blender",
        ) from error
    stage.SetEditTarget(stage.GetSessionLayer())
    for prim in stage.Traverse():
        if prim.IsInstance():
            prim.SetInstanceable(False)  # what instances share could not move apart
    cache = UsdGeom.XformCache()
    joints = [UsdPhysics.Joint(prim) for prim in stage.Traverse() if prim.IsA(UsdPhysics.Joint)]
    names: dict[Any, str] = {}  # path of a shape -> its name for Blender
    movers = []
    for joint in joints:
        body = _body(stage, joint.GetBody1Rel())
        kind, limits = _kind(UsdPhysics, joint.GetPrim())
        if kind is None or body is None:
            continue
        shapes = [
            prim
            for carried in _carried(stage, joints, body)
            for prim in Usd.PrimRange(carried)
            if prim.IsA(UsdGeom.Gprim)
        ]
        motion = _motion(stage, cache, joint, body, kind, limits)
        if motion is None or not shapes:
            continue
        for shape in shapes:
            names.setdefault(shape.GetPath(), f"atop_shape_{len(names)}")
        nodes = tuple(dict.fromkeys(names[shape.GetPath()] for shape in shapes))
        to_shape = np.linalg.inv(_matrix(cache.GetLocalToWorldTransform(shapes[0])))
        part = body.GetCustomDataByKey("sourceName") or body.GetName()
        movers.append(Mover(str(part), nodes, joint_under(motion, to_shape), nodes[0]))
    return (_renamed(stage, names, scratch / "stage.usdc") if movers else path), movers


def _motion(
    stage: Any, cache: Any, joint: Any, body: Any, kind: Any, limits: tuple[float, float]
) -> JointMotion | None:
    """The motion from where the joint stands in the file, in the frame of the stage."""
    own = _matrix(cache.GetLocalToWorldTransform(body))
    base = _body(stage, joint.GetBody0Rel())
    world = np.eye(4) if base is None else _matrix(cache.GetLocalToWorldTransform(base))
    here = _on(world, joint.GetLocalPos0Attr().Get(), joint.GetLocalRot0Attr().Get())
    there = _on(own, joint.GetLocalPos1Attr().Get(), joint.GetLocalRot1Attr().Get())
    prim = joint.GetPrim()
    axis = np.eye(3)["XYZ".index(prim.GetAttribute("physics:axis").Get())]
    start = _value(kind, here, there, axis)
    return travel_from(kind, there[:3, :3] @ axis, there[:3, 3], start, limits, prim.GetName())


def _renamed(stage: Any, names: dict[Any, str], path: Path) -> Path:
    """Write the stage as one layer in which these shapes have these names."""
    from pxr import Sdf

    layer = stage.Flatten()
    edits = Sdf.BatchNamespaceEdit()
    for shape, name in names.items():
        edits.Add(Sdf.NamespaceEdit.Rename(shape, name))
    assert layer.Apply(edits)
    layer.Export(str(path))
    return path


def _body(stage: Any, relation: Any) -> Any:
    """The prim that a joint's relation names; None for the world."""
    targets = relation.GetTargets()
    prim = stage.GetPrimAtPath(targets[0]) if targets else None
    return prim if prim else None


def _kind(schema: Any, prim: Any) -> tuple[Any, tuple[float, float]]:
    """Type and limits in radians or stage units; None for a joint that is no hinge or slider."""
    if prim.IsA(schema.RevoluteJoint):
        joint, kind, unit = schema.RevoluteJoint(prim), "revolute", math.radians(1.0)
    elif prim.IsA(schema.PrismaticJoint):
        joint, kind, unit = schema.PrismaticJoint(prim), "prismatic", 1.0
    else:
        return None, (0.0, 0.0)
    lower, upper = joint.GetLowerLimitAttr().Get(), joint.GetUpperLimitAttr().Get()
    return kind, (float(lower) * unit, float(upper) * unit)


def _matrix(rows: Any) -> np.ndarray:
    """A pose (4, 4) that acts on columns; USD's act on rows."""
    return np.array(rows, dtype=np.float64).T


def _on(body: np.ndarray, position: Any, rotation: Any) -> np.ndarray:
    """The frame of a joint, (4, 4) without scale, on a body that stands at a pose."""
    from pxr import Gf

    place, turn = np.eye(4), np.eye(4)
    place[:3, 3] = position
    turn[:3, :3] = np.array(Gf.Matrix3d(Gf.Rotation(Gf.Quatd(rotation))), dtype=np.float64).T
    frame = body @ place @ turn
    frame[:3, :3] /= np.linalg.norm(frame[:3, :3], axis=0)
    return frame


def _value(kind: str, here: np.ndarray, there: np.ndarray, axis: np.ndarray) -> float:
    """The value at which the joint stands in the file."""
    relative = np.linalg.inv(here) @ there
    if kind == "prismatic":
        return float(axis @ relative[:3, 3])
    screw = screw_of(relative[:3, :3], relative[:3, 3], np.zeros(3))
    return 0.0 if screw is None else float(np.sign(screw.axis @ axis)) * screw.angle_rad


def _carried(stage: Any, joints: list[Any], body: Any) -> list[Any]:
    """The body and what other joints hang on it."""
    found = [body]
    for carrier in found:
        for joint in joints:
            base, child = _body(stage, joint.GetBody0Rel()), _body(stage, joint.GetBody1Rel())
            if base == carrier and child and child not in found:
                found.append(child)
    return found
