"""What appliances have in common: doors with windows, and knobs."""

from __future__ import annotations

import numpy as np

from atop_backend.synthetic import fronts, solids
from atop_backend.synthetic.assembly import Assembly
from atop_backend.synthetic.leaves import Opening
from atop_backend.synthetic.pieces import Paints, Pieces, chance, choose


def window_door(
    rng: np.random.Generator, opening: Opening, paints: Paints, window: float, frame: float
) -> Pieces:
    """A thick appliance door whose window is set in or laid on, or that has none.

    Args:
        rng: Draws the kind of window.
        opening: The closed door.
        paints: Materials.
        window: Probability of a window.
        frame: Width of the frame around it, as a share of the shorter side.
    """
    low = np.array([opening.x0, opening.y0, opening.z0])
    high = np.array([opening.x1, opening.y1, opening.z1])
    if not chance(rng, window):
        return fronts.front(rng, choose(rng, {"slab": 4, "bevelled": 2, "rounded": 1}), low, high,
                            paints)  # fmt: skip
    rim = frame * min(opening.width, opening.height)
    lift = rim * rng.uniform(1.0, 1.8)  # more frame on the handle's side
    x0, x1, z0, z1 = opening.x0 + rim, opening.x1 - rim, opening.z0 + rim, opening.z1 - lift
    if chance(rng, 0.5):
        pane = solids.box((x0, opening.y0 - 0.002, z0), (x1, opening.y0, z1))
        return [(solids.box(low, high), paints.front), (pane, paints.glass)]
    around = solids.frame(low, high, (x0, 0, z0), (x1, 0, z1), "y")
    thick = opening.y1 - opening.y0
    pane = solids.box((x0, opening.y0 + 0.2 * thick, z0), (x1, opening.y0 + 0.5 * thick, z1))
    return [(around, paints.front), (pane, paints.glass)]


def knobs(
    make: Assembly,
    places: list[tuple[float, float]],
    y: float,
    radius: float,
    target: int | None = None,
) -> np.ndarray | None:
    """A set of knobs on a face at depth `y`; the one of index `target` moves.

    Returns:
        The point on the face at the target's centre, if there is one.
    """
    rng = make.rng
    deep = radius * rng.uniform(0.6, 1.4)
    sides = int(rng.choice([8, 10, 12, 16]))
    pointer = chance(rng, 0.6)
    lean = rng.uniform(0.8, 1.0)
    for i, (x, z) in enumerate(places):
        add = make.move if i == target else make.fix
        add(
            solids.cylinder((x, y, z), (0, -deep, 0), radius, radius * lean, sides),
            make.paints.handle,
        )
        if pointer:
            fin = solids.box((x - 0.18 * radius, y - 1.5 * deep, z - 0.85 * radius),
                             (x + 0.18 * radius, y - 0.9 * deep, z + 0.85 * radius))  # fmt: skip
            add(fin, make.paints.handle if chance(rng, 0.7) else make.paints.accent)
    return None if target is None else np.array([places[target][0], y, places[target][1]])
