"""Along words with the bundled prior: the bones follow a field of motion, and the body travels."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from tiny_rig import write_bar

from atop_backend.config import AnimateConfig
from atop_backend.contracts import AnimateRequest
from atop_backend.creatures.generate import creature, rig_of
from atop_backend.diffusion import bundled
from atop_backend.diffusion.autoencoder import Autoencoder
from atop_backend.diffusion.transformer import TINY_RIG, MultiViewVideoTransformer
from atop_backend.errors import InputError
from atop_backend.geometry.rigs import Rig, normalise
from atop_backend.skeletal import parameters, prior, run
from atop_backend.skeletal.figures import figures
from atop_backend.skeletal.kinematics import rest_to_posed, skeleton_of, skin
from atop_backend.skeletal.restviews import patch_motions, rest_views

WALKER = 3


@pytest.fixture(scope="module")
def walk() -> tuple[Rig, prior.Field]:
    """A generated figure and the field that a perfect prior would see when it walks."""
    performer = creature(WALKER, "biped", acts=40)
    act = next(act for act in performer.performances if act.act == 0)
    rig, _ = normalise(rig_of(performer.creature))
    order = [performer.creature.bones.index(name) for name in rig.bones]
    views = rest_views(rig)
    matrices = torch.as_tensor(act.matrices[:, order], dtype=torch.float32)
    return rig, prior.field_of(views, patch_motions(matrices, views.bound))


def fitted(rig: Rig, field: prior.Field, times: torch.Tensor):
    settings = AnimateConfig(field_steps=120)
    motion = prior.fit_field(rig, field, settings, prior.goes_round(field.motions))
    return motion.pose(parameters.body_of(rig), times)


def test_bones_follow_a_field_of_motion(walk):
    rig, field = walk
    pose = fitted(rig, field, torch.tensor(prior.PRIOR_SHARES))
    moved = skin(rest_to_posed(skeleton_of(rig), pose), field.bound)
    error = (moved - field.rest - field.motions).norm(dim=-1).mean()
    assert error < 0.05 * field.motions.norm(dim=-1).mean()


def test_a_gait_on_the_spot_becomes_one_that_gets_along_with_feet_that_stay(walk):
    rig, field = walk
    assert prior.goes_round(field.motions)
    pose = fitted(rig, field, torch.linspace(0, 1, 24))
    travelled = prior.travelling(rig, pose)
    before, after = (figures(rig, each, 24.0, 1.0) for each in (pose, travelled))
    assert after["foot_slide_m_s"] < 0.4 * before["foot_slide_m_s"]
    way = travelled.root_shifts[-1, :2] - travelled.root_shifts[0, :2]
    assert way.norm() > 0.1
    torch.testing.assert_close(travelled.rotations, pose.rotations)


def test_what_stands_still_does_not_travel(walk):
    rig, field = walk
    still = field._replace(motions=torch.zeros_like(field.motions))
    pose = prior.travelling(rig, fitted(rig, still, torch.linspace(0, 1, 8)))
    assert pose.root_shifts.abs().max() < 1e-3


def test_a_motion_that_ends_elsewhere_does_not_go_round(walk):
    _, field = walk
    drift = torch.linspace(0, 1, len(field.motions))[:, None, None].expand_as(field.motions)
    assert not prior.goes_round(drift)


def test_the_bundled_prior_loads_and_has_the_autoencoder_that_it_was_trained_with():
    model = bundled.load(name="rig")
    assert model.denoiser.channels == 3
    assert model.facts["autoencoder_sha256"] == bundled.autoencoder_sha256()


@pytest.fixture
def random_prior(monkeypatch):
    torch.manual_seed(0)
    model = MultiViewVideoTransformer(TINY_RIG)
    torch.nn.init.normal_(model.write_latents.weight, std=0.1)
    made = bundled.BundledModel(model.eval(), Autoencoder(8, 16).eval(), {"name": "random"})
    monkeypatch.setattr(bundled, "load", lambda name: made)


def request(tmp_path, **given) -> AnimateRequest:
    overrides = ("animate.prior_steps=2", "animate.field_steps=4", "animate.root_steps=2",
                 "animate.scene=false")  # fmt: skip
    given = {"prompt": "the bar bends forward", "overrides": overrides, "frames": 6} | given
    tmp_path.mkdir(exist_ok=True)
    return AnimateRequest(write_bar(tmp_path / "bar.glb"), out=tmp_path / "job", **given)


def test_a_prompt_alone_gives_a_whole_job(tmp_path, random_prior):
    events = []
    result = run.animate(request(tmp_path), events.append)
    assert result["guidance"] == "prior"
    assert result["model"] == "random"
    motion = json.loads((tmp_path / "job" / "motion.json").read_text())
    assert motion["frame_count"] == 6
    assert all((tmp_path / "job" / file).stat().st_size for file in result["files"].values())
    again = run.animate(request(tmp_path / "again"), events.append)
    assert again["figures"] == pytest.approx(result["figures"], rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("way", ["x0", "sds"])
def test_the_prior_guides_by_distillation_too(tmp_path, random_prior, way):
    asked = request(tmp_path)
    more = (f"animate.prior_guidance={way}", "animate.words_steps=2")
    result = run.animate(replace(asked, overrides=(*asked.overrides, *more)), lambda event: None)
    assert result["figures"]["motion_m_s"] > 0


def test_a_cyclic_motion_ends_where_it_begins(tmp_path, random_prior):
    run.animate(request(tmp_path, cyclic=True), lambda event: None)
    motion = json.loads((tmp_path / "job" / "motion.json").read_text())
    for first, last in (motion["rotations"][::5], motion["root"]["rotations"][::5]):
        torch.testing.assert_close(torch.tensor(first), torch.tensor(last), atol=1e-5, rtol=0)


def test_the_prior_wants_words(tmp_path):
    video = tmp_path / "video.mp4"
    video.touch()
    asked = request(tmp_path, prompt="", videos=(video,), guidance="prior")
    with pytest.raises(InputError, match="prompt is empty"):
        run.animate(asked, lambda event: None)
