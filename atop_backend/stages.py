"""The four steps of a job, each from plain files to plain files in the job folder.

    render    request.json, the asset        -> render/    views, masks, cameras, the mesh
    generate  render/                        -> generate/  clips.npz, view_0..3.mp4
    fit       render/, generate/             -> fit/       candidates.json
    report    render/, generate/, fit/       -> contact_sheet.png, articulated.*, result.json

A step can be repeated alone; same request, same seed, same result.
"""

from __future__ import annotations

import logging
import math
import os
import shutil
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atop_backend import sentences
from atop_backend.config import Config, read_config, resolve
from atop_backend.contracts import MOTION_KINDS, JobRequest, JobResult, JointMotion
from atop_backend.errors import InputError
from atop_backend.jobfolder import (
    check_out,
    explaining_full_disk,
    read_json,
    read_request,
    replacing,
    write_json,
    write_settings,
)
from atop_backend.prompt_amount import prompt_amount
from atop_backend.prompt_motion import said_motion
from atop_backend.protocol import Artifact
from atop_backend.report import report
from atop_backend.reporting import Emit, JobProgress, Tick

if TYPE_CHECKING:
    from atop_backend.diffusion.clips import GeneratedClip
    from atop_backend.diffusion.conditions import Conditions
    from atop_backend.diffusion.generate import Prior, RestScene
    from atop_backend.geometry.meshes import RestShape
    from atop_backend.motion.evidence import MotionEvidence
    from atop_backend.motion.fit import Candidate
    from atop_backend.rendering.views import RestViews

STAGES = ("render", "generate", "fit", "report")
_KEPT_FRAMES = 6  # moved frames of a video, for the contact sheet
log = logging.getLogger("atop")


def articulate(request: JobRequest, emit: Emit) -> JobResult:
    """All steps that are left to do; the job folder appears when the job is complete."""
    _run(request, STAGES[STAGES.index("fit") :] if request.earlier else STAGES, emit)
    return _announce(request.out, emit)


def start(request: JobRequest, emit: Emit) -> None:
    """A new job folder with the first step done."""
    _run(request, STAGES[:1], emit)


def repeat(
    job_dir: Path,
    stage: str,
    emit: Emit,
    seed: int | None = None,
    device: str | None = None,
    overrides: Sequence[str] = (),
    initial: JointMotion | None = None,
) -> JobResult | None:
    """One step again in its job folder, perhaps with other settings; a result after `report`."""
    request = read_request(job_dir / "request.json")
    config = read_config(job_dir)
    if initial is not None:
        request = replace(request, initial=initial)
    if seed is not None or device is not None or overrides:
        request = replace(
            request,
            seed=request.seed if seed is None else seed,
            device=device or request.device,
            overrides=(*request.overrides, *overrides),
        )
        config = resolve(request.preset, request.overrides)
    with explaining_full_disk(job_dir):
        write_settings(job_dir, request, config)
        _step(stage, request, config, job_dir, JobProgress((stage,), emit))
    return _announce(job_dir, emit) if stage == "report" else None


def _run(request: JobRequest, stages: Sequence[str], emit: Emit) -> None:
    config = resolve(request.preset, request.overrides)
    check_out(request.out)
    progress = JobProgress(tuple(stages), emit)
    with replacing(request.out) as job_dir:
        write_settings(job_dir, request, config)
        if request.earlier is not None:
            _take_over(request.earlier, job_dir)
        for stage in stages:
            _step(stage, request, config, job_dir, progress)


def _take_over(earlier: Path, job_dir: Path) -> None:
    """Copy what another job has rendered and generated, so that only the fit is done anew."""
    for stage in STAGES[: STAGES.index("fit")]:
        if not (earlier / stage).is_dir():
            raise InputError(
                f"the earlier job {earlier} has no folder {stage!r}",
                hint="it was cleared; leave `earlier` out, and views and videos are made anew",
            )
        shutil.copytree(earlier / stage, job_dir / stage)


