"""Where an object to export comes from: finished job folders, or one description file."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from atop_backend.contracts import JobRequest, JobResult, JointMotion
from atop_backend.errors import InputError
from atop_backend.export.model import MovingPart, Up, asset_up
from atop_backend.geometry.meshes import load_shape

SAME_PLACE = 1e-5  # of the object's size; two renders of one asset agree to rounding


class SourceObject(NamedTuple):
    """A whole object in the frame and units of its file."""

    name: str
    vertices: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (m, 3)
    parts: list[MovingPart]
    up: Up
    metres_per_unit: float


def read_jobs(jobs: Sequence[Path]) -> SourceObject:
    """One object with the part of each job folder; all jobs are of the same asset.

    A part that lies within another job's part, such as a knob within its door, hangs on that.

    Raises:
        InputError: A job is unfinished, or the jobs are of different assets.
    """
    requests, parts, first = [], [], None
    for job in jobs:
        request = JobRequest.from_dict(_read_json(job / "request.json"))
        result = JobResult.from_dict(_read_json(job / "result.json"))
        vertices, triangles, moving = _read_shape(job / "render" / "shape.npz")
        if first is None:
            first = vertices, triangles
        elif not _same_mesh(first, (vertices, triangles)):
            raise InputError(
                f"{job} is of another object than {jobs[0]}",
                hint="export jobs of one asset together, and others apart",
            )
        requests.append(request)
        parts.append(MovingPart("_".join(request.parts), moving, result.joint))
    if first is None:
        raise InputError("no job was named", hint="give the folder of a finished job")
    asset = requests[0].asset
    return SourceObject(asset.stem, first[0], first[1], _nest(parts), asset_up(asset), 1.0)


def read_description(path: Path) -> SourceObject:
    """The object of a description file, as the add-on writes it.

    JSON with `name`, `up` ("y" or "z"), `metres_per_unit`, `mesh` (an .npz beside it with
    `vertices` (n, 3), `triangles` (m, 3) and `part` (m,), the index of each triangle's part or
    -1) and `parts`, a list of {"name": ..., "joint": {type, axis, origin, range}} and, for a part
    that hangs on another one, its index as `parent`.

    Raises:
        InputError: Something is missing or does not fit.
    """
    data = _read_json(path)
    try:
        arrays = _read_arrays(path.parent / data["mesh"], ("vertices", "triangles", "part"))
        vertices, triangles, owner = arrays
        parts = [
            MovingPart(
                str(part["name"]),
                owner == index,
                JointMotion.from_dict(part["joint"]),
                int(part.get("parent", -1)),
            )
            for index, part in enumerate(data["parts"])
        ]
        up, units = data.get("up", "z"), float(data.get("metres_per_unit", 1.0))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} does not describe an object ({error})",
            hint="it needs name, mesh and parts with their joints",
        ) from error
    if up not in ("y", "z"):
        raise InputError(f"{path} has {up!r} for the axis upwards", hint="write y or z")
    return SourceObject(
        str(data.get("name", path.stem)), vertices, triangles.astype(int), parts, up, units
    )


def _nest(parts: Sequence[MovingPart]) -> list[MovingPart]:
    """The parts, each without the triangles of those within it, which hang on it."""
    counts = [int(part.triangles.sum()) for part in parts]
    nested = list(parts)
    for index, part in enumerate(parts):
        around = [
            other
            for other, whole in enumerate(parts)
            if counts[other] > counts[index] and whole.triangles[part.triangles].all()
        ]
        if around:
            carrier = min(around, key=counts.__getitem__)
            rest = nested[carrier].triangles & ~part.triangles
            nested[index] = nested[index]._replace(parent=carrier)
            nested[carrier] = nested[carrier]._replace(triangles=rest)
    return nested


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} cannot be read ({error})", hint="give a job that has finished"
        ) from error
    if not isinstance(data, dict):
        raise InputError(f"{path} is not a JSON object", hint="run the job again")
    return data


def _read_shape(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices in the file's frame, triangles, and which of these move."""
    shape = load_shape(path)
    to_file = shape.normalised_to_file
    return shape.vertices @ to_file[:3, :3].T + to_file[:3, 3], shape.triangles, shape.part


def _read_arrays(path: Path, names: Sequence[str]) -> list[np.ndarray]:
    try:
        with np.load(path) as arrays:
            return [arrays[name] for name in names]
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be read ({error})", hint="write it again") from error


def _same_mesh(first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]) -> bool:
    if first[0].shape != second[0].shape or not np.array_equal(first[1], second[1]):
        return False
    return bool(np.abs(first[0] - second[0]).max() <= SAME_PLACE * np.ptp(first[0]))
