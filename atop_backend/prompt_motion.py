"""What a prompt says outright about how a part moves. Standard library only.

The video prior hears every word and yet shows now and then a slide where the sentence says that a
lid turns. On generated objects `said_motion` names the kind of joint for two sentences of three.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from atop_backend.contracts import JointKind

_TURNS = re.compile(
    r"\b(?:rotat|swing|swung|swivel|turn|twist|tilt|pivot|hing|fold|unfold|flip|spin|spun|revolv"
    r"|unscrew|screw|(?:anti-?|counter-?)?clockwise)\w*"
)
_SLIDES = re.compile(r"\b(?:slid|glid|extend)\w*|\bstraight\b|\bdrawer\b(?! unit| cabinet)")
_RISES = re.compile(r"\b(?:up|upwards?|rais(?:e[sd]?|ing)|lift(?:s|ed|ing)?|ris(?:es?|ing))\b")
_SINKS = re.compile(r"\b(?:down|downwards?|drop(?:s|ped|ping)?|lower(?:s|ed|ing)|sinks?)\b")
_HINGE_SIDE = re.compile(
    r"\bhing\w*,? (?:is )?(?:on|at|along) (?:the|its) (left|right)\b"
    r"|\b(?:about|around|along|on) (?:the|its) (left|right)(?: |-hand )(?:edge|hinges?)\b"
    r"|\bon its (left|right) side\b"
)


class SaidMotion(NamedTuple):
    """What a prompt says; None and 0 where it says nothing, or two things at once."""

    kind: JointKind | None = None
    rise: int = 0  # 1: the part goes up, -1: it goes down
    hinge_side: int = 0  # 1: on the right of the part as seen from the front, -1: on the left


NOTHING_SAID = SaidMotion()


def said_motion(prompt: str) -> SaidMotion:
    """What the prompt says about the motion."""
    text = prompt.lower()
    turns, slides = bool(_TURNS.search(text)), bool(_SLIDES.search(text))
    kind: JointKind | None = None
    if turns != slides:
        kind = "revolute" if turns else "prismatic"
    sides = {word for found in _HINGE_SIDE.findall(text) for word in found if word}
    side = {"right": 1, "left": -1}[sides.pop()] if len(sides) == 1 else 0
    return SaidMotion(kind, bool(_RISES.search(text)) - bool(_SINKS.search(text)), side)
