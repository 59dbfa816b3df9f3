"""Rotations, splines, skinning, regularisers: exact cases, round trips and gradients."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from atop_backend.config import AnimateConfig
from atop_backend.errors import InputError
from atop_backend.geometry.rigs import Rig, build_rig
from atop_backend.skeletal import distil, parameters, regularisers, rotations
from atop_backend.skeletal.explore import mirror_of
from atop_backend.skeletal.figures import figures
from atop_backend.skeletal.kinematics import (
    bind,
    pose_of,
    rest_pose,
    rest_to_posed,
    skeleton_of,
    skin,
)
from atop_backend.skeletal.surface import bind_gaussians


def chain(limits: np.ndarray | None = None) -> Rig:
    """A strip of three bones that stand on each other, each turned in its own way at rest."""
    generator = np.random.default_rng(0)
    vertices = np.array([[x, 0.1 * z, z] for z in np.linspace(0, 3, 13) for x in (-0.1, 0.1)])
    triangles = np.array([[i, i + 1, i + 2] for i in range(len(vertices) - 2)])
    rest = np.broadcast_to(np.eye(4), (3, 4, 4)).copy()
    rest[:, :3, :3] = Rotation.random(3, rng=generator).as_matrix()
    rest[:, 2, 3] = [0, 1, 2]
    weights = np.clip(1 - np.abs(vertices[:, 2:] - np.array([0.5, 1.5, 2.5])), 0, None)
    return build_rig(
        vertices, triangles, np.full((len(triangles), 3), 0.5), ("a", "b", "c"),
        np.array([-1, 0, 1]), rest, rest[:, :3, 3], weights, limits,
    )  # fmt: skip


def test_rotation_vectors_matrices_and_quaternions_agree_with_scipy():
    vectors = torch.randn(50, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    vectors[0] = 0
    vectors[1] = torch.tensor([math.pi - 1e-4, 0, 0])
    matrices = rotations.vectors_to_matrices(vectors)
    np.testing.assert_allclose(matrices, Rotation.from_rotvec(vectors).as_matrix(), atol=1e-12)
    quaternions = rotations.matrices_to_quaternions(matrices)
    expected = Rotation.from_matrix(matrices).as_quat(canonical=True, scalar_first=True)
    np.testing.assert_allclose(quaternions, expected, atol=1e-9)
    again = rotations.vectors_to_matrices(rotations.matrices_to_vectors(matrices))
    torch.testing.assert_close(again, matrices)


def test_euler_angles_are_those_of_blender():
    angles = torch.tensor([[0.3, -0.7, 1.1], [-1.0, 0.2, -2.0]], dtype=torch.float64)
    matrices = torch.as_tensor(Rotation.from_euler("xyz", angles.numpy()).as_matrix())
    torch.testing.assert_close(rotations.matrices_to_euler(matrices), angles)


def test_the_exponential_map_has_right_gradients_also_at_rest():
    vectors = torch.tensor([[0.0, 0, 0], [0.4, -0.2, 0.9]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(rotations.vectors_to_matrices, (vectors,))


def test_keyframes_take_the_short_way():
    turns = torch.linspace(0, 3 * math.pi, 30)[:, None] * torch.tensor([0.0, 0.0, 1.0])
    quaternions = rotations.continuous(
        rotations.matrices_to_quaternions(rotations.vectors_to_matrices(turns))
    )
    assert float(quaternions.diff(dim=0).norm(dim=-1).max()) < 0.2


def test_splines_add_up_to_one_and_reproduce_a_straight_line():
    times = torch.linspace(0, 1, 17)
    basis = parameters.spline_basis(times, 7)
    torch.testing.assert_close(basis.sum(dim=1), torch.ones(17))
    line = basis @ torch.arange(7.0)
    torch.testing.assert_close(line.diff(n=2), torch.zeros(15), atol=1e-5, rtol=0)


@pytest.mark.parametrize("controls", [0, 5])
def test_a_cyclic_motion_ends_as_it_begins(controls):
    times = torch.linspace(0, 1, 9)
    plan = distil.Plan(controls, 1, True, 0.1)
    body = parameters.body_of(chain())
    count = controls or 8
    shifts = torch.randn(count, 3, generator=torch.Generator().manual_seed(1))
    at_rest = parameters.at_rest(body, count)
    motion = distil.Motion(at_rest._replace(shifts=shifts), plan, times, True)
    pose = motion.pose(body, times)
    torch.testing.assert_close(pose.root_shifts[0], pose.root_shifts[-1])
    assert float(pose.root_shifts.std()) > 0.1


def test_variables_keep_their_values_when_control_points_are_added():
    body, times = parameters.body_of(chain()), torch.linspace(0, 1, 20)
    coarse = parameters.spline_basis(times, 5)
    generator = torch.Generator().manual_seed(0)
    variables = parameters.Variables(
        torch.randn(5, 2, 3, generator=generator), torch.randn(5, 3, generator=generator),
        torch.randn(5, 3, generator=generator),
    )  # fmt: skip
    frames = parameters.convert(variables, coarse, torch.eye(20))
    torch.testing.assert_close(frames.bones[:, 0], coarse @ variables.bones[:, 0])
    back = parameters.convert(frames, torch.eye(20), coarse)
    torch.testing.assert_close(back.turns, variables.turns, atol=1e-4, rtol=1e-4)
    assert len(body.free) == 2  # the first bone only moves with the whole


def test_pose_and_skinning_round_trip_through_bone_matrices():
    rig, generator = chain(), torch.Generator().manual_seed(2)
    body = parameters.body_of(rig)
    variables = parameters.Variables(
        torch.randn(4, 2, 3, generator=generator), torch.randn(4, 3, generator=generator),
        torch.randn(4, 3, generator=generator),
    )  # fmt: skip
    pose = parameters.pose(body, variables, torch.eye(4))
    found = pose_of(rig, rest_to_posed(body.skeleton, pose))
    for one, other in zip(found, pose, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=0)


def test_a_bone_turns_about_its_head_and_takes_what_hangs_on_it():
    rig = chain()._replace(rest=np.stack([np.eye(4)] * 3))
    rig.rest[:, 2, 3] = [0, 1, 2]
    pose = rest_pose(1, 3)
    turned = pose.rotations.clone()
    turned[0, 1] = rotations.vectors_to_matrices(torch.tensor([0.0, math.pi / 2, 0.0]))
    tip = torch.tensor([[0.0, 0.0, 3.0]])
    bound = bind(tip, torch.tensor([[0.0, 0.0, 1.0]]))
    moved = skin(rest_to_posed(skeleton_of(rig), pose._replace(rotations=turned)), bound)
    torch.testing.assert_close(moved[0, 0], torch.tensor([2.0, 0.0, 1.0]), atol=1e-6, rtol=0)


def test_gaussians_stay_on_their_triangles_when_the_body_bends():
    rig = chain()
    surface = bind_gaussians(rig, 80, np.random.default_rng(0))
    still = skin(rest_to_posed(skeleton_of(rig), rest_pose(1, 3)), surface.bound)[0]
    torch.testing.assert_close(still, surface.rest, atol=1e-5, rtol=0)
    turned = rest_pose(1, 3).rotations.clone()
    turned[0, 2] = rotations.vectors_to_matrices(torch.tensor([1.0, 0.3, -0.4]))
    moved = skin(rest_to_posed(skeleton_of(rig), rest_pose(1, 3)._replace(rotations=turned)),
                 surface.bound)[0]  # fmt: skip
    low = surface.rest[:, 2] < 0.4
    torch.testing.assert_close(moved[low], surface.rest[low], atol=1e-5, rtol=0)
    assert float((moved - surface.rest)[surface.rest[:, 2] > 2.5].norm(dim=1).min()) > 0.1


def test_smoothness_counts_bends_in_time_and_not_speed():
    line = torch.arange(6.0)[:, None] * torch.tensor([1.0, 2.0])
    assert float(regularisers.roughness(line)) == 0.0
    line[3] += 1
    assert float(regularisers.roughness(line)) > 1.0


def test_only_what_is_below_the_ground_is_pushed_up():
    points = torch.tensor([[[0.0, 0, 0.1], [0, 0, -0.2]]], requires_grad=True)
    regularisers.penetration(points).backward()
    assert points.grad is not None
    assert points.grad[0, 0].abs().sum() == 0
    assert points.grad[0, 1, 2] < 0


def test_only_what_stands_on_the_ground_slides():
    points = torch.zeros(2, 2, 3)
    points[1, :, 0] = 0.5
    points[:, 1, 2] = 1.0
    assert float(regularisers.sliding(points[:, 1:])) == 0.0
    assert float(regularisers.sliding(points)) == pytest.approx(0.25)


def limited_chain() -> Rig:
    limits = np.full((3, 3, 2), np.nan)
    limits[1, 0] = [-0.1, 0.2]
    return chain(limits)


def test_angles_beyond_a_limit_cost_and_others_do_not():
    weighted = distil.weigh(AnimateConfig(), limited_chain())
    turned = torch.eye(3).repeat(1, 3, 1, 1)
    turned[0, 1] = rotations.vectors_to_matrices(torch.tensor([0.5, 0.0, 0.0]))
    turned[0, 2] = turned[0, 1]
    beyond = regularisers.beyond_limits(turned, weighted.limits, weighted.limited)
    expected = torch.zeros(1, 3, 3)
    expected[0, 1, 0] = 0.3
    torch.testing.assert_close(beyond, expected, atol=1e-5, rtol=0)


TERMS = ("smooth_weight", "ground_weight", "slide_weight", "limit_weight", "rest_weight")


@pytest.mark.parametrize("term", TERMS)
def test_each_regulariser_can_be_switched_off_by_itself(term):
    rig, generator = limited_chain(), torch.Generator().manual_seed(0)
    body, basis = parameters.body_of(rig), torch.eye(5)
    variables = parameters.Variables(
        torch.randn(5, 2, 3, generator=generator), 0.3 * torch.randn(5, 3, generator=generator),
        torch.randn(5, 3, generator=generator) - torch.tensor([0.0, 0.0, 1.0]),
    )  # fmt: skip
    surface = bind_gaussians(rig, 60, np.random.default_rng(0))
    pose = parameters.pose(body, variables, basis)
    points = skin(rest_to_posed(body.skeleton, pose), surface.bound)
    settings = dataclasses.replace(AnimateConfig(), **dict.fromkeys(TERMS, 0.0))
    one = dataclasses.replace(settings, **{term: 1.0})

    def cost(chosen: AnimateConfig) -> float:
        weighted = distil.weigh(chosen, rig)
        return float(distil.regularise(weighted, body, variables, basis, pose, points))

    assert cost(settings) == 0.0
    assert cost(one) > 1e-3


def test_figures_know_a_body_that_floats_from_one_that_sinks():
    rig = chain()
    pose = rest_pose(6, 3)
    standing = figures(rig, pose, 24.0, 2.0)
    assert standing["penetration_m"] == standing["float_m"] == standing["jerk_m_s3"] == 0
    sunk = figures(rig, pose._replace(root_shifts=torch.tensor([0, 0, -0.1]).expand(6, 3)), 24, 2.0)
    assert sunk["penetration_m"] == pytest.approx(0.2, abs=1e-5)
    path = torch.arange(6)[:, None] * torch.tensor([0.1, 0.0, 0.0])
    slid = figures(rig, pose._replace(root_shifts=path), 10.0, 2.0)
    assert slid["foot_slide_m_s"] == pytest.approx(2.0, abs=1e-4)
    assert slid["motion_m_s"] == pytest.approx(2.0, abs=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"triangles": np.zeros((0, 3), int)}, "no mesh"),
        ({"weights": np.zeros((26, 3))}, "no vertex has a weight"),
        ({"parents": np.array([1, 2, 0])}, "ring"),
        ({"rest": np.stack([np.diag([1.0, 2, 1, 1])] * 3)}, "scaled unevenly"),
        ({"vertices": np.full((26, 3), np.nan)}, "not finite"),
    ],
)
def test_a_broken_rig_is_refused_with_its_reason(change, message):
    rig = chain()
    fields = {
        name: getattr(rig, name)
        for name in ("vertices", "triangles", "face_colours", "bones", "parents", "rest", "tails",
                     "weights")
    }  # fmt: skip
    with pytest.raises(InputError, match=message):
        build_rig(**{**fields, **change})


def test_bones_are_sorted_so_that_parents_come_first():
    rig = chain()
    turned = build_rig(
        rig.vertices, rig.triangles, rig.face_colours, ("c", "b", "a"), np.array([1, 2, -1]),
        rig.rest[::-1], rig.tails[::-1], rig.weights[:, ::-1],
    )  # fmt: skip
    assert turned.bones == rig.bones
    np.testing.assert_array_equal(turned.parents, rig.parents)
    np.testing.assert_allclose(turned.weights, rig.weights)


def test_the_mirror_image_of_a_pose_puts_each_limb_where_its_partner_was():
    generator = np.random.default_rng(3)
    heads = np.array(
        [[0, 0, 1.0], [0.3, 0.1, 1], [-0.3, 0.1, 1], [0.3, 0.1, 0.5], [-0.3, 0.1, 0.5]]
    )
    tails = heads - [0, 0, 0.5]
    rest = np.broadcast_to(np.eye(4), (5, 4, 4)).copy()
    rest[:, :3, :3] = Rotation.random(5, rng=generator).as_matrix()
    rest[:, :3, 3] = heads
    rig = build_rig(
        tails, np.array([[0, 1, 2], [2, 3, 4]]), np.zeros((2, 3)), ("hip", "l", "r", "ll", "rr"),
        np.array([-1, 0, 0, 1, 2]), rest, tails, np.eye(5),
    )  # fmt: skip
    mirror = mirror_of(rig)
    assert mirror is not None
    assert mirror.partners == (1, 0, 3, 2)  # of the bones that are free: all but the hip
    body, basis = parameters.body_of(rig), torch.eye(1)
    bones = torch.randn(1, 4, 3, generator=torch.Generator().manual_seed(0))
    still = parameters.at_rest(body, 1)

    def tips(values: torch.Tensor) -> torch.Tensor:
        pose = parameters.pose(body, still._replace(bones=values), basis)
        bound = bind(torch.as_tensor(tails, dtype=torch.float32), torch.eye(5))
        return skin(rest_to_posed(body.skeleton, pose), bound)[0]

    image = tips(mirror.image(bones))[[0, 2, 1, 4, 3]] * torch.tensor([-1.0, 1, 1])
    torch.testing.assert_close(image, tips(bones), atol=1e-5, rtol=0)
    assert float((tips(bones) - torch.as_tensor(tails).float()).norm(dim=1)[1:].min()) > 0.1


def test_a_skeleton_without_symmetry_has_no_mirror():
    assert mirror_of(chain()) is None
