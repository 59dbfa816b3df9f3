"""Steps read and write plain files, can be repeated alone, and are a function of their request."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from needs import needs_blender, needs_torch
from toys import write_chest

from atop_backend import stages
from atop_backend.contracts import JobRequest, JointMotion
from atop_backend.errors import InputError
from atop_backend.geometry.joints import transform_points
from atop_backend.rendering import views

pytestmark = [needs_blender, needs_torch]


def quiet(event):
    """An emitter for those who do not listen."""


def request(out, **choices):
    wanted = {"parts": ("lid",), "prompt": "the lid opens", "preset": "tiny", "device": "cpu"}
    return JobRequest(asset=out.parent / "chest.obj", out=out, **{**wanted, **choices})


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """A job folder with the first step done."""
    folder = tmp_path_factory.mktemp("stages")
    write_chest(folder / "chest.obj")
    stages.start(request(folder / "job"), quiet)
    return folder / "job"


@pytest.fixture
def job(rendered, tmp_path):
    """A copy of it for one test."""
    shutil.copytree(rendered, tmp_path / "job")
    return tmp_path / "job"


def ideal_clip(job: Path, joint: JointMotion) -> None:
    """Put in the place of a generated clip what the part's own motion looks like."""
    seen = views.load_views(job)
    frames = np.array([1 / 3, 2 / 3, 1.0])
    blocks = (4, 32, 8, 32, 8)
    mask = seen.part_mask.reshape(blocks)
    count = mask.sum(axis=(2, 4))
    points = np.where(mask[..., None], seen.positions.reshape(*blocks, 3), 0).sum(axis=(2, 4))
    points = points / np.maximum(count, 1)[..., None]
    moved = [transform_points(joint, joint.upper * frame, points) - points for frame in frames]
    motions = np.where((count > 0)[:, None, ..., None], np.stack(moved, axis=1), 0)
    (job / "generate").mkdir()
    np.savez(
        job / "generate" / "clips.npz",
        motions=np.moveaxis(motions, -1, 2)[None],
        silhouettes=np.zeros((1, 4, 3, 32, 32)),
        frames=frames,
    )


def test_a_job_of_one_step_holds_its_settings_and_views(rendered):
    assert json.loads((rendered / "request.json").read_text())["prompt"] == "the lid opens"
    assert views.load_views(rendered).rgb.shape == (4, 256, 256, 3)
    assert "render took" in (rendered / "log.txt").read_text()
    assert not (rendered / "result.json").exists()


def test_the_same_seed_gives_the_same_clips_and_another_seed_others(job):
    clips = []
    for seed in (3, 3, 4):
        stages.repeat(job, "generate", quiet, seed=seed, overrides=["generate.videos=false"])
        with np.load(job / "generate" / "clips.npz") as data:
            clips.append(data["motions"])
    np.testing.assert_array_equal(clips[0], clips[1])
    assert not np.array_equal(clips[0], clips[2])


def test_settings_of_a_repeated_step_are_kept(job):
    stages.repeat(job, "generate", quiet, seed=5, overrides=["generate.videos=false"])
    kept = json.loads((job / "config.json").read_text())
    assert kept["seed"] == 5
    assert kept["config"]["generate"]["videos"] is False
    assert kept["config"]["generate"]["random_weights"] is True  # the preset's still


def test_an_ideal_clip_gives_the_true_joint_in_the_frame_of_the_file(job):
    shape = views.load_views(job).shape
    # in the file, Y up: the lid's rear lower edge at y 0.3, z -0.5, turning the front edge up
    truth = JointMotion("revolute", (-1.0, 0.0, 0.0), (0.0, 0.3, -0.5), 0.0, math.radians(80))
    from atop_backend.geometry.meshes import joint_to_normalised

    ideal_clip(job, joint_to_normalised(truth, shape))
    off = ["report.scene=false", "report.contact_sheet=false", "fit.silhouette_weight=0",
           "fit.collision_weight=0"]  # fmt: skip
    stages.repeat(job, "fit", quiet, overrides=off)
    result = stages.repeat(job, "report", quiet)
    joint = result.joint
    assert joint.kind == "revolute"
    assert np.dot(joint.axis, truth.axis) > math.cos(math.radians(1))
    offset = np.subtract(joint.origin, truth.origin)
    offset = offset - np.dot(offset, truth.axis) * np.asarray(truth.axis)
    assert np.linalg.norm(offset) < 0.02
    assert joint.upper == pytest.approx(truth.upper, abs=math.radians(3))
    assert "top edge" in result.best.sentence or "back edge" in result.best.sentence


