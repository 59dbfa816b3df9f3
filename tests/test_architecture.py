"""Imports point one way, and heavy libraries stay where they belong."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BACKEND = ROOT / "atop_backend"
ADDON = ROOT / "blender_addon"
SOURCES = sorted(
    path for folder in (BACKEND, ADDON) for path in folder.rglob("*.py") if path.is_file()
)

# The layer of each sub-package or module of the backend; a module imports its own layer or lower.
LAYERS = {
    "contracts": 0,
    "protocol": 0,
    "errors": 0,
    "config": 0,
    "prompt_amount": 0,
    "prompt_motion": 0,
    "geometry": 1,
    "gaussians": 3,
    "synthetic": 2,
    "diffusion": 3,
    "motion": 4,
    "rendering": 4,
    "preview": 4,
    "compositing": 4,
    "export": 4,
    "sentences": 4,
    "training": 4,
    "reporting": 5,
    "jobfolder": 5,
    "doctor": 5,
    "report": 6,
    "tuning": 6,
    "metrics": 6,
    "stages": 7,
    "skeletal": 8,
    "creatures": 9,
    "batch": 8,
    "cli": 9,
    "__main__": 10,
}
HEAVY = {
    "torch": (
        "creatures/",
        "skeletal/",
        "gaussians/",
        "diffusion/",
        "motion/",
        "synthetic/",
        "training/",
        "metrics/",
        "geometry/with_pytorch3d",
    ),
    "pytorch3d": ("geometry/with_pytorch3d",),
    "diffusers": ("diffusion/",),
    "transformers": ("diffusion/", "metrics/"),
    "trimesh": ("geometry/", "export/", "tuning/"),
    "bpy": ("rendering/blender_", "rendering/child.py"),
    "mathutils": ("rendering/blender_",),
    "ray": ("batch/",),
}
ADDON_MAY_USE = {"contracts", "protocol", "errors", "prompt_amount"}
STANDARD_ONLY = ("contracts", "protocol", "errors", "prompt_amount", "prompt_motion", "config")


def imports(path: Path) -> Iterator[str]:
    """Dotted names of all that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def unit(dotted: str) -> str | None:
    """The sub-package or module of the backend that a dotted name lies in."""
    parts = dotted.split(".")
    if parts[0] != "atop_backend" or len(parts) < 2:
        return None
    known = (BACKEND / parts[1]).is_dir() or (BACKEND / f"{parts[1]}.py").is_file()
    return parts[1] if known else None


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", sorted(BACKEND.rglob("*.py")), ids=name)
def test_a_backend_module_imports_only_its_own_layer_or_lower(path):
    own = path.relative_to(BACKEND).parts[0].removesuffix(".py")
    if own == "__init__":
        return
    for used in filter(None, map(unit, imports(path))):
        assert LAYERS[used] <= LAYERS[own], f"{own} must not import {used}"


@pytest.mark.parametrize("path", sorted(BACKEND.rglob("*.py")), ids=name)
def test_a_heavy_library_is_imported_only_where_it_belongs(path):
    place = path.relative_to(BACKEND).as_posix()
    for used in imports(path):
        allowed = HEAVY.get(used.split(".")[0])
        assert allowed is None or place.startswith(allowed), f"{place} must not import {used}"


def test_generated_objects_are_not_used_when_the_product_runs():
    for path in sorted(BACKEND.rglob("*.py")):
        place = path.relative_to(BACKEND).as_posix()
        if not place.startswith(("synthetic/", "creatures/", "training/", "tuning/generated.py")):
            assert not {"synthetic", "creatures"} & set(map(unit, imports(path))), place


@pytest.mark.parametrize("module", STANDARD_ONLY)
def test_what_blender_imports_needs_the_standard_library_alone(module):
    import sys

    path = BACKEND / f"{module}.py"
    for used in imports(path) if path.is_file() else ():
        root = used.split(".")[0]
        assert root in sys.stdlib_module_names or unit(used) in STANDARD_ONLY, used


@pytest.mark.parametrize("path", sorted(ADDON.rglob("*.py")), ids=name)
def test_the_addon_uses_only_the_standard_library_part_of_the_backend(path):
    for used in filter(None, map(unit, imports(path))):
        assert used in ADDON_MAY_USE, f"{name(path)} must not import {used}"


@pytest.mark.parametrize("path", sorted((ADDON / "core").rglob("*.py")), ids=name)
def test_the_addon_core_never_hears_of_blender(path):
    assert "bpy" not in {used.split(".")[0] for used in imports(path)}


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_a_module_stays_short_enough_to_read(path):
    longest = 450 if path.parent.name == "synthetic" else 400  # a kind of object reads alone
    assert len(path.read_text(encoding="utf-8").splitlines()) <= longest


def test_no_two_test_files_share_a_name():
    """pytest imports them by name alone."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert len(names) == len(set(names))
