"""`atop`: the command line, thin over `stages`. Heavy imports happen inside the commands."""

from __future__ import annotations

import _thread
import argparse
import contextlib
import math
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from atop_backend import __version__, protocol, reporting
from atop_backend.batch.processes import ONE_ORDER
from atop_backend.config import overrides_from_toml
from atop_backend.contracts import JobRequest, JointMotion
from atop_backend.errors import AtopError, CancelledError, InputError
from atop_backend.protocol import Cancelled, Event, Failed, Finished
from atop_backend.reporting import Emit

STAGES_HELP = {
    "render": "four views of the rest state, part masks and cameras",
    "generate": "videos of the moving part from all views",
    "fit": "the joint that explains the videos",
    "report": "pictures, the articulated scene and result.json",
}
OTHERS_HELP = {
    "animate": "skeletal motion of a rigged character, from a sentence or a video",
    "batch": "many jobs over night, resumed after whatever happened",
    "clips": "training clips for finetune, from articulated assets",
    "finetune": "teach a network one kind of motion from a few clips",
    "metrics": "PSNR, SSIM, LPIPS, CLIP score and FVD of a folder of videos",
    "export": "finished jobs as URDF, MJCF, USD or animated glTF",
}


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are `InputError`s, so that they reach any reporter."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message, hint=f"see {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for name, value in ONE_ORDER.items():
        os.environ.setdefault(name, value)
    machine = "jsonl" in arguments or "--events=jsonl" in arguments
    emit = reporting.reporter("jsonl" if machine else None)
    for stop in (signal.SIGINT, signal.SIGTERM):  # also where a shell had SIGINT ignored
        signal.signal(stop, signal.default_int_handler)
    wire = _OneEnd(emit)
    last: Event | int
    try:
        if machine:  # the input may be closed already
            _cancel_when_stdin_closes()
        options = _parser(arguments).parse_args(arguments)
        last = options.run(options, wire)
    except AtopError as error:
        last = Failed(error.message, error.hint, error.exit_code)
    except (KeyboardInterrupt, BrokenPipeError):  # a broken pipe: nobody listens any more
        last = Cancelled()
    except Exception as error:
        traceback.print_exc()
        last = Failed(
            f"unexpected {type(error).__name__}: {error}", "this is a bug: report the log", 1
        )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what comes now comes too late
    if isinstance(last, int):
        return last
    with contextlib.suppress(BrokenPipeError):
        wire(last)
    match last:
        case Failed(code=code):
            return code
        case Cancelled():
            return CancelledError.exit_code
    return 0


class _OneEnd:
    """Passes events on up to the first terminal one, whatever happens after it."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._ended = False

    def __call__(self, event: Event) -> None:
        if not self._ended:
            self._ended = isinstance(event, protocol.TERMINAL)
            self._emit(event)


def _cancel_when_stdin_closes() -> None:
    """Interrupt the main thread when the parent closes our stdin, or dies."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        if hasattr(signal, "pthread_kill"):  # wakes the main thread also from a blocking wait
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            _thread.interrupt_main()

    threading.Thread(target=wait, name="stdin", daemon=True).start()


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="atop", description="Make a part of a static 3D object move as a sentence says."
    )
    parser.add_argument("--version", action="version", version=f"atop {__version__}")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=_Parser
    )
    _add_articulate(commands)
    for stage, text in STAGES_HELP.items():
        _add_stage(commands, stage, text)
    _add_doctor(commands)
    named = next((word for word in arguments if not word.startswith("-")), "")
    for name, text in OTHERS_HELP.items():
        command = commands.add_parser(name, help=text)
        if name == named:  # only then is it worth importing
            module = _command_module(name)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
            command.add_argument("--events", choices=("jsonl",))
    return parser


def _command_module(name: str) -> Any:
    """The module with the options and the work of a command that is not a stage."""
    match name:
        case "animate":
            from atop_backend.skeletal import command
        case "batch":
            from atop_backend.batch import command
        case "clips":
            from atop_backend.tuning import clips_command as command
        case "export":
            from atop_backend.export import command
        case "finetune":
            from atop_backend.tuning import finetune_command as command
        case "metrics":
            from atop_backend.metrics import command
        case _:
            raise AssertionError(name)
    return command


def _add_articulate(commands: Any) -> None:
    command = commands.add_parser(
        "articulate",
        help="find the joint of a part and write the articulated scene",
        epilog='example: atop articulate oven.glb --part door --prompt "the oven door folds down"',
    )
    command.add_argument("object", nargs="?", type=Path, help="glb, gltf, obj, ply, stl or blend")
    command.add_argument("--request", type=Path, help="a request.json instead of the options below")
    _add_request_options(command)
    _add_common_options(command)
    command.set_defaults(run=_articulate)


def _add_stage(commands: Any, stage: str, text: str) -> None:
    command = commands.add_parser(stage, help=f"this stage alone: {text}")
    if stage == "render":
        command.add_argument("object", type=Path, help="an object, or a job folder to repeat")
        _add_request_options(command)
    else:
        command.add_argument("job", type=Path, help="a job folder with the stages before this one")
    if stage == "fit":
        _add_initial(command)
    _add_common_options(command)
    command.set_defaults(run=_render if stage == "render" else _stage, stage=stage)