def test_a_fit_from_a_rough_axis_uses_the_videos_of_an_earlier_job(job, tmp_path):
    from atop_backend.geometry.meshes import joint_to_normalised

    truth = JointMotion("revolute", (-1.0, 0.0, 0.0), (0.0, 0.3, -0.5), 0.0, math.radians(80))
    ideal_clip(job, joint_to_normalised(truth, views.load_views(job).shape))
    rough = JointMotion("revolute", (-0.995, 0.0995, 0.0), (0.0, 0.33, -0.45), 0.0, 0.2)
    off = ("report.scene=false", "report.contact_sheet=false", "fit.silhouette_weight=0")
    asked = request(tmp_path / "refit", initial=rough, earlier=job, overrides=off)
    result = stages.articulate(asked, quiet)  # its asset is not there: nothing is rendered
    assert np.dot(result.joint.axis, truth.axis) > math.cos(math.radians(1))
    assert result.joint.origin[1:] == pytest.approx(truth.origin[1:], abs=0.02)
    assert set(result.seconds) == {"fit", "report"}
    assert (tmp_path / "refit" / "generate" / "clips.npz").is_file()


def test_videos_that_have_been_cleared_are_missed_by_name(tmp_path):
    write_chest(tmp_path / "chest.obj")
    asked = request(tmp_path / "refit", earlier=tmp_path / "gone")
    with pytest.raises(InputError, match="gone has no folder 'render'"):
        stages.articulate(asked, quiet)
    assert not (tmp_path / "refit").exists()


@pytest.mark.parametrize(
    ("choices", "degrees"),
    [({"amount": 0.5}, math.degrees(0.5)), ({"prompt": "the lid opens by 40 degrees"}, 40)],
)
def test_an_amount_that_is_asked_for_is_the_range(job, choices, degrees):
    shape = views.load_views(job).shape
    joint = JointMotion("revolute", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 1.5)
    asked = stages.as_asked(joint, request(job, **choices), shape)
    assert math.degrees(asked.upper) == pytest.approx(degrees)


@pytest.mark.parametrize("guidance", ["sampled", "sds", "x0"])
def test_gaussians_that_follow_the_prior_give_an_answer_too(job, guidance):
    asked = json.loads((job / "request.json").read_text())
    (job / "request.json").write_text(json.dumps({**asked, "guidance": guidance}))
    few = ["generate.videos=false", "fit.points=64", "fit.optimise_steps=2", "fit.gaussians=true"]
    stages.repeat(job, "generate", quiet, overrides=few)
    stages.repeat(job, "fit", quiet)
    candidates = json.loads((job / "fit" / "candidates.json").read_text())
    assert candidates
    assert all(0 <= entry["confidence"] <= 1 for entry in candidates)


def test_weights_of_imagedream_take_the_place_of_the_bundled_ones(job, tmp_path):
    import sys

    sys.path.insert(0, str(Path(__file__).parent / "diffusion"))
    from imagedream_twin import write_folder

    asked = json.loads((job / "request.json").read_text())
    weights = str(write_folder(tmp_path / "imagedream"))
    asked |= {"preset": "imagedream", "weights": weights}
    (job / "request.json").write_text(json.dumps(asked))
    few = ["generate.steps=2", "generate.frames=[0.5, 1]", "fit.points=64", "fit.optimise_steps=2"]
    stages.repeat(job, "generate", quiet, overrides=few)
    with np.load(job / "generate" / "clips.npz") as data:
        assert data["latents"].shape == (1, 4, 2, 4, 32, 32)
        assert "motions" not in data
    assert (job / "generate" / "view_3.mp4").is_file()
    stages.repeat(job, "fit", quiet)
    assert json.loads((job / "fit" / "candidates.json").read_text())


def test_the_imagedream_preset_without_weights_says_what_to_give(job):
    asked = json.loads((job / "request.json").read_text())
    (job / "request.json").write_text(json.dumps({**asked, "preset": "imagedream"}))
    with pytest.raises(InputError, match="--weights"):
        stages.repeat(job, "generate", quiet, overrides=["generate.steps=1"])
