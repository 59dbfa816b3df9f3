"""Numbers in prompts."""

from __future__ import annotations

import math

import pytest

from atop_backend.prompt_amount import PromptAmount, prompt_amount


@pytest.mark.parametrize(
    ("prompt", "amount"),
    [
        ("open the door 70 degrees over 2 seconds", PromptAmount(math.radians(70), seconds=2.0)),
        ("Swing open by 45°", PromptAmount(math.radians(45))),
        ("a 90-degree turn of the knob", PromptAmount(math.radians(90))),
        ("the wheel makes 2 turns in 1.5 s", PromptAmount(4 * math.pi, seconds=1.5)),
        ("a quarter turn of the tap", PromptAmount(math.pi / 2)),
        ("half a turn", PromptAmount(math.pi)),
        ("turn it 1,5 radians", PromptAmount(1.5)),
        ("pull the drawer out by 30 cm", PromptAmount(distance_m=0.3)),
        ("the drawer slides 12 inches", PromptAmount(distance_m=12 * 0.0254)),
        ("slides 250mm out", PromptAmount(distance_m=0.25)),
        ("it moves 0.4 m during 500 ms", PromptAmount(distance_m=0.4, seconds=0.5)),
        ("the lid opens halfway", PromptAmount(share=0.5)),
        ("open the drawer 25 %", PromptAmount(share=0.25)),
        ("open two thirds of the way", PromptAmount(share=2 / 3)),
        ("the left door swings open", PromptAmount()),
        ("the second drawer from the top in the middle opens", PromptAmount()),
        ("drawer 3 opens in the room 2 m", PromptAmount(distance_m=2.0)),
        ("it opens by 0 degrees", PromptAmount()),
        ("", PromptAmount()),
    ],
)
def test_amounts_are_read_from_free_text(prompt, amount):
    assert prompt_amount(prompt) == pytest.approx(amount)


def test_nonsense_amounts_are_not_believed():
    assert prompt_amount("opens 99999 degrees") == PromptAmount()
    assert prompt_amount("opens 300 %") == PromptAmount()
