"""Round things to look or shine through: lenses, torches, binoculars, spyglasses, rifle scopes."""

from __future__ import annotations

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import Sketch
from atop_backend.synthetic.solids import box, cylinder, knurled, lathe

_LENSES = ("lens", "camera lens", "zoom lens", "objective", "photo lens")


def grip(
    s: Sketch, base: float, length: float, radius: float, moves: bool, ridged: bool, colour: str
) -> None:
    """A ring about the z axis: smooth, ridged all over, or ridged between two smooth lips."""
    if not ridged:
        s.add(cylinder((0, 0, base), (0, 0, length), radius, segments=18), colour, moves)
        return
    teeth, depth = int(s.rng.integers(9, 25)), s.between(0.05, 0.16)
    if s.chance(0.5):
        ridges = knurled((0, 0, base), (0, 0, length), radius, teeth=teeth, depth=depth)
        s.add(ridges, colour, moves)
        return
    core = radius * (1 - depth)
    s.add(cylinder((0, 0, base), (0, 0, length), core, segments=18), colour, moves)
    low, tall = base + 0.15 * length, 0.7 * length
    s.add(knurled((0, 0, low), (0, 0, tall), radius, teeth=teeth, depth=depth), "dark", moves)


def tick(s: Sketch, base: float, length: float, radius: float, moves: bool) -> None:
    """A small raised mark somewhere on a ring about the z axis, so that a turn can be seen."""
    mark, thick = s.mark(), radius * s.between(0.05, 0.12)
    low = (radius * 0.9, -thick, base + 0.2 * length)
    s.add(box(low, (radius * 1.03, thick, base + 0.8 * length)), "accent", moves)
    s.turn(mark, (0, 0, 1), s.between(-np.pi, np.pi))


def point(s: Sketch, joint: JointMotion, upright: float, front: float) -> JointMotion:
    """The object as drawn along z: left upright, or laid so that its top points to -Y or anywhere.

    Args:
        s: All that has been drawn.
        joint: Of its part.
        upright: Share that stays upright, a quarter of it upside down.
        front: Share that points to the front.
    """
    draw = s.rng.random()
    if draw < upright:
        return s.lay(joint, (1, 0, 0), np.pi) if draw < 0.25 * upright else joint
    joint = s.lay(joint, (1, 0, 0), np.pi / 2)
    if draw < upright + front:
        return joint
    way = s.one_of(np.pi / 2, -np.pi / 2, np.pi, s.degrees(-180, 180))
    return s.lay(joint, (0, 0, 1), way)


def barrel(s: Sketch, base: float, radius: float, part: str) -> tuple[float, float, float]:
    """A lens of rings stacked along z from `base`: start of what moves, end, radius there.

    Args:
        s: Where it is drawn.
        base: Height at which the lens is mounted.
        radius: Of the widest ring, about.
        part: What moves: "ring" is one ring, "barrel" all from one ring on, "whole" every ring;
            others leave it still.
    """
    rings = int(s.rng.integers(2, 6))
    first = 1 if part == "barrel" else 0
    chosen = min(int(s.rng.integers(first, rings + first)), rings - 1)
    z, start, r = base, base, radius
    for i in range(rings):
        length, r = radius * s.between(0.22, 0.9), radius * s.between(0.8, 1.05)
        moves = part == "whole" or (part == "ring" and i == chosen)
        moves = moves or (part == "barrel" and i >= chosen)
        ridged = s.chance(0.75 if i == chosen else 0.3)
        colour = s.one_of("dark", "trim", "body", "front")
        if i == chosen:
            start = z
            if part == "barrel":
                inner = cylinder((0, 0, base), (0, 0, z - base + 0.3 * length), 0.7 * r)
                s.move(inner, "trim")
        grip(s, z, length, r, moves, ridged, colour)
        if s.chance(0.5 if i == chosen else 0.2):
            tick(s, z, length, r, moves)
        z += length
    moves = part in ("barrel", "whole") or (part == "ring" and chosen == rings - 1)
    s.add(cylinder((0, 0, z), (0, 0, 0.03 * r), 0.72 * r, segments=16), "glass", moves)
    if s.chance(0.4):
        hood = s.between(1.0, 1.25) * r
        outline = [(0.8 * r, 0), (r, 0), (hood, 0.35 * r), (0.85 * hood, 0.35 * r), (0.8 * r, 0)]
        s.add(lathe(outline, (0, 0, z), "z", 18), "dark", moves)
        return start, z + 0.35 * r, hood
    return start, z + 0.03 * r, r


