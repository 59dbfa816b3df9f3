"""Hinges off the box axes: how well the fit finds them with and without continuous refinement.

Takes held-out generated objects whose part turns about an axis of its own box, tilts the hinge
alone by an angle (the object stays as it is), and fits the joint to what the object's clip shows:
the renderer's true motion and outlines, or samples of the bundled model. Objects whose part would
pass through the rest about the tilted hinge are left out.

    scripts/tilted_joints.py --count 12                 # true clips
    scripts/tilted_joints.py --count 12 --noise 0.1     # with errors of a tenth of the motion
    scripts/held_out_fits.py sample tilted.npz --count 12 --tilted 7 13 30 --device cuda
    scripts/tilted_joints.py --samples tilted.npz       # the bundled model's samples
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atop_backend.config import FitConfig
from atop_backend.contracts import JointMotion
from atop_backend.geometry import cameras
from atop_backend.geometry.joints import (
    line_angle_deg,
    perpendiculars,
    point_line_distance,
    rodrigues,
)
from atop_backend.geometry.meshes import RestShape
from atop_backend.motion.evidence import MotionEvidence, evidence_from_clip
from atop_backend.motion.features import Features, shape_features
from atop_backend.motion.fit import fit_joint
from atop_backend.motion.terms import sweep
from atop_backend.synthetic.batch import pack
from atop_backend.synthetic.generate import generate
from atop_backend.synthetic.objects import ArticulatedObject
from atop_backend.synthetic.render import Pictures, draw, random_look
from atop_backend.synthetic.solids import cylinder
from atop_backend.training.data import HELD_OUT_SEED

FIRST_SEED = HELD_OUT_SEED + 300_000  # apart from what training and the fit's weights look at
SHARES = (1 / 3, 2 / 3, 1.0)  # of the motion, as the default settings look at it
LEAST_TURN, MOST_TURN = math.radians(25), math.radians(120)
HINDERED = 0.03  # more of the part inside the rest than this, and the hinge could not be there
FITS = {
    "paper's box hypotheses": FitConfig(hypotheses="paper", refine=False),
    "all hypotheses": FitConfig(refine=False),
    "refined": FitConfig(),
}


class Tilted(NamedTuple):
    """A held-out object whose hinge has been tilted."""

    seed: int
    item: ArticulatedObject
    shape: RestShape
    off_box_deg: float  # between the hinge and the nearest axis of the part's box


class Row(NamedTuple):
    """One fit."""

    seed: int
    kind: str
    off_box_deg: float
    fit: str
    type_right: bool
    axis_deg: float  # undirected
    offset: float  # hinge found to true hinge line, in radii of the object; nan for a slide
    seconds: float


def tilted_objects(
    angle_deg: float, count: int, first_seed: int = FIRST_SEED, pins: bool = False
) -> Iterator[Tilted]:
    """Objects with hinges `angle_deg` off every axis of the part's box, or nearly.

    Args:
        pins: As `tilted` takes it.
    """
    found, seed = 0, first_seed
    while found < count:
        thing = tilted(seed, angle_deg, pins)
        seed += 1
        if thing is not None:
            found += 1
            yield thing


def tilted(seed: int, angle_deg: float, pins: bool = False) -> Tilted | None:
    """The object of this seed with its hinge tilted; None where that cannot be.

    Args:
        pins: Show the hinge: without pins nobody can see that it is tilted until the part moves.
    """
    item = generate(seed)
    joint = item.joint
    if joint.kind != "revolute" or not LEAST_TURN <= joint.upper <= MOST_TURN:
        return None
    features = shape_features(_shape(item), 512, np.random.default_rng(seed))
    axis, origin = np.array(joint.axis), np.array(joint.origin)
    if line_angle_deg(features.box.axes, axis).min() > 1.0:
        return None
    middle = origin + ((features.box.centre - origin) @ axis) * axis
    rng = np.random.default_rng(seed)
    first, second = perpendiculars(axis)
    for turn in rng.uniform(0, 2 * math.pi) + np.arange(8) * math.pi / 4:
        about = math.cos(turn) * first + math.sin(turn) * second
        leaning = rodrigues(about, math.radians(angle_deg)) @ axis
        if _hindered(features, leaning, middle, joint.upper) > HINDERED + _hindered(
            features, axis, middle, joint.upper
        ):
            continue
        moved = replace(joint, axis=tuple(leaning.tolist()), origin=tuple(middle.tolist()))
        off = float(line_angle_deg(features.box.axes, leaning).min())
        item = item._replace(joint=moved)
        if pins:
            item = _pinned(item, features, leaning, middle)
        return Tilted(seed, item, _shape(item), off)
    return None


def _shape(item: ArticulatedObject) -> RestShape:
    corners = item.triangles.reshape(-1, 3).astype(float)
    names = np.arange(len(corners)).reshape(-1, 3)
    return RestShape(corners, names, item.moving, np.eye(4), (item.kind,))


def _pinned(
    item: ArticulatedObject, features: Features, axis: np.ndarray, origin: np.ndarray
) -> ArticulatedObject:
    """The object with a pin at either end of its hinge; the pins stay."""
    along = (features.part_points - origin) @ axis
    pins = [
        cylinder(origin + (end - 0.06) * axis, 0.12 * axis, 0.02, segments=10)
        for end in (along.min(), along.max())
    ]
    solid = np.concatenate(pins).astype(np.float32)
    return item._replace(
        triangles=np.concatenate([item.triangles, solid]),
        materials=np.append(item.materials, np.full(len(solid), item.materials[0])),
        moving=np.append(item.moving, np.zeros(len(solid), bool)),
    )


def _hindered(features: Features, axis: np.ndarray, origin: np.ndarray, amount: float) -> float:
    """Share of the part that is inside the rest at the end of a turn."""
    one = (np.array([True]), axis[None], origin[None], np.array([amount]))
    return float(sweep(features, features.part_points[::4], *one)[0, -1])


def true_clip(thing: Tilted) -> tuple[Pictures, float]:
    """The renderer's pictures of the motion, and the part's radius."""
    batch = pack([thing.item])
    look = random_look(batch, torch.Generator().manual_seed(thing.seed))
    return draw(batch, torch.tensor([SHARES]), look), float(batch.part_radius[0])


def camera_of(embedding: np.ndarray) -> cameras.Camera:
    """The rig's camera that has this embedding (16,)."""
    position = embedding.reshape(4, 4)[:3, 3]
    azimuth = math.atan2(position[0], -position[1])
    return cameras.look_at_origin(azimuth, math.asin(position[2]))


