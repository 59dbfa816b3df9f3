"""Batches on a Ray cluster: actors hold the model, tasks run Blender, files lie on shared storage.

Every job is a chain of three calls: render (a CPU task), infer (a model actor), report (a CPU
task). Ray restarts actors and repeats tasks whose process died; what fails all the same goes
through the same rules as with local workers.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from atop_backend.batch.manifest import JobRow, Manifest
from atop_backend.batch.outcomes import Outcomes, PoolConfig, log_path, reduced
from atop_backend.batch.processes import ONE_ORDER
from atop_backend.batch.steps import (
    PRODUCT,
    Steps,
    from_shared,
    publish,
    staging,
    to_shared,
    with_readable_asset,
)
from atop_backend.batch.worker import carry_out
from atop_backend.errors import SetupError, missing_package
from atop_backend.reporting import Emit

ROOT_VARIABLE = "ATOP_ROOT"  # where a node has the shared folder, if not where the driver has it
RETRIES = 2  # by Ray, of a call whose process died
_TICK_S = 0.5
_START_S = 60.0  # that Ray may take to start processes on a busy machine; not the job's time


@dataclass(frozen=True, slots=True)
class RayConfig:
    """Where the cluster is and what a model takes of it."""

    address: str = ""  # of a running cluster; empty starts one on this machine
    root: Path | None = None  # shared folder that holds all paths; None: paths are the same
    gpus_per_model: float = 0.0  # a share, so that several models fit on one GPU


class _Flight(NamedTuple):
    """A job on its way."""

    row: JobRow
    model: Any  # the actor that has it
    begun: float
    calls: tuple[Any, ...]  # references of its three calls


class RayEngine:
    """Runs the waiting jobs of a manifest on Ray.

    Args:
        steps: What a job consists of; tests put scripted ones here.
    """

    def __init__(
        self,
        manifest: Manifest,
        config: PoolConfig,
        cluster: RayConfig,
        emit: Emit,
        steps: Steps = PRODUCT,
    ) -> None:
        self._manifest = manifest
        self._config = config
        self._cluster = cluster
        self._outcomes = Outcomes(manifest, config, emit)
        self._steps = steps
        self._flights: dict[Any, _Flight] = {}  # by the reference of the last call
        self._models: list[Any] = []

    def run(self) -> None:
        """Return when no job waits.

        Raises:
            SetupError: Ray is missing or not reachable, its GPUs have no room for the models, the
                disk is full, or every job fails for the same reason of set-up.
        """
        ray = _import_ray()
        started = _connect(ray, self._cluster, self._config.workers)
        shutil.rmtree(self._manifest.out / "staging", ignore_errors=True)
        try:
            self._check_room(ray)
            self._models = [self._model(ray) for _ in range(self._config.workers)]
            self._outcomes.tell()
            while self._fill(ray) or self._flights:
                self._land(ray)
                self._end_late(ray)
            self._outcomes.end()
        finally:
            self._flights.clear()
            for model in self._models:
                ray.kill(model)
            if started:
                ray.shutdown()
            self._manifest.recover()

    def _check_room(self, ray: Any) -> None:
        """See that all models fit; one that waits for a GPU would let its jobs run out of time."""
        share, wanted = self._cluster.gpus_per_model, self._config.workers
        if not share:
            return
        gpus = [node["Resources"].get("GPU", 0.0) for node in ray.nodes() if node["Alive"]]
        room = models_that_fit(gpus, share)
        if room < wanted:
            raise SetupError(
                f"{wanted} models that take {share:g} GPU each were asked for, and the"
                f" {sum(gpus):g} GPUs that Ray sees have room for {room}",
                hint="give fewer --workers or less --gpus-per-model, or start the other nodes",
            )

    def _model(self, ray: Any) -> Any:
        """An actor that keeps the model in memory; Ray restarts it where it dies."""
        share = max(1, (os.cpu_count() or 1) // self._config.workers)
        options: dict[str, Any] = {
            "num_cpus": 0,  # while one infers, Blender tasks need the cores that it leaves
            "num_gpus": self._cluster.gpus_per_model,
            "max_restarts": -1,
            "max_task_retries": RETRIES,
        }
        if not self._cluster.gpus_per_model:
            options["runtime_env"] = {"env_vars": _variables() | {"OMP_NUM_THREADS": str(share)}}
        return ray.remote(_Model).options(**options).remote(self._steps)

    def _fill(self, ray: Any) -> bool:
        """Send jobs off until each model has one to do and one to come; whether any was sent."""
        sent = False
        while len(self._flights) < 2 * self._config.workers:
            row = self._manifest.next_waiting()
            if row is None:
                break
            self._manifest.begin(row.key, 0)
            self._send(ray, row)
            sent = True
        return sent

    def _send(self, ray: Any, row: JobRow) -> None:
        loads = [flight.model for flight in self._flights.values()]
        model = min(self._models, key=loads.count)
        request = reduced(row.request, row.reduction)
        root = self._cluster.root.resolve() if self._cluster.root else None
        log = log_path(self._manifest.out, row.key)
        staged = staging(self._manifest.out, row.key) / "job"
        job = {
            "key": row.key,
            "request": to_shared(request, root),
            "staged": _relative(staged, root),
            "log": _relative(log, root),
            "root": "" if root is None else str(root),
        }
        task = ray.remote(_task).options(num_cpus=1, max_retries=RETRIES)
        rendered = task.remote(self._steps, "render", job, None)
        inferred = model.infer.remote(job, rendered)
        reported = task.remote(self._steps, "report", job, inferred)
        calls = (rendered, inferred, reported)
        self._flights[reported] = _Flight(row, model, time.monotonic(), calls)

    def _land(self, ray: Any) -> None:
        """Wait a little for jobs that end and take them in."""
        if not self._flights:
            return
        ready, _ = ray.wait(list(self._flights), timeout=_TICK_S)
        for call in ready:
            flight = self._flights.pop(call)
            try:
                answer = ray.get(call)
            except ray.exceptions.RayError as error:
                seconds = time.monotonic() - flight.begun
                starved = "OutOfMemory" in f"{type(error).__name__} {error}"
                how = f"Ray gave up on it ({type(error).__name__})"
                self._outcomes.died(flight.row, how, seconds, smaller=starved)
            else:
                self._outcomes.answered(flight.row, answer)

    def _end_late(self, ray: Any) -> None:
        """End the job that has taken too long, if there is one, and the actor if it hangs there."""
        # A job may wait for the one before it on its model.
        limit = 2 * self._config.time_limit_s
        now = time.monotonic()
        late = []
        for call, flight in self._flights.items():
            spent = now - flight.begun
            rendered = spent > limit and ray.wait([flight.calls[0]], timeout=0)[0]
            if rendered or spent > limit + _START_S:
                late.append(call)
        if not late:
            return
        flight = self._flights.pop(late[0])
        rendered, inferred, reported = flight.calls
        done, _ = ray.wait([rendered, inferred], num_returns=2, timeout=0)
        if rendered in done and inferred not in done:
            ray.kill(flight.model, no_restart=True)
            self._models[self._models.index(flight.model)] = self._model(ray)
            self._send_again(ray, flight.model)
        else:
            for task in (rendered, reported):
                ray.cancel(task, force=True)
        self._outcomes.timed_out(flight.row, now - flight.begun)

    def _send_again(self, ray: Any, model: Any) -> None:
        """Send off anew what was waiting for an actor that had to be ended."""
        for call, flight in list(self._flights.items()):
            if flight.model is model:
                del self._flights[call]
                self._send(ray, flight.row)


def models_that_fit(gpus: Sequence[float], share: float) -> int:
    """How many models have room on nodes with so many GPUs, each taking a share of one or several.

    No model is spread over parts of several GPUs.
    """
    if share > 1:
        return sum(math.floor(number / share) for number in gpus)
    return sum(math.floor(number) * math.floor(1 / share) for number in gpus)


class _Model:
    """The actor: what the backend loads stays in its memory."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def infer(self, job: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
        """Generate and fit, unless the step before failed."""
        return _task(self._steps, "infer", job, before)


