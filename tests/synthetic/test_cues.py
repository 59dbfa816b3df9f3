"""What shows the hinge side of a door is where it belongs."""

import numpy as np
import pytest

from atop_backend.synthetic import cues, leaves, palette, prompts
from atop_backend.synthetic.objects import Builder
from atop_backend.synthetic.openings import Opening
from atop_backend.synthetic.pieces import paints
from atop_backend.synthetic.posing import move

OPENING = Opening(-0.2, 0.3, 0.1, 0.9, -0.25, -0.23)
FREE = {"left": (0, 0.3), "right": (0, -0.2), "top": (2, 0.1), "bottom": (2, 0.9)}
HUNG = {"left": (0, -0.2), "right": (0, 0.3), "top": (2, 0.9), "bottom": (2, 0.1)}


@pytest.fixture
def colours():
    return paints(Builder(), palette.scheme(np.random.default_rng(0)))


def points_of(pieces):
    return np.concatenate([triangles.reshape(-1, 3) for triangles, _ in pieces])


@pytest.mark.parametrize("side", FREE)
@pytest.mark.parametrize("kind", [kind for kind in cues.EDGES if kind not in ("gap", "bevel")])
def test_a_mark_lies_on_the_free_edge(kind, side, colours):
    axis, free = FREE[side]
    points = points_of(cues.edge_pieces(kind, OPENING, side, colours, 0.02, 0.4))
    assert np.abs(points[:, axis] - free).max() < 0.05
    assert points[:, 1].min() < OPENING.y0


@pytest.mark.parametrize("side", FREE)
def test_a_gap_and_a_bevel_are_at_the_free_edge_alone(side):
    axis, free = FREE[side]
    short = cues.short_of(OPENING, side, 0.01)
    ends = np.array([[short.x0, 0, short.z0], [short.x1, 0, short.z1]])[:, axis]
    assert min(abs(ends - free)) == pytest.approx(0.01)
    assert min(abs(ends - HUNG[side][1])) == 0.0
    slab = cues.bevelled_slab(OPENING, side, 0.02).reshape(-1, 3)
    face = slab[np.isclose(slab[:, 1], OPENING.y0)]
    assert np.abs(face[:, axis] - free).min() == pytest.approx(0.02)
    a, b, c = cues.bevelled_slab(OPENING, side, 0.02).transpose(1, 0, 2)
    volume = np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6
    assert 0.95 < volume / (0.5 * 0.8 * 0.02) < 1.0  # wound outwards, a little cut off


@pytest.mark.parametrize("side", FREE)
@pytest.mark.parametrize("kind", [kind for kind in cues.HINGES if kind != "hidden"])
def test_hinges_sit_on_the_hinge_line_and_stay_there(kind, side, colours):
    rng = np.random.default_rng(1)
    look = leaves.any_look(rng)._replace(hinges=kind, line="outer", edge="none", handle="none")
    leaf = leaves.door(rng, OPENING, side, look, colours, 1.5)
    on_leaf, on_body = cues.hinges(rng, OPENING, side, kind, leaf.joint, 0.006, colours)
    line = HUNG[side]
    points = points_of(on_leaf + on_body)
    assert np.abs(points[:, line[0]] - line[1]).min() < 0.01
    turned = move(points_of(on_leaf + on_body), leaf.joint, 1.5)
    assert np.abs(turned[:, line[0]] - line[1]).min() < 0.01


def test_most_doors_without_a_handle_show_their_side_and_the_rest_say_so():
    rng = np.random.default_rng(2)
    looks = [leaves.any_look(rng) for _ in range(4000)]
    plain = [look for look in looks if look.handle == "none"]
    shown = [look for look in plain if look.edge != "none" or look.hinges != "hidden"]
    assert 0.7 < len(shown) / len(plain) < 0.95


def test_a_custom_of_sides_holds_only_where_nothing_shows_them():
    rng = np.random.default_rng(5)
    share = {
        shown: np.mean([cues.usual_side(rng, shown, left=0.2) == "left" for _ in range(1500)])
        for shown in (False, True)
    }
    assert share[False] == pytest.approx(0.2, abs=0.04)
    assert share[True] == pytest.approx(0.5, abs=0.05)


def test_a_side_that_nothing_shows_is_mostly_told(colours):
    rng = np.random.default_rng(3)
    look = leaves.any_look(rng)._replace(handle="none", edge="none", hinges="hidden")
    leaf = next(
        leaf
        for _ in range(50)
        if (leaf := leaves.door(rng, OPENING, "left", look, colours, 1.5)).plain
    )
    marked = leaves.door(rng, OPENING, "left", look._replace(edge="tab"), colours, 1.5)
    assert leaf.plain
    assert not marked.plain


def test_sentences_come_as_statements_orders_wishes_and_pictures():
    vocabulary = prompts.words(
        "swings open|is opened|slides out|flips up|opens, hinged on the left|is being opened"
    )
    found = " / ".join(
        prompts.sentences(np.random.default_rng(4), ("fridge",), ("door",), vocabulary, 900)
    )
    for text in (
        "door swinging open", "being opened", "sliding out", "flipping up", "opening, hinged on",
        "should be opened", "door to swing open", "make the door slide out",
    ):  # fmt: skip
        assert text in found, text
    assert "being being" not in found
    assert "be being" not in found
