"""Films known clips of rigged characters, distils the motion back from the films, and compares.

    python scripts/rig_recovery.py --case Fox.glb:Walk --case CesiumMan.glb:Anim_0 --views 90,30,-45
    python scripts/rig_recovery.py --case creature:quadruped:3 --case creature:biped:7  # to tune on
    python scripts/rig_recovery.py --case creature:quadruped:3 --case creature:biped:7  # to tune on

For each case and setting: mean and median error of the joints' rotations relative to their parents,
mean error of the directions of bones (twist left out), mean distance of the skin in shares of
the body's radius; then foot slide, penetration and jerk of the known and the found motion. The last
lines are the same without one thing each (`--ablate`).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from atop_backend.config import AnimateConfig
from atop_backend.creatures.generate import creature, rig_of
from atop_backend.geometry.rigs import Placement, Rig, normalise
from atop_backend.preview import draw_mesh
from atop_backend.skeletal import parameters
from atop_backend.skeletal.figures import figures
from atop_backend.skeletal.follow import View, view_of
from atop_backend.skeletal.gltf_rig import read_gltf_rig
from atop_backend.skeletal.guided import fit_views
from atop_backend.skeletal.kinematics import (
    Pose,
    bone_matrices,
    pose_of,
    rest_pose,
    rest_to_posed,
    skeleton_of,
    skin_vertices,
)
from atop_backend.skeletal.pictures import calibrated, camera_around
from atop_backend.skeletal.report import normalised_pose
from atop_backend.skeletal.rotations import angles_between
from atop_backend.skeletal.surface import bind_gaussians
from atop_backend.skeletal.video_target import Video, crop_to_body

FPS = 24.0
GENERATED_S = 1.0  # of a generated creature's act
GENERATED_S = 1.0  # of a generated creature's act
FILM_PX = (384, 288)
ELEVATION_DEG = 10.0
ABLATIONS = {
    "all": {},
    "no search": {"guesses": 1},
    "no pixels": {"pixel_weight": 0.0},
    "no smoothness": {"smooth_weight": 0.0},
    "no penetration penalty": {"ground_weight": 0.0},
    "no rest-pose prior": {"rest_weight": 0.0},
    "own frames, no spline": {"splines": False},
    "with foot sliding": {"slide_weight": 10.0},
}


class Known(NamedTuple):
    """A clip whose every joint is known; normalised frame."""

    rig: Rig
    placement: Placement
    pose: Pose
    duration_s: float


def read_known(path: Path, clip_name: str, most_frames: int) -> Known:
    """A clip of a file as rotations of its joints."""
    read = read_gltf_rig(path, FPS)
    clip = next(clip for clip in read.clips if clip.name == clip_name)
    picks = np.unique(np.linspace(0, len(clip.times) - 1, most_frames).round().astype(int))
    matrices = torch.as_tensor(clip.rest_to_posed[picks], dtype=torch.float32)
    rig, placement = normalise(read.rig)
    pose = normalised_pose(pose_of(read.rig, matrices), placement)
    return Known(rig, placement, pose, float(clip.times[-1]))


def generated(kind: str, seed: int) -> Known:
    """The first act of a generated creature."""
    performer = creature(seed, kind, acts=1)
    rig = rig_of(performer.creature)
    order = [performer.creature.bones.index(bone) for bone in rig.bones]
    given = performer.performances[0].matrices[:, order]
    matrices = np.tile(np.eye(4), (*given.shape[:2], 1, 1))
    matrices[:, :, :3] = given
    pose = pose_of(rig, torch.as_tensor(matrices, dtype=torch.float32))
    body, placement = normalise(rig)
    return Known(body, placement, normalised_pose(pose, placement), GENERATED_S)


def read_case(case: str, most_frames: int) -> Known:
    """The clip that a word of the command line names."""
    place, last = case.rsplit(":", 1)
    if place.startswith("creature:"):
        return generated(place.removeprefix("creature:"), int(last))
    return read_known(Path(place), last, most_frames)


def film(known: Known, azimuth_deg: float, size_px: int, rng: np.random.Generator) -> View:
    """The clip as seen from one side, before a plain background."""
    middle = (0.0, 0.0, float(known.rig.vertices[:, 2].max()) / 2)
    camera = camera_around(middle, math.radians(azimuth_deg), math.radians(ELEVATION_DEG), *FILM_PX)
    vertices = skin_vertices(known.rig, rest_to_posed(skeleton_of(known.rig), known.pose)).numpy()
    drawn = [draw_mesh(camera, frame, known.rig.triangles, known.rig.face_colours)
             for frame in vertices]  # fmt: skip
    video = Video(np.stack([drawing.rgb for drawing in drawn]), None, FPS)
    masks = np.stack([np.isfinite(drawing.depths) for drawing in drawn]).astype(float)
    target = crop_to_body(video, masks, camera, size_px, known.duration_s)
    return view_of(target, np.array(middle), rng)


def errors(known: Known, pose: Pose) -> dict[str, float]:
    """How far a motion is from the known one."""
    rig, skeleton = known.rig, skeleton_of(known.rig)
    free = np.flatnonzero(rig.free())
    joints = angles_between(pose.rotations[:, free], known.pose.rotations[:, free]).rad2deg()
    bones = [bone_matrices(skeleton, each) for each in (pose, known.pose)]
    along = torch.as_tensor(rig.tails - rig.rest[:, :3, 3], dtype=torch.float32)[:, :, None]
    local = torch.nn.functional.normalize(skeleton.rest[:, :3, :3].mT @ along, dim=1)
    lines = [(each[:, free, :3, :3] @ local[free])[..., 0] for each in bones]
    turned = torch.linalg.cross(*lines).norm(dim=-1).atan2((lines[0] * lines[1]).sum(dim=-1))
    skins = [skin_vertices(rig, each @ skeleton.rest_inverse) for each in bones]
    return {
        "joint_deg": float(joints.mean()),
        "joint_median_deg": float(joints.median()),
        "bone_deg": float(turned.rad2deg().mean()),
        "skin": float((skins[0] - skins[1]).norm(dim=-1).mean()),
    }


def recover(known: Known, views: list[View], settings: AnimateConfig, seed: int) -> Pose:
    """The motion that the films show."""
    rng, generator = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
    surface = calibrated(known.rig, bind_gaussians(known.rig, settings.points, rng))
    times = torch.linspace(0, 1, len(known.pose.rotations))
    motion = fit_views(known.rig, surface, views, times, settings, False, generator,
                       lambda step, total: None)  # fmt: skip
    return motion.pose(parameters.body_of(known.rig), times)


def main() -> int:
    """Run all cases and print their table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--case", action="append", required=True, metavar="FILE:CLIP|creature:KIND:SEED"
    )
    parser.add_argument("--views", default="90,30,-45", help="azimuths in degrees; 0 is the front")
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, help="also write the rows as JSON")
    options = parser.parse_args()
    torch.set_num_threads(1)
    changed = {}
    for word in options.set:
        key, value = word.split("=", 1)
        changed[key] = type(getattr(AnimateConfig(), key))(json.loads(value))
    rows = []
    for case in options.case:
        settings = dataclasses.replace(AnimateConfig(), **changed)
        known = read_case(case, settings.most_frames)
        rng = np.random.default_rng(options.seed)
        azimuths = [float(word) for word in options.views.split(",")]
        views = [film(known, azimuth, settings.picture_px, rng) for azimuth in azimuths]
        fps = (len(known.pose.rotations) - 1) / known.duration_s
        name = f"{Path(case).name}, {len(views)} views"
        still = rest_pose(len(known.pose.rotations), len(known.rig.bones))
        true = figures(known.rig, known.pose, fps, 1.0)
        rows.append({"case": name, "setting": "known", **errors(known, known.pose), **true})
        rows.append({"case": name, "setting": "at rest", **errors(known, still)})
        for setting, change in ABLATIONS.items() if options.ablate else [("all", {})]:
            begun = time.monotonic()
            pose = recover(known, views, dataclasses.replace(settings, **change), options.seed)
            measured = figures(known.rig, pose, fps, 1.0)
            rows.append({"case": name, "setting": setting, **errors(known, pose), **measured,
                         "seconds": time.monotonic() - begun})  # fmt: skip
        for row in rows[-2 - len(ABLATIONS if options.ablate else "x") :]:
            print(line(row), flush=True)
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def line(row: dict[str, float]) -> str:
    """A row for people."""
    columns = (("joint_deg", 5.1), ("joint_median_deg", 5.1), ("bone_deg", 5.1), ("skin", 6.3),
               ("foot_slide_m_s", 6.2), ("penetration_m", 6.3), ("float_m", 6.3),
               ("jerk_m_s3", 7.0), ("motion_m_s", 6.2), ("seconds", 5.0))  # fmt: skip
    cells = [f"{row[key]:{width}f}" if key in row else " " * int(width) for key, width in columns]
    return f"{row['case']:28} {row['setting']:22} " + " ".join(cells)


if __name__ == "__main__":
    sys.exit(main())
