"""Run by a Python with bpy: writes one small cabinet in every format, and awkward scenes.

The cabinet: a body, a door on its front (-Y), and a knob that is the door's child.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import bpy

BODY = (-0.4, -0.3, 0.0), (0.4, 0.3, 1.0)
DOOR = (-0.4, -0.34, 0.05), (0.4, -0.3, 0.95)
KNOB = (0.3, -0.4, 0.45), (0.35, -0.34, 0.55)


def fresh() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)


def add(name, data, parent=None, collection=None):
    ob = bpy.data.objects.new(name, data)
    (collection or bpy.context.scene.collection).objects.link(ob)
    ob.parent = parent
    return ob


def box(name, bounds, parent=None, collection=None):
    (a, b, c), (d, e, f) = bounds
    corners = [(x, y, z) for x in (a, d) for y in (b, e) for z in (c, f)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], faces)
    return add(name, mesh, parent, collection)


def paint(ob, colour, transparent=False):
    material = bpy.data.materials.new(f"{ob.name} paint")
    if material.node_tree is None:
        material.use_nodes = True
    surface = material.node_tree.nodes["Principled BSDF"]
    surface.inputs["Base Color"].default_value = (*colour, 1.0)
    surface.inputs["Alpha"].default_value = 0.0 if transparent else 1.0
    ob.data.materials.append(material)


def cabinet():
    fresh()
    body, door = box("body", BODY), box("door", DOOR)
    knob = box("knob", KNOB, parent=door)
    for ob, colour in ((body, (0.1, 0.2, 0.7)), (door, (0.7, 0.2, 0.1)), (knob, (0.1, 0.1, 0.1))):
        paint(ob, colour)
    return body, door, knob


def save(out: Path, name: str) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(out / f"{name}.blend"))


def write_formats(out: Path) -> None:
    body, _, _ = cabinet()
    save(out, "cabinet")
    bpy.ops.export_scene.gltf(filepath=str(out / "cabinet.glb"))
    bpy.ops.export_scene.gltf(filepath=str(out / "cabinet.gltf"), export_format="GLTF_SEPARATE")
    bpy.ops.wm.obj_export(filepath=str(out / "cabinet.obj"))
    bpy.ops.export_scene.fbx(filepath=str(out / "cabinet.fbx"))
    bpy.ops.wm.usd_export(filepath=str(out / "cabinet.usda"))
    for ob in bpy.context.scene.objects:
        ob.select_set(True)
    bpy.context.view_layer.objects.active = body
    bpy.ops.object.join()
    bpy.ops.wm.ply_export(filepath=str(out / "cabinet.ply"))
    bpy.ops.wm.stl_export(filepath=str(out / "cabinet.stl"))


def write_instances(out: Path) -> None:
    """The door is a collection instance; its inside is in no scene."""
    fresh()
    box("body", BODY)
    collection = bpy.data.collections.new("leaves")
    box("leaf", ((-0.4, -0.04, 0.05), (0.4, 0.0, 0.95)), collection=collection)
    holder = add("hung", None)
    holder.instance_type, holder.instance_collection = "COLLECTION", collection
    holder.location = (0, -0.3, 0)
    save(out, "instances")


def write_nodes(out: Path) -> None:
    """Geometry nodes turn the part into a row of three cubes."""
    fresh()
    box("body", BODY)
    row = box("row", ((0, 0, 0), (0.1, 0.1, 0.1)))
    row.location = (-0.2, -0.5, 0.5)
    group = bpy.data.node_groups.new("row", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    node = group.nodes.new
    line, cube = node("GeometryNodeMeshLine"), node("GeometryNodeMeshCube")
    line.inputs["Count"].default_value, line.inputs["Offset"].default_value = 3, (0.2, 0, 0)
    cube.inputs["Size"].default_value = (0.1, 0.1, 0.1)
    instances, output = node("GeometryNodeInstanceOnPoints"), node("NodeGroupOutput")
    group.links.new(line.outputs[0], instances.inputs["Points"])
    group.links.new(cube.outputs[0], instances.inputs["Instance"])
    group.links.new(instances.outputs[0], output.inputs[0])
    row.modifiers.new("row", "NODES").node_group = group
    save(out, "nodes")


def write_awkward(out: Path) -> None:
    """Mirrored, sheared, subdivided, hidden here and there, and far from the origin."""
    fresh()
    box("body", BODY)
    door = box("door", DOOR)
    door.scale = (-1, 1, 1)
    squash = add("squash", None)
    squash.scale = (1, 2, 1)
    knob = box("knob", ((-0.05, -0.05, -0.05), (0.05, 0.05, 0.05)), parent=squash)
    knob.location, knob.rotation_euler = (0.3, -0.3, 0.5), (0, 0, 0.6)
    knob.modifiers.new("smooth", "SUBSURF").levels = 1
    knob.vertex_groups.new(name="top").add([1, 3, 5, 7], 1.0, "REPLACE")
    box("cutter", ((-3, -3, -3), (3, 3, 3))).hide_render = True
    box("leg", ((-0.1, -0.1, -0.3), (0.1, 0.1, 0))).hide_viewport = True
    box("other leg", ((-0.3, -0.1, -0.3), (-0.2, 0.1, 0))).hide_set(True)
    save(out, "awkward")


def write_scenes(out: Path) -> None:
    fresh()
    box("alone", BODY)
    other = bpy.data.scenes.new("other")
    box("body", BODY, collection=other.collection)
    box("door", DOOR, collection=other.collection)
    save(out, "scenes")


def write_sizes(out: Path) -> None:
    """The cabinet as large as a mountain, as small as a grain, and far away."""
    for name, scale, shift in (
        ("huge", 1e4, (0, 0, 0)), ("tiny", 1e-4, (0, 0, 0)), ("far", 1.0, (4e3, -2e3, 1e3)),
    ):  # fmt: skip
        body, door, knob = cabinet()
        for ob in (body, door, knob):
            for vertex in ob.data.vertices:
                vertex.co = vertex.co * scale
                vertex.co = [a + b for a, b in zip(vertex.co, shift, strict=True)]
        save(out, name)


def write_bad(out: Path) -> None:
    body = cabinet()[0]
    body.data.vertices[0].co.x = float("nan")
    save(out, "not_a_number")
    fresh()
    box("body", BODY)
    box("sheet", ((-0.4, -0.34, 0.05), (0.4, -0.34, 0.95)))
    box("wire", ((-0.4, -0.34, 0.05), (-0.4, -0.34, 0.95)))
    add("nothing", bpy.data.meshes.new("nothing"))
    save(out, "degenerate")
    fresh()
    add("nothing", bpy.data.meshes.new("nothing"))
    save(out, "empty")


def write_glass(out: Path) -> None:
    cabinet()
    door = bpy.data.objects["door"]
    door.data.materials.clear()
    paint(door, (1, 1, 1), transparent=True)
    save(out, "glass")


def open_box(name, bounds):
    """A box without its front."""
    ob = box(name, bounds)
    faces = [tuple(face.vertices) for face in ob.data.polygons]
    corners = [tuple(vertex.co) for vertex in ob.data.vertices]
    front = min(corner[1] for corner in corners)
    kept = [face for face in faces if any(corners[index][1] > front for index in face)]
    ob.data.clear_geometry()
    ob.data.from_pydata(corners, [], kept)
    return ob


def write_hidden(out: Path) -> None:
    """A drawer behind a closed door with a knob; as one mesh; in a box without any door."""
    fresh()
    shell = open_box("shell", BODY)
    door = box("door", ((-0.41, -0.34, -0.01), (0.41, -0.301, 1.01)))
    box("knob", KNOB, parent=door)
    drawer = box("drawer", ((-0.35, -0.25, 0.4), (0.35, 0.2, 0.6)))
    paint(drawer, (0.7, 0.2, 0.1))
    save(out, "behind_a_door")
    drawer.vertex_groups.new(name="drawer").add(list(range(8)), 1.0, "REPLACE")
    for ob in bpy.context.scene.objects:
        ob.select_set(True)
    bpy.context.view_layer.objects.active = shell
    bpy.ops.object.join()
    save(out, "one_mesh")
    fresh()
    box("body", BODY)
    box("drawer", ((-0.35, -0.25, 0.4), (0.35, 0.2, 0.6)))
    save(out, "walled_in")


def main(out: Path) -> None:
    for write in (
        write_formats, write_instances, write_nodes, write_awkward, write_scenes, write_sizes,
        write_bad, write_glass, write_hidden,
    ):  # fmt: skip
        write(out)
    sys.stdout.flush()
    os._exit(0)  # bpy may hang or crash while it ends


main(Path(sys.argv[1]))
