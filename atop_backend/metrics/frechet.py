"""The Fréchet distance between two clouds of features, exact for few samples as well.

With centred samples A and B over the roots of their counts less one, the covariances are A^T A and
B^T B, and the trace of the root of their product is the sum of the singular values of A B^T. So no
matrix root is needed, and clouds with fewer samples than features are no special case.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from atop_backend.errors import InputError


def frechet_distance(
    first: Float[np.ndarray, "n features"], second: Float[np.ndarray, "m features"]
) -> float:
    """Squared Fréchet distance between the Gaussians with the samples' means and covariances."""
    for samples in (first, second):
        if len(samples) < 2:
            raise InputError(
                "a covariance needs two samples or more", hint="give more videos of each kind"
            )
    means = [samples.mean(axis=0, dtype=np.float64) for samples in (first, second)]
    roots = [  # R of QR has the same products as the samples, and no more rows than features
        np.linalg.qr((samples - mean) / np.sqrt(len(samples) - 1), mode="r")
        for samples, mean in zip((first, second), means, strict=True)
    ]
    return _distance(*means, *roots)


def frechet_of_gaussians(
    first_mean: Float[np.ndarray, " features"],
    first_covariance: Float[np.ndarray, "features features"],
    second_mean: Float[np.ndarray, " features"],
    second_covariance: Float[np.ndarray, "features features"],
) -> float:
    """Squared Fréchet distance between two Gaussians."""
    roots = (_root(covariance) for covariance in (first_covariance, second_covariance))
    return _distance(first_mean, second_mean, *roots)


def _distance(
    first_mean: np.ndarray, second_mean: np.ndarray, first_root: np.ndarray, second_root: np.ndarray
) -> float:
    shift = np.square(first_mean - second_mean).sum()
    spread = np.square(first_root).sum() + np.square(second_root).sum()
    shared = np.linalg.svd(first_root @ second_root.T, compute_uv=False).sum()
    return float(max(shift + spread - 2 * shared, 0.0))


def _root(covariance: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(covariance)
    return np.sqrt(values.clip(min=0.0))[:, None] * vectors.T


def kernel_distance(
    first: Float[np.ndarray, "n features"], second: Float[np.ndarray, "m features"]
) -> float:
    """Squared maximum mean discrepancy with the cubic kernel of KID; without bias for few samples.

    May fall below 0 by chance when both come from one distribution.
    """
    size = first.shape[1]

    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a.astype(np.float64) @ b.T / size + 1) ** 3

    def within(samples: np.ndarray) -> float:
        values, count = kernel(samples, samples), len(samples)
        return (values.sum() - np.trace(values)) / (count * (count - 1))

    return float(within(first) + within(second) - 2 * kernel(first, second).mean())
