"""Buckets and baskets, whose bail swings about the line through its two ears."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.containers import round_body
from atop_backend.synthetic.draft import Draft, hinge
from atop_backend.synthetic.sketch import HOUSEHOLD, WOODEN, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    lathe,
    open_box,
    tube,
)
from atop_backend.synthetic.vessels import arc


def bucket(rng: np.random.Generator) -> Draft:
    """A bucket or basket: the bail swings about the line through its two ears."""
    s = Sketch(rng, (*HOUSEHOLD, *WOODEN))
    radius = s.between(0.1, 0.18)
    height = radius * s.between(1.2, 2.2)
    is_round = s.chance(0.75)
    foot = radius * s.between(0.65, 0.98)
    if is_round:
        s.fix(round_body(foot, radius, height, radius * 0.04, 22))
        if s.chance(0.6):
            ring = [(radius * 0.98, height * 0.97), (radius * 1.05, height * 0.97)]
            ring += [
                (radius * 1.05, height),
                (radius * 0.98, height),
                (radius * 0.98, height * 0.97),
            ]
            s.fix(lathe(ring, (0, 0, 0), "z", 22), "trim")
    else:
        deep = radius * s.between(0.6, 0.95)
        s.fix(open_box((-radius, -deep, 0), (radius, deep, height), radius * 0.06, "+z"))
    level = height * s.between(0.86, 0.97)
    ear, size = radius * s.between(1.02, 1.1), radius * s.between(0.06, 0.13)
    for side in (-1, 1):
        near, far = sorted((side * radius * 0.95, side * ear))
        s.fix(box((near, -size, level - size), (far, size, level + size * 0.8)), "metal")
    thick, tall = radius * s.between(0.025, 0.06), s.between(0.75, 1.2)
    rise = radius * tall
    style = s.rng.random()
    if style < 0.65:
        path = [(x * ear, 0, level + z * rise) for x, z in arc(1.0, 1.0, 0, 180, 11)]
    else:
        path = [(ear, 0, level), (ear, 0, level + rise * 0.8), (ear * 0.8, 0, level + rise)]
        path += [(-ear * 0.8, 0, level + rise), (-ear, 0, level + rise * 0.8), (-ear, 0, level)]
    mark = s.mark()
    s.move(tube(path, thick, 6), "handle")
    if s.chance(0.5):
        grip = radius * 0.25
        s.move(
            cylinder((-grip, 0, level + rise), (2 * grip, 0, 0), thick * 1.8, segments=8), "accent"
        )
    pivot = (0.0, 0.0, level)
    sign = s.sign()
    objects, parts = ("bucket", "pail", "basket"), ("handle", "bail", "bucket handle", "grip")
    low = np.radians(95 if ear > radius * 1.05 + thick and is_round else 78)
    if s.chance(0.55):  # hangs to the front or to the back, and is raised
        lean = s.between(0.75, 1.0) * low
        s.turn(mark, (sign, 0, 0), lean, pivot)
        joint = hinge((-sign, 0, 0), pivot, lean * s.one_of(1.0, 1.0, 1.6))
        motion = say.join(say.TILT_UP, say.words("swings up|is lifted up", "lift {} up"))
        return s.draft("bucket", joint, objects, parts, motion, say.TILT_DOWN)
    joint = hinge((sign, 0, 0), pivot, s.between(0.7, 1.0) * low)
    motion = say.join(
        say.TILT_DOWN, say.words("falls to the side|swings|rotates|folds down", "fold {} down")
    )
    return s.draft("bucket", joint, objects, parts, motion, say.TILT_UP, directed=False)


KINDS = {
    "bucket": (2.2, bucket),
}
