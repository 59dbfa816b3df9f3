"""Cameras: for photographs, for films, and the kind that watches a door."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.optics import barrel, grip, tick
from atop_backend.synthetic.sketch import Sketch
from atop_backend.synthetic.solids import box, cylinder, extrude, rounded_rectangle, sphere, tube

_CAMERAS = ("camera", "digital camera", "photo camera")
_RING_NAMES = ("lens ring", "lens", "focus ring", "zoom ring", "ring", "camera lens")


def camera(rng: np.random.Generator) -> Draft:
    """A camera: lens ring, zoom, mode dial, button, screen, flash, cap or a door moves."""
    s = Sketch(rng)
    width, height, depth = s.between(0.09, 0.15), s.between(0.055, 0.1), s.between(0.025, 0.05)
    part = s.one_of("ring", "ring", "ring", "lens", "lens", "lens", "zoom", "dial", "dial",
                    "button", "screen", "flash", "cap", "door")  # fmt: skip
    outline = rounded_rectangle(
        (-width / 2, 0), (width / 2, height), height * s.between(0.02, 0.25)
    )
    s.fix(extrude(outline, "xz", -depth / 2, depth / 2), "body")
    x0, z0 = width * s.between(-0.12, 0.12), height * s.between(0.42, 0.52)
    front, rear = -depth / 2, depth / 2
    mark, radius = s.mark(), height * s.between(0.26, 0.46)
    lens_part = {"ring": "ring", "lens": "whole", "zoom": "barrel"}.get(part, "")
    start, end, r = barrel(s, 0.0, radius, lens_part)
    s.turn(mark, (1, 0, 0), np.pi / 2)  # what was up looks to -Y
    s.shift(mark, (x0, front, z0))
    dial_x = s.one_of(-1, 1) * width * s.between(0.28, 0.38)
    size = depth * s.between(0.2, 0.35)
    if s.chance(0.55) or part == "flash":
        w, h = width * s.between(0.12, 0.2), height * s.between(0.15, 0.3)
        w = min(w, max(abs(dial_x - x0) - 1.15 * size, 0.04 * width))  # room for the dial beside it
        hump = [(-depth * 0.45, height), (depth * 0.45, height), (depth * 0.3, height + h)]
        hump.append((-depth * 0.4, height + h))
        s.add(extrude(hump, "yz", x0 - w, x0 + w), "body", part == "flash")
    mark = s.mark()
    grip(s, 0, 0.7 * size, size, part == "dial", s.chance(0.6), "trim")
    if s.chance(0.5):
        tick(s, 0, 0.7 * size, size, part == "dial")
    s.shift(mark, (dial_x, 0, height))
    press = (-dial_x, -depth * 0.1, height)
    button = cylinder(press, (0, 0, s.between(0.003, 0.006)), 0.7 * size, segments=10)
    s.add(button, "metal", part == "button")
    if s.chance(0.5):  # a grip for the hand
        wide = width * 0.14
        way = -np.sign(dial_x)
        side = way * (width / 2 - wide / 2)
        low = (side - wide / 2, front - depth * s.between(0.2, 0.6), 0.004)
        if way * (side - x0) - wide / 2 > 1.1 * radius:  # the lens can turn beside it
            s.fix(box(low, (side + wide / 2, front, height * 0.85)), "dark")
    if s.chance(0.3):
        w = 0.12 * width
        s.fix(box((x0 - w, front - 0.001, 0.82 * height), (x0 + w, front, 0.95 * height)), "glass")
    if s.chance(0.2):  # lugs for a strap
        for x in (-width / 2, width / 2):
            s.fix(sphere((x, 0, 0.85 * height), 0.05 * height, 8, 5), "metal")
    wide, tall = width * 0.27, height * 0.32
    shell = box((-wide, rear, z0 - tall), (wide, rear + 0.006, z0 + tall))
    s.add(shell, "dark", part == "screen")
    low = (-wide * 0.9, rear + 0.006, z0 - tall * 0.88)
    glass = box(low, (wide * 0.9, rear + 0.0066, z0 + tall * 0.88))
    s.add(glass, "glass", part == "screen")
    if part in ("ring", "lens", "dial"):
        outward, origin = (0, -1, 0), (x0, front, z0)
        names = _RING_NAMES if part == "ring" else ("lens", "lens", "camera lens", "objective")
        if part == "dial":
            outward, origin = (0, 0, 1), (dial_x, 0, height)
            names = ("dial", "mode dial", "knob", "wheel")
        axis, motion = s.twist(outward)
        joint = hinge(axis, origin, s.degrees(40, 150))
        return s.draft("camera", joint, _CAMERAS, names, motion, directed=False)
    if part == "zoom":
        joint = slider((0, -1, 0), (x0, front - start, z0), start * s.between(0.4, 0.8))
        names = ("lens", "zoom lens", "objective", "lens barrel")
        return s.draft("camera", joint, _CAMERAS, names, say.EXTEND, say.RETRACT)
    if part == "button":
        joint = slider((0, 0, -1), press, 0.0025)
        names = ("shutter button", "button", "release", "shutter")
        return s.draft("camera", joint, _CAMERAS, names, say.PRESS_DOWN)
    if part == "flash":
        joint = hinge((-1, 0, 0), (x0, depth * 0.42, height), s.degrees(25, 60))
        motion = say.join(say.LIFT, say.FLIP)
        return s.draft("camera", joint, _CAMERAS, ("flash", "pop-up flash"), motion, say.LOWER)
    if part == "cap":
        near = front - end - 0.0005
        s.move(cylinder((x0, near, z0), (0, -0.006, 0), r * 1.03, segments=18), "dark")
        joint = slider((0, -1, 0), (x0, near, z0), depth * s.between(0.5, 1.5))
        return s.draft("camera", joint, _CAMERAS, ("lens cap", "cap", "cover"), say.PULL_OFF)
    side = s.sign()
    if part == "door":  # over the cards, at one end
        x, half = side * width / 2, 0.35 * height
        near, far = sorted((x, x + side * 0.004))
        s.move(box((near, -0.4 * depth, z0 - half), (far, 0.4 * depth, z0 + half)), "front")
        joint = hinge((0, 0, side), (x, 0.4 * depth, z0), s.degrees(60, 110))
        names = ("door", "card door", "cover", "side door", "flap")
        return s.draft("camera", joint, _CAMERAS, names, say.SWING, say.SWING_SHUT)
    if s.chance(0.35):
        joint = hinge((-1, 0, 0), (0, rear + 0.003, z0 - tall), s.degrees(30, 100))
        names = ("screen", "tilting screen", "display")
        return s.draft("camera", joint, _CAMERAS, names, say.FOLD_OUT, say.FOLD_IN)
    joint = hinge((0, 0, -side), (side * wide, rear + 0.003, z0), s.degrees(90, 170))
    names = ("screen", "flip screen", "display")
    return s.draft("camera", joint, _CAMERAS, names, say.FOLD_OUT, say.FOLD_IN)


def camcorder(rng: np.random.Generator) -> Draft:
    """A film camera along its view: the side screen swings out, a lens ring turns, or its cap."""
    s = Sketch(rng)
    width, height, depth = s.between(0.05, 0.07), s.between(0.06, 0.1), s.between(0.1, 0.18)
    outline = rounded_rectangle((-width / 2, 0), (width / 2, height), s.between(0, 0.4) * width)
    s.fix(extrude(outline, "xz", -depth / 2, depth / 2), "body")
    part = s.one_of("screen", "screen", "ring", "ring", "finder")
    z0, mark = height * s.between(0.5, 0.6), s.mark()
    barrel(s, 0.0, 0.42 * min(width, height), "ring" if part == "ring" else "")
    s.turn(mark, (1, 0, 0), np.pi / 2)
    s.shift(mark, (0, -depth / 2, z0))
    side = s.sign()
    thick, long, tall = 0.008, depth * s.between(0.4, 0.7), 0.38 * height
    near, far = sorted((side * (width / 2 + 0.001), side * (width / 2 + thick)))
    y0 = -depth * s.between(0.3, 0.45)
    s.add(box((near, y0, z0 - tall), (far, y0 + long, z0 + tall)), "front", part == "screen")
    s.fix(cylinder((side * width / 2, y0, z0 - tall), (0, 0, 2 * tall), 0.004, segments=8), "metal")
    finder = box((-0.3 * width, 0.3 * depth, height), (0.3 * width, 0.62 * depth, 1.25 * height))
    s.add(finder, "dark", part == "finder")
    if s.chance(0.6):
        path = [(0, -0.4 * depth, height), (0, -0.3 * depth, 1.4 * height)]
        path += [(0, 0.2 * depth, 1.4 * height), (0, 0.25 * depth, height)]
        s.fix(tube(path, 0.1 * width, 6), "body")
    objects = ("camcorder", "video camera", "camera", "film camera")
    if part == "ring":
        axis, motion = s.twist((0, -1, 0))
        joint = hinge(axis, (0, -depth / 2, z0), s.degrees(40, 150))
        return s.draft("camcorder", joint, objects, _RING_NAMES, motion, directed=False)
    if part == "finder":
        joint = hinge((1, 0, 0), (0, 0.3 * depth, height), s.degrees(20, 60))
        names = ("viewfinder", "eyepiece", "finder")
        return s.draft("camcorder", joint, objects, names, say.TILT_UP, say.TILT_DOWN)
    joint = hinge((0, 0, -side), (side * (width / 2 + 0.004), y0, z0), s.degrees(60, 110))
    names = ("screen", "display", "flip screen", "side screen", "monitor")
    return s.draft("camcorder", joint, objects, names, say.FOLD_OUT, say.FOLD_IN)


def watching_camera(rng: np.random.Generator) -> Draft:
    """A camera on a wall, a ceiling or a stand: its head pans or tilts, or a ring turns."""
    s = Sketch(rng)
    r, long = s.between(0.03, 0.05), s.between(0.08, 0.2)
    part, square = s.one_of("pan", "tilt", "ring"), s.chance(0.5)
    head, mark = part != "ring", s.mark()
    if square:
        s.add(box((-r, -long / 2, -r), (r, long / 2, r)), "body", head)
        shade = box((-1.15 * r, -0.65 * long, r), (1.15 * r, long / 2, 1.15 * r))
        s.add(shade, "body", head)
    else:
        s.add(cylinder((0, long / 2, 0), (0, -long, 0), r, segments=18), "body", head)
    lens = s.mark()
    grip(s, 0, 0.5 * r, 0.75 * r, head or part == "ring", s.chance(0.6), "dark")
    s.add(cylinder((0, 0, 0.5 * r), (0, 0, 0.02 * r), 0.55 * r), "glass", head)
    tick(s, 0, 0.5 * r, 0.75 * r, True)
    s.turn(lens, (1, 0, 0), np.pi / 2)
    s.shift(lens, (0, -long / 2, 0))
    pitch = s.degrees(-10, 25)
    s.turn(mark, (1, 0, 0), pitch)
    drop = 1.1 * r
    arm = r * s.between(0.8, 2.5)
    pan = part == "pan"
    s.add(cylinder((0, 0, -drop), (0, 0, 0.3 * r), 0.4 * r, segments=10), "trim", pan)
    s.fix(cylinder((0, 0, -drop), (0, 0, -arm), 0.3 * r, segments=10), "trim")
    if s.chance(0.5):
        s.fix(cylinder((0, 0, -drop - arm), (0, 0, -0.3 * r), 1.4 * r, segments=16), "trim")
    else:
        s.fix(tube([(0, 0, -drop - arm), (0, 3 * r, -drop - arm)], 0.3 * r, 8), "trim")
        plate = box((-r, 3 * r, -drop - arm - r), (r, 3.3 * r, -drop - arm + r))
        s.fix(plate, "trim")
    objects = ("security camera", "surveillance camera", "webcam", "camera", "cctv camera")
    if part == "ring":
        forward = (0.0, -np.cos(pitch), -np.sin(pitch))
        axis, motion = s.twist(forward)
        joint = hinge(axis, (0, 0, 0), s.degrees(40, 150))
        return s.draft("camera", joint, objects, _RING_NAMES, motion, directed=False)
    names = ("head", "camera head", "camera", "camera body")
    if pan:
        axis, motion = s.swivel()
        joint = hinge(axis, (0, 0, 0), s.degrees(30, 110))
        return s.draft("camera", joint, objects, names, motion, directed=False)
    down = s.sign()
    joint = hinge((down, 0, 0), (0, 0, -drop + 0.1 * r), s.degrees(12, 35))
    words = (say.TILT_DOWN, say.TILT_UP) if down > 0 else (say.TILT_UP, say.TILT_DOWN)
    return s.draft("camera", joint, objects, names, *words)


KINDS = {
    "camera": (3.6, camera),
    "camcorder": (0.6, camcorder),
    "watching_camera": (0.6, watching_camera),
}
