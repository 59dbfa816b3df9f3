"""Evidence of known motions, drawn here without any model: what an ideal video prior would say."""

from __future__ import annotations

import math

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.geometry import cameras as rigs
from atop_backend.geometry.collision import scatter
from atop_backend.geometry.joints import transform_points
from atop_backend.geometry.meshes import RestShape
from atop_backend.motion.evidence import MotionEvidence, evidence_from_clip

CAMERAS = rigs.rig(math.radians(20))
FRAMES = np.array([1 / 3, 2 / 3, 1.0])


def shape_of(triangles: np.ndarray, moving: np.ndarray) -> RestShape:
    """The rest shape of a triangle soup (m, 3, 3) that is already normalised."""
    corners = np.asarray(triangles, dtype=np.float64).reshape(-1, 3)
    vertices, names = np.unique(np.round(corners, 7), axis=0, return_inverse=True)
    return RestShape(vertices, names.reshape(-1, 3), np.asarray(moving), np.eye(4), ("part",))


def normalise(triangles: np.ndarray, joint: JointMotion) -> tuple[np.ndarray, JointMotion, float]:
    """Triangles and joint in the normalised frame, and how many units became one."""
    points = triangles.reshape(-1, 3)
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    scale = float(np.linalg.norm(points - centre, axis=1).max())
    travel = scale if joint.kind == "prismatic" else 1.0
    origin = tuple(map(float, (np.asarray(joint.origin) - centre) / scale))
    moved = JointMotion(joint.kind, joint.axis, origin, joint.lower / travel, joint.upper / travel)
    return (triangles - centre) / scale, moved, scale


def see(points: np.ndarray, moving: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Point seen (views, size, size, 3) and part mask (views, size, size) of dense points."""
    positions = np.zeros((4, size * size, 3))
    mask = np.zeros((4, size * size), dtype=bool)
    for view, camera in enumerate(CAMERAS):
        pixels, depths = rigs.project(camera, points)
        places = np.floor(pixels * (size / camera.width_px)).astype(int)
        inside = np.nonzero(((places >= 0) & (places < size)).all(axis=1))[0]
        order = inside[np.argsort(-depths[inside], kind="stable")]
        cells = places[order, 1] * size + places[order, 0]
        positions[view, cells] = points[order]  # the nearest is written last
        mask[view, cells] = moving[order]
    return positions.reshape(4, size, size, 3), mask.reshape(4, size, size)


def ideal_evidence(
    shape: RestShape,
    joint: JointMotion,
    samples: int = 1,
    generator: np.random.Generator | None = None,
    points: int = 60_000,
    size: int = 128,
) -> MotionEvidence:
    """What perfect samples of a clip of this joint would show."""
    generator = generator or np.random.default_rng(0)
    corners = shape.vertices[shape.triangles]
    dense, owners = scatter(corners, points, generator)
    moving = shape.part[owners]
    positions, mask = see(dense, moving, size)
    silhouettes = []
    for share in FRAMES:
        posed = np.where(
            moving[:, None], transform_points(joint, joint.upper * share, dense), dense
        )
        seen = see(posed, moving, size)[1]
        block = size // 32
        silhouettes.append(seen.reshape(4, 32, block, 32, block).mean(axis=(2, 4)))
    outline = np.stack(silhouettes, axis=1)[None]
    big = np.repeat(np.repeat(mask, 256 // size, axis=1), 256 // size, axis=2)
    far = np.repeat(np.repeat(positions, 256 // size, axis=1), 256 // size, axis=2)
    blank = evidence_from_clip(far, big, CAMERAS, np.repeat(outline, samples, 0), None, FRAMES)
    moved = [
        transform_points(joint, joint.upper * share, blank.points) - blank.points
        for share in FRAMES
    ]
    displacements = np.repeat(np.stack(moved)[None], samples, axis=0)
    return blank._replace(displacements=displacements)


def with_noise(
    evidence: MotionEvidence, share: float, generator: np.random.Generator
) -> MotionEvidence:
    """Displacements with independent noise of this share of the mean motion's size."""
    size = np.sqrt(np.mean(evidence.displacements**2))
    noise = generator.normal(size=evidence.displacements.shape) * size * share
    return evidence._replace(displacements=evidence.displacements + noise)
