"""What slides sideways or up in front of an opening: sliding fronts, curtains, roller shutters."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import carcass, fronts, handles, phrases, prompts, solids
from atop_backend.synthetic.assembly import Assembly
from atop_backend.synthetic.carcass import Body
from atop_backend.synthetic.draft import Draft, slider
from atop_backend.synthetic.leaves import Opening
from atop_backend.synthetic.objects import STATIC
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.pieces import Pieces, chance, choose, place
from atop_backend.synthetic.prompts import join, words

_FORMS: dict[str, tuple[tuple[str, ...], tuple[float, float, float, float, float, float]]] = {
    "wardrobe": (("wardrobe", "closet", "armoire"), (1.1, 2.4, 0.5, 0.7, 1.7, 2.3)),
    "sideboard": (
        ("sideboard", "credenza", "tv stand", "cabinet"),
        (1.0, 2.0, 0.35, 0.5, 0.45, 0.9),
    ),
    "cabinet": (("cabinet", "cupboard", "storage cabinet"), (0.6, 1.3, 0.3, 0.5, 0.7, 1.9)),
    "display": (("display cabinet", "showcase", "glass cabinet"), (0.5, 1.3, 0.3, 0.5, 0.4, 1.9)),
    "wall": (("wall cabinet", "cabinet", "mirror cabinet"), (0.5, 1.2, 0.15, 0.35, 0.4, 0.8)),
}


def _panel(
    make: Assembly, opening: Opening, style: str, grip: str, right: bool, share: float
) -> Pieces:
    """A sliding panel with its grip at the edge it is pushed or pulled by."""
    low = np.array([opening.x0, opening.y0, opening.z0])
    high = np.array([opening.x1, opening.y1, opening.z1])
    pieces = fronts.front(make.rng, style, low, high, make.paints)
    inset = float(np.clip(0.06 * opening.width, 0.02, 0.06))
    x = opening.x0 + inset if right else opening.x1 - inset
    at = (x, opening.y0, opening.z0 + share * opening.height)
    length = min(0.35, 0.35 * opening.height)
    return pieces + handles.handle(make.rng, grip, at, False, length, make.paints)


def sliding_cabinet(rng: np.random.Generator) -> Draft:
    """A cabinet or wardrobe with two or three panels that slide past each other."""
    make = Assembly(rng, (WOODS, PAINTS, METALS))
    form = choose(rng, {"wardrobe": 3.5, "sideboard": 2.5, "cabinet": 2, "display": 1.5, "wall": 1})
    objects, (w0, w1, d0, d1, h0, h1) = _FORMS[form]
    base = rng.uniform(0.04, 0.2) if chance(rng, 0.4) and form != "wall" else 0.0
    height = rng.uniform(h0, h1)
    body = Body(rng.uniform(w0, w1), rng.uniform(d0, d1), height - base, base,
                rng.uniform(0.016, 0.035), True)  # fmt: skip
    legs = choose(rng, {"plinth": 2, "legs_square": 2, "legs_turned": 2, "sides": 1})
    top = choose(rng, {"none": 4, "overhang": 2, "flush": 1})
    place(make.builder, carcass.shell(rng, body, make.paints), STATIC)
    place(make.builder, carcass.base(rng, legs, body, make.paints), STATIC)
    place(make.builder, carcass.top(rng, top, body, make.paints, 0.0), STATIC)
    count = 2 if chance(rng, 0.75) else 3
    style = "glass" if form == "display" else choose(
        rng, {"slab": 5, "shaker": 2, "glass": 2, "louvre": 0.7, "planks": 0.7, "lattice": 0.8}
    )  # fmt: skip
    grip = choose(rng, {"grip": 3, "bar": 2, "none": 2, "knob": 1, "u": 1, "blade": 0.7})
    thick, overlap = rng.uniform(0.008, 0.025), rng.uniform(0.01, 0.04)
    low, high = body.low, body.high
    z0, z1 = low[2] + body.wall + 0.003, high[2] - body.wall - 0.003
    x0, x1 = low[0] + body.wall + 0.002, high[0] - body.wall - 0.002
    edges = np.linspace(x0, x1, count + 1)
    chosen = int(rng.integers(count))
    near_first = chance(rng, 0.5)
    right = chosen == 0 or (chosen == 1 and count == 3 and chance(rng, 0.5))
    share = rng.uniform(0.4, 0.6)
    outside = chance(rng, 0.12)  # tracks in front of the body
    for i in range(count):
        front = (i % 2 == 0) == near_first
        y = low[1] + (0.004 if front else 0.008 + thick) - (2 * thick + 0.012 if outside else 0.0)
        opening = Opening(max(edges[i] - overlap / 2, x0), min(edges[i + 1] + overlap / 2, x1),
                          z0, z1, y, y + thick)  # fmt: skip
        pieces = _panel(make, opening, style, grip, right if i == chosen else i == 0, share)
        if i == chosen:
            mover = opening
            make.move_all(pieces)
        else:
            make.fix_all(pieces)
    inner = np.array([x0, low[1] + 2 * thick + 0.03, z0]), np.array([x1, high[1] - body.wall, z1])
    shelves = int(rng.integers(0, 4)) if form != "wardrobe" or chance(rng, 0.4) else 1
    make.fix_all(carcass.shelves(rng, *inner, shelves, make.paints, chance(rng, 0.2)))
    joint = slider(
        (1 if right else -1, 0, 0), mover.centre, (edges[1] - edges[0]) * rng.uniform(0.55, 0.95)
    )
    spot = "left" if chosen == 0 else ("right" if chosen == count - 1 else "middle")
    noun = "door" if style != "glass" or chance(rng, 0.5) else "glass door"
    parts = ("door", noun, "sliding door", f"{spot} door", f"{spot} sliding door", "panel",
             f"{spot} panel")  # fmt: skip
    return make.draft("sliding cabinet", joint, objects, parts, phrases.slide_sideways(rng, right))


def hanging_cabinet_door(rng: np.random.Generator) -> Draft:
    """A console whose one big front hangs from a rail and slides along it."""
    make = Assembly(rng, (WOODS, PAINTS))
    base = rng.uniform(0.03, 0.12)
    width, height, depth = rng.uniform(1.1, 1.9), rng.uniform(0.6, 0.95), rng.uniform(0.35, 0.5)
    body = Body(width, depth, height - base, base, 0.022, True)
    place(make.builder, carcass.shell(rng, body, make.paints), STATIC)
    place(make.builder, carcass.base(rng, "legs_square", body, make.paints), STATIC)
    place(make.builder, carcass.top(rng, "overhang", body, make.paints, 0.0), STATIC)
    low, high = body.low, body.high
    parts_count = int(rng.integers(2, 4))
    for x in np.linspace(low[0], high[0], parts_count + 1)[1:-1]:
        make.fix(solids.box((x - 0.01, low[1], low[2]), (x + 0.01, high[1] - 0.02, high[2])),
                 make.paints.body)  # fmt: skip
    make.fix_all(
        carcass.shelves(rng, low + 0.025, high - 0.025, int(rng.integers(1, 3)), make.paints)
    )
    rail = high[2] - 0.07
    make.fix(solids.box((low[0], low[1] - 0.03, rail), (high[0], low[1] - 0.015, rail + 0.03)),
             make.paints.metal)  # fmt: skip
    wide = width / parts_count
    slot = int(rng.integers(parts_count))
    x0 = low[0] + slot * wide
    right = slot == 0 or (slot < parts_count - 1 and chance(rng, 0.5))
    opening = Opening(x0, x0 + wide, low[2] + 0.01, rail - 0.01, low[1] - 0.03, low[1] - 0.008)
    make.move_all(_panel(make, opening, choose(rng, {"planks": 3, "slab": 1, "shaker": 1}), "bar",
                         right, 0.5))  # fmt: skip
    for x in (x0 + 0.2 * wide, x0 + 0.8 * wide):
        make.move(
            solids.box(
                (x - 0.015, low[1] - 0.038, rail - 0.1), (x + 0.015, low[1] - 0.03, rail + 0.05)
            ),
            make.paints.metal,
        )
    room = (parts_count - 1 - slot if right else slot) * wide
    joint = slider((1 if right else -1, 0, 0), opening.centre, room * rng.uniform(0.5, 1.0))
    objects = ("sideboard", "console", "tv stand", "cabinet", "media console")
    return make.draft("sliding cabinet", joint, objects, ("door", "sliding door", "barn door"),
                      phrases.slide_sideways(rng, right))  # fmt: skip


def _folds(x0: float, x1: float, folds: int, deep: float, z0: float, z1: float) -> np.ndarray:
    """Cloth hanging in waves."""
    along = np.linspace(0.0, 1.0, 4 * folds + 1)
    wave = deep * np.sin(2 * np.pi * folds * along)
    front = np.stack([x0 + (x1 - x0) * along, wave - 0.004], axis=1)
    back = np.stack([x0 + (x1 - x0) * along, wave + 0.004], axis=1)
    faces = []
    for line, flip in ((front, False), (back, True)):
        a, b = line[:-1], line[1:]
        quad = np.zeros((len(a), 2, 3, 3))
        for k, (start, level) in enumerate(((a, z0), (b, z0), (b, z1))):
            quad[:, 0, k, :2], quad[:, 0, k, 2] = start, level
        for k, (start, level) in enumerate(((a, z0), (b, z1), (a, z1))):
            quad[:, 1, k, :2], quad[:, 1, k, 2] = start, level
        quad = quad.reshape(-1, 3, 3)
        faces.append(quad[:, ::-1] if flip else quad)
    return np.concatenate(faces)


def curtain(rng: np.random.Generator) -> Draft:
    """Two curtains or panels of upright slats on a rod; one is drawn aside."""
    make = Assembly(rng, (PAINTS, WOODS))
    width, height = rng.uniform(1.0, 2.4), rng.uniform(1.0, 2.4)
    top = height + rng.uniform(0.02, 0.08)
    make.fix(solids.cylinder((-0.56 * width, 0, top), (1.12 * width, 0, 0), 0.014, segments=8),
             make.paints.metal)  # fmt: skip
    for s in (-1, 1):
        make.fix(solids.sphere((s * 0.56 * width, 0, top), 0.03, 8, 5), make.paints.metal)
    if chance(rng, 0.5):
        y = rng.uniform(0.06, 0.12)
        rim = 0.06
        make.fix(
            solids.frame(
                (-0.45 * width, y, 0.1),
                (0.45 * width, y + 0.05, height),
                (-0.45 * width + rim, 0, 0.1 + rim),
                (0.45 * width - rim, 0, height - rim),
                "y",
            ),
            make.paints.trim,
        )
        make.fix(
            solids.box(
                (-0.45 * width + rim, y + 0.02, 0.1 + rim),
                (0.45 * width - rim, y + 0.025, height - rim),
            ),
            make.paints.glass,
        )
    left = chance(rng, 0.5)
    side = -1.0 if left else 1.0
    slats = chance(rng, 0.35)
    for s in (-1.0, 1.0):
        a, b = sorted((s * 0.5 * width, s * 0.01))
        drawn = s != side and chance(rng, 0.3)
        if drawn:
            a, b = sorted((s * 0.5 * width, s * 0.33 * width))
        if slats:
            count = int(rng.integers(4, 9))
            edges = np.linspace(a, b, count + 1)
            wide = 0.46 * (b - a) / count
            cloth = np.concatenate(
                [
                    solids.box(
                        (x - wide, -0.006 + 0.006 * (i % 2), 0.03),
                        (x + wide, 0.001 + 0.006 * (i % 2), height),
                    )
                    for i, x in enumerate((edges[:-1] + edges[1:]) / 2)
                ]
            )
        else:
            cloth = _folds(a, b, int(rng.integers(4, 9)), rng.uniform(0.015, 0.04), 0.02, height)
        add = make.move if s == side else make.fix
        add(cloth, make.paints.front)
        rings = np.linspace(a, b, 6)[1:-1]
        add(np.concatenate([solids.box((x - 0.006, -0.02, height), (x + 0.006, 0.02, top + 0.02))
                            for x in rings]), make.paints.metal)  # fmt: skip
    name = "left" if left else "right"
    travel = width * rng.uniform(0.2, 0.4)
    joint = slider((side, 0, 0), (side * 0.25 * width, 0, height / 2), travel)
    there, back = phrases.slide_sideways(rng, not left)
    drawn_words = words(
        "is drawn aside|is pulled aside|is drawn open", "draw {} aside|pull {} aside"
    )
    parts = ("curtain", f"{name} curtain", f"curtain on the {name}", "drape", f"{name} panel")
    return make.draft("curtain", joint, (), parts, (join(there, drawn_words), back))


def roller_shutter(rng: np.random.Generator) -> Draft:
    """A shutter of level slats that goes up behind its header, in a frame or a cabinet."""
    make = Assembly(rng, (METALS, PAINTS, WOODS))
    width, height = rng.uniform(0.5, 2.4), rng.uniform(0.5, 2.1)
    post, deep = rng.uniform(0.03, 0.12), rng.uniform(0.1, 0.4)
    share = rng.uniform(0.45, 0.8)
    header = share * height + 0.02
    total = height + header
    for s in (-1, 1):
        a, b = sorted((s * width / 2, s * (width / 2 + post)))
        make.fix(solids.box((a, -deep / 2, 0), (b, deep / 2, total)), make.paints.body)
    make.fix(solids.box((-width / 2, -deep / 2, height), (width / 2, -deep / 2 + 0.02, total)),
             make.paints.body)  # fmt: skip
    make.fix(solids.box((-width / 2, -deep / 2, total - 0.02), (width / 2, deep / 2, total)),
             make.paints.body)  # fmt: skip
    if chance(rng, 0.6):
        make.fix(solids.box((-width / 2, deep / 2 - 0.02, 0), (width / 2, deep / 2, total)),
                 make.paints.inside)  # fmt: skip
    count = int(np.clip(height / rng.uniform(0.05, 0.15), 5, 16))
    edges = np.linspace(0.004, height + 0.01, count + 1)
    y = -deep / 2 + 0.026
    thick = 0.014
    profile = [(y, 0.0), (y - 0.004, 0.5), (y, 1.0), (y + thick, 1.0), (y + thick, 0.0)]
    pitch = edges[1] - edges[0]
    slat = solids.extrude([(a, b * 0.94 * pitch) for a, b in profile], "yz", -width / 2 + 0.003,
                          width / 2 - 0.003)  # fmt: skip
    make.move(np.concatenate([slat + np.array([0, 0, z]) for z in edges[:-1]]), make.paints.front)
    if chance(rng, 0.6):
        make.move(solids.box((-0.1 * width, y - 0.005, 0.03), (0.1 * width, y, 0.05)),
                  make.paints.handle)  # fmt: skip
    joint = slider((0, 0, 1), (0, y, height / 2), share * height)
    there = join(prompts.SLIDE_UP, words("rolls up|opens|is rolled up", "roll {} up|open {}"))
    parts = ("shutter", "roller shutter", "roll-up door", "door", "tambour", "slatted door")
    return make.draft("roller shutter", joint, (), parts, (there, prompts.SLIDE_DOWN))


KINDS = {
    "sliding cabinet": (2.0, sliding_cabinet),
    "hanging cabinet door": (0.4, hanging_cabinet_door),
    "curtain": (0.6, curtain),
    "roller shutter": (0.4, roller_shutter),
}
