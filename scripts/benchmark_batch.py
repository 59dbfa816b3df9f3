#!/usr/bin/env python3
"""Measure how many assets a minute a batch does, and what 100,000 of them would take.

usage: scripts/benchmark_batch.py OUT [--time 140] [--rounds 1] [--runs local:1 local:2 ray:2]
       scripts/benchmark_batch.py OUT --jobs JOB... --device cuda [--rounds 5]

The same generated assets go through `atop batch` with each engine and number of workers, in turn,
round after round, so that ratios hold also on a machine that others use. Each run is stopped after
the same time, while all its workers are still busy; a rate counts from the moment in which each of
them has loaded its model and done a job. Medians of the rounds are shown, and kept in
`OUT/rates.json` after every run.

With `--jobs`, only the model's steps are timed, on finished job folders and without Blender: for
a machine with a GPU. `OUT/seconds.json` keeps each step's seconds; `--seconds FILE...` takes
them from several such files, the later ones winning, and only prints the cost model.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from atop_backend.batch.manifest import JobRow, Manifest  # noqa: E402
from atop_backend.contracts import JobRequest  # noqa: E402

MANY = 100_000
STAGES = ("render", "generate", "fit", "report")
MODEL_STAGES = ("generate", "fit")
LOOK_S = 5.0  # between looks at the manifest
GRACE_S = 60.0  # for a batch that was interrupted to end its workers


class TooFewError(Exception):
    """A run in which not enough assets were done to tell a rate."""


class Measured(NamedTuple):
    """What one run of the batch showed."""

    rate: float  # assets a minute, all workers busy and warm
    counted: int  # assets that the rate is of
    seconds: dict[str, list[float]]  # of each step, without each worker's first job
    memory_mb: float  # largest of a worker


def main() -> int:
    """Measure what was asked for and print it."""
    options = parse()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if options.seconds:
        parts = [json.loads(path.read_text()) for path in options.seconds]
        print_cost({name: value for part in parts for name, value in part.items()})
        return 0
    seconds = time_model(options, out) if options.jobs else compare_runs(options, out)
    (out / "seconds.json").write_text(json.dumps(seconds, indent=1) + "\n")
    if not options.jobs:
        hours = MANY * sum(seconds.values()) / 3600
        print(f"\n{MANY:,} assets on {options.device}: {hours:,.0f} core hours")
    return 0


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--time", type=float, default=140.0, metavar="S", help="of each run")
    parser.add_argument("--assets", type=int, default=60, help="more than are done in that time")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--runs", nargs="+", default=["local:1", "local:2", "ray:2"])
    parser.add_argument("--preset", default="default")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--jobs", nargs="+", type=Path, metavar="JOB")
    parser.add_argument("--seconds", nargs="+", type=Path, metavar="FILE")
    return parser.parse_args()


def compare_runs(options: argparse.Namespace, out: Path) -> dict[str, float]:
    """Run all kinds in turn, print one table; seconds of each step on one core."""
    jobs = write_job_file(out, options.assets)
    found: dict[str, list[Measured]] = defaultdict(list)
    for number in range(options.rounds):
        for run in options.runs:
            load = os.getloadavg()[0]
            try:
                figures = run_batch(run, jobs, out, options)
            except TooFewError as error:
                print(f"round {number + 1}  {run}  {error}", flush=True)
                continue
            found[run].append(figures)
            print(f"round {number + 1}  {run}  {figures.rate:.2f} assets a minute,"
                  f" load before {load:.1f}", flush=True)  # fmt: skip
            kept = {name: [each._asdict() for each in several] for name, several in found.items()}
            (out / "rates.json").write_text(json.dumps(kept, indent=1) + "\n")
    if not found:
        raise SystemExit("no run did enough assets: more --time")
    print(f"\n| engine:workers | assets a minute | of | {' | '.join(STAGES)} | MB |")
    print("|---" * (len(STAGES) + 4) + "|")
    medians = {}
    for run, several in found.items():
        rates = sorted(each.rate for each in several)
        medians[run] = {
            stage: statistics.median([s for each in several for s in each.seconds[stage]])
            for stage in STAGES
        }
        spread = f" ({rates[0]:.2f} to {rates[-1]:.2f})" if len(rates) > 1 else ""
        counted = sum(each.counted for each in several)
        steps = " | ".join(f"{medians[run][stage]:.1f}" for stage in STAGES)
        memory = max(each.memory_mb for each in several)
        print(f"| {run} | {statistics.median(rates):.2f}{spread} | {counted} | {steps}"
              f" | {memory:.0f} |")  # fmt: skip
    # as many workers as cores: each has one, so that seconds are core seconds
    alone = f"local:{os.cpu_count()}"
    return medians.get(alone) or next(iter(medians.values()))


def run_batch(run: str, jobs: Path, out: Path, options: argparse.Namespace) -> Measured:
    """One batch from nothing, interrupted when its time is over."""
    engine, _, workers = run.partition(":")
    folder = out / f"{engine}_{workers}"
    shutil.rmtree(folder, ignore_errors=True)
    command = [
        sys.executable, "-m", "atop_backend", "batch", str(jobs), "--out", str(folder),
        "--engine", engine, "--workers", workers, "--preset", options.preset,
        "--device", options.device, "--time-limit", "3600",
    ]  # fmt: skip
    if engine == "ray":
        command += ["--root", str(out)]
    environment = {name: v for name, v in os.environ.items() if name != "OMP_NUM_THREADS"}
    begun, done = time.monotonic(), 0
    with (out / f"{engine}_{workers}.log").open("wb") as log:
        batch = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=environment)
        while (left := options.time - (time.monotonic() - begun)) > 0 and batch.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                batch.wait(timeout=min(LOOK_S, left))
            if (known := len(finished(folder))) > done:
                done = known
                print(f"{run}  {done} done after {time.monotonic() - begun:.0f} s", flush=True)
        ended = batch.poll() is not None
        batch.send_signal(signal.SIGINT)
        try:
            batch.wait(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            batch.kill()
    if ended and batch.returncode:
        raise SystemExit(f"{run} failed: see {log.name}")
    if ended:
        raise TooFewError(
            f"all assets were done in {time.monotonic() - begun:.0f} s: more --assets"
        )
    return measured(folder, int(workers))


def finished(folder: Path) -> list[JobRow]:
    """The jobs of a batch that are done, in the order in which they were."""
    if not (folder / "manifest.sqlite").is_file():
        return []
    manifest = Manifest(folder)
    rows = sorted(manifest.rows("done"), key=lambda row: row.updated)
    manifest.close()
    return rows


def measured(folder: Path, workers: int) -> Measured:
    """The figures of a batch that was interrupted while all workers were busy."""
    rows = finished(folder)
    if len(rows) <= workers + 1:
        raise TooFewError(f"only {len(rows)} assets are done, too few: more --time")
    first, counted = rows[workers - 1], rows[workers:]  # by then every worker is warm
    rate = 60 * len(counted) / (counted[-1].updated - first.updated)
    seconds: dict[str, list[float]] = {stage: [] for stage in STAGES}
    for row in counted:
        known = json.loads((row.request.out / "result.json").read_text())["seconds"]
        for stage in STAGES:
            seconds[stage].append(known[stage])
    return Measured(rate, len(counted), seconds, max(row.memory_mb for row in rows))


def write_job_file(out: Path, count: int) -> Path:
    """Generated assets and the job file of them."""
    from generated_assets import write_jobs

    template = JobRequest(Path("a"), ("part",), "p", Path("o"))
    jobs = write_jobs(out / "assets", count, template)
    tables = [
        f'[[job]]\nasset = "assets/{job.request.asset.name}"\npart = "part"\n'
        f"prompt = {json.dumps(job.request.prompt)}\n"
        for job in jobs
    ]
    path = out / "jobs.toml"
    path.write_text("\n".join(tables), encoding="utf-8")
    return path


def time_model(options: argparse.Namespace, out: Path) -> dict[str, float]:
    """Repeat the model's steps on finished jobs; median seconds of each, the first round apart."""
    from atop_backend import stages

    taken: dict[str, list[float]] = {stage: [] for stage in MODEL_STAGES}
    for number in range(options.rounds + 1):
        for job in options.jobs:
            copy = out / job.name
            if number == 0:
                shutil.copytree(job, copy, dirs_exist_ok=True)
            for stage in MODEL_STAGES:
                begun = time.monotonic()
                stages.repeat(copy, stage, lambda event: None, device=options.device)
                if number:  # the first round loads the model
                    taken[stage].append(time.monotonic() - begun)
    print(f"{len(options.jobs)} jobs, {options.rounds} rounds on {options.device}:")
    for stage, values in taken.items():
        middle = statistics.median(values)
        print(f"{stage} {middle:.3f} s ({min(values):.3f} to {max(values):.3f})")
    return {stage: statistics.median(values) for stage, values in taken.items()}


def print_cost(seconds: Mapping[str, float], gpus: Sequence[int] = (1, 2, 4, 8, 16)) -> None:
    """What many assets take where a GPU generates: its hours, and the cores that all else needs."""
    model = seconds["generate"]
    others = sum(seconds[stage] for stage in STAGES if stage != "generate")
    steps = ", ".join(f"{stage} {seconds[stage]:.2f} s" for stage in STAGES)
    print(f"\n{MANY:,} assets ({steps}):")
    print(f"{MANY * model / 3600:,.0f} GPU hours and {MANY * others / 3600:,.0f} core hours")
    print("\n| GPUs | hours | cores that keep them busy |\n|---|---|---|")
    for number in gpus:
        hours = MANY * model / 3600 / number
        print(f"| {number} | {hours:,.1f} | {number * others / model:,.0f} |")


if __name__ == "__main__":
    sys.exit(main())
