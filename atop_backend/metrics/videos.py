"""Videos of a folder: files, or folders of numbered pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image, UnidentifiedImageError

from atop_backend.errors import InputError

VIDEO_SUFFIXES = (".mp4", ".mov", ".mkv", ".webm", ".avi", ".gif")
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")

Frames = UInt8[np.ndarray, "frames height width 3"]


def find_videos(folder: Path) -> dict[str, Path]:
    """The videos below a folder, by their path in it without suffix.

    A folder that has pictures directly in it is one video, its frames in the order of their names.

    Raises:
        InputError: There is no such folder, or no video in it.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder", hint="give a folder of videos")
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            is_video = any(_is_picture(entry) for entry in path.iterdir())
            name = path.relative_to(folder).as_posix()
        else:
            is_video = path.suffix.lower() in VIDEO_SUFFIXES
            name = path.relative_to(folder).with_suffix("").as_posix()
        if is_video and name in found:
            raise InputError(
                f"{folder} has two videos called {name}", hint="move one of them elsewhere"
            )
        if is_video:
            found[name] = path
    if not found:
        raise InputError(
            f"{folder} has no videos",
            hint=f"give {', '.join(VIDEO_SUFFIXES)} files or folders of pictures, one a video",
        )
    return found


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in PICTURE_SUFFIXES


def read_video(path: Path, frames: int | None = None) -> Frames:
    """All frames of a video, or as many as are asked for, evenly spaced, first and last included.

    Raises:
        InputError: A file is broken, pictures differ in size, or there is no frame.
    """
    read = _read_pictures(path) if path.is_dir() else _read_file(path)
    if not len(read):
        raise InputError(f"{path} has no frames", hint="it is empty or broken: write it again")
    if frames is None:
        return read
    return read[np.linspace(0, len(read) - 1, frames).round().astype(int)]


def _read_pictures(folder: Path) -> Frames:
    frames = []
    for path in sorted(filter(_is_picture, folder.iterdir())):
        try:
            with Image.open(path) as picture:
                frames.append(np.asarray(picture.convert("RGB")))
        except (UnidentifiedImageError, OSError) as error:
            raise InputError(f"{path} is no picture ({error})", hint="write it again") from error
        if frames[-1].shape != frames[0].shape:
            raise InputError(
                f"{path} is {_size(frames[-1])} and the first picture {_size(frames[0])}",
                hint="frames of a video need one size",
            )
    return np.stack(frames)


def _read_file(path: Path) -> Frames:
    import imageio_ffmpeg

    reader = imageio_ffmpeg.read_frames(str(path), pix_fmt="rgb24")
    try:
        width, height = next(reader)["size"]
        frames = [np.frombuffer(frame, np.uint8) for frame in reader]
    except (OSError, RuntimeError, StopIteration) as error:
        raise InputError(f"{path} cannot be read as a video", hint="write it again") from error
    finally:
        reader.close()
    return np.stack(frames).reshape(-1, height, width, 3) if frames else np.empty((0, 1, 1, 3))


def _size(frame: np.ndarray) -> str:
    return f"{frame.shape[1]} x {frame.shape[0]}"


def check_pair(name: str, made: Frames, wanted: Frames) -> None:
    """Refuse two videos that cannot be compared frame by frame."""
    if made.shape == wanted.shape:
        return
    found, expected = (f"{len(video)} frames of {_size(video[0])}" for video in (made, wanted))
    raise InputError(
        f"{name} has {found} and its reference {expected}",
        hint="--frames N takes as many of both; sizes must be made equal beforehand",
    )
