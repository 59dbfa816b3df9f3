"""The answers of a job that are kept with its joint, and what the artist corrected by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from atop_backend.contracts import Answer, JointMotion
from atop_backend.errors import InputError

from . import convert, write
from .record import Articulation

BY_HAND = -1  # in place of an answer's number: the joint that the artist laid
_SAME = 1e-5  # numbers that differ by less have only been through single precision
_ALIKE_DEG = 5.0  # answers whose axes differ by less are listed once, if their lines are near
_ALIKE_SHARE = 0.2  # of the drawn axis' size, a twentieth of the part: how near that is
_MOST = 4  # answers listed, the best one included


def keep_answers(
    articulation: Articulation,
    answers: Sequence[Answer],
    job: str,
    prompt: str,
    asset_to_rest: np.ndarray,
) -> None:
    """Store all answers with the joint, so that the artist can step through them later.

    Args:
        answers: Best first, with joints in the world frame of the rest pose.
        job: The job folder, for its videos, for fitting anew and for export.
        asset_to_rest: How the object has moved since the job's asset was written, (4, 4).
    """
    stored = {
        "answers": [answer.to_dict() for answer in answers],
        "chosen": 0,
        "job": job,
        "prompt": prompt,
        "asset_to_rest": asset_to_rest.tolist(),
    }
    articulation.store(articulation.data | stored)


def answers_of(articulation: Articulation) -> list[Answer]:
    """The stored answers, best first; empty for a joint that was written by hand."""
    return [Answer.from_dict(entry) for entry in articulation.data.get("answers", ())]


def hand_laid(articulation: Articulation) -> JointMotion | None:
    """The joint as the artist corrected it, now or before another answer was chosen, or None."""
    data = articulation.data
    if not data.get("answers"):
        return None
    before = JointMotion.from_dict(data["by_hand"]) if "by_hand" in data else None
    chosen = before
    if data["chosen"] != BY_HAND:
        chosen = JointMotion.from_dict(data["answers"][data["chosen"]]["joint"])
    same = chosen is not None and _same(articulation.joint, chosen)
    return before if same else articulation.joint


def chosen_now(articulation: Articulation) -> int:
    """The number of the answer that the joint is now; `BY_HAND` once it has been corrected."""
    data = articulation.data
    if data["chosen"] == BY_HAND:
        return BY_HAND
    stored = JointMotion.from_dict(data["answers"][data["chosen"]]["joint"])
    return data["chosen"] if _same(articulation.joint, stored) else BY_HAND


def _same(one: JointMotion, other: JointMotion) -> bool:
    mine, theirs = ((*j.axis, *j.origin, j.lower, j.upper) for j in (one, other))
    return one.kind == other.kind and all(
        math.isclose(a, b, rel_tol=_SAME, abs_tol=_SAME) for a, b in zip(mine, theirs, strict=True)
    )


def choose_answer(articulation: Articulation, index: int) -> str:
    """Move the joint to another answer, at once and with the same keyframes; its sentence.

    What the artist corrected by hand stays in the list.

    Args:
        index: 0 is the best answer, `BY_HAND` the corrected joint.
    """
    answers, by_hand = answers_of(articulation), hand_laid(articulation)
    if index == BY_HAND and by_hand is not None:
        joint, sentence = by_hand, "the joint as corrected by hand"
    elif 0 <= index < len(answers):
        joint, sentence = answers[index].joint, answers[index].sentence
    else:
        raise InputError(
            f"there is no answer {index + 1}", hint=f"choose one of 1 to {len(answers)}"
        )
    write.set_joint(articulation, joint)
    kept = {"by_hand": by_hand.to_dict()} if by_hand else {}
    articulation.store(articulation.data | kept | {"chosen": index})
    return sentence


def step_answer(articulation: Articulation, step: int) -> str:
    """The answer so many places further on, the hand-laid joint last; its sentence."""
    order = list(range(len(answers_of(articulation))))
    if hand_laid(articulation) is not None:
        order.append(BY_HAND)
    at = order.index(chosen_now(articulation))
    return choose_answer(articulation, order[(at + step) % len(order)])


def take_refit(
    articulation: Articulation, answers: Sequence[Answer], job: str, asset_to_rest: np.ndarray
) -> str:
    """Use what a fit from the present joint found, with the same keyframes; its sentence.

    Earlier answers stay in the list behind it, and so does the joint that the artist had laid.
    Limits that the artist had set stay too.

    Args:
        answers: The new ones, best first, with joints in the world frame of the rest pose.
    """
    by_hand, best = hand_laid(articulation), answers[0]
    if by_hand is not None and _limits_set(articulation) and by_hand.kind == best.joint.kind:
        joint = replace(best.joint, lower=by_hand.lower, upper=by_hand.upper)
        best = Answer(joint, best.confidence, best.sentence)
    listed, apart = [best], _ALIKE_SHARE * articulation.frame.empty_display_size
    for answer in [*answers[1:], *answers_of(articulation)]:
        if len(listed) < _MOST and not any(_alike(answer.joint, a.joint, apart) for a in listed):
            listed.append(answer)
    write.set_joint(articulation, best.joint)
    keep_answers(articulation, listed, job, articulation.data["prompt"], asset_to_rest)
    if by_hand is not None:
        articulation.store(articulation.data | {"by_hand": by_hand.to_dict()})
    return best.sentence


def _limits_set(articulation: Articulation) -> bool:
    """Whether the range is another than that of the answer that was last chosen."""
    data, now = articulation.data, articulation.joint
    if data["chosen"] == BY_HAND:
        return True
    chosen = JointMotion.from_dict(data["answers"][data["chosen"]]["joint"])
    return not _same(replace(now, lower=chosen.lower, upper=chosen.upper), now)


def _alike(one: JointMotion, other: JointMotion, apart: float) -> bool:
    """Whether two joints are the same to a person: lines nearer than `apart` are."""
    axis = np.array(one.axis)
    if one.kind != other.kind or axis @ other.axis < math.cos(math.radians(_ALIKE_DEG)):
        return False
    gap = np.subtract(other.origin, one.origin)
    return one.kind == "prismatic" or bool(np.linalg.norm(gap - (gap @ axis) * axis) < apart)


def to_asset(articulation: Articulation) -> JointMotion:
    """The present joint in the frame of the asset that its job looked at."""
    asset_to_rest = np.array(articulation.data["asset_to_rest"])
    return convert.transform_joint(articulation.joint, np.linalg.inv(asset_to_rest))
