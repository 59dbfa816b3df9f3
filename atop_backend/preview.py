"""What people look at: videos, and a contact sheet with the motion on the real mesh."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from atop_backend.contracts import Camera, JointMotion
from atop_backend.geometry import cameras
from atop_backend.geometry.joints import transform_points
from atop_backend.geometry.meshes import RestShape
from atop_backend.geometry.visibility import visible_faces

BODY_COLOUR = np.array([0.80, 0.81, 0.83])
PART_COLOUR = np.array([0.95, 0.55, 0.15])
AXIS_COLOUR = (210, 30, 45)
PAPER = (250, 250, 250)
INK = (40, 40, 45)
SHEET_PX = 224  # a picture's side on the contact sheet
COMPARISON_PX = 192  # a view's side in the video of generated and fitted motion
GAP_PX = 6


def write_video(path: Path, frames: np.ndarray, seconds: float, fps: int) -> None:
    """Write pictures (frames, height, width, 3) uint8 as an H.264 file of that length."""
    import imageio_ffmpeg

    height, width = frames.shape[1:3]
    shown = np.minimum(np.arange(round(seconds * fps)) * len(frames) // round(seconds * fps),
                       len(frames) - 1)  # fmt: skip
    writer = imageio_ffmpeg.write_frames(
        str(path), (width, height), fps=fps, codec="libx264", quality=8, ffmpeg_log_level="error"
    )
    writer.send(None)
    for index in shown:
        writer.send(np.ascontiguousarray(frames[index]))
    writer.close()


class Drawing(NamedTuple):
    """A picture of a mesh and what each pixel sees."""

    rgb: np.ndarray  # (size, size, 3) in [0, 1]
    depths: np.ndarray  # (size, size), infinite on the background
    faces: np.ndarray  # (size, size), index of the triangle, -1 on the background


def draw_mesh(
    camera: Camera, vertices: np.ndarray, triangles: np.ndarray, colours: np.ndarray
) -> Drawing:
    """The mesh with flat shading by a light at the camera, hidden surfaces removed.

    Args:
        vertices: (n, 3) in the camera's world.
        triangles: (m, 3) indices.
        colours: (m, 3) in [0, 1].
    """
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    towards = cameras.camera_centre(camera) - corners.mean(axis=1)
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    facing = np.abs(np.einsum("nc,nc->n", normals, towards)) / np.maximum(lengths, 1e-30)
    shades = colours * (0.35 + 0.65 * facing)[:, None]

    seen = visible_faces(camera, corners)
    owner = seen.faces.ravel()
    rgb = np.ones((owner.size, 3))
    rgb[owner >= 0] = shades[owner[owner >= 0]]
    return Drawing(rgb.reshape(*seen.faces.shape, 3), seen.depths, seen.faces)


def draw_motion(
    shape: RestShape, joint: JointMotion, amount: float, camera: Camera, size_px: int
) -> Image.Image:
    """The real mesh with its part moved by an amount, the part coloured and the axis drawn.

    What was taken away to see the part is not drawn.

    Args:
        joint: In the normalised frame of `shape`.
        amount: Radians, or lengths of the normalised frame.
    """
    scale = 2 * size_px / camera.width_px  # twice as large, then reduced: smooth edges
    large = Camera(2 * size_px, 2 * size_px, camera.focal_px * scale, camera.world_to_camera)
    corners = shape.vertices[shape.triangles]
    corners[shape.part] = transform_points(joint, amount, corners[shape.part].reshape(-1, 3)
                                           ).reshape(-1, 3, 3)  # fmt: skip
    shown = shape.part | shape.body
    vertices = corners[shown].reshape(-1, 3)
    triangles = np.arange(len(vertices)).reshape(-1, 3)
    colours = np.where(shape.part[shown, None], PART_COLOUR, BODY_COLOUR)
    drawing = draw_mesh(large, vertices, triangles, colours)
    picture = Image.fromarray(np.rint(drawing.rgb * 255).astype(np.uint8))
    draw_axis(ImageDraw.Draw(picture), joint, shape, large)
    return picture.resize((size_px, size_px), Image.Resampling.LANCZOS)


def draw_axis(
    pen: ImageDraw.ImageDraw,
    joint: JointMotion,
    shape: RestShape,
    camera: Camera,
    colour: tuple[int, int, int] = AXIS_COLOUR,
) -> None:
    """The axis as an arrow through the part; the arrow's head shows its sign."""
    axis, origin = np.asarray(joint.axis), np.asarray(joint.origin)
    along = (shape.vertices[np.unique(shape.triangles[shape.part])] - origin) @ axis
    margin = 0.15 * max(np.ptp(along), 0.3)
    ends = origin + np.outer([along.min() - margin, along.max() + margin], axis)
    (start, end), _ = cameras.project(camera, ends)
    pen.line([tuple(start), tuple(end)], fill=colour, width=5)
    direction = (end - start) / max(np.linalg.norm(end - start), 1e-9)
    side = np.array([-direction[1], direction[0]])
    head = [end + 10 * direction, end - 12 * direction + 9 * side, end - 12 * direction - 9 * side]
    pen.polygon([tuple(map(float, point)) for point in head], fill=colour)


def contact_sheet(title: Sequence[str], rows: Sequence[tuple[str, Sequence[Image.Image]]]
                  ) -> Image.Image:  # fmt: skip
    """Labelled rows of pictures under some lines of text.

    Args:
        rows: A label and as many pictures as the other rows have, each.
    """
    columns = max(len(pictures) for _, pictures in rows)
    label_px, line_px = 120, 24
    top = line_px * len(title) + 3 * GAP_PX
    cell = SHEET_PX + GAP_PX
    sheet = Image.new("RGB", (label_px + columns * cell + GAP_PX, top + len(rows) * cell), PAPER)
    pen = ImageDraw.Draw(sheet)
    for index, line in enumerate(title):
        font = ImageFont.load_default(16 if index == 0 else 13)
        pen.text((2 * GAP_PX, GAP_PX + index * line_px), line, fill=INK, font=font)
    font = ImageFont.load_default(13)
    for row, (label, pictures) in enumerate(rows):
        y = top + row * cell
        pen.multiline_text((2 * GAP_PX, y + SHEET_PX // 2 - 10), label, fill=INK, font=font)
        for column, picture in enumerate(pictures):
            fitted = picture.convert("RGB").resize((SHEET_PX, SHEET_PX), Image.Resampling.LANCZOS)
            sheet.paste(fitted, (label_px + column * cell, y))
    return sheet
