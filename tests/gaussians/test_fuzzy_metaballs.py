"""The renderer against the loop oracle, in values and gradients, and its safety at the edges."""

import math

import pytest
import torch
from fuzzy_oracle import draw

from atop_backend.gaussians.render import (
    PAPER_ORDER,
    Blend,
    Rays,
    accumulate,
    blending_matrix,
    composite,
    latent_rays,
    merge,
    object_scale,
    opacity,
    render_frames,
)
from atop_backend.geometry.cameras import rig

BLENDS = (Blend(scale=0.9), PAPER_ORDER._replace(scale=0.9))


def scene(n=7, size=3, seed=0):
    generator = torch.Generator().manual_seed(seed)

    def draws(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    camera = rig(elevation_rad=0.3)[0]
    rays = latent_rays(camera, size, dtype=torch.float64)
    factors = torch.eye(3, dtype=torch.float64) * 3 + draws(n, 3, 3).triu() * 0.7
    return 0.3 * draws(n, 3), factors, 0.3 * draws(n), draws(n, 5), rays, draws(5)


@pytest.mark.parametrize("blend", BLENDS)
@pytest.mark.parametrize("isotropic", [True, False])
def test_values_and_gradients_agree_with_the_loop_oracle(blend, isotropic):
    centres, factors, log_weights, features, rays, background = scene()
    if isotropic:
        factors = factors[:, 0, 0].abs()
        covariances = torch.eye(3, dtype=torch.float64) / factors.square()[:, None, None]
    else:
        covariances = torch.linalg.inv(factors @ factors.transpose(1, 2))
    leaves = [centres, log_weights, features]
    for leaf in leaves:
        leaf.requires_grad_()

    ours = composite(accumulate(centres, factors, log_weights, features, rays, blend), background)
    expected = draw(centres, covariances, log_weights, features, rays, background, blend)

    torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-9)
    pull = torch.randn(ours.shape, generator=torch.Generator().manual_seed(1), dtype=ours.dtype)
    for mine, theirs in zip(
        torch.autograd.grad((ours * pull).sum(), leaves),
        torch.autograd.grad((expected * pull).sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(mine, theirs, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("isotropic", [True, False])
def test_every_parameter_has_the_right_gradient(isotropic):
    centres, factors, log_weights, features, rays, background = scene(n=4, size=2)
    if isotropic:
        factors = factors[:, 0, 0].abs()

    def picture(centres, factors, log_weights, features):
        layer = accumulate(centres, factors, log_weights, features, rays, BLENDS[0])
        return composite(layer, background)

    inputs = [value.clone().requires_grad_() for value in (centres, factors, log_weights, features)]
    assert torch.autograd.gradcheck(picture, inputs)


def test_merged_layers_equal_one_layer_of_all_gaussians():
    centres, factors, log_weights, features, rays, _ = scene()
    values = (centres, factors, log_weights, features)
    whole = accumulate(*values, rays, BLENDS[0])
    halves = [
        accumulate(*(v[part] for v in values), rays, BLENDS[0])
        for part in ([0, 2], [1, 3, 4, 5, 6])
    ]
    torch.testing.assert_close(merge(*halves), whole)


def test_blending_matrix_times_features_is_the_picture_over_zero():
    centres, factors, log_weights, features, rays, _ = scene()
    matrix = blending_matrix(centres, factors, log_weights, rays, BLENDS[0])
    layer = accumulate(centres, factors, log_weights, features, rays, BLENDS[0])
    torch.testing.assert_close(matrix @ features, composite(layer, features.new_zeros(5)))


def test_what_lies_behind_the_camera_is_not_seen():
    rays = Rays(torch.zeros(3), torch.tensor([[0.0, 0.0, 1.0]]))
    centres = torch.tensor([[0.0, 0.0, -2.0], [0.0, 0.0, -3.0]])
    centres.requires_grad_()
    layer = accumulate(
        centres, torch.full((2,), 5.0), torch.zeros(2), torch.ones(2, 1), rays, Blend()
    )
    picture = composite(layer, torch.tensor([0.25]))
    picture.sum().backward()
    assert picture.item() == pytest.approx(0.25)
    assert torch.equal(centres.grad, torch.zeros_like(centres))


@pytest.mark.parametrize("sigma", [1e-4, 0.02, 10.0])
@pytest.mark.parametrize("distance", [1e-3, 4.0, 1e4])
def test_extreme_sizes_and_distances_stay_finite(sigma, distance):
    generator = torch.Generator().manual_seed(0)
    rays = Rays(torch.zeros(3), torch.tensor([[0.0, 0.0, 1.0], [0.5, -0.5, 1.0]]))
    centres = torch.randn(50, 3, generator=generator) * 0.3
    centres[:, 2] += distance
    centres.requires_grad_()
    layer = accumulate(
        centres, torch.full((50,), 1 / sigma), torch.zeros(50), torch.ones(50, 2), rays, Blend()
    )
    picture = composite(layer, torch.zeros(2))
    picture.sum().backward()
    assert picture.isfinite().all()
    assert centres.grad.isfinite().all()
    assert (picture <= 1 + 1e-5).all()


def test_the_nearer_surface_hides_the_farther_only_in_the_default_order():
    """The order of the constants that the paper prints lets the back show through."""
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(4096, 3, generator=generator)
    points = 0.6 * points / points.norm(dim=1, keepdim=True)
    rays = latent_rays(rig(elevation_rad=0.3)[0], 32)
    near = (points @ rays.origin > 0).float()[:, None]
    scale = object_scale(points)

    def share_of_near_half(blend):
        layer = accumulate(
            points, torch.full((4096,), 1 / 0.03), torch.zeros(4096), near, rays, blend
        )
        return layer.features[opacity(layer) > 0.9].mean().item()

    assert share_of_near_half(Blend(scale=scale)) > 0.999
    assert share_of_near_half(PAPER_ORDER._replace(scale=scale)) < 0.97


def test_a_sphere_covers_the_disc_that_its_projection_fills():
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(2000, 3, generator=generator)
    points = 0.6 * points / points.norm(dim=1, keepdim=True)
    camera = rig(elevation_rad=0.3)[1]
    rays = latent_rays(camera, 32)
    layer = accumulate(
        points, torch.full((2000,), 1 / 0.03), torch.zeros(2000), torch.ones(2000, 1), rays, Blend()
    )
    pixel = 8 / camera.focal_px  # at depth 1
    radius = 0.6 / (4.0**2 - 0.6**2) ** 0.5 / pixel
    softness = 0.03 / 4.0 / pixel
    covered_radius = (opacity(layer).sum().item() / math.pi) ** 0.5
    assert radius < covered_radius < radius + 2.5 * softness


def test_recomputing_pictures_gives_the_same_gradients_with_less_memory():
    centres, factors, log_weights, features, rays, background = scene()
    backdrop = (accumulate(centres + 0.2, factors, log_weights, features, rays, BLENDS[0]),)
    gradients = []
    for recompute in (False, True):
        moving = torch.stack([centres, centres + 0.1]).requires_grad_()
        pictures = render_frames(
            moving,
            factors,
            log_weights,
            features,
            (rays,),
            background,
            BLENDS[0],
            backdrop,
            recompute,
        )
        assert pictures.shape == (1, 2, 9, 5)
        gradients.append(torch.autograd.grad(pictures.square().sum(), moving)[0])
    torch.testing.assert_close(*gradients)
