"""Two learned baselines of the paper's Tables 1 and 2, small, for objects whose part is known.

`PointRegressor` reads points of part and body, in the manner of Shape2Motion; `PictureRegressor`
reads the one view that shows most of the part, in the manner of OPD. Neither is told the words.
Both answer the kind of joint, its directed axis and the point of its line next to the part.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from atop_backend.contracts import JointMotion
from atop_backend.geometry.extents import part_extent
from atop_backend.geometry.meshes import RestShape, part_vertices, sample_surface

POINTS = 256  # on the part, and again on the body
PICTURE_PX = 96
_FARTHEST = 6.0  # part radii; points beyond are drawn in, for small parts of large objects


class Guess(NamedTuple):
    """What a network answers, in the frame of its input."""

    revolute: Float[Tensor, " n"]  # logit
    axis: Float[Tensor, "n 3"]  # unit
    foot: Float[Tensor, "n 3"]  # point of the line next to the part's centre


class PointRegressor(nn.Module):
    """PointNet over part and body apart, then a perceptron. Lengths are in part radii."""

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.near = _pointwise(4, width, width)
        self.far = _pointwise(3 * width, 2 * width, 2 * width)
        self.head = _head(4 * width)

    def forward(self, points: Float[Tensor, "n 2 points 3"]) -> Guess:
        """Guesses for points relative to the part's centre; the part comes first."""
        sides = torch.arange(2, device=points.device, dtype=points.dtype)
        labels = sides[None, :, None, None].expand(*points.shape[:3], 1)
        local = self.near(torch.cat([points, labels], dim=3))
        pooled = local.amax(dim=2)
        both = pooled.flatten(1)[:, None, None].expand(*local.shape[:3], -1)
        whole = self.far(torch.cat([local, both], dim=3)).amax(dim=2)
        return _guess(self.head(whole.flatten(1)))


