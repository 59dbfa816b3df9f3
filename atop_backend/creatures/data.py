"""Training clips of the rig prior: generated creatures, drawn at rest and moved by their bones.

A creature is drawn once, at rest. What its patches do in a motion follows from its bones alone, so
a stored creature gives a clip for each of its motions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from atop_backend.creatures.anatomy import MOST_BONES
from atop_backend.creatures.generate import Performer, creature
from atop_backend.creatures.motion import FRAMES
from atop_backend.diffusion.autoencoder import Autoencoder
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.text import FEATURES, TOKENS, TextEncoder
from atop_backend.skeletal.prior import GAIN, PRIOR_SHARES
from atop_backend.skeletal.restviews import bound_patches, patch_motions
from atop_backend.synthetic.render import ObjectBatch, draw, random_look
from atop_backend.training.data import ClipRing, Draw

ACTS = 6  # of each creature
PHRASES = 2  # of each act


class PackedCreatures(NamedTuple):
    """Creatures as they come from a worker process."""

    batch: ObjectBatch
    weights: Tensor  # half (clips, triangles, 3, MOST_BONES), of the corners
    matrices: Tensor  # (clips, ACTS, FRAMES, MOST_BONES, 3, 4)
    sentences: list[list[str]]  # PHRASES for each act, in one row
    kinds: list[str]
    acts: list[list[int]]


def packed_creatures(first_seed: int, count: int) -> PackedCreatures:
    """Creatures of consecutive seeds."""
    torch.set_num_threads(1)
    return pack([creature(first_seed + index, None, ACTS, PHRASES) for index in range(count)])


def pack(performers: list[Performer]) -> PackedCreatures:
    """Creatures, padded to the same number of triangles and bones."""
    clips, items = len(performers), [performer.creature for performer in performers]
    capacity = max(len(item.triangles) for item in items)
    triangles = np.zeros((clips, capacity, 3, 3), np.float32)
    weights = np.zeros((clips, capacity, 3, MOST_BONES), np.float16)
    materials = np.zeros((clips, capacity), np.int16)
    matrices = np.zeros((clips, ACTS, FRAMES, MOST_BONES, 3, 4), np.float32)
    matrices[..., :3] = np.eye(3)
    for index, (item, performer) in enumerate(zip(items, performers, strict=True)):
        size, bones = len(item.triangles), len(item.bones)
        triangles[index, :size] = item.vertices[item.triangles]
        weights[index, :size, :, :bones] = item.weights[item.triangles]
        materials[index, :size] = item.materials
        moves = [performance.matrices for performance in performer.performances]
        matrices[index, :, :, :bones] = np.stack(moves)
    zeros = torch.zeros(clips)
    batch = ObjectBatch(
        triangles=torch.from_numpy(triangles),
        counts=torch.tensor([len(item.triangles) for item in items]),
        materials=torch.from_numpy(materials),
        colours=torch.from_numpy(np.stack([item.colours for item in items]).astype(np.float32)),
        moving=torch.ones(clips, capacity, dtype=torch.bool),
        revolute=torch.zeros(clips, dtype=torch.bool),
        axes=torch.zeros(clips, 3),
        origins=torch.zeros(clips, 3),
        travel=zeros,
        part_centre=torch.zeros(clips, 3),
        part_radius=torch.ones(clips),
    )
    acts = [performer.performances for performer in performers]
    return PackedCreatures(
        batch,
        torch.from_numpy(weights),
        torch.from_numpy(matrices),
        [[words for act in row for words in act.sentences] for row in acts],
        [item.kind for item in items],
        [[act.act for act in row] for row in acts],
    )


class StoredCreatures(NamedTuple):
    """Creatures as they lie in the ring; small types, one entry a creature."""

    rest_latents: Tensor  # half (n, views, 4, 32, 32)
    rgb: Tensor  # uint8 (n, views, 3, 256, 256)
    mask: Tensor  # bool (n, views, 1, 256, 256)
    positions: Tensor  # half (n, views, 3, 256, 256)
    cameras: Tensor  # float (n, views, 16)
    bound: Tensor  # half (n, views, MOST_BONES, 4, 32, 32)
    matrices: Tensor  # float (n, ACTS, FRAMES, MOST_BONES, 3, 4)
    text: Tensor  # half (n, ACTS, PHRASES, tokens, features)


@dataclass
class CreatureDrawer:
    """Turns packed creatures into stored ones on one device; a `training.data.Drawer`."""

    autoencoder: Autoencoder
    text_encoder: TextEncoder
    device: torch.device

    @staticmethod
    def make(first_seed: int, count: int) -> PackedCreatures:
        """What worker processes make for `draw`."""
        return packed_creatures(first_seed, count)

    def ring(self, capacity: int) -> CreatureRing:
        """A ring for what is drawn."""
        return CreatureRing(capacity)

    @torch.no_grad()
    def draw(self, objects: PackedCreatures, generator: torch.Generator) -> StoredCreatures:
        """The creatures at rest and their motions; `generator` lives on the CPU."""
        look = random_look(objects.batch, generator).to(self.device)
        batch = objects.batch.to(self.device)
        clips = len(objects.kinds)
        pictures = draw(batch, torch.zeros(clips, 0, device=self.device), look)
        rgb = pictures.rgb[:, :, 0]
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            latents = self.autoencoder.encode(rgb.float())
        bound = bound_patches(
            pictures.faces, pictures.positions, batch.triangles,
            objects.weights.to(self.device).float(),
        )  # fmt: skip
        words = self.text_encoder.encode([words for row in objects.sentences for words in row])
        return StoredCreatures(
            rest_latents=latents.half(),
            rgb=(rgb * 255).round().byte(),
            mask=pictures.silhouettes[:, :, 0, None],
            positions=pictures.positions.half(),
            cameras=pictures.cameras,
            bound=bound.half(),
            matrices=objects.matrices.to(self.device),
            text=words.half().view(clips, ACTS, PHRASES, TOKENS, FEATURES),
        )


def take(
    stored: StoredCreatures, acts: Tensor, phrases: Tensor, noise: float, generator: torch.Generator
) -> Draw:
    """A batch of stored creatures, each in one of its motions.

    Args:
        acts: Which motion, (b,).
        phrases: Which of its sentences, (b,).
        noise: Largest spread of the grain added to the rest views.
    """
    count, device = len(acts), acts.device
    row = torch.arange(count, device=device)
    motions = patch_motions(stored.matrices[row, acts], stored.bound.float())
    grain = torch.rand(count, 1, 1, 1, 1, device=device, generator=generator) * noise
    rgb = stored.rgb.float() / 255
    rgb = rgb + grain * torch.randn(rgb.shape, device=device, generator=generator)
    mask = stored.mask.float()
    share = F.avg_pool2d(mask.flatten(0, 1), 8).unflatten(0, mask.shape[:2])
    conditions = Conditions(
        rgb=rgb.clamp(0, 1),
        mask=mask,
        positions=stored.positions.float(),
        rest_latents=stored.rest_latents.float(),
        cameras=stored.cameras,
        text=stored.text[row, acts, phrases].float(),
        frames=torch.tensor(PRIOR_SHARES, device=device).expand(count, -1),
        part_centre=torch.zeros(count, 3, device=device),
        part_radius=torch.ones(count, device=device),
    )
    moved = torch.ones_like(motions[:, :, :, :1], dtype=torch.bool)
    return Draw(GAIN * motions, conditions, share, moved)


class CreatureRing(ClipRing):
    """The newest creatures."""

    def draw(
        self, count: int, frames_per_clip: int, generator: torch.Generator, noise: float = 0.02
    ) -> Draw:
        """A random batch; always with all frames."""
        assert self._stored is not None
        assert frames_per_clip == FRAMES
        device = self._stored.rgb.device
        which, acts, phrases = (
            torch.randint(most, (count,), device=device, generator=generator)
            for most in (self.filled, ACTS, PHRASES)
        )
        stored = StoredCreatures(*(value[which] for value in self._stored))
        return take(stored, acts, phrases, noise, generator)
