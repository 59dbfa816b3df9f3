"""Instruments, games, beds, prams, arms on walls: things of spare time and of care."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import METALLIC, WOODEN, Sketch
from atop_backend.synthetic.solids import box, cylinder, extrude, frame, sphere, tube


def metronome(rng: np.random.Generator) -> Draft:
    """A pendulum before a tapering case or inside a clock; it swings, or its weight slides."""
    s = Sketch(rng, WOODEN)
    w, h, d = s.between(0.05, 0.2), s.between(0.2, 0.9), s.between(0.04, 0.15)
    top = w * s.between(0.3, 1.0)
    s.fix(extrude([(-w, 0), (w, 0), (top, h), (-top, h)], "xz", 0, d), "body")
    hangs = s.chance(0.5)
    level = h * (s.between(0.7, 0.9) if hangs else s.between(0.08, 0.2))
    way = -1 if hangs else 1
    reach = way * (h * s.between(0.5, 0.6) if hangs else h * s.between(0.6, 0.9))
    s.fix(cylinder((0, 0, level), (0, -0.014, 0), 0.012, segments=10), "metal")
    slides = s.chance(0.25) and not hangs
    mark = s.mark()
    t = 0.012 * h
    s.add(box((-t, -0.012, min(0, reach)), (t, -0.006, max(0, reach))), "metal", not slides)
    share, size = s.between(0.6, 0.95), 0.09 * h * s.between(0.5, 1.1)
    bob = reach * share
    if hangs:
        disc = cylinder((0, -0.004, reach), (0, -0.012, 0), size, segments=18)
        s.move(disc, "accent")
    else:
        s.move(box((-size, -0.016, bob - 0.4 * size), (size, -0.0125, bob + 0.4 * size)), "accent")
        s.move(box((-size, -0.0055, bob - 0.4 * size), (size, -0.003, bob + 0.4 * size)), "accent")
    s.shift(mark, (0, -0.004, level))
    objects = ("pendulum clock", "grandfather clock") if hangs else ("metronome",)
    if slides:
        joint = slider((0, 0, -1), (0, 0, level + bob), 0.6 * abs(bob))
        return s.draft("metronome", joint, objects, ("weight", "slider"), say.SLIDE_DOWN,
                       say.SLIDE_UP)  # fmt: skip
    start = s.degrees(-15, 15)
    s.turn(mark, (0, 1, 0), start, (0, 0, level))
    joint = hinge((0, -1 if start > 0 else 1, 0), (0, 0, level), s.degrees(15, 30))
    words = say.words("swings|rocks|swings from side to side|moves sideways|beats",
                      "swing {}|move {} sideways")  # fmt: skip
    return s.draft("metronome", joint, objects, ("pendulum", "arm", "needle", "rod"), words,
                   directed=False)  # fmt: skip


def trumpet(rng: np.random.Generator) -> Draft:
    """Three pistons in a row between two tubes: one is pressed, or a slide is drawn out."""
    s = Sketch(rng, METALLIC)
    long, r = s.between(0.3, 0.5), s.between(0.008, 0.014)
    s.fix(tube([(-0.5 * long, 0, 0.06), (0.45 * long, 0, 0.06)], 0.6 * r, 8), "body")
    bell = cylinder((0.45 * long, 0, 0.06), (0.15 * long, 0, 0), 0.6 * r, 4 * r, 16)
    s.fix(bell, "body")
    chosen, part = int(s.between(0, 3)), s.one_of("valve", "valve", "slide")
    for i in range(3):
        x = (i - 1) * 2.6 * r
        s.fix(cylinder((x, 0, -0.03), (0, 0, 0.12), r, segments=12), "metal")
        mine = part == "valve" and i == chosen
        out = 0.02
        s.add(cylinder((x, 0, 0.091), (0, 0, out), 0.25 * r, segments=6), "metal", mine)
        s.add(cylinder((x, 0, 0.091 + out), (0, 0, 0.004), 0.9 * r, segments=12), "accent", mine)
    bow_x = 5 * r
    s.fix(tube([(-3 * r, 0.004, 0.0), (bow_x, 0.004, 0.0)], 0.5 * r, 6), "body")
    s.fix(tube([(-3 * r, 0.004, -0.025), (bow_x, 0.004, -0.025)], 0.5 * r, 6), "body")
    path = [(bow_x - 0.02, 0.004, 0), (bow_x + 0.05, 0.004, 0), (bow_x + 0.062, 0.004, -0.0125)]
    path += [(bow_x + 0.05, 0.004, -0.025), (bow_x - 0.02, 0.004, -0.025)]
    s.add(tube(path, 0.62 * r, 6), "trim", part == "slide")
    objects = ("trumpet", "cornet", "horn", "brass instrument")
    if part == "slide":
        joint = slider((1, 0, 0), (bow_x, 0, -0.0125), s.between(0.02, 0.05))
        return s.draft("trumpet", joint, objects, ("tuning slide", "slide", "bow"), say.EXTEND,
                       say.RETRACT)  # fmt: skip
    joint = slider((0, 0, -1), ((chosen - 1) * 2.6 * r, 0, 0.11), 0.018)
    return s.draft("trumpet", joint, objects, ("valve", "piston", "key", "button"), say.PRESS_DOWN)


def table_football(rng: np.random.Generator) -> Draft:
    """A box on legs with rods across it: a rod with its figures slides, or turns."""
    s = Sketch(rng, WOODEN)
    long, wide, high = s.between(0.5, 0.7), s.between(0.3, 0.4), s.between(0.1, 0.2)
    leg, wall = s.between(0.0, 0.7), 0.02
    level = leg + high * 0.75
    s.fix(open_top(long, wide, leg, high, wall), "body")
    s.fix(
        box((-long + wall, -wide + wall, leg + 0.02), (long - wall, wide - wall, leg + 0.025)),
        "accent",
    )
    if leg > 0.2:
        for x in (-long, long - 0.06):
            for y in (-wide, wide - 0.06):
                s.fix(box((x, y, 0), (x + 0.06, y + 0.06, leg)), "trim")
    count = int(s.between(2, 7))
    chosen = int(s.between(0, count))
    turns = s.chance(0.5)
    play = 0.12
    at = 0.0
    for i, x in enumerate(np.linspace(-0.8 * long, 0.8 * long, count)):
        moves, side = i == chosen, 1 if i % 2 else -1
        mark = s.mark()
        s.add(cylinder((x, -wide - play, level), (0, 2 * wide + 2 * play, 0), 0.008, segments=6),
              "metal", moves)  # fmt: skip
        end = side * (wide + play)
        s.add(cylinder((x, end, level), (0, side * 0.1, 0), 0.016, segments=8), "handle", moves)
        for y in np.linspace(-0.5, 0.5, int(s.between(2, 4))) * wide:
            low = level - 0.6 * high
            figure = box((x - 0.012, y - 0.016, low), (x + 0.012, y + 0.016, level + 0.025))
            s.add(figure, s.one_of("front", "dark"), moves)
        if moves:
            at = x
            if turns:
                s.turn(mark, (0, 1, 0), s.degrees(-40, 40), (x, 0, level))
    objects = ("table football", "foosball table", "football table", "kicker")
    names = ("rod", "bar", "player rod", "pole")
    if turns:
        joint = hinge((0, s.sign(), 0), (at, 0, level), s.degrees(30, 80))
        words = say.words("turns|spins|rotates|is twisted", "turn {}|spin {}|rotate {}")
        return s.draft("table football", joint, objects, names, words, directed=False)
    joint = slider((0, s.sign(), 0), (at, 0, level), 0.09)
    words = say.words(
        "slides|moves along|is pushed through|slides across", "slide {}|push {} across"
    )
    return s.draft("table football", joint, objects, names, words, directed=False)


def open_top(long: float, wide: float, base: float, high: float, wall: float) -> np.ndarray:
    """A tray whose long walls have room above their rims for rods, from `base` up."""
    floor = box((-long, -wide, base), (long, wide, base + 0.02))
    ends = [box((x, -wide, base), (x + wall, wide, base + high)) for x in (-long, long - wall)]
    sides = [
        box((-long, y, base), (long, y + wall, base + 0.62 * high)) for y in (-wide, wide - wall)
    ]
    return np.concatenate([floor, *ends, *sides])


def pram(rng: np.random.Generator) -> Draft:
    """A pram: its hood folds back, its push bar turns, or one of its wheels spins."""
    s = Sketch(rng)
    long, wide, tall, r = s.between(0.35, 0.5), s.between(0.18, 0.26), s.between(0.15, 0.25), 0.12
    level = 2 * r + 0.1
    s.fix(box((-long, -wide, level), (long, wide, level + tall)), "body")
    part = s.one_of("hood", "hood", "wheel", "bar")
    rim = level + tall
    turns = np.linspace(0.05, np.pi / 2, 8)
    radius = 0.9 * long
    x = 0.25 * long
    arc = [(x + radius * np.cos(a), rim + 0.9 * radius * np.sin(a)) for a in turns]
    inner = [(x + 0.96 * (px - x), rim + 0.96 * (pz - rim)) for px, pz in arc[::-1]]
    hood = part == "hood"
    shell = extrude([*arc, *inner], "xz", -1.02 * wide, 1.02 * wide)
    s.add(shell, "front", hood)
    for y in (-1.03 * wide, 1.01 * wide):
        cheek = [(x, rim + 0.01), *arc[::2]]
        s.add(extrude(cheek, "xz", y, y + 0.02 * wide), "front", hood)
        s.fix(cylinder((x, y + 0.01 * wide, rim), (0, 0.02 * wide, 0), 0.02, segments=8), "metal")
    chosen = (s.sign(), s.sign())
    for i, wheel_x in ((-1, -0.7 * long), (1, 0.7 * long)):
        s.fix(cylinder((wheel_x, -wide, r), (0, 2 * wide, 0), 0.008, segments=6), "metal")
        leg = [
            (wheel_x - 0.02, r),
            (wheel_x + 0.02, r),
            (0.6 * wheel_x, level),
            (0.5 * wheel_x, level),
        ]
        for y in (-0.7 * wide, 0.65 * wide):
            s.fix(extrude(leg, "xz", y, y + 0.05 * wide), "metal")
        for side in (-1, 1):
            moves = part == "wheel" and (i, side) == chosen
            y = side * wide
            ring = np.linspace(0, 2 * np.pi, 16, endpoint=False)
            rim_path = np.stack(
                [wheel_x + r * np.cos(ring), 0 * ring + y, r + r * np.sin(ring)], axis=1
            )
            s.add(tube(rim_path, 0.015, 5, closed=True), "dark", moves)
            for angle in np.arange(4) * np.pi / 4:
                way = r * np.array((np.cos(angle), 0, np.sin(angle)))
                spoke = cylinder(np.array((wheel_x, y, r)) - way, 2 * way, 0.005, segments=4)
                s.add(spoke, "metal", moves)
    bar = part == "bar"
    foot = np.array((-long, 0, rim - 0.03))
    for y in (-0.9 * wide, 0.9 * wide):
        start = foot + np.array((-0.008, y, 0))
        s.add(cylinder(start, (-0.22, 0, 0.22), 0.009, segments=6), "metal", bar)
    end = foot + np.array((-0.228, -0.9 * wide, 0.22))
    s.add(cylinder(end, (0, 1.8 * wide, 0), 0.014, segments=8), "handle", bar)
    objects = ("pram", "stroller", "baby carriage", "buggy", "doll's pram")
    if part == "wheel":
        joint = hinge((0, s.sign(), 0), (chosen[0] * 0.7 * long, 0, r), s.degrees(60, 175))
        return s.draft("pram", joint, objects, ("wheel", "one wheel"), say.SPIN, directed=False)
    if bar:
        joint = hinge((0, -1, 0), tuple(foot + np.array((-0.008, 0, 0))), s.degrees(20, 60))
        words, names = (say.TILT_DOWN, say.TILT_UP), ("handle", "push bar", "handlebar")
        return s.draft("pram", joint, objects, names, *words)
    joint = hinge((0, 1, 0), (x, 0, rim), s.degrees(30, 75))
    words = say.words("folds back|goes down|is folded down|opens|tilts back|swings back",
                      "fold {} back|open {}|fold {} down|tilt {} back")  # fmt: skip
    return s.draft("pram", joint, objects, ("hood", "canopy", "sunshade", "cover"), words,
                   say.words("folds up|closes|is pulled up", "pull {} up|fold {} up"))  # fmt: skip


def bed_rest(rng: np.random.Generator) -> Draft:
    """A bed or deck chair whose head part rises, or whose side rail goes down."""
    s = Sketch(rng)
    long, wide, level = s.between(0.8, 1.05), s.between(0.3, 0.5), s.between(0.2, 0.55)
    t, seam = s.between(0.05, 0.16), long * s.between(0.1, 0.35)
    part = s.one_of("head", "head", "head", "rail", "foot")
    rail = s.chance(0.5) or part == "rail"
    for x in (-long, long - 0.05):
        for y in (-wide, wide - 0.05):
            s.fix(box((x, y, 0), (x + 0.05, y + 0.05, level)), "metal")
    s.fix(frame((-long, -wide, level - 0.05), (long, wide, level), (-long + 0.05, -wide + 0.05, 0),
                (long - 0.05, wide - 0.05, 0), "z"), "metal")  # fmt: skip
    edges = (-long, -seam, seam + 0.1, long)
    for i, name in enumerate(("head", "middle", "foot")):
        a, b = edges[i], edges[i + 1] - 0.004
        pad = box((a + 0.002, -wide, level + 0.001), (b, wide, level + t))
        s.add(pad, "front" if name == part else "top", name == part)
    if part == "head" and s.chance(0.6):  # a pillow
        low = (-long + 0.05, -0.6 * wide, level + t)
        s.move(box(low, (-long + 0.35, 0.6 * wide, level + t + 0.06)), "accent")
    if s.chance(0.6):
        s.fix(box((long, -wide, 0.1), (long + 0.03, wide, level + 0.35)), "body")
    if rail:
        base, high = level + 0.5 * t, level + t + 0.28
        y = -wide - 0.03
        moves = part == "rail"
        for z in np.linspace(base, high, 4):
            s.add(
                cylinder((-0.5 * long, y, z), (0.7 * long, 0, 0), 0.012, segments=6), "metal", moves
            )
        for x in (-0.5 * long, 0.2 * long):
            s.add(cylinder((x, y, base), (0, 0, high - base), 0.012, segments=6), "metal", moves)
        s.fix(box((-0.5 * long, y + 0.015, level - 0.04), (0.2 * long, -wide, level)), "metal")
    objects = ("bed", "hospital bed", "sun lounger", "examination couch", "day bed")
    if part == "rail":
        joint = slider((0, 0, -1), (0, -wide, level), s.between(0.15, 0.3))
        names = ("side rail", "rail", "guard", "grille")
        return s.draft("bed", joint, objects, names, say.SLIDE_DOWN, say.SLIDE_UP)
    if part == "head":
        joint = hinge((0, 1, 0), (-seam - 0.004, 0, level + 0.001), s.degrees(25, 75))
        names = ("backrest", "head part", "head section", "headrest", "upper part")
    else:
        joint = hinge((0, -1, 0), (seam + 0.102, 0, level + 0.001), s.degrees(15, 45))
        names = ("foot part", "leg rest", "foot section", "footrest")
    return s.draft("bed", joint, objects, names, say.join(say.TILT_UP, say.LIFT), say.LOWER)


def shower_rail(rng: np.random.Generator) -> Draft:
    """An upright rod on a wall or stand: a holder, a head or a lamp slides along it, or swivels."""
    s = Sketch(rng, METALLIC)
    tall, r = s.between(0.4, 1.1), s.between(0.007, 0.015)
    s.fix(cylinder((0, 0, 0), (0, 0, tall), r, segments=10), "metal")
    if s.chance(0.7):
        s.fix(box((-0.3, 0.06, -0.1), (0.3, 0.08, tall + 0.1)), "body")
        for z in (0.01, tall - 0.03):
            s.fix(box((-r, 0, z), (r, 0.065, z + 0.02)), "metal")
    else:
        s.fix(cylinder((0, 0, -0.03), (0, 0, 0.03), 0.15, segments=16), "body")
    at, reach = tall * s.between(0.2, 0.8), s.between(0.08, 0.3)
    grip = 2.4 * r
    ring = frame((-grip, -grip, at), (grip, grip, at + 0.05), (-1.05 * r, -1.05 * r, 0),
                 (1.05 * r, 1.05 * r, 0), "z")  # fmt: skip
    s.move(ring, "trim")
    s.move(cylinder((0, -grip, at + 0.025), (0, -reach, 0.2 * reach), 0.8 * r, segments=8), "metal")
    tip = np.array((0, -grip - reach, at + 0.025 + 0.2 * reach))
    if s.chance(0.6):
        s.move(cylinder(tip, (0, -0.03, -0.03), 0.02, s.between(0.03, 0.06), 14), "front")
    else:
        s.move(sphere(tip, s.between(0.02, 0.05), 10, 7), "accent")
    if s.chance(0.5):
        up = at < 0.5 * tall
        room = (tall - 0.1 - at) if up else at - 0.05
        joint = slider((0, 0, 1 if up else -1), (0, 0, at), max(room * s.between(0.5, 0.95), 0.05))
        words = (say.SLIDE_UP, say.SLIDE_DOWN) if up else (say.SLIDE_DOWN, say.SLIDE_UP)
        names = ("shower head", "holder", "slider", "arm", "clamp")
        return s.draft(
            "shower rail", joint, ("shower", "shower rail", "stand", "lamp"), names, *words
        )
    axis, motion = s.swivel()
    joint = hinge(axis, (0, 0, at), s.degrees(20, 60))
    names = ("arm", "holder", "shower head", "head", "bracket")
    return s.draft("shower rail", joint, ("shower", "wall lamp", "stand", "rail"), names, motion,
                   directed=False)  # fmt: skip


def wall_arm(rng: np.random.Generator) -> Draft:
    """A bracket, towel arm or monitor arm on a wall: it swings about an upright pin."""
    s = Sketch(rng, METALLIC)
    tall, reach = s.between(0.1, 0.3), s.between(0.2, 0.6)
    s.fix(box((-0.06, 0.02, -tall), (0.06, 0.04, tall)), "body")
    pin = s.between(0.006, 0.012)
    for z in (-0.3 * tall, 0.25 * tall):
        s.fix(box((-pin, -2 * pin, z), (pin, 0.021, z + 0.05 * tall)), "metal")
    s.fix(cylinder((0, -pin, -0.3 * tall), (0, 0, 0.6 * tall), 0.8 * pin, segments=8), "metal")
    mark, style = s.mark(), s.one_of("bars", "shelf", "screen", "hook")
    sleeve = frame((-1.6 * pin, -2.6 * pin, -0.2 * tall), (1.6 * pin, 0.6 * pin, 0.2 * tall),
                   (-0.85 * pin, -1.85 * pin, 0), (0.85 * pin, -0.15 * pin, 0), "z")  # fmt: skip
    s.move(sleeve, "trim")
    start = -2.6 * pin
    if style == "bars":
        for z in np.linspace(-0.15, 0.15, int(s.between(1, 4))) * tall:
            s.move(cylinder((0, start, z), (0, -reach, 0), 0.7 * pin, segments=8), "metal")
    elif style == "shelf":
        s.move(box((-0.12, start - reach, -0.01), (0.12, start, 0.01)), "top")
    else:
        s.move(box((-0.8 * pin, start - reach, -1.2 * pin), (0.8 * pin, start, 1.2 * pin)), "metal")
    if style == "screen":
        w, h = s.between(0.15, 0.35), s.between(0.1, 0.22)
        s.move(box((-w, start - reach - 0.03, -h), (w, start - reach, h)), "dark")
        y = start - reach - 0.03
        s.move(box((-0.95 * w, y - 0.002, -0.93 * h), (0.95 * w, y, 0.93 * h)), "glass")
    elif style == "hook":
        path = [(0, start - reach, 0), (0, start - reach - 0.03, -0.05), (0, start - reach, -0.08)]
        s.move(tube(path, 0.8 * pin, 6), "metal")
    turned = s.degrees(-50, 50)
    s.turn(mark, (0, 0, 1), turned, (0, -pin, 0))
    right = turned < 0  # it swings on past the middle, never into the wall
    joint = hinge((0, 0, 1 if right else -1), (0, -pin, 0), s.degrees(30, 80))
    objects = {
        "bars": ("towel rail", "towel rack", "bracket"),
        "shelf": ("bracket", "swivel shelf", "wall tray"),
        "screen": ("wall mount", "monitor arm", "television bracket"),
        "hook": ("wall hook", "crane", "bracket"),
    }[style]
    names = ("arm", "bar", "bracket") if style != "screen" else ("arm", "screen", "monitor")
    words = say.join(say.SWIVEL, say.SWIVEL_RIGHT if right else say.SWIVEL_LEFT)
    return s.draft("wall arm", joint, objects, names, words, directed=False)


KINDS = {
    "metronome": (0.5, metronome),
    "trumpet": (0.3, trumpet),
    "table_football": (0.4, table_football),
    "pram": (0.5, pram),
    "bed": (0.7, bed_rest),
    "shower_rail": (0.6, shower_rail),
    "wall_arm": (0.7, wall_arm),
}
