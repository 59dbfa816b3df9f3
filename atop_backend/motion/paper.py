"""The paper's Algorithm 1, literally, for comparison: box directions, seven origins, chamfer.

Two slips of the printed algorithm are mended, as nothing would be found otherwise: the least
error starts at infinity and is updated. The amount of motion, which it takes from a given range,
is solved for each hypothesis from the same points.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from atop_backend.contracts import JointKind
from atop_backend.errors import InputError
from atop_backend.geometry import with_pytorch3d
from atop_backend.geometry.boxes import Box
from atop_backend.motion.candidates import MOST_ANSWERS, Candidate, joint_from
from atop_backend.motion.displacement import Field, explain_slides, explain_turns
from atop_backend.motion.hypotheses import Hypotheses, paper_slides, paper_turns
from atop_backend.motion.silhouettes import move


def chamfer(points: np.ndarray, others: np.ndarray) -> float:
    """Mean squared distance to the nearest neighbour, both ways added."""
    if with_pytorch3d.is_installed():
        return with_pytorch3d.chamfer(points, others)
    there = cKDTree(others).query(points)[0]
    back = cKDTree(points).query(others)[0]
    return float(np.mean(there**2) + np.mean(back**2))


def score_turns(box: Box, field: Field) -> tuple[Hypotheses, np.ndarray, np.ndarray]:
    """Hinges with their chamfer distances (h,) and amounts (h,) in the last frame."""
    tried = paper_turns(box)
    amounts = explain_turns(_last(field), tried.axes, tried.origins).amounts[:, 0, 0]
    return tried, _errors(tried, amounts, field, True), amounts


def score_slides(box: Box, field: Field) -> tuple[Hypotheses, np.ndarray, np.ndarray]:
    """Sliders with their chamfer distances (h,) and amounts (h,) in the last frame."""
    tried = paper_slides(box)
    amounts = explain_slides(_last(field), tried.axes).amounts[:, 0, 0]
    return tried, _errors(tried, amounts, field, False), amounts


def _last(field: Field) -> Field:
    mean = field.displacements[:, -1:].mean(axis=0, keepdims=True)
    energy = np.einsum("sfnc,sfnc,n->sf", mean, mean, field.weights)
    return Field(field.points, field.weights, mean, field.frames[-1:], energy)


def _errors(tried: Hypotheses, amounts: np.ndarray, field: Field, turns: bool) -> np.ndarray:
    target = field.points + field.displacements[:, -1].mean(axis=0)
    kinds = np.full(len(amounts), turns)
    moved = move(kinds, tried.axes, tried.origins, amounts[:, None], field.points)[:, 0]
    return np.array([chamfer(points, target) for points in moved])


def fit_literally(box: Box, field: Field | None, kinds: tuple[JointKind, ...]) -> list[Candidate]:
    """Algorithm 1 for each kind; the smaller chamfer distance decides between kinds.

    Raises:
        InputError: There are no moving points.
    """
    if field is None:
        raise InputError(
            "the paper's algorithm needs moving points and there are only silhouettes",
            hint="use fit.hypotheses=full, or a guidance that moves points",
        )
    answers = []
    for kind in kinds:
        score = score_turns if kind == "revolute" else score_slides
        tried, errors, amounts = score(box, field)
        for pick in np.argsort(errors, kind="stable")[:MOST_ANSWERS]:
            end = float(amounts[pick])
            joint = joint_from(kind, tried.axes[pick], tried.origins[pick], end)
            answers.append((float(errors[pick]), joint))
    answers.sort(key=lambda entry: entry[0])
    answers = answers[:MOST_ANSWERS]
    least = np.sqrt(np.array([error for error, _ in answers])) + 1e-6
    shares = (1 / least) / (1 / least).sum()
    return [
        Candidate(joint, float(share), "box", {"chamfer": error, "total": -error})
        for (error, joint), share in zip(answers, shares, strict=True)
    ]
