"""Local workers that fail in every way, and a driver that is killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from scripted_worker import COMMAND

from atop_backend.batch.jobs import BatchJob
from atop_backend.batch.manifest import Manifest
from atop_backend.batch.outcomes import PoolConfig
from atop_backend.batch.pool import Pool
from atop_backend.batch.worker import describe
from atop_backend.contracts import JobRequest
from atop_backend.errors import SetupError

FAST = PoolConfig(workers=1, time_limit_s=20)


def jobs(folder: Path, parts: list[str]) -> list[BatchJob]:
    """A job a part name, each with a small asset of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    result = []
    for number, part in enumerate(parts):
        asset = folder / f"asset_{number}.obj"
        asset.write_text(f"# {number}")
        request = JobRequest(asset, (part,), "it opens", Path())
        result.append(BatchJob(f"asset_{number}", asset.name, request))
    return result


def run(out: Path, parts: list[str], config: PoolConfig = FAST) -> Manifest:
    out.mkdir(exist_ok=True)
    manifest = Manifest(out)
    manifest.want(jobs(out / "assets", parts))
    manifest.recover()
    Pool(manifest, config, lambda event: None, COMMAND).run()
    return manifest


def begun(out: Path) -> Counter:
    return Counter((out / "assets" / "begun.txt").read_text().split())


def test_a_bad_asset_never_stops_the_batch_and_keeps_its_reason(tmp_path):
    manifest = run(tmp_path, ["door", "bad", "bug", "door"])

    states = [(row.state, row.error) for row in manifest.rows()]
    assert states == [("done", ""), ("failed", "InputError"), ("failed", "KeyError"), ("done", "")]
    bad = next(manifest.rows("failed"))
    assert bad.message == "the asset is bad: mend it"
    assert "the log says why" in bad.log_tail
    assert "Traceback" in bad.log_tail
    assert all((r.request.out / "result.json").is_file() for r in manifest.rows("done"))


def test_a_rerun_does_no_asset_twice(tmp_path):
    run(tmp_path, ["door", "bad"]).close()
    manifest = run(tmp_path, ["door", "bad", "door"])

    assert begun(tmp_path) == {"asset_0": 1, "asset_1": 1, "asset_2": 1}
    assert manifest.counts() == {"waiting": 0, "running": 0, "done": 2, "failed": 1, "all": 3}


def test_a_changed_asset_or_setting_is_done_again(tmp_path):
    manifest = run(tmp_path, ["door"])
    first = [row.key for row in manifest.rows()]
    (tmp_path / "assets" / "asset_0.obj").write_text("# other content")
    changed = jobs(tmp_path / "other", ["door"])[0]
    other = changed._replace(request=changed.request.__class__(
        tmp_path / "assets" / "asset_0.obj", ("door",), "it closes", Path()
    ))  # fmt: skip

    manifest.want([other])

    assert manifest.counts()["waiting"] == 1
    assert [row.key for row in manifest.rows()] != first


def test_a_hanging_job_is_killed_with_all_that_it_started(tmp_path):
    before = sleepers()

    manifest = run(tmp_path, ["hang", "door"], PoolConfig(workers=1, time_limit_s=1.5))

    assert [(row.state, row.error) for row in manifest.rows()] == [
        ("failed", "TimeLimit"),
        ("done", ""),
    ]
    assert sleepers() == before


def test_answers_that_waited_for_the_driver_are_not_late(tmp_path, monkeypatch):
    hand_out = Pool._hand_out

    def and_sleep(pool, worker, row):
        hand_out(pool, worker, row)
        time.sleep(3.0)  # as a laptop does, or a driver that has other work

    monkeypatch.setattr(Pool, "_hand_out", and_sleep)

    manifest = run(tmp_path, ["door", "door"], PoolConfig(workers=1, time_limit_s=2.5))

    assert [row.state for row in manifest.rows()] == ["done", "done"]


def sleepers() -> list[str]:
    found = subprocess.run(["pgrep", "-f", "sleep 1000"], capture_output=True, text=True)
    return found.stdout.split()


def test_a_job_that_kills_its_worker_fails_alone_after_some_tries(tmp_path):
    manifest = run(tmp_path, ["die", "door"])

    died, fine = manifest.rows()
    assert (died.state, died.error, died.attempts) == ("failed", "WorkerDied", 3)
    assert (fine.state, fine.attempts) == ("done", 1)


def test_running_out_of_memory_is_retried_smaller(tmp_path):
    manifest = run(tmp_path, ["memory"])

    (row,) = manifest.rows()
    assert (row.state, row.attempts, row.reduction) == ("done", 2, 1)
    overrides = json.loads((row.request.out / "overrides.json").read_text())
    assert "generate.samples=2" in overrides


