"""Fuzzy-metaballs rendering of Gaussians in plain, dense torch (paper Eq. 9 to 11).

Every Gaussian meets every ray, so gradients reach all pixels and no order is needed. The paper's
normalised blend has no background; here it is laid over one with the opacity
alpha = 1 - exp(-sum exp d) of fuzzy metaballs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from atop_backend.contracts import Camera
from atop_backend.geometry.cameras import camera_centre, pixel_rays

# exp of less is no different from 0 here, and results in the denormal range are slow on CPUs
_LOWEST_EXPONENT = -60.0
_HIGHEST_EXPONENT = 20.0
_HIDDEN = -1e9  # the logit of what lies behind the camera
_TINY = 1e-20


class Blend(NamedTuple):
    """How much nearness to the ray and nearness to the camera count in a pixel (Eq. 11).

    The default order is that of the fuzzy metaballs code the constants come from; the paper
    prints them exchanged, which lets the far side of an object show through.
    """

    distance: float = 2.66  # beta of the log-density d
    depth: float = 21.4  # beta of depth / scale
    scale: float = 1.0  # eta: three times the mean spread of the points over the axes


PAPER_ORDER = Blend(distance=21.4, depth=2.66)


class Rays(NamedTuple):
    """The rays of one picture; directions have camera depth 1, so a ray's length is depth."""

    origin: Float[Tensor, " 3"]
    directions: Float[Tensor, "pixels 3"]


class Layer(NamedTuple):
    """What one set of Gaussians adds to a picture; layers can be merged in any order."""

    log_weights: Float[Tensor, " pixels"]  # log of the summed blending weights
    densities: Float[Tensor, " pixels"]  # summed exp d
    features: Float[Tensor, "pixels channels"]  # normalised blend


def latent_rays(
    camera: Camera, size: int, device: torch.device | str = "cpu", dtype: torch.dtype | None = None
) -> Rays:
    """Rays through the middles of the camera's picture divided into size x size squares."""
    coarse = Camera(size, size, camera.focal_px * size / camera.width_px, camera.world_to_camera)
    dtype = dtype or torch.get_default_dtype()
    return Rays(
        torch.as_tensor(camera_centre(coarse), dtype=dtype, device=device),
        torch.as_tensor(np.reshape(pixel_rays(coarse), (-1, 3)), dtype=dtype, device=device),
    )


def object_scale(points: Float[Tensor, "n 3"]) -> float:
    """The eta of Eq. 11 as fuzzy metaballs define it."""
    return 3.0 * float(points.std(dim=0, correction=0).mean())


def accumulate(
    centres: Float[Tensor, "n 3"],
    factors: Float[Tensor, " n"] | Float[Tensor, "n 3 3"],
    log_weights: Float[Tensor, " n"],
    features: Float[Tensor, "n channels"],
    rays: Rays,
    blend: Blend,
) -> Layer:
    """The layer of some Gaussians.

    Args:
        factors: 1 / sigma of isotropic Gaussians, or upper-triangular U with precision U U^T.
        log_weights: The log(lambda) of Eq. 10.
    """
    weights, totals, highest, densities = _weigh(centres, factors, log_weights, rays, blend)
    return Layer(totals.log() + highest, densities, weights @ features / totals[:, None])


