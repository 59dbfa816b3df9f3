"""Samples of the bundled model on held-out generated objects, and how the fit does on them.

Two steps, since the first wants a GPU and the second only a CPU:

    held_out_fits.py sample samples.npz --count 200 --device cuda [--tilted 7 13 30]
    held_out_fits.py fit samples.npz outcomes.npz --workers 2 [--set fit.key=value]

The outcomes are what scripts/calibrate_confidence.py reads. Objects are those from which training
keeps away; weights of the fit may be tuned on them, never on the evaluation set. Samples of tilted
hinges are for scripts/tilted_joints.py, which says what they are.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

RIGHT_DEG, RIGHT_OFFSET = 5.0, 0.1  # an answer within these of the truth is right
_PER_DRAW = 16
_SPREAD_SEED = 100_000  # past the held-out objects that training itself looks at


class Outcome(NamedTuple):
    """Of one object."""

    kind: str
    type_right: bool
    axis_deg: float  # undirected
    sign_right: bool
    offset: float  # hinge to true hinge line, normalised; nan unless both are hinges
    amount_ratio: float
    right: tuple[bool, ...]  # of each answer
    confidence: float
    signs: tuple[float, ...]
    seconds: float


def draw_samples(
    out: Path, count: int, samples: int, steps: int, device_name: str, tilts: list[float]
) -> None:
    """Write the model's samples for `count` objects, with what a fit needs besides.

    Args:
        tilts: Degrees by which hinges are tilted, `count` objects for each; none for objects as
            they are.
    """
    import torch

    from atop_backend.diffusion import bundled
    from atop_backend.diffusion.clips import unpack
    from atop_backend.diffusion.sample import sample
    from atop_backend.diffusion.text import TextEncoder
    from atop_backend.motion.evidence import BLOCK_PX
    from atop_backend.training.data import ClipDrawer, take

    device = torch.device(device_name)
    model = bundled.load()
    denoiser = model.denoiser.to(device)
    drawer = ClipDrawer(model.autoencoder.to(device), TextEncoder(device_name), device)
    arrays: dict[str, Any] = {}
    done = 0
    for seeds, objects, tilt in _lots(count, tilts):
        size, seed = len(seeds), seeds[0]
        stored = drawer.draw(objects, torch.Generator().manual_seed(seed))
        phrases = torch.arange(size, device=device) % stored.text.shape[1]
        frames = torch.tensor((2, 5, 8), device=device).expand(size, -1)
        grain = torch.Generator(device=device).manual_seed(seed)
        conditions = take(stored, frames, phrases, 0.01, grain).conditions
        noise = torch.Generator(device=device).manual_seed(seed)
        clips = sample(denoiser, conditions, steps, 1.0, noise, samples, batch=32)
        for row, channels in enumerate(clips.float().cpu().unflatten(0, (size, samples))):
            radius = float(conditions.part_radius[row])
            clip = unpack(channels, conditions.frames[row].cpu(), radius)
            assert clip.silhouettes is not None
            assert clip.motions is not None
            name = str(done + row)
            arrays[f"{name}_seed"] = np.array(seeds[row])
            arrays[f"{name}_tilt"] = np.array(tilt)
            mask = conditions.mask[row, :, 0].bool().cpu()
            blocks = torch.nn.functional.max_pool2d(mask[:, None].float(), BLOCK_PX)[:, None]
            positions = conditions.positions[row].movedim(1, -1).half().cpu()
            arrays[f"{name}_silhouettes"] = clip.silhouettes.half().numpy()
            # where the part is not, nothing is read: zeros, which take no room
            arrays[f"{name}_motions"] = (clip.motions * blocks).half().numpy()
            arrays[f"{name}_positions"] = positions * mask[..., None]
            arrays[f"{name}_mask"] = mask
            arrays[f"{name}_cameras"] = conditions.cameras[row].cpu()
        done += size
        print(f"{done} of {count * max(len(tilts), 1)} objects", flush=True)
    np.savez_compressed(out, count=np.array(done), **arrays)


def _lots(count: int, tilts: list[float]) -> Iterator[tuple[list[int], Any, float]]:
    """Seeds, packed objects and tilt of one draw after another."""
    from tilted_joints import tilted_objects

    from atop_backend.synthetic.batch import pack
    from atop_backend.training.data import HELD_OUT_SEED, PHRASES, PackedObjects, packed_objects

    if not tilts:
        for first in range(0, count, _PER_DRAW):
            size = min(_PER_DRAW, count - first)
            seed = HELD_OUT_SEED + _SPREAD_SEED + first
            yield list(range(seed, seed + size)), packed_objects(seed, size), 0.0
    for tilt in tilts:
        things = list(tilted_objects(tilt, count, pins=True))
        for first in range(0, count, _PER_DRAW):
            lot = things[first : first + _PER_DRAW]
            items = [thing.item for thing in lot]
            prompts = [list(item.prompts[:PHRASES]) for item in items]
            packed = PackedObjects(pack(items), prompts, [item.kind for item in items])
            yield [thing.seed for thing in lot], packed, tilt


def evidence_in(data: Any, name: str) -> Any:
    """The evidence in one object's samples; None where its part is not seen."""
    from tilted_joints import camera_of

    from atop_backend.motion.evidence import evidence_from_clip

    mask = data[f"{name}_mask"]
    if not mask.any():
        return None
    views = tuple(camera_of(row) for row in data[f"{name}_cameras"].astype(float))
    return evidence_from_clip(
        data[f"{name}_positions"].astype(float), mask, views,
        data[f"{name}_silhouettes"], data[f"{name}_motions"], np.array([1, 2, 3]) / 3,
    )  # fmt: skip