def lens(rng: np.random.Generator) -> Draft:
    """A lens of its own: one of its rings turns, it extends, or its cap comes off."""
    s = Sketch(rng)
    part = s.one_of("ring", "ring", "ring", "whole", "whole", "barrel", "cap")
    radius = s.between(0.025, 0.045)
    s.fix(cylinder((0, 0, 0), (0, 0, 0.15 * radius), 0.75 * radius), "metal")
    start, end, r = barrel(s, 0.15 * radius, radius, part)
    if part == "whole" and s.chance(0.7):  # on the front of a camera
        x, z = radius * s.between(1.1, 2.2), radius * s.between(1.1, 1.6)
        deep = radius * s.between(0.5, 1.5)
        s.fix(box((-x, -z, -deep), (x, z, 0)), "body")
    if part in ("ring", "whole"):
        joint = point(s, hinge((0, 0, 1), (0, 0, start), s.degrees(30, 150)), 0.35, 0.35)
        joint, motion = s.either_way(joint)
        names = ("ring", "lens ring", "focus ring", "zoom ring", "aperture ring", "lens")
        names = ("lens", "objective", "camera lens", "lens barrel") if part == "whole" else names
        return s.draft("lens", joint, _LENSES, names, motion, directed=False)
    if part == "barrel":
        joint = slider((0, 0, 1), (0, 0, start), (start - 0.1 * radius) * s.between(0.4, 0.8))
        joint = point(s, joint, 0.35, 0.35)
        names = ("barrel", "front barrel", "inner barrel", "front of the lens", "tube")
        return s.draft("lens", joint, _LENSES, names, say.EXTEND, say.RETRACT)
    s.move(cylinder((0, 0, end + 0.002 * r), (0, 0, 0.2 * r), 1.05 * r, segments=20), "accent")
    joint = slider((0, 0, 1), (0, 0, end), r * s.between(0.6, 1.5))
    joint = point(s, joint, 0.35, 0.35)
    return s.draft("lens", joint, _LENSES, ("cap", "lens cap", "cover"), say.PULL_OFF)


def flashlight(rng: np.random.Generator) -> Draft:
    """A torch: its head or tail turns, its head slides, its button is pressed or pushed along."""
    s = Sketch(rng)
    r = s.between(0.012, 0.02)
    length, head, wide = r * s.between(5, 10), r * s.between(1.5, 4.0), r * s.between(1.1, 2.2)
    part = s.one_of("head", "head", "head", "tail", "zoom", "button", "end", "switch")
    ridged = s.chance(0.6)
    grip(s, 0.0, length, r, False, ridged, "body")
    tail = r * s.between(0.6, 1.5)
    grip(s, -tail, tail, r * s.between(0.95, 1.1), part == "tail", s.chance(0.5), "trim")
    moves = part in ("head", "zoom")
    neck = head * s.between(0.3, 0.7)
    s.add(cylinder((0, 0, length), (0, 0, neck), 1.05 * r, wide, 18), "front", moves)
    grip(s, length + neck, head - neck, wide, moves, s.chance(0.6), "front")
    if s.chance(0.5):
        tick(s, length + neck, head - neck, wide, moves)
    top = length + head
    s.add(cylinder((0, 0, top), (0, 0, 0.03 * r), 0.8 * wide, segments=16), "glass", moves)
    if part == "zoom":
        s.fix(cylinder((0, 0, length), (0, 0, 0.9 * neck), 0.9 * r), "metal")
    level, size = length * s.between(0.5, 0.9), r * s.between(0.3, 0.5)
    if part in ("button", "switch") or s.chance(0.4):
        s.fix(box((0.8 * r, -size, level - 2 * size), (1.06 * r, size, level + 2 * size)), "dark")
    objects = ("flashlight", "torch", "hand lamp", "flash light")
    if part in ("head", "tail"):
        outward = 1 if part == "head" else -1
        loose = s.chance(0.7)
        axis = (0, 0, outward if loose else -outward)
        names = (
            ("head", "front", "bezel", "lamp head") if part == "head" else ("tail cap", "end cap")
        )
        joint = point(s, hinge(axis, (0, 0, length), s.degrees(40, 170)), 0.25, 0.35)
        if s.chance(0.4):
            motion = say.UNSCREW if loose else say.SCREW
        else:
            joint, motion = s.either_way(joint)
        return s.draft("flashlight", joint, objects, names, motion, directed=False)
    back = None
    if part == "zoom":
        joint = slider((0, 0, 1), (0, 0, length), neck * s.between(0.5, 0.8))
        names, motion, back = ("head", "zoom head", "front"), say.EXTEND, say.RETRACT
    elif part == "button":
        rise = 0.25 * r
        s.move(cylinder((r, 0, level), (rise, 0, 0), 0.9 * size, segments=12), "accent")
        joint = slider((-1, 0, 0), (r, 0, level), 0.7 * rise)
        names, motion = ("button", "switch", "power button"), say.PRESS
    elif part == "end":
        s.move(cylinder((0, 0, -tail - 0.4 * r), (0, 0, 0.6 * r), 0.55 * r, segments=12), "accent")
        joint = slider((0, 0, 1), (0, 0, -tail), 0.3 * r)
        names, motion = ("tail button", "button", "end button", "switch"), say.PRESS
    else:
        s.move(box((r, -0.8 * size, level - size), (1.3 * r, 0.8 * size, level)), "accent")
        joint = slider((0, 0, 1), (r, 0, level), 0.9 * size)
        names = ("switch", "slide switch", "slider")
        motion = say.words("slides forward|is pushed forward", "push {} forward|slide {} forward")
    joint = point(s, joint, 0.25, 0.35)
    return s.draft("flashlight", joint, objects, names, motion, back)


