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
from atop_backend.geometry.surfaces import connected_surfaces
from atop_backend.geometry.visibility import visible_faces
from atop_backend.motion.fit import fit_joint
from atop_backend.prompt_motion import NOTHING_SAID, SaidMotion

if TYPE_CHECKING:
    from atop_backend.geometry.meshes import RestShape
    from atop_backend.motion.evidence import MotionEvidence
    from atop_backend.rendering.views import RestViews

_SAME_POINT = 0.025  # a rest view shows a point if what it sees there is this near, normalised,
_FOOTPRINTS = 1.5  # or within so many widths of what one of its pixels sees, on slanted surfaces
_SHARE = 0.2  # of a point's four nearest pixels that must show it
_FEW = 24  # pixels of a hidden piece for its own colour to count as much as its kind's
_FINER = 2  # pixels are drawn from so many by so many, for smooth outlines
_ALIKE = 0.5  # how far a hidden side takes the colour of what is seen of its solid
_BACKGROUND, _BODY, _PART = 0, 1, 2


def shown_motion(
    shape: RestShape,
    evidence: MotionEvidence,
    config: FitConfig,
    kinds: tuple[JointKind, ...],
    between: int = 1,
    said: SaidMotion = NOTHING_SAID,
) -> list[np.ndarray]:
    """Motions (4, 4) of the part in each frame to be drawn: those of the joint the clips show.

    Args:
        evidence: What the samples of the clip tell.
        config: How the joint is found.
        kinds: The types of motion to try.
        between: Frames to be drawn for each one of the clip; the last of them is that frame.
        said: What the prompt says of the motion.
    """
    generator = np.random.default_rng(0)  # of points on the shape; the video has its own seed
    joint = fit_joint(shape, evidence, config, kinds, generator, said=said)[0].joint
    frames = evidence.frames
    drawn = np.arange(1, between * len(frames) + 1) / between
    shares = np.interp(drawn, np.arange(len(frames) + 1), [0.0, *frames])
    return [joint_matrix(joint, share * joint.upper) for share in shares]


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
    colours: np.ndarray  # (n, 3)
    known: np.ndarray  # (n,) bool, whether a rest view tells the colour


