"""What moves the bones of an armature besides their own channels: constraints, IK and drivers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import bpy

# these only hold a motion back, so a motion may be written beneath them
LIMITS = ("LIMIT_ROTATION", "LIMIT_LOCATION", "LIMIT_SCALE", "LIMIT_DISTANCE")
_CHAINS = ("IK", "SPLINE_IK")
_DRIVEN = re.compile(
    r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(?:location|scale|rotation_\w+)$'
)  # constraints' influences and custom properties move no bone by themselves


class Control(NamedTuple):
    """One constraint or driver that decides where bones are."""

    bones: tuple[str, ...]  # all that it moves
    owner: str  # the pose bone that carries the constraint; empty for a driver
    name: str  # of the constraint, or the data path of the driver
    index: int  # component of the driven channel; -1 for a constraint
    kind: str  # type of constraint, or DRIVER

    def to_list(self) -> list[Any]:
        """What is needed to find it again, for JSON."""
        return [list(self.bones), self.owner, self.name, self.index, self.kind]

    @classmethod
    def from_list(cls, data: list[Any]) -> Control:
        """The control that `to_list` wrote."""
        bones, owner, name, index, kind = data
        return cls(tuple(bones), owner, name, index, kind)


def find_controls(armature: bpy.types.Object) -> list[Control]:
    """All that is active and moves a pose bone of the armature."""
    found = []
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.mute or constraint.influence == 0.0 or constraint.type in LIMITS:
                continue
            moved = _chain(bone, constraint) if constraint.type in _CHAINS else [bone.name]
            found.append(Control(tuple(moved), bone.name, constraint.name, -1, constraint.type))
    drivers = armature.animation_data.drivers if armature.animation_data else ()
    for curve in drivers:
        match = _DRIVEN.match(curve.data_path)
        if match and not curve.mute:
            name = bpy.utils.unescape_identifier(match[1])
            found.append(Control((name,), "", curve.data_path, curve.array_index, "DRIVER"))
    return found


def _chain(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> list[str]:
    """The bones of an IK chain, from its end up."""
    chain = [bone, *bone.parent_recursive]
    if constraint.type == "IK" and not constraint.use_tail:
        chain = chain[1:]
    length = constraint.chain_count or len(chain)
    return [each.name for each in chain[:length]]


def controls_of(controls: Iterable[Control], bones: Iterable[str]) -> list[Control]:
    """Those that move at least one of the bones."""
    wanted = set(bones)
    return [control for control in controls if not wanted.isdisjoint(control.bones)]


def set_mute(armature: bpy.types.Object, controls: Iterable[Control], mute: bool) -> None:
    """Switch controls off or on; what has been deleted meanwhile is passed over."""
    for control in controls:
        if control.kind == "DRIVER":
            drivers = armature.animation_data.drivers if armature.animation_data else None
            found = drivers and drivers.find(control.name, index=control.index)
        else:
            bone = armature.pose.bones.get(control.owner)
            found = bone and bone.constraints.get(control.name)
        if found:
            found.mute = mute


def describe(controls: Iterable[Control]) -> str:
    """What they are, for people: the bones that they move and of what kind they are."""
    listed = list(controls)
    kinds = sorted({control.kind.replace("_", " ").title() for control in listed})
    names = sorted({bone for control in listed for bone in control.bones})
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return f"{shown} ({', '.join(kinds).replace('Ik', 'IK')})"
