"""Plays the backend: prints events as scripted by the request's prompt and writes a result.

Run as the real one, `... articulate --request FILE --events jsonl`. A word in the prompt chooses
what happens; otherwise it succeeds with the joint in ATOP_FAKE_JOINT (JSON), by default a hinge.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

HINGE = {"type": "revolute", "axis": [0, 0, 1], "origin": [0, 0, 0], "range": [0.0, 1.5]}
SLIDER = {"type": "prismatic", "axis": [0, -1, 0], "origin": [0, 0, 0], "range": [0.0, 0.4]}


def say(kind, **fields):
    """One event on the wire."""
    print(json.dumps({"v": 1, "type": kind, **fields}), flush=True)


def answer(joint, confidence):
    """One answer as in result.json."""
    return {"joint": joint, "confidence": confidence, "sentence": f"{joint['type']} as scripted"}


def when_stdin_closes(act):
    """Call `act` in a thread once the parent has closed our stdin."""

    def wait():
        sys.stdin.read()
        act()

    threading.Thread(target=wait, daemon=True).start()


def cancelled():
    say("cancelled")
    os._exit(130)


def doctor():
    """Findings on stderr, as the real one has them for a program; ATOP_FAKE_BAD spoils one."""
    bad = os.environ.get("ATOP_FAKE_BAD")
    print("ok   Python   3.11", file=sys.stderr)
    print(f"{'BAD' if bad else 'ok  '} weights  {bad or 'mini'}", file=sys.stderr, flush=True)
    if bad:
        say("failed", message=f"weights: {bad}", hint="install them", code=3)
        sys.exit(3)
    say("finished", result="", sentence="everything that a job needs is there")


def main():
    if "doctor" in sys.argv:
        doctor()
        return
    request = json.loads(Path(sys.argv[sys.argv.index("--request") + 1]).read_text())
    prompt = request["prompt"]
    print("a log line on stderr", file=sys.stderr, flush=True)
    if "dies" in prompt:
        say("progress", stage="render", step=1, total=4, fraction=0.1)
        os._exit(9)
    if "babbles" in prompt:
        print("Warning: not an event", flush=True)
        time.sleep(30)
    if "stubborn" in prompt:
        say("progress", stage="render", step=1, total=4, fraction=0.1)
        time.sleep(60)
    if "fails" in prompt:
        say("failed", message="the part is flat", hint="give it some thickness", code=2)
        sys.exit(2)
    if "late" in prompt:
        when_stdin_closes(lambda: finish(request))
        time.sleep(30)
    when_stdin_closes(cancelled)
    steps = 600 if "slowly" in prompt else 20 if "calmly" in prompt else 0
    for step in range(steps):
        say("progress", stage="generate", step=step + 1, total=steps, fraction=(step + 1) / steps)
        time.sleep(0.05)
    finish(request)


def finish(request):
    for step, stage in enumerate(("render", "generate", "fit", "report")):
        say("progress", stage=stage, step=1, total=1, fraction=(step + 1) / 4)
    out = Path(request["out"])
    out.mkdir(parents=True, exist_ok=True)
    (out / "request.json").write_text(json.dumps(request))
    (out / "generate").mkdir(exist_ok=True)
    joint = json.loads(os.environ.get("ATOP_FAKE_JOINT", json.dumps(HINGE)))
    if request.get("initial"):  # a fit from there moves it a little along X
        joint = {**request["initial"], "range": [0.0, 1.2]}
        joint["origin"][0] += 0.01
    flipped = {**joint, "axis": [-x for x in joint["axis"]]}
    result = {
        **answer(joint, 0.93),
        "alternatives": [answer(flipped, 0.05), answer(SLIDER, 0.02)],
        "files": {
            **{f"video {view}": f"view_{view}.mp4" for view in range(4)},
            "fitted": "fitted.mp4",
            "comparison": "comparison.mp4",
        },
        "seconds": {"render": 1.0},
        "model": "scripted",
        "version": "0",
    }
    (out / "result.json").write_text(json.dumps(result))
    for file in result["files"].values():
        (out / file).write_bytes(b"a scripted movie")
    say("artifact", name="result", path=str(out / "result.json"))
    say("finished", result=str(out / "result.json"), sentence="a scripted joint")
    os._exit(0)


if __name__ == "__main__":
    main()
