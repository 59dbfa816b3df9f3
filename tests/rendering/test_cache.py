"""Views are kept by what goes into them, and by nothing else."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from atop_backend.errors import InputError
from atop_backend.rendering import cache


@pytest.fixture
def model(tmp_path):
    """A glTF with a buffer and a texture beside it; only its bytes matter here."""
    folder = tmp_path / "model"
    folder.mkdir()
    document = {"buffers": [{"uri": "a%20b.bin"}], "images": [{"uri": "wood.png"}, {}]}
    (folder / "model.gltf").write_text(json.dumps(document))
    (folder / "a b.bin").write_bytes(b"1234")
    (folder / "wood.png").write_bytes(b"oak")
    return folder / "model.gltf"


def key(asset, *parts, **settings):
    return cache.cache_key(asset, parts or ("door",), **{"elevation_rad": 0.3, **settings})


def test_the_place_of_the_file_does_not_matter(model, tmp_path):
    shutil.copytree(model.parent, tmp_path / "elsewhere")
    assert key(model) == key(tmp_path / "elsewhere" / "model.gltf")


def test_every_setting_and_every_byte_matters(model):
    keys = {
        key(model),
        key(model, "lid"),
        key(model, "door", "lid"),
        key(model, elevation_rad=0.4),
        key(model, samples=4),
        key(model, size_px=64),
        key(model, turn=np.eye(3)),
        key(model, turn=-np.eye(3)),
    }
    (model.parent / "a b.bin").write_bytes(b"1235")
    keys.add(key(model))
    (model.parent / "wood.png").write_bytes(b"ash")
    keys.add(key(model))
    assert len(keys) == 10


def test_materials_and_textures_of_an_obj_matter(tmp_path):
    asset = tmp_path / "a.obj"
    asset.write_text("mtllib a.mtl\nv 0 0 0\n")
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd wood.png\n")
    (tmp_path / "wood.png").write_bytes(b"oak")
    before = key(asset)
    (tmp_path / "wood.png").write_bytes(b"ash")
    after = key(asset)
    (tmp_path / "a.mtl").write_text("newmtl n\nmap_Kd wood.png\n")
    assert len({before, after, key(asset)}) == 3


def test_what_a_face_file_holds_matters(model, tmp_path):
    faces = tmp_path / "faces.txt"
    faces.write_text("0")
    before = key(model, f"faces:{faces}")
    faces.write_text("1")
    assert key(model, f"faces:{faces}") != before


def test_a_missing_asset_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        key(tmp_path / "gone.glb")


def test_the_second_time_no_blender_is_needed(assets, tmp_path):
    settings = {"elevation_rad": 0.3, "size_px": 48, "samples": 1}
    first = cache.render_cached(tmp_path, assets / "cabinet.glb", ["door"], **settings)
    again = cache.render_cached(
        tmp_path, assets / "cabinet.glb", ["door"], **settings, blender="/no/blender"
    )
    np.testing.assert_array_equal(first.rgb, again.rgb)
    np.testing.assert_array_equal(first.positions, again.positions)
    (entry,) = tmp_path.iterdir()
    assert sorted(path.name for path in (entry / "render").iterdir()) == [
        "cameras.json", "maps.npz", "rgb_0.png", "rgb_1.png", "rgb_2.png", "rgb_3.png", "shape.npz",
    ]  # fmt: skip
