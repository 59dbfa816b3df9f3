"""Both distillation losses move renders towards what a stand-in model expects."""

import pytest
import torch

from atop_backend.diffusion.guidance import (
    EARLIEST,
    LATEST,
    annealed_time,
    clip_pixels,
    sds_loss,
    uniform_time,
    x0_loss,
)

ALPHA, SIGMA = 0.6, 0.8


def draws():
    target, latents, noise = torch.randn(
        3, 2, 4, 4, 8, 8, generator=torch.Generator().manual_seed(0)
    )
    return target, latents.requires_grad_(), noise


def test_sds_pulls_renders_towards_what_the_model_expects():
    target, latents, noise = draws()

    def knows_the_target(noisy):
        return (noisy - ALPHA * target) / SIGMA

    sds_loss(latents, knows_the_target, ALPHA, SIGMA, noise).backward()

    away = (latents - target).detach()
    torch.testing.assert_close(latents.grad, SIGMA * ALPHA * away, atol=1e-4, rtol=1e-4)


def test_x0_loss_pulls_renders_towards_what_the_model_expects():
    target, latents, noise = draws()
    x0_loss(latents, lambda noisy: target, ALPHA, SIGMA, noise).backward()
    torch.testing.assert_close(latents.grad, (latents - target).detach())


def test_the_losses_differ_by_their_weight_alone():
    """For a network that is wrong in any way: x0 = sigma / alpha, SDS = sigma squared."""
    _, latents, noise = draws()

    def crooked(noisy):
        return torch.sin(noisy)

    def crooked_signal(noisy):
        return (noisy - SIGMA * crooked(noisy)) / ALPHA

    (sds,) = torch.autograd.grad(sds_loss(latents, crooked, ALPHA, SIGMA, noise), latents)
    (x0,) = torch.autograd.grad(x0_loss(latents, crooked_signal, ALPHA, SIGMA, noise), latents)
    torch.testing.assert_close(x0 / (SIGMA / ALPHA), sds / SIGMA**2, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("loss", [sds_loss, x0_loss])
def test_the_model_is_called_without_gradient(loss):
    _, latents, noise = draws()

    def model(noisy):
        assert not noisy.requires_grad
        return noisy

    assert loss(latents, model, ALPHA, SIGMA, noise).requires_grad


def test_annealed_times_fall_and_uniform_ones_fill_the_range():
    generator = torch.Generator().manual_seed(0)
    assert annealed_time(0.0, generator) == pytest.approx(LATEST)
    late = [annealed_time(0.9, generator) for _ in range(400)]
    assert min(late) < 0.05
    assert 0.45 < max(late) <= 0.5
    uniform = [uniform_time(generator) for _ in range(400)]
    assert EARLIEST <= min(uniform) < 0.05
    assert 0.95 < max(uniform) <= LATEST


def test_one_wild_pixel_is_cut_and_the_others_stay():
    gradient = torch.full((2, 4, 3, 3), 0.1)
    gradient[0, :, 1, 1] = 50.0
    gradient[1, 0, 0, 0] = torch.nan
    cut = clip_pixels(gradient)
    assert cut[0, :, 1, 1].norm().item() == pytest.approx(1.0)
    assert cut.isfinite().all()
    assert torch.equal(cut[0, :, 0], gradient[0, :, 0])
