"""Lines a part may turn about and directions it may slide along."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from atop_backend.geometry.boxes import Box
from atop_backend.geometry.joints import (
    fit_rigid,
    line_angle_deg,
    perpendiculars,
    screw_of,
    unit,
)
from atop_backend.motion.displacement import Field, field_of, line_of_turn
from atop_backend.motion.features import Features

MEASURED = ("displacements", "refined")  # sources and places that are not the shape's
_SAME_DEG, _SAME_LINE = 1.0, 0.01  # nearer hypotheses than this are one
_ROUND_DEG = 5.0  # a direction this near to that of a round piece may run through its centre
_REACH = 1.6  # a hinge lies within this many part radii of the part's centre


Line = tuple[np.ndarray, np.ndarray, str, str]  # axis, origin, source and place


class Hypotheses(NamedTuple):
    """Directed joints of one kind; `origins` has no meaning for slides but a point of the part."""

    axes: np.ndarray  # (h, 3)
    origins: np.ndarray  # (h, 3)
    sources: tuple[str, ...]  # what the direction is founded on; see MEASURED
    places: tuple[str, ...]  # what the line's place is founded on; empty for slides

    def both_ways(self) -> Hypotheses:
        """Each with its reverse: all as they are, then all reversed."""
        return Hypotheses(
            np.concatenate([self.axes, -self.axes]),
            np.concatenate([self.origins, self.origins]),
            self.sources * 2,
            self.places * 2,
        )


def paper_turns(box: Box) -> Hypotheses:
    """The paper's six signed box directions times seven origins (4.4 and Algorithm 1)."""
    arms = box.half[:, None] * box.axes
    origins = box.centre + np.concatenate([arms, -arms, np.zeros((1, 3))])
    axes = np.concatenate([box.axes, -box.axes])
    pairs = list(itertools.product(axes, origins))
    return Hypotheses(
        np.stack([axis for axis, _ in pairs]),
        np.stack([origin for _, origin in pairs]),
        ("box",) * len(pairs),
        ("middle", "middle", "middle", "middle", "middle", "middle", "centre") * 6,
    )


def paper_slides(box: Box) -> Hypotheses:
    """The paper's six signed box directions."""
    axes = np.concatenate([box.axes, -box.axes])
    return Hypotheses(axes, np.tile(box.centre, (6, 1)), ("box",) * 6, ("",) * 6)


def slides(features: Features, field: Field | None) -> Hypotheses:
    """Undirected sliding directions: the shape's own, and those the displacements show."""
    axes = list(features.directions)
    sources = list(features.sources)
    if field is not None:
        mean = np.einsum("sfnc,n->sfc", field.displacements, field.weights)[:, -1]
        for direction in [*mean, mean.mean(axis=0)]:
            if np.linalg.norm(direction) > 1e-3:
                axes.append(unit(direction))
                sources.append("displacements")
    axes, sources = _distinct_directions(axes, sources)
    centres = np.tile(features.box.centre, (len(axes), 1))
    return Hypotheses(axes, centres, sources, ("",) * len(axes))


def turns(features: Features, field: Field | None) -> Hypotheses:
    """Undirected hinge lines: of the shape's directions, and those the displacements show."""
    lines: list[Line] = []
    measured = [] if field is None else _measured_screws(field)
    directions = list(features.directions)
    directions += [axis for axis, _ in measured[-2:]]
    sources = [*features.sources, *["displacements"] * len(measured[-2:])]
    for axis, source in zip(*_distinct_directions(directions, sources), strict=True):
        lines += [(axis, origin, source, place) for origin, place in _places(features, axis)]
        if field is not None:
            origin = line_of_turn(field, axis)
            if origin is not None:
                lines.append((axis, origin, source, "displacements"))
    lines += [(axis, origin, "displacements", "displacements") for axis, origin in measured]
    return _distinct_lines(features.box, lines)


