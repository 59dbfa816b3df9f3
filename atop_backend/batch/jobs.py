"""Which jobs a batch has: from a TOML or CSV file, or guessed from the names in a folder."""

from __future__ import annotations

import csv
import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from atop_backend.batch.words import MOTIONS, is_plural, prompt_for, thing_of, words_of
from atop_backend.contracts import JobRequest
from atop_backend.errors import AtopError, InputError, SetupError
from atop_backend.export.names import identifier
from atop_backend.rendering.selectors import parse, with_absolute_file

ASSET_SUFFIXES = (".blend", ".glb", ".gltf", ".obj", ".usd", ".usda", ".usdc", ".usdz", ".urdf")
_COLUMNS = {"asset", "part", "parts", "prompt", "motion", "amount", "seed"}


class BatchJob(NamedTuple):
    """One job; `label` names its asset independently of where the batch lies."""

    name: str  # of the job folder, for people
    label: str  # path of the asset relative to the job file or the folder of assets
    request: JobRequest  # `out` is set by the manifest


def read_jobs(path: Path, template: JobRequest) -> list[BatchJob]:
    """The jobs of a TOML file (tables `[[job]]`, `[defaults]`) or a CSV file (a row each).

    Keys and columns: asset, part (several joined by ";") or parts, prompt, motion, amount
    ("70deg", or radians or file units) and seed. Paths are relative to the file, also those of
    face indices in `faces:FILE`.

    Raises:
        InputError: The file cannot be read, or a job in it is wrong; names the job.
    """
    entries = _read_csv(path) if path.suffix.lower() == ".csv" else _read_toml(path)
    if not entries:
        raise InputError(f"{path} names no job", hint="write a [[job]] table or a row for each")
    jobs = []
    for number, entry in enumerate(entries, 1):
        try:
            jobs.append(_job(entry, path.parent, template))
        except InputError as error:
            raise InputError(f"job {number} of {path}: {error.message}", error.hint) from error
    return jobs


class Guess(NamedTuple):
    """Jobs for the parts of a folder's assets, and the assets that have none."""

    jobs: list[BatchJob]
    left_out: dict[str, str]  # label of the asset -> reason


