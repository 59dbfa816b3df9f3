"""When the part moves: a motion in time as keyframes of the `open` property."""

from __future__ import annotations

from typing import Literal, NamedTuple

from atop_backend.errors import InputError

Easing = Literal["LINEAR", "EASE", "BOUNCE"]
EASINGS: tuple[Easing, ...] = ("LINEAR", "EASE", "BOUNCE")


class Key(NamedTuple):
    """One keyframe; `interpolation` and `easing` shape the curve towards the next one."""

    frame: float
    value: float
    interpolation: str
    easing: str


def open_keys(
    frame_start: float, duration_frames: float, easing: Easing, *, amount: float = 1.0
) -> tuple[Key, ...]:
    """Keys that take `open` from 0 to `amount`.

    Args:
        frame_start: The last frame in which the part rests.
        duration_frames: Frames from there until it is open; must be positive.
        amount: Share of the joint's range, 1 for all of it.
    """
    if not duration_frames > 0:
        raise InputError(
            f"the motion lasts {duration_frames:g} frames", hint="choose a duration above zero"
        )
    match easing:
        case "LINEAR":
            shape = ("LINEAR", "AUTO")
        case "EASE":
            shape = ("SINE", "EASE_IN_OUT")
        case "BOUNCE":
            shape = ("BOUNCE", "EASE_OUT")
        case _:
            raise InputError(f"easing is {easing!r}", hint=f"choose one of {', '.join(EASINGS)}")
    return (Key(frame_start, 0.0, *shape), Key(frame_start + duration_frames, amount, *shape))


def seconds_to_frames(seconds: float, fps: int, fps_base: float) -> float:
    """Whole frames that come nearest to a time at `fps / fps_base` frames a second, at least 1."""
    return float(max(1, round(seconds * fps / fps_base)))
