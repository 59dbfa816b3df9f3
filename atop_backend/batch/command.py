"""`atop batch`: many jobs over night, resumed after whatever happened."""

from __future__ import annotations

import argparse
import errno
import os
import sqlite3
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from atop_backend.batch.jobs import Guess, guess_jobs, read_jobs
from atop_backend.batch.lock import only_driver
from atop_backend.batch.manifest import Manifest
from atop_backend.batch.outcomes import PoolConfig, full_disk
from atop_backend.batch.pool import Pool
from atop_backend.batch.report import write_report
from atop_backend.contracts import JobRequest
from atop_backend.errors import InputError
from atop_backend.protocol import Artifact, Event, Finished, Progress
from atop_backend.reporting import Emit

WORKER_BYTES = 3 * 2**30  # a worker with the bundled model and its Blender
REPORT_EVERY_S = 60.0
REPORT_SHARE = 0.05  # of the driver's time, where a report takes long


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `atop batch`."""
    add = parser.add_argument
    add("jobs", nargs="?", type=Path, metavar="FOLDER|JOBS",
        help="a job file (.toml or .csv), or with --auto a folder of assets")  # fmt: skip
    add("--out", type=Path, required=True, metavar="DIR", help="manifest, results and report")
    add("--auto", action="store_true", help="guess parts and prompts from the names of nodes")
    add("--prompt", default="", help="with --auto: one sentence for all; {part} is the name")
    add("--resume", action="store_true", help="go on with the jobs that DIR already knows")
    add("--retry-failed", action="store_true", help="also try again what failed before")
    add("--engine", choices=("local", "ray"), default="local")
    add("--workers", type=int, metavar="N", help="default: what cores and memory allow")
    add("--time-limit", type=float, default=PoolConfig().time_limit_s, metavar="S",
        help="a job; default %(default)g")  # fmt: skip
    add("--renew-after", type=int, default=PoolConfig().renew_after, metavar="N",
        help="jobs, then a fresh worker; default %(default)s")  # fmt: skip
    add("--root", type=Path, metavar="DIR", help="with ray: shared folder that holds all paths")
    add("--address", default="", help="with ray: of a running cluster; default starts one here")
    add("--gpus-per-model", type=float, default=0.0, metavar="SHARE",
        help="with ray: of a GPU, such as 0.5; default 0, the CPU")  # fmt: skip
    add("--preset", choices=("default", "paper", "tiny", "imagedream"), default="default")
    add("--seed", type=int, default=0)
    add("--device", default="auto", metavar="NAME")
    add("--blender", default="", metavar="PROGRAM")
    add("--weights", type=Path, metavar="DIR")
    add("--set", action="append", default=[], metavar="STAGE.KEY=VALUE", dest="overrides")


def run(args: argparse.Namespace, emit: Emit) -> int:
    """Do all jobs that are not yet done and end in `Finished`; 0, also where some jobs failed.

    Raises:
        InputError: The jobs cannot be read, or another driver works in the folder.
        SetupError: The set-up or the disk keeps jobs from running; the rest waits.
    """
    out = args.out.resolve()
    jobs = _jobs(args)
    if jobs is None and not (out / "manifest.sqlite").is_file():
        raise InputError(f"{out} has no batch to resume", hint="give a job file or a folder")
    out.mkdir(parents=True, exist_ok=True)
    with only_driver(out):
        manifest = Manifest(out)
        try:
            return _run(args, manifest, jobs, emit)
        except (OSError, sqlite3.OperationalError) as error:
            if getattr(error, "errno", 0) == errno.ENOSPC or "disk is full" in str(error):
                raise full_disk(out) from error
            raise
        finally:
            manifest.close()


def _run(args: argparse.Namespace, manifest: Manifest, jobs: Guess | None, emit: Emit) -> int:
    if jobs is not None:
        manifest.want(*jobs)
    manifest.recover(args.retry_failed)
    reporter = _Reporter(manifest, emit)
    config = PoolConfig(
        workers=args.workers or default_workers(),
        time_limit_s=args.time_limit,
        renew_after=args.renew_after,
    )
    try:
        match args.engine:
            case "local":
                Pool(manifest, config, reporter).run()
            case "ray":
                from atop_backend.batch.ray_engine import RayConfig, RayEngine

                cluster = RayConfig(args.address, args.root, args.gpus_per_model)
                RayEngine(manifest, config, cluster, reporter).run()
    finally:
        reporter.write()
    counts = manifest.counts()
    emit(Artifact("report", str(manifest.out / "report.html")))
    emit(Artifact("results", str(manifest.out / "results.csv")))
    sentence = f"{counts['done']} of {counts['all']} jobs are done"
    if counts["failed"]:
        sentence += f", {counts['failed']} failed"
    without = len(manifest.left_out())
    if without:
        sentence += f", assets without a part to move: {without}"
    if counts["failed"] or without:
        sentence += ", see the report"
    emit(Finished("", sentence))
    return 0


class _Reporter:
    """Passes events on, and keeps the report on disk fresh without holding up the batch."""

    def __init__(self, manifest: Manifest, emit: Emit) -> None:
        self._manifest = manifest
        self._emit = emit
        self._begun = time.time()
        self._due = time.monotonic() + REPORT_EVERY_S
        self._writer = ThreadPoolExecutor(1)
        self._written: Future[None] | None = None

    def __call__(self, event: Event) -> None:
        self._emit(event)
        if not isinstance(event, Progress) or time.monotonic() < self._due:
            return
        if self._written is not None:
            if not self._written.done():
                return
            self._written.result()  # raises what went wrong, such as a full disk
        self._written = self._writer.submit(self._write)

    def _write(self) -> None:
        begun = time.monotonic()
        manifest = Manifest(self._manifest.out)  # a connection belongs to one thread
        write_report(manifest, self._begun)
        manifest.close()
        now = time.monotonic()
        self._due = now + max(REPORT_EVERY_S, (now - begun) / REPORT_SHARE)

    def write(self) -> None:
        """Write the report of the end, after the one that may be at work."""
        self._writer.shutdown()
        write_report(self._manifest, self._begun)


def _jobs(args: argparse.Namespace) -> Guess | None:
    """The jobs asked for; None to go on with those of the manifest."""
    if args.workers is not None and args.workers < 1:
        raise InputError(f"{args.workers} workers", hint="give at least one")
    if args.jobs is None:
        if not args.resume:
            raise InputError("no jobs were given", hint="give a job file, or --resume")
        return None
    template = JobRequest(
        asset=Path("asset"),
        parts=("part",),
        prompt="prompt",
        out=Path("out"),
        preset=args.preset,
        guidance="sds" if args.preset == "paper" else "sampled",
        seed=args.seed,
        device=args.device,
        blender=args.blender,
        weights=args.weights.resolve() if args.weights else None,
        overrides=tuple(args.overrides),
    )
    if args.auto:
        guess = guess_jobs(args.jobs, template, args.prompt, args.workers or default_workers())
        if not guess.jobs:
            raise InputError(
                f"no asset in {args.jobs} has a part with a telling name",
                hint='name parts such as "door_left", or write a job file',
            )
        return guess
    if args.jobs.is_dir():
        raise InputError(
            f"{args.jobs} is a folder", hint="add --auto to guess its parts, or give a job file"
        )
    return Guess(read_jobs(args.jobs, template), {})


def default_workers() -> int:
    """As many workers as cores, unless memory is short."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return cores
    return max(1, min(cores, memory // WORKER_BYTES))
