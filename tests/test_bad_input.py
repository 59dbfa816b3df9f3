"""Every wrong input gives one clear sentence, the right exit code, and leaves nothing behind."""

from __future__ import annotations

import errno
import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from needs import needs_blender, needs_torch
from toys import BODY, LID, boxes, write_chest, write_obj

from atop_backend import jobfolder, stages
from atop_backend.contracts import JobRequest
from atop_backend.errors import AtopError, InputError, SetupError


def job(asset, out, **choices):
    wanted = {"parts": ("lid",), "prompt": "the lid opens", "preset": "tiny", "device": "cpu"}
    return JobRequest(asset=asset, out=out, **{**wanted, **choices})


def failure(request) -> AtopError:
    """The error a job ends in, after checking that nothing is left of the job."""
    before = sorted(request.out.parent.iterdir()) if request.out.parent.is_dir() else None
    with pytest.raises(AtopError) as caught:
        stages.articulate(request, lambda event: None)
    after = sorted(request.out.parent.iterdir()) if request.out.parent.is_dir() else None
    assert after == before
    assert caught.value.message
    assert "\n" not in caught.value.message.strip()
    return caught.value


def write_ply(path: Path, vertices: np.ndarray, triangles: np.ndarray) -> Path:
    """A binary PLY file, which can hold numbers that are none."""
    header = (
        "ply\nformat binary_little_endian 1.0\n"
        f"element vertex {len(vertices)}\nproperty float x\nproperty float y\nproperty float z\n"
        f"element face {len(triangles)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    faces = b"".join(struct.pack("<Biii", 3, *map(int, row)) for row in triangles)
    path.write_bytes(header.encode() + vertices.astype("<f4").tobytes() + faces)
    return path


@needs_blender
def test_an_unknown_part_is_answered_with_the_parts_there_are(tmp_path):
    error = failure(job(write_chest(tmp_path / "a.obj"), tmp_path / "job", parts=("door",)))
    assert error.exit_code == 2
    assert "door" in str(error)
    assert "body" in str(error)
    assert "lid" in str(error)


@needs_blender
@pytest.mark.parametrize(
    ("objects", "parts", "said"),
    [
        ([("lid", [BODY, LID])], ("lid",), "whole object"),
        ([("body", [BODY]), ("lid", [LID])], ("body", "lid"), "whole object"),
        ([("body", [BODY]), ("lid", [((0, 0.3, 0), (1, 0.3, 0))])], ("lid",), "line"),
        ([("lid", [])], ("lid",), ""),
    ],
    ids=["only part", "all parts", "line", "empty mesh"],
)
def test_a_part_that_cannot_move_as_a_solid_is_refused(objects, parts, said, tmp_path):
    error = failure(job(write_obj(tmp_path / "a.obj", objects), tmp_path / "job", parts=parts))
    assert error.exit_code == 2
    assert said in str(error)


@needs_blender
def test_vertices_that_are_no_numbers_are_counted(tmp_path):
    vertices, triangles = boxes(BODY, LID)
    vertices[3, 1] = np.nan
    (tmp_path / "faces.txt").write_text("\n".join(map(str, range(12, 24))))
    asset = write_ply(tmp_path / "a.ply", vertices, triangles)
    faces = f"faces:{tmp_path / 'faces.txt'}"
    error = failure(job(asset, tmp_path / "job", parts=(faces,)))
    assert error.exit_code == 2
    assert "not finite" in error.message


@needs_blender
@pytest.mark.parametrize("name", ["a.glb", "a.gltf", "a.obj", "a.ply", "a.stl", "a.blend"])
def test_a_file_that_is_not_what_its_name_says_is_refused(name, tmp_path):
    (tmp_path / name).write_bytes(b"this is no model\n" * 9)
    error = failure(job(tmp_path / name, tmp_path / "job"))
    assert error.exit_code == 2
    # to the readers of OBJ and STL any text is a model without faces
    assert name in str(error) or "no part 'lid'" in str(error)


def test_a_format_that_cannot_be_read_is_refused_with_those_that_can(tmp_path):
    (tmp_path / "a.docx").write_text("hello")
    error = failure(job(tmp_path / "a.docx", tmp_path / "job"))
    assert error.exit_code == 2
    assert ".glb" in str(error)


def test_a_missing_file_is_named(tmp_path):
    error = failure(job(tmp_path / "nowhere.glb", tmp_path / "job"))
    assert error.exit_code == 2
    assert "nowhere.glb" in error.message


def test_a_missing_blender_is_the_installers_to_mend(tmp_path):
    asset = write_chest(tmp_path / "a.obj")
    error = failure(job(asset, tmp_path / "job", blender="/nowhere/blender"))
    assert error.exit_code == 3
    assert "/nowhere/blender" in error.message


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    asset = write_chest(tmp_path / "a.obj")
    (tmp_path / "file").write_text("not a folder")
    error = failure(job(asset, tmp_path / "file" / "job"))
    assert error.exit_code == 2
    assert str(tmp_path / "file") in error.message


def test_a_folder_with_other_files_is_not_replaced(tmp_path):
    asset = write_chest(tmp_path / "a.obj")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    error = failure(job(asset, tmp_path / "mine"))
    assert error.exit_code == 2
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_a_failed_job_leaves_the_older_job_in_its_place(tmp_path):
    out = tmp_path / "job"
    out.mkdir()
    (out / "request.json").write_text("{}")
    failure(job(tmp_path / "nowhere.glb", out))
    assert (out / "request.json").read_text() == "{}"


def test_a_disk_that_is_full_at_the_start_is_the_installers_to_mend(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    error = failure(job(write_chest(tmp_path / "a.obj"), tmp_path / "job"))
    assert error.exit_code == 3
    assert "full" in error.message
    assert str(tmp_path / "job") in error.message


def test_a_disk_that_fills_up_on_the_way_leaves_nothing(tmp_path):
    def fill(out):
        with jobfolder.replacing(out) as folder:
            (folder / "half").write_text("written")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(SetupError, match="full"):
        fill(tmp_path / "job")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("not json", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"asset": "a.glb"}', "incomplete"),
        ('{"asset": "a.glb", "parts": "lid", "prompt": "opens", "out": "job"}', "list of texts"),
        ('{"asset": "a.glb", "parts": ["lid"], "prompt": "x", "out": "j", "hue": 1}', "hue"),
    ],
)
def test_a_broken_request_file_is_refused(data, said, tmp_path):
    path = tmp_path / "request.json"
    path.write_text(data)
    with pytest.raises(InputError, match=said):
        jobfolder.read_request(path)


