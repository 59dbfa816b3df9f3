"""Runs inside Blender: photographs the normalised object, and tells which triangle a pixel sees.

Two scenes of our own, so that neither lights, settings nor size of the user's scene matter: one
with the instances and their materials, and one with the bare triangle list for the ids.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from atop_backend.contracts import Camera
from atop_backend.geometry.cameras import camera_to_world
from atop_backend.geometry.meshes import RestShape
from atop_backend.rendering.blender_import import Instance

BACKGROUND = 0.75  # grey behind the object, display value; generated training views have 0.5 to 1
# light comes from everywhere and a little more from one side, as in generated training views:
# a diffuse surface then shows albedo * (EVEN + DIRECTED * cosine), without any shadow
EVEN, DIRECTED = 0.70, 0.32
LIGHT = (0.2, -0.55, 0.81)  # towards the brightest side; no two neighbouring sides look alike
_HAIR = 2e-4  # of a mesh's size, far below a pixel
_FAR_OFF = 100.0  # a mesh so many of its sizes away from its own origin is moved back to it


def new_scene(name: str, size_px: int, samples: int, threads: int) -> Any:
    """An empty scene with plain Cycles settings."""
    scene = bpy.data.scenes.new(name)
    render, cycles = scene.render, scene.cycles
    render.engine = "CYCLES"
    render.resolution_x = render.resolution_y = size_px
    render.resolution_percentage = 100
    render.use_persistent_data = True
    render.dither_intensity = 0.0
    for name in dir(render):
        if name.startswith("use_stamp_"):  # no dates and paths in the files
            setattr(render, name, False)
    if threads > 0:
        render.threads_mode, render.threads = "FIXED", threads
    scene.display_settings.display_device = "sRGB"
    scene.view_settings.view_transform = "Standard"
    cycles.device, cycles.samples, cycles.use_denoising = "CPU", samples, False
    cycles.use_adaptive_sampling, cycles.seed = False, 0
    cycles.max_bounces = 4
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    return scene


def fill_picture_scene(
    scene: Any, instances: list[Instance], world_to_normalised: np.ndarray
) -> list[Any]:
    """Put the instances with their materials, the lamp and the surroundings into the scene.

    Returns:
        An object for each instance; its `matrix_parent_inverse` is its pose.
    """
    root = bpy.data.objects.new("root", None)
    scene.collection.objects.link(root)
    shifts: dict[Any, np.ndarray] = {}
    objects = []
    for instance in instances:
        mesh = instance.mesh
        if mesh not in shifts:
            shifts[mesh] = _prepare(mesh)
            if not mesh.materials and mesh.color_attributes:
                mesh.materials.append(_colour_material(mesh))
        pose = world_to_normalised @ instance.local_to_world @ shifts[mesh]
        ob = bpy.data.objects.new(instance.names[0], mesh)
        scene.collection.objects.link(ob)
        for slot, material in zip(ob.material_slots, instance.materials, strict=False):
            slot.link, slot.material = "OBJECT", material
        ob.parent = root  # a parent inverse keeps shear, which an object's own matrix cannot
        ob.matrix_parent_inverse = Matrix(pose.tolist())
        # nothing shades anything: doubled faces, common in real assets, would be full of specks,
        # and the inside of an open box as dark as generated training views never are
        ob.visible_diffuse = ob.visible_glossy = ob.visible_shadow = False
        objects.append(ob)
    scene.world = _surroundings()
    return objects


def _prepare(mesh: Any) -> np.ndarray:
    """Makes the mesh fit to be photographed; returns the matrix (4, 4) that puts it back.

    Every vertex moves outwards by a hair, so that of two faces in the same place, one for either
    side, the one that faces the camera is seen, and not specks of both. Far-off coordinates,
    which the single precision of the renderer cannot carry, go into the matrix.
    """
    points, normals = _vectors(mesh.vertices, "co"), _vectors(mesh.vertices, "normal")
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    size = np.ptp(points, axis=0).max()
    shift = np.eye(4)
    if np.abs(centre).max() > _FAR_OFF * size:
        shift[:3, 3] = centre
    points += _HAIR * size * normals - shift[:3, 3]
    mesh.vertices.foreach_set("co", points.astype(np.float32).ravel())
    mesh.update()
    return shift


def _vectors(vertices: Any, name: str) -> np.ndarray:
    values = np.empty(len(vertices) * 3, dtype=np.float32)
    vertices.foreach_get(name, values)
    return values.reshape(-1, 3).astype(np.float64)


def _node_tree(owner: Any) -> Any:
    if owner.node_tree is None:
        owner.use_nodes = True  # deprecated from 5.0, where the tree is there at once
    owner.node_tree.nodes.clear()
    return owner.node_tree


def _colour_material(mesh: Any) -> Any:
    """A plain material with the mesh's own vertex colours."""
    material = bpy.data.materials.new("vertex colours")
    tree = _node_tree(material)
    colours = tree.nodes.new("ShaderNodeVertexColor")
    active = mesh.color_attributes.active_color or mesh.color_attributes[0]
    colours.layer_name = active.name
    surface = tree.nodes.new("ShaderNodeBsdfDiffuse")
    output = tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(colours.outputs["Color"], surface.inputs["Color"])
    tree.links.new(surface.outputs[0], output.inputs["Surface"])
    return material


