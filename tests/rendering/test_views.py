"""What the pictures show is what geometry says must be there."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from atop_backend.errors import CancelledError, InputError, SetupError
from atop_backend.geometry import cameras
from atop_backend.geometry.joints import rodrigues
from atop_backend.geometry.meshes import part_vertices
from atop_backend.rendering import views

HERE = Path(__file__).parent
GREY = round(0.75 * 255)


def in_file_frame(shape, points):
    return points @ shape.normalised_to_file[:3, :3].T + shape.normalised_to_file[:3, 3]


def test_pixels_see_what_blenders_own_ray_casting_hits(assets, look, tmp_path, blender_python):
    seen = look(assets / "cabinet.blend", "door")
    origins, directions = [], []
    for camera in seen.cameras:
        rays = cameras.pixel_rays(camera).reshape(-1, 3)
        centre = in_file_frame(seen.shape, cameras.camera_centre(camera))
        origins.append(np.broadcast_to(centre, rays.shape))
        directions.append(rays @ seen.shape.normalised_to_file[:3, :3].T)
    np.savez(
        tmp_path / "rays.npz",
        origins=np.concatenate(origins),
        directions=np.concatenate(directions),
    )
    answer = tmp_path / "hits.npz"
    arguments = [assets / "cabinet.blend", tmp_path / "rays.npz", answer]
    command = [blender_python, str(HERE / "cast_rays.py"), *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    cast = np.load(answer)

    hit = seen.face_ids.ravel() >= 0
    assert (hit == cast["hits"]).mean() > 0.999  # a ray along an edge may go either way
    both = hit & cast["hits"]
    is_part = np.isin(cast["names"], ["door", "knob"])
    assert (seen.part_mask.ravel() == is_part)[both].mean() > 0.999
    errors = np.linalg.norm(
        in_file_frame(seen.shape, seen.positions.reshape(-1, 3)) - cast["places"], axis=1
    )[both]
    assert np.mean(errors < 1e-4) > 0.999


def test_positions_lie_on_the_sides_of_the_cabinet(assets, look):
    seen = look(assets / "cabinet.blend", "door")
    body = (seen.face_ids >= 0) & ~seen.part_mask
    points = in_file_frame(seen.shape, seen.positions[body].astype(np.float64))
    room = np.minimum(points - [-0.4, -0.3, 0.0], [0.4, 0.3, 1.0] - points).min(axis=1)
    assert np.mean(np.abs(room) < 1e-4) > 0.999  # along the outline, up to a hair beside it
    assert np.abs(room).max() < 1e-3
    assert not seen.positions[seen.face_ids < 0].any()


def test_the_mask_fills_the_outline_of_the_projected_part(assets, look):
    seen = look(assets / "cabinet.blend", "door")
    for view in (0, 3):  # from the front nothing hides the door
        pixels, _ = cameras.project(seen.cameras[view], part_vertices(seen.shape))
        rows, columns = np.nonzero(seen.part_mask[view])
        found = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        expected = [*pixels.min(axis=0), *pixels.max(axis=0)]
        np.testing.assert_allclose(found, expected, atol=1.0)


def test_pictures_have_the_materials_colours_before_a_plain_grey(assets, look):
    seen = look(assets / "cabinet.glb", "door", samples=4)
    assert seen.rgb.shape == (4, 96, 96, 3)
    assert seen.rgb.dtype == np.uint8
    assert (seen.rgb[:, :4, :4] == GREY).all()
    door = seen.rgb[0][seen.part_mask[0]].mean(axis=0)
    body = seen.rgb[0][(seen.face_ids[0] >= 0) & ~seen.part_mask[0]].mean(axis=0)
    assert door[0] > 1.5 * door[1] > 0
    assert body[2] > 1.5 * body[1] > 0


def test_glass_is_seen_in_the_mask_and_through_in_the_picture(assets, look):
    glass, solid = (look(assets / f"{name}.blend", "door") for name in ("glass", "cabinet"))
    np.testing.assert_array_equal(glass.part_mask, solid.part_mask)
    behind = glass.rgb[0][glass.part_mask[0]].mean(axis=0)
    assert behind[2] > 1.5 * behind[0]  # the body's blue


@pytest.mark.parametrize("name", ["huge", "tiny", "far"])
def test_size_and_place_of_the_object_do_not_matter(assets, look, name):
    seen, usual = look(assets / f"{name}.blend", "door"), look(assets / "cabinet.blend", "door")
    assert (seen.face_ids == usual.face_ids).mean() > 0.995
    difference = np.abs(seen.rgb.astype(int) - usual.rgb)
    assert np.mean(difference) < 1.5
    np.testing.assert_allclose(seen.shape.vertices, usual.shape.vertices, atol=2e-3)
    scale = np.linalg.norm(seen.shape.normalised_to_file[:3, 0])
    expected = {"huge": 1e4, "tiny": 1e-4, "far": 1.0}[name]
    usual_scale = np.linalg.norm(usual.shape.normalised_to_file[:3, 0])
    assert scale / usual_scale == pytest.approx(expected, rel=1e-3)


def test_a_turned_object_is_squared_up_and_answers_in_its_own_frame(assets, look):
    aslant = rodrigues(np.array([0.0, 0.0, 1.0]), 2.0)
    seen = look(assets / "cabinet.glb", "door", turn=aslant)
    straight = look(assets / "cabinet.glb", "door")
    assert (seen.face_ids == straight.face_ids).mean() > 0.99
    np.testing.assert_allclose(
        in_file_frame(seen.shape, seen.shape.vertices),
        in_file_frame(straight.shape, straight.shape.vertices),
        atol=1e-6,
    )


def test_views_on_disk_are_the_views_that_were_returned(assets, look, tmp_path):
    steps = []
    seen = look(assets / "cabinet.glb", "door", on_progress=lambda *step: steps.append(step))
    for found, expected in zip(views.load_views(tmp_path / "job"), seen, strict=True):
        if isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(found, expected)
    assert steps[-1] == (views.STEPS, views.STEPS)
    assert steps == sorted(steps)
    assert [path.name for path in (tmp_path / "job").iterdir()] == ["render"]


def test_the_same_request_gives_the_same_views(assets, look):
    first, second = (look(assets / "cabinet.glb", "door", samples=4) for _ in range(2))
    for name in ("rgb", "part_mask", "face_ids", "positions"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_blender_leaves_nothing_in_the_temporary_folder(assets, look, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    look(assets / "cabinet.glb", "door")
    assert not list(temporary.iterdir())


def test_a_failure_keeps_the_views_of_before(assets, look, tmp_path):
    look(assets / "cabinet.glb", "door")
    with pytest.raises(InputError):
        look(assets / "cabinet.glb", "lid")
    assert views.load_views(tmp_path / "job").part_mask.any()
    assert [path.name for path in (tmp_path / "job").iterdir()] == ["render"]


def test_cancelling_ends_blender_at_once_and_leaves_nothing(assets, look, tmp_path):
    stop = threading.Event()
    begun = time.monotonic()
    with pytest.raises(CancelledError):
        look(
            assets / "cabinet.glb",
            "door",
            size_px=1024,
            samples=4096,
            on_progress=lambda step, total: stop.set(),
            cancelled=stop.is_set,
        )
    assert time.monotonic() - begun < 60
    assert list((tmp_path / "job").iterdir()) == []


def test_a_blender_that_takes_too_long_is_a_setup_error(assets, look, tmp_path):
    with pytest.raises(SetupError, match=r"did not finish within 0\.2 seconds"):
        look(assets / "cabinet.glb", "door", time_limit_s=0.2)
    assert list((tmp_path / "job").iterdir()) == []


def test_a_blender_program_is_started_as_blender_wants_it(assets, look, tmp_path, blender_python):
    """A stand-in that takes Blender's options and hands the script to the bpy module."""
    program = tmp_path / "blender"
    program.write_text(
        "#!/bin/sh\n"
        'test "$1 $2 $3 $4 $5 $7" = "-b --factory-startup --python-exit-code 3 -P --" || exit 9\n'
        f'exec "{blender_python}" "$6" -- "$8"\n'
    )
    program.chmod(0o755)
    assert look(assets / "cabinet.glb", "door", blender=str(program)).part_mask.any()


def test_damaged_views_are_an_input_error(assets, look, tmp_path):
    look(assets / "cabinet.glb", "door")
    (tmp_path / "job" / "render" / "maps.npz").write_bytes(b"PK cut")
    with pytest.raises(InputError, match="damaged"):
        views.load_views(tmp_path / "job")
    with pytest.raises(InputError, match="no rendered views"):
        views.load_views(tmp_path)
