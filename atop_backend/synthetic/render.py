"""Draws generated objects as training clips, on whatever device their tensors lie.

Pictures follow the render stage (`rendering/`): same cameras, same plain background, display
values. Shading is simple and varied at random; colours are often replaced by one plain grey or
painted with a pattern, since real objects come in both.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int, Int16
from torch import Tensor

from atop_backend.geometry import cameras
from atop_backend.synthetic.raster import rasterise, shade_on_gpu

BACKGROUND = 0.75  # display value, as the render stage composites its views
BLOCK_PX = 8  # a latent pixel's side in picture pixels
_ELEVATIONS_RAD = (math.radians(8), math.radians(34))


class ObjectBatch(NamedTuple):
    """Generated objects, padded to the same number of triangles."""

    triangles: Float[Tensor, "clips triangles 3 3"]
    counts: Int[Tensor, " clips"]
    materials: Int16[Tensor, "clips triangles"]
    colours: Float[Tensor, "clips materials 3"]
    moving: Bool[Tensor, "clips triangles"]
    revolute: Bool[Tensor, " clips"]
    axes: Float[Tensor, "clips 3"]
    origins: Float[Tensor, "clips 3"]
    travel: Float[Tensor, " clips"]
    part_centre: Float[Tensor, "clips 3"]
    part_radius: Float[Tensor, " clips"]

    def to(self, device: torch.device | str) -> ObjectBatch:
        """The same objects on another device."""
        return ObjectBatch(*(_send(value, device) for value in self))


class Pictures(NamedTuple):
    """What the cameras see; frame 0 is the rest frame."""

    rgb: Float[Tensor, "clips views frames 3 size size"]
    silhouettes: Bool[Tensor, "clips views frames size size"]
    positions: Float[Tensor, "clips views 3 size size"]  # at rest
    motions: Float[Tensor, "clips views moved 3 latent latent"]  # in units of the part's radius
    cameras: Float[Tensor, "clips views 16"]
    faces: Int16[Tensor, "clips views size size"]  # triangle seen at rest, -1 for none


class Look(NamedTuple):
    """How clips are lit and painted, and from where they are seen."""

    world_to_camera: Float[Tensor, "clips views 3 4"]
    cameras: Float[Tensor, "clips views 16"]  # geometry.cameras.embedding
    light: Float[Tensor, "clips 3"]  # unit vector towards the light
    strengths: Float[Tensor, "clips 3"]  # even, directed and from above
    colours: Float[Tensor, "clips materials 3"]
    waves: Float[Tensor, "clips materials 2 3"]  # two directions, radians a unit of length
    pattern: Float[Tensor, "clips materials 2"]  # kind of pattern, strength

    def to(self, device: torch.device | str) -> Look:
        """The same look on another device."""
        return Look(*(_send(value, device) for value in self))


def _send(value: Tensor, device: torch.device | str) -> Tensor:
    """A copy on a device; through pinned memory, so that the training loop never waits for it."""
    if torch.device(device).type == "cuda":
        return value.pin_memory().to(device, non_blocking=True)
    return value.to(device)


def random_look(objects: ObjectBatch, generator: torch.Generator) -> Look:
    """A look drawn for each clip; objects and generator on the CPU."""
    clips, materials = objects.colours.shape[:2]

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator)

    low, high = _ELEVATIONS_RAD
    light = torch.randn(clips, 3, generator=generator)
    light[:, 2] = light[:, 2].abs() + 0.3
    strengths = torch.stack(
        [0.45 + 0.4 * uniform(clips), 0.55 * uniform(clips), 0.25 * uniform(clips)], dim=1
    )
    plain = uniform(clips, 1, 1) * 0.65 + 0.2 + 0.05 * (uniform(clips, 1, 3) - 0.5)
    one_grey = uniform(clips, 1, 1) < 0.3
    repaint = uniform(clips, materials, 1) < 0.12
    colours = torch.where(repaint, uniform(clips, materials, 3) * 0.9 + 0.05, objects.colours)
    colours = torch.where(one_grey, plain, colours)
    directions = F.normalize(torch.randn(clips, materials, 2, 3, generator=generator), dim=-1)
    aligned = uniform(clips, materials, 1, 1) < 0.6
    cardinal = F.one_hot(torch.randint(3, (clips, materials, 2), generator=generator), 3).float()
    directions = torch.where(aligned, cardinal, directions)
    waves = directions * (10 * 8 ** uniform(clips, materials, 2, 1))
    painted = (uniform(clips, materials) < 0.2) & ~one_grey[..., 0]
    strength = painted * (0.05 + 0.3 * uniform(clips, materials))
    kind = torch.randint(3, (clips, materials), generator=generator)
    elevations = low + (high - low) * uniform(clips)
    rigs = [cameras.rig(elevation) for elevation in elevations.tolist()]
    return Look(
        world_to_camera=torch.tensor([[c.world_to_camera[:3] for c in rig] for rig in rigs]),
        cameras=torch.tensor(
            [[cameras.embedding(c).tolist() for c in rig] for rig in rigs], dtype=torch.float32
        ),
        light=F.normalize(light, dim=1),
        strengths=strengths,
        colours=colours,
        waves=waves,
        pattern=torch.stack([kind.float(), strength], dim=-1),
    )


def poses(objects: ObjectBatch, shares: Float[Tensor, "clips frames"]) -> tuple[Tensor, Tensor]:
    """Rotation (clips, frames, 3, 3) and translation (clips, frames, 3) of the moving part.

    Args:
        shares: How much of the motion is done, 0 to 1. Rodrigues as the paper's Eq. 14 to 16.
    """
    amounts = shares * objects.travel[:, None]
    x, y, z = objects.axes.unbind(dim=1)
    zero = torch.zeros_like(x)
    cross = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], dim=1).view(-1, 1, 3, 3)
    angles = torch.where(objects.revolute[:, None], amounts, 0.0)[..., None, None]
    identity = torch.eye(3, device=x.device)
    rotations = identity + angles.sin() * cross + (1 - angles.cos()) * (cross @ cross)
    origins = objects.origins[:, None]
    turned = origins - torch.einsum("cfij,cj->cfi", rotations, objects.origins)
    slid = torch.where(objects.revolute[:, None], 0.0, amounts)[..., None] * objects.axes[:, None]
    return rotations, turned + slid


@torch.no_grad()
def draw(
    objects: ObjectBatch,
    shares: Float[Tensor, "clips frames"],
    look: Look,
    size_px: int = cameras.SIZE_PX,
) -> Pictures:
    """Pictures of every object at rest and at the given shares of its motion."""
    device = objects.triangles.device
    clips, moved = shares.shape
    frames = moved + 1
    with_rest = torch.cat([torch.zeros(clips, 1, device=device), shares], dim=1)
    rotations, translations = poses(objects, with_rest)
    moving = objects.moving[:, None, :, None, None]
    posed = (
        torch.einsum("cfij,ctkj->cftki", rotations, objects.triangles)
        + translations[:, :, None, None]
    )
    posed = torch.where(moving, posed, objects.triangles[:, None])

    world_to_camera = look.world_to_camera
    focal_px = size_px / 2 / math.tan(math.radians(cameras.FIELD_OF_VIEW_DEG) / 2)
    seen = (
        torch.einsum("cvij,cftkj->cvftki", world_to_camera[..., :3], posed)
        + world_to_camera[:, :, None, None, None, :, 3]
    )
    nearness = 1 / seen[..., 2:]
    screen = torch.cat([seen[..., :2] * nearness * focal_px + size_px / 2, nearness], dim=-1)
    views = screen.shape[1]
    counts = objects.counts.repeat_interleave(views * frames)
    indices = rasterise(screen.flatten(0, 2), counts, size_px)
    indices = indices.view(clips, views, frames, size_px, size_px)
    table = _surface_table(objects, posed, rotations, translations, look)
    shade = shade_on_gpu if indices.is_cuda else _shade
    rgb, silhouettes, positions = shade(indices, table, world_to_camera, focal_px, BACKGROUND)
    return Pictures(
        rgb=rgb,
        silhouettes=silhouettes,
        positions=positions,
        motions=_block_motions(positions, silhouettes[:, :, 0], rotations, translations, objects),
        cameras=look.cameras,
        faces=indices[:, :, 0],
    )


def _shade(
    indices: Int16[Tensor, "clips views frames size size"],
    table: Float[Tensor, "clips frames triangles columns"],
    world_to_camera: Float[Tensor, "clips views 3 4"],
    focal_px: float,
    background: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Colours (c, v, f, 3, s, s), where the part is seen (c, v, f, s, s), points at rest."""
    clips, _, frames, size_px, _ = indices.shape
    hit = indices >= 0
    rows = torch.arange(clips * frames).view(clips, 1, frames, 1, 1) * table.shape[2]
    surface = table.flatten(0, 2)[(rows + indices.long().clamp_min(0)).flatten()]
    surface = surface.view(*indices.shape, -1)
    rays, centres = _rays(world_to_camera, focal_px, size_px)
    normals, offsets = surface[..., 0:3], surface[..., 3]
    facing = torch.einsum("cvfhwi,cvhwi->cvfhw", normals, rays)
    facing = torch.where(facing.abs() < 1e-6, 1e-6, facing)
    reach = offsets - torch.einsum("cvfhwi,cvi->cvfhw", normals, centres)
    depths = (reach / facing).clamp(0.5, 8.0)
    points = centres[:, :, None, None, None] + rays[:, :, None] * depths[..., None]
    rgb = torch.where(hit[..., None], _paint(surface, points), background).clamp(0, 1)
    positions = torch.where(hit[:, :, 0, ..., None], points[:, :, 0], 0.0)
    moving = (surface[..., -1] > 0.5) & hit
    return rgb.permute(0, 1, 2, 5, 3, 4), moving, positions.permute(0, 1, 4, 2, 3)


