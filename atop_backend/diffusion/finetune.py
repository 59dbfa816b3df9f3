"""Few-shot finetuning of either network on clips of one kind of motion (paper 4.2, 4.5).

A run is a function of its settings and clips: all random numbers of a step come from the seed and
the step's number, so a run that was stopped goes on to the same weights as one that was not, and
it does not matter how many processes share a batch.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from atop_backend.diffusion.clip_folders import TrainingClip, clip_paths, read_clip
from atop_backend.diffusion.clips import COLOUR, MOTION, SILHOUETTE
from atop_backend.diffusion.conditions import drop_text
from atop_backend.diffusion.denoiser import Denoiser
from atop_backend.diffusion.device import explaining_memory
from atop_backend.diffusion.finetune_base import (
    Base,
    Example,
    example_of,
    load_base,
    trained_parameters,
)
from atop_backend.diffusion.finetune_output import CHECKED_TIMES, write_samples, write_weights
from atop_backend.diffusion.finetune_run import Run
from atop_backend.diffusion.finetune_settings import SETTINGS, FinetuneConfig, keep_settings
from atop_backend.diffusion.processes import Processes
from atop_backend.diffusion.schedule import signal_and_noise, training_target
from atop_backend.errors import InputError

__all__ = ["SETTINGS", "Example", "FinetuneConfig", "Progress", "clip_loss", "finetune"]

_STATE, _LOG = "state.pt", "log.jsonl"
_LESS_MEMORY = (
    "take --checkpointing, --precision bf16, fewer --frames a step or a smaller --batch;"
    " --device cpu has the machine's memory"
)


class Progress(NamedTuple):
    """What a step reports; step 0 is the network as it was."""

    step: int
    total: int
    loss: float | None  # of the step's clips; None before the first one
    time: float | None  # their mean noise level
    by_noise: tuple[float, ...] | None  # held-out loss at low to high noise, when checked


def finetune(config: FinetuneConfig, on_step: Callable[[Progress], None] | None = None) -> Path:
    """Train, or go on where a run into the same folder stopped; returns the weight file.

    Raises:
        InputError: A clip is broken, or the folder holds a run with other settings.
        SetupError: The base model's weights are missing or broken, or memory ran out.
    """
    clips = [read_clip(path) for path in clip_paths(config.clips)]
    held_out = [read_clip(p) for p in clip_paths(config.held_out)] if config.held_out else []
    with explaining_memory(_LESS_MEMORY):
        processes = Processes(config.device)
        base = load_base(config, processes.device)
        return finetune_base(config, base, clips, held_out, on_step, processes)


def finetune_base(
    config: FinetuneConfig,
    base: Base,
    clips: list[TrainingClip],
    held_out: list[TrainingClip],
    on_step: Callable[[Progress], None] | None = None,
    processes: Processes | None = None,
) -> Path:
    """As `finetune`, from a network and clips that are already there."""
    processes = processes or Processes(config.device)
    # 1. what is trained, and where an earlier run left it
    if config.batch % processes.count:
        raise InputError(
            f"a batch of {config.batch} cannot be shared by {processes.count} processes",
            hint=f"give --batch {processes.count} or a multiple of it",
        )
    if processes.leads:
        keep_settings(config)
    processes.wait()
    network = base.network
    network.requires_grad_(False)
    network.train()  # neither network changes by it, but for the checkpoints of the bundled one
    network.checkpointing = config.checkpointing
    names, parameters = zip(*trained_parameters(network, config.trained), strict=True)
    for parameter in parameters:
        parameter.requires_grad_()
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    optimiser = kinds[config.optimiser](parameters, lr=config.learning_rate)
    numbers = _numbers(config, processes.device)
    scaler = torch.amp.GradScaler(processes.device.type, enabled=numbers == torch.float16)
    run = Run(parameters, optimiser, scaler)
    run.resume(config.out / _STATE)
    examples = [example_of(base, clip) for clip in clips]
    watched = [example_of(base, clip) for clip in held_out]
    loss_of = processes.share(_Loss(base.denoiser, numbers))

    # 2. steps, with a look at the held-out clips now and then
    def look(loss: float | None, time: float | None) -> None:
        by_noise = None
        due = run.step == config.steps or run.step % config.check_every == 0
        if due and (run.step or watched):
            with run.averaged():
                by_noise = _check(base.denoiser, watched, processes, numbers) if watched else None
            run.judge(by_noise)
            if processes.leads:
                run.save(config.out / _STATE)
        wanted = config.sample_every and run.step % config.sample_every == 0
        if processes.leads and wanted:
            shown, clip = (watched or examples)[0], (held_out or clips)[0]
            with run.averaged():
                write_samples(config.out / "samples", run.step, base, shown, clip)
        if processes.leads:
            record = Progress(run.step, config.steps, loss, time, by_noise)
            with (config.out / _LOG).open("a", encoding="utf-8") as log:
                log.write(json.dumps(record._asdict()) + "\n")
            if on_step is not None:
                on_step(record)

    if processes.leads:
        _cut_log(config.out / _LOG, run.step)
    if run.step == 0 and (watched or config.sample_every):
        look(None, None)
    while run.step < config.steps and not run.is_stale(config.patience):
        look(*_train_step(config, loss_of, examples, run, processes))

    # 3. what is given out
    network.eval()
    if processes.leads:
        write_weights(config, network, dict(zip(names, run.best, strict=True)), run, clips)
    processes.wait()
    return config.out / "finetuned.safetensors"


class _Loss(nn.Module):
    """The loss as a module, which is what processes can share."""

    def __init__(self, denoiser: Denoiser, numbers: torch.dtype) -> None:
        super().__init__()
        self.denoiser = denoiser
        self.numbers = numbers

    def forward(self, example: Example, time: float, generator: torch.Generator) -> Tensor:
        return clip_loss(self.denoiser, example, time, generator, self.numbers)


def _numbers(config: FinetuneConfig, device: torch.device) -> torch.dtype:
    """What products are computed in."""
    match config.precision:
        case "auto":
            return torch.bfloat16 if device.type == "cuda" else torch.float32
        case "bf16":
            return torch.bfloat16
        case "fp16":
            return torch.float16
        case "fp32":
            return torch.float32


def _train_step(
    config: FinetuneConfig,
    loss_of: nn.Module,
    examples: list[Example],
    run: Run,
    processes: Processes,
) -> tuple[float, float]:
    """One step; mean loss and mean noise level of its clips."""
    slots = range(processes.index, config.batch, processes.count)
    found = []
    run.optimiser.zero_grad()
    for number, slot in enumerate(slots):
        example, time, generator = _draw(config, examples, run.step * config.batch + slot)
        with processes.accumulating(loss_of, more=number + 1 < len(slots)):
            loss = loss_of(example, time, generator)
            run.scaler.scale(loss / len(slots)).backward()
        found.append((loss.item(), time))
    losses, times = zip(*processes.gather(found), strict=True)
    if not run.scaler.is_enabled() and not all(map(torch.isfinite, torch.tensor(losses))):
        raise InputError(
            f"the loss of step {run.step + 1} is no number",
            hint="lower --learning-rate, or take --precision fp32; then begin in a new folder",
        )
    run.scaler.unscale_(run.optimiser)
    nn.utils.clip_grad_norm_(run.parameters, config.clip_norm)
    run.scaler.step(run.optimiser)
    run.scaler.update()
    run.count(config.ema)
    return sum(losses) / len(losses), sum(times) / len(times)


def _draw(
    config: FinetuneConfig, examples: list[Example], number: int
) -> tuple[Example, float, torch.Generator]:
    """Some frames of a clip, a noise level, and what draws the noise.

    Args:
        number: Of the draw, counted through all steps.
    """
    generator = torch.Generator().manual_seed(config.seed * 1_000_003 + number)
    pick, time, drop = torch.rand(3, generator=generator).tolist()
    conditions, channels = examples[int(pick * len(examples))]
    count = channels.shape[2]
    chosen = torch.arange(count)
    if 0 < config.frames < count:
        chosen = torch.randperm(count, generator=generator)[: config.frames].sort().values
    conditions = conditions._replace(frames=conditions.frames[:, chosen])
    if drop < config.text_dropout:
        conditions = drop_text(conditions)
    return Example(conditions, channels[:, :, chosen]), time, generator


def clip_loss(
    denoiser: Denoiser,
    example: Example,
    time: float,
    generator: torch.Generator,
    numbers: torch.dtype = torch.bfloat16,
) -> Tensor:
    """Squared error of the prediction at one time (Eq. 1).

    The bundled network's motion counts where the part is seen, and more than its colours.

    Args:
        numbers: What products are computed in.
    """
    conditions, channels = example
    alpha, sigma = signal_and_noise(denoiser.prediction, time)
    noise = torch.randn(channels.shape, generator=generator).to(channels.device)
    timestep = torch.full((len(channels),), time, device=channels.device)
    device = channels.device.type
    with torch.autocast(device, numbers, enabled=numbers != torch.float32):
        found = denoiser.denoise(alpha * channels + sigma * noise, timestep, conditions)
    target = training_target(denoiser.prediction, channels, noise, alpha, sigma)
    errors = (found.float() - target).square()
    if denoiser.channels == COLOUR.stop:
        return errors.mean()
    seen = F.adaptive_avg_pool2d(conditions.mask.flatten(0, 1), channels.shape[-1])
    weights = (0.02 + seen).unflatten(0, conditions.mask.shape[:2])[:, :, None]
    motion = (weights * errors[:, :, :, MOTION]).mean() / weights.mean()
    outlines, colours = errors[:, :, :, SILHOUETTE].mean(), errors[:, :, :, COLOUR].mean()
    return motion + 0.5 * outlines + 0.25 * colours


@torch.no_grad()
def _check(
    denoiser: Denoiser, examples: list[Example], processes: Processes, numbers: torch.dtype
) -> tuple[float, ...]:
    """Held-out loss at each noise level, always with the same noise; the same in all processes."""
    own = [
        [
            clip_loss(
                denoiser, examples[number], time, torch.Generator().manual_seed(number), numbers
            ).item()
            for time in CHECKED_TIMES
        ]
        for number in range(processes.index, len(examples), processes.count)
    ]
    rows = sorted(processes.gather(own))  # a sum that does not depend on who measured what
    return tuple(sum(losses) / len(rows) for losses in zip(*rows, strict=True))


def _cut_log(path: Path, step: int) -> None:
    """Drop what was logged after the state from which the run goes on."""
    if path.is_file():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["step"] <= step] if step else []
        path.write_text("".join(kept), encoding="utf-8")
