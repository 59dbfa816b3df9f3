"""URDF files as static objects."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from export_toys import cabinet, cabinet_model

from atop_backend.errors import InputError
from atop_backend.export.urdf import write_urdf
from atop_backend.export.urdf_reader import movable_links, urdf_to_glb


def test_what_we_export_is_read_back_in_place(tmp_path):
    urdf = write_urdf(cabinet_model(), tmp_path)

    urdf_to_glb(urdf, tmp_path / "cabinet.glb")

    vertices, triangles, parts = cabinet()
    scene = trimesh.load(tmp_path / "cabinet.glb")
    for part, (link, joint) in zip(parts, movable_links(urdf), strict=True):
        assert joint == f"{link}_joint"
        pose, name = scene.graph[f"{link}_visual_0"]
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

    urdf_to_glb(urdf, tmp_path / "chain.glb")

    assert [tuple(each) for each in movable_links(urdf)] == [("middle", "a")]
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
            "'x.obj' of the URDF cannot be read",
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
        urdf_to_glb(urdf, tmp_path / "bad.glb")
