"""`atop metrics` on folders of small videos, with tiny networks in place of the published ones."""

import argparse
import errno
import json
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics", reason="needs torchmetrics (the metrics extra)")

from metric_twins import write_alexnet, write_clip, write_i3d  # noqa: E402
from PIL import Image  # noqa: E402

from atop_backend.errors import InputError, SetupError  # noqa: E402
from atop_backend.metrics import command  # noqa: E402
from atop_backend.metrics import measure as measuring  # noqa: E402
from atop_backend.metrics.measure import Files, measure  # noqa: E402
from atop_backend.metrics.networks import Lpips  # noqa: E402
from atop_backend.preview import write_video  # noqa: E402

SIZE = 64


def clip(seed, frames=12):
    """A square that moves over a random pattern."""
    rng = np.random.default_rng(seed)
    pattern = rng.integers(60, 200, (SIZE // 16, SIZE // 16, 3), dtype=np.uint8)
    video = np.repeat(pattern.repeat(16, axis=0).repeat(16, axis=1)[None], frames, axis=0)
    for frame in range(frames):
        video[frame, 10:30, 4 + 2 * frame : 24 + 2 * frame] = 250
    return video


def write_pictures(folder, video):
    folder.mkdir(parents=True)
    for number, frame in enumerate(video):
        Image.fromarray(frame).save(folder / f"{number:03d}.png")


@pytest.fixture
def folders(tmp_path):
    """Two true clips, and the same with a known error of 10 display values everywhere."""
    for name in ("left", "right"):
        video = clip(len(name))
        write_pictures(tmp_path / "true" / name, video)
        write_pictures(tmp_path / "made" / name, np.where(video > 127, video - 10, video + 10))
    return tmp_path


def by_name(figures):
    return {figure.metric: figure for figure in figures}


def test_a_known_error_has_its_psnr_and_equal_videos_the_best_of_all(folders):
    wrong = by_name(measure(folders / "made", folders / "true", {}, Files()))
    assert wrong["PSNR"].value == pytest.approx(20 * np.log10(255 / 10), abs=1e-3)
    assert wrong["PSNR"].videos == 2
    assert 0.5 < wrong["SSIM"].value < 0.999
    same = by_name(measure(folders / "true", folders / "true", {}, Files()))
    assert same["PSNR"].value == 100
    assert same["SSIM"].value == pytest.approx(1, abs=1e-3)


def test_what_needs_a_file_says_which_and_where_it_is_to_be_had(folders):
    found = by_name(measure(folders / "made", folders / "true", {"": "a door opens"}, Files()))
    for metric, word in (("LPIPS", "alexnet"), ("CLIP", "clip"), ("FVD", "i3d")):
        assert found[metric].value is None
        assert f"--{word}" in found[metric].missing
    alone = by_name(measure(folders / "made", None, {}, Files()))
    assert "--reference" in alone["PSNR"].missing
    assert "--prompt" in alone["CLIP"].missing


def test_with_all_files_every_figure_is_there(folders):
    files = Files(
        write_alexnet(folders / "alexnet.pth"),
        write_clip(folders / "clip"),
        write_i3d(folders / "i3d.pt"),
    )
    worse = by_name(measure(folders / "made", folders / "true", {"": "a door opens"}, files))
    assert all(figure.value is not None for figure in worse.values())
    equal = by_name(measure(folders / "true", folders / "true", {"": "a door opens"}, files))
    for metric in ("LPIPS", "FVD"):
        assert equal[metric].value == pytest.approx(0, abs=1e-6)
        assert worse[metric].value > 1e-4
    assert 0 <= worse["CLIP"].value <= 100


def test_short_videos_have_no_fvd_but_everything_else(tmp_path):
    for folder in ("made", "true"):
        for name in ("a", "b"):
            write_pictures(tmp_path / folder / name, clip(1, frames=4))
    files = Files(i3d=write_i3d(tmp_path / "i3d.pt"))
    found = by_name(measure(tmp_path / "made", tmp_path / "true", {}, files))
    assert found["FVD"].value is None
    assert "10 frames" in found["FVD"].missing
    assert found["PSNR"].value == 100


def test_lpips_is_nothing_for_equal_pictures_and_grows_with_the_error(tmp_path):
    network = Lpips(write_alexnet(tmp_path / "alexnet.pth"))
    picture = torch.rand(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    noise = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(1))
    near, far = (network(picture, (picture + s * noise).clamp(0, 1)).item() for s in (0.02, 0.3))
    assert network(picture, picture).item() == 0
    assert 0 < near < far


@pytest.mark.parametrize("metric", ["alexnet", "clip", "i3d"])
def test_a_named_file_that_is_none_is_refused(folders, metric):
    broken = folders / "broken"
    broken.write_text("no weights")
    with pytest.raises(SetupError):
        measure(folders / "made", folders / "true", {}, Files(**{metric: broken}))
    with pytest.raises(SetupError):
        measure(folders / "made", folders / "true", {}, Files(**{metric: folders / "absent"}))


def test_videos_of_other_lengths_are_refused_until_frames_are_chosen(folders):
    write_pictures(folders / "longer" / "left", clip(4, frames=20))
    with pytest.raises(InputError, match="--frames"):
        measure(folders / "longer", folders / "true", {}, Files())
    found = by_name(measure(folders / "longer", folders / "true", {}, Files(), frames=10))
    assert found["PSNR"].value < 100


def test_files_and_folders_of_pictures_are_the_same_videos(folders):
    for name in ("left", "right"):
        (folders / "files").mkdir(exist_ok=True)
        write_video(folders / "files" / f"{name}.mp4", clip(len(name)), seconds=1, fps=12)
    found = by_name(measure(folders / "files", folders / "true", {}, Files()))
    assert 25 < found["PSNR"].value < 100  # H.264 loses some


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (lambda folder: None, "no folder"),
        (lambda folder: folder.mkdir(), "no videos"),
        (lambda folder: write_pictures(folder / "other", clip(1)), "namesake"),
        (lambda folder: write_bytes(folder / "left.mp4"), "cannot be read"),
    ],
)
def test_folders_that_are_of_no_use_are_refused_with_the_reason(folders, prepare, words):
    prepare(folders / "bad")
    with pytest.raises(InputError, match=words):
        measure(folders / "bad", folders / "true", {}, Files())


