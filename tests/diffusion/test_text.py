"""The sentence encoder gives what the published one gives, and only words matter to it."""

from __future__ import annotations

import pytest
import torch

from atop_backend.diffusion import text
from atop_backend.errors import SetupError

PROMPTS = [
    "the door opens",
    "pull out the second drawer from the top of the old nightstand that stands beside the big"
    " bed in the room upstairs",
    "éß 漢字 ?!",
]


@pytest.fixture(scope="module")
def encoder():
    return text.TextEncoder()


@pytest.mark.slow
def test_features_are_those_of_the_published_encoder(encoder):
    from transformers import AutoModel, AutoTokenizer

    folder = text.encoder_folder()
    batch = AutoTokenizer.from_pretrained(folder, local_files_only=True)(
        PROMPTS, padding="max_length", truncation=True, max_length=text.TOKENS, return_tensors="pt"
    )
    model = AutoModel.from_pretrained(folder, local_files_only=True).float().eval()
    with torch.no_grad():
        expected = model(**batch).last_hidden_state * batch["attention_mask"][..., None]
    assert (encoder.encode(PROMPTS) - expected).abs().max() < 1e-4


def test_a_prompt_means_the_same_whatever_its_case_and_spaces(encoder):
    features = encoder.encode(["the  Door\nopens ", "the door opens"])
    torch.testing.assert_close(features[0], features[1])


def test_a_prompt_means_the_same_alone_and_beside_longer_ones(encoder):
    alone, beside = encoder.encode(PROMPTS[:1])[0], encoder.encode(PROMPTS)[0]
    torch.testing.assert_close(alone, beside, atol=1e-4, rtol=1e-4)
    assert (alone[5:] == 0).all()  # [CLS] the door opens [SEP], and nothing


def test_a_missing_encoder_is_the_installers_to_mend(tmp_path, monkeypatch):
    monkeypatch.setenv(text.FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(SetupError, match="weights are missing"):
        text.TextEncoder()
