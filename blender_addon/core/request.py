"""The artist's choices -> a checked request, and the command that carries it out."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from atop_backend.contracts import AnimateRequest, JobRequest, Motion, Preset
from atop_backend.errors import InputError, SetupError
from atop_backend.prompt_amount import prompt_amount

AmountMode = Literal["AUTO", "DEGREES", "DISTANCE"]
EXAMPLES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("drawer", "tray", "rack"), ("the drawer is pulled out", "the drawer slides in")),
    (("lid", "cover", "flap", "hood"), ("the lid flips up", "open the lid 70 degrees")),
    (("oven", "dishwasher", "tailgate"), ("the door folds down", "the door folds down halfway")),
    (("window", "sash", "shutter"), ("the window swings open", "the window slides up")),
    (("wheel", "knob", "dial", "fan", "tap", "valve"), ("it turns once", "it turns 90 degrees")),
    (("switch", "lever", "handle", "pedal"), ("the lever tilts down", "it turns 45 degrees")),
    (("button", "key"), ("the button is pushed in", "the button is pushed in by 5 mm")),
    (("screen", "laptop", "display"), ("the screen tilts open", "the laptop closes")),
    (("door", "gate", "fridge"), ("the left door swings open", "the door slides to the right")),
)
ANY_PART = ("it swings open", "it slides out", "it opens 70 degrees over 2 seconds")


@dataclass(frozen=True, slots=True)
class Choices:
    """What the artist set in the panel and in the preferences."""

    prompt: str
    motion: Motion = "auto"
    preset: Preset = "default"
    amount_mode: AmountMode = "AUTO"
    amount: float = 0.0  # radians or scene units, as the mode says
    metres_per_unit: float = 1.0
    seed: int = 0
    device: str = "auto"
    blender: str = ""
    weights: str = ""
    finetuned: str = ""
    overrides: tuple[str, ...] = ()


def build_request(choices: Choices, asset: Path, parts: tuple[str, ...], out: Path) -> JobRequest:
    """The request for one part.

    Raises:
        InputError: The choices make no request: empty prompt, an amount of nothing.
        SetupError: The preset needs a folder of weights that is not set.
    """
    amount = target_amount(choices)
    if choices.preset == "imagedream" and not choices.weights:
        raise SetupError(
            "the ImageDream model has no folder of weights",
            hint="set it in the add-on's preferences, or choose the bundled model",
        )
    return JobRequest(
        asset=asset,
        parts=parts,
        prompt=choices.prompt,
        out=out,
        motion=choices.motion,
        preset=choices.preset,
        guidance="sds" if choices.preset == "paper" else "sampled",
        seed=choices.seed,
        device=choices.device or "auto",
        blender=choices.blender,
        amount=amount,
        weights=Path(choices.weights) if choices.weights else None,
        finetuned=Path(choices.finetuned) if choices.finetuned else None,
        overrides=choices.overrides,
    )


def target_amount(choices: Choices) -> float | None:
    """How far the part should move, radians or scene units; None lets video and prompt decide.

    A distance in the prompt is in metres and has to become scene units here, since the backend
    knows of no scene.
    """
    if choices.amount_mode == "AUTO":
        said = prompt_amount(choices.prompt)
        if said.angle_rad is None and said.distance_m is not None:
            return said.distance_m / choices.metres_per_unit
        return None
    if not choices.amount > 0 or not math.isfinite(choices.amount):
        raise InputError(
            f"the target amount is {choices.amount:g}",
            hint="choose more than zero, or Auto",
        )
    return choices.amount


def motion_for(motion: Motion, mode: AmountMode) -> Motion:
    """The kind of motion that an explicit amount leaves open: degrees turn, distances slide."""
    implied: dict[AmountMode, Motion] = {"DEGREES": "hinge", "DISTANCE": "slider"}
    wanted = implied.get(mode, motion)
    if motion not in ("auto", wanted):
        raise InputError(
            f"a {motion} cannot move by {'a distance' if mode == 'DISTANCE' else 'an angle'}",
            hint="choose the other motion, or set Amount to Auto",
        )
    return wanted


def examples_for(name: str) -> tuple[str, ...]:
    """Prompts that fit a part of this name, for people to start from."""
    words = set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
    for keys, prompts in EXAMPLES:
        if any(word.startswith(key) for key in keys for word in words):
            return prompts
    return ANY_PART


def write_request(request: JobRequest | AnimateRequest, path: Path) -> None:
    """Write the request for the backend to read.

    Raises:
        InputError: The folder cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(request.to_dict(), indent=1), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path.parent} cannot be written to ({error.strerror})",
            hint="set another cache folder in the add-on's preferences",
        ) from error


def backend_command(python: str, *arguments: str) -> list[str]:
    """The command line of the backend.

    Raises:
        SetupError: No interpreter is set, or there is none at that path.
    """
    program = Path(python).expanduser()
    if not python:
        raise SetupError(
            "the backend is not set up",
            hint="run scripts/setup.sh, then set its Python in the add-on's preferences",
        )
    if not program.is_file():
        raise SetupError(
            f"there is no Python at {python}",
            hint="set the backend's interpreter in the add-on's preferences",
        )
    return [str(program), "-m", "atop_backend", *arguments]