def guess_jobs(folder: Path, template: JobRequest, prompt: str = "", readers: int = 1) -> Guess:
    """A job for each named part that looks movable, such as "door_left" or "Drawer.001".

    Args:
        folder: Searched with all folders below it; meshes that a URDF there names are its pieces.
        prompt: One sentence for all parts, with {part} for the name; empty picks one by name.
        readers: Assets to look into at the same time.

    Raises:
        InputError: The folder has no asset.
        SetupError: Blender is needed for names in .blend or USD files, and could not be had.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder", hint="give a folder of assets or a job file")
    assets = sorted(p for p in folder.rglob("*") if p.suffix.lower() in ASSET_SUFFIXES)
    urdfs = (path for path in assets if path.suffix.lower() == ".urdf")
    pieces = {mesh.resolve() for urdf in urdfs for mesh in asset_files(urdf)[1:]}
    assets = [path for path in assets if path.resolve() not in pieces]
    if not assets:
        raise InputError(
            f"{folder} holds no asset", hint=f"it may hold {', '.join(ASSET_SUFFIXES)}"
        )

    def look(asset: Path) -> list[tuple[str, str]] | AtopError:
        try:
            return movable_parts(asset, template.blender)
        except AtopError as error:  # unreadable, or Blender is missing or crashed on this one
            return error

    jobs, left_out, broken = [], {}, None
    with ThreadPoolExecutor(readers) as pool:
        for asset, found in zip(assets, pool.map(look, assets), strict=True):
            label = asset.relative_to(folder)
            if isinstance(found, AtopError):
                left_out[label.as_posix()] = found.message
                broken = found if isinstance(found, SetupError) else broken
                continue
            if not found:
                left_out[label.as_posix()] = "no part has a telling name"
            for part, guess in found:
                sentence = prompt.replace("{part}", part) if prompt else guess
                request = replace(template, asset=asset.resolve(), parts=(part,), prompt=sentence)
                jobs.append(_named(request, label))
    if broken is not None and not jobs:
        raise broken
    return Guess(jobs, left_out)


def movable_parts(asset: Path, blender: str = "") -> list[tuple[str, str]]:
    """Parts whose names say that they move, each with a sentence.

    Of a door and the doors below it only the first counts, since they are its pieces, but of a
    group of "doors" each of them. A URDF tells which links move, so there every one of them counts.

    Raises:
        InputError: The asset cannot be read.
        SetupError: Blender is needed for it, and could not be had.
    """
    if asset.suffix.lower() == ".urdf":
        from atop_backend.export.urdf_reader import movable_joints, read_urdf

        urdf = read_urdf(asset)
        parts = []
        for joint in movable_joints(urdf):
            # PartNet-Mobility says what it is at the shapes alone: "drawer_front-9" of "link_1";
            # a frame is no thing that moves, but "door_frame-14" of a link that does is of a door
            shapes = [shape.name for shape in urdf.links[joint.child]]
            words = (word for name in shapes for word in words_of(name) if word in MOTIONS)
            told = (joint.child, joint.name, *map(thing_of, shapes), *words)
            plain = f"the {' '.join(words_of(joint.child))} moves"
            parts.append((joint.child, next(filter(None, map(prompt_for, told)), plain)))
        return parts
    named = {name: above for name, above in node_names(asset, blender) if thing_of(name)}
    groups = {
        above
        for name, ancestors in named.items()
        for above in ancestors
        if is_plural(above) and thing_of(above) == thing_of(name)
    }
    return [
        (name, prompt_for(name))
        for name, ancestors in named.items()
        if name not in groups
        and not any(thing_of(above) == thing_of(name) for above in set(ancestors) - groups)
    ]


def node_names(asset: Path, blender: str = "") -> list[tuple[str, tuple[str, ...]]]:
    """Names of the objects in an asset, each with the names above it.

    Raises:
        InputError, SetupError: As `movable_parts`.
    """
    try:
        match asset.suffix.lower():
            case ".glb" | ".gltf":
                return _gltf_names(_gltf_json(asset))
            case ".obj":
                words = (line.split(maxsplit=1) for line in _lines(asset))
                named = (w[1].strip() for w in words if len(w) == 2 and w[0] in ("o", "g"))
                return [(name, ()) for name in dict.fromkeys(named)]
            case _:
                from atop_backend.rendering.views import list_parts

                found = list_parts(asset, blender=blender)
                above = dict(zip(found.nodes, found.parents, strict=True))
                return [(name, tuple(_chain(name, above))) for name in found.nodes]
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError(f"{asset.name} cannot be read ({error})", hint="export it anew") from error


def input_files(request: JobRequest) -> list[Path]:
    """All files that decide what comes out of a request, but for the bundled model."""
    faces = [selector.file for selector in map(parse, request.parts) if selector.kind == "faces"]
    folders = [folder for folder in (request.weights, request.finetuned) if folder is not None]
    models = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return [*asset_files(request.asset), *map(Path, faces), *models]


def asset_files(asset: Path) -> list[Path]:
    """The asset and the files that it names and cannot do without."""
    found = [asset]
    try:
        match asset.suffix.lower():
            case ".gltf":
                data = _gltf_json(asset)
                entries = [*data.get("buffers", ()), *data.get("images", ())]
                uris = (entry.get("uri", "") for entry in entries)
                found += [
                    asset.parent / unquote(u) for u in uris if u and not u.startswith("data:")
                ]
            case ".obj":
                words = (line.split(maxsplit=1) for line in _lines(asset))
                libraries = (w[1].strip() for w in words if len(w) == 2 and w[0] == "mtllib")
                found += [asset.parent / name for name in dict.fromkeys(libraries)]
            case ".urdf":
                names = re.findall(r'filename="([^"]+)"', asset.read_text(encoding="utf-8"))
                found += [asset.parent / name for name in dict.fromkeys(names)]
    except (OSError, ValueError, AttributeError):
        pass  # a broken asset: its own bytes are all there is to know
    return found


def parse_amount(text: str | float | None) -> float | None:
    """Radians or file units from "70deg", "0.3" or a number; None for nothing.

    Raises:
        InputError: It is not a number.
    """
    if text is None or text == "":
        return None
    words = str(text).strip()
    try:
        value = float(words.removesuffix("deg"))
    except ValueError as error:
        raise InputError(
            f"amount is {text!r}", hint='write "70deg", or radians or file units'
        ) from error
    return math.radians(value) if words.endswith("deg") else value


def _job(entry: Mapping[str, Any], base: Path, template: JobRequest) -> BatchJob:
    unknown = set(entry) - _COLUMNS
    if unknown:
        raise InputError(
            f"unknown keys {sorted(unknown)}", hint=f"known are {', '.join(sorted(_COLUMNS))}"
        )
    if not entry.get("asset"):
        raise InputError("no asset is named", hint="give asset = PATH")
    parts = entry.get("parts") or str(entry.get("part") or "").split(";")
    try:
        seed = int(entry.get("seed") or template.seed)
    except ValueError as error:
        raise InputError(f"seed is {entry['seed']!r}", hint="it is a whole number") from error
    label = Path(str(entry["asset"]))
    request = replace(
        template,
        asset=(base / label).resolve(),
        parts=tuple(with_absolute_file(part.strip(), base.resolve()) for part in parts),
        prompt=str(entry.get("prompt") or ""),
        motion=entry.get("motion") or template.motion,
        amount=parse_amount(entry.get("amount")),
        seed=seed,
    )
    return _named(request, label)


def _named(request: JobRequest, label: Path) -> BatchJob:
    words = [Path(each.file).stem if each.file else each.name for each in map(parse, request.parts)]
    name = identifier(f"{label.stem}_{'_'.join(words)}", "asset")[:60]
    return BatchJob(name, label.as_posix(), request)


def _read_csv(path: Path) -> Sequence[Mapping[str, Any]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, restkey="more columns than the header")
            return list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read ({error})", hint="check the path") from error


def _read_toml(path: Path) -> Sequence[Mapping[str, Any]]:
    try:
        with path.open("rb") as stream:
            data = tomllib.load(stream)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error})", hint="mend what it names") from error
    unknown = set(data) - {"defaults", "job"}
    if unknown:
        raise InputError(f"{path} has {sorted(unknown)}", hint="write [defaults] and [[job]]")
    return [data.get("defaults", {}) | job for job in data.get("job", [])]


def _lines(path: Path) -> Iterable[str]:
    with path.open(encoding="utf-8", errors="replace") as stream:
        yield from stream


def _gltf_json(asset: Path) -> dict[str, Any]:
    """The JSON of a .gltf, or of the first chunk of a .glb (glTF 2.0, section 4.4)."""
    with asset.open("rb") as stream:
        if asset.suffix.lower() == ".glb":
            header = stream.read(20)
            if header[:4] != b"glTF":
                raise ValueError("not a glb")
            return json.loads(stream.read(int.from_bytes(header[12:16], "little")))
        return json.load(stream)


def _chain(name: str, above: Mapping[str, str]) -> Iterator[str]:
    """The names above a name, nearest first."""
    while name := above.get(name, ""):
        yield name


def _gltf_names(data: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    nodes = data.get("nodes", [])
    parents = {child: i for i, node in enumerate(nodes) for child in node.get("children", ())}
    found = []
    for index, node in enumerate(nodes):
        ancestors, above, seen = [], parents.get(index), {index}
        while above is not None and above not in seen:
            seen.add(above)
            ancestors.append(nodes[above].get("name", ""))
            above = parents.get(above)
        if node.get("name"):
            found.append((node["name"], tuple(ancestors)))
    return found
