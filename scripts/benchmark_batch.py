#!/usr/bin/env python3
"""Measure how many assets a minute a batch does, and what 100,000 of them would take.

usage: scripts/benchmark_batch.py OUT [--assets 6] [--runs local:1 local:2 ray:2] [--preset NAME]

The same generated assets go through `atop batch` with each engine and number of workers. The
first job of each worker loads the model and is left out of the rate, as it would be over night.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from atop_backend.batch.manifest import Manifest  # noqa: E402
from atop_backend.contracts import JobRequest  # noqa: E402

MANY = 100_000


def main() -> int:
    """Run all; print one table and the cost model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--assets", type=int, default=6)
    parser.add_argument("--runs", nargs="+", default=["local:1", "local:2", "ray:2"])
    parser.add_argument("--preset", default="default")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    out = options.out.resolve()
    jobs = write_job_file(out, options.assets)
    print("engine  workers  assets/minute  job s  render s  generate s  fit s  report s")
    for run in options.runs:
        engine, _, workers = run.partition(":")
        folder = out / f"{engine}_{workers}"
        command = [
            sys.executable, "-m", "atop_backend", "batch", str(jobs), "--out", str(folder),
            "--engine", engine, "--workers", workers, "--preset", options.preset,
            "--device", options.device,
        ]  # fmt: skip
        if engine == "ray":
            command += ["--root", str(out)]
        subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
        print(figures(folder, engine, int(workers)), flush=True)
    return 0


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


def figures(folder: Path, engine: str, workers: int) -> str:
    """One line of the table, and what it means for many assets."""
    manifest = Manifest(folder)
    rows = [row for row in manifest.rows("done")]
    manifest.close()
    ends = sorted(row.updated for row in rows)
    warm = ends[workers:]  # after each worker's first
    rate = 60 * len(warm) / (warm[-1] - ends[workers - 1]) if warm else 0.0
    stages = {"render": [], "generate": [], "fit": [], "report": []}
    for row in rows:
        seconds = json.loads((row.request.out / "result.json").read_text())["seconds"]
        for name, values in stages.items():
            values.append(seconds.get(name, 0.0))
    middle = [statistics.median(values) for values in stages.values()]
    job = statistics.median(row.seconds for row in rows)
    hours = MANY / rate / 60 if rate else float("inf")
    columns = "  ".join(f"{value:.1f}" for value in (job, *middle))
    return f"{engine}  {workers}  {rate:.2f}  {columns}  ({MANY:,} assets: {hours:,.0f} h)"


if __name__ == "__main__":
    sys.exit(main())
