"""Data sets of annotated objects become cases, and their figures the paper's tables."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trimesh

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import paper_sets  # noqa: E402
import paper_tables  # noqa: E402
from needs import needs_blender  # noqa: E402

from atop_backend.errors import InputError  # noqa: E402
from atop_backend.geometry.cameras import rig  # noqa: E402

torch = pytest.importorskip("torch")

from baselines import (  # noqa: E402
    PICTURE_PX,
    Baselines,
    Guess,
    PictureRegressor,
    PointRegressor,
    foot_of,
    joint_loss,
)

BOXES = {  # part number: lowest and highest corner; Y up, front +Z
    11: ((-0.5, -0.5, -0.5), (0.5, 0.5, 0.4)),
    12: ((-0.5, -0.1, 0.4), (0.5, 0.5, 0.5)),
    13: ((-0.4, 0.35, 0.5), (0.4, 0.4, 0.55)),
    14: ((-0.5, -0.5, 0.4), (0.5, -0.15, 0.5)),
    15: ((0.2, 0.6, 0.0), (0.3, 0.7, 0.1)),
    16: ((-0.3, 0.6, 0.0), (-0.2, 0.7, 0.1)),
}


def write_box(path, number):
    low, high = map(np.array, BOXES[number])
    box = trimesh.creation.box(
        high - low, trimesh.transformations.translation_matrix((low + high) / 2)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trimesh.exchange.obj.export_obj(box))


def joint(direction, origin, a, b, **more):
    limit = {"a": a, "b": b, "noLimit": False, "rotates": False, "noRotationLimit": True} | more
    return {"axis": {"origin": origin, "direction": direction}, "limit": limit}


ENTRIES = [  # a dishwasher: body, door with its handle, drawer, knob, screw
    {"id": 0, "parent": -1, "joint": "heavy", "name": "dishwasher_body", "jointData": {},
     "parts": [{"id": 11, "name": "body", "children": []}]},
    {"id": 1, "parent": 0, "joint": "hinge", "name": "door",
     "jointData": joint([1, 0, 0], [0, -0.1, 0.5], -90, 0),
     "parts": [{"id": 1, "name": "door", "children": [{"id": 12, "name": "frame"}]}]},
    {"id": 2, "parent": 1, "joint": "static", "name": "handle", "jointData": {},
     "parts": [{"id": 13, "name": "handle", "children": []}]},
    {"id": 3, "parent": 0, "joint": "slider", "name": "drawer",
     "jointData": joint([0, 0, 2], [0, 0, 0], 0, 0.4),
     "parts": [{"id": 14, "name": "drawer", "children": []}]},
    {"id": 4, "parent": 0, "joint": "hinge", "name": "knob",
     "jointData": joint([0, 1, 0], [0.25, 0, 0.05], 0, 0, noLimit=True),
     "parts": [{"id": 15, "name": "knob", "children": []}]},
    {"id": 5, "parent": 0, "joint": "slider", "name": "lid",
     "jointData": joint([0, 1, 0], [0, 0, 0], 0, 0.1, rotates=True),
     "parts": [{"id": 16, "name": "lid", "children": []}]},
]  # fmt: skip


@pytest.fixture
def partnet(tmp_path):
    """A folder in the layout of PartNet-Mobility."""
    folder = tmp_path / "partnet" / "7001"
    links = ""
    for entry in ENTRIES:
        leaves = [part["id"] for part in paper_sets._below(entry["parts"]) if part["id"] > 10]
        for number in leaves:
            write_box(folder / "textured_objs" / f"original-{number}.obj", number)
            links += (
                f'<link name="link_{entry["id"]}"><visual name="piece-{number}"><geometry>'
                f'<mesh filename="textured_objs/original-{number}.obj"/></geometry></visual></link>'
            )
    (folder / "mobility.urdf").write_text(f'<robot name="p">{links}</robot>')
    (folder / "mobility_v2.json").write_text(json.dumps(ENTRIES))
    (folder / "meta.json").write_text('{"model_cat": "Dishwasher"}')
    return folder.parent


@pytest.fixture
def acd(tmp_path):
    """A folder in the layout of ACD, one part of which opens."""
    folder = tmp_path / "acd" / "abo" / "armoire" / "a1"
    for number in (11, 12, 13):
        write_box(folder / "objs" / f"{number}.obj", number)
    nodes = [
        {"id": 0, "parent": -1, "name": "base", "joint": {"type": "fixed"},
         "objs": ["objs/11.obj"]},
        {"id": 1, "parent": 0, "name": "door", "objs": ["objs/12.obj"],
         "joint": {"type": "revolute", "range": [0, 90],
                   "axis": {"direction": [0, 1, 0], "origin": [-0.5, 0, 0.5]}}},
        {"id": 2, "parent": 1, "name": "handle", "joint": {"type": "fixed"},
         "objs": ["objs/13.obj"]},
    ]  # fmt: skip
    data = {"meta": {"obj_cat": "Armoire"}, "diffuse_tree": nodes}
    (folder / "object.json").write_text(json.dumps(data))
    return tmp_path / "acd"


def cases(objects, out):
    folders = paper_sets.write_cases(objects, out)
    return {json.loads((f / "case.json").read_text())["prompt"]: f for f in folders}


def read(folder):
    case = json.loads((folder / "case.json").read_text())
    return case, trimesh.load(folder / "object.glb")


def test_parts_that_turn_or_slide_become_cases_and_others_do_not(partnet, tmp_path):
    made = cases(paper_sets.read_partnet(partnet), tmp_path / "cases")
    assert {prompt.split()[1] for prompt in made} == {"door", "drawer", "knob"}


def test_a_door_opens_the_longer_way_and_takes_its_handle_along(partnet, tmp_path):
    made = cases(paper_sets.read_partnet(partnet), tmp_path / "cases")
    case, scene = read(made["the door of the dishwasher is getting opened"])
    assert case["joint"]["axis"] == [-1, 0, 0]  # from -90 to 0 degrees: reversed
    assert case["joint"]["range"] == pytest.approx([0, math.pi / 2])
    assert case["joint"]["origin"] == [0, -0.1, 0.5]
    assert case["joint"]["directed"]
    assert len(case["part"]) == 2
    corners = np.concatenate([bounds(scene, name) for name in case["part"]])
    np.testing.assert_allclose(corners.min(axis=0), [-0.5, -0.1, 0.4], atol=1e-6)
    np.testing.assert_allclose(corners.max(axis=0), [0.5, 0.5, 0.55], atol=1e-6)
    whole = np.array([BOXES[number] for number in range(11, 17)])
    centre = (whole[:, 0].min(axis=0) + whole[:, 1].max(axis=0)) / 2
    np.testing.assert_allclose(case["center"], centre, atol=1e-6)


def bounds(scene, node):
    pose, geometry = scene.graph.get(node)
    return trimesh.transform_points(scene.geometry[geometry].bounds, pose)


def test_slides_keep_their_units_and_what_turns_for_ever_has_no_direction(partnet, tmp_path):
    made = cases(paper_sets.read_partnet(partnet), tmp_path / "cases")
    drawer, _ = read(made["the drawer of the dishwasher is getting opened"])
    assert drawer["joint"]["type"] == "prismatic"
    assert drawer["joint"]["axis"] == [0, 0, 1]
    assert drawer["joint"]["range"] == [0, 0.4]
    knob, _ = read(made["the knob of the dishwasher is getting opened"])
    assert knob["joint"]["continuous"]
    assert not knob["joint"]["directed"]


def test_pieces_without_numbers_go_by_their_link(partnet, tmp_path):
    before = list(paper_sets.read_partnet(partnet))
    urdf = partnet / "7001" / "mobility.urdf"
    urdf.write_text(re.sub(r'name="piece-\d+"', 'name="piece"', urdf.read_text()))
    assert list(paper_sets.read_partnet(partnet)) == before


def test_acd_is_read_at_any_depth(acd, tmp_path):
    ((prompt, folder),) = cases(paper_sets.read_acd(acd), tmp_path / "cases").items()
    case, scene = read(folder)
    assert prompt == "the door of the armoire is getting opened"
    assert case["joint"]["range"] == pytest.approx([0, math.pi / 2])
    assert set(case["part"]) <= set(scene.graph.nodes_geometry)


def test_generated_objects_lie_as_gltf_wants_it(tmp_path):
    from atop_backend.synthetic.generate import generate

    (folder,) = paper_sets.write_generated(tmp_path, 1, 5)
    case, scene = read(folder)
    made = generate(5)
    x, y, z = made.joint.axis
    np.testing.assert_allclose(case["joint"]["axis"], [x, z, -y])
    moving = made.triangles[made.moving].reshape(-1, 3)[:, [0, 2, 1]] * [1, 1, -1]
    corners = np.concatenate([bounds(scene, name) for name in case["part"]])
    np.testing.assert_allclose(corners.min(axis=0), moving.min(axis=0), atol=1e-5)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "mobility.urdf").write_text("<robot"), "cannot be read"),
        (lambda folder: (folder / "mobility_v2.json").write_text("{"), "cannot be read"),
        (lambda folder: (folder / "textured_objs/original-12.obj").unlink(), "cannot be read"),
        (lambda folder: (folder / "mobility_v2.json").unlink(), "no folder with"),
    ],
)
def test_a_data_set_that_is_broken_is_refused_by_name(partnet, tmp_path, spoil, words):
    spoil(partnet / "7001")
    with pytest.raises(InputError, match=words):
        paper_sets.write_cases(paper_sets.read_partnet(partnet), tmp_path / "cases")


def record(category, **axes):
    figures = {
        name: {"axis": angle, "point": angle / 100, "type": 1.0} for name, angle in axes.items()
    }
    return {
        "id": category, "category": category,
        "variants": {paper_tables.MAIN: {"figures": figures["ours"]}},
        "trivial": {"best box hypothesis": figures["best"]},
    }  # fmt: skip


def test_tables_average_by_the_papers_categories():
    records = [record("Dishwasher", ours=2, best=1), record("Dishwasher", ours=4, best=1),
               record("Refrigerator", ours=9, best=0)]  # fmt: skip
    text = paper_tables.tables(records, paper_tables.COLUMNS_1, paper_tables.PAPER["1"])
    angle = text.split("\n\n")[0].splitlines()
    assert angle[0] == "| Ang err ° | Dishwasher | Fridge | mean | n |"
    assert "| the product | 3.00 | 9.00 | 5.00 | 3 |" in angle
    assert "| the paper's own figures | 1.95 | 1.77 | 2.63 | |" in angle


def test_table_3_has_a_row_a_method_and_says_what_is_missing(tmp_path):
    pytest.importorskip("torchmetrics", reason="needs torchmetrics (the metrics extra)")
    from PIL import Image

    for folder, value in (("true", 100), ("near", 110), ("far", 200)):
        for frame in range(3):
            path = tmp_path / folder / "clip" / f"{frame}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.full((32, 32, 3), value, np.uint8)).save(path)
    options = paper_tables.argparse.Namespace(
        videos=[f"{name}={tmp_path / name}" for name in ("near", "far")], prompts=None,
        reference=tmp_path / "true", alexnet=None, clip=None, i3d=None, device="cpu",
    )  # fmt: skip
    text = paper_tables._videos(options)
    assert f"| near | - | - | - | {20 * math.log10(255 / 10):.4g} |" in text
    assert "FVD needs" in text


def test_the_foot_is_the_nearest_point_of_a_line():
    axis, origin, near = torch.tensor([[[0.0, 0, 1]], [[1, 2, 3]], [[4, 6, 9]]])
    torch.testing.assert_close(foot_of(axis, origin, near), torch.tensor([[1.0, 2, 9]]))


@pytest.mark.parametrize("kind", [PointRegressor, PictureRegressor])
def test_a_baseline_can_learn_a_few_joints_by_heart(kind):
    torch.manual_seed(0)
    shape = (6, 2, 32, 3) if kind is PointRegressor else (6, 4, PICTURE_PX, PICTURE_PX)
    inputs = torch.randn(shape)
    revolute = torch.tensor([True, False] * 3)
    axis, foot = torch.nn.functional.normalize(torch.randn(6, 3), dim=1), torch.randn(6, 3)
    network = kind(16)
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3)
    losses = []
    for _ in range(150):
        loss = joint_loss(network(inputs), revolute, axis, foot)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 < losses[0]


class Always(torch.nn.Module):
    def __init__(self, axis, foot):
        super().__init__()
        self.guess = Guess(torch.ones(1), torch.tensor([axis]), torch.tensor([foot]))

    def forward(self, x):
        return self.guess


def test_guesses_come_back_from_the_inputs_frame(box_with_lid):
    axis, foot = [0.0, 0.6, 0.8], [0.5, -0.25, 2.0]
    learned = Baselines(Always(axis, foot), Always(axis, foot))
    by_points = learned.from_points(box_with_lid, seed=0)
    lid = box_with_lid.vertices[np.unique(box_with_lid.triangles[box_with_lid.part])]
    centre = (lid.min(axis=0) + lid.max(axis=0)) / 2
    radius = np.linalg.norm(lid - centre, axis=1).max()
    np.testing.assert_allclose(by_points.origin, centre + radius * np.array(foot), atol=1e-5)
    np.testing.assert_allclose(by_points.axis, axis, atol=1e-6)

    mask = np.zeros((4, 256, 256), bool)
    mask[2, 50:90, 60:100] = True
    cameras = rig(0.3)
    seen = paper_tables.argparse.Namespace(
        rgb=np.zeros((4, 256, 256, 3), np.uint8), part_mask=mask, cameras=cameras
    )
    turn = np.array(cameras[2].world_to_camera)[:3, :3]
    by_picture = learned.from_pictures(seen)
    np.testing.assert_allclose(turn @ by_picture.axis, axis, atol=1e-6)
    np.testing.assert_allclose(turn @ by_picture.origin, foot, atol=1e-6)


def write_true_samples(path, seed):
    """One object's samples as scripts/held_out_fits.py keeps them: the motion itself, once."""
    import held_out_fits

    from atop_backend.config import resolve
    from atop_backend.synthetic.batch import pack
    from atop_backend.synthetic.generate import generate
    from atop_backend.synthetic.render import draw, random_look

    item, steps = generate(seed), resolve("default").generate.steps
    objects = pack([item])
    look = random_look(objects, torch.Generator().manual_seed(seed))
    shares = (torch.tensor([held_out_fits.FRAMES]) + 1) / 9
    seen = draw(objects, shares, look)
    outlines = torch.nn.functional.avg_pool2d(seen.silhouettes[0, :, 1:].float(), 8)
    kept = held_out_fits._compact(
        seen.positions[0].movedim(1, -1).numpy(), seen.silhouettes[0, :, 0].numpy(),
        outlines[None].numpy(), (seen.motions * objects.part_radius).numpy(), steps,
    )  # fmt: skip
    kept |= {"seed": seed, "form": held_out_fits.form_of(item.triangles, item.moving),
             "cameras": seen.cameras[0].numpy(), "prompt": item.prompts[0]}  # fmt: skip
    np.savez(path, count=1, steps=np.array([steps]), **{f"0_{key}": v for key, v in kept.items()})


