"""Washing machines and dryers."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import leaves, prompts, solids
from atop_backend.synthetic.appliances import knobs, window_door
from atop_backend.synthetic.assembly import Assembly, feet, niche
from atop_backend.synthetic.draft import Draft, hinge
from atop_backend.synthetic.leaves import Leaf, Opening, hinge_joint
from atop_backend.synthetic.pieces import Pieces, chance, choose

WASHER_WORDS = ("washing machine", "washer", "washing machine", "front loader")
DRYER_WORDS = ("dryer", "tumble dryer", "clothes dryer")


def plate_with_round_hole(
    low: tuple[float, float],
    high: tuple[float, float],
    centre: tuple[float, float],
    radius: float,
    y: float,
) -> np.ndarray:
    """A flat rectangle in the xz plane that faces -Y, with a round hole: 48 triangles."""
    angles = np.arange(24) * (2 * np.pi / 24)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    square = circle / np.abs(circle).max(axis=1, keepdims=True)
    middle = np.array(centre)
    inner = middle + radius * circle
    room = np.where(square > 0, np.array(high) - middle, middle - np.array(low))
    outer = middle + square * room
    points = np.full((2, 24, 3), y)
    points[0][:, [0, 2]], points[1][:, [0, 2]] = inner, outer
    near, far = points
    return np.concatenate(
        [
            np.stack([near, far, np.roll(far, -1, axis=0)], axis=1),
            np.stack([near, np.roll(far, -1, axis=0), np.roll(near, -1, axis=0)], axis=1),
        ]
    )


def _round_door(
    make: Assembly, centre: np.ndarray, radius: float, thick: float, side: str, bulge: float
) -> Leaf:
    """A round door with a thick rim and a bowl of glass, hinged beside its edge."""
    rng, (x, y, z) = make.rng, centre
    hole = radius * rng.uniform(0.6, 0.85)
    crown = rng.uniform(0.6, 1.0)
    ring = [
        (hole, 0.0), (radius, 0.0), (radius, crown * thick), (0.5 * (radius + hole), thick),
        (hole, 0.7 * thick), (hole, 0.0),
    ]  # fmt: skip
    # The lathe runs along +Y: turn the profile over so that it stands out towards the viewer.
    turned = [(r, -h) for r, h in ring[::-1]]
    pieces: Pieces = [(solids.lathe(turned, (x, y, z), "y", 22), make.paints.front)]
    style = choose(rng, {"bowl": 3, "dome": 2, "flat": 1.5})
    if style == "flat":
        pane = solids.cylinder((x, y - 0.5 * thick, z), (0, 0.3 * thick, 0), hole, segments=18)
    else:
        depth = bulge if style == "bowl" else -0.9 * thick
        reach = np.linspace(0.0, 1.0, 4)
        bowl = [(hole * np.sqrt(1 - t**2), depth * t - 0.3 * thick) for t in reach]
        bowl[-1] = (0.0, bowl[-1][1])
        pane = solids.lathe(bowl, (x, y, z), "y", 18)
    pieces.append((pane, make.paints.glass))
    grip = 1.0 if side == "left" else -1.0
    grasp = choose(rng, {"block": 3, "recess": 2, "none": 1.5})
    if grasp != "none":
        out, tall = (0.02, 0.2) if grasp == "block" else (0.003, 0.25)
        a, b = sorted((x + grip * 0.8 * radius, x + grip * 0.99 * radius))
        block = solids.box(
            (a, y - thick - out, z - tall * radius), (b, y - 0.5 * thick, z + tall * radius)
        )
        pieces.append((block, make.paints.handle if grasp == "block" else make.paints.dark))
    off = rng.uniform(0.0, 0.12) * radius
    depth_line = y if chance(rng, 0.5) else y - rng.uniform(0.2, 0.6) * thick
    line = np.array([x - grip * (radius + off), depth_line, z])
    fixed: Pieces = []
    if chance(rng, 0.6 if grasp != "none" else 0.9):
        tall = rng.uniform(0.25, 0.5) * radius
        arm = sorted((line[0], x - grip * 0.9 * radius))
        pieces.append(
            (
                solids.box(
                    (arm[0], y - 0.7 * thick, z - tall / 2), (arm[1], y - 0.1 * thick, z + tall / 2)
                ),
                make.paints.front,
            )
        )
        fixed.append(
            (solids.cylinder((line[0], line[1], z - 0.65 * tall), (0, 0, 1.3 * tall), 0.014,
                             segments=8), make.paints.metal)
        )  # fmt: skip
    upper = np.radians(np.clip(rng.normal(110, 22), 70, 165))
    if off < 0.01:
        upper = min(upper, np.radians(120))
    return Leaf(pieces, fixed, hinge((0, 0, -grip), line, upper), side)


def washer(rng: np.random.Generator) -> Draft:
    """A front-loading washing machine or dryer: a round or square door, knob, soap drawer."""
    make = Assembly(rng)
    dryer = chance(rng, 0.3)
    width, depth, height = rng.uniform(0.55, 0.72), rng.uniform(0.48, 0.75), rng.uniform(0.8, 1.05)
    base = rng.uniform(0.0, 0.04)
    low, high = np.array([-width / 2, -depth / 2, base]), np.array([width / 2, depth / 2, height])
    panel = rng.uniform(0.09, 0.17)
    top = high[2] - panel
    if base > 0.008:
        make.fix(feet(low, high, base, 0.02), make.paints.dark)
    square = chance(rng, 0.4 if dryer else 0.07)
    radius = min(width, top - low[2]) * rng.uniform(0.27, 0.44)
    cx = rng.uniform(-0.5, 0.5) * (0.45 * width - radius) if chance(rng, 0.2) else 0.0
    cz = low[2] + (top - low[2]) * rng.uniform(0.5, 0.6)
    cz = float(np.clip(cz, low[2] + 1.05 * radius, top - 1.03 * radius))
    side = "left" if chance(rng, 0.55) else "right"
    if square and dryer and chance(rng, 0.25):
        side = "bottom"
    y = low[1]
    if square:
        half = radius * rng.uniform(0.85, 1.05)
        thick = rng.uniform(0.02, 0.05)
        opening = Opening(cx - half, cx + half, cz - half, cz + half, y - thick, y)
        mouth = (cx - 0.8 * half, cx + 0.8 * half, cz - 0.8 * half, cz + 0.8 * half)
        make.fix(niche(low, high, mouth, 0.7 * depth), make.paints.body)
        pieces = window_door(rng, opening, make.paints, 0.35, 0.2)
        look = leaves.any_look(rng, appliance=True)._replace(handle_length=0.4)
        pieces += leaves.door_handle(rng, opening, side, look, make.paints)  # type: ignore[arg-type]
        most = 90 if side == "bottom" else 160
        upper = np.radians(np.clip(rng.normal(105, 20), 70, most))
        leaf = Leaf(pieces, [], hinge_joint(opening, side, look.line, upper), side)  # type: ignore[arg-type]
    else:
        _drum_body(make, low, high, cx, cz, radius)
        bulge = rng.uniform(0.02, 0.12)
        leaf = _round_door(
            make, np.array([cx, y, cz]), radius, rng.uniform(0.02, 0.07), side, bulge
        )
    soap = chance(rng, 0.2 if dryer else 0.75)
    target = choose(rng, {"door": 8.0, "soap": 1.0 if soap else 0.0, "knob": 0.6})
    make.put(leaf, moving=target == "door")
    other = _washer_panel(make, low, high, top, panel, soap, target, dryer)
    objects = DRYER_WORDS if dryer else WASHER_WORDS
    if other is not None:
        return other
    return make.draft_leaf(
        "dryer" if dryer else "washing machine", leaf, objects, ("door", "door", "round door")
        if not square else ("door",),
    )  # fmt: skip


def _drum_body(
    make: Assembly, low: np.ndarray, high: np.ndarray, cx: float, cz: float, radius: float
) -> None:
    """A cabinet whose front has a round hole into a drum."""
    hole, deep = 0.8 * radius, 0.7 * (high[1] - low[1])
    walls = solids.box(low, high)
    make.fix(np.delete(walls, [4, 5], axis=0), make.paints.body)  # all but the front
    front = plate_with_round_hole(
        (low[0], low[2]), (high[0], high[2]), (cx, cz), hole, float(low[1])
    )
    make.fix(front, make.paints.body)
    drum = [(hole, 0.0), (1.05 * hole, 0.3 * deep), (1.05 * hole, deep), (0.0, deep)]
    inside = solids.lathe(drum, (cx, low[1], cz), "y", 20)[:, ::-1]
    make.fix(inside, make.paints.metal)


def _washer_panel(
    make: Assembly,
    low: np.ndarray,
    high: np.ndarray,
    z: float,
    tall: float,
    soap: bool,
    target: str,
    dryer: bool,
) -> Draft | None:
    """The strip above the door; a draft if something on it moves."""
    rng = make.rng
    y = low[1] - rng.uniform(0.001, 0.02)
    x0, x1 = low[0] + 0.004, high[0] - 0.004
    objects = DRYER_WORDS if dryer else WASHER_WORDS
    width = x1 - x0
    soap_x = x0 + width * rng.uniform(0.25, 0.4) if soap else x0
    make.fix(solids.box((soap_x, y, z), (x1, low[1], high[2] - 0.004)), make.paints.trim)
    middle = z + tall / 2
    if chance(rng, 0.7):
        a = soap_x + rng.uniform(0.45, 0.6) * (x1 - soap_x)
        make.fix(
            solids.box((a, y - 0.002, middle - 0.25 * tall), (x1 - 0.03, y, middle + 0.25 * tall)),
            make.paints.dark,
        )
    result = None
    if target == "knob" or chance(rng, 0.75):
        x = soap_x + 0.25 * (x1 - soap_x)
        axis = knobs(make, [(x, middle)], y, 0.34 * tall, 0 if target == "knob" else None)
        if axis is not None:
            joint = hinge((0, -1, 0), axis, np.radians(rng.uniform(60, 270)))
            result = make.draft(
                "washing machine knob", joint, objects,
                ("knob", "dial", "program knob", "control knob"), (prompts.TURN, None), False,
            )  # fmt: skip
    if soap:
        opening = Opening(x0, soap_x, z, high[2] - 0.004, y, low[1] + 0.005).shrunk(0.003)
        look = leaves.any_look(rng, appliance=True)._replace(drawer="slab", handle_length=0.5)
        room = 0.6 * (high[1] - low[1])
        leaf = leaves.drawer(rng, opening, room, look, make.paints, clearance=0.012)
        make.put(leaf, moving=target == "soap")
        if target == "soap":
            parts = ("drawer", "detergent drawer", "soap drawer", "drawer")
            result = make.draft_leaf("washing machine", leaf, objects, parts)
    return result


def top_loader(rng: np.random.Generator) -> Draft:
    """A washing machine with a lid on top, hinged at the back or at one side."""
    make = Assembly(rng)
    width, depth, height = rng.uniform(0.4, 0.72), rng.uniform(0.5, 0.72), rng.uniform(0.8, 1.0)
    low, high = np.array([-width / 2, -depth / 2, 0.0]), np.array([width / 2, depth / 2, height])
    console = rng.uniform(0.08, 0.2) if chance(rng, 0.85) else 0.0
    back = high[1] - (rng.uniform(0.1, 0.18) if console else 0.01)
    if console:
        slope = rng.uniform(0.2, 0.9)
        section = [(back, height), (high[1], height), (high[1], height + console),
                   (back + slope * (high[1] - back), height + console)]  # fmt: skip
        make.fix(solids.extrude(section, "yz", low[0], high[0]), make.paints.trim)
        count = int(rng.integers(1, 4))
        for share in (np.arange(count) + 0.7) / (count + 0.4):
            y = back + 0.35 * slope * (high[1] - back)
            at = (low[0] + share * width, y, height + 0.4 * console)
            make.fix(solids.cylinder(at, (0, -0.03, 0.0), 0.03, segments=10), make.paints.handle)
    margin = rng.uniform(0.0, 0.06)
    thick = rng.uniform(0.008, 0.03)
    x0, x1 = low[0] + margin, high[0] - margin
    y0, y1 = low[1] + max(0.01, margin), back - 1.3 * thick - 0.004
    hole = np.array([[x0 + 0.05, y0 + 0.05], [x1 - 0.05, y1 - 0.05]])
    deep = 0.5 * height
    upright = niche((low[0], -height, low[1]), (high[0], 0.0, high[1]),
                    (hole[0, 0], hole[1, 0], hole[0, 1], hole[1, 1]), deep)  # fmt: skip
    body = upright[..., [0, 2, 1]] * np.array([1.0, 1.0, -1.0])  # front to the top
    make.fix(body, make.paints.body)
    lid = solids.box((x0, y0, height), (x1, y1, height + thick))
    make.move(lid, make.paints.front)
    if chance(rng, 0.5):
        pane = solids.box((x0 + 0.05, y0 + 0.06, height + thick),
                          (x1 - 0.05, y1 - 0.05, height + thick + 0.002))  # fmt: skip
        make.move(pane, make.paints.glass)
    side = choose(rng, {"back": 8.5, "left": 1.0})
    if chance(rng, 0.6):
        grip = rng.uniform(0.04, 0.12)
        if side == "back":
            make.move(solids.box((-grip, y0 - 0.018, height), (grip, y0, height + 0.8 * thick)),
                      make.paints.handle)  # fmt: skip
        else:
            make.move(
                solids.box((x1 - 0.03, -grip, height + thick), (x1, grip, height + thick + 0.015)),
                make.paints.handle,
            )
    upper = np.radians(rng.uniform(70, 100))
    if side == "back":
        joint = hinge((-1, 0, 0), ((x0 + x1) / 2, y1, height + rng.choice([0, thick])), upper)
    else:
        joint = hinge((0, -1, 0), (x0, (y0 + y1) / 2, height + rng.choice([0, thick])), upper)
    objects = ("washing machine", "washer", "top loader", "top loading washer")
    parts = ("lid", "lid", "door", "top lid", "cover")
    words = prompts.join(prompts.LIFT, prompts.OPEN)
    return make.draft("washing machine", joint, objects, parts, (words, prompts.LOWER))


KINDS = {
    "washing machine": (3.0, washer),
    "top loader": (0.7, top_loader),
}
