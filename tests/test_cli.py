"""The command line as real processes: what they print, how they end, what they leave behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from needs import needs_blender, needs_torch
from toys import write_chest

from atop_backend import protocol
from atop_backend.contracts import JobResult
from atop_backend.protocol import Artifact, Cancelled, Failed, Finished, Progress

ATOP = [sys.executable, "-m", "atop_backend"]
STAGES = ("articulate", "render", "generate", "fit", "report")
OTHERS = ("batch", "clips", "export", "finetune", "doctor")
TINY = ["--preset", "tiny", "--device", "cpu"]


def atop(*arguments, cwd=None):
    """Run atop to its end."""
    return subprocess.run(
        [*ATOP, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip


def start(*arguments):
    """Run atop with its events and input on pipes."""
    return subprocess.Popen(
        [*ATOP, *map(str, arguments), "--events", "jsonl"], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip


def events_of(process):
    """All events of a process that ends by itself, its input left open until then."""
    lines = list(process.stdout)
    process.wait(timeout=60)
    process.stdin.close()
    return [protocol.decode(line) for line in lines]


def articulate(asset, out):
    return ["articulate", asset, "--part", "lid", "--prompt", "the lid opens", "--out", out, *TINY]


@pytest.fixture(scope="module")
def chest(tmp_path_factory):
    return write_chest(tmp_path_factory.mktemp("asset") / "chest.obj")


@pytest.fixture(scope="module")
def finished(chest, tmp_path_factory):
    """The events, exit code and folder of one job."""
    out = tmp_path_factory.mktemp("jobs") / "job"
    process = start(*articulate(chest, out))
    events = events_of(process)
    return events, process.returncode, out, process.stderr.read()


@needs_blender
@needs_torch
def test_a_job_ends_in_exactly_one_terminal_event_and_code_0(finished):
    events, code, out, errors = finished
    ends = [event for event in events if isinstance(event, protocol.TERMINAL)]
    assert code == 0, errors
    assert ends == events[-1:]
    assert ends[0].result == str(out / "result.json")


@needs_blender
@needs_torch
def test_progress_of_the_whole_job_never_goes_back_and_ends_at_one(finished):
    fractions = [event.fraction for event in finished[0] if isinstance(event, Progress)]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0
    assert fractions[-1] == 1.0


@needs_blender
@needs_torch
def test_all_that_was_promised_is_in_the_job_folder(finished):
    events, _, out, _ = finished
    told = {event.path for event in events if isinstance(event, Artifact)}
    for name in ("articulated.blend", "articulated.glb", "contact_sheet.png", "result.json",
                 *(f"generate/view_{view}.mp4" for view in range(4))):  # fmt: skip
        assert str(out / name) in told
        assert (out / name).stat().st_size > 100, name
    assert not [path for path in out.parent.iterdir() if path != out]


@needs_blender
@needs_torch
def test_the_result_holds_a_joint_other_answers_and_the_time_of_each_step(finished):
    data = json.loads((finished[2] / "result.json").read_text())
    result = JobResult.from_dict(data)
    assert data["joint"]["type"] in ("revolute", "prismatic")
    assert result.joint.lower == 0 < result.joint.upper
    assert set(result.seconds) == {"render", "generate", "fit", "report"}
    assert finished[0][-1] == Finished(str(finished[2] / "result.json"), result.best.sentence)


@needs_blender
@needs_torch
def test_settings_seed_and_version_are_kept_with_the_job(finished):
    data = json.loads((finished[2] / "config.json").read_text())
    assert data["seed"] == 0
    assert data["version"]
    assert data["config"]["generate"]["random_weights"] is True


@needs_blender
@needs_torch
def test_the_same_request_file_gives_the_same_joint_again(finished, tmp_path):
    request = json.loads((finished[2] / "request.json").read_text())
    request["out"] = str(tmp_path / "again")
    (tmp_path / "request.json").write_text(json.dumps(request))
    done = atop("articulate", "--request", tmp_path / "request.json")
    assert done.returncode == 0, done.stderr
    first, second = (json.loads((Path(folder) / "result.json").read_text())
                     for folder in (finished[2], request["out"]))  # fmt: skip
    assert second["joint"] == first["joint"]
    assert second["alternatives"] == first["alternatives"]


@needs_blender
@needs_torch
def test_for_people_the_sentence_and_the_files_are_printed(finished):
    job = finished[2]
    done = atop("report", job, "--set", "report.scene=false")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == json.loads((job / "result.json").read_text())["sentence"]
    assert any(str(job / "contact_sheet.png") in line for line in lines)
    assert "report" in done.stderr


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir())


@needs_blender
@needs_torch
@pytest.mark.parametrize("stage", ["render", "generate"])
def test_closing_stdin_cancels_a_job_and_leaves_nothing(stage, chest, tmp_path):
    process = start(*articulate(chest, tmp_path / "job"))
    for line in process.stdout:
        if protocol.decode(line).stage == stage:
            break
    time.sleep(0.5)  # well inside the stage
    process.stdin.close()
    begun = time.monotonic()
    events = [protocol.decode(line) for line in process.stdout]
    assert process.wait(timeout=30) == 130
    assert time.monotonic() - begun < 10
    assert [event for event in events if isinstance(event, protocol.TERMINAL)] == [Cancelled()]
    assert leftovers(tmp_path) == []


@needs_blender
@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal only there")
def test_ctrl_c_cancels_a_job_and_leaves_nothing(chest, tmp_path):
    process = start(*articulate(chest, tmp_path / "job"))
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    lines = list(process.stdout)
    assert process.wait(timeout=30) == 130
    assert protocol.decode(lines[-1]) == Cancelled()
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["articulate", "nowhere.glb", "--part", "door", "--prompt", "opens"], "nowhere.glb"),
        (["articulate", "x.glb", "--prompt", "opens"], "no part was named"),
        (["articulate", "x.glb", "--part", "door"], "the prompt is empty"),
        (["articulate", "x.glb", "--part", "door", "--prompt", "?!..."], "no words"),
        (["articulate", "x.glb", "--part", "a", "--prompt", "b", "--set", "fit.x=1"], "'x'"),
        (["articulate", "x.glb", "--part", "a", "--prompt", "b", "--motion", "screw"], "screw"),
        (["articulate", "x.glb", "--part", "a", "--prompt", "b", "--amount", "far"], "far"),
        (["articulate"], "no object"),
        (["articulate", "x.glb", "--request", "y.json"], "give one of them"),
        (["articulate", "--request", "nowhere.json"], "nowhere.json"),
        (["fit", "nowhere"], "nowhere"),
        (["dance"], "dance"),
        ([], "COMMAND"),
    ],
)
def test_wrong_use_is_one_sentence_code_2_and_no_traceback(arguments, said, tmp_path):
    done = atop(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert leftovers(tmp_path) == []


def test_wrong_use_reaches_a_program_as_a_failed_event():
    process = start("articulate", "x.glb", "--part", "door", "--prompt", " ")
    events = events_of(process)
    assert process.returncode == 2
    assert len(events) == 1
    assert isinstance(events[0], Failed)
    assert events[0].code == 2
    assert "prompt" in events[0].message


def test_help_names_every_command():
    done = atop("--help")
    assert done.returncode == 0
    for command in (*STAGES, *OTHERS):
        assert command in done.stdout


@pytest.mark.parametrize("command", [*STAGES, *OTHERS])
def test_every_command_explains_its_options(command):
    done = atop(command, "--help")
    assert done.returncode == 0
    assert f"usage: atop {command}" in done.stdout
    assert "--events" in done.stdout


def test_help_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from atop_backend.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'torch', 'scipy', 'transformers', 'PIL', 'bpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    root = str(Path(__file__).parents[1])
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                   env={**os.environ, "PYTHONPATH": root})  # fmt: skip


def test_doctor_says_what_is_missing_and_ends_with_code_3():
    done = atop("doctor", "--blender", "/nowhere/blender")
    assert done.returncode == 3
    assert "BAD Blender" in done.stdout
    assert "/nowhere/blender" in done.stderr


def test_doctor_refuses_a_blender_that_is_too_old(tmp_path):
    program = tmp_path / "blender"
    program.write_text("#!/bin/sh\necho Blender 3.6.2\n")
    program.chmod(0o755)
    done = atop("doctor", "--blender", program)
    assert done.returncode == 3
    assert "3.6.2" in done.stdout
    assert "4.2 or newer" in done.stdout


def test_an_input_closed_from_the_first_moment_cancels_in_the_same_way():
    # the thread that watches the input may interrupt while it is being started
    program = (
        "import sys\nfrom atop_backend import cli\n"
        "def interrupted():\n    raise KeyboardInterrupt\n"
        "cli._cancel_when_stdin_closes = interrupted\n"
        "sys.exit(cli.main(['doctor', '--events', 'jsonl']))"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=False)
    assert done.returncode == 130
    assert json.loads(done.stdout.splitlines()[-1])["type"] == "cancelled"
