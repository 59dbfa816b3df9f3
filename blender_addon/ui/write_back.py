# pyright: reportInvalidTypeForm=false
"""What came out of a job, put into the scene as one undo step."""

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
from bpy.props import StringProperty

from atop_backend.contracts import Answer, JobResult
from atop_backend.errors import InputError

from ..scene import answers, convert, edit, read, write
from ..scene.record import from_frame
from . import monitor
from .outcome import put_in


class ATOP_OT_write_result(bpy.types.Operator):
    """Give the part the joint that a finished job found"""

    bl_idname = "atop.write_result"
    bl_label = "Articulate Part"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    result: StringProperty(name="Result", subtype="FILE_PATH", options={"SKIP_SAVE"})

    def execute(self, context):
        return put_in(self, self.result, lambda: (write_back(context, self.result), ""))


def write_back(context: bpy.types.Context, result_path: str) -> str:
    """Write the joint of a result, new or re-fitted; returns the sentence for the artist."""
    match monitor.placement_of(result_path):
        case monitor.Refit() as refit:
            return write_refit(refit, result_path)
        case placement:
            return write_joint(context, placement, result_path)


def write_joint(context: bpy.types.Context, placement: monitor.Placement, result_path: str) -> str:
    """Write the joint of a result into the scene; returns the sentence for the artist."""
    parts = read.find_parts(placement.picked)
    moved = read.moved_since(context, parts, placement.picked)
    found = answers_in_world(result_path, moved)
    body = edit.physics_body(context, parts) if placement.physics else None
    # a part on a part that the timeline shows open: the answer belongs to the rest pose
    with read.at_rest(context, parts, but=write.find_articulation(write.root_parts(parts))):
        articulation = write.write_joint(
            context,
            parts,
            found[0].joint,
            frame_start=placement.frame_start,
            duration_frames=placement.duration_frames,
            easing=placement.easing,
            physics_body=body,
        )
    folder = str(Path(result_path).parent)
    answers.keep_answers(articulation, found, folder, placement.prompt, moved)
    if placement.physics and body is None:
        return f"{found[0].sentence}; without physics, since the part hangs on nothing"
    return found[0].sentence


def write_refit(refit: monitor.Refit, result_path: str) -> str:
    """Move a joint to what a fit from where it was has found; returns the sentence."""
    frames = (ob for ob in bpy.data.objects if ob.session_uid == refit.frame_uid)
    found = from_frame(next(frames, None))
    if found is None:
        raise InputError(
            "the joint is no longer in this file",
            hint="it was reverted or another file was opened",
        )
    asset_to_rest = np.array(refit.asset_to_rest)
    better = answers_in_world(result_path, asset_to_rest)
    return answers.take_refit(found, better, str(Path(result_path).parent), asset_to_rest)


def answers_in_world(result_path: str, moved: np.ndarray) -> list[Answer]:
    """All answers of a result, best first, after the object has been moved by (4, 4)."""
    result = JobResult.from_dict(monitor.read_result(result_path))
    return [
        replace(answer, joint=convert.transform_joint(answer.joint, moved))
        for answer in (result.best, *result.alternatives)
    ]


CLASSES = (ATOP_OT_write_result,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
