"""Rotations as smooth channels, and motions at another frame rate, without Blender."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from blender_addon.core import rig_motion
from blender_addon.core.rig_motion import Motion

ORDERS = ["".join(order) for order in permutations("XYZ")]


def turn(axis, angles):
    """Quaternions (n, 4) about one axis."""
    half = np.asarray(angles)[:, None] / 2
    return np.hstack([np.cos(half), np.sin(half) * np.asarray(axis) / np.linalg.norm(axis)])


def wander(count, seed, step=0.15):
    """Rotations that change smoothly and far."""
    walk = np.cumsum(np.random.default_rng(seed).normal(size=(count, 4)) * step, axis=0)
    walk += (1.5, 0, 0, 0)
    return walk / np.linalg.norm(walk, axis=1, keepdims=True)


def from_euler(angles, order):
    """Matrices of angles about x, y and z, applied in the order of the name."""
    result = np.eye(3)
    for letter in order:
        result = rig_motion.about("XYZ".index(letter), angles["XYZ".index(letter)]) @ result
    return result


def steps(values):
    """The largest change of any channel from frame to frame."""
    return np.abs(np.diff(values, axis=0)).max()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(3))
def test_euler_angles_are_the_rotation_in_every_order(order, seed):
    quaternions = wander(60, seed)
    angles = rig_motion.euler_angles(quaternions, order)
    made = [from_euler(row, order) for row in angles]
    np.testing.assert_allclose(made, rig_motion.matrices(quaternions), atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_count_whole_turns(order):
    angle = np.linspace(0, 6 * np.pi, 100)
    axis = np.eye(3)["XYZ".index(order[0])]
    angles = rig_motion.euler_angles(turn(axis, angle), order)
    np.testing.assert_allclose(angles, angle[:, None] * axis, atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_pass_the_lock_without_a_jump(order):
    """The middle angle goes through a right angle while the first one turns on."""
    i, j, _ = ("XYZ".index(letter) for letter in order)
    wanted = np.zeros((41, 3))
    wanted[:, i], wanted[:, j] = 0.3, np.linspace(0, np.pi, 41)  # the middle of them is the lock
    quaternions = np.array([rig_motion.quaternion(from_euler(row, order)) for row in wanted])
    angles = rig_motion.euler_angles(quaternions, order)
    made = [from_euler(row, order) for row in angles]
    np.testing.assert_allclose(made, rig_motion.matrices(quaternions), atol=1e-7)
    np.testing.assert_allclose(angles, wanted, atol=1e-6)


def test_an_axis_and_an_angle_run_on_through_whole_turns_and_rest():
    angle = np.concatenate([np.zeros(5), np.linspace(0, -7, 60), np.linspace(-7, 2, 50)])
    quaternions = turn((1, 2, -1), angle)
    quaternions[::3] *= -1  # the same rotations
    values = rig_motion.axis_angles(quaternions)
    half = values[:, :1] / 2
    made = np.hstack([np.cos(half), np.sin(half) * values[:, 1:]])
    matrices = rig_motion.matrices(quaternions)
    np.testing.assert_allclose(rig_motion.matrices(made), matrices, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(values[:, 1:], axis=1), 1, atol=1e-12)
    assert steps(values) <= np.abs(np.diff(angle)).max() + 1e-9


def test_no_rotation_at_all_has_an_axis_too():
    values = rig_motion.axis_angles(np.tile([1.0, 0, 0, 0], (3, 1)))
    np.testing.assert_array_equal(values, np.tile([0.0, 0, 1, 0], (3, 1)))


def test_quaternions_never_change_sides():
    quaternions = wander(50, 1)
    mixed = quaternions * np.where(np.arange(50) % 4 < 2, 1, -1)[:, None]
    made = rig_motion.continuous(mixed)
    assert steps(made) < 0.3
    np.testing.assert_allclose(np.abs((made * quaternions).sum(axis=1)), 1, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_matrix_gives_its_quaternion_back(seed):
    for quaternion in (*wander(20, seed), *np.eye(4)):
        found = rig_motion.quaternion(rig_motion.matrices(quaternion))
        assert abs(found @ quaternion) == pytest.approx(1, abs=1e-12)


def spinning(count, fps, cyclic=False):
    """A bone and the whole turn evenly about their axes, once a second; it walks 2 a second."""
    seconds = np.arange(count) / fps
    turns = turn((0, 0, 1), 2 * np.pi * seconds)
    places = np.outer(seconds, (2, 0, 0))
    return Motion(fps, cyclic, ("arm",), turns[:, None], turn((0, 1, 0), seconds), places)


@pytest.mark.parametrize(("fps", "scene"), [(24, 24), (8, 24), (12, 60)])
def test_poses_stay_as_they_are_where_they_fall_on_frames(fps, scene):
    motion = spinning(9, fps)
    frames, same = rig_motion.at_scene_rate(motion, scene)
    assert same is motion
    np.testing.assert_array_equal(frames, np.arange(9) * (scene // fps))


@pytest.mark.parametrize(("count", "fps", "scene"), [(31, 30, 24), (17, 16, 24), (49, 24, 23.976)])
def test_other_rates_are_laid_on_whole_frames(count, fps, scene):
    frames, made = rig_motion.at_scene_rate(spinning(count, fps), scene)
    np.testing.assert_array_equal(frames, np.arange(len(frames)))
    seconds = np.linspace(0, (count - 1) / fps, len(frames))
    assert frames[-1] / scene == pytest.approx(seconds[-1], abs=0.5 / scene)
    expected = turn((0, 0, 1), 2 * np.pi * seconds)
    np.testing.assert_allclose(np.abs((made.rotations[:, 0] * expected).sum(axis=1)), 1, atol=1e-9)
    np.testing.assert_allclose(made.root_translations[:, 0], 2 * seconds, atol=1e-9)


def test_a_single_pose_needs_one_frame():
    frames, made = rig_motion.at_scene_rate(spinning(1, 30), 24)
    np.testing.assert_array_equal(frames, [0])
    assert made.rotations.shape == (1, 1, 4)
