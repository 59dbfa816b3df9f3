"""Blender is believed only for the files it leaves, and never outlives its use."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from atop_backend.errors import CancelledError, InputError, SetupError
from atop_backend.rendering import child
from atop_backend.rendering.process import PYTHON_VARIABLE, run_in_blender

SAYS = """
import json, os, sys, time
from pathlib import Path
out = Path(sys.argv[-1]).parent
def say(**outcome): (out / "outcome.json").write_text(json.dumps(outcome))
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Runs a script as the child, in this very Python and without Blender."""
    monkeypatch.setenv(PYTHON_VARIABLE, sys.executable)

    def run(body: str, **settings):
        script, out = tmp_path / "script.py", tmp_path / "out"
        out.mkdir(exist_ok=True)
        script.write_text(SAYS + body)
        return run_in_blender(script, {"command": "go"}, out, **{"time_limit_s": 20, **settings})

    return run


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")  # a dead child that nobody has fetched still has a number
    return not stat.exists() or stat.read_text().split()[2] != "Z"


def test_the_outcome_comes_back_whatever_the_exit_code(start):
    assert start("say(triangles=7); os._exit(11)") == {"triangles": 7}


def test_a_process_that_hangs_after_its_outcome_is_ended(start, tmp_path):
    body = "(out / 'pid').write_text(str(os.getpid())); say(done=1); time.sleep(600)"
    begun = time.monotonic()
    assert start(body) == {"done": 1}
    assert time.monotonic() - begun < 15
    assert not is_running(int((tmp_path / "out" / "pid").read_text()))


def test_an_outcome_of_an_earlier_run_is_not_taken_for_this_one(start):
    start("say(done=1)")
    with pytest.raises(SetupError, match="ended with code 0 and left no result"):
        start("pass")


def test_a_reported_error_is_raised_as_what_it_is(start):
    body = "say(error='{}', message='no such part', hint='look again')"
    with pytest.raises(InputError, match="no such part: look again"):
        start(body.format("InputError"))
    with pytest.raises(SetupError, match="no such part: look again"):
        start(body.format("SetupError"))
    with pytest.raises(RuntimeError, match="no such part"):
        start(body.format("bug"))


def test_a_crash_names_the_signal_and_what_was_said_last(start):
    with pytest.raises(SetupError, match=r"killed by signal 11 .* out of cheese"):
        start("print('out of cheese', file=sys.stderr, flush=True); os.kill(os.getpid(), 11)")


def test_cancelling_ends_grandchildren_too(start, tmp_path):
    body = """
import subprocess
deep = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
(out / "pid").write_text(str(deep.pid)); (out / "ready").touch(); time.sleep(600)
"""
    with pytest.raises(CancelledError):
        start(body, cancelled=(tmp_path / "out" / "ready").exists)
    time.sleep(0.2)
    assert not is_running(int((tmp_path / "out" / "pid").read_text()))


def test_an_interrupt_ends_the_child_too(start, tmp_path):
    def interrupt():
        if (tmp_path / "out" / "pid").exists():
            raise KeyboardInterrupt

    body = "(out / 'part').write_text(str(os.getpid())); (out / 'part').rename(out / 'pid');"
    with pytest.raises(KeyboardInterrupt):
        start(body + "time.sleep(600)", watch=interrupt)
    assert not is_running(int((tmp_path / "out" / "pid").read_text()))


def test_a_program_that_is_not_there_or_cannot_run_is_a_setup_error(start, tmp_path, monkeypatch):
    with pytest.raises(SetupError, match="Blender was not found at /no/blender"):
        start("say()", blender="/no/blender")
    broken = tmp_path / "blender"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    with pytest.raises(SetupError, match="cannot be started"):
        start("say()", blender=str(broken))
    monkeypatch.setenv(PYTHON_VARIABLE, "/no/python")
    with pytest.raises(SetupError, match="there is no Python at /no/python"):
        start("say()")


def test_a_python_without_blender_or_with_an_old_one_is_a_setup_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "bpy", None)
    with pytest.raises(SetupError, match="has no Blender module"):
        child.check_blender()
    app = SimpleNamespace(version=(3, 6, 5), version_string="3.6.5")
    monkeypatch.setitem(sys.modules, "bpy", SimpleNamespace(app=app))
    with pytest.raises(SetupError, match=r"Blender 3.6.5 is too old: use Blender 4.2 or newer"):
        child.check_blender()
