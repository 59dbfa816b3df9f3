#!/usr/bin/env python3
"""The paper's network at full size with random weights: seconds, TFLOP/s and memory on a GPU.

usage: scripts/benchmark_unet.py [--json FILE] [--only WORD...] [--compile SECONDS] [--tiny]

A clip has 4 views x 10 frames of 256 x 256 pixels (latents of 32 x 32): the clean rest frame and
nine that are denoised. Operations are counted where they are executed (matrix products,
convolutions and attention; what checkpointing computes twice counts twice) and stand beside the
rate of plain matrix products that the same card reaches in the same run. Rows with a limit run
with the allocator held to it, less what the driver keeps for itself. `--tiny` tries the script
itself on a CPU.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import torch  # noqa: E402
from device_rows import HEADER, Bench, Row, cells, count  # noqa: E402
from full_size import (  # noqa: E402
    CAMERAS,
    FULL,
    MOVED_FRAMES,
    TWIN,
    Parts,
    Sizes,
    build,
    draw_conditions,
)
from torch import Tensor, nn  # noqa: E402

from atop_backend.diffusion.conditions import Conditions, drop_text  # noqa: E402
from atop_backend.diffusion.finetune import SETTINGS, Example, clip_loss  # noqa: E402
from atop_backend.diffusion.finetune_run import Run  # noqa: E402
from atop_backend.diffusion.sample import sample  # noqa: E402
from atop_backend.diffusion.unet_blocks import ResidualBlock, TransformerBlock  # noqa: E402
from atop_backend.gaussians.cloud import build_cloud  # noqa: E402
from atop_backend.gaussians.optimise import PAPER, articulate_cloud  # noqa: E402

GUIDANCE_SCALE = 5.0  # paper 5.1, as are the 50 steps
GAUSSIANS = 2048  # on the part, and again on the rest (paper 5.1)


def bench_sampling(
    bench: Bench, sizes: Sizes, parts: Parts, label: str, numbers: str, steps: int, **how
) -> None:
    """A whole generation: rest views and words in, pictures of all views and frames out."""
    device = bench.device

    def generate(steps: int) -> None:
        conditions = draw_conditions(sizes, parts, device)
        noise = torch.Generator().manual_seed(0)
        latents = sample(parts.denoiser, conditions, steps, GUIDANCE_SCALE, noise)
        with torch.no_grad():
            pictures = parts.autoencoder.decode(latents[0])
        if not pictures.isfinite().all():
            raise RuntimeError("the pictures are not finite")

    def tflop() -> tuple[float, str]:
        (once, kernels), (twice, _) = count(lambda: generate(1)), count(lambda: generate(2))
        return once + (steps - 1) * (twice - once), kernels

    name = f"generate, {steps} steps, {numbers}{label}"
    bench.measure(name, lambda: generate(steps), tflop, numbers=numbers, **how)


def bench_guidance(bench: Bench, sizes: Sizes, parts: Parts) -> None:
    """One denoising step with guidance: two passes of one clip, or one of both."""
    conditions = draw_conditions(sizes, parts, bench.device)
    noisy = torch.randn(1, 4, MOVED_FRAMES, 4, *conditions.rest_latents.shape[-2:])
    noisy = noisy.to(bench.device)
    dropped = drop_text(conditions)
    both = Conditions(*map(torch.cat, zip(conditions, dropped, strict=True)))

    def ask(clips: Tensor, told: Conditions) -> None:
        parts.denoiser.denoise(clips, torch.full((len(clips),), 0.5, device=bench.device), told)

    @torch.no_grad()
    def apart() -> None:
        for told in (conditions, dropped):
            ask(noisy, told)

    @torch.no_grad()
    def joined() -> None:
        ask(noisy.expand(2, -1, -1, -1, -1, -1), both)

    for label, work in (("one after the other", apart), ("joined", joined)):
        name = f"one guided step, bf16, branches {label}"
        bench.measure(name, work, lambda work=work: count(work), repeats=3)


def bench_launches(bench: Bench, sizes: Sizes, parts: Parts) -> None:
    """The network alone in a guided step, and its kernels replayed without being launched each."""
    if bench.device.type != "cuda":
        return
    conditions = draw_conditions(sizes, parts, bench.device)
    both = Conditions(*(value.repeat_interleave(2, dim=0) for value in conditions))
    side, views = sizes.pixels // 8, len(CAMERAS)
    noisy = torch.randn(2, views, MOVED_FRAMES, 4, side, side, device=bench.device)
    times = torch.full((2,), 0.5, device=bench.device)
    unet = parts.denoiser.unet
    tokens, width = sizes.unet.ip_dim, sizes.unet.context_dim
    image = torch.randn(2, views, tokens, width, device=bench.device)
    graph = torch.cuda.CUDAGraph()

    @torch.no_grad()
    def ask() -> Tensor:
        return unet(noisy, times, both.text, image, both.cameras, both.mask, both.frames,
                    both.rest_latents)  # fmt: skip

    def record() -> tuple[float, str]:
        found = count(ask)
        with torch.cuda.graph(graph):
            ask()
        return found

    bench.measure("the network in a guided step, bf16", ask, lambda: count(ask), repeats=3)
    bench.measure("the same replayed as a CUDA graph, bf16", graph.replay, record, repeats=3)


def bench_drawing(bench: Bench, sizes: Sizes, parts: Parts) -> None:
    """What the autoencoder takes for all pictures of a clip, in pieces and at once."""
    side = sizes.pixels // 8
    latents = torch.randn(4 * (MOVED_FRAMES + 1), 4, side, side, device=bench.device)

    @torch.no_grad()
    def pieces() -> None:
        parts.autoencoder.decode(latents)

    @torch.no_grad()
    def at_once() -> None:
        parts.autoencoder.vae.decode(latents)  # type: ignore[arg-type]

    for label, work in (("in pieces", pieces), ("at once", at_once)):
        name = f"autoencoder draws 40 pictures, fp32, {label}"
        bench.measure(name, work, lambda work=work: count(work), numbers="fp32")


def bench_distillation(bench: Bench, sizes: Sizes, parts: Parts) -> None:
    """Score distillation with the paper's settings: renders, two passes, gradient (Eq. 12)."""
    steps = sizes.distilled
    generator = torch.Generator().manual_seed(0)
    front, body = torch.rand(2, GAUSSIANS, 3, generator=generator).to(bench.device)
    cloud = build_cloud(front * 0.6 - 0.3, body - 0.5, MOVED_FRAMES + 1, pixel_size=0.09)
    conditions = draw_conditions(sizes, parts, bench.device)

    def distil(steps: int) -> None:
        config = replace(PAPER, steps=steps)
        articulate_cloud(cloud, CAMERAS, parts.denoiser, conditions, "sds", config, generator)

    def tflop() -> tuple[float, str]:
        (once, kernels), (twice, _) = count(lambda: distil(1)), count(lambda: distil(2))
        return twice - once, kernels

    name = f"one of {steps} steps of score distillation, bf16"
    bench.measure(name, lambda: distil(steps), tflop, per=steps, limit_gb=16)


