"""ImageDream's weights in both layouts, and every way in which they can be wrong."""

import json

import pytest
import torch
from imagedream_twin import SETTINGS, write_folder, write_original
from safetensors.torch import load_file, save_file

from atop_backend.diffusion.checkpoints import METADATA
from atop_backend.diffusion.conditions import Conditions, drop_text
from atop_backend.diffusion.imagedream import load_imagedream
from atop_backend.diffusion.sample import sample
from atop_backend.diffusion.unet import ADDED_SETTINGS
from atop_backend.errors import InputError, SetupError

UNET_FILE = "unet/diffusion_pytorch_model.safetensors"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("imagedream") / "twin")


@pytest.fixture
def copy(folder, tmp_path):
    """The folder again, free to be damaged; untouched files are links."""
    for path in folder.rglob("*"):
        target = tmp_path / "copy" / path.relative_to(folder)
        if path.is_dir():
            target.mkdir(parents=True)
        else:
            target.symlink_to(path)
    return tmp_path / "copy"


def rewrite(path, content):
    """Replace a link by a file of its own."""
    path.unlink()
    path.write_bytes(content)


def conditions(model, views=2, frames=2):
    generator = torch.Generator().manual_seed(3)
    rgb = torch.rand(1, views, 3, 64, 64, generator=generator)
    return Conditions(
        rgb=rgb,
        mask=(rgb[:, :, :1] > 0.5).float(),
        positions=rgb,
        rest_latents=model.autoencoder.encode(rgb),
        cameras=torch.randn(1, views, 16, generator=generator),
        text=model.prompts.encode(["open the lid"]),
        frames=torch.linspace(1 / frames, 1, frames)[None],
        part_centre=torch.zeros(1, 3),
        part_radius=torch.ones(1),
    )


def facts(base="imagedream", config=SETTINGS):
    network = {name: getattr(config, name) for name in ADDED_SETTINGS}
    return {METADATA: json.dumps({"base": base, "network": network})}


