"""The bundled model's files: sharded half-precision weights, sizes, hashes and training facts."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

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
_MANIFEST = "mini.json"


class BundledModel(NamedTuple):
    """The default networks and what is known of them."""

    denoiser: MultiViewVideoTransformer
    autoencoder: Autoencoder
    facts: dict[str, Any]


def save(
    folder: Path,
    denoiser: MultiViewVideoTransformer,
    weights: dict[str, Tensor],
    autoencoder: Autoencoder,
    facts: dict[str, Any],
) -> None:
    """Write weights and manifest; `weights` are the denoiser's, by name, in any precision."""
    folder.mkdir(parents=True, exist_ok=True)
    shards: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, value in weights.items():
        half = value.detach().half().cpu().contiguous()
        if size + half.nbytes > SHARD_BYTES and shards[-1]:
            shards.append({})
            size = 0
        shards[-1][name] = half
        size += half.nbytes
    files = {f"mini-{index + 1}-of-{len(shards)}.safetensors": s for index, s in enumerate(shards)}
    files["mini-autoencoder.safetensors"] = {
        name: value.detach().half().cpu().contiguous()
        for name, value in autoencoder.state_dict().items()
    }
    for name, tensors in files.items():
        save_file(tensors, folder / name)
    manifest = {
        "denoiser": denoiser.config.to_dict(),
        "autoencoder": autoencoder.config,
        "sha256": {name: _sha256(folder / name) for name in files},
        "facts": facts,
    }
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")


def load(folder: Path = FOLDER) -> BundledModel:
    """The networks in evaluation mode and float32; `SetupError` names a missing or broken file."""
    hint = "install the package again; its weights are part of it"
    path = folder / _MANIFEST
    if not path.is_file():
        raise SetupError(f"the bundled model's {_MANIFEST} is missing from {folder}", hint=hint)
    manifest = json.loads(path.read_text())
    denoiser_weights: dict[str, Tensor] = {}
    autoencoder_weights: dict[str, Tensor] = {}
    for name, digest in manifest["sha256"].items():
        file = folder / name
        if not file.is_file():
            raise SetupError(f"the weight file {name} is missing", hint=hint)
        if _sha256(file) != digest:
            raise SetupError(f"the weight file {name} is damaged (its hash differs)", hint=hint)
        target = autoencoder_weights if "autoencoder" in name else denoiser_weights
        target.update({key: value.float() for key, value in load_file(file).items()})
    sizes = dict(manifest["denoiser"])
    sizes["stem_widths"] = tuple(sizes["stem_widths"])
    denoiser = MultiViewVideoTransformer(TransformerConfig(**sizes))
    denoiser.load_state_dict(denoiser_weights)
    autoencoder = Autoencoder(**manifest["autoencoder"])
    autoencoder.load_state_dict(autoencoder_weights)
    return BundledModel(_frozen(denoiser), _frozen(autoencoder), manifest["facts"])


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
