"""Continuous refinement of a hinge line on the displacements, beyond the paper's fixed choices."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from atop_backend.geometry.joints import line_angle_deg, perpendiculars, rodrigues, unit
from atop_backend.motion.displacement import Field, field_of, line_of_turn, mix_turns
from atop_backend.motion.features import Features
from atop_backend.motion.hypotheses import Line

_MAX_POINTS = 120  # the line has four numbers; more points only cost time
_MAX_TILT_RAD = 0.8  # a start further off than this belongs to another hypothesis
_SNAP_DEG = 4.0  # a refined hinge this near to a direction of the shape is also tried along it


def pooled_field(field: Field, trust: np.ndarray) -> Field:
    """The mean of the samples, each counting by `trust` (samples,), thinned to few points."""
    trust = trust / trust.sum()
    mean = np.einsum("s,sfnc->fnc", trust, field.displacements)[None]
    step = max(1, len(field.points) // _MAX_POINTS)
    picks = slice(None, None, step)
    return field_of(field.points[picks], field.weights[picks], mean[:, :, picks], field.frames)


def refined_lines(
    features: Features,
    field: Field,
    axis: np.ndarray,
    origin: np.ndarray,
    reach: float,
    most_tilt_rad: float = _MAX_TILT_RAD,
) -> list[Line]:
    """A hinge refined on a pooled field, and the same along the shape's directions near it.

    Args:
        reach: As `refine_turn` takes it.
    """
    axis, origin = refine_turn(field, axis, origin, reach, most_tilt_rad)
    lines: list[Line] = [(axis, origin, "refined", "refined")]
    for near in np.flatnonzero(line_angle_deg(features.directions, axis) < _SNAP_DEG):
        snapped = features.directions[near] * np.sign(features.directions[near] @ axis)
        place = line_of_turn(field, snapped)
        if place is not None:
            lines.append((snapped, place, features.sources[near], "refined"))
    return lines


def refine_turn(
    field: Field,
    axis: np.ndarray,
    origin: np.ndarray,
    reach: float,
    most_tilt_rad: float = _MAX_TILT_RAD,
) -> tuple[np.ndarray, np.ndarray]:
    """The line near a hypothesis that best explains a pooled field: axis (3,), origin (3,).

    The amounts are solved anew for every line tried (variable projection), so only two angles
    and two offsets are searched.

    Args:
        reach: Length in which offsets are measured and beyond which the line may not move.
    """
    first, second = perpendiculars(axis)
    scale = np.sqrt(field.weights)[None, :, None] / np.sqrt(field.energy.mean() + 1e-12)

    def line(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tilt = numbers[0] * first + numbers[1] * second
        angle = float(np.linalg.norm(tilt))
        turned = rodrigues(tilt / angle, angle) @ axis if angle > 1e-12 else axis
        return unit(turned), origin + reach * (numbers[2] * first + numbers[3] * second)

    def residuals(numbers: np.ndarray) -> np.ndarray:
        return (scale * _left_over(field, *line(numbers))).ravel()

    bounds = np.array([most_tilt_rad, most_tilt_rad, 1.0, 1.0])
    found = least_squares(
        residuals,
        np.zeros(4),
        bounds=(-bounds, bounds),
        loss="soft_l1",
        f_scale=0.05,
        max_nfev=25,
        xtol=1e-7,
        ftol=1e-7,
    )
    return line(found.x)


def _left_over(field: Field, axis: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Displacement not explained by the best turn about a line, (frames, n, 3)."""
    arms = field.points - origin
    arms = arms - np.outer(arms @ axis, axis)
    mixed = mix_turns(field, axis[None], origin[None])
    sine, cosine = mixed.sine[0, 0, :, None, None], mixed.cosine[0, 0, :, None, None]
    return field.displacements[0] - sine * np.cross(axis, arms) - (cosine - 1) * arms
