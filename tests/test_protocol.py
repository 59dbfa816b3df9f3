"""Events survive the wire, and nothing else gets onto it."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest

from atop_backend import protocol
from atop_backend.protocol import Artifact, Cancelled, Failed, Finished, Progress

EVENTS = [
    Progress("fit", 3, 10, 0.75),
    Artifact("contact sheet", "/tmp/sheet.png"),
    Finished("/tmp/result.json", "revolute, opens 90 degrees"),
    Failed('a "quoted" part\nwas not found', "look again: Tür", 2),
    Cancelled(),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_survives_the_wire_as_one_line(event):
    line = protocol.encode(event)
    assert "\n" not in line
    assert protocol.decode(line) == event


def test_a_line_names_its_version_and_type():
    data = json.loads(protocol.encode(Progress("fit", 1, 2, 0.5)))
    assert data == {"v": 1, "type": "progress", "stage": "fit", "step": 1, "total": 2,
                    "fraction": 0.5}  # fmt: skip


def test_a_number_that_json_has_no_word_for_is_not_sent():
    with pytest.raises(ValueError, match="JSON"):
        protocol.encode(Progress("fit", 1, 2, math.nan))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Loading weights: 100%",
        "[1, 2]",
        '{"v": 2, "type": "cancelled"}',
        '{"v": 1, "type": "surprise"}',
        '{"v": 1, "type": "finished"}',
        '{"v": 1, "type": "cancelled", "extra": 1}',
        '{"v": 1, "type": "progress", "stage": "x", "step": 1, "total": 2, "fraction": NaN}',
    ],
)
def test_what_is_not_an_event_is_not_decoded(line):
    with pytest.raises(ValueError):  # noqa: PT011 - json and protocol word it differently
        protocol.decode(line)


def test_stdout_carries_events_alone_once_it_is_claimed():
    code = (
        "import os, subprocess, sys\n"
        "from atop_backend import protocol\n"
        "emit = protocol.claim_stdout()\n"
        "print('a stray print')\n"
        "os.write(1, b'a stray write\\n')\n"
        "subprocess.run([sys.executable, '-c', 'print(\"from a child\")'])\n"
        "emit(protocol.Cancelled())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [protocol.decode(line) for line in done.stdout.splitlines()] == [Cancelled()]
    for stray in ("a stray print", "a stray write", "from a child"):
        assert stray in done.stderr
