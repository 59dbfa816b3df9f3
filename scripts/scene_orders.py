"""Which parts of a Blender scene to articulate: from a job file, a pattern or a custom property."""

from __future__ import annotations

import argparse
import csv
import fnmatch
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from atop_backend.errors import InputError
from blender_addon.scene import pick, write

PROPERTY = "atop_prompt"
SOURCES = {"vgroup": "VERTEX_GROUP", "material": "MATERIAL", "attribute": "ATTRIBUTE"}
COLUMNS = {"object", "part", "prompt", "motion", "amount"}


class Order(NamedTuple):
    """One part to articulate, in the words of whoever asked."""

    object: str
    part: str  # empty for the whole object, or vgroup:NAME, material:NAME, attribute:NAME
    prompt: str
    motion: str
    amount: str

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.object} {self.part}".strip()


def read_orders(options: argparse.Namespace) -> Iterator[Order]:
    """The parts asked for, by whichever way they were."""
    if options.jobs:
        for number, entry in enumerate(read_entries(options.jobs), 1):
            unknown = set(entry) - COLUMNS
            if unknown or not entry.get("object"):
                what = f"unknown keys {sorted(map(str, unknown))}" if unknown else "no object"
                raise InputError(
                    f"job {number} of {options.jobs} has {what}",
                    hint=f"keys are {', '.join(sorted(COLUMNS))}",
                )
            yield Order(*(str(entry.get(name) or "") for name in Order._fields))
        return
    for ob in bpy.context.scene.objects:
        if options.match:
            if fnmatch.fnmatch(ob.name, options.match) and pick.has_faces(ob):
                yield Order(ob.name, "", options.prompt.replace("{name}", ob.name), "", "")
        elif ob.get(PROPERTY):
            yield Order(ob.name, "", str(ob[PROPERTY]), "", "")


def read_entries(path: Path) -> Sequence[Mapping[str, Any]]:
    """Tables or rows of a job file."""
    try:
        if path.suffix.lower() == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as stream:
                return list(csv.DictReader(stream))
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path} cannot be read ({error})", hint="mend what it names") from error
    return [data.get("defaults", {}) | job for job in data.get("job", [])]


def find_parts(order: Order) -> list[Any]:
    """What an order means in this scene, as the add-on picks it."""
    context = bpy.context
    ob = context.scene.objects.get(order.object)
    if ob is None:
        raise InputError(f"there is no object {order.object!r}", hint="check its name")
    if not order.part:
        if not pick.has_faces(ob):
            raise InputError(f"{order.object!r} has no surface", hint="name a mesh object")
        return write.root_parts([ob])
    kind, _, name = order.part.partition(":")
    if kind not in SOURCES:
        raise InputError(
            f"part {order.part!r} is of no known kind",
            hint=f"write {', '.join(f'{kind}:NAME' for kind in SOURCES)}, or nothing",
        )
    context.view_layer.objects.active = ob
    return pick.pick_parts(context, SOURCES[kind], name)  # type: ignore[arg-type]
