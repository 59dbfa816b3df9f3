"""The rest shape: normalising, sampling, files, and the way of a joint back to the asset."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError
from atop_backend.geometry import meshes
from atop_backend.geometry.joints import rodrigues, transform_points
from tests.conftest import boxes


def build(vertices, triangles, part, world_to_file=meshes.Z_UP, turn=None):
    return meshes.build_shape(vertices, triangles, part, ("lid",), world_to_file, turn)


@pytest.fixture
def cabinet():
    vertices, triangles = boxes(((1, 2, 3), (2, 4, 6)), ((1, 1.9, 3), (2, 2, 6)))
    return vertices, triangles, np.arange(24) >= 12


def to_file(shape, points):
    return points @ shape.normalised_to_file[:3, :3].T + shape.normalised_to_file[:3, 3]


def test_the_normalised_shape_is_centred_and_reaches_to_distance_one(cabinet):
    shape = build(*cabinet)
    low, high = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
    np.testing.assert_allclose(low, -high, atol=1e-12)
    assert np.linalg.norm(shape.vertices, axis=1).max() == pytest.approx(1.0)


@pytest.mark.parametrize("world_to_file", [meshes.Z_UP, meshes.Y_UP])
@pytest.mark.parametrize("turn", [None, rodrigues(np.array([0.6, 0.0, 0.8]), 1.1)])
def test_the_way_back_leads_to_the_vertices_of_the_file(cabinet, world_to_file, turn):
    shape = build(*cabinet, world_to_file, turn)
    np.testing.assert_allclose(to_file(shape, shape.vertices), cabinet[0] @ world_to_file.T)


def test_vertices_that_no_face_uses_do_not_count(cabinet):
    vertices, triangles, part = cabinet
    stray = np.vstack([[[1e6, np.nan, 0.0]], vertices])
    np.testing.assert_array_equal(
        build(stray, triangles + 1, part).vertices, build(vertices, triangles, part).vertices
    )


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_joint_moves_the_same_points_in_both_frames(cabinet, kind):
    turn = rodrigues(np.array([0.0, 0.6, 0.8]), 0.7)
    shape = build(*cabinet, meshes.Y_UP, turn)
    joint = JointMotion(kind, (0.6, 0.0, 0.8), (0.1, -0.2, 0.3), -0.2, 0.5)
    there = meshes.joint_to_file(joint, shape)
    moved = to_file(shape, transform_points(joint, joint.upper, shape.vertices))
    np.testing.assert_allclose(
        transform_points(there, there.upper, to_file(shape, shape.vertices)), moved, atol=1e-9
    )
    back = meshes.joint_to_normalised(there, shape)
    for name in ("axis", "origin", "lower", "upper"):
        np.testing.assert_allclose(getattr(back, name), getattr(joint, name), atol=1e-12)


def test_points_lie_on_the_chosen_surface_and_cover_it_by_area(box_with_lid):
    points, normals = meshes.sample_surface(box_with_lid, 20_000, np.random.default_rng(0), True)
    points = points * 0.81
    on_faces = np.stack([np.abs(points[:, 0]) - 0.5, np.abs(points[:, 1]) - 0.5,
                         np.abs(points[:, 2] - 0.35) - 0.05], axis=1)  # fmt: skip
    assert on_faces.max() < 1e-9
    face = np.argmax(on_faces, axis=1)
    np.testing.assert_allclose(np.abs(normals[np.arange(len(face)), face]), 1.0)
    share_on_top_and_bottom = (face == 2).mean()
    assert share_on_top_and_bottom == pytest.approx(2 / 2.4, abs=0.002)
    np.testing.assert_allclose(points[face == 2][:, :2].mean(axis=0), 0, atol=0.01)


def test_sampling_is_repeatable_and_knows_part_from_rest(box_with_lid):
    first = meshes.sample_surface(box_with_lid, 100, np.random.default_rng(3), False)
    second = meshes.sample_surface(box_with_lid, 100, np.random.default_rng(3), False)
    np.testing.assert_array_equal(first[0], second[0])
    assert first[0][:, 2].max() * 0.81 <= 0.3 + 1e-9


def test_a_saved_shape_comes_back(box_with_lid, tmp_path):
    meshes.save_shape(tmp_path / "shape.npz", box_with_lid)
    back = meshes.load_shape(tmp_path / "shape.npz")
    np.testing.assert_allclose(back.vertices, box_with_lid.vertices, atol=1e-7)
    for name in ("triangles", "part", "normalised_to_file"):
        np.testing.assert_array_equal(getattr(back, name), getattr(box_with_lid, name))
    assert back.part_names == ("lid",)
    assert [path.name for path in tmp_path.iterdir()] == ["shape.npz"]


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 cut short"])
def test_a_missing_or_truncated_shape_is_an_input_error(tmp_path, content):
    if content is not None:
        (tmp_path / "shape.npz").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as a rest shape"):
        meshes.load_shape(tmp_path / "shape.npz")


def squeezed(cabinet, scale):
    vertices, triangles, part = cabinet
    vertices = vertices.copy()
    vertices[8:] = vertices[8] + (vertices[8:] - vertices[8]) * scale
    return vertices, triangles, part


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: (c[0], c[1][:0], c[2][:0]), "the object has no faces"),
        (lambda c: (c[0], c[1], np.zeros(24, bool)), "part lid has no faces"),
        (lambda c: (c[0], c[1], np.ones(24, bool)), "part lid is the whole object"),
        (lambda c: (np.where(c[0] == 6, np.nan, c[0]), c[1], c[2]), "8 of 16 vertices are not"),
        (lambda c: (c[0] * 0, c[1], c[2]), "a single point"),
        (lambda c: squeezed(c, [1, 0, 0]), "is a line or a point"),
        (lambda c: squeezed(c, [0, 0, 0]), "is a line or a point"),
    ],
)  # fmt: skip
def test_a_shape_that_cannot_move_is_refused(cabinet, change, words):
    with pytest.raises(InputError, match=words):
        build(*change(cabinet))


def test_a_flat_sheet_is_a_part_like_any_other(cabinet):
    shape = build(*squeezed(cabinet, [1, 0, 1]))
    extents = meshes.principal_extents(meshes.part_vertices(shape))
    assert extents[2] < 1e-9 < extents[1]


def test_principal_extents_do_not_depend_on_how_the_points_are_turned():
    rng = np.random.default_rng(0)
    box = rng.uniform(-1, 1, (4000, 3)) * [3.0, 2.0, 1.0]
    turned = box @ rodrigues(np.array([0.48, 0.6, 0.64]), math.radians(40)).T
    extents = meshes.principal_extents(turned)
    np.testing.assert_allclose(extents, meshes.principal_extents(box), rtol=1e-9)
    np.testing.assert_allclose(extents, [6, 4, 2], rtol=0.06)  # corners of the box are rare
