"""CogVideoX as a judge of rendered videos, from a local folder in the layout of diffusers.

    transformer/  vae/  text_encoder/  tokenizer/  scheduler/

CogVideoX-2B predicts the noise, 5B the velocity with zero terminal signal-to-noise ratio: at its
last step nothing of the video is left, so times stay below it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from atop_backend.diffusion.denoiser import Prediction
from atop_backend.diffusion.schedule import Estimate, interpret
from atop_backend.errors import InputError, missing_package

PARTS = ("transformer", "vae", "text_encoder", "tokenizer", "scheduler")
Latents = Float[Tensor, "1 latent_frames channels latent_height latent_width"]
_PREDICTIONS: dict[str, Prediction] = {"v_prediction": "v", "epsilon": "epsilon"}


class Words(NamedTuple):
    """A prompt as the transformer takes it, and the empty prompt."""

    said: Float[Tensor, "1 tokens width"]
    unsaid: Float[Tensor, "1 tokens width"]


class CogVideoX:
    """The frozen networks.

    Args:
        transformer, vae, scheduler: As diffusers has them; the first two on the device.
        folder: Where the text encoder and its tokenizer lie.
    """

    def __init__(
        self, transformer: Any, vae: Any, scheduler: Any, folder: Path, device: torch.device
    ) -> None:
        self.folder, self.device, self.dtype = folder, device, _dtype(device)
        self.transformer: Any = transformer.eval().requires_grad_(False)
        self.vae: Any = vae.eval().requires_grad_(False)
        self.vae.enable_gradient_checkpointing()  # pictures need its gradient: the memory's peak
        self.vae.enable_slicing()
        prediction = scheduler.config.prediction_type
        if prediction not in _PREDICTIONS:
            raise InputError(
                f"{folder} predicts {prediction!r}", hint="give a model of noise or velocity"
            )
        self.prediction: Prediction = _PREDICTIONS[prediction]
        self.alpha_bars: Tensor = scheduler.alphas_cumprod.double().cpu()

    @classmethod
    def load(cls, folder: Path, device: torch.device) -> CogVideoX:
        """The model in a folder, see above; nothing is downloaded.

        Raises:
            InputError: The folder does not hold such a model.
            SetupError: diffusers or transformers is missing.
        """
        missing = [part for part in PARTS if not (folder / part).is_dir()]
        if missing:
            raise InputError(
                f"{folder} has no {', '.join(missing)}",
                hint="give a folder with CogVideoX as diffusers stores it",
            )
        try:
            from diffusers import (
                AutoencoderKLCogVideoX,
                CogVideoXDDIMScheduler,
                CogVideoXTransformer3DModel,
            )
        except ImportError as error:
            raise missing_package("CogVideoX needs", "diffusers", "ml") from error
        return cls(
            _network(CogVideoXTransformer3DModel, folder / "transformer", device),
            _network(AutoencoderKLCogVideoX, folder / "vae", device),
            _loaded(CogVideoXDDIMScheduler, folder / "scheduler"),
            folder,
            device,
        )

    @property
    def picture_size(self) -> tuple[int, int]:
        """Height and width in pixels that the model was made for."""
        shrink = self._shrink
        config = self.transformer.config
        return config.sample_height * shrink, config.sample_width * shrink

    @property
    def _shrink(self) -> int:
        return 2 ** (len(self.vae.config.block_out_channels) - 1)

    def frames_for(self, wanted: int) -> int:
        """The nearest number of frames that fills latent frames, and patches of them."""
        step = int(self.vae.config.temporal_compression_ratio)
        patch = self.transformer.config.patch_size_t or 1
        latent = max(1, round((wanted - 1) / step)) + 1
        latent += -latent % patch
        return step * (latent - 1) + 1

    def latent_shape(self, frames: int) -> tuple[int, int, int, int, int]:
        """Shape of the latents of a video with as many frames as `frames_for` allows."""
        config = self.transformer.config
        step = int(self.vae.config.temporal_compression_ratio)
        size = config.sample_height, config.sample_width
        return (1, (frames - 1) // step + 1, config.in_channels, *size)

    def read(self, prompt: str) -> Words:
        """The prompt and the empty prompt; the text encoder is let go afterwards."""
        from transformers import AutoTokenizer, T5EncoderModel

        tokenizer: Any = _loaded(AutoTokenizer, self.folder / "tokenizer")
        encoder = _network(T5EncoderModel, self.folder / "text_encoder", self.device).eval()
        length = self.transformer.config.max_text_seq_length
        with torch.no_grad():
            tokens = tokenizer(
                [prompt, ""], padding="max_length", max_length=length, truncation=True,
                return_tensors="pt",
            )  # fmt: skip
            said, unsaid = encoder(tokens.input_ids.to(self.device))[0].to(self.dtype).split(1)
        return Words(said, unsaid)

    def encode(self, pictures: Float[Tensor, "frames 3 height width"]) -> Latents:
        """Latents of a video, with gradients to its pixels in [0, 1]."""
        video = (2 * pictures - 1).to(self.dtype).permute(1, 0, 2, 3)[None]
        latents = self.vae.encode(video).latent_dist.mode() * self.vae.config.scaling_factor
        return latents.permute(0, 2, 1, 3, 4).float()

    def levels(self, time: float) -> tuple[int, float, float]:
        """The training step nearest to a time in [0, 1], and its signal and noise factors.

        Steps at which nothing of the signal is left are avoided.
        """
        last = int((self.alpha_bars > 1e-6).sum()) - 1
        step = min(round(time * (len(self.alpha_bars) - 1)), last)
        share = float(self.alpha_bars[step])
        return step, share**0.5, (1 - share) ** 0.5

    def estimate(self, words: Words, time: float, scale: float) -> Callable[[Latents], Estimate]:
        """What the model makes of noisy latents at a time, with classifier-free guidance.

        Args:
            scale: 1 for no guidance; the two passes follow each other, to spare memory.
        """
        step, alpha, sigma = self.levels(time)

        def answer(noisy: Latents) -> Estimate:
            output = self._predict(noisy, words.said, step)
            if scale != 1:
                without = self._predict(noisy, words.unsaid, step)
                output = without + scale * (output - without)
            return interpret(self.prediction, output, noisy, alpha, sigma)

        return answer

    def _predict(self, noisy: Latents, text: Tensor, step: int) -> Latents:
        with torch.no_grad():
            output = self.transformer(
                hidden_states=noisy.to(self.dtype),
                encoder_hidden_states=text,
                timestep=torch.tensor([step], device=self.device),
                image_rotary_emb=self._rotary(noisy),
                return_dict=False,
            )[0]
        return output.float()

    def _rotary(self, noisy: Latents) -> tuple[Tensor, Tensor] | None:
        """Rotary position embeddings of a latent video, as the pipeline of diffusers makes them."""
        if not self.transformer.config.use_rotary_positional_embeddings:
            return None
        from diffusers import CogVideoXPipeline

        frames, height, width = noisy.shape[1], noisy.shape[3], noisy.shape[4]
        stand_in = _PipelineParts(self.transformer, self._shrink)
        return CogVideoXPipeline._prepare_rotary_positional_embeddings(
            stand_in,  # type: ignore[arg-type]
            height * self._shrink, width * self._shrink, frames, self.device,
        )  # fmt: skip


class _PipelineParts(NamedTuple):
    """What that method of the pipeline looks at."""

    transformer: Any
    vae_scale_factor_spatial: int


def _dtype(device: torch.device) -> torch.dtype:
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def _network(kind: Any, folder: Path, device: torch.device) -> Any:
    return _loaded(kind, folder, torch_dtype=_dtype(device)).to(device)


def _loaded(kind: Any, folder: Path, **options: Any) -> Any:
    try:
        return kind.from_pretrained(str(folder), local_files_only=True, **options)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise InputError(
            f"{folder} cannot be loaded ({str(error).splitlines()[0] if str(error) else error!r})",
            hint="give a complete folder of CogVideoX weights in the layout of diffusers",
        ) from error
