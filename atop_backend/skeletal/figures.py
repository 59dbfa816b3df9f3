"""Figures of a motion that need no judge: ground contact, limits, smoothness, how much moves."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.geometry.rigs import Rig
from atop_backend.skeletal import regularisers
from atop_backend.skeletal.joint_classes import beyond_class, limits_by_class
from atop_backend.skeletal.kinematics import Pose, bone_matrices, skeleton_of, skin_vertices
from atop_backend.skeletal.rotations import matrices_to_vectors

_MOST_VERTICES = 2000  # that are looked at, evenly chosen


def figures(rig: Rig, pose: Pose, fps: float, radius_m: float) -> dict[str, float]:
    """Figures of a motion of a normalised rig, in metres, degrees and seconds.

    foot_slide_m_s: mean speed along the ground of what stands on it (None moves: 0).
    penetration_m: how deep the deepest vertex is below the ground, mean over frames.
    float_m: how high the lowest vertex is above the ground, mean over frames.
    limit_violation_deg: mean over limited angles of how far they are beyond.
    class_violation_deg: the same over bones whose names alone say how far they turn.
    jerk_m_s3: mean third derivative of the bones' heads.
    motion_m_s: mean speed of the bones' heads.

    Args:
        radius_m: Length of the normalised radius.
    """
    skeleton = skeleton_of(rig)
    bones = bone_matrices(skeleton, pose)
    picks = np.unique(np.linspace(0, len(rig.vertices) - 1, _MOST_VERTICES).astype(int))
    some = rig._replace(vertices=rig.vertices[picks], weights=rig.weights[picks])
    points = skin_vertices(some, bones @ skeleton.rest_inverse)
    heads = bones[:, :, :3, 3]
    limits = torch.as_tensor(rig.limits, dtype=torch.float32)
    limited = ~limits.isnan().any(dim=-1)
    beyond = regularisers.beyond_limits(pose.rotations, torch.nan_to_num(limits), limited)
    lowest = points[..., 2].amin(dim=1)
    classes = limits_by_class(rig)
    vectors = matrices_to_vectors(pose.rotations[:, np.flatnonzero(rig.free())])
    guessed = classes.swing.isfinite()
    excess = beyond_class(vectors, classes)[:, guessed]
    return {
        "foot_slide_m_s": _slide(points) * fps * radius_m,
        "penetration_m": float((-lowest).clamp_min(0).mean()) * radius_m,
        "float_m": float(lowest.clamp_min(0).mean()) * radius_m,
        "limit_violation_deg": float(beyond[:, limited].mean().rad2deg()) if limited.any() else 0.0,
        "class_violation_deg": float(excess.mean().rad2deg()) if guessed.any() else 0.0,
        "jerk_m_s3": _mean_length(heads.diff(n=3, dim=0)) * fps**3 * radius_m,
        "motion_m_s": _mean_length(heads.diff(dim=0)) * fps * radius_m,
    }


def _slide(points: Float[Tensor, "frames n 3"]) -> float:
    low = torch.maximum(points[:-1, :, 2], points[1:, :, 2])
    steps = (points[1:, :, :2] - points[:-1, :, :2]).norm(dim=-1)
    contact = low < regularisers.CONTACT_HEIGHT
    return float(steps[contact].mean()) if contact.any() else 0.0


def _mean_length(vectors: Float[Tensor, "frames n 3"]) -> float:
    return float(vectors.norm(dim=-1).mean()) if len(vectors) else 0.0
