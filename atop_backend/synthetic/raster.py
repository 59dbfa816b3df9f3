"""Which triangle each pixel sees, for many pictures at once.

On a GPU a small CUDA kernel does it (built once with nvcc); elsewhere a plain torch version of
the same rule, which is also what the kernel is tested against.
"""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import torch
from jaxtyping import Float, Int, Int16
from torch import Tensor

from atop_backend.errors import SetupError

_SOURCE = Path(__file__).with_name("raster.cu")
_CHUNK = 64  # triangles at a time in the torch version; bounds its memory


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
    return _rasterise_torch(screen, counts, size_px)


def _rasterise_torch(screen: Tensor, counts: Tensor, size_px: int) -> Tensor:
    centres = torch.arange(size_px, dtype=screen.dtype) + 0.5
    py, px = torch.meshgrid(centres, centres, indexing="ij")
    px, py = px.reshape(1, 1, -1), py.reshape(1, 1, -1)
    pictures, capacity = screen.shape[:2]
    nearest = torch.zeros(pictures, size_px * size_px, dtype=screen.dtype)
    indices = torch.full((pictures, size_px * size_px), -1, dtype=torch.int16)
    for base in range(0, capacity, _CHUNK):
        block = screen[:, base : base + _CHUNK]
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (
            block[:, :, corner].unsqueeze(-1).unbind(dim=2) for corner in range(3)
        )
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        ids = torch.arange(base, base + block.shape[1])
        usable = (area.abs() > 1e-6) & (torch.minimum(torch.minimum(az, bz), cz) > 0)
        usable &= (ids[None] < counts[:, None]).unsqueeze(-1)
        area = torch.where(usable, area, 1.0)
        a = ((bx - px) * (cy - py) - (by - py) * (cx - px)) / area
        b = ((cx - px) * (ay - py) - (cy - py) * (ax - px)) / area
        c = 1 - a - b
        inside = usable & (a >= 0) & (b >= 0) & (c >= 0)
        nearness = torch.where(inside, a * az + b * bz + c * cz, 0.0)
        best, which = nearness.max(dim=1)
        closer = best > nearest
        nearest = torch.where(closer, best, nearest)
        indices = torch.where(closer, (which + base).to(torch.int16), indices)
    return indices.view(pictures, size_px, size_px)


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
    return library


def _rasterise_cuda(screen: Tensor, counts: Tensor, size_px: int) -> Tensor:
    screen = screen.contiguous().float()
    counts = counts.contiguous().int()
    pictures, capacity = screen.shape[:2]
    indices = torch.empty(pictures, size_px, size_px, dtype=torch.int16, device=screen.device)
    stream = torch.cuda.current_stream(screen.device).cuda_stream
    status = _library().rasterise(
        screen.data_ptr(), counts.data_ptr(), indices.data_ptr(), pictures, capacity, size_px, stream
    )
    if status != 0:
        raise RuntimeError(f"the rasteriser failed with CUDA error {status}")
    return indices
