"""The add-on's side of a backend process: every end is told once, and cancelling leaves nothing."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from atop_backend import protocol
from atop_backend.errors import SetupError
from blender_addon.core.job import Job
from blender_addon.core.request import Choices, build_request, write_request

FAKE = Path(__file__).with_name("fake_backend.py")


def start(folder, prompt, **options):
    """A job of the scripted backend."""
    request = build_request(Choices(prompt), folder / "a.blend", ("Door",), folder / "out")
    write_request(request, folder / "request.json")
    arguments = ("articulate", "--request", str(folder / "request.json"), "--events", "jsonl")
    return Job([sys.executable, str(FAKE), *arguments], folder / "log.txt", **options)


def all_events(job, seconds=20.0):
    """All that comes out of the queue until the terminal event."""
    events, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        events += job.drain()
        if events and isinstance(events[-1], protocol.TERMINAL):
            return events
        time.sleep(0.01)
    raise AssertionError(f"no terminal event, only {events}")


def gone(pid):
    """Whether no such process is left."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_job_ends_in_one_finished_event_and_no_process(tmp_path):
    job = start(tmp_path, "the door opens")
    events = all_events(job)
    assert [type(event) for event in events].count(protocol.Finished) == 1
    assert isinstance(events[-1], protocol.Finished)
    assert next(e.stage for e in events if isinstance(e, protocol.Progress)) == "render"
    assert gone(job.pid)
    assert job.drain() == []
    assert "a log line" in job.log_tail()


def test_a_failure_is_handed_on(tmp_path):
    last = all_events(start(tmp_path, "it fails"))[-1]
    assert last == protocol.Failed("the part is flat", "give it some thickness", 2)


def test_a_process_that_dies_still_ends_in_one_failed_event(tmp_path):
    events = all_events(start(tmp_path, "it dies"))
    assert isinstance(events[-1], protocol.Failed)
    assert "exit code 9" in events[-1].message
    assert "a log line on stderr" in events[-1].message


def test_stray_output_is_a_broken_protocol_and_ends_the_process(tmp_path):
    job = start(tmp_path, "it babbles")
    last = all_events(job)[-1]
    assert isinstance(last, protocol.Failed)
    assert "broke the protocol" in last.message
    assert gone(job.pid)


def test_cancel_acts_within_a_second(tmp_path):
    job = start(tmp_path, "it opens slowly")
    while not job.drain():
        time.sleep(0.01)
    begun = time.monotonic()
    job.cancel()
    assert all_events(job) == [protocol.Cancelled()]
    assert time.monotonic() - begun < 1.0
    assert gone(job.pid)


def test_a_process_that_ignores_cancel_is_killed_after_the_grace(tmp_path):
    job = start(tmp_path, "it is stubborn", grace_s=0.3)
    while not job.drain():
        time.sleep(0.01)
    job.cancel()
    assert all_events(job) == [protocol.Cancelled()]
    assert gone(job.pid)


def test_a_result_that_comes_after_cancel_is_discarded(tmp_path):
    job = start(tmp_path, "it is late")
    job.cancel()
    assert all_events(job) == [protocol.Cancelled()]


def test_a_program_that_is_not_there_is_explained(tmp_path):
    with pytest.raises(SetupError, match="cannot be started"):
        Job([str(tmp_path / "no-python")], tmp_path / "log.txt")


def test_the_backend_does_not_inherit_the_python_of_blender(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    assert isinstance(all_events(start(tmp_path, "the door opens"))[-1], protocol.Finished)
