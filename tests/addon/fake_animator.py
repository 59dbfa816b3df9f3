"""Plays the backend of `atop animate`: a scripted motion for the rig of the request.

A word in the prompt chooses what happens; otherwise it succeeds. ATOP_FAKE_BONES names the bones
that move, separated by commas.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path

from fake_backend import cancelled, say, when_stdin_closes


def main():
    assert sys.argv[sys.argv.index("--events") + 1] == "jsonl"
    assert "animate" in sys.argv
    request = json.loads(Path(sys.argv[sys.argv.index("--request") + 1]).read_text())
    if "fails" in request["prompt"]:
        say("failed", message="the armature is scaled unevenly", hint="apply its scale", code=2)
        sys.exit(2)
    when_stdin_closes(cancelled)
    steps = 600 if "slowly" in request["prompt"] else 2
    for step in range(steps):
        say("progress", stage="distil", step=step + 1, total=steps, fraction=(step + 1) / steps)
        time.sleep(0.05)
    out, count = Path(request["out"]), request["frames"]
    out.mkdir(parents=True)
    bones = os.environ["ATOP_FAKE_BONES"].split(",")
    angles = [math.sin(2 * math.pi * frame / (count - 1)) / 2 for frame in range(count)]
    turns = [[[math.cos(a / 2), math.sin(a / 2), 0, 0]] * len(bones) for a in angles]
    places = [[0.1 * frame, 0.0, 0.0] for frame in range(count)]
    motion = {
        "version": 1,
        "fps": request["fps"],
        "frame_count": count,
        "cyclic": request["cyclic"],
        "bones": bones,
        "rotations": turns,
        "root_bone": bones[0],
        "root": {"rotations": [[1, 0, 0, 0]] * count, "translations": places},
    }
    (out / "motion.json").write_text(json.dumps(motion))
    (out / "preview.mp4").write_bytes(b"no real video")
    result = {
        "kind": "animation",
        "sentence": "it sways as scripted",
        "notes": ["two bones deform nothing"],
        "files": {"motion": "motion.json", "preview": "preview.mp4"},
    }
    (out / "result.json").write_text(json.dumps(result))
    say("finished", result=str(out / "result.json"), sentence=result["sentence"])
    os._exit(0)


if __name__ == "__main__":
    main()