def binoculars(rng: np.random.Generator) -> Draft:
    """Binoculars: the focus wheel or an eyepiece turns, or one tube folds about the middle."""
    s = Sketch(rng)
    r, long = s.between(0.016, 0.03), s.between(0.08, 0.15)
    half = r + s.between(0.012, 0.022)
    part, chosen = s.one_of("wheel", "wheel", "eyepiece", "tube", "tube"), s.sign()
    slim, eye = r * s.between(0.55, 0.8), long * s.between(0.12, 0.25)
    for side in (-1, 1):
        moves = part == "tube" and side == chosen
        mark = s.mark()
        s.add(cylinder((0, 0, 0), (0, 0, 0.45 * long), r, r * 0.95, 16), "body", moves)
        s.add(cylinder((0, 0, 0.45 * long), (0, 0, 0.35 * long), r, slim, 16), "body", moves)
        s.add(cylinder((0, 0, -0.002), (0, 0, 0.002), 0.8 * r, segments=14), "glass", moves)
        turning = moves or (part == "eyepiece" and side == chosen)
        grip(s, 0.8 * long, eye, slim * 1.05, turning, True, "dark")
        s.shift(mark, (side * half, 0, 0))
        near, far = sorted((0.0, side * (half - 0.6 * r)))
        for low in (0.3, 0.6):
            bar = box((near, -0.25 * r, low * long), (far, 0.25 * r, (low + 0.12) * long))
            s.add(bar, "trim", moves)
    pin = 0.3 * r
    s.fix(cylinder((0, 0, 0.25 * long), (0, 0, 0.55 * long), pin, segments=12), "trim")
    mark = s.mark()
    grip(s, 0.8 * long, 0.1 * long, pin * s.between(1.4, 2.2), part == "wheel", True, "accent")
    objects = ("binoculars", "field glasses", "pair of binoculars")
    sided = s.chance(0.7)  # it faces the front, so that a side can be named
    name = ("left " if chosen < 0 else "right ") if sided else ""
    motion, back = None, None
    if part == "tube":
        joint = hinge((0, 0, chosen), (0, 0, 0), s.degrees(12, 40))
        names = ("tube", "barrel", "one tube", "one half", f"{name}tube", f"{name}barrel")
        motion, back = say.join(say.FOLD_IN, say.TURN), say.FOLD_OUT
    else:
        x = 0.0 if part == "wheel" else chosen * half
        joint = hinge((0, 0, 1), (x, 0, 0.8 * long), s.degrees(40, 170))
        names = ("focus wheel", "wheel", "focus knob", "focusing ring")
        if part == "eyepiece":
            names = ("eyepiece", f"{name}eyepiece", "eyecup", "diopter ring")
    if s.chance(0.7):
        joint = s.lay(joint, (1, 0, 0), -np.pi / 2)  # the objectives look to -Y
        if not sided:
            joint = s.lay(joint, (0, 0, 1), s.one_of(np.pi, np.pi / 2, s.degrees(-180, 180)))
    if motion is None:
        joint, motion = s.either_way(joint)
    return s.draft("binoculars", joint, objects, names, motion, back, directed=part == "tube")


