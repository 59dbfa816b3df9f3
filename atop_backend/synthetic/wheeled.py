"""Carts, trolleys, wheelbarrows, cars, bicycles: wheels spin about their axles."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import palette
from atop_backend.synthetic import prompts as say
from atop_backend.synthetic.draft import Draft, hinge
from atop_backend.synthetic.sketch import HOUSEHOLD, Sketch
from atop_backend.synthetic.solids import (
    box,
    cylinder,
    extrude,
    frame,
    open_box,
    tube,
)

PAINTED = (*HOUSEHOLD, palette.WOODS)


def wheel(s: Sketch, hub, out: float, radius: float, thick: float, style: int, moves: bool) -> None:
    """A wheel with its axle along x, from `hub` outwards (`out` is -1 or 1)."""
    direction = np.array((out * thick, 0.0, 0.0))
    if style == 0:  # plain disc with a hub
        s.add(cylinder(hub, direction, radius, segments=20), "dark", moves)
        s.add(cylinder(hub, direction * 1.08, radius * 0.55, segments=12), "metal", moves)
    elif style == 1:  # spokes
        angles = np.linspace(0, 2 * np.pi, 18, endpoint=False)
        middle = np.array(hub) + direction / 2
        rim = middle + radius * 0.9 * np.stack([0 * angles, np.cos(angles), np.sin(angles)], axis=1)
        s.add(tube(rim, min(radius * 0.1, thick * 0.5), 6, closed=True), "dark", moves)
        for angle in np.linspace(0, 2 * np.pi, int(s.rng.integers(4, 9)), endpoint=False):
            way = radius * 0.88 * np.array((0.0, np.cos(angle), np.sin(angle)))
            s.add(cylinder(middle, way, radius * 0.03, segments=4, caps=False), "metal", moves)
        s.add(cylinder(hub, direction, radius * 0.14, segments=8), "metal", moves)
    else:  # tyre and rim
        s.add(cylinder(hub, direction, radius, segments=20), "dark", moves)
        for angle in np.linspace(0, 2 * np.pi, 5, endpoint=False):
            at = np.array(hub) + radius * 0.45 * np.array((0.0, np.cos(angle), np.sin(angle)))
            s.add(cylinder(at, direction * 1.06, radius * 0.12, segments=6), "metal", moves)
        s.add(cylinder(hub, direction * 1.1, radius * 0.2, segments=8), "metal", moves)


def _spinning(s: Sketch, centre, objects, kind: str, names: tuple[str, ...]) -> Draft:
    """The draft of an object one of whose wheels has been added as the moving part."""
    joint = hinge((s.sign(), 0, 0), centre, s.degrees(60, 180))
    joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, 0.0, np.pi / 2, -np.pi / 2, np.pi))
    return s.draft(kind, joint, objects, names, say.SPIN, directed=False)


def cart(rng: np.random.Generator) -> Draft:
    """A hand, shopping or serving cart, or a truck of boxes on four wheels; one wheel turns."""
    s = Sketch(rng, PAINTED)
    wide, long, high = s.between(0.35, 0.7), s.between(0.5, 1.1), s.between(0.3, 0.9)
    radius, thick = s.between(0.05, 0.16), s.between(0.02, 0.06)
    style, look = s.one_of("platform", "box", "shelves", "basket"), int(rng.integers(3))
    inset, caster = s.one_of(0.0, 0.05), s.chance(0.4)
    floor = radius * s.between(0.9, 2.0)
    if inset or caster:  # the wheels are under the floor
        floor = 2 * radius + s.between(0.015, 0.04)
    if style == "platform":
        s.fix(box((-wide / 2, -long / 2, floor), (wide / 2, long / 2, floor + 0.04)))
    elif style == "box":
        s.fix(
            open_box(
                (-wide / 2, -long / 2, floor), (wide / 2, long / 2, floor + high * 0.6), 0.02, "+z"
            )
        )
    elif style == "shelves":
        for level in np.linspace(floor, floor + high, int(rng.integers(2, 4))):
            s.fix(box((-wide / 2, -long / 2, level), (wide / 2, long / 2, level + 0.025)), "top")
        for x in (-wide / 2, wide / 2 - 0.025):
            for y in (-long / 2, long / 2 - 0.025):
                s.fix(box((x, y, floor), (x + 0.025, y + 0.025, floor + high)), "metal")
    else:
        s.fix(box((-wide / 2, -long / 2, floor), (wide / 2, long / 2, floor + 0.02)), "metal")
        top = floor + high * 0.9
        for level in (floor + high * 0.4, floor + high * 0.65, top):
            low, high_corner = (-wide / 2, -long / 2, level), (wide / 2, long / 2, level + 0.015)
            hole = (wide / 2 - 0.015, long / 2 - 0.015, 0.0)
            ring = frame(low, high_corner, (-hole[0], -hole[1], 0.0), hole, "z")
            s.fix(ring, "metal")
        for x in np.linspace(-wide / 2, wide / 2 - 0.012, 4):
            for y in (-long / 2, long / 2 - 0.012):
                s.fix(box((x, y, floor), (x + 0.012, y + 0.012, top)), "metal")
    back = long / 2 - 0.02
    grip = floor + high * s.between(0.8, 1.4)
    if s.chance(0.8):
        reach = s.between(0.0, 0.2)
        path = [(-wide * 0.45, back, floor + 0.03), (-wide * 0.45, back + reach, grip)]
        path += [(wide * 0.45, back + reach, grip), (wide * 0.45, back, floor + 0.03)]
        s.fix(tube(path, 0.014, 6), "handle")
    chosen = (s.sign(), s.sign())
    for side in (-1, 1):
        for end in (-1, 1):
            x = side * (wide / 2 - inset - (thick if caster else -0.004))
            y = end * (long / 2 - radius * 1.05)
            moves = (side, end) == chosen
            if caster:
                fork = box((x - 0.006, y - 0.012, radius), (x - 0.002, y + 0.012, floor))
                s.fix(fork, "metal")
                s.fix(
                    box(
                        (x - 0.006, y - 0.02, floor - 0.012),
                        (x + side * thick + 0.002, y + 0.02, floor),
                    ),
                    "metal",
                )
            elif end > 0 or not moves:
                s.fix(cylinder((0, y, radius), (x, 0, 0), radius * 0.12, segments=6), "metal")
            if not caster:
                s.fix(
                    box(
                        (x - side * 0.03 - 0.012, y - 0.015, radius - 0.015),
                        (x - side * 0.03 + 0.012, y + 0.015, floor + 0.01),
                    ),
                    "metal",
                )
            wheel(s, (x, y, radius), side, radius, thick, look, moves)
            if moves:
                centre = (x, y, radius)
    names = ("wheel", "one wheel", "caster" if caster else "wheel")
    objects = ("cart", "trolley", "wagon", "hand cart", "shopping cart", "serving cart")
    return _spinning(s, centre, objects, "cart", names)


def barrow(rng: np.random.Generator) -> Draft:
    """A wheelbarrow, a hand truck or a two-wheeled trolley."""
    s = Sketch(rng, PAINTED)
    radius, thick, look = s.between(0.12, 0.2), s.between(0.04, 0.08), int(rng.integers(3))
    if s.chance(0.5):  # one wheel in front of a tub
        wide, long = s.between(0.45, 0.65), s.between(0.6, 0.9)
        floor, rise = radius * 1.5, s.between(0.2, 0.35)
        side = [
            (-long * 0.35, floor),
            (long * 0.4, floor),
            (long / 2, floor + rise),
            (-long * 0.6, floor + rise),
        ]
        for x in (-wide / 2, wide / 2 - 0.02):
            s.fix(extrude(side, "yz", x, x + 0.02))
        s.fix(box((-wide / 2, -long * 0.35, floor), (wide / 2, long * 0.4, floor + 0.02)))
        slope = [
            (-long * 0.35, floor),
            (-long * 0.33, floor),
            (-long * 0.58, floor + rise),
            (-long * 0.6, floor + rise),
        ]
        s.fix(extrude(slope, "yz", -wide / 2, wide / 2))
        y = -long * 0.35 - radius * 0.9
        for x in (-1, 1):
            bar = [
                (x * thick, y, radius),
                (x * wide * 0.3, 0, floor - 0.02),
                (x * wide * 0.45, long, floor + 0.12),
            ]
            s.fix(tube(bar, 0.018, 6), "handle")
            s.fix(
                box(
                    (x * wide * 0.35 - 0.015, long * 0.3, 0),
                    (x * wide * 0.35 + 0.015, long * 0.34, floor),
                ),
                "metal",
            )
        s.fix(cylinder((-thick, y, radius), (2 * thick, 0, 0), 0.012, segments=8), "metal")
        centre = (-thick / 2, y, radius)
        wheel(s, centre, 1, radius, thick, look, True)
        return _spinning(
            s, centre, ("wheelbarrow", "barrow", "cart"), "wheelbarrow", ("wheel", "front wheel")
        )
    wide, high = s.between(0.35, 0.55), s.between(0.9, 1.3)
    path = [
        (-wide / 2, 0, radius),
        (-wide / 2, 0, high),
        (wide / 2, 0, high),
        (wide / 2, 0, radius),
    ]
    s.fix(tube(path, 0.016, 6), "metal")
    for level in np.linspace(radius * 1.2, high * 0.85, 4):
        s.fix(box((-wide / 2, -0.01, level), (wide / 2, 0.01, level + 0.03)))
    s.fix(box((-wide * 0.45, -s.between(0.2, 0.35), 0.01), (wide * 0.45, 0.01, 0.025)))
    s.fix(
        cylinder((-wide / 2 - thick, radius * 0.6, radius), (wide + 2 * thick, 0, 0), 0.012),
        "metal",
    )
    for x in (-wide / 2, wide / 2 - 0.02):
        s.fix(box((x, -0.01, radius - 0.02), (x + 0.02, radius * 0.7, radius + 0.02)), "metal")
    chosen = s.sign()
    for side in (-1, 1):
        centre = (side * (wide / 2 + 0.005), radius * 0.6, radius)
        wheel(s, centre, side, radius, thick, look, side == chosen)
    names = ("wheel", "left wheel" if chosen < 0 else "right wheel", "one wheel")
    draft_centre = (0.0, radius * 0.6, radius)
    return _spinning(
        s, draft_centre, ("hand truck", "trolley", "sack truck", "dolly"), "cart", names
    )


def vehicle(rng: np.random.Generator) -> Draft:
    """A crude car, van or toy: a wheel spins, a door, the bonnet or the boot opens."""
    s = Sketch(rng)
    wide, long = s.between(1.5, 1.9), s.between(3.2, 4.8)
    radius, thick = s.between(0.28, 0.4), s.between(0.15, 0.25)
    low, belt, roof = radius * 0.7, s.between(0.8, 1.0), s.between(1.35, 1.8)
    part = s.one_of("wheel", "wheel", "door", "door", "bonnet", "boot")
    front, back = -long / 2, long / 2  # the car's nose is at the front, -Y
    bonnet, boot = front + long * s.between(0.2, 0.28), back - long * s.between(0.08, 0.22)
    gap = 0.006
    s.fix(box((-wide / 2, front, low), (wide / 2, back, belt - 0.2)))
    s.fix(box((-wide / 2, bonnet, belt - 0.2), (wide / 2, boot, belt)))
    cabin = [
        (bonnet, belt),
        (boot, belt),
        (boot - s.between(0.0, 0.4), roof),
        (bonnet + s.between(0.3, 0.8), roof),
    ]
    s.fix(extrude(cabin, "yz", -wide * 0.45, wide * 0.45), "glass")
    s.fix(box((-wide * 0.44, cabin[3][0], roof), (wide * 0.44, cabin[2][0], roof + 0.05)))
    cover = box((-wide / 2, front, belt - 0.2 + gap), (wide / 2, bonnet - gap, belt - 0.02))
    s.add(cover, "body", part == "bonnet")
    tail = box((-wide / 2, boot + gap, belt - 0.2 + gap), (wide / 2, back, belt - 0.02))
    s.add(tail, "body", part == "boot")
    side = s.sign()
    middle = (bonnet + boot) / 2
    for door_side in (-1, 1):
        for y0, y1 in ((bonnet + 0.1, middle - gap), (middle + gap, boot - 0.1)):
            moves = part == "door" and door_side == side and y0 < middle - 0.1
            near, far = sorted((door_side * wide / 2, door_side * (wide / 2 + 0.04)))
            s.add(box((near, y0, low + 0.1), (far, y1, belt - gap)), "front", moves)
            near, far = near + door_side * 0.02, far + door_side * 0.02
            grip = box((near, y1 - 0.25, belt - 0.15), (far, y1 - 0.1, belt - 0.12))
            s.add(grip, "metal", moves)
    chosen = (s.sign(), s.sign())
    look = int(rng.integers(3))
    for wheel_side in (-1, 1):
        for end, y in ((-1, front + long * 0.19), (1, back - long * 0.2)):
            moves = part == "wheel" and (wheel_side, end) == chosen
            hub = (wheel_side * (wide / 2 - thick + 0.05), y, radius)
            arch = cylinder(
                (wheel_side * (wide / 2 - thick), y, radius),
                (wheel_side * thick * 1.02, 0, 0),
                radius * 1.15,
                segments=16,
            )
            s.fix(arch, "dark")
            wheel(
                s,
                (hub[0] + wheel_side * thick * 0.5, y, radius),
                wheel_side,
                radius,
                thick * 0.7,
                look,
                moves,
            )
            if moves:
                centre = (hub[0], y, radius)
    for x in (-1, 1):
        s.fix(
            cylinder((x * wide * 0.35, front, belt - 0.3), (0, -0.03, 0), 0.1, segments=10), "glass"
        )
    objects = ("car", "vehicle", "toy car", "van")
    turn = s.one_of(0.0, 0.0, np.pi / 2, -np.pi / 2, np.pi)
    if part == "wheel":
        return _spinning(s, centre, objects, "car", ("wheel", "tire", "one wheel"))
    if part == "door":
        joint = hinge(
            (0, 0, -side), (side * (wide / 2 + 0.04), bonnet + 0.1, belt), s.degrees(45, 75)
        )
        joint = s.lay(joint, (0, 0, 1), turn)
        names = ("door", "car door", "front door")
        return s.draft("car", joint, objects, names, say.SWING, say.SWING_SHUT)
    if part == "bonnet":
        joint = hinge((-1, 0, 0), (0, bonnet - gap, belt - 0.02), s.degrees(30, 65))
        names = ("hood", "bonnet", "engine hood", "front lid")
    else:
        joint = hinge((1, 0, 0), (0, boot + gap, belt - 0.02), s.degrees(40, 80))
        names = ("trunk", "boot", "trunk lid", "boot lid", "rear lid")
    joint = s.lay(joint, (0, 0, 1), turn)
    return s.draft("car", joint, objects, names, say.join(say.OPEN, say.LIFT), say.LOWER)


def bicycle(rng: np.random.Generator) -> Draft:
    """A bicycle or scooter: a wheel spins, or the handlebar steers."""
    s = Sketch(rng, PAINTED)
    radius, base = s.between(0.25, 0.36), s.between(0.95, 1.15)
    part = s.one_of("front", "rear", "bar", "crank")
    tube_r, look = s.between(0.014, 0.024), 1
    rear, front = (0.0, base / 2, radius), (0.0, -base / 2, radius)
    bottom, seat = (0.0, 0.08, radius * 0.9), (0.0, 0.2, radius * 2.4)
    head = np.array((0.0, -base * 0.33, radius * 2.45))
    bars = np.array([(bottom, seat), (bottom, head - np.array((0, 0, 0.1))), (seat, head)])
    for start, end in bars:
        s.fix(cylinder(start, end - start, tube_r, segments=8))
    for start in np.array((bottom, seat)):
        for x in (-0.05, 0.05):
            way = np.array((x, *rear[1:])) - start
            s.fix(cylinder(start, way, tube_r * 0.6, segments=6))
    s.fix(box((-0.07, 0.1, radius * 2.4), (0.07, 0.36, radius * 2.4 + 0.05)), "dark")
    steering = part == "bar"
    for x in (-0.05, 0.05):
        s.add(
            cylinder(
                (x, front[1], front[2]),
                (0, head[1] - front[1], head[2] - front[2]),
                tube_r * 0.7,
                segments=8,
            ),
            "metal",
            steering,
        )
    top = head + np.array((0, 0.03, 0.12))
    s.add(cylinder(head, top - head, tube_r, segments=8), "metal", steering)
    half = s.between(0.22, 0.32)
    bar = [
        (-half, top[1] + 0.12, top[2]),
        (-half * 0.5, top[1], top[2] + 0.04),
        (half * 0.5, top[1], top[2] + 0.04),
        (half, top[1] + 0.12, top[2]),
    ]
    s.add(tube(bar, tube_r * 0.8, 6), "handle", steering)
    for at, name in ((front, "front"), (rear, "rear")):
        wheel(
            s,
            (-0.02, at[1], at[2]),
            1,
            radius,
            0.04,
            look,
            part == name or (steering and name == "front"),
        )
    for x, angle in ((-0.07, 0.4), (0.07, 0.4 + np.pi)):
        way = 0.16 * np.array((0, np.cos(angle), np.sin(angle)))
        s.add(cylinder((x, *bottom[1:]), way, 0.012, segments=6), "metal", part == "crank")
        s.add(
            box(
                np.array((x, *bottom[1:])) + way - (0.04, 0.03, 0.01),
                np.array((x, *bottom[1:])) + way + (0.04, 0.03, 0.01),
            ),
            "dark",
            part == "crank",
        )
    s.add(cylinder((-0.07, *bottom[1:]), (0.14, 0, 0), 0.03, segments=10), "metal", part == "crank")
    objects = ("bicycle", "bike", "cycle")
    if steering:
        axis = head - np.array((0, front[1], front[2]))
        joint = hinge(axis * s.sign(), head, s.degrees(20, 45))
        joint = s.lay(joint, (0, 0, 1), s.one_of(0.0, np.pi / 2, -np.pi / 2))
        names = ("handlebar", "handlebars", "front fork", "steering")
        return s.draft("bicycle", joint, objects, names, say.TURN, directed=False)
    if part == "crank":
        return _spinning(s, bottom, objects, "bicycle", ("pedals", "crank", "pedal crank"))
    names = ("wheel", f"{part} wheel", "back wheel" if part == "rear" else "front wheel")
    return _spinning(s, front if part == "front" else rear, objects, "bicycle", names)


KINDS = {
    "cart": (2.2, cart),
    "barrow": (1.0, barrow),
    "vehicle": (1.2, vehicle),
    "bicycle": (0.6, bicycle),
}
