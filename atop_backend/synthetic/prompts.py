"""Short English sentences that say how a part moves, in the words people really use.

Sides and directions are those of somebody who faces the front of the object (-Y): right is +X,
up is +Z, forward and out is -Y.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Words(NamedTuple):
    """Predicates that follow a part's name, and orders with `{}` in the place of its name."""

    says: tuple[str, ...]
    orders: tuple[str, ...]


def words(says: str, orders: str = "") -> Words:
    """Words from two lists that are separated by `|`."""
    return Words(tuple(filter(None, says.split("|"))), tuple(filter(None, orders.split("|"))))


def join(*vocabularies: Words) -> Words:
    """All words of several vocabularies."""
    return Words(
        tuple(word for vocabulary in vocabularies for word in vocabulary.says),
        tuple(word for vocabulary in vocabularies for word in vocabulary.orders),
    )


def without(vocabulary: Words, word: str) -> Words:
    """A vocabulary less everything in which a word occurs."""
    return Words(
        tuple(text for text in vocabulary.says if word not in text),
        tuple(text for text in vocabulary.orders if word not in text),
    )


# What people say of any part that uncovers something: no direction, no type.
OPEN = words("opens|is opened|is opening|gets opened|comes open|is being opened", "open {}")
CLOSE = words("closes|is closed|shuts|is closing|gets closed|is shut", "close {}|shut {}")

# Hinged parts.
SWING = words(
    "swings open|opens|swings outward|rotates open|turns on its hinge|swings|opens outward"
    "|is opened|rotates about its hinge|swings out|opens wide|rotates outward|pivots open"
    "|turns outward|opens out|hinges open|moves outward|is pulled open|is swung open|moves|turns"
    "|rotates|swings wide open",
    "open {}|swing {} open|rotate {} open|pull {} open|turn {} on its hinge|rotate {} outward"
    "|swing {} outward|swing {} out|open up {}|pull {}|pivot {} open|turn {} outward",
)
SWING_SHUT = words(
    "swings shut|closes|swings closed|is closed|rotates shut|is pushed shut|shuts|rotates inward"
    "|swings back|pivots shut|falls shut|gets closed|is swung shut|closes again|is shut",
    "close {}|shut {}|swing {} shut|push {} closed|rotate {} closed|push {} shut",
)
FOLD_DOWN = words(
    "folds down|opens downward|drops open|swings down|is lowered|comes down|flips down|drops down"
    "|tilts down|opens|is pulled down|hinges down|rotates down|pivots downward|folds open"
    "|swings downward|drops forward|rotates|is folded down|falls open|comes forward and down",
    "fold {} down|lower {}|pull {} down|drop {} open|open {}|flip {} down|swing {} down"
    "|rotate {} down|tilt {} down|open {} downward",
)
FOLD_UP = words(
    "folds up|swings up|is raised|flips up|is folded up|goes up|is lifted|tilts up|swings shut",
    "fold {} up|raise {}|lift {} up|flip {} up",
)
LIFT = words(
    "lifts up|swings up|is raised|flips up|tilts up|opens upward|folds up|is lifted|opens|lifts"
    "|is opened|flips open|swings open|hinges up|rotates up|rotates open|pivots up|raises"
    "|tilts back|is tilted up|rotates|lifts open|is raised open|pops up|moves up|hinges open",
    "lift {}|raise {}|flip {} up|lift {} up|open {}|flip {} open|swing {} up|tilt {} up",
)
LOWER = words(
    "closes|folds down|is lowered|swings down|comes down|is closed|flips down|drops shut|shuts",
    "close {}|lower {}|fold {} down|shut {}|flip {} down|put {} down",
)
FLIP = words("flips open|opens|flips over|swings open|pops open", "flip {} open|open {}|flip {}")
FOLD_OUT = words(
    "folds out|unfolds|swings out|opens|flips out|is unfolded|rotates out|pivots out",
    "unfold {}|fold {} out|swing {} out|flip {} out|open {}|rotate {} out",
)
FOLD_IN = words(
    "folds in|folds|is folded in|swings in|closes|folds inward|is folded|rotates inward",
    "fold {}|fold {} in|close {}|swing {} in|fold {} inward",
)
TILT_UP = words(
    "tilts up|rotates up|is raised|pivots upward|moves up|swings up|goes up|is tilted upward",
    "tilt {} up|raise {}|rotate {} up|lift {}",
)
TILT_DOWN = words(
    "tilts down|rotates down|is lowered|pivots downward|moves down|swings down|goes down",
    "tilt {} down|lower {}|rotate {} down|push {} down",
)
TILT_BACK = words(
    "tilts back|leans back|reclines|tilts backward|rotates backward|is tilted back",
    "tilt {} back|lean {} back|recline {}",
)
TILT_FORWARD = words(
    "tilts forward|leans forward|rotates forward|is tilted forward|folds forward",
    "tilt {} forward|lean {} forward|fold {} forward",
)

