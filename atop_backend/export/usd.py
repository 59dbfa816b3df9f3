"""USD with UsdPhysics joints, through Pixar's own library (usd-core)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from atop_backend.errors import missing_package
from atop_backend.export.model import ArticulatedModel, Link


def write_usd(model: ArticulatedModel, folder: Path) -> Path:
    """Write `<name>.usda`, meshes inside; the path of the file.

    Raises:
        SetupError: usd-core is not installed.
    """
    try:
        from pxr import Sdf, Usd, UsdGeom, UsdPhysics
    except ImportError as error:
        raise missing_package("USD needs", "usd-core", "export") from error
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{model.name}.usda"
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    root = UsdGeom.Xform.Define(stage, f"/{model.name}")
    stage.SetDefaultPrim(root.GetPrim())
    root.GetPrim().SetDocumentation(
        f"mass and inertia are estimates from volume and {model.density:g} kg/m3"
    )
    for link in (model.base, *model.links):
        _add_link(stage, f"/{model.name}/{link.name}", link)
    fixed = UsdPhysics.FixedJoint.Define(stage, f"/{model.name}/base_fixed")
    fixed.CreateBody1Rel().SetTargets([Sdf.Path(f"/{model.name}/base")])
    UsdPhysics.ArticulationRootAPI.Apply(fixed.GetPrim())
    for index in range(len(model.links)):
        _add_joint(stage, model, index)
    stage.GetRootLayer().Export(str(path))
    return path


def _add_link(stage: Any, prim_path: str, link: Link) -> None:
    from pxr import Gf, UsdGeom, UsdPhysics

    body = UsdGeom.Xform.Define(stage, prim_path)
    body.AddTranslateOp().Set(Gf.Vec3d(*link.origin.tolist()))
    prim = body.GetPrim()
    prim.SetCustomDataByKey("sourceName", link.source_name)
    UsdPhysics.RigidBodyAPI.Apply(prim)
    if link.mass is None:
        return
    moments, axes = np.linalg.eigh(link.mass.inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    mass = UsdPhysics.MassAPI.Apply(prim)
    mass.CreateMassAttr(link.mass.mass)
    mass.CreateCenterOfMassAttr(Gf.Vec3f(*link.mass.centre.tolist()))
    mass.CreateDiagonalInertiaAttr(Gf.Vec3f(*moments.tolist()))
    turn = Gf.Matrix3d(*axes.T.ravel().tolist()).ExtractRotation().GetQuat()  # rows are axes
    mass.CreatePrincipalAxesAttr(Gf.Quatf(turn))

    mesh = UsdGeom.Mesh.Define(stage, f"{prim_path}/mesh")
    mesh.CreatePointsAttr(link.vertices.astype(np.float32))
    mesh.CreateFaceVertexCountsAttr([3] * len(link.triangles))
    mesh.CreateFaceVertexIndicesAttr(link.triangles.ravel().astype(np.int32))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    low, high = link.vertices.min(axis=0), link.vertices.max(axis=0)
    mesh.CreateExtentAttr(np.stack([low, high]).astype(np.float32))
    UsdPhysics.CollisionAPI.Apply(mesh.GetPrim())
    shape = UsdPhysics.MeshCollisionAPI.Apply(mesh.GetPrim())
    shape.CreateApproximationAttr(UsdPhysics.Tokens.convexDecomposition)


def _add_joint(stage: Any, model: ArticulatedModel, index: int) -> None:
    from pxr import Gf, Sdf, UsdPhysics

    root, joint = model.name, model.joints[index]
    link, parent = model.links[index], model.parent_of(index)
    kind = UsdPhysics.RevoluteJoint if joint.kind == "revolute" else UsdPhysics.PrismaticJoint
    prim = kind.Define(stage, f"/{root}/{model.joint_names[index]}")
    prim.CreateBody0Rel().SetTargets([Sdf.Path(f"/{root}/{parent.name}")])
    prim.CreateBody1Rel().SetTargets([Sdf.Path(f"/{root}/{link.name}")])
    prim.CreateAxisAttr("X")
    turn = Gf.Rotation(Gf.Vec3d(1, 0, 0), Gf.Vec3d(*joint.axis)).GetQuat()
    prim.CreateLocalPos0Attr(Gf.Vec3f(*(link.origin - parent.origin).tolist()))
    prim.CreateLocalPos1Attr(Gf.Vec3f(0, 0, 0))
    prim.CreateLocalRot0Attr(Gf.Quatf(turn))
    prim.CreateLocalRot1Attr(Gf.Quatf(turn))
    unit = math.degrees(1.0) if joint.kind == "revolute" else 1.0  # UsdPhysics turns in degrees
    prim.CreateLowerLimitAttr(joint.lower * unit)
    prim.CreateUpperLimitAttr(joint.upper * unit)
    prim.CreateCollisionEnabledAttr(False)
