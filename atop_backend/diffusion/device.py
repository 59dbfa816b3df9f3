"""Which device the networks run on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from atop_backend.errors import InputError, SetupError

_STARVED = ("out of memory", "can't allocate memory", "cannot allocate memory")  # torch's words


def pick_device(name: str) -> torch.device:
    """The device of that name; "auto" takes a GPU where there is one.

    Raises:
        InputError: The name is no device.
        SetupError: This machine, or this build of torch, has no such device.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(
            f"device is {name!r}", hint="use auto, cpu, cuda or cuda:NUMBER"
        ) from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise SetupError(
            f"device {name} was asked for, but torch sees {torch.cuda.device_count()} GPUs",
            hint="use --device cpu, or install a torch build for this machine's GPU",
        )
    if device.type not in ("cpu", "cuda", "mps"):
        raise InputError(f"device is {name!r}", hint="use auto, cpu, cuda or cuda:NUMBER")
    return device


def working_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 where the device multiplies such matrices in hardware, else float32.

    GPUs do, and CPUs with AMX or AVX512-BF16: a sample takes a third less time on the latter, and
    its motions differ by 3 % of their size from those in float32.
    """
    fast = device.type == "cuda"
    if device.type == "cpu":
        names = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
        asked = (getattr(torch.cpu, name, None) for name in names)
        fast = any(supported() for supported in asked if supported)
    return torch.bfloat16 if fast else torch.float32


def describe_device(device: torch.device) -> str:
    """The device for people, such as "cpu, 2 threads"."""
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        return f"{device} ({properties.name}, {properties.total_memory / 2**30:.0f} GB)"
    return f"{device}, {torch.get_num_threads()} threads"


@contextmanager
def explaining_memory(advice: str) -> Iterator[None]:
    """Turns running out of memory, on whatever device, into a `SetupError`.

    Args:
        advice: What to change, for the hint.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        said = str(error).lower()
        if not isinstance(error, MemoryError) and not any(words in said for words in _STARVED):
            raise
        where = "the GPU" if "cuda" in said else "the machine"
        raise SetupError(f"{where} is out of memory", hint=advice) from error
