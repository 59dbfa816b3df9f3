"""Train a bundled model on generated objects alone: first the autoencoder, then the denoiser.

    python scripts/train_bundled.py --out runs/mini --seconds 1200
    python scripts/train_bundled.py --model rig --out runs/rig --seconds 400 --workers 4

The second trains the prior of rigged characters on generated creatures, with the autoencoder of the
bundled weights.

Needs a CUDA GPU and nvcc to be useful; `--tiny` goes the whole way on a CPU in a minute. A run that
is started again with the same --out goes on where its last saved state lies. Several GPUs of one
machine: `torchrun --nproc-per-node 2 scripts/train_bundled.py ...`; each adds its own batch.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file
from torch import Tensor

from atop_backend.creatures import probe as creature_probe
from atop_backend.creatures.data import ACTS, CreatureDrawer
from atop_backend.creatures.motion import FRAMES
from atop_backend.diffusion import bundled
from atop_backend.diffusion.autoencoder import Autoencoder
from atop_backend.diffusion.text import TextEncoder
from atop_backend.diffusion.transformer import (
    RIG,
    TINY,
    TINY_RIG,
    MultiViewVideoTransformer,
    TransformerConfig,
)
from atop_backend.training import probe
from atop_backend.training.autoencoder import train_autoencoder
from atop_backend.training.data import ClipDrawer, Drawer, ObjectStream
from atop_backend.training.loop import Meter, TrainConfig, Trainer, save_state


def process_rank() -> int:
    """This process's number among those that train together."""
    return int(os.environ.get("RANK", "0"))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the run")
    parser.add_argument("--model", choices=("mini", "rig"), default="mini")
    parser.add_argument("--seconds", type=float, default=0, help="fit the schedule into this time")
    parser.add_argument("--autoencoder-seconds", type=float, default=60)
    parser.add_argument("--init", type=Path, help="folder of bundled weights to go on from")
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--save-every", type=float, default=150, help="seconds between states")
    parser.add_argument("--held-out", type=int, default=256, help="objects to measure on")
    parser.add_argument("--tiny", action="store_true", help="small networks and few steps")
    parser.add_argument("--no-compile", action="store_true")
    for field in dataclasses.fields(TrainConfig):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default))
    return parser.parse_args()


# Clips of a creature have all frames, and only patches that see it are computed.
RIG_TRAINING = TrainConfig(
    batch=64, new_clips=32, push_every=4, ring=6144, fill=2048, frames=FRAMES, long_every=0,
    empty_weight=0.0,
)  # fmt: skip


def config_of(args: argparse.Namespace) -> TrainConfig:
    """The choices of the run: those of the model, and those given."""
    base = RIG_TRAINING if args.model == "rig" else TrainConfig()
    names = [field.name for field in dataclasses.fields(TrainConfig)]
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    return dataclasses.replace(base, **given)


def pictures(drawer: ClipDrawer, seed: int, workers: int, batch: int) -> Iterator[Tensor]:
    """Batches of pictures (batch, 3, 256, 256), mixed over many objects."""
    stream = ObjectStream(2_000_000_000 + seed, 8, workers)
    generator = torch.Generator().manual_seed(seed)
    pool: list[Tensor] = []
    try:
        while True:
            drawn = drawer.pictures(next(stream), generator)
            pool.append(drawn[torch.randperm(len(drawn), generator=generator).to(drawn.device)])
            if len(pool) >= 8:
                mixed = torch.cat(pool[-8:])
                for _ in range(2):
                    rows = torch.randint(len(mixed), (batch,), generator=generator)
                    yield mixed[rows.to(mixed.device)]
                pool = pool[-8:]
    finally:
        stream.close()


class Log:
    """Prints lines with the time and keeps them in the run's folder; the first process's alone."""

    def __init__(self, folder: Path) -> None:
        self._speaks = process_rank() == 0
        self._file = (folder / ("log.txt" if self._speaks else "log_others.txt")).open("a")
        self._start = time.monotonic()

    def __call__(self, line: str) -> None:
        if not self._speaks:
            return
        text = f"[{time.monotonic() - self._start:7.1f}] {line}"
        print(text, flush=True)
        print(text, file=self._file, flush=True)


def drawer_of(args: argparse.Namespace, device: torch.device, log: Log) -> Drawer:
    """What draws the run's clips, with its autoencoder."""
    words = TextEncoder(device)
    if args.model == "rig":
        autoencoder = Autoencoder(8, 16) if args.tiny else bundled.load().autoencoder
        return CreatureDrawer(autoencoder.to(device).eval(), words, device)
    autoencoder = Autoencoder(8, 16) if args.tiny else Autoencoder()
    drawer = ClipDrawer(autoencoder.to(device), words, device)
    get_autoencoder(args, drawer, log)
    return drawer


def get_autoencoder(args: argparse.Namespace, drawer: ClipDrawer, log: Log) -> None:
    """Load the run's autoencoder or train it."""
    path = args.out / "autoencoder.safetensors"
    seed = config_of(args).seed
    if args.init:
        drawer.autoencoder.load_state_dict(bundled.load(args.init).autoencoder.state_dict())
    elif path.is_file():  # several processes: train it first with one
        drawer.autoencoder.load_state_dict(load_file(path))
    else:
        batches = pictures(drawer, seed, args.workers, 4 if args.tiny else 96)
        psnr = train_autoencoder(
            drawer.autoencoder.requires_grad_(True),
            batches,
            steps=3 if args.tiny else 100_000,
            seconds=args.autoencoder_seconds,
            report=log,
        )
        batches.close()
        log(f"autoencoder trained, PSNR {psnr:.2f} dB")
        save_file({k: v.contiguous() for k, v in drawer.autoencoder.state_dict().items()}, path)
    drawer.autoencoder.eval().requires_grad_(False)


