"""Small rigs made by the tests: an armature and a tube around its bones, with smooth weights."""

from __future__ import annotations

import bpy
import numpy as np
from scenes import add

from atop_backend.geometry.rigs import load_rig
from atop_backend.rendering import blender_rig

CREATURE = {  # name: head, tail, parent
    "hips": ((0, 0, 1), (0, 0, 1.5), ""),
    "chest": ((0, 0, 1.5), (0.1, 0, 2.1), "hips"),
    "arm": ((0.2, 0, 2), (0.9, 0.1, 1.9), "chest"),
    "hand": ((0.9, 0.1, 1.9), (1.3, 0.3, 1.7), "arm"),
    "leg": ((0.1, 0, 1), (0.2, -0.1, 0.1), "hips"),
}


def armature(bones=CREATURE, name="Rig", **placing):
    """An armature object with these bones, each with some roll; the active object."""
    data = bpy.data.armatures.new(name)
    ob = add(bpy.data.objects.new(name, data))
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for index, (bone, (head, tail, parent)) in enumerate(bones.items()):
        made = data.edit_bones.new(bone)
        made.head, made.tail, made.roll = head, tail, 0.3 * index
        made.parent = data.edit_bones[parent] if parent else None
        made.use_connect = bool(parent) and bones[parent][1] == head
    bpy.ops.object.mode_set(mode="OBJECT")
    for key, value in placing.items():
        setattr(ob, key, value)
    bpy.context.view_layer.update()
    return ob


def tube(rig, name="Body", bones=None, *, modifier=True, parent=True, weighted=True):
    """A mesh of one prism a bone, weighted to all bones by distance and bound to the armature."""
    names = list(bones or [bone.name for bone in rig.data.bones])
    points, faces = [], []
    for bone in (rig.data.bones[each] for each in names):
        head, tail = np.array(bone.head_local), np.array(bone.tail_local)
        start = len(points)
        for share in (0.0, 0.5, 1.0):
            for angle in np.arange(4) * np.pi / 2:
                around = 0.15 * np.array([np.cos(angle), np.sin(angle), 0.0])
                points.append(head + share * (tail - head) + around)
        for ring in (0, 4):
            for k in range(4):
                a, b = start + ring + k, start + ring + (k + 1) % 4
                faces.append((a, b, b + 4, a + 4))
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(p) for p in points], [], faces)
    ob = add(bpy.data.objects.new(name, mesh))
    ob.matrix_world = rig.matrix_world
    if weighted:
        for each in names:
            bone = rig.data.bones[each]
            middle = (np.array(bone.head_local) + np.array(bone.tail_local)) / 2
            group = ob.vertex_groups.new(name=each)
            for index, point in enumerate(points):
                weight = float(np.exp(-4 * np.sum((point - middle) ** 2)))
                if weight > 0.01:
                    group.add([index], weight, "REPLACE")
    if modifier:
        ob.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.view_layer.update()
    if parent:
        hang(ob, rig)
    return ob


def hang(ob, rig, bone=""):
    """Make the object a child of the armature, or of a bone, without moving it."""
    bpy.context.view_layer.update()
    world = ob.matrix_world.copy()
    ob.parent = rig
    if bone:
        ob.parent_type, ob.parent_bone = "BONE", bone
    ob.matrix_world = world
    bpy.context.view_layer.update()


def pose_randomly(rig, seed=0, *, bones=None, most=1.0):
    """Turn bones at random; their rotations as quaternions by name."""
    random = np.random.default_rng(seed)
    turns = {}
    for pose in rig.pose.bones:
        axis, angle = random.normal(size=3), random.uniform(-most, most)
        if bones is not None and pose.name not in bones:
            continue
        axis *= np.sin(angle / 2) / np.linalg.norm(axis)
        turns[pose.name] = np.array([np.cos(angle / 2), *axis])
        pose.rotation_mode = "QUATERNION"
        pose.rotation_quaternion = turns[pose.name]
    bpy.context.view_layer.update()
    return turns


def save(path):
    """The current scene as a file, which the tests' reader opens."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False)
    return path


def read(tmp_path, name=""):
    """The rig and the notes of the scene as it is now; the scene is gone afterwards."""
    asset = save(tmp_path / "asset.blend")
    request = {"asset": str(asset), "armature": name}
    outcome = blender_rig.read_rig(request, tmp_path)
    return load_rig(tmp_path / outcome["rig"]), outcome["notes"]
