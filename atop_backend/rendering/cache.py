"""Rendered views kept by content, so that a machine without Blender can work from a copy.

A cache is a folder of job folders: `<cache>/<key>/render/...`. The key depends on what the files
hold and on the settings, not on where the files lie or on which Blender made the pictures.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from atop_backend.errors import InputError
from atop_backend.geometry.cameras import SIZE_PX
from atop_backend.rendering.selectors import parse
from atop_backend.rendering.views import RestViews, load_views, render_views

LOOK = 1  # counts changes of the pictures that the worker makes of the same request


def cache_key(
    asset: Path,
    parts: Sequence[str],
    *,
    elevation_rad: float,
    size_px: int = SIZE_PX,
    samples: int = 16,
    turn: np.ndarray | None = None,
) -> str:
    """32 hex digits that name the views of this asset, part and settings.

    Files that the asset names (buffers, textures, materials) and face-index files count too.
    """
    digest = hashlib.sha256()
    settings = {
        "look": LOOK,
        "suffix": asset.suffix.lower(),
        "parts": [_without_folder(part) for part in parts],
        "elevation": round(elevation_rad, 9),
        "size": size_px,
        "samples": samples,
        "turn": None if turn is None else np.round(turn, 9).tolist(),
    }
    digest.update(json.dumps(settings, sort_keys=True).encode())
    files = [parse(part).file for part in parts]
    for path in [asset, *_named_files(asset), *(Path(file) for file in files if file)]:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(
                f"{path} cannot be read ({error.strerror})", hint="check its path"
            ) from error
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()[:32]


def render_cached(
    cache_dir: Path,
    asset: Path,
    parts: Sequence[str],
    *,
    elevation_rad: float,
    size_px: int = SIZE_PX,
    samples: int = 16,
    turn: np.ndarray | None = None,
    blender: str = "",
    threads: int = 0,
    time_limit_s: float = 180.0,
) -> RestViews:
    """The views from the cache, rendered first where they are not in it yet.

    Args and errors are those of `render_views`.
    """
    settings = {
        "elevation_rad": elevation_rad,
        "size_px": size_px,
        "samples": samples,
        "turn": turn,
    }
    entry = cache_dir / cache_key(asset, parts, **settings)
    if entry.is_dir():
        return load_views(entry)
    cache_dir.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".rendering-", dir=cache_dir))
    try:
        views = render_views(
            asset,
            parts,
            aside,
            **settings,
            blender=blender,
            threads=threads,
            time_limit_s=time_limit_s,
        )
        for leftover in ("blender.log", "blender_request.json", "outcome.json"):
            (aside / "render" / leftover).unlink(missing_ok=True)
        with suppress(OSError):  # another process has put it there meanwhile
            aside.rename(entry)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return views


def _without_folder(part: str) -> str:
    selector = parse(part)
    return selector._replace(file=Path(selector.file).name).text if selector.file else part


def _named_files(asset: Path) -> list[Path]:
    """Files beside the asset that it is made of, as far as they exist."""
    suffix = asset.suffix.lower()
    names: list[str] = []
    if suffix == ".gltf":
        with suppress(ValueError, OSError):
            document = json.loads(asset.read_text(encoding="utf-8"))
            entries = [*document.get("buffers", []), *document.get("images", [])]
            names = [unquote(entry.get("uri", "")) for entry in entries]
    elif suffix == ".obj":
        names = _words_after(asset, rb"mtllib")
        for library in [asset.parent / name for name in names]:
            names = names + _words_after(library, rb"map_\w+")
    paths = [asset.parent / name for name in names if name and not name.startswith("data:")]
    return [path for path in paths if path.is_file()]


def _words_after(path: Path, keyword: bytes) -> list[str]:
    """What follows a keyword on the lines of a text file that begin with it."""
    if not path.is_file():
        return []
    found = re.findall(rb"^\s*" + keyword + rb"\s+(.*?)\s*$", path.read_bytes(), re.MULTILINE)
    return [line.decode(errors="replace") for line in found]
