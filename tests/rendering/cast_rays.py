"""Run by a Python with bpy: what Blender's own ray casting hits in a .blend.

Arguments: the file, an .npz with origins and directions (n, 3), and where to write the answer.
"""

from __future__ import annotations

import os
import sys

import bpy
import numpy as np

bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
graph = bpy.context.evaluated_depsgraph_get()
rays = np.load(sys.argv[2])
hits, places, names = [], [], []
for origin, direction in zip(rays["origins"], rays["directions"], strict=True):
    hit, place, _, _, ob, _ = bpy.context.scene.ray_cast(graph, origin.tolist(), direction.tolist())
    hits.append(hit)
    places.append(tuple(place))
    names.append(ob.name if hit else "")
np.savez(sys.argv[3], hits=hits, places=places, names=names)
os._exit(0)  # bpy may hang or crash while it ends
