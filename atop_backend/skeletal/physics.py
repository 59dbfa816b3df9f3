"""Physics tracking: rigid bodies on a ground follow a motion by the torques of their joints.

Gravity pulls, contacts carry, and each joint turns towards its target like a damped spring (PD).
The targets are learned over some trials: what a joint fell short of in one trial is added to its
target in the next (iterative learning control, Arimoto et al. 1984), which needs no gradients
through contacts. Many motions cannot be balanced at all, so the root may be held by a bounded
force along the ground and a bounded torque, as residual force control does (Yuan and Kitani,
2020); nothing but the ground holds it up. MuJoCo simulates: its contacts are robust, it installs
everywhere, and it starts at once. Differentiable simulators freeze the contacts that matter here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.spatial.transform import Rotation, Slerp

from atop_backend.errors import InputError, missing_package
from atop_backend.geometry.rigs import Placement, Rig
from atop_backend.skeletal.kinematics import Pose
from atop_backend.skeletal.physique import TIMESTEP_S, Physique, physique_of
from atop_backend.skeletal.rotations import matrices_to_vectors, vectors_to_matrices

_STIFF = 60.0  # rad/s of a joint's spring, against the inertia that hangs on it
_HOLD = 25.0  # rad/s of the root's springs
_STRENGTH = 4.0  # most torque of a joint, in body weights times body radii
_LEARN = 0.6  # share of a joint's shortfall that is added to its target
_MOST_OFFSET = 1.0  # radians by which a target may differ from the motion
_SETTLE_S = 0.4  # at the first pose before the motion begins


class Tracked(NamedTuple):
    """The simulated motion and how it went."""

    pose: Pose
    figures: dict[str, float]


def require_mujoco() -> Any:
    """The module.

    Raises:
        SetupError: It is not installed.
    """
    try:
        import mujoco
    except ImportError as error:
        raise missing_package("physics tracking needs", "mujoco", "physics") from error
    return mujoco


def track(
    rig: Rig,
    placement: Placement,
    pose: Pose,
    fps: float,
    cyclic: bool,
    assist: float,
    trials: int,
) -> Tracked:
    """The motion nearest to a given one that bodies on a ground can make.

    Args:
        rig: Normalised, as are the pose and the result; `placement` gives its size in metres.
        cyclic: The last pose is the first; then the second round is taken, and closed.
        assist: Most force on the root along the ground, in body weights; most torque likewise,
            times the body's radius. 0 lets it fall over.

    Raises:
        InputError: The rig has several roots.
        SetupError: MuJoCo is not installed.
    """
    mujoco = require_mujoco()
    if (rig.parents < 0).sum() != 1:
        raise InputError(
            "physics tracking needs bones that hang together",
            hint="leave --physics out, or parent the loose bones",
        )
    scale = placement.scale
    metres = rig._replace(
        vertices=rig.vertices * scale, tails=rig.tails * scale, rest=_scaled(rig.rest, scale)
    )
    physique = physique_of(metres)
    if not physique.moving or len(pose.rotations) < 2:
        raise InputError("nothing moves that could be tracked", hint="leave --physics out")
    rounds = [*range(len(pose.rotations)), *(range(1, len(pose.rotations)) if cyclic else ())]
    longer = Pose(*(part[rounds] for part in pose))
    reference = _reference(metres, physique, longer, scale, fps)
    world = _World(mujoco, physique, reference, assist, scale)
    best, least = None, np.inf
    for _ in range(max(1, trials)):
        trial = world.run()
        score = float(np.linalg.norm(trial.short, axis=2).mean())
        if score < least:
            best, least = trial, score
        world.learn(trial.short)
    assert best is not None
    found = _pose_of(metres, physique, best, scale, longer)
    if cyclic:
        found = _closed(Pose(*(part[-len(pose.rotations) :] for part in found)))
    return Tracked(found, {
        "tracking_error_deg": float(np.degrees(least)),
        "root_error_m": float(np.linalg.norm(best.roots - reference.roots, axis=1).mean()),
        "assist_weights": best.assist,
        "mass_kg": world.mass,
    })  # fmt: skip


class _Reference(NamedTuple):
    """The motion in each frame, metres."""

    roots: np.ndarray  # (frames, 3) of the root bone's head
    root_turns: Rotation  # of the root bone
    turns: tuple[Rotation, ...]  # of each moving bone, over frames
    fps: float


class _Trial(NamedTuple):
    """One simulation, frame by frame."""

    roots: np.ndarray
    root_quaternions: np.ndarray
    quaternions: np.ndarray  # (frames, moving, 4) wxyz
    short: np.ndarray  # (frames, moving, 3) what is missing to the motion, radians
    assist: float


def _scaled(rest: np.ndarray, scale: float) -> np.ndarray:
    scaled = rest.copy()
    scaled[:, :3, 3] *= scale
    return scaled


def _reference(rig: Rig, physique: Physique, pose: Pose, scale: float, fps: float) -> _Reference:
    turns = pose.root_rotations.double().numpy()
    shifts = scale * pose.root_shifts.double().numpy()
    frame = rig.rest[physique.root]
    moving = pose.rotations.double().numpy()[:, list(physique.moving)]
    return _Reference(
        turns @ frame[:3, 3] + shifts,
        Rotation.from_matrix(turns @ frame[:3, :3]),
        tuple(Rotation.from_matrix(moving[:, index]) for index in range(moving.shape[1])),
        fps,
    )


class _World:
    """The simulation and the joints' targets."""

    def __init__(
        self, mujoco: Any, physique: Physique, reference: _Reference, assist: float, radius: float
    ) -> None:
        self._mujoco, self._reference = mujoco, reference
        self._model = mujoco.MjModel.from_xml_string(physique.mjcf)
        self._data = mujoco.MjData(self._model)
        self.mass = float(self._model.body_subtreemass[0])
        weight = self.mass * 9.81
        self._most = _STRENGTH * weight * radius
        self._most_force, self._most_torque = assist * weight, assist * weight * radius
        self._weight = weight
        frames = len(reference.roots)
        self._times = np.arange(frames) / reference.fps
        self._offsets = np.zeros((frames, len(physique.moving), 3))
        self._pose_at(0.0, self._offsets)
        mujoco.mj_forward(self._model, self._data)
        full = np.zeros((self._model.nv, self._model.nv))
        mujoco.mj_fullM(self._model, self._data, full)
        inertia = np.diag(full)[6:].reshape(-1, 3).max(axis=1).repeat(3)
        self._stiffness = inertia * _STIFF**2
        self._model.dof_damping[6:] = 2 * inertia * _STIFF  # MuJoCo treats damping implicitly
        self._root_inertia = np.diag(full)[3:6].max()

    def _pose_at(self, time: float, offsets: np.ndarray) -> None:
        """Put the bodies into the motion's pose at a time."""
        data, reference = self._data, self._reference
        frame = min(round(time * reference.fps), len(reference.roots) - 1)
        data.qpos[:3] = reference.roots[frame]
        data.qpos[3:7] = _wxyz(reference.root_turns[frame])
        for index, turns in enumerate(reference.turns):
            data.qpos[7 + 4 * index : 11 + 4 * index] = _wxyz(turns[frame])
        data.qvel[:] = 0

    def _targets(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Quaternions and angular velocities of joints and root at all steps of the simulation."""
        last = self._times[-1]
        steps = np.arange(-round(_SETTLE_S / TIMESTEP_S), round(last / TIMESTEP_S) + 1) * TIMESTEP_S
        at = np.clip(steps, 0, last)
        reference = self._reference
        joints, speeds = [], []
        for index, turns in enumerate(reference.turns):
            targets = turns * Rotation.from_rotvec(self._offsets[:, index])
            sampled = Slerp(self._times, targets)(at)
            joints.append(_wxyz(sampled))
            speeds.append(_speeds(sampled))
        root = Slerp(self._times, reference.root_turns)(at)
        places = np.stack(
            [np.interp(at, self._times, reference.roots[:, axis]) for axis in range(3)], 1
        )
        return steps, np.stack(joints, 1), np.stack(speeds, 1), _wxyz(root), places

    def run(self) -> _Trial:
        """One trial from the first pose, set down on the ground."""
        mujoco, model, data = self._mujoco, self._model, self._data
        mujoco.mj_resetData(model, data)
        self._pose_at(0.0, self._offsets)
        mujoco.mj_forward(model, data)
        data.qpos[2] -= self._lowest()
        steps, joints, speeds, roots, places = self._targets()
        frames = np.round(self._times / TIMESTEP_S).astype(int) + round(_SETTLE_S / TIMESTEP_S)
        frame_of = {int(step): frame for frame, step in enumerate(frames)}
        recorded: list[np.ndarray] = []
        assist = 0.0
        for step in range(len(steps)):
            if step in frame_of:
                recorded.append(data.qpos.copy())
            errors = _quaternion_errors(data.qpos[7:].reshape(-1, 4), joints[step])
            damping = model.dof_damping[6:]
            torques = self._stiffness * errors.ravel() + damping * speeds[step].ravel()
            data.qfrc_applied[6:] = np.clip(torques, -self._most, self._most)
            assist += self._hold(places[step], roots[step])
            mujoco.mj_step(model, data)
        poses = np.stack(recorded)
        if not np.isfinite(poses).all():
            raise InputError(
                "the simulation of the body became unstable",
                hint="leave --physics out; the motion may be too fast for the body",
            )
        quaternions = poses[:, 7:].reshape(len(poses), -1, 4)
        wanted = np.stack([_wxyz(turns) for turns in self._reference.turns], axis=1)
        short = np.stack([_quaternion_errors(quaternions[frame], wanted[frame])
                          for frame in range(len(poses))])  # fmt: skip
        return _Trial(poses[:, :3], poses[:, 3:7], quaternions, short, assist / len(steps))

    def _hold(self, place: np.ndarray, turn: np.ndarray) -> float:
        """Bounded force along the ground and torque towards the root's place; body weights used."""
        data = self._data
        force = self.mass * (_HOLD**2 * (place - data.qpos[:3]) - 2 * _HOLD * data.qvel[:3])
        force[2] = 0.0  # only the ground holds it up
        force *= min(1.0, self._most_force / max(float(np.linalg.norm(force)), 1e-12))
        error = _quaternion_errors(data.qpos[None, 3:7], turn[None])[0]
        torque = self._root_inertia * (_HOLD**2 * error - 2 * _HOLD * data.qvel[3:6])
        torque *= min(1.0, self._most_torque / max(float(np.linalg.norm(torque)), 1e-12))
        data.qfrc_applied[:3], data.qfrc_applied[3:6] = force, torque
        return float(np.linalg.norm(force)) / self._weight

    def _lowest(self) -> float:
        """Height of the lowest contact point."""
        balls = self._model.geom_type == self._mujoco.mjtGeom.mjGEOM_SPHERE
        return float((self._data.geom_xpos[balls, 2] - self._model.geom_size[balls, 0]).min())

    def learn(self, short: np.ndarray) -> None:
        """Move the targets by what the joints fell short of."""
        self._offsets = np.clip(self._offsets + _LEARN * short, -_MOST_OFFSET, _MOST_OFFSET)


def _wxyz(turns: Rotation) -> np.ndarray:
    return np.roll(turns.as_quat(), 1, axis=-1)


def _speeds(turns: Rotation) -> np.ndarray:
    """Angular velocities (steps, 3) in the joint's own axes, as MuJoCo has them."""
    between = (turns[:-1].inv() * turns[1:]).as_rotvec() / TIMESTEP_S
    return np.concatenate([between, between[-1:]])


def _quaternion_errors(have: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Rotation vectors (n, 3) from orientations to others, in the first ones' axes; wxyz."""
    w, x = have[:, :1], -have[:, 1:]
    scalar = w * want[:, :1] - (x * want[:, 1:]).sum(axis=1, keepdims=True)
    vector = w * want[:, 1:] + want[:, :1] * x + np.cross(x, want[:, 1:])
    vector = np.where(scalar < 0, -vector, vector)
    sine = np.linalg.norm(vector, axis=1, keepdims=True)
    angle = 2 * np.arctan2(sine, np.abs(scalar))
    return vector * np.where(sine < 1e-9, 2.0, angle / np.maximum(sine, 1e-12))


def _pose_of(rig: Rig, physique: Physique, trial: _Trial, scale: float, given: Pose) -> Pose:
    """The trial as a pose of the normalised rig."""
    frame = rig.rest[physique.root]
    turned = _matrices(trial.root_quaternions) @ frame[:3, :3].T
    shifts = (trial.roots - turned @ frame[:3, 3]) / scale
    rotations = given.rotations.clone()
    rotations[:, list(physique.moving)] = torch.as_tensor(
        _matrices(trial.quaternions), dtype=rotations.dtype
    )
    return Pose(
        rotations,
        torch.as_tensor(turned, dtype=rotations.dtype),
        torch.as_tensor(shifts, dtype=rotations.dtype),
    )


def _closed(pose: Pose) -> Pose:
    """The motion with what its end lacks to its beginning spread over the frames."""
    shares = torch.linspace(0, 1, len(pose.root_shifts), dtype=pose.root_shifts.dtype)

    def close(turns: torch.Tensor) -> torch.Tensor:
        lacking = matrices_to_vectors(turns[-1].mT @ turns[0])
        parts = shares.view(-1, *[1] * lacking.ndim) * lacking
        return turns @ vectors_to_matrices(parts)

    shifts = pose.root_shifts + shares[:, None] * (pose.root_shifts[0] - pose.root_shifts[-1])
    return Pose(close(pose.rotations), close(pose.root_rotations), shifts)


def _matrices(quaternions: np.ndarray) -> np.ndarray:
    flat = np.roll(quaternions, -1, axis=-1).reshape(-1, 4)
    return Rotation.from_quat(flat).as_matrix().reshape(*quaternions.shape[:-1], 3, 3)
