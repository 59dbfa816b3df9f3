"""From clips to an articulated object with finetuned weights, on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs_blender, needs_torch
from toys import write_chest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "diffusion"))
pytestmark = [needs_blender, needs_torch, pytest.mark.slow]


def atop(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "atop_backend", *map(str, arguments)],
        capture_output=True, text=True, timeout=400, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_imagedream_is_finetuned_on_filmed_clips_and_articulates_an_object(tmp_path):
    pytest.importorskip("diffusers")
    from imagedream_twin import write_folder

    weights = write_folder(tmp_path / "imagedream")
    atop("clips", "--generated", "peg", "--count", 1, "--frames", 2, "--samples", 1,
         "--out", tmp_path / "clips")  # fmt: skip
    said = atop("finetune", "--clips", tmp_path / "clips", "--base", "imagedream", "--weights",
                weights, "--steps", 1, "--out", tmp_path / "pegs", "--device", "cpu")  # fmt: skip
    assert "give --finetuned" in said
    few = ("generate.steps=2", "generate.frames=[0.5, 1]", "generate.videos=false",
           "fit.points=64", "fit.optimise_steps=2", "report.scene=false")  # fmt: skip
    atop("articulate", write_chest(tmp_path / "chest.obj"), "--part", "lid", "--prompt", "it opens",
         "--preset", "imagedream", "--weights", weights, "--finetuned",
         tmp_path / "pegs" / "finetuned.safetensors", "--out", tmp_path / "job", "--device", "cpu",
         *(word for setting in few for word in ("--set", setting)))  # fmt: skip
    result = json.loads((tmp_path / "job" / "result.json").read_text())
    assert result["joint"]["type"] in ("revolute", "prismatic")
    log = (tmp_path / "job" / "log.txt").read_text()
    assert "finetuned in pegs" in log
