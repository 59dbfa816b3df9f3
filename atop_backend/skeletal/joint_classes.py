"""How far joints of a kind turn, for bones whose rig does not say: the kind is read off the name.

Bones have their own axes in every rig, so limits are of what all share: the swing of the bone's
line away from rest, and the twist about it. They are wide: animals and cartoons bend further than
people, and rests differ.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.geometry.rigs import Rig

# words in a bone's name: most swing and most twist, degrees; the first that fits counts
_CLASSES: tuple[tuple[str, float, float], ...] = (
    (r"finger|thumb|index|middle|ring|pinky|toe|claw", 110, 15),
    (r"knee|shin|calf|lower_?leg|low_?leg|leg_?lower", 150, 15),
    (r"elbow|fore_?arm|lower_?arm|arm_?lower", 150, 60),
    (r"wrist|hand|paw|hoof|ankle|foot", 90, 40),
    (r"clavicle|collar|scapula", 45, 20),
    (r"spine|chest|torso|back|belly|waist", 60, 45),
    (r"neck", 70, 70),
    (r"head|skull", 70, 80),
    (r"jaw", 50, 10),
    (r"tail|tentacle|trunk", 90, 45),
    (r"thigh|hip|up(per)?_?leg|shoulder|up(per)?_?arm|leg|arm|wing", 140, 70),
)


class ClassLimits(NamedTuple):
    """Limits of the bones whose motion is sought; infinite where nothing is known."""

    lines: Float[Tensor, "free 3"]  # of the bones, in their rest axes
    swing: Float[Tensor, " free"]  # radians
    twist: Float[Tensor, " free"]


def limits_by_class(rig: Rig) -> ClassLimits:
    """The limits of a rig's free bones; those with Limit Rotation constraints keep these alone."""
    free = np.flatnonzero(rig.free())
    along = (rig.tails - rig.rest[:, :3, 3])[free]
    lines = np.einsum("bji,bj->bi", rig.rest[free, :3, :3], along)
    lines = lines / np.maximum(np.linalg.norm(lines, axis=1, keepdims=True), 1e-9)
    known = ~np.isnan(rig.limits[free]).all(axis=(1, 2))
    spans = [
        (math.inf, math.inf) if limited else _spans(rig.bones[bone])
        for bone, limited in zip(free, known, strict=True)
    ]
    swing, twist = torch.tensor(spans, dtype=torch.float32).reshape(-1, 2).deg2rad().unbind(1)
    return ClassLimits(torch.as_tensor(lines, dtype=torch.float32), swing, twist)


def _spans(name: str) -> tuple[float, float]:
    """Most swing and twist of a bone of this name, degrees."""
    plain = re.sub(r"[\s.\-]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)).lower()
    for words, swing, twist in _CLASSES:
        if re.search(words, plain):
            return swing, twist
    return math.inf, math.inf


def beyond_class(
    vectors: Float[Tensor, "frames free 3"], limits: ClassLimits
) -> Float[Tensor, "frames free"]:
    """How far each joint is beyond its class's limits, radians.

    Args:
        vectors: Rotation vectors; their parts along and across the bone's line count as twist and
            swing.
    """
    twist = (vectors * limits.lines).sum(dim=-1)
    across = vectors - twist[..., None] * limits.lines
    swing = (across.square().sum(dim=-1) + 1e-12).sqrt()
    return (swing - limits.swing).clamp_min(0) + (twist.abs() - limits.twist).clamp_min(0)
