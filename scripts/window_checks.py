"""What the window test does with the mouse, waits for and checks; inside a real Blender."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

OUT = sys.argv[-1]
ID = "bl_ext.user_default.atop_articulate"
PROMPT = "the dishwasher door folds down"
JOB_LIMIT_S = 900
MANY = 10_000  # objects in the scene while the panel's drawing is timed


class Stopwatch:
    """How long the add-on holds Blender's main thread up, from now on."""

    def __init__(self) -> None:
        operators, self.monitor = module("operators"), module("monitor")
        self.copies: list[float] = []
        self.ticks: list[tuple[bool, float]] = []
        make_task, tick = operators.make_task, self.monitor.tick

        # time of this thread alone: other work on the machine does not count
        def timed_make_task(*arguments):
            begun = time.thread_time()
            task = make_task(*arguments)
            self.copies.append(time.thread_time() - begun)
            return task

        def timed_tick():
            begun = time.thread_time()
            again = tick()
            self.ticks.append((again is None, time.thread_time() - begun))
            return again

        operators.make_task, self.monitor.tick = timed_make_task, timed_tick

    def report(self) -> str:
        """The longest stalls."""
        running = max(seconds for last, seconds in self.ticks[1:] if not last)
        last = max(seconds for last, seconds in self.ticks if last)
        return (
            f"main thread: scene copy {self.copies[0] * 1e3:.0f} ms, start of the process "
            f"{self.ticks[0][1] * 1e3:.0f} ms, longest of {len(self.ticks)} ticks "
            f"{running * 1e3:.1f} ms, write-back {last * 1e3:.0f} ms"
        )


def module(name: str):
    """A module of the installed add-on's user interface."""
    return sys.modules[f"{ID}.ui.{name}"]


def wait_for_job(picture: str = "") -> Iterator[float]:
    """Until the running job is over, which it must be without a failure."""
    state = bpy.context.window_manager.atop_job
    begun, pictured = time.monotonic(), not picture
    while state.running or module("monitor").busy():
        assert time.monotonic() - begun < JOB_LIMIT_S, "the job takes too long"
        if state.fraction > 0.3 and not pictured:
            shoot(picture)
            pictured = True
        yield 0.1
    say(f"job: {time.monotonic() - begun:.1f} s")
    assert not state.failed, f"{state.message}: {state.hint}"


def check_scene_copy(names: set[str]) -> None:
    """The backend got the whole object, though local view showed the door alone."""
    copy = max(Path(OUT).glob("jobs/*/scene.blend"), key=lambda file: file.stat().st_mtime_ns)
    with bpy.data.libraries.load(str(copy)) as (found, _):
        assert set(found.objects) == names, found.objects


def check_undo_meanwhile(window, area) -> Iterator[float]:
    """Undo and redo while a job runs replace every data-block; the job does not mind."""
    for step in (bpy.ops.ed.undo, bpy.ops.ed.redo):
        yield 1.0
        with bpy.context.temp_override(window=window, area=area):
            step()
    assert module("monitor").busy()


