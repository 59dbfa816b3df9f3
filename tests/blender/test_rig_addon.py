"""Animate Rig as a whole in real Blender, with a scripted backend."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from fake_layout import draw  # noqa: E402
from pressing import finish, select  # noqa: E402
from rig_scenes import CREATURE, armature, save, tube  # noqa: E402
from scenes import box, dump  # noqa: E402

import blender_addon  # noqa: E402
from atop_backend.rendering import rigs  # noqa: E402
from blender_addon.scene import rig_keys, rig_write  # noqa: E402
from blender_addon.ui import monitor, rig_operators, rig_panel  # noqa: E402

FAKE = Path(__file__).parents[1] / "addon" / "fake_animator.py"


@pytest.fixture
def rig(addon, tmp_path, monkeypatch):
    """A creature whose body is selected, and a backend that sways its arm and hand."""
    python = tmp_path / "animator"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    python.chmod(0o755)
    addon.preferences.addons["blender_addon"].preferences.python = str(python)
    monkeypatch.setenv("ATOP_FAKE_BONES", "arm,hand")
    made = armature(location=(1, 0, 0))
    select(tube(made))
    return made


def animate(prompt="it sways", **choices):
    """Press the button and wait for the end."""
    return bpy.ops.atop.animate_rig(prompt=prompt, **choices)


def the_request(tmp_path):
    """What the backend was asked."""
    return json.loads(next((tmp_path / "jobs").glob("*/request.json")).read_text())


def test_the_button_writes_keyframes_and_says_what_it_did(rig, addon):
    world = np.array(rig.matrix_world)
    assert animate(frames=9) == {"FINISHED"}
    state = addon.window_manager.atop_job
    assert (state.failed, state.message) == (False, "it sways as scripted")
    assert state.hint == "two bones deform nothing"
    curves = rig_keys.curves_of(rig.animation_data.action)
    paths = {curve.data_path for curve in curves}
    assert paths == {
        'pose.bones["arm"].rotation_quaternion',
        'pose.bones["hand"].rotation_quaternion',
        "location",
        "rotation_euler",
    }
    addon.scene.frame_set(3)
    assert rig.pose.bones["arm"].rotation_quaternion[1] == pytest.approx(np.sin(0.25), abs=1e-5)
    np.testing.assert_allclose(np.array(rig.matrix_world)[:3, 3], world[:3, 3] + [0.2, 0, 0])


def test_the_panel_and_the_operator_choose_alike(rig, addon, tmp_path):
    settings = addon.scene.atop_rig
    settings.frames, settings.loop, settings.root, settings.target = 7, True, "BONE", "NLA"
    settings.frame_start = 11
    addon.scene.render.fps = 30
    animate()
    request = the_request(tmp_path)
    assert (request["frames"], request["fps"], request["cyclic"]) == (7, 30.0, True)
    assert (request["prompt"], request["armature"]) == ("it sways", "Rig")
    assert Path(request["asset"]).is_file()
    (track,) = rig.animation_data.nla_tracks
    curves = rig_keys.curves_of(track.strips[0].action)
    assert all(curve.data_path.startswith("pose.bones") for curve in curves)
    assert all(curve.modifiers[0].type == "CYCLES" for curve in curves)
    assert curves[0].keyframe_points[0].co[0] == 11


def test_only_selected_bones_move_when_asked(rig, addon, tmp_path):
    with pytest.raises(RuntimeError, match="no bone of 'Rig' is selected"):
        animate(only_selected=True)
    addon.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    for pose in rig.pose.bones:
        (pose if hasattr(pose, "select") else pose.bone).select = pose.name in ("arm", "hand")
    animate(only_selected=True)
    assert sorted(the_request(tmp_path)["bones"]) == ["arm", "hand"]
    assert rig.mode == "POSE"


def test_a_video_goes_to_the_backend_and_needs_no_prompt(rig, tmp_path):
    with pytest.raises(RuntimeError, match=r"there is no video .*choose another file"):
        animate(video="/no/video.mp4")
    video = tmp_path / "walk.mp4"
    video.write_bytes(b"")
    animate("", video=str(video))
    assert the_request(tmp_path)["videos"] == [str(video)]


def test_the_scene_camera_goes_with_the_video_when_asked(rig, addon, tmp_path):
    image = bpy.data.images.new("Frame", 32, 16)
    image.filepath_raw, image.file_format = str(tmp_path / "frames" / "a.png"), "PNG"
    (tmp_path / "frames").mkdir()
    image.save()
    with pytest.raises(RuntimeError, match="the scene has no camera"):
        animate(video=str(tmp_path / "frames"), use_camera=True)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    addon.scene.collection.objects.link(camera)
    addon.scene.camera = camera
    animate(video=str(tmp_path / "frames"), use_camera=True)
    (written,) = json.loads(Path(the_request(tmp_path)["cameras"]).read_text())
    assert (written["width_px"], written["height_px"]) == (32, 16)


def test_without_prompt_and_video_it_is_refused_before_any_work(rig, tmp_path):
    with pytest.raises(RuntimeError, match=r"neither a prompt nor a video.*it walks"):
        animate("  ")
    assert not list((tmp_path / "jobs").glob("*"))


def test_the_copy_holds_the_rig_alone_and_the_scene_is_as_before(rig, tmp_path):
    box("Room")
    hidden = tube(rig, "Proxy")
    hidden.hide_render = True
    before = dump()
    with pytest.raises(RuntimeError, match="scaled unevenly: apply its scale"):
        animate("it fails")
    assert dump() == before
    with bpy.data.libraries.load(the_request(tmp_path)["asset"]) as (inside, _):
        assert sorted(inside.objects) == ["Body", "Rig"]


def test_revert_takes_the_motion_back(rig):
    before = dump()
    animate()
    animate(target="NLA")
    assert bpy.ops.atop.revert_motion() == {"FINISHED"}
    assert bpy.ops.atop.revert_motion() == {"FINISHED"}
    assert dump() == before
    with pytest.raises(RuntimeError, match="rig that has been animated from here"):
        bpy.ops.atop.revert_motion()


def test_the_preview_is_saved_beside_the_file_and_its_absence_explained(rig, tmp_path, monkeypatch):
    animate()
    movie = rig_operators.preview_of(Path(rig_write.layers_of(rig)[-1]["notes"]["job"]))
    save(tmp_path / "scene.blend")
    monkeypatch.setattr("blender_addon.ui.preview.load_movie", lambda path: None)
    assert bpy.ops.atop.show_motion() == {"FINISHED"}
    assert (tmp_path / "scene_Rig_motion.mp4").read_bytes() == b"no real video"
    movie.unlink()
    with pytest.raises(RuntimeError, match="no video: play the timeline"):
        bpy.ops.atop.show_motion()


def test_cancel_leaves_no_process_and_no_change(rig, monkeypatch):
    before = dump()
    name = "blender_addon.ui.rig_operators.finish_in_background"
    monkeypatch.setattr(name, lambda *_: {"FINISHED"})
    animate("it sways slowly")
    monitor.tick()
    pid = monitor._job.pid
    assert "Finding the motion" in draw_when_running() or "Starting" in draw_when_running()
    assert bpy.ops.atop.cancel() == {"FINISHED"}
    assert finish().message == "cancelled"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert dump() == before


def draw_when_running():
    """What the section shows while the job runs."""
    return draw(rig_panel.ATOP_PT_rig)


@pytest.mark.parametrize("what", ["deleted", "other file", "bone gone", "renamed", "edit mode"])
def test_what_the_artist_does_during_a_run_is_survived(rig, monkeypatch, what):
    name = "blender_addon.ui.rig_operators.finish_in_background"
    monkeypatch.setattr(name, lambda *_: {"FINISHED"})
    animate()
    match what:
        case "deleted":
            bpy.data.objects.remove(rig)
        case "other file":
            bpy.ops.wm.read_homefile(use_empty=True)
        case "bone gone":
            select(rig)
            bpy.ops.object.mode_set(mode="EDIT")
            rig.data.edit_bones.remove(rig.data.edit_bones["hand"])
            bpy.ops.object.mode_set(mode="OBJECT")
        case "renamed":
            rig.name = "Another"
        case "edit mode":
            select(rig)
            bpy.ops.object.mode_set(mode="EDIT")
    state = finish()
    if what in ("renamed", "edit mode"):
        assert not state.failed
        assert rig.animation_data.action is not None
        return
    expected = "no bone hand any more" if what == "bone gone" else "no longer in this file"
    assert state.failed
    assert expected in state.message
    assert "the result stays in" in state.hint


def test_every_greyed_button_has_a_reason(addon):
    assert "bound to an armature" in rig_operators.why_not_now(addon)
    select(box("Crate"))
    assert "bound to an armature" in rig_operators.why_not_now(addon)
    with pytest.raises(RuntimeError, match="bound to an armature"):
        animate()
    made = armature()
    body = tube(made)
    for ob in (body, made):
        select(ob)
        assert rig_operators.why_not_now(addon) == ""
    addon.preferences.addons["blender_addon"].preferences.python = ""
    assert "backend's Python" in rig_operators.why_not_now(addon)


@pytest.mark.parametrize("bad", ["no mesh", "no bones", "no such object"])
def test_what_is_no_rig_is_refused_with_a_remedy(addon, bad):
    made = armature({} if bad == "no bones" else CREATURE)
    select(made)
    expected = {
        "no mesh": "no mesh is bound.*Automatic Weights",
        "no bones": "has no bones.*edit mode",
        "no such object": "no object 'Cow'",
    }
    with pytest.raises(RuntimeError, match=expected[bad]):
        animate(armature="Cow" if bad == "no such object" else "")


def test_a_file_is_animated_without_a_window_by_one_call(rig, tmp_path):
    select(box("Crate"))
    asset, out = save(tmp_path / "scene.blend"), tmp_path / "out.blend"
    options = bpy.context.preferences.addons["blender_addon"].preferences
    (tmp_path / "batch.py").write_text(BATCH)
    folder = str(Path(__file__).parents[2])
    command = [sys.executable, str(tmp_path / "batch.py"), folder, str(asset), options.python]
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    done = subprocess.run([*command, str(out)], timeout=120, env=environment, capture_output=True)
    assert out.is_file(), done.stderr
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert bpy.data.objects["Rig"].animation_data.action.name == "Rig Motion"


BATCH = """
import os, sys
sys.path.insert(0, sys.argv[1])
import bpy
bpy.context.preferences.addons.new().module = "blender_addon"
import blender_addon
blender_addon.register()
bpy.ops.wm.open_mainfile(filepath=sys.argv[2])
options = bpy.context.preferences.addons["blender_addon"].preferences
options.python, options.cache = sys.argv[3], os.path.dirname(sys.argv[2])
bpy.ops.atop.animate_rig(prompt="it sways", frames=5)
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[4])
os._exit(0)
"""


def test_of_several_rigs_the_call_names_one(rig, tmp_path):
    tube(armature(name="Other"), "Other Body")
    select(box("Crate"))
    with pytest.raises(RuntimeError, match="there are 2 rigs: Other, Rig: name the armature"):
        animate()
    assert animate(armature="Rig") == {"FINISHED"}
    assert the_request(tmp_path)["armature"] == "Rig"


def test_an_overridden_rig_of_another_file_is_animated(rig, tmp_path):
    collection = bpy.data.collections.new("Creature")
    bpy.context.scene.collection.children.link(collection)
    for ob in (rig, *rig.children):
        collection.objects.link(ob)
        bpy.context.scene.collection.objects.unlink(ob)
    library = save(tmp_path / "library.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.collections = ["Creature"]
    linked = bpy.data.collections["Creature"]
    bpy.context.scene.collection.children.link(linked)
    select(linked.objects["Rig"])
    assert "library override" in rig_operators.why_not_now(bpy.context)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    bpy.context.scene.collection.children.unlink(linked)
    made = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    made.override_library.is_system_override = False
    select(made)
    assert animate() == {"FINISHED"}
    assert made.animation_data.action.name == "Rig Motion"
    outcome = rigs.read_rig(Path(the_request(tmp_path)["asset"]), tmp_path / "rig")
    assert outcome.armature == "Rig"


def test_the_panels_draw_in_every_state(rig, addon):
    for panel in rig_panel.CLASSES:
        assert draw(panel)
    animate()
    drawn = draw(rig_panel.ATOP_PT_rig)
    assert "it sways as scripted" in drawn
    assert "atop.revert_motion" in drawn
    select(box("Crate"))
    assert "atop.revert_motion" not in draw(rig_panel.ATOP_PT_rig)


def test_settings_stay_with_the_file_and_calls_are_forgotten(rig, addon, tmp_path):
    addon.scene.atop_rig.frames = 33
    addon.scene.atop_rig.root = "BONE"
    path = save(tmp_path / "saved.blend")
    bpy.ops.wm.open_mainfile(filepath=str(path))
    settings = bpy.context.scene.atop_rig
    assert (settings.frames, settings.root) == (33, "BONE")


def test_registering_twice_in_a_row_works(addon):
    for _ in range(2):
        blender_addon.unregister()
        blender_addon.register()
    assert hasattr(bpy.types.Scene, "atop_rig")
