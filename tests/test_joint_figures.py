"""The figures of the evaluation, against cases worked out by hand."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

import joint_figures

TRUTH = {
    "type": "revolute",
    "axis": [0, 0, 1],
    "origin": [1, 0, 5],
    "range": [0, 1.5],
    "directed": True,
}
CASE = {"joint": TRUTH, "scale": 2.0, "center": [0, 0, 0]}


def answer(**changes):
    return {"type": "revolute", "axis": [0, 0, 1], "origin": [1, 0, 0], "range": [0, 1.5],
            **changes}  # fmt: skip


def test_a_point_elsewhere_on_the_same_axis_is_no_error():
    found = joint_figures.figures(answer(), CASE)
    assert found["type"] == found["sign"] == 1
    for key in ("axis", "directed", "line", "point", "origin", "range"):
        assert found[key] == pytest.approx(0, abs=1e-12), key
    assert joint_figures.is_right(found)


def test_the_opposite_axis_is_the_same_line_with_the_wrong_sign():
    found = joint_figures.figures(answer(axis=[0, 0, -1]), CASE)
    assert found["axis"] == pytest.approx(0)
    assert found["directed"] == pytest.approx(180)
    assert found["sign"] == 0
    assert not joint_figures.is_right(found)


def test_a_parallel_axis_is_off_by_its_distance_in_object_radii():
    found = joint_figures.figures(answer(origin=[1, 3, 0]), CASE)
    assert found["line"] == found["point"] == found["origin"] == pytest.approx(1.5)


def test_skew_lines_that_cross_are_told_apart_by_the_point():
    found = joint_figures.figures(answer(axis=[1, 0, 0], origin=[4, 0, 0]), CASE)
    assert found["line"] == pytest.approx(0)
    assert found["point"] == pytest.approx(1.5)
    assert found["axis"] == pytest.approx(90)


def test_no_answer_counts_as_a_wrong_type_and_in_nothing_else():
    assert joint_figures.figures(None, CASE) == {"type": 0.0}


def test_an_undirected_case_has_no_sign():
    case = {**CASE, "joint": {**TRUTH, "directed": False}}
    assert "sign" not in joint_figures.figures(answer(), case)


def test_a_mean_is_over_the_rows_that_have_the_figure():
    rows = [{"type": 1.0, "axis": 4.0}, {"type": 0.0}]
    assert joint_figures.mean(rows, "axis") == 4.0
    assert joint_figures.averaged(rows) == {"type": 0.5, "axis": 4.0}
    assert "| both | 2 | 0.500 | 4.0 |" in joint_figures.table("x", {"both": rows})


def test_confidence_that_is_always_true_has_no_calibration_error():
    rng = np.random.default_rng(0)
    chances = rng.random(20000)
    honest = [(chance, bool(rng.random() < chance)) for chance in chances]
    boastful = [(1.0, right) for _, right in honest]
    assert joint_figures.calibration_error(honest) < 0.02
    assert joint_figures.calibration_error(boastful) == pytest.approx(0.5, abs=0.02)
    assert math.isnan(joint_figures.calibration_error([]))
