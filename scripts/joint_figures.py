"""How far a joint is from an annotated one, and tables of such figures.

The figures are those of the evaluation set's own scorer: angles in degrees, lengths over the radius
of the whole object. Axes of knobs, wheels and the like have no direction (`directed` is false).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

Figures = dict[str, float]

COLUMNS = {
    "type": "type",
    "axis": "axis °",
    "axis 5": "< 5°",
    "directed": "directed °",
    "sign": "sign",
    "line": "line",
    "point": "point-line",
    "origin": "origin*",
    "range": "range",
}


def figures(joint: Mapping[str, Any] | None, case: Mapping[str, Any]) -> Figures:
    """The figures of one joint (type, axis, origin, range) of a case; no joint is a wrong type."""
    truth = case["joint"]
    if joint is None:
        return {"type": 0.0}
    found: Figures = {"type": float(joint["type"] == truth["type"])}
    axis = np.asarray(joint["axis"], dtype=float)
    axis = axis / np.linalg.norm(axis)
    true_axis = np.asarray(truth["axis"], dtype=float)
    angle = angle_deg(axis, true_axis)
    found["axis"] = min(angle, 180 - angle)
    found["axis 5"] = float(found["axis"] < 5)
    if truth["directed"]:
        found["directed"] = angle
        found["sign"] = float(angle < 90)
    if truth["type"] == "revolute":
        origin, true_origin = np.asarray(joint["origin"], float), np.asarray(truth["origin"], float)
        scale, centre = case["scale"], np.asarray(case["center"], float)
        found["line"] = line_distance(origin, axis, true_origin, true_axis) / scale
        found["point"] = point_distance(origin, true_origin, true_axis) / scale
        foot, true_foot = (
            point + ((centre - point) @ direction) * direction
            for point, direction in ((origin, axis), (true_origin, true_axis))
        )
        found["origin"] = float(np.linalg.norm(foot - true_foot)) / scale
    if found["type"] and not truth.get("continuous") and "range" in joint:
        true_range = truth["range"][1] - truth["range"][0]
        given = joint["range"][1] - joint["range"][0]
        found["range"] = abs(given - true_range) / max(true_range, 1e-9)
    return found


def is_right(found: Figures) -> bool:
    """Whether a joint would be taken as it is: type, axis, sign and place."""
    return bool(
        found["type"]
        and found.get("axis", 90) < 10
        and found.get("sign", 1.0)
        and found.get("point", 0.0) < 0.1
    )


def angle_deg(first: np.ndarray, second: np.ndarray) -> float:
    """The angle between two directions, in [0, 180]."""
    cross = np.linalg.norm(np.cross(first, second))
    return math.degrees(math.atan2(cross, float(first @ second)))


def point_distance(point: np.ndarray, origin: np.ndarray, axis: np.ndarray) -> float:
    """Distance of a point to a line."""
    offset = point - origin
    return float(np.linalg.norm(offset - (offset @ axis) * axis))


def line_distance(
    origin: np.ndarray, axis: np.ndarray, other: np.ndarray, other_axis: np.ndarray
) -> float:
    """Least distance between two lines."""
    cross = np.cross(axis, other_axis)
    length = float(np.linalg.norm(cross))
    if length < 1e-6:
        return point_distance(origin, other, other_axis)
    return abs(float((other - origin) @ cross)) / length


def mean(rows: Iterable[Figures], key: str) -> float | None:
    """The mean over the rows that have the figure."""
    values = [row[key] for row in rows if key in row]
    return sum(values) / len(values) if values else None


def averaged(rows: Sequence[Figures]) -> Figures:
    """One row with the mean of each figure, as of a choice among equals."""
    keys = {key for row in rows for key in row}
    return {key: value for key in keys if (value := mean(rows, key)) is not None}


def table(title: str, groups: Mapping[str, Sequence[Figures]]) -> str:
    """A Markdown table with one line a group."""
    lines = [
        f"| {title} | n | " + " | ".join(COLUMNS.values()) + " |",
        "|---|---|" + "---|" * len(COLUMNS),
    ]
    for name, rows in groups.items():
        cells = [_cell(mean(rows, key), key) for key in COLUMNS]
        lines.append(f"| {name} | {len(rows)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(value: float | None, key: str) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if key in ("axis", "directed") else f"{value:.3f}"


def calibration_error(pairs: Sequence[tuple[float, bool]], bins: int = 5) -> float:
    """Expected calibration error of (confidence, right) pairs, bins of equal count."""
    if not pairs:
        return math.nan
    ordered = sorted(pairs)
    error = 0.0
    for part in np.array_split(np.array(ordered, dtype=float), bins):
        if len(part):
            error += len(part) / len(ordered) * abs(part[:, 0].mean() - part[:, 1].mean())
    return error