def own_autoencoder(args: argparse.Namespace, drawer: Drawer) -> Autoencoder | None:
    """The autoencoder that is written with the weights."""
    return drawer.autoencoder if args.model == "mini" else None


def train(args: argparse.Namespace, trainer: Trainer, log: Log) -> float:
    """Train to the end of the schedule; seconds spent."""
    started = time.monotonic()
    trainer.prepare()
    log(f"ring filled in {time.monotonic() - started:.1f} s, {trainer.pushes} pushes")
    meter, saved, begun, first = Meter(), time.monotonic(), time.monotonic(), trainer.step
    warm = first + 40  # compiled and settled from here on
    while trainer.step < trainer.total_steps:
        meter.add(trainer.train_step())
        if trainer.step == warm:
            report = meter.report(trainer)
            log(report)
            begun, first = time.monotonic(), trainer.step
        if args.seconds and trainer.step == warm + 200:
            report = meter.report(trainer)  # waits for the device
            pace = (time.monotonic() - begun) / 200
            left = args.seconds - (time.monotonic() - started)
            trainer.agree_on_steps(trainer.step + int(left / pace))
            log(f"{report}; {pace * 1e3:.1f} ms a step, {trainer.total_steps} steps in all")
        elif trainer.step % 100 == 0:
            log(meter.report(trainer))
        if time.monotonic() - saved > args.save_every and trainer.rank == 0:
            save_state(trainer, args.out / "state.pt")
            facts = {"unfinished": True, "step": trainer.step}
            bundled.save(
                args.out / "latest",
                trainer.model,
                trainer.averaged(),
                own_autoencoder(args, trainer.drawer),
                facts,
                args.model,
            )
            saved = time.monotonic()
    if trainer.rank == 0:
        save_state(trainer, args.out / "state.pt")
    return time.monotonic() - started


def measure_of(
    args: argparse.Namespace, drawer: Drawer
) -> Callable[[MultiViewVideoTransformer], tuple[float, str]]:
    """A function that says how good a network is on held-out clips, as a number and in words."""
    if isinstance(drawer, CreatureDrawer):
        creatures = creature_probe.held_out(drawer, args.held_out)

        def of_creatures(network: MultiViewVideoTransformer) -> tuple[float, str]:
            acts = 1 if args.tiny else ACTS
            found = creature_probe.outcomes(network, creatures, 2 if args.tiny else 12, acts=acts)
            errors = sorted(outcome.error for outcome in found)
            return -errors[len(errors) // 2], creature_probe.summary(found)

        return of_creatures
    assert isinstance(drawer, ClipDrawer)
    sets = probe.held_out(drawer, args.held_out)

    def of_objects(network: MultiViewVideoTransformer) -> tuple[float, str]:
        found = probe.outcomes(network, sets, steps=4, samples=1 if args.tiny else 4)
        good = sum(o.axis_error_deg < 10 and o.right_sign for o in found) / len(found)
        return good, f"4 steps: {probe.summary(found)}"

    return of_objects


def main() -> int:
    args = parse()
    args.out.mkdir(parents=True, exist_ok=True)
    log = Log(args.out)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    on_gpu = torch.cuda.is_available()
    if on_gpu:
        # cuDNN's attention is a third faster than flash attention at these lengths
        torch.backends.cuda.enable_flash_sdp(False)
        torch.backends.cuda.enable_mem_efficient_sdp(False)
    device = (
        torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        if on_gpu
        else torch.device("cpu")
    )
    if on_gpu:
        torch.cuda.set_device(device)
    if "RANK" in os.environ:
        dist.init_process_group("nccl" if on_gpu else "gloo")
    config = config_of(args)
    torch.manual_seed(config.seed)
    whole, tiny = (RIG, TINY_RIG) if args.model == "rig" else (TransformerConfig(), TINY)
    sizes = tiny if args.tiny else whole
    drawer = drawer_of(args, device, log)
    model = MultiViewVideoTransformer(sizes)
    if args.init:
        model.load_state_dict(bundled.load(args.init, args.model).denoiser.state_dict())
    trainer = Trainer(
        model, drawer, config, args.workers, compile_blocks=on_gpu and not args.no_compile
    )
    if (args.out / "state.pt").is_file():
        trainer.load_state(torch.load(args.out / "state.pt", map_location=device))
        log(f"going on at step {trainer.step}")
    seconds = train(args, trainer, log)
    trainer.close()
    if dist.is_initialized():
        dist.destroy_process_group()
    if trainer.rank != 0:
        return 0

    facts = {
        "training": dataclasses.asdict(config) | {"total_steps": trainer.total_steps},
        "seconds": round(seconds),
        "devices": trainer.world,
        "device": torch.cuda.get_device_name() if on_gpu else "cpu",
    }
    if args.model == "rig":
        facts |= {"name": "rig", "autoencoder_sha256": bundled.autoencoder_sha256()}
    plain = MultiViewVideoTransformer(sizes).to(device).eval()
    measure = measure_of(args, drawer)
    best: tuple[float, str] = (-math.inf, "")
    for name, weights in (("current", trainer.current()), ("averaged", trainer.averaged())):
        plain.load_state_dict(weights)
        runner = plain.to(torch.bfloat16 if on_gpu else torch.float32)
        good, text = measure(runner)
        log(f"{name} weights: {text}")
        if good > best[0]:
            best = (good, name)
            facts["held_out"] = text.split("\n")[0]
            kept = own_autoencoder(args, drawer)
            bundled.save(args.out / "weights", model, weights, kept, facts, args.model)
    log(f"kept the {best[1]} weights")
    (args.out / "facts.json").write_text(json.dumps(facts, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
