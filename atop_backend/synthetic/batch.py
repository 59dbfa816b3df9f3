"""Generated objects as one padded batch of tensors for the renderer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from atop_backend.geometry.extents import part_extent
from atop_backend.synthetic.objects import ArticulatedObject
from atop_backend.synthetic.render import ObjectBatch


def pack(objects: Sequence[ArticulatedObject]) -> ObjectBatch:
    """The objects, padded to the largest of them."""
    count = len(objects)
    capacity = max(len(item.triangles) for item in objects)
    shades = max(len(item.colours) for item in objects)
    triangles = np.zeros((count, capacity, 3, 3), np.float32)
    materials = np.zeros((count, capacity), np.int16)
    colours = np.full((count, shades, 3), 0.5, np.float32)
    moving = np.zeros((count, capacity), bool)
    centres = np.zeros((count, 3), np.float32)
    radii = np.zeros(count, np.float32)
    for index, item in enumerate(objects):
        size = len(item.triangles)
        triangles[index, :size] = item.triangles
        materials[index, :size] = item.materials
        colours[index, : len(item.colours)] = item.colours
        moving[index, :size] = item.moving
        centres[index], radii[index] = part_extent(item.triangles[item.moving].reshape(-1, 3))
    joints = [item.joint for item in objects]
    return ObjectBatch(
        triangles=torch.from_numpy(triangles),
        counts=torch.tensor([len(item.triangles) for item in objects]),
        materials=torch.from_numpy(materials),
        colours=torch.from_numpy(colours),
        moving=torch.from_numpy(moving),
        revolute=torch.tensor([joint.kind == "revolute" for joint in joints]),
        axes=torch.tensor([joint.axis for joint in joints], dtype=torch.float32),
        origins=torch.tensor([joint.origin for joint in joints], dtype=torch.float32),
        travel=torch.tensor([joint.upper for joint in joints], dtype=torch.float32),
        part_centre=torch.from_numpy(centres),
        part_radius=torch.from_numpy(radii),
    )
