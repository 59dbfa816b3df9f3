"""Whatever the file format and however the scene is built, the same cabinet comes out."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from atop_backend.errors import InputError
from atop_backend.geometry.meshes import part_vertices
from atop_backend.rendering.views import list_parts

Y_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
BODY_LOW, BODY_HIGH = np.array([-0.4, -0.3, 0.0]), np.array([0.4, 0.3, 1.0])
DOOR_LOW, DOOR_HIGH = np.array([-0.4, -0.34, 0.05]), np.array([0.4, -0.3, 0.95])
WITH_KNOB_LOW = np.array([-0.4, -0.4, 0.05])


def in_file_frame(shape, points):
    return points @ shape.normalised_to_file[:3, :3].T + shape.normalised_to_file[:3, 3]


def bounds(points):
    return points.min(axis=0), points.max(axis=0)


def volume(shape):
    corners = shape.vertices[shape.triangles]
    signed = np.einsum("nc,nc->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    return signed.sum() * np.linalg.det(shape.normalised_to_file[:3, :3])


@pytest.mark.parametrize(
    ("file", "world_to_file"),
    [("glb", Y_UP), ("gltf", Y_UP), ("obj", Y_UP), ("blend", np.eye(3)), ("usda", np.eye(3)),
     ("fbx", np.eye(3))],
)  # fmt: skip
def test_a_named_part_is_found_in_the_frame_of_the_file(assets, look, file, world_to_file):
    asset = assets / f"cabinet.{file}"
    before = hashlib.sha256(asset.read_bytes()).hexdigest()
    files = sorted(path.name for path in assets.iterdir())
    views = look(asset, "door", "knob")  # an OBJ has no parents: the knob is named too
    low, high = bounds(in_file_frame(views.shape, part_vertices(views.shape)) @ world_to_file)
    np.testing.assert_allclose(low, WITH_KNOB_LOW, atol=1e-5)
    np.testing.assert_allclose(high, DOOR_HIGH, atol=1e-5)
    low, high = bounds(in_file_frame(views.shape, views.shape.vertices) @ world_to_file)
    np.testing.assert_allclose(low, [-0.4, -0.4, 0.0], atol=1e-5)
    np.testing.assert_allclose(high, BODY_HIGH, atol=1e-5)
    assert volume(views.shape) == pytest.approx(0.8 * 0.6 + 0.8 * 0.04 * 0.9 + 0.0003, rel=1e-4)
    assert views.part_mask[0].sum() > 500
    assert hashlib.sha256(asset.read_bytes()).hexdigest() == before
    assert sorted(path.name for path in assets.iterdir()) == files


@pytest.mark.parametrize(("file", "faces"), [("ply", "6\n7,8 9 10 11"), ("stl", None)])
def test_a_file_without_names_takes_face_indices(assets, look, tmp_path, file, faces):
    if faces is None:  # triangles, as numpy writes them
        indices = tmp_path / "faces.npy"
        np.save(indices, np.arange(12, 24))
    else:  # quads, as people write them
        indices = tmp_path / "faces.txt"
        indices.write_text(faces)
    shape = look(assets / f"cabinet.{file}", f"faces:{indices}").shape
    low, high = bounds(in_file_frame(shape, part_vertices(shape)))
    np.testing.assert_allclose(low, DOOR_LOW, atol=1e-5)
    np.testing.assert_allclose(high, DOOR_HIGH, atol=1e-5)


def test_children_come_with_their_parent(assets, look):
    shape = look(assets / "cabinet.glb", "door").shape
    low, _ = bounds(in_file_frame(shape, part_vertices(shape)) @ Y_UP)
    np.testing.assert_allclose(low, WITH_KNOB_LOW, atol=1e-5)


def test_a_material_names_its_faces_and_several_selectors_add_up(assets, look):
    asset = assets / "cabinet.glb"
    assert look(asset, "material:door paint").shape.part.sum() == 12
    assert look(asset, "material:door paint", "knob").shape.part.sum() == 24


def test_a_face_file_may_name_its_object(assets, look, tmp_path):
    (tmp_path / "all.txt").write_text("0 1 2 3 4 5")
    shape = look(assets / "cabinet.blend", f"faces:{tmp_path / 'all.txt'}#knob").shape
    low, _ = bounds(in_file_frame(shape, part_vertices(shape)))
    np.testing.assert_allclose(low, [0.3, -0.4, 0.45], atol=1e-5)


@pytest.mark.parametrize("name", ["hung", "leaf"])
def test_a_collection_instance_is_a_part_by_its_own_and_its_inner_name(assets, look, name):
    shape = look(assets / "instances.blend", name).shape
    low, high = bounds(in_file_frame(shape, part_vertices(shape)))
    np.testing.assert_allclose(low, DOOR_LOW, atol=1e-5)
    np.testing.assert_allclose(high, DOOR_HIGH, atol=1e-5)


def test_what_geometry_nodes_scatter_belongs_to_their_object(assets, look):
    shape = look(assets / "nodes.blend", "row").shape
    assert shape.part.sum() == 3 * 12
    low, high = bounds(in_file_frame(shape, part_vertices(shape)))
    np.testing.assert_allclose(low, [-0.25, -0.55, 0.45], atol=1e-5)
    np.testing.assert_allclose(high, [0.25, -0.45, 0.55], atol=1e-5)


def test_modifiers_and_shear_apply_and_render_visibility_decides(assets, look):
    shape = look(assets / "awkward.blend", "vgroup:top").shape
    assert len(shape.triangles) == 4 * 12 + 48  # body, door, two legs, and the knob subdivided
    assert shape.part.sum() == 8
    low, high = bounds(in_file_frame(shape, shape.vertices))
    np.testing.assert_allclose(high, [0.4, 0.3, 1.0], atol=1e-5)
    assert low[1] < -0.6  # the knob, stretched along Y after its turn
    assert low[2] == pytest.approx(-0.3, abs=1e-5)
    solids = 0.48 + 0.8 * 0.04 * 0.9 + 0.2 * 0.2 * 0.3 + 0.1 * 0.2 * 0.3
    assert volume(shape) == pytest.approx(solids + 0.0005, abs=5e-4)  # mirrored: still outwards


def test_a_part_of_another_scene_is_found_there(assets, look):
    assert len(look(assets / "scenes.blend", "door").shape.triangles) == 24


def test_the_names_in_a_file_can_be_listed(assets):
    names = list_parts(assets / "cabinet.glb")
    assert names.nodes == ("body", "door", "knob")
    assert names.materials == ("body paint", "door paint", "knob paint")
    assert list_parts(assets / "awkward.blend").vgroups == ("top",)


@pytest.mark.parametrize(
    ("file", "part", "words"),
    [
        ("cabinet.glb", "dor", "did you mean door\\? there are body, door, knob"),
        ("cabinet.glb", "material:steel", "there are body paint, door paint, knob paint"),
        ("cabinet.blend", "vgroup:top", "the file has none; its objects are body, door, knob"),
        ("degenerate.blend", "nothing", "has no faces"),
        ("degenerate.blend", "wire", "is a line or a point"),
        ("not_a_number.blend", "door", "1 of 24 vertices are not finite numbers"),
        ("empty.blend", "nothing", "empty.blend has no faces"),
    ],
)
def test_a_part_that_cannot_move_is_refused_in_one_sentence(assets, look, file, part, words):
    with pytest.raises(InputError, match=words):
        look(assets / file, part)


def test_a_flat_sheet_is_a_part(assets, look):
    assert look(assets / "degenerate.blend", "sheet").part_mask.any()


def test_a_part_that_is_everything_is_refused(assets, look, tmp_path):
    with pytest.raises(InputError, match="is the whole object"):
        look(assets / "cabinet.glb", "body", "door")
    assert list((tmp_path / "job").iterdir()) == []


@pytest.mark.parametrize("file", ["broken.glb", "broken.blend", "broken.usda", "broken.fbx"])
def test_a_damaged_file_is_refused(look, tmp_path, file):
    (tmp_path / file).write_bytes(b"this is no model " * 50)
    with pytest.raises(InputError, match=f"{file} cannot be read"):
        look(tmp_path / file, "door")


@pytest.mark.parametrize("file", ["broken.obj", "broken.ply", "broken.stl"])
def test_a_file_with_nothing_in_it_is_refused(look, tmp_path, file):
    (tmp_path / file).write_bytes(b"this is no model " * 50)
    with pytest.raises(InputError, match=r"cannot be read|has no faces"):
        look(tmp_path / file, "door")


def test_a_missing_file_and_an_unknown_format_are_refused(look, tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        look(tmp_path / "gone.glb", "door")
    (tmp_path / "cabinet.max").write_bytes(b"?")
    with pytest.raises(InputError, match="not a format"):
        look(tmp_path / "cabinet.max", "door")
