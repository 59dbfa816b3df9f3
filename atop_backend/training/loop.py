"""The training loop of the bundled denoiser: fast on one GPU, exact when resumed.

Recipe: bfloat16 weights with a float32 master copy, Muon for the matrices of the blocks and AdamW
for the rest, v-prediction on a cosine schedule with more of the noisy levels (few denoising steps
are used later, and they start there), rate constant and then falling to zero.
"""

# pyright: reportArgumentType=false, reportCallIssue=false
from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from atop_backend.diffusion.clips import CHANNELS, COLOUR, MOTION, SILHOUETTE
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.schedule import training_target
from atop_backend.diffusion.transformer import Block, MultiViewVideoTransformer, forward_flops
from atop_backend.training.data import MOVED_FRAMES, Draw, Drawer, ObjectStream
from atop_backend.training.muon import Muon

NOISE_BINS = 4
_SEEDS_PER_PROCESS = 10_000_000  # objects that one process of one run can draw


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """Choices of a training run."""

    steps: int = 8000  # optimiser steps of the whole run; the schedule of the rate
    batch: int = 64  # clips of three moved frames; a third of it with all nine
    new_clips: int = 32  # drawn at a time; a clip is used batch push_every / new_clips times
    push_every: int = 4  # steps between two draws; few large ones keep the device busy
    ring: int = 4096  # clips kept on the device
    fill: int = 2048  # clips drawn before the first step
    frames: int = 3  # moved frames of a clip
    long_every: int = 10  # each so many steps all nine frames are denoised together; 0: never
    adam_rate: float = 1e-3
    muon_rate: float = 2e-3
    warmup: int = 150  # steps
    constant_share: float = 0.4  # of the steps, before the rate falls to zero
    clip_norm: float = 1.0
    ema: float = 0.999
    text_dropout: float = 0.1  # for classifier-free guidance
    noise_shift: float = 2.5  # above 1: more of the noisy levels
    colour_weight: float = 0.25  # the joint is read off the other two
    silhouette_weight: float = 0.5
    motion_weight: float = 1.0
    changed_weight: float = 6.0  # of what moved, over what stayed
    empty_weight: float = 0.02  # of the motion where nothing is seen that moves
    seed: int = 0


class Losses(NamedTuple):
    """Weighted squared errors of the velocity."""

    total: Tensor
    colour: Tensor
    silhouette: Tensor
    motion: Tensor
    by_noise: Tensor  # (bins,) sums of the motion loss
    counts: Tensor  # (bins,)


def schedule(timestep: Tensor) -> tuple[Tensor, Tensor]:
    """Signal and noise factors of the cosine schedule at shares (b,) of it, shaped for clips."""
    angle = (timestep * math.pi / 2).view(-1, 1, 1, 1, 1, 1)
    return angle.cos(), angle.sin()


def losses(
    predict: Callable[[Tensor, Tensor, Conditions], Tensor],
    batch: Draw,
    timestep: Tensor,
    noise: Tensor,
    config: TrainConfig,
) -> Losses:
    """Errors of the predicted velocity for one noised batch."""
    signal, spread = schedule(timestep)
    noisy = signal * batch.channels + spread * noise
    target = training_target("v", batch.channels, noise, signal, spread)
    error = (predict(noisy, timestep, batch.conditions).float() - target).square()

    colour = silhouette = error.new_zeros(())
    motion_error = error.mean(dim=3, keepdim=True)
    if error.shape[3] == CHANNELS:  # else the network denoises the motion alone
        moved = 1 + config.changed_weight * batch.changed
        colour = (moved * error[..., COLOUR, :, :]).mean() / moved.mean()
        silhouette = (moved * error[..., SILHOUETTE, :, :]).mean() / moved.mean()
        motion_error = error[..., MOTION, :, :].mean(dim=3, keepdim=True)
    # Averaged per clip: a knob of ten pixels counts as much as a door.
    share = batch.part_share[:, :, None]
    weight = config.empty_weight + torch.where(share > 0, 0.3 + 0.7 * share, 0.0)
    weight = weight.expand_as(motion_error)
    per_clip = (weight * motion_error).flatten(1).sum(dim=1) / weight.flatten(1).sum(dim=1)
    motion = per_clip.mean()
    bins = (timestep * NOISE_BINS).long().clamp_max(NOISE_BINS - 1)
    zeros = torch.zeros(NOISE_BINS, device=error.device)
    total = (
        config.colour_weight * colour
        + config.silhouette_weight * silhouette
        + config.motion_weight * motion
    )
    return Losses(
        total,
        colour.detach(),
        silhouette.detach(),
        motion.detach(),
        zeros.index_add(0, bins, per_clip.detach()),
        zeros.index_add(0, bins, torch.ones_like(per_clip)),
    )


