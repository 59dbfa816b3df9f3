"""Windows: casement, awning, hopper, sash, sliding and pivot; shutters beside them."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import leaves, phrases, prompts, solids
from atop_backend.synthetic.assembly import Assembly
from atop_backend.synthetic.doorways import Doorway, swing_words
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.leaves import Opening
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.pieces import Paints, Pieces, chance, choose
from atop_backend.synthetic.prompts import join, words

WINDOW_COLOURS = (PAINTS, WOODS, METALS)
AWNING = words(
    "opens outward|tilts out|swings outward|is pushed open|pushes out at the bottom|opens"
    "|swings up|tilts open|is opened",
    "open {}|tilt {} open|push {} out|swing {} open",
)
HOPPER = words(
    "tilts inward|tilts in|opens inward|folds inward|tilts open|opens|drops inward|is tilted",
    "tilt {}|tilt {} inward|open {}|tilt {} open",
)
SHUT = words("closes|is closed|shuts|is pushed shut", "close {}|shut {}")
PIVOT = words(
    "pivots|rotates open|tilts open|turns|opens|swivels open|pivots open",
    "open {}|rotate {}|pivot {} open|turn {}",
)


def sash(
    rng: np.random.Generator,
    opening: Opening,
    rim: float,
    grid: tuple[int, int],
    paints: Paints,
    filled: bool = True,
) -> Pieces:
    """A frame with a pane and perhaps muntins.

    Args:
        rng: Draws the pane's depth.
        opening: The closed sash.
        rim: Width of the frame, metres.
        grid: Columns and rows of panes.
        paints: Materials.
        filled: Whether there is glass.
    """
    x0, x1, z0, z1, y0, y1 = opening
    rim = min(rim, 0.3 * min(x1 - x0, z1 - z0))
    around = solids.frame((x0, y0, z0), (x1, y1, z1), (x0 + rim, 0, z0 + rim),
                          (x1 - rim, 0, z1 - rim), "y")  # fmt: skip
    pieces: Pieces = [(around, paints.front)]
    mid, thin = (y0 + y1) / 2, 0.15 * (y1 - y0)
    if filled:
        pane = solids.box((x0 + rim, mid - thin, z0 + rim), (x1 - rim, mid + thin, z1 - rim))
        pieces.append((pane, paints.glass))
    bar = rim * 0.25
    for x in np.linspace(x0 + rim, x1 - rim, grid[0] + 1)[1:-1]:
        pieces.append((solids.box((x - bar, y0 + thin, z0 + rim), (x + bar, y1 - thin, z1 - rim)),
                       paints.front))  # fmt: skip
    for z in np.linspace(z0 + rim, z1 - rim, grid[1] + 1)[1:-1]:
        pieces.append((solids.box((x0 + rim, y0 + thin, z - bar), (x1 - rim, y1 - thin, z + bar)),
                       paints.front))  # fmt: skip
    return pieces


class _Window:
    """What all windows share: a frame with its clear opening, and the look of the sashes."""

    def __init__(self, rng: np.random.Generator, width: float, height: float) -> None:
        self.rng = rng
        self.make = Assembly(rng, WINDOW_COLOURS)
        self.way = Doorway()
        self.rim = rng.uniform(0.03, 0.08)
        self.grid = (
            (1, 1) if chance(rng, 0.65) else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        )
        self.filled = chance(rng, 0.9)
        self.thick = rng.uniform(0.025, 0.06)
        self.deep = max(rng.uniform(0.05, 0.2), 2.6 * self.thick)
        self.span = Opening(-width / 2, width / 2, 0.0, height, -self.deep / 2, self.deep / 2)
        self._surround()

    def _surround(self) -> None:
        """Frame, sill, casing, a piece of wall."""
        rng, span, paints = self.rng, self.span, self.make.paints
        wide = rng.uniform(0.025, 0.1)
        frame = solids.frame((span.x0 - wide, span.y0, span.z0 - wide),
                             (span.x1 + wide, span.y1, span.z1 + wide),
                             (span.x0, 0, span.z0), (span.x1, 0, span.z1), "y")  # fmt: skip
        self.way.fixed.append((frame, paints.trim))
        if chance(rng, 0.3):
            out = rng.uniform(0.03, 0.12)
            side = rng.uniform(0.0, 0.08)
            sill = solids.box((span.x0 - wide - side, span.y0 - out, span.z0 - wide - 0.03),
                              (span.x1 + wide + side, span.y1, span.z0 - wide))  # fmt: skip
            self.way.fixed.append((sill, paints.trim))
        if chance(rng, 0.15):
            around = rng.uniform(0.1, 0.5)
            thin = self.deep * rng.uniform(0.5, 0.95)
            wall = solids.frame(
                (span.x0 - wide - around, -thin / 2, span.z0 - wide - around),
                (span.x1 + wide + around, thin / 2, span.z1 + wide + around),
                (span.x0 - wide, 0, span.z0 - wide), (span.x1 + wide, 0, span.z1 + wide), "y",
            )  # fmt: skip
            self.way.fixed.append((wall, paints.body))

    def sash(self, opening: Opening) -> Pieces:
        """A sash in this window's look."""
        return sash(self.rng, opening, self.rim, self.grid, self.make.paints, self.filled)

    def latch(self, opening: Opening, side: str) -> Pieces:
        """A small handle on the sash, opposite its hinge."""
        rng = self.rng
        if chance(rng, 0.3):
            return []
        x = (opening.x0 + opening.x1) / 2
        z = opening.z0 + rng.uniform(0.4, 0.6) * opening.height
        half = np.array([0.012, 0.0, rng.uniform(0.03, 0.07)])
        if side in ("left", "right"):
            x = opening.x1 - self.rim / 2 if side == "left" else opening.x0 + self.rim / 2
        else:
            z = opening.z1 - self.rim / 2 if side == "bottom" else opening.z0 + self.rim / 2
            half = half[[2, 1, 0]]
        out = rng.uniform(0.015, 0.04)
        y0, y1 = opening.y0 - out, opening.y0
        if chance(rng, 0.5):  # on the far face
            y0, y1 = opening.y1, opening.y1 + out
        grip = solids.box((x - half[0], y0, z - half[2]), (x + half[0], y1, z + half[2]))
        return [(grip, self.make.paints.handle)]

    def finish(self, joint, inwards: bool, parts, vocabularies, kind: str = "window") -> Draft:
        """The draft of this window."""
        joint = self.way.finish(self.make, joint, inwards)
        objects = ("window", "window frame") if chance(self.rng, 0.35) else ()
        return self.make.draft(kind, joint, objects, parts, vocabularies)


