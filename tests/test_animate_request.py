"""The request for a rig's motion is checked at the border and survives its JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from atop_backend.contracts import AnimateRequest
from atop_backend.errors import InputError

REQUEST = AnimateRequest(
    asset=Path("/a/fox.blend"),
    prompt="the fox walks",
    out=Path("/a/job"),
    armature="Fox",
    bones=("hip", "knee"),
    videos=(Path("/a/walk.mp4"),),
    weights=Path("/w"),
    frames=16,
    fps=12.5,
    cyclic=True,
)


def test_a_request_comes_back_from_json():
    assert AnimateRequest.from_dict(json.loads(json.dumps(REQUEST.to_dict()))) == REQUEST


def test_a_video_needs_no_prompt_but_something_is_needed():
    assert replace(REQUEST, prompt="").videos
    for prompt in ("", "  ", "?!"):
        with pytest.raises(InputError, match="neither a prompt nor a video"):
            replace(REQUEST, prompt=prompt, videos=())


@pytest.mark.parametrize(
    "wrong",
    [{"frames": 1}, {"fps": 0.0}, {"fps": float("nan")}, {"guidance": "magic"},
     {"prompt": "a" * 1001}],
)  # fmt: skip
def test_choices_that_make_no_motion_are_refused(wrong):
    with pytest.raises(InputError):
        replace(REQUEST, **wrong)


@pytest.mark.parametrize("change", [{"wings": 2}, {"asset": None, "videos": 3}])
def test_json_that_is_no_request_is_refused(change):
    data = REQUEST.to_dict() | change
    with pytest.raises(InputError, match=r"unknown keys|incomplete"):
        AnimateRequest.from_dict(data)
    with pytest.raises(InputError, match="incomplete"):
        AnimateRequest.from_dict({"prompt": "it walks"})
