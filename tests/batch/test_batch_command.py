"""`atop batch` from its options to its report."""

from __future__ import annotations

import argparse
import csv
import errno
import json
import time
from pathlib import Path

import pytest
from scripted_worker import COMMAND

from atop_backend.batch import command, pool
from atop_backend.batch.lock import only_driver
from atop_backend.batch.manifest import Manifest
from atop_backend.batch.report import duration, throughput
from atop_backend.errors import InputError, SetupError
from atop_backend.protocol import Finished, Progress


@pytest.fixture
def batch(tmp_path, monkeypatch):
    """Runs `atop batch` with scripted workers; returns its events."""
    monkeypatch.setattr(pool.Pool.__init__, "__defaults__", (COMMAND,))

    def run(*arguments: object) -> list:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        events: list = []
        options = ["--out", str(tmp_path / "out"), *map(str, arguments)]
        assert command.run(parser.parse_args(options), events.append) == 0
        return events

    return run


def write_jobs(folder: Path, parts: list[str]) -> Path:
    lines = []
    for number, part in enumerate(parts):
        (folder / f"asset_{number}.obj").write_text(f"# {number}")
        lines.append(f'[[job]]\nasset = "asset_{number}.obj"\npart = "{part}"\nprompt = "<b>x"\n')
    file = folder / "jobs.toml"
    file.write_text("\n".join(lines))
    return file


def test_a_batch_reports_every_job_once(batch, tmp_path):
    jobs = write_jobs(tmp_path, ["door", "bad", "lid"])

    events = batch(jobs, "--workers", 2)

    assert isinstance(events[-1], Finished)
    assert events[-1].sentence == "2 of 3 jobs are done, 1 failed, see the report"
    assert [e.step for e in events if isinstance(e, Progress)][-1] == 3
    with (tmp_path / "out" / "results.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["state"] for row in rows] == ["done", "failed", "done"]
    assert [row["error"] for row in rows] == ["", "InputError", ""]
    assert float(rows[0]["confidence"]) == 0.9
    lines = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["result"] is not None for line in lines] == [True, False, True]


def test_the_report_needs_no_other_file_and_escapes_what_people_wrote(batch, tmp_path):
    batch(write_jobs(tmp_path, ["door", "bad"]))

    page = (tmp_path / "out" / "report.html").read_text()

    assert "http" not in page
    assert "<script" not in page
    assert "&lt;b&gt;x" in page
    assert "InputError" in page
    assert "the log says why" in page


def test_a_second_run_does_nothing_again_and_failures_only_when_asked(batch, tmp_path):
    jobs = write_jobs(tmp_path, ["door", "bad"])
    batch(jobs)
    begun = tmp_path / "begun.txt"
    first = begun.read_text()

    batch("--resume")
    assert begun.read_text() == first
    batch("--resume", "--retry-failed")
    assert begun.read_text() == first + "asset_1\n"


def test_two_drivers_in_one_folder_are_refused(batch, tmp_path):
    jobs = write_jobs(tmp_path, ["door"])
    (tmp_path / "out").mkdir()

    with only_driver(tmp_path / "out"), pytest.raises(InputError, match="another batch"):
        batch(jobs)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no jobs were given"),
        (["--resume"], "no batch to resume"),
        (["{folder}"], "is a folder"),
        (["{folder}", "--auto"], "holds no asset"),
        (["{folder}/none.toml"], "cannot be read"),
        (["{folder}/none.toml", "--workers", "0"], "0 workers"),
    ],
)
def test_a_batch_without_jobs_says_what_to_give(batch, tmp_path, arguments, words):
    with pytest.raises(InputError, match=words):
        batch(*[argument.format(folder=tmp_path) for argument in arguments])


def test_a_file_that_is_no_manifest_is_left_alone(tmp_path):
    (tmp_path / "manifest.sqlite").write_text("something else entirely, and long enough" * 20)

    with pytest.raises(InputError, match="is not a manifest"):
        Manifest(tmp_path)


def test_throughput_counts_only_this_run(batch, tmp_path):
    batch(write_jobs(tmp_path, ["door"]))
    since = time.time()
    batch(write_jobs(tmp_path, ["door", "lid", "bad"]))
    manifest = Manifest(tmp_path / "out")

    settled, rate = throughput(manifest.rows(), since)

    assert settled == 2
    assert rate > 0


def test_durations_read_well():
    assert [duration(s) for s in (40, 600, 7500)] == ["40 s", "10 min", "2 h 05 min"]


def test_assets_without_a_job_are_named_with_their_reason(batch, tmp_path):
    assets = tmp_path / "assets"
    assets.mkdir()
    (assets / "a.obj").write_text("o door\nv 0 0 0\n")
    (assets / "b.obj").write_text("o body\nv 0 0 0\n")
    (assets / "c.glb").write_bytes(b"<b>")

    events = batch(assets, "--auto")

    assert events[-1].sentence == (
        "1 of 1 jobs are done, assets without a part to move: 2, see the report"
    )
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<td>b.obj<td>no part has a telling name" in page
    assert "<td>c.glb<td>c.glb cannot be read" in page
    assert batch("--resume")[-1].sentence == events[-1].sentence


def test_the_report_is_kept_fresh_while_the_batch_runs(batch, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(command, "REPORT_EVERY_S", 0.0)
    monkeypatch.setattr(
        command,
        "write_report",
        lambda manifest, since: written.append(manifest.counts()["done"]),
    )

    batch(write_jobs(tmp_path, ["slow:0.3"] * 4))

    assert len(written) > 1
    assert written == sorted(written)
    assert written[-1] == 4


def test_a_report_that_cannot_be_written_ends_the_batch_with_the_reason(
    batch, tmp_path, monkeypatch
):
    def full(manifest, since):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(command, "REPORT_EVERY_S", 0.0)
    monkeypatch.setattr(command, "write_report", full)

    with pytest.raises(SetupError, match="is full"):
        batch(write_jobs(tmp_path, ["slow:0.3"] * 4))
