"""`atop finetune` as people call it, and what comes of it."""

from __future__ import annotations

import argparse
import errno
import json

import numpy as np
import pytest

pytest.importorskip("torch")

from atop_backend.diffusion import bundled, finetune
from atop_backend.diffusion.clip_folders import TrainingClip, write_clip
from atop_backend.errors import InputError, SetupError
from atop_backend.geometry.cameras import rig
from atop_backend.protocol import Artifact, Finished, Progress
from atop_backend.tuning import finetune_command


def write_clips(folder, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        clip = TrainingClip(
            prompt="open the lid",
            frames=np.array([0.5, 1.0]),
            cameras=rig(0.3),
            rgb=rng.integers(0, 255, (4, 3, 256, 256, 3), dtype=np.uint8),
            mask=np.ones((4, 256, 256), bool),
            part_centre=np.zeros(3),
            part_radius=0.5,
            positions=rng.normal(size=(4, 256, 256, 3)),
            silhouettes=rng.random((4, 2, 32, 32)),
            motions=rng.random((4, 2, 3, 32, 32)),
        )
        write_clip(folder / f"lid_{seed}", clip)
    return folder


def run(*arguments):
    parser = argparse.ArgumentParser()
    finetune_command.add_arguments(parser)
    events = []
    code = finetune_command.run(parser.parse_args([*map(str, arguments)]), events.append)
    return code, events


@pytest.fixture
def tiny(monkeypatch):
    """A small network in place of the bundled one."""
    monkeypatch.setattr(bundled, "load", lambda: bundled.random_model(0))


def test_the_command_trains_and_names_what_it_wrote(tmp_path, tiny):
    clips = write_clips(tmp_path / "clips", [0, 1])
    held_out = write_clips(tmp_path / "held", [2])
    out = tmp_path / "out"
    code, events = run("--clips", clips, "--held-out", held_out, "--out", out, "--steps", 2,
                       "--check-every", 1, "--batch", 2, "--device", "cpu")  # fmt: skip
    assert code == 0
    steps = [event.step for event in events if isinstance(event, Progress)]
    assert steps == [0, 1, 2]
    assert Artifact("weights", str(out / "finetuned.safetensors")) in events
    assert isinstance(events[-1], Finished)
    kept = json.loads((out / "config.json").read_text())
    assert (kept["base"], kept["batch"], kept["steps"]) == ("mini", 2, 2)
    assert "| kept, step" in (out / "README.md").read_text()


def test_what_was_finetuned_is_used_by_the_same_name_and_no_other_network(tmp_path, tiny):
    from atop_backend.config import resolve
    from atop_backend.diffusion.generate import load_prior

    clips = write_clips(tmp_path / "clips", [0])
    run(clips, "--out", tmp_path / "lids", "--steps", 1, "--device", "cpu",
        "--learning-rate", 0.01)  # fmt: skip
    settings = resolve("default").generate
    load_prior.cache_clear()
    plain = load_prior(settings, 0, "cpu").denoiser.state_dict()
    tuned = load_prior(settings, 0, "cpu", None, tmp_path / "lids")
    load_prior.cache_clear()
    assert tuned.name == "random, finetuned in lids"
    changed = {name for name, value in tuned.denoiser.state_dict().items()
               if not (value == plain[name]).all()}  # fmt: skip
    assert changed
    assert all(name.startswith("blocks.") for name in changed)


def test_settings_follow_the_base_and_options_come_before_them(tmp_path, monkeypatch):
    clips = write_clips(tmp_path / "clips", [0])
    asked = []
    monkeypatch.setattr(finetune, "finetune", lambda config, _: asked.append(config) or tmp_path)
    run(clips, "--out", tmp_path / "o", "--base", "imagedream", "--weights", tmp_path)
    assert (asked[0].learning_rate, asked[0].trained) == (3e-5, "paper_code")
    run(clips, "--out", tmp_path / "o", "--settings", "paper", "--weights", tmp_path,
        "--precision", "fp16", "--steps", 7)  # fmt: skip
    assert (asked[1].learning_rate, asked[1].precision, asked[1].steps) == (5e-4, "fp16", 7)
    assert asked[1].checkpointing
    with pytest.raises(InputError, match="settings paper are for imagedream, not for mini"):
        run(clips, "--out", tmp_path / "o", "--settings", "paper", "--base", "mini")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "no folder of clips was given"),
        (("CLIPS", "--clips", "CLIPS"), "or two"),
        (("CLIPS/gone",), "gone is no folder"),
        (("CLIPS", "--held-out", "CLIPS/gone"), "gone is no folder"),
        (("CLIPS", "--steps", "0"), "steps is 0"),
        (("CLIPS", "--base", "imagedream"), "needs its weights"),
    ],
)
def test_what_cannot_be_run_is_refused(tmp_path, arguments, reason):
    clips = write_clips(tmp_path / "clips", [0])
    given = [word.replace("CLIPS", str(clips)) for word in arguments]
    with pytest.raises(InputError, match=reason):
        run(*given, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_said_with_the_folder(tmp_path, tiny, monkeypatch):
    clips = write_clips(tmp_path / "clips", [0])

    def fill(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(finetune, "write_weights", fill)
    with pytest.raises(SetupError, match=r"disk that holds .*out is full"):
        run(clips, "--out", tmp_path / "out", "--steps", 1, "--device", "cpu")


def test_other_processes_of_a_run_stay_silent(tmp_path, tiny, monkeypatch, capsys):
    monkeypatch.setenv("RANK", "1")
    code, events = run(tmp_path / "gone", "--out", tmp_path / "out")
    assert code == InputError.exit_code
    assert not events
    assert "process 1" in capsys.readouterr().err


def test_memory_that_runs_out_while_loading_says_what_to_change(tmp_path, monkeypatch):
    clips = write_clips(tmp_path / "clips", [0])

    def starve(*_):
        raise RuntimeError("CUDA error: out of memory")

    monkeypatch.setattr(finetune, "load_base", starve)
    with pytest.raises(SetupError, match=r"GPU is out of memory: take --checkpointing"):
        run(clips, "--out", tmp_path / "out", "--device", "cpu")
