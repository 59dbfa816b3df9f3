"""URDF files as static objects."""

from __future__ import annotations

import json

import numpy as np
import pytest
import trimesh
from export_toys import cabinet, cabinet_model

from atop_backend.errors import InputError
from atop_backend.export.urdf import write_urdf
from atop_backend.export.urdf_reader import link_poses, movable_joints, read_urdf, urdf_to_glb


def test_what_we_export_is_read_back_in_place(tmp_path):
    urdf = write_urdf(cabinet_model(), tmp_path)

    read = read_urdf(urdf)
    urdf_to_glb(read, tmp_path / "cabinet.glb")

    vertices, triangles, parts = cabinet()
    scene = trimesh.load(tmp_path / "cabinet.glb")
    for part, joint in zip(parts, movable_joints(read), strict=True):
        assert joint.name == f"{joint.child}_joint"
        pose, name = scene.graph[f"{joint.child}__0"]
        points = scene.geometry[name].vertices @ pose[:3, :3].T + pose[:3, 3]
        x, y, z = points.T
        low, high = np.stack([x, -z, y]).min(axis=1), np.stack([x, -z, y]).max(axis=1)
        expected = vertices[np.unique(triangles[part.triangles])]
        assert np.allclose(low, expected.min(axis=0), atol=1e-6)
        assert np.allclose(high, expected.max(axis=0), atol=1e-6)


def test_poses_of_chains_add_up_as_in_an_independent_reader(tmp_path):
    yourdfpy = pytest.importorskip("yourdfpy")
    urdf = tmp_path / "chain.urdf"
    shape = '<visual><origin xyz="0.1 0 0" rpy="0.3 0 0"/><geometry><box size="1 2 3"/></geometry>'
    urdf.write_text(
        f'<robot name="r"><link name="tip">{shape}</visual></link><link name="base"/>'
        f'<link name="middle">{shape}</visual></link>'
        '<joint name="a" type="revolute"><parent link="base"/><child link="middle"/>'
        '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/>'
        '<limit lower="0" upper="1" effort="1" velocity="1"/></joint>'
        '<joint name="b" type="fixed"><parent link="middle"/><child link="tip"/>'
        '<origin xyz="0 1 0" rpy="-0.5 0 1"/></joint></robot>'
    )

    read = read_urdf(urdf)
    urdf_to_glb(read, tmp_path / "chain.glb")

    assert [(joint.child, joint.name) for joint in movable_joints(read)] == [("middle", "a")]
    scene = trimesh.load(tmp_path / "chain.glb")
    robot = yourdfpy.URDF.load(str(urdf))
    turn = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    for link in ("middle", "tip"):
        expected = robot.get_transform(link, "base")
        assert np.allclose(turn @ scene.graph[link][0], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot", "cannot be read"),
        ("<sdf/>", "no URDF"),
        ('<robot name="r"><link name="a"/></robot>', "shows nothing"),
        (
            '<robot name="r"><link name="a"><visual><geometry><mesh filename="x.obj"/></geometry>'
            "</visual></link></robot>",
            "names the mesh 'x.obj', which is not there",
        ),
        (
            '<robot name="r"><link name="a"/><link name="b"/>'
            '<joint name="j" type="fixed"><parent link="b"/><child link="a"/></joint>'
            '<joint name="k" type="fixed"><parent link="a"/><child link="b"/></joint></robot>',
            "hang on nothing",
        ),
    ],
)
def test_a_broken_urdf_is_refused_with_its_reason(tmp_path, text, words):
    urdf = tmp_path / "bad.urdf"
    urdf.write_text(text)

    with pytest.raises(InputError, match=words):
        urdf_to_glb(read_urdf(urdf), tmp_path / "bad.glb")


