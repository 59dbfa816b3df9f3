"""The stock parts around ImageDream's U-Net, loaded from local folders and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from diffusers import AutoencoderKL, DDIMScheduler
from diffusers.loaders.single_file_utils import convert_ldm_vae_checkpoint
from jaxtyping import Float
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import CLIPTextModel, CLIPTokenizer, CLIPVisionModel

from atop_backend.diffusion.checkpoints import load_strictly
from atop_backend.diffusion.schedule import TRAINING_STEPS, alpha_bars
from atop_backend.errors import SetupError

_MEANS = (0.48145466, 0.4578275, 0.40821073)  # of CLIP's training pictures
_SPREADS = (0.26862954, 0.26130258, 0.27577711)
_PADDING = 0  # Stable Diffusion 2 fills up with token 0, other CLIPs with the end token
# what CLIP files may hold besides a tower: the other one, projections, positions of old versions
_EXPLAINED = re.compile(
    r"position_ids$|^(text_model|vision_model)\.|^(text|visual)_projection\.|^logit_scale$"
)
_AT_ONCE = 8  # pictures the autoencoder takes together; all 40 of a clip would need 8 GB more


class PromptEncoder(nn.Module):
    """The text tower of Stable Diffusion 2.1."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.tower = _load(CLIPTextModel, folder / "text_encoder")
        try:
            self._tokenizer = CLIPTokenizer.from_pretrained(
                folder / "tokenizer", local_files_only=True
            )
        except (OSError, ValueError, TypeError) as error:
            raise SetupError(
                f"the tokenizer in {folder / 'tokenizer'} cannot be read",
                hint="it needs vocab.json and merges.txt of CLIP",
            ) from error

    @torch.no_grad()
    def encode(self, prompts: Sequence[str]) -> Float[Tensor, "batch words features"]:
        """Features of every word of the prompts, after the last layer norm."""
        length = self.tower.config.max_position_embeddings
        rows = []
        for prompt in prompts:
            ids = self._tokenizer(prompt, truncation=True, max_length=length).input_ids
            rows.append(ids + [_PADDING] * (length - len(ids)))
        tokens = torch.tensor(rows, device=self.tower.device)
        return self.tower(tokens).last_hidden_state


class PictureEncoder(nn.Module):
    """The image tower of CLIP; gives the last hidden states but one, as ImageDream reads them."""

    means: Tensor
    spreads: Tensor

    def __init__(self, tower: CLIPVisionModel) -> None:
        super().__init__()
        self.tower = tower
        self.register_buffer("means", torch.tensor(_MEANS)[:, None, None], persistent=False)
        self.register_buffer("spreads", torch.tensor(_SPREADS)[:, None, None], persistent=False)

    @torch.no_grad()
    def encode(
        self, rgb: Float[Tensor, "pictures 3 size size"]
    ) -> Float[Tensor, "pictures patches features"]:
        """Hidden states of pictures with display values in [0, 1]."""
        size = self.tower.config.image_size
        small = F.interpolate(rgb.float(), size, mode="bicubic", antialias=True).clamp(0, 1)
        pixels = ((small - self.means) / self.spreads).to(self.tower.dtype)
        return self.tower(pixels, output_hidden_states=True).hidden_states[-2]


class LatentAutoencoder(nn.Module):
    """Stable Diffusion's autoencoder, called like the bundled model's."""

    def __init__(self, vae: AutoencoderKL) -> None:
        super().__init__()
        self.vae = vae

    @torch.no_grad()
    def encode(
        self, rgb: Float[Tensor, "*lead 3 size size"]
    ) -> Float[Tensor, "*lead 4 latent latent"]:
        """Scaled latents of pictures with display values in [0, 1]; the mode, without noise."""
        lead = rgb.shape[:-3]
        pixels = rgb.flatten(0, -4).to(self.vae.dtype) * 2 - 1
        latents = torch.cat(
            [self.vae.encode(some).latent_dist.mode() for some in pixels.split(_AT_ONCE)]  # type: ignore[union-attr]
        )
        return (latents * self.vae.config.scaling_factor).float().unflatten(0, lead)

    def decode(
        self, latents: Float[Tensor, "*lead 4 latent latent"]
    ) -> Float[Tensor, "*lead 3 size size"]:
        """Pictures of scaled latents, not clamped."""
        lead = latents.shape[:-3]
        raw = latents.flatten(0, -4).to(self.vae.dtype) / self.vae.config.scaling_factor
        pictures = torch.cat([self.vae.decode(some).sample for some in raw.split(_AT_ONCE)])  # type: ignore[union-attr]
        return (pictures.float() * 0.5 + 0.5).unflatten(0, lead)


