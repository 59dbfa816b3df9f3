"""Clips filmed in Blender: the same object in every format gives the same clip."""

from __future__ import annotations

import argparse
import errno
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from needs import needs_blender
from tuning_toys import cabinet, moved, needs_readers

from atop_backend import protocol
from atop_backend.contracts import JointMotion
from atop_backend.diffusion.clip_folders import TrainingClip, clip_paths, read_clip
from atop_backend.errors import InputError, SetupError
from atop_backend.export.gltf import write_gltf
from atop_backend.export.meshes import write_obj
from atop_backend.export.mjcf import write_mjcf
from atop_backend.export.model import build_model
from atop_backend.export.urdf import write_urdf
from atop_backend.export.usd import write_usd
from atop_backend.geometry.cameras import project
from atop_backend.protocol import Artifact, Cancelled, Finished, Progress
from atop_backend.rendering import views
from atop_backend.rendering.process import PYTHON_VARIABLE, run_in_blender
from atop_backend.tuning import clips_command
from atop_backend.tuning.assets import read_asset
from atop_backend.tuning.film import FilmSettings, block_motions, film

pytestmark = [needs_blender, needs_readers]
QUICK = FilmSettings(frames=3, samples=1, size_px=64)


def doors_and_drawers():
    vertices, triangles, parts = cabinet()
    return build_model("cabinet", vertices, triangles, parts[:2], "z")


def write_keyed(model, folder):
    """A .blend whose door our own rig opens."""
    folder.mkdir()
    lines, written = [], 0
    for link in (model.base, *model.links):
        write_obj(folder / "one.obj", link.vertices @ np.eye(3), link.triangles)
        places = link.vertices + link.origin
        lines += [f"o {link.name}", *(f"v {x} {z} {-y}" for x, y, z in places.tolist())]
        faces = (link.triangles + 1 + written).tolist()
        lines += [f"f {a} {b} {c}" for a, b, c in faces]
        written += len(places)
    (folder / "cabinet.obj").write_text("\n".join(lines))
    joint = model.joints[0]
    (x, y, z), (u, v, w) = joint.axis, joint.origin
    told = JointMotion(joint.kind, (x, z, -y), (u, w, -v), joint.lower, joint.upper)
    request = {
        "command": "articulate", "asset": str(folder / "cabinet.obj"),
        "parts": [model.links[0].name], "joint": told.to_dict(), "tag": model.links[0].name,
        "seconds": 1.0, "fps": 24, "easing": "EASE",
    }  # fmt: skip
    script = views.WORKER.with_name("blender_articulate.py")
    run_in_blender(script, request, folder, time_limit_s=120)
    return folder / "articulated.blend"


WRITERS = {
    "urdf": write_urdf, "mjcf": write_mjcf, "usd": write_usd, "gltf": write_gltf,
    "blend": write_keyed,
}  # fmt: skip


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """The clip of the door from each format."""
    model = doors_and_drawers()
    found = {}
    for name, write in WRITERS.items():
        folder = tmp_path_factory.mktemp(name)
        asset = read_asset(write(model, folder / "out"), "cabinet", folder)
        mover = next(m for m in asset.movers if m.part in ("Tür/links 1", "Tur_links_1"))
        found[name] = film(asset, mover, "the left door opens", QUICK)
    return found


def true_places(clip: TrainingClip):
    """Where the corners of the door are in each frame, in the normalised frame."""
    vertices, triangles, parts = cabinet()
    corners = vertices[np.unique(triangles[parts[0].triangles])]
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    centre = (low + high) / 2
    radius = np.linalg.norm(vertices - centre, axis=1).max()
    upper = parts[0].joint.upper
    return [(moved(parts[0], corners, share * upper) - centre) / radius for share in clip.frames]


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_the_part_is_seen_where_the_joint_brings_it(doors, name):
    clip = doors[name]
    assert np.allclose(clip.frames, [0.5, 1.0], atol=0.02)
    for frame, corners in enumerate(true_places(clip)):
        for view, camera in enumerate(clip.cameras):
            rows, columns = np.nonzero(clip.silhouettes[view, frame] > 0.5)
            if len(rows) < 2:
                continue  # hidden behind the body
            pixels, _ = project(camera, corners)
            low, high = pixels.min(axis=0) / 8 - 1, pixels.max(axis=0) / 8 + 1
            assert low[0] <= columns.min() <= columns.max() <= high[0]
            assert low[1] <= rows.min() <= rows.max() <= high[1]


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_every_format_gives_the_same_masks_motions_and_cameras(doors, name):
    clip, first = doors[name], doors["urdf"]
    assert (clip.mask != first.mask).mean() < 0.002
    assert np.abs(clip.silhouettes - first.silhouettes).mean() < 0.004
    assert np.allclose(clip.part_centre, first.part_centre, atol=1e-4)
    assert clip.part_radius == pytest.approx(first.part_radius, abs=1e-4)
    assert clip.motions is not None
    assert first.motions is not None
    both = (clip.motions != 0) & (first.motions != 0)
    assert both.any()
    assert np.abs(clip.motions - first.motions)[both].max() < 0.03
    assert [camera.to_dict() for camera in clip.cameras] == [c.to_dict() for c in first.cameras]


