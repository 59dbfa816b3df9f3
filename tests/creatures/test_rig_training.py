"""The rig prior: its clips are exact, and a small one learns what words mean."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest
import torch

from atop_backend.creatures import data, generate, probe
from atop_backend.creatures.motion import FRAMES
from atop_backend.diffusion.autoencoder import Autoencoder
from atop_backend.diffusion.text import FEATURES, TOKENS
from atop_backend.diffusion.transformer import TINY_RIG, MultiViewVideoTransformer
from atop_backend.skeletal.restviews import patch_motions, rest_views
from atop_backend.training import loop

SEED = 4


@functools.cache
def performer() -> generate.Performer:
    return generate.creature(SEED, "arm", data.ACTS, data.PHRASES)


@functools.cache
def stored() -> data.StoredCreatures:
    """The creature as the product sees it; what the training's renderer sees is compared below."""
    packed, views = data.pack([performer()]), rest_views(generate.rig_of(performer().creature))
    bones = views.bound.shape[1]
    bound = torch.zeros(1, 4, data.MOST_BONES, 4, 32, 32)
    bound[0, :, :bones] = views.bound
    words = torch.randn(1, data.ACTS, data.PHRASES, TOKENS, FEATURES,
                        generator=torch.Generator().manual_seed(0))  # fmt: skip
    return data.StoredCreatures(
        torch.zeros(1, 4, 4, 32, 32), (views.rgb[None] * 255).byte(), views.mask[None],
        views.positions[None], views.cameras[None], bound, packed.matrices, words,
    )  # fmt: skip


def test_a_patch_moves_as_the_skin_that_it_shows():
    views = rest_views(generate.rig_of(performer().creature))
    matrices = torch.as_tensor(performer().performances[0].matrices, dtype=torch.float32)
    # all bones alike: every patch goes where that motion takes its mean point
    alike = matrices[:, -1:].expand_as(matrices)
    points = views.bound[:, :, :3].sum(dim=1)
    there = torch.einsum("fab,vbhw->vfahw", matrices[:, -1, :, :3], points)
    there = there + matrices[:, -1, :, 3][None, :, :, None, None]
    seen = views.bound[:, :, 3].sum(dim=1)[:, None, None] > 0.5
    expected = torch.where(seen, there - points[:, None], 0.0)
    torch.testing.assert_close(patch_motions(alike, views.bound), expected, atol=1e-5, rtol=0)
    # each as it goes: what hangs on one bone alone goes with that bone
    motions = patch_motions(matrices, views.bound)
    owned = (views.bound[:, -1, 3] > 0.999)[:, None, None].expand_as(motions)
    assert owned.any()
    torch.testing.assert_close(motions[owned], expected[owned], atol=2e-3, rtol=0)


def test_the_training_renderer_and_the_product_see_the_same_creature():
    drawer = data.CreatureDrawer(Autoencoder(8, 16).eval(), _Words(), torch.device("cpu"))
    packed = data.pack([performer()])
    drawn = drawer.draw(packed, torch.Generator().manual_seed(0))
    views = rest_views(generate.rig_of(performer().creature))
    assert drawn.mask.shape == (1, 4, 1, 256, 256)
    # the cameras' heights differ; the middle of the body is the same point in space
    for seen, mask in ((drawn.positions[0].float(), drawn.mask[0]), (views.positions, views.mask)):
        points = seen.permute(0, 2, 3, 1)[mask[:, 0]]
        assert float(points.norm(dim=1).max()) <= 1.01
        assert float(points.norm(dim=1).max()) > 0.5
    sums = drawn.bound[0, :, :, 3].float().sum(dim=1)
    covered = torch.nn.functional.avg_pool2d(drawn.mask[0, :, 0].float()[:, None], 8)[:, 0] > 0
    torch.testing.assert_close(sums, covered.float(), atol=2e-3, rtol=0)


class _Words:
    def encode(self, prompts):
        return torch.zeros(len(prompts), TOKENS, FEATURES)


@pytest.fixture(scope="module")
def batch() -> data.Draw:
    rows = data.StoredCreatures(*(value.expand(2, *value.shape[1:]) for value in stored()))
    generator = torch.Generator().manual_seed(0)
    acts = torch.tensor(_most_different())
    return data.take(rows, acts, torch.zeros(2, dtype=torch.long), 0.0, generator)


def _most_different() -> tuple[int, int]:
    motions = patch_motions(
        stored().matrices[0], stored().bound.expand(data.ACTS, -1, -1, -1, -1, -1)
    )
    distances = torch.cdist(motions.flatten(1), motions.flatten(1))
    return divmod(int(distances.argmax()), data.ACTS)


def test_a_small_prior_learns_two_motions_by_their_words(batch):
    torch.manual_seed(0)
    seen = torch.nn.functional.max_pool2d(batch.part_share.flatten(0, 1), 2) > 0
    places = int(seen.flatten(1).sum(dim=1).max())
    model = MultiViewVideoTransformer(replace(TINY_RIG, kept_places=places))
    config = loop.TrainConfig(empty_weight=0.0, frames=FRAMES)
    optimiser = torch.optim.Adam(model.parameters(), 4e-3)
    generator = torch.Generator().manual_seed(1)
    history = []
    for _ in range(45):
        noise = torch.randn(batch.channels.shape, generator=generator)
        timestep = torch.tensor([1.0, 0.97])
        result = loop.losses(model, batch, timestep, noise, config)
        result.total.backward()
        optimiser.step()
        optimiser.zero_grad()
        history.append(float(result.total.detach()))
    assert sum(history[-5:]) < 0.5 * sum(history[:5])
    entry = probe.HeldOut(["arm", "arm"], [[0, 1], [1, 0]], [batch, _swapped(batch)])
    found = probe.outcomes(model.eval(), [entry], steps=1, acts=1)
    assert all(outcome.error < outcome.mean_error for outcome in found)
    assert all(outcome.error < 1 for outcome in found)  # of no motion
    assert all(outcome.recognised for outcome in found)


def _swapped(batch: data.Draw) -> data.Draw:
    return batch._replace(channels=batch.channels.flip(0))


def test_only_patches_that_see_the_body_are_computed(batch):
    places = 8
    model = MultiViewVideoTransformer(replace(TINY_RIG, kept_places=places))
    torch.nn.init.normal_(model.write_latents.weight, std=0.2)
    with torch.no_grad():
        answer = model(batch.channels, torch.tensor([0.5, 0.5]), batch.conditions)
    pooled = torch.nn.functional.max_pool2d(answer.abs().flatten(0, 2), 2)
    computed = pooled.amax(dim=1).flatten(1) > 0
    assert (computed.sum(dim=1) == places).all()
    share = torch.nn.functional.avg_pool2d(batch.part_share.flatten(0, 1), 2).flatten(1)
    shares = share.repeat_interleave(FRAMES, dim=0)
    least = torch.where(computed, shares, 1.0).amin(dim=1)
    assert (least >= torch.where(computed, 0.0, shares).amax(dim=1)).all()
