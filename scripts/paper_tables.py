#!/usr/bin/env python3
"""The paper's Tables 1 to 3 for the data and the weights that you have.

    paper_tables.py 1 --data DIR [--baselines DIR]        a PartNet-Mobility folder
    paper_tables.py 2 --data DIR [--baselines DIR]        an ACD folder
    paper_tables.py own --count 30 [--baselines DIR]      held-out objects of our generator
    paper_tables.py own --samples FILE [--baselines DIR]  those that held_out_fits.py has sampled
    paper_tables.py 3 --reference DIR NAME=DIR...         videos, as `atop metrics` measures them

Tables 1, 2 and `own` turn every annotated part into a case of scripts/evaluate.py and run the
product on it beside six others: chance among the paper's box hypotheses, the best of them (which
needs the truth), the shape without videos, and the two learned baselines that
scripts/train_baselines.py makes. Objects train no one here; `--skip FILE` leaves out those you did
train on (one name a line). No data comes with this, and none is downloaded.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import evaluate  # noqa: E402
import numpy as np  # noqa: E402
from evaluate import MAIN, Plan  # noqa: E402

from atop_backend.errors import AtopError  # noqa: E402

# our names of the categories -> the paper's columns
COLUMNS_1 = {"Dishwasher": "Dishwasher", "Display": "Display", "FoldingChair": "Chair",
             "Chair": "Chair", "Microwave": "Microwave", "Lamp": "Lamp", "Oven": "Oven",
             "Refrigerator": "Fridge", "StorageFurniture": "Storage",
             "WashingMachine": "Washer", "Eyeglasses": "Glasses"}  # fmt: skip
COLUMNS_2 = {name.lower(): name for name in ("Armoire", "Cabinet", "NightStand", "Table",
             "Microwave", "Oven", "Refrigerator", "Washer")}  # fmt: skip
# degrees and positions of "Ours" in the paper, for comparison on the same data
PAPER = {
    "1": {"Dishwasher": (1.95, 0.18), "Display": (0.83, 0.16), "Chair": (5.77, 0.28),
          "Microwave": (1.14, 0.03), "Lamp": (3.64, 0.13), "Oven": (1.36, 0.03),
          "Fridge": (1.77, 0.03), "Storage": (1.65, 0.17), "Washer": (3.81, 0.04),
          "Glasses": (4.47, 0.05), "mean": (2.63, 0.11)},
    "2": {"Armoire": (2.83, 0.06), "Cabinet": (3.29, 0.07), "NightStand": (3.92, 0.54),
          "Table": (2.39, 0.19), "Microwave": (3.52, 0.12), "Oven": (3.34, 0.09),
          "Refrigerator": (2.96, 0.11), "Washer": (6.75, 0.04), "mean": (3.63, 0.16)},
}  # fmt: skip
GEOMETRY = "geometry only"
POINTS, PICTURES = "points (as Shape2Motion)", "one picture (as OPD)"
ORDER = (POINTS, PICTURES, "random box hypothesis", "best box hypothesis", GEOMETRY, MAIN)
HELD_OUT_SHIFT = 500_000  # past the held-out objects that anything else looks at


def main() -> None:
    """Make the table that the command line asks for."""
    options = _options()
    try:
        if options.table == "3":
            print(_videos(options))
        else:
            _joints(options)
    except AtopError as error:
        sys.exit(f"error: {error}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("table", choices=("1", "2", "own", "3"))
    add("videos", nargs="*", metavar="NAME=DIR", help="of table 3: videos of one method")
    add("--data", type=Path, metavar="DIR", help="the data set of table 1 or 2")
    add("--skip", type=Path, metavar="FILE", help="names of objects to leave out, one a line")
    add("--count", type=int, default=30, metavar="N", help="objects of `own`")
    add("--samples", type=Path, metavar="FILE",
        help="of `own`: what held_out_fits.py sampled; then without Blender")  # fmt: skip
    add("--limit", type=int, default=10**6, metavar="N", help="that many parts, spread evenly")
    add("--cases", type=Path, metavar="DIR", help="default cache/tables/TABLE; may be reused")
    add("--baselines", type=Path, metavar="DIR", help="what train_baselines.py wrote")
    add("--workers", type=int, default=1, metavar="N")
    add("--device", default="auto")
    add("--preset", default="default")
    add("--weights", type=Path, metavar="DIR", help="ImageDream's, for --preset imagedream")
    add("--finetuned", type=Path, metavar="DIR", help="what `atop finetune` wrote")
    add("--guidance", default="sampled", choices=("sampled", "sds", "x0"))
    add("--seed", type=int, default=0)
    add("--blender", default="", metavar="PROGRAM")
    add("--json", type=Path, metavar="FILE", help="everything that was measured")
    add("--reference", type=Path, metavar="DIR", help="of table 3: the true videos")
    add("--prompts", type=Path, metavar="FILE", help='of table 3: JSON, {"video": "sentence"}')
    for name in ("alexnet", "clip", "i3d"):
        add(f"--{name}", type=Path, metavar="FILE", help="as for `atop metrics`")
    return parser.parse_args()


def _joints(options: argparse.Namespace) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    plan = Plan(
        cache=(ROOT / "cache" / "evaluation").resolve(),
        preset=options.preset,
        guidance=options.guidance,
        seed=options.seed,
        device=options.device,
        overrides=(),
        turned=None,
        variants=(MAIN, GEOMETRY),
        threads=max(1, (cores or 1) // max(1, options.workers)),
        blender=options.blender,
        weights=options.weights,
        finetuned=options.finetuned,
    )
    if options.samples:
        measure = partial(measure_sampled, options.samples, plan=plan, baselines=options.baselines)
        with np.load(options.samples) as data:
            things: Sequence[Any] = range(min(options.count, int(data["count"])))
    else:
        measure = partial(measure_case, plan=plan, baselines=options.baselines)
        things = make_cases(options)
    records = []
    workers = max(1, options.workers)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for record in pool.map(measure, things):
            records.append(record)
            said = record.get("error", "done")
            print(f"{len(records)}/{len(things)} {record['id']}: {said}", file=sys.stderr)
    columns = {"1": COLUMNS_1, "2": COLUMNS_2}.get(options.table, {})
    print(tables(records, columns, PAPER.get(options.table, {})))
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n")


def make_cases(options: argparse.Namespace) -> list[Path]:
    """The folders of the cases that the options ask for."""
    import paper_sets

    from atop_backend.errors import InputError
    from atop_backend.training.data import HELD_OUT_SEED

    out = options.cases or ROOT / "cache" / "tables" / options.table
    if options.table == "own":
        return paper_sets.write_generated(out, options.count, HELD_OUT_SEED + HELD_OUT_SHIFT)
    if options.data is None or not options.data.is_dir():
        raise InputError(
            f"table {options.table} needs --data DIR",
            hint="PartNet-Mobility: sapien.ucsd.edu/downloads; ACD: 3dlg-hcvc.github.io/s2o",
        )
    read = paper_sets.read_partnet if options.table == "1" else paper_sets.read_acd
    columns = COLUMNS_1 if options.table == "1" else COLUMNS_2
    skipped = set(options.skip.read_text().split()) if options.skip else set()
    chosen = (
        item
        for item in read(options.data)
        if item.name not in skipped and _column(item.category, columns)
    )
    folders = paper_sets.write_cases(chosen, out)
    if not folders:
        raise InputError(
            f"{options.data} has no part of the table's categories that moves",
            hint=f"they are {', '.join(dict.fromkeys(columns.values()))}",
        )
    return folders[:: max(1, len(folders) // options.limit)][: options.limit]


def _column(category: str, columns: Mapping[str, str]) -> str:
    return columns.get(category) or columns.get(category.lower()) or ""


def measure_case(folder: Path, plan: Plan, baselines: Path | None) -> dict[str, Any]:
    """The record of scripts/evaluate.py, with the figures of the learned baselines."""
    record = evaluate.evaluate_case(folder, plan)
    if baselines is not None and "error" not in record:
        case = json.loads((folder / "case.json").read_text())
        record["learned"] = learned(baselines, evaluate.view_case(folder, case, plan), case, plan)
    return record


def learned(baselines: Path, seen: Any, case: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """Figures of the learned baselines for the rest views of a case."""
    from baselines import Baselines
    from joint_figures import figures

    from atop_backend.geometry.meshes import joint_to_file

    pair = Baselines.load(baselines)
    guesses = {POINTS: pair.from_points(seen.shape, plan.seed), PICTURES: pair.from_pictures(seen)}
    found = {}
    for name, joint in guesses.items():
        given = joint_to_file(joint, seen.shape).to_dict()
        del given["range"]  # neither says how far
        found[name] = figures(given, case)
    return found


def measure_sampled(path: Path, number: int, plan: Plan, baselines: Path | None) -> dict[str, Any]:
    """The record of a held-out object of our generator whose clips were sampled before."""
    from held_out_fits import evidence_in, object_in, shape_of
    from joint_figures import figures

    from atop_backend import config, contracts
    from atop_backend.geometry.meshes import joint_to_file
    from atop_backend.motion.fit import fit_joint
    from atop_backend.prompt_motion import said_motion

    made = config.resolve(plan.preset).generate
    with np.load(path) as data:
        evidence = evidence_in(data, str(number), made.steps, made.samples)
        item = object_in(data, str(number))
        said = said_motion(str(data[f"{number}_prompt"]))
    record: dict[str, Any] = {"id": f"{item.kind} {number}", "category": item.kind, "variants": {}}
    if evidence is None:
        return {**record, "error": "its part is not seen"}
    joint = {**item.joint.to_dict(), "directed": item.directed}
    case = {"joint": joint, "center": (0.0, 0.0, 0.0), "scale": 1.0}
    shape = shape_of(item)
    record["trivial"] = evaluate._trivial(shape, case)
    for name in plan.variants:
        settings = config.resolve(plan.preset, evaluate.VARIANTS[name].overrides).fit
        rng, kinds = np.random.default_rng(plan.seed), contracts.MOTION_KINDS["auto"]
        best = fit_joint(shape, evidence, settings, kinds, rng, said=said)[0]
        found = figures(joint_to_file(best.joint, shape).to_dict(), case)
        record["variants"][name] = {"figures": found}
    if baselines is not None:
        seen = _drawn(item, shape, evidence.cameras, plan.seed)
        record["learned"] = learned(baselines, seen, case, plan)
    return record


def _drawn(item: Any, shape: Any, cameras: Any, seed: int) -> Any:
    """The rest views of a generated object, as training draws them."""
    import torch

    from atop_backend.synthetic.batch import pack
    from atop_backend.synthetic.render import draw, random_look

    objects = pack([item])
    look = random_look(objects, torch.Generator().manual_seed(seed))
    poses = torch.tensor([[camera.world_to_camera[:3] for camera in cameras]])
    seen = draw(objects, torch.zeros(1, 0), look._replace(world_to_camera=poses))
    rgb = (255 * seen.rgb[0, :, 0].permute(0, 2, 3, 1)).byte().numpy()
    mask = seen.silhouettes[0, :, 0].numpy()
    return argparse.Namespace(shape=shape, rgb=rgb, part_mask=mask, cameras=cameras)


def tables(
    records: Sequence[Mapping[str, Any]], columns: Mapping[str, str], paper: Mapping[str, Any]
) -> str:
    """Angle and position by category, as the paper prints them, and the kind of joint.

    The angle is that between undirected axes. The paper words the position error as the distance of
    the origins; an origin may slide along its axis, so the distance of the found origin to the true
    line comes first, and that of the points of both lines next to the object's centre second. Both
    are in radii of the object, for hinges alone.
    """
    rows = {name: [_figures_of(record, name) for record in records] for name in ORDER}
    rows = {name: row for name, row in rows.items() if any(row)}
    places = [_column(r["category"], columns) or r["category"] for r in records]
    heads = [name for name in dict.fromkeys(columns.values()) if name in places]
    heads += sorted(set(places) - set(heads)) if len(set(places)) <= 12 else []
    parts = []
    for title, key, published in (("Ang err °", "axis", 0), ("Pos err, to the line", "point", None),
                                  ("Pos err, of origins", "origin", 1),
                                  ("Sign", "sign", None), ("Type", "type", None)):  # fmt: skip
        lines = [f"| {title} | {' | '.join([*heads, 'mean', 'n'])} |",
                 "|---|" + "---|" * (len(heads) + 2)]  # fmt: skip
        for name, row in rows.items():
            cells = [_mean([r for r, p in zip(row, places, strict=True) if p == head], key)
                     for head in heads]  # fmt: skip
            count = sum(key in entry for entry in row)
            lines.append(f"| {name} | {' | '.join([*cells, _mean(row, key), str(count)])} |")
        if paper and published is not None:
            cells = [f"{paper[head][published]:.2f}" for head in (*heads, "mean") if head in paper]
            lines.append(f"| the paper's own figures | {' | '.join(cells)} | |")
        parts.append("\n".join(lines))
    failed = sum("error" in record for record in records)
    parts.append(f"{len(records)} parts, {failed} without an answer")
    return "\n\n".join(parts)


def _figures_of(record: Mapping[str, Any], method: str) -> dict[str, float]:
    if method in record.get("trivial", {}):
        return record["trivial"][method]
    if method in record.get("learned", {}):
        return record["learned"][method]
    return record["variants"].get(method, {}).get("figures", {})


def _mean(rows: Sequence[Mapping[str, float]], key: str) -> str:
    from joint_figures import mean

    value = mean([dict(row) for row in rows], key)
    return "-" if value is None else f"{value:.2f}"


def _videos(options: argparse.Namespace) -> str:
    """Table 3, one row a method; below it what is missing for the empty cells."""
    from atop_backend.diffusion.device import pick_device
    from atop_backend.errors import InputError
    from atop_backend.metrics.measure import Files, measure

    methods = dict(text.partition("=")[::2] for text in options.videos)
    if not methods or not all(methods.values()) or options.reference is None:
        raise InputError(
            "table 3 needs --reference DIR and a folder of videos for each method",
            hint="paper_tables.py 3 --reference true ours=out/ours still=out/still",
        )
    prompts = json.loads(options.prompts.read_text()) if options.prompts else {}
    files = Files(options.alexnet, options.clip, options.i3d)
    names = ("CLIP", "FVD", "LPIPS", "PSNR", "SSIM")
    lines = [f"| Method | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    missing: dict[str, str] = {}
    for method, folder in methods.items():
        found = measure(Path(folder), options.reference, prompts, files,
                        device=pick_device(options.device))  # fmt: skip
        values = {figure.metric: figure for figure in found}
        cells = ["-" if values[name].value is None else f"{values[name].value:.4g}"
                 for name in names]  # fmt: skip
        missing |= {name: values[name].missing for name in names if values[name].missing}
        lines.append(f"| {method} | {' | '.join(cells)} |")
    lines += [f"{name} needs {reason}." for name, reason in missing.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
