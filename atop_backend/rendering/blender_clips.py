"""The script that Blender runs to film training clips: `blender -b -P FILE -- REQUEST.json`.

Commands: `film` photographs an asset at rest and along the motion of one part; `keyed` tells which
objects of an animated file move, and which of them move together.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":  # Blender's Python does not know where we are installed
    sys.path[:] = [entry for entry in sys.path if Path(entry) != Path(__file__).parent]
    sys.path.append(str(Path(__file__).resolve().parents[2]))

import bpy
import numpy as np
from mathutils import Matrix

from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError
from atop_backend.geometry.joints import joint_matrix, joint_under
from atop_backend.rendering import blender_import as importing
from atop_backend.rendering import blender_pictures as pictures
from atop_backend.rendering import child
from atop_backend.rendering.blender_worker import RestState, look_at_rest, settings_of
from atop_backend.rendering.selectors import parse

STILL = 1e-3  # of the object's size; what moves less stands still
RIGID = 1e-3  # how far from a rotation a motion may be
TURNS = 0.02  # radians in all; what turns less slides
MOST_FRAMES = 250  # of an animation are looked at
Key = tuple[tuple[str, ...], int]  # names of an instance, and its number among those of that name


class Motion(NamedTuple):
    """How one part moves in Blender's world frame."""

    deltas: np.ndarray  # (frames, 4, 4), from rest, without the rest frame
    shares: np.ndarray  # (frames,), how much of the motion is done


def film(request: dict[str, Any], out: Path) -> dict[str, Any]:
    """Write shape.npz, cameras.json, rgb_VIEW_FRAME.png, motion.npz and maps.npz into `out`.

    The request holds asset, elevation_rad, size_px, samples, threads, frames (with that at rest),
    parts (selectors), and for an asset that is not animated joint (lower is the pose of the file)
    and joint_node, the object in whose frame the joint is given, empty for the file's frame.
    """
    world_to_file = importing.open_asset(Path(request["asset"]))
    count = request["frames"] - 1
    if request["joint"] is None:
        motion, instances = _keyed_motion(request, count)
    else:
        scene, targets = importing.first_scene_with([parse(text) for text in request["parts"]])
        instances = importing.collect(scene, targets)
        motion = _joint_motion(request, world_to_file, count)
    rest = look_at_rest(request | {"turn": None}, out, world_to_file, instances)
    change = rest.world_to_normalised
    deltas = change @ motion.deltas @ np.linalg.inv(change)
    np.savez_compressed(out / "motion.npz", deltas=deltas, shares=motion.shares)
    _shoot_pictures(request, rest, deltas, out)
    masks = _shoot_masks(rest, deltas, out)
    np.savez_compressed(out / "maps.npz", face_ids=rest.face_ids, part_mask=masks)
    return {"covers": list(rest.shape.cover_names)}


def _joint_motion(request: dict[str, Any], world_to_file: np.ndarray, count: int) -> Motion:
    joint = JointMotion.from_dict(request["joint"])
    frame = np.eye(4)
    frame[:3, :3] = world_to_file.T
    if request["joint_node"]:
        names = importing.list_names(bpy.context.scene)["nodes"]
        if request["joint_node"] not in names:
            raise InputError(
                f"Blender shows no object {request['joint_node']!r}",
                hint="give the part a name that no other object of the file has",
            )
        frame = np.array(bpy.data.objects[request["joint_node"]].matrix_world, dtype=np.float64)
    joint = joint_under(joint, frame)
    shares = np.arange(1, count + 1) / count
    travel = joint.upper - joint.lower
    return Motion(np.stack([joint_matrix(joint, share * travel) for share in shares]), shares)


def _shoot_pictures(
    request: dict[str, Any], rest: RestState, deltas: np.ndarray, out: Path
) -> None:
    scene = pictures.new_scene("pictures", *settings_of(request))
    objects = pictures.fill_picture_scene(scene, rest.instances, rest.world_to_normalised)
    moving = [
        (ob, np.array(ob.matrix_parent_inverse, dtype=np.float64))
        for ob, instance in zip(objects, rest.instances, strict=True)
        if instance.part.all()
    ]
    for frame, delta in enumerate((np.eye(4), *deltas)):
        for ob, pose in moving:
            ob.matrix_parent_inverse = Matrix((delta @ pose).tolist())
        for view, camera in enumerate(rest.cameras):
            pictures.shoot(scene, camera, out / f"rgb_{view}_{frame}.png", "PNG")


