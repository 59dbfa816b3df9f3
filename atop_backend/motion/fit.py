"""From evidence to joints: try hypotheses, refine, score, and say how sure the best one is."""

from __future__ import annotations

import numpy as np

from atop_backend.config import FitConfig
from atop_backend.contracts import JointKind, JointMotion
from atop_backend.errors import InputError
from atop_backend.geometry.meshes import RestShape
from atop_backend.motion import alternatives, confidence, paper
from atop_backend.motion.alternatives import DIFFERENT, DIFFERENT_DEG
from atop_backend.motion.candidates import MOST_ANSWERS, Candidate, joint_from
from atop_backend.motion.displacement import Field, affine_part, field_of
from atop_backend.motion.evidence import MotionEvidence
from atop_backend.motion.features import Features, shape_features
from atop_backend.motion.hypotheses import Line, lines_of, slides, turns
from atop_backend.motion.ladder import pool_of
from atop_backend.motion.nearby import Given, around
from atop_backend.motion.pool import Pool, alike, distinct, pool_turns
from atop_backend.motion.ranges import cut_at_collision
from atop_backend.motion.refine import pooled_field, refined_lines
from atop_backend.motion.score import (
    explain_score,
    founded,
    outlines_for,
    sample_weights,
    score_terms,
    vote,
)
from atop_backend.motion.silhouettes import Outlines
from atop_backend.prompt_motion import NOTHING_SAID, SaidMotion

_FINALISTS = {True: 32, False: 10}  # hinges and sliders that get the costly terms
_HOPELESS = 20.0  # a hypothesis this far behind after the cheap terms stays behind
_REFINED = 4  # hinges refined continuously


def fit_joint(
    shape: RestShape,
    evidence: MotionEvidence,
    config: FitConfig,
    kinds: tuple[JointKind, ...],
    generator: np.random.Generator,
    initial: JointMotion | None = None,
    said: SaidMotion = NOTHING_SAID,
) -> list[Candidate]:
    """Different joints that may explain the evidence, best first.

    Args:
        kinds: The types of motion to try.
        initial: A joint that a person has laid, in the normalised frame: the first answer is of
            its kind, near it, and moves the way it does, whatever other answers promise.
        said: What the prompt says of the motion.

    Raises:
        InputError: The part is no solid thing, or the evidence is empty.
    """
    if not config.video:
        evidence = evidence._replace(displacements=None, silhouettes=None)
    elif evidence.displacements is None and evidence.silhouettes is None:
        raise InputError(
            "the videos say nothing about the part's motion",
            hint="choose another guidance, or name an object part that is seen in the views",
        )
    # 1. what the shape offers
    features = shape_features(shape, config.points, generator)
    field = _field(evidence, literal=config.hypotheses == "paper")
    if config.hypotheses == "paper":
        if initial is not None:
            raise InputError(
                "the paper's hypotheses are fixed and cannot start from a given joint",
                hint="leave `initial` out, or use the default preset",
            )
        return paper.fit_literally(features.box, field, kinds)
    # 2. hypotheses, with the amounts that suit them best
    outlines = None if field is not None else outlines_for(features, evidence)
    tried = _hypotheses(features, field, outlines, evidence, kinds)
    # 3. the best by displacement, refined, and what lies around a given joint
    pool = _finalists(tried, config, field)
    if config.refine and field is not None and pool.revolute.any():
        pool = pool.join(_refined(pool, features, field, config))
    given = None
    if initial is not None:
        given, near = around(initial, tried, features, field, outlines, evidence.frames)
        pool = near.join(pool)
    # 4. every term for those left, and for what the shape offers whatever the clips say
    wide = alternatives.of_the_shape(tried, features, evidence.frames)
    pool = pool.join(wide)
    terms = score_terms(pool, features, field, evidence, config, said)
    # 5. different answers, their range and chance
    return _answers(pool, terms, features, config, given, len(wide.axes))


def _field(evidence: MotionEvidence, literal: bool) -> Field | None:
    points, weights, shown = evidence.points, evidence.weights, evidence.displacements
    if shown is None:
        return None
    if not literal:  # the paper compares with all that gaussians do
        shown = affine_part(points, weights, shown)
    return field_of(points, weights, shown, evidence.frames)


