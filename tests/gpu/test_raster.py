"""The CUDA rasteriser draws what the plain one draws."""

import pytest
import torch

from atop_backend.synthetic.raster import rasterise

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


def test_the_kernel_sees_the_same_triangles_as_the_plain_version():
    generator = torch.Generator().manual_seed(0)
    centres = torch.rand(6, 300, 1, 2, generator=generator) * 90 - 13
    corners = centres + torch.randn(6, 300, 3, 2, generator=generator) * 12
    nearness = 0.2 + 0.2 * torch.rand(6, 300, 3, 1, generator=generator)
    screen = torch.cat([corners, nearness], dim=-1)
    counts = torch.tensor([300, 299, 7, 1, 0, 257])
    plain = rasterise(screen, counts, 64)
    fast = rasterise(screen.cuda(), counts.cuda(), 64).cpu()
    assert (plain >= 0).float().mean() > 0.3
    # an edge through a pixel's centre may fall to either side in single precision
    assert (plain != fast).float().mean() < 1e-3
