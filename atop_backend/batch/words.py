"""Names of parts as artists write them, and a sentence that says how such a part moves."""

from __future__ import annotations

import re

# What a part is called -> what it does. The sentence leaves open what the name does not tell.
MOTIONS = {
    "door": "opens",
    "gate": "opens",
    "hatch": "opens",
    "flap": "opens",
    "lid": "opens",
    "cover": "opens",
    "cap": "opens",
    "hood": "opens",
    "trunk": "opens",
    "window": "opens",
    "shutter": "opens",
    "drawer": "slides out",
    "tray": "slides out",
    "rack": "slides out",
    "screen": "opens",
    "knob": "turns",
    "dial": "turns",
    "wheel": "turns",
    "lever": "is pulled",
    "faucet": "turns",
    "tap": "turns",
    "button": "is pressed",
    "switch": "is switched",
    "seat": "turns",
}
# A name with one of these is something fixed to a part, or what a part is fixed to.
STILL = {
    "body", "base", "frame", "handle", "hinge", "knuckle", "screw", "glass", "pane", "panel",
    "rail", "seal", "trim", "joint", "pivot", "case", "casing", "housing", "jamb", "hole", "slot",
    "bracket",
}  # fmt: skip
PLACES = ("left", "right", "upper", "lower", "top", "bottom", "middle", "front", "back", "rear")


def words_of(name: str) -> list[str]:
    """Lower-case words of a name: "DoorLeft.001" -> door, left."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[a-z]+", spaced.lower())


def thing_of(name: str) -> str:
    """What moves by this name, such as "door"; "" if it says of nothing that moves."""
    singular = [word.removesuffix("s") for word in words_of(name)]
    if any(word in STILL for word in singular):
        return ""
    things = [word for word in singular if word in MOTIONS]
    return things[-1] if things else ""  # "oven door": the door moves


def is_plural(name: str) -> bool:
    """Whether a name means several things that move, such as "Doors"."""
    return f"{thing_of(name)}s" in words_of(name)


def prompt_for(name: str) -> str:
    """A sentence for a part of this name, such as "the left door opens"; "" if it stays still."""
    thing = thing_of(name)
    if not thing:
        return ""
    places = [word for word in words_of(name) if word in PLACES]
    return " ".join(["the", *places, thing, MOTIONS[thing]])
