"""Exports against Blender: what it plays from a file, and what its own rig does."""

from __future__ import annotations

import numpy as np
import pytest
from export_toys import VALUES, cabinet, cabinet_model, moved_with_all, part_vertices
from scipy.spatial import cKDTree

from atop_backend.contracts import JointMotion
from atop_backend.export.gltf import SECONDS, write_gltf
from atop_backend.export.model import ArticulatedModel, build_model, part_pose
from atop_backend.export.source import read_description

bpy = pytest.importorskip("bpy")
pytestmark = pytest.mark.blender


def test_blender_plays_the_clip_as_the_joints_say(tmp_path):
    path = write_gltf(cabinet_model(), tmp_path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 48  # a whole frame at each share of the two seconds

    bpy.ops.import_scene.gltf(filepath=str(path))

    vertices, triangles, parts = cabinet()
    for index, link in enumerate(cabinet_model().links):
        shape = bpy.data.objects[link.name]
        for share in VALUES:
            bpy.context.scene.frame_set(round(share * SECONDS * 48))
            corners = np.array([shape.matrix_world @ v.co for v in shape.data.vertices])
            points = part_vertices(parts[index], vertices, triangles)
            expected = moved_with_all(parts, index, points, share)
            assert cKDTree(corners).query(expected)[0].max() < 1e-4


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_an_exported_object_moves_as_its_rig_does_whatever_its_scale(tmp_path, mirror):
    from blender_addon.scene import export, write

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.01  # drawn in centimetres
    vertices, triangles, parts = cabinet()
    body, *movers = [add(name, vertices, triangles[chosen]) for name, chosen in owners(parts)]
    body.scale, body.rotation_euler, body.location = (mirror * 2, 3, 1.5), (0.3, 0.2, 1), (9, 8, 7)
    door, drawer, knob = movers
    door.parent = drawer.parent = body
    knob.parent = door
    bpy.context.view_layer.update()
    joints = [
        JointMotion("revolute", (0.6, 0.0, 0.8), (8.0, 7.0, 8.0), 0.0, 1.9),
        JointMotion("prismatic", (0.0, -0.6, 0.8), (9.0, 8.0, 7.0), 0.0, 0.7),
        JointMotion("revolute", (0.0, 0.6, 0.8), (8.5, 7.5, 8.0), 0.0, 1.2),
    ]
    rigs = [
        write.write_joint(bpy.context, [ob], joint)
        for ob, joint in zip(movers, joints, strict=True)
    ]

    scene.frame_set(200)  # all are open, the door carries its knob away

    path = export.write_description(bpy.context, rigs[0], tmp_path)

    source = read_description(path)
    assert source.name == "Body"
    assert source.metres_per_unit == pytest.approx(0.01)
    model = build_model(
        source.name, source.vertices, source.triangles, source.parts, source.up,
        source.metres_per_unit,
    )  # fmt: skip
    assert [link.source_name for link in model.links] == ["Door", "Drawer", "Knob"]
    assert model.parents == [-1, -1, 0]
    for rig in rigs:
        rig.pivot.animation_data.action = None
    for share in VALUES:
        for rig in rigs:
            rig.pivot["open"] = share
            rig.pivot.update_tag()
        bpy.context.view_layer.update()
        for index, ob in enumerate(movers):
            corners = [ob.matrix_world @ v.co for v in ob.data.vertices]
            exported = in_the_world(model, index, share)
            assert cKDTree(np.array(corners) * 0.01).query(exported)[0].max() < 1e-4
    for link in model.links:
        corners = link.vertices[link.triangles]
        volume = np.einsum("nc,nc->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
        assert volume > 0  # not inside out, mirrored or not


def test_parts_of_one_mesh_hang_on_the_base_and_not_on_each_other(tmp_path):
    from blender_addon.scene import export, write
    from blender_addon.scene.mesh_parts import MeshPart

    bpy.ops.wm.read_factory_settings(use_empty=True)
    vertices, triangles, parts = cabinet()
    ob = add("Cabinet", vertices, triangles)
    faces = [np.flatnonzero(part.triangles) for part in parts[:2]]
    joints = [
        write.write_joint(bpy.context, [MeshPart(ob, chosen, name)], part.joint)
        for chosen, name, part in zip(faces, ("Door", "Drawer"), parts[:2], strict=True)
    ]

    source = read_description(export.write_description(bpy.context, joints[1], tmp_path))

    assert {part.name: part.parent for part in source.parts} == {"Door": -1, "Drawer": -1}
    model = build_model(source.name, source.vertices, source.triangles, source.parts, source.up)
    assert sorted(len(link.triangles) for link in model.links) == sorted(map(len, faces))


def in_the_world(model: ArticulatedModel, index: int, share: float) -> np.ndarray:
    """Vertices of a link when every joint is at one share of its range, metres."""
    points, here = model.links[index].vertices, index
    while here >= 0:
        joint, parent = model.joints[here], model.parent_of(here)
        pose = part_pose(joint, joint.lower + share * (joint.upper - joint.lower))
        points = points @ pose[:3, :3].T + pose[:3, 3] - parent.origin
        here = model.parents[here]
    return points


def owners(parts) -> list[tuple[str, np.ndarray]]:
    """A name for each object, and which triangles it has."""
    moving = [part.triangles for part in parts]
    body = ~np.logical_or.reduce(moving)
    return [("Body", body), *zip(("Door", "Drawer", "Knob"), moving, strict=True)]


def add(name: str, vertices: np.ndarray, triangles: np.ndarray):
    """An object of these triangles in the scene."""
    used, index = np.unique(triangles, return_inverse=True)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices[used].tolist(), [], index.reshape(-1, 3).tolist())
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob
