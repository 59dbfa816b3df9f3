"""What the bundled rig prior makes of sentences, on generated creatures and on rigs of your own.

    python scripts/rig_prior_figures.py --held-out 24 --out figures
    python scripts/rig_prior_figures.py --rig Fox.glb --prompt "the fox walks" --out figures

A generated creature's true motion is known: the field's error (of no motion: 1), the error of the
skin after the fit in radii of the body, and the figures of both motions side by side. Rigs of your
own get the figures alone. The sheet shows each motion, one row each, the rest pose first; for
generated creatures the true motion above the one that was found.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image, ImageDraw

from atop_backend.config import AnimateConfig
from atop_backend.creatures.generate import creature, rig_of
from atop_backend.diffusion import bundled
from atop_backend.diffusion.bundled import BundledModel
from atop_backend.geometry.rigs import Rig, normalise
from atop_backend.skeletal import parameters, prior
from atop_backend.skeletal.figures import figures
from atop_backend.skeletal.gltf_rig import read_gltf_rig
from atop_backend.skeletal.kinematics import (
    Pose,
    affine,
    pose_of,
    rest_to_posed,
    skeleton_of,
    skin_vertices,
)
from atop_backend.skeletal.pictures import camera_around
from atop_backend.skeletal.report import draw_poses
from atop_backend.skeletal.restviews import patch_motions, rest_views
from atop_backend.training.data import HELD_OUT_SEED

FPS = 24.0
POSES = 24
SHOWN = 6  # poses of a row
SIZE_PX = 112
_SEEDS_AFTER = HELD_OUT_SEED + 5000  # not those that training ends with
COLUMNS = ("field_error", "mean_error", "skin", "foot_slide_m_s", "penetration_m", "float_m",
           "jerk_m_s3", "motion_m_s", "travel", "seconds")  # fmt: skip


class Found(NamedTuple):
    """A motion and what it took."""

    pose: Pose
    field: prior.Field
    seconds: float


def find(model: BundledModel, rig: Rig, prompt: str, settings: AnimateConfig, seed: int) -> Found:
    """The motion of a normalised rig."""
    begun = time.monotonic()
    views = rest_views(rig)
    motions = prior.imagine(model, views, prompt, settings, seed, "auto", lambda step, total: None)
    field = prior.field_of(views, motions)
    loop = prior.goes_round(field.motions)
    motion = prior.fit_field(rig, field, settings, loop)
    times = torch.linspace(0.0 if loop else prior.PRIOR_SHARES[0], 1, POSES)
    pose = motion.pose(parameters.body_of(rig), times)
    if settings.travel:
        pose = prior.travelling(rig, pose)
    return Found(pose, field, time.monotonic() - begun)


def measured(rig: Rig, pose: Pose) -> dict[str, float]:
    """Figures in radii of the body and seconds, and how far the body gets."""
    way = pose.root_shifts[-1, :2] - pose.root_shifts[0, :2]
    return {**figures(rig, pose, FPS, 1.0), "travel": float(way.norm())}


def row_of(rig: Rig, pose: Pose, title: str, true: Pose | None = None) -> Image.Image:
    """Pictures of some poses beside each other, the true ones above."""
    height = float(rig.vertices[:, 2].max())
    camera = camera_around((0.0, 0.0, height / 2), math.radians(60), 0.2, SIZE_PX, SIZE_PX)
    rows = []
    for each in (true, pose):
        if each is None:
            continue
        picks = np.linspace(0, len(each.rotations) - 1, SHOWN).round().astype(int)
        some = Pose(*(part[picks] for part in each))
        still = some.root_shifts * torch.tensor([0.0, 0.0, 1.0])  # a gait stays in the picture
        shown = np.concatenate([
            draw_poses(rig, Pose(*(torch.eye(3).expand_as(part[:1]) if part.ndim > 2 else
                                   torch.zeros_like(part[:1]) for part in some)), camera),
            draw_poses(rig, some._replace(root_shifts=still), camera),
        ])  # fmt: skip
        rows.append(np.concatenate(list(shown), axis=1))
    picture = Image.fromarray(np.concatenate(rows))
    ImageDraw.Draw(picture).text((3, 1), title, fill=(0, 0, 0))
    return picture


def held_out(
    model: BundledModel, count: int, settings: AnimateConfig
) -> tuple[list[dict[str, Any]], list[Image.Image]]:
    """Rows and pictures of generated creatures that were never trained on."""
    rows, pictures = [], []
    for index in range(count):
        performer = creature(_SEEDS_AFTER + index)
        item, acts = performer.creature, performer.performances
        rig, placement = normalise(rig_of(item))
        order = [item.bones.index(name) for name in rig.bones]
        views = rest_views(rig)
        fields = [
            prior.field_of(views, patch_motions(torch.tensor(act.matrices[:, order]).float(),
                                                views.bound))
            for act in acts
        ]  # fmt: skip
        true = fields[0]
        found = find(model, rig, acts[0].sentences[0], settings, index)
        weights = true.weights[:, None]

        def size(motions: torch.Tensor, weights: torch.Tensor = weights) -> float:
            return float((weights * motions.square()).mean().sqrt())

        whole = max(size(true.motions), 1e-6)
        mean = torch.stack([field.motions for field in fields]).mean(dim=0)
        known = _known_pose(rig, acts[0].matrices[:, order], placement)
        again = find_at(rig, found.field, settings)
        skins = [skin_vertices(rig, rest_to_posed(skeleton_of(rig), each)) for each in
                 (known, again)]  # fmt: skip
        rows.append({
            "kind": item.kind, "prompt": acts[0].sentences[0],
            "field_error": size(found.field.motions - true.motions) / whole,
            "mean_error": size(mean - true.motions) / whole,
            "skin": float((skins[0] - skins[1]).norm(dim=-1).mean()),
            **measured(rig, found.pose), "seconds": found.seconds,
            "known": measured(rig, prior.travelling(rig, known)),
        })  # fmt: skip
        print(line(rows[-1]), flush=True)
        pictures.append(row_of(rig, found.pose, acts[0].sentences[0], known))
    return rows, pictures


def find_at(rig: Rig, field: prior.Field, settings: AnimateConfig) -> Pose:
    """The fit of a field at the prior's own frames, without travel."""
    motion = prior.fit_field(rig, field, settings, prior.goes_round(field.motions))
    return motion.pose(parameters.body_of(rig), torch.tensor(prior.PRIOR_SHARES))


