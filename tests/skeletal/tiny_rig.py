"""A bar of two bones as a glTF file, made on the spot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pygltflib as gltf

HEIGHT = 2.0  # of the bar, Y up; the second bone starts in the middle
BEND_DEG = 60.0
SECONDS = 1.0
RINGS = 9


def bar() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (n, 3), triangles (m, 3) and weights (n, 2) of a square bar along Y."""
    heights = np.linspace(0, HEIGHT, RINGS)
    ring = 0.15 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    vertices = np.array([[x, y, z] for y in heights for x, z in ring])
    triangles = []
    for level in range(RINGS - 1):
        for side in range(4):
            a, b = 4 * level + side, 4 * level + (side + 1) % 4
            triangles += [[a, a + 4, b], [b, a + 4, b + 4]]
    triangles += [[0, 1, 2], [0, 2, 3]]
    top = 4 * (RINGS - 1)
    triangles += [[top, top + 2, top + 1], [top, top + 3, top + 2]]
    upper = np.clip((vertices[:, 1] - 0.75) / 0.5, 0, 1)
    return vertices, np.array(triangles), np.stack([1 - upper, upper], axis=1)


def turn_z(degrees: float) -> list[float]:
    """A turn about Z as xyzw."""
    half = np.radians(degrees) / 2
    return [0.0, 0.0, float(np.sin(half)), float(np.cos(half))]


def write_bar(path: Path, *, interpolation: str = "LINEAR", skin: bool = True) -> Path:
    """The bar with a clip that moves the first bone and bends the second.

    The skeleton hangs under a node that is turned and moved, and the mesh node has a transform of
    its own, which the skin definition says to ignore.
    """
    vertices, triangles, weights = bar()
    binds = np.broadcast_to(np.eye(4), (2, 4, 4)).copy()
    binds[1, 1, 3] = -HEIGHT / 2
    times = np.array([0.0, SECONDS / 2, SECONDS])
    turns = np.array([turn_z(0), turn_z(BEND_DEG), turn_z(-BEND_DEG / 2)])
    if interpolation == "CUBICSPLINE":
        tangents = np.full_like(turns, 0.3)
        turns = np.stack([tangents, turns, -tangents], axis=1).reshape(-1, 4)
    shifts = np.array([[0, 0, 0], [0.3, 0.1, 0], [0.6, 0, 0.2]])
    arrays = {
        "vertices": vertices.astype(np.float32),
        "triangles": triangles.astype(np.uint16).reshape(-1),
        "joints": np.tile(np.array([0, 1, 0, 0], dtype=np.uint8), (len(vertices), 1)),
        "weights": np.pad(weights, [(0, 0), (0, 2)]).astype(np.float32),
        "binds": binds.transpose(0, 2, 1).astype(np.float32).reshape(-1, 16),
        "times": times.astype(np.float32),
        "turns": turns.astype(np.float32),
        "shifts": shifts.astype(np.float32),
    }
    kinds = {"vertices": "VEC3", "triangles": "SCALAR", "joints": "VEC4", "weights": "VEC4",
             "binds": "MAT4", "times": "SCALAR", "turns": "VEC4", "shifts": "VEC3"}  # fmt: skip
    parts = {"float32": gltf.FLOAT, "uint16": gltf.UNSIGNED_SHORT, "uint8": gltf.UNSIGNED_BYTE}
    document = gltf.GLTF2(scene=0, scenes=[gltf.Scene(nodes=[0, 3])])
    blob = b""
    index = {}
    for name, array in arrays.items():
        index[name] = len(document.accessors)
        accessor = gltf.Accessor(
            bufferView=len(document.bufferViews), componentType=parts[array.dtype.name],
            count=len(array), type=kinds[name],
        )  # fmt: skip
        if name in ("vertices", "times"):
            accessor.min = array.min(axis=0, keepdims=array.ndim == 1).tolist()
            accessor.max = array.max(axis=0, keepdims=array.ndim == 1).tolist()
        document.accessors.append(accessor)
        content = array.tobytes()
        document.bufferViews.append(
            gltf.BufferView(buffer=0, byteOffset=len(blob), byteLength=len(content))
        )
        blob += content + b"\0" * (-len(content) % 4)
    document.buffers = [gltf.Buffer(byteLength=len(blob))]
    document.set_binary_blob(blob)
    document.nodes = [
        gltf.Node(name="stand", children=[1], translation=[0.0, 0.5, 1.0], rotation=turn_z(20)),
        gltf.Node(name="lower", children=[2]),
        gltf.Node(name="upper", translation=[0.0, HEIGHT / 2, 0.0]),
        gltf.Node(name="bar", mesh=0, skin=0 if skin else None, translation=[9.0, 0.0, 0.0]),
    ]
    attributes = gltf.Attributes(POSITION=index["vertices"])
    if skin:
        attributes.JOINTS_0, attributes.WEIGHTS_0 = index["joints"], index["weights"]
        document.skins = [gltf.Skin(joints=[1, 2], inverseBindMatrices=index["binds"])]
    surface = gltf.PbrMetallicRoughness(baseColorFactor=[0.8, 0.1, 0.1, 1.0])
    document.materials = [gltf.Material(pbrMetallicRoughness=surface)]
    primitive = gltf.Primitive(attributes=attributes, indices=index["triangles"], material=0)
    document.meshes = [gltf.Mesh(primitives=[primitive])]
    document.animations = [gltf.Animation(
        name="bend",
        samplers=[
            gltf.AnimationSampler(input=index["times"], output=index["turns"],
                                  interpolation=interpolation),
            gltf.AnimationSampler(input=index["times"], output=index["shifts"],
                                  interpolation="STEP" if interpolation == "STEP" else "LINEAR"),
        ],
        channels=[
            gltf.AnimationChannel(sampler=0, target=gltf.AnimationChannelTarget(
                node=2, path="rotation")),
            gltf.AnimationChannel(sampler=1, target=gltf.AnimationChannelTarget(
                node=1, path="translation")),
        ],
    )]  # fmt: skip
    document.save_binary(str(path))
    return path
