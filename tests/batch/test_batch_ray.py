"""The Ray engine on a real cluster of this machine."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from scripted_steps import STEPS

from atop_backend.batch.jobs import BatchJob
from atop_backend.batch.manifest import Manifest
from atop_backend.batch.outcomes import PoolConfig
from atop_backend.batch.ray_engine import (
    ROOT_VARIABLE,
    RayConfig,
    RayEngine,
    _task,
    models_that_fit,
)
from atop_backend.batch.steps import from_shared, to_shared
from atop_backend.contracts import JobRequest
from atop_backend.errors import InputError

ray = pytest.importorskip("ray", reason="needs ray, see the extra cluster")


@pytest.fixture(scope="module")
def cluster():
    """A local cluster whose workers can import what lies beside this file."""
    here = Path(__file__).parent
    paths = [str(here), str(here.parents[1]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}},
    )
    yield
    ray.shutdown()
    os.environ["PYTHONPATH"] = os.pathsep.join(paths[2:])


def run(root: Path, parts: list[str], time_limit_s: float = 60.0) -> Manifest:
    out, assets = root / "out", root / "assets"
    out.mkdir(exist_ok=True)
    assets.mkdir(exist_ok=True)
    jobs = []
    for number, part in enumerate(parts):
        asset = assets / f"asset_{number}.obj"
        asset.write_text(f"# {number}")
        jobs.append(
            BatchJob(f"asset_{number}", asset.name, JobRequest(asset, (part,), "it opens", Path()))
        )
    manifest = Manifest(out)
    manifest.want(jobs)
    manifest.recover()
    config = PoolConfig(workers=2, time_limit_s=time_limit_s)
    RayEngine(manifest, config, RayConfig(root=root), lambda event: None, STEPS).run()
    return manifest


@pytest.mark.slow
def test_two_model_processes_share_the_jobs_and_one_dies_in_the_middle(cluster, tmp_path):
    manifest = run(tmp_path, ["door", "bad", "die_once", *["door"] * 5])

    rows = list(manifest.rows())
    assert [row.state for row in rows] == ["done", "failed", *["done"] * 6]
    assert rows[1].error == "InputError"
    assert "the log says why" in rows[1].log_tail
    assert (tmp_path / "assets" / "asset_2.died").exists()
    assert len(list((tmp_path / "assets" / "pids").iterdir())) >= 3  # two, and the one restarted
    for row in rows[2:]:
        request = json.loads((row.request.out / "request.json").read_text())
        assert request["out"] == str(row.request.out)
    assert not list((tmp_path / "out" / "staging").rglob("*.json"))


@pytest.mark.slow
def test_what_always_dies_or_hangs_fails_alone(cluster, tmp_path):
    # long enough for Ray to start a process on a busy machine, which counts as the job's time
    manifest = run(tmp_path, ["hang", "door", "door"], time_limit_s=15)

    assert [(row.state, row.error) for row in manifest.rows()] == [
        ("failed", "TimeLimit"),
        ("done", ""),
        ("done", ""),
    ]


def test_requests_travel_with_paths_relative_to_the_shared_folder(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    parts = ("door", f"faces:{here}/lid.npy#Chest")
    request = JobRequest(here / "a.glb", parts, "it opens", here / "out" / "a")

    data = to_shared(request, here)

    assert (data["asset"], data["out"], data["weights"]) == ("a.glb", "out/a", None)
    assert data["parts"] == ["door", "faces:lid.npy#Chest"]
    assert from_shared(data, str(there)).asset == there / "a.glb"
    assert from_shared(data, str(there)).parts == ("door", f"faces:{there}/lid.npy#Chest")
    assert from_shared(to_shared(request, None), "") == request


def test_a_node_that_has_the_root_elsewhere_keeps_the_paths_of_the_driver(tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.symlink_to(here)
    (here / "a.obj").write_text("o lid")
    request = JobRequest(here / "a.obj", ("lid",), "it opens", here / "run" / "jobs" / "a")
    job = {
        "key": "a",
        "request": to_shared(request, here),
        "staged": "run/staging/a/job",
        "log": "run/a.log",
        "root": str(here),
    }
    monkeypatch.setenv(ROOT_VARIABLE, str(there))

    answer = None
    for step in ("render", "infer", "report"):
        answer = _task(STEPS, step, job, answer)

    assert answer is not None
    assert answer["error"] == "", answer
    kept = json.loads((request.out / "request.json").read_text())
    assert (kept["asset"], kept["out"]) == (str(request.asset), str(request.out))
    assert "there" in (here / "run" / "seen.txt").read_text()  # else this shows nothing


def test_paths_outside_the_shared_folder_are_refused(tmp_path):
    request = JobRequest(Path("/elsewhere/a.glb"), ("door",), "it opens", tmp_path / "out")

    with pytest.raises(InputError, match="not below the shared folder"):
        to_shared(request, tmp_path)


def test_models_that_no_gpu_has_room_for_are_refused_before_any_job_begins(cluster, tmp_path):
    from atop_backend.errors import SetupError

    request = JobRequest(tmp_path / "a.obj", ("door",), "it opens", Path())
    manifest = Manifest(tmp_path)
    manifest.want([BatchJob("a", "a.obj", request)])
    engine = RayEngine(
        manifest, PoolConfig(), RayConfig(gpus_per_model=0.5), lambda event: None, STEPS
    )

    with pytest.raises(SetupError, match="0 GPUs that Ray sees have room for 0"):
        engine.run()

    assert manifest.counts()["waiting"] == 1


def test_models_are_counted_on_gpus_that_they_do_not_share_unevenly():
    assert models_that_fit([2.0, 1.0], 0.5) == 6
    assert models_that_fit([2.0], 0.6) == 2  # not 3: none is spread over parts of two
    assert models_that_fit([3.0, 1.0], 2) == 1
    assert models_that_fit([0.0], 0.5) == 0


def test_a_missing_ray_is_explained(monkeypatch):
    from atop_backend.batch.ray_engine import _import_ray
    from atop_backend.errors import SetupError

    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(SetupError, match="needs the package ray"):
        _import_ray()
