"""A part that other pieces hide is seen with as few of them taken away as will do."""

from __future__ import annotations

import numpy as np
import pytest

from atop_backend.errors import InputError
from atop_backend.geometry.meshes import RestShape, load_shape
from atop_backend.motion.features import shape_features
from atop_backend.rendering import uncover
from atop_backend.rendering.uncover import Piece, Sight

SHELL, PANEL, GLASS, BACK = range(4)
SIDES = 6  # directions from the part: towards the door, and five walls


def sight(*between, areas=(5.0, 0.5, 0.5, 1.0)):
    """Ten rays a view; in front of each the leaves that are named for its view."""
    blockers = np.zeros((40, 4), dtype=bool)
    for view, leaves in enumerate(between):
        for ray in range(10):
            blockers[10 * view + ray, [SHELL] if ray < 4 else leaves] = True
    around = np.zeros((SIDES, 4), dtype=bool)
    around[0, [PANEL, GLASS]] = around[1:5, SHELL] = around[5, BACK] = True
    return Sight(np.repeat(np.arange(4), 10), blockers, around, np.array(areas))


def leaf(index, *more):
    return Piece(str(index), np.isin(np.arange(4), [index, *more]))


LEAVES = [leaf(index) for index in range(4)]


def test_the_front_is_opened_rather_than_the_back():
    closed = sight([PANEL], [BACK], [BACK], [PANEL])
    assert uncover.choose(closed, LEAVES) == [PANEL]


def test_two_pieces_that_hide_together_go_together():
    closed = sight([PANEL, GLASS], [SHELL], [SHELL], [PANEL, GLASS])
    assert sorted(uncover.choose(closed, LEAVES)) == [PANEL, GLASS]


def test_a_group_goes_as_one_piece():
    closed = sight([PANEL, GLASS], [SHELL], [SHELL], [PANEL, GLASS])
    assert uncover.choose(closed, [*LEAVES, leaf(PANEL, GLASS)]) == [4]


def test_what_hangs_on_a_door_goes_with_it_but_not_the_back():
    closed = sight([PANEL], [SHELL], [SHELL], [PANEL], areas=(5.0, 0.5, 0.1, 0.5))
    groups = [leaf(PANEL, GLASS), leaf(PANEL, BACK)]
    assert uncover.choose(closed, [*LEAVES, *groups]) == [4]


def test_the_walls_around_the_part_always_stay():
    assert uncover.choose(sight([SHELL], [SHELL], [SHELL], [SHELL]), LEAVES) == []


def test_a_group_of_all_pieces_always_stays():
    everything = Piece("all", np.ones(4, dtype=bool))
    closed = sight([PANEL, SHELL], [SHELL], [SHELL], [PANEL, SHELL])
    assert uncover.choose(closed, [everything]) == []


def test_an_object_goes_with_all_below_it_unless_the_part_is_there():
    names = [("knob", "door", "all"), ("door", "all"), ("shelf", "case", "all"), ("case", "all")]
    held = np.array([False, False, True, False])
    found = {p.name: p.leaves.tolist() for p in uncover.object_pieces(names, held)}
    assert found == {
        "knob": [True, False, False, False],
        "door": [True, True, False, False],
        "case": [False, False, False, True],
        "shelf": [False, False, True, False],
    }


def test_triangles_that_share_places_hang_together_within_one_object():
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    chain = np.stack([[index + 5.0, index % 2, 0] for index in range(40)])
    vertices = np.concatenate([vertices, chain])
    strip = [[index, index + 1, index + 2] for index in range(6, 44)]
    triangles = np.array([[0, 1, 2], [3, 5, 4], [0, 1, 2], *strip[::-1]])
    owners = np.array([0, 0, 1, *([0] * len(strip))])
    labels = uncover.connected(vertices, triangles, owners)
    assert labels[0] == labels[1] != labels[2]
    assert len(set(labels[3:])) == 1
    assert len(set(labels)) == 3


def test_what_would_be_left_in_the_air_goes_too():
    cubes = {
        "body": ((-0.5, 0, -0.5), (0.5, 0.5, 0.5)),
        "door": ((-0.5, -0.1, -0.5), (0.5, 0, 0.5)),
        "knob": ((0.3, -0.2, 0), (0.4, -0.1, 0.1)),
        "cap of the knob": ((0.3, -0.22, 0), (0.4, -0.2, 0.1)),
        "foot": ((-0.5, -0.05, -0.6), (0.5, 0.5, -0.5)),  # touches the door, but also the body
        "part": ((-0.1, 0.1, -0.1), (0.1, 0.3, 0.1)),
    }
    # two triangles across each box are enough: what counts is how far a piece reaches
    ends = [np.array(bounds, dtype=float) for bounds in cubes.values()]
    picks = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 0]])
    vertices = np.concatenate([pair[picks, np.arange(3)] for pair in ends])
    corners = 4 * np.arange(6)[:, None, None] + np.array([[0, 1, 2], [0, 3, 1]])
    triangles, labels = corners.reshape(-1, 3), np.repeat(np.arange(6), 2)
    shape = RestShape(vertices, triangles, labels == 5, np.eye(4), ("part",))
    loose = uncover.hanging(shape, labels, labels == 1)
    assert set(labels[loose]) == {2, 3}


def test_a_door_in_front_of_the_drawer_is_taken_away_with_its_knob(assets, look, tmp_path):
    seen = look(assets / "behind_a_door.blend", "drawer")
    assert seen.shape.cover_names == ("'door'",)
    counts = seen.part_mask.sum(axis=(1, 2))
    assert counts[0] > 50 < counts[3]
    assert seen.shape.covers.sum() == 24  # two boxes
    assert not seen.shape.covers[seen.face_ids[seen.face_ids >= 0]].any()
    drawer = seen.rgb[0][seen.part_mask[0]].mean(axis=0)
    assert drawer[0] > 1.5 * drawer[1]  # red also in the picture, not the door's white
    kept = load_shape(tmp_path / "job" / "render" / "shape.npz")
    np.testing.assert_array_equal(kept.covers, seen.shape.covers)
    assert kept.cover_names == seen.shape.cover_names


def test_the_door_of_a_one_piece_mesh_is_found_by_what_hangs_together(assets, look):
    seen = look(assets / "one_mesh.blend", "vgroup:drawer")
    assert seen.shape.cover_names == ("a piece of 'shell'",)
    assert seen.shape.covers.sum() == 24  # the knob, a piece of its own, goes with it
    counts = seen.part_mask.sum(axis=(1, 2))
    assert counts[0] > 50 < counts[3]
    drawer = seen.rgb[0][seen.part_mask[0]].mean(axis=0)
    assert drawer[0] > 1.5 * drawer[1]


def test_a_part_inside_one_closed_piece_is_an_input_error(assets, look):
    with pytest.raises(InputError, match="seen in none of the four views"):
        look(assets / "walled_in.blend", "drawer")


def test_a_part_that_is_seen_has_nothing_taken_away(assets, look):
    seen = look(assets / "behind_a_door.blend", "knob")
    assert seen.shape.cover_names == ()
    assert not seen.shape.covers.any()


def test_what_was_taken_away_is_no_obstacle(assets, look):
    shape = look(assets / "behind_a_door.blend", "drawer").shape
    whole = shape._replace(covers=None)
    solids = [
        shape_features(each, 256, np.random.default_rng(0)).body_box for each in (shape, whole)
    ]
    assert np.prod(solids[0].half) < 0.95 * np.prod(solids[1].half)
