"""Runs inside Blender: the colour of each triangle of a mesh, read from its materials.

Read, not rendered: no light is in it. What a texture, a colour attribute or a plain colour at the
head of the material's colour input says; what mixes and adjusts them on the way is left out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Color

GREY = 0.7  # display value of a face without a material
_DEEPEST = 32  # nodes in a row


class Source(NamedTuple):
    """Where a material's colour comes from; one of the three."""

    colour: tuple[float, float, float] | None = None  # display values
    image: Any = None
    attribute: str = ""
    uv_map: str = ""  # of the image; empty for the mesh's own choice


def face_colours(mesh: Any, materials: list[Any]) -> np.ndarray:
    """Display colours of the mesh's loop triangles, (triangles, 3) in [0, 1].

    Args:
        mesh: With loop triangles calculated.
        materials: By slot; None for an empty one.
    """
    count = len(mesh.loop_triangles)
    colours = np.full((count, 3), GREY)
    slots = np.empty(count, np.int32)
    mesh.loop_triangles.foreach_get("material_index", slots)
    slots = slots.clip(max=max(len(materials) - 1, 0))
    corners = np.empty(count * 3, np.int32)
    mesh.loop_triangles.foreach_get("loops", corners)
    corners = corners.reshape(-1, 3)
    for slot, material in enumerate(materials or [None]):
        mine = slots == slot
        if mine.any():
            colours[mine] = _paint(mesh, source_of(material, mesh), corners[mine])
    return colours


def _paint(mesh: Any, source: Source, corners: np.ndarray) -> np.ndarray:
    if source.image is not None:
        layer = mesh.uv_layers.get(source.uv_map) or next(
            (uv for uv in mesh.uv_layers if uv.active_render), None
        )
        if layer is not None:
            places = np.empty(len(layer.uv) * 2, np.float32)
            layer.uv.foreach_get("vector", places)
            return _sample(source.image, places.reshape(-1, 2)[corners].mean(axis=1))
    if source.attribute in mesh.color_attributes:
        attribute = mesh.color_attributes[source.attribute]
        values = np.empty(len(attribute.data) * 4, np.float32)
        attribute.data.foreach_get("color_srgb", values)
        if attribute.domain == "POINT":
            points = np.empty(len(mesh.loops), np.int32)
            mesh.loops.foreach_get("vertex_index", points)
            corners = points[corners]
        return values.reshape(-1, 4)[corners, :3].mean(axis=1).clip(0, 1)
    return np.array(source.colour or (GREY, GREY, GREY))


def _sample(image: Any, places: np.ndarray) -> np.ndarray:
    """Display colours (n, 3) of the pixels at uv places (n, 2); grey where there is no picture."""
    width, height = image.size
    pixels = np.empty(len(image.pixels), np.float32)
    if not len(pixels):
        return np.full((len(places), 3), GREY)
    image.pixels.foreach_get(pixels)
    columns = np.floor(places[:, 0] % 1.0 * width).astype(int).clip(0, width - 1)
    rows = np.floor(places[:, 1] % 1.0 * height).astype(int).clip(0, height - 1)
    found = pixels.reshape(height, width, -1)[rows, columns, :3].astype(float)
    if found.shape[1] < 3:
        found = np.repeat(found[:, :1], 3, axis=1)
    if image.is_float:  # others hold display values already
        found = np.array([_display(colour) for colour in found])
    return found.clip(0, 1)


def _display(linear: Any) -> tuple[float, float, float]:
    colour = Color(tuple(linear)[:3]).from_scene_linear_to_srgb()
    return tuple(min(max(value, 0.0), 1.0) for value in colour)  # type: ignore[return-value]


def source_of(material: Any, mesh: Any) -> Source:
    """Where the colour of a material comes from; an empty slot shows colour attributes or grey."""
    if material is None:
        active = mesh.color_attributes.active_color
        return Source(attribute=active.name) if active else Source()
    # from Blender 5.0 on every material has nodes
    plain = bpy.app.version < (5, 0, 0) and not material.use_nodes
    if plain or material.node_tree is None:
        return Source(_display(material.diffuse_color))
    output = material.node_tree.get_output_node("ALL")
    surface = output and output.inputs.get("Surface")
    if not surface or not surface.is_linked:
        return Source(_display(material.diffuse_color))
    return _trace(surface, 0) or Source(_display(material.diffuse_color))


def _trace(socket: Any, depth: int) -> Source | None:
    """Follow a colour or shader socket up to where its colour is made."""
    if not socket.is_linked:
        return Source(_display(socket.default_value)) if socket.type == "RGBA" else None
    if depth > _DEEPEST:
        return None
    node = socket.links[0].from_node
    match node.type:
        case "TEX_IMAGE":
            vector = node.inputs["Vector"]
            uv = vector.links[0].from_node if vector.is_linked else None
            return Source(image=node.image, uv_map=getattr(uv, "uv_map", ""))
        case "VERTEX_COLOR":
            return Source(attribute=node.layer_name)
        case "ATTRIBUTE":
            return Source(attribute=node.attribute_name)
        case "RGB":
            return Source(_display(node.outputs[0].default_value))
        case "GROUP" if node.node_tree is not None:
            return _trace_group(node, socket.links[0].from_socket, depth)
        case "BSDF_TRANSPARENT" | "HOLDOUT":
            return None
    inputs = [each for each in node.inputs if each.type in ("RGBA", "SHADER") and each.enabled]
    if node.type.startswith("BSDF") or node.type in ("EMISSION", "SUBSURFACE_SCATTERING"):
        inputs = inputs[:1]  # the others are tints
    for each in sorted(inputs, key=lambda each: not each.is_linked):
        found = _trace(each, depth + 1)
        if found is not None:
            return found
    return None


def _trace_group(node: Any, output: Any, depth: int) -> Source | None:
    """Into a group; a colour that comes from the group's own inputs is looked for outside."""
    inside = next((n for n in node.node_tree.nodes if n.type == "GROUP_OUTPUT"), None)
    socket = inside and inside.inputs.get(output.name)
    found = _trace(socket, depth + 1) if socket else None
    if found is not None:
        return found
    for each in node.inputs:
        if each.type in ("RGBA", "SHADER"):
            found = _trace(each, depth + 1)
            if found is not None:
                return found
    return None
