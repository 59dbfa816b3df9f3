"""Gaussians follow the clips that a stand-in model believes in, with every kind of guidance."""

import math

import pytest
import torch
from test_cloud import box_points

from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.schedule import signal_and_noise, training_target
from atop_backend.errors import CancelledError
from atop_backend.gaussians.cloud import build_cloud
from atop_backend.gaussians.optimise import (
    OptimiseConfig,
    articulate_cloud,
    rigidity_loss,
    smoothness_loss,
)
from atop_backend.gaussians.scene import prepare, render_clip
from atop_backend.geometry.cameras import rig

CAMERAS = rig(elevation_rad=0.35)
FRAMES = 2


class KnowsTheClip:
    def __init__(self, prediction, clip):
        self.prediction, self.clip, self.channels = prediction, clip, clip.shape[2]

    def denoise(self, latents, timestep, conditions):
        alpha, sigma = signal_and_noise(self.prediction, float(timestep[0]))
        noise = (latents - alpha * self.clip) / sigma
        return training_target(self.prediction, self.clip.expand_as(latents), noise, alpha, sigma)


def object_at_rest():
    """A box whose front, the part, is a panel; its latents are a colour field over the surface."""
    generator = torch.Generator().manual_seed(0)
    part = box_points([-0.45, -0.5, -0.45], [0.45, -0.4, 0.45], 120, generator)
    body = box_points([-0.5, -0.4, -0.5], [0.5, 0.4, 0.5], 160, generator)
    cloud = build_cloud(part, body, frames=FRAMES + 1, pixel_size=0.09)
    paint = torch.randn(3, 4, generator=generator) * 2
    features = torch.cat([cloud.centres[0] @ paint, cloud.moving[:, None].float()], dim=1)
    return cloud._replace(features=features)


def rest_conditions(cloud):
    """What the renderer itself shows of the rest pose."""
    blank = Conditions(
        rgb=torch.zeros(1, 4, 3, 256, 256),
        mask=torch.zeros(1, 4, 1, 256, 256),
        positions=torch.zeros(1, 4, 3, 256, 256),
        rest_latents=torch.zeros(1, 4, 4, 32, 32),
        cameras=torch.zeros(1, 4, 16),
        text=torch.ones(1, 3, 8),
        frames=torch.linspace(1 / FRAMES, 1, FRAMES)[None],
        part_centre=torch.tensor([[0.0, -0.45, 0.0]]),
        part_radius=torch.tensor([0.64]),
    )
    drawn = draw(cloud, blank, cloud.centres[1:, cloud.moving])[:, 0]
    shares = (drawn[:, 4:5] + 0.3) / 3
    mask = torch.nn.functional.interpolate(shares, size=256)
    seen = torch.nn.functional.interpolate(
        (drawn[:, :4].norm(dim=1, keepdim=True) > 0.02).float(), size=256
    )
    return blank._replace(
        rest_latents=drawn[None, :, :4],
        mask=(mask > 0.5).float()[None],
        positions=seen.expand(-1, 3, -1, -1)[None],
    )


def draw(cloud, conditions, part_centres):
    """A clip drawn with the true features."""
    _, scene = prepare(
        cloud._replace(features=cloud.features[:, :4]), CAMERAS, conditions, 8, False
    )
    return render_clip(scene._replace(leftovers=torch.zeros(4, 1, 4, 32, 32)), cloud, part_centres)


@pytest.fixture(scope="module")
def case():
    """The rest pose, and where the panel goes: it turns about its left edge by 20 degrees."""
    cloud = object_at_rest()
    conditions = rest_conditions(cloud)
    rest = cloud.centres[0, cloud.moving]
    goals = []
    for share in (0.5, 1.0):
        angle = -math.radians(20) * share
        turn = torch.tensor(
            [
                [math.cos(angle), -math.sin(angle), 0],
                [math.sin(angle), math.cos(angle), 0],
                [0, 0, 1],
            ]
        )
        edge = torch.tensor([-0.45, -0.45, 0.0])
        goals.append((rest - edge) @ turn.T + edge)
    return cloud, conditions, torch.stack(goals)


def colours_only(cloud):
    return cloud._replace(features=cloud.features[:, :4])