def _shoot_masks(rest: RestState, deltas: np.ndarray, out: Path) -> np.ndarray:
    """Where the part is seen, (views, frames, height, width) bool, the rest frame first."""
    mesh = next(ob for ob in rest.id_scene.objects if ob.type == "MESH").data
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    points = points.reshape(-1, 3)
    moving = np.unique(rest.shape.triangles[rest.shape.part])
    masks = [rest.part_mask]
    for delta in deltas:
        moved = points.copy()
        moved[moving] = points[moving] @ delta[:3, :3].T + delta[:3, 3]
        mesh.vertices.foreach_set("co", moved.ravel())
        mesh.update()
        seen = []
        for camera in rest.cameras:
            path = out / "ids.exr"
            pictures.shoot(rest.id_scene, camera, path, "OPEN_EXR")
            ids = pictures.read_ids(path)
            seen.append((ids >= 0) & rest.shape.part[ids])
        masks.append(np.stack(seen))
    return np.stack(masks, axis=1)


def keyed(request: dict[str, Any], out: Path) -> dict[str, Any]:
    """Groups of objects that move together in the active scene, by name, the largest first."""
    importing.open_asset(Path(request["asset"]))
    scene = bpy.context.scene
    times = _times(scene, Path(request["asset"]))
    return {"groups": [list(names) for names in _groups(_poses_over(scene, times))]}


class _Poses(NamedTuple):
    """Where every instance with faces stands over time."""

    deltas: dict[Key, np.ndarray]  # (times, 4, 4) each, from the first time on
    corners: np.ndarray  # (8, 4), those of the bounds of all at first, homogeneous
    size: float  # the diagonal of these bounds


def _times(scene: Any, path: Path) -> np.ndarray:
    """Whole frames of the animation, at most `MOST_FRAMES` of them."""
    first, last = scene.frame_start, scene.frame_end
    if path.suffix.lower() != ".blend" and bpy.data.actions:  # the scene's range is none of theirs
        ranges = [action.frame_range for action in bpy.data.actions]
        first = math.floor(min(start for start, _ in ranges))
        last = max(first + 1, math.ceil(max(end for _, end in ranges)))
    count = min(last - first + 1, MOST_FRAMES)
    return np.unique(np.linspace(first, last, count).round())


def _poses_over(scene: Any, times: Iterable[float]) -> _Poses:
    importing.show_what_renders(scene)
    start, tracks, bounds = {}, {}, []
    for number, time in enumerate(times):
        for key, ob, pose in _standing(scene, float(time)):
            if number == 0:
                start[key], tracks[key] = np.linalg.inv(pose), []
                local = np.concatenate([np.array(ob.bound_box), np.ones((8, 1))], axis=1)
                bounds.append((local @ pose.T)[:, :3])
            if key in tracks:
                tracks[key].append(pose @ start[key])
    if not bounds:
        raise InputError("nothing that has faces renders", hint="show what should be filmed")
    every = np.concatenate(bounds)
    low, high = every.min(axis=0), every.max(axis=0)
    corners = [[x, y, z, 1.0] for x, y, z in itertools.product(*zip(low, high, strict=True))]
    longest = max(map(len, tracks.values()))
    whole = {key: np.stack(track) for key, track in tracks.items() if len(track) == longest}
    return _Poses(whole, np.array(corners), float(np.linalg.norm(high - low)))


def _standing(scene: Any, time: float) -> Iterator[tuple[Key, Any, np.ndarray]]:
    """Key, evaluated object and pose (4, 4) of each instance that `collect` takes, in its order."""
    frame = math.floor(time)
    scene.frame_set(frame, subframe=time - frame)
    layer = scene.view_layers[0]
    layer.update()
    counts: Counter[tuple[str, ...]] = Counter()
    for instance in layer.depsgraph.object_instances:
        ob = instance.object
        if instance.show_self and ob.type in importing.SURFACES:
            names = importing.chain(instance)
            counts[names] += 1
            yield (names, counts[names]), ob, np.array(instance.matrix_world, dtype=np.float64)


