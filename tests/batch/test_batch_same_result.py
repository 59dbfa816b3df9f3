"""The batch against the button: same request and seed, same result to the last bit."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
from needs import needs_blender, needs_torch
from toys import write_chest

from atop_backend.batch import command
from atop_backend.contracts import JobRequest

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
