#!/usr/bin/env python3
"""Measure the product on objects whose joints other people annotated.

usage: scripts/evaluate.py --set DIR [--cache DIR] [--turned SEED] [--workers N] ...

Runs the stages as a user would, with the default preset. Views are kept in the cache by content,
and so are the features of the prompts and the model's samples: a machine without Blender, and
without the text encoder, works from a copy of that folder, and another fit needs no new samples.
Prints figures by category and in total, beside what single ingredients and trivial choices reach.
Nothing here is for training or tuning.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import resource
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from atop_backend.contracts import Guidance, JointKind, Preset  # noqa: E402


@dataclass(frozen=True)
class Variant:
    """One row of the table of all parts; what is not said is as in the plan."""

    overrides: tuple[str, ...] = ()
    guidance: Guidance | None = None
    preset: Preset | None = None


MAIN = "the product"
INGREDIENTS = {  # they share the videos
    "video only": Variant(("fit.geometry=false", "fit.words_weight=0")),
    "geometry only": Variant(("fit.video=false", "fit.words_weight=0")),
    "without the words": Variant(("fit.words_weight=0",)),
    "hypotheses only": Variant(("fit.refine=false",)),
    "the paper's hypotheses": Variant(
        ("fit.hypotheses=paper", "fit.refine=false", "fit.geometry=false")
    ),
}
GUIDANCES = {  # gaussians follow the prior: seconds on a GPU, minutes without
    "sds": Variant(guidance="sds"),
    "x0": Variant(guidance="x0"),
    "paper": Variant(preset="paper"),
    "paper-sds": Variant(guidance="sds", preset="paper"),
}
VARIANTS = {MAIN: Variant(), **INGREDIENTS, **GUIDANCES}
MOST_TILT_RAD = math.radians(15)


@dataclass(frozen=True)
class Plan:
    """What every worker must know."""

    cache: Path
    preset: Preset
    guidance: Guidance
    seed: int
    device: str
    overrides: tuple[str, ...]
    turned: int | None
    variants: tuple[str, ...]  # of VARIANTS
    threads: int
    blender: str
    weights: Path | None = None  # for the preset "imagedream"
    finetuned: Path | None = None


def main() -> None:
    """Run what the command line asks for."""
    options = _options()
    workers = max(1, options.workers)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = max(1, (cores or 1) // workers)
    os.environ["OMP_NUM_THREADS"] = str(threads)
    plan = Plan(
        cache=options.cache.resolve(),
        preset=options.preset,
        guidance=options.guidance,
        seed=options.seed,
        device=options.device,
        overrides=tuple(options.overrides),
        turned=options.turned,
        variants=(
            MAIN,
            *(INGREDIENTS if options.ablation else ()),
            *options.guidances,
        ),
        threads=threads,
        blender=options.blender,
    )
    folders = sorted(path.parent for path in options.set.resolve().glob("*/case.json"))
    if not folders:
        sys.exit(f"{options.set} has no folders with a case.json: give another --set")
    folders = folders[:: max(1, len(folders) // options.limit)][: options.limit]
    records = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for record in pool.map(evaluate_case, folders, [plan] * len(folders)):
            records.append(record)
            print(f"{len(records)}/{len(folders)} {record['id']}: {_short(record)}",
                  file=sys.stderr, flush=True)  # fmt: skip
    _print_tables(records, plan)
    if options.predictions:
        chosen = {r["id"]: r["variants"][MAIN]["joint"] for r in records if _answered(r, MAIN)}
        options.predictions.write_text(json.dumps(chosen, indent=1) + "\n")
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--set", type=Path, default=ROOT.parent / "shared" / "evalset", metavar="DIR")
    add("--cache", type=Path, default=ROOT / "cache" / "evaluation", metavar="DIR")
    add("--limit", type=int, default=10**6, metavar="N", help="that many cases, spread evenly")
    add("--workers", type=int, default=1, metavar="N")
    add("--device", default="auto")
    add("--turned", type=int, metavar="SEED", help="turn every object by a random yaw and tilt")
    add("--preset", default="default")
    add("--guidance", default="sampled", choices=("sampled", "sds", "x0"))
    add("--seed", type=int, default=0)
    add("--set-config", action="append", default=[], dest="overrides", metavar="STAGE.KEY=VALUE")
    add("--ablation", action="store_true", help="also each ingredient alone")
    add("--guidances", nargs="+", default=[], choices=tuple(GUIDANCES), help="also these, slow")
    add("--blender", default="", metavar="PROGRAM")
    add("--predictions", type=Path, metavar="FILE", help="joints as JSON, for other scorers")
    add("--json", type=Path, metavar="FILE", help="everything that was measured")
    return parser.parse_args()


def evaluate_case(folder: Path, plan: Plan) -> dict[str, Any]:
    """Answers of all variants to one case, and the figures of the trivial choices."""
    from atop_backend.errors import AtopError

    case = json.loads((folder / "case.json").read_text())
    record: dict[str, Any] = {"id": case["id"], "category": case["category"], "variants": {}}
    try:
        _answer(folder, case, plan, record)
    except AtopError as error:
        record["error"] = str(error)
    except Exception as error:  # one broken case must not end a long run
        traceback.print_exc()
        record["error"] = f"{type(error).__name__}: {error}"
    record["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return record


def _parts(case: dict[str, Any]) -> tuple[str, ...]:
    return (case["part"],) if isinstance(case["part"], str) else tuple(case["part"])


def view_case(folder: Path, case: dict[str, Any], plan: Plan) -> Any:
    """The rest views of a case, from the cache where they are."""
    from atop_backend import config
    from atop_backend.rendering.cache import render_cached

    settings = config.resolve(plan.preset, plan.overrides).render
    turn = None if plan.turned is None else random_turn(case["id"], plan.turned)
    return render_cached(
        plan.cache, folder / "object.glb", _parts(case), samples=settings.samples, turn=turn,
        elevation_rad=math.radians(settings.elevation_deg), blender=plan.blender,
        threads=plan.threads,
    )  # fmt: skip


def _answer(folder: Path, case: dict[str, Any], plan: Plan, record: dict[str, Any]) -> None:
    from atop_backend import config, contracts

    settings = config.resolve(plan.preset, plan.overrides)
    request = contracts.JobRequest(
        folder / "object.glb", _parts(case), case["prompt"], folder, preset=plan.preset,
        guidance=plan.guidance, seed=plan.seed, device=plan.device,
    )  # fmt: skip
    # 1. the views, from the cache
    seen = view_case(folder, case, plan)
    record["trivial"] = _trivial(seen.shape, case)
    # 2. the videos
    record["generate_s"], arrays = _samples(case["prompt"], seen, settings.generate, plan)
    # 3. the joint, with all ingredients and with some
    for name in plan.variants:
        variant = VARIANTS[name]
        preset, guidance = variant.preset or plan.preset, variant.guidance or plan.guidance
        chosen = config.resolve(preset, (*plan.overrides, *variant.overrides))
        told = replace(request, preset=preset, guidance=guidance)
        record["variants"][name] = _fit(told, chosen, seen, arrays, case)


def _fit(request: Any, settings: Any, seen: Any, arrays: Any, case: Any) -> dict[str, Any]:
    import numpy as np
    from joint_figures import figures, is_right

    from atop_backend import contracts, stages
    from atop_backend.geometry.meshes import joint_to_file
    from atop_backend.motion.fit import fit_joint
    from atop_backend.prompt_motion import said_motion

    begun = time.monotonic()
    evidence = stages.find_evidence(request, settings, seen, arrays, lambda step, total: None)
    candidates = fit_joint(
        seen.shape, evidence, settings.fit, contracts.MOTION_KINDS[request.motion],
        np.random.default_rng(request.seed), said=said_motion(request.prompt),
    )  # fmt: skip
    joints = [joint_to_file(entry.joint, seen.shape).to_dict() for entry in candidates]
    scores = [figures(joint, case) for joint in joints]
    return {
        "joint": joints[0] if joints else None,
        "figures": scores[0] if joints else figures(None, case),
        "confidence": candidates[0].confidence if joints else 0.0,
        "right": [is_right(score) for score in scores],
        "source": candidates[0].source if joints else "",
        "fit_s": time.monotonic() - begun,
    }


def random_turn(name: str, seed: int) -> Any:
    """A rotation (3, 3) by any yaw and up to 15 degrees of tilt, the same for the same case."""
    import numpy as np

    from atop_backend.geometry.joints import rodrigues

    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    yaw, heading = rng.uniform(0, 2 * math.pi, 2)
    tilt = rng.uniform(0, MOST_TILT_RAD)
    level = np.array([math.cos(heading), math.sin(heading), 0.0])
    return rodrigues(level, tilt) @ rodrigues(np.array([0.0, 0.0, 1.0]), yaw)


def _samples(prompt: str, seen: Any, settings: Any, plan: Plan) -> tuple[float, dict[str, Any]]:
    """Seconds and arrays of the model's samples; the bundled model's are kept in the cache."""
    import numpy as np

    kept = None
    if settings.model == "mini" and not (plan.weights or plan.finetuned):
        kept = plan.cache / f"clip-{_clip_key(prompt, seen, settings, plan)}.npz"
        if kept.is_file():
            with np.load(kept) as stored:
                made = {name: stored[name] for name in stored.files}
            return float(made.pop("seconds")), made
    seconds, made = _draw_samples(prompt, seen, settings, plan)
    if kept:
        aside = kept.with_name(f".{os.getpid()}-{kept.name}")
        np.savez(aside, seconds=seconds, **made)
        aside.replace(kept)
    return seconds, made


def _clip_key(prompt: str, seen: Any, settings: Any, plan: Plan) -> str:
    """24 hex digits that name the bundled model's samples for these views and words."""
    from atop_backend.diffusion.bundled import FOLDER

    digest = hashlib.sha256((FOLDER / "mini.json").read_bytes())
    digest.update(repr((prompt, settings, plan.seed)).encode())
    for array in (seen.rgb, seen.part_mask, seen.positions):
        digest.update(array.tobytes())
    return digest.hexdigest()[:24]


