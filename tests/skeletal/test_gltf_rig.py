"""Rigs from glTF: skinning is that of the specification, and bad files are refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation, Slerp
from tiny_rig import BEND_DEG, HEIGHT, bar, turn_z, write_bar

from atop_backend.errors import InputError
from atop_backend.geometry.rigs import (
    choose,
    load_rig,
    normalise,
    save_rig,
)
from atop_backend.skeletal.gltf_rig import read_gltf_rig
from atop_backend.skeletal.kinematics import (
    pose_of,
    rest_to_posed,
    skeleton_of,
    skin_vertices,
)

TO_Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])


def by_the_book(interpolation: str, time: float) -> np.ndarray:
    """The skinned bar, one vertex at a time, from the numbers that were written into the file."""

    def matrix(shift, xyzw) -> np.ndarray:
        result = np.eye(4)
        result[:3, :3] = Rotation.from_quat(xyzw).as_matrix()
        result[:3, 3] = shift
        return result

    keys, shifts = [0.0, 0.5, 1.0], np.array([[0, 0, 0], [0.3, 0.1, 0], [0.6, 0, 0.2]])
    turns = np.array([turn_z(0), turn_z(BEND_DEG), turn_z(-BEND_DEG / 2)])
    shift = np.array([np.interp(time, keys, shifts[:, axis]) for axis in range(3)])
    if interpolation == "LINEAR":
        turn = Slerp(keys, Rotation.from_quat(turns))(time).as_quat()
    elif interpolation == "STEP":
        last = max(index for index, key in enumerate(keys) if key <= time)
        turn, shift = turns[last], shifts[last]
    else:  # Hermite with the tangents that were written, then normalised
        first = 0 if time < 0.5 else 1
        t = (time - keys[first]) / 0.5
        out = -0.3 * np.ones(4) * 0.5
        into = 0.3 * np.ones(4) * 0.5
        turn = (
            (2 * t**3 - 3 * t**2 + 1) * turns[first] + (t**3 - 2 * t**2 + t) * out
            + (-2 * t**3 + 3 * t**2) * turns[first + 1] + (t**3 - t**2) * into
        )  # fmt: skip
    lower = matrix([0, 0.5, 1.0], turn_z(20)) @ matrix(shift, [0, 0, 0, 1])
    upper = lower @ matrix([0, HEIGHT / 2, 0], turn)
    back = matrix([0, -HEIGHT / 2, 0], [0, 0, 0, 1])
    vertices, _, weights = bar()
    result = []
    for vertex, (w_lower, w_upper) in zip(vertices, weights, strict=True):
        point = np.append(vertex, 1.0)
        result.append((w_lower * (lower @ point) + w_upper * (upper @ back @ point))[:3])
    return np.array(result) @ TO_Z_UP.T


@pytest.mark.parametrize("interpolation", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_a_clip_moves_every_vertex_as_the_gltf_specification_says(tmp_path, interpolation):
    read = read_gltf_rig(write_bar(tmp_path / "bar.glb", interpolation=interpolation), fps=8)
    clip = read.clips[0]
    assert clip.name == "bend"
    assert len(clip.times) == 9
    skinned = skin_vertices(read.rig, torch.as_tensor(clip.rest_to_posed)).numpy()
    for time, vertices in zip(clip.times, skinned, strict=True):
        np.testing.assert_allclose(vertices, by_the_book(interpolation, time), atol=1e-6)


def test_a_clip_of_turning_bones_survives_as_rotations_and_root_motion(tmp_path):
    read = read_gltf_rig(write_bar(tmp_path / "bar.glb"))
    given = torch.as_tensor(read.clips[0].rest_to_posed)
    pose = pose_of(read.rig, given)
    again = rest_to_posed(skeleton_of(read.rig, torch.float64), pose)
    torch.testing.assert_close(
        skin_vertices(read.rig, again), skin_vertices(read.rig, given), atol=1e-6, rtol=0
    )


def test_the_rest_pose_stands_where_the_armature_stands_with_z_up(tmp_path):
    rig = read_gltf_rig(write_bar(tmp_path / "bar.glb")).rig
    assert rig.bones == ("lower", "upper")
    assert rig.parents.tolist() == [-1, 0]
    np.testing.assert_allclose(rig.rest[0, :3, 3], [0, -1.0, 0.5], atol=1e-6)
    assert np.ptp(rig.vertices[:, 2]) > 1.8  # upright but for the stand's 20 degrees
    np.testing.assert_allclose(rig.face_colours[0], [0.906, 0.349, 0.349], atol=2e-3)


def test_a_rig_file_gives_back_the_rig(tmp_path):
    rig = read_gltf_rig(write_bar(tmp_path / "bar.glb")).rig
    save_rig(tmp_path / "rig.npz", rig)
    for name, value in load_rig(tmp_path / "rig.npz")._asdict().items():
        np.testing.assert_array_equal(value, getattr(rig, name))


def test_the_normalised_rig_stands_on_the_ground_and_keeps_its_shape(tmp_path):
    rig = read_gltf_rig(write_bar(tmp_path / "bar.glb")).rig
    body, placement = normalise(rig)
    assert body.vertices[:, 2].min() == pytest.approx(0.0)
    np.testing.assert_allclose(
        placement.scale * body.vertices + placement.shift, rig.vertices, atol=1e-9
    )


def test_a_mesh_without_skin_is_refused(tmp_path):
    path = write_bar(tmp_path / "bar.glb", skin=False)
    with pytest.raises(InputError, match="no skin"):
        read_gltf_rig(path)


def test_a_file_that_is_no_gltf_is_refused(tmp_path):
    path = tmp_path / "bar.glb"
    path.write_bytes(b"not a model")
    with pytest.raises(InputError):
        read_gltf_rig(path)


def test_a_file_that_is_cut_short_is_refused(tmp_path):
    path = write_bar(tmp_path / "bar.glb")
    path.write_bytes(path.read_bytes()[:-900])
    with pytest.raises(InputError):
        read_gltf_rig(path)


def test_an_unknown_bone_is_refused_by_name(tmp_path):
    rig = read_gltf_rig(write_bar(tmp_path / "bar.glb")).rig
    with pytest.raises(InputError, match=r"no bone wing.*lower, upper"):
        choose(rig, ("wing",))
    assert choose(rig, ("upper",)).chosen.tolist() == [False, True]
