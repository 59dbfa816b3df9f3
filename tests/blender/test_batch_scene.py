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
jobs, out = Path(sys.argv[4]), Path(sys.argv[6])
joint = {"type": "prismatic", "axis": [1, 0, 0], "origin": [0, 0, 0], "range": [0, 0.5]}
answer = {"joint": joint, "confidence": 0.9, "sentence": "it slides"}
with (out / "results.jsonl").open("w") as stream:
    for job in tomllib.loads(jobs.read_text())["job"]:
        failed = "fail" in job["prompt"]
        record = {"asset": job["asset"], "folder": "jobs/x", "parts": job["parts"], "job": job,
                  "message": "it is bad" if failed else "", "result": None if failed else answer}
        print(json.dumps(record), file=stream)
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