@pytest.mark.slow
def test_objects_that_were_sampled_before_need_neither_blender_nor_a_network(tmp_path):
    write_true_samples(tmp_path / "samples.npz", 11)
    torch.manual_seed(0)
    Baselines(PointRegressor(), PictureRegressor()).save(tmp_path / "learned")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "paper_tables.py", "own", "--samples",
         tmp_path / "samples.npz", "--baselines", tmp_path / "learned", "--json",
         tmp_path / "own.json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (record,) = json.loads((tmp_path / "own.json").read_text())
    found = record["variants"][paper_tables.MAIN]["figures"]
    assert found["type"] == 1
    assert found["axis"] < 2
    assert set(record["learned"]) == {paper_tables.POINTS, paper_tables.PICTURES}
    assert f"| {paper_tables.GEOMETRY} |" in done.stdout


@needs_blender
@pytest.mark.slow
def test_the_command_makes_a_table_of_a_data_set(acd, tmp_path):
    torch.manual_seed(0)
    Baselines(PointRegressor(), PictureRegressor()).save(tmp_path / "learned")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "paper_tables.py", "2", "--data", acd, "--cases",
         tmp_path / "cases", "--baselines", tmp_path / "learned", "--preset", "tiny"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "| Ang err ° | Armoire | mean | n |" in done.stdout
    for method in (*paper_tables.ORDER, "the paper's own figures"):
        assert f"| {method} |" in done.stdout
    assert "1 parts, 0 without an answer" in done.stdout
