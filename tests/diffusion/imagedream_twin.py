"""Writes ImageDream's files with random weights: the published layout in small."""

import json
import re
from dataclasses import replace

import torch
from diffusers import AutoencoderKL
from safetensors.torch import save_file
from transformers import CLIPTextConfig, CLIPTextModel, CLIPVisionConfig, CLIPVisionModel

from atop_backend.diffusion.unet import TINY, MultiViewVideoUNet

SETTINGS = TINY


def write_folder(folder, with_ip=True):
    """The layout of diffusers."""
    torch.manual_seed(0)
    unet = image_unet(with_ip)
    (folder / "unet").mkdir(parents=True)
    described = {
        key: value
        for key, value in unet.config.to_dict().items()
        if key not in ("temporal", "mask_channels", "rest_frame", "with_ip")
    }
    described |= {"_class_name": "MultiViewUNetModel", "_diffusers_version": "0.25.0"}
    described |= {"image_size": 32, "out_channels": 4, "transformer_depth": 1}
    (folder / "unet" / "config.json").write_text(json.dumps(described))
    tensors = {name: value.contiguous() for name, value in unet.image_state().items()}
    save_file(tensors, folder / "unet" / "diffusion_pytorch_model.safetensors")
    autoencoder().save_pretrained(folder / "vae")
    write_towers(folder)
    return folder


def write_original(folder, prefix="vae_model.", with_ip=True):
    """One .pt file with the original names, and the towers beside it."""
    torch.manual_seed(0)
    folder.mkdir(parents=True)
    tensors = {
        f"model.diffusion_model.{name}": value
        for name, value in image_unet(with_ip).image_state().items()
    }
    for name, value in autoencoder().state_dict().items():
        tensors[prefix + original_name(name)] = as_convolution(name, value)
    tensors["betas"] = torch.linspace(0, 1, 10)
    tensors["clip_model.logit_scale"] = torch.zeros(())
    file = folder / "sd-v2.1-base-4view-ipmv-local.pt"
    torch.save({"state_dict": tensors}, file)
    write_towers(folder)
    return file


def image_unet(with_ip):
    return MultiViewVideoUNet(replace(TINY, temporal=None, with_ip=with_ip))


def autoencoder():
    return AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(32, 32, 32, 64),
        layers_per_block=1,
        latent_channels=4,
        scaling_factor=0.18215,
    )


def as_convolution(name, value):
    """Attention of the original autoencoder is made of 1 x 1 convolutions."""
    is_matrix = ".attentions." in name and value.ndim == 2
    return value[:, :, None, None] if is_matrix else value


def original_name(name):
    """A name inside diffusers' autoencoder as the original calls it."""
    name = re.sub(r"up_blocks\.(\d)", lambda found: f"up.{3 - int(found[1])}", name)
    name = re.sub(r"mid_block\.resnets\.(\d)", lambda f: f"mid.block_{int(f[1]) + 1}", name)
    for new, old in (
        ("down_blocks.", "down."),
        ("mid_block.attentions.0", "mid.attn_1"),
        ("resnets", "block"),
        ("downsamplers.0.", "downsample."),
        ("upsamplers.0.", "upsample."),
        ("conv_shortcut", "nin_shortcut"),
        ("conv_norm_out", "norm_out"),
        ("group_norm", "norm"),
        ("to_out.0", "proj_out"),
        ("to_q", "q"),
        ("to_k", "k"),
        ("to_v", "v"),
    ):
        name = name.replace(new, old)
    return name


def write_towers(folder):
    text = CLIPTextConfig(
        vocab_size=600,
        hidden_size=TINY.context_dim,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=12,
    )
    CLIPTextModel(text).save_pretrained(folder / "text_encoder")
    vision = CLIPVisionConfig(
        hidden_size=TINY.ip_features,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=2,
        image_size=28,
        patch_size=14,
    )
    CLIPVisionModel(vision).save_pretrained(folder / "image_encoder")
    write_tokenizer(folder / "tokenizer")


def write_tokenizer(folder):
    folder.mkdir()
    letters = [chr(code) for code in range(33, 127)]
    entries = letters + [letter + "</w>" for letter in letters]
    entries += ["<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(
        json.dumps({entry: number for number, entry in enumerate(entries)})
    )
    (folder / "merges.txt").write_text("#version: 0.2\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CLIPTokenizer"}))
