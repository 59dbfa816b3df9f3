"""Small scenes and exact dumps for the tests inside Blender."""

from __future__ import annotations

import bpy
import numpy as np

CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 0.1) for z in (0, 2)], float)
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def box(name="Door", parent=None, location=(0.0, 0.0, 0.0), scale=(1.0, 1.0, 1.0)):
    """A slab of 1 x 0.1 x 2 linked to the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(CORNERS.tolist(), [], FACES)
    return add(bpy.data.objects.new(name, mesh), parent, location, scale)


def add(ob, parent=None, location=(0.0, 0.0, 0.0), scale=(1.0, 1.0, 1.0)):
    """The object, linked to the scene and placed."""
    bpy.context.scene.collection.objects.link(ob)
    ob.parent, ob.location, ob.scale = parent, location, scale
    bpy.context.view_layer.update()
    return ob


def two_boxes(name="Cabinet"):
    """One mesh of two slabs that do not touch; faces 6 to 11 are the second."""
    mesh = bpy.data.meshes.new(name)
    second = CORNERS + np.array([0, -1, 0])
    faces = [*FACES, *(tuple(i + 8 for i in face) for face in FACES)]
    mesh.from_pydata([*CORNERS.tolist(), *second.tolist()], [], faces)
    return add(bpy.data.objects.new(name, mesh))


def world_points(ob):
    """World positions of the evaluated vertices, (n, 3) float64."""
    bpy.context.view_layer.update()
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    places = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", places)
    evaluated.to_mesh_clear()
    world = np.array(evaluated.matrix_world, float)
    return places.reshape(-1, 3).astype(float) @ world[:3, :3].T + world[:3, 3]


def moved(points, matrix):
    """The points after a (4, 4) transform."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def _plain(value):
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return value.name if isinstance(value, bpy.types.ID) else value


def _animation(block):
    data = block.animation_data
    if data is None:
        return None
    tracks = [
        (track.name, track.mute, [(s.name, s.action.name, s.frame_start) for s in track.strips])
        for track in data.nla_tracks
    ]
    drivers = [(d.data_path, d.array_index, d.driver.expression) for d in data.drivers]
    return (data.action.name if data.action else None, tracks, drivers)


def _object(ob):
    return {
        "parent": (ob.parent and ob.parent.name, ob.parent_type, ob.parent_bone),
        "matrices": [
            [tuple(row) for row in matrix]
            for matrix in (ob.matrix_parent_inverse, ob.matrix_basis, ob.matrix_world)
        ],
        "channels": (tuple(ob.location), tuple(ob.rotation_euler), tuple(ob.scale)),
        "data": ob.data and ob.data.name,
        "constraints": [(c.name, c.type) for c in ob.constraints],
        "modifiers": [(m.name, m.type) for m in ob.modifiers],
        "groups": ([group.name for group in ob.vertex_groups], ob.vertex_groups.active_index)
        if ob.type == "MESH"
        else None,
        "rigid body": (ob.rigid_body is not None, ob.rigid_body_constraint is not None),
        "animation": _animation(ob),
        "properties": {key: _plain(ob[key]) for key in ob.keys()},  # noqa: SIM118
        "collections": sorted(c.name for c in ob.users_collection),
        "mode": ob.mode,
        "hidden": (ob.hide_viewport, ob.hide_render),
    }


def dump():
    """All that an artist could notice, to compare before and after."""
    bpy.context.view_layer.update()
    scene, layer = bpy.context.scene, bpy.context.view_layer
    blocks = ("objects", "meshes", "actions", "armatures", "collections", "scenes", "materials")
    return {
        "objects": {ob.name: _object(ob) for ob in bpy.data.objects},
        "blocks": {
            kind: sorted((b.name, b.use_fake_user) for b in getattr(bpy.data, kind))
            for kind in blocks
        },
        "meshes": {
            mesh.name: (len(mesh.vertices), len(mesh.polygons), mesh.users)
            for mesh in bpy.data.meshes
        },
        "frames": (scene.frame_start, scene.frame_end, scene.frame_current),
        "render": (scene.render.engine, scene.render.fps, scene.render.filepath),
        "world": scene.rigidbody_world is not None,
        "selection": sorted(ob.name for ob in layer.objects if ob.select_get()),
        "active": layer.objects.active and layer.objects.active.name,
        "auto key": scene.tool_settings.use_keyframe_insert_auto,
    }
