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
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from diffusers import AutoencoderKL  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402
from transformers import CLIPVisionConfig, CLIPVisionModel  # noqa: E402

from atop_backend.diffusion.conditions import Conditions, drop_text  # noqa: E402
from atop_backend.diffusion.finetune import SETTINGS, Example, clip_loss  # noqa: E402
from atop_backend.diffusion.finetune_run import Run  # noqa: E402
from atop_backend.diffusion.imagedream import ImageDreamDenoiser  # noqa: E402
from atop_backend.diffusion.sample import sample  # noqa: E402
from atop_backend.diffusion.towers import LatentAutoencoder, PictureEncoder  # noqa: E402
from atop_backend.diffusion.unet import IMAGEDREAM, TINY, MultiViewVideoUNet  # noqa: E402
from atop_backend.diffusion.unet_blocks import ResidualBlock, TransformerBlock  # noqa: E402
from atop_backend.gaussians.cloud import build_cloud  # noqa: E402
from atop_backend.gaussians.optimise import PAPER, articulate_cloud  # noqa: E402
from atop_backend.geometry.cameras import embedding, rig  # noqa: E402

MOVED_FRAMES = 9  # and the rest frame
CAMERAS = rig(elevation_rad=0.35)
GUIDANCE_SCALE = 5.0  # paper 5.1, as are the 50 steps
DRIVER_GB = 1.25  # of a card, for the context and the libraries' kernels
GAUSSIANS = 2048  # on the part, and again on the rest (paper 5.1)


class Sizes(NamedTuple):
    """How large everything is."""

    unet: Any
    tower: dict[str, Any]
    autoencoder: tuple[int, ...]
    words: int
    pixels: int
    steps: int  # of sampling
    distilled: int  # steps of distillation; the first carries the preparation of all
    matrix: int  # side of the matrices that set the ceiling


FULL = Sizes(
    IMAGEDREAM,
    # CLIP ViT-H/14
    {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32,
     "num_attention_heads": 16, "image_size": 224, "patch_size": 14, "hidden_act": "gelu"},
    (128, 256, 512, 512),  # Stable Diffusion's
    77, 256, 50, 20, 8192,
)  # fmt: skip
TWIN = Sizes(
    TINY,
    {"hidden_size": TINY.ip_features, "intermediate_size": 48, "num_hidden_layers": 3,
     "num_attention_heads": 2, "image_size": 28, "patch_size": 14},
    (32, 32, 32, 32),
    12, 64, 2, 2, 256,
)  # fmt: skip


@dataclass
class Row:
    """One line of the table."""

    name: str
    seconds: float | None = None
    tflop: float | None = None
    tflop_per_s: float | None = None
    of_ceiling: float | None = None
    peak_gb: float | None = None  # of tensors, 2^30 bytes
    limit_gb: float | None = None
    attention: str = ""  # the kernels that computed it
    trouble: str = ""


