"""A sheet of all clips, to see at a glance whether parts, motions and sentences are right."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from atop_backend.diffusion.clip_folders import TrainingClip
from atop_backend.preview import PART_COLOUR, contact_sheet

ROWS = 12  # clips on one sheet
_LABEL_LETTERS = 15


def write_sheets(folder: Path, clips: Sequence[tuple[str, TrainingClip]]) -> list[Path]:
    """Write contact_sheet.png, contact_sheet_2.png ... of named clips; their paths.

    A row has the four views at rest with the part tinted, then the first moved, the middle and
    the last frame of the view that shows the part best.
    """
    paths = []
    for first in range(0, len(clips), ROWS):
        number = first // ROWS + 1
        rows = [_row(name, clip) for name, clip in clips[first : first + ROWS]]
        title = [
            f"Training clips {first + 1} to {first + len(rows)} of {len(clips)}",
            "four views at rest, the part tinted; then the first moved, the middle and the last"
            " frame of the view that shows it best",
        ]
        path = folder / ("contact_sheet.png" if number == 1 else f"contact_sheet_{number}.png")
        contact_sheet(title, rows).save(path)
        paths.append(path)
    return paths


def _row(name: str, clip: TrainingClip) -> tuple[str, list[Image.Image]]:
    label = "\n".join(
        [*textwrap.wrap(name, _LABEL_LETTERS), "", *textwrap.wrap(clip.prompt, _LABEL_LETTERS)]
    )
    best = int(clip.mask.sum(axis=(1, 2)).argmax())
    count = clip.rgb.shape[1]
    shown = [tint(clip.rgb[view, 0], clip.mask[view]) for view in range(len(clip.rgb))]
    shown += [clip.rgb[best, frame] for frame in (1, count // 2, count - 1)]
    return label, [Image.fromarray(picture) for picture in shown]


def tint(rgb: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The picture (height, width, 3) uint8 with a mask (height, width) coloured in."""
    colour = 0.5 * rgb + 0.5 * 255 * PART_COLOUR
    return np.where(mask[..., None], colour, rgb).round().astype(np.uint8)
