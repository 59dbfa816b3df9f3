#!/usr/bin/env python3
"""Draws generated objects at rest and fully moved on one sheet, and prints what they are like."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atop_backend.synthetic.generate import generate, kinds
from atop_backend.synthetic.objects import ArticulatedObject
from atop_backend.synthetic.posing import moved

_LIGHT = np.array([0.35, -0.6, 0.72]) / np.linalg.norm([0.35, -0.6, 0.72])
_MARKED = np.array([0.95, 0.45, 0.1])


def view(azimuth_rad: float, elevation_rad: float) -> np.ndarray:
    """Rows right, up and towards the eye of an orthographic camera."""
    sin_a, cos_a = np.sin(azimuth_rad), np.cos(azimuth_rad)
    sin_e, cos_e = np.sin(elevation_rad), np.cos(elevation_rad)
    towards = np.array([sin_a * cos_e, -cos_a * cos_e, sin_e])
    right = np.array([cos_a, sin_a, 0.0])
    return np.stack([right, np.cross(towards, right), towards])


def draw(triangles: np.ndarray, colours: np.ndarray, axes: np.ndarray, size: int) -> np.ndarray:
    """A flat-shaded z-buffer picture (size, size, 3) of triangles that fill about a unit ball."""
    edges = triangles[:, 1:] - triangles[:, :1]
    normals = np.cross(edges[:, 0], edges[:, 1])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    colours = colours * (0.62 + 0.38 * np.abs(normals @ _LIGHT))[:, None]
    points = triangles @ axes.T
    points[..., :2] = (points[..., :2] * np.array([1, -1]) / 1.25 + 1) * size / 2
    picture, depths = np.full((size, size, 3), 0.93), np.full((size, size), -np.inf)
    for corners, colour in zip(points, colours, strict=True):
        low = np.maximum(np.floor(corners[:, :2].min(axis=0)).astype(int), 0)
        high = np.minimum(np.ceil(corners[:, :2].max(axis=0)).astype(int) + 1, size)
        if (high <= low).any():
            continue
        matrix = np.column_stack([corners[1, :2] - corners[0, :2], corners[2, :2] - corners[0, :2]])
        determinant = np.linalg.det(matrix)
        if abs(determinant) < 1e-9:
            continue
        x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5)
        inverse = np.linalg.inv(matrix)
        u = inverse[0, 0] * (x - corners[0, 0]) + inverse[0, 1] * (y - corners[0, 1])
        v = inverse[1, 0] * (x - corners[0, 0]) + inverse[1, 1] * (y - corners[0, 1])
        depth = corners[0, 2] + u * (corners[1, 2] - corners[0, 2])
        depth += v * (corners[2, 2] - corners[0, 2])
        window = (slice(low[1], high[1]), slice(low[0], high[0]))
        seen = (u >= -1e-6) & (v >= -1e-6) & (u + v <= 1 + 1e-6) & (depth > depths[window])
        depths[window][seen] = depth[seen]
        picture[window][seen] = colour
    return picture


def cell(thing: ArticulatedObject, axes: np.ndarray, size: int) -> Image.Image:
    """Rest, half and whole motion side by side; the moving part is tinted, its axis drawn."""
    colours = thing.colours[thing.materials].astype(float)
    colours[thing.moving] = 0.45 * colours[thing.moving] + 0.55 * _MARKED
    triangles, joint = thing.triangles.astype(float), thing.joint
    pictures = [
        draw(moved(triangles, thing.moving, joint, share * joint.upper), colours, axes, size)
        for share in (0.0, 0.5, 1.0)
    ]
    image = Image.fromarray((np.concatenate(pictures, axis=1) * 255).clip(0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(image)
    ends = np.stack(
        [np.asarray(joint.origin), np.asarray(joint.origin) + 0.45 * np.array(joint.axis)]
    )
    flat = ((ends @ axes.T)[:, :2] * np.array([1, -1]) / 1.25 + 1) * size / 2
    colour = (0, 60, 220) if joint.kind == "revolute" else (0, 150, 40)
    pen.line([tuple(flat[0]), tuple(flat[1])], fill=colour, width=2)
    pen.ellipse([*(flat[0] - 3), *(flat[0] + 3)], fill=colour)
    amount = np.degrees(joint.upper) if joint.kind == "revolute" else joint.upper
    pen.text((3, 2), f"{thing.kind} {amount:.3g} {len(triangles)}", fill=(0, 0, 0))
    pen.text((3, size - 12), thing.prompts[0][: size // 2], fill=(0, 0, 0))
    return image


def report(things: list[ArticulatedObject], seconds: float) -> None:
    """Print counts and spreads."""
    counts = np.array([len(thing.triangles) for thing in things])
    print(f"{len(things) / seconds:.0f} objects/s")
    print(f"triangles: median {np.median(counts):.0f}, largest {counts.max()}")
    types = Counter(thing.joint.kind for thing in things)
    print("types:", ", ".join(f"{name} {count / len(things):.1%}" for name, count in types.items()))
    print(f"directed: {np.mean([thing.directed for thing in things]):.1%}")
    axes = np.abs([thing.joint.axis for thing in things]).max(axis=1)
    print(f"axis within 5 degrees of a world axis: {(axes > np.cos(np.radians(5))).mean():.1%}")
    small = [thing.moving.mean() for thing in things]
    print(f"share of triangles that move: median {np.median(small):.1%}")
    for name, count in Counter(thing.kind for thing in things).most_common():
        print(f"  {count / len(things):6.1%}  {name}")
    words = Counter(prompt for thing in things for prompt in thing.prompts)
    print(f"prompts: {len(words)} different, {np.mean([len(t.prompts) for t in things]):.1f} each")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="PNG to write")
    parser.add_argument("--count", type=int, default=40, help="objects on the sheet")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first object")
    parser.add_argument("--kinds", nargs="*", choices=sorted(kinds()), help="only these, in turn")
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--size", type=int, default=150, help="pixels of one picture")
    parser.add_argument("--azimuth", type=float, default=40.0, help="degrees to the right of -Y")
    parser.add_argument("--statistics", type=int, default=2000, help="objects to count")
    options = parser.parse_args()
    names = options.kinds or [None]
    axes = view(np.radians(options.azimuth), np.radians(25.0))
    cells = [
        cell(generate(options.seed + i, names[i % len(names)]), axes, options.size)
        for i in range(options.count)
    ]
    width, height = cells[0].size
    rows = -(-len(cells) // options.columns)
    sheet = Image.new("RGB", (options.columns * (width + 4), rows * (height + 4)), "white")
    for i, image in enumerate(cells):
        row, column = divmod(i, options.columns)
        sheet.paste(image, (column * (width + 4), row * (height + 4)))
    sheet.save(options.out)
    started = time.perf_counter()
    things = [generate(options.seed + i) for i in range(options.statistics)]
    if things:
        report(things, time.perf_counter() - started)


if __name__ == "__main__":
    main()
