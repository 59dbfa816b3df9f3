"""Colours and makes of generated creatures."""

from __future__ import annotations

import colorsys
from typing import NamedTuple

import numpy as np

SHADES = 5  # skin, upper, lower, extra, eyes


class Style(NamedTuple):
    """How a creature is made."""

    colours: np.ndarray  # (SHADES, 3) display values
    sides: int  # of a tube
    power: float  # of its cross-section: 2 round, 6 nearly a box
    blend: float  # how softly joints bend
    sleeves: bool  # arms have the colour of the trunk


def style_of(rng: np.random.Generator) -> Style:
    """A style: soft animals and hard robots, in matching or wild colours."""
    hue = rng.random()
    spread = rng.choice([0.03, 0.15, 0.5])
    colours = np.array([
        colorsys.hsv_to_rgb((hue + spread * rng.uniform(-1, 1)) % 1, rng.uniform(0.1, 0.8),
                            rng.uniform(0.25, 0.95))
        for _ in range(SHADES)
    ])  # fmt: skip
    if rng.random() < 0.3:
        colours[1:4] = colours[0] * rng.uniform(0.5, 1.2, size=(3, 1))
    colours[4] = 0.08
    hard = rng.random() < 0.2
    return Style(
        colours.clip(0, 1),
        4 if hard and rng.random() < 0.5 else int(rng.integers(6, 10)),
        float(rng.uniform(3, 8) if hard else rng.uniform(2, 2.6)),
        0.0 if hard else float(rng.uniform(0.15, 0.4)),
        bool(rng.random() < 0.6),
    )
