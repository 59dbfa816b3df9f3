"""What a hand twists: screw caps, mills, kitchen timers, combination locks, keys, glue sticks."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.optics import grip, point, tick
from atop_backend.synthetic.sketch import Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    knurled,
    lathe,
    open_box,
    rounded_rectangle,
    sphere,
    tube,
)


def screw_cap(rng: np.random.Generator) -> Draft:
    """A bottle, jar, flask, tube or canister whose cap is unscrewed, or screwed tight."""
    s = Sketch(rng)
    style = s.one_of("bottle", "bottle", "jar", "flask", "tube", "canister")
    r = {"bottle": s.between(0.03, 0.05), "jar": s.between(0.03, 0.06), "flask": 0.035}.get(
        style, s.between(0.015, 0.08)
    )
    high = r * (s.between(1.2, 2.5) if style == "jar" else s.between(2.5, 6.0))
    neck = r * (s.between(0.75, 0.98) if style in ("jar", "flask") else s.between(0.25, 0.5))
    at = np.zeros(2)
    if style == "tube":  # flat at its far end, standing on its cap in many shops
        wide = s.between(0.9, 1.3)
        far = [(0.15 * r * y, wide * r * x) for x, y in ((-1, -1), (-1, 1), (1, 1), (1, -1))]
        s.fix(extrude([(y, x) for x, y in far], "xy", 0, 0.02 * high))
        profile = [(0, 0), (r, 0), (0.95 * r, high), (0, high)]
        body = lathe(profile, (0, 0, 0), "z", 18)
        body[..., 1] *= 0.12 + 0.88 * np.clip(body[..., 2:] / high, 0, 1)[..., 0]
        s.fix(body)
    elif style == "canister":
        depth = r * s.between(0.5, 0.9)
        outline = rounded_rectangle((-r, -depth), (r, depth), depth * s.between(0.1, 0.6))
        s.fix(extrude(outline, "xy", 0, high))
        at = np.array([s.between(-0.5, 0.5) * r, 0.0])
        path = [(-0.6 * r, 0, high), (-0.6 * r, 0, high * 1.2), (0.6 * r, 0, high * 1.2)]
        if s.chance(0.5):
            s.fix(tube([*path, (0.6 * r, 0, high)], 0.12 * r, 6), "handle")
            at = np.array([0.0, -0.6 * depth])
    else:
        shoulder = high * s.between(0.6, 0.95)
        profile = [(0, 0), (r, 0), (r * s.between(0.85, 1.05), shoulder), (neck, high), (0, high)]
        s.fix(lathe(profile, (0, 0, 0), "z", 20), s.one_of("body", "glass"))
        if s.chance(0.4):
            label = cylinder((0, 0, 0.2 * shoulder), (0, 0, 0.5 * shoulder), 1.06 * r, segments=20)
            s.fix(label, "panel")
    tall = neck * (s.between(0.3, 0.7) if style == "jar" else s.between(0.5, 1.4))
    s.fix(cylinder((*at, high), (0, 0, 0.8 * tall), 0.85 * neck, segments=14), "trim")
    mark = s.mark()
    grip(s, high + 0.002, tall, neck * s.between(1.0, 1.15), True, s.chance(0.75), "front")
    if s.chance(0.2):
        tick(s, high, tall, neck * 1.05, True)
    s.shift(mark, (*at, 0))
    objects = {
        "jar": ("jar", "glass jar", "container", "tin"),
        "flask": ("flask", "thermos", "water bottle", "bottle"),
        "tube": ("tube", "toothpaste tube", "cream tube"),
        "canister": ("canister", "jerry can", "fuel can", "container"),
    }.get(style, ("bottle", "water bottle", "plastic bottle", "flask"))
    loose = s.chance(0.75)
    joint = hinge((0, 0, 1 if loose else -1), (*at, high), s.degrees(60, 178))
    parts = ("cap", "lid", "screw cap", "top", f"{objects[0]} cap", "screw top")
    if s.chance(0.15 if style != "tube" else 0.7):
        joint = point(s, joint, 0.3, 0.2)
    motion = say.UNSCREW if loose else say.SCREW
    if s.chance(0.3):
        joint, motion = s.either_way(joint)
    return s.draft("screw cap", joint, objects, parts, motion, directed=False)


def mill(rng: np.random.Generator) -> Draft:
    """A pepper mill whose head turns, or a coffee mill with a crank on top."""
    s = Sketch(rng)
    r = s.between(0.02, 0.04)
    if s.chance(0.55):
        high = r * s.between(3, 8)
        waist, bulge = rng.uniform(0.5, 0.95, 2)
        profile = [(0, 0), (r, 0), (waist * r, 0.5 * high), (bulge * r, 0.85 * high)]
        s.fix(lathe([*profile, (bulge * r, high), (0, high)], (0, 0, 0), "z", 18), "top")
        if s.chance(0.5):
            grip(s, high, r * s.between(0.8, 2.0), bulge * r, True, True, "top")
            knob = high + 2.0 * r
        else:
            top = [(0, 0), (bulge * r, 0), (r, 0.6 * r), (0.6 * r, 1.3 * r), (0, 1.5 * r)]
            s.move(lathe(r * np.array(top) / r, (0, 0, high), "z", int(rng.integers(8, 16))), "top")
            knob = high + 1.5 * r
        s.move(sphere((0, 0, knob), 0.3 * r, 8, 5), "metal")
        if s.chance(0.4):
            tick(s, high, 0.6 * r, r, True)
        names = ("top", "head", "cap", "knob")
        objects = ("pepper mill", "pepper grinder", "salt mill", "grinder")
    else:
        wide, high = r * s.between(1.6, 2.6), r * s.between(2, 4)
        if s.chance(0.5):
            s.fix(box((-wide, -wide, 0), (wide, wide, high)), "top")
        else:
            s.fix(cylinder((0, 0, 0), (0, 0, high), wide, segments=20), "metal")
        s.fix(lathe([(wide, 0), (0.4 * wide, 0.6 * wide), (0, 0.6 * wide)], (0, 0, high)), "metal")
        level, reach = high + 0.6 * wide, wide * s.between(1.2, 2.4)
        s.fix(cylinder((0, 0, level), (0, 0, 0.5 * r), 0.2 * r), "metal")
        level += 0.5 * r
        mark = s.mark()
        s.move(box((-0.25 * r, -0.25 * r, level), (reach, 0.25 * r, level + 0.15 * r)), "metal")
        s.move(cylinder((reach, 0, level), (0, 0, 0.8 * r), 0.12 * r, segments=8), "metal")
        s.move(sphere((reach, 0, level + r), 0.45 * r, 10, 6), "handle")
        s.turn(mark, (0, 0, 1), s.between(-np.pi, np.pi))
        names = ("crank", "handle", "crank handle", "arm")
        objects = ("coffee mill", "coffee grinder", "hand mill", "grinder")
    axis, motion = s.twist((0, 0, 1))
    joint = hinge(axis, (0, 0, high), s.degrees(60, 178))
    return s.draft("mill", joint, objects, names, motion, directed=False)


def timer(rng: np.random.Generator) -> Draft:
    """A dial on the face of a small thing: a kitchen timer, a thermostat, a combination lock."""
    s = Sketch(rng)
    style = s.one_of("round", "round", "block", "egg", "lock")
    r = s.between(0.025, 0.05)
    deep = r * s.between(0.3, 0.9)
    if style == "egg":  # its upper half turns
        low = [(0, -1), (0.55, -0.95), (0.95, -0.4), (1, 0), (0, 0)]
        top = [(0, 0.01), (1, 0.01), (0.9, 0.5), (0.55, 1.0), (0, s.between(1.15, 1.4))]
        s.fix(lathe(r * np.array(low), (0, 0, r), "z", 18), "body")
        s.move(lathe(r * np.array(top), (0, 0, r), "z", 18), s.one_of("body", "front"))
        tick(s, 1.05 * r, 0.3 * r, 0.95 * r, True)
        grip(s, 0.93 * r, 0.06 * r, 1.03 * r, False, False, "trim")
        axis, motion = s.twist((0, 0, 1))
        joint = hinge(axis, (0, 0, r), s.degrees(40, 178))
        objects, parts = ("egg timer", "kitchen timer", "timer"), ("top", "upper half", "dial")
        return s.draft("timer", joint, objects, parts, motion, directed=False)
    if style == "block":
        w, h = r * rng.uniform(1.2, 2.2, 2)
        outline = rounded_rectangle((-w, -h), (w, h), s.between(0, 0.5) * r)
        s.fix(extrude(outline, "xy", -deep, 0), "body")
    else:
        s.fix(cylinder((0, 0, -deep), (0, 0, deep), r * s.between(1.1, 1.5), segments=22), "body")
    if style == "lock":
        ring = 0.8 * r
        path = [(-ring, r, -deep / 2), (-ring, 2 * r, -deep / 2), (0, 2.6 * r, -deep / 2)]
        path += [(ring, 2 * r, -deep / 2), (ring, r, -deep / 2)]
        s.fix(tube(path, 0.2 * r, 8), "metal")
    grip(s, 0, deep * s.between(0.2, 0.6), r * s.between(0.7, 0.95), True, s.chance(0.7), "front")
    rise = deep * s.between(0.6, 1.4)
    if s.chance(0.6):
        s.move(box((-0.12 * r, -0.7 * r, 0), (0.12 * r, 0.7 * r, rise)), "handle")
    else:
        s.move(knurled((0, 0, 0), (0, 0, rise), 0.45 * r, 0.4 * r, int(rng.integers(8, 16))))
    tick(s, 0, 0.15 * deep, r * 0.75, True)
    joint = point(s, hinge((0, 0, 1), (0, 0, 0), s.degrees(30, 178)), 0.3, 0.65)
    joint, motion = s.either_way(joint)
    objects = ("timer", "kitchen timer", "thermostat", "dimmer", "controller")
    if style == "lock":
        objects = ("combination lock", "padlock", "lock")
    parts = ("dial", "knob", "wheel", "rotary knob")
    return s.draft("timer", joint, objects, parts, motion, directed=False)


def key(rng: np.random.Generator) -> Draft:
    """A key in a lock on a plate or a drawer front: it turns, or is drawn out."""
    s = Sketch(rng)
    wide, high, deep = s.between(0.03, 0.12), s.between(0.05, 0.15), s.between(0.005, 0.04)
    s.fix(box((-wide / 2, -high / 2, -deep), (wide / 2, high / 2, 0)), "body")
    r = s.between(0.008, 0.014)
    s.fix(cylinder((0, 0, 0), (0, 0, 0.3 * r), r, segments=16), "metal")
    stem, bow, thick = r * s.between(0.8, 2.5), r * s.between(0.9, 1.6), 0.2 * r
    s.move(cylinder((0, 0, -0.3 * deep), (0, 0, stem + 0.3 * deep), 0.25 * r, segments=8), "trim")
    mark = s.mark()
    if s.chance(0.5):
        angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
        ring = np.stack([bow * np.cos(angles), 0 * angles, stem + bow * (1 + np.sin(angles))], 1)
        s.move(tube(ring, thick, 6, closed=True), "trim")
    else:
        outline = rounded_rectangle((-bow, stem), (bow, stem + 1.6 * bow), 0.5 * bow)
        s.move(extrude(outline, "xz", -thick, thick), "trim")
    s.turn(mark, (0, 0, 1), s.one_of(np.pi / 2, np.pi / 2, 0.0, s.degrees(0, 180)))
    objects = ("lock", "door lock", "cylinder lock", "drawer lock")
    if s.chance(0.25):
        joint = point(s, slider((0, 0, 1), (0, 0, 0), 3 * r), 0.1, 0.85)
        motion = say.words("is pulled out|comes out|is taken out", "pull {} out|take {} out")
        return s.draft("key", joint, objects, ("key",), motion)
    joint = point(s, hinge((0, 0, 1), (0, 0, 0), s.degrees(45, 170)), 0.1, 0.85)
    joint, motion = s.either_way(joint)
    return s.draft("key", joint, objects, ("key",), motion, directed=False)


def stick(rng: np.random.Generator) -> Draft:
    """A lipstick or glue stick: its base twists, its core comes up, or its cap comes off."""
    s = Sketch(rng)
    r = s.between(0.008, 0.015)
    high, foot = r * s.between(3, 6), r * s.between(0.8, 2.0)
    part = s.one_of("base", "base", "core", "cap")
    wall = 0.15 * r
    s.fix(lathe([(r - wall, 0), (r, 0), (r, high), (r - wall, high), (r - wall, 0)], (0, 0, 0)))
    grip(s, -foot, foot, r * s.between(1.0, 1.2), part == "base", True, "dark")
    tick(s, -foot, foot, 1.05 * r, part == "base")
    core, out = r - 1.2 * wall, high * s.between(0.6, 1.2)
    tip = [(0, 0), (core, 0), (core, out), (0.6 * core, out + core), (0, out + core)]
    s.add(lathe(tip, (0, 0, 0.02 * high), "z", 14), "accent", part == "core")
    if part == "cap":
        low, top = 0.3 * high, high + 3 * r
        over = [(1.05 * r, low), (1.2 * r, low), (1.2 * r, top), (0, top), (0, top - wall)]
        s.move(lathe([*over, (1.05 * r, top - wall), (1.05 * r, low)], (0, 0, 0)), "front")
    objects = ("lipstick", "glue stick", "lip balm", "deodorant stick")
    if part == "base":
        joint = point(s, hinge((0, 0, -1), (0, 0, 0), s.degrees(60, 178)), 0.6, 0.1)
        joint, motion = s.either_way(joint)
        names = ("base", "bottom", "wheel", "twist base")
        return s.draft("stick", joint, objects, names, motion, directed=False)
    joint = slider((0, 0, 1), (0, 0, 0), high * s.between(0.3, 0.8))
    joint = point(s, joint, 0.6, 0.1)
    names = ("core", "stick", "lipstick bullet", "glue") if part == "core" else ("cap", "cover")
    if part == "core":
        return s.draft("stick", joint, objects, names, say.EXTEND, say.RETRACT)
    return s.draft("stick", joint, objects, names, say.PULL_OFF)


def spray(rng: np.random.Generator) -> Draft:
    """A spray bottle: the trigger is pulled, or the nozzle turns; or a can's button is pressed."""
    s = Sketch(rng)
    r, high = s.between(0.03, 0.045), s.between(0.1, 0.2)
    neck = 0.4 * r
    profile = [(0, 0), (r, 0), (r * s.between(0.8, 1.0), 0.7 * high), (neck, high), (0, high)]
    s.fix(lathe(profile, (0, 0, 0), "z", 18), s.one_of("body", "glass"))
    if s.chance(0.25):
        tall = 0.6 * r
        s.fix(cylinder((0, 0, high), (0, 0, 0.4 * tall), 1.3 * neck), "trim")
        s.move(cylinder((0, 0, high + 0.4 * tall), (0, 0, tall), 0.7 * neck, segments=14), "front")
        s.move(box((-0.002, -0.8 * neck, high + tall), (0.002, 0, high + 1.2 * tall)), "dark")
        joint = slider((0, 0, -1), (0, 0, high + tall), 0.35 * tall)
        objects, names = ("spray can", "aerosol can", "spray"), ("button", "spray button", "nozzle")
        return s.draft("spray", joint, objects, names, say.PRESS_DOWN)
    head, long = high + 0.8 * r, r * s.between(1.6, 2.4)
    s.fix(knurled((0, 0, high), (0, 0, 0.8 * r), 1.3 * neck, teeth=14), "trim")
    profile = [(-long, head), (0.6 * r, head), (0.6 * r, head + 0.5 * r), (-long, head + 0.9 * r)]
    s.fix(extrude(profile, "yz", -0.45 * r, 0.45 * r), "front")
    turns = s.chance(0.35)
    middle = head + 0.5 * r
    nozzle = knurled((0, -long, middle), (0, -0.5 * r, 0), 0.35 * r, teeth=int(rng.integers(4, 12)))
    s.add(nozzle, "accent", turns)
    pin = (0.0, -0.6 * long, head)
    drop, thick = r * s.between(1.2, 2.2), 0.14 * r
    lever = [(pin[1] - thick, head), (pin[1] + thick, head), (pin[1] + 0.2 * r, head - 0.6 * drop)]
    lever += [(pin[1] - 0.2 * r, head - drop), (pin[1] - 0.4 * r, head - drop)]
    s.add(extrude([*lever, (pin[1] - 0.1 * r, head - 0.6 * drop)], "yz", -0.2 * r, 0.2 * r),
          "accent", not turns)  # fmt: skip
    objects = ("spray bottle", "spray", "sprayer", "cleaner bottle")
    if turns:
        axis, motion = s.twist((0, -1, 0))
        joint = hinge(axis, (0, -long, middle), s.degrees(40, 178))
        return s.draft("spray", joint, objects, ("nozzle", "tip", "cap"), motion, directed=False)
    joint = hinge((1, 0, 0), pin, s.degrees(10, 25))
    motion = say.words(
        "is pulled|is squeezed|is pressed|swings back|moves in", "pull {}|squeeze {}|press {}"
    )
    return s.draft("spray", joint, objects, ("trigger", "lever", "spray trigger"), motion)