def evidence_of(
    pictures: Pictures, silhouettes: np.ndarray, motions: np.ndarray
) -> MotionEvidence | None:
    """Evidence of samples of the clip in these pictures; None where the part is not seen."""
    mask = pictures.silhouettes[0, :, 0].numpy()
    if not mask.any():
        return None
    views = tuple(camera_of(row) for row in pictures.cameras[0].numpy().astype(float))
    positions = pictures.positions[0].movedim(1, -1).numpy().astype(float)
    return evidence_from_clip(positions, mask, views, silhouettes, motions, np.array(SHARES))


def perfect_evidence(thing: Tilted) -> MotionEvidence | None:
    """What a perfect video prior would say."""
    pictures, radius = true_clip(thing)
    areas = torch.nn.functional.avg_pool2d(pictures.silhouettes[0, :, 1:].float(), 8)
    return evidence_of(pictures, areas[None].numpy(), (pictures.motions[0] * radius)[None].numpy())


def with_noise(evidence: MotionEvidence, share: float, seed: int) -> MotionEvidence:
    """Displacements with independent errors of this share of their root mean square."""
    if not share or evidence.displacements is None:
        return evidence
    size = share * float(np.sqrt(np.mean(evidence.displacements**2)))
    noise = np.random.default_rng(seed).normal(0.0, size, evidence.displacements.shape)
    return evidence._replace(displacements=evidence.displacements + noise)