def bench_finetuning(bench: Bench, sizes: Sizes, parts: Parts) -> None:
    """A step with the paper's settings, with checkpointing and without."""
    step = finetuning_step(bench.device, sizes, parts)
    for checkpointing, limit in ((True, 32), (False, None)):
        parts.denoiser.unet.checkpointing = checkpointing
        label = ", checkpointing" if checkpointing else ""
        bench.measure(FINETUNING + label, step, lambda: count(step), repeats=3, limit_gb=limit)


def finetuning_step(device: torch.device, sizes: Sizes, parts: Parts) -> Callable[[], None]:
    """A step to be repeated: temporal blocks and query projections learn, by Adam."""
    settings = SETTINGS["paper"]
    conditions = draw_conditions(sizes, parts, device)
    shape = (1, 4, MOVED_FRAMES, 4, *conditions.rest_latents.shape[-2:])
    example = Example(conditions, torch.randn(shape, device=device))
    unet = parts.denoiser.unet
    parameters = [parameter for _, parameter in unet.trained_parameters("paper")]
    for parameter in parameters:
        parameter.requires_grad_()
    print(f"trained: {sum(p.numel() for p in parameters) / 1e6:.1f} M parameters of "
          f"{sum(p.numel() for p in unet.parameters()) / 1e6:.1f} M")  # fmt: skip
    optimiser = torch.optim.Adam(parameters, lr=settings["learning_rate"])
    run = Run(parameters, optimiser)

    def step() -> None:
        loss = clip_loss(parts.denoiser, example, 0.5, torch.Generator().manual_seed(0))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        run.count(settings["ema"])
        if not loss.isfinite():
            raise RuntimeError("the loss is not finite")

    return step


