"""Folders of annotated objects as cases of scripts/evaluate.py: PartNet-Mobility, ACD, our own.

A case is a folder with `object.glb` (Y up, front +Z, one node a moving piece) and `case.json`.

PartNet-Mobility has a folder an object: `mobility_v2.json` (links: id, parent, joint, name, parts;
`jointData` with the axis and its limit, degrees for hinges), `mobility.urdf` (which files of
`textured_objs/` make up which link: every `<visual>` is named after a part, as NAME-ID, and every
`<link>` after its link, as link_ID) and
`meta.json` (`model_cat`). All .obj files lie in the frame of the annotation, at rest.

ACD is read as its users pass it on for articulation: `object.json` with `diffuse_tree` (id, parent,
name, `joint` with type, axis and range in degrees or units, `objs` or `plys`) and `meta.obj_cat`.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from atop_backend.errors import InputError  # noqa: E402
from atop_backend.export.urdf_reader import read_urdf  # noqa: E402

KINDS = {"hinge": "revolute", "slider": "prismatic", "revolute": "revolute",
         "continuous": "revolute", "prismatic": "prismatic"}  # fmt: skip
_EVEN = 0.8  # a range that reaches this share as far the other way has no opening direction
_ENOUGH = 1e-3  # radians or units; joints that move less are closed for good


@dataclass(frozen=True)
class Link:
    """A piece of an object and how it moves against its parent."""

    name: str
    parent: int  # index into the object's links; -1 for none
    meshes: tuple[Path, ...]
    kind: str = ""  # revolute, prismatic, or "" for what does not move as either
    axis: tuple[float, ...] = ()
    origin: tuple[float, ...] = ()
    limits: tuple[float, float] | None = None  # radians or units from rest; None turns for ever


@dataclass(frozen=True)
class Annotated:
    """One object of a data set, Y up, at rest."""

    name: str
    category: str
    links: tuple[Link, ...]


def read_partnet(root: Path) -> Iterator[Annotated]:
    """The objects of a PartNet-Mobility folder.

    Raises:
        InputError: There are none, or one's files contradict each other.
    """
    for folder in _folders(root, "mobility_v2.json"):
        meta = folder / "meta.json"
        category = _json(meta).get("model_cat", "object") if meta.is_file() else "object"
        yield Annotated(folder.name, category, tuple(_partnet_links(folder)))


def _partnet_links(folder: Path) -> Iterator[Link]:
    entries = _json(folder / "mobility_v2.json")
    places = {entry["id"]: place for place, entry in enumerate(entries)}
    of_parts, of_links = _meshes_of(folder / "mobility.urdf")
    for entry in entries:
        ids = [part["id"] for part in _below(entry.get("parts", []))]
        files = [file for part in ids for file in of_parts.get(part, [])]
        files = files or of_links.get(f"link_{entry['id']}", [])
        data = entry.get("jointData") or {}
        axis, limit = data.get("axis") or {}, data.get("limit") or {}
        screw = entry["joint"] == "slider" and limit.get("rotates")  # turns and slides at once
        kind = "" if screw else KINDS.get(entry["joint"], "")
        limits = None
        if kind and not limit.get("noLimit"):
            scale = math.radians(1) if kind == "revolute" else 1.0
            low, high = sorted((scale * limit.get("a", 0.0), scale * limit.get("b", 0.0)))
            limits = (low, high)
        yield Link(
            _plain(entry.get("name") or f"link_{entry['id']}"),
            places.get(entry.get("parent", -1), -1),
            tuple(folder / file for file in dict.fromkeys(files)),
            kind,
            tuple(axis.get("direction") or ()),
            tuple(axis.get("origin") or ()),
            limits,
        )


def _below(parts: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for part in parts:
        yield part
        yield from _below(part.get("children", []))


def _meshes_of(urdf: Path) -> tuple[dict[int, list[str]], dict[str, list[str]]]:
    """The mesh files by the number at the end of their visual's name, and by their link's name."""
    of_parts: dict[int, list[str]] = {}
    of_links: dict[str, list[str]] = {}
    for link, visuals in read_urdf(urdf).links.items():
        for visual in visuals:
            number = re.search(r"(\d+)$", visual.name)
            for mesh in (shape for shape in visual.shapes if shape.tag == "mesh"):
                file = mesh.get("filename", "")
                of_links.setdefault(link, []).append(file)
                if number:
                    of_parts.setdefault(int(number[1]), []).append(file)
    return of_parts, of_links


def read_acd(root: Path) -> Iterator[Annotated]:
    """The objects of an ACD folder, at any depth.

    Raises:
        InputError: There are none, or one cannot be read.
    """
    for folder in _folders(root, "object.json"):
        data = _json(folder / "object.json")
        nodes = data.get("diffuse_tree", [])
        places = {node["id"]: place for place, node in enumerate(nodes)}
        links = []
        for node in nodes:
            joint = node.get("joint") or {}
            kind = KINDS.get(joint.get("type", ""), "")
            axis = joint.get("axis") or {}
            scale = math.radians(1) if kind == "revolute" else 1.0
            low, high = sorted(scale * value for value in joint.get("range", (0, 0))[:2])
            meshes = tuple(folder / file for file in node.get("objs") or node.get("plys") or [])
            links.append(
                Link(
                    _plain(node.get("name") or "part"), places.get(node.get("parent", -1), -1),
                    meshes, kind, tuple(axis.get("direction") or ()),
                    tuple(axis.get("origin") or ()),
                    None if joint.get("type") == "continuous" else (low, high),
                )
            )  # fmt: skip
        name = folder.relative_to(root).as_posix().replace("/", "_") or folder.name
        yield Annotated(name, data.get("meta", {}).get("obj_cat", "object"), tuple(links))


def _folders(root: Path, file: str) -> list[Path]:
    found = sorted(path.parent for path in root.rglob(file))
    if not found:
        raise InputError(f"{root} has no folder with {file}", hint="give the data set's folder")
    return found


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error})", hint="copy it again") from error


def _plain(name: str) -> str:
    """A name as words: "StorageFurniture" is "storage furniture"."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.sub(r"[^a-z0-9]+", " ", spaced.lower()).strip() or "part"


