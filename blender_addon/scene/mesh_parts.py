"""Parts that are only some faces of a mesh: moved by a bone, or cut off into an object."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import bmesh
import bpy
import numpy as np

from atop_backend.errors import InputError

from . import convert, rig
from .record import Articulation


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


def check(part: MeshPart) -> None:
    """`InputError` unless the part is some, but not all, of its mesh."""
    chosen, total = len(np.unique(part.faces)), len(part.object.data.polygons)
    if 0 < chosen < total:
        return
    found = "is the whole mesh" if chosen else "has no faces"
    raise InputError(
        f"the part {part.name!r} of {part.object.name!r} {found}",
        hint="choose some of its faces, or pick the object itself as the part",
    )


def attach(
    context: bpy.types.Context, articulation: Articulation, index: int, part: MeshPart, name: str
) -> dict:
    """Bind the faces to the pivot; returns how, for `detach` to undo it.

    Args:
        index: The part's number within the articulation.
    """
    bind = _separate if part.way == "separate" else _bind_bone
    chosen = np.zeros(len(part.object.data.polygons), bool)
    chosen[part.faces] = True
    articulation.frame[f"atop_faces_{index}"] = zlib.compress(np.packbits(chosen).tobytes())
    return bind(context, articulation, index, part, name) | {"faces": part.fingerprint()}


def faces_again(articulation: Articulation, index: int) -> np.ndarray:
    """The indices of the faces that were bound."""
    packed = zlib.decompress(articulation.frame[f"atop_faces_{index}"])
    return np.flatnonzero(np.unpackbits(np.frombuffer(packed, np.uint8)))


def detach(context: bpy.types.Context, articulation: Articulation, index: int, hang: dict) -> None:
    """Take back what `attach` did to the mesh object; nothing to do for object parts."""
    if hang["how"] == "bone":
        _unbind_bone(context, articulation, index, hang)
    elif "faces" in hang:
        _join(context, articulation, index)


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


def corners_in_world(part: MeshPart) -> np.ndarray:
    """World positions of the part's vertices before modifiers, (k, 3)."""
    mesh = part.object.data
    places = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", places)
    chosen = places.reshape(-1, 3)[_corner_vertices(mesh, part.faces)].astype(np.float64)
    world = convert.as_array(part.object.matrix_world)
    return chosen @ world[:3, :3].T + world[:3, 3]


def _bind_bone(
    context: bpy.types.Context, articulation: Articulation, index: int, part: MeshPart, name: str
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
    articulation.point(f"part_{index}", ob)
    articulation.point(f"armature_{index}", armature)
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


def _unbind_bone(
    context: bpy.types.Context, articulation: Articulation, index: int, hang: dict
) -> None:
    ob = articulation.pointed(f"part_{index}")
    armature = articulation.pointed(f"armature_{index}")
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
    context: bpy.types.Context, articulation: Articulation, index: int, part: MeshPart, name: str
) -> dict:
    body = part.object
    with object_mode(context, body):
        original = body.data
        moving = body.copy()
        moving.name = name
        moving.animation_data_clear()
        for constraint in list(moving.constraints):
            moving.constraints.remove(constraint)
        moving.matrix_basis = convert.as_matrix(np.eye(4))
        moving.data = _with_faces(original, part.faces, keep=True)
        body.data = _with_faces(original, part.faces, keep=False)
    for collection in articulation.frame.users_collection:
        collection.objects.link(moving)
    rig.set_parent(moving, articulation.pivot, rig.IDENTITY_HANG)
    for key, block in (("part", moving), ("body", body), ("parent", body), ("mesh", original)):
        articulation.point(f"{key}_{index}", block)
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


def _join(context: bpy.types.Context, articulation: Articulation, index: int) -> None:
    body, moving, original = (
        articulation.pointed(f"{key}_{index}") for key in ("body", "part", "mesh")
    )
    copies = [ob.data for ob in (body, moving) if ob is not None]
    if body is not None and original is not None:
        with object_mode(context, body):
            body.data = original
    if moving is not None:
        bpy.data.objects.remove(moving)
    for copy in copies:
        if copy != original and copy.users == 0:
            bpy.data.meshes.remove(copy)
