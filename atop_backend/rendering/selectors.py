"""What a part is called: selectors as people write them, and names as Blender keeps them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from atop_backend.errors import InputError

SelectorKind = Literal["node", "material", "vgroup", "faces"]
_SUFFIX = re.compile(r"\.\d{3,}$")  # Blender makes names unique with .001, .002, ...
_NAME_BYTES = 63  # longer names are cut by Blender before 5.0
_SHOWN = 40  # names listed in a message


class Selector(NamedTuple):
    """One way to name faces."""

    kind: SelectorKind
    name: str  # of the node, material or vertex group; of the object for faces, may be empty
    file: str = ""  # of face indices

    @property
    def text(self) -> str:
        """As people write it."""
        if self.kind == "faces":
            return f"faces:{self.file}" + (f"#{self.name}" if self.name else "")
        return self.name if self.kind == "node" else f"{self.kind}:{self.name}"


def parse(text: str) -> Selector:
    """The selector in `NODE`, `material:NAME`, `vgroup:NAME`, `faces:FILE` or `faces:FILE#OBJECT`.

    Any other prefix belongs to a node's name.
    """
    prefix, colon, name = text.partition(":")
    if colon and prefix in ("material", "vgroup") and name:
        return Selector(prefix, name)  # type: ignore[arg-type]
    if colon and prefix == "faces" and name:
        file, _, owner = name.partition("#")
        return Selector("faces", owner, file)
    return Selector("node", text)


def with_absolute_file(text: str, folder: Path) -> str:
    """The selector with its face-index file, if it has one, relative to `folder` made absolute."""
    selector = parse(text)
    if selector.kind != "faces":
        return text
    return selector._replace(file=str((folder / selector.file).resolve())).text


def without_number(name: str) -> str:
    """The name before Blender numbered it."""
    return _SUFFIX.sub("", name)


def matching(name: str, names: Iterable[str]) -> list[str]:
    """The names that `name` means: the exact one, else those that Blender made from it.

    Blender numbers names that are taken and cuts long ones, so a file's `door` may be `door.001`.
    """
    names = list(names)
    if name in names:
        return [name]
    short = name.encode()[:_NAME_BYTES].decode(errors="ignore")
    if short in names:
        return [short]
    numbered = [other for other in names if without_number(other) == name]
    if numbered:
        return numbered
    return [
        other
        for other in names
        if len(name) > len(short) and _SUFFIX.search(other) and name.startswith(other[:-4])
    ]


def unknown(selector: Selector, nodes: Sequence[str], others: Sequence[str]) -> InputError:
    """The error for a name that is not there; it lists what is.

    Args:
        nodes: Names of all objects.
        others: Names of the selector's own kind, the same as `nodes` for a node.
    """
    word = {"node": "part", "material": "material", "vgroup": "vertex group", "faces": "object"}
    near = difflib.get_close_matches(selector.name, others, n=1)
    listed = ", ".join(others[:_SHOWN]) + (", ..." if len(others) > _SHOWN else "")
    hint = f"did you mean {near[0]}? " if near else ""
    if others:
        hint += f"there are {listed}"
    elif nodes:
        hint += f"the file has none; its objects are {', '.join(nodes[:_SHOWN])}"
    else:
        hint += "the file has none"
    return InputError(f"there is no {word[selector.kind]} {selector.name!r}", hint=hint)


def read_face_indices(path: Path, faces: int) -> np.ndarray:
    """Face indices (k,) from a text file or a .npy array; a boolean array is a mask.

    Args:
        faces: How many faces the mesh has.
    """
    try:
        if path.suffix == ".npy":
            values = np.load(path, allow_pickle=False).ravel()
        else:
            words = path.read_text(encoding="utf-8").replace(",", " ").split()
            values = np.array([int(word) for word in words], dtype=np.int64)
    except OSError as error:
        raise InputError(
            f"face file {path} cannot be read ({error.strerror or error})", hint="check its path"
        ) from error
    except ValueError as error:
        raise InputError(
            f"face file {path} holds something else than whole numbers ({error})",
            hint="write one face index a line, or save an integer .npy array",
        ) from error
    if values.dtype == bool:
        if len(values) != faces:
            raise InputError(
                f"face file {path} marks {len(values)} faces, the mesh has {faces}",
                hint="make it from the mesh as it is now",
            )
        return np.flatnonzero(values)
    if not np.issubdtype(values.dtype, np.integer):
        raise InputError(
            f"face file {path} holds {values.dtype} numbers", hint="save whole numbers"
        )
    if len(values) and (values.min() < 0 or values.max() >= faces):
        worst = values.max() if values.max() >= faces else values.min()
        raise InputError(
            f"face file {path} holds face {int(worst)}, the mesh has {faces} faces",
            hint="count faces from 0 in the mesh as it is now",
        )
    return values.astype(np.int64)