def test_pictures_change_where_the_part_moves_and_nowhere_else(doors):
    clip = doors["urdf"]
    changed = (clip.rgb[:, 0].astype(int) != clip.rgb[:, -1]).any(axis=-1)
    seen = clip.mask | (clip.silhouettes[:, -1].repeat(8, 1).repeat(8, 2) > 0)
    assert changed[seen].mean() > 0.3
    assert changed[~seen].mean() < 0.02


def test_motions_are_those_of_the_mean_part_point_of_each_block():
    positions = np.zeros((1, 16, 16, 3))
    positions[..., 0] = np.arange(16)
    mask = np.zeros((1, 16, 16), bool)
    mask[0, :8, 8:12] = True
    turn = np.eye(4)
    turn[:2, :2], turn[2, 3] = [[0, -1], [1, 0]], 2.0
    found = block_motions(positions, mask, turn[None])
    assert np.allclose(found[0, 0, :, 0, 1], [-9.5, 9.5, 2.0])
    assert np.count_nonzero(found) == 3


@pytest.mark.parametrize("change", [{"frames": 1}, {"elevation_deg": 90.0}, {"samples": 0}])
def test_settings_that_make_no_clip_are_refused(change):
    with pytest.raises(InputError):
        FilmSettings(**change)


def options(*arguments):
    parser = argparse.ArgumentParser()
    clips_command.add_arguments(parser)
    return parser.parse_args([*map(str, arguments)])


