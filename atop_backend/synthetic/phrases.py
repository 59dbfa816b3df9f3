"""Words for hinged and sliding fronts that agree with the side they are hinged on."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts
from atop_backend.synthetic.prompts import Words, join, words

_SIDEWAYS = {
    side: words(
        f"opens to the {side}|swings open to the {side}|opens, hinged on the {side}"
        f"|rotates open about its {side} hinge|pivots on its {side} side|is hinged on the {side}"
        f"|swings open on its {side} hinges|rotates open to the {side}"
        f"|turns open about its {side} edge|swings to the {side}"
        f"|swings open, hinge on the {side}",
        f"open {{}} to the {side}|swing {{}} open to the {side}",
    )
    for side in ("left", "right")
}
_SIDEWAYS_SHUT = {
    side: words(
        f"closes, hinged on the {side}|swings shut on its {side} hinges",
    )
    for side in ("left", "right")
}
_UP_FRONT = words(
    "flips up|swings up|opens upward|lifts up|hinges up|swings upward|rotates up and out",
    "flip {} up|lift {} up|open {}|swing {} up|open {} upward",
)


def swing(rng: np.random.Generator, side: str, told: float = 0.45) -> tuple[Words, Words]:
    """Words for opening and for closing a leaf.

    Args:
        rng: Decides whether the side is told.
        side: Hinge side: "left", "right", "top" or "bottom".
        told: Share of objects whose sentences often tell the hinge side.
    """
    if side == "bottom":
        return prompts.FOLD_DOWN, prompts.FOLD_UP
    if side == "top":
        return join(_UP_FRONT, prompts.LIFT), prompts.LOWER
    opening, closing = join(prompts.SWING, prompts.OPEN), prompts.SWING_SHUT
    if rng.random() < told:
        sided = _SIDEWAYS[side]
        return join(opening, sided, sided), join(closing, _SIDEWAYS_SHUT[side])
    return opening, closing


def slide_sideways(rng: np.random.Generator, right: bool) -> tuple[Words, Words]:
    """Words for a leaf that slides sideways to open, and for its way back."""
    there, back = (
        (prompts.SLIDE_RIGHT, prompts.SLIDE_LEFT)
        if right
        else (prompts.SLIDE_LEFT, prompts.SLIDE_RIGHT)
    )
    if rng.random() < 0.6:
        return join(prompts.SLIDE, there, there), join(prompts.SLIDE_SHUT, back)
    return prompts.SLIDE, prompts.SLIDE_SHUT


DRAWER = join(prompts.SLIDE_OUT, prompts.OPEN)
DRAWER_BACK = prompts.SLIDE_IN
