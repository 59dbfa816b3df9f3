#!/usr/bin/env python3
"""What finetuning the bundled model on six clips of a studio's own objects changes.

The objects are microwaves whose doors swing up, hinged at the top edge. The generator makes them
with doors that swing sideways or fold down, so the bundled model has never seen one; the words
("the microwave door opens") do not tell. Measured are other microwaves of that line, and as a
control other kinds of objects, which finetuning may harm. Four steps, each kept in the folder:

    personalisation_figures.py DIR film                  clips and rest views, through Blender
    personalisation_figures.py DIR train --device cuda   samples, finetuning, samples again
    personalisation_figures.py DIR judge                 joints fitted to the samples, and the table

On a CPU take `train --quick` (fewer objects, samples and steps), some minutes of two idle cores.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from atop_backend.contracts import JointMotion  # noqa: E402
from atop_backend.geometry.joints import line_angle_deg, point_line_distance  # noqa: E402
from atop_backend.synthetic.generate import generate  # noqa: E402
from atop_backend.synthetic.objects import ArticulatedObject  # noqa: E402

FIRST_SEED = 1_300_000_000  # past all that training and its checks look at
COUNTS = {"train": 6, "watched": 2, "test": 10, "others": 8}
OTHERS = ("oven", "cabinet", "laptop", "safe", "trash_can", "dresser")
PROMPTS = (
    "the microwave door opens",
    "open the door of the microwave",
    "the door of the microwave gets opened",
)
FRAMES = 3  # of the clips that are sampled, as in use
NEAR_DEG, NEAR = 10.0, 0.1  # a joint within these of the truth is right, as in the README
VERTICAL, FLAT = 0.9, 0.6


def lifting(made: ArticulatedObject, rng: np.random.Generator) -> ArticulatedObject | None:
    """The microwave with its door hinged at the top edge; None unless it stands there closed."""
    joint = made.joint
    if made.kind != "microwave" or joint.kind != "revolute" or abs(joint.axis[2]) < VERTICAL:
        return None
    up = np.array(joint.axis) * np.sign(joint.axis[2])
    door = made.triangles[made.moving].reshape(-1, 3).astype(float)
    body = made.triangles[~made.moving].astype(float)
    middle = (door.min(axis=0) + door.max(axis=0)) / 2
    across = middle - np.array(joint.origin)
    across -= (across @ up) * up
    out = np.cross(up, across / np.linalg.norm(across))
    reach = body.reshape(-1, 3) @ out
    out *= np.sign(middle @ out - (reach.min() + reach.max()) / 2)
    side = np.cross(up, out)
    width = body.reshape(-1, 3) @ side
    if not width.min() < middle @ side < width.max():
        return None  # the door stands open: it is not before the front
    normals = np.cross(body[:, 1] - body[:, 0], body[:, 2] - body[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    along = np.abs(normals @ np.stack([out, side, up]).T).max(axis=1)
    if areas[along > 0.999 * areas].sum() < FLAT * areas.sum():
        return None  # the door stands ajar: it is not parallel to the front
    edge = up * (door @ up).max() + out * (door @ out).min()
    edge += side * (middle @ side)
    axis = np.cross(out, up)
    if np.cross(axis, -up) @ out < 0:
        axis = -axis
    upper = float(np.radians(rng.uniform(75, 100)))
    lifted = JointMotion("revolute", tuple(axis.tolist()), tuple(edge.tolist()), 0.0, upper)
    return made._replace(kind="lifting microwave", joint=lifted, directed=True)


def lifting_objects() -> Iterator[tuple[int, ArticulatedObject, str]]:
    """Seed, object and sentence of one microwave of the line after the other."""
    seed, found = FIRST_SEED, 0
    while True:
        made = lifting(generate(seed, "microwave"), np.random.default_rng(seed))
        if made is not None:
            yield seed, made, PROMPTS[found % len(PROMPTS)]
            found += 1
        seed += 1


def other_objects() -> Iterator[tuple[int, ArticulatedObject, str]]:
    """Seed, object and one of its own sentences, of other kinds in turn."""
    seed = FIRST_SEED + 100_000
    while True:
        made = generate(seed, OTHERS[seed % len(OTHERS)])
        yield seed, made, made.prompts[seed % len(made.prompts)]
        seed += 1


def objects() -> dict[str, list[tuple[int, ArticulatedObject, str]]]:
    """All objects of each set, no object in two."""
    own, others = lifting_objects(), other_objects()
    return {
        name: [next(others if name == "others" else own) for _ in range(count)]
        for name, count in COUNTS.items()
    }


def film_all(folder: Path, blender: str, samples: int) -> None:
    """Write a clip of every object that has none, and the features of all sentences."""
    from atop_backend.diffusion.clip_folders import write_clip
    from atop_backend.diffusion.text import TextEncoder
    from atop_backend.jobfolder import replacing
    from atop_backend.tuning.film import FilmSettings, film
    from atop_backend.tuning.generated import as_asset

    chosen = objects()
    for name, entries in chosen.items():
        taught = name in ("train", "watched")
        settings = FilmSettings(frames=10 if taught else 1 + FRAMES, samples=samples)
        for seed, made, prompt in entries:
            place = folder / name / str(seed)
            if (place / "meta.json").is_file():
                continue
            with tempfile.TemporaryDirectory() as scratch:
                asset = as_asset(made, str(seed), prompt, {"seed": seed}, Path(scratch))
                clip = film(asset, asset.movers[0], prompt, settings, blender)
            with replacing(place) as aside:
                write_clip(aside, clip, {"kind": made.kind, "seed": seed})
                keep_object(aside / "object.npz", made)
            print(f"{name} {seed}: {made.kind}, {prompt}", flush=True)
    prompts = sorted({prompt for entries in chosen.values() for _, _, prompt in entries})
    features = TextEncoder("cpu").encode(prompts).half().numpy()
    np.savez_compressed(folder / "words.npz", prompts=np.array(prompts), features=features)


def keep_object(path: Path, made: ArticulatedObject) -> None:
    """Write what `judge` needs of an object, so that a later generator does not matter."""
    joint = json.dumps(made.joint.to_dict())
    np.savez_compressed(
        path, triangles=made.triangles, moving=made.moving, joint=joint, directed=made.directed
    )


class Effort(NamedTuple):
    """How much is trained and sampled."""

    steps: int = 300
    batch: int = 4
    rate: float = 2e-4
    frames: int = 3  # moved frames of a training step
    objects: int = 100  # of each set, at most
    samples: int = 4  # as in use
    denoising: int = 4  # as in use
    watched: bool = True  # keep the weights that are best for held-out clips


QUICK = Effort(steps=80, batch=1, rate=3e-4, frames=1, objects=6, samples=2, denoising=2,
               watched=False)  # fmt: skip


def train(folder: Path, device_name: str, effort: Effort) -> None:
    """Samples of all objects before and after finetuning on the clips of `train`."""
    import torch

    from atop_backend.diffusion import bundled
    from atop_backend.diffusion.checkpoints import finetuned_file, load_over
    from atop_backend.diffusion.clip_folders import clip_paths, read_clip
    from atop_backend.diffusion.finetune import FinetuneConfig, Progress, finetune_base
    from atop_backend.diffusion.finetune_base import Base

    begun = time.monotonic()
    device = torch.device(device_name)
    with np.load(folder / "words.npz") as words:
        told = dict(
            zip(words["prompts"].tolist(), torch.from_numpy(words["features"]), strict=True)
        )
    model = bundled.load()
    denoiser, coder = model.denoiser.to(device), model.autoencoder.to(device)

    def encode_text(prompt: str) -> torch.Tensor:
        return told[prompt][None].float()

    base = Base(denoiser, denoiser, coder.encode, encode_text, coder.decode)
    clips = {name: [read_clip(path) for path in clip_paths(folder / name)] for name in COUNTS}
    draw_samples(folder / "before.npz", base, clips, effort)
    print(f"{time.monotonic() - begun:.0f} s: sampled with the bundled model", flush=True)
    config = FinetuneConfig(
        clips=folder / "train", out=folder / "run", steps=effort.steps, batch=effort.batch,
        learning_rate=effort.rate, frames=effort.frames, check_every=25, patience=0,
        sample_every=100 if effort.watched else 0, precision="bf16", device=device_name,
    )  # fmt: skip
    watched = clips["watched"] if effort.watched else []

    def show(progress: Progress) -> None:
        if progress.step % 25 == 0:
            losses = " ".join(f"{loss:.4f}" for loss in progress.by_noise or ())
            seconds = time.monotonic() - begun
            print(f"{seconds:.0f} s: step {progress.step}, held out {losses or '-'}", flush=True)

    finetune_base(config, base, clips["train"], watched, show)
    seconds = time.monotonic() - begun
    load_over(denoiser, finetuned_file(folder / "run"))
    draw_samples(folder / "after.npz", base, clips, effort)
    facts = {"device": device_name, "seconds": round(seconds), **effort._asdict()}
    if device.type == "cuda":
        facts["device"] = torch.cuda.get_device_name(device)
    (folder / "facts.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(f"{time.monotonic() - begun:.0f} s in all", flush=True)


def draw_samples(path: Path, base: Any, clips: dict[str, list[Any]], effort: Effort) -> None:
    """Write what the network makes of the rest views of `test` and `others`."""
    import torch

    from atop_backend.diffusion.clips import unpack
    from atop_backend.diffusion.finetune_base import example_of
    from atop_backend.diffusion.sample import sample

    arrays = {}
    for name in ("test", "others"):
        for number, clip in enumerate(clips[name][: effort.objects]):
            conditions = example_of(base, clip).conditions
            device = conditions.rgb.device.type
            with torch.autocast(device, torch.bfloat16):
                channels = sample(
                    base.denoiser, conditions, effort.denoising, 1.0,
                    torch.Generator().manual_seed(number), samples=effort.samples,
                )  # fmt: skip
            found = unpack(channels.float().cpu(), conditions.frames[0].cpu(), clip.part_radius)
            assert found.silhouettes is not None
            assert found.motions is not None
            arrays[f"{name}_{number}_silhouettes"] = found.silhouettes.half().numpy()
            arrays[f"{name}_{number}_motions"] = found.motions.half().numpy()
    np.savez_compressed(path, **arrays)


class Outcome(NamedTuple):
    """Of one object."""

    kind_right: bool
    axis_deg: float  # undirected
    sign_right: bool
    offset: float  # of the hinge from the true one, normalised; nan unless both are hinges
    right: bool
    motion_error: float  # of the samples' mean, as a share of the true motion


def judge_all(folder: Path) -> None:
    """Fit joints to all samples, print the table and write it to table.md."""
    from atop_backend.diffusion.clip_folders import clip_paths, read_clip

    lines = []
    for name, title in (("test", "lifting microwaves"), ("others", "other kinds")):
        for moment in ("before", "after"):
            with np.load(folder / f"{moment}.npz") as data:
                rows = [
                    judge(path / "object.npz", read_clip(path), data, f"{name}_{number}")
                    for number, path in enumerate(clip_paths(folder / name))
                    if f"{name}_{number}_motions" in data
                ]
            lines.append(_line(f"{title}, {moment}", rows))
            print(lines[-1], flush=True)
    head = [
        "| | objects | right in all | type | axis, median | within 10° | sign | motion error |",
        "|---|---|---|---|---|---|---|---|",
    ]
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    told = ", ".join(f"{key} {value}" for key, value in facts.items())
    table = "\n".join([*head, *lines, "", told])
    (folder / "table.md").write_text(table + "\n", encoding="utf-8")
    print(table)


def judge(kept: Path, clip: Any, data: Any, name: str) -> Outcome:
    """The joint fitted to the samples of one object against the true one."""
    from atop_backend.config import resolve
    from atop_backend.geometry.extents import part_extent
    from atop_backend.geometry.meshes import build_shape, joint_to_normalised, part_vertices
    from atop_backend.motion.evidence import evidence_from_clip
    from atop_backend.motion.fit import fit_joint

    with np.load(kept) as made:
        corners = made["triangles"].reshape(-1, 3).astype(float)
        moving, directed = made["moving"], bool(made["directed"])
        joint = JointMotion.from_dict(json.loads(str(made["joint"])))
    triangles = np.arange(len(corners)).reshape(-1, 3)
    shape = build_shape(corners, triangles, moving, ("part",), np.eye(3))
    true = joint_to_normalised(joint, shape)
    centre, _ = part_extent(part_vertices(shape))
    if np.abs(centre - clip.part_centre).max() > 1e-3:
        raise RuntimeError(f"the clip of {name} is in another frame: film it again")
    motions, silhouettes = data[f"{name}_motions"], data[f"{name}_silhouettes"]
    evidence = evidence_from_clip(
        clip.positions.astype(float), clip.mask, clip.cameras, silhouettes, motions, clip.frames
    )
    answers = fit_joint(
        shape, evidence, resolve("default").fit, ("revolute", "prismatic"), np.random.default_rng(0)
    )
    found = answers[0].joint
    axis, origin = np.array(true.axis), np.array(true.origin)
    angle = float(line_angle_deg(np.array(found.axis), axis))
    sign = bool(np.dot(found.axis, axis) > 0) or not directed
    both = found.kind == true.kind == "revolute"
    offset = float(point_line_distance(np.array(found.origin), origin, axis)) if both else np.nan
    right = found.kind == true.kind and angle < NEAR_DEG and sign and not offset > NEAR
    there = (clip.motions != 0).any(axis=2, keepdims=True)
    errors = np.linalg.norm(motions.astype(float).mean(axis=0) - clip.motions, axis=2)
    lengths = np.linalg.norm(clip.motions.astype(float), axis=2)
    share = float((errors * there[:, :, 0]).sum() / lengths.sum())
    return Outcome(found.kind == true.kind, angle, sign, offset, right, share)


def _line(title: str, rows: list[Outcome]) -> str:
    angles = np.array([row.axis_deg for row in rows])
    cells = [
        f"{len(rows)}",
        f"{sum(row.right for row in rows)}",
        f"{sum(row.kind_right for row in rows)}",
        f"{np.median(angles):.1f}°",
        f"{int((angles < NEAR_DEG).sum())}",
        f"{sum(row.sign_right for row in rows)}",
        f"{np.median([row.motion_error for row in rows]):.2f}",
    ]
    return f"| {title} | " + " | ".join(cells) + " |"


def main() -> None:
    """One step, as the second argument says, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("step", choices=("film", "train", "judge", "all"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true", help="for a CPU")
    parser.add_argument("--samples", type=int, default=16, help="Cycles paths a pixel")
    parser.add_argument("--blender", default="")
    options = parser.parse_args()
    if options.step in ("film", "all"):
        film_all(options.folder, options.blender, options.samples)
    if options.step in ("train", "all"):
        train(options.folder, options.device, QUICK if options.quick else Effort())
    if options.step in ("judge", "all"):
        judge_all(options.folder)


if __name__ == "__main__":
    main()