def start(*arguments):
    command = [sys.executable, "-m", "atop_backend", "clips", *map(str, arguments)]
    return subprocess.Popen(
        [*command, "--events", "jsonl"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


QUICKLY = ("--frames", 2, "--samples", 1)


def test_the_command_films_generated_objects_once_and_ends_with_a_contact_sheet(tmp_path):
    out = tmp_path / "clips"
    asked = ("--generated", "peg", "--count", 1, "--seed", 5, "--out", out, *QUICKLY)
    process = start(*asked)
    events = [protocol.decode(line) for line in process.stdout]
    assert process.wait(timeout=60) == 0
    fractions = [event.fraction for event in events if isinstance(event, Progress)]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert isinstance(events[-1], Finished)
    assert Artifact("contact_sheet", str(out / "contact_sheet.png")) in events
    (folder,) = clip_paths(out)
    clip = read_clip(folder)
    assert clip.rgb.shape == (4, 2, 256, 256, 3)
    assert clip.mask.any()
    about = json.loads((folder / "meta.json").read_text())["about"]
    assert about["source"] == {"generated": "peg", "seed": 5}

    again = []
    clips_command.run(options(*asked), again.append)  # were Blender started, this would take long
    assert [event.step for event in again if isinstance(event, Progress)] == [0, 8]


def test_closing_the_input_stops_filming_and_leaves_no_half_clip(tmp_path):
    out = tmp_path / "clips"
    process = start("--generated", "peg", "--count", 1, "--frames", 30, "--out", out)
    for line in process.stdout:
        event = protocol.decode(line)
        if isinstance(event, Progress) and event.step > 0:
            process.stdin.close()
            break
    last = [protocol.decode(line) for line in process.stdout][-1]
    assert process.wait(timeout=60) == 130
    assert last == Cancelled()
    assert not out.exists() or not list(out.iterdir())


def test_a_part_that_is_not_there_and_nothing_to_film_are_refused(tmp_path):
    urdf = write_urdf(doors_and_drawers(), tmp_path / "asset")
    with pytest.raises(InputError, match="no part that moves is called 'lid'"):
        clips_command.run(options(urdf, "--part", "lid", "--out", tmp_path / "out"), print)
    with pytest.raises(InputError, match="nothing or too much"):
        clips_command.run(options("--out", tmp_path / "out"), print)
    with pytest.raises(InputError, match="at least 1"):
        clips_command.run(
            options("--generated", "peg", "--count", 0, "--out", tmp_path / "out"), print
        )


def test_what_is_no_clip_is_not_replaced(tmp_path):
    (tmp_path / "peg_0").mkdir()
    (tmp_path / "peg_0" / "thesis.txt").write_text("all of it")
    with pytest.raises(InputError, match="peg_0 is no clip"):
        clips_command.run(options("--generated", "peg", "--count", 1, "--out", tmp_path), print)
    assert (tmp_path / "peg_0" / "thesis.txt").read_text() == "all of it"


def test_a_full_disk_is_said_by_name(tmp_path, monkeypatch):
    def fill(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(clips_command, "film", fill)
    with pytest.raises(SetupError, match=r"disk that holds .* is full"):
        clips_command.run(
            options("--generated", "peg", "--count", 1, "--out", tmp_path / "o"), lambda event: None
        )
    assert not (tmp_path / "o").exists() or not list((tmp_path / "o").iterdir())


KEYED = """
import bpy, sys
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
def box(name, at, size, parent=None):
    bpy.ops.mesh.primitive_cube_add(size=1, location=at)
    ob = bpy.context.object
    ob.name, ob.scale, ob.parent = name, size, parent
    return ob
body = box("body", (0, 0, 0), (1, 1, 1))
lid = box("lid", (0, 0, 0.55), (1, 1, 0.1))
for frame, z in ((1, 0.55), (11, 1.0), (21, 0.55)):
    lid.location.z = z
    lid.keyframe_insert("location", frame=frame)
scene.frame_end = 21
what = sys.argv[1]
if what == "rides":
    knob = box("knob", (0, 0, 0.7), (0.1, 0.1, 0.1))
    knob.parent, knob.matrix_parent_inverse = lid, lid.matrix_world.inverted()
    knob.keyframe_insert("rotation_euler", frame=1)
    knob.rotation_euler.z = 2
    knob.keyframe_insert("rotation_euler", frame=21)
if what == "grows":
    lid.keyframe_insert("scale", frame=1)
    lid.scale.x = 2
    lid.keyframe_insert("scale", frame=11)
if what == "bends":
    lid.shape_key_add(name="Basis")
    key = lid.shape_key_add(name="bent")
    key.data[0].co.x -= 1
    key.value = 0
    key.keyframe_insert("value", frame=1)
    key.value = 1
    key.keyframe_insert("value", frame=11)
if what == "still":
    lid.animation_data_clear()
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
import os
os._exit(0)
"""


def write_scene(tmp_path, what):
    script, path = tmp_path / "keyed.py", tmp_path / "chest.blend"
    script.write_text(KEYED)
    python = os.environ.get(PYTHON_VARIABLE, sys.executable)
    subprocess.run([python, script, what, path], check=True, capture_output=True, timeout=120)
    return path


def test_a_motion_there_and_back_ends_where_it_is_farthest(tmp_path):
    path = write_scene(tmp_path, "back")
    (mover,) = read_asset(path, "chest", tmp_path).movers
    assert mover.nodes == ("lid",)
    asset = read_asset(path, "chest", tmp_path)
    clip = film(asset, mover, "it rises", QUICK)
    motions = clip.motions
    assert motions is not None
    rise = motions[:, :, 2][motions[:, :, 2] != 0].reshape(-1)
    scale = np.linalg.norm([0.5, 0.5, 0.55])  # the object's radius in metres
    assert rise.max() == pytest.approx(0.45 / scale, rel=0.02)
    assert rise.min() == pytest.approx(0.225 / scale, rel=0.05)


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("rides", "knob moves on lid, which moves as well"),
        ("grows", "lid changes its size while it moves"),
        ("bends", "lid bends or changes while it moves"),
        ("still", r"nothing moves in chest\.blend"),
    ],
)
def test_an_animation_that_is_no_rigid_motion_is_refused(tmp_path, what, reason):
    path = write_scene(tmp_path, what)

    def read_and_film():
        asset = read_asset(path, "chest", tmp_path)
        film(asset, asset.movers[0], "it rises", QUICK)

    with pytest.raises(InputError, match=reason):
        read_and_film()
