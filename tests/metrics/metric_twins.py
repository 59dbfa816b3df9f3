"""Files of networks as the metrics read them, with random weights."""

import json

import torch
from torch import nn
from transformers import CLIPConfig, CLIPModel


class VideoNetwork(nn.Module):
    """Is called like I3D's TorchScript."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv3d(3, 5, 3)

    def forward(self, x, rescale: bool = False, resize: bool = False, return_features: bool = True):
        if rescale:
            x = x / 127.5 - 1
        if resize:
            x = nn.functional.interpolate(x, [x.shape[2], 32, 32])
        return self.layer(x).mean(dim=[2, 3, 4])


def write_i3d(path):
    torch.manual_seed(0)
    torch.jit.script(VideoNetwork()).save(str(path))
    return path


def write_alexnet(path):
    """The layout of torchvision's file; its classifier, which nothing reads, is left out."""
    torch.manual_seed(0)
    sizes = {0: (64, 3, 11), 3: (192, 64, 5), 6: (384, 192, 3), 8: (256, 384, 3), 10: (256, 256, 3)}
    state = {}
    for place, (outputs, inputs, side) in sizes.items():
        fan = inputs * side**2
        state[f"features.{place}.weight"] = torch.randn(outputs, inputs, side, side) / fan**0.5
        state[f"features.{place}.bias"] = torch.zeros(outputs)
    torch.save(state, path)
    return path


def write_clip(folder):
    torch.manual_seed(0)
    text = {"vocab_size": 600, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2,
            "num_attention_heads": 2, "max_position_embeddings": 16,
            "bos_token_id": 188, "eos_token_id": 189}  # fmt: skip
    vision = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2,
              "num_attention_heads": 2, "image_size": 28, "patch_size": 14}  # fmt: skip
    model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=8))
    model.save_pretrained(folder)
    write_vocabulary(folder)
    return folder


def write_vocabulary(folder):
    letters = [chr(code) for code in range(33, 127)]
    entries = letters + [letter + "</w>" for letter in letters]
    entries += ["<|startoftext|>", "<|endoftext|>"]
    ids = {entry: number for number, entry in enumerate(entries)}
    (folder / "vocab.json").write_text(json.dumps(ids))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CLIPTokenizer"}))
