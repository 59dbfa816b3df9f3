"""`atop metrics`: how good the videos of a folder are, beside true ones where there are any."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from atop_backend.errors import InputError
from atop_backend.jobfolder import explaining_full_disk
from atop_backend.protocol import Artifact, Event, Finished, Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `atop metrics`."""
    add = parser.add_argument
    add("videos", type=Path, help="a folder of videos, or of folders of pictures")
    add("--reference", type=Path, metavar="DIR", help="true videos; the same name is the same clip")
    add("--prompt", default="", metavar="TEXT", help="what all videos show, for the CLIP score")
    add("--prompts", type=Path, metavar="FILE", help='or one each: JSON, {"video": "sentence"}')
    add("--frames", type=int, metavar="N", help="take N evenly spaced frames of each; default all")
    add("--alexnet", type=Path, metavar="FILE", help="torchvision's weights, for LPIPS")
    add("--clip", type=Path, metavar="DIR", help="a CLIP model for transformers, for CLIP scores")
    add("--i3d", type=Path, metavar="FILE", help="I3D as TorchScript, for FVD")
    add("--out", type=Path, metavar="FILE", help="also write the figures as JSON")
    add("--device", default="auto", metavar="NAME")


def run(args: argparse.Namespace, emit: Callable[[Event], None]) -> int:
    """Measure and end in `Finished`; 0, also when a figure is missing something.

    Raises:
        AtopError: The videos or the networks' files cannot be used.
    """
    if args.frames is not None and args.frames < 1:
        raise InputError(f"--frames is {args.frames}", hint="give 1 or more")
    prompts = _prompts(args.prompts) if args.prompts else {}
    if args.prompt:
        prompts[""] = args.prompt
    from atop_backend.diffusion.device import explaining_memory, pick_device
    from atop_backend.metrics.measure import Files, as_json, measure, table

    def report(step: int, total: int) -> None:
        emit(Progress("metrics", step, total, round(step / total, 4)))

    with explaining_memory("take fewer --frames, smaller videos or --device cpu"):
        figures = measure(
            args.videos,
            args.reference,
            prompts,
            Files(args.alexnet, args.clip, args.i3d),
            args.frames,
            pick_device(args.device),
            report,
        )
    if args.out:
        with explaining_full_disk(args.out):
            args.out.parent.mkdir(parents=True, exist_ok=True)
            args.out.write_text(json.dumps(as_json(figures), indent=1) + "\n", encoding="utf-8")
        emit(Artifact("metrics", str(args.out)))
    emit(Finished("", table(figures)))
    return 0


def _prompts(path: Path) -> dict[str, str]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no JSON ({error})", hint="mend it") from error
    if not isinstance(read, dict) or not all(isinstance(text, str) for text in read.values()):
        raise InputError(
            f"{path} holds no sentences by name", hint='write {"video": "the door opens"}'
        )
    return read
