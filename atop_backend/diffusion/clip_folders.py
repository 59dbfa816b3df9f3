"""Training clips on disk: one folder a clip, with `meta.json` and either `clip.npz` or pictures.

meta.json: prompt, frames (share of the motion in each moved frame, rising, in (0, 1]), cameras
(`Camera.to_dict`, one a view), and for the bundled model part_centre and part_radius.

clip.npz: rgb uint8 (views, frames + 1, size, size, 3), the rest frame first; mask bool (views,
size, size), the part at rest; for the bundled model also positions (views, size, size, 3),
silhouettes (views, frames, 32, 32) and motions (views, frames, 3, 32, 32), all in the normalised
frame. Without clip.npz: `view_V/frame_F.png` and `view_V/mask.png`, which is enough for ImageDream.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, UnidentifiedImageError

from atop_backend.contracts import Camera
from atop_backend.errors import AtopError, InputError


class TrainingClip(NamedTuple):
    """One clip of one object."""

    prompt: str
    frames: np.ndarray  # (frames,), without the rest frame
    cameras: tuple[Camera, ...]
    rgb: np.ndarray  # (views, frames + 1, size, size, 3) uint8
    mask: np.ndarray  # (views, size, size) bool
    part_centre: np.ndarray  # (3,)
    part_radius: float
    positions: np.ndarray | None = None  # (views, size, size, 3)
    silhouettes: np.ndarray | None = None  # (views, frames, 32, 32), area shares
    motions: np.ndarray | None = None  # (views, frames, 3, 32, 32), normalised displacements


_MAPS = ("positions", "silhouettes", "motions")


def write_clip(folder: Path, clip: TrainingClip, about: Mapping[str, Any] | None = None) -> None:
    """Write one clip; the folder is made.

    Args:
        about: What it was made from, kept in meta.json for whoever wants to know.
    """
    folder.mkdir(parents=True, exist_ok=True)
    maps = {
        name: getattr(clip, name).astype(np.float16)
        for name in _MAPS
        if getattr(clip, name) is not None
    }
    np.savez_compressed(folder / "clip.npz", rgb=clip.rgb, mask=clip.mask, **maps)
    meta = {
        "prompt": clip.prompt,
        "frames": clip.frames.tolist(),
        "cameras": [camera.to_dict() for camera in clip.cameras],
        "part_centre": clip.part_centre.tolist(),
        "part_radius": clip.part_radius,
        "about": dict(about or {}),
    }
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")


def clip_paths(folder: Path) -> list[Path]:
    """The folders of all clips below, in the order of their names."""
    paths = sorted(path.parent for path in folder.rglob("meta.json"))
    if not paths:
        raise InputError(
            f"{folder} holds no clips", hint="each clip is a folder with a meta.json in it"
        )
    return paths


def read_clip(folder: Path) -> TrainingClip:
    """The clip of one folder; `InputError` says what is wrong with it."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        cameras = tuple(map(Camera.from_dict, meta["cameras"]))
        frames = np.asarray(meta["frames"], dtype=np.float64)
        arrays = _arrays(folder, len(cameras), len(frames))
        clip = TrainingClip(
            prompt=str(meta["prompt"]),
            frames=frames,
            cameras=cameras,
            part_centre=np.asarray(meta.get("part_centre", (0, 0, 0)), dtype=np.float64),
            part_radius=float(meta.get("part_radius", 1.0)),
            **arrays,
        )
    except AtopError:
        raise
    except (
        OSError,
        KeyError,
        TypeError,
        ValueError,
        zipfile.BadZipFile,
        UnidentifiedImageError,
    ) as error:
        raise InputError(
            f"the clip {folder.name} cannot be read ({error})", hint="render it again or remove it"
        ) from error
    _check(clip, folder)
    return clip


def _arrays(folder: Path, views: int, frames: int) -> dict[str, Any]:
    packed = folder / "clip.npz"
    if packed.is_file():
        with np.load(packed) as data:
            return {name: data[name] for name in ("rgb", "mask", *_MAPS) if name in data.files}
    rgb = [
        [
            np.asarray(Image.open(folder / f"view_{view}" / f"frame_{frame}.png").convert("RGB"))
            for frame in range(frames + 1)
        ]
        for view in range(views)
    ]
    masks = [
        np.asarray(Image.open(folder / f"view_{view}" / "mask.png").convert("L")) > 127
        for view in range(views)
    ]
    return {"rgb": np.stack(list(map(np.stack, rgb))), "mask": np.stack(masks)}


def _check(clip: TrainingClip, folder: Path) -> None:
    views, count = len(clip.cameras), len(clip.frames)
    size = clip.rgb.shape[2] if clip.rgb.ndim == 5 else 0
    coarse = size // 8
    shapes = {
        "rgb": (views, count + 1, size, size, 3),
        "mask": (views, size, size),
        "positions": (views, size, size, 3),
        "silhouettes": (views, count, coarse, coarse),
        "motions": (views, count, 3, coarse, coarse),
    }
    for name, shape in shapes.items():
        array = getattr(clip, name)
        if array is not None and array.shape != shape:
            raise InputError(
                f"the clip {folder.name} has {name} of shape {array.shape}, expected {shape}",
                hint="one picture a view and frame, the rest frame first",
            )
    rising = count > 0 and clip.frames[0] > 0 and clip.frames[-1] <= 1
    if not rising or (np.diff(clip.frames) <= 0).any():
        raise InputError(
            f"the clip {folder.name} has frames {clip.frames.tolist()}",
            hint="they are shares of the motion: rising, above 0 and at most 1",
        )
    if not clip.prompt.strip():
        raise InputError(f"the clip {folder.name} has no prompt", hint="say how the part moves")
    if not clip.mask.any():
        raise InputError(
            f"the clip {folder.name} shows the part in no view", hint="check its part mask"
        )
