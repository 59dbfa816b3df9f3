"""Samples of the bundled model on held-out generated objects, and how the fit does on them.

Two steps, since the first wants a GPU and the second only a CPU:

    held_out_fits.py sample samples.npz --count 200 --device cuda [--steps 1 2 4] [--tilted 7 13 30]
    held_out_fits.py fit samples.npz --outcomes outcomes.npz [--steps 2] [--set fit.key=value]

With several numbers of denoising steps every object is sampled with each, from the same noise; the
fit takes one of them, and as many samples as it is told. The outcomes are what
scripts/calibrate_confidence.py reads. Objects are those from which training keeps away; weights of
the fit may be tuned on them, never on the evaluation set. A file holds of displacements what the
fit reads, their affine part, and takes some kilobytes an object; the objects themselves are made
anew from their seeds, by the same generator or not at all. Samples of tilted hinges are for
scripts/tilted_joints.py, which says what they are.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from atop_backend.geometry.meshes import RestShape
    from atop_backend.motion.evidence import MotionEvidence
    from atop_backend.synthetic.objects import ArticulatedObject
    from atop_backend.training.data import PackedObjects

RIGHT_DEG, RIGHT_OFFSET = 5.0, 0.1  # an answer within these of the truth is right
_PER_DRAW = 16
_SPREAD_SEED = 100_000  # past the held-out objects that training itself looks at
_SAME_FORM = 1e-4  # mean coordinates that differ by more are of another object
_GREYS = 31  # levels of kept silhouettes: faint noise takes no room
FRAMES = (2, 5, 8)  # of nine moved ones: those that the default preset generates


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
    out: Path, first: int, count: int, samples: int, steps: list[int], device_name: str,
    tilts: list[float],
) -> None:  # fmt: skip
    """Write the model's samples for `count` objects, with what a fit needs besides.

    Args:
        first: Objects to leave out before.
        steps: Numbers of denoising steps; every object is sampled with each.
        tilts: Degrees by which hinges are tilted, `count` objects for each; none for objects as
            they are.
    """
    import torch

    from atop_backend.config import resolve
    from atop_backend.diffusion import generate
    from atop_backend.diffusion.autoencoder import Autoencoder
    from atop_backend.diffusion.clips import unpack
    from atop_backend.diffusion.sample import sample
    from atop_backend.diffusion.text import TextEncoder
    from atop_backend.training.data import ClipDrawer, take

    prior = generate.load_prior(resolve("default").generate, 0, device_name)
    device = prior.device
    assert isinstance(prior.autoencoder, Autoencoder)  # the bundled model's
    drawer = ClipDrawer(prior.autoencoder, TextEncoder(device_name), device)
    arrays: dict[str, Any] = {}
    done, begun = 0, time.monotonic()
    for seeds, objects, tilt in _lots(first, count, tilts):
        size, seed = len(seeds), seeds[0]
        stored = drawer.draw(objects, torch.Generator().manual_seed(seed))
        phrases = torch.arange(size, device=device) % stored.text.shape[1]
        frames = torch.tensor(FRAMES, device=device).expand(size, -1)
        grain = torch.Generator(device=device).manual_seed(seed)
        conditions = take(stored, frames, phrases, 0.01, grain).conditions
        names = [str(done + row) for row in range(size)]
        for row, name in enumerate(names):
            arrays[f"{name}_seed"] = np.array(seeds[row])
            arrays[f"{name}_tilt"] = np.array(tilt)
            arrays[f"{name}_prompt"] = np.array(objects.prompts[row][int(phrases[row])])
            used = int(objects.batch.counts[row])
            arrays[f"{name}_form"] = form_of(
                objects.batch.triangles[row, :used].numpy(),
                objects.batch.moving[row, :used].numpy(),
            )
            arrays[f"{name}_cameras"] = conditions.cameras[row].cpu().numpy()
        for number in steps:
            noise = torch.Generator(device=device).manual_seed(seed)
            clips = sample(prior.denoiser, conditions, number, 1.0, noise, samples, batch=64)
            for row, channels in enumerate(clips.float().cpu().unflatten(0, (size, samples))):
                radius = float(conditions.part_radius[row])
                clip = unpack(channels, conditions.frames[row].cpu(), radius)
                positions = conditions.positions[row].movedim(1, -1).cpu().numpy()
                mask = conditions.mask[row, :, 0].bool().cpu().numpy()
                assert clip.silhouettes is not None
                assert clip.motions is not None
                arrays |= {
                    f"{names[row]}_{key}": value
                    for key, value in _compact(
                        positions, mask, clip.silhouettes.numpy(), clip.motions.numpy(), number
                    ).items()
                }
        done += size
        print(f"{done} objects, {time.monotonic() - begun:.0f} s", flush=True)
    np.savez_compressed(out, count=np.array(done), steps=np.array(steps), **arrays)


def _lots(
    first: int, count: int, tilts: list[float]
) -> Iterator[tuple[list[int], PackedObjects, float]]:
    """Seeds, packed objects and tilt of one draw after another."""
    from tilted_joints import tilted_objects

    from atop_backend.synthetic.batch import pack
    from atop_backend.training.data import HELD_OUT_SEED, PHRASES, PackedObjects, packed_objects

    if not tilts:
        for start in range(first, first + count, _PER_DRAW):
            size = min(_PER_DRAW, first + count - start)
            seed = HELD_OUT_SEED + _SPREAD_SEED + start
            yield list(range(seed, seed + size)), packed_objects(seed, size), 0.0
    for tilt in tilts:
        things = list(tilted_objects(tilt, count, pins=True))
        for start in range(0, count, _PER_DRAW):
            lot = things[start : start + _PER_DRAW]
            items = [thing.item for thing in lot]
            prompts = [list(item.prompts[:PHRASES]) for item in items]
            packed = PackedObjects(pack(items), prompts, [item.kind for item in items])
            yield [thing.seed for thing in lot], packed, tilt


def form_of(triangles: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """Triangles, those of the part and the mean coordinate (3,): an object is known by them."""
    return np.array([len(triangles), moving.sum(), np.abs(triangles).mean()], dtype=np.float32)


def _compact(
    positions: np.ndarray,
    mask: np.ndarray,
    silhouettes: np.ndarray,
    motions: np.ndarray,
    steps: int,
) -> dict[str, np.ndarray]:
    """What the fit reads of samples, small; nothing of a part that is not seen."""
    from atop_backend.motion.evidence import block_points

    if not mask.any():
        return {}
    points, weights, places = block_points(positions, mask)
    view, row, column = places.T
    shown = motions[:, view, :, :, row, column].astype(np.float64)  # (n, samples, frames, 3)
    roots = np.sqrt(weights)[:, None]
    numbers = np.linalg.lstsq(
        _affine_basis(points) * roots, shown.reshape(len(points), -1) * roots, rcond=1e-3
    )[0]
    return {
        "points": points.astype(np.float32),
        "weights": weights.astype(np.float32),
        f"moved_{steps}": numbers.reshape(4, *shown.shape[1:]).astype(np.float32),
        f"outlines_{steps}": np.round(_GREYS * silhouettes).astype(np.uint8),
    }


def _affine_basis(points: np.ndarray) -> np.ndarray:
    """Functions (n, 4) of which an affine map of points (n, 3) is a sum."""
    return np.column_stack([points - points.mean(axis=0), np.ones(len(points))])


def evidence_in(
    data: Any, name: str, steps: int | None = None, samples: int | None = None
) -> MotionEvidence | None:
    """The evidence in one object's samples; None where its part is not seen.

    Args:
        steps: Of denoising; None for those of the default preset.
        samples: The most to use.
    """
    from tilted_joints import camera_of

    from atop_backend.config import resolve
    from atop_backend.motion.evidence import MotionEvidence

    if f"{name}_points" not in data:
        return None
    steps = resolve("default").generate.steps if steps is None else steps
    points = data[f"{name}_points"].astype(float)
    numbers = data[f"{name}_moved_{steps}"].astype(float)[:, :samples]
    return MotionEvidence(
        points=points,
        displacements=np.einsum("nk,ksfc->sfnc", _affine_basis(points), numbers),
        weights=data[f"{name}_weights"].astype(float),
        silhouettes=data[f"{name}_outlines_{steps}"][:samples] / _GREYS,
        cameras=tuple(camera_of(row) for row in data[f"{name}_cameras"].astype(float)),
        frames=(np.array(FRAMES) + 1) / 9,
    )


def object_in(data: Any, name: str) -> ArticulatedObject:
    """The object that samples are of, made anew.

    Raises:
        ValueError: The generator makes another object of that seed than it did for the samples.
    """
    from atop_backend.synthetic.generate import generate

    seed = int(data[f"{name}_seed"])
    item = generate(seed)
    if not np.allclose(form_of(item.triangles, item.moving), data[f"{name}_form"], atol=_SAME_FORM):
        raise ValueError(f"the generator has changed since object {seed} was sampled; sample anew")
    return item


def fit_one(
    place: tuple[Path, str], steps: int | None, samples: int | None, overrides: tuple[str, ...]
) -> Outcome | None:
    """The outcome of one object of a sample file; None where its part is not seen."""
    from atop_backend.config import resolve
    from atop_backend.contracts import MOTION_KINDS
    from atop_backend.motion.fit import fit_joint
    from atop_backend.prompt_motion import said_motion

    path, name = place
    with np.load(path) as data:
        evidence = evidence_in(data, name, steps, samples)
        if evidence is None:
            return None
        item, said = object_in(data, name), said_motion(str(data[f"{name}_prompt"]))
    shape = shape_of(item)
    settings = resolve("default", overrides).fit
    begun = time.process_time()
    kinds, rng = MOTION_KINDS["auto"], np.random.default_rng(0)
    answers = fit_joint(shape, evidence, settings, kinds, rng, said=said)
    seconds = time.process_time() - begun
    return judge(item, answers, seconds)


def shape_of(item: ArticulatedObject) -> RestShape:
    """The object as the fit reads it; its own frame is the normalised one."""
    from atop_backend.geometry.meshes import RestShape

    corners = item.triangles.reshape(-1, 3).astype(float)
    names = np.arange(len(corners)).reshape(-1, 3)
    return RestShape(corners, names, item.moving, np.eye(4), (item.kind,))


def judge(item: ArticulatedObject, answers: list[Any], seconds: float) -> Outcome:
    """The outcome of a fit of an object."""
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
    draws.add_argument("--first", type=int, default=0, help="leave out so many objects")
    draws.add_argument("--samples-each", type=int, default=4)
    draws.add_argument("--steps", type=int, nargs="+", default=[2], help="of denoising")
    draws.add_argument("--device", default="cuda")
    draws.add_argument("--tilted", type=float, nargs="+", default=[], metavar="DEG")
    fits = steps.add_parser("fit", help="fit joints to them")
    fits.add_argument("samples", type=Path, nargs="+")
    fits.add_argument("--outcomes", type=Path, help="for scripts/calibrate_confidence.py")
    fits.add_argument("--steps", type=int, help="of denoising; as the preset")
    fits.add_argument("--samples-used", type=int, help="of each object; all")
    fits.add_argument("--limit", type=int, help="objects of each file")
    fits.add_argument("--workers", type=int, default=1)
    fits.add_argument("--set", action="append", default=[], metavar="fit.key=value")
    arguments = parser.parse_args()
    if arguments.step == "sample":
        draw_samples(
            arguments.samples, arguments.first, arguments.count, arguments.samples_each,
            arguments.steps, arguments.device, arguments.tilted,
        )  # fmt: skip
        return
    places: list[tuple[Path, str]] = []
    for path in arguments.samples:
        with np.load(path) as data:
            count = min(int(data["count"]), arguments.limit or 1 << 30)
        places += [(path, str(index)) for index in range(count)]
    job = partial(
        fit_one, steps=arguments.steps, samples=arguments.samples_used,
        overrides=tuple(arguments.set),
    )  # fmt: skip
    with ProcessPoolExecutor(arguments.workers) as pool:
        found = [o for o in pool.map(job, places, chunksize=4) if o is not None]
    report(found)
    if arguments.outcomes:
        np.savez(
            arguments.outcomes,
            signs=np.array([outcome.signs for outcome in found]),
            right=np.array([outcome.right[0] for outcome in found]),
            kinds=np.array([outcome.kind for outcome in found]),
        )


if __name__ == "__main__":
    main()
