"""`atop animate`: a rigged asset moves as a sentence or a video shows."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from atop_backend.config import overrides_from_toml
from atop_backend.contracts import AnimateRequest
from atop_backend.errors import InputError
from atop_backend.jobfolder import read_request_data
from atop_backend.protocol import Event, Finished


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `atop animate`."""
    add = parser.add_argument
    add("rigged", nargs="?", type=Path, metavar="RIGGED", help="glb, gltf, blend or fbx")
    add("--request", type=Path, help="a request.json instead of the options below")
    add("--prompt", default="", help='what it does, such as "the fox walks"')
    add("--video", action="append", default=[], type=Path, metavar="FILE", dest="videos",
        help="a video to follow, or a folder of its frames; repeat it for more views")  # fmt: skip
    add("--cameras", type=Path, metavar="JSON", help="their cameras; guessed if left out")
    add("--guidance", choices=("auto", "video", "cogvideox", "prior"), default="auto",
        help="default: the video, or CogVideoX, or the bundled prior")  # fmt: skip
    add("--weights", type=Path, metavar="DIR",
        help="a folder with CogVideoX, in place of the bundled prior")  # fmt: skip
    add("--out", type=Path, help="job folder; default ./RIGGED-animated")
    add("--armature", default="", metavar="NAME", help="where there are several")
    add("--bone", action="append", default=[], metavar="NAME", dest="bones",
        help="only this bone may move; repeat it for more")  # fmt: skip
    add("--frames", type=int, default=24, help="poses, where no video says it; default 24")
    add("--fps", type=float, default=24.0, help="poses a second; default 24")
    add("--cyclic", action="store_true", help="the last pose is the first")
    add("--physics", action="store_true",
        help="let bodies with weight follow the motion on the ground; needs MuJoCo")  # fmt: skip
    add("--blender", default="", metavar="PROGRAM", help="default: the bpy module")
    add("--seed", type=int, default=0, help="same seed, same result; default 0")
    add("--device", default="auto", metavar="NAME", help="auto, cpu, cuda or cuda:1")
    add("--config", type=Path, metavar="TOML", help="settings, one table a stage")
    add("--set", action="append", default=[], metavar="animate.KEY=VALUE", dest="overrides",
        help="one setting; repeat it for more")  # fmt: skip


def run(options: argparse.Namespace, emit: Callable[[Event], None]) -> int:
    """Animate and end in `Finished`; 0.

    Raises:
        AtopError: The request cannot be carried out.
    """
    if (options.request is None) == (options.rigged is None):
        raise InputError("nothing or too much to animate", hint="give RIGGED, or --request")
    request = (
        _request(options)
        if options.request is None
        else AnimateRequest.from_dict(read_request_data(options.request))
    )
    from atop_backend.stages import share_cores

    share_cores()
    from atop_backend.skeletal.run import animate

    result = animate(request, emit)
    emit(Finished(str(request.out / "result.json"), result["sentence"]))
    return 0


def _request(options: argparse.Namespace) -> AnimateRequest:
    from_file = overrides_from_toml(options.config) if options.config else ()
    physics = ("animate.physics=true",) if options.physics else ()
    out = options.out or Path(f"{options.rigged.stem}-animated")
    return AnimateRequest(
        asset=options.rigged.resolve(),
        prompt=options.prompt,
        out=out.resolve(),
        armature=options.armature,
        bones=tuple(options.bones),
        guidance=options.guidance,
        videos=tuple(video.resolve() for video in options.videos),
        cameras=options.cameras.resolve() if options.cameras else None,
        weights=options.weights.resolve() if options.weights else None,
        frames=options.frames,
        fps=options.fps,
        cyclic=options.cyclic,
        seed=options.seed,
        device=options.device,
        blender=options.blender,
        overrides=(*from_file, *physics, *options.overrides),
    )
