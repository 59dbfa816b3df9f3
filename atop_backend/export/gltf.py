"""glTF with animation: one node a part, one clip that plays every joint from end to end.

Written with pygltflib, which has the whole glTF 2.0 schema as types; trimesh cannot animate.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.errors import missing_package
from atop_backend.export.model import Y_UP_TO_Z_UP, ArticulatedModel, Link

Z_UP_TO_Y_UP = Y_UP_TO_Z_UP.T
SECONDS = 2.0  # one way
LARGEST_TURN = math.radians(60)  # between keys; players turn the short way round
COLOURS = [(0.75, 0.75, 0.75), (0.9, 0.55, 0.15), (0.2, 0.5, 0.8), (0.3, 0.65, 0.35)]


def write_gltf(model: ArticulatedModel, folder: Path) -> Path:
    """Write `<name>.glb`, Y up and in metres; the path of the file.

    Each part's node carries its joint in `extras.joint`, in the frame of the file.

    Raises:
        SetupError: pygltflib is not installed.
    """
    try:
        import pygltflib
    except ImportError as error:
        raise missing_package("animated glTF needs", "pygltflib", "export") from error
    folder.mkdir(parents=True, exist_ok=True)
    document = pygltflib.GLTF2(asset=pygltflib.Asset(version="2.0", generator="ATOP"))
    buffer = _Buffer(document)
    clip = pygltflib.Animation(name="open", channels=[], samplers=[])
    root = pygltflib.Node(name=model.name, children=[])
    document.nodes.append(root)
    document.nodes.append(_node(document, buffer, model.base, model.base.origin, 0))
    root.children.append(1)
    for index, (link, joint) in enumerate(zip(model.links, model.joints, strict=True)):
        parent = model.parent_of(index)
        place = link.origin - parent.origin  # the base stands at the root
        node = _node(document, buffer, link, place, index + 1)
        node.extras = {"joint": _in_y_up(joint)}
        document.nodes.append(node)
        _animate(clip, buffer, index + 2, joint, place)
    for index, parent in enumerate(model.parents):
        carrier = root if parent < 0 else document.nodes[parent + 2]
        carrier.children.append(index + 2)
    document.scenes = [pygltflib.Scene(nodes=[0])]
    document.scene = 0
    document.animations = [clip]
    buffer.close()
    path = folder / f"{model.name}.glb"
    document.save_binary(str(path))
    return path


class _Buffer:
    """The one binary chunk of a document while it grows."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._bytes = bytearray()

    def add(self, values: np.ndarray, kind: str, target: int | None = None) -> int:
        """Index of a new accessor over rows of float32 or uint32."""
        import pygltflib

        data = np.ascontiguousarray(values)
        views, accessors = self._document.bufferViews, self._document.accessors
        views.append(
            pygltflib.BufferView(
                buffer=0, byteOffset=len(self._bytes), byteLength=data.nbytes, target=target
            )
        )
        rows = data.reshape(len(data), -1)
        accessors.append(
            pygltflib.Accessor(
                bufferView=len(views) - 1,
                componentType=pygltflib.FLOAT if data.dtype == "f4" else pygltflib.UNSIGNED_INT,
                count=len(data),
                type=kind,
                min=rows.min(axis=0).tolist(),
                max=rows.max(axis=0).tolist(),
            )
        )
        self._bytes += data.tobytes()  # all of it in 4-byte numbers, so always aligned
        return len(accessors) - 1

    def close(self) -> None:
        import pygltflib

        self._document.buffers = [pygltflib.Buffer(byteLength=len(self._bytes))]
        self._document.set_binary_blob(bytes(self._bytes))


def _node(document: Any, buffer: _Buffer, link: Link, place: np.ndarray, number: int) -> Any:
    import pygltflib

    node = pygltflib.Node(name=link.name, translation=(Z_UP_TO_Y_UP @ place).tolist(), children=[])
    if not len(link.triangles):
        return node
    positions = (link.vertices @ Z_UP_TO_Y_UP.T).astype(np.float32)
    indices = link.triangles.ravel().astype(np.uint32)
    primitive = pygltflib.Primitive(
        attributes=pygltflib.Attributes(
            POSITION=buffer.add(positions, "VEC3", pygltflib.ARRAY_BUFFER)
        ),
        indices=buffer.add(indices, "SCALAR", pygltflib.ELEMENT_ARRAY_BUFFER),
        material=len(document.materials),
    )
    colour = COLOURS[0] if number == 0 else COLOURS[1 + (number - 1) % (len(COLOURS) - 1)]
    document.materials.append(
        pygltflib.Material(
            name=f"{link.name}_material",
            doubleSided=True,
            pbrMetallicRoughness=pygltflib.PbrMetallicRoughness(
                baseColorFactor=[*colour, 1.0], metallicFactor=0.0, roughnessFactor=0.8
            ),
        )
    )
    document.meshes.append(pygltflib.Mesh(name=link.name, primitives=[primitive]))
    node.mesh = len(document.meshes) - 1
    return node


def _animate(clip: Any, buffer: _Buffer, node: int, joint: JointMotion, place: np.ndarray) -> None:
    import pygltflib

    keys = 2
    if joint.kind == "revolute":
        keys += int((joint.upper - joint.lower) / LARGEST_TURN)
    times = np.linspace(0, SECONDS, keys, dtype=np.float32)
    values = np.linspace(joint.lower, joint.upper, keys)
    if joint.kind == "revolute":
        half = values[:, None] / 2
        axis = Z_UP_TO_Y_UP @ np.asarray(joint.axis)
        rows = np.concatenate([np.sin(half) * axis, np.cos(half)], axis=1)  # x, y, z, w
        path, kind = "rotation", "VEC4"
    else:
        rows = (place + values[:, None] * np.asarray(joint.axis)) @ Z_UP_TO_Y_UP.T
        path, kind = "translation", "VEC3"
    clip.channels.append(
        pygltflib.AnimationChannel(
            sampler=len(clip.samplers),
            target=pygltflib.AnimationChannelTarget(node=node, path=path),
        )
    )
    clip.samplers.append(
        pygltflib.AnimationSampler(
            input=buffer.add(times, "SCALAR"),
            output=buffer.add(rows.astype(np.float32), kind),
            interpolation="LINEAR",
        )
    )


def _in_y_up(joint: JointMotion) -> dict[str, Any]:
    data = joint.to_dict()
    data["axis"] = (Z_UP_TO_Y_UP @ np.asarray(joint.axis)).tolist()
    data["origin"] = (Z_UP_TO_Y_UP @ np.asarray(joint.origin)).tolist()
    return data
