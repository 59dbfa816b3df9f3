"""The artist's choices become a checked request."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from atop_backend.contracts import JobRequest
from atop_backend.errors import InputError, SetupError
from blender_addon.core import keyframes, request
from blender_addon.core.request import Choices


def build(**choices):
    """A request from a prompt and some choices."""
    all_choices = Choices(**{"prompt": "the door opens", **choices})
    return request.build_request(all_choices, Path("/a.blend"), ("Door",), Path("/out"))


def test_a_request_survives_its_file(tmp_path):
    asked = build(motion="hinge", seed=3)
    request.write_request(asked, tmp_path / "deep" / "request.json")
    import json

    text = (tmp_path / "deep" / "request.json").read_text()
    assert JobRequest.from_dict(json.loads(text)) == asked


def test_an_empty_prompt_is_refused_with_an_example():
    with pytest.raises(InputError, match="door swings open"):
        build(prompt="  ")


def test_a_distance_in_the_prompt_becomes_scene_units():
    asked = build(prompt="pull it out by 30 cm", metres_per_unit=0.001)
    assert asked.amount == pytest.approx(300.0)


def test_an_angle_in_the_prompt_is_left_to_the_backend():
    assert build(prompt="open 70 degrees over 2 seconds", metres_per_unit=0.001).amount is None


def test_an_explicit_amount_wins_over_the_prompt():
    choices = {"prompt": "open 70 degrees", "amount_mode": "DEGREES", "amount": math.pi / 4}
    assert build(**choices).amount == pytest.approx(math.pi / 4)


@pytest.mark.parametrize("amount", [0.0, -1.0, math.nan, math.inf])
def test_an_amount_of_nothing_is_refused(amount):
    with pytest.raises(InputError, match="target amount"):
        build(amount_mode="DEGREES", amount=amount)


def test_an_amount_settles_the_kind_of_motion():
    assert request.motion_for("auto", "DEGREES") == "hinge"
    assert request.motion_for("auto", "DISTANCE") == "slider"
    assert request.motion_for("slider", "AUTO") == "slider"
    with pytest.raises(InputError, match="hinge cannot move by a distance"):
        request.motion_for("hinge", "DISTANCE")


def test_imagedream_asks_for_its_folder():
    with pytest.raises(SetupError, match="folder of weights"):
        build(preset="imagedream")


def test_finetuned_weights_go_with_either_model():
    assert build().finetuned is None
    assert build(finetuned="/lids.safetensors").finetuned == Path("/lids.safetensors")
    asked = build(preset="imagedream", weights="/dream", finetuned="/lids.safetensors")
    assert (asked.weights, asked.finetuned) == (Path("/dream"), Path("/lids.safetensors"))


@pytest.mark.parametrize(
    ("name", "word"),
    [("Drawer.003", "drawer"), ("left_door", "door"), ("OvenDoor", "folds"), ("Cube", "swings")],
)
def test_examples_fit_the_name_of_the_part(name, word):
    assert any(word in prompt for prompt in request.examples_for(name))


def test_a_backend_that_is_not_set_says_how_to_set_it(tmp_path):
    with pytest.raises(SetupError, match=r"setup\.sh"):
        request.backend_command("", "doctor")
    with pytest.raises(SetupError, match="no Python at"):
        request.backend_command(str(tmp_path / "python"), "doctor")


@pytest.mark.parametrize("easing", keyframes.EASINGS)
def test_keys_run_from_rest_to_open(easing):
    first, last = keyframes.open_keys(100, 24, easing)
    assert (first.frame, first.value, last.frame, last.value) == (100, 0.0, 124, 1.0)


def test_a_motion_needs_time_and_a_known_easing():
    with pytest.raises(InputError, match="0 frames"):
        keyframes.open_keys(1, 0, "LINEAR")
    with pytest.raises(InputError, match="easing"):
        keyframes.open_keys(1, 10, "WOBBLE")


def test_seconds_become_frames_at_odd_rates():
    assert keyframes.seconds_to_frames(2.0, 24, 1.001) == 48
    assert keyframes.seconds_to_frames(0.001, 24, 1.0) == 1
