#!/usr/bin/env python3
"""CogVideoX as a judge of motion, full size with random weights: seconds, TFLOP/s and memory.

usage: scripts/benchmark_cogvideox.py [--json FILE] [--only WORD...] [--sizes 5b 2b] [--tiny]

Layouts are those of CogVideoX-5B (velocity, rotary positions) and 2B (noise): 49 frames of
480 x 720 pixels, 13 x 60 x 90 latents, 226 text tokens. Text embeddings are random: the text
encoder runs once a job and is let go. A step is what `atop animate --weights` repeats: 49 pictures
of a generated animal rendered and enlarged, encoded with checkpointing, judged with and without the
words, and the gradient brought back to the joints. `--tiny` tries the script itself on a CPU.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import numpy as np  # noqa: E402
import torch  # noqa: E402
from device_rows import HEADER, Bench, cells, count  # noqa: E402
from diffusers import (  # noqa: E402
    AutoencoderKLCogVideoX,
    CogVideoXDDIMScheduler,
    CogVideoXTransformer3DModel,
)

from atop_backend.config import AnimateConfig  # noqa: E402
from atop_backend.creatures.generate import creature, rig_of  # noqa: E402
from atop_backend.diffusion.cogvideox import CogVideoX, Words  # noqa: E402
from atop_backend.gaussians import splat  # noqa: E402
from atop_backend.geometry.rigs import normalise  # noqa: E402
from atop_backend.skeletal import parameters  # noqa: E402
from atop_backend.skeletal.distil import Step  # noqa: E402
from atop_backend.skeletal.kinematics import rest_to_posed, skin  # noqa: E402
from atop_backend.skeletal.surface import bind_gaussians  # noqa: E402
from atop_backend.skeletal.words import Judge  # noqa: E402


class Sizes(NamedTuple):
    """One layout."""

    name: str
    heads: int
    layers: int
    velocity: bool  # 5B; else 2B
    tiny: bool = False


SIZES = {
    "5b": Sizes("CogVideoX-5B", 48, 42, True),
    "2b": Sizes("CogVideoX-2B", 30, 30, False),
    "tiny": Sizes("tiny twin", 2, 1, True, True),
}


def build(sizes: Sizes, device: torch.device) -> CogVideoX:
    """The networks with random weights, as `CogVideoX.load` makes them of a folder."""
    torch.manual_seed(0)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    shape: dict[str, Any] = {
        "num_attention_heads": sizes.heads, "num_layers": sizes.layers,
        "use_rotary_positional_embeddings": sizes.velocity,
    }  # fmt: skip
    coder: dict[str, Any] = {
        "down_block_types": ("CogVideoXDownBlock3D",) * 4,
        "up_block_types": ("CogVideoXUpBlock3D",) * 4,
        "block_out_channels": (128, 256, 256, 512), "latent_channels": 16, "layers_per_block": 3,
        "scaling_factor": 0.7 if sizes.velocity else 1.15258426,
    }  # fmt: skip
    if sizes.tiny:
        shape |= {"attention_head_dim": 16, "sample_width": 12, "sample_height": 8,
                  "sample_frames": 5, "text_embed_dim": 16, "max_text_seq_length": 8,
                  "time_embed_dim": 8}  # fmt: skip
        coder |= {"block_out_channels": (8, 8, 8, 8), "layers_per_block": 1, "norm_num_groups": 2}
    torch.set_default_dtype(dtype)
    with device:
        transformer = CogVideoXTransformer3DModel(
            in_channels=16, out_channels=16, sample_frames=shape.pop("sample_frames", 49), **shape
        )
        vae = AutoencoderKLCogVideoX(**coder)
    torch.set_default_dtype(torch.float32)
    scheduler = CogVideoXDDIMScheduler(
        prediction_type="v_prediction" if sizes.velocity else "epsilon",
        rescale_betas_zero_snr=sizes.velocity,
        snr_shift_scale=1.0 if sizes.velocity else 3.0,
    )
    return CogVideoX(transformer, vae, scheduler, Path(), device)


def rows(bench: Bench, sizes: Sizes, device: torch.device) -> None:
    """Measure one layout."""
    model = build(sizes, device)
    weights = sum(p.numel() for p in model.transformer.parameters()) / 1e6
    print(f"{sizes.name}: transformer of {weights:.0f} M parameters", flush=True)
    config = model.transformer.config
    shape = (1, config.max_text_seq_length, config.text_embed_dim)
    words = Words(*(torch.randn(shape, device=device, dtype=model.dtype) for _ in range(2)))
    frames = model.frames_for(5 if sizes.tiny else 49)
    rig, _ = normalise(rig_of(creature(0, "quadruped").creature))
    settings = AnimateConfig()
    surface = bind_gaussians(rig, 60 if sizes.tiny else settings.points, np.random.default_rng(0))
    with torch.device(device):
        generator = torch.Generator(device).manual_seed(0)
        moving = surface.to(device)
        body = parameters.body_of(rig)
        bones = torch.zeros(frames, len(body.free), 3).requires_grad_()
        still = torch.zeros(frames, 3)
        basis = parameters.frame_basis(frames)

        def points() -> torch.Tensor:
            pose = parameters.pose(body, parameters.Variables(bones, still, still), basis)
            return skin(rest_to_posed(body.skeleton, pose), moving.bound)

        def judge(renderer: str) -> Judge:
            chosen = replace(settings, renderer=renderer)
            return Judge(model, words, moving, rig, chosen, generator)

        def render(renderer: str) -> None:
            judge(renderer).pictures(points(), still).square().sum().backward()

        def encode() -> None:
            video = torch.rand(frames, 3, *model.picture_size).requires_grad_()
            model.encode(video).square().sum().backward()

        def predict() -> None:
            latents = torch.randn(model.latent_shape(frames))
            model.estimate(words, 0.5, settings.words_scale)(latents)

        def step(renderer: str) -> None:
            loss = judge(renderer)(points(), Step(True, 0.5, still))
            loss.backward()
            assert bones.grad is not None
            assert torch.isfinite(bones.grad).all()

        works: list[tuple[str, Callable[[], None]]] = []
        renderers = ["metaballs", *(["gsplat"] if splat.available(device) else [])]
        for name in renderers:
            works.append((f"{frames} pictures and their gradient, {name}", partial(render, name)))
        works += [("encoding and its gradient", encode), ("judging, two branches", predict)]
        for name in renderers:
            works.append((f"one step, {name}", partial(step, name)))
        for name, work in works:
            bench.measure(f"{sizes.name}: {name}", work, partial(count, work))


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--sizes", nargs="*", default=["5b", "2b"], choices=["5b", "2b"])
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    device = torch.device("cpu" if options.tiny else "cuda")
    bench = Bench(device, 256 if options.tiny else 8192, options.only)
    for name in ["tiny"] if options.tiny else options.sizes:
        rows(bench, SIZES[name], device)
        if options.json:
            document = {"ceilings": bench.ceilings, "rows": [asdict(row) for row in bench.rows]}
            options.json.write_text(json.dumps(document, indent=1) + "\n")
    print("\n".join([HEADER, *map(cells, bench.rows)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
