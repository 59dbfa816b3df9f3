"""The panel and its buttons: reasons for what is greyed, how fast it draws, previews, scripts."""

from __future__ import annotations

import time

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from fake_layout import draw  # noqa: E402
from pressing import articulate, cabinet, select  # noqa: E402
from scenes import add, box, moved, world_points  # noqa: E402

from blender_addon import ui  # noqa: E402
from blender_addon.scene import convert, edit, record  # noqa: E402
from blender_addon.ui import panels, preview  # noqa: E402

OPERATORS = sorted(
    cls.bl_idname
    for module in ui.MODULES
    for cls in getattr(module, "CLASSES", ())
    if issubclass(cls, bpy.types.Operator)
)


def test_each_operator_that_is_greyed_in_an_empty_scene_says_why(addon):
    bpy.context.preferences.addons["blender_addon"].preferences.python = ""
    greyed = []
    for name in OPERATORS:
        operator = getattr(bpy.ops.atop, name.removeprefix("atop."))
        if operator.poll():
            continue
        greyed.append(name)
        with pytest.raises(RuntimeError) as caught:
            operator()
        reason = str(caught.value).partition(".poll()")[2].strip()
        assert len(reason.split()) >= 3, (name, str(caught.value))
        assert "context is incorrect" not in reason, name
    assert {"atop.articulate", "atop.flip", "atop.refit", "atop.cancel"} <= set(greyed)


def test_every_operator_and_all_of_its_properties_explain_themselves(addon):
    for name in OPERATORS:
        kind = getattr(bpy.ops.atop, name.removeprefix("atop.")).get_rna_type()
        assert kind.description, name
        for key, entry in kind.properties.items():
            assert key == "rna_type" or entry.name, (name, key)


def test_all_panels_together_draw_in_under_two_milliseconds_with_ten_thousand_objects(addon):
    cabinet()
    articulate()
    bpy.ops.atop.flip()  # so that a hand-laid joint is listed too
    for index in range(10_000):
        addon.scene.collection.objects.link(bpy.data.objects.new(f"e{index}", None))
    addon.view_layer.update()

    def once() -> float:
        begun = time.perf_counter()
        for panel in panels.CLASSES:
            draw(panel)
        return time.perf_counter() - begun

    assert "by hand" in draw(panels.ATOP_PT_joint)
    # other work on the machine may slow a draw down, nothing makes it faster than it is
    assert min(once() for _ in range(50)) < 0.002


def saved_as(folder, name="My scene.blend"):
    """Save the file there."""
    folder.mkdir(exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / name))


def test_movies_of_a_saved_file_lie_beside_it_and_of_an_unsaved_one_in_the_job(addon, tmp_path):
    door = cabinet()
    articulate()
    found = record.require_articulation(door)
    job = preview.Path(found.data["job"])
    names = {"comparison", "fitted", *(f"video {view}" for view in range(4))}
    assert set(preview.save_movies(job, found.tag)) == names
    assert {path.parent for path in preview.save_movies(job, found.tag).values()} == {job}
    saved_as(tmp_path / "art")
    movies = preview.save_movies(job, "Door: left / right")
    assert {path.parent for path in movies.values()} == {tmp_path / "art"}
    assert movies["fitted"].name == "My_scene_Door__left___right_fitted.mp4"
    assert movies["fitted"].read_bytes() == b"a scripted movie"


def test_a_folder_that_cannot_be_written_to_leaves_the_movies_in_the_job(
    addon, tmp_path, monkeypatch
):
    door = cabinet()
    articulate()
    job = preview.Path(record.require_articulation(door).data["job"])
    saved_as(tmp_path / "art")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(preview.shutil, "copyfile", refuse)
    assert preview.save_movies(job, "Door")["fitted"] == job / "fitted.mp4"


@pytest.mark.parametrize("movie", [entry[0] for entry in preview.MOVIES])
def test_every_movie_can_be_shown_by_a_script(addon, movie):
    cabinet()
    articulate()
    assert bpy.ops.atop.show_preview(movie=movie) == {"FINISHED"}


def test_a_cleared_cache_is_said_by_show_preview(addon):
    cabinet()
    articulate()
    bpy.ops.atop.clear_cache()
    with pytest.raises(RuntimeError, match="have been cleared: articulate the part again"):
        bpy.ops.atop.show_preview()


def test_videos_have_the_length_and_rate_of_the_keyframes(addon, tmp_path):
    cabinet()
    addon.scene.render.fps, addon.scene.render.fps_base = 24, 1.001
    articulate("the door opens over 3 seconds")
    text = next((tmp_path / "jobs").glob("*/request.json")).read_text()
    assert '"report.seconds=3"' in text
    assert '"report.fps=24"' in text
    action = next(record.articulations()).pivot.animation_data.action
    assert tuple(action.frame_range) == (1.0, 73.0)


def test_the_axis_is_set_by_a_script_where_the_object_is_now(addon):
    door = cabinet()
    articulate()
    bpy.data.objects["Body"].location.x += 3.0
    addon.view_layer.update()
    before = world_points(door)
    assert bpy.ops.atop.set_axis(origin=(4.0, 0.0, 2.0), axis=(0.0, -2.0, 0.0)) == {"FINISHED"}
    joint = edit.joint_now(record.require_articulation(door))
    assert joint.axis == pytest.approx((0, -1, 0), abs=1e-6)
    np.testing.assert_allclose(world_points(door), before, atol=2e-6)
    addon.scene.frame_set(49)
    end = convert.rigid_motion(joint, 1.5)
    np.testing.assert_allclose(world_points(door), moved(before, end), atol=2e-5)
    with pytest.raises(RuntimeError, match="has no direction"):
        bpy.ops.atop.set_axis(axis=(0.0, 0.0, 0.0))


def test_a_queue_goes_on_after_a_failure_and_says_so_at_its_end(addon):
    body = box("Body", location=(0.0, 0.1, 0.0))
    doors = [box(f"Door {i}", body, (1.5 * i, -0.1, 0.0)) for i in range(3)]
    flat = add(bpy.data.objects.new("Flat", None))
    doors[1].parent = flat
    addon.view_layer.update()
    select(*doors)
    flat.scale = (1.0, 0.0, 1.0)
    addon.view_layer.update()
    with pytest.raises(RuntimeError, match="1 of 3 failed; Door 1"):
        articulate()
    assert sorted(found.tag for found in record.articulations()) == ["Door 0", "Door 2"]
    assert "1 of 3 failed" in draw(panels.ATOP_PT_part)
