"""Scenes that people really have, through the button: units, view layers, modes, shared data."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from pressing import articulate, cabinet, finish, select, start_without_waiting  # noqa: E402
from scenes import add, box, dump, moved, two_boxes, world_points  # noqa: E402

from atop_backend.contracts import JointMotion  # noqa: E402
from blender_addon.scene import convert, edit, export, record, write  # noqa: E402
from blender_addon.scene.mesh_parts import MeshPart  # noqa: E402

HINGE = JointMotion("revolute", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.0, 1.5)  # the scripted one
UNITS = [("METRIC", 0.001), ("IMPERIAL", 1.0), ("IMPERIAL", 0.001), ("NONE", 0.001)]


def opened(ob, points, frame=49):
    """Check that the object has turned about the scripted hinge."""
    bpy.context.scene.frame_set(frame)
    expected = moved(points, convert.rigid_motion(HINGE, HINGE.upper))
    np.testing.assert_allclose(world_points(ob), expected, atol=2e-5)
    bpy.context.scene.frame_set(1)


def only_request(tmp_path):
    """The one request that was made."""
    (path,) = (tmp_path / "jobs").glob("*/request.json")
    return json.loads(path.read_text())


LOOK = """
import json, sys, bpy
from pathlib import Path
from atop_backend.rendering import blender_import as backend
from atop_backend.rendering.selectors import parse
request = json.loads(sys.argv[1])
backend.open_asset(Path(request["asset"]))
scene, targets = backend.first_scene_with([parse(text) for text in request["parts"]])
baked = backend.bake(backend.collect(scene, targets))
part = baked.vertices[baked.triangles[baked.part]].reshape(-1, 3)
Path(sys.argv[2]).write_text(json.dumps([part.tolist(), int((~baked.part).sum())]))
"""


def what_the_backend_sees(request, tmp_path):
    """World vertices of the part (n, 3) and how many triangles the rest has, in its own process."""
    found = tmp_path / "seen.json"
    command = [sys.executable, "-c", LOOK, json.dumps(request), str(found)]
    subprocess.run(command, check=True, timeout=120, cwd=Path(__file__).parents[2])
    part, rest = json.loads(found.read_text())
    return np.array(part), rest


@pytest.mark.parametrize(("system", "scale"), UNITS)
def test_a_length_in_the_prompt_means_the_same_in_every_unit_system(addon, tmp_path, system, scale):
    cabinet()
    units = addon.scene.unit_settings
    units.system, units.scale_length = system, scale
    articulate("the drawer slides out by 12 inches", motion="slider")
    metres_per_unit = 1.0 if system == "NONE" else scale
    assert only_request(tmp_path)["amount"] == pytest.approx(0.3048 / metres_per_unit)
    found = next(record.articulations())
    path = export.write_description(addon, found, tmp_path / "export")
    assert json.loads(path.read_text())["metres_per_unit"] == pytest.approx(metres_per_unit)


@pytest.mark.parametrize(("system", "scale"), UNITS)
def test_a_distance_in_the_panel_is_in_scene_units_and_the_motion_too(
    addon, tmp_path, system, scale
):
    door = cabinet()
    units = addon.scene.unit_settings
    units.system, units.scale_length = system, scale
    before = world_points(door)
    addon.scene.atop.amount_distance = 0.25
    articulate(amount_mode="DISTANCE")
    assert only_request(tmp_path)["amount"] == pytest.approx(0.25)
    opened(door, before)


def second_layer_with(*objects):
    """Another view layer that shows these, while the present one does not."""
    scene = bpy.context.scene
    collection = bpy.data.collections.new("Elsewhere")
    scene.collection.children.link(collection)
    for ob in objects:
        scene.collection.objects.unlink(ob)
        collection.objects.link(ob)
    layer = scene.view_layers.new("Other")
    bpy.context.view_layer.layer_collection.children["Elsewhere"].exclude = True
    bpy.context.view_layer.update()
    return layer


def test_a_body_that_only_another_view_layer_shows_is_still_looked_at(addon, tmp_path):
    door = cabinet()
    second_layer_with(bpy.data.objects["Body"])
    before = world_points(door)
    assert articulate() == {"FINISHED"}
    opened(door, before)
    _, rest = what_the_backend_sees(only_request(tmp_path), tmp_path)
    assert rest == 12


def test_a_part_that_goes_to_another_view_layer_meanwhile_gets_its_joint_there(addon, monkeypatch):
    door = cabinet()
    before = world_points(door)
    start_without_waiting(monkeypatch, "it opens calmly")
    layer = second_layer_with(door, door.parent)
    assert not finish().failed
    bpy.context.view_layer.layer_collection.children["Elsewhere"].exclude = False
    layer.update()
    opened(door, before)


def test_a_part_in_two_scenes_gets_its_joint_in_both(addon):
    door = cabinet()
    other = bpy.data.scenes.new("Other")
    for ob in (door, door.parent):
        other.collection.objects.link(ob)
    before = world_points(door)
    articulate()
    opened(door, before)
    found = record.require_articulation(door)
    assert {scene.name for scene in found.pivot.users_scene} <= {"Scene", "Other"}
    bpy.ops.atop.revert()
    np.testing.assert_allclose(world_points(door), before, atol=1e-6)


@pytest.mark.parametrize("hide", ["eye", "viewport", "render", "collection"])
def test_a_hidden_body_is_still_looked_at_as_far_as_it_renders(addon, tmp_path, hide):
    door, body = cabinet(), bpy.data.objects["Body"]
    match hide:
        case "eye":
            body.hide_set(True)
        case "viewport":
            body.hide_viewport = True
        case "render":
            body.hide_render = True
        case "collection":
            second_layer_with(body)
            addon.view_layer.layer_collection.children["Elsewhere"].exclude = False
            bpy.data.collections["Elsewhere"].hide_viewport = True
    before, start = world_points(door), dump()
    articulate()
    opened(door, before)
    bpy.ops.atop.revert()
    assert dump() == start
    part, rest = what_the_backend_sees(only_request(tmp_path), tmp_path)
    assert rest == (0 if hide == "render" else 12)
    assert len(part) == 36


def test_a_door_is_articulated_while_a_rig_is_being_posed(addon):
    from blender_addon.scene.mesh_parts import _one_bone_armature

    door = cabinet()
    rig = add(_one_bone_armature(addon, "Rig", "Root"))
    select(door, rig)
    bpy.ops.object.mode_set(mode="POSE")
    before, start = world_points(door), dump()
    assert articulate() == {"FINISHED"}
    assert (addon.view_layer.objects.active, rig.mode) == (rig, "POSE")
    opened(door, before)
    addon.view_layer.objects.active = door
    bpy.ops.atop.revert()
    addon.view_layer.objects.active = rig
    assert dump() == start


@pytest.mark.parametrize("mode", ["EDIT", "SCULPT", "WEIGHT_PAINT", "TEXTURE_PAINT"])
@pytest.mark.parametrize("source", ["OBJECTS", "FACES"])
def test_the_button_works_in_every_mode_and_leaves_it(addon, mode, source):
    ob = two_boxes()
    for polygon in ob.data.polygons:
        polygon.select = polygon.index >= 6
    for vertex in ob.data.vertices:
        vertex.select = vertex.index >= 8
    select(ob)
    bpy.ops.object.mode_set(mode=mode)
    start = dump()
    assert articulate(source=source) == {"FINISHED"}
    assert ob.mode == mode
    bpy.ops.atop.revert()
    assert dump() == start


@pytest.mark.parametrize("way", ["bone", "separate"])
def test_of_two_objects_that_share_a_mesh_only_faces_of_the_chosen_one_move(context, way):
    ob = two_boxes()
    other = add(bpy.data.objects.new("Other", ob.data), location=(5.0, 0.0, 0.0))
    before, untouched, start = world_points(ob), world_points(other), dump()
    written = write.write_joint(context, [MeshPart(ob, np.arange(6, 12), "Door", way)], HINGE)
    context.scene.frame_set(49)
    np.testing.assert_array_equal(world_points(other), untouched)
    end = moved(before[8:], convert.rigid_motion(HINGE, 1.5))
    seen = world_points(ob)[8:] if way == "bone" else world_points(written.parts()[0])
    np.testing.assert_allclose(seen, end, atol=1e-5)
    context.scene.frame_set(1)
    write.revert(context, written)
    assert dump() == start


@pytest.mark.parametrize("kind", ["MIRROR", "ARRAY", "SUBSURF", "BEVEL", "SOLIDIFY"])
@pytest.mark.parametrize("keys", [False, True], ids=["plain", "shape keys"])
@pytest.mark.parametrize("way", ["bone", "separate"])
def test_faces_with_modifiers_and_shape_keys_rest_and_revert(context, kind, keys, way):
    ob = two_boxes()
    if keys:
        ob.shape_key_add(name="Basis")
        ob.shape_key_add(name="Bent").data[9].co.x -= 0.2
        ob.data.shape_keys.key_blocks["Bent"].value = 0.5
    modifier = ob.modifiers.new("Own", kind)
    if kind == "ARRAY":
        modifier.use_relative_offset, modifier.use_constant_offset = False, True
        modifier.constant_offset_displace = (3.0, 0.0, 0.0)
    before, start = world_points(ob), dump()
    written = write.write_joint(context, [MeshPart(ob, np.arange(6, 12), "Door", way)], HINGE)
    context.scene.frame_set(1)
    seen = [world_points(each) for each in {ob, *written.parts()}]
    rest = np.concatenate(seen)
    np.testing.assert_allclose(rest.min(axis=0), before.min(axis=0), atol=1e-5)
    np.testing.assert_allclose(rest.max(axis=0), before.max(axis=0), atol=1e-5)
    context.scene.frame_set(49)
    after = np.concatenate([world_points(each) for each in {ob, *written.parts()}])
    assert after.max(axis=0)[1] > rest.max(axis=0)[1] + 0.5
    context.scene.frame_set(1)
    write.revert(context, written)
    np.testing.assert_allclose(world_points(ob), before, atol=1e-6)
    assert dump() == start


def test_of_two_identical_cabinets_the_second_is_articulated_by_its_own_name(addon, tmp_path):
    first = cabinet()
    body = box("Body", location=(4.0, 0.1, 0.0))
    second = box("Door", body, (0.0, -0.1, 0.0))
    assert second.name == "Door.001"
    select(second)
    untouched, mine = world_points(first), world_points(second)
    articulate()
    addon.scene.frame_set(49)
    np.testing.assert_array_equal(world_points(first), untouched)
    assert np.abs(world_points(second) - mine).max() > 0.5
    request = only_request(tmp_path)
    part, rest = what_the_backend_sees(request, tmp_path)
    assert rest == 12
    np.testing.assert_allclose(part.min(axis=0), mine.min(axis=0), atol=1e-5)


def test_names_in_another_language_and_a_translated_interface_do_no_harm(addon, monkeypatch):
    view = addon.preferences.view
    languages = [item.identifier for item in view.bl_rna.properties["language"].enum_items]
    foreign = next((name for name in ("de_DE", "fr_FR", "ja_JP") if name in languages), None)
    if foreign is not None:
        view.language = foreign
        view.use_translate_interface = view.use_translate_new_dataname = True
    try:
        door = cabinet()
        door.name, door.parent.name = "Дверь 扉", "本体"
        before = world_points(door)
        assert articulate("дверь открывается") == {"FINISHED"}
        opened(door, before)
        assert bpy.ops.atop.add_physics() == {"FINISHED"}
        start_without_waiting(monkeypatch, "it opens calmly")
        bpy.data.objects.remove(door)
        assert finish().message.startswith("'Дверь 扉' is no longer in this file")
    finally:
        view.language = view.bl_rna.properties["language"].default or "DEFAULT"
        view.use_translate_interface = view.use_translate_new_dataname = False


def test_settings_of_the_scene_outlast_a_failure_while_writing_back(addon, monkeypatch):
    door = cabinet()
    start_without_waiting(monkeypatch, "it opens calmly")
    door.parent.scale = (1.0, 0.0, 1.0)
    addon.view_layer.update()
    start = dump()
    state = finish()
    assert "scale of zero" in state.message
    assert "the result stays in" in state.hint
    assert dump() == start
    assert edit.revert_all(addon) == 0
