"""Drives a real Blender window: opens the tab, types a prompt, clicks the button, takes pictures.

Run by window_test.sh inside Blender: `blender ... --python window_test.py -- ZIP PYTHON GLB OUT`.
Ends Blender with exit code 0 if the part was articulated by the click and the preview plays.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

ZIP, PYTHON, ASSET, OUT = sys.argv[sys.argv.index("--") + 1 :][:4]
ID = "bl_ext.user_default.atop_articulate"
PROMPT = "the dishwasher door folds down"
JOB_LIMIT_S = 280
# pixels below the top of the sidebar's panels, at 1280 x 800 and the default interface scale
PROMPT_FIELD_Y, BUTTON_Y = 107, 212
WIDTH_SHARE = 0.4  # where in the sidebar's width to click, left of its tabs


def script() -> Iterator[float]:
    """The steps of the test; each yield waits that many seconds for redraws and events."""
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    open_scene(window, area)
    yield 1.0
    area.spaces[0].show_region_ui = True
    sidebar = next(r for r in area.regions if r.type == "UI")
    for _ in range(40):  # the tab is known only once the sidebar has been drawn
        yield 0.5
        if sidebar.active_panel_category == "Articulate":
            break
        with contextlib.suppress(TypeError, AttributeError):
            sidebar.active_panel_category = "Articulate"
        sidebar.tag_redraw()
    yield 1.5
    shoot("1-tab")

    x = sidebar.x + int(sidebar.width * WIDTH_SHARE)
    top = sidebar.y + sidebar.height
    yield from click(window, x, top - PROMPT_FIELD_Y)
    yield from type_text(window, PROMPT)
    assert bpy.context.scene.atop.prompt == PROMPT, bpy.context.scene.atop.prompt
    shoot("2-prompt")
    yield from click(window, x, top - BUTTON_Y)

    state = bpy.context.window_manager.atop_job
    begun, pictured = time.monotonic(), False
    while state.running or not state.message:
        assert time.monotonic() - begun < JOB_LIMIT_S, "the job takes too long"
        if state.fraction > 0.3 and not pictured:
            shoot("3-running")
            pictured = True
        yield 0.1
    print(f"job: {time.monotonic() - begun:.1f} s")
    assert not state.failed, f"{state.message}: {state.hint}"
    print(f"answer: {state.message}")
    bpy.context.scene.frame_set(49)
    yield 1.5
    shoot("4-articulated")

    yield from check_undo(window, area)
    yield from check_handles(window, area)
    yield from check_place_axis(window, area)
    if list(Path(OUT).glob("jobs/*/job/*.mp4")):  # a scripted backend makes none
        with bpy.context.temp_override(window=window, area=area):
            outcome = bpy.ops.atop.show_preview()
        print(f"preview: {outcome}")
        yield 2.0
        bpy.ops.screen.animation_play()
        yield 1.5
        bpy.ops.screen.animation_cancel(restore_frame=False)
        bpy.context.scene.frame_set(40)
        yield 1.5
        shoot("5-preview")


def frame_of_joint():
    """The one joint frame in the scene."""
    frames = [ob for ob in bpy.data.objects if "atop" in ob]
    assert len(frames) == 1, [ob.name for ob in bpy.data.objects]
    return frames[0]


def joint() -> dict:
    """The joint as it is stored now."""
    return json.loads(frame_of_joint()["atop"])["joint"]


def check_undo(window, area) -> Iterator[float]:
    """Writing the result back was one undo step, and comes back with redo."""
    before = joint()
    with bpy.context.temp_override(window=window, area=area):
        bpy.ops.ed.undo()
    yield 0.5
    assert not [ob for ob in bpy.data.objects if "atop" in ob], "undo left the joint"
    assert bpy.data.objects["door"].parent is None
    with bpy.context.temp_override(window=window, area=area):
        bpy.ops.ed.redo()
    yield 0.5
    assert joint() == before


def on_screen(area, place) -> tuple[int, int]:
    """Window pixel of a point in the world."""
    region = next(r for r in area.regions if r.type == "WINDOW")
    x, y = location_3d_to_region_2d(region, area.spaces[0].region_3d, place)
    return int(x) + region.x, int(y) + region.y


def handles():
    """Where the axis handles are, by role."""
    module = sys.modules[f"{ID}.ui.gizmo"]
    return module.handle_places(module.shown_joint(bpy.context))


def check_handles(window, area) -> Iterator[float]:
    """Dragging the origin moves the axis in one undo step, and Esc restores it."""
    for keep in (False, True):
        before = joint()
        x, y = on_screen(area, handles()["origin"])
        yield from move(window, x - 20, y)
        yield from move(window, x, y)
        window.event_simulate(type="LEFTMOUSE", value="PRESS", x=x, y=y)
        yield 0.3
        for step in range(1, 6):
            yield from move(window, x + 8 * step, y + 4 * step)
        assert joint() != before, "the handle does not follow the mouse"
        if keep:
            window.event_simulate(type="LEFTMOUSE", value="RELEASE", x=x + 40, y=y + 20)
        else:
            window.event_simulate(type="ESC", value="PRESS", x=x + 40, y=y + 20)
            window.event_simulate(type="ESC", value="RELEASE", x=x + 40, y=y + 20)
            window.event_simulate(type="LEFTMOUSE", value="RELEASE", x=x + 40, y=y + 20)
        yield 0.7
        assert (joint() != before) == keep, "Esc does not restore" if not keep else "drag is lost"
    shoot("6-dragged")
    with bpy.context.temp_override(window=window, area=area):
        bpy.ops.ed.undo()
    yield 0.5
    assert joint() == before, "a drag is not one undo step"


def check_place_axis(window, area) -> Iterator[float]:
    """The axis follows the edge under the mouse; Esc restores, a click keeps."""
    region = next(r for r in area.regions if r.type == "WINDOW")
    body = bpy.data.objects["base"]
    corner = body.matrix_world @ Vector(body.bound_box[5])
    for keep in (False, True):
        before = joint()
        with bpy.context.temp_override(window=window, area=area, region=region):
            bpy.ops.atop.place_axis("INVOKE_DEFAULT")
        x, y = on_screen(area, corner.lerp(Vector((0, 0, 0)), 0.15))
        for step in range(4):
            yield from move(window, x + 5 * step, y)
        assert joint() != before, "the axis does not snap"
        key = "LEFTMOUSE" if keep else "ESC"
        window.event_simulate(type=key, value="PRESS", x=x, y=y)
        window.event_simulate(type=key, value="RELEASE", x=x, y=y)
        yield 0.5
        assert (joint() != before) == keep
    shoot("7-placed")
    with bpy.context.temp_override(window=window, area=area):
        bpy.ops.ed.undo()
    yield 0.5
    assert joint() == before, "placing the axis is not one undo step"


def move(window, x: int, y: int) -> Iterator[float]:
    """Move the mouse there."""
    window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    yield 0.15


def open_scene(window, area) -> None:
    """The add-on installed and the object in view, its door selected."""
    bpy.ops.extensions.package_install_files(
        filepath=ZIP, repo="user_default", enable_on_install=True
    )
    options = bpy.context.preferences.addons[ID].preferences
    options.python, options.cache = PYTHON, str(Path(OUT) / "jobs")
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    bpy.ops.import_scene.gltf(filepath=ASSET)
    door = next(ob for ob in bpy.data.objects if "door" in ob.name.lower())
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob == door)
    bpy.context.view_layer.objects.active = door
    view = area.spaces[0].region_3d
    area.spaces[0].shading.type = "MATERIAL" if os.environ.get("ATOP_MATERIAL") else "SOLID"
    area.spaces[0].shading.color_type = "MATERIAL"
    view.view_rotation = (0.83, 0.45, 0.16, 0.29)
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.view3d.view_all()
    view.view_distance *= 1.6


def click(window, x: int, y: int) -> Iterator[float]:
    """Press and release the left button at a place of the window."""
    window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    yield 0.3
    for value in ("PRESS", "RELEASE"):
        window.event_simulate(type="LEFTMOUSE", value=value, x=x, y=y)
        yield 0.15
    yield 0.4


def type_text(window, text: str) -> Iterator[float]:
    """Replace the content of the text field that is being edited."""
    x, y = 640, 400
    window.event_simulate(type="A", value="PRESS", ctrl=True, x=x, y=y)
    window.event_simulate(type="A", value="RELEASE", ctrl=True, x=x, y=y)
    yield 0.1
    for letter in text:
        kind = "SPACE" if letter == " " else letter.upper()
        window.event_simulate(type=kind, value="PRESS", unicode=letter, x=x, y=y)
        window.event_simulate(type=kind, value="RELEASE", x=x, y=y)
        yield 0.02
    window.event_simulate(type="RET", value="PRESS", x=x, y=y)
    window.event_simulate(type="RET", value="RELEASE", x=x, y=y)
    yield 0.5


def shoot(name: str) -> None:
    """A picture of the whole screen."""
    subprocess.run(["import", "-window", "root", f"{OUT}/{name}.png"], check=True)


def main() -> None:
    """Run the script from a timer, since Blender draws and takes events only in between."""
    bpy.context.preferences.view.show_splash = False
    steps = script()

    def advance() -> float:
        try:
            return next(steps)
        except StopIteration:
            leave(0)
        except BaseException:  # anything at all must end Blender, or the test would hang
            traceback.print_exc()
            shoot("failed")
            leave(1)
        return 1.0

    bpy.app.timers.register(advance, first_interval=1.0)


def leave(code: int) -> None:
    """End Blender at once."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


main()
