#!/usr/bin/env python3
"""Train the learned baselines of the paper's tables on our generator.

usage: scripts/train_baselines.py [--out DIR] [--objects N] [--epochs N] [--workers N] [--device D]

Objects come from seeds of their own, far from those that are held out; the figures at the end are
on held-out ones. Writes points.safetensors and pictures.safetensors, which paper_tables.py reads.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import torch  # noqa: E402
from baselines import (  # noqa: E402
    PICTURE_PX,
    POINTS,
    Baselines,
    Guess,
    PictureRegressor,
    PointRegressor,
    foot_of,
    joint_loss,
    picture_input,
    point_input,
)
from torch import Tensor, nn  # noqa: E402

from atop_backend.synthetic.render import ObjectBatch, draw, random_look  # noqa: E402
from atop_backend.training.data import HELD_OUT_SEED, ObjectStream  # noqa: E402

FIRST_SEED = 600_000_000
HELD_OUT = HELD_OUT_SEED + 400_000  # not the objects on which paper_tables.py reports
_PER_PUSH = 16


class Examples(NamedTuple):
    """Inputs and answers, one row an object."""

    points: Tensor  # (n, 2, points, 3), part radii from the part's centre
    pictures: Tensor  # half (n, 4, size, size)
    turns: Tensor  # (n, 3, 3), world to the chosen view's camera
    revolute: Tensor
    axis: Tensor
    foot: Tensor  # world
    centre: Tensor  # of the part
    radius: Tensor


def collect(first_seed: int, count: int, workers: int, device: torch.device) -> Examples:
    """Examples of `count` generated objects."""
    stream = ObjectStream(first_seed, _PER_PUSH, workers)
    rows = []
    try:
        for push in range(-(-count // _PER_PUSH)):
            generator = torch.Generator().manual_seed(first_seed + push)
            rows += _examples(next(stream).batch, generator, device)
    finally:
        stream.close()
    return Examples(*map(torch.stack, zip(*rows[:count], strict=True)))


def _examples(
    objects: ObjectBatch, generator: torch.Generator, device: torch.device
) -> list[tuple[Tensor, ...]]:
    look = random_look(objects, generator)
    rest = torch.zeros(len(objects.counts), 0, device=device)
    seen = draw(objects.to(device), rest, look.to(device), PICTURE_PX)
    rgb, masks = seen.rgb[:, :, 0].cpu(), seen.silhouettes[:, :, :1].float().cpu()
    feet = foot_of(objects.axes, objects.origins, objects.part_centre)
    rows = []
    for index, count in enumerate(objects.counts.tolist()):
        triangles, moving = objects.triangles[index, :count], objects.moving[index, :count]
        part, body = (_surface(triangles[side], generator) for side in (moving, ~moving))
        centre, radius = objects.part_centre[index], objects.part_radius[index]
        picture, view = picture_input(rgb[index], masks[index])
        turn = look.world_to_camera[index, view, :, :3]
        rows.append((point_input(part, body, centre, radius), picture.half(), turn,
                     objects.revolute[index], objects.axes[index], feet[index], centre,
                     radius))  # fmt: skip
    return rows


def _surface(triangles: Tensor, generator: torch.Generator) -> Tensor:
    """Points (POINTS, 3) drawn evenly by area."""
    edges = triangles[:, 1:] - triangles[:, :1]
    areas = torch.linalg.cross(edges[:, 0], edges[:, 1]).norm(dim=1)
    picks = torch.multinomial(areas + 1e-12, POINTS, replacement=True, generator=generator)
    first, second = torch.rand(2, POINTS, 1, generator=generator)
    root = first.sqrt()
    corners = triangles[picks]
    a, b, c = corners.unbind(dim=1)
    return (1 - root) * a + root * (1 - second) * b + root * second * c


Ask = Callable[[Examples], tuple[Guess, Tensor, Tensor]]  # guess, true axis, true foot


def by_points(network: nn.Module) -> Ask:
    """Asks for joints from points; places are in part radii from the part's centre."""

    def ask(some: Examples) -> tuple[Guess, Tensor, Tensor]:
        foot = (some.foot - some.centre) / some.radius[:, None]
        return network(some.points), some.axis, foot

    return ask


def by_pictures(network: nn.Module) -> Ask:
    """Asks for joints from pictures; axes and places are in the camera's axes."""

    def ask(some: Examples) -> tuple[Guess, Tensor, Tensor]:
        axis, foot = (torch.einsum("nij,nj->ni", some.turns, v) for v in (some.axis, some.foot))
        return network(some.pictures.float()), axis, foot

    return ask


def train(
    network: nn.Module, ask: Ask, examples: Examples, epochs: int, device: torch.device
) -> None:
    """Fit a network to examples."""
    generator = torch.Generator().manual_seed(0)
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=0.05)
    count, batch = len(examples.axis), 64
    steps = max(1, count // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=epochs * steps)
    network.train()
    for _ in range(epochs):
        order = torch.randperm(count, generator=generator)
        for step in range(steps):
            rows = order[step * batch : (step + 1) * batch]
            some = Examples(*(value[rows].to(device) for value in examples))
            guess, axis, foot = ask(some)
            optimiser.zero_grad()
            joint_loss(guess, some.revolute, axis, foot).backward()
            optimiser.step()
            schedule.step()


@torch.no_grad()
def judge(ask: Ask, examples: Examples, device: torch.device) -> str:
    """Kind, axis and sign on held-out examples, for people."""
    guess, axis, _ = ask(Examples(*(value.to(device) for value in examples)))
    kind = ((guess.revolute > 0) == examples.revolute.to(device)).float().mean().item()
    cosine = (guess.axis * axis).sum(dim=1)
    angle = cosine.abs().clamp_max(1).arccos().rad2deg()
    return (f"type {kind:.3f}, axis {angle.mean():.1f}° (median {angle.median():.1f}°),"
            f" sign {(cosine > 0).float().mean():.3f}")  # fmt: skip


def main() -> None:
    """Collect, train, judge, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--out", type=Path, default=ROOT / "cache" / "baselines", metavar="DIR")
    add("--objects", type=int, default=2000, metavar="N")
    add("--held-out", type=int, default=200, metavar="N")
    add("--epochs", type=int, default=40, metavar="N")
    add("--workers", type=int, default=2, metavar="N", help="processes that generate objects")
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    device, begun = torch.device(options.device), time.monotonic()
    torch.manual_seed(0)
    examples = collect(FIRST_SEED, options.objects, options.workers, device)
    held_out = collect(HELD_OUT, options.held_out, options.workers, device)
    print(f"{options.objects} objects in {time.monotonic() - begun:.0f} s", flush=True)
    points, pictures = PointRegressor().to(device), PictureRegressor().to(device)
    for name, network, ask in (("points", points, by_points(points)),
                               ("pictures", pictures, by_pictures(pictures))):  # fmt: skip
        train(network, ask, examples, options.epochs, device)
        network.eval()
        size = sum(parameter.numel() for parameter in network.parameters())
        print(f"{name}: {size} parameters; held out: {judge(ask, held_out, device)};"
              f" {time.monotonic() - begun:.0f} s so far", flush=True)  # fmt: skip
    Baselines(points.cpu(), pictures.cpu()).save(options.out)


if __name__ == "__main__":
    main()
