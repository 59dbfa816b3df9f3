"""How far a joint moves: as the video shows, cut where the part would run into its object."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.geometry.meshes import RestShape
from atop_backend.motion.features import Features
from atop_backend.motion.terms import sweep
from atop_backend.prompt_amount import PromptAmount

LEAST = {"revolute": math.radians(5), "prismatic": 0.02}  # a joint that moves less is of no use
MOST = {"revolute": 2 * math.pi, "prismatic": 2.0}
_BUMP = 0.10  # share of the part that must pass through the body before the motion is cut
_POINTS = 300


def cut_at_collision(features: Features, joint: JointMotion) -> JointMotion:
    """The joint with its upper limit where the sweep first runs into the body.

    A sweep that collides from its very start says that the mesh overlaps itself at rest, and
    nothing about the range: then the limit stays.
    """
    points = features.part_points[:: max(1, len(features.part_points) // _POINTS)]
    shares = sweep(
        features,
        points,
        np.array([joint.kind == "revolute"]),
        np.array([joint.axis]),
        np.array([joint.origin]),
        np.array([joint.upper]),
    )[0]
    bumped = np.nonzero(shares > _BUMP)[0]
    if len(bumped) == 0 or bumped[0] < 0.25 * len(shares):
        return joint
    return replace(joint, upper=within_limits(joint.kind, joint.upper * bumped[0] / len(shares)))


def within_limits(kind: str, amount: float) -> float:
    """The amount, at least what is worth a joint and at most a full turn or twice the object."""
    return float(np.clip(amount, LEAST[kind], MOST[kind]))


def apply_prompt(joint: JointMotion, said: PromptAmount, shape: RestShape) -> JointMotion:
    """The joint with the range that a prompt asks for; it overrules video and collisions.

    Args:
        joint: In the normalised frame.
        shape: Tells how long a metre is; an angle for a slide, or the reverse, is ignored.
    """
    if joint.kind == "revolute" and said.angle_rad is not None:
        return replace(joint, upper=joint.lower + said.angle_rad)
    if joint.kind == "prismatic" and said.distance_m is not None:
        metre = float(np.cbrt(np.linalg.det(shape.normalised_to_file[:3, :3])))
        return replace(joint, upper=joint.lower + said.distance_m / metre)
    if said.share is not None:
        return replace(joint, upper=joint.lower + said.share * (joint.upper - joint.lower))
    return joint
