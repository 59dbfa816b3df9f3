"""The job folder: made aside and put in place when complete, so that nothing is half-written."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from atop_backend import __version__
from atop_backend.config import Config
from atop_backend.contracts import JobRequest
from atop_backend.errors import InputError, SetupError

NEEDED_BYTES = 64 * 2**20  # a default job writes about 10 MB; Blender's temporary files more
_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder` that takes its place at the end, or vanishes on any failure."""
    aside = folder.with_name(f".{folder.name}.partial-{os.getpid()}")
    with explaining_full_disk(folder):
        try:
            aside.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir()
            if shutil.disk_usage(aside).free < NEEDED_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            shutil.rmtree(aside, ignore_errors=True)
            if error.errno in _FULL:
                raise
            raise InputError(
                f"nothing can be written to {folder.parent} ({error.strerror})",
                hint="choose another folder with --out",
            ) from error
        try:
            yield aside
            old = folder.with_name(f".{folder.name}.old-{os.getpid()}")
            if folder.exists():
                folder.rename(old)
            aside.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def explaining_full_disk(folder: Path) -> Iterator[None]:
    """Turns "no space left" from anywhere inside into a sentence that names the folder."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise SetupError(
            f"the disk that holds {folder} is full",
            hint=f"free {NEEDED_BYTES // 2**20} MB there or choose another folder with --out",
        ) from error


def check_out(folder: Path) -> None:
    """Refuse to replace what is not a job folder."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "request.json").is_file():
        raise InputError(
            f"{folder} holds other files", hint="choose an empty or new folder with --out"
        )
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file", hint="choose a folder with --out")


def write_settings(job_dir: Path, request: JobRequest, config: Config) -> None:
    """Write what was asked for, before anything else is done."""
    write_json(job_dir / "request.json", request.to_dict())
    settings = {"version": __version__, "seed": request.seed, "config": config.to_dict()}
    write_json(job_dir / "config.json", settings)


def read_request(path: Path) -> JobRequest:
    """The request in a file."""
    return JobRequest.from_dict(read_request_data(path))


def read_request_data(path: Path) -> dict[str, Any]:
    """What a request.json of any kind holds.

    Raises:
        InputError: It is missing or no JSON object.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"request {path} cannot be read ({error.strerror})",
            hint="give the path of a request.json, or of a job folder that holds one",
        ) from error
    except ValueError as error:
        raise InputError(f"request {path} is not JSON ({error})", hint="write it anew") from error
    if not isinstance(data, dict):
        raise InputError(f"request {path} is not a JSON object", hint="write it anew")
    return data


def read_json(path: Path) -> Any:
    """What a file of the job folder holds.

    Raises:
        InputError: It is missing or broken.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} cannot be read ({error})", hint="repeat the stage that writes it"
        ) from error


def write_json(path: Path, data: Any) -> None:
    """Write strict JSON, all or nothing."""
    aside = path.with_name(f".{path.name}.partial")
    aside.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    aside.replace(path)
