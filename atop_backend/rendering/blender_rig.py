"""The script that Blender runs for rigs: `blender -b -P FILE -- REQUEST.json`.

Commands: `read_rig` writes an armature and its skin as rig.npz, `write_motion` gives the asset its
keyframes and saves it as a scene and as glTF. The asset itself is never written to.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # Blender's Python does not know where we are installed
    sys.path[:] = [entry for entry in sys.path if Path(entry) != Path(__file__).parent]
    sys.path.append(str(Path(__file__).resolve().parents[2]))

import bpy
import numpy as np

from atop_backend.errors import InputError, SetupError
from atop_backend.geometry.rigs import Rig, build_rig, save_rig
from atop_backend.rendering import blender_import as importing
from atop_backend.rendering import blender_skin as skinning
from atop_backend.rendering import child
from blender_addon.core.rig_motion import matrices, quaternion, read_motion
from blender_addon.scene import rig_controls, rig_keys

DIFFERENCE = 1e-3  # of the object's size; more than this between Blender and plain skinning is told
_TRY_RAD = 0.5  # largest turn of a bone in the pose in which the two are compared


def read_rig(request: dict[str, Any], out: Path) -> dict[str, Any]:
    """Write rig.npz into `out`; the outcome names the armature and holds notes for the artist."""
    importing.open_asset(Path(request["asset"]))
    armature, scene = skinning.find_armature(request["armature"])
    bpy.context.window.scene = scene
    importing.show_what_renders(scene)
    armature.hide_viewport = False
    bpy.context.view_layer.update()
    controls = rig_controls.find_controls(armature)
    world = np.array(armature.matrix_world, dtype=np.float64)
    surfaces = skinning.surfaces(scene, armature)
    rig = _rest(armature, world, surfaces, controls)
    notes = _notes(armature, rig, surfaces, controls)
    rig_controls.set_mute(armature, controls, True)
    notes += _compare(armature, rig, surfaces)
    save_rig(out / "rig.npz", rig)
    return {"rig": "rig.npz", "armature": armature.name, "notes": notes}


def _rest(armature: Any, world: np.ndarray, surfaces: list[Any], controls: list[Any]) -> Rig:
    """The rig with all bones at rest."""
    if not len(armature.data.bones):
        raise InputError(f"{armature.name!r} has no bones", hint="give an armature with bones")
    rest, tails = skinning.rest_matrices(armature, world)
    bones = armature.data.bones
    names = [bone.name for bone in bones]
    parents = np.array([names.index(bone.parent.name) if bone.parent else -1 for bone in bones])
    armature.data.pose_position = "REST"
    skin = skinning.skin(armature, surfaces, [*names, skinning.OBJECT], _graph())
    weights, still = skin.weights, skin.weights.sum(axis=1) <= skinning.LEAST_WEIGHT
    if still.all():
        raise InputError(
            f"no vertex has a weight for a bone of {armature.name!r} that deforms",
            hint="select the mesh, then the armature, and use Parent > With Automatic Weights",
        )
    weights[still] = np.eye(len(names) + 1)[-1]
    limits = skinning.limits(armature, np.linalg.det(world[:3, :3]) < 0)
    moves = (weights[:, :-1] > 0).any(axis=0)
    chosen = skinning.movable(armature, controls) & moves
    kept = _with_ancestors(np.asarray(moves), parents)
    place = np.append(np.cumsum(kept) - 1, -1)  # -1, no parent, stays -1
    names = [name for name, keep in zip(names, kept, strict=True) if keep]
    parents = place[parents[kept]]
    rest, tails, limits, chosen = rest[kept], tails[kept], limits[kept], chosen[kept]
    weights = weights[:, np.append(kept, True)]
    if weights[:, -1].any() or (parents < 0).sum() > 1:  # the object itself is then the root bone
        own_frame = np.eye(4)
        own_frame[:3, 3] = world[:3, 3]
        parents = np.append(np.where(parents < 0, len(names), parents), -1)
        names.append(skinning.OBJECT)
        rest, tails = np.concatenate([rest, own_frame[None]]), np.append(tails, tails[:1], axis=0)
        limits = np.append(limits, np.full((1, 3, 2), np.nan), axis=0)
        chosen = np.append(chosen, False)
    else:
        weights = weights[:, :-1]
    surface = skin.vertices, skin.triangles, skin.face_colours
    return build_rig(*surface, tuple(names), parents, rest, tails, weights, limits, chosen)


def _with_ancestors(wanted: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """(bones,) bool: the wanted bones and all above them."""
    kept = wanted.copy()
    for bone in np.flatnonzero(wanted):
        while bone >= 0:
            kept[bone] = True
            bone = parents[bone]
    return kept


def _graph() -> Any:
    bpy.context.view_layer.update()
    return bpy.context.evaluated_depsgraph_get()


def _notes(armature: Any, rig: Rig, surfaces: list[Any], controls: list[Any]) -> list[str]:
    """What the artist should know about how the rig has been read."""
    notes = []
    moving = {name for name, moves in zip(rig.bones, rig.chosen, strict=True) if moves}
    mine = rig_controls.controls_of(controls, moving)
    if mine:
        notes.append(
            f"{rig_controls.describe(mine)} are controlled; their controls are muted when the"
            " motion is written"
        )
    outside = [
        bone.name
        for bone in armature.pose.bones
        if not all(plain for _, plain in skinning.rotation_limits(bone))
    ]
    if outside:
        notes.append(
            f"limits of {', '.join(outside[:4])} are not of XYZ angles in Local Space: they are not"
            " minded, and cut the motion off"
        )
    idle = [bone.name for bone in armature.data.bones if bone.name not in moving]
    if idle:
        notes.append(f"{len(idle)} of {len(armature.data.bones)} bones deform nothing and stay")
    still = skinning.OBJECT in rig.bones and rig.weights[:, rig.bones.index(skinning.OBJECT)] > 0.5
    if np.any(still):
        notes.append(f"{np.count_nonzero(still)} vertices have no weights and move with the object")
    stays = [s.object.name for s in surfaces if not rig_keys.hangs_on(s.object, armature)]
    if stays:
        notes.append(f"{', '.join(stays)} will not follow if the armature object itself moves")
    return notes


def _compare(armature: Any, rig: Rig, surfaces: list[Any]) -> list[str]:
    """Pose the rig once; a note if Blender shows it otherwise than plain skinning does."""
    random = np.random.default_rng(0)
    mirror = skinning.FLIP if armature.matrix_world.determinant() < 0 else np.eye(4)
    turns = np.tile(np.eye(4), (len(rig.bones), 1, 1))
    for bone in np.flatnonzero(rig.chosen):
        axis = random.normal(size=3)
        half = random.uniform(0, _TRY_RAD) / 2
        turn = np.array([np.cos(half), *np.sin(half) * axis / np.linalg.norm(axis)])
        turns[bone, :3, :3] = matrices(turn)
        pose = armature.pose.bones[rig.bones[bone]]
        pose.rotation_mode = "QUATERNION"
        pose.rotation_quaternion = quaternion((mirror @ turns[bone] @ mirror)[:3, :3])
        for constraint in pose.constraints:
            constraint.mute = True  # limits too: the pose is any pose
    for pose in armature.pose.bones:
        pose.location, pose.scale = (0, 0, 0), (1, 1, 1)
        if pose.name not in rig.bones or not rig.chosen[rig.bones.index(pose.name)]:
            pose.rotation_mode, pose.rotation_quaternion = "QUATERNION", (1, 0, 0, 0)
    if armature.animation_data:
        armature.animation_data.action = None
        for track in armature.animation_data.nla_tracks:
            track.mute = True
    armature.data.pose_position = "POSE"
    shown = []
    for _, mesh, world in skinning.evaluated(surfaces, _graph()):
        local = np.empty(len(mesh.vertices) * 3, np.float32)
        mesh.vertices.foreach_get("co", local)
        shown.append(local.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3])
    places, size = np.concatenate(shown), np.ptp(rig.vertices, axis=0).max()
    if len(places) != len(rig.vertices):
        return ["its modifiers make other vertices in other poses; the motion is that of the rest"]
    off = np.linalg.norm(places - skin_numpy(rig, turns), axis=1).max() / size
    if off < DIFFERENCE:
        return []
    return [
        f"Blender bends it otherwise than plain linear skinning, by up to {off:.1%} of its size"
        f" ({', '.join(_reasons(armature, surfaces)) or 'its modifiers'})"
    ]


def skin_numpy(rig: Rig, turns: np.ndarray) -> np.ndarray:
    """The vertices (n, 3) with every bone turned in its own rest axes.

    Args:
        turns: (bones, 4, 4).
    """
    posed = np.empty_like(rig.rest)
    for bone, parent in enumerate(rig.parents):
        above = np.eye(4) if parent < 0 else posed[parent] @ np.linalg.inv(rig.rest[parent])
        posed[bone] = above @ rig.rest[bone] @ turns[bone]
    ends = np.zeros_like(rig.vertices)
    for bone, move in enumerate(posed @ np.linalg.inv(rig.rest)):
        mine = np.flatnonzero(rig.weights[:, bone])
        there = rig.vertices[mine] @ move[:3, :3].T + move[:3, 3]
        ends[mine] += rig.weights[mine, bone, None] * there
    return ends


def _reasons(armature: Any, surfaces: list[Any]) -> list[str]:
    found = []
    modifiers = [surface.modifier for surface in surfaces if surface.modifier]
    if any(modifier.use_deform_preserve_volume for modifier in modifiers):
        found.append("Preserve Volume")
    if any(modifier.use_bone_envelopes for modifier in modifiers):
        found.append("Bone Envelopes")
    if any(bone.bbone_segments > 1 for bone in armature.data.bones):
        found.append("Bendy Bones")
    if any(not bone.use_inherit_rotation for bone in armature.data.bones):
        found.append("bones that do not inherit rotation")
    return found


def write_motion(request: dict[str, Any], out: Path) -> dict[str, Any]:
    """Write animated.blend and animated.glb with the motion as a new action into `out`.

    A .blend keeps its own frame rate.
    """
    asset = Path(request["asset"])
    importing.open_asset(asset)
    armature, scene = skinning.find_armature(request["armature"])
    bpy.context.window.scene = scene
    motion = read_motion(Path(request["motion"]))
    if asset.suffix.lower() != ".blend":
        scene.render.fps, scene.render.fps_base = round(request["fps"]), 1.0
    bpy.context.view_layer.update()
    bones = rig_keys.bones_of(armature, motion)
    controls = rig_controls.controls_of(rig_controls.find_controls(armature), bones)
    rig_controls.set_mute(armature, controls, True)
    placing = rig_keys.Placing(
        frame_start=request["start_frame"],
        fps=scene.render.fps / scene.render.fps_base,
        root="OBJECT" if not rig_keys.why_not_object(armature) else "BONE",
    )
    written = rig_keys.write_action(armature, motion, placing, f"{armature.name} Motion")
    rig_keys.play(armature, written.action)
    scene.frame_start, scene.frame_end = (round(f) for f in written.action.frame_range)
    scene.frame_set(scene.frame_start)
    blend, gltf = out / "animated.blend", out / "animated.glb"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), check_existing=False)
    if not blend.is_file():
        raise SetupError("Blender did not save the scene", hint="check the space on the disk")
    bpy.ops.export_scene.gltf(filepath=str(gltf), export_animation_mode="ACTIVE_ACTIONS")
    return {"blend": blend.name, "glb": gltf.name if gltf.is_file() else ""}


if __name__ == "__main__":
    child.run({"read_rig": read_rig, "write_motion": write_motion})