def answer(model):
    told = conditions(model)
    latents = torch.randn(1, 2, 2, 4, 8, 8, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        return model.denoiser.denoise(latents, torch.tensor([0.5]), told)


def test_a_folder_of_diffusers_loads_to_the_last_tensor_and_samples(folder):
    model = load_imagedream(folder)
    stored = load_file(folder / UNET_FILE)
    state = model.denoiser.unet.image_state()
    assert stored.keys() == state.keys()
    assert all(torch.equal(stored[name], state[name]) for name in stored)

    clip = sample(
        model.denoiser, conditions(model), 2, 5.0, torch.Generator().manual_seed(0), samples=2
    )
    assert clip.shape == (2, 2, 2, 4, 8, 8)
    assert clip.isfinite().all()
    assert model.autoencoder.decode(clip).shape == (2, 2, 2, 3, 64, 64)


@pytest.mark.parametrize("prefix", ["vae_model.", "first_stage_model."])
def test_an_original_file_gives_the_same_model_as_the_folder(folder, tmp_path, prefix):
    file = write_original(tmp_path / "original", prefix)
    original, stock = load_imagedream(file, settings=SETTINGS), load_imagedream(folder)
    torch.testing.assert_close(answer(original), answer(stock))
    assert torch.equal(
        answer(load_imagedream(file.parent, settings=SETTINGS)), answer(original)
    )  # by its folder


def test_mvdream_has_no_image_prompt_and_loads_as_well(tmp_path):
    model = load_imagedream(write_folder(tmp_path / "mvdream", with_ip=False))
    assert model.denoiser.pictures is None
    assert answer(model).isfinite().all()


def test_older_names_of_the_image_tower_are_understood(folder, copy):
    """transformers 5 dropped a prefix from CLIP's names; published files have it."""
    path = copy / "image_encoder" / "model.safetensors"
    tensors = {
        f"vision_model.{k.removeprefix('vision_model.')}": v for k, v in load_file(path).items()
    }
    path.unlink()
    save_file(tensors, path, metadata={"format": "pt"})
    assert torch.equal(answer(load_imagedream(copy)), answer(load_imagedream(folder)))


def test_dropped_words_stand_for_the_empty_prompt_and_no_picture(folder):
    model = load_imagedream(folder)
    told = conditions(model)
    latents = torch.randn(1, 2, 2, 4, 8, 8, generator=torch.Generator().manual_seed(1))
    half = torch.tensor([0.5])
    with torch.no_grad():
        dropped = model.denoiser.denoise(latents, half, drop_text(told))
        other_picture = drop_text(told)._replace(rgb=1 - told.rgb)
        assert torch.equal(model.denoiser.denoise(latents, half, other_picture), dropped)
        empty = told._replace(text=model.prompts.encode([""]))
        assert not torch.equal(model.denoiser.denoise(latents, half, empty), dropped)


def test_prompts_are_padded_with_token_0_as_stable_diffusion_2_does(folder, monkeypatch):
    prompts = load_imagedream(folder).prompts
    seen = []
    monkeypatch.setattr(prompts.tower, "forward", lambda ids: seen.append(ids) or torch.nn.Module())
    with pytest.raises(AttributeError):
        prompts.encode(["ab", "a much longer prompt that has to be cut somewhere"])
    start, end = 188, 189
    assert seen[0].shape == (2, 12)
    assert seen[0][0, 0] == start
    assert end in seen[0][0]
    assert seen[0][0, -1] == 0
    assert seen[0][1, -1] == end


def test_pictures_are_encoded_once_for_all_steps(folder, monkeypatch):
    model = load_imagedream(folder)
    encode, calls = model.denoiser.pictures.encode, []
    monkeypatch.setattr(
        model.denoiser.pictures, "encode", lambda rgb: calls.append(1) or encode(rgb)
    )
    sample(model.denoiser, conditions(model), 3, 5.0, torch.Generator().manual_seed(0))
    assert len(calls) == 1


def test_a_truncated_file_is_refused_by_name(copy):
    content = (copy / UNET_FILE).read_bytes()
    rewrite(copy / UNET_FILE, content[: len(content) // 2])
    with pytest.raises(SetupError, match=r"diffusion_pytorch_model.safetensors is truncated"):
        load_imagedream(copy)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.pop("out.2.bias"), "lacks 1 of .* tensors, such as out.2.bias"),
        (lambda t: t.update(extra=torch.zeros(1)), "has 1 that do not belong, such as extra"),
        (
            lambda t: t.update({"out.2.bias": torch.zeros(9)}),
            r"out.2.bias of shape \(9,\) instead of \(4,\)",
        ),
        (
            lambda t: t.update({"out.2.bias": torch.full((4,), torch.nan)}),
            "values in out.2.bias that are not numbers",
        ),
    ],
)
def test_weights_of_another_layout_are_refused_with_the_tensor(copy, change, reason):
    tensors = load_file(copy / UNET_FILE)
    change(tensors)
    (copy / UNET_FILE).unlink()
    save_file(tensors, copy / UNET_FILE)
    with pytest.raises(SetupError, match=reason):
        load_imagedream(copy)


@pytest.mark.parametrize(
    ("key", "value"), [("transformer_depth", 2), ("ip_mode", "global"), ("sample_size", 64)]
)
def test_a_description_of_another_network_is_refused(copy, key, value):
    path = copy / "unet" / "config.json"
    rewrite(path, json.dumps(json.loads(path.read_text()) | {key: value}).encode())
    with pytest.raises(SetupError, match=f"another network: {key}"):
        load_imagedream(copy)


@pytest.mark.parametrize(
    ("file", "named"),
    [
        (UNET_FILE, "U-Net's weight file is missing"),
        ("unet/config.json", "U-Net's description is missing"),
        ("vae/config.json", "vae is missing or incomplete"),
        ("vae/diffusion_pytorch_model.safetensors", "vae cannot be loaded"),
        ("text_encoder/config.json", "text_encoder is missing or incomplete"),
        ("image_encoder/model.safetensors", "image_encoder cannot be loaded"),
    ],
)
def test_a_missing_file_is_named(copy, file, named):
    (copy / file).unlink()
    with pytest.raises(SetupError, match=named):
        load_imagedream(copy)