# Turning parts: neither sense is the right one unless a sentence says so.
TURN = words(
    "turns|rotates|is turned|is rotated|twists|is twisted|gets turned",
    "turn {}|rotate {}|twist {}",
)
CLOCKWISE = words(
    "turns clockwise|rotates clockwise|is turned clockwise|is twisted clockwise|twists clockwise"
    "|is rotated clockwise|spins clockwise",
    "turn {} clockwise|rotate {} clockwise|twist {} clockwise",
)
COUNTERCLOCKWISE = words(
    "turns counterclockwise|rotates counterclockwise|is turned anticlockwise|turns anticlockwise"
    "|is twisted counterclockwise|rotates anti-clockwise|turns counter-clockwise",
    "turn {} counterclockwise|rotate {} anticlockwise|twist {} counterclockwise",
)
# Right-handed threads, seen from the end that a hand takes hold of.
UNSCREW = words(
    "is unscrewed|unscrews|is twisted off|twists off|is loosened"
    "|is twisted open|twists open|screws off",
    "unscrew {}|twist {} off|twist {} open|loosen {}|twist off {}|screw {} off",
)
SCREW = words(
    "is screwed on|is tightened|is screwed tight|is twisted shut|screws on",
    "screw {} on|tighten {}|twist {} shut|screw {} tight",
)
SPIN = words(
    "spins|rotates|turns|revolves|rolls|spins around its axle|turns round|rotates on its axle",
    "spin {}|rotate {}|turn {}",
)
SWIVEL = words(
    "swivels|rotates|turns|swings around|pivots|rotates sideways|turns to the side|is swivelled",
    "swivel {}|rotate {}|turn {}|swing {} around|turn {} sideways",
)
SWIVEL_LEFT = words(
    "swivels to the left|turns left|swings to the left|rotates to the left",
    "turn {} to the left|swivel {} left|swing {} left",
)
SWIVEL_RIGHT = words(
    "swivels to the right|turns right|swings to the right|rotates to the right",
    "turn {} to the right|swivel {} right|swing {} right",
)

# Sliding parts.
SLIDE_OUT = words(
    "slides out|is pulled out|opens|rolls out|comes out|slides open|moves out|extends|is opened"
    "|glides out|slides forward|moves forward|pulls out|is slid out|comes forward|slides outward"
    "|slides|moves|is pulled open|glides open|is pulled forward",
    "pull out {}|pull {} out|slide {} out|open {}|pull {} open|slide {} open|pull {}|slide out {}"
    "|move {} forward|roll {} out|pull {} forward",
)
SLIDE_IN = words(
    "slides in|is pushed in|closes|rolls in|slides shut|moves in|is closed|goes back in"
    "|slides back|is pushed back in|moves back|slides back in|goes in|is shut|slides closed",
    "push {} in|push in {}|slide {} in|close {}|push {} shut",
)
SLIDE = words(
    "slides|slides open|opens|moves aside|is slid open|glides open|slides aside|slides sideways"
    "|moves sideways|is pushed aside|slides along its track|rolls open",
    "slide {}|slide {} open|open {}|move {} aside|push {} aside|slide {} sideways|slide {} along",
)
SLIDE_SHUT = words(
    "slides shut|closes|slides back|is closed|is slid shut|slides closed|moves back",
    "slide {} shut|close {}|shut {}|push {} shut",
)
EXTEND = words(
    "extends|slides out|is pulled out|comes out|is extended|telescopes out",
    "extend {}|pull out {}|pull {} out|slide {} out",
)
RETRACT = words(
    "retracts|slides back in|slides in|is pushed in|is retracted|goes back in",
    "retract {}|push {} in|slide {} back in|push {} back in",
)
SLIDES_APART = words(
    "slides along|moves along the bar|slides away|moves apart|is slid open|opens|slides",
    "slide {} along|slide {} apart|move {} along|open {}",
)
SLIDES_TOGETHER = words(
    "slides together|closes|is slid shut|slides back|moves in", "slide {} shut|close {}|push {} in"
)
SLIDE_UP = words(
    "slides up|moves up|is pulled up|rises|is raised|goes up|moves straight up|slides upward",
    "slide {} up|pull {} up|raise {}|move {} up",
)
SLIDE_DOWN = words(
    "slides down|moves down|is pushed down|goes down|is lowered|sinks|slides downward",
    "slide {} down|push {} down|lower {}|move {} down|press {} down",
)
SLIDE_LEFT = words(
    "slides left|slides to the left|moves to the left|is pushed to the left",
    "slide {} to the left|slide {} left|push {} to the left",
)
SLIDE_RIGHT = words(
    "slides right|slides to the right|moves to the right|is pushed to the right",
    "slide {} to the right|slide {} right|push {} to the right",
)
LIFT_OFF = words(
    "lifts off|is lifted off|comes off|moves straight up|is pulled up|rises|is removed|lifts up"
    "|is taken off|pops off|moves up|is lifted straight up",
    "lift {} off|take {} off|pull {} up|remove {}|lift {} straight up|lift {}|take off {}",
)
PUT_ON = words("goes back on|moves down|is put back on|is lowered", "put {} back on|lower {}")
PULL_OFF = words(
    "is pulled off|slides off|comes off|is taken off|is removed",
    "pull {} off|take {} off|remove {}",
)
PRESS = words(
    "is pressed|is pushed in|moves in|goes in|gets pressed|is pushed|sinks in|is depressed",
    "press {}|push {}|push {} in|press {} in",
)
PRESS_DOWN = words(
    "is pressed|is pressed down|moves down|goes down|gets pressed|is pushed down|sinks",
    "press {}|push {} down|press {} down|push {}",
)

