"""Finetuned weights are chosen in the preferences and go with the job."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

from fake_layout import FakeLayout  # noqa: E402

from blender_addon.core.request import build_request  # noqa: E402
from blender_addon.ui import preferences, props  # noqa: E402

MODELS = ("BUNDLED", "IMAGEDREAM")


@pytest.fixture
def options(addon):
    """The preferences, with nothing left of another test."""
    found = preferences.get(addon)
    found.model, found.weights, found.finetuned = "BUNDLED", "", ""
    yield found
    found.model, found.weights, found.finetuned = "BUNDLED", "", ""


@pytest.mark.parametrize("model", MODELS)
def test_finetuned_weights_chosen_in_the_preferences_go_with_the_job(
    addon, options, tmp_path, model
):
    options.model, options.weights = model, str(tmp_path / "dream")
    settings = addon.scene.atop
    settings.prompt = "the lid opens"

    def asked():
        choices = props.choices(settings, addon)
        return build_request(choices, tmp_path / "a.blend", ("Lid",), tmp_path / "out")

    assert asked().finetuned is None
    options.finetuned = str(tmp_path / "lids.safetensors")
    assert asked().finetuned == tmp_path / "lids.safetensors"
    assert asked().preset == ("imagedream" if model == "IMAGEDREAM" else "default")


@pytest.mark.parametrize("model", MODELS)
def test_the_preferences_offer_the_file_with_either_model(addon, options, model):
    options.model = model
    layout = FakeLayout()
    shown = type("Shown", (), {"__getattr__": lambda _, name: getattr(options, name)})()
    shown.layout = layout
    preferences.ArticulatePreferences.draw(shown, addon)
    assert "prop finetuned" in layout.words()
