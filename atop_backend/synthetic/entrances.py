"""Less common ways in: trapdoors, drawbridges, portcullises, garages, lifts, showers, cages."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import fronts, handles, leaves, phrases, prompts, solids
from atop_backend.synthetic.assembly import Assembly
from atop_backend.synthetic.doorways import Doorway, door_grip, leaf_of, swing_words
from atop_backend.synthetic.draft import Draft, hinge, slider
from atop_backend.synthetic.leaves import Opening
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.pieces import Pieces, chance, choose
from atop_backend.synthetic.prompts import join, words


def _lay(pieces: Pieces, level: float) -> Pieces:
    """Upright pieces laid on their backs: what faced -Y faces up, what was up points to +Y."""
    laid = []
    for triangles, paint in pieces:
        flat = triangles[..., [0, 2, 1]].copy()
        flat[..., 2] = level - flat[..., 2]
        laid.append((flat, paint))
    return laid


def trapdoor(rng: np.random.Generator) -> Draft:
    """A hatch in a floor, lifted about one edge, with one leaf or two."""
    make = Assembly(rng, (WOODS, METALS, PAINTS))
    width, depth = rng.uniform(0.6, 1.4), rng.uniform(0.6, 1.3)
    thick, floor = rng.uniform(0.02, 0.06), rng.uniform(0.05, 0.4)
    rim = rng.uniform(0.05, 0.4)
    x, y = width / 2, depth / 2
    make.fix(
        solids.frame((-x - rim, -y - rim, 0), (x + rim, y + rim, floor),
                     (-x + 0.02, -y + 0.02, 0), (x - 0.02, y - 0.02, 0), "z"),
        make.paints.body,
    )  # fmt: skip
    style = choose(rng, {"planks": 4, "slab": 3, "shaker": 1, "raised": 1})
    side = choose(rng, {"back": 5, "left": 2, "right": 2})
    low, high = np.array([-x, 0.0, -y]), np.array([x, thick, y])
    pieces = fronts.front(rng, style, low, high, make.paints)
    grip = choose(rng, {"ring": 3, "u": 2, "bar": 1, "none": 1})
    spot = {"back": (0.0, -0.8 * y), "left": (0.8 * x, 0.0), "right": (-0.8 * x, 0.0)}[side]
    at = (spot[0], 0.0, spot[1])
    pieces += handles.handle(rng, grip, at, side == "back", 0.2, make.paints)
    level = floor + thick
    make.move_all(_lay(pieces, level))
    z = floor if chance(rng, 0.7) else level
    axes = {"back": (-1, 0, 0), "left": (0, -1, 0), "right": (0, 1, 0)}
    origins = {"back": (0, y, z), "left": (-x, 0, z), "right": (x, 0, z)}
    most = 90 if z == floor else 115  # the floor behind is in the way of a low hinge
    joint = hinge(axes[side], origins[side], np.radians(rng.uniform(60, most)))
    if chance(rng, 0.5):
        pin = {"back": ((-0.6 * x, y, z), (1.2 * x, 0, 0))}.get(
            side, ((origins[side][0], -0.6 * y, z), (0, 1.2 * y, 0))
        )
        make.fix(solids.cylinder(*pin, 0.012, segments=8), make.paints.metal)
    there = join(prompts.LIFT, prompts.OPEN)
    if side != "back":
        there = join(there, words(f"opens, hinged on the {side}|lifts open to the {side}"))
    parts = ("trapdoor", "hatch", "trapdoor", "lid", "cellar door")
    objects = ("floor", "cellar") if chance(rng, 0.2) else ()
    return make.draft("trapdoor", joint, objects, parts, (there, prompts.LOWER))


def _gatehouse(
    rng: np.random.Generator, make: Assembly, width: float, height: float, deep: float
) -> None:
    """Two piers and a lintel, perhaps with battlements."""
    pier, above = rng.uniform(0.2, 0.6), rng.uniform(0.3, 1.0)
    x = width / 2
    blocks = [
        solids.box((-x - pier, -deep / 2, 0), (-x, deep / 2, height + above)),
        solids.box((x, -deep / 2, 0), (x + pier, deep / 2, height + above)),
        solids.box((-x, -deep / 2, height), (x, -deep / 2 + 0.3 * deep, height + above)),
        solids.box((-x, deep / 2 - 0.3 * deep, height), (x, deep / 2, height + above)),
    ]
    if chance(rng, 0.5):
        merlon = (2 * x + 2 * pier) / 9
        blocks += [
            solids.box((-x - pier + 2 * i * merlon, -deep / 2, height + above),
                       (-x - pier + (2 * i + 1) * merlon, -0.2 * deep, height + above + merlon))
            for i in range(5)
        ]  # fmt: skip
    make.fix(np.concatenate(blocks), make.paints.body)


def portcullis(rng: np.random.Generator) -> Draft:
    """A grid of bars that rises between piers."""
    make = Assembly(rng, (METALS, WOODS))
    width, height = rng.uniform(1.5, 3.0), rng.uniform(1.8, 3.2)
    deep = rng.uniform(0.4, 0.9)
    _gatehouse(rng, make, width, height, deep)
    bar = rng.uniform(0.02, 0.05)
    columns, rows = int(rng.integers(4, 9)), int(rng.integers(3, 8))
    grid = []
    for x in np.linspace(-0.46 * width, 0.46 * width, columns):
        grid.append(solids.box((x - bar, -bar, 0.08), (x + bar, bar, height)))
        grid.append(solids.cylinder((x, 0, 0.08), (0, 0, -0.08), bar, 0.002, segments=4))
    for z in np.linspace(0.2, 0.97 * height, rows):
        grid.append(
            solids.box((-0.495 * width, -0.8 * bar, z - bar), (0.495 * width, 0.8 * bar, z + bar))
        )
    make.move(np.concatenate(grid), make.paints.metal)
    joint = slider((0, 0, 1), (0, 0, height / 2), height * rng.uniform(0.5, 0.9))
    there = join(prompts.SLIDE_UP, words("opens|is raised|is winched up", "raise {}|open {}"))
    parts = ("portcullis", "gate", "grille", "castle gate")
    return make.draft("portcullis", joint, (), parts, (there, prompts.SLIDE_DOWN))


def drawbridge(rng: np.random.Generator) -> Draft:
    """A bridge that stands upright before a gate and is let down about its lower edge."""
    make = Assembly(rng, (WOODS, METALS))
    width, height = rng.uniform(1.4, 2.8), rng.uniform(1.8, 3.2)
    deep, thick = rng.uniform(0.4, 0.9), rng.uniform(0.06, 0.15)
    _gatehouse(rng, make, width, height, deep)
    y = -deep / 2
    opening = Opening(-0.49 * width, 0.49 * width, 0.02, height * 0.99, y - thick, y)
    make.move_all(leaf_of(rng, opening, choose(rng, {"planks": 4, "slab": 1}), make.paints))
    for share in (0.15, 0.85):
        z = share * height
        beam = solids.box((-0.49 * width, y - thick - 0.03, z - 0.05),
                          (0.49 * width, y - thick, z + 0.05))  # fmt: skip
        make.move(beam, make.paints.metal)
    ground = rng.uniform(0.1, 0.3)
    make.fix(solids.box((-0.9 * width, y, -ground), (0.9 * width, deep / 2, 0)), make.paints.inside)
    joint = hinge((1, 0, 0), (0, y, 0.02), np.radians(rng.uniform(75, 90)))
    parts = ("drawbridge", "bridge", "drawbridge", "castle gate")
    return make.draft("drawbridge", joint, (), parts, (prompts.FOLD_DOWN, prompts.FOLD_UP))


def garage_door(rng: np.random.Generator) -> Draft:
    """A garage door of one piece that swings up about its upper edge."""
    make = Assembly(rng, (PAINTS, WOODS, METALS))
    way = Doorway()
    width, height = rng.uniform(2.2, 4.5), rng.uniform(1.9, 2.4)
    side, deep = rng.uniform(0.15, 0.6), rng.uniform(0.15, 0.5)
    x = width / 2
    walls = [
        solids.box((-x - side, -deep / 2, 0), (-x, deep / 2, height + side)),
        solids.box((x, -deep / 2, 0), (x + side, deep / 2, height + side)),
        solids.box((-x, -deep / 2, height), (x, deep / 2, height + side)),
    ]
    way.fixed.append((np.concatenate(walls), make.paints.body))
    y = -deep / 2 - 0.002
    opening = Opening(-x + 0.01, x - 0.01, 0.01, height - 0.01, y, y + 0.05)
    style = choose(rng, {"slab": 2, "planks": 2, "shaker": 1, "double_panel": 1, "louvre": 1})
    way.moving += leaf_of(rng, opening, style, make.paints)
    way.moving += handles.handle(rng, "bar", (0.0, y, 0.3 * height), True, 0.3, make.paints)
    joint = leaves.hinge_joint(opening, "top", "outer", np.radians(rng.uniform(60, 90)))
    joint = way.finish(make, joint, chance(rng, 0.2))
    there = words("swings up|opens|opens upward|tilts up|is lifted|goes up",
                  "open {}|lift {}|swing {} up")  # fmt: skip
    parts = ("garage door", "door", "up-and-over door", "gate")
    return make.draft("garage door", joint, (), parts, (there, prompts.LOWER))


def lift_door(rng: np.random.Generator) -> Draft:
    """Two lift doors that part in the middle; one of them moves."""
    make = Assembly(rng, (METALS, PAINTS))
    width, height = rng.uniform(0.9, 1.4), rng.uniform(2.0, 2.3)
    pocket, deep = 0.55 * width, rng.uniform(0.12, 0.3)
    x = width / 2
    for s in (-1, 1):
        a, b = sorted((s * x, s * (x + pocket)))
        make.fix(solids.box((a, -deep / 2, 0), (b, -deep / 2 + 0.03, height + 0.3)),
                 make.paints.body)  # fmt: skip
        make.fix(solids.box((a, deep / 2 - 0.03, 0), (b, deep / 2, height + 0.3)), make.paints.body)
    make.fix(solids.box((-x, -deep / 2, height), (x, deep / 2, height + 0.3)), make.paints.body)
    if chance(rng, 0.6):
        z = 0.48 * height
        make.fix(solids.box((x + 0.1, -deep / 2 - 0.012, z - 0.1), (x + 0.2, -deep / 2, z + 0.1)),
                 make.paints.metal)  # fmt: skip
    side = "left" if chance(rng, 0.5) else "right"
    for name, x0, x1 in (("left", -x, 0.0), ("right", 0.0, x)):
        panel = solids.box((x0 + 0.002, -0.02, 0.005), (x1 - 0.002, 0.02, height - 0.002))
        (make.move if name == side else make.fix)(panel, make.paints.front)
    sign = -1.0 if side == "left" else 1.0
    joint = slider((sign, 0, 0), (sign * x / 2, 0, height / 2), x * rng.uniform(0.8, 0.98))
    parts = ("elevator door", f"{side} elevator door", f"{side} door", "lift door", "door",
             f"door on the {side}")  # fmt: skip
    words_ = phrases.slide_sideways(rng, side == "right")
    return make.draft("elevator door", joint, (), parts, words_)


def shower(rng: np.random.Generator) -> Draft:
    """A shower cabin of glass whose door swings or slides."""
    make = Assembly(rng, (METALS, PAINTS))
    width, depth, height = rng.uniform(0.8, 1.4), rng.uniform(0.75, 1.0), rng.uniform(1.8, 2.1)
    tray = rng.uniform(0.04, 0.15)
    x, y = width / 2, depth / 2
    make.fix(solids.box((-x, -y, 0), (x, y, tray)), make.paints.trim)
    thin = 0.012
    for s in (-1, 1):
        a, b = sorted((s * x, s * (x - thin)))
        make.fix(solids.box((a, -y + 0.02, tray), (b, y, height)), make.paints.glass)
        a, b = sorted((s * x, s * (x - 0.03)))
        make.fix(solids.box((a, -y, tray), (b, -y + 0.03, height)), make.paints.metal)
    if chance(rng, 0.7):
        make.fix(solids.box((-x, y - 0.02, tray), (x, y, height)), make.paints.body)
    make.fix(solids.box((-x, -y, height), (x, -y + 0.03, height + 0.03)), make.paints.metal)
    share = rng.uniform(0.45, 0.6)
    side = "left" if chance(rng, 0.5) else "right"
    split = -x + share * width if side == "left" else x - share * width
    slides = chance(rng, 0.45)
    spans = {"left": (-x + 0.03, split), "right": (split, x - 0.03)}
    moving = Opening(*spans[side], tray + 0.01, height - 0.005, -y + 0.002, -y + 0.002 + thin)
    other = spans["right" if side == "left" else "left"]
    make.fix(solids.box((other[0], -y + 0.018, tray), (other[1], -y + 0.018 + thin, height)),
             make.paints.glass)  # fmt: skip
    make.move(solids.box((moving.x0, moving.y0, moving.z0), (moving.x1, moving.y1, moving.z1)),
              make.paints.glass)  # fmt: skip
    grip_side = ("right" if side == "left" else "left") if slides else side
    make.move_all(door_grip(rng, moving, grip_side, make.paints, 0.5))
    parts = ("door", "door", "glass door", "panel")
    objects = ("shower", "shower cabin", "shower enclosure")
    if slides:
        right = side == "left"
        travel = moving.width * rng.uniform(0.6, 0.9)
        joint = slider((1 if right else -1, 0, 0), moving.centre, travel)
        return make.draft("shower", joint, objects, parts, phrases.slide_sideways(rng, right))
    joint = leaves.hinge_joint(moving, side, "outer", np.radians(rng.uniform(70, 110)))  # type: ignore[arg-type]
    return make.draft("shower", joint, objects, parts, swing_words(rng, side, False))  # type: ignore[arg-type]


def cage(rng: np.random.Generator) -> Draft:
    """A cage of bars, for an animal or a prisoner, with a barred door in its front."""
    make = Assembly(rng, (METALS, WOODS, PAINTS))
    width, depth, height = rng.uniform(0.5, 2.0), rng.uniform(0.4, 1.6), rng.uniform(0.5, 2.0)
    bar = 0.008 * max(width, height)
    x, y = width / 2, depth / 2
    make.fix(solids.box((-x, -y, 0), (x, y, 4 * bar)), make.paints.body)
    if chance(rng, 0.8):
        make.fix(solids.box((-x, -y, height - 3 * bar), (x, y, height)), make.paints.body)
    span = rng.uniform(0.3, 0.6) * width
    at = rng.uniform(-x + 0.1 * width, x - 0.1 * width - span)
    z0, z1 = (4 * bar, height - 3 * bar) if chance(rng, 0.5) else (0.15 * height, 0.75 * height)
    door = Opening(at, at + span, z0, z1, -y, -y + 2 * bar)
    bars = []
    for px in np.linspace(-x + bar, x - bar, int(rng.integers(6, 13))):
        bars.append(solids.box((px - bar, y - 2 * bar, 0), (px + bar, y, height)))
        inside = door.x0 < px < door.x1
        if not inside:
            bars.append(solids.box((px - bar, -y, 0), (px + bar, -y + 2 * bar, height)))
        elif z0 > 4 * bar:
            bars.append(solids.box((px - bar, -y, 0), (px + bar, -y + 2 * bar, z0)))
            bars.append(solids.box((px - bar, -y, z1), (px + bar, -y + 2 * bar, height)))
    for py in np.linspace(-y + bar, y - bar, int(rng.integers(4, 9))):
        for s in (-1, 1):
            a, b = sorted((s * x, s * (x - 2 * bar)))
            bars.append(solids.box((a, py - bar, 0), (b, py + bar, height)))
    make.fix(np.concatenate(bars), make.paints.metal)
    make.fix(
        solids.frame(
            (door.x0 - 2 * bar, -y, z0 - bar),
            (door.x1 + 2 * bar, -y + 2 * bar, z1 + bar),
            (door.x0, 0, z0),
            (door.x1, 0, z1),
            "y",
        ),
        make.paints.metal,
    )
    leaf = door.shrunk(0.3 * bar)
    rim = 2 * bar
    grid = [
        solids.frame(
            (leaf.x0, leaf.y0, leaf.z0),
            (leaf.x1, leaf.y1, leaf.z1),
            (leaf.x0 + rim, 0, leaf.z0 + rim),
            (leaf.x1 - rim, 0, leaf.z1 - rim),
            "y",
        )
    ]
    for px in np.linspace(leaf.x0, leaf.x1, int(rng.integers(3, 7)) + 2)[1:-1]:
        grid.append(solids.box((px - bar, leaf.y0, leaf.z0), (px + bar, leaf.y1, leaf.z1)))
    make.move(np.concatenate(grid), make.paints.front)
    objects = ("cage", "animal cage", "crate") if height < 1.3 else ("prison cell", "cell", "cage")
    parts = ("door", "small door", "barred door", "gate")
    side = "left" if chance(rng, 0.5) else "right"
    lock = leaf.x1 - bar if side == "left" else leaf.x0 + bar
    z = leaf.z0 + 0.5 * leaf.height
    make.move(
        solids.box(
            (lock - 2.5 * bar, -y - 2 * bar, z - 4 * bar), (lock + 2.5 * bar, -y, z + 4 * bar)
        ),
        make.paints.handle,
    )
    upper = np.radians(np.clip(rng.normal(95, 18), 60, 140))
    joint = leaves.hinge_joint(leaf, side, "outer", upper)  # type: ignore[arg-type]
    return make.draft("cage", joint, objects, parts, phrases.swing(rng, side))


def revolving_door(rng: np.random.Generator) -> Draft:
    """Wings that turn about an upright shaft between curved walls."""
    make = Assembly(rng, (METALS, PAINTS))
    radius, height = rng.uniform(0.9, 1.5), rng.uniform(2.0, 2.5)
    for start in (-0.25, 0.75):  # of half a turn: the walls stand left and right
        angles = np.pi * (start + np.linspace(0.0, 0.5, 9))
        arc = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        outline = np.concatenate([(radius + 0.03) * arc, radius * arc[::-1]])
        make.fix(solids.extrude(outline, "xy", 0.0, height), make.paints.glass)
    make.fix(
        solids.cylinder((0, 0, height), (0, 0, rng.uniform(0.1, 0.3)), radius + 0.05, segments=24),
        make.paints.trim,
    )
    wings = int(rng.choice([2, 3, 4], p=[0.15, 0.35, 0.5]))
    first = rng.uniform(0.0, np.pi)
    rim = rng.uniform(0.04, 0.09)
    for angle in first + np.arange(wings) * (2 * np.pi / wings):
        low, high = (0.03, -0.015, 0.02), (radius - 0.03, 0.015, height - 0.03)
        ring = solids.frame(low, high, (low[0] + rim, 0, low[2] + rim),
                            (high[0] - rim, 0, high[2] - rim), "y")  # fmt: skip
        pane = solids.box(
            (low[0] + rim, -0.004, low[2] + rim), (high[0] - rim, 0.004, high[2] - rim)
        )
        for solid, paint in ((ring, make.paints.front), (pane, make.paints.glass)):
            make.move(solids.rotate(solid, (0, 0, 1), angle, (0, 0, 0)), paint)
    make.move(solids.cylinder((0, 0, 0.02), (0, 0, height - 0.05), 0.04, segments=10),
              make.paints.metal)  # fmt: skip
    joint = hinge((0, 0, 1), (0, 0, height / 2), np.radians(rng.uniform(60, 180)))
    parts = ("door", "revolving door", "door", "rotor", "turning door")
    turning = join(
        prompts.TURN, words("revolves|spins|goes round|is pushed round", "push {} round")
    )
    return make.draft("revolving door", joint, (), parts, (turning, None), directed=False)


def pet_flap(rng: np.random.Generator) -> Draft:
    """A small flap in the lower part of a door or wall, hinged at its upper edge."""
    make = Assembly(rng, (PAINTS, WOODS, METALS))
    way = Doorway()
    width, height = rng.uniform(0.5, 1.0), rng.uniform(0.7, 2.1)
    thick = rng.uniform(0.03, 0.06)
    wide, tall = rng.uniform(0.15, 0.3), rng.uniform(0.18, 0.35)
    x = rng.uniform(-0.5, 0.5) * (width - wide - 0.15)
    z = rng.uniform(0.06, 0.16)
    hole = Opening(x - wide / 2, x + wide / 2, z, z + tall, -thick / 2, thick / 2)
    board = solids.frame((-width / 2, -thick / 2, 0), (width / 2, thick / 2, height),
                         (hole.x0, 0, hole.z0), (hole.x1, 0, hole.z1), "y")  # fmt: skip
    way.fixed.append((board, make.paints.front))
    rim = rng.uniform(0.015, 0.035)
    ring = solids.frame((hole.x0 - rim, -thick / 2 - 0.012, hole.z0 - rim),
                        (hole.x1 + rim, -thick / 2, hole.z1 + rim),
                        (hole.x0, 0, hole.z0), (hole.x1, 0, hole.z1), "y")  # fmt: skip
    way.fixed.append((ring, make.paints.trim))
    if height > 1.5 and chance(rng, 0.7):
        big = Opening(-width / 2, width / 2, 0.0, height, -thick / 2, thick / 2)
        way.fixed += door_grip(rng, big, "left", make.paints, 0.5)
    y = -thick / 2 - 0.006
    flap = hole.shrunk(0.004)._replace(y0=y, y1=y + 0.008)
    way.moving.append((solids.box((flap.x0, flap.y0, flap.z0), (flap.x1, flap.y1, flap.z1)),
                       make.paints.glass))  # fmt: skip
    joint = leaves.hinge_joint(flap, "top", "outer", np.radians(rng.uniform(40, 85)))
    inwards = chance(rng, 0.5)
    joint = way.finish(make, joint, inwards)
    there = words(
        "swings inward|swings in|lifts|opens|is pushed in|swings up"
        if inwards
        else "swings outward|swings out|lifts|opens|swings up|is lifted",
        "push {} open|lift {}|open {}",
    )
    parts = ("flap", "pet flap", "cat flap", "dog door", "flap")
    back = words("falls shut|swings shut|closes", "close {}")
    return make.draft("pet flap", joint, ("door", "wall"), parts, (there, back))


KINDS = {
    "trapdoor": (0.6, trapdoor),
    "portcullis": (0.3, portcullis),
    "drawbridge": (0.3, drawbridge),
    "garage door": (0.35, garage_door),
    "elevator door": (0.3, lift_door),
    "shower": (0.5, shower),
    "cage": (0.5, cage),
    "revolving door": (0.3, revolving_door),
    "pet flap": (0.25, pet_flap),
}
