"""The script that Blender runs for the rendering stage: `blender -b -P FILE -- REQUEST.json`.

Commands: `render` bakes and photographs an asset, `list` names what of it can be selected.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":  # Blender's Python does not know where we are installed
    sys.path[:] = [entry for entry in sys.path if Path(entry) != Path(__file__).parent]
    sys.path.append(str(Path(__file__).resolve().parents[2]))

import numpy as np

from atop_backend.contracts import Camera
from atop_backend.errors import InputError
from atop_backend.geometry.cameras import rig
from atop_backend.geometry.meshes import RestShape, build_shape, save_shape
from atop_backend.rendering import child, uncover

MOST_TRIANGLES = 2**24  # the id pass numbers them in single precision


class RestState(NamedTuple):
    """The asset as it stands, normalised, without what hides the part."""

    shape: RestShape
    cameras: tuple[Camera, ...]
    instances: list[Any]  # what is left of them, in Blender's world frame
    face_ids: np.ndarray  # (views, height, width) int32
    part_mask: np.ndarray  # (views, height, width) bool
    id_scene: Any
    world_to_normalised: np.ndarray  # (4, 4)


def render(request: dict[str, Any], out: Path) -> dict[str, Any]:
    """Write shape.npz, cameras.json, rgb_*.png and maps.npz into `out`."""
    from atop_backend.rendering import blender_pictures as pictures

    rest = look_at_rest(request, out, *_instances(request))
    scene = pictures.new_scene("pictures", *settings_of(request))
    pictures.fill_picture_scene(scene, rest.instances, rest.world_to_normalised)
    for view, camera in enumerate(rest.cameras):
        pictures.shoot(scene, camera, out / f"rgb_{view}.png", "PNG")
    for path in out.glob("ids_*.exr"):  # kept so long because they are counted as progress
        path.unlink()
    np.savez_compressed(out / "maps.npz", face_ids=rest.face_ids, part_mask=rest.part_mask)
    return {"triangles": len(rest.shape.triangles)}


def settings_of(request: dict[str, Any]) -> tuple[int, int, int]:
    """Picture size, samples a pixel and threads."""
    return request["size_px"], request["samples"], request["threads"]


def look_at_rest(
    request: dict[str, Any], out: Path, world_to_file: np.ndarray, instances: list[Any]
) -> RestState:
    """Settle frame and cameras, and take away what hides the part; writes shape and cameras.

    Raises:
        InputError: The object is too large, or the part is seen in no view whatever is taken away.
    """
    from atop_backend.rendering import blender_import as importing

    baked = importing.bake(instances)
    turn = None if request["turn"] is None else np.array(request["turn"])
    triangles = baked.vertices, baked.triangles, baked.part
    settled = tuple(request["parts"]), world_to_file, turn
    shape = build_shape(*triangles, *settled)
    if len(shape.triangles) > MOST_TRIANGLES:
        raise InputError(
            f"the object has {len(shape.triangles)} triangles, more than {MOST_TRIANGLES}",
            hint="lower the levels of its modifiers, or decimate it",
        )
    cameras = rig(request["elevation_rad"], request["size_px"])
    save_shape(out / "shape.npz", shape)
    document = json.dumps([camera.to_dict() for camera in cameras], indent=1)
    (out / "cameras.json").write_text(document + "\n", encoding="utf-8")

    settings = settings_of(request)
    id_scene, face_ids, part_mask = _shoot_ids(shape, cameras, settings, out)
    if uncover.may_be_hidden(shape, cameras, part_mask):
        names = [instance.names for instance in instances]
        found = _uncover(shape, cameras, part_mask, baked.owners, names)
        if found is not None and found.covers is not None:
            # the side on which it is open may be another than was taken for the front
            shape = build_shape(*triangles, *settled, found.covers, found.cover_names)
            save_shape(out / "shape.npz", shape)
            instances = importing.without(instances, baked, found.covers)
            id_scene, face_ids, part_mask = _shoot_ids(shape, cameras, settings, out)
    if not part_mask.any():
        raise InputError(
            "the part is seen in none of the four views",
            hint="hide what covers it, or choose a part that can be seen from outside",
        )
    world_to_normalised = np.linalg.inv(shape.normalised_to_file)
    world_to_normalised[:3, :3] = world_to_normalised[:3, :3] @ world_to_file
    return RestState(shape, cameras, instances, face_ids, part_mask, id_scene, world_to_normalised)


def _shoot_ids(
    shape: RestShape, cameras: tuple[Camera, ...], settings: tuple[int, int, int], out: Path
) -> tuple[Any, np.ndarray, np.ndarray]:
    """The id scene, the triangle seen by each pixel and where the part is, (views, h, w) each."""
    from atop_backend.rendering import blender_pictures as pictures

    scene = pictures.new_scene("ids", *settings)
    pictures.fill_id_scene(scene, shape)
    face_ids = []
    for view, camera in enumerate(cameras):
        path = out / f"ids_{view}.exr"
        pictures.shoot(scene, camera, path, "OPEN_EXR")
        face_ids.append(pictures.read_ids(path))
    seen = np.stack(face_ids)
    return scene, seen, (seen >= 0) & shape.part[seen]


def _uncover(
    shape: RestShape,
    cameras: tuple[Camera, ...],
    part_mask: np.ndarray,
    owners: np.ndarray,
    names: list[tuple[str, ...]],
) -> RestShape | None:
    """The shape without what hides the part; None if it is not hidden, or nothing can go."""
    from atop_backend.rendering import blender_rays as casting

    rays = casting.cast(shape, cameras)
    if part_mask.sum() >= uncover.HARDLY_SEEN * rays.outline_px:
        return None
    return casting.uncovered(shape, rays, owners, names)


def list_parts(request: dict[str, Any], out: Path) -> dict[str, Any]:
    """Names of nodes, materials and vertex groups of all scenes, and of each node's parent."""
    import bpy

    from atop_backend.rendering import blender_import as importing

    importing.open_asset(Path(request["asset"]))
    names: dict[str, list[str]] = {"nodes": [], "materials": [], "vgroups": []}
    for scene in importing.scenes():
        for kind, values in importing.list_names(scene).items():
            names[kind] += [value for value in values if value not in names[kind]]
    parents = [bpy.data.objects[name].parent for name in names["nodes"]]
    return names | {"parents": ["" if parent is None else parent.name for parent in parents]}


def _instances(request: dict[str, Any]) -> tuple[np.ndarray, list[Any]]:
    """The rotation from world to file, and the instances of the asset."""
    from atop_backend.rendering import blender_import as importing
    from atop_backend.rendering.selectors import parse

    world_to_file = importing.open_asset(Path(request["asset"]))
    selectors = [parse(text) for text in request["parts"]]
    scene, targets = importing.first_scene_with(selectors)
    return world_to_file, importing.collect(scene, targets)


if __name__ == "__main__":
    child.run({"render": render, "list": list_parts})