def _surface_table(
    objects: ObjectBatch, posed: Tensor, rotations: Tensor, translations: Tensor, look: Look
) -> Tensor:
    """Per triangle and frame: plane (4), shaded colour (3), two waves (8), pattern (2), moving."""
    edges = posed[..., 1:, :] - posed[..., :1, :]
    normals = F.normalize(torch.linalg.cross(edges[..., 0, :], edges[..., 1, :]), dim=-1)
    offsets = (normals * posed[..., 0, :]).sum(dim=-1, keepdim=True)
    which = objects.materials.long()
    clip = torch.arange(len(which), device=which.device)[:, None]
    even, directed, above = look.strengths[:, :, None, None].unbind(dim=1)
    towards = torch.einsum("cfti,ci->cft", normals, look.light)
    shade = even + directed * (0.5 + 0.5 * towards) + above * (0.5 + 0.5 * normals[..., 2])
    colours = look.colours[clip, which][:, None] * shade[..., None]
    waves = look.waves[clip, which][:, None]  # (clips, 1, triangles, 2, 3)
    turned = torch.einsum(
        "cfij,cftwj->cftwi", rotations, waves.expand(-1, rotations.shape[1], -1, -1, -1)
    )
    moving = objects.moving[:, None, :, None]
    waves = torch.where(moving[..., None], turned, waves)
    phases = torch.where(moving, -torch.einsum("cftwi,cfi->cftw", waves, translations), 0.0)
    pattern = look.pattern[clip, which][:, None].expand(-1, posed.shape[1], -1, -1)
    flags = moving.expand(-1, posed.shape[1], -1, -1).to(posed.dtype)
    return torch.cat([normals, offsets, colours, waves.flatten(-2), phases, pattern, flags], dim=-1)


