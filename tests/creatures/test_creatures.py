"""Generated creatures: skin, motions and words."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from atop_backend.creatures import generate, phrases
from atop_backend.creatures.anatomy import MOST_BONES, Creature
from atop_backend.creatures.motion import FRAMES, WAVE, Animator
from atop_backend.geometry.rigs import normalise

ALL = 100  # more than any kind knows


@functools.cache
def performer(kind: str) -> generate.Performer:
    return generate.creature(2, kind, acts=ALL, phrases=1)


def act_of(kind: str, verb: str) -> np.ndarray:
    """The matrices of the motion that a verb names."""
    known = generate.KINDS[kind][2]
    wanted = next(index for index, (verbs, _, _) in enumerate(known) if verb in verbs)
    return next(act.matrices for act in performer(kind).performances if act.act == wanted)


def skin(item: Creature, matrices: np.ndarray) -> np.ndarray:
    points = np.concatenate([item.vertices, np.ones((len(item.vertices), 1))], axis=1)
    return np.einsum("nj,fjab,nb->fna", item.weights, matrices, points, optimize=True)


def test_the_same_seed_gives_the_same_creature():
    first, second = generate.creature(7), generate.creature(7)
    np.testing.assert_array_equal(first.creature.vertices, second.creature.vertices)
    for one, other in zip(first.performances, second.performances, strict=True):
        assert one.sentences == other.sentences
        np.testing.assert_array_equal(one.matrices, other.matrices)


@pytest.mark.parametrize("kind", generate.KINDS)
def test_a_creature_is_a_rig_that_the_product_takes(kind):
    item = performer(kind).creature
    rig, _ = normalise(generate.rig_of(item))
    assert len(item.bones) <= MOST_BONES
    np.testing.assert_allclose(item.weights.sum(axis=1), 1, atol=1e-9)
    assert np.linalg.norm(item.vertices, axis=1).max() == pytest.approx(1, abs=1e-6)
    assert rig.deform.all()
    corners = item.vertices[item.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.einsum("nc,nc->", corners[:, 0], normals) > 0  # right side out


@pytest.mark.parametrize("kind", generate.KINDS)
def test_every_motion_turns_bones_rigidly_and_no_bone_leaves_its_parent(kind):
    item, performances = performer(kind)
    assert len(performances) == len(generate.KINDS[kind][2])
    children = np.flatnonzero(item.parents >= 0)
    heads = np.concatenate([item.heads, np.ones((len(item.heads), 1))], axis=1)[children]
    for act in performances:
        turns = act.matrices[..., :3]
        products = turns @ turns.swapaxes(-1, -2)
        np.testing.assert_allclose(products - np.eye(3), 0, atol=1e-6)
        own = np.einsum("fjab,jb->fja", act.matrices[:, children], heads)
        above = np.einsum("fjab,jb->fja", act.matrices[:, item.parents[children]], heads)
        np.testing.assert_allclose(own, above, atol=1e-6)
        assert act.sentences[0]


@pytest.mark.parametrize(
    ("kind", "verb"), [("biped", "walk"), ("quadruped", "walk"), ("bird", "walk"), ("biped", "run")]
)
def test_gaits_have_their_feet_on_the_ground(kind, verb):
    item = performer(kind).creature
    ground = item.vertices[:, 2].min()
    lowest = skin(item, act_of(kind, verb))[..., 2].min(axis=1) - ground
    assert np.abs(lowest).max() < (0.12 if verb == "run" else 0.05)
    assert np.abs(lowest).min() < 0.02


def test_a_standing_foot_goes_back_evenly_and_the_legs_take_turns():
    item = performer("biped").creature
    matrices = act_of("biped", "walk")
    ways = []
    for leg in item.legs:
        ankle = np.append(item.heads[leg.ankle], 1)
        path = matrices[:, leg.ankle] @ ankle
        ways.append(path - path.mean(axis=0))
    left, right = ways
    forward = left[:, :2] @ (np.linalg.svd(left[:, :2])[2][0])
    other = right[:, :2] @ (np.linalg.svd(left[:, :2])[2][0])
    np.testing.assert_allclose(forward, np.roll(other, FRAMES // 2), atol=0.02)
    standing = left[:, 2] < left[:, 2].min() + 0.01
    both = standing & np.roll(standing, 1)
    steps = (forward - np.roll(forward, 1))[both]
    assert len(steps) > 3
    assert np.ptp(steps) < 0.35 * np.abs(steps).mean()


def test_a_planted_foot_stays_whatever_the_hips_do():
    item = performer("quadruped").creature
    animator = Animator(item)
    animator.shift[:, 2] -= 0.05 + 0.03 * np.sin(WAVE)
    leg = item.legs[0]
    animator.plant(leg, np.tile(item.heads[leg.ankle], (FRAMES, 1)), np.zeros(FRAMES))
    heads = animator.bone_frames()[1]
    away = heads[:, leg.ankle] - item.heads[leg.ankle]
    assert np.abs(away).max() < 0.005


def test_opposite_words_move_opposite_sides():
    item = performer("biped").creature
    hands = {limb.side: limb.bones[-1] for limb in item.arms}
    rest = {side: skin(item, act_of("biped", "stand still"))[..., 2] for side in hands}
    for side, word in ((1, "left"), (-1, "right")):
        points = skin(item, act_of("biped", f"raise the {word} arm"))[..., 2]
        of_hand = item.weights[:, hands[side]] > 0.9
        of_other = item.weights[:, hands[-side]] > 0.9
        up = (points - rest[side])[FRAMES // 2]
        assert up[of_hand].mean() > 0.2
        assert abs(up[of_other].mean()) < 0.1


def test_verbs_take_the_forms_of_english():
    assert phrases.third("wag its tail") == "wags its tail"
    assert phrases.third("crouch") == "crouches"
    assert phrases.third("fly up") == "flies up"
    assert phrases.third("sway") == "sways"
    assert phrases.doing("wave its hand") == "waving its hand"
    assert phrases.doing("run fast") == "running fast"
    assert phrases.doing("lie down") == "lying down"
    assert phrases.doing("flee") == "fleeing"


def test_sentences_differ():
    rng = np.random.default_rng(0)
    said = {phrases.sentence(("fox",), ("walk",), 2, rng) for _ in range(60)}
    assert {"walk", "walks", "walking", "the fox walks", "it walks"} <= said
