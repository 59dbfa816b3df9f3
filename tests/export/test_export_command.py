"""`atop export` from job folders and from a description."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
from export_toys import cabinet

from atop_backend.contracts import Answer, JobRequest, JobResult
from atop_backend.errors import InputError
from atop_backend.export import command
from atop_backend.export.source import read_description, read_jobs
from atop_backend.geometry.meshes import RestShape, save_shape
from atop_backend.protocol import Artifact, Finished


def write_job(folder: Path, number: int, vertices: np.ndarray | None = None) -> Path:
    """A job folder as the stages leave it, with a frame of its own."""
    given, triangles, parts = cabinet()
    given = given if vertices is None else vertices
    part = parts[number]
    carried = [other.triangles for other in parts if other.parent == number]
    moving = np.logical_or.reduce([part.triangles, *carried])
    to_file = np.diag([2.0, 2.0, 2.0, 1.0])
    to_file[:3, 3] = 5.0, -1.0, 0.5
    normalised = (given - to_file[:3, 3]) / 2.0
    (folder / "render").mkdir(parents=True)
    shape = RestShape(normalised, triangles, moving, to_file, (part.name,))
    save_shape(folder / "render" / "shape.npz", shape)
    request = JobRequest(Path("/assets/cabinet.blend"), (part.name,), "it opens", folder)
    (folder / "request.json").write_text(json.dumps(request.to_dict()))
    result = JobResult(Answer(part.joint, 0.9, "a sentence"))
    (folder / "result.json").write_text(json.dumps(result.to_dict()))
    return folder


def run(*arguments: object) -> tuple[int, list]:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    events: list = []
    return command.run(parser.parse_args([str(a) for a in arguments]), events.append), events


def test_jobs_of_one_asset_become_one_object_with_all_parts(tmp_path):
    jobs = [write_job(tmp_path / name, number) for number, name in enumerate("abc")]
    vertices, _, parts = cabinet()

    source = read_jobs(jobs)

    assert np.allclose(source.vertices, vertices, atol=1e-6)
    assert [part.joint for part in source.parts] == [part.joint for part in parts]
    assert [part.triangles.tolist() for part in source.parts] == [
        part.triangles.tolist() for part in parts
    ]
    assert [part.parent for part in source.parts] == [-1, -1, 0]


def test_all_formats_are_written_and_announced(tmp_path):
    jobs = [write_job(tmp_path / name, number) for number, name in enumerate("abc")]

    code, events = run(*jobs, "--out", tmp_path / "out")

    assert code == 0
    files = {event.name: Path(event.path) for event in events if isinstance(event, Artifact)}
    assert set(files) == {"urdf", "mjcf", "usd", "gltf"}
    assert all(path.stat().st_size > 0 for path in files.values())
    assert [type(event) for event in events].count(Finished) == 1
    assert isinstance(events[-1], Finished)


def test_jobs_of_different_assets_are_refused(tmp_path):
    jobs = [
        write_job(tmp_path / "a", 0),
        write_job(tmp_path / "b", 1, vertices=cabinet()[0] * 1.01),
    ]

    with pytest.raises(InputError, match="another object"):
        run(*jobs, "--out", tmp_path / "out")


def test_an_unfinished_job_is_refused(tmp_path):
    job = write_job(tmp_path / "a", 0)
    (job / "result.json").unlink()

    with pytest.raises(InputError, match=r"result\.json cannot be read"):
        run(job, "--out", tmp_path / "out")


def test_a_description_gives_the_same_object_as_the_jobs(tmp_path):
    vertices, triangles, parts = cabinet()
    owner = np.full(len(triangles), -1)
    for index, part in enumerate(parts):
        owner[part.triangles] = index
    np.savez(tmp_path / "mesh.npz", vertices=vertices, triangles=triangles, part=owner)
    entries = [
        {"name": part.name, "joint": part.joint.to_dict(), "parent": part.parent} for part in parts
    ]
    description = tmp_path / "object.json"
    description.write_text(json.dumps({"name": "cabinet", "mesh": "mesh.npz", "parts": entries}))
    jobs = [write_job(tmp_path / name, number) for number, name in enumerate("abc")]

    written, rendered = read_description(description), read_jobs(jobs)

    assert written.up == rendered.up == "z"
    assert np.allclose(written.vertices, rendered.vertices, atol=1e-6)
    for ours, theirs in zip(written.parts, rendered.parts, strict=True):
        assert ours.name == theirs.name
        assert ours.joint == theirs.joint
        assert ours.parent == theirs.parent
        assert np.array_equal(ours.triangles, theirs.triangles)


def test_a_description_without_joints_is_refused(tmp_path):
    np.savez(tmp_path / "mesh.npz", vertices=np.eye(3), triangles=[[0, 1, 2]], part=[0])
    description = tmp_path / "object.json"
    description.write_text(json.dumps({"mesh": "mesh.npz", "parts": [{"name": "door"}]}))

    with pytest.raises(InputError, match="does not describe an object"):
        read_description(description)
