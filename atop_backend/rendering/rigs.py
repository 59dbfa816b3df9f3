"""Rigs by way of Blender: a child process reads one, or writes a motion on one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from atop_backend.errors import InputError, SetupError
from atop_backend.rendering.process import run_in_blender

WORKER = Path(__file__).with_name("blender_rig.py")


class RigRead(NamedTuple):
    """What Blender found."""

    path: Path  # of rig.npz
    armature: str
    notes: tuple[str, ...]  # sentences for the artist: what was left out or will be muted


def read_rig(
    asset: Path,
    folder: Path,
    *,
    armature: str = "",
    blender: str = "",
    time_limit_s: float = 180.0,
    cancelled: Callable[[], bool] = lambda: False,
) -> RigRead:
    """The rig of an asset as a file in `folder`, for `geometry.rigs.load_rig`.

    Args:
        armature: Name of the one that moves; empty for the only one.
        blender: A Blender program, or empty for a Python with bpy.

    Raises:
        InputError: There is no rig in the asset, or one that cannot be used.
        SetupError: Blender is missing, too old, crashed or took too long.
    """
    request = {"command": "read_rig", "asset": str(_existing(asset)), "armature": armature}
    folder.mkdir(parents=True, exist_ok=True)
    found = run_in_blender(
        WORKER, request, folder, blender=blender, time_limit_s=time_limit_s, cancelled=cancelled
    )
    path = folder / found["rig"]
    if not path.is_file():
        raise SetupError(f"Blender did not write {path}", hint="check the free space on the disk")
    return RigRead(path, found["armature"], tuple(found["notes"]))


def write_motion(
    asset: Path,
    motion: Path,
    folder: Path,
    *,
    armature: str = "",
    fps: float = 24.0,
    start_frame: int = 1,
    blender: str = "",
    time_limit_s: float = 180.0,
    cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Path]:
    """The asset with the motion on its rig: files by kind, `blend` and `glb`, in `folder`.

    Args:
        motion: A motion.json.
        fps: Of the scene, where the asset's format has none.

    Raises:
        InputError, SetupError: As for `read_rig`.
    """
    request = {
        "command": "write_motion",
        "asset": str(_existing(asset)),
        "armature": armature,
        "motion": str(motion.resolve()),
        "fps": fps,
        "start_frame": start_frame,
    }
    folder.mkdir(parents=True, exist_ok=True)
    made = run_in_blender(
        WORKER, request, folder, blender=blender, time_limit_s=time_limit_s, cancelled=cancelled
    )
    return {kind: folder / name for kind, name in made.items() if name}


def _existing(asset: Path) -> Path:
    if not asset.is_file():
        raise InputError(f"there is no file {asset}", hint="check the path of the rigged asset")
    return asset.resolve()