def _paint(surface: Tensor, points: Tensor) -> Tensor:
    """Colours of the surface seen, (..., 3): stripes, tiles or grain fixed to the surface."""
    waves = surface[..., 7:13].unflatten(-1, (2, 3))
    phases = torch.einsum("...wi,...i->...w", waves, points) + surface[..., 13:15]
    first, second = phases.unbind(dim=-1)
    kind, strength = surface[..., 15], surface[..., 16]
    stripes = torch.tanh(4 * first.sin())
    tiles = torch.tanh(6 * first.sin()) * torch.tanh(6 * second.sin())
    grain = (first + 1.5 * (0.4 * second).sin()).sin()
    wave = torch.where(kind < 0.5, stripes, torch.where(kind < 1.5, tiles, grain))
    return surface[..., 4:7] * (1 + strength * wave)[..., None]


def _rays(world_to_camera: Tensor, focal_px: float, size_px: int) -> tuple[Tensor, Tensor]:
    """Rays of camera depth 1 (clips, views, h, w, 3) and camera centres (clips, views, 3)."""
    steps = (torch.arange(size_px, device=world_to_camera.device) + 0.5 - size_px / 2) / focal_px
    y, x = torch.meshgrid(steps, steps, indexing="ij")
    local = torch.stack([x, y, torch.ones_like(x)], dim=-1)
    rotation = world_to_camera[..., :3]
    rays = torch.einsum("hwi,cvij->cvhwj", local, rotation)
    centres = -torch.einsum("cvi,cvij->cvj", world_to_camera[..., 3], rotation)
    return rays, centres


def block_means(
    positions: Float[Tensor, "*lead 3 size size"], mask: Bool[Tensor, "*lead size size"]
) -> tuple[Float[Tensor, "*lead 3 latent latent"], Float[Tensor, "*lead 1 latent latent"]]:
    """Mean point of the masked pixels of each block, and their share of the block."""
    lead = positions.shape[:-3]
    weights = mask[..., None, :, :].to(positions.dtype)
    both = torch.cat([positions * weights, weights], dim=-3).flatten(0, -4)
    means = F.avg_pool2d(both, BLOCK_PX).unflatten(0, lead)
    share = means[..., 3:, :, :]
    return means[..., :3, :, :] / share.clamp_min(1e-6), share


def _block_motions(
    positions: Tensor,
    mask: Tensor,
    rotations: Tensor,
    translations: Tensor,
    objects: ObjectBatch,
) -> Tensor:
    """Displacement of each block's mean part point in every moved frame, over the part's radius.

    A rigid motion is affine, so the motion of the mean point is the mean of the motions.
    """
    means, share = block_means(positions, mask)
    there = torch.einsum("cfij,cvjhw->cvfihw", rotations[:, 1:], means)
    there = there + translations[:, None, 1:, :, None, None]
    motions = (there - means[:, :, None]) / objects.part_radius[:, None, None, None, None, None]
    return torch.where(share[:, :, None] > 0, motions, 0.0)