def _known_pose(rig: Rig, matrices: np.ndarray, placement: Any) -> Pose:
    """A creature's own motion as a pose of its normalised rig."""
    linear = torch.tensor(matrices[..., :3]).float()
    shift = torch.tensor(matrices[..., 3]).float()
    offset = torch.as_tensor(placement.shift).float()
    moved = (shift + linear @ offset - offset) / placement.scale
    return pose_of(rig, affine(linear, moved))


def line(row: dict[str, Any]) -> str:
    """A row for people."""
    cells = [f"{row[name]:8.3f}" if name in row else " " * 8 for name in COLUMNS]
    return f"{row['kind'][:14]:14} {row['prompt'][:44]:44} " + " ".join(cells)


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--held-out", type=int, default=0, help="generated creatures")
    parser.add_argument("--rig", action="append", default=[], type=Path, metavar="GLB")
    parser.add_argument("--prompt", action="append", default=[], help="for each rig")
    parser.add_argument("--weights", type=Path, default=bundled.FOLDER)
    parser.add_argument("--scale", type=float, default=AnimateConfig().prior_scale)
    parser.add_argument("--steps", type=int, default=AnimateConfig().prior_steps)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    model = bundled.load(options.weights, "rig")
    settings = AnimateConfig(prior_scale=options.scale, prior_steps=options.steps)
    print(f"{'':59} " + " ".join(f"{name[:8]:>8}" for name in COLUMNS))
    rows, pictures = held_out(model, options.held_out, settings)
    for path in options.rig:
        rig, _ = normalise(read_gltf_rig(path).rig)
        for prompt in options.prompt:
            found = find(model, rig, prompt, settings, options.seed)
            rows.append({"kind": path.stem, "prompt": prompt, **measured(rig, found.pose),
                         "seconds": found.seconds})  # fmt: skip
            print(line(rows[-1]), flush=True)
            pictures.append(row_of(rig, found.pose, f"{path.stem}: {prompt}"))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "figures.json").write_text(json.dumps(rows, indent=1) + "\n")
    height = sum(picture.height for picture in pictures)
    sheet = Image.new("RGB", (max(picture.width for picture in pictures), height))
    top = 0
    for picture in pictures:
        sheet.paste(picture, (0, top))
        top += picture.height
    sheet.save(options.out / "sheet.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
