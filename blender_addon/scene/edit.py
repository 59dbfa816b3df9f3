"""Changes to a joint after it was written: flip, other answers, limits, baking, similar parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import bpy
import numpy as np

from atop_backend.contracts import Answer, JointMotion
from atop_backend.errors import InputError

from . import animate, convert, mesh_parts, physics, pick, rig, write
from .mesh_parts import MeshPart
from .record import Articulation, articulations


def keep_answers(
    articulation: Articulation, answers: Sequence[Answer], job: str, prompt: str
) -> None:
    """Store all answers with the joint, so that the artist can step through them later.

    Args:
        answers: Best first, with joints in the world frame of the rest pose.
        job: The job folder, for its videos and for export.
    """
    stored = {"answers": [a.to_dict() for a in answers], "chosen": 0, "job": job, "prompt": prompt}
    articulation.store(articulation.data | stored)


def answers_of(articulation: Articulation) -> list[Answer]:
    """The stored answers, best first; empty for a joint that was written by hand."""
    return [Answer.from_dict(entry) for entry in articulation.data.get("answers", ())]


def choose_answer(articulation: Articulation, index: int) -> Answer:
    """Move the joint to another answer, at once and with the same keyframes."""
    answers = answers_of(articulation)
    if not 0 <= index < len(answers):
        raise InputError(
            f"there is no answer {index + 1}", hint=f"choose one of 1 to {len(answers)}"
        )
    write.set_joint(articulation, answers[index].joint)
    articulation.store(articulation.data | {"chosen": index})
    return answers[index]


def flip(articulation: Articulation) -> None:
    """Let the part move the other way."""
    write.set_joint(articulation, articulation.joint.flipped())


def set_limit(articulation: Articulation, which: Literal["lower", "upper"], value: float) -> None:
    """Change one end of the range; the other gives way where it must."""
    joint = articulation.joint
    if which == "lower":
        joint = replace(joint, lower=value, upper=max(value, joint.upper))
    else:
        joint = replace(joint, upper=value, lower=min(value, joint.lower))
    write.set_joint(articulation, joint)


def rest_to_now(articulation: Articulation) -> np.ndarray:
    """How the joint's carrier has moved since the joint was written, (4, 4)."""
    frame = articulation.frame
    now = rig.parent_world(bpy.context, frame.parent, rig.parenting(frame))
    return now @ np.linalg.inv(np.array(articulation.data["parent_world"]))


def set_frame(articulation: Articulation, world: np.ndarray) -> None:
    """Lay the axis where a frame is now in the world: (4, 4), Z a hinge's axis, X a slider's."""
    before = np.linalg.inv(rest_to_now(articulation)) @ world
    write.set_joint(articulation, convert.frame_axis(articulation.joint, before))


def joint_now(articulation: Articulation) -> JointMotion:
    """The joint where it is in the world now."""
    return convert.transform_joint(articulation.joint, rest_to_now(articulation))


def parts_again(articulation: Articulation) -> list[pick.Part]:
    """The parts as `write_joint` takes them, to articulate them once more."""
    found: list[pick.Part] = []
    for index, hang in enumerate(articulation.data["parts"]):
        part = articulation.pointed(f"part_{index}")
        if part is None:
            continue
        if hang["how"] == "bone":
            part = MeshPart(part, mesh_parts.faces_again(articulation, index), hang["group"])
        found.append(part)
    return found


def bake(context: bpy.types.Context, articulation: Articulation) -> int:
    """Replace the driver by a keyframe in every frame, for programs that know no drivers.

    Returns:
        How many frames were keyed.
    """
    curve = animate.open_curve(articulation.pivot)
    if curve is None:
        raise InputError("the joint has no animation", hint="animate Open first")
    joint = articulation.joint
    turns = joint.kind == "revolute"
    path, index = ("rotation_euler", 2) if turns else ("location", 0)
    pivot = articulation.pivot
    first, last = (round(x) for x in curve.range())
    travel = convert.full_travel(joint)
    values = [(frame, curve.evaluate(frame) * travel) for frame in range(first, last + 1)]
    rig.freeze_limits(pivot)
    pivot.driver_remove(path, index)
    for frame, value in values:
        getattr(pivot, path)[index] = value
        pivot.keyframe_insert(path, index=index, frame=frame)
    for fcurve in animate.fcurves_of(pivot):
        if fcurve.data_path == path:
            for point in fcurve.keyframe_points:
                point.interpolation = "LINEAR"
    context.view_layer.update()
    return len(values)


def articulate_like(
    context: bpy.types.Context,
    articulation: Articulation,
    others: Sequence[bpy.types.Object],
    *,
    mirror: bool,
    frame_start: float,
    duration_frames: float,
) -> list[Articulation]:
    """Give similar parts the same joint: shifted along, or mirrored to the other side.

    Raises:
        InputError: The part is not an object of its own, or nothing else is selected.
    """
    own = articulation.parts()
    targets = [ob for ob in others if ob not in own and pick.has_faces(ob)]
    if not own or not targets:
        raise InputError(
            "there is nothing to copy the joint to",
            hint="select the similar parts, then the articulated part last",
        )
    joint, first = joint_now(articulation), _centre(own[0])
    made = []
    for ob in targets:
        there = joint_for_similar(joint, first, _centre(ob), mirror=mirror)
        made.append(
            write.write_joint(
                context,
                [ob],
                there,
                frame_start=frame_start,
                duration_frames=duration_frames,
            )
        )
    return made


def joint_for_similar(
    joint: JointMotion, here: np.ndarray, there: np.ndarray, *, mirror: bool
) -> JointMotion:
    """The joint of a like part elsewhere.

    Args:
        here: Centre of the part that has the joint, (3,).
        there: Centre of the other part, (3,).
        mirror: Reflect in the plane halfway between them, instead of shifting.
    """
    shift = np.eye(4)
    shift[:3, 3] = there - here
    distance = np.linalg.norm(there - here)
    if not mirror or distance == 0:
        return convert.transform_joint(joint, shift)
    normal = (there - here) / distance
    reflect = np.eye(4)
    reflect[:3, :3] -= 2 * np.outer(normal, normal)
    reflect[:3, 3] = 2 * normal * float(normal @ (here + there) / 2)
    return convert.transform_joint(joint, reflect)


def _centre(ob: bpy.types.Object) -> np.ndarray:
    low, high = pick.bounds({ob, *ob.children_recursive})
    return (low + high) / 2


def physics_body(
    context: bpy.types.Context, parts: Sequence[bpy.types.Object | MeshPart]
) -> bpy.types.Object | None:
    """What holds the joint in a simulation: the largest mesh of the object beside the parts."""
    moving = {
        each
        for part in parts
        if not isinstance(part, MeshPart)
        for each in (part, *part.children_recursive)
    }
    rest = [
        ob for ob in pick.whole_object(context, parts) if ob.type == "MESH" and ob not in moving
    ]
    return max(rest, key=lambda ob: float(np.prod(ob.dimensions)), default=None)


def add_physics(context: bpy.types.Context, articulation: Articulation) -> None:
    """A rigid body constraint for a joint that has none yet."""
    body = physics_body(context, articulation.parts())
    if body is None:
        raise InputError(
            "there is nothing for the part to hang on", hint="give the object a body mesh"
        )
    physics.add_physics(context, articulation, body)


def revert_all(context: bpy.types.Context) -> int:
    """Take back every joint of the file; returns how many."""
    count = 0
    while found := next(articulations(), None):
        write.revert(context, found)
        count += 1
    return count
