"""`atop export`: finished jobs of one asset, or a description, as files for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from atop_backend.errors import InputError
from atop_backend.export.gltf import write_gltf
from atop_backend.export.inertia import DEFAULT_DENSITY
from atop_backend.export.mjcf import write_mjcf
from atop_backend.export.model import ArticulatedModel, build_model
from atop_backend.export.source import read_description, read_jobs
from atop_backend.export.urdf import write_urdf
from atop_backend.export.usd import write_usd
from atop_backend.protocol import Artifact, Event, Finished, Progress

WRITERS: dict[str, Callable[[ArticulatedModel, Path], Path]] = {
    "urdf": write_urdf,
    "mjcf": write_mjcf,
    "usd": write_usd,
    "gltf": write_gltf,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `atop export`."""
    add = parser.add_argument
    add("jobs", nargs="*", type=Path, metavar="JOB", help="finished job folders of one asset")
    add("--object", type=Path, metavar="JSON", help="a description instead of jobs")
    add("--out", type=Path, required=True, metavar="DIR", help="gets one folder a format")
    add("--format", action="append", choices=tuple(WRITERS), dest="formats",
        help="repeat it for more; default all")  # fmt: skip
    add("--name", help="of the object; default the asset's")
    add("--metres-per-unit", type=float, help="size of one file unit; default 1")
    add("--density", type=float, default=DEFAULT_DENSITY, metavar="KG/M3",
        help="for the estimates of mass; default %(default)g")  # fmt: skip


def run(args: argparse.Namespace, emit: Callable[[Event], None]) -> int:
    """Write the formats that were asked for and end in `Finished`; 0.

    Raises:
        AtopError: The jobs or the description cannot be exported.
    """
    if bool(args.jobs) == bool(args.object):
        raise InputError("nothing or too much to export", hint="give jobs, or --object")
    source = read_jobs(args.jobs) if args.jobs else read_description(args.object)
    model = build_model(
        args.name or source.name,
        source.vertices,
        source.triangles,
        source.parts,
        source.up,
        args.metres_per_unit or source.metres_per_unit,
        args.density,
    )
    formats = args.formats or list(WRITERS)
    for step, name in enumerate(formats, 1):
        path = WRITERS[name](model, args.out.resolve() / name)
        emit(Artifact(name, str(path)))
        emit(Progress("export", step, len(formats), step / len(formats)))
    count = len(model.links)
    emit(Finished("", f"exported {count} joint{'s' if count > 1 else ''} to {args.out}"))
    return 0
