#!/usr/bin/env python3
"""Run a long batch of good and bad assets while its processes are killed and its disk fills up.

usage: scripts/soak.py OUT [--assets 500] [--kills 10] [--workers 2] [--stage light|real] [--seed 0]
                       [--time-limit S]

At the end every asset must have exactly one outcome, and the right one; nothing may have been done
twice; the memory of a worker must not grow; no process may be left. `light` replaces Blender and
the model by a quick stage that writes the same kind of job folder, so that 500 assets take
minutes; `real` runs the product with its tiny preset. The disk is a small tmpfs that is enlarged
after it was found full; without the right to mount, that part is left out and said so.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from atop_backend.batch.lock import only_driver  # noqa: E402
from atop_backend.batch.manifest import JobRow, Manifest  # noqa: E402
from atop_backend.batch.outcomes import PoolConfig  # noqa: E402
from atop_backend.batch.report import write_report  # noqa: E402
from atop_backend.contracts import JobRequest  # noqa: E402
from atop_backend.errors import AtopError, InputError  # noqa: E402

TOKEN = "ATOP_SOAK_TOKEN"  # in the environment of all that belongs to one soak
KINDS = {"corrupt": 0.03, "empty": 0.03, "huge": 0.02, "hang": 0.02}  # shares; the rest is good
EXPECTED = {
    "good": ("done", ""),
    "huge": ("done", ""),
    "corrupt": ("failed", "InputError"),
    "empty": ("failed", "InputError"),
    "hang": ("failed", "TimeLimit"),
}
HIDDEN = "seen in none of the four views"  # of a generated part: a right answer too
HANG = "# hang\n"
HUGE_TRIANGLES = {"light": 400_000, "real": 100_000}
TIME_LIMIT_S = {"light": 15.0, "real": 240.0}
JOB_S = {"light": 1.0, "real": 20.0}  # about what an asset takes on a busy machine
LOOK_S = 0.5  # between looks at the manifest
SMALL_DISK, LARGE_DISK = "size=80m", "size=16g"  # a job refuses to begin below 64 MB


def main() -> int:
    """Drive, work or run the whole soak; 0 if all held."""
    command, *rest = sys.argv[1:] or ["--help"]
    match command:
        case "drive":
            return drive(Path(rest[0]), int(rest[1]), rest[2], float(rest[3]))
        case "work":
            return work(rest[0])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--assets", type=int, default=500)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--stage", choices=("light", "real"), default="light")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, metavar="S",
        help="of an asset; more on a busy machine, so that only hanging ones reach it")  # fmt: skip
    options = parser.parse_args()
    options.time_limit = options.time_limit or TIME_LIMIT_S[options.stage]
    return soak(options)


def work(stage: str) -> int:
    """A worker; hangs, with a child, where the asset says so."""
    from atop_backend.batch.worker import serve

    def articulate(request: JobRequest, emit) -> None:
        with request.asset.open(errors="replace") as stream:
            if stream.readline() == HANG:
                subprocess.Popen(["sleep", "3600"], start_new_session=True)
                time.sleep(3600)
        if stage == "real":
            from atop_backend import stages

            stages.articulate(request, emit)
        else:
            light(request)
        with request.asset.parent.joinpath("done.txt").open("a") as diary:
            diary.write(f"{request.asset.stem}\n")

    return serve(articulate)


def light(request: JobRequest) -> None:
    """A job folder of the usual size with a made-up answer, from an asset that is really read."""
    import numpy as np
    import trimesh

    from atop_backend.contracts import Answer, JobResult, JointMotion
    from atop_backend.jobfolder import replacing, write_json

    try:
        mesh = trimesh.load(request.asset, force="mesh")
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        raise InputError(f"it cannot be read ({error})", hint="export it anew") from error
    if not len(getattr(mesh, "faces", ())):
        raise InputError("the object has no faces", hint="give a mesh with faces")
    points = mesh.sample(20_000)
    axis = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][0]
    joint = JointMotion("revolute", tuple(axis.tolist()), (0, 0, 0), 0.0, 1.0)
    with replacing(request.out) as folder:
        write_json(folder / "request.json", request.to_dict())
        np.save(folder / "points.npy", points)
        write_json(folder / "result.json", JobResult(Answer(joint, 0.5, "made up")).to_dict())


def drive(out: Path, workers: int, stage: str, time_limit_s: float) -> int:
    """One driver of the batch, as `atop batch --resume` is; its exit code."""
    from atop_backend.batch.pool import Pool

    config = PoolConfig(workers=workers, time_limit_s=time_limit_s, renew_after=60)
    command = (sys.executable, str(Path(__file__).resolve()), "work", stage)
    try:
        with only_driver(out):
            manifest = Manifest(out)
            manifest.recover()
            Pool(manifest, config, lambda event: None, command).run()
    except AtopError as error:
        print(f"driver: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def soak(options: argparse.Namespace) -> int:
    """The whole run; prints what happened and whether all held."""
    rng = random.Random(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    if any(options.out.iterdir()):
        raise SystemExit(f"{options.out} is not empty")
    os.environ[TOKEN] = uuid.uuid4().hex
    out = options.out.resolve() / "batch"
    out.mkdir()
    small = mount(out, SMALL_DISK)
    begun = time.time()
    try:
        kinds = prepare(options, out, rng)
        events = torment(options, out, rng, small)
        return judge(options, out, kinds, events, begun)
    finally:
        if small:
            subprocess.run(["cp", "-r", *map(str, reports(out)), str(out.parent)], check=False)
            subprocess.run(["umount", str(out)], check=False)


def mount(folder: Path, size: str) -> bool:
    """Whether a small disk could be put at the folder."""
    command = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)]
    with contextlib.suppress(FileNotFoundError):
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return False


def reports(out: Path) -> list[Path]:
    """The files worth keeping of a batch."""
    return [out / name for name in ("report.html", "results.csv", "manifest.sqlite")]


def prepare(options: argparse.Namespace, out: Path, rng: random.Random) -> dict[str, str]:
    """Write the assets and the manifest; what is wrong with each asset, by its name."""
    from generated_assets import write_jobs

    template = JobRequest(Path("a"), ("part",), "p", Path("o"), preset="tiny")
    if options.stage == "real":
        template = replace(template, overrides=("generate.videos=false",))
    jobs = write_jobs(out.parent / "assets", options.assets, template)
    kinds = {}
    for job in jobs:
        kind = rng.choices(["good", *KINDS], [1 - sum(KINDS.values()), *KINDS.values()])[0]
        kinds[job.request.asset.stem] = kind
        spoil(job.request.asset, kind, options.stage, rng)
    manifest = Manifest(out)
    manifest.want(jobs)
    manifest.close()
    return kinds


def spoil(path: Path, kind: str, stage: str, rng: random.Random) -> None:
    """Make an asset bad in its way."""
    match kind:
        case "corrupt":
            path.write_bytes(rng.randbytes(2000))
        case "empty":
            path.write_bytes(b"")
        case "hang":
            path.write_text(HANG + path.read_text())
        case "huge":
            lines = [path.read_text(), "o many"]
            # a speck beside the first vertex, so that it hides nothing
            x, y, z = map(float, lines[0].partition("\nv ")[2].split(maxsplit=3)[:3])
            steps = [(i % 997 / 1e5, i % 991 / 1e5, i % 983 / 1e5) for i in range(1000)]
            lines += [f"v {x + dx} {y + dy} {z + dz}" for dx, dy, dz in steps]
            faces = HUGE_TRIANGLES[stage]
            lines += [f"f {-1 - i % 900} {-2 - i % 900} {-50 - i % 900}" for i in range(faces)]
            path.write_text("\n".join(lines) + "\n")


def torment(
    options: argparse.Namespace, out: Path, rng: random.Random, small: bool
) -> Counter[str]:
    """Start drivers until one ends by itself, killing as we go; what was done to them.

    The kills are spread at random over the batch: each is due once so many assets are settled, and
    comes at some moment within the time of a job after that.
    """
    events: Counter[str] = Counter()
    due = sorted(rng.sample(range(options.assets), min(options.kills, options.assets)))
    command = [
        sys.executable, str(Path(__file__).resolve()), "drive", str(out), str(options.workers),
        options.stage, str(options.time_limit),
    ]  # fmt: skip
    while True:
        driver = subprocess.Popen(command)
        events["drivers"] += 1
        while driver.poll() is None:
            if not due:
                driver.wait()
                break
            if settled(out) < due[0]:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    driver.wait(timeout=LOOK_S)
                continue
            with contextlib.suppress(subprocess.TimeoutExpired):
                driver.wait(timeout=rng.uniform(0, JOB_S[options.stage]))
                break
            if rng.random() < 0.5:
                driver.kill()
                events["driver killed"] += 1
            elif kill_worker(out, rng):
                events["worker killed"] += 1
            else:
                continue
            del due[0]
        code = driver.wait()
        if code == 3 and small and not events["disk full"]:
            subprocess.run(["mount", "-o", f"remount,{LARGE_DISK}", str(out)], check=True)
            events["disk full"] += 1
        elif code >= 0:
            events["last exit code"] = code
            return events


def settled(out: Path) -> int:
    """How many assets have their outcome."""
    manifest = Manifest(out)
    counts = manifest.counts()
    manifest.close()
    return counts["done"] + counts["failed"]


def kill_worker(out: Path, rng: random.Random) -> bool:
    """Kill one worker that is there; whether there was one."""
    manifest = Manifest(out)
    pids = [pid for pid, _ in manifest.workers()]
    manifest.close()
    if not pids:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(rng.choice(pids), signal.SIGKILL)
        return True
    return False


def judge(
    options: argparse.Namespace, out: Path, kinds: dict[str, str], events: Counter[str],
    begun: float,
) -> int:  # fmt: skip
    """Print the figures; 0 if all that must hold does."""
    manifest = Manifest(out)
    rows = list(manifest.rows())
    write_report(manifest, begun)
    manifest.close()
    time.sleep(1.0)
    outcomes = Counter((kinds[row.request.asset.stem], row.state, row.error) for row in rows)
    wrong = [
        (row.name, kinds[row.request.asset.stem], row.state, row.error, row.message)
        for row in rows
        if (row.state, row.error) != EXPECTED[kinds[row.request.asset.stem]]
        and HIDDEN not in row.message
    ]
    diary = out.parent / "assets" / "done.txt"
    done = Counter(diary.read_text().split())
    growth = memory_growth(rows)
    left = processes_left()
    checks = {
        "every asset has one outcome": len(rows) == options.assets == len(kinds),
        "every outcome is the right one": not wrong,
        "nothing was done twice": max(done.values()) == 1,
        "memory of workers grows by less than 10 %": all(g <= 1.1 for g in growth)
        if growth
        else "no worker lived long enough",
        "no process is left": not left,
        "nothing half-written is left": not list((out / "jobs").rglob(".*")),
        "the last driver ended well": events["last exit code"] == 0,
    }
    figures = {
        "assets": len(rows),
        "seconds": round(time.time() - begun, 1),
        "events": dict(events),
        "outcomes": {" ".join(filter(None, key)): n for key, n in sorted(outcomes.items())},
        "attempts": sum(row.attempts for row in rows),
        "memory growth of workers": [round(g, 3) for g in growth],
        "refused as hidden": sum(HIDDEN in row.message for row in rows),
        "wrong": wrong,
        "left": left,
        "checks": checks,
    }
    print(json.dumps(figures, indent=1))
    (out.parent / "soak.json").write_text(json.dumps(figures, indent=1) + "\n")
    return 0 if all(held is not False for held in checks.values()) else 1


def memory_growth(rows: Sequence[JobRow]) -> list[float]:
    """Last against second quarter of each long-lived worker's memory, as a ratio of medians."""
    series = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.updated):
        if row.state == "done" and row.memory_mb:
            series[row.worker].append(row.memory_mb)
    ratios = []
    for values in series.values():
        quarter = len(values) // 4
        if quarter >= 5:
            second = statistics.median(values[quarter : 2 * quarter])
            ratios.append(statistics.median(values[-quarter:]) / second)
    return ratios


def processes_left() -> list[str]:
    """Command lines of processes of this soak that still run, but for this one."""
    mark = f"{TOKEN}={os.environ[TOKEN]}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int(folder.name) != os.getpid() and mark in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


if __name__ == "__main__":
    sys.exit(main())
