"""The networks behind LPIPS, CLIP score and FVD, from local files and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from atop_backend.errors import SetupError

HOW_TO_GET = {
    "lpips": "AlexNet as torchvision has it, alexnet-owt-7be5be79.pth (244 MB), from"
    " https://download.pytorch.org/models/alexnet-owt-7be5be79.pth; give it with --alexnet FILE",
    "clip": "a folder of a CLIP model for transformers (config.json, model.safetensors, vocab.json,"
    " merges.txt), such as openai/clip-vit-base-patch16; give it with --clip DIR",
    "fvd": "the I3D network of Kinetics-400 as TorchScript, i3d_torchscript.pt (50 MB), which"
    " StyleGAN-V links to; give it with --i3d FILE",
}
I3D_FRAMES = 10  # fewer than these do not pass its poolings

_ALEXNET = (  # convolutions: place in torchvision's `features`, channels, side, stride, padding
    (0, 3, 64, 11, 4, 2),
    (3, 64, 192, 5, 1, 2),
    (6, 192, 384, 3, 1, 1),
    (8, 384, 256, 3, 1, 1),
    (10, 256, 256, 3, 1, 1),
)
_POOLED_BEFORE = (3, 6)
_SHIFT, _SPREAD = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)  # of LPIPS, for [-1, 1]
_CLIP_MEANS = (0.48145466, 0.4578275, 0.40821073)
_CLIP_SPREADS = (0.26862954, 0.26130258, 0.27577711)

Pictures = Float[Tensor, "frames 3 height width"]  # display values in [0, 1]


class Lpips(nn.Module):
    """LPIPS 0.1 with AlexNet: linear heads from torchmetrics over AlexNet's five layers.

    The five convolutions are written out: a torchvision that fits the installed torch is often
    not to be had, and nothing else of it would be used.

    Args:
        backbone: Weights of torchvision's AlexNet.
    """

    shift: Tensor
    spread: Tensor

    def __init__(self, backbone: Path) -> None:
        super().__init__()
        self.layers = nn.ModuleDict()
        for place, inputs, outputs, side, stride, padding in _ALEXNET:
            self.layers[str(place)] = nn.Conv2d(inputs, outputs, side, stride, padding)
        heads = _read(_heads_file(), "LPIPS's linear heads")
        self.heads = nn.ParameterList(
            heads[f"lin{number}.model.1.weight"] for number in range(len(_ALEXNET))
        )
        weights = _read(backbone, "AlexNet's weights")
        wanted = {f"features.{key}": key for key in self.layers.state_dict()}
        found = {key: weights[name] for name, key in wanted.items() if name in weights}
        try:
            self.layers.load_state_dict(found)
        except RuntimeError as error:
            raise SetupError(
                f"{backbone} does not hold torchvision's AlexNet", hint=HOW_TO_GET["lpips"]
            ) from error
        self.register_buffer("shift", torch.tensor(_SHIFT)[:, None, None], persistent=False)
        self.register_buffer("spread", torch.tensor(_SPREAD)[:, None, None], persistent=False)
        self.eval().requires_grad_(False)

    def forward(self, made: Pictures, wanted: Pictures) -> Float[Tensor, " frames"]:
        """The distance of each frame to its reference."""
        total = made.new_zeros(len(made))
        pairs = zip(self._features(made), self._features(wanted), strict=True)
        for head, (first, second) in zip(self.heads, pairs, strict=True):
            gaps = (F.normalize(first, dim=1) - F.normalize(second, dim=1)).square()
            total = total + F.conv2d(gaps, head).mean(dim=(1, 2, 3))
        return total

    def _features(self, pictures: Tensor) -> Iterator[Tensor]:
        x = (2 * pictures - 1 - self.shift) / self.spread
        for place, *_ in _ALEXNET:
            if place in _POOLED_BEFORE:
                x = F.max_pool2d(x, 3, stride=2)
            x = F.relu(self.layers[str(place)](x))
            yield x


def _heads_file() -> Path:
    import torchmetrics

    folder = Path(torchmetrics.__file__).parent
    return folder / "functional" / "image" / "lpips_models" / "alex.pth"


def _read(path: Path, what: str) -> dict[str, Tensor]:
    if not path.is_file():
        raise SetupError(f"{what} are not at {path}", hint=HOW_TO_GET["lpips"])
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch.load raises whatever its readers do
        raise SetupError(f"{path} cannot be read as {what}", hint="copy the file again") from error


class ClipScore(nn.Module):
    """How well pictures fit a sentence: 100 times the cosine of CLIP's features, 0 at least.

    Args:
        folder: A CLIP model with its tokenizer.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        from transformers import CLIPModel, CLIPTokenizer

        if not (folder / "config.json").is_file():
            raise SetupError(f"{folder} holds no CLIP model", hint=HOW_TO_GET["clip"])
        try:
            self.model = CLIPModel.from_pretrained(folder, local_files_only=True)
            self.tokenizer = CLIPTokenizer.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            reason = (str(error).splitlines() or [""])[0][:160]
            raise SetupError(
                f"the CLIP model in {folder} cannot be read ({reason})", hint=HOW_TO_GET["clip"]
            ) from error
        self.eval().requires_grad_(False)

    def forward(self, pictures: Pictures, prompt: str) -> Float[Tensor, " frames"]:
        """The score of each frame."""
        sizes: Any = self.model.config
        side = sizes.vision_config.image_size
        means, spreads = (
            torch.tensor(values, device=pictures.device)[:, None, None]
            for values in (_CLIP_MEANS, _CLIP_SPREADS)
        )
        small = F.interpolate(pictures, (side, side), mode="bicubic", antialias=True).clamp(0, 1)
        words = self.tokenizer(
            prompt,
            truncation=True,
            max_length=sizes.text_config.max_position_embeddings,
            return_tensors="pt",
        ).to(pictures.device)
        found = self.model(
            input_ids=words.input_ids,
            attention_mask=words.attention_mask,
            pixel_values=(small - means) / spreads,
        )
        cosines = F.normalize(found.image_embeds, dim=1) @ F.normalize(found.text_embeds, dim=1).T
        return 100 * cosines[:, 0].clamp_min(0)


class VideoFeatures(nn.Module):
    """Features of whole videos for FVD.

    Args:
        file: I3D as TorchScript; it scales and resizes by itself.
    """

    def __init__(self, file: Path) -> None:
        super().__init__()
        if not file.is_file():
            raise SetupError(f"I3D is not at {file}", hint=HOW_TO_GET["fvd"])
        try:
            self.network = torch.jit.load(str(file), map_location="cpu").eval()
        except (RuntimeError, ValueError) as error:
            raise SetupError(f"{file} is no TorchScript", hint=HOW_TO_GET["fvd"]) from error

    def forward(self, pictures: Pictures) -> Float[Tensor, " features"]:
        """The features of one video."""
        video = (255 * pictures).transpose(0, 1)[None]
        return self.network(video, rescale=True, resize=True, return_features=True)[0]
