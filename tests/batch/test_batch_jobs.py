"""Job files, guessed jobs and the names they come from."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from needs import needs_blender

from atop_backend.batch.jobs import (
    BatchJob,
    asset_files,
    guess_jobs,
    movable_parts,
    node_names,
    parse_amount,
    read_jobs,
)
from atop_backend.batch.manifest import Manifest
from atop_backend.batch.steps import with_readable_asset
from atop_backend.batch.words import prompt_for, words_of
from atop_backend.contracts import JobRequest
from atop_backend.errors import InputError
from atop_backend.rendering.selectors import without_number

TEMPLATE = JobRequest(Path("a"), ("p",), "x", Path("o"), seed=3)


def write_gltf(path: Path, nodes: list[dict], **more) -> Path:
    data = {"asset": {"version": "2.0"}, "nodes": nodes, **more}
    if path.suffix == ".gltf":
        path.write_text(json.dumps(data))
        return path
    text = json.dumps(data).encode()
    text += b" " * (-len(text) % 4)
    header = b"glTF" + (2).to_bytes(4, "little") + (20 + len(text)).to_bytes(4, "little")
    path.write_bytes(header + len(text).to_bytes(4, "little") + b"JSON" + text)
    return path


def test_a_toml_file_gives_jobs_with_defaults_and_paths_beside_it(tmp_path):
    file = tmp_path / "jobs.toml"
    file.write_text(
        '[defaults]\nmotion = "hinge"\n'
        '[[job]]\nasset = "a.glb"\npart = "door"\nprompt = "it opens"\namount = "90deg"\n'
        '[[job]]\nasset = "sub/b.blend"\nparts = ["lid", "knob"]\nprompt = "up"\nseed = 7\n'
    )

    first, second = read_jobs(file, TEMPLATE)

    assert first.request.asset == tmp_path / "a.glb"
    assert (first.request.motion, first.request.seed) == ("hinge", 3)
    assert math.isclose(first.request.amount, math.pi / 2)
    assert (second.request.parts, second.request.seed) == (("lid", "knob"), 7)
    assert (second.name, second.label) == ("b_lid_knob", "sub/b.blend")


def test_a_csv_file_gives_the_same_jobs_as_toml(tmp_path):
    table, text = tmp_path / "jobs.csv", tmp_path / "jobs.toml"
    table.write_text(
        "asset,part,prompt,motion,amount,seed\n"
        'a.glb,door;knob,"it opens, wide",slider,0.3,\n'
        "b.glb,lid,up,,,5\n"
    )
    text.write_text(
        '[[job]]\nasset = "a.glb"\nparts = ["door", "knob"]\nprompt = "it opens, wide"\n'
        'motion = "slider"\namount = 0.3\n'
        '[[job]]\nasset = "b.glb"\npart = "lid"\nprompt = "up"\nseed = 5\n'
    )

    assert read_jobs(table, TEMPLATE) == read_jobs(text, TEMPLATE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[job]]\nasset = "a.glb"\npart = "door"\n', "job 1 .* prompt is empty"),
        ('[[job]]\nasset = "a.glb"\nprompt = "x"\n', "no part was named"),
        ('[[job]]\npart = "door"\nprompt = "x"\n', "no asset is named"),
        ('[[job]]\nasset = "a"\npart = "d"\nprompt = "x"\nspeed = 1\n', "unknown keys"),
        ('[[job]]\nasset = "a"\npart = "d"\nprompt = "x"\namount = "far"\n', "amount is 'far'"),
        ("", "names no job"),
        ("[[job]\n", "cannot be read"),
    ],
)
def test_a_wrong_job_is_refused_with_its_number_and_reason(tmp_path, text, words):
    file = tmp_path / "jobs.toml"
    file.write_text(text)

    with pytest.raises(InputError, match=words):
        read_jobs(file, TEMPLATE)


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("Door_Left.001", "the left door opens"),
        ("drawer3", "the drawer slides out"),
        ("TopDrawer", "the top drawer slides out"),
        ("oven_door", "the door opens"),
        ("Doors", "the door opens"),
        ("door_handle", ""),
        ("door_frame", ""),
        ("outdoors_bench", ""),
        ("Cube.004", ""),
    ],
)
def test_names_tell_which_parts_move_and_how(name, prompt):
    assert prompt_for(name) == prompt


def test_camel_case_and_numbers_part_words():
    assert words_of("upperDoor-Left_2.003") == ["upper", "door", "left"]


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_of_a_part_and_its_pieces_only_the_part_is_chosen(tmp_path, suffix):
    asset = write_gltf(
        tmp_path / f"cabinet{suffix}",
        [
            {"name": "cabinet", "children": [1, 3, 4]},
            {"name": "door", "children": [2, 7]},
            {"name": "door_mesh"},
            {"name": "drawer"},
            {"name": "Lids", "children": [5, 6]},
            {"name": "lid_1"},
            {"name": "lid_2"},
            {"name": "knob"},
        ],
    )

    assert movable_parts(asset) == [
        ("door", "the door opens"),
        ("drawer", "the drawer slides out"),
        ("lid_1", "the lid opens"),
        ("lid_2", "the lid opens"),
        ("knob", "the knob turns"),
    ]


def test_a_folder_gives_a_job_a_movable_part_and_a_reason_an_asset_without_one(tmp_path):
    (tmp_path / "deep").mkdir()
    write_gltf(tmp_path / "deep" / "a.glb", [{"name": "lid"}])
    (tmp_path / "b.glb").write_bytes(b"not a glb at all, and long enough to look")
    (tmp_path / "c.obj").write_text("o body\nv 0 0 0\no door_1\nv 0 0 0\n")
    (tmp_path / "d.obj").write_text("o body\nv 0 0 0\n")
    (tmp_path / "e.urdf").write_text("<robot")

    jobs, left_out = guess_jobs(tmp_path, TEMPLATE, readers=2)

    assert [(job.label, *job.request.parts, job.request.prompt) for job in jobs] == [
        ("c.obj", "door_1", "the door opens"),
        ("deep/a.glb", "lid", "the lid opens"),
    ]
    assert left_out["b.glb"] == "b.glb cannot be read (not a glb)"
    assert left_out["d.obj"] == "no part has a telling name"
    assert "cannot be read" in left_out["e.urdf"]
    assert len(left_out) == 3


def test_meshes_that_a_urdf_of_the_folder_names_are_no_assets_of_their_own(tmp_path):
    (tmp_path / "a.urdf").write_text('<robot><mesh filename="parts/door.obj"/>')
    (tmp_path / "parts").mkdir()
    for name in ("door.obj", "other.obj"):
        (tmp_path / "parts" / name).write_text("o door")

    jobs, left_out = guess_jobs(tmp_path, TEMPLATE)

    assert [job.label for job in jobs] == ["parts/other.obj"]
    assert list(left_out) == ["a.urdf"]


def test_one_template_can_prompt_all_parts(tmp_path):
    write_gltf(tmp_path / "a.glb", [{"name": "lid"}])

    (job,) = guess_jobs(tmp_path, TEMPLATE, "lift the {part} {gently}").jobs

    assert job.request.prompt == "lift the lid {gently}"


def test_the_files_that_an_asset_names_belong_to_it(tmp_path):
    images = [{"uri": "my%20wood.png"}, {"uri": "data:image/png;base64,AA"}, {"bufferView": 0}]
    gltf = write_gltf(tmp_path / "a.gltf", [], buffers=[{"uri": "a.bin"}], images=images)
    obj = tmp_path / "b.obj"
    obj.write_text("mtllib b.mtl\nmtllib b.mtl\nv 0 0 0\n")

    assert asset_files(gltf) == [gltf, tmp_path / "a.bin", tmp_path / "my wood.png"]
    assert asset_files(obj) == [obj, tmp_path / "b.mtl"]


def test_amounts_are_radians_or_units():
    assert parse_amount("180deg") == math.pi
    assert parse_amount(" 0.5 ") == 0.5
    assert parse_amount("") is None


URDF = """<robot name="r"><link name="base"/><link name="left_door"/><link name="link_2"/>
<joint name="a" type="revolute"><parent link="base"/><child link="left_door"/></joint>
<joint name="b" type="fixed"><parent link="base"/><child link="link_2"/></joint>
<link name="thing"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
<joint name="c" type="prismatic"><parent link="base"/><child link="thing"/></joint>
<link name="link_3"><visual name="handle-8"/><visual name="drawer_front-9"/></link>
<joint name="d" type="prismatic"><parent link="base"/><child link="link_3"/></joint>
<link name="link_4"><visual name="glass-4"/><visual name="door_frame-5"/></link>
<joint name="e" type="revolute"><parent link="base"/><child link="link_4"/></joint></robot>"""


def test_all_links_that_a_urdf_moves_are_parts(tmp_path):
    urdf = tmp_path / "a.urdf"
    urdf.write_text(URDF)

    assert movable_parts(urdf) == [
        ("left_door", "the left door opens"),
        ("thing", "the thing moves"),
        ("link_3", "the drawer slides out"),  # as its shapes say
        ("link_4", "the door opens"),
    ]


def test_a_urdf_is_given_to_blender_as_glb(tmp_path):
    urdf = tmp_path / "a.urdf"
    urdf.write_text(URDF)
    request = JobRequest(urdf, ("thing",), "it moves", tmp_path / "jobs" / "a-key")

    readable = with_readable_asset(request)

    assert readable.asset == tmp_path / "jobs" / "a-key.glb"
    assert ("thing", ("base",)) in node_names(readable.asset)
    assert with_readable_asset(readable) == readable


def test_files_of_face_indices_are_relative_to_the_job_file(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("asset,part,prompt\na.glb,faces:sub/lid.txt#Chest,it opens\n")

    (job,) = read_jobs(file, TEMPLATE)

    assert job.request.parts == (f"faces:{tmp_path}/sub/lid.txt#Chest",)
    assert job.name == "a_lid"


@pytest.mark.parametrize("changed", ["a.obj", "lid.txt", "model/weights.bin"])
def test_a_job_is_new_when_any_file_that_it_reads_has_changed(tmp_path, changed):
    (tmp_path / "model").mkdir()
    for name in ("a.obj", "lid.txt", "model/weights.bin"):
        (tmp_path / name).write_text("before")
    request = replace(
        TEMPLATE, asset=tmp_path / "a.obj", parts=(f"faces:{tmp_path}/lid.txt",),
        finetuned=tmp_path / "model",
    )  # fmt: skip
    job = BatchJob("a", "a.obj", request)
    manifest = Manifest(tmp_path)
    before = manifest.key(job)

    assert manifest.key(job) == before
    (tmp_path / changed).write_text("afterwards")

    assert manifest.key(job) != before


def test_a_job_stays_the_same_where_its_files_are_moved_as_they_are(tmp_path):
    keys = []
    for folder in (tmp_path / "here", tmp_path / "there"):
        folder.mkdir()
        (folder / "a.obj").write_text("same")
        (folder / "lid.txt").write_text("1 2 3")
        request = replace(
            TEMPLATE, asset=folder / "a.obj", parts=(f"faces:{folder}/lid.txt#Chest",)
        )
        keys.append(Manifest(folder).key(BatchJob("a", "a.obj", request)))

    assert keys[0] == keys[1]


def usd_prim(kind: str, name: str, *inside: str) -> str:
    return "\n".join([f'def {kind} "{name}"', "{", *inside, "}"])


def usd_mesh(name: str) -> str:
    return usd_prim(
        "Mesh",
        name,
        "int[] faceVertexCounts = [3]",
        "int[] faceVertexIndices = [0, 1, 2]",
        "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]",
    )


@needs_blender
def test_a_usd_keeps_the_names_of_transforms_and_what_hangs_on_what(tmp_path):
    asset = tmp_path / "cabinet.usda"
    knob = usd_prim("Xform", "knob", usd_mesh("Cube_2"))
    door = usd_prim("Xform", "door_1", usd_mesh("door_1_front"), knob)
    drawer = usd_prim("Xform", "drawer", usd_mesh("drawer"))
    whole = usd_prim("Xform", "cabinet", usd_mesh("body"), door, drawer)
    asset.write_text(f"#usda 1.0\n{whole}\n")

    names = dict(node_names(asset))

    assert names["Cube_2"] == ("knob", "door_1", "cabinet")
    parts = [without_number(part) for part, _ in movable_parts(asset)]
    assert parts == ["door_1", "drawer", "knob"]