def _weigh(
    centres: Tensor, factors: Tensor, log_weights: Tensor, rays: Rays, blend: Blend
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Blending weights (pixels, n) up to exp(highest), their sums, highest, and densities."""
    exponents, depths = _meet(centres - rays.origin, factors, rays.directions)
    ahead = depths > 1e-6
    exponents = (exponents + log_weights).clamp(_LOWEST_EXPONENT, _HIGHEST_EXPONENT)
    logits = blend.distance * exponents - blend.depth / blend.scale * depths
    logits = logits.masked_fill(~ahead, _HIDDEN)
    highest = logits.detach().amax(dim=1)  # leaves the quotient and its gradient as they are
    weights = (logits - highest[:, None]).clamp_min(_LOWEST_EXPONENT).exp() * ahead
    densities = (exponents.exp() * ahead).sum(dim=1)
    return weights, weights.sum(dim=1) + _TINY, highest, densities


def _meet(
    offsets: Tensor, factors: Tensor, directions: Tensor
) -> tuple[Float[Tensor, "pixels n"], Float[Tensor, "pixels n"]]:
    """Log-density at each ray's point nearest to each centre, and that point's depth (Eq. 10)."""
    if factors.ndim == 1:
        along = directions @ offsets.T
        depths = along / directions.square().sum(dim=1, keepdim=True)
        squares = offsets.square().sum(dim=1) - along * depths
        return -0.5 * squares.clamp_min(0.0) * factors.square(), depths
    whitened_offsets = torch.einsum("nji,nj->ni", factors, offsets)
    whitened_rays = torch.einsum("nji,pj->pni", factors, directions)
    along = (whitened_rays * whitened_offsets).sum(dim=2)
    depths = along / whitened_rays.square().sum(dim=2).clamp_min(_TINY)
    squares = whitened_offsets.square().sum(dim=1) - along * depths
    return -0.5 * squares.clamp_min(0.0), depths


def merge(first: Layer, second: Layer) -> Layer:
    """The layer of both sets of Gaussians together."""
    log_weights = torch.logaddexp(first.log_weights, second.log_weights)
    share = (first.log_weights - log_weights).exp()[:, None]
    return Layer(
        log_weights,
        first.densities + second.densities,
        share * first.features + (1 - share) * second.features,
    )


def opacity(layer: Layer) -> Float[Tensor, " pixels"]:
    """Share of each pixel that the Gaussians cover."""
    return 1 - (-layer.densities).exp()


def composite(
    layer: Layer, background: Float[Tensor, " channels"]
) -> Float[Tensor, "pixels channels"]:
    """The layer over a background, such as the latent of a blank picture."""
    alphas = opacity(layer)[:, None]
    return alphas * layer.features + (1 - alphas) * background


def blending_matrix(
    centres: Float[Tensor, "n 3"],
    factors: Float[Tensor, " n"] | Float[Tensor, "n 3 3"],
    log_weights: Float[Tensor, " n"],
    rays: Rays,
    blend: Blend,
) -> Float[Tensor, "pixels n"]:
    """Share of each Gaussian in each pixel: a picture over 0 is this times the features."""
    weights, totals, _, densities = _weigh(centres, factors, log_weights, rays, blend)
    return weights * ((1 - (-densities).exp()) / totals)[:, None]


def render_frames(
    centres: Float[Tensor, "frames n 3"],
    factors: Float[Tensor, " n"] | Float[Tensor, "n 3 3"],
    log_weights: Float[Tensor, " n"],
    features: Float[Tensor, "n channels"],
    views: tuple[Rays, ...],
    background: Float[Tensor, " channels"],
    blend: Blend,
    backdrops: tuple[Layer, ...] | None = None,
    recompute: bool = False,
) -> Float[Tensor, "views frames pixels channels"]:
    """Pictures of moving Gaussians, one at a time.

    Args:
        backdrops: Layers of further Gaussians that stand still, one a view.
        recompute: Keep no intermediate results for the gradient; slower, with the memory of one
            picture instead of all.
    """

    def picture(centres_of_frame: Tensor, view: int) -> Tensor:
        layer = accumulate(centres_of_frame, factors, log_weights, features, views[view], blend)
        if backdrops is not None:
            layer = merge(layer, backdrops[view])
        return composite(layer, background)

    rows = []
    for view in range(len(views)):
        for centres_of_frame in centres:
            if recompute and torch.is_grad_enabled():
                drawn = checkpoint(picture, centres_of_frame, view, use_reentrant=False)
            else:
                drawn = picture(centres_of_frame, view)
            rows.append(drawn)
    return torch.stack(rows).unflatten(0, (len(views), len(centres)))  # type: ignore[arg-type]
