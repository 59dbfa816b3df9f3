"""What goes through PyTorch3D comes out as without it.

The contract is tested where PyTorch3D is installed. Elsewhere a stand-in that follows its
documentation (frame, pixel centres, meaning of the results) shows that it is asked rightly.
"""

import importlib.util
import sys
import types

import numpy as np
import pytest

from atop_backend.geometry import visibility, with_pytorch3d
from atop_backend.geometry.cameras import rig
from atop_backend.motion import paper

torch = pytest.importorskip("torch")

CAMERA = rig(0.3, size_px=64)[0]
HERE = importlib.util.find_spec("pytorch3d") is not None
needs_pytorch3d = pytest.mark.skipif(not HERE, reason="needs pytorch3d, which has no wheel")


@pytest.fixture(autouse=True)
def as_installed():
    """Every test looks anew for what is installed."""
    with_pytorch3d.is_installed.cache_clear()
    with_pytorch3d.draws.cache_clear()
    yield
    with_pytorch3d.is_installed.cache_clear()
    with_pytorch3d.draws.cache_clear()


def triangles(count=40):
    """Triangles all around, some of them behind the camera."""
    rng = np.random.default_rng(0)
    return rng.uniform(-1, 1, (count, 1, 3)) * 1.5 + rng.normal(scale=0.4, size=(count, 3, 3))


def clouds():
    rng = np.random.default_rng(1)
    return rng.normal(size=(50, 3)), rng.normal(loc=0.3, size=(70, 3))


def check_faces(device):
    corners = np.concatenate([triangles(), [[[0.0, 0, 0], [9.0, -9, 9], [0, 1, 0]]]])
    ours = visibility.visible_faces(CAMERA, corners)
    found, depths = with_pytorch3d.nearest_faces(CAMERA, corners, device)
    same = found == ours.faces
    assert (ours.faces >= 0).mean() > 0.2
    assert same.mean() > 0.999  # the centre of a pixel may lie on an edge
    seen = same & (found >= 0)
    np.testing.assert_allclose(depths[seen], ours.depths[seen], rtol=1e-4)
    assert np.isinf(depths[found < 0]).all()


def check_chamfer(monkeypatch):
    points, others = clouds()
    through = with_pytorch3d.chamfer(points, others)
    monkeypatch.setattr(with_pytorch3d, "is_installed", lambda: False)
    assert through == pytest.approx(paper.chamfer(points, others), rel=1e-5)


@needs_pytorch3d
def test_its_pictures_are_ours(monkeypatch):
    monkeypatch.setattr(with_pytorch3d, "draws", lambda: False)
    check_faces("cuda" if torch.cuda.is_available() else "cpu")


@needs_pytorch3d
def test_its_chamfer_distance_is_ours(monkeypatch):
    check_chamfer(monkeypatch)


class Meshes:
    def __init__(self, verts, faces):
        (self.verts,), (self.faces,) = verts, faces


def rasterize_meshes(meshes, image_size, blur_radius, faces_per_pixel, **options):
    """As documented: x left, y up, 1 at the shorter side's ends, depth true to perspective."""
    assert (blur_radius, faces_per_pixel, options["perspective_correct"]) == (0.0, 1, True)
    height, width = image_size
    seen = torch.full((1, height, width, 1), -1)
    depths = torch.full((1, height, width, 1), -1.0)
    for row in range(height):
        for column in range(width):
            x = (width - 2 * (column + 0.5)) / min(image_size)
            y = (height - 2 * (row + 0.5)) / min(image_size)
            corners = meshes.verts[meshes.faces].double()
            a, b, c = corners[..., :2].unbind(dim=1)
            here = torch.tensor([x, y], dtype=torch.double)

            def area(p, q, r):
                (px, py), (qx, qy) = (p - r).unbind(dim=-1), (q - r).unbind(dim=-1)
                return px * qy - py * qx

            shares = torch.stack([area(b, c, here), area(c, a, here), area(a, b, here)], dim=1)
            shares = shares / area(a, b, c)[:, None]
            distances = 1 / (shares / corners[..., 2]).sum(dim=1)
            inside = (shares >= 0).all(dim=1)
            if inside.any():
                distances[~inside] = torch.inf
                seen[0, row, column, 0] = distances.argmin()
                depths[0, row, column, 0] = distances.min()
    return seen, depths, None, None


def chamfer_distance(x, y):
    squares = torch.cdist(x, y).square()
    return squares.amin(dim=2).mean() + squares.amin(dim=1).mean(), None


@pytest.fixture
def stand_in(monkeypatch):
    """A package of that name with the three things that are used."""
    contents = {
        "pytorch3d": {},
        "pytorch3d.loss": {"chamfer_distance": chamfer_distance},
        "pytorch3d.structures": {"Meshes": Meshes},
        "pytorch3d.renderer": {},
        "pytorch3d.renderer.mesh": {},
        "pytorch3d.renderer.mesh.rasterize_meshes": {"rasterize_meshes": rasterize_meshes},
    }
    for name, members in contents.items():
        module = types.ModuleType(name)
        module.__dict__.update(members, __path__=[])
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.usefixtures("stand_in")
def test_it_is_asked_for_pictures_in_its_own_frame(monkeypatch):
    monkeypatch.setattr(with_pytorch3d, "draws", lambda: False)
    check_faces("cpu")


@pytest.mark.usefixtures("stand_in")
def test_algorithm_1_takes_its_chamfer_distance_where_it_is_installed(monkeypatch):
    check_chamfer(monkeypatch)
    monkeypatch.setattr(with_pytorch3d, "is_installed", lambda: True)
    monkeypatch.setattr(with_pytorch3d, "chamfer", lambda points, others: 7.0)
    assert paper.chamfer(*clouds()) == 7.0


def test_pictures_go_through_it_only_where_it_is_installed(monkeypatch):
    corners = triangles()
    expected = visibility.visible_faces(CAMERA, corners)
    asked = []

    def answer(camera, given):
        asked.append(len(given))
        return expected.faces, expected.depths

    monkeypatch.setattr(with_pytorch3d, "nearest_faces", answer)
    monkeypatch.setattr(with_pytorch3d, "draws", lambda: True)
    assert visibility.visible_faces(CAMERA, corners).faces is expected.faces
    assert asked == [len(corners)]
