"""Which triangle each pixel sees, for many pictures at once.

On a GPU a small CUDA kernel does it (built once with nvcc); elsewhere a plain numpy version
of the same rule, which is also what the kernel is tested against.
"""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int, Int16
from torch import Tensor

from atop_backend.errors import SetupError

_SOURCE = Path(__file__).with_name("raster.cu")


def rasterise(
    screen: Float[Tensor, "pictures triangles 3 3"], counts: Int[Tensor, " pictures"], size_px: int
) -> Int16[Tensor, "pictures size size"]:
    """Index of the nearest triangle at each pixel's centre, -1 where there is none.

    Args:
        screen: Corners as pixel x, pixel y and 1 / depth; depth behind the camera is negative.
        counts: How many of the triangles of each picture are real.
    """
    if screen.is_cuda:
        return _rasterise_cuda(screen, counts, size_px)
    return _rasterise_numpy(screen, counts, size_px)


def _rasterise_numpy(screen: Tensor, counts: Tensor, size_px: int) -> Tensor:
    pictures = zip(screen.double().numpy(), counts.tolist(), strict=True)
    drawn = [_draw_picture(triangles[:count], size_px) for triangles, count in pictures]
    return torch.from_numpy(np.stack(drawn))


def _draw_picture(triangles: np.ndarray, size_px: int) -> np.ndarray:
    """One picture, triangle by triangle over the pixels of its bounding box."""
    nearest = np.zeros((size_px, size_px))
    indices = np.full((size_px, size_px), -1, np.int16)
    edges = triangles[:, 1:, :2] - triangles[:, :1, :2]
    areas = edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]
    low = np.floor(triangles[:, :, :2].min(axis=1) - 0.5).clip(0, size_px).astype(int)
    high = np.ceil(triangles[:, :, :2].max(axis=1) + 0.5).clip(0, size_px).astype(int)
    usable = (np.abs(areas) > 1e-6) & (triangles[:, :, 2].min(axis=1) > 0)
    usable &= (low < high).all(axis=1)
    for index in np.flatnonzero(usable):
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = triangles[index]
        box = (slice(low[index, 1], high[index, 1]), slice(low[index, 0], high[index, 0]))
        px = np.arange(low[index, 0], high[index, 0])[None] + 0.5
        py = np.arange(low[index, 1], high[index, 1])[:, None] + 0.5
        a = ((bx - px) * (cy - py) - (by - py) * (cx - px)) / areas[index]
        b = ((cx - px) * (ay - py) - (cy - py) * (ax - px)) / areas[index]
        c = 1 - a - b
        nearness = a * az + b * bz + c * cz
        closer = (a >= 0) & (b >= 0) & (c >= 0) & (nearness > nearest[box])
        nearest[box][closer] = nearness[closer]
        indices[box][closer] = index
    return indices


@functools.cache
def _library() -> ctypes.CDLL:
    compiler = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if compiler is None:
        raise SetupError(
            "nvcc was not found", hint="install the CUDA toolkit to draw training clips on a GPU"
        )
    target = Path(tempfile.mkdtemp(prefix="atop_raster_")) / "raster.so"
    command = [compiler, "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC"]
    subprocess.run([*command, str(_SOURCE), "-o", str(target)], check=True)
    library = ctypes.CDLL(str(target))
    library.rasterise.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int] * 3 + [ctypes.c_void_p]
    library.rasterise.restype = ctypes.c_int
    library.shade.argtypes = (
        [ctypes.c_void_p] * 6 + [ctypes.c_int] * 5 + [ctypes.c_float] * 2 + [ctypes.c_void_p]
    )
    library.shade.restype = ctypes.c_int
    return library


def _rasterise_cuda(screen: Tensor, counts: Tensor, size_px: int) -> Tensor:
    screen = screen.contiguous().float()
    counts = counts.contiguous().int()
    pictures, capacity = screen.shape[:2]
    indices = torch.empty(pictures, size_px, size_px, dtype=torch.int16, device=screen.device)
    pointers = [value.data_ptr() for value in (screen, counts, indices)]
    _check(_library().rasterise(*pointers, pictures, capacity, size_px, _stream(screen)))
    return indices


def shade_on_gpu(
    indices: Int16[Tensor, "clips views frames size size"],
    table: Float[Tensor, "clips frames triangles columns"],
    world_to_camera: Float[Tensor, "clips views 3 4"],
    focal_px: float,
    background: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`render._shade` as one kernel: half (c, v, f, 3, s, s), bool, float (c, v, 3, s, s)."""
    clips, views, frames, size, _ = indices.shape
    device = indices.device
    rgb = torch.empty(clips, views, frames, 3, size, size, dtype=torch.half, device=device)
    moving = torch.empty(clips, views, frames, size, size, dtype=torch.bool, device=device)
    positions = torch.empty(clips, views, 3, size, size, device=device)
    inputs = (indices.contiguous(), table.contiguous(), world_to_camera.contiguous())
    pointers = [value.data_ptr() for value in (*inputs, rgb, moving, positions)]
    sizes = (clips, views, frames, table.shape[2], size)
    _check(_library().shade(*pointers, *sizes, focal_px, background, _stream(indices)))
    return rgb, moving, positions


def _stream(tensor: Tensor) -> int:
    return torch.cuda.current_stream(tensor.device).cuda_stream


def _check(status: int) -> None:
    if status != 0:
        raise RuntimeError(f"the rasteriser failed with CUDA error {status}")
