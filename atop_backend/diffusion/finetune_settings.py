"""Settings of a finetuning run, the published ones by name, and how a run's folder keeps them."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from atop_backend.diffusion.unet import Trained
from atop_backend.errors import InputError

Precision = Literal["auto", "fp32", "bf16", "fp16"]
# what may differ when a run goes on; the rest decides what comes out
_FREE = ("steps", "device", "out", "checkpointing", "patience", "sample_every")


@dataclass(frozen=True, slots=True)
class FinetuneConfig:
    """One run. `SETTINGS` has the published ones by name."""

    clips: Path
    out: Path
    base: Literal["mini", "imagedream"] = "mini"
    weights: Path | None = None  # ImageDream's
    held_out: Path | None = None  # clips that are only looked at, for the early stop
    trained: Trained = "paper"
    steps: int = 400
    batch: int = 1  # clips a step, divided among the processes
    learning_rate: float = 1e-4
    optimiser: Literal["adam", "adamw"] = "adamw"
    frames: int = 3  # moved frames in a step, other ones each time; 0 takes all
    text_dropout: float = 0.1  # as the released code; guidance needs a network that knows no words
    clip_norm: float = 1.0  # largest gradient of a step
    ema: float = 0.99  # decay of the moving average that is written out
    check_every: int = 50  # steps between checks on held-out clips and saved states
    patience: int = 4  # checks without gain before the run ends; counts with held-out clips only
    sample_every: int = 0  # steps between pictures of what the network makes of a clip; 0 for none
    precision: Precision = "auto"  # of the products; auto is bf16 on a GPU and fp32 elsewhere
    checkpointing: bool = False  # recompute blocks in the backward pass: less memory, more time
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "check_every"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}", hint="give a whole number > 0")
        if not (math.isfinite(self.learning_rate) and self.learning_rate >= 0):
            raise InputError(
                f"learning_rate is {self.learning_rate}", hint="give a number such as 1e-4"
            )
        if not 0 <= self.ema < 1 or not 0 <= self.text_dropout <= 1:
            raise InputError(
                f"ema is {self.ema}, text_dropout is {self.text_dropout}", hint="take shares of 1"
            )
        if self.base == "imagedream" and self.weights is None:
            raise InputError(
                "finetuning ImageDream needs its weights", hint="name their folder with --weights"
            )


# paper 5.1, and what the released code does instead; the first is far outside what others found
# to keep an image model from returning its training clips
SETTINGS: dict[str, dict[str, Any]] = {
    "mini": {},
    "paper": {
        "base": "imagedream",
        "steps": 20_000,
        "learning_rate": 5e-4,
        "optimiser": "adam",
        "frames": 0,
        "ema": 0.999,
        "check_every": 500,
        "checkpointing": True,
    },
    "released": {
        "base": "imagedream",
        "trained": "paper_code",
        "steps": 4000,
        "learning_rate": 3e-5,
        "frames": 0,
        "ema": 0.999,
        "check_every": 200,
        "checkpointing": True,
    },
}


def keep_settings(config: FinetuneConfig) -> None:
    """Write the settings into the run's folder, or refuse to mix two runs in one.

    Raises:
        InputError: The folder holds other files, or a run with other settings.
    """
    settings = {
        key: str(value) if isinstance(value, Path) else value
        for key, value in asdict(config).items()
    }
    path = config.out / "config.json"
    if path.is_file():
        try:
            earlier = json.loads(path.read_text(encoding="utf-8"))
            changed = [k for k in settings if k not in _FREE and settings[k] != earlier.get(k)]
        except (ValueError, AttributeError) as error:
            raise InputError(f"{path} is damaged ({error})", hint="take another folder") from error
        if changed:
            raise InputError(
                f"{config.out} holds a run with another {', '.join(changed)}",
                hint="take another folder, or the settings of that run to go on with it",
            )
    elif config.out.is_dir() and any(config.out.iterdir()):
        raise InputError(f"{config.out} holds other files", hint="take an empty or new folder")
    config.out.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