def casement(rng: np.random.Generator) -> Draft:
    """One to three sashes, of which one swings about an upright edge."""
    count = int(rng.choice([1, 2, 3], p=[0.4, 0.48, 0.12]))
    width, height = rng.uniform(0.4, 0.8) * count, rng.uniform(0.6, 1.6)
    window = _Window(rng, width, height)
    span, thick = window.span, window.thick
    edges = np.linspace(span.x0, span.x1, count + 1)
    sides = {1: ("left" if chance(rng, 0.5) else "right",), 2: ("left", "right"),
             3: ("left", "fixed", "right")}[count]  # fmt: skip
    upper = np.radians(np.clip(rng.normal(82, 18), 40, 120))
    chosen = int(rng.choice([i for i, side in enumerate(sides) if side != "fixed"]))
    y0 = span.y0 if chance(rng, 0.6) else span.y0 + rng.uniform(0.0, window.deep - thick)
    if y0 > span.y0 + 0.01:  # beyond a right angle the frame is in the way
        upper = min(upper, np.radians(91))
    for i, hinged in enumerate(sides):
        opening = Opening(edges[i], edges[i + 1], span.z0, span.z1, y0, y0 + thick).shrunk(0.003)
        pieces = window.sash(opening)
        if hinged != "fixed":
            pieces += window.latch(opening, hinged)
        if i == chosen:
            window.way.moving += pieces
            joint = leaves.hinge_joint(opening, hinged, "outer", upper)  # type: ignore[arg-type]
        else:
            window.way.fixed += pieces
    side = sides[chosen]
    inwards = chance(rng, 0.35)
    parts = ["window", "sash", "window pane", "window", "casement"]
    if count > 1:
        parts = ["window", f"{side} window", f"{side} sash", f"window on the {side}",
                 f"{side} casement", f"{side} pane"]  # fmt: skip
    return window.finish(joint, inwards, parts, swing_words(rng, side, inwards))  # type: ignore[arg-type]