@pytest.mark.parametrize(
    "said",
    [
        "CUDA out of memory. Tried to allocate 1.00 GiB",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory",
    ],
)
def test_torch_says_in_many_ways_that_memory_has_run_out(said):
    assert describe(RuntimeError(said))["error"] == "OutOfMemory"
    assert describe(RuntimeError("CUDA error: invalid argument"))["error"] == "RuntimeError"


def test_the_last_try_of_a_job_that_is_killed_again_and_again_is_the_smallest(tmp_path):
    (row,) = run(tmp_path, ["greedy"]).rows()

    assert (row.state, row.attempts, row.faults) == ("done", 3, 2)
    assert row.request.device == "auto"  # what the manifest keeps is what was asked for
    assert json.loads((row.request.out / "request.json").read_text())["device"] == "cpu"


def test_a_full_disk_stops_the_batch_and_blames_no_job(tmp_path):
    with pytest.raises(SetupError, match="is full"):
        run(tmp_path, ["door", "full", "door"])

    counts = Manifest(tmp_path).counts()
    assert (counts["done"], counts["waiting"], counts["failed"]) == (1, 2, 0)


@pytest.mark.parametrize("count", [2, 8])
def test_a_broken_set_up_stops_the_batch_and_blames_no_job(tmp_path, count):
    with pytest.raises(SetupError, match="something is missing"):
        run(tmp_path, ["setup"] * count)

    assert Manifest(tmp_path).counts()["waiting"] == count


def test_a_set_up_error_of_one_asset_among_good_ones_is_its_own(tmp_path):
    manifest = run(tmp_path, ["setup", "door"])

    assert [(row.state, row.error) for row in manifest.rows()] == [
        ("failed", "SetupError"),
        ("done", ""),
    ]


def test_workers_are_renewed(tmp_path):
    manifest = run(tmp_path, ["door"] * 5, PoolConfig(workers=1, renew_after=2))

    pids = [
        json.loads((r.request.out / "result.json").read_text())["model"] for r in manifest.rows()
    ]
    assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [2, 2, 1]


def test_two_workers_share_the_jobs(tmp_path):
    manifest = run(tmp_path, ["slow:0.3"] * 4, PoolConfig(workers=2))

    assert len({row.worker for row in manifest.rows()}) == 2


DRIVER = """
import sys
from pathlib import Path
sys.path[:0] = {here}
from scripted_worker import COMMAND
from atop_backend.batch.manifest import Manifest
from atop_backend.batch.outcomes import PoolConfig
from atop_backend.batch.pool import Pool
from atop_backend.batch.worker import describe
manifest = Manifest(Path({out!r}))
manifest.recover()
Pool(manifest, PoolConfig(workers=2, time_limit_s=20), lambda event: None, COMMAND).run()
"""


def start_driver(out: Path) -> subprocess.Popen:
    here = Path(__file__).parent
    code = DRIVER.format(here=[str(here), str(here.parents[1])], out=str(out))
    return subprocess.Popen([sys.executable, "-c", code])


def worker_pids(out: Path) -> list[int]:
    manifest = Manifest(out)
    pids = [pid for pid, _ in manifest.workers()]
    manifest.close()
    return pids


@pytest.mark.slow
def test_killing_driver_and_workers_at_random_moments_loses_and_repeats_nothing(tmp_path, rng):
    manifest = Manifest(tmp_path)
    manifest.want(jobs(tmp_path / "assets", ["slow:0.1"] * 40))
    manifest.close()

    for turn in range(6):
        driver = start_driver(tmp_path)
        time.sleep(rng.uniform(0.4, 1.2))
        victims = [driver.pid] if turn % 2 else worker_pids(tmp_path)[:1]
        for victim in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        if turn % 2:
            driver.wait()
            continue
        time.sleep(rng.uniform(0.1, 0.5))
        driver.kill()
        driver.wait()
    last = start_driver(tmp_path)
    assert last.wait(timeout=60) == 0

    manifest = Manifest(tmp_path)
    assert manifest.counts() == {"waiting": 0, "running": 0, "done": 40, "failed": 0, "all": 40}
    done = Counter((tmp_path / "assets" / "done.txt").read_text().split())
    assert set(done.values()) == {1}
    assert len(list((tmp_path / "jobs").glob("*/*/result.json"))) == 40
    assert manifest.workers() == []
    assert not list((tmp_path / "jobs").rglob(".*partial*"))


@pytest.fixture
def rng():
    import random

    return random.Random(0)
