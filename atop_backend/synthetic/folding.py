"""Folding tables, drop leaves and step ladders."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge
from atop_backend.synthetic.sketch import Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    tube,
)


def leaf_table(rng: np.random.Generator) -> Draft:
    """A table with a leaf that folds down or up, or with legs that fold in."""
    s = Sketch(rng, (palette.WOODS, palette.PAINTS))
    wide, deep, high = s.between(0.6, 1.1), s.between(0.5, 0.9), s.between(0.5, 0.78)
    t, leg = s.between(0.018, 0.04), s.between(0.02, 0.035)
    if s.chance(0.35):  # folding legs
        s.fix(box((-wide / 2, -deep / 2, high), (wide / 2, deep / 2, high + t)), "top")
        side = s.sign()
        for x in (-1, 1):
            edge, moves = x * wide * 0.42, x == side
            low, far = -deep * 0.42, deep * 0.42
            frame_path = [
                (edge, low, high - leg),
                (edge, low, leg),
                (edge, far, leg),
                (edge, far, high - leg),
            ]
            s.add(tube(frame_path, leg * 0.6, 6), "metal", moves)
            s.add(
                cylinder((edge, low - leg, high - leg), (0, far - low + 2 * leg, 0), leg * 0.7),
                "metal",
                moves,
            )
        joint = hinge((0, side, 0), (side * wide * 0.42, 0, high - leg), s.degrees(60, 82))
        parts = ("leg", "legs", "left leg" if side < 0 else "right leg", "table leg")
        return s.draft(
            "table",
            joint,
            ("table", "folding table", "camping table"),
            parts,
            say.FOLD_IN,
            say.FOLD_OUT,
        )
    side, reach = s.sign(), s.between(0.3, 0.5) * wide
    s.fix(box((-wide / 2, -deep / 2, high), (wide / 2, deep / 2, high + t)), "top")
    for x in (-1, 1):
        for y in (-1, 1):
            at = np.array((x * wide * 0.42, y * deep * 0.42, 0.0))
            s.fix(box(at - (leg, leg, 0), np.add(at, (leg, leg, high))), "trim")
    s.fix(box((-wide * 0.42, -deep * 0.42, high - 0.08), (wide * 0.42, deep * 0.42, high)), "body")
    gap, pivot = 0.003, (side * wide / 2, 0.0, high)
    for x in (-1, 1):
        moves = x == side
        if not moves and s.chance(0.5):
            continue
        near, far = sorted((x * (wide / 2 + gap), x * (wide / 2 + reach)))
        mark = s.mark()
        s.add(box((near, -deep / 2, high), (far, deep / 2, high + t)), "top", moves)
        if not moves and s.chance(0.5):
            s.turn(mark, (0, x, 0), np.pi / 2, (x * wide / 2, 0, high))
    for y in (-deep * 0.3, deep * 0.3):
        barrel = cylinder((pivot[0], y - 0.03, high - 0.004), (0, 0.06, 0), 0.007, segments=8)
        s.fix(barrel, "metal")
    parts = ("leaf", "table leaf", "flap", "left leaf" if side < 0 else "right leaf", "side panel")
    joint = hinge((0, side, 0), pivot, s.degrees(60, 90))
    return s.draft(
        "table",
        joint,
        ("table", "drop-leaf table", "folding table"),
        parts,
        say.FOLD_DOWN,
        say.FOLD_UP,
    )


def ladder(rng: np.random.Generator) -> Draft:
    """A step ladder, an easel or an ironing board: one pair of legs swings out."""
    s = Sketch(rng)
    wide, high, t = s.between(0.35, 0.5), s.between(0.8, 1.8), s.between(0.012, 0.025)
    spread, now = s.degrees(14, 24), s.degrees(2, 20)
    mark = s.mark()
    for x in (-1, 1):
        s.fix(box((x * wide / 2 - t, -0.03, 0), (x * wide / 2 + t, 0.0, high)), "metal")
    for level in np.linspace(high * 0.2, high * 0.9, int(rng.integers(3, 6))):
        s.fix(box((-wide / 2, -0.08, level), (wide / 2, 0.0, level + 0.02)), "top")
    s.turn(mark, (-1, 0, 0), spread * 0.7, (0, 0, high))
    s.fix(box((-wide / 2, -0.1, high), (wide / 2, 0.05, high + 0.03)), "top")
    mark = s.mark()
    for x in (-1, 1):
        edge = x * (wide / 2 - 2.5 * t)
        s.move(box((edge - t, 0.01, 0), (edge + t, 0.03, high - 0.005)), "metal")
    for level in (high * 0.2, high * 0.6):
        s.move(
            box((-wide / 2 + 2 * t, 0.012, level), (wide / 2 - 2 * t, 0.028, level + 0.03)), "metal"
        )
    pivot = (0.0, 0.02, high - 0.01)
    s.fix(cylinder((-wide / 2 - t, *pivot[1:]), (wide + 2 * t, 0, 0), 0.01, segments=8), "dark")
    s.turn(mark, (1, 0, 0), now, pivot)
    joint = hinge((1, 0, 0), pivot, s.degrees(15, 35))
    parts = ("rear legs", "back legs", "support", "back frame")
    return s.draft(
        "ladder", joint, ("ladder", "step ladder", "stepladder"), parts, say.FOLD_OUT, say.FOLD_IN
    )


KINDS = {
    "leaf_table": (1.3, leaf_table),
    "ladder": (0.5, ladder),
}
