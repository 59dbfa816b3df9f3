"""PyTorch3D where the user has built it (no wheel of it fits a current Python); same results.

Chamfer distances go through it wherever it is there. Pictures do on a GPU alone: on a CPU it
looks at every triangle from every pixel, and our own rasteriser does not.
"""

from __future__ import annotations

import functools
import importlib.util

import numpy as np

from atop_backend.contracts import Camera
from atop_backend.geometry import cameras

_NEAREST = 1e-3  # triangles that reach nearer to the camera are left out


@functools.cache
def is_installed() -> bool:
    """Whether it can be imported."""
    return importlib.util.find_spec("pytorch3d") is not None


@functools.cache
def draws() -> bool:
    """Whether pictures go through it."""
    if not is_installed():
        return False
    import torch

    return torch.cuda.is_available()


def chamfer(points: np.ndarray, others: np.ndarray) -> float:
    """Mean squared distance to the nearest neighbour, both ways added, of (n, 3) and (m, 3)."""
    import torch
    from pytorch3d.loss import chamfer_distance

    clouds = (torch.from_numpy(cloud).float()[None] for cloud in (points, others))
    return chamfer_distance(*clouds)[0].item()


def nearest_faces(
    camera: Camera, corners: np.ndarray, device: str = "cuda"
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest triangle at each pixel's centre and its depth, as `visibility.Visible`.

    Args:
        corners: (m, 3, 3) in the camera's world; both sides of a triangle are seen.
    """
    import torch
    from pytorch3d.renderer.mesh.rasterize_meshes import rasterize_meshes
    from pytorch3d.structures import Meshes

    size = np.array([camera.width_px, camera.height_px])
    pixels, depths = cameras.project(camera, corners)
    usable = np.flatnonzero((depths > _NEAREST).all(axis=1))
    # its screen has x to the left, y upwards, and reaches 1 along the shorter side
    screen = (size - 2 * pixels[usable]) / size.min()
    vertices = np.concatenate([screen, depths[usable, :, None]], axis=2).reshape(-1, 3)
    faces = torch.arange(len(vertices), device=device).reshape(-1, 3)
    mesh = Meshes([torch.from_numpy(vertices).float().to(device)], [faces])
    seen, distances, *_ = rasterize_meshes(
        mesh,
        image_size=(camera.height_px, camera.width_px),
        blur_radius=0.0,
        faces_per_pixel=1,
        perspective_correct=True,
        cull_backfaces=False,
    )
    owner = seen[0, :, :, 0].cpu().numpy()
    hit = owner >= 0
    found = np.full(owner.shape, -1)
    found[hit] = usable[owner[hit]]
    return found, np.where(hit, distances[0, :, :, 0].cpu().numpy(), np.inf)