def write_bytes(path):
    path.parent.mkdir()
    path.write_bytes(b"not a video")


def test_the_command_prints_figures_and_what_is_missing_and_writes_json(folders):
    out = folders / "figures.json"
    command = [sys.executable, "-m", "atop_backend", "metrics", folders / "made", "--reference",
               folders / "true", "--prompt", "a door opens", "--out", out,
               "--events", "jsonl"]  # fmt: skip
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:  # open: go on
        events = [json.loads(line) for line in process.stdout]
    assert process.returncode == 0
    assert events[-1]["type"] == "finished"
    assert "i3d_torchscript.pt" in events[-1]["sentence"]
    assert {"progress", "artifact"} <= {event["type"] for event in events}
    figures = json.loads(out.read_text())
    assert figures["PSNR"]["value"] == pytest.approx(28.13, abs=0.01)
    assert figures["FVD"]["value"] is None


def run(*arguments):
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([*map(str, arguments)]), lambda event: None)


def test_memory_and_disks_that_run_out_are_said_with_what_to_do(folders, monkeypatch):
    def fill(*_, **__):
        raise OSError(errno.ENOSPC, "no space left on device")

    def starve(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    with monkeypatch.context() as patched:
        patched.setattr(command.Path, "write_text", fill)
        with pytest.raises(SetupError, match=r"disk that holds .*figures\.json is full"):
            run(folders / "made", "--out", folders / "figures.json", "--device", "cpu")
    monkeypatch.setattr(measuring, "measure", starve)
    with pytest.raises(SetupError, match="GPU is out of memory: take fewer --frames"):
        run(folders / "made", "--device", "cpu")


def test_closing_the_input_cancels(folders):
    asked = [sys.executable, "-m", "atop_backend", "metrics", folders / "made", "--out",
             folders / "figures.json", "--events", "jsonl"]  # fmt: skip
    done = subprocess.run(asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    assert done.returncode == 130
    assert json.loads(done.stdout.splitlines()[-1])["type"] == "cancelled"
    assert not (folders / "figures.json").exists()
