"""What a script writes beside a scene that it saved: glTF, USD and URDF."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Callable
from pathlib import Path

import bpy

from atop_backend.errors import AtopError, SetupError
from blender_addon.core.request import backend_command
from blender_addon.scene import export
from blender_addon.scene.record import articulations


def export_scene(options: argparse.Namespace, target: Path, python: str) -> list[str]:
    """Write what was asked for beside the saved file; what could not be, with the reason."""
    wanted: list[tuple[bool, Callable[[], None]]] = [
        (options.glb, lambda: write_glb(target.with_suffix(".glb"))),
        (options.usd, lambda: write_usd(target.with_suffix(".usdc"))),
        (options.urdf, lambda: write_urdfs(target.with_name(f"{target.stem}_urdf"), python)),
    ]
    failures = []
    for asked, act in wanted:
        try:
            if asked:
                act()
        except (AtopError, RuntimeError, AttributeError) as error:  # as Blender's operators fail
            failures.append(str(error))
    return failures


def write_glb(path: Path) -> None:
    """The scene with its animation, through Blender's own exporter."""
    import addon_utils

    addon_utils.enable("io_scene_gltf2")  # comes with Blender, but may be off
    bpy.ops.export_scene.gltf(filepath=str(path), export_animations=True, export_extras=True)


def write_usd(path: Path) -> None:
    """The scene with its animation, through Blender's own exporter."""
    if not bpy.app.build_options.usd:
        raise SetupError(
            f"{path}: this Blender was built without USD",
            hint="use --urdf, the panel's Export, or the Blender of blender.org",
        )
    bpy.ops.wm.usd_export(filepath=str(path), export_animation=True)


def write_urdfs(folder: Path, python: str) -> None:
    """A folder with a URDF for each object that has joints."""
    written: set[str] = set()
    names: set[str] = set()
    for articulation in list(articulations()):
        if articulation.frame.name in written:
            continue
        written |= {joint.frame.name for joint in export.joints_of_object(articulation)}
        name = plain_name(export.object_name(articulation), names)
        description = export.write_description(bpy.context, articulation, folder / name)
        command = backend_command(
            python, "export", "--object", str(description), "--out", str(folder / name),
            "--format", "urdf",
        )  # fmt: skip
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode:
            raise SetupError(
                f"the URDF of {name} ({finished.stderr.strip()[-300:]})",
                hint="the scene is saved; try the panel's Export",
            )


def plain_name(name: str, taken: set[str]) -> str:
    """A folder's name that no other object of the scene has."""
    stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in name).strip(".") or "object"
    chosen, number = stem, 2
    while chosen.lower() in taken:
        chosen, number = f"{stem}_{number}", number + 1
    taken.add(chosen.lower())
    return chosen
