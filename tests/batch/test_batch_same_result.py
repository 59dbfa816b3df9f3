"""The batch against the button: same request and seed, same result to the last bit."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from needs import needs_blender, needs_torch
from toys import write_chest

from atop_backend.batch import command, pool
from atop_backend.contracts import JobRequest

ROOT = Path(__file__).parents[2]
FAST = ("generate.videos=false", "report.scene=false", "render.samples=1")


def same(first: Path, second: Path) -> None:
    """Two job folders hold the same answer and the same arrays."""
    ours, theirs = (json.loads((f / "result.json").read_text()) for f in (first, second))
    for document in (ours, theirs):
        del document["seconds"]
    assert ours == theirs
    for name in ("generate/clips.npz", "render/maps.npz", "render/shape.npz"):
        with np.load(first / name) as left, np.load(second / name) as right:
            assert sorted(left.files) == sorted(right.files)
            assert all(np.array_equal(left[key], right[key]) for key in left.files)


@pytest.mark.slow
@needs_blender
@needs_torch
def test_batch_workers_give_the_same_result_as_one_job(tmp_path):
    from atop_backend import stages

    asset = write_chest(tmp_path / "chest.obj")
    request = JobRequest(
        asset, ("lid",), "the lid opens", tmp_path / "single", preset="tiny", seed=3,
        overrides=FAST,
    )  # fmt: skip
    stages.articulate(request, lambda event: None)
    jobs = tmp_path / "jobs.toml"
    entry = '[[job]]\nasset = "chest.obj"\npart = "lid"\nprompt = "the lid opens"\n'
    jobs.write_text(entry + entry.replace("opens", "closes"))
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = [str(jobs), "--out", str(tmp_path / "out"), "--workers", "2"]
    options += ["--preset", "tiny", "--seed", "3"]
    for override in FAST:
        options += ["--set", override]

    command.run(parser.parse_args(options), lambda event: None)

    folders = [path.parent for path in (tmp_path / "out" / "jobs").rglob("result.json")]
    prompts = [json.loads((f / "request.json").read_text())["prompt"] for f in folders]
    assert sorted(prompts) == ["the lid closes", "the lid opens"]
    same(tmp_path / "single", folders[prompts.index("the lid opens")])


@pytest.mark.slow
@needs_blender
@needs_torch
def test_steps_in_other_processes_give_the_same_result_as_one_job(tmp_path):
    from atop_backend import stages
    from atop_backend.batch.steps import PRODUCT, publish, staging

    asset = write_chest(tmp_path / "chest.obj")
    request = JobRequest(
        asset, ("lid",), "the lid opens", tmp_path / "single", preset="tiny", overrides=FAST
    )
    stages.articulate(request, lambda event: None)
    final = JobRequest.from_dict(request.to_dict() | {"out": str(tmp_path / "out" / "job")})
    staged = staging(tmp_path, "0123") / "job"

    for step in PRODUCT:
        step(JobRequest.from_dict(final.to_dict() | {"out": str(staged)}))
    publish(staged, final)

    same(tmp_path / "single", final.out)
    assert json.loads((final.out / "request.json").read_text())["out"] == str(final.out)
    assert not staged.exists()


SCENE = """
import bpy, os, sys
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.obj_import(filepath=sys.argv[1])
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
os._exit(0)
"""
# Sums and a decomposition as the fit has them, on enough numbers for threads to share the work.
SUMS = """
import hashlib, sys
from atop_backend import cli
if sys.argv[1] == "cli":
    cli.main(["batch", "--out", "nowhere"])
import numpy as np
x = np.random.default_rng(0).standard_normal((40_000, 6))
parts = x[:, 0] @ x[:, 1], x.T @ x, np.linalg.svd(x, full_matrices=False)[1]
print(hashlib.sha256(b"".join(np.asarray(part).tobytes() for part in parts)).hexdigest())
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has one thread")
@pytest.mark.parametrize("process", ["cli", "worker"])
def test_sums_are_the_same_to_the_last_bit_on_any_number_of_cores(process, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    digests = set()
    for cores in (1, 2):
        environment = pool._environment(cores)
        if process == "cli":
            environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": str(cores)}
        finished = subprocess.run(
            [sys.executable, "-c", SUMS, process], env=environment, capture_output=True, text=True,
            timeout=120,
        )  # fmt: skip
        assert finished.returncode == 0, finished.stderr
        digests.add(finished.stdout.split()[-1])

    assert len(digests) == 1


# The add-on's own operator; only the network is made small here, which the panel does not offer.
BUTTON = """
import dataclasses, os, sys
import bpy
scene, cache, root, *overrides = sys.argv[1:]
sys.path.insert(0, root)
import blender_addon
bpy.ops.wm.open_mainfile(filepath=scene)
bpy.context.preferences.addons.new().module = "blender_addon"
blender_addon.register()
from blender_addon.ui import props
chosen = props.choices
props.choices = lambda *args: dataclasses.replace(
    chosen(*args), preset="tiny", overrides=tuple(overrides)
)
options = bpy.context.preferences.addons["blender_addon"].preferences
options.python, options.cache = sys.executable, cache
bpy.ops.object.select_all(action="DESELECT")
bpy.context.view_layer.objects.active = bpy.data.objects["lid"]
bpy.data.objects["lid"].select_set(True)
bpy.context.scene.atop.seed = 3
assert bpy.ops.atop.articulate(prompt="the lid opens") == {"FINISHED"}
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.slow
@needs_blender
@needs_torch
def test_a_batch_over_a_scene_gives_the_same_result_as_the_button(tmp_path):
    pytest.importorskip("bpy", reason="the add-on runs in this Python's Blender")
    environment = {
        **os.environ,
        "BLENDER_USER_RESOURCES": str(tmp_path / "blender"),
        "OMP_NUM_THREADS": str(os.cpu_count()),  # a worker has fewer
    }
    environment.pop("OPENBLAS_NUM_THREADS", None)

    def python(*arguments: object) -> None:
        finished = subprocess.run(
            [sys.executable, *map(str, arguments)], env=environment, capture_output=True,
            text=True, timeout=600,
        )  # fmt: skip
        assert finished.returncode == 0, finished.stdout[-2000:] + finished.stderr[-2000:]

    scene, cache = tmp_path / "scene.blend", tmp_path / "cache"
    python("-c", SCENE, write_chest(tmp_path / "chest.obj"), scene)
    python("-c", BUTTON, scene, cache, ROOT, *FAST)
    overrides = [word for override in FAST for word in ("--set", override)]
    python(
        ROOT / "scripts" / "batch_articulate.py", "--", "--blend", scene, "--match", "lid",
        "--prompt", "the lid opens", "--python", sys.executable, "--preset", "tiny", "--seed", 3,
        "--workers", 2, "--save-as", tmp_path / "done.blend", *overrides,
    )  # fmt: skip

    (button,) = cache.rglob("result.json")
    (batch,) = (tmp_path / "done_articulated" / "jobs").rglob("result.json")
    same(button.parent, batch.parent)
