"""What people write: a subject, a verb in one of its forms, a manner."""

from __future__ import annotations

import numpy as np

_DOUBLED = {"run", "sit", "hop", "jog", "nod", "wag", "flap", "bob", "trot", "skip", "step", "swim",
            "dip", "spin", "squat", "hug", "plod", "jig", "dig", "get", "put", "let"}  # fmt: skip
_ADJECTIVES = ("", "", "", "", "little ", "big ", "young ", "old ", "tired ", "happy ")
_ARTICLES = ("the ", "the ", "a ", "")
_MANNERS = {1: ("", "", "", " slowly", " calmly", " gently", " a little"),
            2: ("", "", "", ""),
            3: ("", "", "", " with energy", " quickly", " vigorously")}  # fmt: skip


def third(verb: str) -> str:
    """ "wag its tail" as "wags its tail"."""
    first, _, rest = verb.partition(" ")
    if first.endswith(("s", "sh", "ch", "x", "z", "o")):
        form = first + "es"
    elif first.endswith("y") and first[-2] not in "aeiou":
        form = first[:-1] + "ies"
    else:
        form = first + "s"
    return f"{form} {rest}".strip()


def doing(verb: str) -> str:
    """ "wag its tail" as "wagging its tail"."""
    first, _, rest = verb.partition(" ")
    if first in _DOUBLED:
        form = first + first[-1] + "ing"
    elif first.endswith("ie"):
        form = first[:-2] + "ying"
    elif first.endswith("e") and not first.endswith("ee"):
        form = first[:-1] + "ing"
    else:
        form = first + "ing"
    return f"{form} {rest}".strip()


def sentence(
    words: tuple[str, ...], verbs: tuple[str, ...], strength: int, rng: np.random.Generator
) -> str:
    """One way to say that something does something.

    Args:
        verbs: Synonyms in their base form.
        strength: 1 little, 2 as usual, 3 much; sometimes said.
    """
    verb = verbs[int(rng.integers(len(verbs)))]
    manner = _MANNERS[strength][int(rng.integers(len(_MANNERS[strength])))]
    subject = words[int(rng.integers(len(words)))]
    adjective = _ADJECTIVES[int(rng.integers(len(_ADJECTIVES)))]
    article = _ARTICLES[int(rng.integers(len(_ARTICLES)))]
    if article == "a " and (adjective or subject)[0] in "aeiou":
        article = "an "
    named = f"{article}{adjective}{subject}"
    match int(rng.integers(8)):
        case 0:
            return third(verb) + manner
        case 1:
            return verb + manner
        case 2:
            return doing(verb) + manner
        case 3:
            return f"it {third(verb)}{manner}"
        case 4 | 5:
            return f"{named} is {doing(verb)}{manner}"
        case _:
            return f"{named} {third(verb)}{manner}"
