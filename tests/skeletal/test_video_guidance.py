"""Motion from words: CogVideoX as a judge, and what its judgement does to a body."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil

import numpy as np
import pytest
import torch

pytest.importorskip("diffusers")

from cogvideox_twin import FRAMES, HEIGHT, WIDTH, write_twin
from test_follow_video import run_atop
from tiny_rig import write_bar

from atop_backend.config import AnimateConfig
from atop_backend.diffusion.cogvideox import CogVideoX
from atop_backend.diffusion.schedule import Estimate
from atop_backend.errors import InputError
from atop_backend.geometry.rigs import normalise
from atop_backend.protocol import Finished
from atop_backend.skeletal import distil, parameters
from atop_backend.skeletal.gltf_rig import read_gltf_rig
from atop_backend.skeletal.kinematics import rest_to_posed, skin
from atop_backend.skeletal.rotations import vectors_to_matrices
from atop_backend.skeletal.surface import bind_gaussians
from atop_backend.skeletal.words import Judge

CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=[True, False], ids=["velocity", "noise"])
def twin(request, tmp_path_factory):
    folder = write_twin(tmp_path_factory.mktemp("twin"), velocity=request.param)
    return folder, CogVideoX.load(folder, CPU)


def test_the_twin_is_read_as_what_it_is(twin):
    folder, model = twin
    assert model.prediction == ("v" if "rotary" in _config(folder) else "epsilon")
    assert model.picture_size == (HEIGHT, WIDTH)
    assert [model.frames_for(wanted) for wanted in (2, 5, 12, 49)] == [5, 5, 13, 49]


def _config(folder) -> str:
    config = json.loads((folder / "transformer" / "config.json").read_text())
    return "rotary" if config["use_rotary_positional_embeddings"] else ""


def test_gradients_reach_the_pixels_and_no_weight(twin):
    _, model = twin
    generator = torch.Generator().manual_seed(0)
    pictures = torch.rand(FRAMES, 3, HEIGHT, WIDTH, generator=generator).requires_grad_()
    latents = model.encode(pictures)
    assert latents.shape == (1, 2, 4, HEIGHT // 4, WIDTH // 4)
    latents.square().sum().backward()
    assert pictures.grad is not None
    assert float(pictures.grad.abs().amin(dim=(1, 2, 3)).max()) >= 0
    assert float(pictures.grad.abs().amax(dim=(1, 2, 3)).min()) > 0  # every frame matters
    assert all(weight.grad is None for weight in model.vae.parameters())


def test_something_of_the_signal_is_left_at_every_time(twin):
    _, model = twin
    for time in (0.02, 0.5, 0.98, 1.0):
        _, alpha, sigma = model.levels(time)
        assert alpha > 1e-3
        assert alpha**2 + sigma**2 == pytest.approx(1)


def test_the_estimate_agrees_with_its_own_noisy_latents_and_hears_the_words(twin):
    _, model = twin
    words = model.read("it bends")
    noisy = torch.randn(1, 2, 4, HEIGHT // 4, WIDTH // 4,
                        generator=torch.Generator().manual_seed(1))  # fmt: skip
    _, alpha, sigma = model.levels(0.4)
    plain = model.estimate(words, 0.4, 1.0)(noisy)
    torch.testing.assert_close(alpha * plain.signal + sigma * plain.noise, noisy)
    guided = model.estimate(words, 0.4, 9.0)(noisy)
    torch.testing.assert_close(
        alpha * guided.signal + sigma * guided.noise, noisy, atol=1e-4, rtol=1e-4
    )
    assert float((guided.signal - plain.signal).abs().max()) > 1e-5


def test_a_folder_with_something_missing_is_refused(twin, tmp_path):
    folder, _ = twin
    shutil.copytree(folder, tmp_path / "part", dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "part" / "vae")
    with pytest.raises(InputError, match="has no vae"):
        CogVideoX.load(tmp_path / "part", CPU)
    (tmp_path / "part" / "vae").mkdir()
    with pytest.raises(InputError, match="cannot be loaded"):
        CogVideoX.load(tmp_path / "part", CPU)


class Painter:
    """A stand-in for the model whose latents are pixels, and who knows the video it wants."""

    picture_size = (24, 32)

    def __init__(self) -> None:
        self.wanted = torch.zeros(())

    def encode(self, pictures):
        return pictures[None]

    def levels(self, time):
        return 500, math.sqrt(0.5), math.sqrt(0.5)

    def estimate(self, words, time, scale):
        return lambda noisy: Estimate(self.wanted, (noisy - math.sqrt(0.5) * self.wanted)
                                      / math.sqrt(0.5))  # fmt: skip


@pytest.mark.parametrize("distillation", ["x0", "sds"])
def test_a_body_moves_as_the_model_wants_to_see_it(tmp_path, distillation):
    rig, _ = normalise(read_gltf_rig(write_bar(tmp_path / "bar.glb")).rig)
    settings = dataclasses.replace(
        AnimateConfig(), points=80, words_weight=100.0, words_px=32, distillation=distillation,
        azimuth_deg=0.0, follow=False, smooth_weight=0.0, rest_weight=0.0,
    )  # fmt: skip
    surface = bind_gaussians(rig, settings.points, np.random.default_rng(0))
    painter, generator = Painter(), torch.Generator().manual_seed(0)
    judge = Judge(painter, None, surface, rig, settings, generator)  # type: ignore[arg-type]
    body, basis = parameters.body_of(rig), torch.eye(5)
    rest = torch.as_tensor(rig.rest[1, :3, :3], dtype=torch.float32)
    bend = torch.linspace(0, 0.8, 5)[:, None] * torch.tensor([0.0, 1.0, 0.0]) @ rest
    known = parameters.at_rest(body, 5)._replace(bones=bend[:, None])

    def tips(variables: parameters.Variables) -> torch.Tensor:
        pose = parameters.pose(body, variables, basis)
        points = skin(rest_to_posed(body.skeleton, pose), surface.bound)
        return points[:, surface.rest[:, 2] > 1.4].mean(dim=1)

    pose = parameters.pose(body, known, basis)
    points = skin(rest_to_posed(body.skeleton, pose), surface.bound)
    painter.wanted = judge.pictures(points, torch.zeros(5, 3)).detach()[None]
    motion = distil.distil(rig, surface, judge, torch.linspace(0, 1, 5),
                           (distil.Plan(0, 80, True, 0.04),), settings)  # fmt: skip
    start = (tips(parameters.at_rest(body, 5)) - tips(known)).norm(dim=1)[-1]
    end = (tips(motion.variables) - tips(known)).norm(dim=1)[-1]
    assert float(end) < 0.4 * float(start)
    assert torch.isfinite(vectors_to_matrices(motion.variables.bones)).all()


def test_the_command_distils_a_prompt_from_weights(tmp_path):
    rigged = write_bar(tmp_path / "bar.glb")
    twin = write_twin(tmp_path / "twin")
    out = tmp_path / "job"
    settings = ["points=60", "words_steps=3", "words_px=24", "scene=false"]
    code, events = run_atop(
        str(rigged), "--prompt", "it bends", "--weights", str(twin), "--frames", "6", "--out",
        str(out), "--device", "cpu",
        *(word for setting in settings for word in ("--set", f"animate.{setting}")),
    )  # fmt: skip
    assert code == 0
    assert isinstance(events[-1], Finished)
    result = json.loads((out / "result.json").read_text())
    assert result["guidance"] == "cogvideox"
    assert result["model"] == "CogVideoX in twin"
    motion = json.loads((out / "motion.json").read_text())
    assert motion["frame_count"] == 5
    assert np.abs(np.diff(motion["root"]["translations"], axis=0)).max() > 0