class Bench:
    """Measures work on one device and keeps the rows."""

    def __init__(self, device: torch.device, sizes: Sizes, only: list[str]) -> None:
        self.device = device
        self.sizes = sizes
        self.rows: list[Row] = []
        self.only = only
        types = {"bf16": torch.bfloat16, "fp32": torch.float32}
        self.ceilings = {name: self._matrix_rate(dtype) for name, dtype in types.items()}
        for name, rate in self.ceilings.items():
            print(f"matrix products of {sizes.matrix} in {name}: {rate:.1f} TFLOP/s", flush=True)

    def measure(
        self,
        name: str,
        work: Callable[[], object],
        tflop: Callable[[], tuple[float, str]],
        repeats: int = 1,
        per: int = 1,
        numbers: str = "bf16",
        limit_gb: float | None = None,
    ) -> None:
        """Time `work` after `tflop`, which counts its operations and warms up, and add a row.

        Args:
            per: Steps that one call of `work` makes; the row is for one of them.
            limit_gb: Memory of the card that this is to fit.
        """
        if self.only and not any(word in name for word in self.only):
            return
        row = Row(name, limit_gb=limit_gb)
        try:
            with self._limited(limit_gb):
                row.tflop, row.attention = tflop()
                row.seconds, row.peak_gb = self._timed(work, repeats)
            row.seconds /= per
            row.tflop_per_s = row.tflop / row.seconds
            row.of_ceiling = row.tflop_per_s / self.ceilings[numbers]
        except torch.OutOfMemoryError as error:
            row.trouble = f"out of memory: {str(error).splitlines()[0][:120]}"
        except RuntimeError as error:  # one row less is better than no table
            row.trouble = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}"
        self.rows.append(row)
        print(cells(row), flush=True)
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def _timed(self, work: Callable[[], object], repeats: int) -> tuple[float, float | None]:
        gpu = self.device.type == "cuda"
        if gpu:
            torch.cuda.reset_peak_memory_stats()
        best = float("inf")
        for _ in range(repeats):
            self.wait()
            begun = time.monotonic()
            work()
            self.wait()
            best = min(best, time.monotonic() - begun)
        return best, torch.cuda.max_memory_allocated() / 2**30 if gpu else None

    def wait(self) -> None:
        """Until the device has done all it was given."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def _limited(self, limit_gb: float | None) -> _Limit:
        return _Limit(limit_gb if self.device.type == "cuda" else None)

    def _matrix_rate(self, dtype: torch.dtype) -> float:
        """TFLOP/s of a large product of random matrices; the best of some."""
        size = self.sizes.matrix
        first, second = torch.randn(2, size, size, device=self.device).to(dtype)
        best = min(self._timed(lambda: torch.matmul(first, second), 1)[0] for _ in range(10))
        return 2 * size**3 / best / 1e12


class _Limit:
    """Holds the allocator to the memory of a smaller card."""

    def __init__(self, limit_gb: float | None) -> None:
        self.limit_gb = limit_gb

    def __enter__(self) -> None:
        if self.limit_gb is not None:
            torch.cuda.empty_cache()
            total = torch.cuda.get_device_properties(0).total_memory / 2**30
            torch.cuda.set_per_process_memory_fraction((self.limit_gb - DRIVER_GB) / total)

    def __exit__(self, *_: object) -> None:
        if self.limit_gb is not None:
            torch.cuda.set_per_process_memory_fraction(1.0)


def count(work: Callable[[], object]) -> tuple[float, str]:
    """TFLOP that `work` executes, and the fused attention kernels that ran (known on a GPU)."""
    with FlopCounterMode(display=False) as counter:
        work()
    kernels = [str(op).split(".")[-1] for op in counter.get_flop_counts()["Global"]]
    found = {kernel for kernel in kernels if "attention" in kernel and "backward" not in kernel}
    return counter.get_total_flops() / 1e12, " ".join(sorted(found))


class Parts(NamedTuple):
    """The model with random weights, as `load_imagedream` makes it."""

    denoiser: ImageDreamDenoiser
    autoencoder: LatentAutoencoder


def build(sizes: Sizes, device: torch.device, dtype: torch.dtype) -> Parts:
    """All parts on the device; nothing is zero that training would fill."""
    torch.manual_seed(0)
    with device:
        unet = MultiViewVideoUNet(sizes.unet)
        tower = CLIPVisionModel(CLIPVisionConfig(**sizes.tower))
        levels = len(sizes.autoencoder)
        layout: dict[str, Any] = {
            "down_block_types": ("DownEncoderBlock2D",) * levels,
            "up_block_types": ("UpDecoderBlock2D",) * levels,
            "block_out_channels": sizes.autoencoder,
            "layers_per_block": 2,
            "latent_channels": 4,
            "scaling_factor": 0.18215,
        }
        vae = AutoencoderKL(**layout)
        no_words = torch.randn(1, sizes.words, sizes.unet.context_dim)
    for parameter in unet.parameters():
        if not parameter.any():
            nn.init.normal_(parameter, std=0.01)
    pictures = PictureEncoder(tower).to(device)
    denoiser = ImageDreamDenoiser(unet, pictures, no_words).to(device, dtype)
    for module in (denoiser, vae):
        module.eval().requires_grad_(False)
    return Parts(denoiser, LatentAutoencoder(vae))


def draw_conditions(sizes: Sizes, parts: Parts, device: torch.device) -> Conditions:
    """Conditions of one clip from random pictures, encoded as a job does."""
    rgb = torch.rand(4, 3, sizes.pixels, sizes.pixels, device=device)
    mask = torch.zeros(1, 4, 1, sizes.pixels, sizes.pixels)
    quarter = sizes.pixels // 4
    mask[..., quarter : 2 * quarter, quarter : 2 * quarter] = 1
    frames = torch.arange(1, MOVED_FRAMES + 1) / MOVED_FRAMES
    return Conditions(
        rgb=rgb[None],
        mask=mask,
        positions=torch.zeros(1, 4, 3, sizes.pixels, sizes.pixels),
        rest_latents=parts.autoencoder.encode(rgb)[None],
        cameras=torch.tensor([[embedding(camera).tolist() for camera in CAMERAS]]),
        text=torch.randn(1, sizes.words, sizes.unet.context_dim),
        frames=frames[None],
        part_centre=torch.zeros(1, 3),
        part_radius=torch.ones(1),
    ).to(device)


def bench_sampling(bench: Bench, parts: Parts, label: str, numbers: str, steps: int, **how) -> None:
    """A whole generation: rest views and words in, pictures of all views and frames out."""
    sizes, device = bench.sizes, bench.device

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


def bench_guidance(bench: Bench, parts: Parts) -> None:
    """One denoising step with guidance: two passes of one clip, or one of both."""
    conditions = draw_conditions(bench.sizes, parts, bench.device)
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


def bench_drawing(bench: Bench, parts: Parts) -> None:
    """What the autoencoder takes for all pictures of a clip, in pieces and at once."""
    side = bench.sizes.pixels // 8
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


def bench_distillation(bench: Bench, parts: Parts) -> None:
    """Score distillation with the paper's settings: renders, two passes, gradient (Eq. 12)."""
    steps = bench.sizes.distilled
    generator = torch.Generator().manual_seed(0)
    front, body = torch.rand(2, GAUSSIANS, 3, generator=generator).to(bench.device)
    cloud = build_cloud(front * 0.6 - 0.3, body - 0.5, MOVED_FRAMES + 1, pixel_size=0.09)
    conditions = draw_conditions(bench.sizes, parts, bench.device)

    def distil(steps: int) -> None:
        config = replace(PAPER, steps=steps)
        articulate_cloud(cloud, CAMERAS, parts.denoiser, conditions, "sds", config, generator)

    def tflop() -> tuple[float, str]:
        (once, kernels), (twice, _) = count(lambda: distil(1)), count(lambda: distil(2))
        return twice - once, kernels

    name = f"one of {steps} steps of score distillation, bf16"
    bench.measure(name, lambda: distil(steps), tflop, per=steps, limit_gb=16)


