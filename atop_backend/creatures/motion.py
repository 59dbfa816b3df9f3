"""Motions of creatures as rotations of bones over time, with feet that stay where they stand."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from atop_backend.creatures.anatomy import FORWARD, LEFT, UP, Creature, Leg
from atop_backend.skeletal.prior import PRIOR_SHARES

SHARES = np.array(PRIOR_SHARES)  # of one period or one gesture
FRAMES = len(SHARES)
WAVE = 2 * np.pi * SHARES

Angles = Float[np.ndarray, " frames"]


def turns(axis: np.ndarray, angles: np.ndarray) -> Float[np.ndarray, "frames 3 3"]:
    """Rotations about an axis (Rodrigues)."""
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angles = np.broadcast_to(np.asarray(angles, dtype=np.float64), (FRAMES,))[:, None, None]
    return np.eye(3) + np.sin(angles) * cross + (1 - np.cos(angles)) * (cross @ cross)


def between(first: np.ndarray, second: np.ndarray) -> Float[np.ndarray, "frames 3 3"]:
    """The least rotations that take one direction, (3,), to others, (frames, 3)."""
    first = first / np.linalg.norm(first)
    second = second / np.linalg.norm(second, axis=1, keepdims=True)
    x, y, z = np.cross(first, second).T
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)
    cosine = (second @ first).clip(-0.999)[:, None, None]
    return np.eye(3) + cross + cross @ cross / (1 + cosine)


def rise(start: float, end: float) -> Angles:
    """From 0 to 1 between two shares of the time, smoothly."""
    share = np.clip((SHARES - start) / (end - start), 0, 1)
    return share * share * (3 - 2 * share)


def hold(start: float = 0.0, full: float = 0.25, leave: float = 0.75, end: float = 1.0) -> Angles:
    """Up to 1, there for a while, and back to 0."""
    return rise(start, full) * (1 - rise(leave, end))


class Animator:
    """A motion while it is made; at rest to begin with."""

    def __init__(self, creature: Creature) -> None:
        self.creature = creature
        self.size = float(np.ptp(creature.vertices[:, 2]))
        count = len(creature.bones)
        self.rotations = np.tile(np.eye(3), (FRAMES, count, 1, 1))
        self.turned = np.tile(np.eye(3), (FRAMES, 1, 1))  # of the whole, about the root's head
        self.shift = np.zeros((FRAMES, 3))

    def turn(self, bone: int, axis: np.ndarray, angles: np.ndarray | float) -> None:
        """Turn a bone further, about an axis that its parent carries."""
        self.rotations[:, bone] = turns(axis, np.asarray(angles)) @ self.rotations[:, bone]

    def curl(self, bones: tuple[int, ...], axis: np.ndarray, angles: np.ndarray | float) -> None:
        """Turn the end of a chain by an angle that its bones share."""
        for bone in bones:
            self.turn(bone, axis, np.asarray(angles) / max(len(bones), 1))

    def aim(self, bones: tuple[int, ...], *directions: np.ndarray) -> None:
        """Point bones of a chain along directions in the frame of what carries the chain.

        Args:
            directions: (frames, 3) or (3,) for each bone; the last one also for those after it.
        """
        creature, above = self.creature, np.tile(np.eye(3), (FRAMES, 1, 1))
        for index, bone in enumerate(bones):
            wanted = directions[min(index, len(directions) - 1)]
            wanted = np.broadcast_to(np.asarray(wanted, dtype=np.float64), (FRAMES, 3))
            local = np.einsum("fba,fb->fa", above, wanted)
            self.rotations[:, bone] = between(creature.tails[bone] - creature.heads[bone], local)
            above = above @ self.rotations[:, bone]

    def pitch(self, bones: tuple[int, ...], angles: np.ndarray | float) -> None:
        """Bend a chain that points up towards the front."""
        self.curl(bones, LEFT, angles)

    def turn_whole(self, axis: np.ndarray, angles: np.ndarray | float) -> None:
        """Turn the body about the head of its root."""
        self.turned = turns(axis, np.asarray(angles)) @ self.turned

    def bone_frames(self) -> tuple[np.ndarray, np.ndarray]:
        """World rotations (frames, j, 3, 3) and heads (frames, j, 3) of all bones."""
        creature = self.creature
        rotations = np.empty_like(self.rotations)
        heads = np.empty((FRAMES, len(creature.bones), 3))
        root = creature.heads[0]
        for bone, parent in enumerate(creature.parents):
            if parent < 0:
                above = self.turned
                offset = creature.heads[bone] - root
                heads[:, bone] = root + self.shift + above @ offset
            else:
                above = rotations[:, parent]
                offset = creature.heads[bone] - creature.heads[parent]
                heads[:, bone] = heads[:, parent] + above @ offset
            rotations[:, bone] = above @ self.rotations[:, bone]
        return rotations, heads

    def matrices(self) -> Float[np.ndarray, "frames j 3 4"]:
        """Where each bone takes the points that hang on it."""
        rotations, heads = self.bone_frames()
        moved = heads - np.einsum("fjab,jb->fja", rotations, self.creature.heads)
        return np.concatenate([rotations, moved[..., None]], axis=3)

    def points(self) -> Float[np.ndarray, "frames n 3"]:
        """The skin in every frame."""
        creature = self.creature
        matrices = self.matrices()
        homogeneous = np.concatenate([creature.vertices, np.ones((len(creature.vertices), 1))], 1)
        bound = (creature.weights[:, :, None] * homogeneous[:, None]).reshape(len(homogeneous), -1)
        return (matrices.transpose(0, 2, 1, 3).reshape(FRAMES, 3, -1) @ bound.T).transpose(0, 2, 1)

    def settle(self, lift: np.ndarray | float = 0.0) -> None:
        """Lower or raise the body until its lowest point is on the ground, plus a lift."""
        self.shift[:, 2] += lift - self.points()[..., 2].min(axis=1)

    def plant(self, leg: Leg, targets: Float[np.ndarray, "frames 3"], roll: np.ndarray) -> None:
        """Bend a leg until its ankle is at its target, the foot as flat as at rest plus a roll.

        Exact in the plane of the leg and its parent's front and up; sideways the leg is turned as
        a whole.
        """
        creature = self.creature
        rotations, heads = self.bone_frames()
        parent = int(creature.parents[leg.hip])
        above = rotations[:, parent]
        wanted = np.einsum("fba,fb->fa", above, targets - heads[:, leg.hip])
        upper = (creature.heads[leg.knee] - creature.heads[leg.hip])[1:]
        lower = (creature.heads[leg.ankle] - creature.heads[leg.knee])[1:]
        long, short = np.linalg.norm(upper), np.linalg.norm(lower)
        sideways = creature.heads[leg.ankle][0] - creature.heads[leg.hip][0]
        spread = np.arctan2(wanted[:, 0] - sideways, -wanted[:, 2].clip(max=-1e-6))
        reach = np.hypot(wanted[:, 1], np.hypot(wanted[:, 2], wanted[:, 0] - sideways))
        reach = reach.clip(abs(long - short) * 1.01 + 1e-6, 0.9995 * (long + short))
        cosine = (long**2 + reach**2 - short**2) / (2 * long * reach)
        direction = np.arctan2(wanted[:, 2], wanted[:, 1])
        thigh = direction + leg.bend * np.arccos(cosine.clip(-1, 1))
        ankle = reach[:, None] * np.stack([np.cos(direction), np.sin(direction)], axis=1)
        knee = long * np.stack([np.cos(thigh), np.sin(thigh)], axis=1)
        shin = np.arctan2(*(ankle - knee).T[::-1])
        first = thigh - np.arctan2(upper[1], upper[0])
        second = shin - np.arctan2(lower[1], lower[0])
        self.turn(leg.hip, LEFT, _wrapped(first))
        self.turn(leg.hip, FORWARD, spread)
        self.turn(leg.knee, LEFT, _wrapped(second - first))
        level = self.bone_frames()[0][:, leg.knee]
        self.rotations[:, leg.ankle] = (
            np.swapaxes(level, 1, 2) @ self.turned_upright() @ turns(LEFT, roll)
        )

    def turned_upright(self) -> np.ndarray:
        """The part of the body's turn that is about the vertical, (frames, 3, 3)."""
        yaw = np.arctan2(self.turned[:, 1, 0], self.turned[:, 0, 0])
        return turns(UP, yaw)

    def ankle(self, leg: Leg) -> np.ndarray:
        """Where a leg's ankle is at rest, (3,)."""
        return self.creature.heads[leg.ankle]


def _wrapped(angles: np.ndarray) -> np.ndarray:
    return (angles + np.pi) % (2 * np.pi) - np.pi
