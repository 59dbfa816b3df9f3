"""Rigged assets and their clips from glTF 2.0 files.

The skin definition of glTF: a vertex goes to the weighted sum of G_j B_j v, with G_j the joint's
node_to_world now and B_j its inverse bind matrix; the transform of the mesh's own node is ignored.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from atop_backend.errors import InputError
from atop_backend.geometry.rigs import Rig, build_rig
from atop_backend.skeletal.gltf_data import GltfData, local_matrix, node_values

Y_TO_Z_UP = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
GREY = 0.7  # of a surface that has no colour
_TAIL_SHARE = 0.25  # length of an end bone, of its parent's length


class Clip(NamedTuple):
    """An animation as the file has it: where each bone takes what hangs on it."""

    name: str
    times: np.ndarray  # (frames,) seconds
    rest_to_posed: np.ndarray  # (frames, j, 4, 4) world, bones in the order of the rig


class GltfRig(NamedTuple):
    """A rig, the clips that came with it, and what a person should know about the reading."""

    rig: Rig
    clips: tuple[Clip, ...]
    notes: tuple[str, ...]


class _Piece(NamedTuple):
    """One primitive of a mesh that follows joints; vertices in the space of its inverse binds."""

    vertices: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (m, 3)
    colours: np.ndarray  # (m, 3)
    joints: np.ndarray  # (n, k) places in `nodes`
    weights: np.ndarray  # (n, k)
    nodes: tuple[int, ...]  # joint nodes
    inverse_binds: np.ndarray  # (len(nodes), 4, 4)


def read_gltf_rig(path: Path, fps: float = 24.0) -> GltfRig:
    """The rig in a .glb or .gltf file, with its clips sampled at a frame rate.

    Raises:
        InputError: The file cannot be read, or has no skinned mesh.
        SetupError: pygltflib is not installed.
    """
    data = GltfData(path)
    pieces, notes = _pieces(data)
    nodes = _bones(data, pieces)
    globals_now = data.global_matrices({})
    rest = _rest_matrices(data, pieces, nodes, globals_now)
    rig = _assemble(data, pieces, nodes, rest)
    clips = tuple(
        _clip(data, index, fps, nodes, rest) for index in range(len(data.document.animations))
    )
    return GltfRig(rig, clips, tuple(notes))


def _pieces(data: GltfData) -> tuple[list[_Piece], list[str]]:
    """All primitives that follow joints, also unskinned meshes that hang on a joint."""
    document = data.document
    joints = {joint for skin in document.skins for joint in skin.joints}
    if not joints:
        raise InputError(
            f"{data.path.name} has no skin, so it has no armature",
            hint="give a rigged mesh: an armature with a mesh bound to it by weights",
        )
    globals_now = data.global_matrices({})
    pieces, notes = [], []
    for index, node in enumerate(document.nodes):
        if node.mesh is None or index not in data.reachable:
            continue
        holder = index
        while holder is not None and holder not in joints:
            holder = data.parents.get(holder)
        if node.skin is None and holder is None:
            notes.append(f"{node.name or 'a mesh'} is not bound to the armature and is left out")
            continue
        for primitive in document.meshes[node.mesh].primitives:
            if primitive.mode not in (None, 4):
                notes.append(f"lines or points of {node.name or 'a mesh'} are left out")
                continue
            if primitive.targets:
                notes.append(f"shape keys of {node.name or 'a mesh'} stay at their basis")
            if node.skin is None:
                pieces.append(_hanging_piece(data, primitive, index, holder, globals_now))  # type: ignore[arg-type]
            else:
                pieces.append(_skinned_piece(data, primitive, node.skin))
    if not pieces:
        raise InputError(
            f"{data.path.name} has an armature, and no mesh follows it",
            hint="bind a mesh to the armature by weights",
        )
    return pieces, notes


def _skinned_piece(data: GltfData, primitive: Any, skin_index: int) -> _Piece:
    skin = data.document.skins[skin_index]
    names = vars(primitive.attributes)
    joints, weights = [], []
    for number in range(16):  # a vertex may have several sets of four
        if names.get(f"WEIGHTS_{number}") is None:
            break
        joints.append(data.array(names[f"JOINTS_{number}"]))
        weights.append(data.array(names[f"WEIGHTS_{number}"]))
    if not joints:
        raise InputError(
            f"a skinned mesh of {data.path.name} has no weights", hint="export it with its skin"
        )
    count = len(skin.joints)
    binds = np.broadcast_to(np.eye(4), (count, 4, 4))
    if skin.inverseBindMatrices is not None:
        flat = data.array(skin.inverseBindMatrices)
        binds = flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)[:count]
    joint_ids = np.concatenate(joints, axis=1).astype(np.int64)
    if joint_ids.max(initial=0) >= count or len(binds) < count:
        raise InputError(
            f"{data.path.name} names joints that its skin does not have", hint="export it again"
        )
    vertices, triangles, colours = _surface(data, primitive)
    return _Piece(
        vertices, triangles, colours, joint_ids,
        np.concatenate(weights, axis=1).astype(np.float64), tuple(skin.joints), binds,
    )  # fmt: skip


def _hanging_piece(
    data: GltfData, primitive: Any, node: int, holder: int, globals_now: np.ndarray
) -> _Piece:
    """A mesh without a skin that is a child of a joint: it follows that joint wholly."""
    vertices, triangles, colours = _surface(data, primitive)
    bind = np.linalg.inv(globals_now[holder]) @ globals_now[node]
    ones = np.ones((len(vertices), 1))
    return _Piece(
        vertices, triangles, colours, np.zeros_like(ones, dtype=np.int64), ones, (holder,),
        bind[None],
    )  # fmt: skip


def _surface(data: GltfData, primitive: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, triangles and display colours of the triangles of one primitive."""
    vertices = data.array(primitive.attributes.POSITION).astype(np.float64)
    if primitive.indices is None:
        triangles = np.arange(len(vertices)).reshape(-1, 3)
    else:
        triangles = data.array(primitive.indices).astype(np.int64).reshape(-1, 3)
    return vertices, triangles, _face_colours(data, primitive, triangles)


