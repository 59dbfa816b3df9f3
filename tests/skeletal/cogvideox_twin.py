"""CogVideoX in miniature: the layout of the real folder, random weights."""

from __future__ import annotations

from pathlib import Path

import torch
from diffusers import (
    AutoencoderKLCogVideoX,
    CogVideoXDDIMScheduler,
    CogVideoXTransformer3DModel,
)
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, T5Config, T5EncoderModel

HEIGHT, WIDTH, FRAMES = 32, 48, 5


def write_twin(folder: Path, *, velocity: bool = True) -> Path:
    """A folder like CogVideoX-5B's (velocity, rotary positions), or like 2B's."""
    torch.manual_seed(0)
    CogVideoXTransformer3DModel(
        num_attention_heads=2, attention_head_dim=16, in_channels=4, out_channels=4,
        time_embed_dim=8, text_embed_dim=16, num_layers=1, sample_width=WIDTH // 4,
        sample_height=HEIGHT // 4, sample_frames=FRAMES, max_text_seq_length=8,
        use_rotary_positional_embeddings=velocity,
    ).save_pretrained(folder / "transformer")  # fmt: skip
    AutoencoderKLCogVideoX(
        block_out_channels=(8, 8, 8), layers_per_block=1, norm_num_groups=2, latent_channels=4,
        down_block_types=("CogVideoXDownBlock3D",) * 3, up_block_types=("CogVideoXUpBlock3D",) * 3,
        sample_height=HEIGHT, sample_width=WIDTH,
    ).save_pretrained(folder / "vae")  # fmt: skip
    config = T5Config(
        vocab_size=12, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, pad_token_id=0,
        eos_token_id=1,
    )  # fmt: skip
    T5EncoderModel(config).save_pretrained(folder / "text_encoder")
    words = {w: i for i, w in enumerate(["<pad>", "</s>", "<unk>", "it", "walks", "bends"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder / "tokenizer")
    CogVideoXDDIMScheduler(
        prediction_type="v_prediction" if velocity else "epsilon",
        rescale_betas_zero_snr=velocity,
        snr_shift_scale=1.0 if velocity else 3.0,
    ).save_pretrained(folder / "scheduler")
    return folder
