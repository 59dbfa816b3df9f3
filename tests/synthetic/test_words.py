"""Words of generated objects agree with what their parts do."""

from __future__ import annotations

import re

import numpy as np
import pytest
from drafts import draft

from atop_backend.synthetic import prompts
from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.generate import kinds
from atop_backend.synthetic.posing import move

UP = r"(?<!-)\bup\b(?!-)|\b(raise[sd]?|upwards?|rises)\b"
DOWN = r"\b(down|lower(s|ed)|downwards?)\b|\bsinks$|^lower\b"  # "lower sash" is a name


def travel(thing: Draft) -> np.ndarray:
    """Displacement (3,) of the middle of the moving part over the first half of its motion."""
    part = thing.builder.triangles[thing.builder.moving].reshape(-1, 3)
    corners = np.stack([part.min(axis=0), part.max(axis=0)])
    middle = corners.mean(axis=0)
    return move(middle, thing.joint, 0.5 * thing.joint.upper) - middle


def told(thing: Draft, pattern: str, sentences: tuple[str, ...]) -> list[str]:
    return [text for text in sentences if re.search(pattern, text)]


@pytest.mark.parametrize("kind", kinds())
def test_up_and_down_are_true(kind):
    for seed in range(8):
        thing = draft(kind, seed)
        rise = travel(thing)[2] / max(np.linalg.norm(travel(thing)), 1e-12)
        for sentences, sign in ((thing.prompts, 1.0), (thing.closing_prompts, -1.0)):
            up, down = told(thing, UP, sentences), told(thing, DOWN, sentences)
            plain_up = [text for text in up if not re.search(DOWN, text)]
            plain_down = [text for text in down if not re.search(UP, text)]
            if plain_up:
                assert sign * rise > -0.35, f"seed {seed}: {plain_up[0]}"
            if plain_down:
                assert sign * rise < 0.35, f"seed {seed}: {plain_down[0]}"


@pytest.mark.parametrize("kind", kinds())
def test_sliding_left_and_right_is_true(kind):
    for seed in range(8):
        thing = draft(kind, seed)
        if thing.joint.kind != "prismatic":
            continue
        for side, sign in (("left", -1.0), ("right", 1.0)):
            pattern = rf"(slides|moves|pushed|^slide .*|^push .*) (to the )?{side}$"
            for text in told(thing, pattern, thing.prompts):
                if re.search(rf"(on|from|at) the {side}$", text):
                    continue  # where it is, not where it goes
                assert sign * thing.joint.axis[0] > 0.5, f"seed {seed}: {text}"


@pytest.mark.parametrize("kind", kinds())
def test_clockwise_is_as_seen_from_the_front_or_from_above(kind):
    for seed in range(8):
        thing = draft(kind, seed)
        axis = np.asarray(thing.joint.axis)
        if np.abs(axis).max() < 0.9:
            continue
        # towards the viewer: out of the front, from above, or out of either side
        for text in told(thing, "clockwise", thing.prompts):
            counter = "counter" in text or "anti" in text
            if abs(axis[1]) > 0.9:
                assert (axis[1] < 0) == counter, f"seed {seed}: {text}"
            elif abs(axis[2]) > 0.9:
                assert (axis[2] > 0) == counter, f"seed {seed}: {text}"


def test_sentences_are_many_different_and_well_formed():
    rng = np.random.default_rng(0)
    found = prompts.sentences(
        rng, ("oven", "stove"), ("door", "one door", "door on the left"), prompts.SWING, 40
    )
    assert len(found) == len(set(found)) >= 30
    assert not any(re.search(r"\bthe (one|a|an)\b|\ba [aeiou]|\{", text) for text in found)
    assert any("oven" in text for text in found)
    assert any("oven" not in text and "stove" not in text for text in found)


def test_several_parts_take_the_plural():
    rng = np.random.default_rng(3)
    vocabulary = prompts.words("is opened|goes up|closes|pushes out|spins")
    found = prompts.sentences(rng, ("scissors", "utility knife"), ("blades",), vocabulary, 80)
    text = " / ".join(found)
    assert "blades are opened" in text
    assert "blades go up" in text
    assert "blades close" in text
    assert "blades push out" in text
    assert "the scissors' blades" in text
    assert not re.search(r"blades (is|goes|closes|spins|pushes)|\ba scissors|\ban utility", text)


def test_a_lens_is_one_thing():
    assert not prompts.is_plural("lens")
    assert not prompts.is_plural("glass")
    assert prompts.is_plural("handles on the left")


def test_a_part_of_no_named_object_gets_sentences_too():
    found = prompts.sentences(np.random.default_rng(1), (), ("lid",), prompts.OPEN, 8)
    assert "open the lid" in found
    assert not any("of the" in text for text in found)


def test_every_vocabulary_can_be_said():
    for name, value in vars(prompts).items():
        if isinstance(value, prompts.Words):
            assert value.says, name
            assert all(order.count("{}") == 1 for order in value.orders), name