def _step(
    stage: str, request: JobRequest, config: Config, job_dir: Path, progress: JobProgress
) -> None:
    """Carry out one step and note how long it took."""
    tick = progress.tick(stage)
    share_cores()
    begun = time.monotonic()
    with _logging_to(job_dir / "log.txt"):
        log.info("%s starts", stage)
        tick(0, 1)
        match stage:
            case "render":
                render(request, config, job_dir, tick)
            case "generate":
                generate(request, config, job_dir, tick)
            case "fit":
                fit(request, config, job_dir, tick)
            case "report":
                report(request, config, job_dir, tick)
        seconds = time.monotonic() - begun
        log.info("%s took %.2f s", stage, seconds)
    timings = job_dir / "timings.json"
    known = read_json(timings) if timings.is_file() else {}
    write_json(timings, {**known, stage: round(seconds, 3)})
    if stage == "report":
        result = read_json(job_dir / "result.json")
        write_json(job_dir / "result.json", {**result, "seconds": read_json(timings)})
    tick(1, 1)


def _announce(job_dir: Path, emit: Emit) -> JobResult:
    """The result of a complete job, after telling of its files."""
    result = JobResult.from_dict(read_json(job_dir / "result.json"))
    for name, file in result.files.items():
        emit(Artifact(name, str(job_dir / file)))
    emit(Artifact("result", str(job_dir / "result.json")))
    return result


def share_cores() -> None:
    """Let maths libraries that are loaded from now on use the cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    os.environ.setdefault("OMP_NUM_THREADS", str(cores))


@contextmanager
def _logging_to(path: Path) -> Iterator[None]:
    """Append what the backend logs to a file in the job folder."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        handler.close()


def render(request: JobRequest, config: Config, job_dir: Path, tick: Tick) -> None:
    """Step 1: what the object and its part look like at rest, through Blender."""
    from atop_backend.rendering import views

    seen = views.render_views(
        request.asset,
        request.parts,
        job_dir,
        elevation_rad=math.radians(config.render.elevation_deg),
        blender=request.blender,
        samples=config.render.samples,
        time_limit_s=config.render.time_limit_s,
        on_progress=tick,
    )
    if seen.shape.cover_names:
        log.info("the part is hidden; %s", sentences.taken_away(seen.shape))


def generate(request: JobRequest, config: Config, job_dir: Path, tick: Tick) -> None:
    """Step 2: videos of the part as the prompt moves it."""
    from atop_backend import preview
    from atop_backend.diffusion import generate as prior_module
    from atop_backend.rendering import views

    settings = config.generate
    # 1. the network and what it is told
    seen = views.load_views(job_dir)
    prior, conditions = _prior_and_conditions(request, config, seen)
    log.info("generating with %s on %s", prior.name, prior.device)

    # 2. several samples for the fit, then what people look at
    clip = prior_module.generate_clip(prior, conditions, settings, request.seed, on_step=tick)
    with replacing(job_dir / "generate") as folder:
        prior_module.save_clip(folder / "clips.npz", clip)
        if settings.videos:
            rgb = prior_module.decode_pictures(prior, clip)
            whole = np.concatenate(
                [seen.rgb[:, None], _frames(request, config, seen, clip, rgb)], 1
            )
            for view, video in enumerate(whole):
                path = folder / f"view_{view}.mp4"
                preview.write_video(path, video, config.report.seconds, config.report.fps)
            last = whole.shape[1] - 1
            kept = np.unique(np.linspace(0, last, min(last, _KEPT_FRAMES) + 1).round().astype(int))
            np.savez_compressed(folder / "frames.npz", frames=whole[:, kept])


def _frames(
    request: JobRequest, config: Config, seen: RestViews, clip: GeneratedClip, rgb: np.ndarray
) -> np.ndarray:
    """The moved frames that people look at, (views, frames, size, size, 3) uint8.

    Args:
        rgb: Generated pictures of one sample, (views, clip frames, size, size, 3) uint8.
    """
    from atop_backend import compositing

    if clip.motions is None:
        return rgb
    evidence = _sampled_evidence(seen, {k: np.asarray(v) for k, v in clip._asdict().items()})
    between = config.generate.frames_between
    poses = compositing.shown_motion(
        seen.shape, evidence, replace(config.fit, video=True), MOTION_KINDS[request.motion],
        between, said_motion(request.prompt),
    )  # fmt: skip
    return compositing.carry_along(seen, rgb, poses, between)


