"""The script that Blender runs to give an asset its joint: `blender -b -P FILE -- REQUEST.json`.

Command `articulate` writes articulated.blend and articulated.glb with the motion keyframed; the
asset itself is never written to.
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

from atop_backend.contracts import JointMotion
from atop_backend.errors import SetupError
from atop_backend.rendering import blender_import as importing
from atop_backend.rendering import child
from atop_backend.rendering.selectors import parse
from blender_addon.core.keyframes import seconds_to_frames
from blender_addon.scene import convert, write
from blender_addon.scene.mesh_parts import MeshPart


def articulate(request: dict[str, Any], out: Path) -> dict[str, Any]:
    """Write articulated.blend and articulated.glb into `out`.

    The request holds asset, parts (selectors), joint (as in result.json, in the asset's frame),
    tag, seconds, fps and easing. A .blend keeps its own frame rate and frame range.
    """
    asset = Path(request["asset"])
    world_to_file = np.eye(4)
    world_to_file[:3, :3] = importing.open_asset(asset)
    joint = JointMotion.from_dict(request["joint"])
    joint = convert.transform_joint(joint, np.linalg.inv(world_to_file))
    scene, parts = _find_parts(request["parts"])
    bpy.context.window.scene = scene
    bpy.context.view_layer.update()

    imported = asset.suffix.lower() != ".blend"
    if imported:
        scene.render.fps, scene.render.fps_base = request["fps"], 1.0
        scene.frame_start = 1
    render = scene.render
    duration = seconds_to_frames(request["seconds"], render.fps, render.fps_base)
    start = scene.frame_start
    write.write_joint(
        bpy.context,
        parts,
        joint,
        frame_start=start,
        duration_frames=duration,
        easing=request["easing"],
        tag=parse(request["tag"]).name or "Part",
    )
    if imported:
        scene.frame_end = start + int(duration)
        bpy.ops.file.pack_all()
    scene.frame_set(start)
    bpy.ops.wm.save_as_mainfile(
        filepath=str(out / "articulated.blend"), compress=True, check_existing=False
    )
    scene.frame_end = start + int(duration)
    export_glb(out / "articulated.glb")
    return {}


def export_glb(path: Path) -> None:
    """Write the scene of the context with everything that moves in its frame range, sampled."""
    bpy.ops.export_scene.gltf(
        filepath=str(path),
        export_animations=True,
        # by scene, since what moves has no keyframes of its own: drivers, bones, constraints
        export_animation_mode="SCENE",
        export_anim_scene_split_object=False,
        export_frame_range=True,
        export_force_sampling=True,
    )
    if not path.is_file():
        raise SetupError(
            f"Blender wrote no {path.name}", hint="check that its glTF exporter is enabled"
        )


def _find_parts(texts: list[str]) -> tuple[Any, list[Any]]:
    """The scene that has the parts, and the parts as `write_joint` takes them."""
    selectors = [parse(text) for text in texts]
    scene, targets = importing.first_scene_with(selectors)
    names = sorted(targets.objects)
    parts: list[Any] = [_made_real(scene, scene.objects[name]) for name in names]
    for ob in scene.objects:
        if ob.type != "MESH" or ob.name in targets.objects:
            continue
        faces = _chosen_faces(ob, targets)
        if len(faces) == len(ob.data.polygons) > 0:
            parts.append(ob)
        elif len(faces):
            parts.append(MeshPart(ob, faces, texts[0].rpartition(":")[2]))
    for mesh in bpy.data.meshes:
        mark = mesh.attributes.get(importing.MARK)
        if mark is not None:
            mesh.attributes.remove(mark)
    return scene, parts


def _chosen_faces(ob: Any, targets: Any) -> np.ndarray:
    """Indices of the mesh's own faces that the selectors mean."""
    polygons = ob.data.polygons
    wanted = [
        slot.material is not None and slot.material.name in targets.materials
        for slot in ob.material_slots
    ]
    slots = np.empty(len(polygons), np.int32)
    polygons.foreach_get("material_index", slots)
    chosen = np.array(wanted or [False])[slots.clip(max=max(len(wanted) - 1, 0))]
    mark = ob.data.attributes.get(importing.MARK)
    if mark is not None and ob.name in targets.marked:
        values = np.empty(len(polygons), np.float32)
        mark.data.foreach_get("value", values)
        chosen = chosen | (values > 0.5)
    return np.flatnonzero(chosen)


def _made_real(scene: Any, ob: Any) -> Any:
    """The object; an instance of a collection becomes an empty with real objects below it."""
    if ob.instance_type != "COLLECTION":
        return ob
    with bpy.context.temp_override(
        scene=scene, view_layer=scene.view_layers[0], selected_editable_objects=[ob], object=ob
    ):
        bpy.ops.object.duplicates_make_real(use_base_parent=True, use_hierarchy=True)
    ob.instance_type = "NONE"
    return ob


if __name__ == "__main__":
    child.run({"articulate": articulate})
