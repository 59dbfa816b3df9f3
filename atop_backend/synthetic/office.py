"""Office machines: printers, scanners, tills, disc players."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    frame,
    open_box,
)


def printer(rng: np.random.Generator) -> Draft:
    """A printer, scanner or copier: scanner lid, paper drawer, front flap or output tray."""
    s = Sketch(rng)
    wide, deep, high = s.between(0.36, 0.55), s.between(0.3, 0.45), s.between(0.1, 0.45)
    part = s.one_of("lid", "lid", "drawer", "drawer", "flap", "tray", "button")
    front, back = -deep / 2, deep / 2
    low = high * s.between(0.25, 0.45)
    drawer = part == "drawer" or s.chance(0.5)
    start = low if drawer else 0.0
    s.fix(box((-wide / 2, front, start), (wide / 2, back, high)))
    if drawer:
        for x in (-wide / 2, wide / 2 - 0.015):
            s.fix(box((x, front, 0), (x + 0.015, back, low)))
        s.fix(box((-wide / 2, front, 0), (wide / 2, back, 0.008)))
        s.fix(box((-wide / 2, back - 0.01, 0), (wide / 2, back, low)))
        inner = wide / 2 - 0.018
        s.add(
            open_box((-inner, front, 0.011), (inner, back - 0.02, low - 0.004), 0.006, "+z"),
            "front",
            part == "drawer",
        )
        grip = box((-0.06, front - 0.008, low * 0.4), (0.06, front, low * 0.65))
        s.add(grip, "dark", part == "drawer")
    lid = s.between(0.012, 0.06)
    s.add(
        box((-wide * 0.49, front + 0.004, high + 0.001), (wide * 0.49, back, high + lid)),
        "top",
        part == "lid",
    )
    if s.chance(0.5):
        s.fix(box((-wide / 2, front - 0.03, high - 0.03), (wide / 2, front, high - 0.002)), "panel")
    for i in range(3):
        x = wide * (0.2 + 0.08 * i)
        chosen = part == "button" and i == 1
        s.add(
            box((x - 0.01, front - 0.035, high - 0.024), (x + 0.01, front - 0.0, high - 0.008)),
            "accent",
            chosen,
        )
    mouth = (start + 0.02, start + (high - start) * 0.45)
    if part == "flap":
        s.move(
            box((-wide * 0.4, front - 0.01, mouth[0]), (wide * 0.4, front - 0.001, mouth[1])),
            "front",
        )
    else:
        s.fix(box((-wide * 0.4, front - 0.001, mouth[0]), (wide * 0.4, front, mouth[1])), "dark")
        out = s.between(0.01, 0.12)
        tray = box(
            (-wide * 0.3, front - out, mouth[0]), (wide * 0.3, front + deep * 0.4, mouth[0] + 0.008)
        )
        s.add(tray, "trim", part == "tray")
    objects = ("printer", "scanner", "copier", "photocopier")
    if part == "lid":
        joint = hinge((-1, 0, 0), (0, back, high + 0.001), s.degrees(40, 90))
        return s.draft(
            "printer",
            joint,
            objects,
            ("lid", "cover", "scanner lid", "top"),
            say.join(say.OPEN, say.LIFT),
            say.LOWER,
        )
    if part == "drawer":
        joint = slider((0, -1, 0), (0, front, low / 2), deep * s.between(0.3, 0.7))
        return s.draft(
            "printer",
            joint,
            objects,
            ("drawer", "paper tray", "paper drawer"),
            say.SLIDE_OUT,
            say.SLIDE_IN,
        )
    if part == "flap":
        joint = hinge((1, 0, 0), (0, front - 0.01, mouth[0]), s.degrees(60, 100))
        return s.draft(
            "printer",
            joint,
            objects,
            ("flap", "front cover", "front door"),
            say.FOLD_DOWN,
            say.FOLD_UP,
        )
    if part == "tray":
        joint = slider((0, -1, 0), (0, front, mouth[0]), deep * s.between(0.2, 0.4))
        return s.draft(
            "printer",
            joint,
            objects,
            ("tray", "output tray", "paper support"),
            say.EXTEND,
            say.RETRACT,
        )
    joint = slider((0, 1, 0), (wide * 0.28, front, high - 0.016), 0.004)
    return s.draft("printer", joint, objects, ("button", "middle button"), say.PRESS)


def till(rng: np.random.Generator) -> Draft:
    """A cash register, disc player, game console or computer: a drawer or a tray slides out."""
    s = Sketch(rng)
    wide, deep, high = s.between(0.2, 0.45), s.between(0.2, 0.45), s.between(0.05, 0.45)
    w, h = wide * s.between(0.3, 0.92) / 2, high * s.between(0.08, 0.45) / 2
    h = max(h, 0.006)
    x = s.one_of(0.0, s.between(-1, 1)) * (wide / 2 - w - 0.006)
    z = s.between(h + 0.006, high - h - 0.006)
    low, top = (-wide / 2, -deep / 2, 0.0), (wide / 2, deep / 2, high)
    s.fix(frame(low, top, (x - w, 0, z - h), (x + w, 0, z + h), "y"))
    s.fix(box((x - w, deep / 2 - 0.01, z - h), (x + w, deep / 2, z + h)))
    front, gap = -deep / 2, 0.0008
    inside = deep * s.between(0.4, 0.8)
    out = s.one_of(0.0, 0.0, s.between(0.0, 0.2) * deep)
    s.move(
        box(
            (x - w + gap, front - out - 0.004, z - h + gap),
            (x + w - gap, front - out + 0.004, z + h - gap),
        ),
        "front",
    )
    tray = open_box(
        (x - w * 0.95, front - out, z - h * 0.8),
        (x + w * 0.95, front - out + inside, z + h * 0.7),
        h * 0.2,
        "+z",
    )
    s.move(tray, "trim")
    if s.chance(0.4):
        s.fix(
            box((-wide * 0.3, front - 0.003, high * 0.9), (wide * 0.3, front, high * 0.97)), "glass"
        )
    disc = h < 0.02
    if s.chance(0.4) and not disc:
        s.move(
            box(
                (x - 0.03, front - out - 0.014, z - 0.006),
                (x + 0.03, front - out - 0.003, z + 0.006),
            ),
            "handle",
        )
    for i in range(int(rng.integers(0, 4))):
        at = (-wide * 0.4 + 0.03 * i, front, min(high - 0.012, z + h + 0.02))
        s.fix(cylinder(at, (0, -0.005, 0), 0.007, segments=8), "accent")
    joint = slider((0, -1, 0), (x, front - out, z), inside * s.between(0.5, 0.9))
    objects = (
        ("disc player", "DVD player", "computer", "CD player")
        if disc
        else ("cash register", "till", "device", "machine")
    )
    parts = ("tray", "disc tray", "CD tray", "drive") if disc else ("drawer", "cash drawer", "tray")
    return s.draft(
        "disc player" if disc else "till", joint, objects, parts, say.SLIDE_OUT, say.SLIDE_IN
    )


KINDS = {
    "printer": (1.8, printer),
    "till": (1.8, till),
}
