"""Finds vertices that are not numbers, straight in the file.

Blender's importers put such vertices at the origin without a word, and the shape is wrong then.
Whatever cannot be understood here counts as fine: the importer reads it next and complains.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

_FLOAT = 5126  # glTF component type
_PLY_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1",
    "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip


def count_nonfinite(path: Path) -> int:
    """How many vertices of the file have a coordinate that is infinite or not a number."""
    try:
        match path.suffix.lower():
            case ".glb" | ".gltf":
                return _in_gltf(path)
            case ".obj":
                return len(re.findall(rb"(?im)^v\s.*\b(?:nan|inf)", path.read_bytes()))
            case ".stl":
                return _in_stl(path.read_bytes())
            case ".ply":
                return _in_ply(path.read_bytes())
    except (OSError, ValueError, KeyError, IndexError, TypeError, struct.error):
        pass
    return 0


def _bad(points: np.ndarray) -> int:
    return int((~np.isfinite(points)).any(axis=-1).sum())


def _in_gltf(path: Path) -> int:
    content = path.read_bytes()
    inside = b""
    if content[:4] == b"glTF":
        length = struct.unpack_from("<I", content, 12)[0]
        document = json.loads(content[20 : 20 + length])
        inside = content[20 + length + 8 :]
    else:
        document = json.loads(content)
    accessors = {
        primitive["attributes"]["POSITION"]
        for mesh in document.get("meshes", [])
        for primitive in mesh["primitives"]
    }
    buffers: dict[int, bytes] = {}
    bad = 0
    for accessor in (document["accessors"][index] for index in accessors):
        if "bufferView" not in accessor or accessor["componentType"] != _FLOAT:
            continue
        view = document["bufferViews"][accessor["bufferView"]]
        index = view["buffer"]
        if index not in buffers:
            buffers[index] = _buffer(document["buffers"][index], path, inside)
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        points = np.ndarray(
            (accessor["count"], 3),
            dtype="<f4",
            buffer=buffers[index],
            offset=start,
            strides=(view.get("byteStride", 12), 4),
        )
        bad += _bad(points)
    return bad


def _buffer(entry: dict[str, Any], path: Path, inside: bytes) -> bytes:
    uri = entry.get("uri")
    if uri is None:
        return inside
    if uri.startswith("data:"):
        return base64.b64decode(uri.partition(",")[2])
    return (path.parent / unquote(uri)).read_bytes()


def _in_stl(content: bytes) -> int:
    count = struct.unpack_from("<I", content, 80)[0] if len(content) >= 84 else -1
    if len(content) != 84 + 50 * count:  # then it is text
        return len(re.findall(rb"(?im)^\s*vertex\s.*\b[+-]?(?:nan|inf)", content))
    triangles = np.ndarray((count, 3, 3), "<f4", content, 84 + 12, (50, 12, 4))
    return _bad(triangles)


def _in_ply(content: bytes) -> int:
    header, _, body = content.partition(b"end_header")
    body = body[body.index(b"\n") + 1 :]
    lines = header.decode("ascii").split("\n")
    form = next(line.split()[1] for line in lines if line.startswith("format"))
    elements = [i for i, line in enumerate(lines) if line.startswith("element")]
    if not lines[elements[0]].startswith("element vertex"):
        return 0
    count = int(lines[elements[0]].split()[2])
    fields = [line.split() for line in lines[elements[0] + 1 : elements[1]] if "property" in line]
    places = [[field[-1] for field in fields].index(axis) for axis in "xyz"]
    if form == "ascii":
        rows = body.split(b"\n")[:count]
        return _bad(np.array([[float(row.split()[i]) for i in places] for row in rows]))
    order = "<" if form == "binary_little_endian" else ">"
    kind = np.dtype([(str(i), order + _PLY_TYPES[field[1]]) for i, field in enumerate(fields)])
    rows = np.frombuffer(body, kind, count)
    return _bad(np.stack([rows[str(i)].astype(np.float64) for i in places], axis=-1))
