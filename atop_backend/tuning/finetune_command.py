"""`atop finetune`: teach either network one kind of motion from a few clips (paper 4.2).

Several GPUs share a batch when accelerate starts the command:
`accelerate launch --num_processes 4 -m atop_backend finetune CLIPS --batch 4 ...`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atop_backend.errors import AtopError, InputError
from atop_backend.jobfolder import explaining_full_disk
from atop_backend.protocol import Artifact, Event, Finished
from atop_backend.protocol import Progress as ProgressEvent

if TYPE_CHECKING:
    from atop_backend.diffusion.finetune import Progress

_USUAL = {"mini": "mini", "imagedream": "released"}  # settings of a base; the milder ones
# options that take the place of a setting of the same name
_OVERRIDES = (
    "steps", "batch", "learning_rate", "frames", "trained", "precision", "checkpointing",
    "check_every", "patience", "sample_every",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `atop finetune`."""
    add = parser.add_argument
    add("folder", nargs="?", type=Path, metavar="CLIPS", help="what `atop clips` wrote")
    add("--clips", type=Path, metavar="DIR", help="the same")
    add("--out", type=Path, required=True, metavar="DIR", help="again to go on with a run")
    add("--base", choices=tuple(_USUAL), help="the network to start from; default mini")
    add("--settings", choices=("mini", "paper", "released"),
        help="of a base: ImageDream as the paper trains it, or as its code does, which is milder"
        " and the default")  # fmt: skip
    add("--weights", type=Path, metavar="DIR", help="of ImageDream")
    add("--held-out", type=Path, metavar="DIR",
        help="clips that are only looked at: the best weights for them are kept, and the run ends"
        " when they gain nothing more")  # fmt: skip
    add("--steps", type=int, metavar="N")
    add("--batch", type=int, metavar="N", help="clips a step, shared by all processes")
    add("--learning-rate", type=float, metavar="X")
    add("--frames", type=int, metavar="N", help="moved frames of a clip in a step; 0 takes all")
    add("--trained", choices=("paper", "paper_code", "all"),
        help="time and queries; those and what the released code adds; everything")  # fmt: skip
    add("--precision", choices=("auto", "fp32", "bf16", "fp16"))
    add("--checkpointing", action="store_true", default=None,
        help="less memory for a third more time")  # fmt: skip
    add("--check-every", type=int, metavar="N", help="steps between checks and saved states")
    add("--patience", type=int, metavar="N", help="checks without gain that end the run; 0: never")
    add("--sample-every", type=int, metavar="N", help="steps between pictures in OUT/samples")
    add("--seed", type=int, default=0)
    add("--device", default="auto", metavar="NAME")


def run(args: argparse.Namespace, emit: Callable[[Event], None]) -> int:
    """Train and end in `Finished`; 0.

    Raises:
        AtopError: Clips or weights cannot be used.
    """
    from atop_backend.diffusion.processes import process_number

    if process_number() == 0:
        return _run(args, emit)
    try:  # another process of the same run says it to the user
        return _run(args, lambda event: None)
    except AtopError as error:
        print(f"process {process_number()}: {error}", file=sys.stderr)
        return error.exit_code


def _run(args: argparse.Namespace, emit: Callable[[Event], None]) -> int:
    from atop_backend.diffusion.finetune import FinetuneConfig, finetune

    clips = args.clips or args.folder
    if clips is None or (args.clips and args.folder):
        raise InputError("no folder of clips was given, or two", hint="give what atop clips wrote")
    for folder in filter(None, (clips, args.held_out)):
        if not folder.is_dir():
            raise InputError(f"{folder} is no folder", hint="give a folder of clip folders")
    config = FinetuneConfig(
        clips=clips,
        out=args.out,
        weights=args.weights,
        held_out=args.held_out,
        seed=args.seed,
        device=args.device,
        **_choices(args),
    )

    def report(progress: Progress) -> None:
        share = progress.step / progress.total
        emit(ProgressEvent("finetune", progress.step, progress.total, round(share, 4)))

    with explaining_full_disk(args.out):
        weights = finetune(config, report)
    emit(Artifact("weights", str(weights)))
    emit(Artifact("card", str(weights.with_name("README.md"))))
    emit(Finished("", f"finetuned: give --finetuned {args.out} to atop articulate"))
    return 0


def _choices(args: argparse.Namespace) -> dict[str, Any]:
    """The named settings with what the options change in them."""
    from atop_backend.diffusion.finetune import SETTINGS

    name = args.settings or _USUAL[args.base or "mini"]
    choices = {"base": "mini", **SETTINGS[name]}
    if args.base is not None and args.base != choices["base"]:
        raise InputError(
            f"the settings {name} are for {choices['base']}, not for {args.base}",
            hint="leave out --settings or --base",
        )
    given = {key: getattr(args, key) for key in _OVERRIDES}
    return choices | {key: value for key, value in given.items() if value is not None}
