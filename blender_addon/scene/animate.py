"""Keyframes on a pivot's `open` property; the same code for the actions of Blender 4.2 to 5.x."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..core.keyframes import Key

OPEN_PATH = '["open"]'


def fcurves_of(ob: bpy.types.Object) -> Iterable[bpy.types.FCurve]:
    """The F-curves that move an object now: of its action, and of its slot from Blender 4.4 on."""
    data = ob.animation_data
    if data is None or data.action is None:
        return ()
    action = data.action
    if not hasattr(action, "slots"):
        return action.fcurves
    if data.action_slot is None:
        return ()
    bags = (
        strip.channelbag(data.action_slot)
        for layer in action.layers
        for strip in layer.strips
        if strip.type == "KEYFRAME"
    )
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def open_curve(pivot: bpy.types.Object) -> bpy.types.FCurve | None:
    """The F-curve on `open`; None without animation."""
    return next((curve for curve in fcurves_of(pivot) if curve.data_path == OPEN_PATH), None)


def assign_action(ob: bpy.types.Object, action: bpy.types.Action | None) -> None:
    """Make `action` the active one of the object, with its first slot where there are slots."""
    data = ob.animation_data or ob.animation_data_create()
    data.action = action
    slots = getattr(action, "slots", ())
    if len(slots) and data.action_slot is None:
        data.action_slot = slots[0]  # type: ignore[index]


def write_keys(pivot: bpy.types.Object, keys: Iterable[Key], name: str) -> bpy.types.Action:
    """Put `open` on a new action; an earlier action is left as it is, without its user."""
    action = bpy.data.actions.new(name)
    assign_action(pivot, action)
    for key in keys:
        pivot["open"] = key.value
        pivot.keyframe_insert(OPEN_PATH, frame=key.frame)
    curve = open_curve(pivot)
    assert curve is not None
    for point, key in zip(curve.keyframe_points, keys, strict=True):
        # the artist's preferences decide what keyframe_insert makes, so say everything
        point.interpolation, point.easing = key.interpolation, key.easing
        point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        point.type = "KEYFRAME"
    curve.extrapolation = "CONSTANT"
    curve.update()
    return action


def show_frame(pivot: bpy.types.Object, frame: float) -> None:
    """Set `open` to what its curve says at `frame`, as the timeline would."""
    curve = open_curve(pivot)
    if curve is not None:
        pivot["open"] = curve.evaluate(frame)
