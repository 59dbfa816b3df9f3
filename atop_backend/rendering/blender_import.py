"""Runs inside Blender: opens an asset and collects what of it renders. Never writes to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import bmesh
import bpy
import numpy as np

from atop_backend.errors import InputError
from atop_backend.geometry.meshes import Y_UP, Z_UP
from atop_backend.rendering.nonfinite import count_nonfinite
from atop_backend.rendering.selectors import (
    Selector,
    matching,
    read_face_indices,
    unknown,
    without_number,
)

MARK = "atop_part"  # face attribute with the faces that selectors mean; modifiers keep it
Y_UP_FORMATS = (".gltf", ".glb", ".obj")
FORMATS = (*Y_UP_FORMATS, ".ply", ".stl", ".blend", ".usd", ".usda", ".usdc", ".usdz", ".fbx")
SURFACES = ("MESH", "CURVE", "SURFACE", "FONT", "META")  # object types that can have faces


class Instance(NamedTuple):
    """One mesh as it stands in the evaluated scene."""

    mesh: Any  # a bpy mesh of our own, in its local frame; shared by instances of one object
    materials: tuple[Any, ...]  # by slot, None for an empty one
    local_to_world: np.ndarray  # (4, 4) float64
    part: np.ndarray  # (polygons,) bool
    names: tuple[str, ...]  # of its object and of all above it, nearest first


class Targets(NamedTuple):
    """What the selectors mean in one scene."""

    objects: frozenset[str]  # these objects and all below them
    materials: frozenset[str]
    marked: frozenset[str]  # objects whose faces carry MARK


def open_asset(path: Path) -> np.ndarray:
    """Load the file into an empty Blender; returns the rotation (3, 3) from world to file frame."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(
            f"{path.name} is not a format that can be read",
            hint=f"convert it to one of {', '.join(FORMATS)}",
        )
    if not path.is_file():
        raise InputError(f"there is no file {path}", hint="check the path of the object")
    bad = count_nonfinite(path)
    if bad:
        raise InputError(
            f"{bad} vertices of {path.name} are not finite numbers",
            hint="open it in the program that made it, mend them and export it anew",
        )
    bpy.ops.wm.read_factory_settings(use_empty=True)
    try:
        _load(path, suffix)
    except (RuntimeError, ValueError, KeyError, OSError) as error:
        lines = str(error).strip().splitlines() or ["no reason given"]
        raise InputError(
            f"{path.name} cannot be read as {suffix[1:]} ({lines[-1]})",
            hint="check that it opens in Blender, then export it anew",
        ) from error
    if not any(map(_may_have_faces, bpy.data.objects)):
        raise InputError(
            f"{path.name} has no faces", hint="give a mesh with faces; points and edges do not move"
        )
    return Y_UP if suffix in Y_UP_FORMATS else Z_UP


def _may_have_faces(ob: Any) -> bool:
    if ob.type == "MESH":
        return bool(ob.data.polygons or ob.modifiers)
    return ob.type in SURFACES


def _load(path: Path, suffix: str) -> None:
    file = str(path)
    match suffix:
        case ".blend":
            bpy.ops.wm.open_mainfile(filepath=file, load_ui=False, use_scripts=False)
        case ".gltf" | ".glb":
            bpy.ops.import_scene.gltf(filepath=file)
        case ".obj":
            named = any(line.startswith(b"o ") for line in path.read_bytes().splitlines())
            bpy.ops.wm.obj_import(
                filepath=file, use_split_groups=not named, import_vertex_groups=True
            )
        case ".ply":
            bpy.ops.wm.ply_import(filepath=file)
        case ".stl":
            bpy.ops.wm.stl_import(filepath=file)
        case ".fbx":
            bpy.ops.import_scene.fbx(filepath=file)
        case _:
            options: dict[str, Any] = {"import_textures_mode": "IMPORT_PACK"}
            # else a transform with one mesh vanishes, and with it the name of the part
            if "merge_parent_xform" in bpy.ops.wm.usd_import.get_rna_type().properties:
                options["merge_parent_xform"] = False  # from Blender 4.4 on
            bpy.ops.wm.usd_import(filepath=file, **options)


def list_names(scene: Any) -> dict[str, list[str]]:
    """Names that selectors can take: nodes, materials and vertex groups."""
    objects = sorted(_objects(scene), key=lambda ob: ob.name)
    groups = {group.name for ob in objects for group in ob.vertex_groups}
    materials = {
        slot.material.name for ob in objects for slot in ob.material_slots if slot.material
    }
    nodes = [ob.name for ob in objects if ob.type not in ("CAMERA", "LIGHT", "LIGHT_PROBE")]
    return {"nodes": nodes, "materials": sorted(materials), "vgroups": sorted(groups)}


def _objects(scene: Any) -> list[Any]:
    """Objects of the scene and of the collections that it instances."""
    found: dict[str, Any] = {}
    pending = list(scene.objects)
    while pending:
        ob = pending.pop()
        if ob.name not in found:
            found[ob.name] = ob
            if ob.instance_type == "COLLECTION" and ob.instance_collection is not None:
                pending += ob.instance_collection.all_objects
    return list(found.values())