_PREDICATES = (
    "the {part} {says}",
    "the {object} {part} {says}",
    "the {part} of the {object} {says}",
    "the {part} {says}",
    "{object} {part} {says}",
    "{part} {says}",
    "the {object}'s {part} {says}",
    "a {object} whose {part} {says}",
)
_ORDERS = (
    "the {part}",
    "the {part} of the {object}",
    "the {object} {part}",
    "the {part}",
    "{part}",
    "the {object}'s {part}",
)
# A name alone, as a user in a hurry types it: the shape has to tell the rest.
_BARE = ("{part}", "the {part}", "{object} {part}", "{part} of the {object}")
_VAGUE = ("it {says}", "this part {says}", "the part {says}", "the marked part {says}")
_DOING = (
    "{part} {says}",
    "the {part} {says}",
    "{object} {part} {says}",
    "the {part} of the {object} {says}",
    "{object} with its {part} {says}",
)
_WISHES = (
    "make the {part} {says}",
    "let the {part} {says}",
    "the {part} should {says}",
    "the {object} {part} should {says}",
    "i want the {part} to {says}",
    "make the {part} of the {object} {says}",
    "the {part} can {says}",
)
_MANNERS = ("slowly", "smoothly", "gently", "fully", "all the way", "completely")
# What people add though it says nothing about the joint.
_ASIDES = (
    "while the rest stays still", "and nothing else moves", "by hand", "a little",
)  # fmt: skip
_MATTERS = ("wooden", "metal", "plastic", "white", "black", "grey", "heavy", "little", "old")
_MANNERED, _ASIDE, _MISTYPED, _DESCRIBED, _UNSAID = 0.05, 0.025, 0.012, 0.04, 0.03


_ALWAYS_PLURAL = ("scissors", "shears", "pliers", "tongs", "glasses", "spectacles")


def is_plural(name: str) -> bool:
    """Whether a part's name takes a verb in the plural, as "blades" and "rear legs" do."""
    word = name.split(" on the ")[0].split(" of ")[0].split(" at the ")[0].split()[-1]
    return word.endswith("s") and not word.endswith("ss") and word != "lens"


def _for_many(says: str) -> str:
    """A predicate in the plural: "opens" becomes "open", "is opened" becomes "are opened"."""
    head, _, rest = says.partition(" ")
    verb = head.rstrip(",")
    if verb == "is":
        verb = "are"
    elif verb.endswith(("shes", "ches", "goes", "xes", "sses")):
        verb = verb[:-2]
    else:
        verb = verb.removesuffix("s")
    return f"{verb}{',' * head.endswith(',')} {rest}".strip()


def _bare(says: str) -> str:
    """A predicate after "should": "opens" becomes "open", "is opened" becomes "be opened"."""
    if says.startswith("is "):
        return f"be {says.removeprefix('is ').removeprefix('being ')}"
    return _for_many(says)


def _doing(says: str) -> str:
    """A predicate as a participle: "swings open" becomes "swinging open"."""
    head, _, rest = _bare(says).partition(" ")
    verb = head.rstrip(",")
    if verb == "be" and rest.split()[0].endswith("ing"):
        return rest
    if verb.endswith("e") and verb != "be":
        verb = verb[:-1]
    elif re.fullmatch(r"[^aeiou]+[aeiou][^aeiouwxy]", verb):
        verb += verb[-1]
    return f"{verb}ing{',' * head.endswith(',')} {rest}".strip()


