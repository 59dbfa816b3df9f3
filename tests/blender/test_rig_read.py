"""What the backend reads from a rig deforms as Blender deforms it, and odd rigs are explained."""

from __future__ import annotations

import math

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from rig_scenes import CREATURE, armature, hang, pose_randomly, read, save, tube  # noqa: E402
from scenes import box, world_points  # noqa: E402

from atop_backend.errors import InputError  # noqa: E402
from atop_backend.geometry.rigs import load_rig  # noqa: E402
from atop_backend.rendering import blender_import, blender_rig, rigs  # noqa: E402
from atop_backend.rendering.blender_skin import FLIP, OBJECT  # noqa: E402
from blender_addon.core.rig_motion import matrices  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")


def check_skinning(tmp_path, rig, *, seed=0, bones=None, mirrored=False, size=1.0):
    """Pose the rig at random, let Blender deform it, and compare with the rig that is read."""
    turns = pose_randomly(rig, seed, bones=bones)
    meshes = sorted((o for o in bpy.data.objects if o.type == "MESH"), key=lambda ob: ob.name)
    shown = np.concatenate([world_points(ob) for ob in meshes])
    found, notes = read(tmp_path)
    matrix = np.tile(np.eye(4), (len(found.bones), 1, 1))
    flip = FLIP if mirrored else np.eye(4)
    for bone, turn in turns.items():
        if bone in found.bones:
            matrix[found.bones.index(bone), :3, :3] = matrices(turn)
            matrix[found.bones.index(bone)] = flip @ matrix[found.bones.index(bone)] @ flip
    skinned = blender_rig.skin_numpy(found, matrix)
    assert np.abs(shown - found.vertices).max() > 0.1 * size  # the pose does something
    np.testing.assert_allclose(skinned, shown, atol=1e-4 * size)
    return found, notes


@pytest.mark.parametrize("seed", range(3))
def test_skinning_is_that_of_blender(tmp_path, seed):
    rig = armature(location=(0.3, -1, 0.2), rotation_euler=(0.2, 0.3, 1))
    tube(rig)
    found, notes = check_skinning(tmp_path, rig, seed=seed)
    assert set(found.bones) == set(CREATURE)
    assert found.chosen.all()
    assert notes == []


def test_rest_bones_and_vertices_are_where_the_scene_has_them(tmp_path):
    rig = armature(location=(1, 2, 3), rotation_euler=(0, 0, math.pi / 2))
    body = tube(rig)
    points = world_points(body)
    pose_randomly(rig)
    found, _ = read(tmp_path)
    np.testing.assert_allclose(found.vertices, points, atol=1e-6)
    arm = found.bones.index("arm")
    assert found.bones[found.parents[arm]] == "chest"
    np.testing.assert_allclose(found.rest[arm, :3, 3], [1, 2.2, 5], atol=1e-6)
    np.testing.assert_allclose(found.tails[arm], [0.9, 2.9, 4.9], atol=1e-6)
    # Blender's bones point along their Y axis
    along = found.tails[arm] - found.rest[arm, :3, 3]
    np.testing.assert_allclose(found.rest[arm, :3, 1], along / np.linalg.norm(along), atol=1e-6)


@pytest.mark.parametrize("scale", [(0.01, 0.01, 0.01), (7, 7, 7), (-2, 2, 2), (-1, -1, -1)])
def test_a_scaled_or_mirrored_armature_is_read_exactly(tmp_path, scale):
    rig = armature(scale=scale, rotation_euler=(0.5, 0, 1))
    tube(rig)
    size, mirrored = abs(scale[0]), np.prod(scale) < 0
    _, notes = check_skinning(tmp_path, rig, mirrored=mirrored, size=size)
    assert notes == []


def test_the_mesh_may_have_a_place_and_a_scale_of_its_own(tmp_path):
    rig = armature(rotation_euler=(0, 0, 0.7))
    body = tube(rig, parent=False)
    body.scale, body.rotation_euler, body.location = (2, 1, 0.5), (0.1, 0, 0), (0.1, 0, 0)
    bpy.context.view_layer.update()
    _, notes = check_skinning(tmp_path, rig)
    assert notes == ["Body will not follow if the armature object itself moves"]


def test_several_meshes_share_the_rig(tmp_path):
    rig = armature()
    tube(rig, "Body", ["hips", "chest", "leg"])
    tube(rig, "Coat", ["chest", "arm", "hand"])
    found, notes = check_skinning(tmp_path, rig)
    assert len(found.vertices) == 6 * 12
    assert notes == []


def test_a_mesh_bound_by_parenting_alone_follows(tmp_path):
    rig = armature()
    body = tube(rig, modifier=False)
    body.parent_type = "ARMATURE"
    bpy.context.view_layer.update()
    check_skinning(tmp_path, rig)


def test_what_hangs_on_a_bone_or_on_the_object_moves_as_a_whole(tmp_path):
    rig = armature()
    tube(rig, "Body")
    hat, shadow, ring = box("Hat", location=(0, 0, 2)), box("Shadow"), box("Ring")
    hang(hat, rig, "hand")
    hang(shadow, rig)
    follow = ring.constraints.new("CHILD_OF")
    follow.target, follow.subtarget = rig, "arm"
    found, notes = check_skinning(tmp_path, rig)
    assert OBJECT in found.bones
    assert notes == ["8 vertices have no weights and move with the object"]


