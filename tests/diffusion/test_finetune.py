"""Finetuning of both networks on tiny clips: what learns, what stays, and going on after a stop."""

import json

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from atop_backend.diffusion import bundled
from atop_backend.diffusion.checkpoints import finetuned_file, load_over
from atop_backend.diffusion.clip_folders import TrainingClip, clip_paths, read_clip, write_clip
from atop_backend.diffusion.finetune import (
    SETTINGS,
    Base,
    FinetuneConfig,
    finetune_base,
    trained_parameters,
)
from atop_backend.diffusion.unet import TINY, MultiViewVideoUNet
from atop_backend.errors import CancelledError, InputError
from atop_backend.geometry.cameras import rig


def clip(seed=0, frames=2):
    rng = np.random.default_rng(seed)
    shades = rng.integers(0, 255, (4, frames + 1, 1, 1, 3), dtype=np.uint8)
    mask = np.zeros((4, 256, 256), bool)
    mask[:, 64:128, 64:160] = True
    motions = np.zeros((4, frames, 3, 32, 32))
    motions[:, :, 2, 8:16, 8:20] = np.arange(1, frames + 1)[None, :, None, None] * 0.2
    return TrainingClip(
        prompt="open the lid",
        frames=np.arange(1, frames + 1) / frames,
        cameras=rig(0.3),
        rgb=shades.repeat(256, 2).repeat(256, 3),
        mask=mask,
        part_centre=np.array([0.0, 0.1, 0.2]),
        part_radius=0.5,
        positions=rng.normal(size=(4, 256, 256, 3)),
        silhouettes=rng.random((4, frames, 32, 32)),
        motions=motions,
    )


def mini():
    model = bundled.random_model(0)
    words = torch.randn(1, 5, 384, generator=torch.Generator().manual_seed(0))
    return Base(model.denoiser, model.denoiser, model.autoencoder.encode, lambda _: words)


def imagedream():
    torch.manual_seed(0)
    unet = MultiViewVideoUNet(TINY)
    words = torch.randn(1, 5, TINY.context_dim)

    class Told(torch.nn.Module):
        prediction, channels = "epsilon", 4

        def denoise(self, latents, timestep, told):
            tokens = torch.zeros(*told.rgb.shape[:2], TINY.ip_dim, TINY.context_dim)
            rest = (told.cameras, told.mask, told.frames, told.rest_latents)
            return unet(latents, timestep, told.text, tokens, *rest)

    def encode(rgb):
        shrunk = torch.nn.functional.avg_pool2d(rgb, 32)
        return torch.cat([shrunk, shrunk[:, :1]], dim=1)

    return Base(Told(), unet, encode, lambda _: words)


def settings(tmp_path, **changes):
    values = {
        "clips": tmp_path,
        "out": tmp_path / "out",
        "steps": 6,
        "learning_rate": 3e-3,
        "check_every": 3,
        "frames": 0,
        "ema": 0.5,
        "text_dropout": 0.0,
        "device": "cpu",
    }
    return FinetuneConfig(**{**values, **changes})


@pytest.mark.parametrize("make", [mini, imagedream])
def test_only_what_is_trained_changes_and_is_written(tmp_path, make):
    base = make()
    before = {name: value.clone() for name, value in base.network.state_dict().items()}
    chosen = {name for name, _ in trained_parameters(base.network, "paper")}

    file = finetune_base(settings(tmp_path, steps=2), base, [clip()], [])

    after = base.network.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed
    assert changed <= chosen
    assert load_file(file).keys() == chosen
    assert len(chosen) < len(before)


def test_the_loss_on_the_clip_falls(tmp_path):
    checks = []
    config = settings(tmp_path, steps=45, check_every=15)
    finetune_base(config, mini(), [clip()], [clip()], checks.append)
    held_out = [sum(check.by_noise) for check in checks if check.by_noise]
    assert len(held_out) == 3
    assert held_out[-1] < 0.9 * held_out[0]


