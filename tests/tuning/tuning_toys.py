"""The cabinet of the export tests, and what reading it back needs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "export"))

from export_toys import cabinet, cabinet_model, moved

PACKAGES = ("mujoco", "pxr", "pygltflib", "torch")
needs_readers = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in PACKAGES),
    reason=f"needs {', '.join(PACKAGES)}",
)
__all__ = ["cabinet", "cabinet_model", "moved", "needs_readers"]
