"""Posing: start poses, view directions, neighbours and normalisation of generated objects."""

from __future__ import annotations

import numpy as np
import pytest

from atop_backend.synthetic import posing
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.generate import generate, kinds
from atop_backend.synthetic.objects import MAX_TRIANGLES, MOVING, STATIC, Builder
from atop_backend.synthetic.posing import (
    MAX_TILT_RAD,
    Similarity,
    facing,
    moved,
    normalisation,
    pose,
    stretch,
    turn,
)
from atop_backend.synthetic.solids import box

HINGE = hinge((0.0, 0.0, -1.0), (-0.5, -0.3, 0.4), 1.5)
SLIDER = slider((0.0, -1.0, 0.0), (0.0, -0.3, 0.4), 0.35)


def draft(joint, directed: bool = True) -> Draft:
    builder = Builder()
    builder.add(box((-0.5, -0.3, 0.0), (0.5, 0.3, 0.8)), builder.material((0.5, 0.5, 0.5)), STATIC)
    builder.add(
        box((-0.5, -0.33, 0.0), (0.5, -0.3, 0.8)), builder.material((0.9, 0.2, 0.2)), MOVING
    )
    return Draft("cupboard", builder, joint, directed, ("it opens",), ("it closes",))


@pytest.mark.parametrize("joint", [HINGE, SLIDER])
def test_moving_and_then_placing_equals_placing_and_then_moving(joint):
    rng = np.random.default_rng(0)
    thing = draft(joint)
    triangles, moving = thing.builder.triangles, thing.builder.moving
    for _ in range(20):
        place = Similarity(facing(rng), rng.uniform(0.1, 5.0), rng.normal(size=3))
        amount = rng.uniform(0.0, joint.upper)
        placed = place.joint(joint)
        there = amount * (place.scale if joint.kind == "prismatic" else 1.0)
        one = place.points(moved(triangles, moving, joint, amount))
        other = moved(place.points(triangles), moving, placed, there)
        assert np.abs(one - other).max() < 1e-9
        assert np.isclose(np.linalg.norm(placed.axis), 1.0, atol=1e-12)


def test_the_object_fills_the_unit_ball_about_its_box_centre():
    for seed in range(60):
        points = generate(seed).triangles.reshape(-1, 3).astype(np.float64)
        centre = (points.min(axis=0) + points.max(axis=0)) / 2
        assert np.abs(centre).max() < 1e-6
        assert np.isclose(np.linalg.norm(points, axis=1).max(), 1.0, atol=1e-6)


def test_normalisation_leaves_shape_and_direction_alone():
    triangles = draft(HINGE).builder.triangles * 37.0 + np.array([5.0, -2.0, 9.0])
    unit = normalisation(triangles)
    assert np.array_equal(unit.rotation, np.eye(3))
    sides = np.ptp(unit.points(triangles).reshape(-1, 3), axis=0)
    assert np.allclose(sides / sides[0], np.ptp(triangles.reshape(-1, 3), axis=0) / 37.0)


@pytest.mark.parametrize("joint", [HINGE, SLIDER])
def test_a_stretched_object_moves_as_the_stretched_motion(joint):
    rng = np.random.default_rng(2)
    thing = draft(joint)
    triangles, moving = thing.builder.triangles, thing.builder.moving
    for _ in range(20):
        scaling, stretched = stretch(joint, rng)
        for share in (0.3, 1.0):
            one = moved(triangles, moving, joint, share * joint.upper) @ scaling.T
            other = moved(triangles @ scaling.T, moving, stretched, share * stretched.upper)
            assert np.abs(one - other).max() < 1e-9


@pytest.mark.parametrize("joint", [HINGE, SLIDER])
def test_any_start_pose_ends_open_or_closed(joint, monkeypatch):
    """Whatever the start, the whole motion ends fully open, or closed for a closing sentence."""
    monkeypatch.setattr(posing, "STRETCHED", 0.0)
    thing = draft(joint)
    moving = thing.builder.moving
    shut = thing.builder.triangles
    wide_open = moved(shut, moving, joint, joint.upper)
    shape = {"it opens": wide_open, "it closes": shut}
    starts = set()
    for seed in range(200):
        posed = pose(thing, np.random.default_rng(seed))
        if len(posed.triangles) != len(shut):
            continue  # with a neighbour
        ends = moved(posed.triangles.astype(float), moving, posed.joint, posed.joint.upper)
        wanted = shape[posed.prompts[0]]
        between = np.linalg.norm(ends.reshape(-1, 3)[:, None] - ends.reshape(-1, 3)[None], axis=2)
        truth = np.linalg.norm(wanted.reshape(-1, 3)[:, None] - wanted.reshape(-1, 3)[None], axis=2)
        scale = between.max() / truth.max()
        assert np.abs(between - scale * truth).max() < 1e-5
        whole = joint.upper if joint.kind == "revolute" else joint.upper * scale
        starts.add((posed.prompts[0], bool(np.isclose(posed.joint.upper, whole, rtol=1e-4))))
        assert posed.joint.upper <= whole * (1 + 1e-4)
    assert starts == {("it opens", True), ("it opens", False), ("it closes", True),
                      ("it closes", False)}  # fmt: skip


