"""Switches, levers, knobs, buttons, keys and dials on plates, boxes and panels."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    knurled,
    lathe,
    rounded_rectangle,
    sphere,
)

_COUNTED = ("first", "second", "third", "fourth", "fifth", "sixth")


def _places(name: str, index: int, count: int) -> tuple[str, ...]:
    """Names of one of several alike parts in a row, from the left."""
    if count == 1:
        return (name,)
    names = [name]
    if index == 0:
        names += [f"left {name}", f"leftmost {name}", f"first {name} from the left"]
    elif index == count - 1:
        names += [f"right {name}", f"rightmost {name}"]
    elif count == 3:
        names.append(f"middle {name}")
    if 0 < index < min(count, 6):
        names.append(f"{_COUNTED[index]} {name} from the left")
    return tuple(names)


def _backing(s: Sketch, wide: float, high: float) -> str:
    """A wall plate, a box or a sloped console whose front is the plane y = 0; its name."""
    style = s.one_of("plate", "box", "box", "machine")
    low, top = (-wide / 2, 0.0, -high / 2), high / 2
    if style == "plate":
        outline = rounded_rectangle(
            (-wide / 2, -high / 2), (wide / 2, high / 2), high * s.between(0, 0.2)
        )
        s.fix(extrude(outline, "xz", 0, min(wide, high) * s.between(0.06, 0.2)))
    elif style == "box":
        s.fix(box(low, (wide / 2, high * s.between(0.3, 1.5), top)))
        if s.chance(0.5):
            s.fix(
                box((low[0] * 0.93, -0.002 * high, low[2] * 0.93), (-low[0] * 0.93, 0, top * 0.93)),
                "panel",
            )
    else:
        deep = wide * s.between(0.5, 1.2)
        foot = -high / 2 - wide * s.between(0.3, 1.2)
        s.fix(box((-wide / 2 * 1.1, 0, foot), (wide / 2 * 1.1, deep, top)))
        s.fix(box((low[0], -0.004, low[2]), (-low[0], 0, top)), "panel")
    return style


def switch(rng: np.random.Generator) -> Draft:
    """A plate with toggles or rockers in a row; one of them is flipped."""
    s = Sketch(rng)
    count = int(rng.integers(1, 5))
    pitch, high = s.between(0.03, 0.05), s.between(0.07, 0.12)
    _backing(s, pitch * (count + 0.6), high)
    chosen, style = int(rng.integers(count)), s.one_of("rocker", "toggle", "toggle", "slide")
    tilt = s.degrees(8, 28)
    upward = s.chance(0.5)
    for i in range(count):
        x, moves = pitch * (i - (count - 1) / 2), i == chosen
        low = upward if moves else s.chance(0.5)  # points down at rest
        lean = tilt if low else -tilt
        mark, w = s.mark(), pitch * s.between(0.25, 0.4)
        if style == "rocker":
            h, deep = high * s.between(0.2, 0.35), w * 0.5
            s.fix(box((x - w * 1.15, -0.002, -h * 1.15), (x + w * 1.15, 0, h * 1.15)), "trim")
            mark = s.mark()
            rocker = [(0.004, -h), (-0.003, -h), (-deep, 0), (-0.003, h), (0.004, h)]
            s.add(extrude(rocker, "yz", x - w, x + w), "front", moves)
            s.turn(mark, (1, 0, 0), lean * 0.5, (x, 0, 0))
        elif style == "toggle":
            s.fix(box((x - w, -0.003, -high * 0.16), (x + w, 0, high * 0.16)), "trim")
            mark, reach, t = s.mark(), s.between(0.018, 0.035), w * s.between(0.25, 0.6)
            if s.chance(0.5):
                s.add(cylinder((x, 0.004, 0), (0, -reach, 0), t * 0.7, t), "front", moves)
                s.add(sphere((x, -reach, 0), t, 8, 5), "front", moves)
            else:
                s.add(box((x - t, -reach, -t * 0.7), (x + t, 0.004, t * 0.7)), "front", moves)
            s.turn(mark, (1, 0, 0), lean, (x, 0, 0))
        else:
            travel = high * 0.25
            s.fix(
                box((x - w * 0.4, -0.0015, -travel * 1.5), (x + w * 0.4, 0, travel * 1.5)), "dark"
            )
            z = (-travel if upward else travel) * s.between(0.6, 1.0)
            s.add(
                box((x - w, -0.012, z - travel * 0.4), (x + w, -0.0016, z + travel * 0.4)),
                "front",
                moves,
            )
        if moves:
            at = (x, 0.0, z if style == "slide" else 0.0)
    parts = (*_places("switch", chosen, count), "toggle" if style == "toggle" else "switch")
    objects = ("switch", "light switch", "switch panel", "control panel")
    if style == "slide":
        joint = slider((0, 0, 1 if upward else -1), at, high * 0.25 * 1.1)
        words = (say.SLIDE_UP, say.SLIDE_DOWN)
    else:  # a part that points to the front goes up when it turns about -X
        joint = hinge((-1 if upward else 1, 0, 0), at, tilt * (1.0 if style == "rocker" else 2.0))
        up = say.words(
            "flips up|is flipped up|goes up|is switched up|tilts up", "flip {} up|push {} up"
        )
        down_words = say.words(
            "flips down|is flipped down|goes down|tilts down", "flip {} down|push {} down"
        )
        words = (up, down_words)
    there, back = words if upward else words[::-1]
    neutral = say.words("is flipped|flips|is switched|is toggled", "flip {}|switch {}|toggle {}")
    return s.draft(
        "switch", joint, objects, parts, say.join(there, neutral) if s.chance(0.5) else there, back
    )


def lever(rng: np.random.Generator) -> Draft:
    """A lever out of a console or on the side of a machine, in a slot or on a pivot."""
    s = Sketch(rng)
    wide, deep, high = s.between(0.1, 0.3), s.between(0.15, 0.35), s.between(0.1, 0.4)
    s.fix(box((-wide / 2, -deep / 2, 0), (wide / 2, deep / 2, high)))
    long, thick = s.between(0.1, 0.35), s.between(0.006, 0.016)
    objects = ("lever", "machine", "control box", "gear shift", "device")
    parts = ("lever", "handle", "stick", "arm")
    style = s.one_of("top", "side", "front")
    knob = s.one_of("ball", "bar", "none")
    mark = s.mark()
    if style == "top":
        s.fix(box((-thick * 2, -deep * 0.3, high), (thick * 2, deep * 0.3, high + 0.004)), "dark")
        pivot, way = (0.0, 0.0, high), np.array((0.0, 0.0, 1.0))
    elif style == "front":
        level = high * s.between(0.4, 0.8)
        s.fix(
            box(
                (-thick * 2, -deep / 2 - 0.004, level - high * 0.2),
                (thick * 2, -deep / 2, level + high * 0.2),
            ),
            "dark",
        )
        pivot, way = (0.0, -deep / 2, level), np.array((0.0, -1.0, 0.0))
    else:
        side = s.sign()
        level = high * s.between(0.4, 0.9)
        x = side * (wide / 2 + thick * 1.5)
        s.fix(
            cylinder(
                (side * wide / 2, 0, level), (side * thick * 1.5, 0, 0), thick * 2, segments=12
            ),
            "metal",
        )
        s.move(cylinder((x, 0, level), (side * thick * 2, 0, 0), thick * 2, segments=12), "metal")
        x += side * thick
        pivot, way = (x, 0.0, level), np.array((0.0, 0.0, 1.0))
    mark = s.mark()
    end = np.array(pivot) + way * long
    s.move(cylinder(pivot, way * long, thick, thick * s.between(0.6, 1.0), 8), "metal")
    if knob == "ball":
        s.move(sphere(end, thick * s.between(1.6, 3.0), 10, 6), "accent")
    elif knob == "bar":
        s.move(cylinder(end - (long * 0.25, 0, 0), (long * 0.5, 0, 0), thick * 1.5), "accent")
    if style == "front":
        start = s.between(-0.5, 0.5)
        s.turn(mark, (1, 0, 0), start, pivot)
        sign = -1 if start > 0 else 1
        upper = min(abs(start) + s.between(0.3, 0.7), 1.2)
        joint = hinge((sign, 0, 0), pivot, upper)
        words = (say.TILT_DOWN, say.TILT_UP) if sign > 0 else (say.TILT_UP, say.TILT_DOWN)
        pulled = (
            say.words("is pulled down", "pull {} down")
            if sign > 0
            else say.words("is pushed up", "push {} up")
        )
        return s.draft("lever", joint, objects, parts, say.join(words[0], pulled), words[1])
    start = s.degrees(-50, 50) if style == "top" else s.degrees(-140, 140)
    s.turn(mark, (1, 0, 0), start, pivot)
    sign = -1 if start > 0 else 1  # +X tips an upright lever backwards
    upper = min(abs(start) + s.between(0.3, 0.8), abs(start) + 0.95)
    joint = hinge((sign, 0, 0), pivot, upper)
    if style == "top":
        back = say.words(
            "is pushed back|tilts backward|moves back", "push {} back|push {} backward"
        )
        forth = say.words("is pulled forward|tilts forward|is pulled", "pull {} forward|pull {}")
        there, home = (forth, back) if sign > 0 else (back, forth)
        return s.draft("lever", joint, objects, parts, there, home)
    motion, home = s.tilting(joint)
    motion = say.join(motion, say.words("is pulled|moves|turns", "pull {}|turn {}"))
    return s.draft("lever", joint, objects, parts, motion, home, directed=False)


def knob_panel(rng: np.random.Generator) -> Draft:
    """Knobs or buttons in a row or in rows on a front; one turns or is pressed."""
    s = Sketch(rng)
    columns, rows = int(rng.integers(1, 6)), s.one_of(1, 1, 1, 2, 3)
    pitch = s.between(0.04, 0.09)
    size = pitch * s.between(0.12, 0.42)
    wide = pitch * columns * s.between(1.1, 2.5) + pitch * 0.4
    high = pitch * (rows + s.between(0.3, 2.0))
    kind = s.one_of("knob", "knob", "button", "button", "dial")
    _backing(s, wide, high)
    chosen_x, chosen_z = int(rng.integers(columns)), int(rng.integers(rows))
    style, deep = int(rng.integers(4)), size * s.between(0.4, 1.2)
    stands = deep * s.between(0.3, 1.0)
    for row in range(rows):
        for column in range(columns):
            x, z = pitch * (column - (columns - 1) / 2), pitch * ((rows - 1) / 2 - row)
            moves = (column, row) == (chosen_x, chosen_z)
            if kind == "button":
                if style < 2:
                    s.fix(cylinder((x, 0, z), (0, -stands * 0.2, 0), size * 1.2), "trim")
                    s.add(
                        cylinder((x, 0, z), (0, -stands, 0), size, size * 0.95, 14), "front", moves
                    )
                else:
                    tall = size * s.between(0.6, 0.9)
                    s.add(
                        box((x - size, -stands, z - tall), (x + size, 0, z + tall)), "front", moves
                    )
            else:
                _knob(s, (x, z), size, deep, style if kind == "knob" else 3, moves)
            if moves:
                at = (x, 0.0, z)
    objects = ("control panel", "panel", "device", "machine", "radio", "amplifier")
    names = (
        _places("button" if kind == "button" else kind, chosen_x, columns)
        if rows == 1
        else (kind, f"one {kind}")
    )
    if kind == "button":
        objects = ("control panel", "button panel", "device", "keypad", "intercom")
        joint = slider((0, 1, 0), at, stands * s.between(0.5, 0.9))
        return s.draft("button", joint, objects, names, say.PRESS)
    axis, motion = s.twist((0, -1, 0))
    joint = hinge(axis, at, s.degrees(30, 170))
    return s.draft("knob", joint, objects, names, motion, directed=False)


def _knob(
    s: Sketch, at: tuple[float, float], size: float, deep: float, style: int, moves: bool
) -> None:
    """A knob on the plane y = 0: plain with a mark, stepped, with a grip bar, or a wide dial."""
    x, z = at
    turned = s.mark()
    if style == 0 and s.chance(0.5):
        s.add(cylinder((x, 0, z), (0, -deep, 0), size, size * 0.85, 16), "handle", moves)
    elif style == 0:
        ridges = knurled((x, 0, z), (0, -deep, 0), size, size * 0.92, int(s.rng.integers(6, 17)))
        s.add(ridges, "handle", moves)
    elif style == 1:
        s.add(cylinder((x, 0, z), (0, -deep * 0.3, 0), size, segments=16), "trim", moves)
        s.add(cylinder((x, 0, z), (0, -deep * 1.3, 0), size * 0.7, size * 0.6, 12), "handle", moves)
    elif style == 2:
        s.add(cylinder((x, 0, z), (0, -deep * 0.5, 0), size, segments=16), "handle", moves)
        bar = box(
            (x - size * 0.2, -deep * 1.4, z - size * 0.9),
            (x + size * 0.2, -deep * 0.5, z + size * 0.9),
        )
        s.add(bar, "handle", moves)
    else:
        profile = [(0, 0), (size, 0), (size, deep * 0.4), (size * 0.6, deep), (0, deep)]
        s.add(lathe([(r, -h) for r, h in profile][::-1], (x, 0, z), "y", 14), "handle", moves)
    reach = deep * (1.45 if style in (1, 2) else 1.04)
    mark = box(
        (x - size * 0.06, -reach, z + size * 0.25), (x + size * 0.06, -deep * 0.5, z + size * 0.58)
    )
    s.add(mark, "accent", moves)
    s.turn(turned, (0, 1, 0), s.degrees(-140, 140), (x, 0, z))


def keyboard(rng: np.random.Generator) -> Draft:
    """A keyboard, calculator or remote: one key of many goes down."""
    s = Sketch(rng)
    name = s.one_of("keyboard", "keyboard", "remote", "calculator")
    columns, rows = {"keyboard": (12, 4), "remote": (3, 8), "calculator": (4, 6)}[name]
    columns, rows = columns + int(rng.integers(-1, 3)), rows + int(rng.integers(-1, 2))
    pitch, deep = s.between(0.014, 0.02), s.between(0.006, 0.02)
    wide, long = pitch * (columns + 0.6), pitch * (rows + s.between(0.6, 2.5))
    outline = rounded_rectangle(
        (-wide / 2, -long / 2), (wide / 2, long / 2), pitch * s.between(0.05, 0.9)
    )
    s.fix(extrude(outline, "xy", 0, deep))
    rise, size = s.between(0.002, 0.007), pitch * s.between(0.3, 0.45)
    chosen = (int(rng.integers(columns)), int(rng.integers(rows)))
    round_keys = name != "keyboard" and s.chance(0.4)
    wide_key = name == "keyboard" and s.chance(0.25)
    for row in range(rows):
        y = -long / 2 + pitch * (row + 0.75)
        for column in range(columns):
            x = pitch * (column - (columns - 1) / 2)
            moves = (column, row) == chosen and not wide_key
            if name == "keyboard" and row == 0 and 3 <= column <= columns - 4:
                if column > 3:
                    continue
                half = pitch * (columns - 6) / 2
                moves = wide_key or (chosen[1] == 0 and 3 <= chosen[0] <= columns - 4)
                s.add(box((-half, y - size, deep), (half, y + size, deep + rise)), "front", moves)
                if moves:
                    at, key_names = (0.0, y, deep), ("space bar", "key", "long key")
                continue
            if round_keys:
                key = cylinder((x, y, deep), (0, 0, rise), size, segments=8)
            else:
                key = box((x - size, y - size, deep), (x + size, y + size, deep + rise))
            s.add(key, "front", moves)
            if moves:
                at, key_names = (x, y, deep), ("key", "button", "one key")
    joint = slider((0, 0, -1), at, rise * s.between(0.5, 0.9))
    objects = {
        "keyboard": ("keyboard", "computer keyboard"),
        "remote": ("remote", "remote control", "tv remote"),
        "calculator": ("calculator", "phone", "keypad"),
    }[name]
    if name != "keyboard":
        key_names = ("button", "key", "one button")
        if s.chance(0.4):
            joint = s.lay(joint, (1, 0, 0), np.pi / 2 * s.between(0.5, 1.0))
            return s.draft(name, joint, objects, key_names, say.PRESS)
    return s.draft(name, joint, objects, key_names, say.PRESS_DOWN)


KINDS = {
    "switch": (2.2, switch),
    "lever": (1.8, lever),
    "knob_panel": (2.5, knob_panel),
    "keyboard": (1.4, keyboard),
}
