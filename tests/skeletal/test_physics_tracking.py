"""Bodies with weight follow a motion: they stand on the ground, whatever the motion does."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

pytest.importorskip("mujoco", reason="needs MuJoCo, pip install 'atop-backend[physics]'")

from test_follow_video import SMALL, bar_rig, filmed, run_atop  # noqa: F401

from atop_backend.creatures.generate import creature, rig_of
from atop_backend.errors import InputError
from atop_backend.geometry.rigs import Placement, normalise
from atop_backend.skeletal.figures import figures
from atop_backend.skeletal.kinematics import Pose, rest_pose
from atop_backend.skeletal.physics import track
from atop_backend.skeletal.physique import physique_of
from atop_backend.skeletal.rotations import angles_between, vectors_to_matrices

FPS, METRES = 12.0, 0.7
PLACEMENT = Placement(METRES, np.zeros(3))


@pytest.fixture(scope="module")
def dog():
    return normalise(rig_of(creature(0, "quadruped", acts=1).creature))[0]


def nodding(rig, height: float, frames: int = 8) -> Pose:
    """The last bone of the neck goes up and down while the body stays at a height."""
    pose = rest_pose(frames, len(rig.bones))
    neck = max(bone for bone, name in enumerate(rig.bones) if name.startswith("neck"))
    turns = torch.zeros(frames, 3)
    turns[:, 0] = 0.5 * torch.sin(torch.linspace(0, 2 * torch.pi, frames))
    rotations = pose.rotations.clone()
    rotations[:, neck] = vectors_to_matrices(turns)
    return pose._replace(rotations=rotations, root_shifts=torch.tensor([[0.0, 0.0, height]])
                         .repeat(frames, 1))  # fmt: skip


def test_masses_are_those_of_the_bones_volumes(dog):
    import mujoco

    metres = dog._replace(vertices=dog.vertices * METRES)
    model = mujoco.MjModel.from_xml_string(physique_of(metres).mjcf)
    capsules = model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE
    radius, half = model.geom_size[capsules, 0], model.geom_size[capsules, 1]
    volumes = np.pi * radius**2 * (2 * half + 4 / 3 * radius)
    assert model.body_subtreemass[0] == pytest.approx(1000 * volumes.sum(), rel=1e-3)
    assert capsules.sum() == dog.deform.sum()


@pytest.mark.parametrize("height", [-0.15, 0.0, 0.15])
def test_a_body_that_sinks_or_floats_is_put_on_the_ground_and_still_nods(dog, height):
    wanted = nodding(dog, height)
    found = track(dog, PLACEMENT, wanted, FPS, False, assist=0.5, trials=3)
    measured = figures(dog, found.pose, FPS, METRES)
    assert measured["penetration_m"] < 0.01
    assert measured["float_m"] < 0.01
    turned = angles_between(found.pose.rotations, wanted.rotations).rad2deg()
    assert float(turned.mean()) < 3
    assert found.figures["tracking_error_deg"] < 3


def test_learning_over_trials_follows_more_closely(dog):
    wanted = nodding(dog, 0.0)
    once, often = (track(dog, PLACEMENT, wanted, FPS, False, 0.5, trials).figures
                   for trials in (1, 4))  # fmt: skip
    assert often["tracking_error_deg"] < 0.8 * once["tracking_error_deg"]


def test_a_cyclic_motion_ends_as_it_began(dog):
    found = track(dog, PLACEMENT, nodding(dog, 0.0), FPS, True, 0.5, 2).pose
    for part in found:
        torch.testing.assert_close(part[0], part[-1], atol=1e-5, rtol=0)


def test_loose_bones_are_refused(dog):
    loose = dog._replace(parents=np.where(np.arange(len(dog.bones)) == 3, -1, dog.parents))
    with pytest.raises(InputError, match="hang together"):
        track(loose, PLACEMENT, nodding(dog, 0.0), FPS, False, 0.5, 1)


def test_the_command_keeps_the_motion_without_physics(filmed, tmp_path):  # noqa: F811
    path, videos, cameras = filmed
    out = tmp_path / "job"
    words = [word for setting in SMALL for word in ("--set", setting)]
    code, _ = run_atop(
        str(path), "--video", str(videos[0]), "--video", str(videos[1]), "--cameras", str(cameras),
        "--out", str(out), "--physics", *words,
    )  # fmt: skip
    assert code == 0
    result = json.loads((out / "result.json").read_text())
    assert "physics" in result["seconds"]
    assert result["figures"]["penetration_m"] < 0.02
    assert set(result["physics"]["figures_without"]) == set(result["figures"])
    names = "motion.json", result["files"]["motion without physics"]
    tracked, before = (json.loads((out / name).read_text()) for name in names)
    assert tracked["root"] != before["root"]
