"""`atop finetune`: teach either network one kind of motion from a few clips (paper 4.2)."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from atop_backend.errors import InputError
from atop_backend.protocol import Artifact, Event, Finished
from atop_backend.protocol import Progress as ProgressEvent

if TYPE_CHECKING:
    from atop_backend.diffusion.finetune import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `atop finetune`."""
    add = parser.add_argument
    add("clips", type=Path, help="a folder of clip folders, see diffusion/clip_folders.py")
    add("--out", type=Path, required=True, metavar="DIR", help="again to go on with a run")
    add("--settings", choices=("mini", "paper", "released"), default="mini",
        help="the bundled network, or ImageDream as the paper or its code trains it")  # fmt: skip
    add("--weights", type=Path, metavar="DIR", help="of ImageDream")
    add("--held-out", type=Path, metavar="DIR", help="clips that end the run when they get worse")
    add("--steps", type=int, metavar="N")
    add("--learning-rate", type=float, metavar="X")
    add("--seed", type=int, default=0)
    add("--device", default="auto", metavar="NAME")


def run(args: argparse.Namespace, emit: Callable[[Event], None]) -> int:
    """Train and end in `Finished`; 0.

    Raises:
        AtopError: Clips or weights cannot be used.
    """
    if not args.clips.is_dir():
        raise InputError(f"{args.clips} is no folder", hint="give a folder of clip folders")
    from atop_backend.diffusion.finetune import SETTINGS, FinetuneConfig, finetune

    choices = dict(SETTINGS[args.settings])
    for name in ("steps", "learning_rate"):
        value = getattr(args, name)
        if value is not None:
            if value <= 0:
                raise InputError(f"{name} is {value}", hint="give a number above 0")
            choices[name] = value
    config = FinetuneConfig(
        clips=args.clips,
        out=args.out,
        weights=args.weights,
        held_out=args.held_out,
        seed=args.seed,
        device=args.device,
        **choices,
    )

    def report(progress: Progress) -> None:
        share = progress.step / progress.total
        emit(ProgressEvent("finetune", progress.step, progress.total, round(share, 4)))

    weights = finetune(config, report)
    emit(Artifact("weights", str(weights)))
    emit(Finished("", f"finetuned: give --finetuned {args.out} to atop articulate"))
    return 0