def test_parts_in_half_precision_are_read_under_either_name_and_answer_in_single(folder, copy):
    for part in ("text_encoder", "image_encoder"):
        path = copy / part / "model.safetensors"
        halves = {name: value.half() for name, value in load_file(path).items()}
        path.unlink()
        save_file(halves, path.with_name("model.fp16.safetensors"), metadata={"format": "pt"})
    path = copy / "vae" / "diffusion_pytorch_model.safetensors"
    halves = {name: value.half() for name, value in load_file(path).items()}
    path.unlink()
    save_file(halves, path, metadata={"format": "pt"})
    model = load_imagedream(copy)
    parameters = [*model.denoiser.parameters(), *model.autoencoder.parameters()]
    parameters += model.prompts.parameters()
    assert {value.dtype for value in parameters} == {torch.float32}
    assert (answer(model) - answer(load_imagedream(folder))).abs().max() < 0.02


def test_what_is_in_a_tower_besides_is_explained_or_refused(copy):
    path = copy / "image_encoder" / "model.safetensors"
    tensors = load_file(path)
    path.unlink()
    known = {"visual_projection.weight": torch.zeros(2, 2), "logit_scale": torch.zeros(1)}
    save_file({**tensors, **known}, path, metadata={"format": "pt"})
    load_imagedream(copy)
    save_file({**tensors, "adapter.weight": torch.zeros(1)}, path, metadata={"format": "pt"})
    with pytest.raises(SetupError, match=r"1 tensors of unknown use, such as adapter\.weight"):
        load_imagedream(copy)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"beta_schedule": "linear"}, "has other betas"),
        ({"prediction_type": "v_prediction"}, "predicts v_prediction"),
        ({"beta_schedule": "wavy"}, "cannot be read"),
    ],
)
def test_another_noise_schedule_is_refused(copy, change, reason):
    described = {"_class_name": "DDIMScheduler", "num_train_timesteps": 1000,
                 "beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear",
                 "steps_offset": 1, "clip_sample": False, "prediction_type": "epsilon"}  # fmt: skip
    (copy / "scheduler").mkdir()
    (copy / "scheduler" / "scheduler_config.json").write_text(json.dumps(described | change))
    if reason is None:
        load_imagedream(copy)
        return
    with pytest.raises(SetupError, match=reason):
        load_imagedream(copy)


def test_a_file_that_holds_code_is_not_run(tmp_path):
    import os
    import pickle

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trapped"),)

    file = tmp_path / "trap.pt"
    file.write_bytes(pickle.dumps({"model.diffusion_model.x": Trap()}))
    with pytest.raises(SetupError, match=r"trap\.pt"):
        load_imagedream(file)
    assert not (tmp_path / "trapped").exists()


def test_a_folder_without_weights_and_a_missing_path_are_refused(tmp_path):
    with pytest.raises(SetupError, match=r"no unet folder and 0 \.pt files"):
        load_imagedream(tmp_path)
    with pytest.raises(SetupError, match="do not exist"):
        load_imagedream(tmp_path / "nothing")


def test_finetuned_weights_lie_over_the_published_ones(folder, tmp_path):
    model = load_imagedream(folder)
    unet = model.denoiser.unet
    torch.manual_seed(1)
    tensors = {
        name: (value + 0.1 * torch.randn_like(value)).half().contiguous()
        for name, value in unet.trained_parameters("paper")
    }
    file = tmp_path / "lids.safetensors"
    save_file(tensors, file, metadata=facts(config=unet.config))
    tuned = load_imagedream(folder, file)
    state = tuned.denoiser.unet.state_dict()
    assert all(torch.equal(state[name], value.float()) for name, value in tensors.items())
    assert (answer(tuned) - answer(model)).abs().max() > 1e-3


def test_a_finetuned_file_of_something_else_is_refused(folder, tmp_path):
    file = tmp_path / "other.safetensors"
    save_file({"x": torch.zeros(1)}, file)
    with pytest.raises(SetupError, match="was not written by `atop finetune`"):
        load_imagedream(folder, file)
    save_file({"x": torch.zeros(1)}, file, metadata=facts("mini"))
    with pytest.raises(SetupError, match=r"was finetuned from mini, not from imagedream"):
        load_imagedream(folder, file)
    save_file({"x": torch.zeros(1)}, file, metadata=facts())
    with pytest.raises(SetupError, match=r"lacks .* tensors of the temporal blocks"):
        load_imagedream(folder, file)
    with pytest.raises(InputError, match="do not exist"):
        load_imagedream(folder, tmp_path / "absent.safetensors")
