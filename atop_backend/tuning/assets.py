"""Articulated assets in one form, whatever file they came in, and how their parts are called."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from atop_backend.contracts import JointKind, JointMotion
from atop_backend.errors import InputError
from atop_backend.geometry.joints import joint_under
from atop_backend.geometry.meshes import Y_UP

UNLIMITED_TURN = math.pi / 2  # of a joint that turns freely; shows which way it goes
LEAST_TRAVEL = 1e-4  # radians or metres; joints with less are as good as fixed
PROMPT = "the {part} of the {object} opens"
_KEYED = (".blend", ".glb", ".gltf", ".fbx")
_USD = (".usd", ".usda", ".usdc", ".usdz")
SUFFIXES = (".urdf", ".xml", ".mjcf", *_USD, *_KEYED)


class Mover(NamedTuple):
    """One part that moves: one clip."""

    part: str  # for people, as the asset calls it
    nodes: tuple[str, ...]  # objects of the file that move, each with all below it
    joint: JointMotion | None  # from the pose of the file on; None where keyframes move it
    joint_node: str = ""  # the joint is in the frame of this object; empty: in that of the file
    prompts: tuple[str, ...] = ()  # sentences that describe the motion, where some are known


class Asset(NamedTuple):
    """Something that can be filmed."""

    name: str
    file: Path  # what Blender opens
    movers: tuple[Mover, ...]
    source: Mapping[str, object]  # what it was made from; the same source gives the same clips


def find_assets(paths: Sequence[Path]) -> list[Path]:
    """The asset files among paths and below folders, in order, each once.

    Raises:
        InputError: A path is missing or of no known format, or a folder holds no asset.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = [p for p in sorted(path.rglob("*")) if _is_asset(p)]
            if not inside:
                raise InputError(
                    f"{path} holds no articulated asset",
                    hint=f"it needs files of {', '.join(SUFFIXES)}",
                )
            found.update(dict.fromkeys(p.resolve() for p in inside))
        elif not path.is_file():
            raise InputError(f"there is no file {path}", hint="check the path of the asset")
        elif path.suffix.lower() not in SUFFIXES:
            raise InputError(
                f"{path.name} is not a format with joints or keyframes that can be read",
                hint=f"give one of {', '.join(SUFFIXES)}",
            )
        else:
            found[path.resolve()] = None
    return list(found)


def _is_asset(path: Path) -> bool:
    """Whether a file of a folder is an asset by itself, and no mesh or settings of another."""
    suffix = path.suffix.lower()
    if suffix == ".xml":  # and no <mujocoinclude>, which is a piece of one
        return path.is_file() and bool(re.search(rb"<mujoco[\s>]", path.read_bytes()[:4096]))
    return suffix in (".urdf", ".mjcf", *_USD, ".blend") and path.is_file()


def asset_names(paths: Sequence[Path]) -> list[str]:
    """A different name for each file: its own, with its folder's where that is not enough."""
    stems = [path.stem for path in paths]
    names = [
        stem if stems.count(stem) == 1 else f"{path.parent.name}_{stem}"
        for path, stem in zip(paths, stems, strict=True)
    ]
    return [
        name if names.count(name) == 1 else f"{name}_{number}" for number, name in enumerate(names)
    ]


def read_asset(path: Path, name: str, scratch: Path, blender: str = "") -> Asset:
    """The asset of a file.

    Args:
        scratch: An existing folder of its own, for what Blender opens in place of the file.
        blender: A Blender program, or empty for a Python with bpy.

    Raises:
        InputError: The file is broken, or nothing in it moves.
        SetupError: The package that reads this format is not installed.
    """
    file, suffix = path, path.suffix.lower()
    if suffix == ".urdf":
        from atop_backend.tuning.urdf import urdf_movers

        file, movers = urdf_movers(path, scratch)
    elif suffix in (".xml", ".mjcf"):
        from atop_backend.tuning.mjcf import read_mjcf

        file, movers = read_mjcf(path, scratch)
    elif suffix in _USD:
        from atop_backend.tuning.usd import read_usd

        file, movers = read_usd(path, scratch)
    else:
        from atop_backend.tuning.film import find_keyed

        movers = find_keyed(path, scratch, blender)
    if not movers:
        raise InputError(
            f"nothing moves in {path.name}",
            hint="it needs a hinge or slider with a range, or an object with keyframes",
        )
    status = path.stat()
    source = {"file": str(path), "bytes": status.st_size, "changed": status.st_mtime_ns}
    return Asset(name, file, tuple(movers), source)


def travel_from(
    kind: JointKind,
    axis: np.ndarray,
    origin: np.ndarray,
    start: float,
    limits: tuple[float, float],
    name: str,
) -> JointMotion | None:
    """The motion from a joint's value in the file to the farther limit; None if it is fixed.

    Args:
        axis: (3,), along which the value grows; any length above 0.
        origin: (3,), a point on it.
        limits: Radians or length units; infinite where there is none.
        name: Of the joint, for messages.
    """
    lower, upper = limits
    if not (math.isfinite(lower) and math.isfinite(upper)):
        if kind == "prismatic":
            raise InputError(
                f"the slider {name!r} has no end", hint="give the joint a lower and an upper limit"
            )
        lower, upper = start, start + UNLIMITED_TURN
    travel = max(lower - start, upper - start, key=abs)
    length = float(np.linalg.norm(axis))
    if abs(travel) < LEAST_TRAVEL:
        return None
    if length < 1e-9 or not np.isfinite([*axis, *origin]).all():
        raise InputError(f"the joint {name!r} has no direction", hint="mend its axis")
    way = np.asarray(axis) * math.copysign(1 / length, travel)
    point = tuple(np.asarray(origin, dtype=np.float64).tolist())
    return JointMotion(kind, tuple(way.tolist()), point, 0.0, abs(travel))


def rest_value(limits: tuple[float, float]) -> float:
    """The value nearest to zero that a joint may have."""
    return min(max(0.0, limits[0]), limits[1])


def to_y_up(joint: JointMotion) -> JointMotion:
    """A joint of a world with Z up in the frame of a glTF file."""
    turn = np.eye(4)
    turn[:3, :3] = Y_UP
    return joint_under(joint, turn)


def read_sentences(path: Path) -> dict[str, str]:
    """Sentences by "asset/part" or part, from a JSON object in a file.

    Raises:
        InputError: It is no such object.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error})", hint="check --prompts") from error
    fits = isinstance(data, dict) and all(
        isinstance(text, str) and text.strip() for text in data.values()
    )
    if not fits:
        raise InputError(
            f"{path} is no table of sentences",
            hint='write {"oven/door": "the oven door folds down"}',
        )
    return data


def sentence(asset: Asset, mover: Mover, template: str | None, table: Mapping[str, str]) -> str:
    """How the motion is described: by the table, the template, the asset, or plainly."""
    for key in (f"{asset.name}/{mover.part}", mover.part):
        if key in table:
            return table[key]
    if template is None and mover.prompts:
        return mover.prompts[0]
    names = {"part": _words(mover.part), "object": _words(asset.name)}
    try:
        return (template or PROMPT).format(**names)
    except (KeyError, IndexError, ValueError) as error:
        raise InputError(
            f"the prompt {template!r} cannot be filled in ({error})",
            hint="it may hold {part} and {object}",
        ) from error


def _words(name: str) -> str:
    """A name as words: "Left_door.001" is "left door"."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return " ".join(re.findall(r"[^\W\d_]+", spaced)).lower() or name
