"""Picking a part and writing the scene copy that the backend sees."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import bmesh  # noqa: E402
import numpy as np  # noqa: E402
from scenes import add, box, dump, two_boxes, world_points  # noqa: E402

from atop_backend.contracts import JointMotion  # noqa: E402
from atop_backend.errors import InputError  # noqa: E402
from atop_backend.rendering import blender_import as backend  # noqa: E402
from atop_backend.rendering.selectors import parse  # noqa: E402
from blender_addon.scene import pick, read, write  # noqa: E402
from blender_addon.scene.mesh_parts import MeshPart  # noqa: E402

HINGE = JointMotion("revolute", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.0, 1.5)


def select(*objects):
    """Make these the selection, the last one active."""
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob in objects)
    bpy.context.view_layer.objects.active = objects[-1]


def as_the_backend_sees_it(path, selectors):
    """World vertices of all triangles (n, 3, 3) of the scene copy, and which are the part's."""
    backend.open_asset(path)
    scene, targets = backend.first_scene_with([parse(text) for text in selectors])
    baked = backend.bake(backend.collect(scene, targets))
    return baked.vertices[baked.triangles], baked.part


def cabinet_with_paint():
    """One mesh whose second slab has its own material, group, attribute and selection."""
    ob = two_boxes()
    for name in ("Plain", "Paint"):
        ob.data.materials.append(bpy.data.materials.new(name))
    chosen = np.arange(12) >= 6
    for polygon, second in zip(ob.data.polygons, chosen, strict=True):
        polygon.material_index, polygon.select = int(second), bool(second)
    ob.vertex_groups.new(name="Flap").add(range(8, 16), 0.8, "REPLACE")
    ob.data.attributes.new("moves", "BOOLEAN", "FACE").data.foreach_set("value", chosen)
    select(ob)
    return ob


@pytest.mark.parametrize(
    ("source", "name"),
    [("VERTEX_GROUP", "Flap"), ("MATERIAL", "Paint"), ("FACES", ""), ("ATTRIBUTE", "moves")],
)
def test_every_way_to_pick_faces_reaches_the_backend(context, tmp_path, source, name):
    cabinet = cabinet_with_paint()
    (part,) = pick.pick_parts(context, source, name)
    assert isinstance(part, MeshPart)
    np.testing.assert_array_equal(part.faces, np.arange(6, 12))
    before, second = dump(), world_points(cabinet)[8:]
    path, selectors, _ = read.write_scene_copy(context, [part], tmp_path)
    assert dump() == before
    triangles, chosen = as_the_backend_sees_it(path, selectors)
    seen = np.unique(triangles[chosen].reshape(-1, 3).round(5), axis=0)
    np.testing.assert_allclose(seen, np.unique(second.round(5), axis=0))
    assert chosen.sum() == 12
    assert (~chosen).sum() == 12


@pytest.mark.parametrize("name", ["Door", "Door: left / \"inner\" 'x'", "Дверь 扉", "x" * 63])
def test_an_object_part_reaches_the_backend_by_its_name(context, tmp_path, name):
    body = box("Body", location=(0.0, 0.1, 0.0))
    door = box(name, body, (0.0, -0.1, 0.0), (0.5, 1.0, 1.0))
    box("Far away", location=(50.0, 0.0, 0.0))
    select(door)
    before, points = dump(), world_points(door)
    parts = pick.pick_parts(context, "OBJECTS")
    path, selectors, _ = read.write_scene_copy(context, parts, tmp_path)
    assert dump() == before
    triangles, chosen = as_the_backend_sees_it(path, selectors)
    assert (chosen.sum(), len(chosen)) == (12, 24)
    seen = triangles[chosen].reshape(-1, 3)
    np.testing.assert_allclose([seen.min(0), seen.max(0)], [points.min(0), points.max(0)])


def test_what_touches_a_loose_part_belongs_to_it_but_the_ground_does_not(context):
    door, body = box(), box("Body", location=(0.0, 0.12, 0.0))
    box("Elsewhere", location=(9.0, 0.0, 0.0))
    box("Ground", location=(-50.0, -50.0, -0.1), scale=(100.0, 1000.0, 0.04))
    assert [ob.name for ob in pick.whole_object(context, [door])] == ["Body", "Door"]
    assert body.name == "Body"


