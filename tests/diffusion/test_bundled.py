"""The files of the bundled model: whole, hashed, and refused by name when they are not."""

import json

import pytest
import torch

from atop_backend.diffusion import bundled
from atop_backend.errors import SetupError


def saved(folder):
    model = bundled.random_model(seed=3)
    bundled.save(folder, model.denoiser, model.denoiser.state_dict(), model.autoencoder, {"a": 1})
    return model


def test_what_is_saved_is_loaded_to_half_precision(tmp_path):
    model = saved(tmp_path)
    again = bundled.load(tmp_path)
    for before, after in zip(
        model.denoiser.state_dict().values(), again.denoiser.state_dict().values(), strict=True
    ):
        torch.testing.assert_close(after, before.half().float())
    assert again.facts == {"a": 1}
    assert not any(p.requires_grad for p in again.denoiser.parameters())


def test_shards_stay_below_the_size_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(bundled, "SHARD_BYTES", 40_000)
    saved(tmp_path)
    files = sorted(tmp_path.glob("mini-*-of-*.safetensors"))
    assert len(files) > 2
    bundled.load(tmp_path)


@pytest.mark.parametrize("harm", ["missing", "truncated", "changed"])
def test_a_broken_weight_file_is_named(tmp_path, harm):
    saved(tmp_path)
    file = tmp_path / "mini-1-of-1.safetensors"
    content = file.read_bytes()
    match harm:
        case "missing":
            file.unlink()
        case "truncated":
            file.write_bytes(content[:-100])
        case "changed":
            file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(SetupError, match="mini-1-of-1"):
        bundled.load(tmp_path)


def test_a_folder_without_manifest_is_refused(tmp_path):
    with pytest.raises(SetupError, match=r"mini\.json"):
        bundled.load(tmp_path)


def test_the_shipped_weights_are_whole_and_tell_how_they_were_made():
    model = bundled.load()
    assert all(torch.isfinite(p).all() for p in model.denoiser.parameters())
    facts = json.loads((bundled.FOLDER / "mini.json").read_text())["facts"]
    assert {"training", "seconds", "device", "held_out"} <= set(facts)
