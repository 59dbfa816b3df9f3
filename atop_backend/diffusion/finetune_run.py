"""The state of a finetuning run: moving average, best weights so far, and going on after a stop."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

from atop_backend.errors import InputError


class Run:
    """Weights in training and what is kept of them.

    Args:
        parameters: What the run changes.
        optimiser: Over the same parameters.
        scaler: Of losses in half precision; None where none are scaled.
    """

    def __init__(
        self,
        parameters: Sequence[nn.Parameter],
        optimiser: torch.optim.Optimizer,
        scaler: torch.amp.GradScaler | None = None,
    ) -> None:
        self.parameters = list(parameters)
        self.optimiser = optimiser
        self.scaler = scaler or torch.amp.GradScaler("cpu", enabled=False)
        self.checks: list[tuple[int, list[float]]] = []  # step, losses on held-out clips
        self.step = 0
        self.best = self._copies()
        self.best_loss = float("inf")
        self._average = self._copies()
        self._stale = 0

    def _copies(self) -> list[Tensor]:
        return [parameter.detach().clone() for parameter in self.parameters]

    @torch.no_grad()
    def count(self, decay: float) -> None:
        """A step is done: the moving average follows, faster at first."""
        self.step += 1
        decay = min(decay, (1 + self.step) / (10 + self.step))
        torch._foreach_lerp_(self._average, self._copies(), 1 - decay)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Meanwhile the network has the average of its weights."""
        own = self._copies()
        self._put(self._average)
        try:
            yield
        finally:
            self._put(own)

    @torch.no_grad()
    def _put(self, values: Sequence[Tensor]) -> None:
        for parameter, value in zip(self.parameters, values, strict=True):
            parameter.copy_(value)

    def judge(self, losses: Sequence[float] | None) -> None:
        """Keep the average as the best if it is; without held-out clips the latest one counts."""
        loss = sum(losses) / len(losses) if losses else None
        if losses:
            self.checks.append((self.step, list(losses)))
        if loss is not None and loss >= self.best_loss:
            self._stale += 1
            return
        self._stale = 0
        self.best_loss = self.best_loss if loss is None else loss
        self.best = [value.clone() for value in self._average]

    def is_stale(self, patience: int) -> bool:
        """Whether that many checks in a row brought no gain."""
        return 0 < patience <= self._stale

    def save(self, path: Path) -> None:
        """Write all that is needed to go on; a stop while writing leaves the older state."""
        state = {
            "parameters": [parameter.detach() for parameter in self.parameters],
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "best": self.best,
            "best_loss": self.best_loss,
            "average": self._average,
            "stale": self._stale,
            "scaler": self.scaler.state_dict(),
            "checks": self.checks,
        }
        unfinished = path.with_suffix(".part")
        torch.save(state, unfinished)
        os.replace(unfinished, path)

    def resume(self, path: Path) -> None:
        """Go on from a saved state, if there is one."""
        if not path.is_file():
            return
        device = self.parameters[0].device
        try:
            state = torch.load(path, map_location=device, weights_only=True)
            self.optimiser.load_state_dict(state["optimiser"])
            self._put(state["parameters"])
            self.scaler.load_state_dict(state["scaler"])
        except (RuntimeError, EOFError, KeyError, ValueError, pickle.UnpicklingError) as error:
            raise InputError(
                f"{path} is no state of this run ({error})", hint="remove it to begin anew"
            ) from error
        self.step, self._stale = state["step"], state["stale"]
        self.best, self.best_loss = state["best"], state["best_loss"]
        self._average = state["average"]
        self.checks = [(step, list(losses)) for step, losses in state["checks"]]

    def best_check(self) -> tuple[int, list[float]]:
        """Step and losses of the check whose weights are kept; one that was made is needed."""
        return min(self.checks, key=lambda check: sum(check[1]))