def _groups(poses: _Poses) -> list[tuple[str, ...]]:
    """Names of objects that move in one and the same way, each group once."""
    groups: list[tuple[np.ndarray, list[Key]]] = []
    near = STILL * poses.size
    for key, deltas in poses.deltas.items():
        places = poses.corners @ deltas.transpose(0, 2, 1)
        if np.abs(places - poses.corners).max() < near:
            continue
        for there, keys in groups:
            if np.abs(there - places).max() < near:
                keys.append(key)
                break
        else:
            groups.append((places, [key]))
    found = [tuple(dict.fromkeys(names[0] for names, _ in keys)) for _, keys in groups]
    for own, (_, keys) in zip(found, groups, strict=True):
        others = {name for group in found for name in group}.difference(own)
        for names, _ in keys:
            if not others.isdisjoint(names[1:]):
                carrier = next(name for name in names[1:] if name in others)
                raise InputError(
                    f"{names[0]} moves on {carrier}, which moves as well",
                    hint="remove the keyframes of one of them",
                )
    return sorted(found, key=len, reverse=True)


def _keyed_motion(request: dict[str, Any], count: int) -> tuple[Motion, list[Any]]:
    """The motion of a group of objects up to its farthest point, and all instances at rest."""
    scene, chosen = bpy.context.scene, set(request["parts"])
    times = _times(scene, Path(request["asset"]))
    poses = _poses_over(scene, times)
    mover = next((key for key in poses.deltas if key[0][0] in chosen), None)
    if mover is None:
        raise InputError(
            f"{', '.join(request['parts'])} is not shown throughout the animation",
            hint="name an object with keyframes",
        )
    done = _progress(poses.deltas[mover])
    last = int(done.argmax())
    if last == 0:
        raise InputError(f"{mover[0][0]} does not move", hint="give it keyframes")
    moments = np.interp(done[last] * np.arange(1, count + 1) / count,
                        *_rising(done[: last + 1], times[: last + 1]))  # fmt: skip
    deltas = _poses_over(scene, [times[0], *moments]).deltas[mover]
    if np.abs(deltas[:, :3, :3] @ deltas[:, :3, :3].transpose(0, 2, 1) - np.eye(3)).max() > RIGID:
        raise InputError(
            f"{mover[0][0]} changes its size while it moves", hint="key place and rotation alone"
        )
    shares = _progress(deltas)
    _refuse_bending(scene, chosen, float(times[0]), float(moments[-1]))
    list(_standing(scene, float(times[0])))  # back to rest
    nothing = importing.Targets(frozenset(), frozenset(), frozenset())
    instances = [
        instance._replace(part=np.full(len(instance.part), instance.names[0] in chosen))
        for instance in importing.collect(scene, nothing)
    ]
    return Motion(deltas[1:], shares[1:] / shares[-1]), instances


def _progress(deltas: np.ndarray) -> np.ndarray:
    """How far a motion has gone at each time, (times,): its angle, or its way if it never turns.

    Small steps add up, so that more than half a turn counts as such; the way back counts less.
    """
    steps = deltas[1:] @ np.linalg.inv(deltas[:-1])
    vectors = np.array([Matrix(step.tolist()).to_quaternion().to_exponential_map()
                        for step in steps])  # fmt: skip
    if np.linalg.norm(vectors, axis=1).sum() < TURNS:
        vectors = deltas[1:, :3, 3] - deltas[:-1, :3, 3]
    lengths = np.linalg.norm(vectors, axis=1)
    first = vectors[int(np.argmax(lengths > 0.05 * lengths.max()))]
    way = first / max(float(np.linalg.norm(first)), 1e-30)
    return np.concatenate([[0.0], np.cumsum(vectors @ way)])


def _rising(done: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Progress and times where the progress is more than ever before, to interpolate in."""
    fresh = done > np.maximum.accumulate(np.concatenate([[-np.inf], done[:-1]]))
    return done[fresh], times[fresh]


def _refuse_bending(scene: Any, names: set[str], start: float, end: float) -> None:
    """Raise `InputError` where an object changes its shape between two times."""
    shapes: dict[str, np.ndarray] = {}
    for time in (start, end):
        for (chain, _), ob, _ in _standing(scene, time):
            if chain[0] not in names or ob.type != "MESH":
                continue
            points = np.empty(3 * len(ob.data.vertices), dtype=np.float32)
            ob.data.vertices.foreach_get("co", points)
            before = shapes.setdefault(chain[0], points)
            size = max(float(np.ptp(before)), 1e-30)
            if before.shape != points.shape or np.abs(before - points).max() > STILL * size:
                raise InputError(
                    f"{chain[0]} bends or changes while it moves",
                    hint="only parts that move as a whole can be filmed",
                )


if __name__ == "__main__":
    child.run({"film": film, "keyed": keyed})