def bench_finetuning(bench: Bench, parts: Parts) -> None:
    """A step with the paper's settings: temporal blocks and query projections learn, by Adam."""
    device, settings = bench.device, SETTINGS["paper"]
    conditions = draw_conditions(bench.sizes, parts, device)
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

    for checkpointing, limit in ((True, 32), (False, None)):
        unet.checkpointing = checkpointing
        label = ", checkpointing" if checkpointing else ""
        name = f"one finetuning step, paper's settings, bf16 autocast{label}"
        bench.measure(name, step, lambda: count(step), repeats=3, limit_gb=limit)


def cells(row: Row) -> str:
    """The row as a line of a Markdown table."""
    if row.trouble:
        return f"| {row.name} | {row.trouble} | | | | | {row.limit_gb or ''} | |"

    def shown(value: float | None, digits: int) -> str:
        return "" if value is None else f"{value:.{digits}f}"

    share = "" if row.of_ceiling is None else f"{row.of_ceiling:.0%}"
    return (f"| {row.name} | {shown(row.seconds, 3)} | {shown(row.tflop, 1)} |"
            f" {shown(row.tflop_per_s, 1)} | {share} | {shown(row.peak_gb, 1)} |"
            f" {row.limit_gb or ''} | {row.attention} |")  # fmt: skip