def _prior_and_conditions(
    request: JobRequest, config: Config, seen: RestViews
) -> tuple[Prior, Conditions]:
    from atop_backend.diffusion import generate as prior_module

    settings = config.generate
    prior = prior_module.load_prior(
        settings, request.seed, request.device, request.weights, request.finetuned
    )
    text = prior.encode_text(request.prompt)
    return prior, prior_module.build_conditions(prior, rest_scene(seen), text, settings.frames)


def rest_scene(seen: RestViews) -> RestScene:
    """The rest views as the generator takes them."""
    from atop_backend.diffusion.generate import RestScene
    from atop_backend.geometry.meshes import part_vertices

    return RestScene(
        seen.rgb, seen.part_mask, seen.positions, seen.cameras, part_vertices(seen.shape)
    )


def fit(request: JobRequest, config: Config, job_dir: Path, tick: Tick) -> None:
    """Step 3: the joints that explain the videos, best first, in the normalised frame."""
    from atop_backend.geometry.meshes import joint_to_normalised
    from atop_backend.motion.fit import fit_joint
    from atop_backend.rendering import views

    seen = views.load_views(job_dir)
    clip = _read_clip(job_dir / "generate" / "clips.npz")
    evidence = find_evidence(request, config, seen, clip, tick)
    generator = np.random.default_rng(request.seed)
    kinds = MOTION_KINDS[request.motion]
    initial = joint_to_normalised(request.initial, seen.shape) if request.initial else None
    said = said_motion(request.prompt)
    candidates = fit_joint(seen.shape, evidence, config.fit, kinds, generator, initial, said)
    candidates = [
        entry._replace(joint=as_asked(entry.joint, request, seen.shape)) for entry in candidates
    ]
    with replacing(job_dir / "fit") as folder:
        write_json(folder / "candidates.json", [_candidate(entry) for entry in candidates])


def as_asked(joint: JointMotion, request: JobRequest, shape: RestShape) -> JointMotion:
    """The joint with the range that the request or its prompt gives in numbers, if any."""
    from atop_backend.motion.ranges import apply_prompt

    if request.amount is None:
        return apply_prompt(joint, prompt_amount(request.prompt), shape)
    file_units = float(np.cbrt(np.linalg.det(shape.normalised_to_file[:3, :3])))
    unit = 1.0 if joint.kind == "revolute" else file_units
    return replace(joint, upper=joint.lower + request.amount / unit)


def _sampled_evidence(seen: RestViews, clip: Mapping[str, np.ndarray]) -> MotionEvidence:
    from atop_backend.motion.evidence import evidence_from_clip

    return evidence_from_clip(
        seen.positions, seen.part_mask, seen.cameras,
        clip["silhouettes"], clip["motions"], clip["frames"],
    )  # fmt: skip


def find_evidence(
    request: JobRequest,
    config: Config,
    seen: RestViews,
    clip: Mapping[str, np.ndarray],
    tick: Tick,
) -> MotionEvidence:
    """What the prior says of the motion: read off its samples, or by gaussians that follow it."""
    if request.guidance == "sampled" and "motions" in clip and not config.fit.gaussians:
        return _sampled_evidence(seen, clip)
    from atop_backend.motion.tracks import follow_prior

    prior, conditions = _prior_and_conditions(request, config, seen)
    return follow_prior(
        prior,
        conditions,
        seen.shape,
        seen.cameras,
        request.guidance,
        config,
        request.seed,
        clip.get("latents"),
        tick,
    )


def _read_clip(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path) as data:
            return {name: data[name] for name in data.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path} cannot be read ({error})", hint="run the generate stage first"
        ) from error


def _candidate(candidate: Candidate) -> dict[str, Any]:
    """One candidate as in `candidates.json`."""
    return {
        "joint": candidate.joint.to_dict(),
        "confidence": candidate.confidence,
        "source": candidate.source,
        "terms": candidate.terms,
    }