def _draw_samples(prompt: str, seen: Any, settings: Any, plan: Plan) -> tuple[float, Any]:
    from atop_backend import stages
    from atop_backend.diffusion import generate

    prior = generate.load_prior(settings, plan.seed, plan.device, plan.weights, plan.finetuned)
    if settings.model == "mini":
        text = _prompt_features(plan.cache, prompt)
    else:
        text = prior.encode_text(prompt)
    begun = time.monotonic()
    conditions = generate.build_conditions(prior, stages.rest_scene(seen), text, settings.frames)
    clip = generate.generate_clip(prior, conditions, settings, plan.seed)
    seconds = time.monotonic() - begun
    return seconds, {k: v.numpy() for k, v in clip._asdict().items() if v is not None}


def _prompt_features(cache: Path, prompt: str) -> Any:
    import numpy as np
    import torch

    path = cache / f"text-{hashlib.sha256(prompt.encode()).hexdigest()[:24]}.npy"
    if not path.is_file():
        from atop_backend.diffusion.generate import encode_text

        cache.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{os.getpid()}-{path.name}")
        np.save(aside, encode_text(prompt).numpy().astype(np.float16))
        aside.replace(path)
    return torch.from_numpy(np.load(path).astype(np.float32))


def _trivial(shape: Any, case: dict[str, Any]) -> dict[str, Any]:
    """Figures of a box hypothesis drawn at random (by counting), and of the best one."""
    from joint_figures import averaged, figures

    from atop_backend.contracts import JointMotion
    from atop_backend.geometry.boxes import oriented_box
    from atop_backend.geometry.meshes import joint_to_file
    from atop_backend.motion.hypotheses import paper_slides, paper_turns

    box = oriented_box(shape.vertices[shape.triangles[shape.part]])
    rows = []
    families: dict[JointKind, Any] = {"revolute": paper_turns(box), "prismatic": paper_slides(box)}
    for kind, tried in families.items():
        for axis, origin in zip(tried.axes, tried.origins, strict=True):
            joint = JointMotion(kind, tuple(axis), tuple(origin), 0.0, 1.0)
            given = joint_to_file(joint, shape).to_dict()
            del given["range"]
            rows.append(figures(given, case))
    told = [row for row in rows if row["type"]]
    best = min(told, key=lambda row: (row.get("directed", row["axis"]), row.get("point", 0.0)))
    return {"random box hypothesis": {**averaged(told), "type": 0.5}, "best box hypothesis": best}


