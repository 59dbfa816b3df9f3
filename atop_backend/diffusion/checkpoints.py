"""Reading weight files that others made: whole, of the right layout, or refused with the reason."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from atop_backend.errors import InputError, SetupError

METADATA = "atop_finetuned"  # key of what a finetuned file says of itself
_FETCH_AGAIN = "copy or download the file again and compare its size with the original's"


def find_file(folder: Path, names: tuple[str, ...], what: str) -> Path:
    """The first of these files that the folder has."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise SetupError(
        f"{what} is missing: {folder} has none of {', '.join(names)}",
        hint="give the folder that holds all parts of the model",
    )


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a .safetensors, .bin, .pt or .ckpt file; nothing in it is executed."""
    if not path.is_file():
        raise SetupError(f"the weight file {path} does not exist", hint="check the path")
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except (SafetensorError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise SetupError(
            f"{path.name} is truncated or no weight file ({_first_line(error)})", hint=_FETCH_AGAIN
        ) from error
    except pickle.UnpicklingError as error:
        raise SetupError(
            f"{path.name} is no weight file, or holds code besides tensors, which is not run",
            hint="use the original file, or its .safetensors version",
        ) from error
    if isinstance(loaded, Mapping) and isinstance(loaded.get("state_dict"), Mapping):
        loaded = loaded["state_dict"]
    if not isinstance(loaded, Mapping) or not loaded:
        raise SetupError(
            f"{path.name} holds a {type(loaded).__name__} instead of named tensors",
            hint="use the original weight file",
        )
    return {name: value for name, value in loaded.items() if isinstance(value, Tensor)}


def load_strictly(module: nn.Module, tensors: Mapping[str, Tensor], source: str) -> None:
    """Fill the module; every tensor must be there, be used and have its shape.

    Args:
        source: Name of the file for messages.
    """
    wanted = module.state_dict()
    missing = sorted(set(wanted) - set(tensors))
    unknown = sorted(set(tensors) - set(wanted))
    reasons = []
    if missing:
        reasons.append(f"lacks {len(missing)} of {len(wanted)} tensors, such as {missing[0]}")
    if unknown:
        reasons.append(f"has {len(unknown)} that do not belong, such as {unknown[0]}")
    for name in wanted.keys() & tensors.keys():
        if tensors[name].shape != wanted[name].shape:
            found, expected = tuple(tensors[name].shape), tuple(wanted[name].shape)
            reasons.append(f"has {name} of shape {found} instead of {expected}")
            break
    if not reasons:
        broken = next((name for name in tensors if not tensors[name].isfinite().all()), None)
        if broken is not None:
            reasons.append(f"has values in {broken} that are not numbers")
    if reasons:
        raise SetupError(
            f"{source} {', and '.join(reasons)}",
            hint="it is of another model, or damaged: use the weights that the README names",
        )
    module.load_state_dict(dict(tensors))


def finetuned_file(path: Path) -> Path:
    """The weight file that `atop finetune` wrote, given it or its folder."""
    file = path / "finetuned.safetensors" if path.is_dir() else path
    if not file.is_file():
        raise InputError(f"the finetuned weights {file} do not exist", hint="check --finetuned")
    return file


def finetuned_facts(file: Path, base: str) -> dict[str, Any]:
    """What a finetuned file says of itself.

    Raises:
        SetupError: It is broken, by somebody else, or for another network than `base`.
    """
    try:
        with safe_open(file, "pt") as opened:
            metadata = opened.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise SetupError(
            f"{file.name} is truncated or no .safetensors file", hint="run `atop finetune` again"
        ) from error
    facts = json.loads(metadata.get(METADATA, "{}"))
    if facts.get("base") != base:
        of = facts.get("base")
        raise SetupError(
            f"{file.name} was finetuned from {of}, not from {base}" if of
            else f"{file.name} was not written by `atop finetune`",
            hint=f"choose the {of} model, or another file" if of
            else f"give the .safetensors file of a finetuning with --base {base}",
        )  # fmt: skip
    return facts


def load_over(module: nn.Module, file: Path) -> None:
    """Put finetuned weights over those that are there; all of them must belong."""
    tensors = {name: value.float() for name, value in read_tensors(file).items()}
    load_strictly(module, {**module.state_dict(), **tensors}, file.name)


def without_prefix(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with the prefix, under the rest of their names."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:160]
