"""A glTF file as numbers: accessors, pictures, the tree of nodes, and animated node values."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from atop_backend.errors import InputError, missing_package

_TYPES = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32,
          5126: np.float32}  # fmt: skip
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
Values = dict[int, dict[str, np.ndarray]]  # node -> translation, rotation or scale


class GltfData:
    """An opened file.

    Raises:
        InputError: It cannot be read, or uses a compression that we do not have.
        SetupError: pygltflib is not installed.
    """

    def __init__(self, path: Path) -> None:
        try:
            import pygltflib
        except ImportError as error:
            raise missing_package("glTF rigs need", "pygltflib", "ml") from error
        self.path = path
        try:
            self.document: Any = pygltflib.GLTF2().load(str(path))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, json.JSONDecodeError,
                struct.error) as error:  # fmt: skip
            raise InputError(f"{path} cannot be read ({error})", hint="give a glTF 2.0 file"
                             ) from error  # fmt: skip
        if self.document is None:
            raise InputError(f"{path} is not a glTF file", hint="give a .glb or .gltf file")
        compressed = [name for name in self.document.extensionsRequired or ()]
        if compressed:
            raise InputError(
                f"{path.name} needs the glTF extension {', '.join(compressed)}",
                hint="export it without compression, or open it in Blender",
            )
        self._buffers: dict[int, bytes] = {}
        self.parents = {
            child: index
            for index, node in enumerate(self.document.nodes)
            for child in node.children or ()
        }
        self.reachable = self._reachable()

    def _reachable(self) -> set[int]:
        """Nodes of the scene that is shown."""
        scenes = self.document.scenes
        if not scenes:
            return set(range(len(self.document.nodes)))
        waiting = list(scenes[self.document.scene or 0].nodes)
        seen: set[int] = set()
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += self.document.nodes[node].children or ()
        return seen

    def depth(self, node: int) -> int:
        """Number of ancestors of a node."""
        count = 0
        while node in self.parents:
            node, count = self.parents[node], count + 1
        return count

    def unique_names(self, nodes: Sequence[int]) -> tuple[str, ...]:
        """Names of nodes, made up where missing and numbered where they repeat."""
        names: list[str] = []
        for node in nodes:
            name = base = self.document.nodes[node].name or f"bone_{node}"
            number = 1
            while name in names:
                name, number = f"{base}.{number:03}", number + 1
            names.append(name)
        return tuple(names)

    def _buffer(self, index: int) -> bytes:
        if index not in self._buffers:
            uri = self.document.buffers[index].uri
            inside = self.document.binary_blob() or b""
            self._buffers[index] = inside if uri is None else self._from_uri(uri)
        return self._buffers[index]

    def _from_uri(self, uri: str) -> bytes:
        if uri.startswith("data:"):
            return base64.b64decode(uri.split(",", 1)[1])
        file = self.path.parent / unquote(uri)
        try:
            return file.read_bytes()
        except OSError as error:
            raise InputError(
                f"{self.path.name} needs {file.name}, which cannot be read ({error.strerror})",
                hint="keep the files of a .gltf together",
            ) from error

    def _view(self, index: int) -> tuple[bytes, int, int | None]:
        view = self.document.bufferViews[index]
        start = view.byteOffset or 0
        return self._buffer(view.buffer)[start : start + view.byteLength], start, view.byteStride

    def array(self, index: int) -> np.ndarray:
        """Numbers of an accessor, (count, width) or (count,); normalised integers as fractions."""
        accessor = self.document.accessors[index]
        kind, width = np.dtype(_TYPES[accessor.componentType]), _WIDTHS[accessor.type]
        values = np.zeros((accessor.count, width), dtype=kind)
        if accessor.bufferView is not None:
            content, _, stride = self._view(accessor.bufferView)
            stride = stride or width * kind.itemsize
            try:
                values = np.ndarray(
                    (accessor.count, width), kind, content, accessor.byteOffset or 0,
                    (stride, kind.itemsize),
                ).copy()  # fmt: skip
            except (TypeError, ValueError) as error:
                raise InputError(f"{self.path.name} is cut short", hint="export it again"
                                 ) from error  # fmt: skip
        if accessor.sparse is not None:
            self._fill_sparse(accessor.sparse, values)
        if accessor.normalized and kind.kind in "iu":
            values = np.maximum(values / np.iinfo(kind).max, -1.0)
        return values[:, 0] if width == 1 else values

    def _fill_sparse(self, sparse: Any, values: np.ndarray) -> None:
        content, _, _ = self._view(sparse.indices.bufferView)
        kind = _TYPES[sparse.indices.componentType]
        places = np.frombuffer(content, kind, sparse.count, sparse.indices.byteOffset or 0)
        content, _, _ = self._view(sparse.values.bufferView)
        flat = np.frombuffer(
            content, values.dtype, sparse.count * values.shape[1], sparse.values.byteOffset or 0
        )
        values[places.astype(np.int64)] = flat.reshape(sparse.count, -1)

    def picture(self, texture: int) -> bytes | None:
        """The encoded picture of a texture, None where it has none."""
        source = self.document.textures[texture].source
        if source is None:
            return None
        image = self.document.images[source]
        if image.bufferView is not None:
            return self._view(image.bufferView)[0]
        return self._from_uri(image.uri)

    def global_matrices(self, values: Values) -> np.ndarray:
        """node_to_world of every node (nodes, 4, 4), with some local values replaced; Y up."""
        locals_now = [
            local_matrix(node, values.get(index, {}))
            for index, node in enumerate(self.document.nodes)
        ]
        result: dict[int, np.ndarray] = {}

        def find(node: int) -> np.ndarray:
            if node not in result:
                parent = self.parents.get(node)
                own = locals_now[node]
                result[node] = own if parent is None else find(parent) @ own
            return result[node]

        return np.stack([find(node) for node in range(len(locals_now))])


def local_matrix(node: Any, values: dict[str, np.ndarray] | None = None) -> np.ndarray:
    """node_to_parent (4, 4), with the animated values in place of the node's own."""
    values = values or {}
    if node.matrix is not None and not values:
        return np.asarray(node.matrix, dtype=np.float64).reshape(4, 4).T
    result = np.eye(4)
    rotation = values.get("rotation", node.rotation or (0.0, 0.0, 0.0, 1.0))
    scale = np.asarray(values.get("scale", node.scale or (1.0, 1.0, 1.0)), dtype=np.float64)
    result[:3, :3] = _matrix(np.asarray(rotation, dtype=np.float64)) * scale
    result[:3, 3] = values.get("translation", node.translation or (0.0, 0.0, 0.0))
    return result


