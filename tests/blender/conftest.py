"""A fresh empty file for each test, in a Python that has bpy; and dumps to compare files by."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp(prefix="atop-test-"))

_status = 0


def pytest_sessionfinish(session, exitstatus):
    """Remember how the tests went, for `pytest_unconfigure`."""
    global _status
    _status = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    """Leave at once: bpy 4.2 crashes at its end after a glTF import, whatever we do."""
    if "bpy" in sys.modules:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_status)


@pytest.fixture
def context():
    """Blender's context in an empty file."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.engine = "BLENDER_WORKBENCH"
    return bpy.context


@pytest.fixture
def addon(context, tmp_path, monkeypatch):
    """The add-on, registered, with the scripted backend as its Python; yields the context."""
    import bpy

    import blender_addon

    fake = Path(__file__).parents[1] / "addon" / "fake_backend.py"
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{fake}" "$@"\n')
    python.chmod(0o755)
    bpy.context.preferences.addons.new().module = "blender_addon"
    blender_addon.register()
    options = bpy.context.preferences.addons["blender_addon"].preferences
    options.python, options.cache = str(python), str(tmp_path / "jobs")
    yield bpy.context
    blender_addon.unregister()
    entry = bpy.context.preferences.addons["blender_addon"]
    bpy.context.preferences.addons.remove(entry)