def test_joints_that_follow_others_move_with_them_as_in_an_independent_reader(tmp_path):
    yourdfpy = pytest.importorskip("yourdfpy")
    urdf = tmp_path / "grip.urdf"
    urdf.write_text(
        '<robot name="r"><link name="base"/><link name="left"/><link name="right"/>'
        '<joint name="a" type="prismatic"><parent link="base"/><child link="left"/>'
        '<origin xyz="0 1 0" rpy="0.2 0 0.4"/><axis xyz="0.8 0 0.6"/><limit lower="0" upper="1"/>'
        '</joint><joint name="b" type="continuous"><parent link="left"/><child link="right"/>'
        '<origin xyz="1 0 0" rpy="0 1 0"/><axis xyz="0 0.6 0.8"/>'
        '<mimic joint="a" multiplier="-2" offset="0.3"/></joint></robot>'
    )

    read = read_urdf(urdf)
    poses = link_poses(read, {"a": 0.25})

    assert [joint.name for joint in movable_joints(read)] == ["a"]
    robot = yourdfpy.URDF.load(str(urdf))
    robot.update_cfg({"a": 0.25})
    assert np.allclose(poses["right"], robot.get_transform("right", "base"), atol=1e-9)


def colour_of(scene, node):
    return scene.geometry[scene.graph[node][1]].visual.material.baseColorFactor


def test_a_shape_has_the_colour_of_its_visual_unless_its_file_has_its_own(tmp_path):
    blue, box = '<material name="blue"/>', trimesh.creation.box()
    (tmp_path / "bare.stl").write_bytes(trimesh.exchange.stl.export_stl(box))
    (tmp_path / "own.mtl").write_text("newmtl red\nKd 1 0 0\n")
    own = trimesh.exchange.obj.export_obj(box, include_normals=False)
    (tmp_path / "own.obj").write_text(f"mtllib own.mtl\nusemtl red\n{own}")
    shapes = (
        f'<visual>{blue}<geometry><mesh filename="{name}"/></geometry></visual>'
        for name in ("bare.stl", "package://robots/own.obj")
    )
    urdf = tmp_path / "r.urdf"
    urdf.write_text(
        f'<robot name="r"><link name="world">{"".join(shapes)}</link>'
        '<material name="blue"><color rgba="0 0 1 1"/></material></robot>'
    )

    urdf_to_glb(read_urdf(urdf), tmp_path / "r.glb")

    scene = trimesh.load(tmp_path / "r.glb")
    assert list(colour_of(scene, "world__0")) == [0, 0, 255, 255]
    assert list(colour_of(scene, "world__1")) == [255, 0, 0, 255]


def test_a_link_may_be_called_as_the_root_of_a_gltf_scene_often_is(tmp_path):
    urdf = tmp_path / "r.urdf"
    box = '<visual><geometry><box size="1 1 3"/></geometry></visual>'
    urdf.write_text(f'<robot name="r"><link name="world">{box}</link></robot>')

    data = urdf_to_glb(read_urdf(urdf), tmp_path / "r.glb").read_bytes()

    nodes = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])["nodes"]
    (world,) = (node for node in nodes if node["name"] == "world")
    up = np.reshape(world["matrix"], (4, 4)).T @ [0, 0, 1, 0]
    assert up.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("kind", "limit", "limits"),
    [
        ("revolute", '<limit lower="-1" upper="2"/>', (-1, 2)),
        ("revolute", '<limit upper="2" effort="1"/>', (0, 2)),
        ("revolute", '<limit effort="80" velocity="20"/>', (-np.inf, np.inf)),
        ("revolute", "", (-np.inf, np.inf)),
        ("continuous", '<limit lower="0" upper="1"/>', (-np.inf, np.inf)),
        ("prismatic", '<limit effort="80"/>', (0, 0)),
    ],
)
def test_limits_are_what_the_file_means_by_them(tmp_path, kind, limit, limits):
    urdf = tmp_path / "r.urdf"
    urdf.write_text(
        f'<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="{kind}">'
        f'<parent link="a"/><child link="b"/>{limit}</joint></robot>'
    )
    assert [joint.limits for joint in movable_joints(read_urdf(urdf))] == [limits]