def is_block_matrix(name: str, parameter: Tensor) -> bool:
    """Whether Muon trains it: the matrices inside the blocks."""
    return name.startswith("blocks.") and parameter.dim() == 2 and "modulation" not in name


class Trainer:
    """Model, optimisers and data of one run.

    With several processes (torchrun), each draws its own clips and gradients are averaged.
    """

    def __init__(
        self,
        model: MultiViewVideoTransformer,
        drawer: Drawer,
        config: TrainConfig,
        workers: int = 0,
        compile_blocks: bool = False,
    ) -> None:
        self.config = config
        self.rank = dist.get_rank() if dist.is_initialized() else 0
        self.world = dist.get_world_size() if dist.is_initialized() else 1
        self.device = drawer.device
        self.drawer = drawer
        self.model = model.to(self.device).train()
        self.names = [name for name, _ in model.named_parameters()]
        self.master = [p.detach().float().clone() for p in model.parameters()]
        self.ema = [p.clone() for p in self.master]
        half = self.device.type == "cuda"
        self.model.to(torch.bfloat16 if half else torch.float32)
        self.weights = list(self.model.parameters())
        self.gradients = _gradients_in_one_piece(self.master)
        chosen = [is_block_matrix(n, p) for n, p in zip(self.names, self.master, strict=True)]
        self.adam = torch.optim.AdamW(
            [p for p, muon in zip(self.master, chosen, strict=True) if not muon],
            lr=config.adam_rate,
            betas=(0.9, 0.98),
            weight_decay=0.01,
            fused=half,
        )
        self.muon = Muon(
            [p for p, muon in zip(self.master, chosen, strict=True) if muon], config.muon_rate
        )
        self.step = 0
        self.total_steps = config.steps
        self.pushes = 0
        self.workers = workers
        self.stream: ObjectStream | None = None
        self.ring = drawer.ring(config.ring)
        if compile_blocks:
            torch._dynamo.config.cache_size_limit = 64
            self.model.run_block = torch.compile(Block.forward, dynamic=False)
            self.model.stem.compile(dynamic=False)

    def _generator(self, purpose: int, index: int, device: torch.device) -> torch.Generator:
        generator = torch.Generator(device=device)
        stream = (self.config.seed * 4 + purpose) * self.world + self.rank
        generator.manual_seed((stream << 32) + index)
        return generator

    def _push(self) -> None:
        assert self.stream is not None
        objects = next(self.stream)
        generator = self._generator(0, self.pushes, torch.device("cpu"))
        self.ring.push(self.drawer.draw(objects, generator))
        self.pushes += 1

    def _first_fill(self) -> int:
        return math.ceil(self.config.fill / self.config.new_clips)

    def prepare(self) -> None:
        """Start the workers and fill the ring as it was at this step."""
        size = self.config.new_clips
        wanted = self._first_fill() + self.step // self.config.push_every
        kept = math.ceil(self.config.ring / size) + 1
        self.pushes = max(0, wanted - kept)
        own = (self.config.seed * self.world + self.rank) * _SEEDS_PER_PROCESS
        first_seed = own + self.pushes * size
        self.ring = self.drawer.ring(self.config.ring)
        self.ring.start_at(self.pushes * size)
        self.stream = ObjectStream(first_seed, size, self.workers, self.drawer.make)
        while self.pushes < wanted:
            self._push()

    def rate(self) -> float:
        """Share of the full learning rate at this step."""
        done = self.step / self.total_steps
        falling = (1 - done) / (1 - self.config.constant_share)
        return min(1.0, (self.step + 1) / self.config.warmup, max(falling, 0.0))

    def batch(self) -> tuple[Draw, Tensor, Tensor]:
        """The draw, timesteps and noise of this step."""
        config = self.config
        generator = self._generator(1, self.step, self.device)
        long = config.long_every > 0 and self.step % config.long_every == config.long_every - 1
        count, frames = config.batch, config.frames
        if long:
            count, frames = max(1, count // 3), MOVED_FRAMES
        draw = self.ring.draw(count, frames, generator)
        kept = torch.rand(count, 1, 1, device=self.device, generator=generator)
        text = draw.conditions.text * (kept >= config.text_dropout)
        draw = draw._replace(conditions=draw.conditions._replace(text=text))
        uniform = torch.rand(count, device=self.device, generator=generator)
        shift = config.noise_shift
        timestep = shift * uniform / (1 + (shift - 1) * uniform)
        noise = torch.randn(draw.channels.shape, device=self.device, generator=generator)
        return draw, timestep, noise

    def train_step(self) -> Losses:
        """One optimiser step; losses stay on the device."""
        draw, timestep, noise = self.batch()
        result = losses(self.model, draw, timestep, noise, self.config)
        result.total.backward()
        self._update()
        if self.step % self.config.push_every == self.config.push_every - 1:
            self._push()
        self.step += 1
        return result._replace(total=result.total.detach())

    @torch.no_grad()
    def _update(self) -> None:
        pairs = [
            (master.grad, weight.grad)
            for master, weight in zip(self.master, self.weights, strict=True)
            if weight.grad is not None
        ]
        torch._foreach_copy_([grad for grad, _ in pairs], [grad for _, grad in pairs])
        for weight in self.weights:
            weight.grad = None
        if self.world > 1:
            dist.all_reduce(self.gradients)
            self.gradients /= self.world
        torch.nn.utils.clip_grad_norm_(self.master, self.config.clip_norm, foreach=True)
        rate = self.rate()
        for optimiser, full in (
            (self.adam, self.config.adam_rate),
            (self.muon, self.config.muon_rate),
        ):
            optimiser.param_groups[0]["lr"] = full * rate
            optimiser.step()
        torch._foreach_copy_(self.weights, self.master)
        torch._foreach_lerp_(self.ema, self.master, 1 - self.config.ema)

    def flops_per_step(self) -> float:
        """Matrix operations of an average step: forward, and twice that backward."""
        sizes = self.model.config
        short = forward_flops(sizes, frames=self.config.frames) * self.config.batch
        if self.config.long_every <= 0:
            return 3 * short
        long = forward_flops(sizes, frames=MOVED_FRAMES) * max(1, self.config.batch // 3)
        return 3 * (short + (long - short) / self.config.long_every)

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs; the clips are drawn again."""
        return {
            "master": self.master,
            "ema": self.ema,
            "adam": self.adam.state_dict(),
            "muon": self.muon.state_dict(),
            "step": self.step,
            "total_steps": self.total_steps,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on where `state` was taken."""
        with torch.no_grad():
            for name in ("master", "ema"):
                for mine, saved in zip(getattr(self, name), state[name], strict=True):
                    mine.copy_(saved)
            torch._foreach_copy_(self.weights, self.master)
        self.adam.load_state_dict(state["adam"])
        self.muon.load_state_dict(state["muon"])
        self.step = state["step"]
        self.total_steps = state["total_steps"]

    def averaged(self) -> dict[str, Tensor]:
        """The moving average of the weights by name."""
        return dict(zip(self.names, self.ema, strict=True))

    def current(self) -> dict[str, Tensor]:
        """The weights by name, in full precision."""
        return dict(zip(self.names, self.master, strict=True))

    def agree_on_steps(self, total: int) -> None:
        """Take the first process's length of the schedule."""
        shared = torch.tensor(total, device=self.device)
        if self.world > 1:
            dist.broadcast(shared, src=0)
        self.total_steps = int(shared)

    def close(self) -> None:
        """End the workers."""
        if self.stream is not None:
            self.stream.close()


def _gradients_in_one_piece(parameters: list[Tensor]) -> Tensor:
    """Give every parameter a gradient that is a view into one vector, to average them in one go."""
    flat = torch.zeros(sum(p.numel() for p in parameters), device=parameters[0].device)
    for parameter, piece in zip(
        parameters, flat.split([p.numel() for p in parameters]), strict=True
    ):
        parameter.grad = piece.view_as(parameter)
    return flat


def save_state(trainer: Trainer, path: Path) -> None:
    """Write the run's state so that a crash leaves the old or the new file whole."""
    partial = path.with_suffix(".partial")
    torch.save(trainer.state(), partial)
    partial.replace(path)


class Meter:
    """Averages of the losses since the last report."""

    def __init__(self) -> None:
        self._sums: list[Tensor] | None = None
        self._count = 0
        self._since = time.monotonic()

    def add(self, result: Losses) -> None:
        """Add one step; nothing is read from the device."""
        values = [value.clone() for value in result]
        self._sums = (
            values
            if self._sums is None
            else [total + value for total, value in zip(self._sums, values, strict=True)]
        )
        self._count += 1

    def report(self, trainer: Trainer) -> str:
        """A line of averages; starts anew."""
        assert self._sums is not None
        total, colour, silhouette, motion = (float(s) / self._count for s in self._sums[:4])
        bins = (self._sums[4] / self._sums[5].clamp_min(1)).tolist()
        seconds = (time.monotonic() - self._since) / self._count
        line = (
            f"step {trainer.step} loss {total:.4f} colour {colour:.4f} silhouette {silhouette:.4f} "
            f"motion {motion:.4f} by noise {' '.join(f'{value:.3f}' for value in bins)} "
            f"rate {trainer.rate():.2f} {seconds * 1e3:.0f} ms/step "
            f"{trainer.world * trainer.config.batch / seconds:.0f} clips/s "
            f"{trainer.flops_per_step() / seconds / 1e12:.0f} TFLOP/s each"
        )
        self._sums, self._count, self._since = None, 0, time.monotonic()
        return line
