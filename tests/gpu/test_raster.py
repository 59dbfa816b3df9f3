"""The CUDA rasteriser draws what the plain one draws."""

import pytest
import torch

from atop_backend.synthetic.batch import pack
from atop_backend.synthetic.generate import generate
from atop_backend.synthetic.raster import rasterise
from atop_backend.synthetic.render import draw, random_look

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


def test_shading_on_the_gpu_gives_the_plain_pictures():
    objects = pack([generate(seed) for seed in range(3)])
    look = random_look(objects, torch.Generator().manual_seed(1))
    shares = torch.tensor([[0.5, 1.0]]).expand(3, -1)
    plain = draw(objects, shares, look)
    fast = draw(objects.to("cuda"), shares.cuda(), look.to("cuda"))
    wrong = (plain.rgb - fast.rgb.float().cpu()).abs().amax(dim=3) > 0.02
    assert wrong.float().mean() < 2e-3
    assert (plain.silhouettes != fast.silhouettes.cpu()).float().mean() < 1e-3
    far = (plain.positions - fast.positions.cpu()).abs().amax(dim=2) > 1e-3
    assert far.float().mean() < 2e-3
    assert (plain.motions - fast.motions.cpu()).abs().mean() < 1e-3
