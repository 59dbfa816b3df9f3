"""The chance that an answer is right, from margins, agreement and fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_EDGE = 1e-4  # probabilities are kept this far from 0 and 1 before they become log odds


def softmax(scores: np.ndarray) -> np.ndarray:
    """Shares (n,) of scores (n,) in units of log probability."""
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def signs_of_trust(shares: np.ndarray, agreement: float, explained: float) -> np.ndarray:
    """The four inputs of the logistic map: one, log odds of the best answer, agreement, fit.

    Args:
        shares: Shares of the different answers, best first; they sum to one.
        agreement: Share of the samples that by themselves choose the best answer.
        explained: Share of the motion that the best answer explains.
    """
    best = float(np.clip(shares[0], _EDGE, 1 - _EDGE))
    return np.array([1.0, np.log(best / (1 - best)), agreement, explained])


def confidences(shares: np.ndarray, signs: np.ndarray, slopes: Sequence[float]) -> np.ndarray:
    """Calibrated chances of the answers, best first; they sum to at most one.

    The best answer's chance comes from the logistic map with `slopes`; what is left is divided
    among the others by their shares.
    """
    chance = 1 / (1 + np.exp(-float(signs @ np.asarray(slopes))))
    rest = shares[1:] / max(1 - shares[0], 1e-12)
    return np.concatenate([[chance], (1 - chance) * np.minimum(rest, 1.0)])


def calibrate(signs: np.ndarray, right: np.ndarray, ridge: float = 1.0) -> np.ndarray:
    """The slopes (4,) with which the logistic map best foretells outcomes.

    Args:
        signs: Inputs of past fits, (n, 4), as from `signs_of_trust`.
        right: Whether each fit was right, (n,).
        ridge: Pull of the slopes towards 0, in outcomes.
    """
    slopes = np.zeros(signs.shape[1])
    pull = np.diag([0.0, *[ridge] * (signs.shape[1] - 1)])
    for _ in range(50):  # Newton steps of penalised maximum likelihood
        chance = 1 / (1 + np.exp(-signs @ slopes))
        slope = signs.T @ (right - chance) - pull @ slopes
        bend = (
            (signs * (chance * (1 - chance))[:, None]).T @ signs + pull + 1e-9 * np.eye(len(pull))
        )
        step = np.linalg.solve(bend, slope)
        slopes = slopes + step
        if np.abs(step).max() < 1e-9:
            break
    return slopes


def calibration_error(chances: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error: mean gap between chance and outcome over equal-width bins."""
    which = np.minimum((chances * bins).astype(int), bins - 1)
    gaps = [
        abs(chances[which == b].mean() - right[which == b].mean()) * np.mean(which == b)
        for b in np.unique(which)
    ]
    return float(np.sum(gaps))
