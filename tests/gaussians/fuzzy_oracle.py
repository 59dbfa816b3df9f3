"""Fuzzy metaballs one ray and one Gaussian at a time in float64, as Eq. 9 to 11 are printed."""

import math

import torch


def draw(centres, covariances, log_weights, features, rays, background, blend):
    """Picture (pixels, channels); differentiable, and nothing in it is shared with the product."""
    return torch.stack(
        [
            _pixel(centres, covariances, log_weights, features, rays.origin, ray, background, blend)
            for ray in rays.directions
        ]
    )


def _pixel(centres, covariances, log_weights, features, origin, ray, background, blend):
    weighted = torch.zeros_like(background)
    total = torch.zeros((), dtype=torch.float64)
    density = torch.zeros((), dtype=torch.float64)
    for centre, covariance, log_weight, feature in zip(
        centres, covariances, log_weights, features, strict=True
    ):
        precision = torch.linalg.inv(covariance)
        mean = centre - origin
        depth = (mean @ precision @ ray) / (ray @ precision @ ray)
        if depth <= 0:
            continue
        offset = ray * depth - mean
        exponent = -0.5 * (offset @ precision @ offset) + log_weight
        # a common factor keeps the sum in range and cancels below
        weight = torch.exp(
            blend.distance * exponent - blend.depth / blend.scale * (depth - 4.0) + math.log(1e3)
        )
        weighted = weighted + weight * feature
        total = total + weight
        density = density + torch.exp(exponent)
    alpha = 1 - torch.exp(-density)
    return alpha * weighted / total + (1 - alpha) * background