def basket(rng: np.random.Generator) -> Draft:
    """A salad spinner or drum: an inner tub turns inside an open outer one, or its lid's crank."""
    s = Sketch(rng)
    r = s.between(0.1, 0.14)
    high, wall = r * s.between(0.8, 1.4), 0.03 * r
    s.fix(
        lathe([(0, 0), (r, 0), (r, high), (r - wall, high), (r - wall, wall), (0, wall)], (0,) * 3)
    )
    inner = 0.9 * r
    cup = [(0, 0.1 * r), (inner, 0.1 * r), (inner, high), (inner - wall, high)]
    cup += [(inner - wall, 0.15 * r), (0, 0.15 * r)]
    s.move(lathe(cup, (0, 0, 0), "z", 20), "front")
    for turn in np.linspace(0, np.pi, int(rng.integers(2, 5)), endpoint=False):
        mark = s.mark()
        s.move(box((-inner * 0.97, -wall, 0.15 * r), (inner * 0.97, wall, 0.3 * r)), "accent")
        s.turn(mark, (0, 0, 1), turn)
    if s.chance(0.3):
        s.fix(open_box((-1.2 * r, -1.2 * r, -0.4 * r), (1.2 * r, 1.2 * r, 0), wall, "-z"), "trim")
    joint = point(s, hinge((0, 0, s.sign()), (0, 0, 0), s.degrees(60, 178)), 0.6, 0.3)
    objects, parts = ("spinner", "salad spinner", "centrifuge"), ("basket", "drum", "inner bowl")
    return s.draft("drum", joint, objects, parts, say.SPIN, directed=False)


KINDS = {
    "screw_cap": (2.0, screw_cap),
    "mill": (0.7, mill),
    "timer": (1.0, timer),
    "key": (0.6, key),
    "stick": (0.5, stick),
    "spray": (0.8, spray),
    "drum": (0.4, basket),
}