def test_a_collection_holds_an_object_together(context):
    collection = bpy.data.collections.new("Cabinet")
    context.scene.collection.children.link(collection)
    door, body = box(), box("Body", location=(5.0, 0.0, 0.0))
    for ob in (door, body):
        context.scene.collection.objects.unlink(ob)
        collection.objects.link(ob)
    box("Neighbour", location=(0.0, 0.12, 0.0))
    assert [ob.name for ob in pick.whole_object(context, [door])] == ["Body", "Door"]


def test_empties_cameras_and_children_in_the_selection_do_no_harm(context):
    group = add(bpy.data.objects.new("Group", None))
    door = box("Door", group)
    lonely = add(bpy.data.objects.new("Lonely", None))
    camera = add(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    select(group, door, lonely, camera)
    assert pick.pick_parts(context, "OBJECTS") == [group]


@pytest.mark.parametrize("source", ["FACES", "MATERIAL", "VERTEX_GROUP", "ATTRIBUTE"])
def test_picking_nothing_says_what_to_do(context, source):
    select(box())
    for polygon in context.object.data.polygons:
        polygon.select = False
    with pytest.raises(InputError) as caught:
        pick.pick_parts(context, source, "" if source == "FACES" else "Nothing")
    assert caught.value.hint


def test_nothing_selected_says_what_to_do(context):
    with pytest.raises(InputError, match="select the object"):
        pick.pick_parts(context, "OBJECTS")


@pytest.mark.parametrize("mode", ["EDIT", "SCULPT", "WEIGHT_PAINT"])
def test_selected_faces_are_read_in_any_mode(context, mode):
    cabinet_with_paint()
    bpy.ops.object.mode_set(mode=mode)
    if mode == "EDIT":  # which selects faces by their vertices
        mesh = bmesh.from_edit_mesh(context.object.data)
        for face in mesh.faces:
            face.select_set(face.index >= 6)
    (part,) = pick.pick_parts(context, "FACES")
    np.testing.assert_array_equal(part.faces, np.arange(6, 12))
    assert context.object.mode == mode


def test_a_part_hidden_from_renders_is_still_seen(context, tmp_path):
    box("Body", location=(0.0, 0.1, 0.0))
    door = box()
    door.hide_render = True
    select(door)
    path, selectors, _ = read.write_scene_copy(context, [door], tmp_path)
    assert door.hide_render
    _, chosen = as_the_backend_sees_it(path, selectors)
    assert chosen.any()


def test_a_part_that_is_open_is_shown_closed(context, tmp_path):
    box("Body", location=(0.0, 0.1, 0.0))
    door = box()
    select(door)
    rest = world_points(door)
    write.write_joint(context, [door], HINGE)
    context.scene.frame_set(49)
    opened, before = world_points(door), dump()
    path, selectors, _ = read.write_scene_copy(context, [door], tmp_path)
    np.testing.assert_array_equal(world_points(door), opened)
    assert dump() == before
    triangles, chosen = as_the_backend_sees_it(path, selectors)
    seen = triangles[chosen].reshape(-1, 3)
    np.testing.assert_allclose([seen.min(0), seen.max(0)], [rest.min(0), rest.max(0)], atol=1e-5)


def test_parts_are_found_again_after_renaming_and_missed_after_deletion(context, tmp_path):
    cabinet = cabinet_with_paint()
    parts = pick.pick_parts(context, "MATERIAL", "Paint")
    _, _, picked = read.write_scene_copy(context, parts, tmp_path)
    cabinet.name = "Renamed"
    (found,) = read.find_parts(picked)
    assert found.object == cabinet
    np.testing.assert_array_equal(found.faces, parts[0].faces)
    cabinet.data = box("Other").data
    with pytest.raises(InputError, match="has been changed"):
        read.find_parts(picked)
    bpy.data.objects.remove(cabinet)
    with pytest.raises(InputError, match="no longer in this file"):
        read.find_parts(picked)


def test_an_object_that_was_moved_meanwhile_takes_its_joint_along(context, tmp_path):
    body = box("Body", location=(0.0, 0.1, 0.0))
    door = box("Door", body)
    _, _, picked = read.write_scene_copy(context, [door], tmp_path)
    np.testing.assert_array_equal(read.moved_since(context, [door], picked), np.eye(4))
    body.location.x += 2.0
    context.view_layer.update()
    matrix = read.moved_since(context, [door], picked)
    np.testing.assert_allclose(matrix[:3, 3], (2.0, 0.0, 0.0), atol=1e-6)
