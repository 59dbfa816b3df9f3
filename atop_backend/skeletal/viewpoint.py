"""Where the camera of a given video stood: known, or guessed from how the body looks at rest."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from PIL import Image

from atop_backend.contracts import Camera
from atop_backend.errors import InputError
from atop_backend.geometry.rigs import Placement, Rig
from atop_backend.preview import draw_mesh
from atop_backend.skeletal.pictures import camera_around
from atop_backend.skeletal.video_target import Video

_AZIMUTHS_DEG = tuple(range(0, 360, 15))
_ELEVATIONS_DEG = (0, 15)
_COMPARE_PX = 32  # side of the squares in which looks are compared
_FRAMES = 4  # of a video that are compared with the rest pose
_COLOUR_SHARE = 1.0  # a mean colour error of 1 counts as much as no overlap


def read_cameras(path: Path, count: int, placement: Placement) -> tuple[Camera, ...]:
    """The cameras in a file, a list or {"cameras": list} of `Camera`s, in the normalised frame.

    Raises:
        InputError: It is not such a file, or has another number of cameras.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        entries = document["cameras"] if isinstance(document, dict) else document
        cameras = tuple(Camera.from_dict(entry) for entry in entries)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} cannot be read as cameras ({error})",
            hint="give a list of width_px, height_px, focal_px and world_to_camera (OpenCV axes)",
        ) from error
    if len(cameras) != count:
        raise InputError(
            f"{path} has {len(cameras)} cameras for {count} videos", hint="give one a video"
        )
    return tuple(_normalised(camera, placement) for camera in cameras)


def _normalised(camera: Camera, placement: Placement) -> Camera:
    pose = np.asarray(camera.world_to_camera, dtype=np.float64)
    moved = pose.copy()
    moved[:3, 3] = (pose[:3, :3] @ placement.shift + pose[:3, 3]) / placement.scale
    return _with_pose(camera, moved)


def guess_camera(rig: Rig, video: Video, masks: np.ndarray) -> Camera:
    """The camera from which the body at rest looks most like the video, at its first frame's size.

    Looks are compared within the body's bounding box, so that only the direction matters; then
    the camera is moved to where the body has the place and size of the first frame.
    """
    height, width = masks.shape[1:]
    frames = np.unique(np.linspace(0, len(masks) - 1, _FRAMES).astype(int))
    seen = [_look(video.rgb[frame], masks[frame] > 0.5) for frame in frames]
    middle = (0.0, 0.0, float(rig.vertices[:, 2].max()) / 2)
    best, least = None, math.inf
    for elevation in _ELEVATIONS_DEG:
        for azimuth in _AZIMUTHS_DEG:
            camera = camera_around(
                middle, math.radians(azimuth), math.radians(elevation), width, height
            )
            small = camera_around(middle, math.radians(azimuth), math.radians(elevation), 96, 96)
            drawing = draw_mesh(small, rig.vertices, rig.triangles, rig.face_colours)
            shape, colours = _look(drawing.rgb, np.isfinite(drawing.depths))
            score = min(_difference(shape, colours, *look) for look in seen)
            if score < least:
                best, least = camera, score
    assert best is not None
    return _placed(best, rig, masks[0] > 0.5)


def _look(rgb: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mask and colours of the body in a square around it, (size, size) and (size, size, 3)."""
    if not mask.any():
        return np.zeros((_COMPARE_PX,) * 2), np.zeros((_COMPARE_PX, _COMPARE_PX, 3))
    rows, columns = np.nonzero(mask)
    middle = np.array([rows.min() + rows.max(), columns.min() + columns.max()]) / 2
    half = max(np.ptp(rows), np.ptp(columns)) / 2 + 1
    box = tuple(
        round(edge)
        for edge in (middle[1] - half, middle[0] - half, middle[1] + half, middle[0] + half)
    )
    size = (_COMPARE_PX, _COMPARE_PX)

    def cut(picture: np.ndarray) -> np.ndarray:
        image = Image.fromarray(np.rint(255 * picture).astype(np.uint8))
        return np.asarray(image.crop(box).resize(size)) / 255  # outside the picture it is black

    return cut(mask.astype(float)), cut(rgb * mask[..., None])


def _difference(
    shape: np.ndarray, colours: np.ndarray, other: np.ndarray, other_colours: np.ndarray
) -> float:
    overlap = np.minimum(shape, other)
    union = np.maximum(shape, other).sum()
    error = (np.abs(colours - other_colours).mean(axis=-1) * overlap).sum()
    return 1 - float(overlap.sum() / union) + _COLOUR_SHARE * float(error / max(overlap.sum(), 1))


def _placed(camera: Camera, rig: Rig, mask: np.ndarray) -> Camera:
    """The camera moved until the body at rest lies where the mask does, as large."""
    pose = np.asarray(camera.world_to_camera, dtype=np.float64)
    for _ in range(4):
        drawing = draw_mesh(_with_pose(camera, pose), rig.vertices, rig.triangles, rig.face_colours)
        drawn = np.isfinite(drawing.depths)
        if not drawn.any():
            break
        depth = float(np.median(drawing.depths[drawn]))
        growth = math.sqrt(mask.sum() / drawn.sum())
        offset = np.argwhere(mask).mean(axis=0) - np.argwhere(drawn).mean(axis=0)
        pose[2, 3] += depth / growth - depth
        pose[0, 3] += offset[1] / camera.focal_px * depth / growth
        pose[1, 3] += offset[0] / camera.focal_px * depth / growth
    return _with_pose(camera, pose)


def _with_pose(camera: Camera, pose: np.ndarray) -> Camera:
    rows = tuple(tuple(map(float, row)) for row in pose)
    return Camera(camera.width_px, camera.height_px, camera.focal_px, rows)  # type: ignore[arg-type]