def awning(rng: np.random.Generator) -> Draft:
    """A sash hinged at the top or bottom edge, perhaps above or below a fixed pane."""
    side = "top" if chance(rng, 0.6) else "bottom"
    window = _Window(rng, rng.uniform(0.5, 1.3), rng.uniform(0.4, 1.4))
    span, thick = window.span, window.thick
    y0 = span.y0 + rng.uniform(0.0, 0.3) * (window.deep - thick)
    z0, z1 = span.z0, span.z1
    parts = ["window", "sash", "window", "pane"]
    if chance(rng, 0.35) and span.height > 0.7:
        split = z0 + span.height * rng.uniform(0.35, 0.65)
        upper_moves = chance(rng, 0.5)
        other = (z0, split) if upper_moves else (split, z1)
        z0, z1 = (split, z1) if upper_moves else (z0, split)
        fixed = Opening(span.x0, span.x1, other[0], other[1], y0, y0 + thick).shrunk(0.003)
        window.way.fixed += window.sash(fixed)
        words_ = ("upper", "top") if upper_moves else ("lower", "bottom")
        parts += [f"{word} {noun}" for word in words_ for noun in ("window", "sash", "pane")]
    opening = Opening(span.x0, span.x1, z0, z1, y0, y0 + thick).shrunk(0.003)
    window.way.moving += window.sash(opening) + window.latch(opening, side)
    upper = np.radians(rng.uniform(25, 75))
    joint = leaves.hinge_joint(opening, side, "outer", upper)  # type: ignore[arg-type]
    inwards = chance(rng, 0.15 if side == "top" else 0.75)
    if inwards and side == "bottom":
        there = HOPPER
    elif inwards:
        there = words("tilts inward|opens inward|opens|swings inward", "open {}|tilt {} inward")
    elif side == "top":
        there = AWNING
    else:
        there = join(words("tilts outward|tilts out|opens|opens outward", "tilt {} out|open {}"),
                     prompts.FOLD_DOWN)  # fmt: skip
    return window.finish(joint, inwards, parts, (there, SHUT))


def hung(rng: np.random.Generator) -> Draft:
    """Two sashes above each other in two planes; one slides up or down."""
    width, height = rng.uniform(0.5, 1.1), rng.uniform(0.8, 1.8)
    window = _Window(rng, width, height)
    span, thick = window.span, window.thick
    middle = span.z0 + height * (0.5 if chance(rng, 0.75) else rng.uniform(0.4, 0.62))
    overlap = min(window.rim, 0.04)
    lower_front = chance(rng, 0.7)
    ys = (-1.1 * thick, 0.1 * thick)
    y_low, y_high = ys if lower_front else ys[::-1]
    lower = Opening(span.x0 + 0.003, span.x1 - 0.003, span.z0 + 0.003, middle + overlap / 2,
                    y_low, y_low + thick)  # fmt: skip
    upper = Opening(span.x0 + 0.003, span.x1 - 0.003, middle - overlap / 2, span.z1 - 0.003,
                    y_high, y_high + thick)  # fmt: skip
    rises = chance(rng, 0.75)
    mover, rest = (lower, upper) if rises else (upper, lower)
    window.way.moving += window.sash(mover)
    if chance(rng, 0.4):
        grip = width * rng.uniform(0.05, 0.15)
        z = mover.z0 + window.rim / 2 if rises else mover.z1 - window.rim / 2
        y = mover.y0 if mover.y0 < rest.y0 else mover.y1
        out = -0.02 if mover.y0 < rest.y0 else 0.02
        a, b = sorted((y, y + out))
        window.way.moving.append((solids.box((-grip, a, z - 0.01), (grip, b, z + 0.01)),
                                  window.make.paints.handle))  # fmt: skip
    window.way.fixed += window.sash(rest)
    travel = rest.height * rng.uniform(0.45, 0.93)
    joint = slider((0, 0, 1 if rises else -1), mover.centre, travel)
    level = ("lower", "bottom") if rises else ("upper", "top")
    parts = [
        "window",
        "sash",
        "pane",
        "window",
        *(f"{word} {noun}" for word in level for noun in ("sash", "pane", "window")),
    ]
    there, back = (prompts.SLIDE_UP, prompts.SLIDE_DOWN)[:: 1 if rises else -1]
    there = join(there, words("slides open|opens|is opened", "open {}|slide {} open"))
    return window.finish(joint, chance(rng, 0.1), parts, (there, join(back, SHUT)))


