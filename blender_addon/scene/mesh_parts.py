"""Parts that are only some faces of a mesh: moved by a bone, or cut off into an object."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import bmesh
import bpy
import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError

from . import convert, rig
from .record import Articulation, articulations


@dataclass(frozen=True, slots=True)
class MeshPart:
    """Some faces of one mesh object that are to move."""

    object: bpy.types.Object
    faces: np.ndarray  # (n,) indices into the polygons of the object's own mesh
    name: str
    way: Literal["bone", "separate"] = "bone"

    def fingerprint(self) -> str:
        """Tells whether two choices are the same faces."""
        return hashlib.sha1(np.unique(self.faces).astype("<i8").tobytes()).hexdigest()


def attach(
    context: bpy.types.Context, part: MeshPart, joint: JointMotion, name: str
) -> Articulation:
    """Build the rig on the mesh object and bind the faces to it."""
    ob = part.object
    total = len(ob.data.polygons)
    if len(part.faces) == 0 or len(np.unique(part.faces)) == total:
        found = "has no faces" if len(part.faces) == 0 else "is the whole mesh"
        raise InputError(
            f"the part {part.name!r} of {ob.name!r} {found}",
            hint="choose some of its faces, or pick the object itself as the part",
        )
    world = convert.as_array(ob.matrix_world)
    convert.invert(world, ob.name)
    collections = [c for c in ob.users_collection if c.library is None]
    size = 0.25 * _face_extent(part, world)
    articulation = rig.build_rig(name, size, collections or [context.scene.collection], joint, name)
    rig.set_parent(articulation.frame, ob, rig.IDENTITY_HANG)
    bind = _separate if part.way == "separate" else _bind_bone
    hang = bind(context, articulation, part, name) | {"faces": part.fingerprint()}
    data = articulation.data
    articulation.store(data | {"parts": [hang], "parent_world": world.tolist()})
    return articulation


def find(part: MeshPart) -> Articulation | None:
    """The articulation that already moves exactly these faces."""
    for articulation in articulations():
        hangs = articulation.data["parts"]
        if hangs and hangs[0].get("faces") == part.fingerprint():
            owner = articulation.pointed("body") or articulation.pointed("part_0")
            if owner == part.object:
                return articulation
    return None


def detach(context: bpy.types.Context, articulation: Articulation) -> None:
    """Take back what `attach` did to the mesh object; nothing to do for object parts."""
    hang = next(iter(articulation.data["parts"]), {"how": ""})
    if hang["how"] == "bone":
        _unbind_bone(context, articulation, hang)
    elif "faces" in hang:
        _join(context, articulation)


@contextmanager
def object_mode(context: bpy.types.Context, ob: bpy.types.Object) -> Iterator[None]:
    """Leave edit mode for the block, since Blender changes no vertex groups in it."""
    if ob.mode != "EDIT":
        yield
        return
    with context.temp_override(active_object=ob, object=ob, edit_object=ob):
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        yield
    finally:
        with context.temp_override(active_object=ob, object=ob):
            bpy.ops.object.mode_set(mode="EDIT")


def _corner_vertices(mesh: bpy.types.Mesh, faces: np.ndarray) -> np.ndarray:
    chosen = np.zeros(len(mesh.polygons), bool)
    chosen[faces] = True
    sizes = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    return np.unique(corners[np.repeat(chosen, sizes)])


def _face_extent(part: MeshPart, world: np.ndarray) -> float:
    mesh = part.object.data
    places = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", places)
    corners = places.reshape(-1, 3)[_corner_vertices(mesh, part.faces)] @ world[:3, :3].T
    return float(np.linalg.norm(np.ptp(corners, axis=0))) or 1.0


def _bind_bone(
    context: bpy.types.Context, articulation: Articulation, part: MeshPart, name: str
) -> dict:
    ob = part.object
    hang = {"how": "bone", "active_group": ob.vertex_groups.active_index}
    with object_mode(context, ob):
        group = ob.vertex_groups.new(name=name)
        group.add(_corner_vertices(ob.data, part.faces).tolist(), 1.0, "REPLACE")
        hang["group"] = group.name
    armature = _one_bone_armature(context, f"{name} Bone", hang["group"])
    for collection in articulation.frame.users_collection:
        collection.objects.link(armature)
    armature.parent = articulation.frame
    follow = armature.pose.bones[0].constraints.new("COPY_TRANSFORMS")
    follow.target = articulation.pivot
    modifier = ob.modifiers.new(f"{name} Joint", "ARMATURE")
    modifier.object, modifier.use_bone_envelopes = armature, False
    hang["modifier"] = modifier.name
    if ob.override_library is None:
        # first, so that mirrors, arrays, bevels and subdivision work on the moved part
        ob.modifiers.move(len(ob.modifiers) - 1, 0)
    articulation.point("part_0", ob)
    articulation.point("armature", armature)
    return hang


def _one_bone_armature(context: bpy.types.Context, name: str, bone: str) -> bpy.types.Object:
    """An armature whose one bone has the object's own axes; mode and selection stay untouched.

    Bones can be made in edit mode alone, so it is done in a scene of its own.
    """
    data = bpy.data.armatures.new(name)
    ob = bpy.data.objects.new(name, data)
    scene = bpy.data.scenes.new("atop bone")
    try:
        scene.collection.objects.link(ob)
        layer = scene.view_layers[0]
        layer.objects.active = ob
        with context.temp_override(
            scene=scene, view_layer=layer, active_object=ob, object=ob, edit_object=None
        ):
            bpy.ops.object.mode_set(mode="EDIT")
            edit_bone = data.edit_bones.new(bone)
            edit_bone.head, edit_bone.tail, edit_bone.roll = (0, 0, 0), (0, 1, 0), 0
            bpy.ops.object.mode_set(mode="OBJECT")
    finally:
        bpy.data.scenes.remove(scene)
    return ob


def _unbind_bone(context: bpy.types.Context, articulation: Articulation, hang: dict) -> None:
    ob, armature = articulation.pointed("part_0"), articulation.pointed("armature")
    if ob is not None:
        modifier = ob.modifiers.get(hang["modifier"])
        if modifier is not None:
            ob.modifiers.remove(modifier)
        group = ob.vertex_groups.get(hang["group"])
        if group is not None:
            with object_mode(context, ob):
                ob.vertex_groups.remove(group)
                ob.vertex_groups.active_index = hang["active_group"]
    if armature is not None:
        bpy.data.armatures.remove(armature.data)


def _separate(
    context: bpy.types.Context, articulation: Articulation, part: MeshPart, name: str
) -> dict:
    body = part.object
    with object_mode(context, body):
        original = body.data
        moving = body.copy()
        moving.name = name
        moving.animation_data_clear()
        for constraint in list(moving.constraints):
            moving.constraints.remove(constraint)
        moving.matrix_basis.identity()
        moving.matrix_basis = convert.as_matrix(np.eye(4))
        moving.data = _with_faces(original, part.faces, keep=True)
        body.data = _with_faces(original, part.faces, keep=False)
    for collection in articulation.frame.users_collection:
        collection.objects.link(moving)
    rig.set_parent(moving, articulation.pivot, rig.IDENTITY_HANG)
    for block, key in ((moving, "part_0"), (body, "body"), (body, "parent_0"), (original, "mesh")):
        articulation.point(key, block)
    world = convert.as_array(body.matrix_world).tolist()
    return rig.IDENTITY_HANG | {"how": "parent", "parent_world": world}


def _with_faces(original: bpy.types.Mesh, faces: np.ndarray, *, keep: bool) -> bpy.types.Mesh:
    """A copy of the mesh with only the given faces, or with all but them."""
    copy = original.copy()
    chosen = set(faces.tolist())
    mesh = bmesh.new()
    try:
        mesh.from_mesh(copy)
        gone = [face for face in mesh.faces if (face.index in chosen) != keep]
        bmesh.ops.delete(mesh, geom=gone, context="FACES")
        mesh.to_mesh(copy)
    finally:
        mesh.free()
    return copy


def _join(context: bpy.types.Context, articulation: Articulation) -> None:
    body, moving = articulation.pointed("body"), articulation.pointed("part_0")
    original = articulation.pointed("mesh")
    copies = [ob.data for ob in (body, moving) if ob is not None]
    if body is not None and original is not None:
        with object_mode(context, body):
            body.data = original
    if moving is not None:
        bpy.data.objects.remove(moving)
    for copy in copies:
        if copy != original and copy.users == 0:
            bpy.data.meshes.remove(copy)
