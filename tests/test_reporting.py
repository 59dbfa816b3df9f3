"""What people are told while a command runs and when it ends."""

import io

import pytest

from atop_backend.protocol import Cancelled, Progress
from atop_backend.reporting import TerminalReporter


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("fit", "nothing was left behind"),
        ("clips", "complete clips are kept"),
        ("finetune", "goes on from the last saved state"),
    ],
)
@pytest.mark.parametrize("terminal", [False, True])
def test_who_cancels_is_told_what_is_kept(stage, words, terminal):
    bar = io.StringIO()
    bar.isatty = lambda: terminal
    report = TerminalReporter(io.StringIO(), bar)
    report(Progress(stage, 1, 4, 0.25))
    report(Cancelled())
    assert words in bar.getvalue().splitlines()[-1]
