"""What goes into an exported object: baking, checks, names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from export_toys import cabinet, cabinet_model

from atop_backend.errors import InputError
from atop_backend.export.hulls import collision_hulls
from atop_backend.export.model import build_model, part_pose
from atop_backend.export.names import identifier, unique_identifiers


def test_names_become_unique_identifiers_in_any_alphabet():
    names = ["Door", "door", "Tür 1", "ドア", "1", "world", "a/b", "a b", ""]

    result = unique_identifiers(names)

    assert result == [
        "Door",
        "door_2",
        "Tur_1",
        "part",
        "part_1",
        "world_2",
        "a_b",
        "a_b_2",
        "part_2",
    ]
    assert len({name.lower() for name in result}) == len(names)
    assert all(identifier(name) == name for name in result)


def test_every_triangle_lands_in_exactly_one_link():
    _, triangles, parts = cabinet()
    model = cabinet_model()

    counts = [len(link.triangles) for link in model.links]
    assert counts == [int(part.triangles.sum()) for part in parts]
    assert len(model.base.triangles) + sum(counts) == len(triangles)


@pytest.mark.parametrize("parents", [(0, -1, -1), (1, 0, -1), (5, -1, -1), (-2, -1, -1)])
def test_parts_that_hang_on_no_base_are_refused(parents):
    vertices, triangles, parts = cabinet()
    parts = [part._replace(parent=parent) for part, parent in zip(parts, parents, strict=True)]

    with pytest.raises(InputError, match="hangs on no part that hangs on the base"):
        build_model("cabinet", vertices, triangles, parts, "z")


def test_joint_origins_lie_on_the_axis_and_zero_is_the_given_pose():
    vertices, triangles, parts = cabinet()
    model = cabinet_model()

    for link, joint, part in zip(model.links, model.joints, parts, strict=True):
        assert np.allclose(link.origin, joint.origin)
        pose = part_pose(joint, 0.0)
        at_rest = link.vertices @ pose[:3, :3].T + pose[:3, 3]
        assert np.allclose(at_rest, vertices[np.unique(triangles[part.triangles])])
        assert np.allclose(part_pose(joint, 1.0) @ [0, 0, 0, 1], part_pose(joint, 0.0)[:, 3]) == (
            joint.kind == "revolute"
        )


def test_a_mirrored_mesh_is_turned_right_side_out():
    vertices, triangles, parts = cabinet()
    mirror = vertices * (-1, 1, 1)  # leaves the winding inside out

    model = build_model("cabinet", mirror, triangles, parts, "z")

    for link in (model.base, model.links[0]):
        corners = link.vertices[link.triangles]
        volume = np.einsum("nc,nc->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
        assert volume > 0


def test_limits_of_equal_value_are_kept_apart():
    vertices, triangles, parts = cabinet()
    stuck = parts[0]._replace(joint=replace(parts[0].joint, upper=0.0))

    model = build_model("cabinet", vertices, triangles, [stuck], "z")

    assert model.joints[0].upper > model.joints[0].lower == 0.0


def test_prismatic_travel_is_scaled_with_the_units_and_angles_are_not():
    hinge, slider, _ = cabinet_model(metres_per_unit=0.01).joints

    assert (hinge.upper, slider.upper) == (1.9, pytest.approx(0.0035))


def test_a_hollow_object_keeps_its_hollow_in_collisions():
    model = cabinet_model()
    inside = np.array([0.0, 0.0, 0.6])

    assert len(model.base.hulls) == 4
    for corners, faces in model.base.hulls:
        a, b, c = (corners[faces[:, k]] for k in range(3))
        outside = np.einsum("nc,nc->n", inside - a, np.cross(b - a, c - a)) > 0
        assert outside.any()


def test_a_flat_sheet_gets_a_thin_hull():
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])

    hulls = collision_hulls(corners, np.array([[0, 1, 2], [0, 2, 3]]))

    assert len(hulls) == 1
    assert 0 < np.ptp(hulls[0][0][:, 2]) < 0.02


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda parts: [], "no part moves"),
        (lambda parts: [parts[0], parts[0]], "share triangles"),
        (lambda parts: [parts[0]._replace(triangles=parts[0].triangles & False)], "no triangles"),
        (lambda parts: [parts[0]._replace(triangles=np.ones(3, bool))], "labels 3 of"),
    ],
)
def test_parts_that_do_not_fit_are_refused_with_a_reason(change, words):
    vertices, triangles, parts = cabinet()

    with pytest.raises(InputError, match=words):
        build_model("cabinet", vertices, triangles, change(parts), "z")
