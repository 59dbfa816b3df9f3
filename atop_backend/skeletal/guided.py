"""The way to a motion along given videos, and what all ways give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from atop_backend.config import AnimateConfig
from atop_backend.contracts import AnimateRequest
from atop_backend.errors import InputError
from atop_backend.geometry.rigs import Placement, Rig
from atop_backend.reporting import Tick
from atop_backend.skeletal import distil, parameters
from atop_backend.skeletal.distil import Motion, Plan, Step
from atop_backend.skeletal.explore import explore
from atop_backend.skeletal.follow import View, outline_losses, pixel_loss, view_of
from atop_backend.skeletal.kinematics import Pose
from atop_backend.skeletal.pictures import calibrated
from atop_backend.skeletal.surface import Surface, bind_gaussians
from atop_backend.skeletal.video_target import (
    VideoTarget,
    body_masks,
    crop_to_body,
    read_video,
)
from atop_backend.skeletal.viewpoint import guess_camera, read_cameras

_READ_PX = 256  # width at which videos are looked at first
_SEARCH_SAMPLES = 128  # outline pixels while many guesses are tried


class Distilled(NamedTuple):
    """A motion of the normalised rig."""

    rig: Rig
    placement: Placement
    pose: Pose  # at `fps`
    fps: float
    model: str
    targets: tuple[VideoTarget, ...]  # the videos that were followed
    notes: tuple[str, ...]


def follow_videos(
    request: AnimateRequest, settings: AnimateConfig, rig: Rig, placement: Placement, tick: Tick
) -> Distilled:
    """The motion that given videos show; as long as the videos."""
    generator = torch.Generator().manual_seed(request.seed)
    rng = np.random.default_rng(request.seed)
    targets, notes = read_targets(request, settings, rig, placement)
    middle = np.array([0.0, 0.0, rig.vertices[:, 2].max() / 2])
    views = [view_of(target, middle, rng) for target in targets]
    surface = calibrated(rig, bind_gaussians(rig, settings.points, rng))
    times = torch.as_tensor(targets[0].times, dtype=torch.float32)
    motion = fit_views(rig, surface, views, times, settings, request.cyclic, generator, tick)
    duration = targets[0].duration_s
    pose = motion.pose(parameters.body_of(rig), frame_times(duration, request.fps, request.cyclic))
    return Distilled(rig, placement, pose, request.fps, "none", tuple(targets), tuple(notes))


def frame_times(duration_s: float, fps: float, cyclic: bool) -> Tensor:
    """When the poses are, as shares of the duration; a cyclic motion ends where it begins."""
    count = max(2, round(duration_s * fps) + 1)
    if cyclic:
        return torch.linspace(0, 1, count)
    return (torch.arange(count) / (fps * duration_s)).clamp(max=1)


def read_targets(
    request: AnimateRequest, settings: AnimateConfig, rig: Rig, placement: Placement
) -> tuple[list[VideoTarget], list[str]]:
    """The videos of a request, cut to the body, with their cameras, and notes."""
    given = None
    if request.cameras is not None:
        given = read_cameras(request.cameras, len(request.videos), placement)
    targets, notes = [], []
    for index, path in enumerate(request.videos):
        video, duration_s = read_video(path, settings.most_frames, _READ_PX)
        masks = body_masks(video, path.name)
        if given is None:
            camera = guess_camera(rig, video, masks)
        else:
            camera = given[index]
            if abs(camera.width_px * masks.shape[1] - camera.height_px * masks.shape[2]) > max(
                camera.width_px, camera.height_px
            ):
                raise InputError(
                    f"camera {index + 1} and {path.name} differ in shape",
                    hint="give the camera for the picture size of its video",
                )
        targets.append(crop_to_body(video, masks, camera, settings.picture_px, duration_s))
    if len({len(target.times) for target in targets}) > 1:
        raise InputError("the videos differ in length", hint="give videos of the same moments")
    if given is None:
        notes.append(
            "the camera was guessed from the look of the rest pose"
            + (", for each video by itself" if len(targets) > 1 else "")
        )
    return targets, notes


def fit_views(
    rig: Rig,
    surface: Surface,
    views: Sequence[View],
    times: Tensor,
    settings: AnimateConfig,
    cyclic: bool,
    generator: torch.Generator,
    tick: Tick,
) -> Motion:
    """The motion by which the surface looks as in all views."""
    whole, coarse, fine = distil.plans(settings, len(times))
    searched = settings.guess_rounds * settings.guess_steps if settings.guesses > 1 else 0
    count = counter(whole.steps + searched + coarse.steps + fine.steps, tick)
    few = surface.thinned(2)
    sparse = [view._replace(places=view.places[:, :_SEARCH_SAMPLES]) for view in views]

    def outlines(points: Tensor) -> Tensor:
        losses = [outline_losses(view, points, few) for view in sparse]
        return torch.stack(losses).mean(dim=0)

    def roughly(points: Tensor, step: Step) -> Tensor:
        return settings.outline_weight * outlines(points[:, None]).mean()

    def closely(points: Tensor, step: Step) -> Tensor:
        losses = [outline_losses(view, points[:, None], surface).mean() for view in views]
        total = settings.outline_weight * torch.stack(losses).mean()
        if step.last and settings.pixel_weight:
            frames = torch.randperm(len(points), generator=generator)[: settings.rendered_frames]
            pixels = [
                pixel_loss(view, points, surface, frames, settings.rays, generator)
                for view in views
            ]
            total = total + settings.pixel_weight * torch.stack(pixels).mean()
        return total

    # 1. the body as a whole
    motion = distil.distil(rig, few, roughly, times, (whole,), settings, cyclic, tick=count)
    # 2. every frame by itself, from many guesses
    if searched:
        body, own = parameters.body_of(rig), Plan(0, 0, True, 0.0)
        framed = parameters.convert(motion.variables, motion.basis(times), torch.eye(len(times)))
        best = explore(
            rig,
            body, few, outlines, framed, settings.guesses, settings.guess_rounds,
            settings.guess_steps, settings.learning_rate, generator, count,
        )  # fmt: skip
        motion = Motion(best, own, times, False)
        coarse = coarse._replace(controls=fine.controls)  # few would blur what was found
    # 3. all frames together
    return distil.distil(
        rig, surface, closely, times, (coarse, fine), settings, cyclic, motion, count
    )


def counter(total: int, tick: Tick) -> Callable[[], None]:
    """A function that reports one more step of a total."""
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        tick(done, total)

    return count