def write_cases(objects: Iterator[Annotated], out: Path) -> list[Path]:
    """A case folder for every part that turns or slides; the folders.

    Objects that have nothing to move, or nothing beside it, make none.
    """
    folders = []
    for item in objects:
        movers = [place for place, link in enumerate(item.links) if _moves(link)]
        groups = {place: _with_children(item.links, place) for place in movers}
        seen = [place for place, link in enumerate(item.links) if link.meshes]
        groups = {m: g for m, g in groups.items() if set(seen) & g and set(seen) - g}
        if not groups:
            continue
        shapes = {place: _load(item.links[place].meshes) for place in seen}
        names = {place: f"{item.links[place].name} {place}" for place in seen}
        corners = np.concatenate([mesh.vertices for group in shapes.values() for mesh in group])
        centre = (corners.min(axis=0) + corners.max(axis=0)) / 2
        size = {"center": centre.tolist(),
                "scale": float(np.linalg.norm(corners - centre, axis=1).max())}  # fmt: skip
        glb = _glb(shapes, names)
        for place, group in groups.items():
            folder = out / f"{item.name}_{place}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "object.glb").write_bytes(glb)
            link = item.links[place]
            parts = [f"{names[p]}.{n}" for p in sorted(group & set(seen))
                     for n in range(len(shapes[p]))]  # fmt: skip
            case = {"id": folder.name, "category": item.category, "part": parts,
                    "prompt": f"the {link.name} of the {_plain(item.category)} is getting opened",
                    "joint": _joint(link), **size}  # fmt: skip
            (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n", encoding="utf-8")
            folders.append(folder)
    return folders


def _moves(link: Link) -> bool:
    enough = link.limits is None or link.limits[1] - link.limits[0] > _ENOUGH
    return bool(link.kind and enough and len(link.axis) == 3 and np.linalg.norm(link.axis) > 1e-9)


def _with_children(links: Sequence[Link], top: int) -> set[int]:
    """A link and all that hangs on it."""
    group, size = {top}, 0
    while size != len(group):
        size = len(group)
        group |= {place for place, link in enumerate(links) if link.parent in group}
    return group


def _joint(link: Link) -> dict[str, Any]:
    """The joint from rest, positive where it opens: the longer way."""
    axis = np.asarray(link.axis, float) / np.linalg.norm(link.axis)
    low, high = link.limits or (0.0, 2 * math.pi)
    if -low > high:
        axis, low, high = -axis, -high, -low
    two_ways = low < 0 and -low >= _EVEN * high
    return {"type": link.kind, "axis": axis.tolist(), "origin": list(link.origin or (0.0,) * 3),
            "range": [low, high], "directed": link.limits is not None and not two_ways,
            "continuous": link.limits is None}  # fmt: skip


def _load(files: Sequence[Path]) -> list[trimesh.Trimesh]:
    meshes: list[trimesh.Trimesh] = []
    for file in files:
        try:
            read = trimesh.load(file, process=False)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"{file} cannot be read ({error})", hint="copy it again") from error
        meshes += read.dump() if isinstance(read, trimesh.Scene) else [read]  # type: ignore[list-item]
    return [mesh for mesh in meshes if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces)]


