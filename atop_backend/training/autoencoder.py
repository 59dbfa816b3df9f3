"""Training of the small autoencoder on generated pictures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from atop_backend.diffusion.autoencoder import Autoencoder

LATENT_NOISE = 0.05  # of their spread; makes the decoder forgive what a denoiser gets wrong
EDGE_WEIGHT = 0.5
LATENT_PENALTY = 1e-4


def picture_loss(decoded: Tensor, pictures: Tensor) -> Tensor:
    """Absolute error of pixels (n, 3, h, w) and of their steps to the next pixel."""
    error = decoded - pictures
    across, down = error.diff(dim=-1).abs().mean(), error.diff(dim=-2).abs().mean()
    return error.abs().mean() + EDGE_WEIGHT * (across + down)


def train_autoencoder(
    autoencoder: Autoencoder,
    batches: Iterator[Tensor],
    steps: int,
    seconds: float,
    report: Callable[[str], None],
    rate: float = 8e-4,
) -> float:
    """Train until `steps` or `seconds` are spent, set the latent scale; PSNR of the last batch.

    Args:
        batches: Pictures (n, 3, 256, 256) in [0, 1], on the device to train on.
    """
    device = next(autoencoder.parameters()).device
    on_gpu = device.type == "cuda"
    autoencoder.train().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimiser = torch.optim.AdamW(autoencoder.parameters(), rate, betas=(0.9, 0.98), fused=on_gpu)
    start, done, step = time.monotonic(), 0.0, 0
    while done < 1:
        done = max((step + 1) / steps, (time.monotonic() - start) / seconds)
        optimiser.param_groups[0]["lr"] = rate * min(1, (step + 1) / 100, max(0.0, 1 - done) / 0.5)
        pictures = next(batches).contiguous(memory_format=torch.channels_last)
        with torch.autocast(device.type, torch.bfloat16, enabled=on_gpu):
            raw = autoencoder.encoder(pictures * 2 - 1)
            noisy = raw + LATENT_NOISE * raw.detach().std() * torch.randn_like(raw)
            decoded = autoencoder.decoder(noisy) * 0.5 + 0.5
        loss = (
            picture_loss(decoded.float(), pictures) + LATENT_PENALTY * raw.float().square().mean()
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(autoencoder.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        step += 1
        if step % 200 == 0:
            report(f"autoencoder step {step} loss {float(loss.detach()):.4f}")
    autoencoder.eval()
    return _finish(autoencoder, next(batches))


@torch.no_grad()
def _finish(autoencoder: Autoencoder, pictures: Tensor) -> float:
    raw = autoencoder.encoder(pictures * 2 - 1).float()
    autoencoder.latent_shift.copy_(raw.mean(dim=(0, 2, 3))[:, None, None])
    autoencoder.latent_scale.copy_(raw.std(dim=(0, 2, 3))[:, None, None])
    decoded = autoencoder.decode(autoencoder.encode(pictures)).clamp(0, 1)
    error = (decoded.float() - pictures).square().mean()
    return float(-10 * error.log10())
