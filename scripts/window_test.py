"""Drives a real Blender window: opens the tab, types a prompt, clicks the button, takes pictures.

Run by window_test.sh inside Blender: `blender ... --python window_test.py -- ZIP PYTHON GLB OUT`.
Ends Blender with exit code 0 if the part was articulated by the click and all that follows works.
With `blender -b` the same is asked of the operators alone, which wait for the answer themselves.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

import window_checks as checks
from window_checks import ID, OUT, PROMPT, click, joint, say, shoot, type_text

ZIP, PYTHON, ASSET = sys.argv[sys.argv.index("--") + 1 :][:3]
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
    with bpy.context.temp_override(window=window, area=area):
        bpy.ops.view3d.localview()  # of the door alone: the body counts all the same
    yield 0.5
    watch = checks.Stopwatch()
    yield from click(window, x, top - BUTTON_Y)
    yield from checks.check_undo_meanwhile(window, area)
    yield from checks.wait_for_job("3-running")
    say(f"answer: {bpy.context.window_manager.atop_job.message}")
    say(watch.report())
    checks.check_scene_copy({"base", "door", "top_rack"})
    if area.spaces[0].local_view is not None:  # undo and redo may have left it
        with bpy.context.temp_override(window=window, area=area):
            bpy.ops.view3d.localview()
    bpy.context.scene.frame_set(49)
    yield 1.5
    shoot("4-articulated")

    yield from checks.check_undo(window, area)
    yield from checks.check_handles(window, area)
    yield from checks.check_scrub(window, area)
    yield from checks.check_place_axis(window, area)
    yield from checks.check_refit()
    yield from checks.check_cancel()
    yield from checks.check_panel_speed(area)
    if list(Path(OUT).glob("jobs/*/job/*.mp4")):  # quality Draft makes none
        yield from checks.check_preview(window, area)


def install() -> None:
    """The add-on installed and the object alone in the scene, its door selected."""
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


def open_scene(window, area) -> None:
    """The object in view."""
    install()
    bpy.context.scene.atop.quality = os.environ.get("ATOP_WINDOW_QUALITY", "STANDARD")
    view = area.spaces[0].region_3d
    area.spaces[0].shading.type = "MATERIAL" if os.environ.get("ATOP_MATERIAL") else "SOLID"
    area.spaces[0].shading.color_type = "MATERIAL"
    view.view_rotation = (0.83, 0.45, 0.16, 0.29)
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.view3d.view_all()
    view.view_distance *= 1.6


def in_background() -> None:
    """The whole way by operators, which wait where there is no window; then saved and reverted."""
    install()
    begun = time.monotonic()
    bpy.context.scene.atop.quality = "DRAFT"
    assert bpy.ops.atop.articulate(prompt=PROMPT) == {"FINISHED"}
    say(f"without a window, quality Draft: {time.monotonic() - begun:.1f} s, {joint()}")
    assert bpy.ops.atop.bake() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=f"{OUT}/background.blend")
    assert bpy.ops.atop.revert() == {"FINISHED"}
    assert not [ob for ob in bpy.data.objects if "atop" in ob]


def main() -> None:
    """Run the script from a timer, since Blender draws and takes events only in between."""
    if bpy.app.background:
        in_background()  # an exception ends `blender -b --python-exit-code 3` with that code
        leave(0)
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