def _glb(shapes: Mapping[int, Sequence[trimesh.Trimesh]], names: Mapping[int, str]) -> bytes:
    scene = trimesh.Scene()
    for place, meshes in shapes.items():
        for number, mesh in enumerate(meshes):
            name = f"{names[place]}.{number}"
            scene.add_geometry(mesh, node_name=name, geom_name=name)
    return scene.export(file_type="glb")  # type: ignore[return-value]


def write_generated(out: Path, count: int, first_seed: int) -> list[Path]:
    """Cases of our own generator; its objects are in the normalised frame, Z up, front -Y."""
    from atop_backend.synthetic.generate import generate

    folders = []
    for seed in range(first_seed, first_seed + count):
        made = generate(seed)
        shapes: dict[int, list[trimesh.Trimesh]] = {0: [], 1: []}
        for moving in (0, 1):
            chosen = made.moving == bool(moving)
            for material in np.unique(made.materials[chosen]):
                soup = made.triangles[chosen & (made.materials == material)].reshape(-1, 3)
                mesh = trimesh.Trimesh(_to_y_up(soup), np.arange(len(soup)).reshape(-1, 3))
                shade = made.colours[material] ** 2.2  # glTF's factors are linear
                look = trimesh.visual.material.PBRMaterial(baseColorFactor=[*shade, 1.0])
                mesh.visual = trimesh.visual.TextureVisuals(material=look)
                shapes[moving].append(mesh)
        folder = out / f"{made.kind}_{seed}".replace(" ", "_")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "object.glb").write_bytes(_glb(shapes, {0: "body", 1: "part"}))
        joint = made.joint
        case = {
            "id": folder.name,
            "category": made.kind,
            "part": [f"part.{number}" for number in range(len(shapes[1]))],
            "prompt": made.prompts[0],
            "joint": {
                "type": joint.kind,
                "axis": _to_y_up(np.array(joint.axis)).tolist(),
                "origin": _to_y_up(np.array(joint.origin)).tolist(),
                "range": [0.0, joint.upper],
                "directed": made.directed,
                "continuous": False,
            },
            "center": [0.0, 0.0, 0.0],
            "scale": 1.0,
        }
        (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n", encoding="utf-8")
        folders.append(folder)
    return folders


def _to_y_up(points: np.ndarray) -> np.ndarray:
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    return np.stack([x, z, -y], axis=-1)
