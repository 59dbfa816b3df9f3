"""Exports read back by programs that are not ours, and their kinematics against SciPy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from export_toys import VALUES, cabinet, cabinet_model, moved_with_all, part_vertices
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from atop_backend.export.gltf import SECONDS, write_gltf
from atop_backend.export.mjcf import write_mjcf
from atop_backend.export.urdf import write_urdf
from atop_backend.export.usd import write_usd

LINKS = ["Tur_links_1", "tur_links_1_2", "knob"]
# A file that is Y up and in centimetres, next to one that is Z up and in metres.
FRAMES = [{"up": "z"}, {"up": "y", "metres_per_unit": 0.01}]


def expected_vertices(options: dict) -> dict[tuple[str, float], np.ndarray]:
    """(link, share of every joint's range) -> world vertices in metres, Z up."""
    vertices, triangles, parts = cabinet()
    turn = Rotation.from_euler("x", 90 if options["up"] == "y" else 0, degrees=True)
    scale = options.get("metres_per_unit", 1.0)
    result = {}
    for index, link in enumerate(LINKS):
        points = part_vertices(parts[index], vertices, triangles)
        for share in VALUES:
            result[link, share] = turn.apply(moved_with_all(parts, index, points, share)) * scale
    return result


def same_points(first: np.ndarray, second: np.ndarray) -> float:
    """Largest distance from a point of one set to the other set."""
    return max(
        cKDTree(first).query(second)[0].max(), cKDTree(second).query(first)[0].max()
    )  # readers may sort and merge vertices


@pytest.mark.parametrize("options", FRAMES)
def test_urdf_moves_in_yourdfpy_as_the_joints_say(tmp_path, options):
    yourdfpy = pytest.importorskip("yourdfpy")
    model = cabinet_model(**options)
    robot = yourdfpy.URDF.load(str(write_urdf(model, tmp_path)), build_collision_scene_graph=True)

    assert sorted(robot.link_map) == sorted(["base", *LINKS])
    assert len(robot.actuated_joint_names) == len(model.joints)
    for (link, share), expected in expected_vertices(options).items():
        limits = {name: robot.joint_map[name].limit for name in robot.actuated_joint_names}
        robot.update_cfg({n: e.lower + share * (e.upper - e.lower) for n, e in limits.items()})
        pose = robot.get_transform(link, "base")
        mesh = robot.scene.geometry[f"{link}.obj"]
        points = np.asarray(mesh.vertices) @ pose[:3, :3].T + pose[:3, 3]
        assert same_points(points, expected) < 1e-4


@pytest.mark.parametrize("options", FRAMES)
def test_mjcf_moves_in_mujoco_as_the_joints_say(tmp_path, options):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(write_mjcf(cabinet_model(**options), tmp_path)))
    data = mujoco.MjData(model)

    assert model.njnt == len(LINKS)
    for (link, share), expected in expected_vertices(options).items():
        data.qpos[:] = model.jnt_range[:, 0] + share * np.ptp(model.jnt_range, axis=1)
        mujoco.mj_kinematics(model, data)
        mesh = model.mesh(link)
        geom = next(
            index
            for index in range(model.ngeom)
            if model.geom_dataid[index] == mesh.id  # the visual shape
        )
        corners = model.mesh_vert[mesh.vertadr[0] : mesh.vertadr[0] + mesh.vertnum[0]]
        points = corners @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
        assert same_points(points, expected) < 1e-4


@pytest.mark.parametrize("options", FRAMES)
def test_mujoco_steps_the_object_for_five_seconds_quietly(tmp_path, options):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(write_mjcf(cabinet_model(**options), tmp_path)))
    data = mujoco.MjData(model)
    data.qpos[:] = model.jnt_range.mean(axis=1)
    fastest = 0.0
    while data.time < 5:
        mujoco.mj_step(model, data)
        fastest = max(fastest, float(np.abs(data.qvel).max()))

    assert not any(warning.number for warning in data.warning)
    assert data.ncon == 0  # nothing jams
    size = options.get("metres_per_unit", 1.0)
    assert fastest * size < 5  # m/s at the door's edge; gravity alone moves it
    slack = 0.05 * np.ptp(model.jnt_range, axis=1)
    assert (data.qpos > model.jnt_range[:, 0] - slack).all()
    assert (data.qpos < model.jnt_range[:, 1] + slack).all()


@pytest.mark.parametrize("options", FRAMES)
def test_usd_joints_move_the_parts_as_the_joints_say(tmp_path, options):
    pytest.importorskip("pxr")
    from pxr import Usd, UsdGeom, UsdPhysics

    stage = Usd.Stage.Open(str(write_usd(cabinet_model(**options), tmp_path)))

    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    prims = list(stage.Traverse())
    movable = [
        p for p in prims if p.IsA(UsdPhysics.RevoluteJoint) or p.IsA(UsdPhysics.PrismaticJoint)
    ]
    assert len(movable) == len(LINKS)
    root = stage.GetDefaultPrim().GetPath()
    for (link, share), expected in expected_vertices(options).items():
        pose = usd_pose(stage, f"{root}/{link}", share)
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"{root}/{link}/mesh"))
        points = np.asarray(mesh.GetPointsAttr().Get(), dtype=float)
        assert same_points(points @ pose[:3, :3].T + pose[:3, 3], expected) < 1e-4