class PictureRegressor(nn.Module):
    """A small convolutional network over colours, mask and pixel places, in the camera's axes."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        widths = [6, width, 2 * width, 4 * width, 4 * width, 4 * width]
        layers: list[nn.Module] = []
        for inputs, outputs in itertools.pairwise(widths):
            layers += [nn.Conv2d(inputs, outputs, 3, stride=2, padding=1),
                       nn.GroupNorm(8, outputs), nn.SiLU()]  # fmt: skip
        self.layers = nn.Sequential(*layers)
        self.head = _head(widths[-1] * (PICTURE_PX // 32) ** 2)

    def forward(self, pictures: Float[Tensor, "n 4 size size"]) -> Guess:
        """Guesses for pictures (colours and mask); places are relative to where cameras look."""
        steps = torch.linspace(-1, 1, pictures.shape[-1], device=pictures.device)
        grid = torch.stack(torch.meshgrid(steps, steps, indexing="xy"))
        grid = grid.expand(len(pictures), -1, -1, -1)
        return _guess(self.head(self.layers(torch.cat([pictures, grid], dim=1)).flatten(1)))


def _pointwise(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.LayerNorm(hidden), nn.SiLU(), nn.Linear(hidden, outputs)
    )


def _head(inputs: int) -> nn.Sequential:
    return nn.Sequential(nn.LayerNorm(inputs), nn.Linear(inputs, 192), nn.SiLU(), nn.Linear(192, 7))


def _guess(values: Tensor) -> Guess:
    return Guess(values[:, 0], F.normalize(values[:, 1:4], dim=1), values[:, 4:7])


def joint_loss(
    guess: Guess,
    revolute: Bool[Tensor, " n"],
    axis: Float[Tensor, "n 3"],
    foot: Float[Tensor, "n 3"],
) -> Float[Tensor, ""]:
    """Kind, direction and, for hinges, place."""
    kind = F.binary_cross_entropy_with_logits(guess.revolute, revolute.float())
    turned = (1 - (guess.axis * axis).sum(dim=1)).mean()
    off = F.smooth_l1_loss(guess.foot, foot, reduction="none").sum(dim=1)
    return kind + turned + (off * revolute).sum() / revolute.sum().clamp_min(1)


def foot_of(
    axis: Float[Tensor, "n 3"], origin: Float[Tensor, "n 3"], near: Float[Tensor, "n 3"]
) -> Float[Tensor, "n 3"]:
    """The point of each line that is next to `near`."""
    return origin + ((near - origin) * axis).sum(dim=1, keepdim=True) * axis


def point_input(
    part: Float[Tensor, "n points 3"],
    body: Float[Tensor, "n points 3"],
    centre: Float[Tensor, "n 3"],
    radius: Float[Tensor, " n"],
) -> Float[Tensor, "n 2 points 3"]:
    """Points as `PointRegressor` reads them."""
    both = torch.stack([part, body], dim=1) - centre[:, None, None]
    return (both / radius[:, None, None, None]).clamp(-_FARTHEST, _FARTHEST)


def picture_input(
    rgb: Float[Tensor, "n views 3 size size"], mask: Float[Tensor, "n views 1 size size"]
) -> tuple[Float[Tensor, "n 4 small small"], Int[Tensor, " n"]]:
    """The views that show most of the part as `PictureRegressor` reads them, and which they are."""
    view = mask.flatten(2).sum(dim=2).argmax(dim=1)
    row = torch.arange(len(view), device=view.device)
    whole = torch.cat([rgb[row, view], mask[row, view]], dim=1)
    small = F.interpolate(whole, (PICTURE_PX, PICTURE_PX), mode="area")
    middle = torch.tensor([0.5, 0.5, 0.5, 0.0], device=rgb.device)
    return small - middle[:, None, None], view


class Baselines:
    """The trained pair, as `scripts/train_baselines.py` writes them."""

    def __init__(self, points: PointRegressor, pictures: PictureRegressor) -> None:
        self.points, self.pictures = points.eval(), pictures.eval()

    def save(self, folder: Path) -> None:
        """Write both in half precision."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, network in (("points", self.points), ("pictures", self.pictures)):
            halves = {key: value.half().cpu() for key, value in network.state_dict().items()}
            save_file(halves, folder / f"{name}.safetensors")

    @classmethod
    def load(cls, folder: Path) -> Baselines:
        """The pair of a folder."""
        pair: Any = (PointRegressor(), PictureRegressor())
        for name, network in zip(("points", "pictures"), pair, strict=True):
            state = load_file(folder / f"{name}.safetensors")
            network.load_state_dict({key: value.float() for key, value in state.items()})
        return cls(*pair)

    @torch.no_grad()
    def from_points(self, shape: RestShape, seed: int) -> JointMotion:
        """The joint of an object by its surface, in the normalised frame."""
        rng = np.random.default_rng(seed)
        part, body = (
            torch.from_numpy(sample_surface(shape, POINTS, rng, part=side)[0])[None].float()
            for side in (True, False)
        )
        centre, radius = part_extent(part_vertices(shape))
        middle, unit = torch.tensor(centre)[None].float(), torch.tensor([radius]).float()
        guess = self.points(point_input(part, body, middle, unit))
        return _joint(guess.revolute, guess.axis[0], middle[0] + unit * guess.foot[0])

    @torch.no_grad()
    def from_pictures(self, seen: Any) -> JointMotion:
        """The joint of an object by one of its rest views, in the normalised frame."""
        rgb = torch.from_numpy(seen.rgb).permute(0, 3, 1, 2).float() / 255
        mask = torch.from_numpy(seen.part_mask)[:, None].float()
        picture, view = picture_input(rgb[None], mask[None])
        guess = self.pictures(picture)
        turn = torch.tensor(seen.cameras[int(view)].world_to_camera)[:3, :3].float()
        return _joint(guess.revolute, turn.T @ guess.axis[0], turn.T @ guess.foot[0])


def _joint(logit: Tensor, axis: Tensor, origin: Tensor) -> JointMotion:
    x, y, z = (float(value) for value in axis)
    length = math.hypot(x, y, z)
    return JointMotion(
        "revolute" if logit.item() > 0 else "prismatic",
        (x / length, y / length, z / length),
        tuple(map(float, origin)),  # type: ignore[arg-type]
        0.0,
        1.0,
    )