def _hypotheses(
    features: Features,
    field: Field | None,
    outlines: Outlines | None,
    evidence: MotionEvidence,
    kinds: tuple[JointKind, ...],
) -> Pool:
    """Every hypothesis of the kinds, both ways."""
    pools = []
    for kind in kinds:
        revolute = kind == "revolute"
        tried = (turns if revolute else slides)(features, field).both_ways()
        pools.append(pool_of(revolute, tried, features, field, outlines, evidence.frames))
    return pools[0] if len(pools) == 1 else pools[0].join(pools[1])


def _finalists(pool: Pool, config: FitConfig, field: Field | None) -> Pool:
    """The hypotheses that get the costly terms."""
    if field is not None:
        score = explain_score(pool, field, config)
    else:  # misfit of outlines, or nothing known
        weights = sample_weights(field, pool.misfit.shape[1])
        score = config.silhouette_weight * vote(pool.misfit, weights, config.blur)
    score = score + sum(founded(pool, config).values())
    order = np.argsort(-score, kind="stable")
    order = order[score[order] > score.max() - _HOPELESS]
    picks = []
    for revolute, count in _FINALISTS.items():
        family = order[pool.revolute[order] == revolute]
        picks.append(distinct(pool, family, count, 2.0, 0.02))
    return pool.take(np.concatenate(picks))


def _refined(pool: Pool, features: Features, field: Field, config: FitConfig) -> Pool:
    """The best hinges, refined continuously, freely and along directions of the shape."""
    weights = sample_weights(field, pool.misfit.shape[1])
    hinges = np.nonzero(pool.revolute)[0]
    order = hinges[np.argsort(-explain_score(pool, field, config)[hinges], kind="stable")]
    starts = distinct(pool, order, _REFINED, DIFFERENT_DEG, DIFFERENT)
    lines: list[Line] = []
    for start in starts:
        trust = weights * np.maximum(1 - pool.misfit[start], 0.02) ** 2
        mean = pooled_field(field, trust)
        reach = 0.5 * features.box.radius
        lines += refined_lines(features, mean, pool.axes[start], pool.origins[start], reach)
    return pool_turns(lines_of(features.box, lines), field)


def _answers(
    pool: Pool,
    terms: dict[str, np.ndarray],
    features: Features,
    config: FitConfig,
    given: Given | None,
    wide: int,
) -> list[Candidate]:
    """The best of the scored hypotheses and others, with their ranges and chances.

    What lies near a given joint comes first.

    Args:
        wide: How many at the end of the pool are there for the sake of other answers.
    """
    total = terms["total"]
    order = np.argsort(-total, kind="stable")
    if given is not None:
        order = np.concatenate([order[given.near(pool, order)][:1], order])
    picks = distinct(pool, order, len(order), DIFFERENT_DEG, DIFFERENT)
    shares = confidence.softmax(total[picks])
    best = picks[0]
    alone = np.argmin(pool.misfit, axis=0)  # what each sample would choose by itself
    agreement = np.mean(alike(pool, int(best), alone, DIFFERENT_DEG, 3 * DIFFERENT))
    explained = float(np.clip(1 - np.median(pool.misfit[best]), 0, 1))
    signs = confidence.signs_of_trust(shares, float(agreement), explained)
    others, scores = alternatives.in_order(pool, terms, features, int(best), wide, MOST_ANSWERS - 1)
    if len(others):
        shares = np.append(shares[0], (1 - shares[0]) * confidence.softmax(scores))
    chances = confidence.confidences(shares, signs, config.confidence)
    answers = []
    for rank, pick in enumerate([best, *others]):
        kind: JointKind = "revolute" if pool.revolute[pick] else "prismatic"
        joint = joint_from(kind, pool.axes[pick], pool.origins[pick], float(terms["end"][pick]))
        if rank == 0 and given is not None and given.against_the_videos:
            joint = joint.flipped()
        if config.geometry:
            joint = cut_at_collision(features, joint)
        parts = {name: float(values[pick]) for name, values in terms.items() if name != "end"}
        answers.append(
            Candidate(
                joint,
                float(chances[rank]),
                f"{pool.sources[pick]} {pool.places[pick]}".strip(),
                parts,
                tuple(map(float, signs)) if rank == 0 else (),
            )
        )
    return answers