def _face_colours(data: GltfData, primitive: Any, triangles: np.ndarray) -> np.ndarray:
    """Display colour (m, 3) of each triangle: its texture at the middle, times its factors."""
    linear = np.ones((len(triangles), 3))
    material = None if primitive.material is None else data.document.materials[primitive.material]
    surface = material.pbrMetallicRoughness if material else None
    if material is None or (surface is None and primitive.attributes.COLOR_0 is None):
        linear *= _to_linear(np.array(GREY))
    if surface is not None:
        linear *= np.asarray(surface.baseColorFactor or (1, 1, 1, 1))[:3]
        texture = surface.baseColorTexture
        if texture is not None:
            picture = data.picture(texture.index)
            uv = vars(primitive.attributes).get(f"TEXCOORD_{texture.texCoord or 0}")
            if picture is not None and uv is not None:
                linear *= _to_linear(_sample(picture, data.array(uv)[triangles].mean(axis=1)))
    if primitive.attributes.COLOR_0 is not None:
        linear *= data.array(primitive.attributes.COLOR_0)[:, :3][triangles].mean(axis=1)
    return np.clip(_to_display(linear), 0.0, 1.0)


def _sample(encoded: bytes, uv: np.ndarray) -> np.ndarray:
    """Display colours (m, 3) of a repeated picture at places (m, 2)."""
    pixels = np.asarray(Image.open(io.BytesIO(encoded)).convert("RGB")) / 255
    height, width = pixels.shape[:2]
    places = uv - np.floor(uv)
    columns = np.minimum((places[:, 0] * width).astype(int), width - 1)
    rows = np.minimum((places[:, 1] * height).astype(int), height - 1)
    return pixels[rows, columns]


def _to_linear(display: np.ndarray) -> np.ndarray:
    return np.where(display <= 0.04045, display / 12.92, ((display + 0.055) / 1.055) ** 2.4)


def _to_display(linear: np.ndarray) -> np.ndarray:
    bright = 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, 12.92 * linear, bright)


def _bones(data: GltfData, pieces: Sequence[_Piece]) -> list[int]:
    """Nodes that become bones: all joints, and what lies between two joints of the tree."""
    joints = {node for piece in pieces for node in piece.nodes}
    bones = set(joints)
    for joint in joints:
        path, node = [], data.parents.get(joint)
        while node is not None:
            if node in joints:
                bones.update(path)
                break
            path.append(node)
            node = data.parents.get(node)
    return sorted(bones, key=lambda node: (data.depth(node), node))