def _matrix(xyzw: np.ndarray) -> np.ndarray:
    x, y, z, w = xyzw / np.linalg.norm(xyzw)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def node_values(data: GltfData, animation: Any, time: float) -> Values:
    """What an animation sets at a time (seconds), clamped to its ends."""
    result: Values = {}
    for channel in animation.channels:
        if channel.target.node is None or channel.target.path == "weights":
            continue
        sampler = animation.samplers[channel.sampler]
        value = _sampled(
            data.array(sampler.input), data.array(sampler.output).astype(np.float64),
            sampler.interpolation or "LINEAR", time, channel.target.path == "rotation",
        )  # fmt: skip
        result.setdefault(channel.target.node, {})[channel.target.path] = value
    return result


def _sampled(
    times: np.ndarray, values: np.ndarray, interpolation: str, time: float, rotation: bool
) -> np.ndarray:
    """The value between keys, as the glTF specification interpolates (appendix C)."""
    cubic = interpolation == "CUBICSPLINE"
    keys = values.reshape(len(times), 3, -1) if cubic else values
    after = int(np.searchsorted(times, time, side="right"))
    if after == 0 or after == len(times):
        edge = keys[0 if after == 0 else -1]
        return edge[1] if cubic else edge
    first, second = after - 1, after
    length = float(times[second] - times[first])
    share = (time - float(times[first])) / length
    if interpolation == "STEP":
        return keys[first]
    if cubic:
        square, cube = share**2, share**3
        return (
            (2 * cube - 3 * square + 1) * keys[first, 1]
            + length * (cube - 2 * square + share) * keys[first, 2]
            + (3 * square - 2 * cube) * keys[second, 1]
            + length * (cube - square) * keys[second, 0]
        )
    if rotation:
        return _slerp(keys[first], keys[second], share)
    return (1 - share) * keys[first] + share * keys[second]


def _slerp(start: np.ndarray, end: np.ndarray, share: float) -> np.ndarray:
    cosine = float(start @ end)
    if cosine < 0:
        end, cosine = -end, -cosine
    angle = float(np.arccos(min(cosine, 1.0)))
    if angle < 1e-6:
        return (1 - share) * start + share * end
    return (np.sin((1 - share) * angle) * start + np.sin(share * angle) * end) / np.sin(angle)