def fit_one(name: str, path: Path, overrides: tuple[str, ...]) -> Outcome | None:
    """The outcome of one object of a sample file; None where its part is not seen."""
    from atop_backend.config import resolve
    from atop_backend.geometry.meshes import RestShape
    from atop_backend.motion.fit import fit_joint
    from atop_backend.synthetic.generate import generate

    with np.load(path) as data:
        item = generate(int(data[f"{name}_seed"]))
        evidence = evidence_in(data, name)
    if evidence is None:
        return None
    corners = item.triangles.reshape(-1, 3).astype(float)
    names = np.arange(len(corners)).reshape(-1, 3)
    shape = RestShape(corners, names, item.moving, np.eye(4), (item.kind,))
    settings = resolve("default", overrides).fit
    begun = time.process_time()
    answers = fit_joint(
        shape, evidence, settings, ("revolute", "prismatic"), np.random.default_rng(0)
    )
    seconds = time.process_time() - begun
    return _judge(item, answers, seconds)


def _judge(item: Any, answers: list[Any], seconds: float) -> Outcome:
    from atop_backend.geometry.joints import line_angle_deg, point_line_distance

    true = item.joint
    axis, origin = np.array(true.axis), np.array(true.origin)
    rows = []
    for answer in answers:
        found = answer.joint
        angle = float(line_angle_deg(np.array(found.axis), axis))
        sign = bool(np.dot(found.axis, axis) > 0) or not item.directed
        both = found.kind == true.kind == "revolute"
        offset = float(point_line_distance(np.array(found.origin), origin, axis))
        right = found.kind == true.kind and angle < RIGHT_DEG and sign
        right = right and not (both and offset > RIGHT_OFFSET)
        rows.append((found.kind == true.kind, angle, sign, offset if both else math.nan, right))
    best = rows[0]
    return Outcome(
        item.kind, best[0], best[1], best[2], best[3], answers[0].joint.upper / true.upper,
        tuple(row[4] for row in rows), answers[0].confidence, answers[0].signs, seconds,
    )  # fmt: skip


def report(outcomes: list[Outcome]) -> None:
    """Print shares and means."""
    angles = np.array([outcome.axis_deg for outcome in outcomes])
    offsets = np.array([outcome.offset for outcome in outcomes])
    right = np.array([outcome.right[0] for outcome in outcomes])
    chances = np.array([outcome.confidence for outcome in outcomes])
    print(f"objects              {len(outcomes)}")
    print(f"type right           {np.mean([o.type_right for o in outcomes]):.3f}")
    print(f"axis error, degrees  {angles.mean():.2f}; within 5: {np.mean(angles < 5):.3f}")
    print(f"sign right           {np.mean([o.sign_right for o in outcomes]):.3f}")
    print(f"hinge offset         {np.nanmean(offsets):.4f}; median {np.nanmedian(offsets):.4f}")
    print(f"amount, median ratio {np.median([o.amount_ratio for o in outcomes]):.2f}")
    print(f"right in all         {right.mean():.3f}")
    for others in (1, 2, 3):
        reach = np.mean([any(outcome.right[: 1 + others]) for outcome in outcomes])
        print(f"  or one of {others} others {reach:.3f}")
    print(f"mean confidence      {chances.mean():.3f}")
    print(f"CPU seconds          {np.mean([o.seconds for o in outcomes]):.2f}")


def main() -> None:
    """Sample or fit, as the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    draws = steps.add_parser("sample", help="draw the model's samples")
    draws.add_argument("samples", type=Path)
    draws.add_argument("--count", type=int, default=200)
    draws.add_argument("--samples-each", type=int, default=4)
    draws.add_argument("--steps", type=int, default=2)
    draws.add_argument("--device", default="cuda")
    draws.add_argument("--tilted", type=float, nargs="+", default=[], metavar="DEG")
    fits = steps.add_parser("fit", help="fit joints to them")
    fits.add_argument("samples", type=Path)
    fits.add_argument("outcomes", type=Path)
    fits.add_argument("--limit", type=int)
    fits.add_argument("--workers", type=int, default=1)
    fits.add_argument("--set", action="append", default=[], metavar="fit.key=value")
    arguments = parser.parse_args()
    if arguments.step == "sample":
        draw_samples(
            arguments.samples, arguments.count, arguments.samples_each, arguments.steps,
            arguments.device, arguments.tilted,
        )  # fmt: skip
        return
    with np.load(arguments.samples) as data:
        count = min(int(data["count"]), arguments.limit or 1 << 30)
    job = partial(fit_one, path=arguments.samples, overrides=tuple(arguments.set))
    with ProcessPoolExecutor(arguments.workers) as pool:
        found = [o for o in pool.map(job, map(str, range(count)), chunksize=4) if o is not None]
    report(found)
    np.savez(
        arguments.outcomes,
        signs=np.array([outcome.signs for outcome in found]),
        right=np.array([outcome.right[0] for outcome in found]),
        kinds=np.array([outcome.kind for outcome in found]),
    )


if __name__ == "__main__":
    main()
