"""Guidance by given videos: the body's outline first, then its colours.

Outlines pull from afar: every point of the body must lie inside the outline, and every pixel of the
outline must have a point near it (a chamfer distance in the picture). Rendered pixels then refine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy import ndimage
from torch import Tensor

from atop_backend.gaussians.render import Rays
from atop_backend.skeletal.pictures import draw, rays_of
from atop_backend.skeletal.surface import Surface
from atop_backend.skeletal.video_target import VideoTarget

_SAMPLES = 256  # pixels of the outline that pull at the body in each frame
_FAR = 0.25  # radii; what is farther off pulls no harder (a limb that another one hides)
_NEAR_PX = 3.0  # pixels are looked at about this far from the body
_COLOUR_SHARE = 0.5  # colour errors count this much of cover errors


class View(NamedTuple):
    """A video as tensors. Lengths in pictures are in radii of the body, at its distance."""

    world_to_camera: Float[Tensor, "4 4"]
    focal_px: float
    middle: Float[Tensor, " 2"]  # principal point, pixels of the crop
    unit: float  # radii a pixel
    outside: Float[Tensor, "frames 1 height width"]  # to the outline, radii; negative inside
    places: Float[Tensor, "frames samples 2"]  # pixels inside the outline
    rays: Rays
    rgb: Float[Tensor, "frames pixels 3"]
    masks: Float[Tensor, "frames pixels"]
    chances: Float[Tensor, "frames pixels"]  # of a pixel to be looked at


def view_of(target: VideoTarget, middle: np.ndarray, rng: np.random.Generator) -> View:
    """A video prepared for fitting.

    Args:
        middle: Where the body is about, (3,), for the scale of picture distances.
    """
    camera = target.camera
    world_to_camera = np.asarray(camera.world_to_camera)
    depth = float((world_to_camera[:3, :3] @ middle + world_to_camera[:3, 3])[2])
    unit = max(depth, 1e-3) / camera.focal_px
    outside, places, chances = [], [], []
    for mask in target.masks:
        solid = mask > 0.5
        padded = np.pad(solid, 1)  # what is cut off by the picture's edge ends there
        inside = np.asarray(ndimage.distance_transform_edt(padded))[1:-1, 1:-1]
        distance = np.asarray(ndimage.distance_transform_edt(~solid)) - inside
        outside.append(unit * (distance - 0.5 * np.sign(distance)))
        rows, columns = np.nonzero(solid)
        picks = rng.integers(0, len(rows), _SAMPLES)
        jitter = rng.random((_SAMPLES, 2))
        places.append(np.stack([columns[picks], rows[picks]], axis=1) + jitter)
        near = ndimage.gaussian_filter(solid.astype(float), _NEAR_PX)
        chances.append((near + 0.02).ravel())

    def tensor(values: Sequence[np.ndarray] | np.ndarray) -> Tensor:
        return torch.as_tensor(np.asarray(values), dtype=torch.float32)

    frames, height, width = target.masks.shape
    left, top = target.corner
    whole = rays_of(camera)
    directions = whole.directions.reshape(camera.height_px, camera.width_px, 3)
    cropped = directions[top : top + height, left : left + width].reshape(-1, 3)
    return View(
        tensor(world_to_camera),
        camera.focal_px,
        torch.tensor([camera.width_px / 2 - left, camera.height_px / 2 - top]),
        unit,
        tensor(outside)[:, None],
        tensor(places),
        whole._replace(directions=cropped),
        tensor(target.rgb).reshape(frames, -1, 3),
        tensor(target.masks).reshape(frames, -1),
        tensor(chances),
    )


def project(view: View, points: Float[Tensor, "frames n 3"]) -> Float[Tensor, "frames n 2"]:
    """Pixels of points."""
    seen = points @ view.world_to_camera[:3, :3].T + view.world_to_camera[:3, 3]
    return seen[..., :2] / seen[..., 2:].clamp_min(0.05) * view.focal_px + view.middle


def outline_losses(
    view: View, points: Float[Tensor, "frames k n 3"], surface: Surface
) -> Float[Tensor, "frames k"]:
    """Squared picture distances, in radii, of bodies that ought to fill each frame's outline.

    Args:
        points: `k` bodies for each frame, of the surface's Gaussians.
    """
    frames, k, n = points.shape[:3]
    pixels = project(view, points.flatten(1, 2))
    height, width = view.outside.shape[2:]
    grid = 2 * pixels / torch.tensor([width, height]) - 1
    outside = torch.nn.functional.grid_sample(
        view.outside, grid[:, None], padding_mode="border", align_corners=False
    ).view(frames, k, n)
    beyond = (grid.abs() - 1).clamp_min(0) * torch.tensor([width, height]) / 2 * view.unit
    outside = outside + beyond.sum(dim=-1).view(frames, k, n)
    # a thin limb's middle is no deeper inside its outline than it lies under the skin
    out = robust((outside + surface.depths).clamp_min(0).square()).mean(dim=-1)

    pixels, reach = pixels.view(frames, k, n, 2), surface.reach
    with torch.no_grad():
        distances = torch.cdist(view.places[:, None], pixels) * view.unit - reach
        nearest = distances.argmin(dim=3)
    reached = pixels.gather(2, nearest[..., None].expand(-1, -1, -1, 2))
    lengths = ((reached - view.places[:, None]).square().sum(dim=-1) + 1e-12).sqrt() * view.unit
    gaps = (lengths - reach[nearest]).clamp_min(0)
    return out + robust(gaps.square()).mean(dim=-1)


def robust(squares: Tensor) -> Tensor:
    """Squared distances that stop growing where they are far (Geman and McClure)."""
    return squares / (1 + squares / _FAR**2)


def pixel_loss(
    view: View,
    points: Float[Tensor, "frames n 3"],
    surface: Surface,
    frames: Int[Tensor, " some"],
    rays: int,
    generator: torch.Generator,
) -> Float[Tensor, ""]:
    """Errors of rendered cover and colour at pixels drawn near the outline, in some frames."""
    total = points.new_zeros(())
    for frame in frames.tolist():
        picks = torch.multinomial(view.chances[frame], rays, generator=generator)
        chosen = Rays(view.rays.origin, view.rays.directions[picks])
        target, mask = view.rgb[frame, picks], view.masks[frame, picks]
        picture, cover = draw(points[frame], surface, surface.colours, chosen, target, False)
        seen = torch.minimum(mask, cover.detach())  # colours count where both have the body
        colour = ((picture - target).abs().mean(dim=1) * seen).mean()
        total = total + (cover - mask).square().mean() + _COLOUR_SHARE * colour
    return total / len(frames)
