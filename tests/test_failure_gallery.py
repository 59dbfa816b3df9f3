"""Pictures of what an evaluation got wrong, and of how far its confidence can be trusted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

import failure_gallery as gallery
import reliability_plot as reliability
from evaluate import MAIN, Plan
from toys import boxes

from atop_backend.geometry.cameras import rig
from atop_backend.geometry.meshes import build_shape
from atop_backend.geometry.visibility import visible_faces
from atop_backend.rendering.views import RestViews

HINGE = {"type": "revolute", "axis": [0, 0, 1], "origin": [0.5, -0.5, 0], "range": [0, 1.5]}
CASE = {"prompt": "the door opens", "licence": "MIT", "joint": {**HINGE, "directed": True}}


def record(name="case", confidence=0.5, right=(False, True), joint=HINGE, **figures):
    found = {"type": 1.0, "axis": 0.0, "sign": 1.0, "point": 0.0, **figures}
    answer = {"joint": joint, "figures": found, "confidence": confidence, "right": list(right)}
    return {"id": name, "category": "cabinet", "variants": {MAIN: answer}}


@pytest.fixture(scope="module")
def seen():
    """A cube with a door on its front, seen by the four cameras."""
    body, door = ((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5)), ((-0.5, -0.55, -0.5), (0.5, -0.5, 0.5))
    vertices, triangles = boxes(body, door)
    part = np.arange(len(triangles)) >= len(triangles) // 2
    shape = build_shape(vertices, triangles, part, ("door",), np.eye(3))
    cameras = rig(np.radians(20.0))
    faces = np.stack([visible_faces(c, shape.vertices[shape.triangles]).faces for c in cameras])
    mask = (faces >= 0) & part[faces]
    rgb = np.full((*faces.shape, 3), 128, np.uint8)
    return RestViews(shape, cameras, rgb, mask, faces, np.zeros((*faces.shape, 3), np.float32))


def test_the_worst_come_first_and_what_is_right_does_not_come():
    records = [
        record("right"),
        record("aside", point=0.3),
        record("surely wrong way", sign=0.0, confidence=0.9),
        record("wrong way", sign=0.0, confidence=0.2),
        record("slides", type=0.0, axis=90.0),
        {"id": "broken", "category": "door", "variants": {}, "error": "no part"},
    ]
    names = [entry["id"] for entry in gallery.worst(records, 4)]
    assert names == ["broken", "slides", "surely wrong way", "wrong way"]


def test_a_verdict_names_every_fault():
    say = gallery.verdict
    assert "moves the other way" in say(record(sign=0.0), CASE)
    assert "axis off by 43 degrees" in say(record(axis=43.0), CASE)
    assert "hinge 0.25 radii" in say(record(point=0.25), CASE)
    slide = record(type=0.0, joint={**HINGE, "type": "prismatic"}, right=(False, False))
    assert "a slider instead of a hinge" in say(slide, CASE)
    assert "not listed" in say(slide, CASE)
    assert "the first of the others" in say(record(sign=0.0), CASE)
    assert say({"variants": {}, "error": "no part"}, CASE) == "no answer: no part"


def test_a_picture_shows_the_part_and_both_axes(seen):
    shown = np.asarray(gallery.picture(seen, CASE, {**HINGE, "origin": [-0.5, -0.5, 0]})).astype(
        int
    )
    columns = {}
    for name, colour in (("true", gallery.TRUE), ("found", gallery.FOUND)):
        near = np.abs(shown - colour).sum(axis=2) < 60
        assert near.sum() > 20, name
        columns[name] = np.nonzero(near)[1].mean()
    assert columns["true"] > columns["found"] + 20  # the hinge of the case is on the right
    tinted = (shown[..., 0] > 160) & (shown[..., 2] < 110) & (shown[..., 1] > 110)
    assert tinted.sum() > 500


def test_shapes_that_must_not_be_passed_on_are_named_only(seen, tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "view_case", lambda *_: seen)
    licences = {"free": "MIT", "bound": "PartNet-Mobility: non-commercial; hosted under MIT"}
    for name, licence in licences.items():
        (tmp_path / name).mkdir()
        text = json.dumps({**CASE, "licence": licence})
        (tmp_path / name / "case.json").write_text(text)
    records = [record("free", sign=0.0, confidence=0.9), record("bound", sign=0.0)]
    plan = Plan(tmp_path, "default", "sampled", 0, "cpu", (), None, (MAIN,), 1, "")
    free, bound = gallery.draw_cases(records, tmp_path, plan, 10, show_all=False)
    assert free[0] is not None
    assert "MIT" in free[1]
    assert bound[0] is None
    assert "the door opens" in bound[1]
    assert all(cell[0] for cell in gallery.draw_cases(records, tmp_path, plan, 10, show_all=True))
    page = gallery.sheet([free, bound], "two cases")
    assert page.width > 2 * gallery.CELL_PX


def test_groups_hold_equally_many_and_bars_hold_the_share():
    pairs = [(i / 100, i % 3 > 0) for i in range(100)]
    groups = reliability.group(pairs, most=5)
    assert [g.count for g in groups] == [20] * 5
    assert all(g.low < g.right < g.high for g in groups)
    assert [g.confidence for g in groups] == sorted(g.confidence for g in groups)
    assert len(reliability.group(pairs[:12])) == 1


def test_a_plot_is_drawn_from_both_kinds_of_files(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    signs = np.concatenate([np.ones((60, 1)), rng.normal(size=(60, 3))], axis=1)
    np.savez(tmp_path / "outcomes.npz", signs=signs, right=rng.random(60) < 0.6)
    records = [record(confidence=c, right=(c > 0.5,)) for c in rng.random(40).tolist()]
    records.append({"id": "broken", "variants": {}})
    (tmp_path / "real.json").write_text(json.dumps(records))
    out = tmp_path / "plot.png"
    arguments = ["plot", "--held-out", tmp_path / "outcomes.npz", "--real", tmp_path / "real.json",
                 "--names", "real, as given", "--out", out]  # fmt: skip
    monkeypatch.setattr(sys, "argv", list(map(str, arguments)))
    reliability.main()
    printed = capsys.readouterr().out
    assert "generated: 60 answers" in printed
    assert "real, as given: 40 answers" in printed
    from PIL import Image

    drawn = np.asarray(Image.open(out)).astype(int)
    for colour in reliability._COLOURS[:2]:
        assert (np.abs(drawn - colour).sum(axis=2) < 40).sum() > 50
