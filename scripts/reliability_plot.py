#!/usr/bin/env python3
"""Plots how often answers were right against how sure the product said it was of them.

usage: scripts/reliability_plot.py --out PLOT.png [--held-out OUTCOMES.npz] [--real RECORDS.json]

OUTCOMES.npz is from `scripts/held_out_fits.py fit --outcomes`, generated objects; RECORDS.json from
`scripts/evaluate.py --json`, real ones. Each point is a group of equally many answers, its bar what
chance alone would leave open (Wilson's interval of 68 %). Prints the groups too.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

from joint_figures import calibration_error  # noqa: E402

from atop_backend.config import FitConfig  # noqa: E402

Pair = tuple[float, bool]  # confidence, whether right

_SIDE_PX, _EDGE_PX, _SCALE = 420, 54, 2  # drawn twice as large, then reduced: smooth lines
_COLOURS = ((40, 90, 200), (215, 70, 30), (30, 140, 70), (130, 60, 160))


class Group(NamedTuple):
    """Answers of about the same confidence."""

    confidence: float  # mean
    right: float  # share
    low: float  # of the share, one standard deviation of chance below
    high: float
    count: int


def held_out_pairs(path: Path, slopes: Sequence[float]) -> list[Pair]:
    """Confidence under the present slopes, and outcome, of fits to generated objects."""
    with np.load(path) as data:
        chances = 1 / (1 + np.exp(-data["signs"] @ np.asarray(slopes)))
        return list(zip(chances.tolist(), map(bool, data["right"]), strict=True))


def real_pairs(path: Path, variant: str = "the product") -> list[Pair]:
    """Confidence and outcome of the answers that an evaluation recorded."""
    answers = [record["variants"].get(variant) for record in json.loads(path.read_text())]
    return [(a["confidence"], bool(a["right"][0])) for a in answers if a and a["joint"]]


def group(pairs: Sequence[Pair], most: int = 8, least: int = 10) -> list[Group]:
    """Groups of equally many pairs by confidence, at least `least` in each where there are."""
    count = int(np.clip(len(pairs) // least, 1, most))
    groups = []
    for part in np.array_split(np.array(sorted(pairs), dtype=float), count):
        share, n = part[:, 1].mean(), len(part)
        middle = (share + 0.5 / n) / (1 + 1 / n)  # Wilson's interval with z = 1
        half = math.sqrt(share * (1 - share) / n + 0.25 / n**2) / (1 + 1 / n)
        groups.append(
            Group(float(part[:, 0].mean()), float(share), middle - half, middle + half, n)
        )
    return groups


def plot(series: Sequence[tuple[str, Sequence[Pair]]]) -> Image.Image:
    """The diagram: a square from 0 to 1, the line of honesty, a curve for each series."""
    side, edge = _SIDE_PX * _SCALE, _EDGE_PX * _SCALE
    page = Image.new("RGB", (side + 2 * edge, side + 2 * edge), "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(13 * _SCALE)

    def place(x: float, y: float) -> tuple[float, float]:
        return edge + x * side, edge + (1 - y) * side

    for tick in np.linspace(0, 1, 6):
        pen.line([place(tick, 0), place(tick, 1)], fill=(225, 225, 225), width=_SCALE)
        pen.line([place(0, tick), place(1, tick)], fill=(225, 225, 225), width=_SCALE)
        x, y = place(tick, 0)
        pen.text((x, y + 4 * _SCALE), f"{tick:.1f}", fill="black", font=font, anchor="mt")
        x, y = place(0, tick)
        pen.text((x - 5 * _SCALE, y), f"{tick:.1f}", fill="black", font=font, anchor="rm")
    pen.line([place(0, 0), place(1, 1)], fill=(150, 150, 150), width=_SCALE)
    below = (edge + side / 2, side + 1.75 * edge)
    pen.text(below, "confidence", fill="black", font=font, anchor="ms")
    pen.text((edge, 0.7 * edge), "share of right answers", fill="black", font=font, anchor="ls")
    for index, (name, pairs) in enumerate(series):
        colour, groups = _COLOURS[index % len(_COLOURS)], group(pairs)
        pen.line([place(g.confidence, g.right) for g in groups], fill=colour, width=2 * _SCALE)
        for g in groups:
            pen.line([place(g.confidence, g.low), place(g.confidence, g.high)], fill=colour,
                     width=_SCALE)  # fmt: skip
            x, y = place(g.confidence, g.right)
            r = 4 * _SCALE
            pen.ellipse([x - r, y - r, x + r, y + r], fill=colour)
        error = calibration_error(list(pairs))
        text = f"{name}, {len(pairs)} answers, calibration error {error:.2f}"
        pen.text(
            (edge + 10 * _SCALE, edge + (8 + 18 * index) * _SCALE), text, fill=colour, font=font
        )
    return page.resize((page.width // _SCALE, page.height // _SCALE), Image.Resampling.LANCZOS)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--held-out", type=Path, metavar="NPZ")
    parser.add_argument("--real", type=Path, nargs="+", default=[], metavar="JSON")
    parser.add_argument("--names", nargs="+", default=[], help="of the real sets, in their order")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    series = []
    if options.held_out:
        series.append(("generated", held_out_pairs(options.held_out, FitConfig().confidence)))
    for index, path in enumerate(options.real):
        name = options.names[index] if index < len(options.names) else path.stem
        series.append((name, real_pairs(path)))
    if not any(pairs for _, pairs in series):
        sys.exit("nothing to plot: give --held-out or --real a file with answers")
    series = [(name, pairs) for name, pairs in series if pairs]
    for name, pairs in series:
        print(f"{name}: {len(pairs)} answers")
        for g in group(pairs):
            print(f"  confidence {g.confidence:.3f}  right {g.right:.3f}  of {g.count}")
    plot(series).save(options.out)


if __name__ == "__main__":
    main()