HEADER = (
    "| what | seconds | TFLOP | TFLOP/s | of matrix products | peak GB | within GB | attention |\n"
    "|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    """Measure and print."""
    options = _options()
    device = torch.device(options.device)
    sizes = TWIN if options.tiny else FULL
    if options.compiled_only:
        print(json.dumps(asdict(_compiled_row(device, sizes))))
        return
    if device.type == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory / 2**30
        print(f"{torch.cuda.get_device_name()}, {total:.0f} GB, torch {torch.__version__}")
    begun = time.monotonic()
    bench = Bench(device, sizes, options.only)
    print(HEADER, flush=True)
    _bench_bf16(bench)
    _bench_fp32(bench)
    if options.compile:
        bench.rows.append(_run_compiled(options))
    print(f"\n{HEADER}\n" + "\n".join(map(cells, bench.rows)))
    print(f"\n{time.monotonic() - begun:.0f} s in all")
    if options.json:
        report = {"ceilings_tflop_per_s": bench.ceilings, "rows": [asdict(r) for r in bench.rows]}
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _bench_bf16(bench: Bench) -> None:
    """Everything that a job computes, as `load_prior` loads it on a GPU."""
    parts = build(bench.sizes, bench.device, torch.bfloat16)
    steps = bench.sizes.steps
    bench_sampling(bench, parts, "", "bf16", steps)
    bench_sampling(bench, parts, " in 16 GB", "bf16", steps, limit_gb=16)
    bench_guidance(bench, parts)
    bench_distillation(bench, parts)
    bench_drawing(bench, parts)
    parts.denoiser.unet.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    bench_sampling(bench, parts, ", channels last", "bf16", steps)


def _bench_fp32(bench: Bench) -> None:
    """Training, whose weights are float32, and how much bf16 gains in use."""
    parts = build(bench.sizes, bench.device, torch.float32)
    bench_sampling(bench, parts, "", "fp32", max(2, bench.sizes.steps // 10))
    bench_finetuning(bench, parts)


def _compiled_row(device: torch.device, sizes: Sizes) -> Row:
    """Sampling with the blocks of the network compiled, once they are."""
    bench = Bench(device, sizes, [])
    parts = build(sizes, device, torch.bfloat16)
    conditions = draw_conditions(sizes, parts, device)

    def denoise(steps: int) -> None:
        sample(parts.denoiser, conditions, steps, GUIDANCE_SCALE, torch.Generator())

    step, _ = count(lambda: denoise(1))
    torch._dynamo.config.recompile_limit = 64  # one for each width and size of features
    for module in parts.denoiser.unet.modules():
        if isinstance(module, TransformerBlock | ResidualBlock):
            module.compile(dynamic=False)
    begun = time.monotonic()
    denoise(1)
    bench.wait()
    label = f"compiled in {time.monotonic() - begun:.0f} s"
    name = f"denoise, {sizes.steps} steps, bf16, {label}"
    bench.measure(name, lambda: denoise(sizes.steps), lambda: (sizes.steps * step, ""))
    return bench.rows[0]


def _run_compiled(options: argparse.Namespace) -> Row:
    """The compiled row, from a process that is ended when it takes too long."""
    command = [sys.executable, __file__, "--compiled-only", "--device", options.device]
    command += ["--tiny"] if options.tiny else []
    try:
        done = subprocess.run(
            command, timeout=options.compile, capture_output=True, text=True, check=True
        )
    except subprocess.TimeoutExpired:
        return Row("denoise, compiled", trouble=f"not ready after {options.compile} s")
    except subprocess.CalledProcessError as error:
        return Row("denoise, compiled", trouble=(error.stderr.splitlines() or [""])[-1][:160])
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
    add("--compiled-only", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
