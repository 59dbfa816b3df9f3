import numpy as np
import pytest
import trimesh

from atop_backend.synthetic import solids

L_SHAPE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
TURN = np.linspace(0, 2 * np.pi, 24, endpoint=False)
RING = np.stack([np.cos(TURN), np.sin(TURN), 0 * TURN], axis=1)
SIDES = ("-x", "+x", "-y", "+y", "-z", "+z")

CLOSED = {
    "box": (solids.box((0, 0, 0), (1, 2, 3)), 6.0),
    **{
        f"frame {axis}": (
            solids.frame((0, 0, 0), (1, 1, 1), [0.25] * 3, [0.75] * 3, axis),
            0.75,
        )
        for axis in "xyz"
    },
    **{
        f"open box {side}": (solids.open_box((0, 0, 0), (1, 1, 1), 0.1, side), 1 - 0.8 * 0.8 * 0.9)
        for side in SIDES
    },
    **{
        f"extrude {plane}": (solids.extrude(corners, plane, 0, 2), 6.0)
        for plane in ("xy", "xz", "yz")
        for corners in (L_SHAPE, L_SHAPE[::-1])
    },
    **{
        f"lathe {axis}": (
            solids.lathe([(0, 0), (1, 0), (0.5, 1), (0, 1)], (1, 2, 3), axis, 96),
            np.pi * 1.75 / 3,
        )
        for axis in "xyz"
    },
    "cylinder": (solids.cylinder((1, 1, 1), (1, 2, 2), 0.5, segments=96), np.pi * 0.75),
    "knurled": (
        solids.knurled((1, 0, 1), (0, -2, 1), 0.5, teeth=10, depth=0.2),
        5**0.5 * 10 * 0.5 * 0.4 * np.sin(np.pi / 10),
    ),
    "sphere": (solids.sphere((1, 0, 0), 1.0, 64, 48), np.pi * 4 / 3),
    "bent tube": (solids.tube([(0, 0, 0), (1, 0, 0), (1, 1, 0)], 0.05, 64), np.pi * 0.0025 * 2),
    "ring": (solids.tube(RING, 0.1, 48, closed=True), np.pi * 0.01 * 2 * np.pi),
}


@pytest.mark.parametrize("name", CLOSED)
def test_a_solid_is_closed_wound_outwards_and_of_the_right_volume(name):
    triangles, volume = CLOSED[name]
    mesh = trimesh.Trimesh(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3))
    mesh.merge_vertices()
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.volume == pytest.approx(volume, rel=0.02)


def test_turning_a_quarter_about_z_takes_x_to_y():
    moved = solids.rotate(np.array([[[2.0, 0, 0]] * 3]), (0, 0, 1), np.pi / 2, (1, 0, 0))
    np.testing.assert_allclose(moved, [[[1.0, 1.0, 0]] * 3], atol=1e-12)


def test_mirroring_keeps_the_outside_outside():
    mirror = np.diag([-1.0, 1, 1, 1])
    triangles = solids.transform(solids.box((0, 0, 0), (1, 1, 1)), mirror)
    mesh = trimesh.Trimesh(triangles.reshape(-1, 3), np.arange(36).reshape(-1, 3))
    assert mesh.volume == pytest.approx(1.0)
