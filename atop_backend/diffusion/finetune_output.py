"""What a finetuning run leaves: a small weight file with a card, and pictures on the way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor

from atop_backend import __version__
from atop_backend.diffusion.checkpoints import METADATA
from atop_backend.diffusion.clip_folders import TrainingClip
from atop_backend.diffusion.clips import COLOUR
from atop_backend.diffusion.finetune_base import Base, Example
from atop_backend.diffusion.finetune_run import Run
from atop_backend.diffusion.finetune_settings import FinetuneConfig
from atop_backend.diffusion.sample import sample
from atop_backend.diffusion.transformer import MultiViewVideoTransformer
from atop_backend.diffusion.unet import ADDED_SETTINGS, MultiViewVideoUNet

CHECKED_TIMES = (0.15, 0.4, 0.65, 0.9)  # noise levels of the loss on held-out clips
_SHOWN = 3  # moved frames in a picture of samples
_STEPS = {"v": 4, "epsilon": 50}  # as in use
_SCALES = {"v": 1.0, "epsilon": 5.0}


def write_samples(
    folder: Path, step: int, base: Base, example: Example, clip: TrainingClip
) -> Path:
    """Write a grid: the clip above, what the network makes of its rest views and words below.

    Four views after each other, each at rest and at some moved frames; always the same noise.
    """
    count = len(clip.frames)
    shown = np.unique(np.linspace(0, count - 1, min(count, _SHOWN) + 1)[1:].round().astype(int))
    conditions = example.conditions._replace(frames=example.conditions.frames[:, shown])
    kind = base.denoiser.prediction
    with torch.autocast(
        conditions.rgb.device.type, torch.bfloat16, enabled=conditions.rgb.device.type == "cuda"
    ):
        channels = sample(
            base.denoiser, conditions, _STEPS[kind], _SCALES[kind],
            torch.Generator().manual_seed(0),
        )  # fmt: skip
    with torch.no_grad():
        drawn = base.decode_pictures(channels[0, :, :, COLOUR].float()).clamp(0, 1)
    made = (drawn.permute(0, 1, 3, 4, 2) * 255).round().byte().cpu().numpy()
    truth = clip.rgb[:, [0, *(shown + 1)]]
    rows = [truth, np.concatenate([truth[:, :1], made], axis=1)]
    grid = np.concatenate([np.concatenate([*np.concatenate([*row], axis=0)], axis=1)
                           for row in rows])  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"step_{step:06d}.png"
    picture = Image.fromarray(grid)
    picture.resize((picture.width // 2, picture.height // 2), Image.Resampling.BOX).save(path)
    return path


def write_weights(
    config: FinetuneConfig,
    network: MultiViewVideoTransformer | MultiViewVideoUNet,
    weights: dict[str, Tensor],
    run: Run,
    clips: Sequence[TrainingClip],
) -> Path:
    """Write the trained weights in half precision, and a card that says what they are."""
    told: dict[str, Any] = {
        "base": config.base,
        "trained": config.trained,
        "steps": run.step,
        "clips": len(clips),
    }
    if isinstance(network, MultiViewVideoUNet):
        told["network"] = {key: getattr(network.config, key) for key in ADDED_SETTINGS}
    path = config.out / "finetuned.safetensors"
    halves = {name: value.half().cpu().contiguous() for name, value in weights.items()}
    unfinished = path.with_suffix(".part")
    save_file(halves, unfinished, metadata={METADATA: json.dumps(told)})
    unfinished.replace(path)
    count = sum(value.numel() for value in halves.values())
    (config.out / "README.md").write_text(
        _card(config, run, clips, count, path.stat().st_size), encoding="utf-8"
    )
    return path


def _card(
    config: FinetuneConfig, run: Run, clips: Sequence[TrainingClip], count: int, size: int
) -> str:
    """The model card."""
    prompts = "".join(f"- {prompt}\n" for prompt in sorted({clip.prompt for clip in clips}))
    weights = " --preset imagedream --weights DIR" if config.base == "imagedream" else ""
    lines = [
        f"# Finetuned weights for the {config.base} base",
        "",
        f"{count:,} parameters ({size / 1e6:.1f} MB, half precision) that take the place of the"
        f" base's: {config.trained}. Of no use without the base, whose licence holds for them too.",
        "",
        "    atop articulate OBJECT --part NAME --prompt TEXT"
        f"{weights} --finetuned finetuned.safetensors",
        "",
        f"Trained by atop {__version__} for {run.step} steps of {config.batch} on {len(clips)}"
        f" clips, learning rate {config.learning_rate:g}, {config.optimiser}, seed {config.seed};"
        " config.json has all settings, log.jsonl every step.",
        "",
        *_losses(run),
        "Prompts of the clips; expect it to help with these motions and to do harm to others:",
        "",
        prompts,
    ]
    return "\n".join(lines)


def _losses(run: Run) -> list[str]:
    """What the held-out clips say, as a table."""
    if not run.checks:
        return ["No clips were held out, so nothing is known of other objects than these.", ""]
    head = " | ".join(f"{time:g}" for time in CHECKED_TIMES)
    rows = [
        f"| {name}, step {step} | " + " | ".join(f"{loss:.4f}" for loss in losses) + " |"
        for name, (step, losses) in (("first", run.checks[0]), ("kept", run.best_check()))
    ]
    return [
        "Loss on held-out clips by share of noise:",
        "",
        f"| | {head} |",
        "|---|" + "---|" * len(CHECKED_TIMES),
        *rows,
        "",
    ]