def scenes() -> list[Any]:
    """All scenes, the active one first."""
    active = bpy.context.scene
    return [active, *(scene for scene in bpy.data.scenes if scene is not active)]


def first_scene_with(selectors: list[Selector]) -> tuple[Any, Targets]:
    """The active scene, or the first other one that has all the parts, and what they mean there.

    Raises:
        InputError: No scene has them; says what the active one has.
    """
    first: InputError | None = None
    for scene in scenes():
        try:
            return scene, find_targets(scene, selectors)
        except InputError as error:
            first = first or error
    assert first is not None
    raise first


def find_targets(scene: Any, selectors: list[Selector]) -> Targets:
    """What the selectors mean in a scene; marks faces in memory.

    Raises:
        InputError: A name is not there; says which there are.
    """
    names = list_names(scene)
    objects: set[str] = set()
    materials: set[str] = set()
    marked: set[str] = set()
    for selector in selectors:
        match selector.kind:
            case "node":
                found = _found(selector, names["nodes"], names)
                objects.update(map(_topmost_namesake, found))
            case "material":
                materials.update(_found(selector, names["materials"], names))
            case "vgroup":
                group = _found(selector, names["vgroups"], names)
                marked.update(_mark_groups(scene, group))
            case "faces":
                marked.add(_mark_faces(scene, selector, names))
    return Targets(frozenset(objects), frozenset(materials), frozenset(marked))


def _found(selector: Selector, kind: list[str], names: dict[str, list[str]]) -> list[str]:
    found = matching(selector.name, kind)
    if not found:
        raise unknown(selector, names["nodes"], kind)
    return found


def _topmost_namesake(name: str) -> str:
    """The object, or the one above it that the file calls the same.

    A USD mesh has a transform of its own name above it, and one of the two gets a number.
    """
    ob = bpy.data.objects[name]
    base = without_number(name)
    while ob.parent is not None and ob.parent.type == "EMPTY":
        if without_number(ob.parent.name) != base:
            break
        ob = ob.parent
    return ob.name


def _mark_groups(scene: Any, groups: list[str]) -> list[str]:
    """Mark faces whose every corner weighs at least a half in one of the groups."""
    marked = []
    for ob in _objects(scene):
        indices = {group.index for group in ob.vertex_groups if group.name in groups}
        if ob.type != "MESH" or not indices:
            continue
        inside = np.array(
            [
                any(g.group in indices and g.weight >= 0.5 for g in vertex.groups)
                for vertex in ob.data.vertices
            ],
            dtype=bool,
        )
        corners = _read(ob.data.loops, "vertex_index", np.int32)
        starts = _read(ob.data.polygons, "loop_start", np.int32)
        if len(starts):
            _mark(ob.data, np.logical_and.reduceat(inside[corners], starts))
            marked.append(ob.name)
    return marked


def _mark_faces(scene: Any, selector: Selector, names: dict[str, list[str]]) -> str:
    meshes = sorted(ob.name for ob in _objects(scene) if ob.type == "MESH" and ob.data.polygons)
    owners = matching(selector.name, meshes) if selector.name else meshes[:1]
    if not owners:
        raise unknown(selector, names["nodes"], meshes)
    mesh = bpy.data.objects[owners[0]].data
    faces = np.zeros(len(mesh.polygons), dtype=bool)
    faces[read_face_indices(Path(selector.file), len(faces))] = True
    _mark(mesh, faces)
    return owners[0]


def _mark(mesh: Any, faces: np.ndarray) -> None:
    attribute = mesh.attributes.get(MARK) or mesh.attributes.new(MARK, "FLOAT", "FACE")
    before = _read(attribute.data, "value", np.float32)
    attribute.data.foreach_set("value", np.maximum(before, faces).astype(np.float32))


def _read(collection: Any, name: str, kind: type, width: int = 1) -> np.ndarray:
    values = np.empty(len(collection) * width, dtype=kind)
    collection.foreach_get(name, values)
    return values


def collect(scene: Any, targets: Targets) -> list[Instance]:
    """Every mesh that renders in the scene, with modifiers, parents and instances applied."""
    show_what_renders(scene)
    layer = scene.view_layers[0]
    layer.update()
    graph = layer.depsgraph
    meshes: dict[int, Any] = {}
    found = []
    for instance in graph.object_instances:
        ob = instance.object
        if not instance.show_self or ob.type not in SURFACES:
            continue
        key = ob.as_pointer() if ob.data is None else ob.data.as_pointer()
        if key not in meshes:
            meshes[key] = _own_mesh(ob, graph)
        mesh = meshes[key]
        if mesh is None or not len(mesh.polygons):
            continue
        materials = tuple(slot.material and slot.material.original for slot in ob.material_slots)
        names = chain(instance)
        chosen = _chosen(mesh, materials, names, targets)
        pose = np.array(instance.matrix_world, dtype=np.float64)
        found.append(Instance(mesh, materials, pose, chosen, names))
    return found


