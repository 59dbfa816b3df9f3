"""What needs an optional package names it where it is absent, and the extra that brings it."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
from needs import needs_torch

from atop_backend.errors import SetupError

ROOT = Path(__file__).parents[1]


def read_mjcf(folder):
    from atop_backend.tuning.mjcf import read_mjcf

    read_mjcf(folder / "a.xml", folder)


def read_usd(folder):
    from atop_backend.tuning.usd import read_usd

    read_usd(folder / "a.usda", folder)


def write_usd(folder):
    from atop_backend.export.usd import write_usd

    write_usd(None, folder)


def write_gltf(folder):
    from atop_backend.export.gltf import write_gltf

    write_gltf(None, folder)


def read_rig(folder):
    from atop_backend.skeletal.gltf_data import GltfData

    GltfData(folder / "rig.glb")


def measure(folder):
    from atop_backend.metrics.measure import Files, measure

    measure(folder, folder, {}, Files())


def train_together(folder):
    from atop_backend.diffusion.processes import Processes

    Processes("cpu")


def use_ray(folder):
    from atop_backend.batch.ray_engine import _import_ray

    _import_ray()


def track_with_weight(folder):
    from atop_backend.skeletal.physics import require_mujoco

    require_mujoco()


@needs_torch
@pytest.mark.parametrize(
    ("use", "module", "package"),
    [
        (read_mjcf, "mujoco", "mujoco"),
        (read_usd, "pxr", "usd-core"),
        (write_usd, "pxr", "usd-core"),
        (write_gltf, "pygltflib", "pygltflib"),
        (read_rig, "pygltflib", "pygltflib"),
        (measure, "torchmetrics", "torchmetrics"),
        (train_together, "accelerate", "accelerate"),
        (use_ray, "ray", "ray"),
        (track_with_weight, "mujoco", "mujoco"),
    ],
)
def test_an_absent_package_is_named_with_the_extra_that_brings_it(
    tmp_path, monkeypatch, use, module, package
):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(SetupError, match=rf"needs? the package {package}:") as caught:
        use(tmp_path)
    extra = re.search(r"pip install 'atop-backend\[(\w+)\]'", caught.value.hint)
    assert extra is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    brought = project["optional-dependencies"][extra[1]]
    assert any(re.match(rf"{package}\b", needed) for needed in brought)
