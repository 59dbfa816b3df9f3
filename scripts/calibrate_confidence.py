"""Find the numbers of `fit.confidence` from fits whose outcome is known.

Reads an .npz with `signs` (n, 4), as `Candidate.signs` of the best candidates, and `right` (n,)
bool; fits the logistic map on one half, prints its calibration on the other, then the numbers
fitted on all. Use generated objects only, never those that accuracy is quoted on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from atop_backend.motion.confidence import calibrate, calibration_error


def main() -> None:
    """Print the reliability of a held-out half and the numbers for the configuration."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outcomes", type=Path, help=".npz with signs (n, 4) and right (n,)")
    parser.add_argument("--seed", type=int, default=0, help="of the split into halves")
    arguments = parser.parse_args()
    with np.load(arguments.outcomes) as data:
        signs, right = data["signs"], data["right"].astype(float)
    order = np.random.default_rng(arguments.seed).permutation(len(right))
    learn, judge = order[::2], order[1::2]
    chances = _chances(signs[judge], calibrate(signs[learn], right[learn]))
    print(f"{len(right)} fits, {right.mean():.3f} right")
    print("held-out half:  chance  right  fits")
    which = np.minimum((chances * 10).astype(int), 9)
    for index in np.unique(which):
        chosen = which == index
        print(
            f"{'':14}{chances[chosen].mean():8.3f}{right[judge][chosen].mean():7.3f}{chosen.sum():6d}"
        )
    error = calibration_error(chances, right[judge])
    print(f"expected calibration error {error:.3f}")
    numbers = ", ".join(f"{value:.3f}" for value in calibrate(signs, right))
    print(f"fit.confidence = [{numbers}]")


def _chances(signs: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-signs @ slopes))


if __name__ == "__main__":
    main()