def check_scrub(window, area) -> Iterator[float]:
    """Dragging the open handle moves the part live, and Esc puts it back."""
    pivot = module("gizmo").shown_joint(bpy.context).pivot
    before = pivot["open"]
    pivot["open"] = 0.5
    end = on_screen(area, handles()["open"])
    pivot["open"] = before
    x, y = on_screen(area, handles()["open"])
    yield from move(window, x - 20, y)
    yield from move(window, x, y)
    window.event_simulate(type="LEFTMOUSE", value="PRESS", x=x, y=y)
    yield 0.3
    for step in range(1, 6):
        yield from move(
            window, *(a + (b - a) * step // 5 for a, b in zip((x, y), end, strict=True))
        )
    assert abs(pivot["open"] - 0.5) < 0.05, "the open handle does not follow the mouse"
    for value in ("PRESS", "RELEASE"):
        window.event_simulate(type="ESC", value=value, x=end[0], y=end[1])
    window.event_simulate(type="LEFTMOUSE", value="RELEASE", x=end[0], y=end[1])
    yield 0.7
    assert abs(pivot["open"] - before) < 1e-6, "Esc does not restore the open handle"


def check_refit() -> Iterator[float]:
    """A fit from a roughly laid axis takes seconds and stays near it."""
    now = module("edit_operators").edit.joint_now(module("gizmo").shown_joint(bpy.context))
    rough = Vector(now.axis) + Vector((0.0, 0.1, 0.1))
    origin = Vector(now.origin) + Vector((0.0, 0.03, 0.04))
    bpy.ops.atop.set_axis(origin=origin, axis=rough)
    yield 0.5
    begun = time.monotonic()
    bpy.ops.atop.refit()
    yield from wait_for_job()
    found = joint()
    angle = Vector(found["axis"]).angle(Vector(now.axis))
    say(f"re-fit: {time.monotonic() - begun:.1f} s, {angle * 57.3:.2f} degrees from before")
    assert angle < 0.26, "the fit has left the neighbourhood of the axis"
    yield 0.5
    shoot("8-refit")


def check_cancel() -> Iterator[float]:
    """In every stage Cancel acts within a second and leaves no process."""
    state = bpy.context.window_manager.atop_job
    for stage, press in (
        ("render", lambda: bpy.ops.atop.articulate(prompt=PROMPT)),
        ("generate", lambda: bpy.ops.atop.articulate(prompt=PROMPT)),
        ("fit", lambda: bpy.ops.atop.refit()),
    ):
        press()
        begun = time.monotonic()
        while state.stage != stage:
            assert time.monotonic() - begun < JOB_LIMIT_S, f"the job never comes to {stage}"
            yield 0.05
        yield 0.3
        pid = module("monitor")._job.pid
        begun = time.monotonic()
        bpy.ops.atop.cancel()
        while module("monitor").busy():
            yield 0.02
        say(f"cancel in {stage}: {time.monotonic() - begun:.2f} s")
        assert state.message == "cancelled", state.message
        assert not Path(f"/proc/{pid}").exists(), "the backend is still there"


def timed(draw, kept: list[float]):
    """A panel's draw function that notes how long it took."""

    def draw_and_note(self, context) -> None:
        begun = time.perf_counter()
        draw(self, context)
        kept.append(time.perf_counter() - begun)

    return draw_and_note


def check_panel_speed(area) -> Iterator[float]:
    """All panels together draw in under 2 ms, as a rule, with many objects in the scene."""
    times: dict[str, list[float]] = {}
    for panel in module("panels").CLASSES:
        panel.draw = timed(panel.draw, times.setdefault(panel.bl_idname, []))
    many = bpy.data.collections.new("Many")
    for index in range(MANY):
        many.objects.link(bpy.data.objects.new(f"many {index}", None))
    many.hide_viewport = True  # their drawing is not ours
    bpy.context.scene.collection.children.link(many)
    for _ in range(12):
        next(r for r in area.regions if r.type == "UI").tag_redraw()
        yield 0.3
    medians = {name: sorted(each)[len(each) // 2] for name, each in times.items() if each}
    say(f"panels with {MANY} objects: " + ", ".join(
        f"{name} {seconds * 1e3:.2f} ms" for name, seconds in medians.items()
    ))  # fmt: skip
    assert {"ATOP_PT_part", "ATOP_PT_joint"} <= set(medians)
    bpy.data.batch_remove([*many.objects, many])


def check_preview(window, area) -> Iterator[float]:
    """The movies play in a fresh window, in step with the timeline."""
    for movie in ("FITTED", "BOTH"):
        with bpy.context.temp_override(window=window, area=area):
            outcome = bpy.ops.atop.show_preview(movie=movie)
        say(f"preview {movie}: {outcome}")
        yield 1.0
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


def say(text: str) -> None:
    """Print at once: Blender keeps what Python prints until it ends."""
    print(text, flush=True)


def shoot(name: str) -> None:
    """A picture of the whole screen."""
    subprocess.run(["import", "-window", "root", f"{OUT}/{name}.png"], check=True)
