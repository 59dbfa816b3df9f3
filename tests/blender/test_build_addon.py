"""The zip: built and validated by Blender's own tool, installed, used and removed again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

ROOT = Path(__file__).parents[2]
LIFE = """
import json, sys
import bpy

ID = "bl_ext.user_default.atop_articulate"
facts = {}
bpy.ops.extensions.package_install_files(
    filepath=sys.argv[1], repo="user_default", enable_on_install=True
)
addons = bpy.context.preferences.addons
facts["enabled"] = ID in addons
import atop_backend
facts["core"] = atop_backend.__file__
facts["modules"] = sorted(n for n in sys.modules if n.split(".")[0] in ("atop_backend", "torch"))
facts["scene"] = hasattr(bpy.types.Scene, "atop")
facts["panel"] = hasattr(bpy.types, "ATOP_PT_part")
addons[ID].preferences.time_limit_s = 77
import addon_utils
for _ in range(2):
    addon_utils.disable(ID, default_set=True)  # as the check box in the preferences does
    facts["disabled"] = not hasattr(bpy.types.Scene, "atop")
    facts["forgotten"] = ID not in addons
    addon_utils.enable(ID, default_set=True)
facts["again"] = hasattr(bpy.types.Scene, "atop")
facts["kept"] = addons[ID].preferences.time_limit_s
bpy.ops.extensions.package_install_files(
    filepath=sys.argv[1], repo="user_default", enable_on_install=True, overwrite=True
)
facts["updated"] = addons[ID].preferences.time_limit_s
from importlib import import_module
folder = import_module(ID + ".ui.preferences").cache_folder(bpy.context)
facts["cache"] = str(folder)
repositories = [r.module for r in bpy.context.preferences.extensions.repos]
bpy.ops.extensions.package_uninstall(
    repo_index=repositories.index("user_default"), pkg_id="atop_articulate"
)
facts["gone"] = ID not in addons and not hasattr(bpy.types.Scene, "atop")
open(sys.argv[2], "w").write(json.dumps(facts))
"""

READ_ONLY = """
import sys
sys.path[:0] = [sys.argv[1], f"{sys.argv[1]}/atop_articulate/{sys.argv[2]}"]
import bpy
bpy.context.preferences.addons.new().module = "atop_articulate"
import atop_articulate
atop_articulate.register()
bpy.context.preferences.addons["atop_articulate"].preferences.time_limit_s = 77
atop_articulate.unregister()
atop_articulate.register()
assert bpy.context.preferences.addons["atop_articulate"].preferences.time_limit_s == 77
atop_articulate.unregister()
print("it works", flush=True)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The built zip."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(ROOT / "scripts" / "build_addon.py"), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in (done.stdout + done.stderr).lower()
    return next(out.glob("*.zip"))


def test_the_zip_holds_the_addon_and_a_pure_python_wheel(package):
    with zipfile.ZipFile(package) as archive:
        names = archive.namelist()
    assert "blender_manifest.toml" in names
    (wheel,) = [name for name in names if name.endswith(".whl")]
    assert wheel.endswith("-py3-none-any.whl")
    assert not [name for name in names if "__pycache__" in name or "torch" in name]


def test_building_twice_gives_the_same_wheel(tmp_path):
    sys.path.insert(0, str(ROOT / "scripts"))
    import build_addon

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = (build_addon.build_wheel(tmp_path / name) for name in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_a_read_only_addon_folder_is_fine(package, tmp_path):
    """Installed by an administrator: nobody may write beside the code."""
    folder = tmp_path / "system" / "atop_articulate"
    with zipfile.ZipFile(package) as archive:
        archive.extractall(folder)
        (wheel,) = [name for name in archive.namelist() if name.endswith(".whl")]
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = sorted(str(path) for path in folder.rglob("*"))
    (tmp_path / "use.py").write_text(READ_ONLY)
    done = subprocess.run(
        [sys.executable, "-B", str(tmp_path / "use.py"), str(folder.parent), wheel],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "user")},
    )
    assert "it works" in done.stdout, done.stdout + done.stderr
    assert sorted(str(path) for path in folder.rglob("*")) == before
    for path in [folder, *folder.rglob("*")]:  # so that it can be removed again
        path.chmod(0o755)


def test_it_installs_enables_disables_and_uninstalls(package, tmp_path):
    (tmp_path / "life.py").write_text(LIFE)
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "life.py"), str(package), str(tmp_path / "facts.json")],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env=environment,
    )
    assert (tmp_path / "facts.json").is_file(), done.stdout + done.stderr
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert facts["enabled"]
    assert facts["scene"]
    assert facts["panel"]
    assert facts["disabled"]
    assert facts["forgotten"]
    assert facts["again"]
    assert (facts["kept"], facts["updated"]) == (77, 77)
    assert facts["gone"]
    assert str(tmp_path) in facts["core"]
    assert set(facts["modules"]) <= {
        "atop_backend",
        "atop_backend.contracts",
        "atop_backend.errors",
        "atop_backend.protocol",
        "atop_backend.prompt_amount",
    }
    assert str(tmp_path / "user") in facts["cache"]
    assert done.returncode == 0
