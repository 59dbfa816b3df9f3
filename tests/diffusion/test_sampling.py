"""Schedules, DDIM and guidance, with stand-ins for the networks whose right answers are known."""

import itertools
import math
from dataclasses import replace

import pytest
import torch
from diffusers import DDIMScheduler

from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.imagedream import ImageDreamDenoiser
from atop_backend.diffusion.sample import _both, predict, sample
from atop_backend.diffusion.schedule import (
    alpha_bars,
    interpret,
    sampling_times,
    signal_and_noise,
    step_index,
    training_target,
)
from atop_backend.diffusion.unet import TINY, MultiViewVideoUNet
from atop_backend.errors import CancelledError

PREDICTIONS = ("v", "epsilon")


def conditions(batch=1, views=4, frames=3, size=4):
    generator = torch.Generator().manual_seed(9)

    def draws(*shape):
        return torch.randn(shape, generator=generator)

    return Conditions(
        rgb=draws(batch, views, 3, 8 * size, 8 * size),
        mask=draws(batch, views, 1, 8 * size, 8 * size),
        positions=draws(batch, views, 3, 8 * size, 8 * size),
        rest_latents=draws(batch, views, 4, size, size),
        cameras=draws(batch, views, 16),
        text=draws(batch, 5, 6),
        frames=torch.linspace(1 / frames, 1, frames).expand(batch, frames),
        part_centre=draws(batch, 3),
        part_radius=torch.ones(batch),
    )


class KnowsTheClip:
    """Answers as a perfect network would whose data hold one clip (another one without words)."""

    channels = 4

    def __init__(self, prediction, clip, clip_without_words=None):
        self.prediction, self.clip = prediction, clip
        self.clip_without_words = clip if clip_without_words is None else clip_without_words
        self.calls = 0

    def denoise(self, latents, timestep, conditions):
        self.calls += 1
        assert timestep.shape == latents.shape[:1] == conditions.text.shape[:1]
        alpha, sigma = signal_and_noise(self.prediction, float(timestep[0]))
        clip = self.clip if conditions.text.any() else self.clip_without_words
        noise = (latents - alpha * clip) / sigma
        return training_target(self.prediction, clip.expand_as(latents), noise, alpha, sigma)


def clip(seed=0):
    return torch.randn(4, 3, 4, 4, 4, generator=torch.Generator().manual_seed(seed))


def run(denoiser, **changes):
    options = {"steps": 4, "guidance_scale": 1.0, "generator": torch.Generator().manual_seed(0)}
    return sample(denoiser, conditions(), **{**options, **changes})


@pytest.mark.parametrize("prediction", PREDICTIONS)
@pytest.mark.parametrize("steps", [1, 2, 7, 50])
@pytest.mark.parametrize("eta", [0.0, 0.6])
def test_a_perfect_network_samples_its_clip_in_any_number_of_steps(prediction, steps, eta):
    found = run(KnowsTheClip(prediction, clip()), steps=steps, eta=eta)
    assert found.shape == (1, 4, 3, 4, 4, 4)
    # Stable Diffusion's last step leaves 0.09 % of the power as noise
    torch.testing.assert_close(
        found[0], clip(), atol=0.2 if prediction == "epsilon" else 1e-3, rtol=0
    )


@pytest.mark.parametrize("prediction", PREDICTIONS)
def test_the_answer_of_a_network_and_its_meaning_are_inverse(prediction):
    signal, noise = clip(1), clip(2)
    alpha, sigma = signal_and_noise(prediction, 0.6)
    noisy = alpha * signal + sigma * noise
    target = training_target(prediction, signal, noise, alpha, sigma)
    estimate = interpret(prediction, target, noisy, alpha, sigma)
    torch.testing.assert_close(estimate.signal, signal, atol=1e-4, rtol=0)
    torch.testing.assert_close(estimate.noise, noise, atol=1e-4, rtol=0)


@pytest.mark.parametrize("prediction", PREDICTIONS)
def test_power_is_kept_and_noise_grows_with_time(prediction):
    pairs = [signal_and_noise(prediction, time / 20) for time in range(21)]
    assert all(math.isclose(a * a + s * s, 1) for a, s in pairs)
    assert all(s < later for (_, s), (_, later) in itertools.pairwise(pairs))


def stable_diffusion():
    return DDIMScheduler(
        num_train_timesteps=1000,
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        steps_offset=1,
        clip_sample=False,
        set_alpha_to_one=False,
        prediction_type="epsilon",
    )


