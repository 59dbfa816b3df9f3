"""An asset file in, an articulated .blend and .glb out, in the file's own axes."""

from __future__ import annotations

import math

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from scenes import box, moved, two_boxes, world_points  # noqa: E402

from atop_backend.contracts import JointMotion  # noqa: E402
from atop_backend.rendering.blender_articulate import articulate  # noqa: E402
from blender_addon.scene import convert  # noqa: E402

JOINT = JointMotion("revolute", (0.0, 0.0, 1.0), (0.2, 0.0, 0.0), 0.0, math.radians(110))
SLIDE = JointMotion("prismatic", (0.0, -1.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.4)


def export(path):
    """Write the scene in the format of the path."""
    match path.suffix:
        case ".glb":
            bpy.ops.export_scene.gltf(filepath=str(path))
        case ".obj":
            bpy.ops.wm.obj_export(filepath=str(path), export_vertex_groups=True)
        case ".blend":
            bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)


def run(path, part, world_joint):
    """Articulate a file whose joint is known in Blender's world."""
    joint = convert.transform_joint(world_joint, np.linalg.inv(convert.file_to_world(path)))
    request = {
        "asset": str(path),
        "parts": [part],
        "joint": joint.to_dict(),
        "tag": "Door",
        "seconds": 2.0,
        "fps": 24,
        "easing": "EASE",
    }
    articulate(request, path.parent)


def cloud():
    """World points of all meshes, in an order that does not depend on names."""
    points = [world_points(ob) for ob in bpy.context.scene.objects if ob.type == "MESH"]
    return np.unique(np.round(np.concatenate(points), 4), axis=0)


def check_cloud(expected):
    """All meshes together are where they should be."""
    found = cloud()
    for point in expected:
        assert np.linalg.norm(found - point, axis=1).min() < 3e-4


@pytest.mark.parametrize("joint", [JOINT, SLIDE], ids=["hinge", "slider"])
@pytest.mark.parametrize("suffix", [".glb", ".obj", ".blend"])
def test_every_kind_of_file_opens_as_the_joint_says(context, tmp_path, suffix, joint):
    box("Body", location=(0.0, 1.0, 0.0))
    door = box("Door", location=(0.1, 0.0, 0.0))
    body_points = world_points(bpy.data.objects["Body"])
    end = moved(world_points(door), convert.rigid_motion(joint, joint.upper))
    asset = tmp_path / f"asset{suffix}"
    export(asset)
    before = asset.read_bytes()
    run(asset, "Door", joint)
    assert asset.read_bytes() == before

    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "articulated.blend"))
    bpy.context.scene.frame_set(49)
    np.testing.assert_allclose(
        np.sort(world_points(bpy.data.objects["Door"]), axis=0).mean(axis=0),
        end.mean(axis=0),
        atol=1e-4,
    )
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    bpy.ops.import_scene.gltf(filepath=str(tmp_path / "articulated.glb"))
    scene = bpy.context.scene
    scene.frame_set(int(max(action.frame_range[1] for action in bpy.data.actions)))
    check_cloud([*end, *body_points])


@pytest.mark.parametrize("part", ["vgroup:Flap", "material:Paint", "faces:{}"])
def test_part_of_one_mesh_moves_in_the_exported_animation(context, tmp_path, part):
    cabinet = two_boxes()
    cabinet.data.materials.append(bpy.data.materials.new("Plain"))
    cabinet.data.materials.append(bpy.data.materials.new("Paint"))
    for index in range(6, 12):
        cabinet.data.polygons[index].material_index = 1
    cabinet.vertex_groups.new(name="Flap").add(range(8, 16), 1.0, "REPLACE")
    (tmp_path / "faces.txt").write_text("\n".join(map(str, range(6, 12))))
    points = world_points(cabinet)
    end = moved(points[8:], convert.rigid_motion(JOINT, JOINT.upper))
    asset = tmp_path / "asset.blend"
    export(asset)
    run(asset, part.format(tmp_path / "faces.txt"), JOINT)

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    bpy.ops.import_scene.gltf(filepath=str(tmp_path / "articulated.glb"))
    bpy.context.scene.frame_set(int(max(a.frame_range[1] for a in bpy.data.actions)))
    check_cloud([*points[:8], *end])


def test_an_instance_of_a_collection_is_made_real_first(context, tmp_path):
    collection = bpy.data.collections.new("Leaf")
    door = box("Leaf")
    context.scene.collection.objects.unlink(door)
    collection.objects.link(door)
    box("Body", location=(0.0, 1.0, 0.0))
    instance = bpy.data.objects.new("Door", None)
    context.scene.collection.objects.link(instance)
    instance.instance_type, instance.instance_collection = "COLLECTION", collection
    asset = tmp_path / "asset.blend"
    export(asset)
    run(asset, "Door", JOINT)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "articulated.blend"))
    pivot = bpy.data.objects["Door Pivot"]
    assert [ob.name for ob in pivot.children] == ["Door"]
    assert [ob.type for ob in bpy.data.objects["Door"].children] == ["MESH"]
