"""The scene's camera is told to the backend so that it sees what Blender sees."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from bpy_extras.object_utils import world_to_camera_view  # noqa: E402
from mathutils import Vector  # noqa: E402

from atop_backend.errors import InputError  # noqa: E402
from atop_backend.geometry.cameras import project  # noqa: E402
from blender_addon.scene import convert, rig_read  # noqa: E402


def add_camera(**choices):
    """A camera that looks down at the origin from the side, the scene's own."""
    data = bpy.data.cameras.new("Camera")
    for name, value in choices.items():
        setattr(data, name, value)
    ob = bpy.data.objects.new("Camera", data)
    bpy.context.scene.collection.objects.link(ob)
    ob.location, ob.rotation_euler, ob.scale = (6, -5, 3), (1.2, 0.1, 0.9), (2, 2, 2)
    bpy.context.scene.camera = ob
    bpy.context.view_layer.update()
    return ob


@pytest.mark.parametrize("fit", ["AUTO", "HORIZONTAL", "VERTICAL"])
@pytest.mark.parametrize("size", [(64, 48), (48, 64), (50, 50)])
def test_points_fall_on_the_same_pixels(context, fit, size):
    ob = add_camera(sensor_fit=fit, lens=37.0, sensor_width=30.0, sensor_height=20.0)
    render = context.scene.render
    render.resolution_x, render.resolution_y = size
    camera = convert.camera_of(ob, *size)
    points = np.random.default_rng(0).normal(size=(20, 3))
    shares = np.array([world_to_camera_view(context.scene, ob, Vector(p)) for p in points])
    wanted = np.stack([shares[:, 0] * size[0], (1 - shares[:, 1]) * size[1]], axis=1)
    np.testing.assert_allclose(project(camera, points)[0], wanted, atol=1e-3)


def test_other_than_plain_cameras_are_refused(context):
    for choices in ({"type": "ORTHO"}, {"shift_x": 0.1}):
        with pytest.raises(InputError, match="use a perspective camera"):
            convert.camera_of(add_camera(**choices), 64, 64)


def test_a_scene_without_a_camera_says_so(context, tmp_path):
    with pytest.raises(InputError, match="no camera"):
        rig_read.write_camera(context.scene, tmp_path, tmp_path / "cameras.json")


def test_the_size_is_that_of_the_video_or_of_its_pictures(context, tmp_path):
    image = bpy.data.images.new("Frame", 40, 30)
    image.filepath_raw, image.file_format = str(tmp_path / "frames" / "b.png"), "PNG"
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames" / "a.txt").write_text("no picture")
    image.save()
    before = len(bpy.data.images)
    assert rig_read.picture_size(tmp_path / "frames") == (40, 30)
    assert rig_read.picture_size(tmp_path / "frames" / "b.png") == (40, 30)
    for bad in (tmp_path / "frames" / "a.txt", tmp_path):
        with pytest.raises(InputError, match=r"cannot be read|no picture"):
            rig_read.picture_size(bad)
    assert len(bpy.data.images) == before
