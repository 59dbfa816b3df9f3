"""Every choice of a job in one frozen dataclass per stage, with presets, TOML and overrides.

A value is taken from, in order: an override "stage.key=value" (a TOML file is read as such), the
preset, the default written here. Standard library only: the command line reads it before
anything heavy.
"""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from atop_backend.contracts import Preset
from atop_backend.errors import InputError


@dataclass(frozen=True, slots=True)
class RenderConfig:
    """Step 1: four views of the rest state."""

    elevation_deg: float = 20.0  # the paper has 10 or 30 by category; between them serves both
    samples: int = 16  # Cycles paths a pixel; nearly clean, and denoising would cost more
    time_limit_s: float = 180.0  # a Blender that hangs is killed after this


@dataclass(frozen=True, slots=True)
class GenerateConfig:
    """Step 2: videos of the moving part, all views at once."""

    model: Literal["mini", "imagedream"] = "mini"
    random_weights: bool = False  # a small net with weights from the seed, for tests
    samples: int = 4  # independent clips for the fit; how far they agree gives the confidence
    # DDIM steps of each: on 300 held-out objects the fit, by the clips alone, is right on 76, 79,
    # 80 and 79 % with 1, 2, 3 and 4 of them.
    steps: int = 2
    guidance_scale: float = 1.0  # 1 and 2 cannot be told apart for the fit, and 1 halves the work
    frames: tuple[float, ...] = (1 / 3, 2 / 3, 1.0)  # fractions of the motion
    videos: bool = True  # also write the four videos people look at
    frames_between: int = 7  # of a video, drawn for each frame of the clip: an even motion


@dataclass(frozen=True, slots=True)
class FitConfig:
    """Step 3: from videos to a joint."""

    points: int = 2048  # samples on the part, and as many on the rest (paper 5.1)
    hypotheses: Literal["full", "paper"] = "full"  # paper: box directions x seven origins
    refine: bool = True  # continuous refinement of the best hypotheses; not in the paper
    geometry: bool = True  # where part and body meet, and what a sweep hits; not in the paper
    video: bool = True  # False leaves geometry alone to decide; for comparison only
    gaussians: bool = False  # also "sampled" moves gaussians (paper 4.4), motion channels or not
    optimise_steps: int = 120  # gradient steps of gaussians; the paper does not say how many
    learning_rate: float = 5e-3  # of gaussian centres (paper 5.1)
    # Terms of the score of a hypothesis, in units of log probability; 0 switches a term off.
    displacement_weight: float = 5.0  # per e-fold of motion left unexplained
    blur: float = 0.005  # share of motion unexplained that tells nothing even without noise
    doubt: float = 30.0  # times the samples' relative variance: share that tells nothing besides
    silhouette_weight: float = 1.0  # per e-fold of outline missed
    collision_weight: float = 1.0  # for a part that passes through the body as a whole
    contact_weight: float = 0.4  # for a hinge away from where part and body meet
    attachment_weight: float = 0.35  # for a part that ends up in the air
    handle_weight: float = 0.8  # for a hinge at the edge where a flat part's handle is
    direction_weight: float = 1.5  # for a hinge direction measured, not offered by the shape
    slide_direction_weight: float = 6.0  # the same for a slide, which almost always follows it
    edge_weight: float = 0.7  # for a hinge on no edge, contact line or round piece
    slide_bonus: float = 0.0  # for a slide, which has fewer free numbers than a turn
    words_weight: float = 0.75  # of what the prompt itself says of the motion, in its log odds
    # Logistic map from log odds, agreement of samples and share of motion explained to the chance
    # of being right: constant and three slopes, from scripts/calibrate_confidence.py.
    confidence: tuple[float, ...] = (0.99, 0.34, 0.84, 0.37)


@dataclass(frozen=True, slots=True)
class ReportConfig:
    """Step 4: what people and other programs take away."""

    contact_sheet: bool = True
    scene: bool = True  # articulated.blend and articulated.glb, made by Blender
    seconds: float = 2.0  # length of the keyframed motion and of the videos
    fps: int = 24
    easing: Literal["LINEAR", "EASE", "BOUNCE"] = "EASE"  # of the keyframes
    time_limit_s: float = 180.0  # for the Blender that writes the scene


