"""`scripts/batch_articulate.py` on a scene file, with a scripted backend."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

from scenes import box, two_boxes, world_points

SCRIPT = Path(__file__).parents[2] / "scripts" / "batch_articulate.py"

# Stands for `atop batch`: every part slides by 0.5 along X, but those whose prompt says "fail".
BACKEND = """
import json, sys, tomllib
from pathlib import Path
if sys.argv[3] == "export":
    sys.exit("the export is broken")
jobs, out = Path(sys.argv[4]), Path(sys.argv[6])
joint = {"type": "prismatic", "axis": [1, 0, 0], "origin": [0, 0, 0], "range": [0, 0.5]}
answer = {"joint": joint, "confidence": 0.9, "sentence": "it slides"}
with (out / "results.jsonl").open("w") as stream:
    for job in tomllib.loads(jobs.read_text())["job"]:
        failed = "fail" in job["prompt"]
        asset = str(jobs.parent / job["asset"])
        record = {"asset": asset, "folder": "jobs/x", "parts": job["parts"], "job": job,
                  "message": "it is bad" if failed else "", "result": None if failed else answer}
        print(json.dumps(record), file=stream)
print(json.dumps({"v": 1, "type": "finished", "result": "", "sentence": "done"}))
"""


@pytest.fixture
def scene(context, tmp_path):
    """A cabinet with two doors, saved; one door carries a prompt."""
    import bpy

    cabinet = box("Cabinet", scale=(2, 5, 1))
    box("Door.L", cabinet, (0, -0.1, 0))["atop_prompt"] = "the left door opens"
    box("Door.R", cabinet, (1, -0.1, 0))
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def backend(tmp_path):
    """A Python that runs the scripted backend whatever it is asked."""
    (tmp_path / "backend.py").write_text(BACKEND)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path / "backend.py"}" "$@"\n')
    python.chmod(0o755)
    return python


def run(scene: Path, backend: Path, *options: str) -> tuple[subprocess.CompletedProcess, list]:
    done = scene.with_name("done.blend")
    command = [sys.executable, str(SCRIPT), "--", "--blend", str(scene), "--save-as", str(done)]
    finished = subprocess.run(
        [*command, "--python", str(backend), *options], capture_output=True, text=True, timeout=120
    )
    records = scene.with_name("done_articulated") / "results.jsonl"
    lines = records.read_text().splitlines() if records.is_file() else []
    return finished, [json.loads(line) for line in lines]


def reopened(path: Path):
    """The scene of a saved file."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.context.scene