def test_vertices_without_weights_stay_where_they_are(tmp_path):
    rig = armature()
    body = tube(rig)
    for group in body.vertex_groups:
        group.remove([0, 1, 2])
    found, notes = check_skinning(tmp_path, rig)
    root = found.bones.index(OBJECT)
    assert found.parents[root] == -1
    assert (found.parents < 0).sum() == 1
    assert not found.chosen[root]
    assert notes == ["3 vertices have no weights and move with the object"]


def test_a_vertex_group_of_the_modifier_shares_between_bones_and_object(tmp_path):
    rig = armature()
    body = tube(rig)
    for index in range(0, 30):
        body.vertex_groups.get("share") or body.vertex_groups.new(name="share")
        body.vertex_groups["share"].add([index], index / 40, "REPLACE")
    body.modifiers["Armature"].vertex_group = "share"
    check_skinning(tmp_path, rig)


def test_disconnected_bones_become_one_tree_on_the_object(tmp_path):
    two_roots = CREATURE | {"tail": ((0, 0.5, 1), (0, 1, 1), "")}
    rig = armature(two_roots)
    tube(rig)
    found, _ = check_skinning(tmp_path, rig)
    assert found.bones[0] == OBJECT
    assert {found.bones[i] for i in np.flatnonzero(found.parents == 0)} == {"hips", "tail"}


def test_bones_that_deform_nothing_stay_and_are_told(tmp_path):
    helpers = {"root": ((0, 0, 0), (0, 0.3, 0), "")}
    for name, (head, tail, parent) in CREATURE.items():
        helpers[name] = (head, tail, parent or "root")
    helpers["target"] = ((2, 0, 0), (2, 0, 1), "root")
    rig = armature(helpers)
    for name in ("root", "target"):
        rig.data.bones[name].use_deform = False
    body = tube(rig, bones=list(CREATURE))
    body.vertex_groups.new(name="target").add([0, 1], 1.0, "REPLACE")  # which Blender ignores
    found, notes = check_skinning(tmp_path, rig)
    assert "target" not in found.bones  # it carries nothing
    assert not found.chosen[found.bones.index("root")]
    assert found.bones[found.parents[found.bones.index("hips")]] == "root"
    assert notes == ["2 of 7 bones deform nothing and stay"]


@pytest.mark.parametrize("control", ["ik", "copy", "driver"])
def test_controlled_bones_are_read_as_plain_ones_and_told(tmp_path, control):
    rig = armature(CREATURE | {"target": ((1, 0, 1), (1, 0, 1.5), "")})
    rig.data.bones["target"].use_deform = False
    tube(rig, bones=list(CREATURE))
    match control:
        case "ik":
            ik = rig.pose.bones["hand"].constraints.new("IK")
            ik.target, ik.subtarget, ik.chain_count = rig, "target", 2
            expected = "arm, hand (IK)"
        case "copy":
            copy = rig.pose.bones["leg"].constraints.new("COPY_ROTATION")
            copy.target, copy.subtarget = rig, "target"
            expected = "leg (Copy Rotation)"
        case "driver":
            rig.pose.bones["leg"].rotation_mode = "XYZ"
            rig.pose.bones["leg"].driver_add("rotation_euler", 0).driver.expression = "0.7"
            expected = "leg (Driver)"
    found, notes = read(tmp_path)
    assert notes[0] == f"{expected} are controlled; their controls are muted when the motion is" + (
        " written"
    )
    assert not [note for note in notes if "otherwise" in note]  # plain once the controls are mute
    assert found.chosen[[found.bones.index(name) for name in CREATURE]].all()


@pytest.mark.parametrize("what", ["Preserve Volume", "Bendy Bones"])
def test_other_than_plain_skinning_is_measured_and_told(tmp_path, what):
    rig = armature()
    body = tube(rig)
    if what == "Preserve Volume":
        body.modifiers["Armature"].use_deform_preserve_volume = True
    else:
        for bone in rig.data.bones:
            bone.bbone_segments = 8
    _, notes = read(tmp_path)
    assert len(notes) == 1
    assert "otherwise than plain linear skinning, by up to" in notes[0]
    assert what in notes[0]


def test_modifiers_around_the_armature_are_kept(tmp_path):
    rig = armature()
    body = tube(rig)
    body.modifiers.new("Smooth", "SUBSURF").levels = 1
    body.modifiers.move(1, 0)  # before the armature: exact
    found, notes = check_skinning(tmp_path, rig)
    assert len(found.vertices) > 5 * 12
    assert notes == []