def _places(features: Features, axis: np.ndarray) -> list[tuple[np.ndarray, str]]:
    """Points through which a line of one direction may run, and what each is founded on."""
    box = features.box
    found = [
        (piece.centre, "round")
        for piece in features.rounds
        if line_angle_deg(piece.axis, axis) < _ROUND_DEG
    ]
    frame = _frame_about(axis, box)
    grids: list[tuple[np.ndarray, tuple[str, str, str]]] = [
        (box_corners(each), ("edge", "middle", "centre"))
        for each in (box, features.slab)
        if each is not None
    ]
    if len(features.contact) >= 3:
        grids.append((features.contact, ("contact", "contact", "contact")))
    for points, labels in grids:
        seen = points @ frame.T
        low, high = seen.min(axis=0), seen.max(axis=0)
        steps = np.stack([low, high, (low + high) / 2])
        for i, j in itertools.product(range(3), repeat=2):
            place = steps[i, 0] * frame[0] + steps[j, 1] * frame[1]
            found.append((place + (box.centre @ axis) * axis, labels[(i == 2) + (j == 2)]))
    return found


def box_corners(box: Box) -> np.ndarray:
    """The eight corners, (8, 3)."""
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    return box.centre + (signs * box.half) @ box.axes


def _frame_about(axis: np.ndarray, box: Box) -> np.ndarray:
    """Two directions (2, 3) across `axis`, along the box where it allows."""
    across = box.axes - (box.axes @ axis)[:, None] * axis
    longest = np.argmax(np.linalg.norm(across, axis=1))
    if np.linalg.norm(across[longest]) < 1e-6:
        return np.stack(perpendiculars(axis))
    first = unit(across[longest])
    return np.stack([first, np.cross(axis, first)])


def _measured_screws(field: Field) -> list[tuple[np.ndarray, np.ndarray]]:
    """Axis and origin of the rigid motion nearest to each sample, then of their mean."""
    centre = field.weights @ field.points
    pooled = field_of(
        field.points, field.weights, field.displacements.mean(axis=0)[None], field.frames
    )
    found = []
    for displacements in [*field.displacements, *pooled.displacements]:
        for frame in {0, len(field.frames) - 1}:
            targets = field.points + displacements[frame]
            screw = screw_of(*fit_rigid(field.points, targets, field.weights), centre)
            if screw is not None and screw.angle_rad > 0.03:
                found.append((screw.axis, screw.origin))
    return found


def _distinct_directions(axes, sources) -> tuple[np.ndarray, tuple[str, ...]]:
    kept: list[np.ndarray] = []
    names: list[str] = []
    for axis, source in zip(axes, sources, strict=True):
        if not kept or line_angle_deg(np.stack(kept), axis).min() > _SAME_DEG:
            kept.append(axis)
            names.append(source)
    return np.stack(kept), tuple(names)


def lines_of(box: Box, lines: list[Line]) -> Hypotheses:
    """Lines as hypotheses; each origin is the line's point nearest to the box's centre."""
    axes = np.stack([line[0] for line in lines])
    origins = np.stack([line[1] for line in lines])
    origins = origins + np.sum((box.centre - origins) * axes, axis=1)[:, None] * axes
    return Hypotheses(
        axes, origins, tuple(line[2] for line in lines), tuple(line[3] for line in lines)
    )


def _distinct_lines(box: Box, lines: list[Line]) -> Hypotheses:
    """The lines near the part, without those that repeat an earlier one."""
    axes, origins, sources, places = lines_of(box, lines)
    far = np.linalg.norm(origins - box.centre, axis=1) > _REACH * box.radius + 0.05
    same = np.abs(axes @ axes.T) > np.cos(np.radians(_SAME_DEG))
    same &= np.linalg.norm(origins[:, None] - origins, axis=-1) < _SAME_LINE
    kept: list[int] = []
    for i in np.flatnonzero(~far):
        if not same[i, kept].any():
            kept.append(int(i))
    return Hypotheses(
        axes[kept],
        origins[kept],
        tuple(sources[i] for i in kept),
        tuple(places[i] for i in kept),
    )
