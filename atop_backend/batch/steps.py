"""One job as three steps that may run in different processes on different machines.

A job grows in a staging folder on shared storage and is put in place when it is complete, as
`stages.articulate` does in one go; the same steps in the same order give the same result.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from atop_backend.contracts import REQUEST_PATHS, JobRequest
from atop_backend.errors import InputError
from atop_backend.rendering.selectors import parse, with_absolute_file


class Steps(NamedTuple):
    """What each kind of worker does with a request whose `out` is the staging folder."""

    render: Callable[[JobRequest], None]  # on a CPU, through Blender
    infer: Callable[[JobRequest], None]  # where the model is
    report: Callable[[JobRequest], None]  # on a CPU, through Blender


def _render(request: JobRequest) -> None:
    from atop_backend import stages

    stages.start(request, lambda event: None)


def _infer(request: JobRequest) -> None:
    from atop_backend import stages

    for stage in ("generate", "fit"):
        stages.repeat(request.out, stage, lambda event: None)


def _report(request: JobRequest) -> None:
    from atop_backend import stages

    stages.repeat(request.out, "report", lambda event: None)


PRODUCT = Steps(_render, _infer, _report)


def with_readable_asset(request: JobRequest) -> JobRequest:
    """The request with a .glb beside its job folder in place of a URDF, which Blender cannot read.

    Joints are then in the frame of the .glb.

    Raises:
        InputError: The URDF is broken.
    """
    if request.asset.suffix.lower() != ".urdf":
        return request
    from atop_backend.export.urdf_reader import read_urdf, urdf_to_glb

    glb = request.out.with_name(f"{request.out.name}.glb")
    if not glb.is_file():
        aside = glb.with_name(f".{glb.stem}.partial-{os.getpid()}.glb")
        urdf_to_glb(read_urdf(request.asset), aside)
        aside.replace(glb)
    return replace(request, asset=glb)


def staging(out: Path, key: str) -> Path:
    """The folder in which a job of a batch grows; everything under it may be thrown away."""
    return out / "staging" / key[:2] / key


def publish(staged: Path, request: JobRequest, shown: JobRequest | None = None) -> None:
    """Put a complete job folder where the request wants it.

    Args:
        shown: The request as the folder keeps it, where paths differ between machines.
    """
    document = (shown or request).to_dict()
    (staged / "request.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    request.out.parent.mkdir(parents=True, exist_ok=True)
    if request.out.exists():
        shutil.rmtree(request.out)
    staged.rename(request.out)
    shutil.rmtree(staged.parent, ignore_errors=True)


def to_shared(request: JobRequest, root: Path | None) -> dict[str, Any]:
    """The request as a dictionary whose paths are relative to the shared root.

    Raises:
        InputError: A path is not below the root.
    """
    data = request.to_dict()
    if root is None:
        return data

    def below(path: str) -> str:
        try:
            return Path(path).relative_to(root).as_posix()
        except ValueError as error:
            raise InputError(
                f"{path} is not below the shared folder {root}",
                hint="put assets and results there, or give another --root",
            ) from error

    for name in REQUEST_PATHS:
        if data[name] is not None:
            data[name] = below(data[name])
    data["parts"] = [
        selector._replace(file=below(selector.file)).text if selector.file else text
        for text, selector in zip(request.parts, map(parse, request.parts), strict=True)
    ]
    return data


def from_shared(data: dict[str, Any], root: str) -> JobRequest:
    """The request that `to_shared` wrote, where this machine has the root; "" for none."""
    request = JobRequest.from_dict(data)
    if not root:
        return request
    there: dict[str, Any] = {
        name: Path(root) / data[name] for name in REQUEST_PATHS if data[name] is not None
    }
    parts = tuple(with_absolute_file(part, Path(root)) for part in request.parts)
    return replace(request, **there, parts=parts)
