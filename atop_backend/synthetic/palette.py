"""Colour schemes of generated objects: woods, paints, metals, plastics, plain greys."""

from __future__ import annotations

import colorsys
from typing import NamedTuple

import numpy as np

WOODS = np.array(
    [
        (0.80, 0.64, 0.44), (0.72, 0.53, 0.33), (0.62, 0.42, 0.24), (0.50, 0.32, 0.18),
        (0.40, 0.25, 0.15), (0.30, 0.19, 0.12), (0.86, 0.74, 0.56), (0.58, 0.46, 0.36),
        (0.67, 0.58, 0.48), (0.55, 0.30, 0.20),
    ]
)  # fmt: skip
PAINTS = np.array(
    [
        (0.95, 0.95, 0.94), (0.90, 0.89, 0.85), (0.85, 0.85, 0.86), (0.62, 0.65, 0.66),
        (0.36, 0.40, 0.44), (0.20, 0.24, 0.30), (0.55, 0.64, 0.56), (0.30, 0.42, 0.38),
        (0.45, 0.56, 0.66), (0.74, 0.60, 0.58), (0.86, 0.80, 0.62), (0.15, 0.15, 0.16),
    ]
)  # fmt: skip
METALS = np.array(
    [
        (0.78, 0.79, 0.80), (0.66, 0.67, 0.69), (0.55, 0.56, 0.58), (0.42, 0.43, 0.45),
        (0.28, 0.29, 0.31), (0.14, 0.14, 0.15), (0.76, 0.63, 0.36), (0.60, 0.44, 0.28),
        (0.90, 0.90, 0.91),
    ]
)  # fmt: skip
GLASSES = np.array(
    [
        (0.62, 0.74, 0.80), (0.74, 0.83, 0.86), (0.50, 0.60, 0.66), (0.30, 0.36, 0.40),
        (0.10, 0.11, 0.13), (0.06, 0.06, 0.08), (0.20, 0.20, 0.21),
    ]
)  # fmt: skip


class Scheme(NamedTuple):
    """Display colours (3,) that go together on one object."""

    body: np.ndarray
    front: np.ndarray  # doors, drawer fronts, lids
    panel: np.ndarray  # what is set into a front
    top: np.ndarray  # worktop, cover
    inside: np.ndarray
    trim: np.ndarray  # frames, legs, plinths
    handle: np.ndarray
    metal: np.ndarray
    dark: np.ndarray  # rubber, screens, gaps
    glass: np.ndarray
    accent: np.ndarray  # whatever may stand out


def pick(rng: np.random.Generator, table: np.ndarray, jitter: float = 0.03) -> np.ndarray:
    """One row of a colour table, a little lighter or darker."""
    return np.clip(table[rng.integers(len(table))] + rng.normal(0.0, jitter), 0.03, 0.97)


def any_colour(rng: np.random.Generator) -> np.ndarray:
    """A colour of any hue, from greyish to strong."""
    hue, saturation, value = rng.random(), rng.random() ** 0.8, 0.2 + 0.78 * rng.random()
    return np.array(colorsys.hsv_to_rgb(hue, saturation, value))


def shade(rng: np.random.Generator, colour: np.ndarray, spread: float = 0.18) -> np.ndarray:
    """The same hue, lighter or darker by up to `spread` of itself."""
    return np.clip(colour * rng.uniform(1.0 - spread, 1.0 + spread), 0.03, 0.97)


def _plain(rng: np.random.Generator) -> Scheme:
    """Everything in one colour, as models without materials are; mostly grey."""
    grey = np.full(3, rng.uniform(0.35, 0.92))
    colour = grey if rng.random() < 0.7 else any_colour(rng)
    return Scheme(*([colour] * len(Scheme._fields)))


def _shades(rng: np.random.Generator) -> Scheme:
    """Shades of one grey or colour, so that parts can just be told apart."""
    colour = np.full(3, rng.uniform(0.4, 0.85)) if rng.random() < 0.6 else any_colour(rng)
    spread = rng.uniform(0.05, 0.35)
    return Scheme(*(shade(rng, colour, spread) for _ in Scheme._fields))


def _wild(rng: np.random.Generator) -> Scheme:
    """A colour of its own for everything, as in segmented or toy-like models."""
    return Scheme(*(any_colour(rng) for _ in Scheme._fields))


def _natural(rng: np.random.Generator, tables: tuple[np.ndarray, ...]) -> Scheme:
    """Colours as on real furniture and appliances."""
    body = pick(rng, tables[rng.integers(len(tables))])
    same = rng.random()
    if same < 0.55:
        front = body
    elif same < 0.8:
        front = shade(rng, body, 0.12)
    else:
        front = pick(rng, tables[rng.integers(len(tables))])
    handle = pick(rng, METALS)
    if rng.random() < 0.25:
        handle = shade(rng, front, 0.3)
    elif rng.random() < 0.1:
        handle = any_colour(rng)
    return Scheme(
        body=body,
        front=front,
        panel=front if rng.random() < 0.6 else shade(rng, front, 0.2),
        top=shade(rng, body, 0.15) if rng.random() < 0.5 else pick(rng, tables[0]),
        inside=shade(rng, body, 0.3) if rng.random() < 0.6 else pick(rng, PAINTS),
        trim=body if rng.random() < 0.5 else pick(rng, METALS),
        handle=handle,
        metal=pick(rng, METALS),
        dark=np.full(3, rng.uniform(0.05, 0.25)),
        glass=pick(rng, GLASSES),
        accent=any_colour(rng),
    )


def scheme(rng: np.random.Generator, natural: tuple[np.ndarray, ...] = (WOODS, PAINTS)) -> Scheme:
    """Colours for one object: plain in a quarter of cases, else natural, toned or wild.

    Args:
        rng: Source of every draw.
        natural: Tables that the body's and the front's colours come from when natural.
    """
    choice = rng.random()
    if choice < 0.25:
        return _plain(rng)
    if choice < 0.37:
        return _shades(rng)
    if choice < 0.49:
        return _wild(rng)
    return _natural(rng, natural)
