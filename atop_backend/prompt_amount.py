"""How far and how long a prompt says that a part moves. Standard library only."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

_NUMBER = r"(\d+(?:[.,]\d+)?)"
_WORDS = {
    "a quarter": 0.25,
    "one quarter": 0.25,
    "quarter": 0.25,
    "a third": 1 / 3,
    "one third": 1 / 3,
    "half": 0.5,
    "two thirds": 2 / 3,
    "three quarters": 0.75,
    "a full": 1.0,
    "one full": 1.0,
    "full": 1.0,
    "a whole": 1.0,
    "one": 1.0,
    "two": 2.0,
    "three": 3.0,
}
_METRES = {
    "millimetre": 0.001,
    "millimeter": 0.001,
    "mm": 0.001,
    "centimetre": 0.01,
    "centimeter": 0.01,
    "cm": 0.01,
    "metre": 1.0,
    "meter": 1.0,
    "m": 1.0,
    "inch": 0.0254,
    "inche": 0.0254,
    "foot": 0.3048,
    "feet": 0.3048,
}
_ANY_WORD = "|".join(sorted(map(re.escape, _WORDS), key=len, reverse=True))
_ANY_LENGTH = "|".join(sorted(_METRES, key=len, reverse=True))
_DEGREES = re.compile(rf"{_NUMBER}\s*-?\s*(?:degrees?\b|deg\b|°)")
_RADIANS = re.compile(rf"{_NUMBER}\s*(?:radians?|rad)\b")
_TURNS = re.compile(rf"(?:{_NUMBER}|\b({_ANY_WORD}))\s+(?:a\s+)?(?:turns?|revolutions?)\b")
_LENGTH = re.compile(rf"{_NUMBER}\s*-?\s*({_ANY_LENGTH})s?\b")
_PERCENT = re.compile(rf"{_NUMBER}\s*(?:%|percent\b|per cent\b)")
_SHARE = re.compile(
    r"\b(half\s*-?\s*way|halfway|half|a quarter|two thirds|three quarters|a third)\b"
)
_SECONDS = re.compile(
    rf"\b(?:over|in|within|during|for|takes?|taking)\s+{_NUMBER}\s*-?\s*"
    r"(milliseconds?|ms|seconds?|secs?|s|minutes?|min)\b"
)


class PromptAmount(NamedTuple):
    """What a prompt says in numbers; None where it says nothing."""

    angle_rad: float | None = None
    distance_m: float | None = None
    share: float | None = None  # of the whole motion, in (0, 1]
    seconds: float | None = None


def prompt_amount(prompt: str) -> PromptAmount:
    """The amounts in sentences such as "open 70 degrees over 2 seconds" or "pull out by 30 cm".

    Amounts of nothing, and angles of more than ten turns, are taken as not said.
    """
    text = " ".join(prompt.lower().split())
    seconds = None
    if found := _SECONDS.search(text):
        unit = found[2]
        factor = 0.001 if unit.startswith(("ms", "milli")) else 60.0 if unit[:3] == "min" else 1.0
        seconds = _number(found[1]) * factor
        text = text[: found.start()] + text[found.end() :]
    angle = _angle(text)
    distance = share = None
    if angle is None and (found := _LENGTH.search(text)):
        distance = _number(found[1]) * _METRES[found[2]]
    if angle is None and distance is None:
        share = _share(text)
    return PromptAmount(
        angle if angle and angle <= 20 * math.pi else None,
        distance or None,
        share if share and share <= 1 else None,
        seconds or None,
    )


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _angle(text: str) -> float | None:
    if found := _DEGREES.search(text):
        return math.radians(_number(found[1]))
    if found := _RADIANS.search(text):
        return _number(found[1])
    if found := _TURNS.search(text):
        turns = _number(found[1]) if found[1] else _WORDS[found[2]]
        return 2 * math.pi * turns
    return None


def _share(text: str) -> float | None:
    if found := _PERCENT.search(text):
        return _number(found[1]) / 100
    if found := _SHARE.search(text):
        return _WORDS["half"] if found[1].startswith("half") else _WORDS[found[1]]
    return None
