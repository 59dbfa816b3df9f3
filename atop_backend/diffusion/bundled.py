"""The bundled model's files: sharded half-precision weights, sizes, hashes and training facts."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from atop_backend.diffusion.autoencoder import Autoencoder
from atop_backend.diffusion.transformer import (
    TINY,
    MultiViewVideoTransformer,
    TransformerConfig,
)
from atop_backend.errors import SetupError

FOLDER = Path(__file__).resolve().parent.parent / "weights"
SHARD_BYTES = 15_500_000  # under 16 MB each, so that the files travel anywhere
Name = Literal["mini", "rig"]  # the default model, and the one of rigged characters


class BundledModel(NamedTuple):
    """The default networks and what is known of them."""

    denoiser: MultiViewVideoTransformer
    autoencoder: Autoencoder
    facts: dict[str, Any]


def save(
    folder: Path,
    denoiser: MultiViewVideoTransformer,
    weights: dict[str, Tensor],
    autoencoder: Autoencoder | None,
    facts: dict[str, Any],
    name: Name = "mini",
) -> None:
    """Write weights and manifest; `weights` are the denoiser's, by name, in any precision.

    Args:
        autoencoder: None where the network uses that of the default model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shards: list[dict[str, Tensor]] = [{}]
    size = 0
    for key, value in weights.items():
        half = value.detach().half().cpu().contiguous()
        if size + half.nbytes > SHARD_BYTES and shards[-1]:
            shards.append({})
            size = 0
        shards[-1][key] = half
        size += half.nbytes
    files = {f"{name}-{at + 1}-of-{len(shards)}.safetensors": s for at, s in enumerate(shards)}
    manifest: dict[str, Any] = {"denoiser": denoiser.config.to_dict()}
    if autoencoder is not None:
        manifest["autoencoder"] = autoencoder.config
        files[f"{name}-autoencoder.safetensors"] = {
            key: value.detach().half().cpu().contiguous()
            for key, value in autoencoder.state_dict().items()
        }
    for file, tensors in files.items():
        save_file(tensors, folder / file)
    manifest["sha256"] = {file: _sha256(folder / file) for file in files}
    manifest["facts"] = facts
    (folder / f"{name}.json").write_text(json.dumps(manifest, indent=1) + "\n")


def load(folder: Path = FOLDER, name: Name = "mini") -> BundledModel:
    """The networks in evaluation mode and float32; `SetupError` names a missing or broken file."""
    denoiser_weights, autoencoder_weights, manifest = _read(folder, name)
    own = manifest
    if "autoencoder" not in manifest:
        _, autoencoder_weights, own = _read(FOLDER, "mini", "autoencoder")
    sizes = dict(manifest["denoiser"])
    sizes["stem_widths"] = tuple(sizes["stem_widths"])
    denoiser = MultiViewVideoTransformer(TransformerConfig(**sizes))
    denoiser.load_state_dict(denoiser_weights)
    autoencoder = Autoencoder(**own["autoencoder"])
    autoencoder.load_state_dict(autoencoder_weights)
    return BundledModel(_frozen(denoiser), _frozen(autoencoder), manifest["facts"])


def autoencoder_sha256() -> str:
    """Hash of the autoencoder that the bundled networks share."""
    manifest = json.loads((FOLDER / "mini.json").read_text())
    return manifest["sha256"]["mini-autoencoder.safetensors"]


def _read(
    folder: Path, name: Name, part: str = ""
) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Any]]:
    """Weights of the denoiser, of the autoencoder, and the manifest.

    Args:
        part: Only files whose names have this word.
    """
    hint = "install the package again; its weights are part of it"
    path = folder / f"{name}.json"
    if not path.is_file():
        raise SetupError(f"the bundled model's {path.name} is missing from {folder}", hint=hint)
    manifest = json.loads(path.read_text())
    denoiser_weights: dict[str, Tensor] = {}
    autoencoder_weights: dict[str, Tensor] = {}
    for file_name, digest in manifest["sha256"].items():
        if part not in file_name:
            continue
        file = folder / file_name
        if not file.is_file():
            raise SetupError(f"the weight file {file_name} is missing", hint=hint)
        if _sha256(file) != digest:
            raise SetupError(
                f"the weight file {file_name} is damaged (its hash differs)", hint=hint
            )
        target = autoencoder_weights if "autoencoder" in file_name else denoiser_weights
        target.update({key: value.float() for key, value in load_file(file).items()})
    return denoiser_weights, autoencoder_weights, manifest


def random_model(seed: int) -> BundledModel:
    """Small networks with random weights, for tests of everything around them."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        denoiser = MultiViewVideoTransformer(TINY)
        torch.nn.init.normal_(denoiser.write_latents.weight, std=0.2)
        autoencoder = Autoencoder(fine=8, coarse=16)
    return BundledModel(_frozen(denoiser), _frozen(autoencoder), {"name": "random"})


def _frozen(module: Any) -> Any:
    return module.eval().requires_grad_(False)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
