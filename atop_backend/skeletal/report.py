"""What people and other programs take away from `atop animate`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from atop_backend import __version__, preview
from atop_backend.config import Config
from atop_backend.contracts import AnimateRequest, Camera
from atop_backend.errors import SetupError
from atop_backend.geometry.rigs import Placement, Rig
from atop_backend.jobfolder import write_json
from atop_backend.reporting import Tick
from atop_backend.skeletal.figures import figures
from atop_backend.skeletal.guided import Distilled
from atop_backend.skeletal.kinematics import Pose, rest_to_posed, skeleton_of, skin_vertices
from atop_backend.skeletal.physics import Tracked
from atop_backend.skeletal.pictures import camera_around, checkerboard, rays_of, resized
from atop_backend.skeletal.rotations import continuous, matrices_to_quaternions
from atop_backend.skeletal.run import ReadRig

KINEMATIC = "motion_kinematic.json"  # as it was before physics tracking
_VIDEO_PX = (384, 288)
_SHEET_FRAMES = 6
_MOVES = math.radians(0.5)  # a bone that turns less is left out of the motion


def report(
    request: AnimateRequest,
    config: Config,
    read: ReadRig,
    found: Distilled,
    tracked: Tracked | None,
    guidance: str,
    folder: Path,
    tick: Tick,
) -> dict[str, Any]:
    """Write all files of the job; the result, without its seconds."""
    files = {"motion": "motion.json"}
    physics: dict[str, Any] = {}
    if tracked is not None:
        write_json(folder / KINEMATIC, motion_document(found, request.cyclic))
        files["motion without physics"] = KINEMATIC
        before = figures(found.rig, found.pose, found.fps, found.placement.scale)
        physics = {"physics": {**tracked.figures, "figures_without": before}}
        found = found._replace(pose=tracked.pose)
    motion = motion_document(found, request.cyclic)
    write_json(folder / "motion.json", motion)
    _write_pictures(folder, found, request.prompt)
    files |= {"preview": "preview.mp4", "contact sheet": "contact_sheet.png"}
    tick(1, 2)
    notes = [*read.notes, *found.notes]
    if config.animate.scene:
        files |= _write_scene(request, config, read, found.fps, folder, notes)
    measured = figures(found.rig, found.pose, found.fps, found.placement.scale)
    count = len(found.pose.rotations)
    duration = (count - 1) / found.fps
    sentence = f"{len(motion['bones'])} bones move for {duration:.2g} s ({count} poses)"
    return {
        "kind": "animation",
        "sentence": sentence,
        "prompt": request.prompt,
        "armature": read.armature,
        "bones": motion["bones"],
        "fps": found.fps,
        "frame_count": count,
        "duration_s": duration,
        "cyclic": request.cyclic,
        "guidance": guidance,
        "figures": measured,
        **physics,
        "notes": notes,
        "files": files,
        "model": found.model,
        "version": __version__,
    }


def motion_document(found: Distilled, cyclic: bool) -> dict[str, Any]:
    """The motion as in motion.json: rotations of bones, and root motion in the world."""
    rig, pose = found.rig, world_pose(found.pose, found.placement)
    quaternions = continuous(matrices_to_quaternions(pose.rotations))
    root = continuous(matrices_to_quaternions(pose.root_rotations))
    turns = 2 * quaternions[..., 1:].norm(dim=-1).amax(dim=0).clamp(max=1).asin()
    moving = [bone for bone in np.flatnonzero(rig.free()) if float(turns[bone]) > _MOVES]
    return {
        "version": 1,
        "fps": found.fps,
        "frame_count": len(quaternions),
        "cyclic": cyclic,
        "bones": [rig.bones[bone] for bone in moving],
        "rotations": _rounded(quaternions[:, moving]),
        "root_bone": rig.bones[rig.carrier],
        "root": {"rotations": _rounded(root), "translations": _rounded(pose.root_shifts)},
    }


def _rounded(values: torch.Tensor) -> list[Any]:
    return np.round(values.double().numpy(), 7).tolist()


def world_pose(pose: Pose, placement: Placement) -> Pose:
    """A pose of the normalised rig as one of the rig in the world."""
    shift = torch.as_tensor(placement.shift, dtype=pose.root_shifts.dtype)
    moved = placement.scale * pose.root_shifts + shift - pose.root_rotations @ shift
    return pose._replace(root_shifts=moved)


def normalised_pose(pose: Pose, placement: Placement) -> Pose:
    """The inverse of `world_pose`."""
    shift = torch.as_tensor(placement.shift, dtype=pose.root_shifts.dtype)
    moved = (pose.root_shifts - shift + pose.root_rotations @ shift) / placement.scale
    return pose._replace(root_shifts=moved)


def _write_pictures(folder: Path, found: Distilled, prompt: str) -> None:
    """A video of the moving mesh, beside the first of the given ones, and a contact sheet."""
    if found.targets:
        given = found.targets[0].camera
        camera = resized(given, _VIDEO_PX[0])
    else:
        camera = standard_camera(found.rig, *_VIDEO_PX)
    drawn = draw_poses(found.rig, found.pose, camera)
    count = len(drawn)
    frames = drawn
    rows = []
    picks = np.linspace(0, count - 1, min(_SHEET_FRAMES, count)).round().astype(int)
    if found.targets:
        shown = [_given(found, index / (count - 1), camera) for index in range(count)]
        frames = np.concatenate([np.stack(shown), drawn], axis=2)
        rows.append(("video", [_square(shown[pick]) for pick in picks]))
    rows.append(("rig", [_square(drawn[pick]) for pick in picks]))
    if found.targets:  # from the side that no video may have seen
        other = standard_camera(found.rig, 288, 288)
        poses = [_only(found.pose, pick) for pick in picks]
        rows.append(
            ("other view", [_square(draw_poses(found.rig, pose, other)[0]) for pose in poses])
        )
    height, width = (size // 2 * 2 for size in frames.shape[1:3])  # H.264 wants even sizes
    seconds = max(count / found.fps, 0.5)
    preview.write_video(
        folder / "preview.mp4", frames[:, :height, :width], seconds, round(found.fps)
    )
    title = [f"“{prompt}”" if prompt else "after a video"]
    preview.contact_sheet(title, rows).save(folder / "contact_sheet.png")


def standard_camera(rig: Rig, width_px: int, height_px: int) -> Camera:
    """From the front's side and a little above."""
    middle = (0.0, 0.0, float(rig.vertices[:, 2].max()) / 2)
    return camera_around(middle, math.radians(40), math.radians(12), width_px, height_px)


