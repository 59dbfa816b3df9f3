"""Articulate many parts of one scene, without a window.

    blender -b scene.blend -P scripts/batch_articulate.py -- --jobs parts.csv --save-as out.blend

Which parts: `--jobs` names a TOML or CSV file (object, part, prompt, motion, amount); `--match`
takes all objects of a name pattern with one `--prompt`; otherwise every object with a custom
property `atop_prompt`. The parts go through `atop batch` in one process that loads the model once
and can be killed and resumed. Exit code 0 if every part got its joint, 2 if some did not.
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import bpy  # noqa: E402

from atop_backend.contracts import JobResult  # noqa: E402
from atop_backend.errors import AtopError, InputError, SetupError  # noqa: E402
from atop_backend.prompt_amount import prompt_amount  # noqa: E402
from blender_addon.core.keyframes import seconds_to_frames  # noqa: E402
from blender_addon.scene import edit, export, pick, read, write  # noqa: E402

PROPERTY = "atop_prompt"
SOURCES = {"vgroup": "VERTEX_GROUP", "material": "MATERIAL", "attribute": "ATTRIBUTE"}
COLUMNS = {"object", "part", "prompt", "motion", "amount"}
ADDON_NAMES = ("atop_articulate", "blender_addon")


class Order(NamedTuple):
    """One part to articulate, in the words of whoever asked."""

    object: str
    part: str  # empty for the whole object, or vgroup:NAME, material:NAME, attribute:NAME
    prompt: str
    motion: str
    amount: str


class Planned(NamedTuple):
    """An order whose scene copy is written."""

    order: Order
    parts: list[Any]
    asset: Path
    selectors: tuple[str, ...]


def main() -> int:
    """Carry out the command line after `--`; the exit code."""
    arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    options = parse(arguments)
    try:
        return run(options)
    except AtopError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="blender -b SCENE -P batch_articulate.py --", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("--blend", type=Path, metavar="FILE", help="open this file first")
    add("--jobs", type=Path, metavar="FILE", help="TOML with [[job]] tables, or CSV")
    add("--match", metavar="PATTERN", help='object names, such as "*door*"')
    add("--prompt", default="the {name} opens", help="with --match; {name} is the object's")
    add("--out", type=Path, metavar="DIR", help="job folders and report; default beside the scene")
    add("--save-as", type=Path, metavar="FILE", help="default: the opened file")
    add("--glb", action="store_true", help="write a .glb beside the saved file")
    add("--usd", action="store_true", help="write a .usdc beside the saved file")
    add("--urdf", action="store_true", help="write a folder with a URDF for each object")
    add("--python", default="", help="the backend's Python; default ATOP_PYTHON or preferences")
    add("--workers", type=int, default=1)
    add("--time-limit", type=float, default=600.0, metavar="S", help="a part")
    add("--preset", default="default")
    add("--seed", type=int, default=0)
    add("--device", default="auto")
    add("--set", action="append", default=[], metavar="STAGE.KEY=VALUE", dest="overrides")
    return parser.parse_args(list(arguments))


def run(options: argparse.Namespace) -> int:
    """Plan, estimate, write back, save and export."""
    if options.blend:
        open_blend(options.blend)
    python = backend_python(options.python)
    target = (options.save_as or Path(bpy.data.filepath)).resolve()
    if not target.name:
        raise InputError("the scene has no file", hint="give --save-as FILE")
    out = (options.out or target.with_name(f"{target.stem}_articulated")).resolve()
    orders = list(read_orders(options))
    if not orders:
        raise InputError(
            "no part was named",
            hint=f'give --jobs or --match, or set the custom property "{PROPERTY}" on parts',
        )
    planned, failures = plan(orders, out)
    results = estimate(planned, out, python, options) if planned else {}
    failures += write_back(planned, results)
    target.parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(target), check_existing=False)
    export_scene(options, target, python)
    for order, reason in failures:
        name = f"{order.object} {order.part}".strip()
        print(f"no joint for {name}: {reason}", file=sys.stderr)
    print(f"{len(orders) - len(failures)} of {len(orders)} parts have a joint, saved {target}")
    return 2 if failures else 0


def open_blend(path: Path) -> None:
    """Load a scene."""
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path), use_scripts=False)
    except RuntimeError as error:
        raise InputError(f"{path} cannot be opened ({error})", hint="check the path") from error


def backend_python(given: str) -> str:
    """The Python that has the backend: as given, from the environment, or from the add-on."""
    chosen = given or os.environ.get("ATOP_PYTHON", "")
    for addon in bpy.context.preferences.addons:
        if not chosen and addon.module.rpartition(".")[2] in ADDON_NAMES:
            chosen = getattr(addon.preferences, "python", "")
    if not chosen or not Path(chosen).is_file():
        raise SetupError(
            f"there is no Python with the backend at {chosen!r}",
            hint="run scripts/setup.sh, then give --python or set ATOP_PYTHON",
        )
    return chosen


def read_orders(options: argparse.Namespace) -> Iterator[Order]:
    """The parts asked for, by whichever way they were."""
    if options.jobs:
        for number, entry in enumerate(read_entries(options.jobs), 1):
            unknown = set(entry) - COLUMNS
            if unknown or not entry.get("object"):
                what = f"unknown keys {sorted(map(str, unknown))}" if unknown else "no object"
                raise InputError(
                    f"job {number} of {options.jobs} has {what}",
                    hint=f"keys are {', '.join(sorted(COLUMNS))}",
                )
            yield Order(*(str(entry.get(name) or "") for name in Order._fields))
        return
    for ob in bpy.context.scene.objects:
        if options.match:
            if fnmatch.fnmatch(ob.name, options.match) and pick.has_faces(ob):
                yield Order(ob.name, "", options.prompt.format(name=ob.name), "", "")
        elif ob.get(PROPERTY):
            yield Order(ob.name, "", str(ob[PROPERTY]), "", "")


def read_entries(path: Path) -> Sequence[Mapping[str, Any]]:
    """Tables or rows of a job file."""
    try:
        if path.suffix.lower() == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as stream:
                return list(csv.DictReader(stream))
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path} cannot be read ({error})", hint="mend what it names") from error
    return [data.get("defaults", {}) | job for job in data.get("job", [])]


def plan(orders: Sequence[Order], out: Path) -> tuple[list[Planned], list[tuple[Order, str]]]:
    """Scene copies for the backend; orders that cannot be carried out, with the reason."""
    planned, failures = [], []
    for number, order in enumerate(orders):
        try:
            parts = find_parts(order)
            folder = out / "scenes" / f"{number:04d}"
            asset, selectors, _ = read.write_scene_copy(bpy.context, parts, folder)
        except AtopError as error:
            failures.append((order, str(error)))
        else:
            planned.append(Planned(order, parts, asset, selectors))
    return planned, failures


def find_parts(order: Order) -> list[Any]:
    """What an order means in this scene, as the add-on picks it."""
    context = bpy.context
    ob = context.scene.objects.get(order.object)
    if ob is None:
        raise InputError(f"there is no object {order.object!r}", hint="check its name")
    if not order.part:
        if not pick.has_faces(ob):
            raise InputError(f"{order.object!r} has no surface", hint="name a mesh object")
        return write.root_parts([ob])
    kind, _, name = order.part.partition(":")
    if kind not in SOURCES:
        raise InputError(
            f"part {order.part!r} is of no known kind",
            hint=f"write {', '.join(f'{kind}:NAME' for kind in SOURCES)}, or nothing",
        )
    context.view_layer.objects.active = ob
    return pick.pick_parts(context, SOURCES[kind], name)  # type: ignore[arg-type]


def estimate(
    planned: Sequence[Planned], out: Path, python: str, options: argparse.Namespace
) -> dict[Path, dict[str, Any]]:
    """Run `atop batch` over the scene copies; its records by asset."""
    jobs = out / "jobs.toml"
    jobs.write_text("\n".join(map(job_table, planned)), encoding="utf-8")
    command = [
        python, "-m", "atop_backend", "batch", str(jobs), "--out", str(out),
        "--workers", str(options.workers), "--time-limit", str(options.time_limit),
        "--preset", options.preset, "--seed", str(options.seed), "--device", options.device,
        "--blender", bpy.app.binary_path, "--set", "report.scene=false", "--retry-failed",
    ]  # fmt: skip
    for override in options.overrides:
        command += ["--set", override]
    code = subprocess.run(command, env=backend_environment(), check=False).returncode
    records = out / "results.jsonl"
    if code != 0 or not records.is_file():
        raise SetupError(f"the backend ended with exit code {code}", hint="see what it said above")
    lines = map(json.loads, records.read_text(encoding="utf-8").splitlines())
    return {Path(record["asset"]): record for record in lines}


def job_table(planned: Planned) -> str:
    """One job as TOML; JSON strings and arrays are TOML."""
    order = planned.order
    lines = {
        "asset": str(planned.asset),
        "parts": list(planned.selectors),
        "prompt": order.prompt,
        "motion": order.motion,
        "amount": order.amount or said_amount(order.prompt),
    }
    return "[[job]]\n" + "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in lines.items() if value
    )


def said_amount(prompt: str) -> str:
    """A distance in the prompt, which is in metres, in units of this scene; empty if none."""
    said = prompt_amount(prompt)
    if said.angle_rad is not None or said.distance_m is None:
        return ""
    units = bpy.context.scene.unit_settings
    metres = units.scale_length if units.system != "NONE" else 1.0
    return repr(said.distance_m / metres)


def backend_environment() -> dict[str, str]:
    """For a backend that may run from this clone, and that finds bpy where Blender is a module."""
    hidden = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP")
    kept = {key: value for key, value in os.environ.items() if key not in hidden}
    if not bpy.app.binary_path:
        kept.setdefault("ATOP_BLENDER_PYTHON", sys.executable)
    return kept | {"PYTHONPATH": str(ROOT)}


def write_back(
    planned: Sequence[Planned], records: Mapping[Path, Mapping[str, Any]]
) -> list[tuple[Order, str]]:
    """Give every part its joint and keyframes; the orders for which there is none."""
    failures = []
    render = bpy.context.scene.render
    for job in planned:
        record = records.get(job.asset, {})
        if not record.get("result"):
            failures.append((job.order, record.get("message") or "the backend has no answer"))
            continue
        result = JobResult.from_dict(record["result"])
        seconds = prompt_amount(job.order.prompt).seconds or 2.0
        try:
            articulation = write.write_joint(
                bpy.context,
                job.parts,
                result.joint,
                frame_start=bpy.context.scene.frame_start,
                duration_frames=seconds_to_frames(seconds, render.fps, render.fps_base),
            )
        except AtopError as error:
            failures.append((job.order, str(error)))
            continue
        answers = [result.best, *result.alternatives]
        folder = str(job.asset.parents[2] / record["folder"])
        edit.keep_answers(articulation, answers, folder, job.order.prompt)
        print(f"{job.order.object} {job.order.part}".strip() + f": {result.best.sentence}")
    return failures


def export_scene(options: argparse.Namespace, target: Path, python: str) -> None:
    """What was asked for beside the saved file."""
    if options.glb:
        bpy.ops.export_scene.gltf(
            filepath=str(target.with_suffix(".glb")), export_animations=True, export_extras=True
        )
    if options.usd:
        bpy.ops.wm.usd_export(filepath=str(target.with_suffix(".usdc")), export_animation=True)
    if not options.urdf:
        return
    from blender_addon.scene.record import articulations

    written: set[str] = set()
    for articulation in articulations():
        if articulation.tag in written:
            continue
        written |= {joint.tag for joint in export.joints_of_object(articulation)}
        folder = target.with_name(f"{target.stem}_urdf") / articulation.tag
        description = export.write_description(bpy.context, articulation, folder)
        command = [
            python, "-m", "atop_backend", "export", "--object", str(description),
            "--out", str(folder), "--format", "urdf",
        ]  # fmt: skip
        code = subprocess.run(command, env=backend_environment(), check=False).returncode
        if code != 0:
            raise SetupError(f"the export ended with exit code {code}", hint="see above")


if __name__ == "__main__":
    sys.exit(main())
