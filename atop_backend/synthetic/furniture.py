"""Storage furniture: cabinets, wardrobes, chests of drawers, desks, kitchens."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.palette import METALS, PAINTS, WOODS
from atop_backend.synthetic.storage import Spec, storage

Kind = Callable[[np.random.Generator], Draft]

CABINET_WORDS = ("cabinet", "cupboard", "storage cabinet", "cabinet", "storage unit")

SPECS = (
    (6.0, Spec(
        "cabinet", CABINET_WORDS, (0.4, 1.6), (0.3, 0.6), (0.6, 1.3), (3, 4, 3, 1),
        {"door": 5, "drawer_door": 2.5, "drawers": 2, "open_door": 1, "door_open": 0.7,
         "door_drawer": 0.7, "door_door": 1, "open": 0.6, "door_drawers": 0.7, "drop": 0.2,
         "flap": 0.3, "fixed": 0.15, "pullout": 0.2, "nook_drawers": 0.3},
        {"none": 4, "plinth": 3, "legs_square": 2, "legs_turned": 2, "sides": 1, "sled": 0.5},
    )),
    (3.0, Spec(
        "wardrobe", ("wardrobe", "closet", "armoire", "wardrobe"), (0.6, 2.2), (0.45, 0.7),
        (1.6, 2.3), (3, 4, 2, 0.7),
        {"door": 6, "door_drawer": 2, "door_drawers": 1.5, "door_door": 0.6, "open_drawers": 0.5},
        {"none": 3, "plinth": 3, "legs_square": 1, "legs_turned": 1}, (0.04, 0.14),
        {"none": 5, "flush": 2, "overhang": 3}, 0.75, 0.5, 3,
    )),
    (2.5, Spec(
        "nightstand", ("nightstand", "bedside table", "night table", "bedside cabinet"),
        (0.35, 0.6), (0.3, 0.5), (0.4, 0.75), (8, 1),
        {"drawers": 4, "drawer_open": 2, "open_drawer": 1, "drawer_door": 2, "door": 1.5},
        {"none": 2, "plinth": 1, "legs_square": 3, "legs_turned": 3, "sides": 1, "sled": 0.5},
        (0.05, 0.3), most_drawers=3, doors=0.5,
    )),
    (3.5, Spec(
        "dresser", ("dresser", "chest of drawers", "drawer cabinet", "bureau"),
        (0.5, 1.7), (0.38, 0.55), (0.65, 1.35), (4, 4, 2),
        {"drawers": 8, "drawer_door": 0.6, "door": 0.5},
        {"none": 2, "plinth": 2, "legs_square": 2, "legs_turned": 2, "sides": 1}, (0.04, 0.18),
        doors=0.3, most_drawers=6,
    )),
    (2.5, Spec(
        "sideboard", ("sideboard", "buffet", "credenza", "tv stand", "media console", "tv cabinet"),
        (1.1, 2.2), (0.35, 0.5), (0.4, 0.95), (0.3, 3, 5, 2),
        {"door": 5, "drawers": 2, "drawer_door": 2, "open": 1.2, "drop": 0.6, "open_drawer": 0.8},
        {"none": 2, "plinth": 1.5, "legs_square": 2, "legs_turned": 3, "sled": 1}, (0.05, 0.28),
        most_drawers=4,
    )),
    (2.5, Spec(
        "wall cabinet", ("wall cabinet", "cabinet", "cupboard", "hanging cabinet", "upper cabinet"),
        (0.35, 1.3), (0.25, 0.4), (0.35, 0.95), (4, 4, 1.5),
        {"door": 6, "flap": 1.8, "flap_door": 0.5, "door_open": 1.2, "open": 0.6, "door_door": 0.5},
        {"none": 1}, tops={"none": 7, "overhang": 2, "flush": 1}, handle_height=0.18, stands=False,
    )),
    (4.0, Spec(
        "kitchen cabinet", ("kitchen cabinet", "kitchen counter", "base cabinet", "counter",
                            "kitchen island", "kitchen unit"),
        (0.4, 2.6), (0.5, 0.75), (0.8, 0.98), (2, 3, 4, 3, 1.5),
        {"drawer_door": 5, "door": 3, "drawers": 3, "open": 0.4, "fixed": 0.4, "open_drawer": 0.3,
         "pullout": 0.5, "drawer_pullout": 0.3},
        {"plinth": 6, "none": 2, "legs_square": 0.6}, (0.06, 0.16),
        {"overhang": 7, "flush": 2, "none": 1, "rounded": 0.4}, handle_height=0.85, most_drawers=4,
        natural=(PAINTS, PAINTS, WOODS),
    )),
    (1.5, Spec(
        "bookcase", ("bookcase", "bookshelf", "shelf unit", "display cabinet", "hutch"),
        (0.6, 1.6), (0.25, 0.45), (1.2, 2.2), (4, 3, 1),
        {"open_door": 4, "open_drawers": 2, "door_open_drawer": 1, "door_door": 1.5, "open": 0.6,
         "door": 1.0},
        {"none": 3, "plinth": 3, "legs_square": 1}, (0.04, 0.15), hollow=0.97,
    )),
    (1.2, Spec(
        "filing cabinet", ("filing cabinet", "file cabinet", "drawer unit", "pedestal", "cabinet"),
        (0.38, 0.9), (0.4, 0.65), (0.5, 1.4), (6, 1.5),
        {"drawers": 6, "drawer_door": 0.7, "door": 0.7},
        {"none": 4, "plinth": 2, "casters": 2}, (0.03, 0.08), most_drawers=4, doors=0.4,
        natural=(METALS, PAINTS), tops={"none": 7, "flush": 2, "overhang": 1},
    )),
    (0.6, Spec(
        "shoe cabinet", ("shoe cabinet", "shoe rack", "hallway cabinet", "cabinet"), (0.5, 1.2),
        (0.17, 0.32), (0.6, 1.4), (4, 2), {"drops": 3, "drops_two": 3, "drawer": 0.2},
        {"none": 3, "plinth": 1, "legs_square": 1, "legs_turned": 1}, (0.04, 0.15), doors=1.0,
        tilt=True,
    )),
    (0.8, Spec(
        "locker", ("locker", "metal cabinet", "locker cabinet"), (0.3, 1.2), (0.35, 0.55),
        (1.2, 2.0), (3, 3, 3, 1), {"door": 4, "door_door": 3},
        {"none": 3, "plinth": 2, "legs_square": 1}, (0.04, 0.15), natural=(METALS, PAINTS),
        tops={"none": 8, "flush": 1, "overhang": 1}, handle_height=0.55,
    )),
    (0.8, Spec(
        "tool chest", ("tool chest", "tool cabinet", "workshop cart", "drawer cart"),
        (0.45, 0.9), (0.35, 0.55), (0.7, 1.1), (6, 1.5), {"drawers": 5, "door_drawers": 0.6},
        {"casters": 5, "none": 1, "plinth": 1}, (0.08, 0.14), natural=(METALS, PAINTS),
        most_drawers=6, doors=0.3, tops={"flush": 3, "overhang": 3, "none": 2},
    )),
    (0.8, Spec(
        "secretary", ("secretary", "writing cabinet", "bar cabinet", "secretary desk"),
        (0.6, 1.1), (0.35, 0.5), (0.9, 1.6), (4, 1), {"drop_drawers": 4, "drop": 1.5},
        {"none": 1, "plinth": 1, "legs_square": 2, "legs_turned": 2}, (0.05, 0.3), doors=0.75,
    )),
    (0.8, Spec(
        "bathroom cabinet", ("bathroom cabinet", "vanity", "sink cabinet", "bathroom vanity"),
        (0.45, 1.3), (0.35, 0.55), (0.55, 0.9), (3, 3, 2),
        {"door": 4, "drawers": 2, "drawer_door": 1.5},
        {"none": 3, "plinth": 2, "legs_square": 2, "legs_turned": 1}, (0.06, 0.25),
        {"overhang": 5, "flush": 2, "rounded": 1}, handle_height=0.8, most_drawers=3,
    )),
)  # fmt: skip


def _kind(spec: Spec) -> Kind:
    def build(rng: np.random.Generator) -> Draft:
        return storage(rng, spec)

    build.__name__ = spec.kind.replace(" ", "_")
    build.__doc__ = f"A {spec.kind}."
    return build


KINDS: dict[str, tuple[float, Kind]] = {spec.kind: (weight, _kind(spec)) for weight, spec in SPECS}
