"""What speaks for and against each hypothesis, in units of log probability."""

from __future__ import annotations

import numpy as np

from atop_backend.config import FitConfig
from atop_backend.motion import silhouettes
from atop_backend.motion.displacement import Field, explain_slides, explain_turns, last_amount
from atop_backend.motion.evidence import MotionEvidence
from atop_backend.motion.features import Features
from atop_backend.motion.hypotheses import MEASURED
from atop_backend.motion.pool import Pool
from atop_backend.motion.ranges import within_limits
from atop_backend.motion.terms import geometry_terms
from atop_backend.motion.words import contradicted
from atop_backend.prompt_motion import NOTHING_SAID, SaidMotion

_NOISE_SHARE = 0.7  # of what the best hypothesis misses that counts as a sample's noise
_PLAINLY = 0.5  # share of a sample's motion left over that still shows a line, and which way round
_MISSED = 0.1  # share of an outline missed that tells nothing: the splats' own error
_SILHOUETTE_POINTS = 600
# How badly founded the place of a hinge is on the shape; others, measured ones, count as 1.
# A round piece, such as a pin or a knuckle, is a better reason than any edge. Tuned, as all of
# the weights, on samples of held-out generated objects (scripts/held_out_fits.py).
_UNFOUNDED = {"": 0.0, "round": -1.2, "edge": 0.4, "contact": 0.5, "given": 0.3}
_UNFOUNDED |= {"middle": 0.3, "centre": 0.6}


def score_terms(
    pool: Pool,
    features: Features,
    field: Field | None,
    evidence: MotionEvidence,
    config: FitConfig,
    said: SaidMotion,
) -> dict[str, np.ndarray]:
    """Parts of the score, (h,) each, in units of log probability."""
    weights = sample_weights(field, pool.misfit.shape[1])
    ends = _ends(pool, weights, evidence.frames)
    terms = {"motion": np.where(pool.revolute, 0.0, config.slide_bonus)}
    if said != NOTHING_SAID and config.words_weight:
        terms["words"] = -config.words_weight * contradicted(pool, ends, features, said)
    if field is not None:
        terms["displacement"] = explain_score(pool, field, config)
    outlines = outlines_for(features, evidence)
    if outlines is not None and config.silhouette_weight:
        amounts = ends[:, None] * evidence.frames / evidence.frames[-1]
        moved = silhouettes.move(pool.revolute, pool.axes, pool.origins, amounts, outlines.points)
        missed = 1 - silhouettes.overlap(outlines, moved)
        terms["silhouette"] = config.silhouette_weight * vote(missed, weights, _MISSED)
    if config.geometry:
        found = geometry_terms(features, pool.revolute, pool.axes, pool.origins, ends)
        terms["collision"] = -config.collision_weight * found.collision
        terms["contact"] = -config.contact_weight * found.contact
        terms["attachment"] = -config.attachment_weight * found.attachment
        terms["handle"] = -config.handle_weight * found.handle
        terms |= founded(pool, config)
    terms["total"] = np.sum(list(terms.values()), axis=0)
    terms["end"] = ends
    return terms


def outlines_for(features: Features, evidence: MotionEvidence) -> silhouettes.Outlines | None:
    if evidence.silhouettes is None:
        return None
    points = features.part_points[:: max(1, len(features.part_points) // _SILHOUETTE_POINTS)]
    return silhouettes.outlines_of(
        evidence.silhouettes, evidence.cameras, points, features.body.points
    )


def sample_weights(field: Field | None, samples: int) -> np.ndarray:
    """How much each sample counts, (samples,), summing to 1: one that stands still says little."""
    if field is None:
        return np.full(samples, 1 / samples)
    energy = field.energy.sum(axis=1)
    weights = energy / (energy + 0.25 * np.median(energy) + 1e-12) + 1e-6
    return weights / weights.sum()


def disagreement(pool: Pool, field: Field) -> float:
    """Variance between samples as a share of all motion; 0 for a single sample.

    Samples that turn the same way about one line, or slide the same way, are compared with each
    other alone: a knob that some turn left and some right is sure to turn, and about which line.
    """
    count = len(field.displacements)
    back = _reversed_samples(pool, field)
    spread, free = 0.0, 0
    for group in (~back, back):
        if group.sum() > 1:
            off = field.displacements[group] - field.displacements[group].mean(axis=0)
            spread += float(np.einsum("sfnc,sfnc,n->", off, off, field.weights))
            free += int(group.sum()) - 1
    if free == 0:
        return 0.0
    return spread / free / (float(field.energy.sum()) / count + 1e-12)


def _reversed_samples(pool: Pool, field: Field) -> np.ndarray:
    """Which samples move the other way about the line that suits all of them best, (samples,)."""
    best, back = np.inf, np.zeros(len(field.displacements), dtype=bool)
    for row in np.unique(np.argmin(pool.misfit, axis=0)):  # what each would choose by itself
        axis, origin = -pool.axes[row, None], pool.origins[row, None]
        if pool.revolute[row]:
            way_back = explain_turns(field, axis, origin).misfit[0]
        else:
            way_back = explain_slides(field, axis).misfit[0]
        missed = np.minimum(pool.misfit[row], way_back).mean()
        if missed < best:
            best = missed
            back = (way_back < _PLAINLY) & (way_back < _PLAINLY * pool.misfit[row])
    return back


def explain_score(pool: Pool, field: Field, config: FitConfig) -> np.ndarray:
    """How well displacements are explained, (h,), in units of log probability.

    What even the best hypothesis leaves over is a sample's own noise; how far samples differ
    tells how far all of them may be off. Differences below either mean little.
    """
    floor = config.blur + _NOISE_SHARE * pool.misfit.min(axis=0)
    floor = floor + config.doubt * disagreement(pool, field)
    weights = sample_weights(field, pool.misfit.shape[1])
    return config.displacement_weight * vote(pool.misfit, weights, floor)


def vote(missed: np.ndarray, weights: np.ndarray, floor: np.ndarray | float) -> np.ndarray:
    """Mean over samples of the log of what is explained, (h,); a sample's say is bounded.

    A wrong sample costs the right answer at most what it could have given it.

    Args:
        missed: Share of each sample that each hypothesis misses, (h, samples).
        floor: Share that tells nothing, of all samples or of each.
    """
    return -np.log((np.minimum(missed, 1.0) + floor) / (1 + floor)) @ weights


def founded(pool: Pool, config: FitConfig) -> dict[str, np.ndarray]:
    """What is taken off for directions and places that are not the shape's own, (h,) each."""
    measured = np.isin(pool.sources, MEASURED)
    price = np.where(pool.revolute, config.direction_weight, config.slide_direction_weight)
    places = np.array([_UNFOUNDED.get(place, 1.0) for place in pool.places])
    return {
        "direction": -price * measured,
        "edge": -config.edge_weight * places,
    }


def _ends(pool: Pool, weights: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Amount at the end of the motion of each hypothesis, (h,), within what makes sense."""
    ends = np.empty(len(pool.axes))
    for row, (amounts, misfit) in enumerate(zip(pool.amounts, pool.misfit, strict=True)):
        trust = weights * np.maximum(1 - misfit, 0.02) ** 2
        kind = "revolute" if pool.revolute[row] else "prismatic"
        ends[row] = within_limits(kind, last_amount(amounts, frames, trust))
    return ends
