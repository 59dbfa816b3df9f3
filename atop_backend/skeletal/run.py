"""`atop animate`, step by step: a rigged asset and what guides it -> a motion in a job folder.

rig      the asset                  -> rig.npz
distil   rig.npz, words or videos   -> motion.json
physics  motion, if asked for       -> motion.json of bodies with weight; the other one is kept
report   both                       -> preview.mp4, contact_sheet.png, animated.*, result.json
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from atop_backend.config import Config, resolve
from atop_backend.contracts import AnimateRequest
from atop_backend.errors import InputError
from atop_backend.geometry.rigs import Rig, choose, load_rig, normalise, save_rig
from atop_backend.jobfolder import check_out, read_json, replacing, write_json
from atop_backend.protocol import Artifact
from atop_backend.reporting import Emit, JobProgress, Tick

if TYPE_CHECKING:
    from atop_backend.skeletal.guided import Distilled
    from atop_backend.skeletal.physics import Tracked

STAGES = ("rig", "distil", "physics", "report")
GLTF = (".glb", ".gltf")
OTHERS = (".blend", ".fbx")


class ReadRig(NamedTuple):
    """A rig and what a person should know of its reading."""

    rig: Rig
    armature: str
    notes: tuple[str, ...]


def animate(request: AnimateRequest, emit: Emit) -> dict[str, Any]:
    """The result, as in result.json; the job folder appears when all is done.

    Raises:
        AtopError: The request cannot be carried out.
    """
    config = resolve("default", request.overrides)
    guidance = _guidance(request)
    if config.animate.physics:
        from atop_backend.skeletal.physics import require_mujoco

        require_mujoco()  # said at once, not after the work
    check_out(request.out)
    stages = STAGES if config.animate.physics else tuple(s for s in STAGES if s != "physics")
    progress = JobProgress(stages, emit)
    seconds: dict[str, float] = {}

    @contextmanager
    def stage(name: str) -> Iterator[Tick]:
        tick, begun = progress.tick(name), time.monotonic()
        tick(0, 1)
        yield tick
        seconds[name] = round(time.monotonic() - begun, 3)
        tick(1, 1)

    with replacing(request.out) as folder:
        write_json(folder / "request.json", request.to_dict())
        write_json(folder / "config.json", {"seed": request.seed, "config": config.to_dict()})
        with stage("rig"):
            read = read_rig(request, folder, config)
        with stage("distil") as tick:
            found = _distil(request, config, read.rig, guidance, tick)
        tracked = None
        if config.animate.physics:
            with stage("physics"):
                tracked = _track(config, found, request.cyclic)
        with stage("report") as tick:
            from atop_backend.skeletal.report import report

            result = report(request, config, read, found, tracked, guidance, folder, tick)
        write_json(folder / "result.json", {**result, "seconds": seconds})
    result = read_json(request.out / "result.json")
    for name, file in result["files"].items():
        emit(Artifact(name, str(request.out / file)))
    emit(Artifact("result", str(request.out / "result.json")))
    return result


def _guidance(request: AnimateRequest) -> str:
    """Which guidance is meant; refuses what is not there."""
    guidance = request.guidance
    if guidance == "auto":
        guidance = "video" if request.videos else "cogvideox" if request.weights else "prior"
    if guidance == "video" and not request.videos:
        raise InputError("no video was given", hint="give one with --video FILE")
    if guidance == "cogvideox" and request.weights is None:
        raise InputError(
            "CogVideoX needs its weights, which are not included",
            hint="give their folder with --weights DIR, or a video with --video FILE",
        )
    if guidance != "video" and not request.prompt.strip():
        raise InputError("the prompt is empty", hint='say what it does, such as "the fox walks"')
    return guidance


def read_rig(request: AnimateRequest, folder: Path, config: Config) -> ReadRig:
    """The rig of the asset, with the bones that were asked for; also written to the folder.

    Raises:
        InputError: The asset is missing, unknown or no rig, or no bone may move.
    """
    asset, kind = request.asset, request.asset.suffix.lower()
    if not asset.is_file():
        raise InputError(f"there is no file {asset}", hint="check the path of the rigged asset")
    if kind in GLTF:
        from atop_backend.skeletal.gltf_rig import read_gltf_rig

        rig, _, notes = read_gltf_rig(asset)
        armature = ""
    elif kind in OTHERS:
        from atop_backend.rendering import rigs

        found = rigs.read_rig(
            asset,
            folder / "blender",
            armature=request.armature,
            blender=request.blender,
            time_limit_s=config.animate.time_limit_s,
        )
        rig, armature, notes = load_rig(found.path), found.armature, found.notes
        found.path.unlink()
    else:
        raise InputError(
            f"{asset.name} is no rigged asset that can be read",
            hint=f"give a {', '.join((*GLTF, *OTHERS))} file",
        )
    rig = choose(rig, request.bones)
    if not rig.free().any() and not rig.chosen.any():
        raise InputError(
            "no bone may move", hint="unlock bones that deform the mesh, or name others"
        )
    save_rig(folder / "rig.npz", rig)
    return ReadRig(rig, armature, notes)


def _distil(
    request: AnimateRequest, config: Config, rig: Rig, guidance: str, tick: Tick
) -> Distilled:
    """The motion in the normalised frame."""
    body, placement = normalise(rig)
    match guidance:
        case "video":
            from atop_backend.skeletal.guided import follow_videos

            return follow_videos(request, config.animate, body, placement, tick)
        case "cogvideox":
            from atop_backend.skeletal.words import follow_words

            return follow_words(request, config.animate, body, placement, tick)
        case "prior":
            from atop_backend.skeletal.prior import follow_prior

            return follow_prior(request, config.animate, body, placement, tick)
    raise AssertionError(guidance)


def _track(config: Config, found: Distilled, cyclic: bool) -> Tracked:
    """The motion as bodies with weight make it."""
    from atop_backend.skeletal.physics import track

    settings = config.animate
    return track(
        found.rig, found.placement, found.pose, found.fps, cyclic,
        settings.physics_assist, settings.physics_trials,
    )  # fmt: skip