def _surroundings() -> Any:
    """Light from everywhere, but plain `BACKGROUND` to the camera's own eye.

    Radiance EVEN + 1.5 * DIRECTED * cosine gives a surface the irradiance that is promised above.
    """
    world = bpy.data.worlds.new("surroundings")
    world.cycles.sampling_method = "NONE"  # light so even needs no aim
    tree = _node_tree(world)
    node, link = tree.nodes.new, tree.links.new
    direction, cosine = node("ShaderNodeTexCoord"), node("ShaderNodeVectorMath")
    cosine.operation = "DOT_PRODUCT"
    cosine.inputs[1].default_value = tuple(1.5 * DIRECTED * part for part in LIGHT)
    strength = node("ShaderNodeMath")
    strength.inputs[1].default_value = EVEN
    link(direction.outputs["Generated"], cosine.inputs[0])
    link(cosine.outputs["Value"], strength.inputs[0])
    light, seen = node("ShaderNodeBackground"), node("ShaderNodeBackground")
    light.inputs["Color"].default_value = (1.0, 1.0, 1.0, 1.0)
    link(strength.outputs[0], light.inputs["Strength"])
    linear = ((BACKGROUND + 0.055) / 1.055) ** 2.4  # sRGB
    seen.inputs["Color"].default_value = (linear, linear, linear, 1.0)
    eye, mix, output = (
        node(f"ShaderNode{name}") for name in ("LightPath", "MixShader", "OutputWorld")
    )
    link(eye.outputs["Is Camera Ray"], mix.inputs[0])
    link(light.outputs[0], mix.inputs[1])
    link(seen.outputs[0], mix.inputs[2])
    link(mix.outputs[0], output.inputs["Surface"])
    return world


def fill_id_scene(scene: Any, shape: RestShape) -> None:
    """Put what is not taken away into the scene, each triangle shining with its number.

    It is the one mesh object of the scene, with the vertices of the shape.
    """
    mesh = bpy.data.meshes.new("triangles")
    shown = np.flatnonzero(shape.part | shape.body)
    count = len(shown)
    mesh.vertices.add(len(shape.vertices))
    mesh.vertices.foreach_set("co", shape.vertices.astype(np.float32).ravel())
    mesh.loops.add(3 * count)
    mesh.loops.foreach_set("vertex_index", shape.triangles[shown].astype(np.int32).ravel())
    mesh.polygons.add(count)
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * count, 3, dtype=np.int32))
    mesh.update(calc_edges=True)
    ids = mesh.attributes.new("triangle", "FLOAT", "FACE")
    ids.data.foreach_set("value", (shown + 1).astype(np.float32))  # exact to 2^24
    _prepare(mesh)
    mesh.materials.append(_id_material())
    scene.collection.objects.link(bpy.data.objects.new("triangles", mesh))
    scene.render.film_transparent = True
    scene.cycles.samples, scene.cycles.max_bounces = 1, 0
    # one ray through the centre of each pixel
    scene.cycles.pixel_filter_type, scene.cycles.filter_width = "BOX", 0.01


def _id_material() -> Any:
    material = bpy.data.materials.new("triangle numbers")
    tree = _node_tree(material)
    number = tree.nodes.new("ShaderNodeAttribute")
    number.attribute_name = "triangle"
    glow = tree.nodes.new("ShaderNodeEmission")
    output = tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(number.outputs["Fac"], glow.inputs["Color"])
    tree.links.new(glow.outputs[0], output.inputs["Surface"])
    material.cycles.emission_sampling = "NONE"  # it lights nothing
    return material


def shoot(scene: Any, camera: Camera, path: Path, file_format: str) -> None:
    """Render one view; a PNG with display colours, or an OPEN_EXR with raw numbers."""
    lens = scene.camera.data
    lens.sensor_fit = "HORIZONTAL"
    lens.angle = 2 * math.atan(camera.width_px / 2 / camera.focal_px)
    lens.clip_start, lens.clip_end = 0.01, 100.0
    pose = camera_to_world(camera) @ np.diag([1.0, -1.0, -1.0, 1.0])
    scene.camera.matrix_world = Matrix(pose.tolist())
    settings = scene.render.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "IMAGE"  # 5.0 wants it before the format
    raw = file_format == "OPEN_EXR"
    settings.file_format = file_format
    settings.color_mode, settings.color_depth = ("RGBA", "32") if raw else ("RGB", "8")
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True, scene=scene.name)


def read_ids(path: Path) -> np.ndarray:
    """Triangle indices (height, width) int32 from a picture of the id scene, -1 for none."""
    image = bpy.data.images.load(str(path))
    width, height = image.size
    pixels = np.empty(width * height * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    pixels = pixels.reshape(height, width, 4)[::-1]
    hit = pixels[..., 3] > 0.5
    return np.where(hit, np.rint(pixels[..., 0]).astype(np.int32) - 1, -1).astype(np.int32)
