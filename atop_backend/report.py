"""The last step of a job: the answer in the asset's own frame, its pictures and its scene."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from atop_backend import __version__, sentences
from atop_backend.config import Config
from atop_backend.contracts import Answer, JobRequest, JobResult, JointMotion
from atop_backend.errors import InputError
from atop_backend.jobfolder import read_json, replacing, write_json
from atop_backend.prompt_amount import prompt_amount
from atop_backend.reporting import Tick

if TYPE_CHECKING:
    from atop_backend.rendering.views import RestViews

ALTERNATIVES = 3  # other answers in the result


def report(request: JobRequest, config: Config, job_dir: Path, tick: Tick) -> None:
    """Step 4: the answer in the asset's own frame, pictures of it, and the articulated scene."""
    from atop_backend.geometry.meshes import joint_to_file
    from atop_backend.rendering import views

    seen = views.load_views(job_dir)
    entries = read_json(job_dir / "fit" / "candidates.json")
    answers = []
    for entry in entries[: 1 + ALTERNATIVES]:
        inside = JointMotion.from_dict(entry["joint"])
        joint = joint_to_file(inside, seen.shape)
        confidence = float(entry["confidence"])
        sentence = sentences.describe(inside, seen.shape, joint.upper, confidence)
        taken = "" if answers else sentences.taken_away(seen.shape)  # said once, of the best
        answers.append(Answer(joint, confidence, ", ".join(filter(None, [sentence, taken]))))
    if not answers:
        raise InputError(
            f"{job_dir / 'fit'} holds no answer", hint="repeat the fit with other settings"
        )
    files: dict[str, str] = {}
    for view in range(len(seen.rgb)):
        video = f"generate/view_{view}.mp4"
        if (job_dir / video).is_file():
            files[f"video {view}"] = video
    if config.report.contact_sheet:
        best = JointMotion.from_dict(entries[0]["joint"])
        _write_sheet(job_dir, seen, best, answers, request.prompt)
        files["contact sheet"] = "contact_sheet.png"
        if (job_dir / "generate" / "frames.npz").is_file():
            _write_movies(job_dir, seen, best, config)
            files |= {"fitted": "fitted.mp4", "comparison": "comparison.mp4"}
    tick(1, 3)
    if config.report.scene:
        files |= _write_scene(request, config, job_dir, answers[0].joint)
    tick(2, 3)
    result = JobResult(
        answers[0], tuple(answers[1:]), files, {}, model=_model(config), version=__version__
    )
    write_json(job_dir / "result.json", result.to_dict())


def _model(config: Config) -> str:
    return "random" if config.generate.random_weights else config.generate.model


def _write_sheet(
    job_dir: Path, seen: RestViews, joint: JointMotion, answers: Sequence[Answer], prompt: str
) -> None:
    """The rest views, what was generated, and the answer on the real mesh, from each camera."""
    from PIL import Image

    from atop_backend import preview

    rows = [("rest", [Image.fromarray(picture) for picture in seen.rgb])]
    frames = job_dir / "generate" / "frames.npz"
    if frames.is_file():
        with np.load(frames) as data:
            generated = data["frames"]
        for index in (generated.shape[1] // 2, generated.shape[1] - 1):
            label = f"generated\nframe {index + 1} of {generated.shape[1]}"
            rows.append((label, [Image.fromarray(view[index]) for view in generated]))
    for share in (0.5, 1.0):
        pictures = [
            preview.draw_motion(seen.shape, joint, share * joint.upper, camera, preview.SHEET_PX)
            for camera in seen.cameras
        ]
        rows.append((f"fitted\n{share:.0%} open", pictures))
    title = [f"“{prompt}”", answers[0].sentence]
    title += [f"or: {answer.sentence}" for answer in answers[1:]]
    preview.contact_sheet(title, rows).save(job_dir / "contact_sheet.png")


def _write_movies(job_dir: Path, seen: RestViews, joint: JointMotion, config: Config) -> None:
    """Videos of all views: the fitted motion on the real mesh, and what was generated above it."""
    from PIL import Image

    from atop_backend import preview

    size = preview.COMPARISON_PX
    with np.load(job_dir / "generate" / "frames.npz") as data:
        generated = data["frames"]
    above, below = [], []
    for index in range(generated.shape[1]):
        amount = index / (generated.shape[1] - 1) * joint.upper
        pictures = [Image.fromarray(view[index]).resize((size, size)) for view in generated]
        above.append(np.hstack([np.asarray(picture) for picture in pictures]))
        drawn = [
            preview.draw_motion(seen.shape, joint, amount, camera, size) for camera in seen.cameras
        ]
        below.append(np.hstack([np.asarray(picture) for picture in drawn]))
    both = np.concatenate([np.stack(above), np.stack(below)], axis=1)
    for name, frames in (("fitted", np.stack(below)), ("comparison", both)):
        path = job_dir / f"{name}.mp4"
        preview.write_video(path, frames, config.report.seconds, config.report.fps)


def _write_scene(
    request: JobRequest, config: Config, job_dir: Path, joint: JointMotion
) -> dict[str, str]:
    """The asset with its joint, as a Blender file and as glTF; names and files."""
    from atop_backend.rendering import views
    from atop_backend.rendering.process import run_in_blender

    said = prompt_amount(request.prompt)
    order = {
        "command": "articulate",
        "asset": str(request.asset),
        "parts": list(request.parts),
        "joint": joint.to_dict(),
        "tag": request.parts[0],
        "seconds": said.seconds or config.report.seconds,
        "fps": config.report.fps,
        "easing": config.report.easing,
    }
    files = {"Blender scene": "articulated.blend", "glTF": "articulated.glb"}
    with replacing(job_dir / "scene") as folder:
        run_in_blender(
            Path(views.__file__).with_name("blender_articulate.py"),
            order,
            folder,
            blender=request.blender,
            time_limit_s=config.report.time_limit_s,
        )
        for file in files.values():
            (folder / file).replace(job_dir / file)
    shutil.rmtree(job_dir / "scene")
    return files
