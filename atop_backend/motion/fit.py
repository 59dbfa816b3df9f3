"""From evidence to joints: try hypotheses, refine, score, and say how sure the best one is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atop_backend.config import FitConfig
from atop_backend.contracts import JointKind, JointMotion
from atop_backend.errors import InputError
from atop_backend.geometry.joints import line_angle_deg, unit
from atop_backend.geometry.meshes import RestShape
from atop_backend.motion import confidence, paper, silhouettes
from atop_backend.motion.displacement import Field, field_of, last_amount, line_of_turn
from atop_backend.motion.evidence import MotionEvidence
from atop_backend.motion.features import Features, shape_features
from atop_backend.motion.hypotheses import MEASURED, Hypotheses, Line, slides, turns
from atop_backend.motion.ladder import pool_by_guess, pool_by_outline
from atop_backend.motion.pool import Pool, alike, distinct, pool_slides, pool_turns
from atop_backend.motion.ranges import cut_at_collision, within_limits
from atop_backend.motion.refine import pooled_field, refine_turn
from atop_backend.motion.terms import geometry_terms

_FINALISTS = {True: 32, False: 10}  # hinges and sliders that get the costly terms
_HOPELESS = 20.0  # a hypothesis this far behind after the cheap terms stays behind
_REFINED = 4  # hinges refined continuously
_ANSWERS = 5  # different answers handed back
_DIFFERENT_DEG, _DIFFERENT = 15.0, 0.1  # answers nearer than this are one
_NOISE_SHARE = 0.5  # of what the best hypothesis misses that counts as a sample's noise
_MISSED = 0.05  # share of an outline missed that tells nothing: the splats' own error
_SNAP_DEG = 4.0  # a refined hinge this near to a direction of the shape is also tried along it
_SILHOUETTE_POINTS = 600
# How badly founded the place of a hinge is on the shape; others, measured ones, count as 1.
_UNFOUNDED = {"": 0.0, "edge": 0.0, "round": 0.0, "contact": 0.3, "centre": 0.6, "middle": 0.6}


class Candidate(NamedTuple):
    """One possible joint."""

    joint: JointMotion  # normalised frame; lower is 0, the rest state
    confidence: float  # chance of being right, in [0, 1]
    source: str  # what it is founded on, such as "box edge"
    terms: dict[str, float]  # parts of its score in units of log probability, and "total"
    signs: tuple[float, ...] = ()  # inputs of the confidence map; of the best candidate only


def fit_joint(
    shape: RestShape,
    evidence: MotionEvidence,
    config: FitConfig,
    kinds: tuple[JointKind, ...],
    generator: np.random.Generator,
) -> list[Candidate]:
    """Different joints that may explain the evidence, best first.

    Args:
        kinds: The types of motion to try.

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
    field = _field(evidence)
    if config.hypotheses == "paper":
        return _fit_paper(features, field, kinds)
    # 2. hypotheses, with the amounts that suit them best
    pool = _hypotheses(features, field, evidence, kinds)
    # 3. the best by displacement, refined
    pool = _finalists(pool, config, field)
    if config.refine and field is not None and pool.revolute.any():
        pool = pool.join(_refined(pool, features, field, config))
    # 4. every term for those left
    terms = _terms(pool, features, field, evidence, config)
    # 5. different answers, their range and chance
    return _answers(pool, terms, features, evidence, config)


def _field(evidence: MotionEvidence) -> Field | None:
    if evidence.displacements is None:
        return None
    return field_of(evidence.points, evidence.weights, evidence.displacements, evidence.frames)