def _answered(record: dict[str, Any], name: str) -> bool:
    return bool(record["variants"].get(name, {}).get("joint"))


def _short(record: dict[str, Any]) -> str:
    if "error" in record:
        return record["error"]
    answer = record["variants"][MAIN]
    return " ".join(f"{key} {value:.2f}" for key, value in answer["figures"].items())


def _print_tables(records: list[dict[str, Any]], plan: Plan) -> None:
    from joint_figures import calibration_error, table

    from atop_backend import __version__

    def rows(name: str, chosen: list[dict[str, Any]]) -> list[dict[str, float]]:
        return [r["variants"].get(name, {}).get("figures", {"type": 0.0}) for r in chosen]

    how = "turned" if plan.turned is not None else "as given"
    print(f"\nversion {__version__}, preset {plan.preset}, guidance {plan.guidance}, {how},"
          f" {len(records)} parts, {time.strftime('%Y-%m-%d')}\n")  # fmt: skip
    categories = sorted({record["category"] for record in records})
    grouped = {name: [r for r in records if r["category"] == name] for name in categories}
    print(table(MAIN, {name: rows(MAIN, chosen) for name, chosen in grouped.items()}), "\n")
    names = [name for name in VARIANTS if any(name in r["variants"] for r in records)]
    totals = {name: rows(name, records) for name in names}
    for name in ("best box hypothesis", "random box hypothesis"):
        totals[name] = [r["trivial"][name] for r in records if "trivial" in r]
    print(table("all parts", totals), "\n")

    answers = [r["variants"][MAIN] for r in records if _answered(r, MAIN)]
    pairs = [(answer["confidence"], answer["right"][0]) for answer in answers]
    found = sum(any(answer["right"][:4]) for answer in answers)
    right = sum(right for _, right in pairs)
    print(f"without an answer: {len(records) - len(answers)} of {len(records)}")
    print(f"right as they are (type, axis within 10°, sign, place within 0.1): {right};"
          f" right or among three alternatives: {found} of {len(records)}")  # fmt: skip
    print(f"expected calibration error of the confidence: {calibration_error(pairs):.3f}")
    if answers:
        generate_s = sum(r["generate_s"] for r in records if _answered(r, MAIN)) / len(answers)
        fit_s = sum(answer["fit_s"] for answer in answers) / len(answers)
        print(f"seconds a part: generate {generate_s:.2f}, fit {fit_s:.2f},"
              f" {plan.threads} threads, device {plan.device};"
              f" peak memory {max(r['peak_mb'] for r in records):.0f} MB a process")  # fmt: skip
    for record in records:
        if "error" in record:
            print(f"failed: {record['id']}: {record['error']}")


if __name__ == "__main__":
    main()