def _rest_matrices(
    data: GltfData, pieces: Sequence[_Piece], nodes: Sequence[int], globals_now: np.ndarray
) -> np.ndarray:
    """Rest bone_to_world (j, 4, 4) with their scale, Z up.

    The inverse binds say how the bones stood to each other; where that pose stands in the scene
    is not said, so it is put where it agrees best with the nodes as they are now: where the mesh's
    armature, or nothing, moves it.
    """
    binds: dict[int, np.ndarray] = {}
    for piece in pieces:
        for node, inverse_bind in zip(piece.nodes, piece.inverse_binds, strict=True):
            if len(piece.nodes) > 1 or node not in binds:
                binds.setdefault(node, np.linalg.inv(inverse_bind))
    skinned = [piece for piece in pieces if len(piece.nodes) > 1] or list(pieces)
    root = min(skinned[0].nodes, key=data.depth)
    above = data.parents.get(root)
    candidates = [np.eye(4)] + ([globals_now[above]] if above is not None else [])
    joints = list(skinned[0].nodes)
    now = globals_now[joints]

    def disagreement(placement: np.ndarray) -> float:
        return float(np.abs(placement @ np.stack([binds[node] for node in joints]) - now).mean())

    placement = min(candidates, key=disagreement)
    rest = np.empty((len(nodes), 4, 4))
    place = {node: index for index, node in enumerate(nodes)}
    for index, node in enumerate(nodes):
        if node in binds and any(node in piece.nodes for piece in skinned):
            rest[index] = placement @ binds[node]
        else:  # not bound, or by hanging on it alone: as it stands to its parent now
            above = place.get(data.parents.get(node, -1))
            own = local_matrix(data.document.nodes[node])
            rest[index] = globals_now[node] if above is None else rest[above] @ own
    return Y_TO_Z_UP @ rest


def _rigid(matrices: np.ndarray) -> np.ndarray:
    """The matrices (j, 4, 4) without their uniform scale."""
    result = matrices.copy()
    scale = np.cbrt(np.abs(np.linalg.det(matrices[:, :3, :3])))
    result[:, :3, :3] /= np.maximum(scale, 1e-30)[:, None, None]
    return result


def _assemble(
    data: GltfData, pieces: Sequence[_Piece], nodes: Sequence[int], rest: np.ndarray
) -> Rig:
    place = {node: index for index, node in enumerate(nodes)}
    vertices, triangles, colours, weights, first = [], [], [], [], 0
    for piece in pieces:
        dense = np.zeros((len(piece.vertices), len(nodes)))
        columns = np.array([place[node] for node in piece.nodes])[piece.joints]
        np.add.at(dense, (np.arange(len(dense))[:, None], columns), piece.weights)
        totals = np.maximum(dense.sum(axis=1, keepdims=True), 1e-30)
        to_world = rest[[place[node] for node in piece.nodes]] @ piece.inverse_binds
        per_vertex = np.einsum(
            "nj,jab->nab", (dense / totals)[:, [place[node] for node in piece.nodes]], to_world
        )
        homogeneous = np.concatenate([piece.vertices, np.ones((len(dense), 1))], axis=1)
        vertices.append(np.einsum("nab,nb->na", per_vertex, homogeneous)[:, :3])
        triangles.append(piece.triangles + first)
        colours.append(piece.colours)
        weights.append(dense)
        first += len(piece.vertices)
    parents = np.array([place.get(data.parents.get(node, -1), -1) for node in nodes])
    rigid = _rigid(rest)
    names = data.unique_names(nodes)
    return build_rig(
        np.concatenate(vertices), np.concatenate(triangles), np.concatenate(colours), names,
        parents, rigid, _tails(rigid, parents), np.concatenate(weights),
    )  # fmt: skip


def _tails(rest: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Far ends of the bones (j, 3): the middle of the children's heads, or straight on."""
    heads = rest[:, :3, 3]
    tails = heads.copy()
    for bone, parent in enumerate(parents):
        children = np.flatnonzero(parents == bone)
        if len(children):
            tails[bone] = heads[children].mean(axis=0)
        elif parent >= 0:
            tails[bone] += _TAIL_SHARE * (heads[bone] - heads[parent])
    return tails


def _clip(
    data: GltfData,
    index: int,
    fps: float,
    nodes: Sequence[int],
    rest: np.ndarray,
) -> Clip:
    """One animation of the file, sampled."""
    animation = data.document.animations[index]
    end = max(float(data.array(sampler.input).max()) for sampler in animation.samplers)
    times = np.arange(max(round(end * fps), 1) + 1) / fps
    inverse = np.linalg.inv(rest)
    posed = []
    for time in times:
        matrices = data.global_matrices(node_values(data, animation, float(time)))
        posed.append(Y_TO_Z_UP @ matrices[list(nodes)] @ inverse)
    return Clip(animation.name or f"animation {index}", times, np.stack(posed))
