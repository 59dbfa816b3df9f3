"""ImageDream's weights, given by the user, as a denoiser of multi-view clips.

Two layouts are read: a folder as diffusers writes it, and the original `.pt` files of ImageDream
("pixel" and "local") and MVDream with the text and image towers in folders beside them. "Pixel"
and "local" have the same network; the extra picture that "pixel" adds to a group is not used,
since every view has a rest picture of its own (paper, section 4.2). Nothing is downloaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from atop_backend.diffusion.checkpoints import (
    find_file,
    finetuned_facts,
    finetuned_file,
    load_over,
    load_strictly,
    read_tensors,
    without_prefix,
)
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.denoiser import ClipLatents
from atop_backend.diffusion.towers import (
    LatentAutoencoder,
    PictureEncoder,
    PromptEncoder,
    check_schedule,
    convert_autoencoder,
    load_autoencoder,
    load_picture_encoder,
)
from atop_backend.diffusion.unet import IMAGEDREAM, MultiViewVideoUNet, UNetConfig
from atop_backend.errors import SetupError

_UNET_FILES = (
    "diffusion_pytorch_model.safetensors",
    "diffusion_pytorch_model.fp16.safetensors",
    "diffusion_pytorch_model.bin",
)
_UNET_PREFIX = "model.diffusion_model."
_AUTOENCODER_PREFIXES = ("vae_model.", "first_stage_model.")
# what original files hold besides: the CLIP towers, which come from folders, and the noise schedule
_KNOWN_REST = ("clip_model.", "cond_stage_model.", "image_model.", "model_ema.")
_FIXED = {"image_size", "out_channels", "transformer_depth", "ip_mode", "dims"}


class ImageDream(NamedTuple):
    """All parts of the model."""

    denoiser: ImageDreamDenoiser
    autoencoder: LatentAutoencoder
    prompts: PromptEncoder


class ImageDreamDenoiser(nn.Module):
    """The U-Net with its image tower: told by the rest views, the words and the part's mask."""

    prediction: Literal["epsilon"] = "epsilon"
    no_words: Tensor

    def __init__(
        self,
        unet: MultiViewVideoUNet,
        pictures: PictureEncoder | None,
        no_words: Float[Tensor, "1 words features"],
    ) -> None:
        super().__init__()
        self.unet = unet
        self.channels = unet.channels
        self.pictures = pictures
        self.register_buffer("no_words", no_words, persistent=False)
        self._last: tuple[Tensor, Tensor] | None = None

    def denoise(
        self, latents: ClipLatents, timestep: Float[Tensor, " batch"], conditions: Conditions
    ) -> ClipLatents:
        """The noise in the latents; see `Denoiser`.

        Words that are all zero (`drop_text`) become the empty prompt, and the rest pictures are
        then withheld as well, as ImageDream was trained.
        """
        told = conditions.text.flatten(1).any(dim=1)[:, None, None]
        text = torch.where(told, conditions.text, self.no_words.to(conditions.text))
        image = None
        if self.pictures is not None:
            hidden = self._hidden(conditions.rgb)
            image = self.unet.read_pictures(hidden * told[..., None])
        return self.unet(
            latents,
            timestep,
            text,
            image,
            conditions.cameras,
            conditions.mask,
            conditions.frames,
            conditions.rest_latents,
        )

    def _hidden(self, rgb: Tensor) -> Float[Tensor, "batch views patches features"]:
        """Hidden states of the rest views, kept for the next call with the same views."""
        if self._last is None or not torch.equal(self._last[0], rgb):
            assert self.pictures is not None
            hidden = self.pictures.encode(rgb.flatten(0, 1)).unflatten(0, rgb.shape[:2])
            self._last = (rgb, hidden.to(self.unet.dtype))
        return self._last[1]


def load_imagedream(
    weights: Path, finetuned: Path | None = None, settings: UNetConfig = IMAGEDREAM
) -> ImageDream:
    """The model in float32 on the CPU, ready to answer.

    Args:
        weights: The folder, or the original `.pt` file with `text_encoder`, `tokenizer` and
            `image_encoder` folders beside it.
        finetuned: What `atop finetune` wrote; None leaves the temporal blocks without effect.
        settings: Sizes where the weights do not tell them, and how time is attended to.

    Raises:
        SetupError: A file is missing, truncated or of another model.
    """
    if not weights.exists():
        raise SetupError(f"the weights {weights} do not exist", hint="check --weights")
    if finetuned is not None:
        finetuned = finetuned_file(finetuned)
        settings = replace(settings, **finetuned_facts(finetuned, "imagedream")["network"])
    if weights.is_dir() and (weights / "unet").is_dir():
        folder = weights
        unet = _read_folder(folder / "unet", settings)
        autoencoder = load_autoencoder(folder)
    else:
        file = weights if weights.is_file() else _only_checkpoint(weights)
        folder = file.parent
        unet, autoencoder = _read_original(file, settings)
    if finetuned is not None:
        load_finetuned(unet, finetuned)
    check_schedule(folder)
    prompts = PromptEncoder(folder)
    pictures = load_picture_encoder(folder) if unet.config.with_ip else None
    _check_widths(unet.config, prompts, pictures)
    denoiser = ImageDreamDenoiser(unet, pictures, prompts.encode([""]))
    for module in (denoiser, autoencoder, prompts):
        module.eval().requires_grad_(False)
    return ImageDream(denoiser, autoencoder, prompts)


