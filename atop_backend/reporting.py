"""How a job tells what it does: a bar for people, or events on a private stdout for programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from atop_backend import protocol
from atop_backend.protocol import Artifact, Cancelled, Event, Failed, Finished, Progress

Emit = Callable[[Event], None]
Tick = Callable[[int, int], None]  # (steps done, steps in all) of one stage

# Rough shares of the wall-clock time of a default job on two cores; they only shape the bar.
STAGE_WEIGHTS = {"render": 15.0, "generate": 50.0, "fit": 20.0, "report": 15.0}
STAGE_WEIGHTS |= {"rig": 3.0, "distil": 80.0, "physics": 10.0}  # of `atop animate`

_LEFT_BY = {  # what a cancelled run keeps, where it is something
    "clips": "complete clips are kept, and the same command films the others",
    "finetune": "the same command goes on from the last saved state",
}


class JobProgress:
    """Turns the steps of the stages that will run into one fraction of the whole job."""

    def __init__(self, stages: tuple[str, ...], emit: Emit) -> None:
        self._stages = stages
        self._emit = emit
        self._total = sum(STAGE_WEIGHTS[stage] for stage in stages)

    def tick(self, stage: str) -> Tick:
        """A function that reports steps of one stage."""
        before = sum(STAGE_WEIGHTS[name] for name in self._stages[: self._stages.index(stage)])

        def report(step: int, total: int) -> None:
            done = before + STAGE_WEIGHTS[stage] * step / max(total, 1)
            self._emit(Progress(stage, step, total, round(done / self._total, 4)))

        return report


class TerminalReporter:
    """Shows events to people: one bar for the whole job, redrawn in place on a terminal.

    Args:
        bar: Where the bar goes; results go to `out`, so that they can be piped.
    """

    WIDTH = 30

    def __init__(self, out: TextIO | None = None, bar: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._bar = bar or sys.stderr
        self._redraws = self._bar.isatty()
        self._start = time.monotonic()
        self._stage = ""
        self._artifacts: list[Artifact] = []

    def __call__(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Progress():
                self._draw(event)
            case Artifact():
                self._artifacts.append(event)
            case Finished(_, sentence):
                self._end_bar()
                print(sentence, file=self._out)
                for artifact in self._artifacts:
                    print(f"  {artifact.name:14} {artifact.path}", file=self._out)
            case Failed(message, hint):
                self._end_bar()
                print(f"error: {message}" + (f"\n  {hint}" if hint else ""), file=self._bar)
            case Cancelled():
                left = _LEFT_BY.get(self._stage, "nothing was left behind")
                self._end_bar()
                print(f"cancelled; {left}", file=self._bar)

    def _draw(self, event: Progress) -> None:
        if not self._redraws:
            if event.stage != self._stage:
                self._stage = event.stage
                seconds = time.monotonic() - self._start
                print(f"{event.fraction:4.0%}  {event.stage}  ({seconds:.0f} s)", file=self._bar)
            return
        self._stage = event.stage
        filled = round(event.fraction * self.WIDTH)
        bar = "#" * filled + "." * (self.WIDTH - filled)
        steps = f"{event.step}/{event.total}"
        line = f"\r[{bar}] {event.fraction:4.0%}  {event.stage} {steps}  {self._left(event)}"
        print(f"{line:<79}", end="", file=self._bar, flush=True)

    def _left(self, event: Progress) -> str:
        spent = time.monotonic() - self._start
        if event.fraction < 0.05:
            return ""
        return f"about {spent * (1 - event.fraction) / event.fraction:.0f} s left"

    def _end_bar(self) -> None:
        if self._redraws and self._stage:
            print(file=self._bar)
            self._stage = ""


def reporter(events: str | None) -> Emit:
    """The way to report that was asked for: None for people, "jsonl" for programs."""
    return TerminalReporter() if events is None else protocol.claim_stdout()
