"""Limits by what a bone is called."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from atop_backend.creatures.generate import creature, rig_of
from atop_backend.skeletal.figures import figures
from atop_backend.skeletal.joint_classes import _spans, beyond_class, limits_by_class
from atop_backend.skeletal.kinematics import rest_pose
from atop_backend.skeletal.rotations import vectors_to_matrices


@pytest.mark.parametrize(("name", "spans"), [
    ("b_LeftForeArm_010", (150, 60)), ("mixamorig:LeftForeArm", (150, 60)), ("shin.L", (150, 15)),
    ("upper_arm.R", (140, 70)), ("RightUpLeg", (140, 70)), ("f_index.01.L", (110, 15)),
    ("Neck", (70, 70)), ("Bone.003", (math.inf, math.inf)),
])  # fmt: skip
def test_names_of_usual_rigs_say_their_kind(name, spans):
    assert _spans(name) == spans


def test_a_neck_that_is_twisted_too_far_is_beyond_by_the_excess_and_a_constraint_counts_instead():
    rig = rig_of(creature(0, "quadruped", acts=1).creature)
    free = np.flatnonzero(rig.free())
    neck = next(place for place, bone in enumerate(free) if rig.bones[bone].startswith("neck"))
    limits = limits_by_class(rig)
    torch.testing.assert_close(limits.lines.norm(dim=1), torch.ones(len(free)))
    vectors = torch.zeros(2, len(free), 3)
    vectors[1, neck] = math.radians(100) * limits.lines[neck]
    beyond = beyond_class(vectors, limits).rad2deg()
    assert float(beyond[1, neck]) == pytest.approx(30, abs=0.1)
    assert float(beyond.sum()) == pytest.approx(30, abs=0.1)

    pose = rest_pose(2, len(rig.bones))
    rotations = pose.rotations.clone()
    rotations[:, free] = vectors_to_matrices(vectors)
    twisted = pose._replace(rotations=rotations)
    assert figures(rig, twisted, 24.0, 1.0)["class_violation_deg"] > 0.5
    own = rig.limits.copy()
    own[free[neck]] = [[-0.1, 0.1]] * 3
    limited = figures(rig._replace(limits=own), twisted, 24.0, 1.0)
    assert limited["class_violation_deg"] == 0
    assert limited["limit_violation_deg"] > 1