def load_picture_encoder(folder: Path) -> PictureEncoder:
    """The image tower of a folder in the layout of diffusers."""
    return PictureEncoder(_load(CLIPVisionModel, folder / "image_encoder"))


def load_autoencoder(folder: Path) -> LatentAutoencoder:
    """The autoencoder of a folder in the layout of diffusers."""
    return LatentAutoencoder(_load(AutoencoderKL, folder / "vae"))


def convert_autoencoder(tensors: Mapping[str, Tensor], source: str) -> LatentAutoencoder:
    """The autoencoder of an original checkpoint.

    Args:
        tensors: Under their names inside the autoencoder.
        source: Name of the file for messages.
    """
    widths = []
    while (name := f"encoder.down.{len(widths)}.block.0.conv2.weight") in tensors:
        widths.append(tensors[name].shape[0])
    layers = sum(name.startswith("encoder.down.0.block.") for name in tensors) // 8
    if not widths or not layers:
        raise SetupError(
            f"{source} holds no complete autoencoder", hint="use the original weight file"
        )
    sizes: dict[str, Any] = {
        "down_block_types": ("DownEncoderBlock2D",) * len(widths),
        "up_block_types": ("UpDecoderBlock2D",) * len(widths),
        "block_out_channels": tuple(widths),
        "layers_per_block": layers,
        "latent_channels": 4,
        "scaling_factor": 0.18215,
        "sample_size": 256,
    }
    vae = AutoencoderKL(**sizes)
    prefixed = {f"first_stage_model.{name}": value for name, value in tensors.items()}
    load_strictly(vae, convert_ldm_vae_checkpoint(prefixed, sizes), f"the autoencoder in {source}")
    return LatentAutoencoder(vae.eval())


def _load(kind: Any, folder: Path) -> Any:
    """A stock model of a local folder, with every weight found."""
    if not (folder / "config.json").is_file():
        raise SetupError(
            f"{folder.name} is missing or incomplete: there is no {folder / 'config.json'}",
            hint="give the folder that holds all parts of the model",
        )
    try:
        model, report = kind.from_pretrained(
            folder, local_files_only=True, output_loading_info=True, variant=_variant(folder)
        )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        reason = (str(error).splitlines() or [""])[0][:200]
        raise SetupError(
            f"{folder.name} cannot be loaded ({reason})",
            hint="a file is missing, truncated or of another model: copy the folder again",
        ) from error
    absent = sorted(report["missing_keys"])
    if absent or report.get("mismatched_keys"):
        what = absent[0] if absent else str(next(iter(report["mismatched_keys"])))
        raise SetupError(
            f"{folder.name} does not fit its config.json, see {what}",
            hint="the weights are of another model or incomplete: copy the folder again",
        )
    strange = [name for name in report["unexpected_keys"] if not _EXPLAINED.search(name)]
    if strange:
        raise SetupError(
            f"{folder.name} holds {len(strange)} tensors of unknown use, such as {strange[0]}",
            hint="the weights are of another model: copy the folder again",
        )
    return model.float().eval()


def _variant(folder: Path) -> str | None:
    """Which files to read: those of half precision where there are no others."""
    files = [path.name for path in folder.iterdir() if path.suffix in (".safetensors", ".bin")]
    return "fp16" if files and all(".fp16." in name for name in files) else None


def check_schedule(folder: Path) -> None:
    """Raise `SetupError` if the folder describes another noise schedule than ours.

    Sampling would go on without a word, and give nothing but noise.
    """
    if not (folder / "scheduler" / "scheduler_config.json").is_file():
        return  # there is only one that was published
    try:
        found = DDIMScheduler.from_pretrained(folder / "scheduler", local_files_only=True)
        alphas = found.alphas_cumprod.double()
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        raise SetupError(
            f"the scheduler in {folder / 'scheduler'} cannot be read ({error})",
            hint="copy the folder again, or remove scheduler from it",
        ) from error
    same = len(alphas) == TRAINING_STEPS and torch.allclose(alphas, alpha_bars(), atol=1e-4)
    kind = found.config["prediction_type"]
    if not same or kind != "epsilon":
        what = f"predicts {kind}" if kind != "epsilon" else "has other betas"
        raise SetupError(
            f"the scheduler in {folder / 'scheduler'} {what}, unlike ImageDream's",
            hint="give the folder of ImageDream or MVDream, or remove scheduler from it",
        )
