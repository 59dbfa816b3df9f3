"""Articulated assets of every format: what moves in them, and how, against what wrote them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tuning_toys import cabinet_model, needs_readers

from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError
from atop_backend.export.gltf import write_gltf
from atop_backend.export.mjcf import write_mjcf
from atop_backend.export.urdf import write_urdf
from atop_backend.export.usd import write_usd
from atop_backend.geometry.meshes import Y_UP
from atop_backend.tuning.assets import (
    Asset,
    Mover,
    asset_names,
    find_assets,
    read_asset,
    read_sentences,
    sentence,
    travel_from,
)
from atop_backend.tuning.generated import check_kind, generated_asset

pytestmark = needs_readers


@pytest.mark.parametrize("write", [write_urdf, write_mjcf])
def test_joints_of_urdf_and_mjcf_come_back_as_they_were_written(tmp_path, write):
    model = cabinet_model()
    asset = read_asset(write(model, tmp_path / "out"), "cabinet", tmp_path)
    door, drawer, knob = (link.name for link in model.links)
    movers = {mover.part: mover for mover in asset.movers}
    moved = {part: set(mover.nodes) for part, mover in movers.items()}
    assert moved == {door: {door, knob}, drawer: {drawer}, knob: {knob}}
    for link, joint in zip(model.links, model.joints, strict=True):
        mover = movers[link.name]
        assert mover.joint is not None
        assert mover.joint.kind == joint.kind
        assert np.allclose(Y_UP.T @ mover.joint.axis, joint.axis, atol=1e-6)
        assert np.allclose(Y_UP.T @ mover.joint.origin, joint.origin, atol=1e-6)
        assert mover.joint.upper == pytest.approx(joint.upper, abs=1e-6)


def test_joints_of_usd_are_in_the_frame_of_the_body_that_they_move(tmp_path):
    model = cabinet_model()
    asset = read_asset(write_usd(model, tmp_path / "out"), "cabinet", tmp_path)
    assert [mover.part for mover in asset.movers] == ["Tür/links 1", "tur links_1", "knob"]
    assert set(asset.movers[0].nodes) == {asset.movers[0].joint_node, *asset.movers[2].nodes}
    for mover, joint in zip(asset.movers, model.joints, strict=True):
        assert mover.joint is not None
        assert np.allclose(mover.joint.axis, joint.axis, atol=1e-6)
        assert np.allclose(mover.joint.origin, 0, atol=1e-6)
        assert mover.joint.upper == pytest.approx(joint.upper, abs=1e-5)


URDF = """<robot name="r">
  <link name="base"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
  <link name="arm"><visual><geometry><box size="1 .2 .2"/></geometry></visual></link>
  <link name="hand"><visual><geometry><box size=".1 .1 .1"/></geometry></visual></link>
  <joint name="a" type="revolute"><parent link="base"/><child link="arm"/>
    <origin xyz="0 0 1" rpy="0 0 1.5707963"/><axis xyz="1 0 0"/><limit lower="-2" upper="-0.5"/>
  </joint>
  <joint name="b" type="fixed"><parent link="arm"/><child link="hand"/><origin xyz="1 0 0"/></joint>
  {more}
</robot>"""


def test_a_joint_starts_at_the_value_nearest_to_zero_and_goes_to_the_farther_end(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF.format(more=""))
    (mover,) = read_asset(path, "arm", tmp_path).movers
    assert mover.joint is not None
    assert mover.nodes == ("arm", "hand")  # what hangs on it moves along
    assert mover.joint.upper == pytest.approx(1.5)  # from -0.5 to -2
    assert np.allclose(Y_UP.T @ mover.joint.axis, [0, -1, 0], atol=1e-6)


def test_a_mesh_that_is_not_there_is_named(tmp_path):
    more = '<link name="x"><visual><geometry><mesh filename="gone.obj"/></geometry></visual></link>'
    (tmp_path / "arm.urdf").write_text(URDF.format(more=more))
    with pytest.raises(InputError, match=r"names the mesh 'gone\.obj'"):
        read_asset(tmp_path / "arm.urdf", "arm", tmp_path)


MJCF = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
  <body name="post"><geom type="capsule" size=".1 .5" rgba="1 0 0 1"/>
    <geom type="box" size="9 9 9" group="3"/>
    <body name="wheel" pos="0 0 1"><joint axis="0 1 0"/><geom type="cylinder" size=".5 .1"/>
      <body name="nut"><geom type="sphere" size=".05"/></body></body>
  </body></worldbody></mujoco>"""


