"""Kitchen machines: toasters, blenders, coffee machines, mixers."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.containers import slab
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import HOUSEHOLD, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    lathe,
    rounded_rectangle,
    sphere,
    tube,
)


def toaster(rng: np.random.Generator) -> Draft:
    """A toaster: the lever at its end is pushed down, a knob turns, the crumb tray slides out."""
    s = Sketch(rng)
    long, wide, high = s.between(0.24, 0.38), s.between(0.14, 0.26), s.between(0.16, 0.22)
    part = s.one_of("lever", "lever", "lever", "knob", "tray", "button")
    slots = 1 if wide < 0.17 else 2
    radius = s.between(0.005, 0.06)
    outline = rounded_rectangle((-wide / 2, 0.012), (wide / 2, high), radius)
    for y0, y1 in ((-long / 2, -long / 2 + 0.03), (long / 2 - 0.03, long / 2)):  # end caps
        s.fix(extrude(outline, "xz", y0, y1), "body")
    inner = long / 2 - 0.03
    slot, walls = 0.03, []
    centres = [0.0] if slots == 1 else [-wide * 0.2, wide * 0.2]
    edges = [-wide / 2 + 0.004] + [c + d for c in centres for d in (-slot / 2, slot / 2)]
    edges.append(wide / 2 - 0.004)
    walls = list(zip(edges[::2], edges[1::2], strict=True))
    for x0, x1 in walls:
        s.fix(box((x0, -inner, 0.03), (x1, inner, high - radius * 0.25)), "metal")
    s.fix(box((-wide / 2 + 0.004, -inner, 0.03), (wide / 2 - 0.004, inner, 0.06)), "dark")
    for x in (-1, 1):
        for y in (-1, 1):
            at = np.array((x * wide * 0.38, y * long * 0.4, 0.0))
            s.fix(cylinder(at, (0, 0, 0.014), 0.012, segments=8), "dark")
    front = -long / 2
    x = s.one_of(0.0, 0.0, -wide * 0.2, wide * 0.2)
    top, bottom = high * 0.82, high * 0.3
    s.fix(box((x - 0.004, front - 0.0012, bottom), (x + 0.004, front, top)), "dark")
    up = top - 0.012 if s.chance(0.8) else bottom + 0.012
    size, out = s.between(0.014, 0.028), s.between(0.015, 0.035)
    level = up
    if s.chance(0.5):
        lever = box(
            (x - size, front - out, level - 0.007), (x + size, front - 0.0015, level + 0.007)
        )
    else:
        lever = slab(2 * size, out, level - 0.006, level + 0.006, 0.01) + np.array(
            (x, front - out / 2 - 0.002, 0)
        )
    s.add(lever, "dark", part == "lever")
    s.add(
        box((x - 0.0025, front - 0.004, level - 0.004), (x + 0.0025, front + 0.02, level + 0.004)),
        "dark",
        part == "lever",
    )
    knob_x, knob_z = -x if x else wide * 0.28, high * s.between(0.2, 0.35)
    knob_r = s.between(0.012, 0.02)
    s.add(
        cylinder((knob_x, front, knob_z), (0, -0.014, 0), knob_r, knob_r * 0.85, 14),
        "trim",
        part == "knob",
    )
    mark = box(
        (knob_x - 0.002, front - 0.016, knob_z),
        (knob_x + 0.002, front - 0.013, knob_z + knob_r * 0.8),
    )
    s.add(mark, "accent", part == "knob")
    for i in range(int(rng.integers(0, 4)) + (part == "button")):
        z = high * (0.45 + 0.1 * i)
        button = cylinder((knob_x, front, z), (0, -0.006, 0), 0.007, segments=10)
        s.add(button, "metal", part == "button" and i == 0)
    s.add(
        box((-wide * 0.4, front - 0.004, 0.014), (wide * 0.4, front + 0.5 * long, 0.022)),
        "metal",
        part == "tray",
    )
    s.add(
        box((-wide * 0.15, front - 0.012, 0.012), (wide * 0.15, front - 0.003, 0.024)),
        "metal",
        part == "tray",
    )
    objects = ("toaster",)
    turn = s.one_of(0.0, 0.0, np.pi / 2, -np.pi / 2, np.pi)
    if part == "lever":
        raised = up > (top + bottom) / 2
        travel = (top - bottom - 0.03) * s.between(0.8, 1.0)
        joint = s.lay(
            slider((0, 0, -1 if raised else 1), (x, front, level), travel), (0, 0, 1), turn
        )
        words = (say.join(say.SLIDE_DOWN, say.PRESS_DOWN), say.SLIDE_UP)
        there, back = words if raised else words[::-1]
        return s.draft("toaster", joint, objects, ("lever", "slider", "handle"), there, back)
    if part == "knob":
        axis, motion = s.twist((0, -1, 0))
        joint = s.lay(hinge(axis, (knob_x, front, knob_z), s.degrees(40, 170)), (0, 0, 1), turn)
        return s.draft(
            "toaster", joint, objects, ("knob", "dial", "timer knob"), motion, directed=False
        )
    if part == "button":
        joint = s.lay(slider((0, 1, 0), (knob_x, front, high * 0.45), 0.004), (0, 0, 1), turn)
        return s.draft("toaster", joint, objects, ("button",), say.PRESS)
    joint = s.lay(
        slider((0, -1, 0), (0, front, 0.018), long * s.between(0.25, 0.5)), (0, 0, 1), turn
    )
    return s.draft("toaster", joint, objects, ("crumb tray", "tray"), say.SLIDE_OUT, say.SLIDE_IN)


def blender(rng: np.random.Generator) -> Draft:
    """A blender, juicer or food processor: lid, jug, knob or button."""
    s = Sketch(rng, (*HOUSEHOLD, palette.GLASSES))
    radius, base = s.between(0.06, 0.09), s.between(0.1, 0.2)
    part = s.one_of("lid", "lid", "jug", "jug", "knob", "button", "cap")
    if s.chance(0.6):
        s.fix(
            cylinder(
                (0, 0, 0),
                (0, 0, base),
                radius * s.between(1.2, 1.5),
                radius * s.between(0.8, 1.1),
                20,
            ),
            "body",
        )
    else:
        w = radius * s.between(1.1, 1.4)
        s.fix(extrude(rounded_rectangle((-w, -w), (w, w), w * 0.2), "xy", 0, base), "body")
    front = -radius * 1.2
    s.fix(box((-radius * 0.8, front - 0.012, 0.015), (radius * 0.8, 0, base * 0.7)), "body")
    face = front - 0.012
    knob, level = s.between(0.016, 0.028), 0.015 + base * 0.32
    s.add(
        cylinder((0, face, level), (0, -0.018, 0), knob, knob * 0.8, 14), "handle", part == "knob"
    )
    s.add(
        box((-0.003, face - 0.022, level), (0.003, face - 0.016, level + knob * 0.9)),
        "accent",
        part == "knob",
    )
    for i, x in enumerate((-0.65, 0.65)):
        at = (x * radius, face, level)
        s.add(cylinder(at, (0, -0.007, 0), 0.009, segments=10), "trim", part == "button" and i == 0)
    tall = s.between(0.16, 0.28)
    jug_moves = part == "jug"
    top_r = radius * s.between(0.95, 1.25)
    collar = cylinder((0, 0, base + 0.001), (0, 0, 0.03), radius * 0.8, radius * 0.9, 16)
    s.add(collar, "dark", jug_moves)
    z0 = base + 0.031
    profile = [
        (0, 0),
        (radius * 0.85, 0),
        (top_r, tall),
        (top_r * 0.95, tall),
        (radius * 0.78, 0.006),
        (0, 0.006),
    ]
    s.add(lathe(profile, (0, 0, z0), "z", 18), "glass", jug_moves)
    side = s.sign()
    bow = [(side * radius * 0.85, 0, z0 + tall * 0.15), (side * radius * 1.6, 0, z0 + tall * 0.2)]
    bow += [(side * radius * 1.6, 0, z0 + tall * 0.8), (side * top_r * 0.95, 0, z0 + tall * 0.85)]
    s.add(tube(bow, 0.009, 6), "handle", jug_moves)
    lid_moves = jug_moves or part == "lid"
    s.add(
        cylinder((0, 0, z0 + tall), (0, 0, 0.022), top_r * 1.03, top_r * 0.9, 18),
        "front",
        lid_moves,
    )
    s.add(
        cylinder((0, 0, z0 + tall + 0.022), (0, 0, 0.02), top_r * 0.35, segments=12),
        "trim",
        lid_moves or part == "cap",
    )
    objects = ("blender", "mixer", "juicer", "food processor")
    if part == "knob":
        axis, motion = s.twist((0, -1, 0))
        joint = hinge(axis, (0, face, level), s.degrees(40, 150))
        return s.draft(
            "blender", joint, objects, ("knob", "dial", "speed knob"), motion, directed=False
        )
    if part == "button":
        joint = slider((0, 1, 0), (-0.65 * radius, face, level), 0.005)
        return s.draft("blender", joint, objects, ("button", "left button"), say.PRESS)
    if part == "jug" and s.chance(0.25):
        joint = hinge((0, 0, s.sign()), (0, 0, base), s.degrees(30, 90))
        return s.draft(
            "blender", joint, objects, ("jug", "jar", "pitcher"), say.TURN, directed=False
        )
    at = {"jug": base, "lid": z0 + tall, "cap": z0 + tall + 0.022}[part]
    joint = slider((0, 0, 1), (0, 0, at), s.between(0.06, 0.2))
    names = {
        "jug": ("jug", "jar", "pitcher", "container"),
        "lid": ("lid", "cover"),
        "cap": ("cap", "lid cap", "plug"),
    }[part]
    return s.draft("blender", joint, objects, names, say.LIFT_OFF, say.PUT_ON)


def coffee_machine(rng: np.random.Generator) -> Draft:
    """A coffee machine: top lid, pot, knob, drip tray, portafilter lever or water tank."""
    s = Sketch(rng)
    wide, deep, high = s.between(0.16, 0.3), s.between(0.2, 0.34), s.between(0.28, 0.4)
    part = s.one_of("lid", "lid", "lid", "pot", "knob", "tray", "lever", "tank", "button")
    base, head = s.between(0.03, 0.06), s.between(0.07, 0.12)
    neck = deep * s.between(0.3, 0.45)
    back, front = deep / 2, -deep / 2
    s.fix(box((-wide / 2, front, 0), (wide / 2, back, base)))
    tank_moves = part == "tank"
    s.fix(box((-wide / 2, back - neck, base), (wide / 2, back - 0.05 * tank_moves, high - head)))
    s.fix(box((-wide / 2, front, high - head), (wide / 2, back - 0.05 * tank_moves, high)))
    if tank_moves:
        s.move(box((-wide * 0.46, back - 0.048, base + 0.001), (wide * 0.46, back, high)), "glass")
    s.add(
        box(
            (-wide * 0.42, front - 0.01, base + 0.0005),
            (wide * 0.42, back - neck - 0.004, base + 0.012),
        ),
        "metal",
        part == "tray",
    )
    under = high - head
    lid_thick = s.between(0.008, 0.03)
    rear = back - 0.05 * tank_moves
    lid_front = front + deep * s.one_of(0.0, 0.0, 0.3)
    s.add(
        box((-wide * 0.48, lid_front, high + 0.0008), (wide * 0.48, rear, high + lid_thick)),
        "top",
        part == "lid",
    )
    if part == "lid" and s.chance(0.5):
        s.move(
            box(
                (-0.02, lid_front - 0.012, high + 0.002), (0.02, lid_front, high + lid_thick * 0.8)
            ),
            "handle",
        )
    espresso = part == "lever" or (part not in ("pot",) and s.chance(0.4))
    middle = (front + back - neck) / 2
    if espresso:
        moves = part == "lever"
        s.fix(cylinder((0, middle, under), (0, 0, -0.015), 0.034, segments=14), "metal")
        s.add(
            cylinder((0, middle, under - 0.016), (0, 0, -0.02), 0.034, segments=14), "metal", moves
        )
        s.add(
            cylinder(
                (0, middle, under - 0.026), (0, -s.between(0.12, 0.2), 0.0), 0.011, segments=8
            ),
            "dark",
            moves,
        )
    else:
        r, tall = min(wide, deep - neck) * 0.4, (under - base) * s.between(0.6, 0.85)
        moves, z0 = part == "pot", base + 0.013
        profile = [(0, 0), (r, 0), (r * 1.05, tall * 0.5), (r * 0.7, tall), (0, tall)]
        s.add(lathe(profile, (0, middle, z0), "z", 16), "glass", moves)
        bow = [(0, middle - r * 0.9, z0 + tall * 0.2), (0, middle - r * 1.7, z0 + tall * 0.3)]
        bow += [(0, middle - r * 1.7, z0 + tall * 0.8), (0, middle - r * 0.8, z0 + tall * 0.85)]
        s.add(tube(bow, 0.008, 6), "dark", moves)
    x, z, r = wide * s.between(-0.35, 0.35), high - head / 2, s.between(0.012, 0.024)
    s.add(
        cylinder((x, front, z), (0, -0.015, 0), r, r * 0.85, 14),
        "handle",
        part in ("knob", "button"),
    )
    if part == "knob":
        s.move(
            box((x - 0.002, front - 0.018, z), (x + 0.002, front - 0.014, z + r * 0.8)), "accent"
        )
    objects = ("coffee machine", "coffee maker", "espresso machine")
    if part == "lid":
        joint = hinge((-1, 0, 0), (0, rear, high + 0.0008), s.degrees(50, 100))
        return s.draft(
            "coffee machine",
            joint,
            objects,
            ("lid", "top lid", "cover"),
            say.join(say.OPEN, say.LIFT),
            say.LOWER,
        )
    if part == "pot":
        joint = slider((0, -1, 0), (0, middle, base), deep * s.between(0.4, 0.9))
        return s.draft(
            "coffee machine",
            joint,
            objects,
            ("pot", "coffee pot", "jug", "carafe"),
            say.SLIDE_OUT,
            say.SLIDE_IN,
        )
    if part == "tray":
        joint = slider((0, -1, 0), (0, front, base), deep * s.between(0.3, 0.55))
        return s.draft(
            "coffee machine", joint, objects, ("tray", "drip tray"), say.SLIDE_OUT, say.SLIDE_IN
        )
    if part == "lever":
        axis, _ = s.twist((0, 0, -1))
        joint = hinge(axis, (0, middle, under), s.degrees(30, 80))
        return s.draft(
            "coffee machine",
            joint,
            objects,
            ("portafilter", "handle", "filter holder"),
            say.SWIVEL,
            directed=False,
        )
    if part == "tank":
        joint = slider((0, 0, 1), (0, back, base), s.between(0.1, 0.25))
        return s.draft(
            "coffee machine",
            joint,
            objects,
            ("water tank", "tank", "reservoir"),
            say.LIFT_OFF,
            say.PUT_ON,
        )
    if part == "button":
        joint = slider((0, 1, 0), (x, front, z), 0.01)
        return s.draft("coffee machine", joint, objects, ("button",), say.PRESS)
    axis, motion = s.twist((0, -1, 0))
    joint = hinge(axis, (x, front, z), s.degrees(40, 150))
    return s.draft("coffee machine", joint, objects, ("knob", "dial"), motion, directed=False)


def stand_mixer(rng: np.random.Generator) -> Draft:
    """A stand mixer whose head tilts up, or whose knob turns or bowl comes off."""
    s = Sketch(rng)
    wide, long, high = s.between(0.11, 0.15), s.between(0.3, 0.38), s.between(0.2, 0.26)
    part = s.one_of("head", "head", "head", "knob", "bowl")
    outline = rounded_rectangle((-wide, -long * 0.55), (wide, long * 0.45), wide * 0.6)
    s.fix(extrude(outline, "xy", 0, 0.035))
    rear = long * 0.3
    column = [(rear - 0.05, 0.03), (rear + 0.05, 0.03), (rear + 0.04, high), (rear - 0.04, high)]
    s.fix(extrude(column, "yz", -wide * 0.35, wide * 0.35))
    head = part == "head"
    pivot = (0.0, rear, high)
    s.fix(cylinder((-wide * 0.42, rear, high), (wide * 0.84, 0, 0), 0.014, segments=10), "metal")
    top = sphere((0, -long * 0.08, high + 0.055), (wide * 0.5, long * 0.45, 0.055), 14, 8)
    s.add(top, "body", head)
    y = -long * 0.25
    s.add(cylinder((0, y, high + 0.02), (0, 0, -0.06), 0.025, segments=12), "metal", head)
    s.add(cylinder((0, y, high - 0.04), (0, 0, -0.07), 0.012, 0.03, 8), "metal", head)
    r = wide * 0.75
    bowl = [(0, 0), (r * 0.6, 0), (r, 0.1), (r * 0.95, 0.1), (r * 0.55, 0.008), (0, 0.008)]
    s.add(lathe(bowl, (0, y, 0.037), "z", 18), "metal", part == "bowl")
    side = s.sign()
    knob = cylinder((side * wide * 0.46, 0, high + 0.055), (side * 0.025, 0, 0), 0.014, segments=12)
    s.add(knob, "dark", head or part == "knob")
    objects = ("mixer", "stand mixer", "kitchen mixer")
    if head:
        joint = hinge((-1, 0, 0), pivot, s.degrees(25, 50))
        return s.draft(
            "mixer",
            joint,
            objects,
            ("head", "mixer head", "top", "motor head"),
            say.join(say.TILT_UP, say.LIFT),
            say.TILT_DOWN,
        )
    if part == "knob":
        axis, motion = s.twist((side, 0, 0))
        joint = hinge(axis, (side * wide * 0.46, 0, high + 0.055), s.degrees(40, 150))
        return s.draft("mixer", joint, objects, ("knob", "speed knob"), motion, directed=False)
    joint = slider((0, -1, 0), (0, y, 0.037), long * s.between(0.3, 0.7))
    return s.draft("mixer", joint, objects, ("bowl", "mixing bowl"), say.SLIDE_OUT, say.SLIDE_IN)


KINDS = {
    "toaster": (2.2, toaster),
    "blender": (1.7, blender),
    "coffee_machine": (1.8, coffee_machine),
    "stand_mixer": (0.9, stand_mixer),
}
