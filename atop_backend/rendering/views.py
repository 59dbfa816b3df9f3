"""The rendering stage: four views of the rest state, as files in the job folder and as arrays."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from atop_backend.contracts import Camera
from atop_backend.errors import InputError, SetupError
from atop_backend.geometry.cameras import SIZE_PX, seen_positions
from atop_backend.geometry.meshes import RestShape, load_shape
from atop_backend.rendering.process import run_in_blender
from atop_backend.rendering.selectors import with_absolute_file

WORKER = Path(__file__).with_name("blender_worker.py")
VIEWS = 4
STEPS = 1 + 2 * VIEWS  # the shape, then a picture and an id map of each view
FOLDER = "render"


class RestViews(NamedTuple):
    """What four cameras see of the rest state."""

    shape: RestShape
    cameras: tuple[Camera, ...]
    rgb: np.ndarray  # (views, height, width, 3) uint8, display sRGB, plain grey behind
    part_mask: np.ndarray  # (views, height, width) bool, where the moving part is seen
    face_ids: np.ndarray  # (views, height, width) int32, triangle seen, -1 for none
    positions: np.ndarray  # (views, height, width, 3) float32, point seen, normalised; 0 for none


class PartNames(NamedTuple):
    """What selectors can name in an asset."""

    nodes: tuple[str, ...]
    materials: tuple[str, ...]
    vgroups: tuple[str, ...]
    parents: tuple[str, ...]  # beside each node; empty for one without


def render_views(
    asset: Path,
    parts: Sequence[str],
    job_dir: Path,
    *,
    elevation_rad: float,
    blender: str = "",
    size_px: int = SIZE_PX,
    samples: int = 16,
    threads: int = 0,
    turn: np.ndarray | None = None,
    time_limit_s: float = 180.0,
    on_progress: Callable[[int, int], None] = lambda step, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> RestViews:
    """The rest views, also written to `<job_dir>/render/`, which is replaced only on success.

    Args:
        parts: Selectors, see `selectors.parse`; together they are the part that moves.
        blender: A Blender program, or empty for a Python with bpy.
        samples: Cycles paths a pixel.
        threads: Of Cycles; 0 means all.
        turn: Rotation (3, 3) of the whole object in Blender's world, to test with.
        on_progress: Called with steps done and steps in all.
        cancelled: Polled; true ends Blender and raises `CancelledError`.

    Raises:
        InputError: The asset or a part of it cannot be used.
        SetupError: Blender is missing, too old, crashed or took too long.
    """
    request = {
        "command": "render",
        "asset": str(_existing(asset)),
        "parts": [with_absolute_file(part, Path.cwd()) for part in parts],
        "elevation_rad": elevation_rad,
        "size_px": size_px,
        "samples": samples,
        "threads": threads,
        "turn": None if turn is None else np.asarray(turn, dtype=np.float64).tolist(),
    }
    job_dir.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".render-", dir=job_dir))
    done = 0

    def watch() -> None:
        nonlocal done
        names = os.listdir(aside)
        seen = sum(name.startswith(("shape", "rgb_", "ids_", "maps")) for name in names)
        if seen > done:
            done = seen
            on_progress(min(done, STEPS), STEPS)

    try:
        run_in_blender(
            WORKER,
            request,
            aside,
            blender=blender,
            time_limit_s=time_limit_s,
            watch=watch,
            cancelled=cancelled,
        )
        _check_complete(aside)
        views = load_folder(aside)
        _put(aside, job_dir / FOLDER)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    on_progress(STEPS, STEPS)
    return views


def load_views(job_dir: Path) -> RestViews:
    """The views that `render_views` wrote into a job folder.

    Raises:
        InputError: They are missing or damaged.
    """
    folder = job_dir / FOLDER
    if not folder.is_dir():
        raise InputError(f"{job_dir} has no rendered views", hint="run the render stage first")
    return load_folder(folder)


def load_folder(folder: Path) -> RestViews:
    """The views in a folder with shape.npz, cameras.json, maps.npz and rgb_*.png."""
    from PIL import Image

    shape = load_shape(folder / "shape.npz")
    try:
        document = json.loads((folder / "cameras.json").read_text(encoding="utf-8"))
        cameras = tuple(Camera.from_dict(entry) for entry in document)
        with np.load(folder / "maps.npz", allow_pickle=False) as maps:
            part_mask, face_ids = maps["part_mask"], maps["face_ids"]
        pictures = []
        for view in range(len(cameras)):
            with Image.open(folder / f"rgb_{view}.png") as picture:
                pictures.append(np.asarray(picture.convert("RGB")))
        rgb = np.stack(pictures)
    except (OSError, KeyError, ValueError, EOFError) as error:
        raise InputError(
            f"the rendered views in {folder} are damaged ({error})",
            hint="run the render stage again",
        ) from error
    positions = np.stack(
        [
            seen_positions(camera, ids, shape.vertices, shape.triangles)
            for camera, ids in zip(cameras, face_ids, strict=True)
        ]
    ).astype(np.float32)
    return RestViews(shape, cameras, rgb, part_mask, face_ids, positions)


def list_parts(asset: Path, *, blender: str = "", time_limit_s: float = 180.0) -> PartNames:
    """What of the asset can be named as a part."""
    request = {"command": "list", "asset": str(_existing(asset))}
    with tempfile.TemporaryDirectory() as folder:
        names = run_in_blender(
            WORKER, request, Path(folder), blender=blender, time_limit_s=time_limit_s
        )
    return PartNames(*(tuple(names[kind]) for kind in PartNames._fields))


def _existing(asset: Path) -> Path:
    if not asset.is_file():
        raise InputError(f"there is no file {asset}", hint="check the path of the object")
    return asset.resolve()


def _check_complete(folder: Path) -> None:
    expected = ("shape.npz", "cameras.json", "maps.npz", *(f"rgb_{i}.png" for i in range(VIEWS)))
    missing = [name for name in expected if not (folder / name).is_file()]
    if missing:
        raise SetupError(
            f"Blender reported success but did not write {', '.join(missing)}",
            hint="check free space on the disk, and that this Blender has Cycles",
        )


def _put(folder: Path, target: Path) -> None:
    """Move the finished folder to its place, whatever is there."""
    old = target.with_name(f".{target.name}.old-{os.getpid()}")
    if target.exists():
        target.rename(old)
    folder.rename(target)
    shutil.rmtree(old, ignore_errors=True)
