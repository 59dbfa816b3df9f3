"""One driver a batch folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atop_backend.errors import InputError


@contextmanager
def only_driver(out: Path) -> Iterator[None]:
    """Holds the folder's lock, which the system frees however the process ends.

    Raises:
        InputError: Another process holds it.
    """
    with (out / "driver.lock").open("a+b") as stream:
        try:
            _lock(stream.fileno())
        except OSError as error:
            raise InputError(
                f"another batch is at work in {out}", hint="wait for it, or stop it first"
            ) from error
        yield


def _lock(descriptor: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
