"""Which pieces of an object to take away, as an artist would, so that a hidden part is seen.

Numpy alone, because Blender's Python imports it: `blender_rays` casts the rays, this decides.
A leaf is the least that can be taken away; a piece is a named set of leaves, such as a door with
its knob.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from atop_backend.contracts import Camera
from atop_backend.geometry.cameras import AZIMUTHS_DEG, project
from atop_backend.geometry.meshes import RestShape, part_vertices, triangle_areas

# Shares of the outline that the part would have alone, over all views. Below 3 % a part is a
# glimpse through a slit: of a part as large as a drawer not one latent pixel (8 x 8) a view.
HARDLY_SEEN = 0.03
# Two neighbouring views that see 15 % each are as good as an open door: what the walls of a
# cabinet leave of a deep drawer that is seen aslant.
WELL_SEEN = 0.15
# Of the body's area, and of what surrounds the part: a part is understood by what it moves
# against. A door is about a sixth of either, the walls around it the rest.
KEPT = 0.4
FRONT_VIEWS = (0, 3)  # objects mostly have their front towards -Y, and open there
FRONT = 1.5  # how much more a ray of these counts: of two ways in, the front one is taken
WIDER = 1.5  # a group at most so much larger than a piece in it goes as one: a door, its handle
NEAR = 0.01  # normalised; pieces whose bounds come so near may touch
SMALL = 0.5  # of the area that goes; larger pieces do not hang on it
_TRIED = 24  # pieces weighed in each round, those in front of most rays


class Piece(NamedTuple):
    """Something that can be taken away as one."""

    name: str
    leaves: np.ndarray  # (leaves,) bool


class Sight(NamedTuple):
    """What stands between the cameras and the part, and what is around it."""

    views: np.ndarray  # (rays,) int, the camera of each ray that would meet the part
    blockers: np.ndarray  # (rays, leaves) bool, met before the part
    around: np.ndarray  # (directions, leaves) bool, met by rays from the part outwards
    areas: np.ndarray  # (leaves,)


def may_be_hidden(shape: RestShape, cameras: Sequence[Camera], part_mask: np.ndarray) -> bool:
    """Whether so little of the part's projected bounds is seen that a closer look is due.

    Args:
        part_mask: Where the part is seen, (views, height, width).
    """
    bounds = 0.0
    for camera in cameras:
        pixels, _ = project(camera, part_vertices(shape))
        bounds += float(np.prod(np.ptp(pixels, axis=0)))
    return part_mask.sum() < HARDLY_SEEN * bounds


def choose(sight: Sight, pieces: Sequence[Piece]) -> list[int]:
    """The fewest pieces that make the part seen when they are gone; none if nothing helps.

    Greedy by how many rays a piece blocks, a ray that several leaves block counting in shares,
    and by how much of the body it leaves.
    """
    chosen: list[int] = []
    while _level(sight, _union(sight, pieces, chosen)) < 2:
        best = _best(sight, pieces, chosen)
        if best is None:
            break
        chosen.append(best)
    gone = _union(sight, pieces, chosen)
    level, reached = _level(sight, gone), _seen(sight, gone).sum()
    if level == 0:
        return []
    for piece in list(chosen):  # what later ones made needless
        fewer = _union(sight, pieces, [other for other in chosen if other != piece])
        if _level(sight, fewer) == level and _seen(sight, fewer).sum() >= 0.9 * reached:
            chosen.remove(piece)
    for place, piece in enumerate(chosen):
        others = [other for other in chosen if other != piece]
        chosen[place] = _widest(sight, pieces, piece, _union(sight, pieces, others))
    return list(dict.fromkeys(chosen))


def _union(sight: Sight, pieces: Sequence[Piece], chosen: Sequence[int]) -> np.ndarray:
    gone = np.zeros(len(sight.areas), dtype=bool)
    for index in chosen:
        gone |= pieces[index].leaves
    return gone


def _seen(sight: Sight, gone: np.ndarray) -> np.ndarray:
    return np.logical_not(sight.blockers[:, ~gone].any(axis=1))


def _level(sight: Sight, gone: np.ndarray) -> int:
    """0: the part is hardly seen; 1: it is seen; 2: two neighbouring views see it well."""
    seen, count = _seen(sight, gone), len(AZIMUTHS_DEG)
    totals = np.bincount(sight.views, minlength=count)
    shares = np.bincount(sight.views, seen, minlength=count) / np.maximum(totals, 1)
    if np.minimum(shares, np.roll(shares, 1)).max() >= WELL_SEEN:
        return 2
    return int(seen.sum() >= HARDLY_SEEN * len(seen) and seen.any())


def _kept(sight: Sight, gone: np.ndarray) -> float:
    """How much of the body is left, in area or around the part, whichever is less."""
    area = sight.areas[~gone].sum() / max(sight.areas.sum(), 1e-300)
    enclosed = sight.around.any(axis=1).sum()
    around = sight.around[:, ~gone].any(axis=1).sum() / max(enclosed, 1)
    return float(min(area, around if enclosed else 1.0))


def _best(sight: Sight, pieces: Sequence[Piece], chosen: Sequence[int]) -> int | None:
    """The piece to take away next."""
    gone = _union(sight, pieces, chosen)
    left = sight.blockers & ~gone
    weights = np.where(np.isin(sight.views, FRONT_VIEWS), FRONT, 1.0)
    leaf_credits = (weights / np.maximum(left.sum(axis=1), 1)) @ left
    piece_credits = np.array([leaf_credits[piece.leaves].sum() for piece in pieces])
    best, highest = None, 0.0
    for index in np.argsort(-piece_credits, kind="stable")[:_TRIED]:
        kept = _kept(sight, gone | pieces[index].leaves)
        score = piece_credits[index] * kept**2
        if kept >= KEPT and score > highest:
            best, highest = int(index), score
    return best


def _widest(sight: Sight, pieces: Sequence[Piece], piece: int, others: np.ndarray) -> int:
    """The largest piece that holds this one and little else."""
    least = pieces[piece].leaves
    best, most = piece, sight.areas[least].sum()
    limit = WIDER * most
    for index, candidate in enumerate(pieces):
        area = sight.areas[candidate.leaves].sum()
        holds = not (least & ~candidate.leaves).any()
        if holds and most < area <= limit and _kept(sight, others | candidate.leaves) >= KEPT:
            best, most = index, area
    return best


def object_pieces(names: Sequence[Sequence[str]], held: np.ndarray) -> list[Piece]:
    """Scene objects that can be taken away, each with all below it.

    An object above the part goes without what is below it, for the part hangs there.

    Args:
        names: Of each leaf, one mesh of the scene: its object and those above, nearest first.
        held: Which leaves have triangles of the part, (leaves,).
    """
    above_part = {name for chain, part in zip(names, held, strict=True) if part for name in chain}
    found: dict[bytes, tuple[int, Piece]] = {}
    for name in dict.fromkeys(name for chain in names for name in chain):
        near = 1 if name in above_part else None
        leaves = np.array([name in chain[:near] for chain in names])
        if not leaves.any():
            continue
        first = names[int(leaves.argmax())]
        depth = len(first) - list(first).index(name)  # of objects that hold the same, the top one
        key = leaves.tobytes()
        if key not in found or depth < found[key][0]:
            found[key] = depth, Piece(name, leaves)
    return [piece for _, piece in found.values()]


def connected(vertices: np.ndarray, triangles: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """A number from 0 for each triangle (m,), the same where triangles of one owner hang together.

    Args:
        vertices: (n, 3); those in the same place count as one.
        owners: The object of each triangle, (m,).
    """
    corners = np.rint(vertices[triangles.ravel()] / 1e-5).astype(np.int64)
    keys = np.column_stack([corners, np.repeat(owners, 3)])
    names = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1, 3)
    labels = np.arange(names.max() + 1)
    while True:
        least = labels[names].min(axis=1)
        before = labels.copy()
        np.minimum.at(labels, names.ravel(), np.repeat(least, 3))
        labels = labels[labels]
        if (labels == before).all():
            break
    return np.unique(labels[names[:, 0]], return_inverse=True)[1].reshape(-1)


def hanging(shape: RestShape, labels: np.ndarray, gone: np.ndarray) -> np.ndarray:
    """Triangles (m,) of small pieces that would be left in the air: the knob of a door.

    Judged by bounds, so that a piece rather stays.

    Args:
        labels: The piece that each triangle belongs to, (m,), from 0; of no account on the part.
        gone: Triangles of whole pieces that are taken away, (m,) bool.
    """
    labels = np.where(shape.part, labels.max() + 1, labels)
    count = labels.max() + 1
    corners = shape.vertices[shape.triangles]
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, labels, corners.min(axis=1))
    np.maximum.at(high, labels, corners.max(axis=1) + NEAR)
    areas = np.bincount(labels, triangle_areas(shape), minlength=count)

    def near(piece: int) -> np.ndarray:
        return ((low < high[piece]) & (high > low[piece])).all(axis=1)

    def flood(start: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Which pieces of some hang together with others, perhaps through each other."""
        found, pending = np.zeros(count, dtype=bool), np.flatnonzero(start).tolist()
        while pending:
            new = near(pending.pop()) & among & ~found
            found |= new
            pending += np.flatnonzero(new).tolist()
        return found

    taken = np.bincount(labels, gone, minlength=count) > 0
    small = ~taken & (areas < SMALL * areas[taken].sum())
    small[-1] = False  # the part
    loose = flood(taken, small)
    others = ~taken & ~loose
    held = loose & np.array([loose[piece] and near(piece) @ others for piece in range(count)])
    loose &= ~held & ~flood(held, loose)
    return loose[labels]


def describe(objects: Sequence[str], whole: bool) -> tuple[str, ...]:
    """Words for what was taken away, such as "'door'" or "2 pieces of 'body'".

    Args:
        objects: The object of each piece, in order.
        whole: Whether they went as whole objects.
    """
    words = []
    for name in dict.fromkeys(objects):
        count = list(objects).count(name)
        pieces = "a piece of " if count == 1 else f"{count} pieces of "
        words.append(f"'{name}'" if whole else f"{pieces}'{name}'")
    return tuple(words)
