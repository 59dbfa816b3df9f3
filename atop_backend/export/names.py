"""Names that URDF, MJCF, USD and every file system accept."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

RESERVED = ("world", "base", "default")  # "world" is MuJoCo's root body, "base" our own link


def identifier(name: str, fallback: str = "part") -> str:
    """The name in ASCII letters, digits and underscores, not starting with a digit."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")
    if not plain:
        return fallback
    return plain if not plain[0].isdigit() else f"{fallback}_{plain}"


def unique_identifiers(names: Iterable[str]) -> list[str]:
    """One identifier a name, in order; equal ones (in any case of letters) get a number."""
    taken = {name.lower() for name in RESERVED}
    result = []
    for name in names:
        stem = chosen = identifier(name)
        number = 2
        while chosen.lower() in taken:
            chosen, number = f"{stem}_{number}", number + 1
        taken.add(chosen.lower())
        result.append(chosen)
    return result
