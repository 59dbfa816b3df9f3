#!/usr/bin/env python3
"""Draws the worst cases of an evaluation on one sheet: view, part, true and found axis, what fails.

usage: scripts/failure_gallery.py RECORDS.json --out SHEET.jpg [--set DIR] [--cache DIR] ...

Reads what `scripts/evaluate.py --json RECORDS.json` wrote, and takes the views from its cache. A
case whose licence does not let its shape be shown is named in the sheet, without a picture; give
`--show-all` for a sheet that stays with you.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(Path(__file__).resolve().parent))

from evaluate import MAIN, ROOT, Plan, view_case
from joint_figures import is_right

from atop_backend.contracts import Camera, JointMotion
from atop_backend.geometry.meshes import joint_to_normalised
from atop_backend.preview import draw_axis
from atop_backend.rendering.views import RestViews

# Licences, as a case states them, that let anybody show the shape; anything else is not shown.
SHOWABLE = frozenset(
    {"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CC-BY-4.0", "CC-BY-3.0"}
)
TRUE, FOUND, PART = (20, 150, 60), (215, 30, 30), np.array([255, 150, 40])
CELL_PX, TEXT_PX, GAP_PX = 260, 96, 8
_TYPES = {"revolute": "a hinge", "prismatic": "a slider"}

Record = Mapping[str, Any]


def badness(record: Record) -> tuple[float, float]:
    """How wrong an answer is, the worst first where sorted in reverse; equal ones by confidence.

    A wrong type counts most, then the axis in right angles, the sense and the place, each up to 1.
    """
    answer = record["variants"].get(MAIN)
    if not answer or not answer["joint"]:
        return 5.0, 1.0
    found = answer["figures"]
    faults = 2.0 * (1 - found["type"]) + found.get("axis", 90.0) / 90.0
    faults += 1 - found.get("sign", 1.0)
    faults += min(found.get("point", 0.0), 1.0)
    return float(faults), float(answer["confidence"])


def worst(records: Sequence[Record], count: int) -> list[Record]:
    """The wrong answers, worst first, at most `count` of them."""
    wrong = [record for record in records if not _right(record)]
    return sorted(wrong, key=badness, reverse=True)[:count]


def _right(record: Record) -> bool:
    answer = record["variants"].get(MAIN)
    return bool(answer and answer["joint"] and is_right(answer["figures"]))


def verdict(record: Record, case: Mapping[str, Any]) -> str:
    """What is wrong with an answer, in a sentence, and how sure the product was of it."""
    answer = record["variants"].get(MAIN)
    if not answer or not answer["joint"]:
        return f"no answer: {record.get('error', 'the fit found none')}"
    found, wrong = answer["figures"], []
    if not found["type"]:
        given, true = answer["joint"]["type"], case["joint"]["type"]
        wrong.append(f"{_TYPES[given]} instead of {_TYPES[true]}")
    if found["axis"] >= 10:
        wrong.append(f"axis off by {found['axis']:.0f} degrees")
    elif not found.get("sign", 1.0):
        wrong.append("moves the other way")
    if found["type"] and found.get("point", 0.0) >= 0.1:
        wrong.append(f"hinge {found['point']:.2f} radii from its line")
    others = [index for index, right in enumerate(answer["right"][1:4]) if right]
    listed = ("first", "second", "third")[others[0]] if others else "none"
    among = f"the truth is the {listed} of the others" if others else "the truth is not listed"
    return f"{'; '.join(wrong)}; confidence {answer['confidence']:.2f}; {among}"


def picture(seen: RestViews, case: Mapping[str, Any], joint: Mapping[str, Any]) -> Image.Image:
    """The view that shows most of the part, tinted, with the true axis and the found one."""
    view = int(seen.part_mask.sum(axis=(1, 2)).argmax())
    pixels = seen.rgb[view].astype(float)
    mask = seen.part_mask[view]
    pixels[mask] = 0.55 * pixels[mask] + 0.45 * PART
    small = seen.cameras[view]
    scale = 2 * CELL_PX / small.width_px  # twice as large, then reduced: smooth lines
    large = Camera(2 * CELL_PX, 2 * CELL_PX, small.focal_px * scale, small.world_to_camera)
    image = Image.fromarray(pixels.astype(np.uint8)).resize((2 * CELL_PX, 2 * CELL_PX))
    pen = ImageDraw.Draw(image)
    for given, colour in ((case["joint"], TRUE), (joint, FOUND)):
        motion = JointMotion(given["type"], tuple(given["axis"]), tuple(given["origin"]), 0.0, 1.0)
        motion = joint_to_normalised(motion, seen.shape)
        if motion.kind == "prismatic":  # anywhere along it is as true: through the part's middle
            shape = seen.shape
            middle = shape.vertices[np.unique(shape.triangles[shape.part])].mean(axis=0)
            motion = replace(motion, origin=tuple(map(float, middle)))
        draw_axis(pen, motion, seen.shape, large, colour)
    return image.resize((CELL_PX, CELL_PX), Image.Resampling.LANCZOS)


def sheet(
    cells: Sequence[tuple[Image.Image | None, str]], title: str, columns: int = 5
) -> Image.Image:
    """Pictures in rows with their texts below; a grey field where there is no picture."""
    across, down = CELL_PX + GAP_PX, CELL_PX + TEXT_PX
    columns = max(1, min(columns, len(cells)))
    rows = -(-max(len(cells), 1) // columns)
    page = Image.new("RGB", (columns * across + GAP_PX, 34 + rows * down), "white")
    pen = ImageDraw.Draw(page)
    pen.text((GAP_PX, 8), title, fill="black", font=ImageFont.load_default(14))
    font = ImageFont.load_default(11)
    for index, (shown, text) in enumerate(cells):
        row, column = divmod(index, columns)
        x, y = GAP_PX + column * across, 34 + row * down
        page.paste(shown or Image.new("RGB", (CELL_PX, CELL_PX), (225, 225, 225)), (x, y))
        if shown is None:
            pen.text((x + 40, y + CELL_PX // 2), "shape not free to be shown", fill=(90, 90, 90),
                     font=font)  # fmt: skip
        lines = _wrapped(text, font)
        pen.multiline_text((x, y + CELL_PX + 2), lines, fill="black", font=font, spacing=2)
    return page


def _wrapped(text: str, font: Any) -> str:
    """The text with line breaks that keep it within a cell."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) > CELL_PX:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def draw_cases(
    records: Sequence[Record], cases_dir: Path, plan: Plan, count: int, show_all: bool
) -> list[tuple[Image.Image | None, str]]:
    """A picture, where the licence allows it, and a text for each of the worst cases."""
    cells = []
    for record in worst(records, count):
        folder = cases_dir / record["id"]
        case = json.loads((folder / "case.json").read_text())
        answer = record["variants"].get(MAIN)
        shown = None
        if answer and answer["joint"] and (show_all or case["licence"] in SHOWABLE):
            shown = picture(view_case(folder, case, plan), case, answer["joint"])
        name = record["category"] if shown is None else f"{record['category']} ({case['licence']})"
        cells.append((shown, f'{name}: "{case["prompt"]}". {verdict(record, case)}'))
    return cells


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("records", type=Path, help="what evaluate.py --json wrote")
    add("--out", type=Path, required=True, help="picture to write; .jpg keeps it small")
    add("--set", type=Path, default=ROOT.parent / "shared" / "evalset", metavar="DIR")
    add("--cache", type=Path, default=ROOT / "cache" / "evaluation", metavar="DIR")
    add("--count", type=int, default=10)
    add("--turned", type=int, metavar="SEED", help="as it was given to evaluate.py")
    add("--show-all", action="store_true", help="also shapes that must not be passed on")
    add("--blender", default="", metavar="PROGRAM", help="for views that are not in the cache")
    options = parser.parse_args()
    records = json.loads(options.records.read_text())
    plan = Plan(
        cache=options.cache.resolve(), preset="default", guidance="sampled", seed=0, device="cpu",
        overrides=(), turned=options.turned, variants=(MAIN,), threads=1, blender=options.blender,
    )  # fmt: skip
    cells = draw_cases(records, options.set, plan, options.count, options.show_all)
    wrong = sum(not _right(record) for record in records)
    title = f"The worst {len(cells)} of {wrong} wrong answers to {len(records)} parts."
    page = sheet(cells, f"{title} Part orange, true axis green, found axis red.")
    page.save(options.out, quality=85)
    for _, text in cells:
        print(text)


if __name__ == "__main__":
    main()
