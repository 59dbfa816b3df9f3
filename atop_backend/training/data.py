"""Training clips: generated objects drawn on the training device and kept in a ring.

Everything is a function of the step number and the seed, so a run that is resumed sees the same
clips: push number i takes objects i n .. (i + 1) n - 1 of the generator and its own random
numbers. Each clip is drawn with all nine moved frames and used several times, each time with
other frames, words and noise.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from atop_backend.diffusion.autoencoder import Autoencoder
from atop_backend.diffusion.clips import pack as pack_channels
from atop_backend.diffusion.conditions import Conditions
from atop_backend.diffusion.text import FEATURES, TOKENS, TextEncoder
from atop_backend.synthetic.batch import pack
from atop_backend.synthetic.generate import generate
from atop_backend.synthetic.render import ObjectBatch, Pictures, draw, random_look

MOVED_FRAMES = 9
PHRASES = 3  # of each object's prompts, kept with its clip
HELD_OUT_SEED = 1_000_000_000  # objects from here on are never trained on


class PackedObjects(NamedTuple):
    """Objects as they come from a worker process."""

    batch: ObjectBatch
    prompts: list[list[str]]
    kinds: list[str]


def packed_objects(first_seed: int, count: int) -> PackedObjects:
    """Objects of consecutive seeds, with `PHRASES` of each one's prompts."""
    torch.set_num_threads(1)
    objects = [generate(first_seed + index) for index in range(count)]
    prompts = []
    for index, item in enumerate(objects):
        chooser = torch.Generator().manual_seed(first_seed + index)
        picks = torch.randint(len(item.prompts), (PHRASES,), generator=chooser).tolist()
        prompts.append([item.prompts[pick] for pick in picks])
    return PackedObjects(pack(objects), prompts, [item.kind for item in objects])


class ObjectStream:
    """Packed objects in the order of their seeds, made ahead by worker processes.

    Args:
        make: What a worker calls with the first seed and the count.
    """

    def __init__(
        self,
        first_seed: int,
        per_push: int,
        workers: int,
        make: Callable[[int, int], Any] | None = None,
    ) -> None:
        self._make = make or packed_objects
        pairs = ((first_seed + index * per_push, per_push) for index in range(1 << 40))
        self._pool = None
        if workers > 0:
            context = multiprocessing.get_context("spawn")
            self._pool = context.Pool(workers)
            self._items = self._ahead(pairs, 6 * workers)
        else:
            self._items = (self._make(*pair) for pair in pairs)

    def _ahead(self, pairs: Iterator[tuple[int, int]], depth: int) -> Iterator[Any]:
        assert self._pool is not None
        waiting = [self._pool.apply_async(self._make, next(pairs)) for _ in range(depth)]
        while True:
            item = waiting.pop(0).get()
            waiting.append(self._pool.apply_async(self._make, next(pairs)))
            yield item

    def __next__(self) -> Any:
        return next(self._items)

    def close(self) -> None:
        """End the worker processes."""
        if self._pool is not None:
            self._pool.terminate()


class Drawer(Protocol):
    """Where a training run has its clips from."""

    autoencoder: Autoencoder
    device: torch.device

    @staticmethod
    def make(first_seed: int, count: int) -> Any:
        """What worker processes make for `draw`, from consecutive seeds."""
        ...

    def draw(self, objects: Any, generator: torch.Generator) -> Any:
        """Clips of what was made, as a NamedTuple of tensors; `generator` lives on the CPU."""
        ...

    def ring(self, capacity: int) -> ClipRing:
        """A ring for what is drawn."""
        ...


class StoredClips(NamedTuple):
    """Clips as they lie in the ring; small types, one entry a clip."""

    latents: Tensor  # half (n, views, 1 + moved, 4, 32, 32), frame 0 at rest
    silhouettes: Tensor  # half (n, views, moved, 1, 32, 32)
    motions: Tensor  # half (n, views, moved, 3, 32, 32)
    rgb: Tensor  # uint8 (n, views, 3, 256, 256)
    mask: Tensor  # bool (n, views, 1, 256, 256)
    positions: Tensor  # half (n, views, 3, 256, 256)
    cameras: Tensor  # float (n, views, 16)
    text: Tensor  # half (n, phrases, tokens, features)
    part_centre: Tensor
    part_radius: Tensor