def test_what_renders_is_read_even_if_the_viewport_hides_it(tmp_path):
    rig = armature()
    body, proxy = tube(rig), tube(rig, "Proxy")
    body.modifiers.new("Smooth", "SUBSURF").levels = 1
    body.hide_viewport, proxy.hide_render = True, True
    rig.hide_render = rig.hide_viewport = True
    aside = bpy.data.collections.new("Aside")
    bpy.context.scene.collection.children.link(aside)
    aside.objects.link(body)
    bpy.context.scene.collection.objects.unlink(body)
    aside.hide_viewport = True
    found, notes = read(tmp_path)
    assert len(found.vertices) > 60
    assert "otherwise" in " ".join(notes)  # smoothing after bending


def test_three_hundred_bones_are_read_exactly(tmp_path):
    chain = {"bone0": ((0, 0, 0), (0, 0.1, 0), "")}
    for i in range(1, 300):
        angle = 0.3 * i
        chain[f"bone{i}"] = (
            (0.1 * i, np.sin(angle), 0.1),
            (0.1 * i + 0.1, np.sin(angle + 0.3), 0.1),
            f"bone{i - 1 if i % 7 else i // 2}",
        )
    rig = armature(chain)
    tube(rig)
    some = {f"bone{i}" for i in range(0, 300, 9)}
    found, _ = check_skinning(tmp_path, rig, bones=some, size=10.0)  # it is 30 long
    assert len(found.bones) == 300


def test_colours_come_from_materials_textures_and_attributes(tmp_path):
    rig = armature()
    body = tube(rig, bones=["hips", "chest", "arm", "hand"])
    image = bpy.data.images.new("Half", 2, 1)
    image.pixels = [1, 0, 0, 1, 0, 0, 1, 1]  # red on the left, blue on the right
    image.pack()
    for name in ("Plain", "Picture", "Painted"):
        material = bpy.data.materials.new(name)
        material.use_nodes = True
        body.data.materials.append(material)
        nodes, links = material.node_tree.nodes, material.node_tree.links
        base = next(n for n in nodes if n.type == "BSDF_PRINCIPLED").inputs["Base Color"]
        if name == "Plain":
            base.default_value = (0.2158605, 0, 1, 1)  # displays as 0.5, 0, 1
        elif name == "Picture":
            picture = nodes.new("ShaderNodeTexImage")
            picture.image = image
            links.new(picture.outputs["Color"], base)
        else:
            paint = nodes.new("ShaderNodeVertexColor")
            paint.layer_name = "Paint"
            links.new(paint.outputs["Color"], base)
    body.data.materials.append(None)
    layer = body.data.uv_layers.new()
    body.data.color_attributes.new("Paint", "FLOAT_COLOR", "POINT")
    for each in body.data.color_attributes["Paint"].data:
        each.color_srgb = (0, 0.25, 0, 1)
    body.data.color_attributes.active_color_index = -1
    for polygon in body.data.polygons:
        polygon.material_index = polygon.index // 8
        for corner in polygon.loop_indices:
            layer.uv[corner].vector = (0.75 if polygon.index % 2 else 0.25, 0.5)
    found, _ = read(tmp_path)
    colours = found.face_colours.reshape(4, 8, 2, 3)
    np.testing.assert_allclose(colours[0], np.broadcast_to([0.5, 0, 1], (8, 2, 3)), atol=0.01)
    np.testing.assert_allclose(colours[1, ::2], np.broadcast_to([1, 0, 0], (4, 2, 3)), atol=0.01)
    np.testing.assert_allclose(colours[1, 1::2], np.broadcast_to([0, 0, 1], (4, 2, 3)), atol=0.01)
    np.testing.assert_allclose(colours[2], np.broadcast_to([0, 0.25, 0], (8, 2, 3)), atol=0.01)


@pytest.mark.parametrize("suffix", ["fbx", "glb"])
def test_files_of_other_programs_are_read_as_blender_imports_them(tmp_path, suffix):
    tube(armature(location=(0, 1, 0)))
    asset = tmp_path / f"asset.{suffix}"
    if suffix == "fbx":
        bpy.ops.export_scene.fbx(filepath=str(asset), add_leaf_bones=False)
    else:
        bpy.ops.export_scene.gltf(filepath=str(asset))
    outcome = blender_rig.read_rig({"asset": str(asset), "armature": ""}, tmp_path)
    found = load_rig(tmp_path / "rig.npz")
    assert outcome["notes"] == []
    blender_import.open_asset(asset)
    turns = pose_randomly(bpy.data.objects[outcome["armature"]], 2)
    matrix = np.tile(np.eye(4), (len(found.bones), 1, 1))
    for bone, turn in turns.items():
        matrix[found.bones.index(bone), :3, :3] = matrices(turn)
    shown = world_points(next(o for o in bpy.data.objects if o.type == "MESH"))
    np.testing.assert_allclose(blender_rig.skin_numpy(found, matrix), shown, atol=1e-4)


def test_the_backend_reads_a_rig_through_a_process_of_its_own(tmp_path):
    tube(armature())
    asset = save(tmp_path / "asset.blend")
    folder = tmp_path / "rig"
    found = rigs.read_rig(asset, folder)
    assert (found.armature, found.notes) == ("Rig", ())
    assert len(load_rig(found.path).bones) == len(CREATURE)
    with pytest.raises(InputError, match="no armature 'Cow'"):
        rigs.read_rig(asset, folder, armature="Cow")
