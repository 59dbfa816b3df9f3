"""gsplat behind the same function as the fuzzy metaballs: the same cover, colours and pull."""

from __future__ import annotations

import importlib.util
import sys
from types import SimpleNamespace

import pytest
import splat_oracle
import torch

from atop_backend.errors import SetupError
from atop_backend.gaussians import splat
from atop_backend.skeletal.pictures import camera_around, draw_whole, rays_of
from atop_backend.skeletal.surface import Surface

CAMERA = camera_around((0.0, 0.0, 0.6), 0.7, 0.2, 48, 40)

needs_gsplat = pytest.mark.skipif(
    not torch.cuda.is_available() or importlib.util.find_spec("gsplat") is None,
    reason="needs a CUDA device and gsplat",
)


def ball(device: str = "cpu") -> Surface:
    """Gaussians over a ball of radius 0.5 around (0, 0, 0.6), coloured by their side."""
    generator = torch.Generator().manual_seed(0)
    normals = torch.nn.functional.normalize(torch.randn(300, 3, generator=generator), dim=1)
    centres = 0.5 * normals + torch.tensor([0.0, 0.0, 0.6])
    empty = torch.zeros(300, 1, 4)
    sigmas = torch.full((300,), 0.06)
    surface = Surface(empty, 0.5 + 0.4 * normals, 1 / sigmas, 0.3, centres, 2 * sigmas)
    return surface.to(torch.device(device))


def drawn(surface: Surface, renderer: str, target: torch.Tensor):
    """Picture, cover, and how the distance to a target picture pulls at the centres."""
    centres = surface.rest.clone().requires_grad_()
    rays = rays_of(CAMERA)
    rays = rays._replace(origin=rays.origin.to(centres), directions=rays.directions.to(centres))
    background = torch.full_like(rays.directions, 0.9)
    picture, cover = draw_whole(centres, surface, CAMERA, rays, background, True, renderer)
    (picture - target.to(centres)).square().sum().backward()
    return [part.detach().cpu() for part in (picture, cover, centres.grad)]


def shifted_target() -> torch.Tensor:
    """The ball a little aside, as metaballs draw it."""
    surface = ball()
    aside = surface._replace(rest=surface.rest + torch.tensor([0.1, 0.05, 0.08]))
    return drawn(aside, "metaballs", torch.zeros(48 * 40, 3))[0]


def compare(first, second):
    """The same cover to 2 %, colours to 5 %, and pulls in the same direction."""
    assert float((first[1] - second[1]).abs().mean()) < 0.02
    assert float((first[0] - second[0]).abs().mean()) < 0.05
    cosine = torch.nn.functional.cosine_similarity(first[2].flatten(), second[2].flatten(), dim=0)
    assert float(cosine) > 0.8


def test_splats_cover_and_pull_as_metaballs_do(monkeypatch):
    stand_in = SimpleNamespace(rasterization=splat_oracle.rasterization)
    monkeypatch.setitem(sys.modules, "gsplat", stand_in)
    target = shifted_target()
    compare(drawn(ball(), "gsplat", target), drawn(ball(), "metaballs", target))


@pytest.mark.gpu
@needs_gsplat
def test_gsplat_computes_what_the_oracle_does(monkeypatch):
    target = shifted_target()
    fast = drawn(ball("cuda"), "gsplat", target)
    monkeypatch.setitem(sys.modules, "gsplat",
                        SimpleNamespace(rasterization=splat_oracle.rasterization))  # fmt: skip
    plain = drawn(ball(), "gsplat", target)
    torch.testing.assert_close(fast[0], plain[0], atol=5e-3, rtol=0)
    torch.testing.assert_close(fast[1], plain[1], atol=5e-3, rtol=0)
    assert float((fast[2] - plain[2]).norm() / plain[2].norm()) < 0.05


@pytest.mark.gpu
@needs_gsplat
def test_gsplat_covers_and_pulls_as_metaballs_do():
    target = shifted_target()
    assert splat.available(torch.device("cuda"))
    compare(drawn(ball("cuda"), "auto", target), drawn(ball(), "metaballs", target))


@pytest.mark.skipif(importlib.util.find_spec("gsplat") is not None, reason="gsplat is installed")
def test_asking_for_gsplat_where_it_is_not_says_how_to_get_it():
    with pytest.raises(SetupError, match="gsplat is not installed"):
        drawn(ball(), "gsplat", torch.zeros(48 * 40, 3))
