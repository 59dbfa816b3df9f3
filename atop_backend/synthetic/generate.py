"""One seed, one articulated object: a kind is drawn by weight, built, posed and normalised."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from atop_backend.errors import InputError
from atop_backend.synthetic import (
    abstract,
    bins,
    blocks,
    buckets,
    cameras,
    clamshells,
    containers,
    controls,
    cooking,
    cooling,
    deskwork,
    devices,
    dishwashers,
    doorways,
    enclosures,
    entrances,
    flaps,
    folding,
    furniture,
    gadgets,
    gates,
    handtools,
    hoists,
    household,
    kitchens,
    leisure,
    locks,
    luggage,
    machines,
    mechanical,
    microwaves,
    office,
    optics,
    plumbing,
    pocket,
    props,
    safes,
    seating,
    sliding,
    stands,
    sundries,
    tables,
    taps,
    tools,
    twists,
    vessels,
    washing,
    wheeled,
    windows,
)
from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.objects import MAX_TRIANGLES, ArticulatedObject
from atop_backend.synthetic.posing import pose

Kind = Callable[[np.random.Generator], Draft]

# Storage, appliances and openings are what people articulate most.
_GROUPS = (
    (
        0.55,
        (
            furniture,
            blocks,
            kitchens,
            tables,
            flaps,
            sliding,
            cooling,
            cooking,
            microwaves,
            washing,
            dishwashers,
            safes,
            enclosures,
            doorways,
            entrances,
            gates,
            windows,
        ),
    ),
    (
        0.45,
        (
            abstract,
            gadgets,
            leisure,
            props,
            sundries,
            clamshells,
            containers,
            controls,
            deskwork,
            devices,
            plumbing,
            tools,
            pocket,
            vessels,
            buckets,
            wheeled,
            seating,
            folding,
            stands,
            luggage,
            household,
            locks,
            machines,
            mechanical,
            hoists,
            bins,
            office,
            cameras,
            handtools,
            optics,
            taps,
            twists,
        ),
    ),
)


@lru_cache(maxsize=1)
def kinds() -> dict[str, tuple[float, Kind]]:
    """Every kind by name, with its share of the objects; shares add up to one."""
    result: dict[str, tuple[float, Kind]] = {}
    total = sum(share for share, modules in _GROUPS if modules)
    for share, modules in _GROUPS:
        members = {name: entry for module in modules for name, entry in module.KINDS.items()}
        weight = sum(entry[0] for entry in members.values())
        for name, (part, build) in members.items():
            result[name] = (share / total * part / weight, build)
    return result


@lru_cache(maxsize=1)
def _table() -> tuple[np.ndarray, tuple[Kind, ...]]:
    shares, builders = zip(*kinds().values(), strict=True)
    return np.cumsum(shares), builders


def generate(seed: int, kind: str | None = None) -> ArticulatedObject:
    """The object of this seed: the same seed always gives the same object.

    Args:
        seed: Any non-negative integer.
        kind: One name of `kinds()`, to see that kind alone; by default drawn by weight.
    """
    rng = np.random.default_rng(seed)
    shares, builders = _table()
    while True:
        drawn = min(int(np.searchsorted(shares, rng.random())), len(builders) - 1)
        build = kinds()[kind][1] if kind else builders[drawn]
        try:
            posed = pose(build(rng), rng)
        except InputError:
            continue  # sizes drawn so that nothing was left to move
        if len(posed.triangles) <= MAX_TRIANGLES:
            return posed
