"""What prompts say outright about the motion of a part."""

from __future__ import annotations

import pytest

from atop_backend.prompt_motion import SaidMotion, said_motion


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("the dishwasher door folds down", SaidMotion("revolute", -1)),
        ("The lid swings UP", SaidMotion("revolute", 1)),
        ("slide the drawer out", SaidMotion("prismatic")),
        ("the drawer unit's door opens", SaidMotion()),
        ("the button is pressed", SaidMotion()),
        ("turn the sliding bolt", SaidMotion()),  # two things at once
        ("the box moves up and down", SaidMotion()),
        ("the lock turns anti-clockwise", SaidMotion("revolute")),
        ("door opens, hinged on the left", SaidMotion("revolute", 0, -1)),
        ("the gate turns about its right edge", SaidMotion("revolute", 0, 1)),
        ("swing the door on the left open", SaidMotion("revolute")),  # which door, not how
        ("the upper shelf is supported", SaidMotion()),
    ],
)
def test_kind_way_and_side_are_read_where_the_words_tell_them(prompt, said):
    assert said_motion(prompt) == said