class _Sources:
    """The rest views as places where the colour of a surface point can be looked up."""

    def __init__(self, seen: RestViews) -> None:
        self.cameras = seen.cameras
        shown = np.any(seen.positions != 0, axis=-1)
        labels = np.where(seen.part_mask, _PART, np.where(shown, _BODY, _BACKGROUND))
        # a pixel on an outline mixes the colours of both sides
        inner = np.stack([_alike(view) for view in labels])
        reach = np.maximum(_SAME_POINT, _FOOTPRINTS * _footprints(seen.positions))
        empty = seen.rgb[(labels == _BACKGROUND) & inner]
        self.background = np.median(empty, axis=0) if len(empty) else np.full(3, 191.0)
        views = len(labels)
        self.rgb = seen.rgb.reshape(views, -1, 3).astype(np.float64)
        self.positions = seen.positions.reshape(views, -1, 3)
        self.labels, self.inner = labels.reshape(views, -1), inner.reshape(views, -1)
        self.reach = reach.reshape(views, -1) ** 2

    def colours(
        self, first: int, points: np.ndarray, normals: np.ndarray, label: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Colours (n, 3) of rest points (n, 3) of the part or the body, and where known (n,).

        Args:
            first: The view that is asked before the others.
            normals: Of the side that matters, (n, 3).
        """
        colours, trust = np.zeros((len(points), 3)), np.zeros(len(points), dtype=int)
        for source in [first, *(i for i in range(len(self.cameras)) if i != first)]:
            towards = cameras.camera_centre(self.cameras[source]) - points
            left = np.flatnonzero((trust < 2) & (np.einsum("nc,nc->n", normals, towards) > 0))
            found, level = self._from(source, points[left], label)
            better = level > trust[left]
            colours[left[better]], trust[left[better]] = found[better], level[better]
        return colours, trust > 0

    def _from(self, source: int, points: np.ndarray, label: int) -> tuple[np.ndarray, np.ndarray]:
        """Colours (n, 3) in one view, and how far to trust them: not, on an outline, wholly."""
        places, depths = cameras.project(self.cameras[source], points)
        width, height = self.cameras[source].width_px, self.cameras[source].height_px
        corner = np.floor(places - 0.5).astype(int)
        beyond = places - 0.5 - corner
        totals, weights = np.zeros((2, len(points), 3)), np.zeros((2, len(points)))
        for right, down in ((0, 0), (1, 0), (0, 1), (1, 1)):
            x, y = corner[:, 0] + right, corner[:, 1] + down
            inside = (x >= 0) & (x < width) & (y >= 0) & (y < height) & (depths > 0)
            pixel = y.clip(0, height - 1) * width + x.clip(0, width - 1)
            away = self.positions[source][pixel] - points
            near = np.einsum("nc,nc->n", away, away) < self.reach[source][pixel]
            good = inside & near & (self.labels[source][pixel] == label)
            share = np.abs(1 - right - beyond[:, 0]) * np.abs(1 - down - beyond[:, 1]) * good
            colours = self.rgb[source][pixel]
            for kind, part in enumerate((share, share * self.inner[source][pixel])):
                totals[kind] += part[:, None] * colours
                weights[kind] += part
        level = np.where(weights[1] > _SHARE, 2, np.where(weights[0] > _SHARE, 1, 0))
        best = np.arange(len(points)), np.maximum(level - 1, 0)
        total, weight = totals.transpose(1, 0, 2)[best], weights.T[best]
        return total / np.maximum(weight, 1e-12)[:, None], level


class _Carrier:
    """Draws the object with its part moved, in the colours of the rest views."""

    def __init__(self, seen: RestViews) -> None:
        self.seen, self.sources = seen, _Sources(seen)
        self.corners = seen.shape.vertices[seen.shape.triangles]
        self.cameras = [
            Camera(_FINER * c.width_px, _FINER * c.height_px, _FINER * c.focal_px,
                   c.world_to_camera) for c in seen.cameras
        ]  # fmt: skip
        self.part, self.body = (np.flatnonzero(m) for m in (seen.shape.part, seen.shape.body))
        first, second, third = self.corners.transpose(1, 0, 2)
        self.normals = unit(np.cross(second - first, third - first))
        self.solids = connected_surfaces(self.corners, seen.shape.part)
        self.pieces = _flat_pieces(self.corners, self.normals, self.solids)
        self.bodies = [visible_faces(camera, self.corners[self.body]) for camera in self.cameras]
        # what is behind the part is looked up once, where it is needed
        shape = (len(seen.cameras), *self.bodies[0].faces.shape)
        self.asked, self.known = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        self.behind = np.zeros((*shape, 3), dtype=np.float32)

    def changed(self, view: int, pose: np.ndarray) -> _Changed:
        """What one view sees where the part is, or was at rest, with the part moved by a pose."""
        found = visible_faces(
            self.cameras[view], self.corners[self.part] @ pose[:3, :3].T + pose[:3, 3]
        )
        front = (found.faces >= 0) & (found.depths <= self.bodies[view].depths)
        was = self.seen.part_mask[view].repeat(_FINER, 0).repeat(_FINER, 1)
        rows, columns = np.nonzero(_spread(front | was, _FINER))
        part = front[rows, columns]
        self._look_behind(view, rows[~part], columns[~part])
        colours = self.behind[view, rows, columns].astype(np.float64)
        known = self.known[view, rows, columns]
        face = self.bodies[view].faces[rows, columns]
        faces = np.where(face >= 0, self.body[face], -1)
        y, x = rows[part], columns[part]
        faces[part] = self.part[found.faces[y, x]]
        colours[part], known[part] = self._look(view, pose, (y, x), faces[part], found.depths[y, x],
                                                _PART)  # fmt: skip
        return _Changed(rows, columns, faces, colours, known)

    def _look_behind(self, view: int, rows: np.ndarray, columns: np.ndarray) -> None:
        """Look up what is seen at some pixels without the part, unless that is done."""
        new = ~self.asked[view, rows, columns]
        rows, columns = rows[new], columns[new]
        self.asked[view, rows, columns] = True
        seen = self.bodies[view]
        hit = seen.faces[rows, columns] >= 0
        self.behind[view, rows[~hit], columns[~hit]] = self.sources.background
        self.known[view, rows[~hit], columns[~hit]] = True
        y, x = rows[hit], columns[hit]
        self.behind[view, y, x], self.known[view, y, x] = self._look(
            view, np.eye(4), (y, x), self.body[seen.faces[y, x]], seen.depths[y, x], _BODY
        )

    def _look(
        self,
        view: int,
        pose: np.ndarray,
        places: tuple[np.ndarray, np.ndarray],
        faces: np.ndarray,
        depths: np.ndarray,
        label: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Colours (n, 3) of what is seen at some pixels, and where known, after a pose (4, 4)."""
        points = _points_at(self.cameras[view], *places, depths)
        points = (points - pose[:3, 3]) @ pose[:3, :3]
        eye = (cameras.camera_centre(self.cameras[view]) - pose[:3, 3]) @ pose[:3, :3]
        normals = self.normals[faces]
        normals *= np.sign(np.einsum("nc,nc->n", normals, eye - points))[:, None]
        return self.sources.colours(view, points, normals, label)

    def picture(self, view: int, pixels: _Changed, piece_colours: np.ndarray) -> np.ndarray:
        """The rest view with its changed pixels drawn anew, (height, width, 3) uint8."""
        colours = pixels.colours.copy()
        hidden = ~pixels.known
        colours[hidden] = piece_colours[self.pieces[pixels.faces[hidden]]]
        result = self.seen.rgb[view].copy()
        height, width = result.shape[:2]
        # means of the fine pixels; those that have not changed have the rest view's value
        place = pixels.rows // _FINER * width + pixels.columns // _FINER
        counts = np.bincount(place, minlength=height * width)
        touched = np.flatnonzero(counts)
        sums = np.stack([np.bincount(place, c, height * width) for c in colours.T], axis=-1)
        rest = result.reshape(-1, 3)[touched] * (_FINER**2 - counts[touched])[:, None]
        result.reshape(-1, 3)[touched] = np.rint((sums[touched] + rest) / _FINER**2)
        return result


def _piece_colours(
    carrier: _Carrier, generated: np.ndarray, drawn: list[list[_Changed]]
) -> np.ndarray:
    """Colours (pieces, 3) of flat pieces where they are hidden at rest.

    What the rest views show of the same solid is part of the mean of what was generated: a door is
    mostly painted alike on both sides. A piece seen by few pixels leans to all that is hidden.
    """
    pieces, solids = carrier.pieces, carrier.solids
    counts, sums = np.zeros(pieces.max() + 1), np.zeros((pieces.max() + 1, 3))
    shown, shown_sums = np.zeros(solids.max() + 1), np.zeros((solids.max() + 1, 3))
    for view, row in enumerate(drawn):
        for frame, pixels in enumerate(row):
            hidden = np.flatnonzero(~pixels.known)
            piece = pieces[pixels.faces[hidden]]
            place = pixels.rows[hidden] // _FINER, pixels.columns[hidden] // _FINER
            _add(counts, sums, piece, generated[view, frame][place].astype(np.float64))
            seen = np.flatnonzero(pixels.known & (pixels.faces >= 0))
            _add(shown, shown_sums, solids[pixels.faces[seen]], pixels.colours[seen])
    few = _FEW * _FINER**2
    middle = sums.sum(axis=0) / max(counts.sum(), 1)
    made = (sums + few * middle) / (counts + few)[:, None]
    solid_of = np.zeros(len(counts), dtype=int)
    solid_of[pieces] = solids
    trust = _ALIKE * shown / (shown + few)
    known = shown_sums / np.maximum(shown, 1)[:, None]
    return made + trust[solid_of, None] * (known[solid_of] - made)


def _add(counts: np.ndarray, sums: np.ndarray, groups: np.ndarray, colours: np.ndarray) -> None:
    counts += np.bincount(groups, minlength=len(counts))
    for channel in range(3):
        sums[:, channel] += np.bincount(groups, colours[:, channel], len(counts))


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


def _flat_pieces(corners: np.ndarray, normals: np.ndarray, solids: np.ndarray) -> np.ndarray:
    """A number (m,) for each triangle, the same for those of one solid, plane and side."""
    offsets = np.einsum("nc,nc->n", normals, corners[:, 0])
    keys = np.column_stack([np.round(5 * normals), np.round(25 * offsets), solids])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel()
