"""What a test needs to run, found without loading it."""

from __future__ import annotations

import importlib.util
import os

import pytest

needs_blender = pytest.mark.skipif(
    importlib.util.find_spec("bpy") is None and "ATOP_BLENDER_PYTHON" not in os.environ,
    reason="needs the bpy module, here or in the Python that ATOP_BLENDER_PYTHON names",
)
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