def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path):
    straight = finetune_base(settings(tmp_path, out=tmp_path / "a"), mini(), [clip(), clip(1)], [])

    def stop(progress):
        if progress.step == 4:  # one step after the last saved state
            raise CancelledError

    config = settings(tmp_path, out=tmp_path / "b")
    with pytest.raises(CancelledError):
        finetune_base(config, mini(), [clip(), clip(1)], [], stop)
    resumed = finetune_base(config, mini(), [clip(), clip(1)], [])

    first, second = load_file(straight), load_file(resumed)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_the_run_ends_early_when_held_out_clips_gain_nothing(tmp_path):
    steps = []
    config = settings(tmp_path, steps=60, check_every=1, patience=2, learning_rate=0.0)
    finetune_base(config, mini(), [clip()], [clip(1)], steps.append)
    assert len(steps) == 3


def test_finetuned_weights_load_over_the_bundled_ones(tmp_path):
    file = finetune_base(settings(tmp_path), mini(), [clip()], [])
    fresh = mini().network
    before = fresh.state_dict()["blocks.1.to_qkv.weight"].clone()
    load_over(fresh, finetuned_file(file.parent))
    stored = load_file(file)["blocks.1.to_qkv.weight"].float()
    assert torch.equal(fresh.state_dict()["blocks.1.to_qkv.weight"], stored)
    assert not torch.equal(before, stored)


def test_a_folder_of_another_run_is_not_mixed_with_this_one(tmp_path):
    finetune_base(settings(tmp_path, steps=1), mini(), [clip()], [])
    with pytest.raises(InputError, match="another learning_rate"):
        finetune_base(settings(tmp_path, learning_rate=1e-5), mini(), [clip()], [])


def test_every_step_is_logged_and_a_card_tells_what_was_done(tmp_path):
    finetune_base(settings(tmp_path), mini(), [clip()], [clip(1)])
    lines = (tmp_path / "out" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert len(json.loads(lines[2])["by_noise"]) == 4
    assert "open the lid" in (tmp_path / "out" / "README.md").read_text()


def test_named_settings_are_those_of_the_paper_and_of_its_code(tmp_path):
    paper = FinetuneConfig(clips=tmp_path, out=tmp_path, **SETTINGS["paper"])
    assert (paper.learning_rate, paper.steps, paper.optimiser) == (5e-4, 20_000, "adam")
    released = FinetuneConfig(clips=tmp_path, out=tmp_path, **SETTINGS["released"])
    assert (released.learning_rate, released.steps) == (3e-5, 4000)


def test_a_clip_is_read_as_it_was_written(tmp_path):
    original = clip()
    write_clip(tmp_path / "one", original)
    (path,) = clip_paths(tmp_path)
    again = read_clip(path)
    assert np.array_equal(again.rgb, original.rgb)
    assert np.array_equal(again.mask, original.mask)
    assert np.allclose(again.motions, original.motions, atol=1e-3)
    assert again.cameras == original.cameras
    assert again.prompt == original.prompt


def test_a_clip_of_pictures_is_read_as_well(tmp_path):
    original = clip()
    write_clip(tmp_path / "one", original)
    (tmp_path / "one" / "clip.npz").unlink()
    for view in range(4):
        folder = tmp_path / "one" / f"view_{view}"
        folder.mkdir()
        Image.fromarray(original.mask[view].astype(np.uint8) * 255).save(folder / "mask.png")
        for frame in range(3):
            Image.fromarray(original.rgb[view, frame]).save(folder / f"frame_{frame}.png")
    again = read_clip(tmp_path / "one")
    assert np.array_equal(again.rgb, original.rgb)
    assert np.array_equal(again.mask, original.mask)
    assert again.motions is None
    with pytest.raises(InputError, match="no positions, silhouettes and motions"):
        finetune_base(settings(tmp_path), mini(), [again], [])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"prompt": "  "}, "has no prompt"),
        ({"frames": np.array([0.5, 0.4])}, "rising"),
        ({"mask": np.zeros((4, 256, 256), bool)}, "shows the part in no view"),
        ({"rgb": np.zeros((4, 2, 256, 256, 3), np.uint8)}, "has rgb of shape"),
    ],
)
def test_a_broken_clip_is_refused_by_name(tmp_path, change, reason):
    write_clip(tmp_path / "lid", clip()._replace(**change))
    with pytest.raises(InputError, match=reason):
        read_clip(tmp_path / "lid")


def test_a_truncated_clip_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match="holds no clips"):
        clip_paths(tmp_path)
    write_clip(tmp_path / "lid", clip())
    file = tmp_path / "lid" / "clip.npz"
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(InputError, match="the clip lid cannot be read"):
        read_clip(tmp_path / "lid")