@dataclass(frozen=True, slots=True)
class AnimateConfig:
    """`atop animate`: skeletal motion. Lengths in radii of the body, angles in radians."""

    points: int = 500  # gaussians on the skin
    picture_px: int = 112  # size of the body in the pictures that are compared
    most_frames: int = 24  # of a video that are looked at, evenly chosen
    splines: bool = True  # B-splines in time; False gives every frame its own variables
    frames_per_control: float = 1.5  # frames that are looked at, for each control point
    learning_rate: float = 0.03
    root_steps: int = 40  # of the body as a whole
    guesses: int = 6  # of every frame, against local minima; 1 leaves that search out
    guess_rounds: int = 8
    guess_steps: int = 8
    coarse_steps: int = 60  # all frames together, by outlines
    fine_steps: int = 40  # the same, by pixels too
    rays: int = 96  # pixels rendered of each frame and step
    rendered_frames: int = 4  # of each view and step, while pixels refine
    outline_weight: float = 100.0
    pixel_weight: float = 2.0
    # Along words, with CogVideoX. The AKD paper takes 10,000 steps; other values are not published.
    words_steps: int = 2000
    words_px: int = 180  # width at which the body is rendered, then enlarged for the model
    words_scale: float = 7.5  # classifier-free guidance
    words_weight: float = 1.0
    distillation: Literal["x0", "sds"] = "x0"
    # Along words, with the bundled prior.
    prior_steps: int = 12  # denoising steps
    prior_scale: float = 1.5  # classifier-free guidance
    prior_guidance: Literal["sampled", "x0", "sds"] = "sampled"  # the others want a GPU
    field_weight: float = 300.0  # of the motion that the prior sees
    field_steps: int = 200  # of the fit to it
    travel: bool = True  # gaits get along; False keeps them on the spot
    renderer: Literal["auto", "metaballs", "gsplat"] = "auto"  # auto: gsplat on a GPU, if there
    ground: bool = True  # a checkerboard under the body
    follow: bool = True  # the camera goes with the root; False keeps it where it is
    azimuth_deg: float = 40.0  # of that camera; 0 looks at the front
    elevation_deg: float = 12.0
    # Regularisers; 0 switches a term off.
    smooth_weight: float = 0.02
    ground_weight: float = 10.0
    slide_weight: float = 0.0
    limit_weight: float = 0.1
    rest_weight: float = 0.02
    # Afterwards, rigid bodies under gravity follow the motion by the torques of their joints.
    physics: bool = False  # needs MuJoCo
    physics_assist: float = 0.5  # body weights that may hold the root along the ground, never up
    physics_trials: int = 5  # simulations from which the joints' targets are learned
    scene: bool = True  # animated.blend and animated.glb, made by Blender
    time_limit_s: float = 180.0  # for each run of Blender