def sliding_window(rng: np.random.Generator) -> Draft:
    """Two or three panes side by side in two planes; one slides before or behind its neighbour."""
    count = 2 if chance(rng, 0.75) else 3
    width, height = rng.uniform(0.4, 0.8) * count, rng.uniform(0.5, 1.4)
    window = _Window(rng, width, height)
    span, thick = window.span, window.thick
    overlap = min(window.rim, 0.04)
    chosen = int(rng.integers(count)) if count == 2 else int(rng.choice([0, 2]))
    near = chance(rng, 0.5)
    edges = np.linspace(span.x0, span.x1, count + 1)
    for i in range(count):
        front = (i == chosen) == near
        y0 = (-1.1 if front else 0.1) * thick
        opening = Opening(
            max(edges[i] - overlap / 2, span.x0 + 0.003),
            min(edges[i + 1] + overlap / 2, span.x1 - 0.003),
            span.z0 + 0.003, span.z1 - 0.003, y0, y0 + thick,
        )  # fmt: skip
        pieces = window.sash(opening)
        if i == chosen:
            mover = opening
            side = "left" if i else "right"  # the latch sits at the jamb
            window.way.moving += pieces + window.latch(opening, side)
        else:
            window.way.fixed += pieces
    right = chosen == 0
    travel = (edges[1] - edges[0]) * rng.uniform(0.5, 0.95)
    joint = slider((1 if right else -1, 0, 0), mover.centre, travel)
    place = "left" if chosen == 0 else "right"
    parts = ["window", "pane", "sash", f"{place} window", f"{place} pane", f"{place} sash",
             f"pane on the {place}", "sliding window"]  # fmt: skip
    return window.finish(joint, chance(rng, 0.1), parts, phrases.slide_sideways(rng, right))


def pivot_window(rng: np.random.Generator) -> Draft:
    """A sash that turns about its level or upright middle line."""
    window = _Window(rng, rng.uniform(0.5, 1.2), rng.uniform(0.5, 1.4))
    span, thick = window.span, window.thick
    opening = Opening(span.x0, span.x1, span.z0, span.z1, -thick / 2, thick / 2)
    opening = opening.shrunk(0.6 * thick)
    window.way.moving += window.sash(opening)
    upper = np.radians(rng.uniform(30, 90))
    level = chance(rng, 0.6)
    shift = rng.uniform(-0.1, 0.1) if chance(rng, 0.3) else 0.0
    if level:
        origin = (0, 0, opening.z0 + (0.5 + shift) * opening.height)
        joint = hinge((-1, 0, 0), origin, upper)  # the bottom comes out
        side = "bottom"
    else:
        side = "left" if chance(rng, 0.5) else "right"
        x = opening.x0 + (0.5 + shift) * opening.width
        joint = hinge((0, 0, 1 if side == "left" else -1), (x, 0, span.height / 2), upper)
    comes_out = words(
        f"pivots, its {side} edge coming out|turns open, {side} edge first"
        f"|rotates so that its {side} edge comes forward",
        f"pull the {side} edge of {{}} out",
    )
    parts = ("window", "sash", "window", "pane", "pivot window")
    make, way = window.make, window.way
    joint = way.finish(make, joint, False)
    return make.draft("pivot window", joint, (), parts, (join(PIVOT, comes_out), SHUT))


def shutters(rng: np.random.Generator) -> Draft:
    """A window between two shutters that swing on hinges beside it."""
    width, height = rng.uniform(0.6, 1.2), rng.uniform(0.8, 1.6)
    window = _Window(rng, width, height)
    span, thick = window.span, 0.03
    inner = Opening(span.x0, span.x1, span.z0, span.z1, 0.0, window.thick).shrunk(0.003)
    window.way.fixed += window.sash(inner)
    side = "left" if chance(rng, 0.5) else "right"
    style = choose(rng, {"louvre": 4, "planks": 2, "shaker": 1, "slab": 1})
    look = leaves.any_look(rng)._replace(door=style, handle="none", line="outer")
    y0 = span.y0 - thick - 0.002
    for hinged, x0, x1 in (("left", span.x0, 0.0), ("right", 0.0, span.x1)):
        opening = Opening(x0, x1, span.z0, span.z1, y0, y0 + thick).shrunk(0.003)
        upper = np.radians(rng.uniform(80, 175))
        leaf = leaves.door(rng, opening, hinged, look, window.make.paints, upper)  # type: ignore[arg-type]
        window.way.fixed += leaf.fixed
        if hinged == side:
            window.way.moving += leaf.pieces
            joint = leaf.joint
        else:
            window.way.fixed += leaf.pieces
    parts = ("shutter", f"{side} shutter", f"shutter on the {side}", "window shutter", "shutter")
    vocabularies = phrases.swing(rng, side)
    return window.finish(joint, False, parts, vocabularies, "shutter")


KINDS = {
    "casement window": (1.8, casement),
    "awning window": (1.0, awning),
    "hung window": (1.0, hung),
    "sliding window": (1.3, sliding_window),
    "pivot window": (0.35, pivot_window),
    "shutter": (0.4, shutters),
}