def _only_checkpoint(folder: Path) -> Path:
    found = sorted([*folder.glob("*.pt"), *folder.glob("*.ckpt")])
    if len(found) != 1:
        raise SetupError(
            f"{folder} has no unet folder and {len(found)} .pt files",
            hint="give ImageDream's folder, or the path of one .pt file",
        )
    return found[0]


def _read_folder(folder: Path, settings: UNetConfig) -> MultiViewVideoUNet:
    path = find_file(folder, ("config.json",), "the U-Net's description")
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise SetupError(
            f"{path} is not JSON ({error})", hint="copy or download the file again"
        ) from error
    file = find_file(folder, _UNET_FILES, "the U-Net's weight file")
    tensors = read_tensors(file)
    described.setdefault("with_ip", any(name.startswith("image_embed.") for name in tensors))
    return _fill_unet(tensors, _settings_of(described, settings, path), file.name)


def _settings_of(described: Mapping[str, Any], settings: UNetConfig, path: Path) -> UNetConfig:
    known = {field.name for field in fields(UNetConfig)}
    strange = [k for k in described if k not in known | _FIXED and not k.startswith("_")]
    expected = {"out_channels": settings.in_channels, "transformer_depth": 1}
    expected |= {"ip_mode": "local_resample", "dims": 2}
    wrong = [k for k, value in expected.items() if described.get(k, value) != value]
    if strange or wrong:
        raise SetupError(
            f"{path} describes another network: {', '.join(strange + wrong)} is not ImageDream's",
            hint="give the folder of ImageDream or MVDream",
        )
    values = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in described.items()
        if key in known
    }
    return replace(settings, **values)


def _read_original(
    file: Path, settings: UNetConfig
) -> tuple[MultiViewVideoUNet, LatentAutoencoder]:
    tensors = read_tensors(file)
    network = without_prefix(tensors, _UNET_PREFIX)
    if not network:
        raise SetupError(
            f"{file.name} has no {_UNET_PREFIX}* tensors",
            hint="give an original file of ImageDream or MVDream",
        )
    prefixes = (_UNET_PREFIX, *_AUTOENCODER_PREFIXES, *_KNOWN_REST)
    strange = [name for name in tensors if not name.startswith(prefixes) and "." in name]
    if strange:
        raise SetupError(
            f"{file.name} has {len(strange)} tensors of unknown use, such as {strange[0]}",
            hint="give an original file of ImageDream or MVDream",
        )
    with_ip = any(name.startswith("image_embed.") for name in network)
    unet = _fill_unet(network, replace(settings, with_ip=with_ip), file.name)
    for prefix in _AUTOENCODER_PREFIXES:
        autoencoder = without_prefix(tensors, prefix)
        if autoencoder:
            return unet, convert_autoencoder(autoencoder, file.name)
    if (file.parent / "vae").is_dir():
        return unet, load_autoencoder(file.parent)
    raise SetupError(
        f"{file.name} has no autoencoder, and there is no vae folder beside it",
        hint="put the vae folder of Stable Diffusion 2.1 beside it",
    )


def _fill_unet(
    tensors: Mapping[str, Tensor], settings: UNetConfig, source: str
) -> MultiViewVideoUNet:
    unet = MultiViewVideoUNet(settings)
    added = {k: v for k, v in unet.state_dict().items() if k not in unet.image_state()}
    load_strictly(unet, {**tensors, **added}, source)
    return unet


def _check_widths(
    config: UNetConfig, prompts: PromptEncoder, pictures: PictureEncoder | None
) -> None:
    found = {"text_encoder": (prompts.tower.config.hidden_size, config.context_dim)}
    if pictures is not None:
        found["image_encoder"] = (pictures.tower.config.hidden_size, config.ip_features)
    for name, (width, expected) in found.items():
        if width != expected:
            raise SetupError(
                f"{name} gives {width} features, the U-Net reads {expected}",
                hint="use the towers that belong to the U-Net",
            )


def load_finetuned(unet: MultiViewVideoUNet, file: Path) -> None:
    """Put finetuned weights over the published ones."""
    added = {name for name in unet.state_dict() if name not in unet.image_state()}
    absent = sorted(added - read_tensors(file).keys())
    if absent:
        raise SetupError(
            f"{file.name} lacks {len(absent)} tensors of the temporal blocks, such as {absent[0]}",
            hint="give the file that `atop finetune` wrote for this model",
        )
    load_over(unet, file)
