"""The rig looks where it says, and pixels, rays and points agree."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atop_backend.geometry import cameras

ELEVATION_RAD = math.radians(20.0)


@pytest.fixture
def rig():
    return cameras.rig(ELEVATION_RAD, size_px=64)


def test_every_camera_stands_at_the_distance_and_elevation_and_looks_at_the_origin(rig):
    for camera in rig:
        centre = cameras.camera_centre(camera)
        assert np.linalg.norm(centre) == pytest.approx(cameras.DISTANCE)
        assert math.asin(centre[2] / cameras.DISTANCE) == pytest.approx(ELEVATION_RAD)
        pixel, depth = cameras.project(camera, np.zeros(3))
        np.testing.assert_allclose(pixel, [32, 32])
        assert depth == pytest.approx(cameras.DISTANCE)


def test_azimuths_turn_from_the_front_towards_the_right(rig):
    centres = np.array([cameras.camera_centre(camera) for camera in rig])
    signs = np.sign(centres[:, :2])
    np.testing.assert_array_equal(signs, [[1, -1], [1, 1], [-1, 1], [-1, -1]])
    front = cameras.look_at_origin(0.0, 0.0)
    np.testing.assert_allclose(cameras.camera_centre(front), [0, -cameras.DISTANCE, 0], atol=1e-12)


def test_up_in_the_world_is_up_in_the_picture_and_the_frame_is_right_handed(rig):
    for camera in rig:
        above, _ = cameras.project(camera, np.array([0, 0, 0.5]))
        assert above[0] == pytest.approx(32)
        assert above[1] < 32
        assert np.linalg.det(np.asarray(camera.world_to_camera)) == pytest.approx(1.0)


def test_the_unit_sphere_fits_the_picture_with_room_around_it(rig):
    directions = np.random.default_rng(0).normal(size=(500, 3))
    points = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    for camera in rig:
        pixels, depths = cameras.project(camera, points)
        assert depths.min() > 2.9
        assert pixels.min() > 5
        assert pixels.max() < 59


def test_a_point_on_a_pixels_ray_projects_to_that_pixels_centre(rig):
    for camera in rig:
        points = cameras.camera_centre(camera) + 3.7 * cameras.pixel_rays(camera)
        pixels, depths = cameras.project(camera, points)
        columns, rows = np.meshgrid(np.arange(64) + 0.5, np.arange(64) + 0.5)
        np.testing.assert_allclose(pixels, np.stack([columns, rows], axis=-1), atol=1e-9)
        np.testing.assert_allclose(depths, 3.7)


def test_seen_positions_lie_on_the_triangle_under_the_pixel(rig):
    vertices = np.array([[-3.0, 0, -3], [3, 0, -3], [3, 0, 3], [-3, 0, 3]])
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    face_ids = np.full((64, 64), -1, dtype=np.int32)
    face_ids[10:50, 20:40] = 1
    for camera in rig:
        positions = cameras.seen_positions(camera, face_ids, vertices, triangles)
        seen = face_ids >= 0
        assert not positions[~seen].any()
        np.testing.assert_allclose(positions[seen][:, 1], 0.0, atol=1e-12)
        pixels, _ = cameras.project(camera, positions[seen])
        rows, columns = np.nonzero(seen)
        np.testing.assert_allclose(pixels, np.stack([columns, rows], axis=1) + 0.5, atol=1e-9)


def test_a_triangle_seen_edge_on_gives_a_point_near_it(rig):
    camera = rig[0]
    centre = cameras.camera_centre(camera)
    sideways = np.cross(centre, [0, 0, 1.0])
    sideways /= np.linalg.norm(sideways)
    edge_on = np.array([[0.2 * centre, 0.25 * centre, [0.0, 0.0, 0.0]]]).reshape(3, 3)
    edge_on[2] = 0.2 * centre + [0, 0, 0.01]
    face_ids = np.zeros((64, 64), dtype=np.int32)
    positions = cameras.seen_positions(camera, face_ids, edge_on, np.array([[0, 1, 2]]))
    assert np.isfinite(positions).all()


def test_the_embedding_is_a_pose_with_blenders_axes_at_unit_distance(rig):
    for camera in rig:
        pose = cameras.embedding(camera).reshape(4, 4)
        centre = cameras.camera_centre(camera)
        np.testing.assert_allclose(pose[:3, 3], centre / np.linalg.norm(centre))
        np.testing.assert_allclose(pose[:3, 2], pose[:3, 3], atol=1e-12)  # Z points backwards
        assert pose[2, 1] > 0  # Y points upwards
        np.testing.assert_allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-12)
