"""What games are furnished with: guns, blades in sheaths, tombs, winches, catapults, lanterns."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import phrases
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.sketch import METALLIC, WOODEN, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    frame,
    lathe,
    open_box,
    rounded_rectangle,
    tube,
)


def pistol(rng: np.random.Generator) -> Draft:
    """A pistol or rifle: its slide goes back, its magazine out, its trigger or hammer turns."""
    s = Sketch(rng, METALLIC)
    long, tall, t = s.between(0.12, 0.5), s.between(0.02, 0.04), s.between(0.008, 0.016)
    part = s.one_of("slide", "magazine", "trigger", "hammer", "bolt")
    back, front = -0.35 * long, 0.65 * long  # it points to +X
    s.fix(box((back, -t, 0), (0.5 * front, t, tall)), "body")
    lean, grip = s.degrees(5, 25), s.between(0.08, 0.12)
    a = back + 0.01
    wide = s.between(0.03, 0.045)
    foot = -np.tan(lean) * grip
    handle = [(a, 0), (a + wide, 0), (a + wide + foot, -grip), (a + foot, -grip)]
    s.fix(extrude(handle, "xz", -t * 1.1, t * 1.1), "handle")
    top = tall + s.between(0.015, 0.03)
    slide = part == "slide"
    s.add(box((back, -t, tall + 0.0005), (front, t, top)), "metal", slide)
    for i in range(5):
        x = back + 0.006 + 0.006 * i
        s.add(box((x, -1.06 * t, tall + 0.003), (x + 0.003, 1.06 * t, top - 0.002)), "dark", slide)
    middle = tall + 0.5 * (top - tall)
    s.fix(cylinder((front - 0.002, 0, middle), (0.02 * long, 0, 0), 0.3 * t, segments=8), "dark")
    guard_x = a + wide + 0.045
    path = [(a + wide, 0, -0.028), (guard_x, 0, -0.028), (guard_x + 0.004, 0, 0.0)]
    s.fix(tube(path, 0.15 * t, 5), "body")
    pin = (a + wide + 0.02, 0.0, -0.001)
    bar = box((pin[0] - 0.003, -0.3 * t, -0.022), (pin[0] + 0.003, 0.3 * t, 0.0))
    s.add(bar, "metal", part == "trigger")
    cock = box((back - 0.008, -0.4 * t, tall - 0.006), (back - 0.0005, 0.4 * t, top + 0.004))
    s.add(cock, "dark", part == "hammer")
    mark = s.mark()
    if part == "magazine":
        s.move(
            box(
                (a + 0.3 * wide, -0.7 * t, -grip - 0.012), (a + 0.8 * wide, 0.7 * t, -grip - 0.0005)
            )
        )
        s.shift(mark, (foot, 0, 0))
        down = np.array((foot, 0, -grip))
        joint = slider(down, (a, 0, -grip), grip * s.between(0.5, 1.0))
        names = ("magazine", "clip", "mag", "ammo clip")
        words = (say.join(say.PULL_OFF, say.SLIDE_DOWN), say.SLIDE_UP)
    elif part == "trigger":
        joint = hinge((0, 1, 0), pin, s.degrees(8, 25))
        words, names = (say.words("is pulled|moves back|is squeezed|rotates back",
                                  "pull {}|squeeze {}"), None), ("trigger",)  # fmt: skip
    elif part == "hammer":
        joint = hinge((0, -1, 0), (back - 0.001, 0, tall - 0.004), s.degrees(20, 55))
        words, names = (say.TILT_BACK, say.TILT_FORWARD), ("hammer", "cock")
    elif part == "bolt":
        y = t + 0.001
        s.move(cylinder((0.1 * long, -y, middle), (0, -0.025, 0), 0.2 * t, segments=8), "metal")
        joint = slider((-1, 0, 0), (0.1 * long, -y, middle), 0.25 * long)
        words, names = (say.words("slides back|is pulled back", "pull {} back"),
                        say.words("slides forward|snaps forward", "push {} forward")), (
                            "bolt", "charging handle", "handle")  # fmt: skip
    else:
        joint = slider((-1, 0, 0), (0, 0, top), long * s.between(0.08, 0.25))
        back_words = say.words("slides forward|goes forward|returns", "push {} forward")
        words = (say.words("slides back|is pulled back|moves back|racks", "pull {} back|rack {}"),
                 back_words)  # fmt: skip
        names = ("slide", "top", "barrel cover", "upper part")
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, np.pi, np.pi / 2, -np.pi / 2))
    return s.draft("gun", joint, ("pistol", "gun", "handgun", "toy gun", "blaster"), names, *words)


def sheath(rng: np.random.Generator) -> Draft:
    """A sword, dagger or umbrella in a sheath: it is drawn out along its length."""
    s = Sketch(rng, METALLIC)
    long, wide, t = s.between(0.2, 0.9), s.between(0.02, 0.05), s.between(0.006, 0.02)
    s.fix(frame((-wide / 2, -t, 0), (wide / 2, t, long), (-0.42 * wide, -0.6 * t, 0),
                (0.42 * wide, 0.6 * t, 0), "z"), "body")  # fmt: skip
    s.fix(box((-wide / 2, -t, -0.02 * long), (wide / 2, t, 0)), "trim")
    s.move(box((-0.4 * wide, -0.3 * t, 0.03 * long), (0.4 * wide, 0.3 * t, long)), "metal")
    guard = wide * s.between(0.6, 2.2)
    s.move(box((-guard, -1.1 * t, long + 0.001), (guard, 1.1 * t, long + 0.5 * wide)), "accent")
    grip = s.between(0.08, 0.2)
    s.move(cylinder((0, 0, long + 0.5 * wide), (0, 0, grip), 0.35 * wide, segments=10), "handle")
    if s.chance(0.6):
        end = long + 0.5 * wide + grip
        s.move(cylinder((0, 0, end), (0, 0, 0.4 * wide), 0.5 * wide, segments=10), "accent")
    joint = slider((0, 0, 1), (0, 0, long), long * s.between(0.4, 0.95))
    if s.chance(0.6):
        joint = s.lay(joint, (0, 1, 0), s.one_of(np.pi / 2, -np.pi / 2))
        words, back = say.join(say.EXTEND, say.words("is drawn|slides out", "draw {}")), say.RETRACT
    else:
        words = say.words("is drawn|slides out|is pulled out|slides up", "draw {}|pull {} out")
        back = say.words("slides back in|is put back", "push {} back in")
    names = ("sword", "blade", "dagger", "knife", "sabre")
    return s.draft("sheath", joint, ("sheath", "scabbard", "sword sheath"), names, words, back)


def tomb(rng: np.random.Generator) -> Draft:
    """A long stone box or coffin: its slab is pushed aside, or its lid swings open."""
    s = Sketch(rng)
    long, wide, tall = s.between(0.8, 1.2), s.between(0.25, 0.45), s.between(0.2, 0.6)
    wall, t = s.between(0.03, 0.08), s.between(0.03, 0.12)
    coffin = s.chance(0.4)
    if coffin:
        half = [(-long, -0.5), (-0.4 * long, -1), (long, -0.6), (long, 0.6), (-0.4 * long, 1),
                (-long, 0.5)]  # fmt: skip
        outline = [(x, y * wide) for x, y in half]
        s.fix(extrude(outline, "xy", 0, tall), "body")
        s.move(extrude(outline, "xy", tall + 0.001, tall + t), "front")
        edge = 0.6 * wide
    else:
        s.fix(open_box((-long, -wide, 0), (long, wide, tall), wall, "+z"), "body")
        lip = s.between(0.0, 0.04)
        s.move(box((-long - lip, -wide - lip, tall + 0.001), (long + lip, wide + lip, tall + t)),
               "front")  # fmt: skip
        if s.chance(0.4):
            low, high = (
                (-0.7 * long, -0.3 * wide, tall + t),
                (0.7 * long, 0.3 * wide, tall + 1.4 * t),
            )
            s.move(box(low, high), "accent")
        edge = wide
    objects = ("coffin", "casket") if coffin else ("sarcophagus", "tomb", "stone chest", "grave")
    names = ("lid", "cover", "slab", "top", "stone lid")
    if s.chance(0.5) and not coffin:
        along = s.chance(0.4)
        way = (s.sign(), 0, 0) if along else (0, -s.sign(), 0)
        joint = slider(way, (0, 0, tall), (long if along else wide) * s.between(0.6, 1.3))
        return s.draft("tomb", joint, objects, names, say.SLIDE, say.SLIDE_SHUT)
    if coffin:  # along the short straight run of its outline no hinge would fit: about a long edge
        a, b = np.array((-0.4 * long, wide)), np.array((long, edge))
        joint = hinge((*(a - b), 0), (*a, tall), s.degrees(40, 100))
    else:
        joint = hinge((-1, 0, 0), (0, edge, tall), s.degrees(40, 100))
    return s.draft("tomb", joint, objects, names, say.join(say.LIFT, say.OPEN), say.LOWER)


def winch(rng: np.random.Generator) -> Draft:
    """A drum between posts with a crank at its end, over a well or on a deck; it turns."""
    s = Sketch(rng, WOODEN)
    wide, level, r = s.between(0.2, 0.5), s.between(0.4, 0.9), s.between(0.04, 0.12)
    for x in (-wide - 0.04, wide):
        s.fix(box((x, -0.04, 0), (x + 0.04, 0.04, level + 0.08)), "body")
    if s.chance(0.6):
        ring = [
            (0.8 * wide, 0),
            (wide, 0),
            (wide, 0.35 * level),
            (0.8 * wide, 0.35 * level),
            (0.8 * wide, 0),
        ]
        s.fix(lathe(ring, (0, 0, 0), "z", 14), "trim")
    else:
        s.fix(box((-wide - 0.08, -0.2, -0.03), (wide + 0.08, 0.2, 0)), "trim")
    s.move(cylinder((-wide + 0.005, 0, level), (2 * wide - 0.01, 0, 0), r, segments=14), "front")
    for x in np.linspace(-0.5 * wide, 0.5 * wide, 5):  # rope
        s.move(cylinder((x, 0, level), (0.02, 0, 0), 1.1 * r, segments=14), "accent")
    s.move(cylinder((wide - 0.01, 0, level), (0.12, 0, 0), 0.25 * r, segments=8), "metal")
    arm, x = s.between(0.1, 0.2), wide + 0.1
    mark = s.mark()
    s.move(box((x, -0.012, level - 0.012), (x + 0.02, 0.012, level + arm)), "metal")
    s.move(cylinder((x, 0, level + arm - 0.012), (0.1, 0, 0), 0.014, segments=8), "handle")
    s.turn(mark, (1, 0, 0), s.degrees(0, 360), (0, 0, level))
    if s.chance(0.5):
        roof = [(-0.35, level + 0.15), (0.35, level + 0.15), (0, level + 0.45)]
        s.fix(extrude(roof, "yz", -wide - 0.1, wide + 0.1), "top")
        for side in (-wide - 0.04, wide):
            s.fix(box((side, -0.03, level + 0.07), (side + 0.04, 0.03, level + 0.2)), "body")
    joint = hinge((s.sign(), 0, 0), (0, 0, level), s.degrees(60, 175))
    names = ("drum", "crank", "roller", "winch", "handle", "windlass")
    objects = ("well", "winch", "windlass", "wishing well")
    return s.draft("winch", joint, objects, names, say.SPIN, directed=False)


def catapult(rng: np.random.Generator) -> Draft:
    """A long arm on a level shaft between two frames, with a bowl or a weight at its end."""
    s = Sketch(rng, WOODEN)
    long, wide, high = s.between(0.5, 0.9), s.between(0.2, 0.35), s.between(0.25, 0.6)
    for y in (-wide, wide - 0.05):
        s.fix(box((-long, y, 0.02), (long, y + 0.05, 0.09)), "body")
        leg = [(-0.3 * long, 0.09), (-0.2 * long, 0.09), (0.04, high + 0.05), (-0.04, high + 0.05)]
        s.fix(extrude(leg, "xz", y, y + 0.05), "body")
        leg = [(0.2 * long, 0.09), (0.3 * long, 0.09), (0.04, high + 0.05), (-0.04, high + 0.05)]
        s.fix(extrude(leg, "xz", y, y + 0.05), "body")
    for x in (-long, long - 0.06):
        s.fix(box((x, -wide, 0), (x + 0.06, wide, 0.06)), "body")
    s.fix(cylinder((0, -wide, high), (0, 2 * wide, 0), 0.025, segments=8), "metal")
    mark = s.mark()
    reach, short = long * s.between(0.8, 1.3), s.between(0.05, 0.3)
    s.move(box((-reach, -0.03, high - 0.03), (short, 0.03, high + 0.03)), "front")
    if s.chance(0.6):
        bowl = [(0, 0), (0.07, 0), (0.11, 0.07), (0.09, 0.07), (0.06, 0.015), (0, 0.015)]
        s.move(lathe(bowl, (-reach + 0.08, 0, high + 0.03), "z", 10), "trim")
    if short > 0.18:
        s.move(box((short - 0.1, -0.1, high - 0.15), (short, 0.1, high - 0.03)), "dark")
    down = np.arcsin(min(0.9, (high - 0.12) / reach)) * s.between(0.2, 0.9)
    s.turn(mark, (0, -1, 0), down, (0, 0, high))  # the long end comes down
    joint = hinge((0, 1, 0), (0, 0, high), down + s.degrees(10, 60))
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, np.pi / 2, -np.pi / 2, np.pi))
    words = say.join(
        say.TILT_UP, say.words("swings up|is released|throws", "swing {} up|release {}")
    )
    objects = ("catapult", "trebuchet", "siege engine", "throwing machine")
    return s.draft(
        "catapult", joint, objects, ("arm", "beam", "throwing arm"), words, say.TILT_DOWN
    )


def lantern(rng: np.random.Generator) -> Draft:
    """A lantern or small greenhouse of four panes: one of them is a door, or its bail swings."""
    s = Sketch(rng, METALLIC)
    w, h, t = s.between(0.05, 0.12), s.between(0.12, 0.3), s.between(0.004, 0.01)
    s.fix(box((-1.15 * w, -1.15 * w, -0.02), (1.15 * w, 1.15 * w, 0)), "body")
    roof = [(0.0, h), (1.5 * w, h), (0.3 * w, h + w * s.between(0.4, 1.2))]
    s.fix(lathe([*roof, (0.0, roof[2][1])], (0, 0, 0), "z", 4 if s.chance(0.6) else 12), "body")
    for x in (-w, w - t):
        for y in (-w, w - t):
            s.fix(box((x, y, 0), (x + t, y + t, h)), "body")
    part, side = s.one_of("door", "door", "bail"), s.one_of("left", "right")
    panes = (box((-w + t, w - 0.6 * t, 0), (w - t, w - 0.4 * t, h)),
             box((-w + 0.4 * t, -w + t, 0), (-w + 0.6 * t, w - t, h)),
             box((w - 0.6 * t, -w + t, 0), (w - 0.4 * t, w - t, h)))  # fmt: skip
    for pane in panes:
        s.fix(pane, "glass")
    s.fix(cylinder((0, 0, 0), (0, 0, 0.5 * h), 0.35 * w, segments=10), "accent")
    door, gap = part == "door", 0.0008
    low, high = (-w + t + gap, -w, gap), (w - t - gap, -w + t, h - gap)
    s.add(frame(low, high, (-w + 2.2 * t, 0, 1.2 * t), (w - 2.2 * t, 0, h - 1.2 * t), "y"),
          "front", door)  # fmt: skip
    s.add(box((-w + 2 * t, -w + 0.4 * t, t), (w - 2 * t, -w + 0.6 * t, h - t)), "glass", door)
    way = 1 if side == "left" else -1
    knob = (way * (w - 2 * t), -w, 0.5 * h)
    s.add(cylinder(knob, (0, -1.5 * t, 0), 0.6 * t, segments=8), "handle", door)
    top = h + 0.15 * w
    turns = np.linspace(0, np.pi, 9)
    bail = np.stack([1.6 * w * np.cos(turns), 0 * turns, top + 1.9 * w * np.sin(turns)], axis=1)
    mark = s.mark()
    s.add(tube(bail, 0.4 * t, 5), "metal", not door)
    s.turn(mark, (1, 0, 0), lean := s.degrees(-20, 20), (0, 0, top))
    for x in (-1.6 * w, 0.9 * w):
        s.fix(box((x, -0.6 * t, top - t), (x + 0.7 * w, 0.6 * t, top + t)), "metal")
    objects = ("lantern", "lamp", "oil lamp", "candle lantern")
    if door:
        edge = -way * (w - t - gap)
        joint = hinge((0, 0, -way), (edge, -w, 0.5 * h), s.degrees(60, 140))
        opening, closing = phrases.swing(rng, side)
        return s.draft("lantern", joint, objects, ("door", "glass door", "pane", "front"), opening,
                       closing)  # fmt: skip
    joint = hinge((1 if lean < 0 else -1, 0, 0), (0, 0, top), s.degrees(30, 60))
    words = say.words("swings|turns|tips over|rotates|folds over", "swing {}|turn {}|fold {} over")
    return s.draft("lantern", joint, objects, ("handle", "bail", "ring"), words, directed=False)


def bulkhead(rng: np.random.Generator) -> Draft:
    """A thick door in a thick wall, as in ships and space stations: it slides up, down or aside."""
    s = Sketch(rng, METALLIC)
    w, h, t = s.between(0.4, 0.8), s.between(0.7, 1.2), s.between(0.1, 0.3)
    rim, inner = s.between(0.15, 0.5), s.between(0.02, 0.08)
    # A wall of two skins: the leaf runs in the gap between them.
    for y in (-t, inner + 0.004):
        far = -inner - 0.004 if y < 0 else t
        low, high = (-w - rim, y, -0.02), (w + rim, far, 2 * h + rim)
        s.fix(frame(low, high, (-w, 0, 0.0), (w, 0, 2 * h), "y"), "body")
    double = s.chance(0.4)
    way = s.one_of("aside", "aside", "up") if not double else "aside"
    side = s.sign()
    for half in (-1, 1) if double else (0,):
        a, b = (-w, w) if half == 0 else sorted((0.002 * half, half * w))
        moves = half in (0, side)
        s.add(box((a, -inner, 0.002), (b, inner, 2 * h - 0.002)), "front", moves)
        if s.chance(0.6):
            stripe = box(
                (a + 0.1 * (b - a), -inner - 0.003, 0.9 * h), (b - 0.1 * (b - a), -inner, 1.2 * h)
            )
            s.add(stripe, "accent", moves)
        if s.chance(0.4):
            port = box(
                (a + 0.3 * (b - a), -inner - 0.003, 1.4 * h), (b - 0.3 * (b - a), -inner, 1.7 * h)
            )
            s.add(port, "glass", moves)
    if s.chance(0.6):
        pad = box((w + 0.3 * rim, -t - 0.02, 0.9 * h), (w + 0.6 * rim, -t, 1.1 * h))
        s.fix(pad, "dark")
    objects = ("bulkhead", "airlock", "gate", "vault", "space station door", "wall")
    if way == "up":
        joint = slider((0, 0, 1), (0, 0, 0), 2 * h * s.between(0.5, 0.9))
        return s.draft("bulkhead", joint, objects, ("door", "gate", "blast door", "hatch"),
                       say.SLIDE_UP, say.SLIDE_DOWN)  # fmt: skip
    travel = (w if double else 2 * w) * s.between(0.6, 0.95)
    joint = slider((side, 0, 0), (0, 0, h), travel)
    there, back = (
        (say.SLIDE_RIGHT, say.SLIDE_LEFT) if side > 0 else (say.SLIDE_LEFT, say.SLIDE_RIGHT)
    )
    spot = "right" if side > 0 else "left"
    names = ("door", "blast door", "hatch", "sliding door")
    names = (f"{spot} door", f"{spot} half", "leaf") if double else names
    words = say.join(say.SLIDE, there), say.join(say.SLIDE_SHUT, back)
    return s.draft("bulkhead", joint, objects, names, *words)


def water_wheel(rng: np.random.Generator) -> Draft:
    """A wheel of paddles or spokes on a shaft between posts: a mill, a prize wheel, a hamster's."""
    s = Sketch(rng, WOODEN)
    r, half = s.between(0.3, 0.6), s.between(0.02, 0.25)
    level = r * s.between(1.05, 1.4)
    turns = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    rim = np.stack([r * np.cos(turns), 0 * turns, r * np.sin(turns)], axis=1)
    mark = s.mark()
    for y in (-half, half) if half > 0.06 else (0.0,):
        s.move(tube(rim + np.array((0, y, 0)), 0.04 * r, 5, closed=True), "front")
    count = int(s.between(5, 13))
    for angle in np.arange(count) * 2 * np.pi / count:
        inner = s.mark()
        if s.chance(0.5) and half > 0.06:
            s.move(box((0.7 * r, -half, -0.015), (1.12 * r, half, 0.015)), "body")
        s.move(box((0, -0.02, -0.02), (r, 0.02, 0.02)), "trim")
        s.turn(inner, (0, 1, 0), angle)
    s.move(cylinder((0, -half - 0.02, 0), (0, 2 * half + 0.04, 0), 0.12 * r, segments=10), "metal")
    s.shift(mark, (0, 0, level))
    reach = half + 0.05
    for y in (-reach - 0.05, reach):
        post = [
            (-0.25 * r, 0),
            (0.25 * r, 0),
            (0.08 * r, level + 0.1 * r),
            (-0.08 * r, level + 0.1 * r),
        ]
        s.fix(extrude(post, "xz", y, y + 0.05), "body")
    s.fix(
        cylinder((0, -reach - 0.04, level), (0, 2 * reach + 0.08, 0), 0.05 * r, segments=8), "metal"
    )
    outline = rounded_rectangle((-0.5 * r, -reach - 0.08), (0.5 * r, reach + 0.08), 0.05)
    s.fix(extrude(outline, "xy", -0.04, 0), "top")
    joint = hinge((0, s.sign(), 0), (0, 0, level), s.degrees(40, 170))
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, np.pi / 2))
    objects = ("water mill", "mill", "ferris wheel", "wheel of fortune", "hamster wheel")
    return s.draft("water wheel", joint, objects, ("wheel", "water wheel", "big wheel"), say.SPIN,
                   directed=False)  # fmt: skip


KINDS = {
    "pistol": (0.9, pistol),
    "sheath": (0.5, sheath),
    "tomb": (0.6, tomb),
    "winch": (0.5, winch),
    "catapult": (0.4, catapult),
    "lantern": (0.6, lantern),
    "bulkhead": (0.8, bulkhead),
    "water_wheel": (0.5, water_wheel),
}