@needs_torch
@pytest.mark.parametrize("stage", ["generate", "fit", "report"])
def test_a_step_without_those_before_it_says_which_to_run(stage, tmp_path):
    out = tmp_path / "job"
    out.mkdir()
    request = job(write_chest(tmp_path / "a.obj"), out)
    jobfolder.write_settings(out, request, stages.resolve("tiny"))
    with pytest.raises(InputError, match="render stage"):
        stages.repeat(out, stage, lambda event: None)


@pytest.fixture
def install(tmp_path):
    """A copy of the backend whose weights can be damaged."""
    source = Path(stages.__file__).parent
    target = tmp_path / "site" / "atop_backend"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


@needs_blender
@needs_torch
@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_damaged_weights_are_named_and_are_the_installers_to_mend(damage, install, tmp_path):
    weights = sorted((install / "weights").glob("*.safetensors"))
    assert weights, "the bundled weights are not there"
    if damage == "missing":
        weights[0].unlink()
    else:
        weights[0].write_bytes(weights[0].read_bytes()[:-1000])
    out = tmp_path / "job"
    done = subprocess.run(
        [sys.executable, "-m", "atop_backend", "articulate", write_chest(tmp_path / "a.obj"),
         "--part", "lid", "--prompt", "the lid opens", "--out", out],
        capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(install.parent)},
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert weights[0].name in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()


@needs_torch
@pytest.mark.parametrize(("device", "code"), [("toaster", 2), ("cuda:99", 3)])
def test_a_device_that_is_not_there_is_named(device, code):
    from atop_backend.diffusion.device import pick_device

    with pytest.raises(AtopError) as caught:
        pick_device(device)
    assert caught.value.exit_code == code
    assert device in caught.value.message


def test_what_is_written_is_strict_json_or_nothing(tmp_path):
    path = tmp_path / "data.json"
    jobfolder.write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        jobfolder.write_json(path, {"a": float("nan")})
    assert json.loads(path.read_text()) == {"a": 1}
