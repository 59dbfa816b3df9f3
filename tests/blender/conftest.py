"""A fresh empty file for each test, in a Python that has bpy; and dumps to compare files by."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp(prefix="atop-test-"))


@pytest.fixture
def context():
    """Blender's context in an empty file."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.engine = "BLENDER_WORKBENCH"
    return bpy.context
