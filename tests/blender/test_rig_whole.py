"""The whole way with the real backend: a rig and a video of it in Blender, keyframes afterwards."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from needs import needs_torch  # noqa: E402
from pressing import select  # noqa: E402
from rig_scenes import armature, tube  # noqa: E402
from scenes import world_points  # noqa: E402

FRAMES, SIZE_PX, FOCAL_PX, AWAY = 8, 96, 240, 8.0
LAMP = {"foot": ((0, 0, 0), (0, 0, 0.6), ""), "arm": ((0, 0, 0.6), (0, 0, 2), "foot")}


def swing(frame):
    """How far the arm of the lamp is turned in a frame of the video, radians."""
    return 0.9 * np.sin(np.pi * frame / (FRAMES - 1))


def draw_frames(rig, body, folder):
    """Pictures of the swinging lamp from the front, dark on white."""
    from PIL import Image, ImageDraw

    folder.mkdir()
    arm = rig.pose.bones["arm"]
    # towards the back: the arm swings to the right
    axis = np.linalg.inv(np.array(rig.data.bones["arm"].matrix_local)[:3, :3]) @ (0, 1, 0)
    for frame in range(FRAMES):
        arm.rotation_mode = "AXIS_ANGLE"
        arm.rotation_axis_angle = (swing(frame), *axis)
        points = world_points(body)
        depth = AWAY + points[:, 1]
        across_px = SIZE_PX / 2 + FOCAL_PX * points[:, 0] / depth
        down_px = SIZE_PX / 2 - FOCAL_PX * (points[:, 2] - 1) / depth
        picture = Image.new("RGB", (SIZE_PX, SIZE_PX), "white")
        pen = ImageDraw.Draw(picture)
        for polygon in body.data.polygons:
            pen.polygon([(across_px[i], down_px[i]) for i in polygon.vertices], fill=(60, 60, 60))
        picture.save(folder / f"{frame:03d}.png")
    arm.rotation_axis_angle = (0, 0, 1, 0)
    bpy.context.view_layer.update()


def add_camera():
    """Where the pictures are taken from, as the scene's camera."""
    data = bpy.data.cameras.new("Camera")
    data.lens = data.sensor_width * FOCAL_PX / SIZE_PX
    camera = bpy.data.objects.new("Camera", data)
    camera.location, camera.rotation_euler = (0, -AWAY, 1), (np.pi / 2, 0, 0)
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera


@needs_torch
@pytest.mark.slow
def test_the_rig_follows_a_video_of_itself(addon, tmp_path):
    addon.preferences.addons["blender_addon"].preferences.python = sys.executable
    rig = armature(LAMP)
    body = tube(rig)
    select(body)
    draw_frames(rig, body, tmp_path / "frames")
    add_camera()
    rest = world_points(body)
    video = str(tmp_path / "frames")
    done = bpy.ops.atop.animate_rig(video=video, use_camera=True, fps=24.0, root="BONE")
    state = addon.window_manager.atop_job
    assert done == {"FINISHED"}, state.hint
    turned = []
    for frame in range(FRAMES):
        addon.scene.frame_set(1 + frame)
        tip = rig.matrix_world @ rig.pose.bones["arm"].tail
        head = rig.matrix_world @ rig.pose.bones["arm"].head
        turned.append(np.arctan2(tip.x - head.x, tip.z - head.z))
    wanted = [swing(frame) for frame in range(FRAMES)]
    assert np.abs(np.array(turned) - wanted).max() < 0.1, (
        turned,
        wanted,
    )  # a rest would be off by 0.9
    assert bpy.ops.atop.revert_motion() == {"FINISHED"}
    np.testing.assert_allclose(world_points(body), rest, atol=1e-5)
    assert not list(Path(tmp_path / "jobs").glob("*/.*"))
