"""Limits and locks of bones as the backend reads them, and assets that are no rig or a bad one."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from mathutils import Euler  # noqa: E402
from rig_scenes import armature, hang, read, tube  # noqa: E402
from scenes import box  # noqa: E402

from atop_backend.errors import InputError  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")


def test_locked_bones_stay(tmp_path):
    rig = armature()
    tube(rig)
    rig.pose.bones["hand"].lock_rotation = (True, True, True)
    found, _ = read(tmp_path)
    assert [n for n, c in zip(found.bones, found.chosen, strict=True) if not c] == ["hand"]


def test_limits_come_from_limit_rotation(tmp_path):
    rig = armature()
    tube(rig)
    limit = rig.pose.bones["arm"].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.min_x, limit.max_x = "LOCAL", True, -0.5, 1.0
    off = rig.pose.bones["leg"].constraints.new("LIMIT_ROTATION")
    off.use_limit_y = off.mute = True
    found, notes = read(tmp_path)
    np.testing.assert_allclose(found.limits[found.bones.index("arm"), 0], [-0.5, 1.0], atol=1e-6)
    assert np.isfinite(found.limits).sum() == 2
    assert found.chosen.all()
    assert notes == []  # a limit is no control


@pytest.mark.parametrize("other", ["world", "order of the limit", "order of the bone"])
def test_limits_of_other_angles_are_told(tmp_path, other):
    rig = armature()
    tube(rig)
    arm = rig.pose.bones["arm"]
    limit = arm.constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space = True, "WORLD" if other == "world" else "LOCAL"
    if other == "order of the limit":
        limit.euler_order = "ZYX"
    elif other == "order of the bone":
        arm.rotation_mode = "YXZ"
    found, notes = read(tmp_path)
    assert not np.isfinite(found.limits).any()
    assert notes == ["limits of arm are not of XYZ angles in Local Space: they are not minded, and"
                     " cut the motion off"]  # fmt: skip


def test_angles_within_the_limits_are_not_cut_off_by_blender(tmp_path):
    rig = armature()
    tube(rig)
    low, high = np.array([-0.5, -0.2, 0.1]), np.array([0.3, 1.0, 1.2])
    arm = rig.pose.bones["arm"]
    limit = arm.constraints.new("LIMIT_ROTATION")
    limit.owner_space = "LOCAL"
    for axis, letter in enumerate("xyz"):
        setattr(limit, f"use_limit_{letter}", True)
        setattr(limit, f"min_{letter}", low[axis])
        setattr(limit, f"max_{letter}", high[axis])
    for share in np.random.default_rng(0).uniform(size=(20, 3)):
        arm.rotation_quaternion = Euler(low + share * (high - low), "XYZ").to_quaternion()
        bpy.context.view_layer.update()
        local = rig.convert_space(
            pose_bone=arm, matrix=arm.matrix, from_space="POSE", to_space="LOCAL"
        )
        np.testing.assert_allclose(np.array(local), np.array(arm.matrix_basis), atol=1e-5)
    found, _ = read(tmp_path)
    kept = found.limits[found.bones.index("arm")]
    np.testing.assert_allclose(kept, np.stack([low, high], axis=1), atol=1e-6)


def test_an_uneven_scale_is_refused_with_the_remedy(tmp_path):
    tube(armature(scale=(1, 1, 1.5)))
    with pytest.raises(InputError, match=r"scaled unevenly.*Apply > Scale"):
        read(tmp_path)


def test_bad_rigs_are_refused_with_a_remedy(tmp_path):
    box("Crate")
    with pytest.raises(InputError, match=r"no armature.*bound to an armature"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["", "Rig"])
def test_an_armature_without_a_mesh_is_refused(tmp_path, name):
    hang(box("Crate"), armature())  # a child alone is not bent
    with pytest.raises(InputError, match=r"no mesh is bound to the armature Rig.*Automatic"):
        read(tmp_path, name)


def test_a_mesh_without_weights_is_refused(tmp_path):
    tube(armature(), weighted=False)
    with pytest.raises(InputError, match=r"no vertex has a weight.*Automatic Weights"):
        read(tmp_path)


def test_an_armature_without_bones_is_refused(tmp_path):
    tube(armature({}), bones=[], weighted=False)
    box("Crate")
    with pytest.raises(InputError, match="has no bones"):
        read(tmp_path)


def test_of_several_rigs_one_must_be_named(tmp_path):
    for name in ("Cat", "Dog"):
        tube(armature(name=name), f"{name} Body")
    with pytest.raises(InputError, match=r"there are 2 rigs: Cat, Dog.*--armature"):
        read(tmp_path)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "asset.blend"))
    found, _ = read(tmp_path, "Dog")
    assert len(found.vertices) == 60
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "asset.blend"))
    with pytest.raises(InputError, match="no armature 'Cow': there are: Cat, Dog"):
        read(tmp_path, "Cow")


def test_a_mesh_of_two_armatures_is_refused(tmp_path):
    body = tube(armature())
    body.modifiers.new("Second", "ARMATURE").object = armature(name="Other")
    with pytest.raises(InputError, match="deformed by 2 Armature modifiers"):
        read(tmp_path)
