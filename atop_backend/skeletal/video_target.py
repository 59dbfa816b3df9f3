"""A video as something to follow: frames, the outline of the body, and places to pull towards."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image
from scipy import ndimage

from atop_backend.contracts import Camera
from atop_backend.errors import InputError
from atop_backend.skeletal.pictures import resized

PICTURES = (".png", ".jpg", ".jpeg", ".webp")
FOLDER_FPS = 24.0  # of a folder of pictures, which does not say
_PLAIN = 0.06  # colour spread of a border that counts as plain
_DIFFERENT = 0.10  # colour distance of the body from the background
_FEWEST_PIXELS = 12  # of a body that can be followed
_MARGIN = 0.08  # around the body, of its size


class Video(NamedTuple):
    """Frames as they were given."""

    rgb: np.ndarray  # (frames, height, width, 3) in [0, 1], display colours
    alpha: np.ndarray | None  # (frames, height, width) in [0, 1]
    fps: float


class VideoTarget(NamedTuple):
    """One view of the motion, small enough to fit to."""

    camera: Camera  # of the whole picture
    corner: tuple[int, int]  # column and row of that picture where the crop below starts
    rgb: np.ndarray  # (frames, height, width, 3)
    masks: np.ndarray  # (frames, height, width) share of each pixel that the body covers
    times: np.ndarray  # (frames,) from 0 to 1
    duration_s: float


def read_video(path: Path, most_frames: int, width_px: int) -> tuple[Video, float]:
    """Evenly chosen frames of a video, reduced to a width, and its length in seconds.

    Args:
        path: A video file, or a folder of pictures in the order of their names.

    Raises:
        InputError: It cannot be read, or has fewer than two frames.
    """
    frames, fps = _read_folder(path) if path.is_dir() else _read_file(path)
    if len(frames) < 2:
        raise InputError(f"{path} has {len(frames)} frames", hint="give at least two")
    duration_s = (len(frames) - 1) / fps
    picks = np.unique(np.linspace(0, len(frames) - 1, min(most_frames, len(frames))).round())
    small = np.stack([_reduced(frames[int(index)], width_px) for index in picks])
    alpha = small[..., 3] if (small[..., 3] < 0.5).any() else None
    return Video(small[..., :3], alpha, fps), duration_s


def _read_file(path: Path) -> tuple[list[np.ndarray], float]:
    import imageio_ffmpeg

    if not path.is_file():
        raise InputError(f"there is no video {path}", hint="check --video")
    try:
        reader = imageio_ffmpeg.read_frames(str(path), pix_fmt="rgb24")
        facts = next(reader)
        width, height = facts["size"]
        frames = [
            np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader
        ]  # fmt: skip
    except (OSError, RuntimeError, ValueError, StopIteration, KeyError) as error:
        raise InputError(f"{path} cannot be read as a video", hint="give an mp4, or its frames"
                         ) from error  # fmt: skip
    return frames, float(facts["fps"])


def _read_folder(path: Path) -> tuple[list[np.ndarray], float]:
    files = sorted(file for file in path.iterdir() if file.suffix.lower() in PICTURES)
    try:
        frames = [np.asarray(Image.open(file).convert("RGBA")) for file in files]
    except OSError as error:
        raise InputError(f"{error.filename or path} is no picture", hint="give frames as PNG"
                         ) from error  # fmt: skip
    if len({frame.shape for frame in frames}) > 1:
        raise InputError(f"the frames in {path} differ in size", hint="give frames of one size")
    return frames, FOLDER_FPS


def _reduced(frame: np.ndarray, width_px: int) -> np.ndarray:
    """The frame (height, width, 4) in [0, 1] at a smaller width, by averaging."""
    picture = Image.fromarray(frame).convert("RGBA")
    height_px = max(1, round(picture.height * width_px / picture.width))
    return np.asarray(picture.resize((width_px, height_px), Image.Resampling.BOX)) / 255


def body_masks(video: Video, name: str = "the video") -> np.ndarray:
    """How far the body covers each pixel, (frames, height, width).

    By the frames' own transparency; else by what differs from a plain background, or from the
    background that stays when the body moves through the picture.

    Raises:
        InputError: The body cannot be told from the background.
    """
    masks = _differing(video.rgb) if video.alpha is None else video.alpha.astype(np.float64)
    sizes = (masks > 0.5).sum(axis=(1, 2))
    area = masks.shape[1] * masks.shape[2]
    if (sizes < _FEWEST_PIXELS).any() or (sizes > 0.8 * area).any():
        raise InputError(
            f"the body cannot be told from the background in frame"
            f" {int(np.argmax((sizes < _FEWEST_PIXELS) | (sizes > 0.8 * area))) + 1} of {name}",
            hint="film before a plain background, or give frames as PNG with transparency",
        )
    return masks


def _differing(rgb: np.ndarray) -> np.ndarray:
    border = np.concatenate([rgb[:, 0], rgb[:, -1], rgb[:, :, 0], rgb[:, :, -1]], axis=1).reshape(
        -1, 3
    )
    plain = np.median(border, axis=0)
    if np.abs(border - plain).mean() < _PLAIN:
        background = np.broadcast_to(plain, rgb.shape[1:])
    else:
        background = np.median(rgb, axis=0)
    distance = np.abs(rgb - background).max(axis=-1)
    masks = np.clip((distance - _DIFFERENT / 2) / _DIFFERENT, 0, 1)
    return np.stack([_main_piece(mask) for mask in masks])


def _main_piece(mask: np.ndarray) -> np.ndarray:
    """The mask without pieces that are small beside its largest, and without pinholes."""
    labels = np.zeros(mask.shape, dtype=np.int32)
    if ndimage.label(mask > 0.3, structure=np.ones((3, 3)), output=labels) == 0:
        return np.zeros_like(mask)
    sizes = np.bincount(labels.ravel())[1:]
    kept = np.isin(labels, np.flatnonzero(sizes > 0.05 * sizes.max()) + 1)
    return mask * ndimage.binary_dilation(kept)


def crop_to_body(
    video: Video, masks: np.ndarray, camera: Camera, size_px: int, duration_s: float
) -> VideoTarget:
    """The part of the picture in which the body ever is, its longer side `size_px` wide.

    Args:
        camera: Of the video, at any picture size of the same shape.
    """
    width = masks.shape[2]
    rows = np.flatnonzero(masks.max(axis=(0, 2)) > 0.3)
    columns = np.flatnonzero(masks.max(axis=(0, 1)) > 0.3)
    longer = max(np.ptp(rows), np.ptp(columns)) + 1
    share = min(1.0, size_px / longer)
    new_width = max(8, round(width * share))
    camera = resized(camera, new_width)
    share = new_width / width
    margin = max(2, round(_MARGIN * size_px))
    left = max(0, int(columns[0] * share) - margin)
    top = max(0, int(rows[0] * share) - margin)
    right = min(camera.width_px, int((columns[-1] + 1) * share) + margin + 1)
    bottom = min(camera.height_px, int((rows[-1] + 1) * share) + margin + 1)

    def small(frame: np.ndarray) -> np.ndarray:
        picture = Image.fromarray(np.rint(255 * frame).astype(np.uint8))
        size = (camera.width_px, camera.height_px)
        reduced = np.asarray(picture.resize(size, Image.Resampling.BOX)) / 255
        return reduced[top:bottom, left:right]

    return VideoTarget(
        camera,
        (left, top),
        np.stack([small(frame) for frame in video.rgb]),
        np.stack([small(mask) for mask in masks]),
        np.linspace(0, 1, len(masks)),
        duration_s,
    )
