"""The types that cross a border: add-on and backend, parent and child process, stage and stage.

Standard library only, so that Blender's Python can import it. Bulk data never travels in these
types: it lies in a file that is named by its path.

Conventions of the whole project. World frame: right-handed, Z up. Lengths in metres (scene
units), angles in radians, image sizes in pixels, times in seconds. Cameras are OpenCV: x right,
y down, z forward. Matrices are named `a_to_b`, are row-major tuples and act on column vectors.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from atop_backend.errors import InputError

Vec3 = tuple[float, float, float]
Mat4 = tuple[tuple[float, float, float, float], ...]

JointKind = Literal["revolute", "prismatic"]
Motion = Literal["auto", "hinge", "slider"]
Preset = Literal["default", "paper", "tiny", "imagedream"]
Guidance = Literal["sampled", "sds", "x0"]
AnimateGuidance = Literal["auto", "video", "cogvideox", "prior"]

MOST_PROMPT = 1000  # letters; a longer text is no sentence about a part
REQUEST_PATHS = ("asset", "out", "weights", "finetuned", "earlier")  # of a request
ANIMATE_PATHS = ("asset", "out", "cameras", "weights")

MOTION_KINDS: dict[Motion, tuple[JointKind, ...]] = {
    "auto": ("revolute", "prismatic"),
    "hinge": ("revolute",),
    "slider": ("prismatic",),
}


def _choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name} is {value!r}", hint=f"choose one of {', '.join(allowed)}")


@dataclass(frozen=True, slots=True)
class JointMotion:
    """How one part moves relative to the rest of its object.

    Travel is in radians for a revolute joint and in metres for a prismatic one; zero is the
    pose in which the mesh was given, and positive travel is the motion that was asked for.
    """

    kind: JointKind
    axis: Vec3  # unit vector; the right-hand rule gives the sign of rotation
    origin: Vec3  # a point on the axis; the part's centre for a prismatic joint
    lower: float
    upper: float

    def __post_init__(self) -> None:
        _choice("joint type", self.kind, ("revolute", "prismatic"))
        numbers = (*self.axis, *self.origin, self.lower, self.upper)
        if len(self.axis) != 3 or len(self.origin) != 3 or not all(map(math.isfinite, numbers)):
            raise InputError(
                f"joint holds {numbers}", hint="axis and origin are three finite numbers each"
            )
        length = math.hypot(*self.axis)
        if not math.isclose(length, 1.0, abs_tol=1e-4):
            raise InputError(
                f"joint axis {self.axis} has length {length:.3g}, expected 1",
                hint="normalise the axis before building a JointMotion",
            )
        if self.lower > self.upper:
            raise InputError(
                f"joint range [{self.lower:.4g}, {self.upper:.4g}] is upside down",
                hint="give the lower limit first",
            )

    def flipped(self) -> JointMotion:
        """The same line, moving the other way."""
        x, y, z = self.axis
        return replace(self, axis=(-x, -y, -z))

    def to_dict(self) -> dict[str, Any]:
        """The joint as in `result.json`."""
        return {
            "type": self.kind,
            "axis": list(self.axis),
            "origin": list(self.origin),
            "range": [self.lower, self.upper],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> JointMotion:
        """The joint that `to_dict` wrote."""
        try:
            lower, upper = map(float, data["range"])
            axis = tuple(map(float, data["axis"]))
            origin = tuple(map(float, data["origin"]))
            return cls(data["type"], axis, origin, lower, upper)  # type: ignore[arg-type]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"joint description is incomplete ({error})",
                hint="it needs type, axis, origin and range",
            ) from error


@dataclass(frozen=True, slots=True)
class Camera:
    """A pinhole camera with square pixels and its principal point in the middle."""

    width_px: int
    height_px: int
    focal_px: float
    world_to_camera: Mat4  # OpenCV axes

    def __post_init__(self) -> None:
        if min(self.width_px, self.height_px, self.focal_px) <= 0:
            raise InputError("camera has no extent", hint="width, height and focal are positive")
        if len(self.world_to_camera) != 4 or any(len(row) != 4 for row in self.world_to_camera):
            raise InputError("camera matrix is not 4 x 4", hint="give four rows of four numbers")

    def to_dict(self) -> dict[str, Any]:
        """The camera as in `cameras.json`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Camera:
        """The camera that `to_dict` wrote."""
        rows = tuple(tuple(map(float, row)) for row in data["world_to_camera"])
        return cls(int(data["width_px"]), int(data["height_px"]), float(data["focal_px"]), rows)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What the artist asks for: one part of one asset, moved as a sentence says."""

    asset: Path
    parts: tuple[str, ...]  # selectors: a node or object name, material:, vgroup: or faces:FILE
    prompt: str
    out: Path  # the job folder
    motion: Motion = "auto"
    preset: Preset = "default"
    guidance: Guidance = "sampled"
    seed: int = 0
    device: str = "auto"  # auto, cpu, cuda, cuda:1
    blender: str = ""  # a Blender program; empty means the bpy module of this Python
    amount: float | None = None  # radians or metres; None lets the video and the prompt decide
    weights: Path | None = None  # a folder of ImageDream weights; None means the bundled model
    finetuned: Path | None = None
    initial: JointMotion | None = None  # in the asset's frame; the answer stays near this joint
    earlier: Path | None = None  # a job of the same part whose views and videos are used again
    overrides: tuple[str, ...] = ()  # "stage.key=value", see config.py

    def __post_init__(self) -> None:
        _choice("motion", self.motion, tuple(MOTION_KINDS))
        _choice("preset", self.preset, ("default", "paper", "tiny", "imagedream"))
        _choice("guidance", self.guidance, ("sampled", "sds", "x0"))
        if not self.parts or not all(part.strip() for part in self.parts):
            raise InputError("no part was named", hint="name the part that moves, --part NAME")
        if not self.prompt.strip():
            raise InputError(
                "the prompt is empty", hint='say how the part moves, such as "the door swings open"'
            )
        if not any(letter.isalpha() for letter in self.prompt) or len(self.prompt) > MOST_PROMPT:
            raise InputError(
                f"the prompt has no words, or more than {MOST_PROMPT} letters",
                hint='say in one sentence how the part moves, such as "the door swings open"',
            )

    def to_dict(self) -> dict[str, Any]:
        """The request as in `request.json`."""
        data = asdict(self)
        for key in REQUEST_PATHS:
            data[key] = None if data[key] is None else str(data[key])
        data["initial"] = None if self.initial is None else self.initial.to_dict()
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> JobRequest:
        """The request that `to_dict` wrote; an unknown key is an error."""
        data = _request_fields(cls, data, REQUEST_PATHS)
        if data.get("initial") is not None:
            data["initial"] = JointMotion.from_dict(data["initial"])
        for key in ("parts", "overrides"):
            values = data.get(key, ())
            if isinstance(values, str) or not all(isinstance(value, str) for value in values):
                raise InputError(f"{key} is {values!r}", hint="give a list of texts")
            data[key] = tuple(values)
        try:
            return cls(**data)
        except TypeError as error:
            raise InputError(
                f"the request is incomplete ({error})", hint="it needs asset, parts, prompt and out"
            ) from error


@dataclass(frozen=True, slots=True)
class Answer:
    """One possible joint and the chance that it is the right one."""

    joint: JointMotion
    confidence: float  # in [0, 1]
    sentence: str  # for people: type, where the axis lies, how far it moves

    def to_dict(self) -> dict[str, Any]:
        """The answer as in `result.json`."""
        return {
            "joint": self.joint.to_dict(),
            "confidence": self.confidence,
            "sentence": self.sentence,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Answer:
        """The answer that `to_dict` wrote."""
        return cls(
            JointMotion.from_dict(data["joint"]), float(data["confidence"]), str(data["sentence"])
        )


@dataclass(frozen=True, slots=True)
class JobResult:
    """What came out: the best answer, other answers, and where the pictures lie.

    Joints are in the frame and units of the given asset file.
    """

    best: Answer
    alternatives: tuple[Answer, ...] = ()  # other, different answers, best first
    files: dict[str, str] = field(default_factory=dict)  # name -> path relative to the job folder
    seconds: dict[str, float] = field(default_factory=dict)  # stage -> wall-clock seconds
    model: str = ""
    version: str = ""

    @property
    def joint(self) -> JointMotion:
        """The best answer's joint."""
        return self.best.joint

    def to_dict(self) -> dict[str, Any]:
        """The result as in `result.json`: the best answer at the top level."""
        return {
            **self.best.to_dict(),
            "alternatives": [answer.to_dict() for answer in self.alternatives],
            "files": dict(self.files),
            "seconds": dict(self.seconds),
            "model": self.model,
            "version": self.version,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> JobResult:
        """The result that `to_dict` wrote."""
        return cls(
            best=Answer.from_dict(data),
            alternatives=tuple(map(Answer.from_dict, data.get("alternatives", ()))),
            files=dict(data.get("files", {})),
            seconds=dict(data.get("seconds", {})),
            model=data.get("model", ""),
            version=data.get("version", ""),
        )


@dataclass(frozen=True, slots=True)
class AnimateRequest:
    """What the artist asks for: a rigged asset that moves as a sentence or a video shows."""

    asset: Path
    prompt: str  # may be empty where a video is given
    out: Path  # the job folder
    armature: str = ""  # empty for the only one
    bones: tuple[str, ...] = ()  # only these may move; empty for all that deform
    guidance: AnimateGuidance = "auto"
    videos: tuple[Path, ...] = ()  # mp4 files, or folders of frames; one a camera
    cameras: Path | None = None  # cameras.json, one a video
    weights: Path | None = None  # a folder of CogVideoX weights
    frames: int = 24  # poses
    fps: float = 24.0  # poses a second
    cyclic: bool = False  # the last pose is the first
    seed: int = 0
    device: str = "auto"
    blender: str = ""
    overrides: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _choice("guidance", self.guidance, ("auto", "video", "cogvideox", "prior"))
        if not self.videos and not any(letter.isalpha() for letter in self.prompt):
            raise InputError(
                "there is neither a prompt nor a video",
                hint='say what the rig does, such as "it walks", or give a video of the motion',
            )
        if len(self.prompt) > MOST_PROMPT:
            raise InputError(
                f"the prompt has more than {MOST_PROMPT} letters", hint="say it in one sentence"
            )
        if self.frames < 2 or not (math.isfinite(self.fps) and self.fps > 0):
            raise InputError(
                f"{self.frames} frames at {self.fps:g} a second are no motion",
                hint="ask for at least 2 frames, at a rate above 0",
            )

    def to_dict(self) -> dict[str, Any]:
        """The request as in `request.json`."""
        data = asdict(self)
        for key in ANIMATE_PATHS:
            data[key] = None if data[key] is None else str(data[key])
        data["videos"] = [str(video) for video in self.videos]
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> AnimateRequest:
        """The request that `to_dict` wrote; an unknown key is an error."""
        data = _request_fields(cls, data, ANIMATE_PATHS)
        try:
            data["videos"] = tuple(map(Path, data.get("videos", ())))
            for key in ("bones", "overrides"):
                data[key] = tuple(map(str, data.get(key, ())))
            return cls(**data)
        except TypeError as error:
            raise InputError(
                f"the request is incomplete ({error})", hint="it needs asset, prompt and out"
            ) from error


def _request_fields(
    kind: type[JobRequest] | type[AnimateRequest], data: dict[str, Any], paths: tuple[str, ...]
) -> dict[str, Any]:
    """The data with texts made paths; an unknown key is an error."""
    unknown = set(data) - set(kind.__dataclass_fields__)
    if unknown:
        raise InputError(
            f"the request has unknown keys {sorted(unknown)}",
            hint="remove them or use the matching add-on and backend versions",
        )
    return data | {key: Path(data[key]) for key in paths if data.get(key) is not None}
