"""Desks and tables with drawers and doors."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import carcass, leaves, phrases, prompts, solids
from atop_backend.synthetic.assembly import Assembly
from atop_backend.synthetic.carcass import Body
from atop_backend.synthetic.draft import Draft, slider
from atop_backend.synthetic.objects import STATIC
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.pieces import chance, choose, place
from atop_backend.synthetic.posing import turn
from atop_backend.synthetic.storage import Fitting, Spec, divide, finish, fit_out, install

DESK_WORDS = ("desk", "desk", "writing desk", "office desk", "table", "computer desk")
TABLE_WORDS = ("table", "table", "side table", "console table", "end table", "coffee table")
_APRON = {"drawer": 1.0}
_APRON_ROW = {"drawer": 5.0, "open": 0.6, "fixed": 0.6}
_PEDESTAL = {"drawers": 5.0, "drawer_door": 2.0, "door": 2.0, "open_drawers": 0.8, "open_door": 0.8}


def _spec(objects: tuple[str, ...], columns: tuple[float, ...], programs: dict[str, float]) -> Spec:
    """A specification of what is below a table top; its sizes are set by the body."""
    return Spec("table", objects, (1, 1), (1, 1), (1, 1), columns, programs, {"none": 1.0},
                doors=0.45, most_drawers=4)  # fmt: skip


def _fitting(rng: np.random.Generator, spec: Spec, body: Body, inset: bool) -> Fitting:
    return fit_out(rng, body, divide(rng, spec, body, inset), inset)


def _top(
    make: Assembly, low: tuple[float, float], high: tuple[float, float], z: float, thick: float
) -> None:
    """A table top: rectangular, rounded, or round where it is nearly square."""
    rng = make.rng
    (x0, y0), (x1, y1) = low, high
    nearly = 0.7 < (x1 - x0) / (y1 - y0) < 1.3  # square
    style = choose(rng, {"box": 6, "rounded": 2, "round": 0.4 * nearly})
    if style == "box":
        make.fix(solids.box((x0, y0, z), (x1, y1, z + thick)), make.paints.top)
    elif style == "rounded":
        outline = solids.rounded_rectangle(low, high, rng.uniform(0.02, 0.2), 3)
        make.fix(solids.extrude(outline, "xy", z, z + thick), make.paints.top)
    else:
        radius = 0.62 * max(x1 - x0, y1 - y0)
        make.fix(solids.cylinder((0, 0, z), (0, 0, thick), radius, segments=20), make.paints.top)


def table(rng: np.random.Generator) -> Draft:
    """A table on legs with drawers in its apron."""
    make = Assembly(rng, (WOODS, PAINTS, METALS))
    form = choose(rng, {"side": 3, "console": 2.5, "coffee": 2, "desk": 4, "dining": 0.8})
    sizes = {
        "side": ((0.35, 0.6), (0.35, 0.55), (0.45, 0.75)),
        "console": ((0.8, 1.6), (0.28, 0.45), (0.7, 0.9)),
        "coffee": ((0.7, 1.3), (0.45, 0.8), (0.3, 0.5)),
        "desk": ((0.9, 1.7), (0.45, 0.8), (0.7, 0.8)),
        "dining": ((1.1, 1.8), (0.7, 0.95), (0.7, 0.78)),
    }[form]
    width, depth, height = (rng.uniform(*size) for size in sizes)
    thick = rng.uniform(0.012, 0.05)
    tall = min(rng.uniform(0.08, 0.24), 0.45 * height)
    out = rng.uniform(0.0, 0.06) if chance(rng, 0.8) else 0.0
    wall = rng.uniform(0.012, 0.022)
    body = Body(width - 2 * out, depth - 2 * out, tall, height - thick - tall, wall, True)
    spec = _spec(
        DESK_WORDS if form == "desk" else TABLE_WORDS,
        (5, 2, 1.5, 0.5) if form != "side" else (1,),
        _APRON_ROW if form != "side" else _APRON,
    )
    inset = chance(rng, 0.55)
    fitting = _fitting(rng, spec, body, inset)
    front = 0.0 if inset else fitting.thick
    _top(make, (-width / 2, -depth / 2 - front), (width / 2, depth / 2), height - thick, thick)
    style = choose(rng, {"legs_square": 4, "legs_turned": 4, "sled": 1, "sides": 1, "posts": 3})
    if style == "posts":
        _posts(make, body, height - thick)
    else:
        place(make.builder, carcass.base(rng, style, body, make.paints), STATIC)
    if chance(rng, 0.25) and body.base > 0.3:
        z = body.base * rng.uniform(0.15, 0.4)
        make.fix(solids.box((body.low[0] + 0.02, body.low[1] + 0.02, z),
                            (body.high[0] - 0.02, body.high[1] - 0.02, z + 0.02)),
                 make.paints.body)  # fmt: skip
    leaf, parts = install(rng, make.builder, make.paints, [fitting], leaves.any_look(rng), spec)
    return finish(rng, spec, make.builder, leaf, parts)


def _posts(make: Assembly, body: Body, height: float) -> None:
    """Square legs outside the corners of the apron, up to the table top."""
    size = make.rng.uniform(0.02, 0.045)
    (x0, y0, _), (x1, y1, _) = body.low, body.high
    legs = [
        solids.box((x, y, 0), (x + size, y + size, height))
        for x in (x0 - size, x1)
        for y in (y0 + 0.004, y1 - size)
    ]
    make.fix(np.concatenate(legs), make.paints.trim)


def desk(rng: np.random.Generator) -> Draft:
    """A desk on one or two pedestals, perhaps with a drawer over the knees."""
    make = Assembly(rng, (WOODS, PAINTS, METALS))
    width, depth, height = rng.uniform(1.0, 1.9), rng.uniform(0.5, 0.85), rng.uniform(0.7, 0.8)
    thick = rng.uniform(0.018, 0.05)
    foot = rng.uniform(0.02, 0.12) if chance(rng, 0.45) else 0.0
    wall = rng.uniform(0.012, 0.024)
    out = rng.uniform(0.0, 0.05)
    inset = chance(rng, 0.4)
    single = chance(rng, 0.5)
    side = -1.0 if chance(rng, 0.5) else 1.0
    spec = _spec(DESK_WORDS, (1,), _PEDESTAL)
    fittings: list[Fitting] = []
    share = rng.uniform(0.24, 0.38) if not single else rng.uniform(0.28, 0.5)
    wide = share * (width - 2 * out)
    base_style = choose(rng, {"plinth": 2, "legs_square": 2, "casters": 1}) if foot else "none"
    for s in (side,) if single else (-1.0, 1.0):
        body = Body(wide, depth - out, height - thick - foot, foot, wall, True,
                    s * (width / 2 - out - wide / 2))  # fmt: skip
        fittings.append(_fitting(rng, spec, body, inset))
        place(make.builder, carcass.base(rng, base_style, body, make.paints), STATIC)
    edges = (-width / 2 + out + (wide if side < 0 or not single else 0.05),
             width / 2 - out - (wide if side > 0 or not single else 0.05))  # fmt: skip
    if chance(rng, 0.5):
        tall = rng.uniform(0.07, 0.15)
        body = Body(edges[1] - edges[0], depth - out, tall, height - thick - tall, wall, True,
                    (edges[0] + edges[1]) / 2)  # fmt: skip
        apron = _spec(DESK_WORDS, (4, 1), _APRON)
        fittings.append(_fitting(rng, apron, body, inset))
    front = 0.0 if inset else max(fitting.thick for fitting in fittings)
    low, high = (-width / 2, -(depth - out) / 2 - front - out), (width / 2, (depth - out) / 2)
    make.fix(solids.box((*low, height - thick), (*high, height)), make.paints.top)
    if single:
        x = -side * (width / 2 - out)
        a, b = sorted((x, x + side * 0.04))
        if chance(rng, 0.5):
            make.fix(solids.box((a, -(depth - out) / 2, 0), (b, high[1], height - thick)),
                     make.paints.body)  # fmt: skip
        else:
            legs = [solids.box((a, y, 0), (b, y + 0.04, height - thick))
                    for y in (-(depth - out) / 2, high[1] - 0.04)]  # fmt: skip
            make.fix(np.concatenate(legs), make.paints.trim)
    if chance(rng, 0.4):  # a modesty panel
        z = height * rng.uniform(0.2, 0.6)
        make.fix(solids.box((edges[0], high[1] - 0.02, z), (edges[1], high[1], height - thick)),
                 make.paints.body)  # fmt: skip
    if chance(rng, 0.25):
        _on_desk(make, width, high[1], height)
    leaf, parts = install(rng, make.builder, make.paints, fittings, leaves.any_look(rng), spec)
    return finish(rng, spec, make.builder, leaf, parts)


def _on_desk(make: Assembly, width: float, back: float, height: float) -> None:
    """A shelf, a screen or a row of pigeonholes that stands at the back of a desk."""
    rng = make.rng
    if chance(rng, 0.5):
        tall, deep = rng.uniform(0.15, 0.5), rng.uniform(0.15, 0.28)
        make.fix(
            solids.open_box((-width / 2, back - deep, height), (width / 2, back, height + tall),
                            0.018, "-y"), make.paints.body,
        )  # fmt: skip
        for x in np.linspace(-width / 2, width / 2, int(rng.integers(2, 5)) + 1)[1:-1]:
            make.fix(solids.box((x - 0.008, back - deep, height), (x + 0.008, back, height + tall)),
                     make.paints.body)  # fmt: skip
    else:
        x = rng.uniform(-0.3, 0.3) * width
        make.fix(
            solids.box(
                (x - 0.25, back - 0.2, height + 0.1), (x + 0.25, back - 0.17, height + 0.42)
            ),
            make.paints.dark,
        )
        make.fix(solids.box((x - 0.03, back - 0.2, height), (x + 0.03, back - 0.14, height + 0.2)),
                 make.paints.dark)  # fmt: skip


def tray_desk(rng: np.random.Generator) -> Draft:
    """A plain desk with a keyboard tray that slides out below its top."""
    make = Assembly(rng, (WOODS, PAINTS, METALS))
    width, depth, height = rng.uniform(0.7, 1.4), rng.uniform(0.45, 0.7), rng.uniform(0.7, 0.8)
    thick, cheek = rng.uniform(0.018, 0.035), rng.uniform(0.018, 0.04)
    x0, x1, y0, y1 = -width / 2, width / 2, -depth / 2, depth / 2
    make.fix(solids.box((x0 - 0.01, y0, height - thick), (x1 + 0.01, y1, height)), make.paints.top)
    for a, b in ((x0, x0 + cheek), (x1 - cheek, x1)):
        make.fix(solids.box((a, y0 + 0.03, 0), (b, y1, height - thick)), make.paints.body)
    make.fix(
        solids.box((x0 + cheek, y1 - 0.03, 0.3 * height), (x1 - cheek, y1 - 0.01, height - thick)),
        make.paints.body,
    )
    z = height - thick - rng.uniform(0.07, 0.14)
    near, far = y0 + rng.uniform(0.0, 0.06), y1 - rng.uniform(0.06, 0.2)
    gap = 0.02
    tray = solids.box((x0 + cheek + gap, near, z), (x1 - cheek - gap, far, z + 0.018))
    make.move(tray, make.paints.front)
    if chance(rng, 0.4):
        make.move(
            solids.box(
                (x0 + cheek + gap, near - 0.01, z - 0.01), (x1 - cheek - gap, near, z + 0.035)
            ),
            make.paints.front,
        )
    for a, b in ((x0 + cheek, x0 + cheek + gap), (x1 - cheek - gap, x1 - cheek)):
        make.fix(solids.box((a, near, z - 0.005), (b, far, z + 0.02)), make.paints.metal)
    if chance(rng, 0.4):
        half = rng.uniform(0.18, 0.24)
        make.move(solids.box((-half, near + 0.04, z + 0.018), (half, near + 0.18, z + 0.035)),
                  make.paints.dark)  # fmt: skip
    joint = slider((0, -1, 0), (0, (near + far) / 2, z), (far - near) * rng.uniform(0.45, 0.85))
    parts = ("keyboard tray", "tray", "keyboard shelf", "pull-out shelf", "shelf")
    return make.draft(
        "table",
        joint,
        DESK_WORDS,
        parts,
        (prompts.join(prompts.SLIDE_OUT, prompts.EXTEND), prompts.SLIDE_IN),
    )


def end_table(rng: np.random.Generator) -> Draft:
    """A long table with a drawer in its short end, which faces any way, perhaps one at either."""
    make = Assembly(rng, (WOODS, PAINTS, METALS))
    width, depth, height = rng.uniform(0.4, 0.85), rng.uniform(0.9, 1.7), rng.uniform(0.4, 0.8)
    thick, tall = rng.uniform(0.015, 0.05), rng.uniform(0.08, 0.2)
    out = rng.uniform(0.0, 0.06)
    apron = Body(width - 2 * out, depth - 2 * out, tall, height - thick - tall, 0.018, True)
    low, high = apron.low, apron.high
    spec = _spec(TABLE_WORDS, (5, 1), {"drawer": 4.0, "drawers": 0.5})._replace(most_drawers=2)
    inset = chance(rng, 0.5)
    room = min(rng.uniform(0.35, 0.6), 0.48 * apron.depth)
    body = apron._replace(depth=room, setback=low[1] + room / 2)
    fitting = _fitting(rng, spec, body, inset)
    front = 0.0 if inset else fitting.thick
    _top(make, (-width / 2, -depth / 2 - front), (width / 2, depth / 2 + front), height - thick,
         thick)  # fmt: skip
    make.fix(solids.box((low[0], low[1] + room, low[2]), high), make.paints.body)
    style = choose(rng, {"legs_square": 4, "legs_turned": 3, "posts": 2, "sides": 1})
    if style == "posts":
        _posts(make, apron, height - thick)
    else:
        place(make.builder, carcass.base(rng, style, apron, make.paints), STATIC)
    leaf, _ = install(rng, make.builder, make.paints, [fitting], leaves.any_look(rng), spec)
    if chance(rng, 0.4):  # the like of it at the other end, which stays
        panel = (fitting.opening(0), high[1])
        shut = solids.box((panel[0].x0, panel[1], panel[0].z0),
                          (panel[0].x1, panel[1] + 0.015, panel[0].z1))  # fmt: skip
        make.fix(shut, make.paints.front)
    way = choose(rng, {"front": 1, "left": 2, "right": 2})
    angle = {"front": 0.0, "left": -np.pi / 2, "right": np.pi / 2}[way]
    turned = turn(np.array([0.0, 0.0, 1.0]), angle)
    make.builder.turn(turned)
    joint = slider(turned @ np.array(leaf.joint.axis), turned @ np.array(leaf.joint.origin),
                   leaf.joint.upper)  # fmt: skip
    parts = ["drawer", "drawer", "end drawer", "small drawer"]
    words = prompts.without(phrases.DRAWER, "forward")  # that is out of the table's front
    if way != "front":
        parts += ["side drawer", f"drawer on the {way}", f"drawer on the {way} side"]
        if chance(rng, 0.4):
            towards = prompts.SLIDE_LEFT if way == "left" else prompts.SLIDE_RIGHT
            words = prompts.join(words, towards)
    return make.draft("table", joint, TABLE_WORDS, parts, (words, phrases.DRAWER_BACK))


KINDS = {
    "table": (3.0, table),
    "desk": (3.0, desk),
    "desk tray": (0.4, tray_desk),
    "end table": (0.8, end_table),
}
