"""Data from other files: refused with the remedy; library overrides work; exports and previews."""

from __future__ import annotations

import json

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from scenes import box, dump, moved, two_boxes, world_points  # noqa: E402

from atop_backend.contracts import JointMotion  # noqa: E402
from atop_backend.errors import InputError  # noqa: E402
from blender_addon.scene import convert, export, record, write  # noqa: E402
from blender_addon.scene.mesh_parts import MeshPart  # noqa: E402

HINGE = JointMotion("revolute", (0.0, 0.0, 1.0), (0.5, 0.0, 0.0), 0.0, 1.5)


def link_door(tmp_path):
    """A door in a collection of another file, linked into an empty scene."""
    door = box("Door")
    collection = bpy.data.collections.new("Parts")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(door)
    collection.objects.link(door)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Parts"]
    linked = wanted.collections[0]
    bpy.context.scene.collection.children.link(linked)
    bpy.context.view_layer.update()
    return linked


def test_linked_data_is_refused_with_the_remedy(context, tmp_path):
    linked = link_door(tmp_path)
    before = dump()
    with pytest.raises(InputError, match="Library Override"):
        write.write_joint(bpy.context, [linked.objects["Door"]], HINGE)
    assert dump() == before


def test_a_library_override_is_articulated_and_reverted(context, tmp_path):
    linked = link_door(tmp_path)
    scene, layer = bpy.context.scene, bpy.context.view_layer
    own = linked.override_hierarchy_create(scene, layer, do_fully_editable=True)
    layer.update()
    door = own.objects["Door"]
    assert door.override_library is not None
    before = world_points(door)
    written = write.write_joint(bpy.context, [door], HINGE)
    scene.frame_set(49)
    expected = moved(before, convert.rigid_motion(HINGE, 1.5))
    np.testing.assert_allclose(world_points(door), expected, atol=1e-5)
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    door = next(record.articulations()).parts()[0]
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(49)
    np.testing.assert_allclose(world_points(door), expected, atol=1e-5)
    bpy.context.scene.frame_set(1)
    write.revert(bpy.context, record.require_articulation(door))
    np.testing.assert_allclose(world_points(door), before, atol=1e-6)
    assert written is not None


def test_the_description_for_export_has_every_joint_at_rest(context, tmp_path):
    body = box("Body", location=(0.0, 0.1, 0.0))
    door = box("Door", body, (0.0, -0.1, 0.0))
    knob = box("Knob", door, (0.4, -0.1, 0.5), (0.1, 0.1, 0.1))
    flaps = two_boxes("Flaps")
    flaps.parent, flaps.location = body, (0.0, 3.0, 0.0)
    context.view_layer.update()
    first = write.write_joint(context, [door], HINGE)
    write.write_joint(context, [knob], HINGE)
    write.write_joint(context, [MeshPart(flaps, np.arange(6, 12), "Flap")], HINGE)
    context.scene.frame_set(49)
    path = export.write_description(context, first, tmp_path)
    described = json.loads(path.read_text())
    names = [part["name"] for part in described["parts"]]
    assert names[0] == "Door"
    assert sorted(names) == ["Door", "Flap", "Knob"]
    with np.load(tmp_path / "mesh.npz") as arrays:
        owners = arrays["part"]
        vertices, triangles = arrays["vertices"], arrays["triangles"]
    counts = {name: int((owners == i).sum()) for i, name in enumerate(names)}
    assert counts == {"Door": 12, "Knob": 12, "Flap": 12}
    assert int((owners == -1).sum()) == 24
    seen = vertices[triangles[owners == 0]].reshape(-1, 3)
    np.testing.assert_allclose(seen.max(0), (1.0, 0.1, 2.0), atol=1e-5)
    assert context.scene.frame_current == 49