def test_shapes_of_mujoco_are_meshes_and_a_free_wheel_turns_a_quarter(tmp_path):
    import trimesh

    path = tmp_path / "wheel.xml"
    path.write_text(MJCF)
    asset = read_asset(path, "wheel", tmp_path)
    (mover,) = asset.movers
    assert mover.joint is not None
    assert mover.nodes == ("wheel", "nut")
    assert mover.joint.upper == pytest.approx(math.pi / 2)
    scene = trimesh.load(asset.file)
    low, high = scene.bounds @ Y_UP  # back to Z up
    assert np.allclose(np.maximum(low, high), [0.5, 0.5, 1.1], atol=0.01)
    assert min(low[2], high[2]) == pytest.approx(-0.6, abs=0.01)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.urdf", "<robot", "cannot be read as URDF"),
        ("a.xml", "<mujoco", "cannot be read as MJCF"),
        ("a.usda", "nonsense", "cannot be read as USD"),
        ("a.urdf", '<robot name="r"><link name="base"/></robot>', "nothing moves in a.urdf"),
        ("a.usda", "#usda 1.0\n", "nothing moves in a.usda"),
        ("a.xml", "<mujoco/>", "nothing moves in a.xml"),
    ],
)
def test_a_broken_asset_is_refused_by_name_and_reason(tmp_path, name, content, reason):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=reason):
        read_asset(tmp_path / name, "a", tmp_path)


def test_a_slider_without_end_is_refused_by_name():
    with pytest.raises(InputError, match="the slider 'rail' has no end"):
        travel_from(
            "prismatic", np.array([1.0, 0, 0]), np.zeros(3), 0.0, (-math.inf, math.inf), "rail"
        )


def test_a_fixed_joint_does_not_move():
    axis, origin = np.array([1.0, 0, 0]), np.zeros(3)
    assert travel_from("revolute", axis, origin, 0.0, (0.0, 0.0), "weld") is None


def test_folders_are_searched_for_assets_and_meshes_are_left_alone(tmp_path):
    first = write_urdf(cabinet_model(), tmp_path / "first")
    second = write_mjcf(cabinet_model(), tmp_path / "second")
    (tmp_path / "settings.xml").write_text("<settings/>")
    (tmp_path / "piece.xml").write_text("<mujocoinclude/>")
    paths = find_assets([tmp_path])
    assert paths == [first.resolve(), second.resolve()]
    assert asset_names(paths) == ["first_object_2_cabinets", "second_object_2_cabinets"]


def test_what_cannot_be_an_asset_is_refused(tmp_path):
    with pytest.raises(InputError, match="no articulated asset"):
        find_assets([tmp_path])
    with pytest.raises(InputError, match="there is no file"):
        find_assets([tmp_path / "gone.urdf"])
    (tmp_path / "a.obj").write_text("")
    with pytest.raises(InputError, match=r"a\.obj is not a format"):
        find_assets([tmp_path / "a.obj"])


def test_a_sentence_comes_from_the_table_then_the_template_then_the_asset(tmp_path):
    (tmp_path / "said.json").write_text(json.dumps({"oven/left_door": "it folds down"}))
    table = read_sentences(tmp_path / "said.json")
    mover = Mover("left_door", (), None)
    oven = Asset("oven", tmp_path, (mover,), {})
    assert sentence(oven, mover, "the {part} opens", table) == "it folds down"
    assert sentence(oven, mover, "the {part} opens", {}) == "the left door opens"
    assert sentence(oven, mover, None, {}) == "the left door of the oven opens"
    told = mover._replace(prompts=("swing it open",))
    assert sentence(oven, told, None, {}) == "swing it open"
    with pytest.raises(InputError, match="cannot be filled in"):
        sentence(oven, mover, "the {door} opens", {})


def test_a_table_of_something_else_is_refused(tmp_path):
    (tmp_path / "said.json").write_text('["x"]')
    with pytest.raises(InputError, match="no table of sentences"):
        read_sentences(tmp_path / "said.json")


def test_generated_objects_keep_joint_and_prompt(tmp_path):
    from atop_backend.synthetic.generate import generate

    asset = generated_asset("microwave", 3, tmp_path)
    made = generate(3, "microwave")
    (mover,) = asset.movers
    assert isinstance(mover.joint, JointMotion)
    assert np.allclose(Y_UP.T @ mover.joint.axis, made.joint.axis)
    assert mover.prompts[0] in made.prompts
    with pytest.raises(InputError, match="makes no 'microwav'"):
        check_kind("microwav")


def test_an_exported_gltf_needs_no_reader_but_blender(tmp_path):
    path = write_gltf(cabinet_model(), tmp_path)
    assert find_assets([path]) == [path.resolve()]
