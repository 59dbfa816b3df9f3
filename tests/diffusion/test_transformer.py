"""The bundled denoiser: shapes, what reaches what, and that it can learn one batch."""

import pytest
import torch

from atop_backend.diffusion import clips
from atop_backend.diffusion.autoencoder import Autoencoder
from atop_backend.diffusion.conditions import Conditions, drop_text
from atop_backend.diffusion.transformer import (
    TINY,
    MultiViewVideoTransformer,
    TransformerConfig,
    forward_flops,
    sinusoids,
)


def conditions(batch: int = 2, frames: int = 3, seed: int = 0) -> Conditions:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    return Conditions(
        rgb=draw(batch, 4, 3, 256, 256).sigmoid(),
        mask=(draw(batch, 4, 1, 256, 256) > 0).float(),
        positions=draw(batch, 4, 3, 256, 256) * 0.3,
        rest_latents=draw(batch, 4, 4, 32, 32),
        cameras=draw(batch, 4, 16),
        text=draw(batch, 24, 384),
        frames=torch.linspace(1 / frames, 1, frames).expand(batch, -1),
        part_centre=draw(batch, 3) * 0.2,
        part_radius=torch.full((batch,), 0.4),
    )


def waking(seed: int = 0) -> MultiViewVideoTransformer:
    """A tiny net whose zero-initialised layers have weights, so that everything matters."""
    torch.manual_seed(seed)
    model = MultiViewVideoTransformer(TINY)
    for parameter in model.parameters():
        if not parameter.any():
            torch.nn.init.normal_(parameter, std=0.1)
    return model


def test_the_prediction_has_the_latents_shape_for_any_number_of_frames():
    model = waking()
    for frames in (1, 3, 9):
        latents = torch.randn(2, 4, frames, 8, 32, 32)
        answer = model.denoise(latents, torch.rand(2), conditions(frames=frames))
        assert answer.shape == latents.shape


def test_gradients_reach_every_parameter():
    model = waking()
    latents = torch.randn(2, 4, 3, 8, 32, 32)
    model.denoise(latents, torch.rand(2), conditions()).square().mean().backward()
    without = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert without == []


@pytest.mark.parametrize("field", Conditions._fields)
def test_every_condition_changes_the_prediction(field):
    model = waking().eval()
    latents = torch.randn(1, 4, 3, 8, 32, 32)
    told = conditions(batch=1)
    other = conditions(batch=1, seed=1)
    value = told.frames.flip(1) if field == "frames" else getattr(other, field)
    if field == "part_radius":
        value = told.part_radius * 1.5
    changed = told._replace(**{field: value})
    time = torch.tensor([0.7])
    with torch.no_grad():
        plain = model.denoise(latents, time, told)
        assert not torch.allclose(plain, model.denoise(latents, time, changed), atol=1e-5)


def test_clips_of_a_batch_do_not_see_each_other():
    model = waking().eval()
    latents, told, time = torch.randn(2, 4, 3, 8, 32, 32), conditions(), torch.tensor([0.3, 0.9])
    with torch.no_grad():
        both = model.denoise(latents, time, told)
        alone = model.denoise(latents[1:], time[1:], Conditions(*(v[1:] for v in told)))
    torch.testing.assert_close(both[1:], alone, atol=1e-5, rtol=1e-4)


def test_checkpointing_changes_memory_and_not_gradients():
    latents, told, time = torch.randn(1, 4, 3, 8, 32, 32), conditions(batch=1), torch.rand(1)
    gradients = []
    for checkpointing in (False, True):
        model = waking().train()
        model.checkpointing = checkpointing
        model.denoise(latents, time, told).square().mean().backward()
        gradients.append(model.blocks[0].to_qkv.weight.grad)
    torch.testing.assert_close(*gradients)


def test_without_words_the_prompt_no_longer_matters():
    model = waking().eval()
    latents, time = torch.randn(1, 4, 3, 8, 32, 32), torch.rand(1)
    with torch.no_grad():
        answers = [
            model.denoise(latents, time, drop_text(told))
            for told in (
                conditions(batch=1),
                conditions(batch=1)._replace(text=conditions(batch=1, seed=5).text),
            )
        ]
    torch.testing.assert_close(*answers)


def test_the_shipped_size_is_what_the_package_promises():
    with torch.device("meta"):
        model, autoencoder = MultiViewVideoTransformer(), Autoencoder()
    parameters = sum(p.numel() for m in (model, autoencoder) for p in m.parameters())
    assert 2 * parameters < 64_000_000  # bytes in half precision
    assert 0.1e12 < forward_flops(TransformerConfig()) < 0.3e12


def test_time_features_tell_near_times_apart_and_stay_bounded():
    features = sinusoids(torch.tensor([0.0, 0.001, 1.0]), 128)
    assert features.abs().max() <= 1
    assert (features[0] - features[1]).norm() > 0.1


def test_channels_survive_packing_and_unpacking():
    latents, silhouettes = torch.randn(2, 4, 3, 4, 32, 32), torch.rand(2, 4, 3, 1, 32, 32)
    motions = torch.randn(2, 4, 3, 3, 32, 32)
    frames = torch.tensor([1 / 3, 2 / 3, 1.0])
    clip = clips.unpack(clips.pack(latents, silhouettes, motions / 0.25), frames, 0.25)
    torch.testing.assert_close(clip.latents, latents)
    torch.testing.assert_close(clip.silhouettes, silhouettes[:, :, :, 0])
    torch.testing.assert_close(clip.motions, motions)


def test_the_most_typical_sample_is_the_one_that_others_resemble():
    outlines = torch.stack(
        [torch.full((4, 3, 32, 32), share) for share in (0.9, 0.1, 0.3, 0.2, 0.15)]
    )
    clip = clips.GeneratedClip(torch.zeros(5, 4, 3, 4, 32, 32), outlines, None, torch.ones(3))
    assert clips.most_typical(clip) == 3
    assert clips.most_typical(clip._replace(silhouettes=None)) == 0
