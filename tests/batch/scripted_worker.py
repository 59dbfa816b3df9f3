"""A worker whose stage is a script: the part's name says what happens. Run as a program."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from atop_backend.batch.worker import serve
from atop_backend.contracts import Answer, JobRequest, JobResult, JointMotion
from atop_backend.errors import InputError, SetupError
from atop_backend.jobfolder import replacing, write_json


def articulate(request: JobRequest, emit) -> JobResult:
    """Do what the part's name says, and write a job folder if it says nothing else."""
    word, _, detail = request.parts[0].partition(":")
    diary = request.asset.parent / "begun.txt"
    with diary.open("a") as stream:
        stream.write(f"{request.asset.stem}\n")
    match word:
        case "bad":
            print("the log says why")
            raise InputError("the asset is bad", hint="mend it")
        case "bug":
            raise KeyError("a bug")
        case "setup":
            raise SetupError("something is missing", hint="install it")
        case "memory" if not request.overrides:
            raise MemoryError
        case "full":
            raise OSError(errno.ENOSPC, "no space")
        case "greedy" if "generate.samples=1" not in request.overrides:
            os.kill(os.getpid(), signal.SIGKILL)  # as Linux does for want of memory
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            subprocess.Popen(["sleep", "1000"], start_new_session=True)  # as Blender children are
            time.sleep(1000)
        case "slow":
            time.sleep(float(detail))
    result = JobResult(
        Answer(JointMotion("revolute", (0, 0, 1), (0, 0, 0), 0, 1), 0.9, "a hinge"),
        seconds={"fit": 0.1},
        model=str(os.getpid()),
    )
    with replacing(request.out) as folder:
        write_json(folder / "request.json", request.to_dict())
        write_json(folder / "result.json", result.to_dict())
        (folder / "overrides.json").write_text(json.dumps(request.overrides))
        if word == "slow":
            time.sleep(float(detail) / 10)
    with diary.with_name("done.txt").open("a") as stream:
        stream.write(f"{request.asset.stem}\n")
    return result


if __name__ == "__main__":
    sys.exit(serve(articulate))


COMMAND = (sys.executable, str(Path(__file__)))