def _outlines(
    features: Features, evidence: MotionEvidence, count: int
) -> silhouettes.Outlines | None:
    if evidence.silhouettes is None:
        return None
    points = features.part_points[:: max(1, len(features.part_points) // count)]
    return silhouettes.outlines_of(
        evidence.silhouettes, evidence.cameras, points, features.body.points
    )


def _hypotheses(
    features: Features,
    field: Field | None,
    evidence: MotionEvidence,
    kinds: tuple[JointKind, ...],
) -> Pool:
    """Every hypothesis of the kinds, both ways."""
    outlines = None if field is not None else _outlines(features, evidence, _SILHOUETTE_POINTS)
    pools = []
    for kind in kinds:
        revolute = kind == "revolute"
        tried = (turns if revolute else slides)(features, field).both_ways()
        if field is not None:
            pools.append((pool_turns if revolute else pool_slides)(tried, field))
        elif outlines is not None:
            pools.append(pool_by_outline(revolute, tried, features, outlines, evidence.frames))
        else:
            pools.append(pool_by_guess(revolute, tried, features, evidence.frames))
    return pools[0] if len(pools) == 1 else pools[0].join(pools[1])


def _sample_weights(field: Field | None, samples: int) -> np.ndarray:
    """How much each sample counts, (samples,), summing to 1: one that stands still says little."""
    if field is None:
        return np.full(samples, 1 / samples)
    energy = field.energy.sum(axis=1)
    weights = energy / (energy + 0.25 * np.median(energy) + 1e-12) + 1e-6
    return weights / weights.sum()


def _vote(misfit: np.ndarray, weights: np.ndarray, blur: float) -> np.ndarray:
    """Mean over samples of the log of what is explained, (h,); a sample's say is bounded.

    A wrong sample costs the right answer at most what it could have given it. What even the best
    hypothesis leaves over is the sample's own noise, below which differences mean little.

    Args:
        misfit: Share of each sample that each hypothesis misses, (h, samples).
        blur: Share that tells nothing even in a sample without noise.
    """
    floor = blur + _NOISE_SHARE * misfit.min(axis=0)
    return -np.log((np.minimum(misfit, 1.0) + floor) / (1 + floor)) @ weights


def _founded(pool: Pool, config: FitConfig) -> dict[str, np.ndarray]:
    """What is taken off for directions and places that are not the shape's own, (h,) each."""
    measured = np.isin(pool.sources, MEASURED)
    places = np.array([_UNFOUNDED.get(place, 1.0) for place in pool.places])
    return {
        "direction": -config.direction_weight * measured,
        "edge": -config.edge_weight * places,
    }


def _finalists(pool: Pool, config: FitConfig, field: Field | None) -> Pool:
    """The hypotheses that get the costly terms."""
    weights = _sample_weights(field, pool.misfit.shape[1])
    score = config.displacement_weight * _vote(pool.misfit, weights, config.blur)
    score += sum(_founded(pool, config).values())
    order = np.argsort(-score, kind="stable")
    order = order[score[order] > score.max() - _HOPELESS]
    picks = []
    for revolute, count in _FINALISTS.items():
        family = order[pool.revolute[order] == revolute]
        picks.append(distinct(pool, family, count, 2.0, 0.02))
    return pool.take(np.concatenate(picks))


def _refined(pool: Pool, features: Features, field: Field, config: FitConfig) -> Pool:
    """The best hinges, refined continuously, freely and along directions of the shape."""
    weights = _sample_weights(field, pool.misfit.shape[1])
    hinges = np.nonzero(pool.revolute)[0]
    order = hinges[np.argsort(-_vote(pool.misfit[hinges], weights, config.blur), kind="stable")]
    starts = distinct(pool, order, _REFINED, _DIFFERENT_DEG, _DIFFERENT)
    lines: list[Line] = []
    for start in starts:
        trust = weights * np.maximum(1 - pool.misfit[start], 0.02) ** 2
        mean = pooled_field(field, trust)
        axis, origin = refine_turn(
            mean, pool.axes[start], pool.origins[start], 0.5 * features.box.radius
        )
        lines.append((axis, origin, "refined", "refined"))
        angles = line_angle_deg(features.directions, axis)
        for near in np.flatnonzero(angles < _SNAP_DEG):
            snapped = features.directions[near] * np.sign(features.directions[near] @ axis)
            place = line_of_turn(mean, snapped)
            if place is not None:
                lines.append((snapped, place, features.sources[near], "refined"))
    axes, origins = (np.stack([line[i] for line in lines]) for i in (0, 1))
    origins = origins + np.sum((features.box.centre - origins) * axes, axis=1)[:, None] * axes
    sources, places = ([line[i] for line in lines] for i in (2, 3))
    return pool_turns(Hypotheses(axes, origins, tuple(sources), tuple(places)), field)


def _ends(pool: Pool, weights: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Amount at the end of the motion of each hypothesis, (h,), within what makes sense."""
    ends = np.empty(len(pool.axes))
    for row, (amounts, misfit) in enumerate(zip(pool.amounts, pool.misfit, strict=True)):
        trust = weights * np.maximum(1 - misfit, 0.02) ** 2
        kind = "revolute" if pool.revolute[row] else "prismatic"
        ends[row] = within_limits(kind, last_amount(amounts, frames, trust))
    return ends


def _terms(
    pool: Pool,
    features: Features,
    field: Field | None,
    evidence: MotionEvidence,
    config: FitConfig,
) -> dict[str, np.ndarray]:
    """Parts of the score, (h,) each, in units of log probability."""
    weights = _sample_weights(field, pool.misfit.shape[1])
    ends = _ends(pool, weights, evidence.frames)
    terms = {"motion": np.where(pool.revolute, 0.0, config.slide_bonus)}
    if field is not None:
        terms["displacement"] = config.displacement_weight * _vote(
            pool.misfit, weights, config.blur
        )
    outlines = _outlines(features, evidence, _SILHOUETTE_POINTS)
    if outlines is not None and config.silhouette_weight:
        amounts = ends[:, None] * evidence.frames / evidence.frames[-1]
        moved = silhouettes.move(pool.revolute, pool.axes, pool.origins, amounts, outlines.points)
        missed = 1 - silhouettes.overlap(outlines, moved)
        terms["silhouette"] = config.silhouette_weight * _vote(missed, weights, _MISSED)
    if config.geometry:
        found = geometry_terms(features, pool.revolute, pool.axes, pool.origins, ends)
        terms["collision"] = -config.collision_weight * found.collision
        terms["contact"] = -config.contact_weight * found.contact
        terms["attachment"] = -config.attachment_weight * found.attachment
        terms |= _founded(pool, config)
    terms["total"] = np.sum(list(terms.values()), axis=0)
    terms["end"] = ends
    return terms


def _answers(
    pool: Pool,
    terms: dict[str, np.ndarray],
    features: Features,
    evidence: MotionEvidence,
    config: FitConfig,
) -> list[Candidate]:
    total = terms["total"]
    order = np.argsort(-total, kind="stable")
    picks = distinct(pool, order, len(order), _DIFFERENT_DEG, _DIFFERENT)
    shares = confidence.softmax(total[picks])
    best = picks[0]
    alone = np.argmin(pool.misfit, axis=0)  # what each sample would choose by itself
    agreement = np.mean(alike(pool, int(best), alone, _DIFFERENT_DEG, 3 * _DIFFERENT))
    explained = float(np.clip(1 - np.median(pool.misfit[best]), 0, 1))
    signs = confidence.signs_of_trust(shares, float(agreement), explained)
    chances = confidence.confidences(shares, signs, config.confidence)
    answers = []
    for rank, pick in enumerate(picks[:_ANSWERS]):
        joint = _joint(pool, int(pick), float(terms["end"][pick]))
        if config.geometry:
            joint = cut_at_collision(features, joint)
        parts = {name: float(values[pick]) for name, values in terms.items() if name != "end"}
        answers.append(
            Candidate(
                joint,
                float(chances[rank]),
                " ".join(filter(None, (pool.sources[pick], pool.places[pick]))),
                parts,
                tuple(map(float, signs)) if rank == 0 else (),
            )
        )
    return answers


def _joint(pool: Pool, pick: int, end: float) -> JointMotion:
    axis = unit(pool.axes[pick])
    return JointMotion(
        "revolute" if pool.revolute[pick] else "prismatic",
        tuple(map(float, axis)),
        tuple(map(float, pool.origins[pick])),
        0.0,
        end,
    )


def _fit_paper(
    features: Features, field: Field | None, kinds: tuple[JointKind, ...]
) -> list[Candidate]:
    """Algorithm 1 for each kind; the smaller chamfer distance decides between kinds."""
    if field is None:
        raise InputError(
            "the paper's algorithm needs moving points and there are only silhouettes",
            hint="use fit.hypotheses=full, or a guidance that moves points",
        )
    answers = []
    for kind in kinds:
        score = paper.score_turns if kind == "revolute" else paper.score_slides
        tried, errors, amounts = score(features.box, field)
        for pick in np.argsort(errors, kind="stable")[:_ANSWERS]:
            joint = JointMotion(
                kind,
                tuple(map(float, tried.axes[pick])),
                tuple(map(float, tried.origins[pick])),
                0.0,
                within_limits(kind, float(amounts[pick])),
            )
            answers.append((float(errors[pick]), joint))
    answers.sort(key=lambda entry: entry[0])
    least = np.sqrt(np.array([error for error, _ in answers[:_ANSWERS]])) + 1e-6
    shares = (1 / least) / (1 / least).sum()
    return [
        Candidate(joint, float(share), "box", {"chamfer": error, "total": -error})
        for (error, joint), share in zip(answers[:_ANSWERS], shares, strict=True)
    ]
