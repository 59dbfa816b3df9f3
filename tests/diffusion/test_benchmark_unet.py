"""The benchmark of the full-size network, on its small twin."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "benchmark_unet.py"


@pytest.mark.slow
def test_rows_say_what_was_executed(tmp_path):
    out = tmp_path / "rows.json"
    command = [sys.executable, SCRIPT, "--tiny", "--device", "cpu", "--json", out]
    done = subprocess.run(
        [*command, "--only", "guided step", "finetuning"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text())["rows"]
    assert not [row["trouble"] for row in rows if row["trouble"]]
    apart, joined, checkpointed, kept = (row["tflop"] for row in rows)
    assert joined == pytest.approx(apart, rel=0.15)  # the same work in one pass
    assert checkpointed > 1.2 * kept  # the forward pass is computed again
    assert all(row["seconds"] > 0 for row in rows)
