"""What must hold for every object with a door, drawer, lid or sash."""

import re

import numpy as np
import pytest

from atop_backend.synthetic import (
    blocks,
    cooking,
    cooling,
    dishwashers,
    doorways,
    enclosures,
    entrances,
    flaps,
    furniture,
    gates,
    kitchens,
    microwaves,
    posing,
    safes,
    sliding,
    tables,
    washing,
    windows,
)
from atop_backend.synthetic.objects import MAX_TRIANGLES

MODULES = (
    furniture,
    blocks,
    kitchens,
    tables,
    flaps,
    sliding,
    cooling,
    cooking,
    microwaves,
    washing,
    dishwashers,
    safes,
    enclosures,
    doorways,
    entrances,
    gates,
    windows,
)
BUILDERS = {name: entry[1] for module in MODULES for name, entry in module.KINDS.items()}
SEEDS = range(12)
_DRAFTS = {}


def drafts(kind):
    """Some objects of one kind, built once."""
    if kind not in _DRAFTS:
        _DRAFTS[kind] = [BUILDERS[kind](np.random.default_rng(seed)) for seed in SEEDS]
    return _DRAFTS[kind]


def parts_of(draft):
    """Triangles that move and triangles that stay."""
    triangles, moving = draft.builder.triangles, draft.builder.moving
    return triangles[moving], triangles[~moving]


def surface_points(triangles, count, rng):
    """Points spread evenly over triangles."""
    edges = triangles[:, 1:] - triangles[:, :1]
    areas = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    chosen = rng.choice(len(triangles), count, p=areas / areas.sum())
    return np.einsum("nk,nkd->nd", rng.dirichlet((1, 1, 1), count), triangles[chosen])


def inside(points, triangles):
    """Whether points lie within closed solids, by their winding number (solid angles)."""
    a, b, c = (triangles[None, :, i] - points[:, None] for i in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=-1) for v in (a, b, c))
    volume = np.einsum("ptd,ptd->pt", a, np.cross(b, c))
    scale = la * lb * lc + (a * b).sum(-1) * lc + (b * c).sum(-1) * la + (c * a).sum(-1) * lb
    return np.arctan2(volume, scale).sum(axis=1) / (2 * np.pi) > 0.5


@pytest.mark.parametrize("kind", BUILDERS)
def test_every_object_has_one_moving_part_within_budget(kind):
    for draft in drafts(kind):
        moving = draft.builder.moving
        assert 0 < moving.sum() < len(moving)
        assert np.isfinite(draft.builder.triangles).all()
        assert np.linalg.norm(draft.joint.axis) == pytest.approx(1.0)
        assert draft.joint.lower == 0.0 < draft.joint.upper
    fitting = [len(draft.builder.triangles) <= MAX_TRIANGLES for draft in drafts(kind)]
    assert np.mean(fitting) >= 0.9


@pytest.mark.parametrize("kind", BUILDERS)
def test_the_same_seed_builds_the_same_object(kind):
    again = BUILDERS[kind](np.random.default_rng(SEEDS[3]))
    draft = drafts(kind)[3]
    np.testing.assert_array_equal(again.builder.triangles, draft.builder.triangles)
    assert (again.joint, again.prompts) == (draft.joint, draft.prompts)


@pytest.mark.parametrize("kind", BUILDERS)
def test_a_hinge_lies_where_the_part_meets_its_object(kind):
    for draft in drafts(kind):
        if draft.joint.kind != "revolute":
            continue
        moving, static = parts_of(draft)
        size = np.ptp(draft.builder.triangles.reshape(-1, 3), axis=0).max()
        axis, origin = np.array(draft.joint.axis), np.array(draft.joint.origin)

        def nearest(triangles, axis=axis, origin=origin):
            points = surface_points(triangles, 4000, np.random.default_rng(0)) - origin
            return np.linalg.norm(points - np.outer(points @ axis, axis), axis=1).min()

        assert nearest(moving) < 0.04 * size
        assert nearest(static) < 0.12 * size


@pytest.mark.parametrize("kind", BUILDERS)
def test_a_part_never_moves_into_what_stays(kind):
    shares = []
    for draft in drafts(kind)[::3]:
        if "button" in draft.kind:
            continue  # pressing one in is its motion
        moving, static = parts_of(draft)
        points = surface_points(moving, 120, np.random.default_rng(0))
        before = inside(points, static)
        for share in (0.3, 1.0):
            now = inside(posing.move(points, draft.joint, share * draft.joint.upper), static)
            shares.append((now & ~before).mean())
    assert np.mean(shares) < 0.01
    assert max(shares) < 0.12


@pytest.mark.parametrize("kind", ["dresser", "table", "desk", "desk tray", "hung window"])
def test_what_slides_stays_engaged(kind):
    for draft in drafts(kind):
        if draft.joint.kind != "prismatic":
            continue
        moving, static = (part.reshape(-1, 3) for part in parts_of(draft))
        axis = np.array(draft.joint.axis)
        if np.ptp(moving @ axis) < 0.12:
            continue  # a front without a box behind it
        shifted = (moving @ axis + draft.joint.upper).min()
        assert shifted < (static @ axis).max()


@pytest.mark.parametrize("kind", BUILDERS)
def test_sentences_are_finished_and_their_sides_are_true(kind):
    for draft in drafts(kind):
        assert len(set(draft.prompts)) >= 8
        middle = draft.builder.triangles[draft.builder.moving].reshape(-1, 3)
        middle = (middle.min(axis=0) + middle.max(axis=0)) / 2
        everything = draft.builder.triangles.reshape(-1, 3)
        centre = (everything.min(axis=0) + everything.max(axis=0)) / 2
        for sentence in (*draft.prompts, *draft.closing_prompts):
            assert re.fullmatch(r"[a-z][a-z ,'-]+[a-z]", sentence), sentence
            assert "  " not in sentence
            for side, sign in (("left", -1), ("right", 1)):
                if re.search(rf"\b{side} (door|drawer|sash|pane|leaf|gate|window)", sentence):
                    assert sign * (middle[0] - centre[0]) > -0.02, sentence
                if re.search(
                    rf"hinged on the {side}|hinge on the {side}|its {side} hinges", sentence
                ):
                    assert sign * (draft.joint.origin[0] - middle[0]) > 0, sentence


@pytest.mark.parametrize("kind", ["cabinet", "refrigerator", "microwave", "safe", "wardrobe"])
def test_doors_open_towards_the_viewer_with_their_free_edge_first(kind):
    for draft in drafts(kind):
        if draft.joint.kind != "revolute" or not draft.directed:
            continue
        moving, _ = parts_of(draft)
        points = moving.reshape(-1, 3)
        away = points - np.array(draft.joint.origin)
        axis = np.array(draft.joint.axis)
        far = np.argmax(np.linalg.norm(away - np.outer(away @ axis, axis), axis=1))
        shifted = posing.move(points[far], draft.joint, 0.1)
        assert shifted[1] < points[far][1]
