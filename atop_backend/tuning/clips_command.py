"""`atop clips`: training clips for `atop finetune`, filmed from articulated assets."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from atop_backend.errors import InputError
from atop_backend.export.names import unique_identifiers
from atop_backend.jobfolder import explaining_full_disk, replacing
from atop_backend.protocol import Artifact, Event, Finished, Progress
from atop_backend.tuning.assets import (
    SUFFIXES,
    Asset,
    Mover,
    asset_names,
    find_assets,
    read_asset,
    read_sentences,
    sentence,
)
from atop_backend.tuning.film import FilmSettings, film

_VIEWS = 4


class _Shot(NamedTuple):
    """One clip that is to be there in the end."""

    folder: Path
    asset: Asset
    mover: Mover
    prompt: str
    about: dict[str, Any]  # the same means that the clip need not be filmed again


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `atop clips`."""
    add, usual = parser.add_argument, FilmSettings()
    add("assets", nargs="*", type=Path, metavar="ASSET",
        help=f"with joints or keyframes ({', '.join(SUFFIXES)}), or folders of such")  # fmt: skip
    add("--out", type=Path, required=True, metavar="DIR",
        help="one folder a clip; again to film what is missing")  # fmt: skip
    add("--generated", metavar="KIND", help="objects of the built-in generator instead")
    add("--count", type=int, default=6, metavar="N", help="of them; default %(default)s")
    add("--seed", type=int, default=0, help="of the first of them; default %(default)s")
    add("--part", action="append", default=[], dest="parts", metavar="NAME",
        help="only this part; repeat it for more")  # fmt: skip
    add(
        "--prompt", metavar="TEXT", help='for all clips, such as "the {part} of the {object} opens"'
    )
    add("--prompts", type=Path, metavar="JSON", help='a sentence a part: {"oven/door": "..."}')
    add("--frames", type=int, default=usual.frames, metavar="N",
        help="with the one at rest; default %(default)s")  # fmt: skip
    add("--elevation", type=float, default=usual.elevation_deg, metavar="DEGREES",
        help="of the cameras; default %(default)s")  # fmt: skip
    add("--samples", type=int, default=usual.samples, metavar="N",
        help="Cycles paths a pixel; default %(default)s")  # fmt: skip
    add("--blender", default="", metavar="PROGRAM", help="default: the bpy module")


def run(args: argparse.Namespace, emit: Callable[[Event], None]) -> int:
    """Film what is not there yet, write the contact sheet and end in `Finished`; 0.

    Clips that are complete stay whatever happens afterwards.

    Raises:
        AtopError: An asset or a part of it cannot be filmed; its name is in the message.
    """
    from atop_backend.diffusion.clip_folders import read_clip, write_clip
    from atop_backend.tuning.contact_sheet import write_sheets

    settings = FilmSettings(args.frames, args.elevation, args.samples)
    if bool(args.assets) == bool(args.generated):
        raise InputError("nothing or too much to film", hint="give assets, or --generated KIND")
    table = read_sentences(args.prompts) if args.prompts else {}
    with tempfile.TemporaryDirectory() as scratch, explaining_full_disk(args.out):
        assets = list(_assets(args, Path(scratch)))
        shots = _shots(assets, args, settings, table)
        pictures = _VIEWS * settings.frames
        total = pictures * len(shots)
        for number, shot in enumerate(shots):

            def show(done: int, before: int = number * pictures) -> None:
                emit(Progress("clips", before + done, total, round((before + done) / total, 4)))

            show(0)
            if not _is_there(shot):
                clip = film(shot.asset, shot.mover, shot.prompt, settings, args.blender, show)
                with replacing(shot.folder) as folder:
                    write_clip(folder, clip, shot.about)
            show(pictures)
        args.out.mkdir(parents=True, exist_ok=True)
        clips = ((shot.folder.name, read_clip(shot.folder)) for shot in shots)
        for path in write_sheets(args.out, list(clips)):
            emit(Artifact(path.stem, str(path)))
    count = f"{len(shots)} clip{'s' if len(shots) > 1 else ''}"
    emit(Finished("", f"{count} in {args.out}: look at the contact sheet, then atop finetune"))
    return 0


def _assets(args: argparse.Namespace, scratch: Path) -> Iterator[Asset]:
    """Every asset, read; each gets a folder for what Blender opens in its place."""

    def folder(number: int) -> Path:
        own = scratch / str(number)
        own.mkdir()
        return own

    if args.generated:
        from atop_backend.tuning.generated import check_kind, generated_asset

        check_kind(args.generated)
        if args.count < 1 or args.seed < 0:
            raise InputError(
                f"{args.count} objects from seed {args.seed} on",
                hint="--count is at least 1, --seed at least 0",
            )
        for number in range(args.count):
            yield generated_asset(args.generated, args.seed + number, folder(number))
        return
    paths = find_assets(args.assets)
    for number, (path, name) in enumerate(zip(paths, asset_names(paths), strict=True)):
        yield read_asset(path, name, folder(number), args.blender)


def _shots(
    assets: list[Asset], args: argparse.Namespace, settings: FilmSettings, table: dict[str, str]
) -> list[_Shot]:
    """What there is to film.

    Raises:
        InputError: A part that was named is in none of the assets.
    """
    chosen = [
        (asset, mover)
        for asset in assets
        for mover in asset.movers
        if not args.parts or mover.part in args.parts
    ]
    known = sorted({mover.part for asset in assets for mover in asset.movers})
    unknown = set(args.parts).difference(known)
    if unknown:
        raise InputError(
            f"no part that moves is called {sorted(unknown)[0]!r}",
            hint=f"there are {', '.join(known[:20])}",
        )
    names = unique_identifiers(
        asset.name if args.generated else f"{asset.name}_{mover.part}" for asset, mover in chosen
    )
    shots = []
    for name, (asset, mover) in zip(names, chosen, strict=True):
        prompt = sentence(asset, mover, args.prompt, table)
        about = {"source": dict(asset.source), "part": mover.part, "prompt": prompt}
        shots.append(_Shot(args.out.resolve() / name, asset, mover, prompt,
                           about | {"settings": settings.to_dict()}))  # fmt: skip
    return shots


def _is_there(shot: _Shot) -> bool:
    """Whether the clip was filmed before, from the same file and with the same settings.

    Raises:
        InputError: Something else lies in its place.
    """
    if shot.folder.exists() and not (shot.folder / "meta.json").is_file():
        raise InputError(f"{shot.folder} is no clip", hint="choose another folder with --out")
    try:
        meta = json.loads((shot.folder / "meta.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return meta.get("about") == shot.about