def main() -> None:
    """Measure and print."""
    options = _options()
    device = torch.device(options.device)
    sizes = TWIN if options.tiny else FULL
    if options.compiled_only:
        row = COMPILED[options.compiled_only](Bench(device, sizes.matrix, []), sizes)
        print(json.dumps(asdict(row)))
        return
    if device.type == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory / 2**30
        print(f"{torch.cuda.get_device_name()}, {total:.0f} GB, torch {torch.__version__}")
    begun = time.monotonic()
    bench = Bench(device, sizes.matrix, options.only)
    print(HEADER, flush=True)
    _bench_bf16(bench, sizes)
    _bench_fp32(bench, sizes)
    for name in filter(bench.wanted, COMPILED if options.compile else ()):
        bench.rows.append(_run_compiled(name, options))
    print(f"\n{HEADER}\n" + "\n".join(map(cells, bench.rows)))
    print(f"\n{time.monotonic() - begun:.0f} s in all")
    if options.json:
        report = {"ceilings_tflop_per_s": bench.ceilings, "rows": [asdict(r) for r in bench.rows]}
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _bench_bf16(bench: Bench, sizes: Sizes) -> None:
    """Everything that a job computes, as `load_prior` loads it on a GPU."""
    parts = build(sizes, bench.device, torch.bfloat16)
    steps = sizes.steps
    bench_sampling(bench, sizes, parts, "", "bf16", steps)
    bench_sampling(bench, sizes, parts, " in 16 GB", "bf16", steps, limit_gb=16)
    bench_guidance(bench, sizes, parts)
    bench_distillation(bench, sizes, parts)
    bench_drawing(bench, sizes, parts)
    bench_launches(bench, sizes, parts)
    parts.denoiser.unet.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    bench_sampling(bench, sizes, parts, ", channels last", "bf16", steps)


def _bench_fp32(bench: Bench, sizes: Sizes) -> None:
    """Training, whose weights are float32, and how much bf16 gains in use."""
    parts = build(sizes, bench.device, torch.float32)
    bench_sampling(bench, sizes, parts, "", "fp32", max(2, sizes.steps // 10))
    bench_finetuning(bench, sizes, parts)


def compile_blocks(parts: Parts, *kinds: type[nn.Module]) -> None:
    """Let these blocks of the network be compiled when they are first called."""
    torch._dynamo.config.recompile_limit = 64  # one for each width and size of features
    for module in parts.denoiser.unet.modules():
        if isinstance(module, kinds):
            module.compile(dynamic=False)


def compiled_sampling(bench: Bench, sizes: Sizes) -> Row:
    """Sampling with all blocks compiled."""
    parts = build(sizes, bench.device, torch.bfloat16)
    conditions = draw_conditions(sizes, parts, bench.device)

    def denoise(steps: int) -> None:
        sample(parts.denoiser, conditions, steps, GUIDANCE_SCALE, torch.Generator())

    step, _ = count(lambda: denoise(1))
    compile_blocks(parts, TransformerBlock, ResidualBlock)
    name = f"{SAMPLING}, {_first_call(bench, lambda: denoise(1))}"
    bench.measure(name, lambda: denoise(sizes.steps), lambda: (sizes.steps * step, ""))
    return bench.rows[0]


def compiled_finetuning(bench: Bench, sizes: Sizes) -> Row:
    """A step without checkpointing; convolutions stay as they are: they take long to compile."""
    parts = build(sizes, bench.device, torch.float32)
    step = finetuning_step(bench.device, sizes, parts)
    found = count(step)
    compile_blocks(parts, TransformerBlock)
    name = f"{FINETUNING}, transformer blocks {_first_call(bench, step)}"
    bench.measure(name, step, lambda: found, repeats=3)
    return bench.rows[0]


def _first_call(bench: Bench, work: Callable[[], object]) -> str:
    begun = time.monotonic()
    work()
    bench.wait()
    return f"compiled in {time.monotonic() - begun:.0f} s"


FINETUNING = "one finetuning step, paper's settings, bf16 autocast"
SAMPLING = "denoise, bf16"
COMPILED = {SAMPLING: compiled_sampling, FINETUNING: compiled_finetuning}


def _run_compiled(name: str, options: argparse.Namespace) -> Row:
    """A compiled row, from a process that is ended when it takes too long."""
    command = [sys.executable, __file__, "--compiled-only", name, "--device", options.device]
    command += ["--tiny"] if options.tiny else []
    try:
        done = subprocess.run(
            command, timeout=options.compile, capture_output=True, text=True, check=True
        )
    except subprocess.TimeoutExpired:
        return Row(f"{name}, compiled", trouble=f"not ready after {options.compile} s")
    except subprocess.CalledProcessError as error:
        said = (error.stderr.splitlines() or [""])[-1][:160]
        return Row(f"{name}, compiled", trouble=said)
    return Row(**json.loads(done.stdout.splitlines()[-1]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    add("--only", nargs="*", default=[], metavar="WORD", help="rows with such a word in the name")
    add("--compile", type=int, default=0, metavar="SECONDS", help="also compiled, within SECONDS")
    add("--json", type=Path, metavar="FILE")
    add("--tiny", action="store_true", help="a twin of a few thousand numbers, for a CPU")
    add("--compiled-only", choices=tuple(COMPILED), help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
