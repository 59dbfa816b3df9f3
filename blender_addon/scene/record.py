"""What an articulation added, stored in the file itself so that it can be changed and reverted.

The joint frame (a still empty on the axis) carries it: numbers as JSON in one custom property,
data-blocks as pointer properties beside it, which follow renaming.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import bpy

from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError

KEY = "atop"
VERSION = 1
STAND_IN = "stand_in"  # what is simulated in place of the parts; also marks all of its kind
LEADER = "leader"  # what the parts hang on while they can be simulated
NOT_OF_A_LAYER = ("layers", "physics")  # what stays when an earlier joint of a part comes back


@dataclass(frozen=True, slots=True)
class Articulation:
    """A joint in the scene; hold it within one call only, data-blocks move on undo."""

    frame: bpy.types.Object  # the empty on the axis; it moves with whatever carried the part
    pivot: bpy.types.Object  # its child, which turns or slides and carries `open`

    @property
    def data(self) -> dict[str, Any]:
        """The stored numbers: tag, joint, how each part hangs, earlier joints."""
        return json.loads(self.frame[KEY])

    @property
    def joint(self) -> JointMotion:
        """The joint in the world frame at the time of writing, with the limits as they are now."""
        joint = JointMotion.from_dict(self.data["joint"])
        lower = float(self.pivot.get("lower", joint.lower))
        upper = float(self.pivot.get("upper", joint.upper))
        return replace(joint, lower=min(lower, upper), upper=upper)

    @property
    def tag(self) -> str:
        """The name under which it was written."""
        return self.data["tag"]

    def store(self, data: dict[str, Any]) -> None:
        """Replace the stored numbers."""
        self.frame[KEY] = json.dumps(data)

    def point(self, name: str, block: bpy.types.ID | None) -> None:
        """Remember a data-block under a name; None forgets it."""
        key = f"{KEY}_{name}"
        if block is not None:
            self.frame[key] = block
        elif key in self.frame:
            del self.frame[key]

    def pointed(self, name: str) -> bpy.types.ID | None:
        """The data-block under a name; None if there was none or it has been deleted."""
        return self.frame.get(f"{KEY}_{name}")

    def parts(self) -> list[bpy.types.Object]:
        """The objects that move, without those that were deleted meanwhile."""
        found = (self.pointed(f"part_{i}") for i in range(len(self.data["parts"])))
        return [part for part in found if part is not None]


def new_articulation(
    frame: bpy.types.Object, pivot: bpy.types.Object, joint: JointMotion, tag: str
) -> Articulation:
    """The articulation on two fresh empties, with no parts yet."""
    articulation = Articulation(frame, pivot)
    articulation.store(
        {"version": VERSION, "tag": tag, "joint": joint.to_dict(), "parts": [], "layers": []}
    )
    articulation.point("pivot", pivot)
    return articulation


def from_frame(frame: bpy.types.Object) -> Articulation | None:
    """The articulation that a joint frame carries; None for other or damaged objects."""
    if frame is None or KEY not in frame:
        return None
    pivot = frame.get(f"{KEY}_pivot")
    return Articulation(frame, pivot) if pivot is not None and pivot.parent == frame else None


def articulations() -> Iterator[Articulation]:
    """All articulations of the file, oldest names first; for operators, not for drawing."""
    for ob in bpy.data.objects:
        found = from_frame(ob)
        if found is not None:
            yield found


def articulation_of(ob: bpy.types.Object | None) -> Articulation | None:
    """The articulation that an object belongs to as frame, pivot, part or child of a part.

    It walks up from the object and never over the scene, so panels may call it.
    """
    for _ in range(64):
        if ob is None:
            return None
        found = from_frame(ob)
        if found is not None:
            return found
        for constraint in ob.constraints:
            if constraint.type == "CHILD_OF" and constraint.target is not None:
                found = from_frame(_above_stand_ins(constraint.target).parent)
                if found is not None:
                    return found
        for modifier in ob.modifiers:
            if modifier.type == "ARMATURE" and modifier.object is not None:
                found = from_frame(modifier.object.parent)
                if found is not None:
                    return found
        ob = ob.parent
    return None


def _above_stand_ins(ob: bpy.types.Object) -> bpy.types.Object:
    """The pivot if the object is the leader of a simulated part, else the object itself."""
    while f"{KEY}_{STAND_IN}" in ob and ob.parent is not None:
        ob = ob.parent
    return ob


def require_articulation(ob: bpy.types.Object | None) -> Articulation:
    """The articulation of an object; `InputError` if it has none."""
    found = articulation_of(ob)
    if found is None:
        name = "nothing" if ob is None else repr(ob.name)
        raise InputError(
            f"{name} is selected, which is not part of a joint",
            hint="select the part, its pivot or its joint frame",
        )
    return found