def moved_in_file(path: Path, name: str) -> float:
    """How far an object of a saved file moves along X from the first frame to the last key."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene = bpy.context.scene
    places = []
    for frame in (scene.frame_start, scene.frame_start + 200):
        scene.frame_set(frame)
        places.append(world_points(bpy.data.objects[name])[:, 0].mean())
    return places[1] - places[0]


def test_parts_with_a_prompt_property_get_their_joint_and_keyframes(scene, backend):
    finished, records = run(scene, backend)

    assert finished.returncode == 0, finished.stderr
    assert [record["job"]["prompt"] for record in records] == ["the left door opens"]
    done = scene.with_name("done.blend")
    assert moved_in_file(done, "Door.L") == pytest.approx(0.5, abs=1e-5)
    assert moved_in_file(done, "Door.R") == pytest.approx(0.0, abs=1e-5)


def test_a_pattern_takes_all_objects_of_that_name(scene, backend):
    finished, records = run(scene, backend, "--match", "Door*", "--prompt", "open {name}")

    assert finished.returncode == 0, finished.stderr
    assert [record["job"]["prompt"] for record in records] == ["open Door.L", "open Door.R"]


def test_a_job_file_names_objects_parts_and_amounts(context, backend, tmp_path):
    import bpy

    ob = two_boxes()
    ob.vertex_groups.new(name="leaf").add(range(8, 16), 1.0, "REPLACE")
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    jobs = tmp_path / "jobs.csv"
    jobs.write_text(
        "object,part,prompt,motion,amount\n"
        "Cabinet,vgroup:leaf,the leaf opens,hinge,70deg\n"
        "Nothing,,it opens,,\n"
        "Cabinet,vgroup:none,it opens,,\n"
    )

    finished, records = run(path, backend, "--jobs", str(jobs))

    assert finished.returncode == 2  # two of three
    assert "there is no object 'Nothing'" in finished.stderr
    assert "no vertex group 'none'" in finished.stderr
    (record,) = records
    assert (record["job"]["motion"], record["job"]["amount"]) == ("hinge", "70deg")
    assert record["parts"][0].startswith("faces:")


def test_one_part_without_an_answer_does_not_keep_the_others(scene, backend, tmp_path):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(
        '[[job]]\nobject = "Door.L"\nprompt = "fail"\n'
        '[[job]]\nobject = "Door.R"\nprompt = "it opens"\n'
    )

    finished, _ = run(scene, backend, "--jobs", str(jobs))

    assert finished.returncode == 2
    assert "no joint for Door.L: it is bad" in finished.stderr
    assert moved_in_file(scene.with_name("done.blend"), "Door.R") == pytest.approx(0.5, abs=1e-5)


def test_a_missing_backend_is_explained(scene, tmp_path):
    finished, _ = run(scene, tmp_path / "nothing")

    assert finished.returncode == 3
    assert "there is no Python with the backend" in finished.stderr


def test_a_part_that_has_its_joint_is_left_alone_unless_a_new_one_is_wanted(scene, backend):
    run(scene, backend)
    done = scene.with_name("done.blend")
    actions = {"Door.L Open"}

    finished, records = run(done, backend)

    assert finished.returncode == 0, finished.stderr
    assert "Door.L: has a joint already" in finished.stdout
    assert "1 of 1 parts have a joint" in finished.stdout
    assert len(records) == 1  # of the first run: the backend was not asked again
    assert {action.name for action in actions_in(done)} == actions
    finished, _ = run(done, backend, "--again")
    assert finished.returncode == 0, finished.stderr
    assert len(actions_in(done)) == 2  # the earlier one is kept below it


def actions_in(path: Path) -> list:
    import bpy

    reopened(path)
    return list(bpy.data.actions)


def test_the_same_scene_again_asks_the_backend_for_the_same_bytes(scene, backend):
    run(scene, backend)
    copies = scene.with_name("done_articulated") / "scenes"
    first = {path: path.read_bytes() for path in copies.rglob("scene.blend")}

    run(scene, backend)

    assert first
    assert {path: path.read_bytes() for path in copies.rglob("scene.blend")} == first


def test_a_scene_that_was_changed_is_copied_anew(scene, backend):
    import bpy

    run(scene, backend)
    reopened(scene)
    bpy.data.objects["Door.L"].location.x += 0.5
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))

    run(scene, backend)

    copies = scene.with_name("done_articulated") / "scenes"
    assert len(list(copies.rglob("scene.blend"))) == 2


def test_a_part_on_a_part_gets_its_joint_also_where_the_timeline_shows_that_open(
    context, backend, tmp_path
):
    import bpy

    cabinet = box("Cabinet", scale=(2, 5, 1))
    door = box("Door", cabinet, (0, -0.1, 0))
    knob = box("Knob", door, (0.1, -0.1, 0))
    door["atop_prompt"] = knob["atop_prompt"] = "it opens"
    scene = tmp_path / "scene.blend"
    bpy.context.scene.frame_current = 200  # long after the door's last key
    bpy.context.view_layer.update()
    given = world_points(knob)
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))

    finished, _ = run(scene, backend)

    assert finished.returncode == 0, finished.stderr
    again = reopened(scene.with_name("done.blend"))
    again.frame_set(again.frame_start)
    assert world_points(bpy.data.objects["Knob"]) == pytest.approx(given, abs=1e-5)
    again.frame_set(again.frame_start + 200)
    moved = world_points(bpy.data.objects["Knob"]) - given
    assert moved[:, 0] == pytest.approx(1.0, abs=1e-5)  # with the door, and by itself


def test_a_part_named_twice_gets_one_joint(scene, backend, tmp_path):
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("object,prompt\nDoor.R,it opens\nDoor.R,it slides\n")

    finished, records = run(scene, backend, "--jobs", str(jobs))

    assert finished.returncode == 2
    assert "no joint for Door.R: it is named twice" in finished.stderr
    assert len(records) == 1


def test_an_export_that_fails_holds_up_neither_the_scene_nor_the_other_exports(scene, backend):
    finished, _ = run(scene, backend, "--urdf", "--glb")

    assert finished.returncode == 2
    assert "not written: the URDF of Cabinet" in finished.stderr
    assert "the export is broken" in finished.stderr
    assert scene.with_name("done.glb").stat().st_size > 0
    assert moved_in_file(scene.with_name("done.blend"), "Door.L") == pytest.approx(0.5, abs=1e-5)


def test_objects_get_folders_of_their_own_whatever_they_are_called():
    sys.path.insert(0, str(SCRIPT.parent))
    from scene_exports import plain_name

    taken: set[str] = set()
    names = ["Door/L", "Door:L", "../Door", "...", "Tür 1"]
    assert [plain_name(name, taken) for name in names] == [
        "Door_L",
        "Door_L_2",
        "_Door",
        "object",
        "Tür_1",
    ]
