"""Pictures show the right surface, and videos have the right length."""

from __future__ import annotations

import numpy as np
import pytest

from atop_backend import preview
from atop_backend.contracts import JointMotion
from atop_backend.geometry import cameras

CAMERA = cameras.look_at_origin(0.7, 0.4, size_px=48)


def ray_triangle_depths(camera, corners):
    """Depth of each triangle under each pixel by Cramer's rule, (height, width, m); inf if none."""
    centre = cameras.camera_centre(camera)
    rays = cameras.pixel_rays(camera)[..., None, :]
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = np.cross(rays, second)
    scale = (across * first).sum(-1)
    offset = centre - corners[:, 0]
    u = (across * offset).sum(-1) / scale
    side = np.cross(offset, first)
    v = (rays * side).sum(-1) / scale
    depths = (side * second).sum(-1) / scale
    return np.where((u >= 0) & (v >= 0) & (u + v <= 1), depths, np.inf)


def test_a_drawing_sees_at_each_pixel_what_a_ray_through_its_centre_hits():
    rng = np.random.default_rng(3)
    middles = rng.uniform(-0.8, 0.8, (60, 1, 3))
    corners = middles + rng.normal(0, 1, (60, 3, 3)) * rng.choice([0.02, 0.1, 0.6], (60, 1, 1))
    drawing = preview.draw_mesh(
        CAMERA, corners.reshape(-1, 3), np.arange(180).reshape(-1, 3), np.full((60, 3), 0.5)
    )
    expected = ray_triangle_depths(CAMERA, corners).min(axis=-1)
    assert np.isfinite(expected).mean() > 0.1
    wrong = ~np.isclose(drawing.depths, expected, rtol=1e-6) & (
        np.isfinite(drawing.depths) | np.isfinite(expected)
    )
    assert wrong.mean() < 1e-3  # a centre that lies on an edge may fall to either side


def test_a_video_has_the_length_that_was_asked_for(tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    frames = np.zeros((3, 64, 64, 3), dtype=np.uint8)
    frames[1:] = 255
    path = tmp_path / "clip.mp4"
    preview.write_video(path, frames, seconds=1.5, fps=24)
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert count == 36
    assert seconds == pytest.approx(1.5)


def test_a_moved_part_and_its_axis_are_seen_on_the_sheet(box_with_lid):
    joint = JointMotion("revolute", (1.0, 0.0, 0.0), (0.0, 0.5, 0.3), 0.0, 1.5)
    camera = cameras.rig(0.3)[0]
    pictures = [
        np.asarray(preview.draw_motion(box_with_lid, joint, amount, camera, 128))
        for amount in (0.0, 1.2)
    ]
    assert (pictures[0] != pictures[1]).any(axis=-1).mean() > 0.02
    red = (pictures[0][..., 0] > 180) & (pictures[0][..., 1] < 90)
    assert red.sum() > 20