@dataclass(frozen=True, slots=True)
class Config:
    """All stages of one job."""

    render: RenderConfig = field(default_factory=RenderConfig)
    generate: GenerateConfig = field(default_factory=GenerateConfig)
    fit: FitConfig = field(default_factory=FitConfig)
    report: ReportConfig = field(default_factory=ReportConfig)
    animate: AnimateConfig = field(default_factory=AnimateConfig)

    def to_dict(self) -> dict[str, Any]:
        """The configuration as in `config.json`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Config:
        """The configuration that `to_dict` wrote, or a part of it on top of the defaults."""
        return _merge(cls(), data)


_PRESETS: dict[Preset, dict[str, dict[str, Any]]] = {
    "default": {},
    # the literal method: 10 frames of 50 steps at scale 5, box hypotheses, nothing added
    "paper": {
        "generate": {
            "samples": 1,
            "steps": 50,
            "guidance_scale": 5.0,
            "frames": [i / 9 for i in range(1, 10)],
        },
        "fit": {
            "hypotheses": "paper",
            "refine": False,
            "geometry": False,
            "gaussians": True,
            "optimise_steps": 1000,
        },
    },
    "tiny": {
        "generate": {
            "random_weights": True,
            "samples": 2,
            "steps": 1,
        },
        "fit": {"points": 256, "optimise_steps": 5},
        "render": {"samples": 2},
    },
    "imagedream": {
        "generate": {
            "model": "imagedream",
            "samples": 1,
            "steps": 50,
            "guidance_scale": 5.0,
            "frames": [i / 9 for i in range(1, 10)],
        },
    },
}


def resolve(preset: Preset = "default", overrides: Sequence[str] = ()) -> Config:
    """The configuration of a job.

    Args:
        overrides: "stage.key=value" each, in TOML syntax or a bare word; the last one wins.
    """
    config = _merge(Config(), _PRESETS[preset])
    for override in overrides:
        config = _merge(config, _parse_override(override))
    return config


def overrides_from_toml(file: Path) -> tuple[str, ...]:
    """A TOML file with one table a stage, as overrides, so that a request holds all of it."""
    try:
        with file.open("rb") as stream:
            tables = tomllib.load(stream)
    except OSError as error:
        raise InputError(
            f"configuration file {file} cannot be read ({error.strerror})",
            hint="check --config",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not TOML ({error})", hint="mend the line it names") from error
    _merge(Config(), tables)
    return tuple(
        f"{stage}.{key}={json.dumps(value)}"
        for stage, values in tables.items()
        for key, value in values.items()
    )


def read_config(job_dir: Path) -> Config:
    """The configuration with which a job folder was made."""
    path = job_dir / "config.json"
    try:
        return Config.from_dict(json.loads(path.read_text(encoding="utf-8"))["config"])
    except (OSError, KeyError, ValueError) as error:
        raise InputError(
            f"{path} cannot be read ({error})", hint="give the folder of a job that was started"
        ) from error


def _parse_override(text: str) -> dict[str, dict[str, Any]]:
    name, equals, value = text.partition("=")
    stage, dot, key = name.strip().partition(".")
    if not equals or not dot or not key:
        raise InputError(
            f"override {text!r} is not of the form stage.key=value",
            hint="write for instance --set generate.samples=8",
        )
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()  # a bare word, as a shell leaves it
    return {stage: {key: parsed}}


def _merge(config: Config, data: Mapping[str, Any]) -> Config:
    stages = {entry.name for entry in dataclasses.fields(config)}
    for stage, values in data.items():
        if stage not in stages:
            raise InputError(
                f"the configuration has no stage {stage!r}",
                hint=f"stages are {', '.join(sorted(stages))}",
            )
        if not isinstance(values, Mapping):
            raise InputError(
                f"{stage} is {values!r}, expected a table of settings",
                hint=f"write {stage}.key = value",
            )
        config = replace(config, **{stage: _merge_stage(stage, getattr(config, stage), values)})
    return config


def _merge_stage(stage: str, settings: Any, values: Mapping[str, Any]) -> Any:
    types = typing.get_type_hints(type(settings))
    for key in values:
        if key not in types:
            raise InputError(
                f"{stage} has no setting {key!r}", hint=f"settings are {', '.join(sorted(types))}"
            )
    return replace(
        settings, **{key: _checked(f"{stage}.{key}", types[key], v) for key, v in values.items()}
    )


def _checked(name: str, kind: Any, value: Any) -> Any:
    """The value as its field's type, or an error that says what the field takes."""
    if typing.get_origin(kind) is Literal:
        allowed = typing.get_args(kind)
        if value in allowed:
            return value
        expected = f"one of {', '.join(map(str, allowed))}"
    elif typing.get_origin(kind) is tuple:
        numeric = isinstance(value, list | tuple) and all(
            isinstance(entry, int | float) and not isinstance(entry, bool) for entry in value
        )
        if numeric and value:
            return tuple(float(entry) for entry in value)
        expected = "a list of numbers"
    elif kind is bool:
        if isinstance(value, bool):
            return value
        expected = "true or false"
    elif kind is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and math.isfinite(value) and value >= 0:
            return float(value)
        expected = "a number of at least 0"
    elif kind is int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return value
        expected = "a whole number of at least 1"
    else:
        if isinstance(value, str):
            return value
        expected = "text"
    raise InputError(f"{name} is {value!r}", hint=f"it takes {expected}")
