"""Motions for the tests' rigs, and where they want every bone."""

from __future__ import annotations

import json

import bpy
import numpy as np
from rig_scenes import CREATURE

from blender_addon.core.rig_motion import matrices, read_motion
from blender_addon.scene import rig_write


def motion_dict(rotations, *, root=None, fps=24.0, cyclic=False, root_bone=""):
    """motion.json for these rotations.

    Args:
        rotations: Bone -> (frames, 4).
        root: Rotations (frames, 4) and translations (frames, 3); None for at rest.
    """
    count = len(next(iter(rotations.values())))
    still = (np.tile([1.0, 0, 0, 0], (count, 1)), np.zeros((count, 3)))
    turns, places = root or still
    return {
        "version": 1,
        "fps": fps,
        "frame_count": count,
        "cyclic": cyclic,
        "bones": list(rotations),
        "rotations": np.stack(list(rotations.values()), axis=1).tolist(),
        "root_bone": root_bone,
        "root": {
            "rotations": np.asarray(turns).tolist(),
            "translations": np.asarray(places).tolist(),
        },
    }


def wander(count, seed, *, step=0.15):
    """Rotations (count, 4) that change smoothly and far."""
    random = np.random.default_rng(seed)
    walk = np.cumsum(random.normal(size=(count, 4)) * step, axis=0) + np.array([1.5, 0, 0, 0])
    return walk / np.linalg.norm(walk, axis=1, keepdims=True)


def make_motion(tmp_path, bones=CREATURE, count=9, **choices):
    """A motion that turns these bones far and smoothly."""
    turns = {name: wander(count, seed) for seed, name in enumerate(bones)}
    path = tmp_path / "motion.json"
    path.write_text(json.dumps(motion_dict(turns, **choices)))
    return read_motion(path)


def write(rig, motion, **choices):
    """Write it from frame 1 on, unless told otherwise."""
    return rig_write.write_motion(bpy.context, rig, motion, **({"frame_start": 1.0} | choices))


def wanted_poses(rig, motion, world):
    """World matrices of all bones by name, (frames, 4, 4) each, by the definition of the motion."""
    count = len(motion.root_rotations)
    root = np.tile(np.eye(4), (count, 1, 1))
    root[:, :3, :3], root[:, :3, 3] = matrices(motion.root_rotations), motion.root_translations
    poses = {}
    for bone in sorted(rig.data.bones, key=lambda bone: len(bone.parent_recursive)):
        rest, turn = np.array(bone.matrix_local), np.tile(np.eye(4), (count, 1, 1))
        if bone.name in motion.bones:
            turn[:, :3, :3] = matrices(motion.rotations[:, motion.bones.index(bone.name)])
        above = np.eye(4)
        if bone.parent:
            above = poses[bone.parent.name] @ np.linalg.inv(np.array(bone.parent.matrix_local))
        poses[bone.name] = above @ rest @ turn
    return {name: root @ world @ pose for name, pose in poses.items()}


def check(rig, motion, world, frames, bones=None, atol=1e-4):
    """Every bone is where the motion wants it, in each of these scene frames."""
    for index, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        for name, poses in wanted_poses(rig, motion, world).items():
            if bones is None or name in bones:
                shown = np.array(rig.matrix_world) @ np.array(rig.pose.bones[name].matrix)
                np.testing.assert_allclose(
                    shown, poses[index], atol=atol, err_msg=f"{name} {frame}"
                )