def sampled(path: Path, angle_deg: float) -> Iterator[tuple[Tilted, MotionEvidence | None]]:
    """The tilted objects of one angle in a file of the bundled model's samples."""
    from held_out_fits import evidence_in

    with np.load(path) as data:
        for name in map(str, range(int(data["count"]))):
            if float(data[f"{name}_tilt"]) == angle_deg:
                thing = tilted(int(data[f"{name}_seed"]), angle_deg, pins=True)
                assert thing is not None
                yield thing, evidence_in(data, name)


def errors(found: JointMotion, true: JointMotion) -> tuple[float, float]:
    """Degrees between undirected axes, and the found hinge's distance from the true line."""
    axis = np.array(true.axis)
    angle = float(line_angle_deg(np.array(found.axis), axis))
    if found.kind != "revolute":
        return angle, math.nan
    return angle, float(point_line_distance(np.array(found.origin), np.array(true.origin), axis))


def fit_all(thing: Tilted, evidence: MotionEvidence) -> list[Row]:
    """One row for each way of fitting."""
    rows = []
    for name, settings in FITS.items():
        begun = time.process_time()
        kinds = ("revolute", "prismatic")
        rng = np.random.default_rng(0)
        found = fit_joint(thing.shape, evidence, settings, kinds, rng)[0].joint
        seconds = time.process_time() - begun
        angle, offset = errors(found, thing.item.joint)
        right = found.kind == "revolute"
        rows.append(
            Row(thing.seed, thing.item.kind, thing.off_box_deg, name, right, angle, offset, seconds)
        )
    return rows


def report(angle_deg: float, rows: list[Row]) -> None:
    """Print one table of means."""
    off = np.mean([row.off_box_deg for row in rows])
    print(
        f"\nhinges tilted by {angle_deg:g} degrees ({off:.1f} off the nearest box axis on average)"
    )
    print(
        f"{'':24}{'type':>6}{'axis°':>8}{'median':>8}{'worst':>8}{'offset':>9}{'worst':>8}{'s':>6}"
    )
    for name in FITS:
        mine = [row for row in rows if row.fit == name]
        angles, offsets = np.array([(row.axis_deg, row.offset) for row in mine]).T
        print(
            f"{name:24}{np.mean([row.type_right for row in mine]):6.2f}{angles.mean():8.2f}"
            f"{np.median(angles):8.2f}{angles.max():8.2f}{np.nanmean(offsets):9.4f}"
            f"{np.nanmax(offsets):8.4f}{np.mean([row.seconds for row in mine]):6.1f}"
        )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--angles", type=float, nargs="+", default=[7, 13, 30], metavar="DEG")
    parser.add_argument("--count", type=int, default=12, help="objects at each angle")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--noise", type=float, default=0.0, help="share of the motion, per point")
    parser.add_argument("--pins", action="store_true", help="show the hinge, as samples do")
    parser.add_argument("--samples", type=Path, help="of the bundled model, by held_out_fits.py")
    parser.add_argument("--out", type=Path, help="JSON of every fit")
    options = parser.parse_args()
    everything = {}
    for angle in options.angles:
        if options.samples:
            seen = sampled(options.samples, angle)
        else:
            things = tilted_objects(angle, options.count, options.first_seed, options.pins)
            seen = ((thing, perfect_evidence(thing)) for thing in things)
        rows: list[Row] = []
        for thing, evidence in seen:
            if evidence is not None:
                rows += fit_all(thing, with_noise(evidence, options.noise, thing.seed))
        report(angle, rows)
        everything[angle] = [row._asdict() for row in rows]
    if options.out:
        options.out.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
