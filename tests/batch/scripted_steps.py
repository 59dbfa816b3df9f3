"""The three steps of a job as scripts, for workers of a cluster."""

from __future__ import annotations

import os
import signal
import time

from atop_backend.batch.steps import Steps
from atop_backend.contracts import Answer, JobRequest, JobResult, JointMotion
from atop_backend.errors import InputError
from atop_backend.jobfolder import replacing, write_json


def render(request: JobRequest) -> None:
    """A staging folder, or an error that the part's name asks for."""
    if request.parts[0] == "bad":
        print("the log says why")
        raise InputError("the asset is bad", hint="mend it")
    with replacing(request.out) as folder:
        write_json(folder / "request.json", request.to_dict())


def infer(request: JobRequest) -> None:
    """Leave a note of the process; die once if the part's name asks for it, hang if so."""
    assert (request.out / "request.json").is_file()
    seen = request.asset.parent / "pids"
    seen.mkdir(exist_ok=True)
    (seen / str(os.getpid())).touch()
    flag = request.asset.parent / f"{request.asset.stem}.died"
    if request.parts[0] == "die_once" and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if request.parts[0] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(1000 if request.parts[0] == "hang" else 0.2)
    (request.out / "inferred").touch()
    (request.out.parents[2] / "seen.txt").write_text(str(request.out))


def report(request: JobRequest) -> None:
    """A result, if the step before was here."""
    assert (request.out / "inferred").is_file()
    joint = JointMotion("revolute", (0, 0, 1), (0, 0, 0), 0, 1)
    write_json(request.out / "result.json", JobResult(Answer(joint, 0.9, "a hinge")).to_dict())


STEPS = Steps(render, infer, report)
