"""Finetuning of both networks on tiny clips: what learns, what stays, and going on after a stop."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from atop_backend.diffusion import bundled
from atop_backend.diffusion.checkpoints import finetuned_file, load_over
from atop_backend.diffusion.clip_folders import TrainingClip, clip_paths, read_clip, write_clip
from atop_backend.diffusion.device import explaining_memory
from atop_backend.diffusion.finetune import SETTINGS, FinetuneConfig, finetune_base
from atop_backend.diffusion.finetune_base import Base, trained_parameters
from atop_backend.diffusion.processes import Processes
from atop_backend.diffusion.unet import TINY, MultiViewVideoUNet
from atop_backend.errors import CancelledError, InputError, SetupError
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
    coder = model.autoencoder
    return Base(model.denoiser, model.denoiser, coder.encode, lambda _: words, coder.decode)


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

    def decode(latents):
        return latents[..., :3, :, :].repeat_interleave(32, -1).repeat_interleave(32, -2)

    return Base(Told(), unet, encode, lambda _: words, decode)


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
    assert len(held_out) == 4  # the first is of the network as it was
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
    assert [progress.step for progress in steps] == [0, 1, 2]


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
    records = [json.loads(line) for line in lines]
    assert [record["step"] for record in records] == [0, 1, 2, 3, 4, 5, 6]
    assert [record["by_noise"] is None for record in records] == [False, True, True] * 2 + [False]
    assert all(0 <= record["time"] <= 1 for record in records[1:])
    card = (tmp_path / "out" / "README.md").read_text()
    assert "open the lid" in card
    assert f"| first, step 0 | {records[0]['by_noise'][0]:.4f} |" in card


def test_what_was_logged_after_the_saved_state_is_logged_once(tmp_path):
    def stop(progress):
        if progress.step == 5:
            raise CancelledError

    with pytest.raises(CancelledError):
        finetune_base(settings(tmp_path), mini(), [clip()], [], stop)
    finetune_base(settings(tmp_path), mini(), [clip()], [])
    lines = (tmp_path / "out" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2, 3, 4, 5, 6]


def test_a_state_of_something_else_is_refused(tmp_path):
    finetune_base(settings(tmp_path, steps=3), mini(), [clip()], [])
    (tmp_path / "out" / "state.pt").write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"state\.pt is no state of this run"):
        finetune_base(settings(tmp_path), mini(), [clip()], [])


def test_a_folder_of_other_files_is_not_written_to(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("all of it")
    with pytest.raises(InputError, match="holds other files"):
        finetune_base(settings(tmp_path), mini(), [clip()], [])


def test_the_weights_kept_are_the_base_ones_when_training_only_harms(tmp_path, monkeypatch):
    from atop_backend.diffusion import finetune

    rising = iter([(1.0,), (2.0,), (3.0,), (4.0,), (5.0,)])
    monkeypatch.setattr(finetune, "_check", lambda *_: next(rising))
    base = mini()
    before = {name: value.clone() for name, value in trained_parameters(base.network, "paper")}
    config = settings(tmp_path, steps=4, check_every=1)
    file = finetune_base(config, base, [clip()], [clip(1)])
    stored = load_file(file)
    assert all(torch.equal(stored[name].float(), before[name].half().float()) for name in before)


@pytest.mark.parametrize("make", [mini, imagedream])
@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_trains_and_resumes_exactly(tmp_path, make, precision):
    def settings_in(folder, steps):
        return settings(tmp_path, out=tmp_path / folder, precision=precision, steps=steps,
                        check_every=2)  # fmt: skip

    straight = load_file(finetune_base(settings_in("a", 4), make(), [clip()], []))
    finetune_base(settings_in("b", 2), make(), [clip()], [])
    resumed = load_file(finetune_base(settings_in("b", 4), make(), [clip()], []))
    assert all(value.isfinite().all() for value in straight.values())
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)
    full = load_file(finetune_base(settings(tmp_path, out=tmp_path / "c", steps=4, check_every=2),
                                   make(), [clip()], []))  # fmt: skip
    assert any(not torch.equal(straight[name], full[name]) for name in full)


@pytest.mark.parametrize("make", [mini, imagedream])
def test_checkpointing_changes_memory_and_nothing_else(tmp_path, make, monkeypatch):
    from atop_backend.diffusion import transformer, unet

    calls = []
    for module in (transformer, unet):
        plain = module.checkpoint
        monkeypatch.setattr(
            module, "checkpoint",
            lambda *a, plain=plain, **k: calls.append(1) or plain(*a, **k),
        )  # fmt: skip
    usual = load_file(finetune_base(settings(tmp_path, steps=2), make(), [clip()], []))
    assert not calls
    config = settings(tmp_path, steps=2, out=tmp_path / "b", checkpointing=True)
    saving = load_file(finetune_base(config, make(), [clip()], []))
    assert calls
    assert all(torch.allclose(usual[name], saving[name], atol=1e-3) for name in usual)


@pytest.mark.parametrize("make", [mini, imagedream])
def test_pictures_of_samples_show_every_view_at_rest_and_moved(tmp_path, make, monkeypatch):
    from atop_backend.diffusion import finetune_output

    monkeypatch.setattr(finetune_output, "_STEPS", {"v": 1, "epsilon": 2})
    config = settings(tmp_path, steps=2, sample_every=2)
    finetune_base(config, make(), [clip()], [])
    pictures = sorted((tmp_path / "out" / "samples").iterdir())
    assert [path.name for path in pictures] == ["step_000000.png", "step_000002.png"]
    with Image.open(pictures[0]) as picture:
        assert picture.size == (4 * 3 * 128, 2 * 128)
        pixels = np.asarray(picture)
    assert np.array_equal(pixels[:128, :128], pixels[128:, :128])  # the same rest view


def test_running_out_of_memory_says_what_to_change():
    advice = explaining_memory("take a smaller batch")
    with pytest.raises(SetupError, match=r"GPU is out of memory.*batch"), advice:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
    with pytest.raises(SetupError, match="machine is out of memory"), explaining_memory(""):
        torch.empty(1 << 60)
    with pytest.raises(RuntimeError, match="something else"), explaining_memory(""):
        raise RuntimeError("something else")


def test_a_loss_that_is_no_number_ends_the_run_with_advice(tmp_path):
    broken = clip()
    broken.motions[:] = np.nan
    with pytest.raises(InputError, match=r"loss of step 1 is no number.*learning-rate"):
        finetune_base(settings(tmp_path), mini(), [broken], [])


@pytest.mark.parametrize(
    "change",
    [{"steps": 0}, {"batch": 0}, {"learning_rate": float("nan")}, {"ema": 1.0},
     {"base": "imagedream"}],
)  # fmt: skip
def test_settings_that_make_no_run_are_refused(tmp_path, change):
    with pytest.raises(InputError):
        settings(tmp_path, **change)


TWO = """
import os
import sys
from pathlib import Path
sys.path[:0] = [{tests!r}, {root!r}]
from test_finetune import clip, mini, settings
from atop_backend.diffusion.finetune import finetune_base
where = Path(sys.argv[1])
config = settings(where, batch=2, steps=4, check_every=2, out=where / "two")
told = []
finetune_base(config, mini(), [clip(), clip(1)], [clip(2), clip(3), clip(4)], told.append)
(where / ("told-" + os.environ["RANK"])).write_text(str(len(told)))
"""


@pytest.mark.slow
def test_two_processes_train_as_one_does_and_one_of_them_writes(tmp_path):
    pytest.importorskip("accelerate")
    here = Path(__file__)
    script = tmp_path / "two.py"
    script.write_text(TWO.format(tests=str(here.parent), root=str(here.parents[2])))
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2", "--standalone"]
    done = subprocess.run(
        [*launch, script, tmp_path], capture_output=True, text=True, timeout=240,
        env={**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = [int(path.read_text()) for path in sorted(tmp_path.glob("told-*"))]
    assert told == [5, 0]
    two = load_file(tmp_path / "two" / "finetuned.safetensors")
    config = settings(tmp_path, batch=2, steps=4, check_every=2, out=tmp_path / "one")
    watched = [clip(2), clip(3), clip(4)]
    one = load_file(finetune_base(config, mini(), [clip(), clip(1)], watched))
    assert all(torch.allclose(one[name], two[name], atol=2e-3) for name in one)


def test_a_batch_that_cannot_be_shared_is_refused(tmp_path):
    three = Processes("cpu")
    three.count = 3
    with pytest.raises(InputError, match="batch of 1 cannot be shared by 3 processes"):
        finetune_base(settings(tmp_path), mini(), [clip()], [], None, three)


def test_named_settings_are_those_of_the_paper_and_of_its_code(tmp_path):
    where = {"clips": tmp_path, "out": tmp_path, "weights": tmp_path}
    paper = FinetuneConfig(**where, **SETTINGS["paper"])
    assert (paper.learning_rate, paper.steps, paper.optimiser) == (5e-4, 20_000, "adam")
    released = FinetuneConfig(**where, **SETTINGS["released"])
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
