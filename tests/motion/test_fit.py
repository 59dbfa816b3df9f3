"""Known joints are found back from what an ideal, or a bad, video prior would say."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import things
from simulate import ideal_evidence, shape_of, with_noise

from atop_backend.config import FitConfig
from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError
from atop_backend.geometry.joints import point_line_distance, transform_points
from atop_backend.motion.evidence import evidence_from_tracks
from atop_backend.motion.fit import fit_joint
from atop_backend.synthetic.generate import generate
from atop_backend.synthetic.solids import box

BOTH = ("revolute", "prismatic")
FAST = FitConfig(points=768)
THINGS = {
    "cabinet": things.cabinet,
    "cabinet with its hinge on the right": lambda: things.cabinet("right"),
    "drawer": things.drawer,
    "chest": things.chest,
    "knob": things.knob,
    "wheel": things.wheel,
    "bucket": things.bucket,
    "button": things.button,
    "gate": things.gate,
    "turned cabinet": lambda: things.turned(things.cabinet(), (0.3, 0.1, 1.0), 33),
}


def fit(shape, evidence, config=FAST, kinds=BOTH):
    return fit_joint(shape, evidence, config, kinds, np.random.default_rng(0))


def errors(found: JointMotion, true: JointMotion) -> tuple[float, float]:
    """Degrees between directed axes, and distance of the found origin from the true line."""
    cosine = np.clip(np.dot(found.axis, true.axis), -1, 1)
    off = point_line_distance(np.array(found.origin), np.array(true.origin), np.array(true.axis))
    return math.degrees(math.acos(cosine)), float(off) if true.kind == "revolute" else 0.0


@pytest.mark.parametrize("name", THINGS)
def test_ideal_evidence_gives_the_joint_within_a_degree_and_a_hundredth(name):
    shape, joint = THINGS[name]()
    found = fit(shape, ideal_evidence(shape, joint))[0].joint
    assert found.kind == joint.kind
    angle, offset = errors(found, joint)
    assert angle < 1
    assert offset < 0.01
    assert found.upper == pytest.approx(joint.upper, rel=0.05)
    assert found.lower == 0.0


@pytest.mark.parametrize("tilt", [7, 13, 30])
def test_a_hinge_along_no_box_direction_is_found(tilt):
    shape, joint = things.tilted_flap(tilt)
    evidence = ideal_evidence(shape, joint)
    ideal = errors(fit(shape, evidence)[0].joint, joint)
    assert ideal[0] < 1
    assert ideal[1] < 0.01
    noisy = [
        errors(fit(shape, with_noise(evidence, 0.1, np.random.default_rng(seed)))[0].joint, joint)
        for seed in range(3)
    ]
    assert np.mean([angle for angle, _ in noisy]) < 1
    assert np.mean([offset for _, offset in noisy]) < 0.02


def test_without_refinement_a_tilted_hinge_is_missed():
    shape, joint = things.tilted_flap(13)
    blunt = replace(FAST, refine=False, hypotheses="paper", geometry=False)
    found = fit(shape, ideal_evidence(shape, joint), blunt)[0].joint
    assert errors(found, joint)[0] > 10


@pytest.mark.parametrize("name", ["cabinet", "drawer", "chest"])
def test_one_sample_in_four_with_the_wrong_sign_is_outvoted(name):
    shape, joint = THINGS[name]()
    right = ideal_evidence(shape, joint, samples=4)
    wrong = ideal_evidence(shape, joint.flipped())
    right.displacements[2] = wrong.displacements[0]
    right.silhouettes[2] = wrong.silhouettes[0]
    best = fit(shape, right)[0]
    assert errors(best.joint, joint)[0] < 1
    agreement = best.signs[2]
    assert agreement == 0.75


@pytest.mark.parametrize("name", ["knob", "wheel", "drawer"])
def test_samples_at_odds_about_the_way_still_agree_on_the_line(name):
    """As a prior does that sees a knob which may be turned either way."""
    shape, joint = THINGS[name]()
    one_way = ideal_evidence(shape, joint, samples=4)
    one_way = with_noise(one_way, 0.3, np.random.default_rng(0))
    other = with_noise(ideal_evidence(shape, joint.flipped(), samples=4), 0.3,
                       np.random.default_rng(1))  # fmt: skip
    mixed = one_way._replace(displacements=one_way.displacements.copy(), silhouettes=None)
    mixed.displacements[2:] = other.displacements[2:]
    answers = fit(shape, mixed)
    sure = fit(shape, one_way._replace(silhouettes=None))[0]
    assert answers[0].joint.kind == joint.kind
    axis = np.array(answers[0].joint.axis)
    assert abs(axis @ joint.axis) > math.cos(math.radians(2))
    if name == "drawer":  # which the body keeps from going the other way
        return
    assert abs(np.array(answers[1].joint.axis) @ axis + 1) < 0.01
    lead = answers[1].terms["displacement"] - answers[2].terms["displacement"]
    assert lead > 0.15 * sure.terms["displacement"]


def test_samples_that_show_half_the_motion_still_give_the_line():
    shape, joint = things.cabinet()
    evidence = ideal_evidence(shape, joint)
    shrunk = evidence._replace(displacements=0.5 * evidence.displacements, silhouettes=None)
    found = fit(shape, shrunk)[0].joint
    assert found.kind == "revolute"
    angle, offset = errors(found, joint)
    assert angle < 1
    assert offset < 0.01


@pytest.mark.parametrize("name", ["cabinet", "drawer", "chest"])
def test_displacements_alone_are_enough(name):
    shape, joint = THINGS[name]()
    evidence = ideal_evidence(shape, joint)._replace(silhouettes=None)
    angle, offset = errors(fit(shape, evidence)[0].joint, joint)
    assert angle < 1
    assert offset < 0.01


@pytest.mark.parametrize("name", ["cabinet", "drawer", "chest"])
def test_silhouettes_alone_are_enough(name):
    shape, joint = THINGS[name]()
    evidence = ideal_evidence(shape, joint)._replace(displacements=None)
    found = fit(shape, evidence)[0].joint
    assert found.kind == joint.kind
    angle, offset = errors(found, joint)
    assert angle < 1
    assert offset < 0.1


def test_points_followed_through_a_clip_are_evidence_too():
    shape, joint = things.chest()
    ideal = ideal_evidence(shape, joint)
    rest = np.random.default_rng(0).permutation(ideal.points)[:200]
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    centres = [transform_points(joint, share * joint.upper, rest) for share in shares]
    evidence = evidence_from_tracks(np.stack(centres), np.array(shares[1:]), ideal.cameras)
    angle, offset = errors(fit(shape, evidence)[0].joint, joint)
    assert angle < 1
    assert offset < 0.01


def test_a_slider_is_not_asked_to_be_a_hinge():
    shape, joint = things.drawer()
    answers = fit(shape, ideal_evidence(shape, joint), kinds=("revolute",))
    assert {answer.joint.kind for answer in answers} == {"revolute"}


def test_geometry_alone_opens_a_door_outwards():
    shape, joint = things.cabinet()
    blind = replace(FAST, video=False)
    evidence = ideal_evidence(shape, joint)
    found = fit(shape, evidence, blind, ("revolute",))[0]
    assert "displacement" not in found.terms
    assert found.terms["collision"] > -1.0


def test_every_term_can_be_switched_off():
    shape, joint = things.chest()
    evidence = ideal_evidence(shape, joint)
    bare = replace(FAST, silhouette_weight=0.0, geometry=False, slide_bonus=0.0)
    terms = fit(shape, evidence, bare)[0].terms
    assert set(terms) == {"motion", "displacement", "total"}
    assert terms["total"] == pytest.approx(terms["displacement"])


def test_answers_differ_and_their_chances_are_ordered_and_sum_to_at_most_one():
    shape, joint = things.cabinet()
    evidence = with_noise(ideal_evidence(shape, joint, samples=4), 0.3, np.random.default_rng(1))
    answers = fit(shape, evidence)
    totals = [answer.terms["total"] for answer in answers]
    assert totals[0] == max(totals)
    chances = [answer.confidence for answer in answers]
    assert all(0 <= chance <= 1 for chance in chances)
    assert sum(chances) <= 1 + 1e-9
    for first, second in itertools.pairwise(answers):
        apart = errors(first.joint, second.joint)
        assert first.joint.kind != second.joint.kind or apart[0] > 14 or apart[1] > 0.09


def test_the_same_seed_gives_the_same_answers():
    shape, joint = things.drawer()
    evidence = ideal_evidence(shape, joint)
    assert fit(shape, evidence) == fit(shape, evidence)


def test_the_paper_preset_chooses_among_box_directions_by_chamfer():
    shape, joint = things.cabinet()
    literal = replace(FAST, hypotheses="paper", refine=False, geometry=False)
    answers = fit(shape, ideal_evidence(shape, joint), literal, ("revolute",))
    assert errors(answers[0].joint, joint)[0] < 1e-6
    assert errors(answers[0].joint, joint)[1] < 0.06  # a face's middle, not the edge
    assert set(answers[0].terms) == {"chamfer", "total"}


def sheet_on_a_block(low, high):
    """A hinge at the lower edge of a box without thickness in front of a block."""
    body, sheet = box((-0.5, 0, -0.5), (0.5, 0.3, 0.5)), box(low, high)
    joint = JointMotion("revolute", (1.0, 0.0, 0.0), low, 0.0, 1.2)
    return things.thing([body], [sheet], joint)


def test_a_flat_sheet_may_be_a_part():
    shape, joint = sheet_on_a_block((-0.2, -0.01, -0.3), (0.2, -0.01, 0.3))
    angle, offset = errors(fit(shape, ideal_evidence(shape, joint))[0].joint, joint)
    assert angle < 1
    assert offset < 0.01


def test_a_line_is_refused_with_a_reason():
    shape, _ = sheet_on_a_block((-0.2, -0.01, 0.1), (0.2, -0.01, 0.1))
    with pytest.raises(InputError, match="line"):
        fit(shape, ideal_evidence(*things.chest()))


def test_no_evidence_at_all_is_refused():
    shape, joint = things.chest()
    empty = ideal_evidence(shape, joint)._replace(displacements=None, silhouettes=None)
    with pytest.raises(InputError, match="say nothing"):
        fit(shape, empty)


@pytest.mark.slow
def test_generated_objects_are_solved_from_noisy_displacements():
    right = []
    for seed in range(900_000, 900_024):
        item = generate(seed)
        shape = shape_of(item.triangles, item.moving)
        evidence = ideal_evidence(shape, item.joint, points=20_000, size=64)
        noisy = with_noise(evidence, 0.1, np.random.default_rng(seed))
        found = fit(shape, noisy)[0].joint
        angle = errors(found, item.joint)[0]
        right.append(found.kind == item.joint.kind and (angle < 5))
    assert np.mean(right) >= 0.95
