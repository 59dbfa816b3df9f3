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
_BATCH = 128


class Examples(NamedTuple):
    """Inputs and answers, one row an object, on the device that learns from them."""

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
    pushes = []
    try:
        for push in range(-(-count // _PER_PUSH)):
            pushes.append(_examples(next(stream).batch, first_seed + push, device))
    finally:
        stream.close()
    return Examples(*(torch.cat(values)[:count] for values in zip(*pushes, strict=True)))


@torch.no_grad()
def _examples(objects: ObjectBatch, seed: int, device: torch.device) -> Examples:
    look = random_look(objects, torch.Generator().manual_seed(seed)).to(device)
    objects = objects.to(device)
    # drawn larger and averaged, so that edges are as smooth as in the product's views
    rest = torch.zeros(len(objects.counts), 0, device=device)
    seen = draw(objects, rest, look, 2 * PICTURE_PX)
    masks = seen.silhouettes[:, :, :1].float()
    pictures, views = picture_input(seen.rgb[:, :, 0].float(), masks)
    dice = torch.Generator(device).manual_seed(seed)
    part, body = (_surface(objects, side, dice) for side in (objects.moving, ~objects.moving))
    centres, radii = objects.part_centre, objects.part_radius
    rows = torch.arange(len(views), device=device)
    return Examples(
        points=point_input(part, body, centres, radii),
        pictures=pictures.half(),
        turns=look.world_to_camera[rows, views, :, :3],
        revolute=objects.revolute,
        axis=objects.axes,
        foot=foot_of(objects.axes, objects.origins, centres),
        centre=centres,
        radius=radii,
    )


def _surface(objects: ObjectBatch, chosen: Tensor, dice: torch.Generator) -> Tensor:
    """Points (n, POINTS, 3) drawn evenly by area from the chosen triangles (n, triangles)."""
    triangles = objects.triangles
    edges = triangles[:, :, 1:] - triangles[:, :, :1]
    areas = torch.linalg.cross(edges[:, :, 0], edges[:, :, 1]).norm(dim=2)
    picks = torch.multinomial(areas * chosen, POINTS, replacement=True, generator=dice)
    rows = torch.arange(len(picks), device=picks.device)
    corners = triangles[rows[:, None], picks]
    first, second = torch.rand(2, *picks.shape, 1, generator=dice, device=picks.device)
    root = first.sqrt()
    a, b, c = corners.unbind(dim=2)
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


def train(network: nn.Module, ask: Ask, examples: Examples, epochs: int) -> None:
    """Fit a network to examples on its device."""
    generator = torch.Generator().manual_seed(0)
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=0.05)
    count = len(examples.axis)
    steps = max(1, count // _BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=epochs * steps)
    network.train()
    for _ in range(epochs):
        order = torch.randperm(count, generator=generator)
        for step in range(steps):
            rows = order[step * _BATCH : (step + 1) * _BATCH].to(examples.axis.device)
            some = Examples(*(value[rows] for value in examples))
            guess, axis, foot = ask(some)
            optimiser.zero_grad()
            joint_loss(guess, some.revolute, axis, foot).backward()
            optimiser.step()
            schedule.step()


@torch.no_grad()
def judge(ask: Ask, examples: Examples) -> str:
    """Kind, axis and sign on held-out examples, for people."""
    guess, axis, _ = ask(examples)
    kind = ((guess.revolute > 0) == examples.revolute).float().mean().item()
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
        train(network, ask, examples, options.epochs)
        network.eval()
        size = sum(parameter.numel() for parameter in network.parameters())
        print(f"{name}: {size} parameters; held out: {judge(ask, held_out)};"
              f" {time.monotonic() - begun:.0f} s so far", flush=True)  # fmt: skip
    Baselines(points.cpu(), pictures.cpu()).save(options.out)


if __name__ == "__main__":
    main()
