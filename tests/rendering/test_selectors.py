"""Parts are found by the names that people and files use for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from atop_backend.errors import InputError
from atop_backend.rendering.selectors import (
    Selector,
    matching,
    parse,
    read_face_indices,
    unknown,
    with_absolute_file,
)


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        ("door", Selector("node", "door")),
        ("rig:door", Selector("node", "rig:door")),
        ("material:old oak", Selector("material", "old oak")),
        ("vgroup:lid", Selector("vgroup", "lid")),
        ("faces:a b.txt", Selector("faces", "", "a b.txt")),
        ("faces:a.npy#body", Selector("faces", "body", "a.npy")),
        ("material:", Selector("node", "material:")),
    ],
)
def test_a_selector_reads_back_as_written(text, selector):
    assert parse(text) == selector
    assert selector.text == text


def test_only_a_face_file_is_made_absolute():
    assert with_absolute_file("faces:f.txt#body", Path("/data")) == "faces:/data/f.txt#body"
    assert with_absolute_file("f.txt", Path("/data")) == "f.txt"


def test_the_exact_name_wins_over_numbered_ones():
    assert matching("door", ["door.001", "door", "door.002"]) == ["door"]
    assert matching("door.001", ["door.001", "door"]) == ["door.001"]


def test_names_that_blender_numbered_or_cut_are_found():
    assert matching("door", ["door.001", "door.0015", "doors", "door.x"]) == [
        "door.001", "door.0015",
    ]  # fmt: skip
    name = "n" * 80
    assert matching(name, ["n" * 63, "m"]) == ["n" * 63]
    assert matching(name, ["n" * 59 + ".001"]) == ["n" * 59 + ".001"]
    assert matching("door", ["body", "do.001"]) == []


def test_an_unknown_name_lists_what_there_is_and_the_nearest():
    error = unknown(Selector("node", "dor"), ["body", "door"], ["body", "door"])
    assert str(error) == "there is no part 'dor': did you mean door? there are body, door"
    error = unknown(Selector("vgroup", "lid"), ["body"], [])
    assert str(error) == "there is no vertex group 'lid': the file has none; its objects are body"


def test_face_files_hold_indices_or_a_mask(tmp_path):
    (tmp_path / "faces.txt").write_text("0, 2\n3")
    np.testing.assert_array_equal(read_face_indices(tmp_path / "faces.txt", 4), [0, 2, 3])
    np.save(tmp_path / "faces.npy", np.array([True, False, True, True]))
    np.testing.assert_array_equal(read_face_indices(tmp_path / "faces.npy", 4), [0, 2, 3])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        ("1 two", "something else than whole numbers"),
        ("1 4", "holds face 4, the mesh has 4 faces"),
        ("-1", "holds face -1"),
        (np.array([0.5]), "holds float64 numbers"),
        (np.array([True]), "marks 1 faces, the mesh has 4"),
    ],
)
def test_a_wrong_face_file_says_what_is_wrong(tmp_path, content, words):
    path = tmp_path / ("faces.npy" if isinstance(content, np.ndarray) else "faces.txt")
    if isinstance(content, str):
        path.write_text(content)
    elif content is not None:
        np.save(path, content)
    with pytest.raises(InputError, match=words):
        read_face_indices(path, 4)