def _mistyped(sentence: str, share: float) -> str:
    """The sentence with two neighbouring letters of its longest word swapped, but no direction."""
    word = max(sentence.split(), key=len)
    if len(word) < 4 or not word.isalpha() or word.endswith(("wise", "ward")):
        return sentence
    at = 1 + int(share * (len(word) - 2))
    wrong = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return sentence.replace(word, wrong, 1)


def _tidy(sentence: str) -> str:
    """The sentence with its articles and genitives mended."""
    for number in ("one ", "a ", "an "):
        sentence = sentence.replace(f"the {number}", number).replace(f"its {number}", number)
    sentence = sentence.replace("s's ", "s' ")
    if not sentence.startswith("a "):
        return sentence
    if sentence.split(" whose ")[0].endswith(_ALWAYS_PLURAL):
        return sentence[2:]
    vowel = sentence[2] in "aeio" or sentence.startswith(("a up", "a um", "a un", "a ov"))
    return f"an {sentence[2:]}" if vowel else sentence


def sentences(
    rng: np.random.Generator,
    objects: Sequence[str],
    parts: Sequence[str],
    vocabulary: Words,
    wanted: int = 20,
    opening: bool = True,
) -> tuple[str, ...]:
    """About `wanted` different sentences about one motion.

    Args:
        objects: Names of the whole, such as ("cabinet", "cupboard"); may be empty.
        parts: Names of the moving part, such as ("door", "left door"); "drawer on the left" and
            "one leg" work too.
        vocabulary: What the part does; direction words in it have to be true.
        opening: Whether it is what one expects of the part, so that its name alone will do.
    """
    draws = rng.random((wanted * 2, 7)).tolist()
    found: dict[str, None] = {}
    for choose_kind, choose_form, choose_part, choose_object, choose_word, slip, look in draws:
        part = parts[int(choose_part * len(parts))]
        whole = objects[int(choose_object * len(objects))] if objects else ""
        # "drawer on the left" and "one leg" cannot stand after the whole's name.
        compound = " on the " not in part and " at the " not in part and not part.startswith("one ")
        compound = compound and not set(part.split()) & set(whole.split())
        if look < _DESCRIBED and " " not in part:
            part = f"{_MATTERS[int(look / _DESCRIBED * len(_MATTERS))]} {part}"
        order = vocabulary.orders and choose_kind < 0.35
        forms, inflect = _ORDERS if order else _PREDICATES, None
        if 0.35 <= choose_kind < 0.45:
            forms, inflect = _DOING, _doing
        elif 0.45 <= choose_kind < 0.51:
            forms, inflect = _WISHES, _bare
        form = forms[int(choose_form * len(forms))]
        unnamed = not whole or whole == part
        if "{object}" in form and (unnamed or (not compound and "{object} {part}" in form)):
            form = "the {part}" if order else ("the {part} {says}" if inflect != _bare
                                               else "the {part} should {says}")  # fmt: skip
        if opening and look > 1.0 - _UNSAID:
            bare = _BARE if compound and not unnamed else _BARE[:2]
            found[_tidy(bare[int(choose_form * len(bare))].format(part=part, object=whole))] = None
            continue
        if order:
            word = vocabulary.orders[int(choose_word * len(vocabulary.orders))]
            sentence = word.format(form.format(part=part, object=whole))
        else:
            word = vocabulary.says[int(choose_word * len(vocabulary.says))]
            if choose_kind > 0.97:
                form = _VAGUE[int(choose_form * len(_VAGUE))]
            if inflect:
                word = inflect(word)
            elif "{part}" in form and is_plural(part):
                word = _for_many(word)
            sentence = form.format(part=part, object=whole, says=word)
        sentence = _tidy(sentence)
        if slip < _MISTYPED:
            sentence = _mistyped(sentence, slip / _MISTYPED)
        elif slip > 1.0 - _MANNERED and len(sentence.split()) < 11:
            manner = _MANNERS[int((1.0 - slip) / _MANNERED * len(_MANNERS))]
            sentence = f"{sentence} {manner}"
        elif slip > 1.0 - _MANNERED - _ASIDE and len(sentence.split()) < 11:
            aside = _ASIDES[int((1.0 - _MANNERED - slip) / _ASIDE * len(_ASIDES))]
            sentence = f"{sentence} {aside}"
        found[sentence] = None
        if len(found) == wanted:
            break
    return tuple(found)
