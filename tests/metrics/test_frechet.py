"""The Fréchet distance against what is known in closed form."""

import math

import numpy as np
import pytest
from scipy.linalg import sqrtm

from atop_backend.errors import InputError
from atop_backend.metrics.frechet import frechet_distance, frechet_of_gaussians, kernel_distance


def gaussian(rng, size):
    root = rng.normal(size=(size, size))
    return rng.normal(size=size), root @ root.T


def test_equal_gaussians_are_at_no_distance():
    mean, covariance = gaussian(np.random.default_rng(0), 7)
    found = frechet_of_gaussians(mean, covariance, mean, covariance)
    assert found == pytest.approx(0, abs=1e-10 * np.trace(covariance))


def test_a_shift_counts_its_square():
    mean, covariance = gaussian(np.random.default_rng(1), 5)
    shift = np.array([3.0, 0, 0, -4.0, 0])
    assert frechet_of_gaussians(mean, covariance, mean + shift, covariance) == pytest.approx(25)


def test_on_a_line_it_is_shift_and_difference_of_spreads():
    found = frechet_of_gaussians(np.zeros(1), np.array([[9.0]]), np.ones(1) * 2, np.array([[4.0]]))
    assert found == pytest.approx(2**2 + (3 - 2) ** 2)


def test_covariances_with_the_same_axes_compare_axis_by_axis():
    rng = np.random.default_rng(2)
    axes, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    first, second = rng.uniform(0.1, 3, (2, 4))
    found = frechet_of_gaussians(
        np.zeros(4), axes * first**2 @ axes.T, np.zeros(4), axes * second**2 @ axes.T
    )
    assert found == pytest.approx(np.square(first - second).sum())


def test_flat_gaussians_across_each_other_share_nothing():
    first, second = np.diag([4.0, 0.0]), np.diag([0.0, 9.0])
    assert frechet_of_gaussians(np.zeros(2), first, np.zeros(2), second) == pytest.approx(13)


def test_any_two_gaussians_agree_with_the_matrix_root():
    rng = np.random.default_rng(3)
    (mean, first), (other, second) = gaussian(rng, 6), gaussian(rng, 6)
    root = np.real(sqrtm(first @ second))
    expected = np.square(mean - other).sum() + np.trace(first + second - 2 * root)
    assert frechet_of_gaussians(mean, first, other, second) == pytest.approx(expected)


@pytest.mark.parametrize("count", [5, 40])  # fewer and more than there are features
def test_samples_give_the_distance_of_their_moments(count):
    rng = np.random.default_rng(4)
    first, second = rng.normal(size=(count, 9)), 1 + 2 * rng.normal(size=(count + 3, 9))
    moments = [f(x) for x in (first, second) for f in (lambda x: x.mean(0), lambda x: np.cov(x.T))]
    assert frechet_distance(first, second) == pytest.approx(frechet_of_gaussians(*moments))
    assert frechet_distance(first, first) == pytest.approx(0, abs=1e-9)


def test_many_samples_of_known_gaussians_come_near_the_true_distance():
    rng = np.random.default_rng(5)
    first = rng.normal(size=(20_000, 3))
    second = rng.normal(loc=[1, 0, 0], scale=2, size=(20_000, 3))
    assert frechet_distance(first, second) == pytest.approx(1 + 3 * (2 - 1) ** 2, rel=0.05)


def test_one_sample_has_no_covariance():
    with pytest.raises(InputError, match="two samples"):
        frechet_distance(np.zeros((1, 3)), np.zeros((5, 3)))


def test_the_kernel_distance_has_no_bias_for_few_samples():
    rng = np.random.default_rng(6)
    same = [kernel_distance(*rng.normal(size=(2, 6, 8))) for _ in range(4000)]
    error = np.std(same) / math.sqrt(len(same))
    assert abs(np.mean(same)) < 4 * error
    apart = kernel_distance(rng.normal(size=(50, 8)), 1 + rng.normal(size=(50, 8)))
    assert apart > 5 * np.std(same)


def test_the_kernel_distance_of_points_is_known():
    first, second = np.zeros((2, 4)), np.ones((2, 4))  # kernels: 1, 2 ** 3 and 1
    assert kernel_distance(first, second) == pytest.approx(1 + 8 - 2)