def usd_pose(stage, link: str, share: float) -> np.ndarray:
    """World pose of a link by the definition of UsdPhysics joints; the base is at rest."""
    from pxr import UsdPhysics

    if link.endswith("/base"):
        return np.eye(4)
    prim = stage.GetPrimAtPath(f"{link}_joint")
    joint = UsdPhysics.Joint(prim)
    assert joint.GetBody1Rel().GetTargets() == [link]
    (carrier,) = joint.GetBody0Rel().GetTargets()

    def frame(position, rotation) -> np.ndarray:
        pose = np.eye(4)
        w, (x, y, z) = rotation.Get().GetReal(), rotation.Get().GetImaginary()
        pose[:3, :3] = Rotation.from_quat([x, y, z, w]).as_matrix()
        pose[:3, 3] = position.Get()
        return pose

    frame_0 = frame(joint.GetLocalPos0Attr(), joint.GetLocalRot0Attr())
    frame_1 = frame(joint.GetLocalPos1Attr(), joint.GetLocalRot1Attr())
    motion = np.eye(4)
    revolute = prim.IsA(UsdPhysics.RevoluteJoint)
    typed = UsdPhysics.RevoluteJoint(prim) if revolute else UsdPhysics.PrismaticJoint(prim)
    lower, upper = typed.GetLowerLimitAttr().Get(), typed.GetUpperLimitAttr().Get()
    value = lower + share * (upper - lower)
    assert typed.GetAxisAttr().Get() == "X"
    if revolute:
        motion[:3, :3] = Rotation.from_euler("x", value, degrees=True).as_matrix()
    else:
        motion[0, 3] = value
    return usd_pose(stage, str(carrier), share) @ frame_0 @ motion @ np.linalg.inv(frame_1)


@pytest.mark.parametrize("options", FRAMES)
def test_gltf_animation_moves_the_parts_as_the_joints_say(tmp_path, options):
    trimesh = pytest.importorskip("trimesh")
    pygltflib = pytest.importorskip("pygltflib")
    path = write_gltf(cabinet_model(**options), tmp_path)
    document = pygltflib.GLTF2().load(str(path))
    scene = trimesh.load(path)  # an independent reader of the geometry

    assert len(document.animations[0].channels) == len(LINKS)
    to_z_up = Rotation.from_euler("x", 90, degrees=True)
    names = [node.name for node in document.nodes]
    for (link, share), expected in expected_vertices(options).items():
        points, node = np.asarray(scene.geometry[link].vertices), names.index(link)
        while node:  # up to the root
            turn, shift = gltf_pose(document, node, share * SECONDS)
            points = turn.apply(points) + shift
            (node,) = [i for i, each in enumerate(document.nodes) if node in each.children]
        assert same_points(to_z_up.apply(points), expected) < 1e-4


def gltf_pose(document, node: int, time: float) -> tuple[Rotation, np.ndarray]:
    """Rotation and translation of a node in the clip, by the rules of glTF 2.0."""
    from scipy.spatial.transform import Slerp

    clip, shift = document.animations[0], np.asarray(document.nodes[node].translation)
    channels = [channel for channel in clip.channels if channel.target.node == node]
    if not channels:
        return Rotation.identity(), shift
    (channel,) = channels
    sampler = clip.samplers[channel.sampler]
    times = accessor(document, sampler.input)[:, 0].astype(float)
    values = accessor(document, sampler.output).astype(float)
    if channel.target.path == "rotation":
        return Slerp(times, Rotation.from_quat(values))(time), shift
    return Rotation.identity(), np.array([np.interp(time, times, axis) for axis in values.T])


def accessor(document, index: int) -> np.ndarray:
    entry = document.accessors[index]
    view = document.bufferViews[entry.bufferView]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[entry.type]
    blob = document.binary_blob()
    return np.frombuffer(
        blob, np.float32, entry.count * width, view.byteOffset + (entry.byteOffset or 0)
    ).reshape(-1, width)


def test_masses_are_those_of_the_solids_and_marked_as_estimates(tmp_path):
    model = cabinet_model(density=500.0)

    door = model.links[0].mass
    assert door is not None
    assert math.isclose(door.mass, 500 * 0.5 * 0.02 * 1.1, rel_tol=1e-6)
    assert np.allclose(door.centre + model.links[0].origin, (-0.25, -0.26, 0.6))
    for link in (model.base, *model.links):
        moments = np.linalg.eigvalsh(link.mass.inertia)
        assert moments[0] > 0
        assert moments[2] <= moments[0] + moments[1] + 1e-12  # a body can have it
    for path in (write_urdf(model, tmp_path), write_mjcf(model, tmp_path)):
        assert "estimates" in path.read_text()
