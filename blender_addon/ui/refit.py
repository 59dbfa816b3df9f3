"""Fitting anew from where the joint is now, which the artist may have corrected."""

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np

from atop_backend.contracts import JobRequest
from atop_backend.errors import AtopError

from ..core import request as requests
from ..scene import answers, edit
from ..scene.record import Articulation, articulation_of, require_articulation
from . import monitor, preferences, props
from .operators import arguments_for, new_folder, write_job
from .outcome import explain, finish_in_background


class ATOP_OT_refit(bpy.types.Operator):
    """Start from the axis as it is now, make it exact with the videos, and stay near it"""

    bl_idname = "atop.refit"
    bl_label = "Re-fit From Here"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        found = articulation_of(context.view_layer.objects.active)
        cls.poll_message_set("Select a part that has been articulated from a prompt")
        return found is not None and "job" in found.data

    def execute(self, context):
        try:
            found = require_articulation(context.view_layer.objects.active)
            job = Path(found.data["job"])
            known = (job / "request.json").is_file() and (job / "generate").is_dir()
            task = on_its_videos(context, found, job) if known else from_the_start(context, found)
        except AtopError as error:
            return explain(self, error)
        monitor.enqueue(task)
        return finish_in_background(self, context)


def on_its_videos(context: bpy.types.Context, found: Articulation, job: Path) -> monitor.Task:
    """The fit alone, on what the joint's own job has rendered and generated: seconds."""
    folder = new_folder(preferences.cache_folder(context), found.tag)
    request = replace(
        JobRequest.from_dict(monitor.read_result(str(job / "request.json"))),
        out=folder / "job",
        initial=answers.to_asset(found),
        earlier=job,
        motion="auto",
    )
    requests.write_request(request, folder / "request.json")
    return _task(context, found, folder, np.array(found.data["asset_to_rest"]))


def from_the_start(context: bpy.types.Context, found: Articulation) -> monitor.Task:
    """The whole way again, since the videos have been cleared."""
    choices = props.choices(context.scene.atop, context)
    choices = replace(choices, prompt=found.data["prompt"], motion="auto")
    parts = edit.parts_again(found)
    folder, _ = write_job(context, parts, choices, initial=edit.joint_now(found))
    return _task(context, found, folder, np.linalg.inv(edit.rest_to_now(found)))


def _task(
    context: bpy.types.Context, found: Articulation, folder: Path, asset_to_rest: np.ndarray
) -> monitor.Task:
    options = preferences.get(context)
    refit = monitor.Refit(found.frame.session_uid, tuple(map(tuple, asset_to_rest.tolist())))
    return monitor.Task(
        found.tag, arguments_for(folder), folder, options.python, options.time_limit_s, refit
    )


CLASSES = (ATOP_OT_refit,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
