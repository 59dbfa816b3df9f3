"""Following a video: outlines from frames, and the motion of a known bar found again."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from PIL import Image
from tiny_rig import write_bar

from atop_backend import preview, protocol
from atop_backend.config import AnimateConfig
from atop_backend.contracts import AnimateRequest
from atop_backend.errors import InputError
from atop_backend.geometry.rigs import normalise
from atop_backend.protocol import Cancelled, Finished, Progress
from atop_backend.skeletal import parameters
from atop_backend.skeletal.explore import best_path, limbs_of
from atop_backend.skeletal.follow import outline_losses, view_of
from atop_backend.skeletal.gltf_rig import read_gltf_rig
from atop_backend.skeletal.guided import fit_views, read_targets
from atop_backend.skeletal.kinematics import (
    Pose,
    bind,
    rest_to_posed,
    skeleton_of,
    skin,
    skin_vertices,
)
from atop_backend.skeletal.pictures import (
    calibrated,
    camera_around,
    checkerboard,
    draw,
    follow_shifts,
    rays_of,
)
from atop_backend.skeletal.rotations import vectors_to_matrices
from atop_backend.skeletal.surface import bind_gaussians
from atop_backend.skeletal.video_target import Video, body_masks

QUICK = dataclasses.replace(
    AnimateConfig(), points=120, most_frames=6, picture_px=40, guesses=1, root_steps=30,
    coarse_steps=60, fine_steps=15, scene=False,
)  # fmt: skip


@pytest.fixture(scope="module")
def bar_rig(tmp_path_factory):
    """The bar upright: its normalised rig and where it lies."""
    path = write_bar(tmp_path_factory.mktemp("rig") / "bar.glb")
    return path, *normalise(read_gltf_rig(path).rig)


def bend(rig, frames: int) -> Pose:
    """The bar bends sideways to 50 degrees and is carried along a little."""
    share = torch.linspace(0, 1, frames)[:, None]
    world = vectors_to_matrices(math.radians(50) * share * torch.tensor([0.0, 1.0, 0.0]))
    rest = torch.as_tensor(rig.rest[1, :3, :3], dtype=torch.float32)
    turned = torch.eye(3).repeat(frames, 2, 1, 1)
    turned[:, 1] = rest.T @ world @ rest
    return Pose(turned, torch.eye(3).repeat(frames, 1, 1), share * torch.tensor([0.2, 0, 0.05]))


def film(rig, pose, folder, azimuth_deg: float):
    """Frames of the pose as pictures with transparency, and their camera."""
    middle = (0.1, 0.0, 0.9)
    camera = camera_around(middle, math.radians(azimuth_deg), 0.15, 96, 72)
    folder.mkdir()
    vertices = skin_vertices(rig, rest_to_posed(skeleton_of(rig), pose)).numpy()
    for index, frame in enumerate(vertices):
        drawing = preview.draw_mesh(camera, frame, rig.triangles, rig.face_colours)
        alpha = np.isfinite(drawing.depths)[..., None]
        picture = np.concatenate([drawing.rgb, alpha], axis=2)
        Image.fromarray(np.rint(255 * picture).astype(np.uint8)).save(folder / f"{index:03}.png")
    return camera


def in_the_world(camera, placement) -> dict:
    """A camera of the normalised frame as the user would give it."""
    matrix = np.asarray(camera.world_to_camera)
    moved = matrix.copy()
    moved[:3, 3] = placement.scale * matrix[:3, 3] - matrix[:3, :3] @ placement.shift
    rows = tuple(map(tuple, moved.tolist()))
    return dataclasses.replace(camera, world_to_camera=rows).to_dict()


@pytest.fixture(scope="module")
def filmed(bar_rig, tmp_path_factory):
    """Two videos of the bending bar with their cameras."""
    path, rig, placement = bar_rig
    folder = tmp_path_factory.mktemp("films")
    cameras = [film(rig, bend(rig, 6), folder / f"view{a}", a) for a in (0, 60)]
    file = folder / "cameras.json"
    file.write_text(json.dumps([in_the_world(camera, placement) for camera in cameras]))
    return path, [folder / "view0", folder / "view60"], file


def test_a_known_motion_is_found_again_in_its_videos(bar_rig, filmed):
    path, rig, placement = bar_rig
    request = AnimateRequest(path, "", path.with_name("out"), videos=tuple(filmed[1]),
                             cameras=filmed[2])  # fmt: skip
    targets, notes = read_targets(request, QUICK, rig, placement)
    assert not notes
    rng = np.random.default_rng(0)
    views = [view_of(target, np.array([0, 0, 0.9]), rng) for target in targets]
    surface = calibrated(rig, bind_gaussians(rig, QUICK.points, rng))
    times = torch.linspace(0, 1, 6)
    told = []
    motion = fit_views(rig, surface, views, times, QUICK, False, torch.Generator().manual_seed(0),
                       lambda step, total: told.append((step, total)))  # fmt: skip
    pose, known = motion.pose(parameters.body_of(rig), times), bend(rig, 6)
    body = skeleton_of(rig)
    axis = np.array([rig.rest[1, :3, 3], 2 * rig.rest[1, :3, 3] - rig.rest[0, :3, 3]])
    bound = bind(torch.as_tensor(axis, dtype=torch.float32), torch.tensor([[0.0, 1], [0, 1]]))
    found, true = (skin(rest_to_posed(body, each), bound) for each in (pose, known))
    assert float((found - true).norm(dim=-1).mean()) < 0.04  # radii
    lines = [torch.nn.functional.normalize(each.diff(dim=1)[:, 0], dim=1) for each in (found, true)]
    assert float((lines[0] * lines[1]).sum(dim=1).clamp(max=1).acos().rad2deg().mean()) < 5
    assert told[-1] == (105, 105)


def test_outlines_fit_the_true_pose_and_no_other(bar_rig, filmed):
    path, rig, placement = bar_rig
    request = AnimateRequest(path, "", path.with_name("out"), videos=tuple(filmed[1]),
                             cameras=filmed[2])  # fmt: skip
    targets, _ = read_targets(request, QUICK, rig, placement)
    rng = np.random.default_rng(0)
    view = view_of(targets[0], np.array([0, 0, 0.9]), rng)
    surface = calibrated(rig, bind_gaussians(rig, 300, rng))
    body, known = skeleton_of(rig), bend(rig, 6)
    straight = known._replace(rotations=torch.eye(3).repeat(6, 2, 1, 1))
    bodies = torch.stack([skin(rest_to_posed(body, pose), surface.bound)
                          for pose in (known, straight)], dim=1)  # fmt: skip
    losses = outline_losses(view, bodies, surface)
    assert float(losses[0, 0]) == pytest.approx(float(losses[0, 1]), rel=1e-4)  # rest: the same
    assert float(losses[-1, 0]) < 0.1 * float(losses[-1, 1])


def test_the_camera_is_guessed_from_the_look_of_the_rest_pose(bar_rig, filmed):
    path, rig, placement = bar_rig
    request = AnimateRequest(path, "", path.with_name("out"), videos=(filmed[1][0],))
    targets, notes = read_targets(request, QUICK, rig, placement)
    assert "guessed" in notes[0]
    drawn = preview.draw_mesh(targets[0].camera, rig.vertices, rig.triangles, rig.face_colours)
    left, top = targets[0].corner
    height, width = targets[0].masks.shape[1:]
    seen = np.isfinite(drawn.depths)[top : top + height, left : left + width]
    first = targets[0].masks[0] > 0.5
    assert (seen & first).sum() / (seen | first).sum() > 0.6


def test_cameras_must_fit_their_videos(filmed):
    path, videos, cameras = filmed
    request = AnimateRequest(path, "", path.with_name("out"), videos=(videos[0],), cameras=cameras)
    rig, placement = normalise(read_gltf_rig(path).rig)
    with pytest.raises(InputError, match="2 cameras for 1 videos"):
        read_targets(request, QUICK, rig, placement)


def test_a_body_before_a_plain_background_is_found_and_before_noise_it_is_refused():
    rgb = np.full((4, 30, 40, 3), 0.8)
    for frame in range(4):
        rgb[frame, 10:25, 5 + 4 * frame : 14 + 4 * frame] = [0.8, 0.2, 0.1]
    masks = body_masks(Video(rgb, None, 24.0))
    assert [int((mask > 0.5).sum()) for mask in masks] == [135] * 4
    noise = np.random.default_rng(0).random((4, 30, 40, 3))
    with pytest.raises(InputError, match="cannot be told from the background"):
        body_masks(Video(noise, None, 24.0))


def test_the_outline_of_the_gaussians_is_as_large_as_the_mesh(bar_rig):
    _, rig, _ = bar_rig
    surface = calibrated(rig, bind_gaussians(rig, 400, np.random.default_rng(0)))
    camera = camera_around((0, 0, 0.9), 0.8, 0.1, 64, 64)
    rays = rays_of(camera)
    _, cover = draw(surface.rest, surface, surface.colours, rays, checkerboard(rays), False)
    mesh = preview.draw_mesh(camera, rig.vertices, rig.triangles, rig.face_colours)
    solid = torch.as_tensor(np.isfinite(mesh.depths).ravel())
    assert float(cover.sum()) == pytest.approx(int(solid.sum()), rel=0.1)
    assert float(torch.minimum(cover, solid.float()).sum() / solid.sum()) > 0.85


def test_the_ground_hides_what_is_below_it(bar_rig):
    _, rig, _ = bar_rig
    surface = bind_gaussians(rig, 100, np.random.default_rng(0))
    rays = rays_of(camera_around((0, 0, 0.9), 0.8, 0.1, 24, 24))
    background = checkerboard(rays)
    sunk = surface.rest - torch.tensor([0.0, 0.0, 5.0])
    picture, cover = draw(sunk, surface, surface.colours, rays, background, True)
    assert float(cover.max()) < 1e-6
    torch.testing.assert_close(picture, background)


def test_the_checkerboard_is_below_the_horizon_with_two_kinds_of_tiles():
    camera = camera_around((0, 0, 0.5), 0.3, 0.5, 64, 64)
    picture = checkerboard(rays_of(camera)).reshape(64, 64, 3)
    near = picture[-20:].reshape(-1, 3)
    assert float(near.min()) < 0.47
    assert float(near.max()) > 0.67


def test_a_camera_that_follows_goes_along_the_ground_without_jerks():
    path = torch.zeros(20, 3)
    path[:, 0] = torch.arange(20.0)
    path[10, 2] = 5.0
    shifts = follow_shifts(path)
    assert float(shifts[:, 2].abs().max()) == 0.0
    assert float(shifts[12, 0]) == pytest.approx(12.0)


def test_the_path_through_guesses_avoids_jumps():
    points = torch.zeros(3, 2, 4, 3)
    points[:, 1] = 1.0  # the second guess is elsewhere
    costs = torch.tensor([[0.0, 0.1], [0.2, 0.0], [0.0, 0.1]])
    assert best_path(costs, points).tolist() == [0, 0, 0]
    forced = torch.tensor([[0.0, 9.0], [9.0, 0.0], [0.0, 9.0]])
    assert best_path(forced, points).tolist() == [0, 1, 0]


def test_a_limb_is_a_bone_with_all_that_hangs_on_it(bar_rig):
    body = parameters.body_of(bar_rig[1])
    assert limbs_of(body).tolist() == [[True]]


def run_atop(*words: str) -> tuple[int, list[protocol.Event]]:
    command = [sys.executable, "-m", "atop_backend", "animate", *words, "--events", "jsonl"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    events = [protocol.decode(line) for line in process.stdout]
    code = process.wait(timeout=60)
    assert process.stdin is not None
    process.stdin.close()
    return code, events


SMALL = [f"animate.{name}={value}" for name, value in (
    ("points", 80), ("most_frames", 4), ("picture_px", 32), ("guesses", 2), ("guess_rounds", 1),
    ("guess_steps", 2), ("root_steps", 2), ("coarse_steps", 3), ("fine_steps", 2),
    ("scene", "false"),
)]  # fmt: skip


def small() -> list[str]:
    return [word for setting in SMALL for word in ("--set", setting)]


def test_the_command_writes_a_motion_that_blender_can_key(filmed, tmp_path):
    path, videos, cameras = filmed
    out = tmp_path / "job"
    code, events = run_atop(
        str(path), "--prompt", "it bends", "--video", str(videos[0]), "--video", str(videos[1]),
        "--cameras", str(cameras), "--out", str(out), "--fps", "12", "--cyclic", *small(),
    )  # fmt: skip
    assert code == 0
    assert isinstance(events[-1], Finished)
    assert {event.stage for event in events if isinstance(event, Progress)} == {
        "rig", "distil", "report",
    }  # fmt: skip
    result = json.loads((out / "result.json").read_text())
    assert result["kind"] == "animation"
    assert set(result["seconds"]) == {"rig", "distil", "report"}
    for file in result["files"].values():
        assert (out / file).stat().st_size > 0
    motion = json.loads((out / "motion.json").read_text())
    assert motion["frame_count"] == len(motion["rotations"]) == len(motion["root"]["rotations"])
    assert motion["frame_count"] == result["frame_count"] == 3  # 5/24 s at 12 a second
    assert motion["root_bone"] == "lower"
    for first, last in zip(motion["rotations"][0], motion["rotations"][-1], strict=True):
        np.testing.assert_allclose(first, last, atol=1e-5)


def test_closing_stdin_cancels_and_leaves_nothing(filmed, tmp_path):
    path, videos, _ = filmed
    command = [
        sys.executable, "-m", "atop_backend", "animate", str(path), "--video", str(videos[0]),
        "--out", str(tmp_path / "job"), "--events", "jsonl", *small(), "--set",
        "animate.coarse_steps=100000",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    for line in process.stdout:
        event = protocol.decode(line)
        if isinstance(event, Progress) and event.stage == "distil" and event.step > 5:
            break
    process.stdin.close()
    events = [protocol.decode(line) for line in process.stdout]
    assert process.wait(timeout=60) == 130
    assert isinstance(events[-1], Cancelled)
    assert list(tmp_path.iterdir()) == []
