"""Videos that people look at: what was seen is carried along, what was hidden is generated.

A generated picture is soft, since it comes from few latents. What the rest views show, its own
pixels can draw: the part is moved as the video moves it, as one solid, and every surface that some
rest view has seen keeps the colour it has there. Only what was hidden at rest, such as the inside
behind a door, takes its colour from the generated pictures, as one mean a flat piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atop_backend.config import FitConfig
from atop_backend.contracts import Camera, JointKind
from atop_backend.geometry import cameras
from atop_backend.geometry.joints import joint_matrix, unit
from atop_backend.geometry.visibility import visible_faces
from atop_backend.motion.evidence import evidence_from_clip
from atop_backend.motion.fit import fit_joint

if TYPE_CHECKING:
    from atop_backend.rendering.views import RestViews

_SAME_POINT = 0.025  # a rest view shows a point if what it sees there is this near, normalised,
_FOOTPRINTS = 1.5  # or within so many widths of what one of its pixels sees, on slanted surfaces
_FEW = 24  # pixels of a hidden piece for its own colour to count as much as its kind's
_FINER = 2  # pixels are drawn from so many by so many, for smooth outlines
_BACKGROUND, _BODY, _PART = 0, 1, 2


def shown_motion(
    seen: RestViews,
    silhouettes: np.ndarray,
    motions: np.ndarray,
    config: FitConfig,
    kinds: tuple[JointKind, ...],
    between: int = 1,
) -> list[np.ndarray]:
    """Motions (4, 4) of the part in each frame to be drawn: those of the joint a video shows.

    Args:
        silhouettes: Area share of the part, (views, frames, rows, columns).
        motions: Displacements of latent pixels, (views, frames, 3, rows, columns), normalised.
        config: How the joint is found.
        kinds: The types of motion to try.
        between: Frames to be drawn for each one of the video.
    """
    frames = np.arange(1, motions.shape[1] + 1) / motions.shape[1]
    evidence = evidence_from_clip(
        seen.positions, seen.part_mask, seen.cameras, silhouettes[None], motions[None], frames
    )
    generator = np.random.default_rng(0)  # of points on the shape; the video has its own seed
    joint = fit_joint(seen.shape, evidence, config, kinds, generator)[0].joint
    count = between * len(frames)
    return [joint_matrix(joint, (i + 1) / count * joint.upper) for i in range(count)]


def carry_along(
    seen: RestViews, generated: np.ndarray, poses: list[np.ndarray], between: int = 1
) -> np.ndarray:
    """Frames in which every surface that was seen at rest has its own colour.

    Args:
        seen: The rest views.
        generated: (views, frames, height, width, 3) uint8.
        poses: Motion (4, 4) of the part in each frame to be drawn: `between` for each generated
            frame, the last of which has its pose.

    Returns:
        (views, frames, height, width, 3) uint8, as many frames as poses.
    """
    carrier = _Carrier(seen)
    drawn = [[carrier.changed(view, pose) for pose in poses] for view in range(len(generated))]
    colours = _piece_colours(
        carrier, generated, [[row[i] for i in range(between - 1, len(row), between)]
                             for row in drawn]
    )  # fmt: skip
    return np.stack([
        np.stack([carrier.picture(view, pixels, colours) for pixels in row])
        for view, row in enumerate(drawn)
    ])  # fmt: skip


class _Changed(NamedTuple):
    """The fine pixels of a picture that may differ from the rest view."""

    rows: np.ndarray  # (n,) of the fine picture
    columns: np.ndarray
    faces: np.ndarray  # (n,) triangle of the shape, -1 for none
    part: np.ndarray  # (n,) bool, where the part is seen
    colours: np.ndarray  # (n, 3)
    known: np.ndarray  # (n,) bool, whether a rest view tells the colour


class _Carrier:
    """Draws the object with its part moved, in the colours of the rest views."""

    def __init__(self, seen: RestViews) -> None:
        self.seen = seen
        self.rgb = seen.rgb.astype(np.float64)
        self.corners = seen.shape.vertices[seen.shape.triangles]
        shown = np.any(seen.positions != 0, axis=-1)
        self.labels = np.where(seen.part_mask, _PART, np.where(shown, _BODY, _BACKGROUND))
        # a pixel on an outline mixes the colours of both sides
        self.inner = np.stack([_alike(labels) for labels in self.labels])
        self.reach = np.maximum(_SAME_POINT, _FOOTPRINTS * _footprints(seen.positions))
        self.eyes = np.stack([cameras.camera_centre(camera) for camera in seen.cameras])
        empty = self.rgb[(self.labels == _BACKGROUND) & self.inner]
        self.background = np.median(empty, axis=0) if len(empty) else np.full(3, 191.0)
        self.cameras = [
            Camera(_FINER * c.width_px, _FINER * c.height_px, _FINER * c.focal_px,
                   c.world_to_camera) for c in seen.cameras
        ]  # fmt: skip
        self.part, self.body = (np.flatnonzero(m) for m in (seen.shape.part, seen.shape.body))
        self.bodies = [visible_faces(camera, self.corners[self.body]) for camera in self.cameras]
        first, second, third = self.corners.transpose(1, 0, 2)
        self.normals = unit(np.cross(second - first, third - first))
        self.pieces = _flat_pieces(self.corners, self.normals, seen.shape.part)

    def changed(self, view: int, pose: np.ndarray) -> _Changed:
        """What one view sees where the part is, or was at rest, with the part moved by a pose."""
        camera, behind = self.cameras[view], self.bodies[view]
        moved = self.corners[self.part] @ pose[:3, :3].T + pose[:3, 3]
        found = visible_faces(camera, moved)
        front = (found.faces >= 0) & (found.depths <= behind.depths)
        was = self.seen.part_mask[view].repeat(_FINER, 0).repeat(_FINER, 1)
        rows, columns = np.nonzero(_spread(front | was, _FINER))
        part, face = front[rows, columns], behind.faces[rows, columns]
        faces = np.where(face >= 0, self.body[face], -1)
        faces[part] = self.part[found.faces[rows, columns][part]]
        depths = np.where(part, found.depths[rows, columns], behind.depths[rows, columns])
        points = _points_at(camera, rows, columns, np.where(faces >= 0, depths, 0.0))
        points[part] = (points[part] - pose[:3, 3]) @ pose[:3, :3]
        eye = np.where(part[:, None], (self.eyes[view] - pose[:3, 3]) @ pose[:3, :3],
                       self.eyes[view])  # fmt: skip
        normals = self.normals[faces]
        normals *= np.sign(np.einsum("nc,nc->n", normals, eye - points))[:, None]
        labels = np.where(part, _PART, np.where(faces >= 0, _BODY, _BACKGROUND))
        colours, known = self._known(view, points, normals, labels)
        return _Changed(rows, columns, faces, part, colours, known)

    def _known(
        self, view: int, points: np.ndarray, normals: np.ndarray, labels: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Colours (n, 3) of rest points by the rest views, the same view first; where known.

        Args:
            normals: Of the side that is seen now, (n, 3), at rest.
        """
        colours = np.tile(self.background, (len(points), 1))
        known = labels == _BACKGROUND
        order = [view, *(i for i in range(len(self.rgb)) if i != view)]
        for strict in (True, False):
            for source in order:
                facing = np.einsum("nc,nc->n", normals, self.eyes[source] - points) > 0
                left = np.flatnonzero(~known & facing)
                found, sure = self._from(source, points[left], labels[left], strict)
                colours[left[sure]], known[left[sure]] = found[sure], True
        return colours, known

    def _from(
        self, source: int, points: np.ndarray, labels: np.ndarray, strict: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Colours (n, 3) that one rest view has for points, and which are sure (n,)."""
        places, depths = cameras.project(self.seen.cameras[source], points)
        height, width = self.labels.shape[1:]
        corner = np.floor(places - 0.5).astype(int)
        total, weight = np.zeros((len(points), 3)), np.zeros(len(points))
        for step in ((0, 0), (1, 0), (0, 1), (1, 1)):
            x, y = (corner + step).T
            inside = (x >= 0) & (x < width) & (y >= 0) & (y < height) & (depths > 0)
            share = np.prod(1 - np.abs(places - 0.5 - (corner + step)), axis=-1)
            x, y = x.clip(0, width - 1), y.clip(0, height - 1)
            away = self.seen.positions[source, y, x] - points
            good = inside & (np.linalg.norm(away, axis=-1) < self.reach[source, y, x])
            good &= self.labels[source, y, x] == labels
            if strict:
                good &= self.inner[source, y, x]
            share = np.where(good, share, 0)
            total += share[:, None] * self.rgb[source, y, x]
            weight += share
        return total / np.maximum(weight, 1e-12)[:, None], weight > 0.2

    def picture(self, view: int, pixels: _Changed, piece_colours: np.ndarray) -> np.ndarray:
        """The rest view with its changed pixels drawn anew, (height, width, 3) uint8."""
        colours = pixels.colours.copy()
        hidden = ~pixels.known
        colours[hidden] = piece_colours[self.pieces[pixels.faces[hidden]]]
        fine = self.rgb[view].repeat(_FINER, 0).repeat(_FINER, 1)
        fine[pixels.rows, pixels.columns] = colours
        height, width = self.labels.shape[1:]
        coarse = fine.reshape(height, _FINER, width, _FINER, 3).mean(axis=(1, 3))
        return np.rint(coarse).clip(0, 255).astype(np.uint8)


def _piece_colours(
    carrier: _Carrier, generated: np.ndarray, drawn: list[list[_Changed]]
) -> np.ndarray:
    """Colours (pieces, 3) of flat pieces where they are hidden at rest, from generated frames.

    Each is its mean over all frames and views; a small piece's leans to that of all hidden pieces
    of the part, or of the body.
    """
    of_part = np.zeros(carrier.pieces.max() + 1, dtype=int)
    of_part[carrier.pieces] = carrier.seen.shape.part
    counts, sums = np.zeros(len(of_part)), np.zeros((len(of_part), 3))
    for view, row in enumerate(drawn):
        for frame, pixels in enumerate(row):
            hidden = np.flatnonzero(~pixels.known)
            piece = carrier.pieces[pixels.faces[hidden]]
            place = pixels.rows[hidden] // _FINER, pixels.columns[hidden] // _FINER
            colours = generated[view, frame][place].astype(np.float64)
            np.add.at(sums, piece, colours)
            counts += np.bincount(piece, minlength=len(counts))
    few = _FEW * _FINER**2
    middle = np.array([
        sums[of_part == k].sum(axis=0) / max(counts[of_part == k].sum(), 1) for k in (0, 1)
    ])  # fmt: skip
    return (sums + few * middle[of_part]) / (counts + few)[:, None]


def _points_at(
    camera: Camera, rows: np.ndarray, columns: np.ndarray, depths: np.ndarray
) -> np.ndarray:
    """World points (n, 3) under some pixels' centres at camera depths (n,)."""
    pose = np.asarray(camera.world_to_camera)
    x = (columns + 0.5 - camera.width_px / 2) / camera.focal_px
    y = (rows + 0.5 - camera.height_px / 2) / camera.focal_px
    local = np.stack([x, y, np.ones_like(x)], axis=-1) * depths[:, None]
    return (local - pose[:3, 3]) @ pose[:3, :3]


def _alike(labels: np.ndarray) -> np.ndarray:
    """Where a pixel and its eight neighbours have one label."""
    padded = np.pad(labels, 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    return (windows == labels[..., None, None]).all(axis=(-1, -2))


def _spread(mask: np.ndarray, pixels: int) -> np.ndarray:
    """The mask grown by some pixels along rows and columns."""
    for axis in (0, 1):
        grown = mask.copy()
        for step in range(1, pixels + 1):
            ahead = [slice(None), slice(None)]
            back = [slice(None), slice(None)]
            ahead[axis], back[axis] = slice(step, None), slice(None, -step)
            grown[tuple(ahead)] |= mask[tuple(back)]
            grown[tuple(back)] |= mask[tuple(ahead)]
        mask = grown
    return mask


def _footprints(positions: np.ndarray) -> np.ndarray:
    """How far apart neighbouring pixels see a surface, (views, height, width), at most 0.2.

    The nearer of two neighbours counts, since the other may see another surface.
    """
    result = np.zeros(positions.shape[:-1])
    for axis in (1, 2):
        step = np.linalg.norm(np.diff(positions, axis=axis), axis=-1)
        far = np.full_like(np.take(step, [0], axis=axis), np.inf)
        before, after = (np.concatenate(pair, axis=axis) for pair in ((far, step), (step, far)))
        result = np.maximum(result, np.minimum(before, after))
    return np.minimum(result, 0.2)


def _flat_pieces(corners: np.ndarray, normals: np.ndarray, part: np.ndarray) -> np.ndarray:
    """A number (m,) for each triangle, the same for those of one plane and side."""
    offsets = np.einsum("nc,nc->n", normals, corners[:, 0])
    keys = np.column_stack([np.round(5 * normals), np.round(25 * offsets), part])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel()