def test_the_schedule_is_the_one_stable_diffusion_was_trained_with():
    torch.testing.assert_close(
        alpha_bars().float(), stable_diffusion().alphas_cumprod, rtol=1e-4, atol=1e-6
    )
    assert alpha_bars()[500].item() == pytest.approx(0.276, abs=1e-3)


@pytest.mark.parametrize("steps", [20, 50])
def test_steps_agree_with_the_scheduler_of_diffusers(steps):
    """The whole path with a network that is wrong in a fixed way."""

    class Crooked:
        prediction, channels = "epsilon", 4

        def denoise(self, latents, timestep, conditions):
            return torch.sin(3 * latents) + timestep[0]

    found = run(Crooked(), steps=steps)

    scheduler = stable_diffusion()
    scheduler.set_timesteps(steps)
    assert [step_index(time) for time in sampling_times("epsilon", steps)[:-1]] == (
        scheduler.timesteps.tolist()
    )
    latents = torch.randn((1, 4, 3, 4, 4, 4), generator=torch.Generator().manual_seed(0))
    for timestep in scheduler.timesteps:
        output = torch.sin(3 * latents) + timestep / 999
        latents = scheduler.step(output, timestep, latents).prev_sample
    torch.testing.assert_close(found, latents, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("prediction", PREDICTIONS)
def test_guidance_goes_beyond_the_answer_with_words(prediction):
    with_words, without = clip(1), clip(2)
    denoiser = KnowsTheClip(prediction, with_words, without)
    estimate = predict(denoiser, clip(3)[None], 0.5, conditions(), guidance_scale=3.0)
    torch.testing.assert_close(
        estimate.signal[0], without + 3 * (with_words - without), atol=1e-3, rtol=1e-3
    )


@pytest.mark.parametrize("prediction", PREDICTIONS)
def test_full_rescaling_gives_the_guided_signal_the_spread_of_the_plain_one(prediction):
    denoiser = KnowsTheClip(prediction, clip(1), clip(2))
    noisy = clip(3)[None]
    estimate = predict(denoiser, noisy, 0.5, conditions(), guidance_scale=5.0, rescale=1.0)
    assert estimate.signal.std().item() == pytest.approx(clip(1).std().item(), rel=1e-3)
    alpha, sigma = signal_and_noise(prediction, 0.5)
    torch.testing.assert_close(alpha * estimate.signal + sigma * estimate.noise, noisy)


def test_no_guidance_needs_one_pass_a_step():
    denoiser = KnowsTheClip("v", clip())
    run(denoiser, steps=5)
    assert denoiser.calls == 5
    run(denoiser, steps=5, guidance_scale=2.0)
    assert denoiser.calls == 15


def test_samples_differ_repeat_with_the_seed_and_do_not_depend_on_the_batch():
    class Copies:
        prediction, channels = "v", 4

        def denoise(self, latents, timestep, conditions):
            return 0.1 * latents

    first = run(Copies(), samples=3, batch=2)
    again = run(Copies(), samples=3, batch=3)
    assert first.shape[0] == 3
    torch.testing.assert_close(first, again)
    assert (first[0] - first[1]).abs().mean() > 0.1


def test_progress_is_told_after_each_step_and_can_stop_the_run():
    told = []
    run(KnowsTheClip("v", clip()), samples=3, batch=2, on_step=lambda *step: told.append(step))
    assert told == [(i, 8) for i in range(1, 9)]

    def cancel(done, total):
        if done == 2:
            raise CancelledError

    denoiser = KnowsTheClip("v", clip())
    with pytest.raises(CancelledError):
        run(denoiser, on_step=cancel)
    assert denoiser.calls == 2


def test_both_branches_of_guidance_in_one_pass_answer_as_one_after_the_other():
    torch.manual_seed(0)
    unet = MultiViewVideoUNet(replace(TINY, with_ip=False)).eval()
    denoiser = ImageDreamDenoiser(unet, None, torch.randn(1, 5, TINY.context_dim))
    asked = conditions(batch=2, size=8)
    asked = asked._replace(text=torch.randn(2, 5, TINY.context_dim))
    noisy, timestep = torch.randn(2, 4, 3, 4, 8, 8), torch.tensor([0.3, 0.8])
    with torch.no_grad():
        apart = _both(denoiser, noisy, timestep, asked, joined=False)
        together = _both(denoiser, noisy, timestep, asked, joined=True)
    for one, other in zip(apart, together, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)
    assert (apart[0] - apart[1]).abs().max() > 1e-3
