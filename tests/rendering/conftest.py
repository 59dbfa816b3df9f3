"""Toy assets made once by Blender, and views of them that are small, rough and quick."""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from atop_backend.rendering.process import PYTHON_VARIABLE
from atop_backend.rendering.views import RestViews, render_views

HERE = Path(__file__).parent
SIZE_PX = 96
ELEVATION_RAD = math.radians(20.0)


@pytest.fixture(scope="session")
def blender_python() -> str:
    """A Python that has bpy."""
    named = os.environ.get(PYTHON_VARIABLE)
    if named is None and importlib.util.find_spec("bpy") is None:
        pytest.skip(f"no bpy here; set {PYTHON_VARIABLE} to a Python that has it")
    return named or sys.executable


@pytest.fixture(scope="session")
def assets(blender_python, tmp_path_factory) -> Path:
    """A folder with everything that toy_assets.py writes."""
    folder = tmp_path_factory.mktemp("assets")
    command = [blender_python, str(HERE / "toy_assets.py"), str(folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return folder


@pytest.fixture
def look(blender_python, tmp_path):
    """Renders the parts of an asset, quickly."""

    def render(asset: Path, *parts: str, **settings) -> RestViews:
        defaults = {"elevation_rad": ELEVATION_RAD, "size_px": SIZE_PX, "samples": 1}
        return render_views(asset, parts, tmp_path / "job", **{**defaults, **settings})

    return render
