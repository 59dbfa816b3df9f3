"""Vertices that are no numbers are counted in every format, as programs really write them."""

from __future__ import annotations

import base64
import json
import struct

import numpy as np
import pytest

from atop_backend.rendering.nonfinite import count_nonfinite

POINTS = np.array([[0, 0, 0], [1, np.nan, 0], [0, 1, -np.inf], [1, 1, 1]], dtype="<f4")
TEXT = ["0 0 0", "1 nan 0", "0 1 -inf", "1 1 1"]


def gltf(uri: str | None) -> dict:
    """Two accessors: the points after 8 bytes of something else, interleaved with 4 bytes each."""
    return {
        "buffers": [{"byteLength": 72, **({"uri": uri} if uri else {})}],
        "bufferViews": [{"buffer": 0, "byteOffset": 4, "byteStride": 16}],
        "accessors": [
            {"bufferView": 0, "byteOffset": 4, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 0, "componentType": 5123, "count": 4, "type": "SCALAR"},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
    }


def buffer() -> bytes:
    rows = b"".join(row.tobytes() + b"\xff\xff\xff\x7f" for row in POINTS)
    return b"\0" * 8 + rows


def glb() -> bytes:
    text = json.dumps(gltf(None)).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    chunks += struct.pack("<II", len(buffer()), 0x004E4942) + buffer()
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def embedded() -> bytes:
    uri = "data:application/octet-stream;base64," + base64.b64encode(buffer()).decode()
    return json.dumps(gltf(uri)).encode()


def stl() -> bytes:
    corners = np.zeros((2, 3, 3), dtype="<f4")
    corners[0, 1, 2] = corners[1, 0, 0] = np.nan
    facets = b"".join(struct.pack("<3f", 0, 0, 1) + c.tobytes() + b"\0\0" for c in corners)
    return b"\0" * 80 + struct.pack("<I", 2) + facets


def ply(form: str, body: bytes) -> bytes:
    header = (
        f"ply\nformat {form} 1.0\nelement vertex 4\nproperty uchar red\nproperty float x\n"
        "property float y\nproperty float z\nelement face 0\n"
        "property list uchar int vertex_indices\nend_header\n"
    )
    return header.encode() + body


def rows(order: str) -> bytes:
    return b"".join(struct.pack(order + "B3f", 9, *row) for row in POINTS)


FILES = {
    "a.glb": glb(),
    "a.gltf": embedded(),
    "a.obj": "\n".join(["# v nan", "vn nan 0 0", *(f"v {row}" for row in TEXT)]).encode(),
    "a.stl": stl(),
    "b.stl": b"solid a\n" + "\n".join(f"  vertex {row}" for row in TEXT).encode(),
    "a.ply": ply("binary_little_endian", rows("<")),
    "b.ply": ply("binary_big_endian", rows(">")),
    "c.ply": ply("ascii", "\n".join(f"9 {row}" for row in TEXT).encode()),
}


@pytest.mark.parametrize("name", FILES)
def test_two_bad_vertices_are_found(tmp_path, name):
    (tmp_path / name).write_bytes(FILES[name])
    assert count_nonfinite(tmp_path / name) == 2


@pytest.mark.parametrize("name", ["a.glb", "a.gltf", "a.obj", "a.stl", "a.ply", "a.blend"])
def test_what_cannot_be_understood_is_left_to_the_importer(tmp_path, name):
    for content in (b"", b"glTF", b"nothing of the kind", FILES.get(name, b"x")[:30]):
        (tmp_path / name).write_bytes(content)
        assert count_nonfinite(tmp_path / name) == 0
    assert count_nonfinite(tmp_path / "gone.glb") == 0
