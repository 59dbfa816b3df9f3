"""Pictures of generated creatures and what they do, to look at.

    python scripts/creature_contact_sheet.py --kind biped --seed 3 --out biped.png

One row for each motion: frames in order, with one of its sentences beside them.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from atop_backend.creatures.anatomy import Creature
from atop_backend.creatures.generate import KINDS, creature
from atop_backend.geometry import cameras
from atop_backend.preview import draw_mesh

_SIZE_PX = 96


def posed(item: Creature, matrices: np.ndarray) -> np.ndarray:
    """The skin in every frame, (frames, n, 3)."""
    points = np.concatenate([item.vertices, np.ones((len(item.vertices), 1))], axis=1)
    return np.einsum("nj,fjab,nb->fna", item.weights, matrices, points, optimize=True)


def main() -> int:
    """Draw and write the sheet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=sorted(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--acts", type=int, default=8)
    parser.add_argument("--frames", type=int, default=6)
    parser.add_argument("--azimuth", type=float, default=60.0, help="degrees; 0 looks at the front")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    performer = creature(options.seed, options.kind, options.acts)
    item = performer.creature
    colours = item.colours[item.materials]
    azimuth, elevation = math.radians(options.azimuth), math.radians(12)
    camera = cameras.look_at_origin(azimuth, elevation, _SIZE_PX)
    rows = []
    for performance in performer.performances:
        picks = np.linspace(0, len(performance.matrices) - 1, options.frames).round().astype(int)
        frames = [item.vertices, *posed(item, performance.matrices[picks])]
        drawn = [draw_mesh(camera, frame, item.triangles, colours).rgb for frame in frames]
        rows.append(np.concatenate(drawn, axis=1))
    sheet = Image.fromarray((255 * np.concatenate(rows)).round().astype(np.uint8))
    pen = ImageDraw.Draw(sheet)
    for row, performance in enumerate(performer.performances):
        pen.text((2, row * _SIZE_PX + 1), performance.sentences[0], fill=(0, 0, 0))
    sheet.save(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
