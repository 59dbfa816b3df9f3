"""Build and check the extension: `python scripts/build_addon.py [--out DIR] [--blender PROGRAM]`.

The zip holds the add-on and a wheel of the standard-library part of atop_backend, which is all of
it that runs inside Blender. Blender's own extension tool builds and validates it: that of the
Blender program given, else that of the bpy module of this Python.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ADDON = ROOT / "blender_addon"
INSIDE_BLENDER = ("__init__", "contracts", "protocol", "errors", "prompt_amount")
WHEEL_NAME = "atop_backend_core"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same sources give the same bytes


def version() -> str:
    """The version of the backend, which is that of the add-on too."""
    space: dict[str, str] = {}
    for line in (ROOT / "atop_backend" / "__init__.py").read_text(encoding="utf-8").splitlines():
        if line.startswith("__version__"):
            exec(line, space)
    return space["__version__"]


def build_wheel(folder: Path) -> Path:
    """Write the wheel of the modules that Blender's Python needs; returns its path."""
    number = version()
    info = f"{WHEEL_NAME}-{number}.dist-info"
    files = {
        f"atop_backend/{name}.py": (ROOT / "atop_backend" / f"{name}.py").read_bytes()
        for name in INSIDE_BLENDER
    }
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {WHEEL_NAME.replace('_', '-')}\nVersion: {number}\n"
        "Summary: The part of atop-backend that runs inside Blender\nLicense: Apache-2.0\n"
    ).encode()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: build_addon\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = folder / f"{WHEEL_NAME}-{number}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            wheel.writestr(entry, data)
    return path


def _digest(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"


def stage(folder: Path) -> Path:
    """Lay out the extension's sources with the wheel in place; returns their folder."""
    source = folder / "source"
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(ADDON, source, ignore=ignore)
    (source / "wheels").mkdir()
    wheel = build_wheel(source / "wheels")
    manifest = (ADDON / "blender_manifest.toml").read_text(encoding="utf-8")
    lines = []
    for line in manifest.splitlines():
        if line.startswith("wheels ="):
            line = f'wheels = ["./wheels/{wheel.name}"]'
        elif line.startswith("version ="):
            line = f'version = "{version()}"'
        lines.append(line)
    (source / "blender_manifest.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return source


def extension_tool(blender: str) -> list[str]:
    """The command of Blender's extension tool."""
    if blender:
        program = shutil.which(blender)
        if program is None:
            sys.exit(f"Blender was not found at {blender}: check --blender")
        return [program, "--factory-startup", "--command", "extension"]
    found = importlib.util.find_spec("bpy")
    if found is None or found.origin is None:
        sys.exit("this Python has no bpy: pip install 'bpy>=4.2,<5.1', or give --blender PROGRAM")
    pattern = "*/scripts/addons_core/bl_pkg/cli/blender_ext.py"
    return [sys.executable, str(next(Path(found.origin).parent.glob(pattern)))]


def run_tool(command: list[str]) -> None:
    """Run the extension tool; a failure or a warning ends the build."""
    done = subprocess.run(command, capture_output=True, text=True)
    said = done.stdout + done.stderr
    print(said.strip())
    if done.returncode != 0 or "warning" in said.lower():
        sys.exit(f"the extension tool is not content (exit code {done.returncode})")


def build(out: Path, blender: str = "") -> Path:
    """Build and validate the zip in `out`; returns its path."""
    out.mkdir(parents=True, exist_ok=True)
    tool = extension_tool(blender)
    with tempfile.TemporaryDirectory() as folder:
        source = stage(Path(folder))
        run_tool([*tool, "validate", str(source)])
        run_tool([*tool, "build", "--source-dir", str(source), "--output-dir", str(out)])
    path = out / f"atop_articulate-{version()}.zip"
    run_tool([*tool, "validate", str(path)])
    return path


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="default: dist/")
    parser.add_argument("--blender", default="", metavar="PROGRAM", help="default: the bpy module")
    options = parser.parse_args()
    print(build(options.out, options.blender))


if __name__ == "__main__":
    main()
