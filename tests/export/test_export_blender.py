"""The exported scene as Blender plays it."""

from __future__ import annotations

import numpy as np
import pytest
from export_toys import VALUES, cabinet, cabinet_model, moved, part_vertices
from scipy.spatial import cKDTree

from atop_backend.export.gltf import SECONDS, write_gltf

bpy = pytest.importorskip("bpy")
pytestmark = pytest.mark.blender


def test_blender_plays_the_clip_as_the_joints_say(tmp_path):
    path = write_gltf(cabinet_model(), tmp_path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 48  # a whole frame at each share of the two seconds

    bpy.ops.import_scene.gltf(filepath=str(path))

    vertices, triangles, parts = cabinet()
    for link, part in zip(cabinet_model().links, parts, strict=True):
        shape = bpy.data.objects[link.name]
        for share in VALUES:
            bpy.context.scene.frame_set(round(share * SECONDS * 48))
            corners = np.array([shape.matrix_world @ v.co for v in shape.data.vertices])
            value = part.joint.lower + share * (part.joint.upper - part.joint.lower)
            expected = moved(part, part_vertices(part, vertices, triangles), value)
            assert cKDTree(corners).query(expected)[0].max() < 1e-4