@dataclass
class ClipDrawer:
    """Turns packed objects into stored clips on one device."""

    autoencoder: Autoencoder
    text_encoder: TextEncoder
    device: torch.device

    @staticmethod
    def make(first_seed: int, count: int) -> PackedObjects:
        """What worker processes make for `draw`."""
        return packed_objects(first_seed, count)

    def ring(self, capacity: int) -> ClipRing:
        """A ring for what is drawn."""
        return ClipRing(capacity)

    @torch.no_grad()
    def draw(self, objects: PackedObjects, generator: torch.Generator) -> StoredClips:
        """The objects' clips; `generator` lives on the CPU."""
        look = random_look(objects.batch, generator).to(self.device)
        batch = objects.batch.to(self.device)
        clips = len(objects.prompts)
        shares = torch.arange(1, MOVED_FRAMES + 1, device=self.device) / MOVED_FRAMES
        pictures = draw(batch, shares.expand(clips, -1), look)
        return self.store(pictures, batch, objects.prompts)

    @torch.no_grad()
    def pictures(self, objects: PackedObjects, generator: torch.Generator) -> Tensor:
        """All pictures of the objects' clips, (n, 3, size, size), for the autoencoder."""
        look = random_look(objects.batch, generator).to(self.device)
        shares = torch.rand(len(objects.prompts), 2, generator=generator).to(self.device)
        return draw(objects.batch.to(self.device), shares, look).rgb.flatten(0, 2).float()

    @torch.no_grad()
    def store(
        self, pictures: Pictures, batch: ObjectBatch, prompts: list[list[str]]
    ) -> StoredClips:
        """Encode pictures and words."""
        clips = len(prompts)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            latents = self.autoencoder.encode(pictures.rgb)
        silhouettes = F.avg_pool2d(pictures.silhouettes[:, :, 1:].float().flatten(0, 2), 8)
        words = self.text_encoder.encode([phrase for row in prompts for phrase in row])
        return StoredClips(
            latents=latents.half(),
            silhouettes=silhouettes.view(clips, -1, MOVED_FRAMES, 1, 32, 32).half(),
            motions=pictures.motions.half(),
            rgb=(pictures.rgb[:, :, 0] * 255).round().byte(),
            mask=pictures.silhouettes[:, :, 0, None],
            positions=pictures.positions.half(),
            cameras=pictures.cameras,
            text=words.half().view(clips, -1, TOKENS, FEATURES),
            part_centre=batch.part_centre,
            part_radius=batch.part_radius,
        )


class Draw(NamedTuple):
    """A training batch: clean channels (b, v, f, 8, 32, 32), conditions, and what moves where."""

    channels: Tensor
    conditions: Conditions
    part_share: Tensor  # (b, v, 1, 32, 32), share of part pixels at rest
    changed: Tensor  # (b, v, f, 1, 32, 32) bool, where the picture differs from rest


def take(
    stored: StoredClips, frames: Tensor, phrases: Tensor, noise: float, generator: torch.Generator
) -> Draw:
    """A batch of stored clips at some of their frames.

    Args:
        frames: Which moved frames, (b, f), 0 to 8, ascending.
        phrases: Which phrase, (b,).
        noise: Largest spread of the grain added to the rest views, as of a path tracer.
    """
    count = len(frames)
    row = torch.arange(count, device=frames.device)[:, None]
    views = stored.latents.shape[1]

    def of_frames(values: Tensor) -> Tensor:
        return values.transpose(1, 2)[row, frames].transpose(1, 2).float()

    latents, rest = of_frames(stored.latents[:, :, 1:]), stored.latents[:, :, 0].float()
    channels = pack_channels(latents, of_frames(stored.silhouettes), of_frames(stored.motions))
    grain = torch.rand(count, 1, 1, 1, 1, device=frames.device, generator=generator) * noise
    rgb = stored.rgb.float() / 255
    rgb = rgb + grain * torch.randn(rgb.shape, device=rgb.device, generator=generator)
    mask = stored.mask.float()
    share = F.avg_pool2d(mask.flatten(0, 1), 8).unflatten(0, (count, views))
    changed = (latents - rest[:, :, None]).abs().mean(dim=3, keepdim=True) > 0.2
    conditions = Conditions(
        rgb=rgb.clamp(0, 1),
        mask=mask,
        positions=stored.positions.float(),
        rest_latents=rest,
        cameras=stored.cameras,
        text=stored.text[torch.arange(count, device=frames.device), phrases].float(),
        frames=(frames + 1) / MOVED_FRAMES,
        part_centre=stored.part_centre,
        part_radius=stored.part_radius,
    )
    return Draw(channels, conditions, share, changed)


class ClipRing:
    """The newest clips, oldest overwritten first."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._stored: Any = None
        self._next = 0
        self.filled = 0

    def start_at(self, place: int) -> None:
        """Where an empty ring begins, so that a refilled one lies as it did."""
        self._next = place % self.capacity

    def push(self, clips: Any) -> None:
        """Put clips in, in place of the oldest; a NamedTuple of tensors, one entry a clip."""
        count = len(clips[0])
        if self._stored is None:
            self._stored = type(clips)(
                *(value.new_empty(self.capacity, *value.shape[1:]) for value in clips)
            )
        places = (torch.arange(count) + self._next) % self.capacity
        for ring, value in zip(self._stored, clips, strict=True):
            ring[places.to(ring.device)] = value
        self._next = (self._next + count) % self.capacity
        self.filled = min(self.capacity, self.filled + count)

    def draw(
        self, count: int, frames_per_clip: int, generator: torch.Generator, noise: float = 0.02
    ) -> Draw:
        """A random batch; every third draw has the frames that the fit uses, evenly spaced."""
        assert self._stored is not None
        device = self._stored.latents.device
        which = torch.randint(self.filled, (count,), device=device, generator=generator)
        order = torch.rand(count, MOVED_FRAMES, device=device, generator=generator)
        frames = order.argsort(dim=1)[:, :frames_per_clip].sort(dim=1).values
        even = (
            torch.arange(frames_per_clip, device=device) + 1
        ) * MOVED_FRAMES // frames_per_clip - 1
        evenly = torch.rand(count, 1, device=device, generator=generator) < 1 / 3
        frames = torch.where(evenly, even, frames)
        phrases = torch.randint(PHRASES, (count,), device=device, generator=generator)
        stored = StoredClips(*(value[which] for value in self._stored))
        return take(stored, frames, phrases, noise, generator)
