"""Things that open like a shell or turn over a base, and lids, of many trades."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import WOODEN, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    frame,
    lathe,
    open_box,
    rounded_rectangle,
    sphere,
    tube,
)

_UP = say.join(say.LIFT, say.OPEN)


def clamshell(rng: np.random.Generator) -> Draft:
    """Two flat halves on one edge: waffle iron, grill, compact, ring box, game, tablet cover."""
    s = Sketch(rng)
    style = s.one_of("grill", "compact", "ring box", "spectacles", "cover", "music box")
    sizes = {
        "grill": ((0.2, 0.4), (0.2, 0.35), (0.04, 0.09)),
        "compact": ((0.06, 0.1), (0.06, 0.1), (0.006, 0.015)),
        "ring box": ((0.04, 0.2), (0.04, 0.15), (0.02, 0.1)),
        "spectacles": ((0.14, 0.18), (0.05, 0.08), (0.015, 0.04)),
        "cover": ((0.15, 0.35), (0.12, 0.3), (0.004, 0.012)),
        "music box": ((0.1, 0.3), (0.08, 0.2), (0.05, 0.14)),
    }[style]
    w, d, h = (s.between(*size) / 2 for size in sizes)
    h *= 2
    lid, seam = h * s.between(0.25, 1.0), 0.0006
    rounded = s.chance(0.5)

    def half(z0: float, z1: float, shrink: float = 0.0) -> np.ndarray:
        low, high = (-w + shrink, -d + shrink), (w - shrink, d - shrink)
        if not rounded:
            return box((*low, z0), (*high, z1))
        return extrude(rounded_rectangle(low, high, 0.6 * min(w, d)), "xy", z0, z1)

    if s.chance(0.5) and not rounded:
        s.fix(open_box((-w, -d, 0), (w, d, h), 0.08 * d, "+z"), "body")
    else:
        s.fix(half(0, h), "body")
    s.move(half(h + seam, h + lid), "front")
    if style == "grill":
        mark = s.mark()
        path = [
            (-0.4 * w, -d, 0),
            (-0.4 * w, -1.35 * d, 0),
            (0.4 * w, -1.35 * d, 0),
            (0.4 * w, -d, 0),
        ]
        s.move(tube(path, 0.06 * d, 6), "handle")
        s.shift(mark, (0, 0, h + 0.5 * lid))
        for x in (-0.8 * w, 0.8 * w):
            s.fix(box((x - 0.03, -0.9 * d, -0.02), (x + 0.03, 0.9 * d, 0)), "dark")
    elif s.chance(0.4):
        tab = box((-0.12 * w, -1.06 * d, h + seam), (0.12 * w, -d, h + 0.5 * lid))
        s.move(tab, "handle")
    if s.chance(0.4):
        for x in (-0.6 * w, 0.6 * w):
            s.fix(cylinder((x - 0.1 * w, d, h), (0.2 * w, 0, 0), 0.05 * d, segments=8), "metal")
    objects = {
        "grill": ("waffle iron", "grill", "sandwich maker", "panini press", "contact grill"),
        "compact": ("compact", "makeup case", "powder case", "pill box", "mirror case"),
        "ring box": ("ring box", "jewelry box", "jewellery case", "box", "case"),
        "spectacles": ("glasses case", "spectacle case", "case", "pencil case"),
        "cover": ("tablet cover", "game board", "chess box", "folder", "notebook", "game console"),
        "music box": ("music box", "cigar box", "casket", "sewing box", "jewelry box"),
    }[style]
    parts = ("lid", "top", "cover", "upper half", "lid", "top half")
    joint = hinge((-1, 0, 0), (0, d, h), s.degrees(60, 120 if lid < 0.8 * h else 105))
    return s.draft("clamshell", joint, objects, parts, _UP, say.LOWER)


def tool_box(rng: np.random.Generator) -> Draft:
    """A tool box or basket: one lid with a handle, or two lids that meet in the middle."""
    s = Sketch(rng)
    w, d, h = s.between(0.15, 0.35), s.between(0.08, 0.16), s.between(0.1, 0.3)
    wall = 0.06 * d
    s.fix(
        open_box((-w, -d, 0), (w, d, h), wall, "+z")
        if s.chance(0.6)
        else box((-w, -d, 0), (w, d, h))
    )
    if s.chance(0.5):
        side = s.sign()
        t = s.between(0.004, 0.02)
        gap = s.between(0.004, 0.03)
        s.fix(box((-w, -0.5 * gap, h - 0.02), (w, 0.5 * gap, h + t)), "trim")
        for way in (-1, 1):
            a, b = sorted((way * gap / 2, way * d))
            s.add(box((-w, a, h + 0.0005), (w, b, h + t)), "front", way == side)
        joint = hinge((side, 0, 0), (0, side * gap / 2, h + t), s.degrees(60, 110))
        near = "front" if side < 0 else "back"
        parts = ("lid", f"{near} lid", "flap", "cover", f"{near} flap")
        objects = ("picnic basket", "toolbox", "tool box", "basket", "box", "sewing box")
        return s.draft("two-lid box", joint, objects, parts, _UP, say.LOWER)
    lid = h * s.between(0.1, 0.5)
    slope = s.between(0.0, 0.4) * d
    shape = [(-d, h + 0.001), (d, h + 0.001), (d - slope, h + lid), (-d + slope, h + lid)]
    s.move(extrude(shape, "yz", -w, w), "front")
    top = h + lid
    path = [
        (-0.4 * w, 0, top),
        (-0.4 * w, 0, top + 0.03),
        (0.4 * w, 0, top + 0.03),
        (0.4 * w, 0, top),
    ]
    s.move(tube(path, 0.006, 6), "handle")
    for x in (-0.5 * w, 0.5 * w):
        if s.chance(0.7):
            s.move(box((x - 0.012, -d - 0.006, h - 0.015), (x + 0.012, -d, h + 0.4 * lid)), "metal")
    joint = hinge((-1, 0, 0), (0, d, h), s.degrees(60, 110))
    objects = ("toolbox", "tool box", "cool box", "box", "tackle box", "cooler")
    return s.draft("tool box", joint, objects, ("lid", "lid", "cover", "top"), _UP, say.LOWER)


def bread_bin(rng: np.random.Generator) -> Draft:
    """A bread bin or a hood over a dish: a curved cover that rolls back about its middle line."""
    s = Sketch(rng)
    w, r, t = s.between(0.12, 0.25), s.between(0.08, 0.16), s.between(0.003, 0.008)
    turns = np.linspace(0, np.pi, 13)
    arc = np.stack([-np.cos(turns), np.sin(turns)], axis=1)
    for x in (-w, w - t):
        s.fix(extrude(r * arc, "yz", x, x + t), "body")
    s.fix(box((-w, -r, -0.02), (w, r, 0)), "body")
    share = int(s.between(4, 7))
    back = np.concatenate([r * arc[share:], 0.97 * r * arc[share:][::-1]])
    s.fix(extrude(back, "yz", -w + t, w - t), "body")
    reach = share + 1
    front = np.concatenate([0.965 * r * arc[: reach + 1], 0.93 * r * arc[: reach + 1][::-1]])
    s.move(extrude(front, "yz", -w + 1.2 * t, w - 1.2 * t), "front")
    grip = 0.95 * r * np.array([-np.cos(0.12), np.sin(0.12)])
    if s.chance(0.8):
        s.move(cylinder((-0.15 * w, grip[0] - 0.01, grip[1]), (0.3 * w, 0, 0), 0.008, segments=8),
               "handle")  # fmt: skip
    joint = hinge((-1, 0, 0), (0, 0, 0), np.pi - turns[reach] - s.degrees(5, 30))
    objects = ("bread bin", "bread box", "roll-top box", "display hood", "chafing dish")
    parts = ("lid", "cover", "roll top", "front", "hood")
    words = say.join(say.LIFT, say.words("rolls back|rolls up|rolls open", "roll {} back"))
    return s.draft("bread bin", joint, objects, parts, words, say.LOWER)


def barbecue(rng: np.random.Generator) -> Draft:
    """A kettle or box grill on legs: its lid swings up about the back."""
    s = Sketch(rng)
    legs = s.between(0.3, 0.7)
    if s.chance(0.5):
        r = s.between(0.2, 0.35)
        turns = np.linspace(0, np.pi / 2, 7)
        bowl = [(r * np.sin(a), -0.7 * r * np.cos(a)) for a in turns]
        from_below = [*bowl, (0.0, 0.0)]
        s.fix(lathe(from_below, (0, 0, legs + 0.7 * r), "z", 18), "body")
        seam = legs + 0.7 * r + 0.004
        dome = [(0.0, 0.0), *((r * np.cos(a), 0.65 * r * np.sin(a)) for a in turns)]
        s.move(lathe(dome, (0, 0, seam), "z", 18), "front")
        wide = deep = r
        top = seam + 0.65 * r
        s.move(cylinder((-0.05, -0.3 * r, top - 0.03 * r), (0.1, 0, 0), 0.01, segments=8), "handle")
    else:
        wide, deep, tall = s.between(0.25, 0.6), s.between(0.18, 0.3), s.between(0.1, 0.2)
        s.fix(open_box((-wide, -deep, legs), (wide, deep, legs + tall), 0.02, "+z"), "body")
        seam = legs + tall + 0.002
        arc = [(-deep * np.cos(a), seam + s.between(0.9, 0.91) * deep * np.sin(a))
               for a in np.linspace(0, np.pi, 9)]  # fmt: skip
        s.move(extrude(arc, "yz", -wide, wide), "front")
        y, z = -0.92 * deep, seam + 0.5 * deep
        s.move(box((-0.5 * wide, y - 0.05, z), (0.5 * wide, y - 0.03, z + 0.02)), "handle")
        for x in (-0.45 * wide, 0.45 * wide):
            s.move(box((x - 0.01, y - 0.04, z), (x + 0.01, y + 0.2 * deep, z + 0.02)), "handle")
        if s.chance(0.5):
            shelf = box((wide, -deep, seam - 0.03), (wide + 0.25, deep, seam - 0.01))
            s.fix(shelf, "top")
    for x in (-0.6 * wide, 0.6 * wide):
        for y in (-0.5 * deep, 0.5 * deep):
            start = np.array((1.3 * x, 1.3 * y, 0))
            s.fix(
                cylinder(start, np.array((x, y, legs + 0.05)) - start, 0.012, segments=6), "metal"
            )
    joint = hinge((-1, 0, 0), (0, deep, seam), s.degrees(45, 95))
    objects = ("barbecue", "grill", "barbecue grill", "bbq", "kettle grill", "smoker")
    return s.draft("barbecue", joint, objects, ("lid", "hood", "cover", "lid"), _UP, say.LOWER)


def sloping_lid(rng: np.random.Generator) -> Draft:
    """A case whose sloping face is a lid: a lectern, a control desk, a show case."""
    s = Sketch(rng, WOODEN)
    w, d = s.between(0.2, 0.5), s.between(0.15, 0.3)
    low, high = s.between(0.06, 0.2), s.between(0.2, 0.45)
    shape = [(-d, 0), (d, 0), (d, high), (0.4 * d, high), (-d, low)]
    s.fix(extrude(shape, "yz", -w, w), "body")
    slope = np.array((0, 1.4 * d, high - low)) / np.hypot(1.4 * d, high - low)
    normal = np.array((0, -slope[2], slope[1]))
    long = np.hypot(1.4 * d, high - low)
    t, rim = s.between(0.006, 0.02), s.between(0.0, 0.05)
    axes = np.column_stack([(1, 0, 0), slope, normal])
    plate = box((-w + rim, 0.01, 0.0005), (w - rim, long - 0.01, t))
    s.move(plate @ axes.T + np.array((0, -d, low)), "front")
    if s.chance(0.5):
        grip = box((-0.1 * w, 0.01, t), (0.1 * w, 0.03, t + 0.015))
        s.move(grip @ axes.T + np.array((0, -d, low)), "handle")
    pin = np.array((0, -d, low)) + (long - 0.01) * slope + t * normal
    joint = hinge((-1, 0, 0), pin, s.degrees(50, 100))
    objects = ("desk", "lectern", "control desk", "console", "writing slope", "display case")
    return s.draft("sloping lid", joint, objects, ("lid", "cover", "top", "flap"), _UP, say.LOWER)


def visor(rng: np.random.Generator) -> Draft:
    """A helmet whose visor or face guard swings up about its ears."""
    s = Sketch(rng)
    r = s.between(0.1, 0.14)
    shell = sphere((0, 0, 0), r, 16, 12)
    keep = ~((shell.mean(axis=1)[:, 1] < -0.35 * r) & (np.abs(shell.mean(axis=1)[:, 2]) < 0.45 * r))
    s.fix(shell[keep], "body")
    s.fix(sphere((0, 0.02 * r, 0), 0.9 * r, 10, 8), "dark")
    tall, reach = s.between(0.35, 0.6), np.radians(s.between(60, 75))
    mesh = sphere((0, 0, 0), 1.05 * r, 20, 14)
    at = mesh.mean(axis=1) / r
    front = np.abs(np.arctan2(at[:, 0], -at[:, 1])) < reach
    s.move(mesh[front & (np.abs(at[:, 2] + 0.02) < tall)], s.one_of("glass", "front", "dark"))
    for side in (-1, 1):
        s.fix(
            cylinder((side * r * 0.97, 0, 0), (side * 0.1 * r, 0, 0), 0.1 * r, segments=10), "metal"
        )
        a, b = sorted((side * 1.02 * r * np.sin(reach) * 0.92, side * 1.07 * r))
        s.move(box((a, -0.5 * r, -0.06 * r), (b, 0.02 * r, 0.06 * r)), "front")
    joint = hinge((-1, 0, 0), (0, 0, 0), s.degrees(35, 75))
    objects = ("helmet", "motorcycle helmet", "knight's helmet", "welding helmet")
    parts = ("visor", "face shield", "shield", "face guard", "mask")
    return s.draft("visor", joint, objects, parts, say.join(say.LIFT, say.SLIDE_UP), say.LOWER)


def umbrella(rng: np.random.Generator) -> Draft:
    """A stick with a runner: the ring or the canopy of an umbrella or parasol moves along it."""
    s = Sketch(rng)
    long, r = s.between(0.6, 1.2), s.between(0.006, 0.02)
    s.fix(cylinder((0, 0, 0), (0, 0, long), r, segments=10), "metal")
    if s.chance(0.5):
        hook = [(0, 0, 0), (0, 0, -0.06), (0.04, 0, -0.1), (0.08, 0, -0.06)]
        s.fix(tube(hook, 1.6 * r, 8), "handle")
    else:
        s.fix(cylinder((0, 0, -0.12), (0, 0, 0.12), 1.8 * r, segments=10), "handle")
    size = long * s.between(0.35, 0.7)
    drop = size * s.between(0.15, 0.5)
    count, top = int(s.between(6, 10)), long * 0.96
    angles = np.arange(count) * 2 * np.pi / count
    rim = np.stack([size * np.cos(angles), size * np.sin(angles), 0 * angles + top - drop], axis=1)
    peak = np.tile((0, 0, top), (count, 1))
    cloth = np.stack([rim, np.roll(rim, -1, axis=0), peak], axis=1)
    s.fix(cloth, "front")
    level = top - drop * s.between(0.9, 1.6)
    runner = cylinder((0, 0, level - 3 * r), (0, 0, 6 * r), 1.9 * r, segments=12)
    s.move(runner, "accent")
    travel = (level - 5 * r) * s.between(0.3, 0.8)
    joint = slider((0, 0, -1), (0, 0, level), travel)
    objects = ("umbrella", "parasol", "sunshade")
    parts = ("runner", "ring", "slider", "collar")
    return s.draft("umbrella", joint, objects, parts, say.SLIDE_DOWN, say.SLIDE_UP)


def mirror(rng: np.random.Generator) -> Draft:
    """A mirror or a picture in a fork, or on a stand of its own: it tilts about a level line."""
    s = Sketch(rng)
    w, h, t = s.between(0.08, 0.3), s.between(0.1, 0.5), s.between(0.006, 0.02)
    pad, base = 0.02, s.between(0.02, 0.12)
    z = base + h + 0.02
    level = z if s.chance(0.8) else z - 0.6 * h
    for x in (-w - pad - 0.012, w + pad):
        s.fix(box((x, -0.01, 0.01), (x + 0.012, 0.01, level + 0.02)), "body")
    deep = max(0.12, 0.5 * h)
    s.fix(box((-w - pad - 0.012, -deep / 2, 0), (w + pad + 0.012, deep / 2, 0.015)), "body")
    s.fix(cylinder((-w - pad, 0, level), (pad - 0.001, 0, 0), 0.005, segments=8), "metal")
    s.fix(cylinder((w + 0.001, 0, level), (pad - 0.001, 0, 0), 0.005, segments=8), "metal")
    mark, rim = s.mark(), 0.08 * min(w, h)
    if s.chance(0.5):
        s.move(frame((-w, -t, z - h), (w, t, z + h), (-w + rim, 0, z - h + rim),
                     (w - rim, 0, z + h - rim), "y"), "front")  # fmt: skip
        s.move(box((-w + rim, -0.3 * t, z - h + rim), (w - rim, 0.6 * t, z + h - rim)), "glass")
    else:
        s.move(box((-w, -t, z - h), (w, t, z + h)), "front")
        s.move(box((-w + rim, -1.2 * t, z - h + rim), (w - rim, -t, z + h - rim)), "glass")
    s.turn(mark, (1, 0, 0), s.degrees(-15, 15), (0, 0, level))
    joint = hinge((s.sign(), 0, 0), (0, 0, level), s.degrees(15, 35))
    words = say.join(say.words("tilts|rotates|turns|swivels|pivots", "tilt {}|turn {}|rotate {}"))
    objects = ("vanity mirror", "mirror", "standing mirror", "makeup mirror", "picture stand")
    return s.draft("mirror", joint, objects, ("mirror", "glass", "frame", "panel"), words,
                   directed=False)  # fmt: skip


KINDS = {
    "clamshell": (2.0, clamshell),
    "tool_box": (1.2, tool_box),
    "bread_bin": (0.5, bread_bin),
    "barbecue": (0.6, barbecue),
    "sloping_lid": (0.7, sloping_lid),
    "visor": (0.3, visor),
    "umbrella": (0.3, umbrella),
    "mirror": (0.6, mirror),
}