def _add_request_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--part", action="append", default=[], metavar="NAME", dest="parts",
        help="the part that moves: a node or object name, material:NAME, vgroup:NAME or faces:FILE;"
        " repeat it for parts that move together")  # fmt: skip
    add("--prompt", help='how it moves, such as "the left door swings open"')
    add("--out", type=Path, help="job folder; default ./OBJECT-articulated")
    add("--motion", choices=("auto", "hinge", "slider"), default="auto")
    add("--amount", type=_amount, metavar="X", help="how far: 70deg, or radians or file units")
    add("--preset", choices=("default", "paper", "tiny", "imagedream"), default="default")
    add("--guidance", choices=("sampled", "sds", "x0"),
        help="how videos steer the fit; default sampled, or sds with the paper preset")  # fmt: skip
    add("--blender", default="", metavar="PROGRAM", help="default: the bpy module")
    add("--weights", type=Path, metavar="DIR", help="ImageDream weights for that preset")
    add("--finetuned", type=Path, metavar="DIR", help="what `atop finetune` wrote")
    _add_initial(command)


def _add_initial(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--initial",
        type=_joint,
        metavar="FILE",
        help="a joint to start from and stay near: JSON as in result.json, or its `joint` alone",
    )


def _add_common_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--seed", type=int, help="same seed, same result; default 0")
    add("--device", metavar="NAME", help="auto, cpu, cuda or cuda:1; default auto")
    add("--config", type=Path, metavar="TOML", help="settings, one table a stage")
    add("--set", action="append", default=[], metavar="STAGE.KEY=VALUE", dest="overrides",
        help="one setting; repeat it for more")  # fmt: skip
    add("--events", choices=("jsonl",),
        help="events as JSON lines on stdout; closing stdin cancels")  # fmt: skip


def _add_doctor(commands: Any) -> None:
    command = commands.add_parser("doctor", help="say what is installed and what is missing")
    command.add_argument("--blender", default="", metavar="PROGRAM")
    command.add_argument("--device", default="auto", metavar="NAME")
    command.add_argument("--events", choices=("jsonl",))
    command.set_defaults(run=_doctor)


def _joint(text: str) -> JointMotion:
    from atop_backend import jobfolder

    data = jobfolder.read_json(Path(text))
    if not isinstance(data, dict):
        raise InputError(f"{text} holds no joint", hint="it needs type, axis, origin and range")
    return JointMotion.from_dict(data.get("joint", data))


def _amount(text: str) -> float:
    number, degrees = text.removesuffix("deg"), text.endswith("deg")
    value = float(number)
    return math.radians(value) if degrees else value


def _overrides(options: argparse.Namespace) -> tuple[str, ...]:
    from_file = overrides_from_toml(options.config) if options.config else ()
    return (*from_file, *options.overrides)


def _request(options: argparse.Namespace) -> JobRequest:
    """The request that the options of `articulate` and `render` describe."""
    from atop_backend.rendering.selectors import with_absolute_file

    out = options.out or Path(f"{options.object.stem}-articulated")
    return JobRequest(
        asset=options.object.resolve(),
        parts=tuple(with_absolute_file(part, Path.cwd()) for part in options.parts),
        prompt=options.prompt or "",
        out=out.resolve(),
        motion=options.motion,
        preset=options.preset,
        guidance=options.guidance or ("sds" if options.preset == "paper" else "sampled"),
        seed=options.seed or 0,
        device=options.device or "auto",
        blender=options.blender,
        amount=options.amount,
        weights=options.weights.resolve() if options.weights else None,
        finetuned=options.finetuned.resolve() if options.finetuned else None,
        initial=options.initial,
        overrides=_overrides(options),
    )


def _articulate(options: argparse.Namespace, emit: Emit) -> Event:
    from atop_backend import jobfolder, stages

    if options.request is not None and options.object is not None:
        raise InputError("both an object and --request were given", hint="give one of them")
    if options.request is not None:
        request = jobfolder.read_request(options.request)
    elif options.object is not None:
        request = _request(options)
    else:
        raise InputError("no object was given", hint="see atop articulate --help")
    result = stages.articulate(request, emit)
    return Finished(str(request.out / "result.json"), result.best.sentence)


def _render(options: argparse.Namespace, emit: Emit) -> Event:
    from atop_backend import stages

    if (options.object / "request.json").is_file():
        options.job = options.object
        return _stage(options, emit)
    request = _request(options)
    stages.start(request, emit)
    return Finished("", f"rendered the rest views into {request.out}")


def _stage(options: argparse.Namespace, emit: Emit) -> Event:
    from atop_backend import stages

    result = stages.repeat(
        options.job.resolve(),
        options.stage,
        emit,
        seed=options.seed,
        device=options.device,
        overrides=_overrides(options),
        initial=getattr(options, "initial", None),  # of `fit` alone
    )
    if result is None:
        return Finished("", f"{options.stage} is done in {options.job}")
    return Finished(str(options.job.resolve() / "result.json"), result.best.sentence)


def _doctor(options: argparse.Namespace, emit: Emit) -> Event:
    from atop_backend import doctor

    findings = doctor.examine(options.blender, options.device)
    text = doctor.table(findings)
    missing = [finding for finding in findings if not finding.good]
    if options.events is None:
        print(text)
    else:
        print(text, file=sys.stderr)
    if missing:
        return Failed(
            "; ".join(f"{finding.name}: {finding.found}" for finding in missing),
            "; ".join(finding.remedy for finding in missing if finding.remedy),
            3,
        )
    return Finished("", "everything that a job needs is there")


if __name__ == "__main__":
    sys.exit(main())
