"""Pressing the add-on's buttons as an artist does, and waiting for the scripted backend."""

from __future__ import annotations

import time

import bpy
from scenes import box

from blender_addon.ui import monitor


def cabinet():
    """A body and its door, the door being active and selected."""
    body = box("Body", location=(0.0, 0.1, 0.0))
    door = box("Door", body, (0.0, -0.1, 0.0))
    select(door)
    return door


def select(*objects):
    """Make these the selection, the last one active."""
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob in objects)
    bpy.context.view_layer.objects.active = objects[-1]


def articulate(prompt="the door swings open", **choices):
    """Press the button and wait for the end."""
    for name, value in choices.items():
        setattr(bpy.context.scene.atop, name, value)
    return bpy.ops.atop.articulate(prompt=prompt)


def start_without_waiting(monkeypatch, prompt):
    """Press the button as in a window, where the timer does the rest."""
    monkeypatch.setattr("blender_addon.ui.operators.finish_in_background", lambda *_: {"FINISHED"})
    bpy.ops.atop.articulate(prompt=prompt)
    deadline = time.monotonic() + 10
    while not bpy.context.window_manager.atop_job.fraction and time.monotonic() < deadline:
        monitor.tick()
        time.sleep(0.02)


def finish(seconds=10.0):
    """Tick until nothing is left."""
    deadline = time.monotonic() + seconds
    while monitor.tick() is not None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return bpy.context.window_manager.atop_job
