"""The rig prior: its clips are exact, and a small one learns what words mean."""

from __future__ import annotations

import functools

import pytest
import torch

from atop_backend.creatures import data, generate, probe
from atop_backend.creatures.motion import FRAMES
from atop_backend.diffusion.autoencoder import Autoencoder
from atop_backend.diffusion.text import FEATURES, TOKENS
from atop_backend.diffusion.transformer import TINY_RIG, MultiViewVideoTransformer
from atop_backend.skeletal.kinematics import affine, skin_vertices
from atop_backend.skeletal.prior import GAIN
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
    item = performer().creature
    rig, views = generate.rig_of(item), rest_views(generate.rig_of(item))
    matrices = torch.as_tensor(performer().performances[0].matrices, dtype=torch.float32)
    motions = patch_motions(matrices, views.bound)
    order = [item.bones.index(name) for name in rig.bones]
    whole = affine(matrices[:, order, :, :3], matrices[:, order, :, 3])
    moved = skin_vertices(rig, whole)
    # an affine motion of all bones moves patches by the same affine motion
    turned = whole[:, :1].expand_as(whole)
    expected = skin_vertices(rig, turned) - torch.as_tensor(rig.vertices, dtype=torch.float32)
    rigid = patch_motions(matrices[:, :1].expand_as(matrices), views.bound)
    assert float(rigid.norm(dim=2).max()) <= float(expected.norm(dim=-1).max()) + 1e-4
    reach = (moved - torch.as_tensor(rig.vertices, dtype=torch.float32)).norm(dim=-1).max()
    assert 0.5 * float(reach) < float(motions.norm(dim=2).max()) <= float(reach) + 1e-3


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
    model = MultiViewVideoTransformer(TINY_RIG)
    config = loop.TrainConfig(empty_weight=0.0, frames=FRAMES)
    optimiser = torch.optim.Adam(model.parameters(), 4e-3)
    generator = torch.Generator().manual_seed(1)
    seen = []
    for _ in range(60):
        noise = torch.randn(batch.channels.shape, generator=generator)
        timestep = torch.tensor([1.0, 0.97])
        result = loop.losses(model, batch, timestep, noise, config)
        result.total.backward()
        optimiser.step()
        optimiser.zero_grad()
        seen.append(float(result.total.detach()))
    assert sum(seen[-5:]) < 0.5 * sum(seen[:5])
    entry = probe.HeldOut(["arm", "arm"], [[0, 1], [1, 0]], [batch, _swapped(batch)])
    found = probe.outcomes(model.eval(), [entry], steps=1, acts=1)
    assert all(outcome.error < outcome.mean_error for outcome in found)
    assert all(outcome.error < 1 for outcome in found)  # of no motion
    assert all(outcome.recognised for outcome in found)


def _swapped(batch: data.Draw) -> data.Draw:
    return batch._replace(channels=batch.channels.flip(0))


def test_patches_without_the_body_stay_still(batch):
    model = MultiViewVideoTransformer(TINY_RIG)
    torch.nn.init.normal_(model.write_latents.weight, std=0.2)
    with torch.no_grad():
        answer = model(batch.channels, torch.tensor([0.5, 0.5]), batch.conditions)
    share = torch.nn.functional.avg_pool2d(batch.part_share.flatten(0, 1), 2)
    empty = torch.nn.functional.interpolate(share, scale_factor=2) == 0
    few = (share > 0).flatten(1).sum(dim=1).max()
    assert few <= TINY_RIG.kept_places
    assert float(answer.abs().max()) > 0
    computed = (answer.flatten(0, 1).abs().amax(dim=(1, 2)) > 0).flatten(1).sum(dim=1)
    assert (computed <= 4 * TINY_RIG.kept_places).all()
    assert empty.any()
    assert GAIN > 1
