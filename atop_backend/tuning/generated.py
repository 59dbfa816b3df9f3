"""Objects of the built-in generator as assets: something to try finetuning with."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import trimesh

from atop_backend.errors import InputError
from atop_backend.export.glb import Body, painted, write_glb
from atop_backend.synthetic.generate import generate, kinds
from atop_backend.synthetic.objects import ArticulatedObject
from atop_backend.tuning.assets import Asset, Mover, to_y_up


def check_kind(kind: str) -> None:
    """Raise `InputError` unless the generator knows this kind; names some that are near."""
    if kind not in kinds():
        near = difflib.get_close_matches(kind, kinds(), n=5, cutoff=0.4) or sorted(kinds())[:8]
        raise InputError(
            f"the generator makes no {kind!r}", hint=f"it makes for instance {', '.join(near)}"
        )


def generated_asset(kind: str, seed: int, scratch: Path) -> Asset:
    """The object of a kind and a seed, with its joint and one of its prompts.

    Args:
        scratch: An existing folder of its own.
    """
    made = generate(seed, kind)
    prompt = made.prompts[int(np.random.default_rng(seed).integers(len(made.prompts)))]
    source = {"generated": kind, "seed": seed}
    return as_asset(made, f"{kind}_{seed}", prompt, source, scratch)


def as_asset(
    made: ArticulatedObject,
    name: str,
    prompt: str,
    source: Mapping[str, object],
    scratch: Path,
) -> Asset:
    """An object of the generator as Blender opens it: a `body` and a `part` in plain colours."""
    bodies = []
    for node, chosen in (("body", ~made.moving), ("part", made.moving)):
        meshes = []
        for material in np.unique(made.materials[chosen]):
            corners = made.triangles[chosen & (made.materials == material)].reshape(-1, 3)
            faces = np.arange(len(corners)).reshape(-1, 3)
            plain = trimesh.Trimesh(corners, faces, process=False)
            meshes.append((painted(plain, made.colours[material]), np.eye(4)))
        bodies.append(Body(node, meshes))
    mover = Mover("part", ("part",), to_y_up(made.joint), prompts=(prompt,))
    return Asset(name, write_glb(scratch / "generated.glb", bodies), (mover,), source)