def _only(pose: Pose, frame: int) -> Pose:
    return Pose(*(part[frame : frame + 1] for part in pose))


def draw_poses(rig: Rig, pose: Pose, camera: Camera) -> np.ndarray:
    """Pictures (frames, height, width, 3) uint8 of the mesh on the checkerboard."""
    ground = checkerboard(rays_of(camera)).reshape(camera.height_px, camera.width_px, 3).numpy()
    vertices = skin_vertices(rig, rest_to_posed(skeleton_of(rig), pose)).double().numpy()
    pictures = []
    for frame in vertices:
        drawing = preview.draw_mesh(camera, frame, rig.triangles, rig.face_colours)
        body = np.isfinite(drawing.depths)[..., None]
        pictures.append(np.rint(255 * np.where(body, drawing.rgb, ground)))
    return np.stack(pictures).clip(0, 255).astype(np.uint8)


def _given(found: Distilled, time: float, camera: Camera) -> np.ndarray:
    """The given video at a time, cropped as it was used, on a picture of the camera's size."""
    target = found.targets[0]
    frame = int(np.abs(target.times - time).argmin())
    whole = np.ones((target.camera.height_px, target.camera.width_px, 3))
    left, top = target.corner
    height, width = target.masks.shape[1:]
    whole[top : top + height, left : left + width] = target.rgb[frame]
    picture = Image.fromarray(np.rint(255 * whole).astype(np.uint8))
    return np.asarray(picture.resize((camera.width_px, camera.height_px)))


def _square(picture: np.ndarray) -> Image.Image:
    """The picture's middle square."""
    height, width = picture.shape[:2]
    size = min(height, width)
    top, left = (height - size) // 2, (width - size) // 2
    return Image.fromarray(picture[top : top + size, left : left + size])


def _write_scene(
    request: AnimateRequest,
    config: Config,
    read: ReadRig,
    fps: float,
    folder: Path,
    notes: list[str],
) -> dict[str, str]:
    """The asset with its motion, made by Blender where there is one; files by name."""
    from atop_backend.rendering import rigs

    try:
        made = rigs.write_motion(
            request.asset,
            folder / "motion.json",
            folder / "scene",
            armature=read.armature,
            fps=fps,
            blender=request.blender,
            time_limit_s=config.animate.time_limit_s,
        )
    except SetupError as error:
        notes.append(f"no animated scene was written: {error.message}")
        return {}
    names = {"blend": "Blender scene", "glb": "glTF"}
    return {names.get(kind, kind): str(path.relative_to(folder)) for kind, path in made.items()}
