"""Training: exact when resumed, averaged over processes, and able to learn."""

import functools

import pytest
import torch

from atop_backend.diffusion.autoencoder import Autoencoder
from atop_backend.diffusion.text import FEATURES, TOKENS
from atop_backend.diffusion.transformer import TINY, MultiViewVideoTransformer
from atop_backend.training import data, loop
from atop_backend.training.autoencoder import picture_loss
from atop_backend.training.muon import Muon, orthogonalise


class Words:
    """Stands for the sentence encoder."""

    def encode(self, prompts):
        generator = torch.Generator().manual_seed(sum(map(len, prompts)))
        return torch.randn(len(prompts), TOKENS, FEATURES, generator=generator)


@functools.cache
def drawer() -> data.ClipDrawer:
    torch.manual_seed(0)
    autoencoder = Autoencoder(8, 16).eval().requires_grad_(False)
    return data.ClipDrawer(autoencoder, Words(), torch.device("cpu"))


@functools.cache
def drawn(first_seed: int, count: int) -> data.StoredClips:
    objects = data.packed_objects(first_seed, count)
    return drawer().draw(objects, torch.Generator().manual_seed(first_seed))


class CachedDrawer(data.ClipDrawer):
    """Draws each group of objects once, whoever asks."""

    def draw(self, objects, generator):
        return drawn(objects, 1)


def trainer(monkeypatch, seed: int = 0) -> loop.Trainer:
    monkeypatch.setattr(data, "packed_objects", lambda first_seed, count: first_seed)
    torch.manual_seed(1)
    config = loop.TrainConfig(
        steps=6, batch=2, new_clips=1, push_every=2, ring=3, fill=2, long_every=3, warmup=2,
        seed=seed,
    )  # fmt: skip
    kept = CachedDrawer(drawer().autoencoder, Words(), torch.device("cpu"))
    return loop.Trainer(MultiViewVideoTransformer(TINY), kept, config)


@pytest.fixture
def stored() -> data.StoredClips:
    return drawn(5, 2)


def test_a_resumed_run_gives_the_weights_of_one_that_was_not_stopped(monkeypatch, tmp_path):
    for seed in range(6):  # draw before the stream is replaced
        drawn(seed, 1)
    whole = trainer(monkeypatch)
    whole.prepare()
    for _ in range(5):
        whole.train_step()

    first = trainer(monkeypatch)
    first.prepare()
    for _ in range(3):
        first.train_step()
    loop.save_state(first, tmp_path / "state.pt")
    second = trainer(monkeypatch)
    second.load_state(torch.load(tmp_path / "state.pt"))
    second.prepare()
    for _ in range(2):
        second.train_step()

    for name, value in whole.current().items():
        torch.testing.assert_close(second.current()[name], value, rtol=0, atol=0)
    for name, value in whole.averaged().items():
        torch.testing.assert_close(second.averaged()[name], value, rtol=0, atol=0)


def test_one_batch_can_be_learned(stored):
    torch.manual_seed(0)
    config = loop.TrainConfig()
    model = MultiViewVideoTransformer(TINY)
    frames = torch.tensor([[2, 5, 8]]).expand(2, -1)
    generator = torch.Generator().manual_seed(0)
    batch = data.take(stored, frames, torch.zeros(2, dtype=torch.long), 0.0, generator)
    noise = torch.randn(batch.channels.shape, generator=generator)
    timestep = torch.tensor([0.9, 1.0])
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    seen = []
    for _ in range(40):
        result = loop.losses(model, batch, timestep, noise, config)
        result.total.backward()
        optimiser.step()
        optimiser.zero_grad()
        seen.append(float(result.total.detach()))
    assert seen[-1] < 0.5 * seen[0]


def test_losses_vanish_for_the_true_velocity(stored):
    frames = torch.tensor([[0, 4, 8]]).expand(2, -1)
    generator = torch.Generator().manual_seed(0)
    batch = data.take(stored, frames, torch.zeros(2, dtype=torch.long), 0.0, generator)
    noise, timestep = torch.randn(batch.channels.shape), torch.tensor([0.2, 0.8])
    signal, spread = loop.schedule(timestep)

    def knows(noisy, time, conditions):
        return (signal * noisy - batch.channels) / spread  # noisy = signal x + spread n

    result = loop.losses(knows, batch, timestep, noise, loop.TrainConfig())
    assert float(result.total) < 1e-6


def test_clips_have_the_frames_and_words_that_were_asked_for(stored):
    frames = torch.tensor([[1, 4, 8], [0, 2, 3]])
    generator = torch.Generator().manual_seed(0)
    batch = data.take(stored, frames, torch.tensor([0, 2]), 0.0, generator)
    torch.testing.assert_close(batch.conditions.frames, (frames + 1) / 9)
    torch.testing.assert_close(batch.conditions.text[1], stored.text[1, 2].float())
    torch.testing.assert_close(batch.channels[0, :, 1, :4], stored.latents[0, :, 5].float())


def test_the_ring_keeps_the_newest_clips(stored):
    ring = data.ClipRing(2)
    one = data.StoredClips(*(value[:1] for value in stored))
    for mark in range(3):
        ring.push(one._replace(part_radius=torch.tensor([float(mark)])))
    assert ring.filled == 2
    kept = ring.draw(16, 3, torch.Generator().manual_seed(0)).conditions.part_radius
    assert set(kept.tolist()) == {1.0, 2.0}


def test_held_out_objects_are_never_drawn_for_training():
    largest = 100 * loop._SEEDS_PER_PROCESS  # a hundred processes or runs
    assert largest <= data.HELD_OUT_SEED


def test_orthogonalised_matrices_have_singular_values_near_one():
    generator = torch.Generator().manual_seed(0)
    for shape in ((3, 32, 64), (2, 64, 16)):
        values = torch.linalg.svdvals(orthogonalise(torch.randn(shape, generator=generator)))
        assert values.min() > 0.3
        assert values.max() < 1.4


def test_muon_finds_the_minimum_of_a_matrix_problem():
    generator = torch.Generator().manual_seed(0)
    target = torch.randn(8, 12, generator=generator)
    matrix = torch.zeros(8, 12, requires_grad=True)
    optimiser = Muon([matrix], lr=0.1, weight_decay=0.0)
    for step in range(200):
        optimiser.param_groups[0]["lr"] = 0.1 * (1 - step / 200)
        (matrix - target).square().sum().backward()
        optimiser.step()
        matrix.grad = None
    assert (matrix - target).detach().square().mean() < 0.01 * target.square().mean()


def test_blurred_pictures_cost_more_than_their_plain_error():
    pictures = (torch.rand(1, 3, 32, 32, generator=torch.Generator().manual_seed(0)) > 0.5).float()
    blurred = torch.nn.functional.avg_pool2d(pictures, 3, stride=1, padding=1)
    assert picture_loss(pictures, pictures) == 0
    assert picture_loss(blurred, pictures) > (blurred - pictures).abs().mean()