def scope(rng: np.random.Generator) -> Draft:
    """A spyglass that draws out, or a sight whose turrets and rings turn."""
    s = Sketch(rng)
    r = s.between(0.015, 0.03)
    if s.chance(0.4):
        tubes, z = int(rng.integers(2, 5)), 0.0
        chosen, length = int(rng.integers(1, tubes)), r * s.between(2.5, 6.0)
        out = s.between(0.1, 0.9)
        for i in range(tubes):
            size, moves = r * (1 - 0.15 * i), i >= chosen
            s.add(cylinder((0, 0, z), (0, 0, length), size, segments=16), "body", moves)
            rim = cylinder((0, 0, z + 0.94 * length), (0, 0, 0.06 * length), 1.08 * size)
            s.add(rim, "metal", moves)
            if i == chosen:
                start = z
            step = length if i + 1 == tubes else length * (out if i + 1 == chosen else 0.8)
            z += step
        joint = slider(
            (0, 0, 1), (0, 0, start), length * (0.95 - out) * s.between(0.6, 0.9) + 0.002
        )
        joint = point(s, joint, 0.15, 0.3)
        names = ("tube", "draw tube", "eyepiece", "inner tube", "barrel")
        objects = ("spyglass", "telescope", "monocular")
        return s.draft("spyglass", joint, objects, names, say.EXTEND, say.RETRACT)
    long = r * s.between(8, 14)
    s.fix(cylinder((0, 0, 0), (0, 0, long), 0.6 * r), "body")
    s.fix(cylinder((0, 0, -1.5 * r), (0, 0, 1.5 * r), r, 0.6 * r), "body")
    s.fix(cylinder((0, 0, -3.5 * r), (0, 0, 2.0 * r), r), "body")
    part = s.one_of("top", "side", "ring", "ring")
    middle, size = 0.5 * long, r * s.between(0.4, 0.65)
    s.fix(box((-0.7 * r, -0.7 * r, middle - r), (0.7 * r, 0.7 * r, middle + r)), "body")
    for name, way in (("top", (0, 1, 0)), ("side", (1, 0, 0))):
        stub = 0.65 * r * np.array(way) + (0, 0, middle)
        turret = knurled(stub, 0.9 * r * np.array(way), size, 0.9 * size, int(rng.integers(8, 18)))
        s.add(turret, "dark", part == name)
    grip(s, long - 1.5 * r, 1.2 * r, 0.85 * r, part == "ring", True, "dark")
    s.fix(cylinder((0, 0, long), (0, 0, 2 * r), 0.6 * r, 0.9 * r), "body")
    for low in (0.2, 0.75):
        s.fix(box((-0.3 * r, -1.6 * r, low * long), (0.3 * r, -0.5 * r, low * long + r)), "metal")
    outward = {"top": (0, 1, 0), "side": (1, 0, 0), "ring": (0, 0, 1)}[part]
    at = (0, 0, long) if part == "ring" else (0, 0, middle)
    joint = hinge(outward, at, s.degrees(30, 150))
    joint = s.lay(joint, (1, 0, 0), np.pi / 2)  # y up, muzzle back
    if s.chance(0.6):
        joint = s.lay(joint, (0, 0, 1), s.one_of(np.pi, np.pi / 2, -np.pi / 2))
    joint, motion = s.either_way(joint)
    names = {
        "top": ("turret", "top turret", "knob", "elevation knob", "dial"),
        "side": ("turret", "side turret", "knob", "windage knob", "side knob"),
        "ring": ("ring", "zoom ring", "eyepiece ring", "magnification ring"),
    }[part]
    objects = ("scope", "rifle scope", "sight", "telescopic sight")
    return s.draft("scope", joint, objects, names, motion, directed=False)


KINDS = {
    "lens": (1.35 * 1.6, lens),
    "flashlight": (1.4, flashlight),
    "binoculars": (0.7, binoculars),
    "scope": (0.6, scope),
}