@pytest.mark.parametrize("guidance", ["sampled", "sds", "x0"])
@pytest.mark.parametrize(("channels", "prediction"), [(8, "v"), (4, "epsilon")])
def test_gaussians_go_where_the_clip_shows_them(case, guidance, channels, prediction):
    cloud, conditions, goals = case
    denoiser = KnowsTheClip(prediction, draw(cloud, conditions, goals)[:, :, :channels])
    config = OptimiseConfig(steps=32, learning_rate=0.015, sampling_steps=1)
    found = articulate_cloud(
        colours_only(cloud),
        CAMERAS,
        denoiser,
        conditions,
        guidance,
        config,
        torch.Generator().manual_seed(0),
    )

    rest = cloud.centres[0, cloud.moving]
    before = (goals - rest).norm(dim=2).mean()
    after = (found.centres[1:, cloud.moving] - goals).norm(dim=2).mean()
    assert after < 0.35 * before
    assert torch.equal(found.centres[0], cloud.centres[0])
    assert torch.equal(found.centres[:, ~cloud.moving], cloud.centres[:, ~cloud.moving])


def test_a_given_clip_is_followed_without_asking_the_denoiser(case):
    cloud, conditions, goals = case
    clip = draw(cloud, conditions, goals)

    class Silent:
        prediction, channels = "v", 8

        def denoise(self, latents, timestep, conditions):
            raise AssertionError("the denoiser was asked")

    told = []
    articulate_cloud(
        colours_only(cloud),
        CAMERAS,
        Silent(),
        conditions,
        "sampled",
        OptimiseConfig(steps=2),
        torch.Generator().manual_seed(0),
        target=clip,
        on_step=lambda *step: told.append(step),
    )
    assert told == [(1, 2), (2, 2)]


def test_progress_counts_sampling_and_can_stop_the_run(case):
    cloud, conditions, goals = case
    told = []

    def stop(step, total):
        told.append((step, total))
        if step == 4:
            raise CancelledError

    with pytest.raises(CancelledError):
        articulate_cloud(
            colours_only(cloud),
            CAMERAS,
            KnowsTheClip("v", draw(cloud, conditions, goals)),
            conditions,
            "sampled",
            OptimiseConfig(steps=5, sampling_steps=3),
            torch.Generator().manual_seed(0),
            on_step=stop,
        )
    assert told == [(1, 8), (2, 8), (3, 8), (4, 8)]


def test_the_rest_pose_renders_to_the_rest_views_where_the_part_is_not(case):
    cloud, conditions, _ = case
    fitted, scene = prepare(colours_only(cloud), CAMERAS, conditions, 8, False)
    clip = render_clip(scene, fitted, cloud.centres[1:, cloud.moving])
    away = (scene.mask[:, 0] == 0)[:, None].expand(-1, 4, -1, -1)
    torch.testing.assert_close(
        clip[:, 0, :4][away], conditions.rest_latents[0][away], atol=1e-4, rtol=0
    )
    assert clip[:, :, 5:].abs().max() == 0


def test_motion_channels_hold_the_shift_in_units_of_the_part_where_it_is_seen(case):
    cloud, conditions, _ = case
    fitted, scene = prepare(colours_only(cloud), CAMERAS, conditions, 8, False)
    shift = torch.tensor([0.0, -0.32, 0.16])
    clip = render_clip(scene, fitted, cloud.centres[1:, cloud.moving] + shift)
    motions = clip[:, 0, 5:].permute(0, 2, 3, 1)
    seen = scene.mask[:, 0] > 0
    torch.testing.assert_close(
        motions[seen], (shift / 0.64).expand(int(seen.sum()), 3), atol=1e-4, rtol=0
    )
    assert motions[~seen].abs().max() == 0


def test_a_rigid_motion_costs_nothing_and_a_stretch_does():
    points = torch.randn(30, 3, generator=torch.Generator().manual_seed(0))
    turn = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(1)))[0]
    turn = turn * torch.linalg.det(turn)
    moved = torch.stack([points @ turn + 0.3, points * 1.2])
    assert rigidity_loss(points, moved[:1]).item() < 1e-10
    assert rigidity_loss(points, moved[1:]).item() > 1e-2


def test_a_reflection_is_not_taken_for_a_rigid_motion():
    points = torch.randn(30, 3, generator=torch.Generator().manual_seed(0))
    assert rigidity_loss(points, (points * torch.tensor([-1.0, 1, 1]))[None]).item() > 0.05


def test_even_motion_is_smooth_and_a_jump_is_not():
    even = torch.arange(1, 5.0)[:, None, None].expand(4, 6, 3)
    assert smoothness_loss(even).item() < 1e-10
    jump = even.clone()
    jump[2] += 1
    assert smoothness_loss(jump).item() > 0.5
    assert smoothness_loss(even[:1]).item() == 0
