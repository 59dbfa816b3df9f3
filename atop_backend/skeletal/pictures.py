"""Pictures of the moving body: fuzzy metaballs over a checkerboard ground.

All in the normalised frame of the rig, whose ground is the plane z = 0. The ground hides what is
below it: such Gaussians have opacity 0, as in the AKD paper.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.contracts import Camera
from atop_backend.gaussians import splat
from atop_backend.gaussians.render import Blend, Rays, accumulate, opacity
from atop_backend.geometry.cameras import camera_centre, look_at_origin, pixel_rays
from atop_backend.geometry.rigs import Rig
from atop_backend.preview import draw_mesh
from atop_backend.skeletal.surface import Surface

Renderer = Literal["auto", "metaballs", "gsplat"]

SKY = (0.93, 0.95, 0.98)
TILES = (0.42, 0.72)  # display greys of the checkerboard
TILE = 0.4  # its side, in radii of the body
_HIDDEN = -80.0  # log-weight of what is below the ground
_MARGIN = 0.9  # share of the shorter picture side that the body's sphere fills, its limbs' reach in
_HAZE = 60.0  # radii after which the ground fades into the sky
_CALIBRATION_PX = 48
_DEPTH_SCALE = 0.2  # radii: eta of the blend, small so that the near side of a limb hides the far
_FIELD_OF_VIEW = math.radians(40.0)


def camera_around(
    middle: tuple[float, float, float],
    azimuth_rad: float,
    elevation_rad: float,
    width_px: int,
    height_px: int,
    reach: float = 1.3,
) -> Camera:
    """A camera that looks at a point and frames a sphere around it.

    Args:
        azimuth_rad: 0 looks at the -Y side, positive turns towards +X.
        reach: Radius of the sphere.
    """
    square = look_at_origin(azimuth_rad, elevation_rad)
    distance = reach / (_MARGIN * math.sin(_FIELD_OF_VIEW / 2))
    world_to_camera = np.asarray(square.world_to_camera)
    world_to_camera[:3, 3] = [0.0, 0.0, distance]
    world_to_camera[:3, 3] -= world_to_camera[:3, :3] @ np.asarray(middle)
    focal_px = min(width_px, height_px) / 2 / math.tan(_FIELD_OF_VIEW / 2)
    rows = tuple(tuple(map(float, row)) for row in world_to_camera)
    return Camera(width_px, height_px, focal_px, rows)  # type: ignore[arg-type]


def resized(camera: Camera, width_px: int) -> Camera:
    """The same view with a picture of another width."""
    share = width_px / camera.width_px
    height_px = max(1, round(camera.height_px * share))
    return replace(camera, width_px=width_px, height_px=height_px, focal_px=camera.focal_px * share)


def rays_of(camera: Camera) -> Rays:
    """Rays through all pixels, row by row."""
    return Rays(
        torch.as_tensor(camera_centre(camera), dtype=torch.float32),
        torch.as_tensor(pixel_rays(camera).reshape(-1, 3), dtype=torch.float32),
    )


def moved(rays: Rays, shift: Float[Tensor, " 3"]) -> Rays:
    """The rays of the camera carried along by a shift."""
    return rays._replace(origin=rays.origin + shift)


def draw(
    centres: Float[Tensor, "n 3"],
    surface: Surface,
    colours: Float[Tensor, "n 3"],
    rays: Rays,
    background: Float[Tensor, "pixels 3"],
    ground: bool,
) -> tuple[Float[Tensor, "pixels 3"], Float[Tensor, " pixels"]]:
    """One picture and how far the body covers each pixel.

    Args:
        ground: Hide what is below z = 0.
    """
    log_weights = _log_weights(centres, surface, ground)
    blend = Blend(scale=_DEPTH_SCALE)
    layer = accumulate(centres, surface.factors, log_weights, colours, rays, blend)
    cover = opacity(layer)
    picture = cover[:, None] * layer.features + (1 - cover)[:, None] * background
    return picture, cover


def _log_weights(
    centres: Float[Tensor, "n 3"], surface: Surface, ground: bool
) -> Float[Tensor, " n"]:
    weights = torch.full_like(centres[:, 0], surface.log_weight)
    return weights.masked_fill(centres[:, 2] < 0, _HIDDEN) if ground else weights


def draw_whole(
    centres: Float[Tensor, "n 3"],
    surface: Surface,
    camera: Camera,
    rays: Rays,
    background: Float[Tensor, "pixels 3"],
    ground: bool,
    renderer: Renderer,
) -> tuple[Float[Tensor, "pixels 3"], Float[Tensor, " pixels"]]:
    """`draw` for all pixels of a camera, by either renderer.

    Args:
        rays: All of the camera's.
        renderer: "auto" takes gsplat where there is a GPU and it is installed.
    """
    if renderer == "metaballs" or (renderer == "auto" and not splat.available(centres.device)):
        return draw(centres, surface, surface.colours, rays, background, ground)
    log_weights = _log_weights(centres, surface, ground)
    picture, cover = splat.rasterise(
        centres, 1 / surface.factors, log_weights, surface.colours, camera
    )
    return picture + (1 - cover)[:, None] * background, cover


def calibrated(rig: Rig, surface: Surface) -> Surface:
    """The surface with the weight by which its outline at rest is as large as the mesh's.

    A Gaussian reaches beyond the surface, which would make thin limbs fat and pull fitted bodies
    away from the outlines of a video.
    """
    middle = (0.0, 0.0, float(rig.vertices[:, 2].max()) / 2)
    views = []
    for azimuth in (0.3, 1.4):
        camera = camera_around(middle, azimuth, 0.15, _CALIBRATION_PX, _CALIBRATION_PX)
        mesh = draw_mesh(camera, rig.vertices, rig.triangles, rig.face_colours)
        views.append((rays_of(camera), int(np.isfinite(mesh.depths).sum())))
    low, high = -4.0, 2.0
    for _ in range(8):
        trial = surface._replace(log_weight=(low + high) / 2)
        excess = 0.0
        for rays, size in views:
            blank = torch.zeros_like(rays.directions)
            cover = draw(trial.rest, trial, trial.colours, rays, blank, False)[1]
            excess += float(cover.sum()) - size
        low, high = (low, trial.log_weight) if excess > 0 else (trial.log_weight, high)
    return surface._replace(log_weight=(low + high) / 2)


def checkerboard(rays: Rays, tile: float = TILE) -> Float[Tensor, "pixels 3"]:
    """The ground plane z = 0 under a plain sky; tiles fade where they are smaller than a pixel."""
    x, y, z = rays.directions.unbind(dim=1)
    sky = torch.tensor(SKY)
    if float(rays.origin[2]) <= 0:
        return sky.expand(len(z), 3).clone()
    down = z < -1e-4
    depths = torch.where(down, -rays.origin[2] / z.clamp_max(-1e-4), torch.ones_like(z))
    # width of a pixel on the ground: its angle, times distance, over the sine of the glancing angle
    lengths = rays.directions.norm(dim=1)
    step = (rays.directions[1] - rays.directions[0]).norm()
    width = step * depths * lengths / z.abs().clamp_min(1e-4)
    sharpness = tile / (math.pi * width)
    across = (torch.sin(math.pi * (rays.origin[0] + depths * x) / tile) * sharpness).clamp(-1, 1)
    along = (torch.sin(math.pi * (rays.origin[1] + depths * y) / tile) * sharpness).clamp(-1, 1)
    shade = (1 + across * along * (2 * sharpness).clamp_max(1)) / 2
    tiles = TILES[0] + (TILES[1] - TILES[0]) * shade
    haze = torch.exp(-depths / _HAZE)[:, None]
    floor = haze * tiles[:, None] + (1 - haze) * sky
    return torch.where(down[:, None], floor, sky)


def follow_shifts(path: Float[Tensor, "frames 3"], window: int = 9) -> Float[Tensor, "frames 3"]:
    """How a camera that follows the root moves: along the ground, smoothed, without gradient."""
    level = path.detach() * torch.tensor([1.0, 1.0, 0.0])
    level = level - level[:1]
    half = min(window, 2 * len(level) - 1) // 2
    padded = torch.cat([level[:1].expand(half, 3), level, level[-1:].expand(half, 3)])
    return padded.unfold(0, 2 * half + 1, 1).mean(dim=-1)
