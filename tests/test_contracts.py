"""The types that cross borders check themselves and survive a round trip."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from atop_backend.contracts import Answer, Camera, JobRequest, JobResult, JointMotion
from atop_backend.errors import InputError

JOINT = JointMotion("revolute", (0.0, 0.6, 0.8), (1.0, 2.0, 3.0), 0.0, math.pi / 2)
REQUEST = JobRequest(Path("oven.glb"), ("door",), "the door folds down", Path("out"))


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


def test_a_joint_survives_a_round_trip():
    assert JointMotion.from_dict(through_json(JOINT.to_dict())) == JOINT


def test_a_joint_as_written_has_the_documented_keys():
    assert JOINT.to_dict() == {
        "type": "revolute",
        "axis": [0.0, 0.6, 0.8],
        "origin": [1.0, 2.0, 3.0],
        "range": [0.0, math.pi / 2],
    }


def test_a_flipped_joint_turns_the_other_way_about_the_same_line():
    flipped = JOINT.flipped()
    assert flipped.axis == (0.0, -0.6, -0.8)
    assert flipped.origin == JOINT.origin
    assert flipped.flipped() == JOINT


@pytest.mark.parametrize(
    "wrong",
    [
        {"axis": (0.0, 0.0, 2.0)},
        {"axis": (math.nan, 0.0, 1.0)},
        {"origin": (math.inf, 0.0, 0.0)},
        {"lower": 1.0, "upper": 0.0},
        {"kind": "screw"},
    ],
)
def test_an_impossible_joint_is_refused(wrong):
    with pytest.raises(InputError):
        replace(JOINT, **wrong)


@pytest.mark.parametrize("missing", ["type", "axis", "origin", "range"])
def test_an_incomplete_joint_description_is_refused(missing):
    data = JOINT.to_dict()
    del data[missing]
    with pytest.raises(InputError, match="incomplete"):
        JointMotion.from_dict(data)


def test_a_request_survives_a_round_trip():
    request = replace(
        REQUEST,
        amount=0.5,
        weights=Path("weights"),
        overrides=("fit.points=9",),
        motion="hinge",
        initial=JOINT,
        earlier=Path("job"),
    )
    assert JobRequest.from_dict(through_json(request.to_dict())) == request


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"parts": ()}, "no part"),
        ({"parts": (" ",)}, "no part"),
        ({"prompt": " \n"}, "prompt is empty"),
        ({"motion": "screw"}, "auto, hinge, slider"),
        ({"preset": "fast"}, "default, paper, tiny, imagedream"),
        ({"guidance": "luck"}, "sampled, sds, x0"),
    ],
)
def test_an_impossible_request_is_refused_in_words(wrong, said):
    with pytest.raises(InputError) as caught:
        replace(REQUEST, **wrong)
    assert said in str(caught.value)


def test_a_request_with_an_unknown_key_is_refused():
    with pytest.raises(InputError, match="colour"):
        JobRequest.from_dict({**REQUEST.to_dict(), "colour": "red"})


def test_a_request_without_an_asset_is_refused():
    data = REQUEST.to_dict()
    del data["asset"]
    with pytest.raises(InputError, match="incomplete"):
        JobRequest.from_dict(data)


def test_a_result_survives_a_round_trip_and_has_its_best_joint_on_top():
    best = Answer(JOINT, 0.9, "a hinge")
    other = Answer(JOINT.flipped(), 0.1, "a hinge the other way")
    result = JobResult(best, (other,), {"sheet": "sheet.png"}, {"fit": 1.5}, "mini", "0.1.0")
    data = through_json(result.to_dict())
    assert JobResult.from_dict(data) == result
    assert data["joint"] == JOINT.to_dict()
    assert result.joint == JOINT


def test_a_camera_survives_a_round_trip():
    rows = tuple(tuple(float(i == j) for j in range(4)) for i in range(4))
    camera = Camera(256, 256, 351.7, rows)
    assert Camera.from_dict(through_json(camera.to_dict())) == camera


def test_a_camera_without_extent_is_refused():
    with pytest.raises(InputError, match="no extent"):
        Camera(0, 256, 351.7, ())