def _task(
    steps: Steps, name: str, job: dict[str, Any], before: dict[str, Any] | None
) -> dict[str, Any]:
    """One step of a job; the answer of the step before if that failed."""
    if before is not None and before["error"]:
        return before
    root = os.environ.get(ROOT_VARIABLE) or str(job["root"])
    final = from_shared(job["request"], root)
    staged = Path(root) / job["staged"]
    step = getattr(steps, name)

    def do(request: Any, emit: Any) -> None:
        if name == "report" and (final.out / "result.json").is_file():
            return  # a retry of a call that died just after its work
        request = with_readable_asset(request)
        step(replace(request, out=staged))
        if name == "report":
            here = Path(root) if job["root"] else None
            publish(staged, request, from_shared(to_shared(request, here), str(job["root"])))

    order = {"key": job["key"], "request": final.to_dict(), "log": str(Path(root) / job["log"])}
    answer = carry_out(do, order)
    if before is not None:
        answer["seconds"] += before["seconds"]
    return answer


def _import_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise missing_package("the ray engine needs", "ray", "cluster") from error
    return ray


def _connect(ray: Any, cluster: RayConfig, workers: int) -> bool:
    """Connect to the cluster, or start one on this machine; whether it is ours to end."""
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # of calls that we gave up ourselves
    if ray.is_initialized():
        return False
    options: dict[str, Any] = {"log_to_driver": False, "include_dashboard": False}
    if cluster.address:
        options = {"address": cluster.address, "log_to_driver": False}
    else:
        options["num_cpus"] = max(workers, os.cpu_count() or 1)
    try:
        ray.init(**options, runtime_env={"env_vars": _variables()}, configure_logging=False)
    except Exception as error:  # where a start takes too long, Ray raises no class of its own
        raise SetupError(
            f"Ray cannot be reached ({error})",
            hint="check --address and RAY_AUTH_TOKEN, or leave out --address",
        ) from error
    return True


def _variables() -> dict[str, str]:
    """What workers on this machine need to find the package also in a clone; and `ONE_ORDER`."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, paths)), **ONE_ORDER}


def _relative(path: Path, root: Path | None) -> str:
    return str(path if root is None else path.relative_to(root))
