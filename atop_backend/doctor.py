"""`atop doctor`: what is installed, what is missing, and how to get it."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from typing import NamedTuple

from atop_backend import __version__
from atop_backend.errors import AtopError

PACKAGES = (
    "numpy",
    "scipy",
    "torch",
    "tokenizers",
    "safetensors",
    "einops",
    "trimesh",
    "pillow",
    "imageio-ffmpeg",
)
LOWEST_BLENDER = (4, 2)
INSTALL = "run scripts/setup.sh, or pip install 'atop-backend[ml,blender]'"


class Finding(NamedTuple):
    """One thing that a job needs, or could use."""

    name: str
    found: str
    good: bool
    remedy: str = ""


def examine(blender: str = "", device: str = "auto") -> list[Finding]:
    """Everything that a default job needs, in the order in which to mend it."""
    findings = [
        Finding("atop", f"{__version__} on Python {platform.python_version()}", True),
        *map(_package, PACKAGES),
        _blender(blender),
    ]
    if all(finding.good for finding in findings if finding.name in PACKAGES):
        findings += [_checked("device", lambda: _device(device), "choose another --device")]
        findings += [_checked("sentence encoder", _encoder, INSTALL)]
        findings += [_checked("bundled weights", _weights, "reinstall atop-backend")]
    findings.append(
        _optional("mujoco", "for animate --physics", "pip install 'atop-backend[physics]'")
    )
    findings.append(_optional("gsplat", "renders rigs on a GPU", "pip install gsplat"))
    pytorch3d = importlib.util.find_spec("pytorch3d") is not None
    findings.append(
        Finding("pytorch3d", "found" if pytorch3d else "not installed (optional, not needed)", True)
    )
    return findings


def table(findings: list[Finding]) -> str:
    """The findings as lines for people."""
    lines = []
    for finding in findings:
        mark = "ok " if finding.good else "BAD"
        lines.append(f"{mark} {finding.name:18} {finding.found}")
        if finding.remedy and not finding.good:
            lines.append(f"    {'':18} -> {finding.remedy}")
    return "\n".join(lines)


def _package(name: str) -> Finding:
    try:
        return Finding(name, metadata.version(name), True)
    except metadata.PackageNotFoundError:
        return Finding(name, "not installed", False, INSTALL)


def _optional(name: str, use: str, install: str) -> Finding:
    try:
        return Finding(name, f"{metadata.version(name)} ({use})", True)
    except metadata.PackageNotFoundError:
        return Finding(name, f"not installed (optional, {use}: {install})", True)


def _checked(name: str, examine_one: object, remedy: str) -> Finding:
    try:
        return Finding(name, examine_one(), True)  # type: ignore[operator]
    except AtopError as error:
        return Finding(name, error.message, False, error.hint or remedy)


def _device(name: str) -> str:
    from atop_backend.diffusion.device import describe_device, pick_device

    return describe_device(pick_device(name))


def _encoder() -> str:
    from atop_backend.diffusion.text import encoder_folder

    return str(encoder_folder())


def _weights() -> str:
    from atop_backend.diffusion import bundled

    facts = bundled.load().facts
    return str(facts.get("name", bundled.FOLDER))


def _blender(program: str) -> Finding:
    """The Blender program, or the bpy module when none is given."""
    if not program:
        try:
            return Finding("Blender", f"module bpy {metadata.version('bpy')}", True)
        except metadata.PackageNotFoundError:
            return Finding(
                "Blender",
                f"no program was given and {sys.executable} has no module bpy",
                False,
                "pip install 'bpy>=4.2,<5.1', or give --blender PROGRAM",
            )
    path = shutil.which(program)
    if path is None:
        return Finding("Blender", f"{program} is not a program", False, "check --blender")
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
        words = answer.stdout.split()
        version = words[words.index("Blender") + 1]
        numbers = tuple(int(part) for part in version.split(".")[:2])
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return Finding("Blender", f"{path} does not answer as Blender", False, "check --blender")
    good = numbers >= LOWEST_BLENDER
    return Finding("Blender", f"{version} at {path}", good, "install Blender 4.2 or newer")