def _own_mesh(ob: Any, graph: Any) -> Any:
    """A copy of the evaluated mesh."""
    usual = ob.original.evaluated_get(graph).data
    if ob.type == "MESH" and usual is not None and usual.as_pointer() != ob.data.as_pointer():
        return ob.data.copy()  # geometry nodes put another mesh under the object's name
    return bpy.data.meshes.new_from_object(ob, preserve_all_data_layers=True, depsgraph=graph)


def show_what_renders(scene: Any) -> None:
    """Let render visibility decide what is evaluated, whatever the viewport hides. In memory."""
    for ob in bpy.data.objects:
        ob.hide_viewport = ob.hide_render
    for ob in scene.objects:
        ob.hide_set(False, view_layer=scene.view_layers[0])
    for collection in bpy.data.collections:
        collection.hide_viewport = collection.hide_render
    pending = [scene.view_layers[0].layer_collection]
    while pending:
        layer_collection = pending.pop()
        layer_collection.hide_viewport = False
        pending += layer_collection.children


def chain(instance: Any) -> tuple[str, ...]:
    """Names of the object and of all above it, then of its instancer and of all above that."""
    names: dict[str, None] = {}
    starts = [instance.object.original]
    if instance.is_instance and instance.parent is not None:
        starts.append(instance.parent.original)
    for ob in starts:
        while ob is not None:
            names[ob.name] = None
            ob = ob.parent
    return tuple(names)


def _chosen(
    mesh: Any, materials: tuple[Any, ...], names: tuple[str, ...], targets: Targets
) -> np.ndarray:
    """Which polygons belong to the part, (polygons,)."""
    count = len(mesh.polygons)
    if not targets.objects.isdisjoint(names):
        return np.ones(count, dtype=bool)
    chosen = np.zeros(count, dtype=bool)
    wanted = np.array([m is not None and m.name in targets.materials for m in materials] or [False])
    if wanted.any():
        slots = _read(mesh.polygons, "material_index", np.int32)
        chosen |= wanted[slots.clip(max=len(wanted) - 1)]
    attribute = mesh.attributes.get(MARK)
    if attribute is not None and names[0] in targets.marked:
        chosen |= _read(attribute.data, "value", np.float32) > 0.5
    return chosen


class Baked(NamedTuple):
    """All instances as one list of triangles in the world frame."""

    vertices: np.ndarray  # (n, 3) float64
    triangles: np.ndarray  # (m, 3), outward winding kept where an instance is mirrored
    part: np.ndarray  # (m,) bool
    owners: np.ndarray  # (m,) int64, the instance of each triangle
    polygons: np.ndarray  # (m,) int32, the polygon of its mesh


def bake(instances: list[Instance]) -> Baked:
    """All triangles of the instances in the world frame."""
    parts: list[tuple[np.ndarray, ...]] = []
    offset = 0
    for index, instance in enumerate(instances):
        mesh = instance.mesh
        mesh.calc_loop_triangles()
        local = _read(mesh.vertices, "co", np.float32, 3).reshape(-1, 3).astype(np.float64)
        corners = _read(mesh.loop_triangles, "vertices", np.int32, 3).reshape(-1, 3)
        polygons = _read(mesh.loop_triangles, "polygon_index", np.int32)
        matrix = instance.local_to_world
        if np.linalg.det(matrix[:3, :3]) < 0:
            corners = corners[:, ::-1]
        parts.append(
            (
                local @ matrix[:3, :3].T + matrix[:3, 3],
                corners.astype(np.int64) + offset,
                instance.part[polygons],
                np.full(len(corners), index),
                polygons,
            )
        )
        offset += len(local)
    if not parts:
        none = np.zeros(0, dtype=np.int64)
        return Baked(np.zeros((0, 3)), none.reshape(0, 3), none.astype(bool), none, none)
    return Baked(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def without(instances: list[Instance], baked: Baked, gone: np.ndarray) -> list[Instance]:
    """The instances without some of their baked triangles.

    Args:
        gone: Which triangles to leave out, (m,) bool; whole polygons.
    """
    kept = []
    for index, instance in enumerate(instances):
        own = baked.owners == index
        if gone[own].all():
            continue
        if gone[own].any():
            faces = np.unique(baked.polygons[own & gone])
            instance = instance._replace(mesh=_mesh_without(instance.mesh, faces))
        kept.append(instance)
    return kept


def _mesh_without(mesh: Any, polygons: np.ndarray) -> Any:
    rest = mesh.copy()
    editing = bmesh.new()
    editing.from_mesh(mesh)
    editing.faces.ensure_lookup_table()
    faces = [editing.faces[index] for index in polygons]
    bmesh.ops.delete(editing, geom=faces, context="FACES")
    editing.to_mesh(rest)
    editing.free()
    return rest
