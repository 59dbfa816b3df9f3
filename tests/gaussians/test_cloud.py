"""Features found by least squares, and what a cloud refuses."""

import pytest
import torch

from atop_backend.errors import InputError
from atop_backend.gaussians.cloud import build_cloud, fit_features
from atop_backend.gaussians.render import Blend, latent_rays, object_scale, render_frames
from atop_backend.geometry.cameras import rig


def box_points(low, high, n, generator):
    """Uniform points on the faces of a box."""
    low, high = torch.tensor(low), torch.tensor(high)
    points = low + torch.rand(n, 3, generator=generator) * (high - low)
    axes = torch.randint(3, (n,), generator=generator)
    ends = torch.where(torch.rand(n, generator=generator) < 0.5, low[axes], high[axes])
    points[torch.arange(n), axes] = ends
    return points


@pytest.fixture(scope="module")
def cloud():
    generator = torch.Generator().manual_seed(0)
    part = box_points([-0.4, -0.5, -0.4], [0.4, -0.4, 0.4], 300, generator)
    rest = box_points([-0.5, -0.4, -0.5], [0.5, 0.4, 0.5], 500, generator)
    return build_cloud(part, rest, frames=3, pixel_size=0.09)


@pytest.fixture(scope="module")
def views():
    return tuple(latent_rays(camera, 32) for camera in rig(elevation_rad=0.35))


def test_frame_0_looks_like_the_given_maps_from_all_views(cloud, views):
    generator = torch.Generator().manual_seed(1)
    features = cloud.centres[0] @ torch.randn(3, 4, generator=generator)
    background = torch.tensor([0.3, -0.2, 0.5, 1.0])
    blend = Blend(scale=object_scale(cloud.centres[0]))

    def draw(features):
        values = (cloud.factors, cloud.log_weights, features, views, background, blend)
        return render_frames(cloud.centres[:1], *values)[:, 0]

    wanted = draw(features)
    maps = wanted.transpose(1, 2).unflatten(2, (32, 32))

    fitted = fit_features(cloud, maps, views, background, blend)

    error = (draw(fitted.features) - wanted).square().mean()
    assert error < 1e-4 * (wanted - background).square().mean()


def test_what_no_view_sees_takes_the_mean_of_what_is_seen(views):
    generator = torch.Generator().manual_seed(0)
    shell = box_points([-0.5, -0.5, -0.5], [0.5, 0.5, 0.5], 700, generator)
    hidden = 0.02 * torch.randn(20, 3, generator=generator)
    cloud = build_cloud(hidden, shell, frames=1, pixel_size=0.09)
    background = torch.zeros(4)
    maps = torch.full((4, 4, 32, 32), 0.7)

    fitted = fit_features(cloud, maps, views, background, Blend(scale=1.0))

    assert (fitted.features[cloud.moving] - 0.7).abs().max() < 0.3


def test_all_frames_start_at_rest_and_only_the_part_is_said_to_move(cloud):
    assert cloud.centres.shape == (3, 800, 3)
    assert torch.equal(cloud.centres[1], cloud.centres[0])
    assert cloud.moving.sum() == 300
    assert cloud.displacements().shape == (2, 300, 3)


def test_gaussians_are_never_thinner_than_half_a_pixel(cloud):
    assert (1 / cloud.factors).min() >= 0.045 - 1e-6


def test_a_part_without_points_is_refused():
    with pytest.raises(InputError, match="0 points lie on the part"):
        build_cloud(torch.zeros(0, 3), torch.rand(5, 3), frames=2, pixel_size=0.1)
