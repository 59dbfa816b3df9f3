#!/usr/bin/env python3
"""Seconds and peak memory of each step of a job on this machine, beside the arithmetic floor.

usage: scripts/benchmark.py [--object FILE --part NAME --prompt TEXT] [--preset NAME] [--repeats N]

Each step runs as a process of its own, as `atop render`, `generate`, `fit` and `report` do, so its
seconds hold its imports too; the last line is one process for all of them. The floor is the number
of operations in the network's matrix products over the rate at which this machine multiplies.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
ATOP = [sys.executable, "-m", "atop_backend"]


class Run(NamedTuple):
    """What one process cost."""

    seconds: float
    cpu_s: float
    peak_mb: float


def main() -> None:
    """Measure and print."""
    options = _options()
    print(f"{os.cpu_count()} cores, {_processor()}, preset {options.preset}\n")
    starts = [_run(["--help"]).seconds for _ in range(5)]
    print(f"atop --help: {min(starts):.3f} s (best of 5)\n")
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job"
        request = [str(options.object), "--part", options.part, "--prompt", options.prompt,
                   "--preset", options.preset, "--out", str(job)]  # fmt: skip
        commands = {"render": ["render", *request]}
        commands |= {stage: [stage, str(job)] for stage in ("generate", "fit", "report")}
        commands["articulate, all steps"] = ["articulate", *request]
        print(
            "| step | seconds | of which imports | CPU seconds | peak MB |\n|---|---|---|---|---|"
        )
        for name, command in commands.items():
            runs = [_run(command) for _ in range(options.repeats)]
            best = min(runs, key=lambda run: run.seconds)
            inside = json.loads((job / "timings.json").read_text())
            known = inside.get(name, sum(inside.values()))
            peak = max(run.peak_mb for run in runs)
            print(f"| {name} | {best.seconds:.1f} | {best.seconds - known:.1f} |"
                  f" {best.cpu_s:.1f} | {peak:.0f} |", flush=True)  # fmt: skip
        config = json.loads((job / "config.json").read_text())["config"]
    _print_floor(config["generate"])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--object", type=Path, default=ROOT / "examples" / "dishwasher" / "dishwasher.glb")
    add("--part", default="door")
    add("--prompt", default="the dishwasher door folds down")
    add("--preset", default="default")
    add("--repeats", type=int, default=1, metavar="N", help="the best of N runs is shown")
    return parser.parse_args()


def _run(arguments: list[str]) -> Run:
    """Run atop and measure it with the processes that it starts."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    begun = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*ATOP, *arguments], stdout=subprocess.DEVNULL, stderr=errors, env=environment
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"atop {' '.join(arguments)} failed:\n{errors.read().decode()[-2000:]}")
    seconds = time.monotonic() - begun
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown processor"
    return next((line.partition(":")[2].strip() for line in lines if "model name" in line), "")


def _print_floor(settings: dict) -> None:
    """The network's operations over the measured rate of matrix products."""
    import torch

    from atop_backend.diffusion.transformer import TINY, TransformerConfig, forward_flops

    sizes = TINY if settings["random_weights"] else TransformerConfig()

    passes = settings["samples"] * settings["steps"]
    passes *= 1 if settings["guidance_scale"] == 1 else 2
    needed = passes * forward_flops(sizes, frames=len(settings["frames"]))
    print(f"\nmatrix products: {needed / 1e12:.2f} TFLOP for the samples")
    devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    for device in devices:
        for dtype in (torch.float32, torch.bfloat16):
            rate = _matrix_rate(device, dtype)
            floor = needed / rate
            print(f"floor on {device} in {str(dtype).removeprefix('torch.')}: {floor:.2f} s"
                  f" at {rate / 1e12:.2f} TFLOP/s")  # fmt: skip


def _matrix_rate(device: str, dtype) -> float:
    """Operations a second of a large matrix product; the best of some."""
    import torch

    size = 1536 if device == "cpu" else 8192
    first, second = torch.randn(2, size, size, device=device, dtype=dtype)
    best = float("inf")
    for _ in range(8):
        begun = time.monotonic()
        torch.matmul(first, second)
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.monotonic() - begun)
    return 2 * size**3 / best


if __name__ == "__main__":
    main()
