"""Settings are checked before anything is done with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atop_backend.config import Config, overrides_from_toml, resolve
from atop_backend.errors import InputError


def test_a_later_override_wins_over_the_preset():
    config = resolve("paper", ["generate.steps=7", "generate.steps=9"])
    assert config.generate.steps == 9
    assert config.generate.guidance_scale == 5.0


@pytest.mark.parametrize("preset", ["default", "paper", "tiny", "imagedream"])
def test_a_preset_survives_the_file_it_is_written_to(preset):
    config = resolve(preset)
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_a_toml_file_says_the_same_as_overrides(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        '[generate]\nframes = [0.5, 1.0]\n[fit]\nhypotheses = "paper"\nrefine = false\n'
    )
    config = resolve("default", overrides_from_toml(file))
    expected = resolve(
        "default", ["generate.frames=[0.5, 1]", "fit.hypotheses=paper", "fit.refine=false"]
    )
    assert config == expected


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("samples", "stage.key=value"),
        ("cook.samples=1", "stages are animate, fit, generate, render, report"),
        ("render.sampels=1", "elevation_deg, samples, time_limit_s"),
        ("render.samples=1.5", "a whole number of at least 1"),
        ("render.samples=0", "a whole number of at least 1"),
        ("render.elevation_deg=nan", "a number"),
        ("generate.frames=[]", "a list of numbers"),
        ("generate.model=medium", "mini, imagedream"),
        ("fit.refine=1", "true or false"),
    ],
)
def test_a_wrong_override_is_refused_with_what_would_be_right(override, said):
    with pytest.raises(InputError) as caught:
        resolve("default", [override])
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [("[generate\n", "TOML"), ("[generate]\nfoo = 1\n", "foo"), ("generate = 3\n", "a table")],
)
def test_a_wrong_toml_file_is_refused(tmp_path, text, said):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=said):
        overrides_from_toml(file)


def test_a_missing_toml_file_is_named():
    with pytest.raises(InputError, match=r"nowhere\.toml"):
        overrides_from_toml(Path("nowhere.toml"))
