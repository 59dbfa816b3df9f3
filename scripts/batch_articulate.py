"""Articulate many parts of one scene, without a window.

    blender -b scene.blend -P scripts/batch_articulate.py -- --jobs parts.csv --save-as out.blend

Which parts: `--jobs` names a TOML or CSV file (object, part, prompt, motion, amount); `--match`
takes all objects of a name pattern with one `--prompt`; otherwise every object with a custom
property `atop_prompt`. Parts that already have a joint are left alone, unless `--again` is given.
The parts go through `atop batch` in one process that loads the model once; it ends with this one,
and the same command again goes on where it was. Exit code 0 if every part has its joint and every
file was written, 2 if not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import bpy  # noqa: E402
import numpy as np  # noqa: E402
from scene_exports import export_scene  # noqa: E402
from scene_orders import PROPERTY, Order, find_parts, read_orders  # noqa: E402

from atop_backend.contracts import JobResult  # noqa: E402
from atop_backend.errors import AtopError, InputError, SetupError  # noqa: E402
from atop_backend.prompt_amount import prompt_amount  # noqa: E402
from atop_backend.protocol import Cancelled, Failed, Finished, Progress  # noqa: E402
from blender_addon.core.job import Job  # noqa: E402
from blender_addon.core.keyframes import seconds_to_frames  # noqa: E402
from blender_addon.core.request import backend_command  # noqa: E402
from blender_addon.scene import pick, read, write  # noqa: E402
from blender_addon.scene.answers import keep_answers  # noqa: E402

ADDON_NAMES = ("atop_articulate", "blender_addon")
POLL_S = 0.1


class Planned(NamedTuple):
    """An order whose scene copy is written."""

    order: Order
    parts: list[Any]
    asset: Path
    selectors: tuple[str, ...]


def main() -> int:
    """Carry out the command line after `--`; the exit code."""
    arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    try:
        return run(parse(arguments))
    except AtopError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except Exception:  # Blender would print it, go on, and end with 0
        traceback.print_exc()
        return 1


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
    add("--again", action="store_true", help="also parts that have a joint: a new one over it")
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
    planned, failures = plan(orders, out, options.again)
    results = estimate(planned, out, python, options) if planned else {}
    failures += write_back(planned, results)
    have = len(orders) - len(failures)
    save(target)
    unwritten = export_scene(options, target, python)
    for order, reason in failures:
        print(f"no joint for {order.name}: {reason}", file=sys.stderr)
    for reason in unwritten:
        print(f"not written: {reason}", file=sys.stderr)
    print(f"{have} of {len(orders)} parts have a joint, saved {target}")
    return 2 if failures or unwritten else 0


def save(target: Path) -> None:
    """Save the scene."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(target), check_existing=False)
    except (OSError, RuntimeError) as error:
        raise SetupError(
            f"{target} cannot be saved ({error})",
            hint="the joints are kept: mend it and run the same command again",
        ) from error


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


def plan(
    orders: Sequence[Order], out: Path, again: bool
) -> tuple[list[Planned], list[tuple[Order, str]]]:
    """Scene copies for the backend; orders that cannot be carried out, with the reason.

    Parts that already have a joint are in neither, unless they are wanted again.
    """
    planned, failures, seen = [], [], set()
    source = digest_of_files()
    for order in orders:
        try:
            if (order.object, order.part) in seen:
                raise InputError("it is named twice", hint="name each part once")
            seen.add((order.object, order.part))
            parts = find_parts(order)
            if not again and write.find_articulation(parts) is not None:
                print(f"{order.name}: has a joint already")
                continue
            asset, selectors = scene_copy(order, parts, out / "scenes", source)
        except AtopError as error:
            failures.append((order, str(error)))
        else:
            planned.append(Planned(order, parts, asset, selectors))
    return planned, failures


def scene_copy(
    order: Order, parts: Sequence[Any], folder: Path, source: bytes
) -> tuple[Path, tuple[str, ...]]:
    """The copy of an order's object, and the backend's selectors of its parts.

    One that an earlier run wrote from the same scene is taken again: Blender never writes the
    same bytes twice, and the batch knows its assets by their bytes.
    """
    mark = hashlib.sha256(source)
    for ob in sorted(pick.whole_object(bpy.context, parts), key=lambda ob: ob.name_full):
        mark.update(repr((ob.name_full, [list(row) for row in ob.matrix_world])).encode())
        if ob.type == "MESH":  # scripts that ran before this one may have changed it
            places = np.empty(len(ob.data.vertices) * 3, np.float32)
            ob.data.vertices.foreach_get("co", places)
            mark.update(places.tobytes())
    mark.update(repr((order.object, order.part, bpy.context.scene.frame_current_final)).encode())
    place = folder / mark.hexdigest()[:16]
    known = place / "selectors.json"  # written last
    if known.is_file():
        return place / "scene.blend", tuple(json.loads(known.read_text(encoding="utf-8")))
    asset, selectors, _ = read.write_scene_copy(bpy.context, parts, place)
    known.write_text(json.dumps(selectors), encoding="utf-8")
    return asset, selectors


def digest_of_files() -> bytes:
    """Hash of the scene's file and of all files that it links."""
    digest = hashlib.sha256()
    for name in (bpy.data.filepath, *(library.filepath for library in bpy.data.libraries)):
        path = Path(bpy.path.abspath(name))
        if name and path.is_file():
            with path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.digest()


def estimate(
    planned: Sequence[Planned], out: Path, python: str, options: argparse.Namespace
) -> dict[Path, dict[str, Any]]:
    """Run `atop batch` over the scene copies; its records by asset."""
    jobs = out / "jobs.toml"
    jobs.write_text("\n".join(job_table(job, out) for job in planned), encoding="utf-8")
    arguments = [
        "batch", str(jobs), "--out", str(out), "--workers", str(options.workers),
        "--time-limit", str(options.time_limit), "--preset", options.preset,
        "--seed", str(options.seed), "--device", options.device,
        "--blender", bpy.app.binary_path, "--set", "report.scene=false", "--retry-failed",
        "--events", "jsonl",
    ]  # fmt: skip
    for override in options.overrides:
        arguments += ["--set", override]
    if not bpy.app.binary_path:  # Blender is a module of this Python
        os.environ.setdefault("ATOP_BLENDER_PYTHON", sys.executable)
    job = Job(backend_command(python, *arguments), out / "backend.log")
    while True:
        for event in job.drain():
            match event:
                case Progress(step=step, total=total):
                    print(f"{step} of {total} parts", flush=True)
                case Failed(message, hint, code):
                    raise (InputError if code == InputError.exit_code else SetupError)(
                        message, hint=hint
                    )
                case Cancelled():
                    raise SetupError("the backend was stopped", hint="run the same command again")
                case Finished():
                    lines = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
                    return {Path(record["asset"]): record for record in map(json.loads, lines)}
        time.sleep(POLL_S)


def job_table(planned: Planned, out: Path) -> str:
    """One job as TOML, paths relative to the file; JSON strings and arrays are TOML."""
    order = planned.order
    lines = {
        "asset": planned.asset.relative_to(out).as_posix(),
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
        earlier = write.find_articulation(job.parts)
        try:
            with read.at_rest(bpy.context, job.parts, but=earlier):
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
        keep_answers(articulation, answers, folder, job.order.prompt, np.eye(4))
        print(f"{job.order.name}: {result.best.sentence}")
    return failures


if __name__ == "__main__":
    code = main()
    if not bpy.app.binary_path:  # Blender as a module may crash while it ends, after all is done
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
