"""Few-shot finetuning of either network on clips of one kind of motion (paper 4.2, 4.5).

A run is a function of its settings and clips: all random numbers of a step come from the seed and
the step's number, so a run that was stopped goes on to the same weights as one that was not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn

from atop_backend.diffusion import bundled
from atop_backend.diffusion.clip_folders import TrainingClip, clip_paths, read_clip
from atop_backend.diffusion.clips import COLOUR, MOTION, SILHOUETTE, pack
from atop_backend.diffusion.conditions import Conditions, drop_text
from atop_backend.diffusion.denoiser import Denoiser
from atop_backend.diffusion.device import pick_device
from atop_backend.diffusion.finetune_run import Run
from atop_backend.diffusion.imagedream import METADATA, finetuned_metadata, load_imagedream
from atop_backend.diffusion.schedule import signal_and_noise, training_target
from atop_backend.diffusion.text import TextEncoder
from atop_backend.diffusion.transformer import MultiViewVideoTransformer
from atop_backend.diffusion.unet import MultiViewVideoUNet, Trained
from atop_backend.errors import InputError
from atop_backend.geometry.cameras import embedding

_CHECKED_TIMES = (0.15, 0.4, 0.65, 0.9)
_STATE = "state.pt"


@dataclass(frozen=True, slots=True)
class FinetuneConfig:
    """One run. `SETTINGS` has the published ones by name."""

    clips: Path
    out: Path
    base: Literal["mini", "imagedream"] = "mini"
    weights: Path | None = None  # ImageDream's
    held_out: Path | None = None  # clips that are only looked at, for the early stop
    trained: Trained = "paper"
    steps: int = 400
    learning_rate: float = 1e-4
    optimiser: Literal["adam", "adamw"] = "adamw"
    frames: int = 3  # moved frames in a step, other ones each time; 0 takes all
    text_dropout: float = 0.1  # as the released code; guidance needs a network that knows no words
    clip_norm: float = 1.0  # largest gradient of a step
    ema: float = 0.99  # decay of the moving average that is written out
    check_every: int = 50  # steps between checks on held-out clips and saved states
    patience: int = 4  # checks without gain before the run ends; counts with held-out clips only
    checkpointing: bool = False  # recompute blocks in the backward pass: less memory, more time
    seed: int = 0
    device: str = "auto"


# paper 5.1, and what the released code does instead; the first is far outside what others found
# to keep an image model from returning its training clips
SETTINGS: dict[str, dict[str, Any]] = {
    "mini": {},
    "paper": {
        "base": "imagedream",
        "steps": 20_000,
        "learning_rate": 5e-4,
        "optimiser": "adam",
        "frames": 0,
        "ema": 0.999,
        "checkpointing": True,
    },
    "released": {
        "base": "imagedream",
        "trained": "paper_code",
        "steps": 4000,
        "learning_rate": 3e-5,
        "frames": 0,
        "ema": 0.999,
        "checkpointing": True,
    },
}


class Base(NamedTuple):
    """The network to start from and what reads its conditions."""

    denoiser: Denoiser
    network: MultiViewVideoTransformer | MultiViewVideoUNet  # owns the trained parameters
    encode_pictures: Callable[[Tensor], Tensor]
    encode_text: Callable[[str], Tensor]


class Example(NamedTuple):
    """One clip as the network sees it."""

    conditions: Conditions
    channels: Tensor  # (1, views, frames, channels, latent, latent)


class Progress(NamedTuple):
    """What a step reports."""

    step: int
    total: int
    loss: float
    by_noise: tuple[float, ...] | None  # held-out loss at low to high noise, when checked


def finetune(config: FinetuneConfig, on_step: Callable[[Progress], None] | None = None) -> Path:
    """Train, or go on where a run into the same folder stopped; returns the weight file.

    Raises:
        InputError: A clip is broken, or the folder holds a run with other settings.
        SetupError: The base model's weights are missing or broken.
    """
    clips = [read_clip(path) for path in clip_paths(config.clips)]
    held_out = [read_clip(p) for p in clip_paths(config.held_out)] if config.held_out else []
    return finetune_base(config, load_base(config), clips, held_out, on_step)


def load_base(config: FinetuneConfig) -> Base:
    """The published network that a run starts from."""
    device = pick_device(config.device)
    if config.base == "mini":
        model = bundled.load()
        encoder = TextEncoder("cpu")
        denoiser = model.denoiser.to(device)
        autoencoder = model.autoencoder.to(device)
        return Base(denoiser, denoiser, autoencoder.encode, lambda words: encoder.encode([words]))
    if config.weights is None:
        raise InputError(
            "finetuning ImageDream needs its weights", hint="name their folder with --weights"
        )
    parts = load_imagedream(config.weights)
    denoiser = parts.denoiser.to(device)
    autoencoder = parts.autoencoder.to(device)
    return Base(
        denoiser,
        denoiser.unet,
        autoencoder.encode,
        lambda words: parts.prompts.encode([words]),
    )


def trained_parameters(
    network: MultiViewVideoTransformer | MultiViewVideoUNet, trained: Trained
) -> Iterator[tuple[str, nn.Parameter]]:
    """What a run changes: of the bundled network the frame blocks, its part that knows time."""
    if isinstance(network, MultiViewVideoUNet):
        yield from network.trained_parameters(trained)
        return
    for name, parameter in network.named_parameters():
        parts = name.split(".")
        if trained == "all" or (parts[0] == "blocks" and int(parts[1]) % 2 == 1):
            yield name, parameter


def finetune_base(
    config: FinetuneConfig,
    base: Base,
    clips: list[TrainingClip],
    held_out: list[TrainingClip],
    on_step: Callable[[Progress], None] | None = None,
) -> Path:
    """As `finetune`, from a network and clips that are already there."""
    config.out.mkdir(parents=True, exist_ok=True)
    _write_settings(config)
    network = base.network
    network.requires_grad_(False)
    network.checkpointing = config.checkpointing
    names, parameters = zip(*trained_parameters(network, config.trained), strict=True)
    for parameter in parameters:
        parameter.requires_grad_()
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    optimiser = kinds[config.optimiser](parameters, lr=config.learning_rate)
    run = Run(parameters, optimiser)
    run.resume(config.out / _STATE)
    examples = [_example(base, clip) for clip in clips]
    watched = [_example(base, clip) for clip in held_out]

    with (config.out / "log.jsonl").open("a", encoding="utf-8") as log:
        while run.step < config.steps and not run.is_stale(config.patience):
            loss = _train_step(config, base.denoiser, examples, run)
            by_noise = None
            if run.step % config.check_every == 0 or run.step == config.steps:
                with run.averaged():
                    by_noise = _check(base.denoiser, watched) if watched else None
                run.judge(by_noise)
                run.save(config.out / _STATE)
            record = Progress(run.step, config.steps, loss, by_noise)
            log.write(json.dumps(record._asdict()) + "\n")
            if on_step is not None:
                on_step(record)
    return _write_weights(config, network, dict(zip(names, run.best, strict=True)), run, clips)


def _train_step(
    config: FinetuneConfig, denoiser: Denoiser, examples: list[Example], run: Run
) -> float:
    """One clip at one noise level."""
    generator = torch.Generator().manual_seed(config.seed * 1_000_003 + run.step)
    pick, time, drop = torch.rand(3, generator=generator).tolist()
    conditions, channels = examples[int(pick * len(examples))]
    count = channels.shape[2]
    chosen = torch.arange(count)
    if 0 < config.frames < count:
        chosen = torch.randperm(count, generator=generator)[: config.frames].sort().values
    conditions = conditions._replace(frames=conditions.frames[:, chosen])
    if drop < config.text_dropout:
        conditions = drop_text(conditions)
    loss = clip_loss(denoiser, Example(conditions, channels[:, :, chosen]), time, generator)
    run.optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(run.parameters, config.clip_norm)
    run.optimiser.step()
    run.count(config.ema)
    return loss.item()


def clip_loss(
    denoiser: Denoiser, example: Example, time: float, generator: torch.Generator
) -> Tensor:
    """Squared error of the prediction at one time (Eq. 1).

    The bundled network's motion counts where the part is seen, and more than its colours.
    """
    conditions, channels = example
    alpha, sigma = signal_and_noise(denoiser.prediction, time)
    noise = torch.randn(channels.shape, generator=generator).to(channels.device)
    timestep = torch.full((len(channels),), time, device=channels.device)
    device = channels.device.type
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
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
def _check(denoiser: Denoiser, examples: list[Example]) -> tuple[float, ...]:
    """Held-out loss at each noise level, always with the same noise."""
    return tuple(
        sum(
            clip_loss(denoiser, example, time, torch.Generator().manual_seed(number)).item()
            for number, example in enumerate(examples)
        )
        / len(examples)
        for time in _CHECKED_TIMES
    )


@torch.no_grad()
def _example(base: Base, clip: TrainingClip) -> Example:
    device = next(base.network.parameters()).device
    rgb = torch.from_numpy(clip.rgb).permute(0, 1, 4, 2, 3).float().to(device) / 255
    latents = torch.stack([base.encode_pictures(view) for view in rgb]).float()
    mask = torch.from_numpy(clip.mask)[:, None].float()
    if base.denoiser.channels == COLOUR.stop:
        positions, channels = torch.zeros_like(rgb[:, 0]), latents[:, 1:]
    elif clip.positions is None or clip.silhouettes is None or clip.motions is None:
        raise InputError(
            "a clip has no positions, silhouettes and motions, which the bundled model learns from",
            hint="render the clips with `atop clips`, or finetune ImageDream",
        )
    else:
        positions = torch.from_numpy(clip.positions).permute(0, 3, 1, 2).float()
        outlines = torch.from_numpy(clip.silhouettes)[:, :, None].float().to(device)
        motions = torch.from_numpy(clip.motions).float().to(device) / clip.part_radius
        channels = pack(latents[:, 1:], outlines, motions)
    conditions = Conditions(
        rgb=rgb[None, :, 0],
        mask=mask[None],
        positions=positions[None],
        rest_latents=latents[None, :, 0],
        cameras=torch.tensor([[embedding(camera).tolist() for camera in clip.cameras]]),
        text=base.encode_text(clip.prompt).float(),
        frames=torch.tensor(clip.frames[None], dtype=torch.float32),
        part_centre=torch.tensor(clip.part_centre[None], dtype=torch.float32),
        part_radius=torch.tensor([clip.part_radius], dtype=torch.float32),
    )
    return Example(conditions.to(device), channels[None])


def _write_settings(config: FinetuneConfig) -> None:
    """Write the settings, or refuse to mix two runs in one folder."""
    settings = {
        key: str(value) if isinstance(value, Path) else value
        for key, value in asdict(config).items()
    }
    path = config.out / "config.json"
    free = ("steps", "device", "out", "checkpointing", "patience")  # may change on going on
    if path.is_file():
        earlier = json.loads(path.read_text(encoding="utf-8"))
        changed = [k for k in settings if k not in free and settings[k] != earlier.get(k)]
        if changed:
            raise InputError(
                f"{config.out} holds a run with another {', '.join(changed)}",
                hint="take another folder, or the settings of that run to go on with it",
            )
    path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def _write_weights(
    config: FinetuneConfig,
    network: MultiViewVideoTransformer | MultiViewVideoUNet,
    weights: dict[str, Tensor],
    run: Run,
    clips: list[TrainingClip],
) -> Path:
    """Write the trained weights in half precision, and a card that says what they are."""
    if isinstance(network, MultiViewVideoUNet):
        metadata = finetuned_metadata(network.config, config.trained)
    else:
        metadata = {METADATA: json.dumps({"base": "mini", "trained": config.trained})}
    path = config.out / "finetuned.safetensors"
    halves = {name: value.half().cpu().contiguous() for name, value in weights.items()}
    save_file(halves, path, metadata=metadata)
    prompts = "".join(f"- {prompt}\n" for prompt in sorted({clip.prompt for clip in clips}))
    loss = "not measured" if run.best_loss == float("inf") else f"{run.best_loss:.4f}"
    (config.out / "README.md").write_text(
        f"# Finetuned weights for the {config.base} base\n\n"
        f"{run.step} steps on {len(clips)} clips, seed {config.seed}, learning rate "
        f"{config.learning_rate:g}; trained: {config.trained}. Loss on held-out clips: {loss}.\n\n"
        f"Use with `--finetuned {path.name}`. Prompts of the clips:\n\n{prompts}",
        encoding="utf-8",
    )
    return path
