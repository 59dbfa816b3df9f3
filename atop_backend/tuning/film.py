"""Films one part of one asset in Blender: a training clip as `finetune` reads it."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from atop_backend.diffusion.clip_folders import TrainingClip
from atop_backend.errors import InputError
from atop_backend.geometry.cameras import SIZE_PX
from atop_backend.geometry.extents import part_extent
from atop_backend.geometry.meshes import part_vertices
from atop_backend.motion.evidence import BLOCK_PX, block_points
from atop_backend.rendering.process import run_in_blender
from atop_backend.rendering.views import VIEWS, load_folder
from atop_backend.tuning.assets import Asset, Mover

WORKER = Path(__file__).parents[1] / "rendering" / "blender_clips.py"


@dataclass(frozen=True, slots=True)
class FilmSettings:
    """How clips are filmed."""

    frames: int = 10  # with the rest frame (paper 5.1)
    elevation_deg: float = 20.0  # as objects are looked at in use; the paper has 10 or 30
    samples: int = 16  # Cycles paths a pixel
    size_px: int = SIZE_PX
    time_limit_s: float = 900.0  # for one clip

    def __post_init__(self) -> None:
        if not 2 <= self.frames <= 64:
            raise InputError(f"{self.frames} frames make no clip", hint="take 2 to 64 of them")
        if not -89 <= self.elevation_deg <= 89:
            raise InputError(
                f"an elevation of {self.elevation_deg:g} degrees", hint="take -89 to 89"
            )
        if self.samples < 1:
            raise InputError(f"{self.samples} samples a pixel", hint="take at least 1")

    def to_dict(self) -> dict[str, Any]:
        """The settings as a clip's folder keeps them."""
        return asdict(self)


def find_keyed(path: Path, scratch: Path, blender: str = "") -> list[Mover]:
    """The groups of objects that keyframes move in a file, each as one part.

    Args:
        scratch: An existing folder, for the talk with Blender.
        blender: A Blender program, or empty for a Python with bpy.
    """
    request = {"command": "keyed", "asset": str(path.resolve())}
    found = run_in_blender(WORKER, request, scratch, blender=blender, time_limit_s=180.0)
    return [Mover(names[0], tuple(names), None) for names in found["groups"]]


def film(
    asset: Asset,
    mover: Mover,
    prompt: str,
    settings: FilmSettings,
    blender: str = "",
    on_picture: Callable[[int], None] = lambda done: None,
) -> TrainingClip:
    """The clip of one part.

    Args:
        on_picture: Called with the number of pictures that are done.

    Raises:
        InputError: The part cannot be filmed: unknown, not rigid, or never seen.
        SetupError: Blender is missing, crashed or took too long.
    """
    request = {
        "command": "film",
        "asset": str(asset.file),
        "parts": list(mover.nodes),
        "joint": None if mover.joint is None else mover.joint.to_dict(),
        "joint_node": mover.joint_node,
        "frames": settings.frames,
        "elevation_rad": math.radians(settings.elevation_deg),
        "size_px": settings.size_px,
        "samples": settings.samples,
        "threads": 0,
    }
    folder = Path(tempfile.mkdtemp(prefix="atop-clip-"))
    done = 0

    def watch() -> None:
        nonlocal done
        seen = sum(name.startswith("rgb_") for name in os.listdir(folder))
        if seen > done:
            done = seen
            on_picture(done)

    try:
        run_in_blender(
            WORKER, request, folder, blender=blender, time_limit_s=settings.time_limit_s,
            watch=watch,
        )  # fmt: skip
        return _read(folder, settings.frames, prompt)
    except InputError as error:
        raise InputError(f"{asset.name}, part {mover.part}: {error.message}", error.hint) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(folder: Path, frames: int, prompt: str) -> TrainingClip:
    """The clip from what Blender left in a folder."""
    from PIL import Image

    with np.load(folder / "maps.npz") as maps:
        masks, face_ids = maps["part_mask"], maps["face_ids"]
    with np.load(folder / "motion.npz") as motion:
        deltas, shares = motion["deltas"], motion["shares"]
    pictures = []
    for view in range(VIEWS):
        for frame in range(frames):
            with Image.open(folder / f"rgb_{view}_{frame}.png") as picture:
                pictures.append(np.asarray(picture.convert("RGB")))
        shutil.copy(folder / f"rgb_{view}_0.png", folder / f"rgb_{view}.png")
    np.savez(folder / "maps.npz", face_ids=face_ids, part_mask=masks[:, 0])
    rest = load_folder(folder)
    size = rest.part_mask.shape[1]
    centre, radius = part_extent(part_vertices(rest.shape))
    blocks = masks[:, 1:].reshape(VIEWS, frames - 1, size // BLOCK_PX, BLOCK_PX, -1, BLOCK_PX)
    return TrainingClip(
        prompt=prompt,
        frames=shares,
        cameras=rest.cameras,
        rgb=np.stack(pictures).reshape(VIEWS, frames, size, size, 3),
        mask=rest.part_mask,
        part_centre=centre,
        part_radius=radius,
        positions=rest.positions,
        silhouettes=blocks.mean(axis=(3, 5)),
        motions=block_motions(rest.positions, rest.part_mask, deltas),
    )


def block_motions(positions: np.ndarray, part_mask: np.ndarray, deltas: np.ndarray) -> np.ndarray:
    """Displacement of each block's mean part point in every moved frame.

    Args:
        positions: Surface point under each pixel at rest, (views, height, width, 3).
        part_mask: Where the part is seen at rest, (views, height, width).
        deltas: The part's motion from rest to each frame, (frames, 4, 4).

    Returns:
        (views, frames, 3, rows, columns); zeros where the part is not seen.
    """
    points, _, places = block_points(positions, part_mask)
    views, height, width = part_mask.shape
    result = np.zeros((views, len(deltas), 3, height // BLOCK_PX, width // BLOCK_PX))
    there = np.einsum("fij,nj->nfi", deltas[:, :3, :3], points) + deltas[:, :3, 3]
    view, row, column = places.T
    result[view, :, :, row, column] = there - points[:, None]
    return result