def test_most_objects_face_the_front_a_quarter_is_tilted_a_little():
    rng = np.random.default_rng(5)
    views = [facing(rng) for _ in range(4000)]
    lean = np.array([np.arccos(np.clip(view[2, 2], -1, 1)) for view in views])
    tilted = lean > 1e-6
    assert 0.22 < tilted.mean() < 0.28
    assert lean.max() <= MAX_TILT_RAD + 1e-9
    level = [view for view, leans in zip(views, tilted, strict=True) if not leans]
    yaw = np.degrees([np.arctan2(view[1, 0], view[0, 0]) for view in level])
    assert 0.43 < (np.abs(yaw) < 5.0).mean() < 0.54  # 40 %, a quarter of 20 %, a little of 40 %
    beside = np.abs((yaw + 45.0) % 90.0 - 45.0)
    assert 0.56 < (beside < 6.0).mean() < 0.76
    for view in views[:50]:
        assert np.allclose(view @ view.T, np.eye(3), atol=1e-12)
        assert np.isclose(np.linalg.det(view), 1.0)


def test_neighbours_stand_clear_of_the_moving_part():
    thing = draft(HINGE)
    count = len(thing.builder.triangles)
    met = 0
    for seed in range(400):
        posed = pose(thing, np.random.default_rng(seed))
        if len(posed.triangles) == count:
            continue
        met += 1
        assert not posed.moving[count:].any()
        extra = posed.triangles[count:].reshape(-1, 3).astype(float)
        # in the frame of the object its sides are the directions of the first box
        corner, along = _axes(posed.triangles[:12])
        low, high = ((extra - corner) @ along.T).min(0), ((extra - corner) @ along.T).max(0)
        for share in np.linspace(0, 1, 5):
            triangles = moved(
                posed.triangles.astype(float), posed.moving, posed.joint, share * posed.joint.upper
            )
            part = (triangles[posed.moving].reshape(-1, 3) - corner) @ along.T
            assert (part.min(0) > high - 1e-6).any() or (part.max(0) < low + 1e-6).any()
    assert 15 < met < 70


def _axes(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A corner and the three unit edge directions of a turned box of 12 triangles."""
    sides = (block[:, 1:] - block[:, :1]).reshape(-1, 3).astype(float)
    sides /= np.linalg.norm(sides, axis=1, keepdims=True)
    first = sides[0]
    second = next(side for side in sides if abs(side @ first) < 1e-3)
    return block[0, 0].astype(float), np.stack([first, second, np.cross(first, second)])


def test_a_seed_always_gives_the_same_object():
    for seed in range(25):
        one, other = generate(seed), generate(seed)
        assert np.array_equal(one.triangles, other.triangles)
        assert np.array_equal(one.colours, other.colours)
        assert one.joint == other.joint
        assert one.prompts == other.prompts


def test_objects_keep_to_the_format():
    for seed in range(100, 180):
        thing = generate(seed)
        count = len(thing.triangles)
        assert 0 < count <= MAX_TRIANGLES
        assert thing.triangles.dtype == np.float32
        assert thing.materials.dtype == np.int16
        assert thing.materials.shape == thing.moving.shape == (count,)
        assert thing.materials.max() < len(thing.colours)
        assert thing.colours.min() >= 0.0
        assert thing.colours.max() <= 1.0
        assert thing.moving.any()
        assert not thing.moving.all()


def test_shares_of_kinds_add_up_and_a_kind_can_be_asked_for():
    assert np.isclose(sum(share for share, _ in kinds().values()), 1.0)
    assert generate(3, "laptop").kind == "laptop"


def test_turning_follows_the_right_hand():
    assert np.allclose(turn(np.array([0.0, 0.0, 1.0]), np.pi / 2) @ [1.0, 0.0, 0.0], [0, 1, 0])


def test_most_objects_are_squared_up_as_the_product_does_it(monkeypatch):
    monkeypatch.setattr(posing, "STRETCHED", 0.0)
    monkeypatch.setattr(posing, "PARTLY_OPEN", 0.0)
    thing = draft(HINGE)
    left = []
    for seed in range(200):
        posed = pose(thing, np.random.default_rng(seed))
        again = posing.squared(posed.triangles.astype(float), posed.moving)
        left.append(np.allclose(again, np.eye(3), atol=1e-4))
    # a tenth stays as it was turned, of which a fifth happens to stand square
    assert 0.87 < np.mean(left) < 0.97
