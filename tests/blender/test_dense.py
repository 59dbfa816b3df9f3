"""A mesh of two million faces: every way to pick and move its part takes seconds."""

from __future__ import annotations

import time
from contextlib import contextmanager

import pytest

bpy = pytest.importorskip("bpy", reason="needs a Python that has Blender's bpy module")

import numpy as np  # noqa: E402
from pressing import select  # noqa: E402
from scenes import add, box  # noqa: E402

from atop_backend.contracts import JointMotion  # noqa: E402
from blender_addon.scene import edit, pick, read, write  # noqa: E402

HINGE = JointMotion("revolute", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.0, 1.5)
ROWS, COLUMNS, PART = 1000, 2000, 600  # faces up, across, and across the part


@contextmanager
def within(seconds):
    """Fail if the block takes more of the processor; other work on the machine does not count."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < seconds


@pytest.fixture
def dense(context):
    """A wavy sheet before a body, active; a vertex group and a material on its left part."""
    x, z = np.meshgrid(np.linspace(0, 1, COLUMNS + 1), np.linspace(0, 2, ROWS + 1))
    places = np.stack([x, 0.02 * np.sin(9 * x) * np.cos(7 * z), z], axis=-1).reshape(-1, 3)
    names = np.arange(len(places), dtype=np.int32).reshape(ROWS + 1, COLUMNS + 1)
    corners = np.stack([names[:-1, :-1], names[:-1, 1:], names[1:, 1:], names[1:, :-1]], axis=-1)
    mesh = bpy.data.meshes.new("Dense")
    mesh.vertices.add(len(places))
    mesh.vertices.foreach_set("co", places.ravel().astype(np.float32))
    mesh.loops.add(corners.size)
    mesh.loops.foreach_set("vertex_index", corners.ravel())
    mesh.polygons.add(ROWS * COLUMNS)
    mesh.polygons.foreach_set("loop_start", np.arange(0, corners.size, 4, dtype=np.int32))
    mesh.update(calc_edges=True)
    ob = add(bpy.data.objects.new("Dense", mesh))
    box("Body", location=(0.0, 0.1, 0.0))
    for name in ("Plain", "Paint"):
        mesh.materials.append(bpy.data.materials.new(name))
    left = np.tile(np.arange(COLUMNS) < PART, ROWS)
    mesh.polygons.foreach_set("material_index", left.astype(np.int32))
    group = ob.vertex_groups.new(name="Flap")
    group.add(names[:, : PART + 1].ravel().tolist(), 1.0, "REPLACE")
    select(ob)
    return ob


def test_as_an_object_it_is_copied_written_and_reverted(context, dense, tmp_path):
    with within(10):
        parts = pick.pick_parts(context, "OBJECTS")
        read.write_scene_copy(context, parts, tmp_path)
        written = write.write_joint(context, parts, HINGE)
        edit.add_physics(context, written)
        write.set_joint(written, HINGE.flipped())
        write.revert(context, written)


@pytest.mark.parametrize(("source", "name"), [("VERTEX_GROUP", "Flap"), ("MATERIAL", "Paint")])
@pytest.mark.parametrize("way", ["bone", "separate"])
def test_its_faces_are_picked_copied_written_and_reverted(
    context, dense, tmp_path, source, name, way
):
    with within(10):
        (part,) = pick.pick_parts(context, source, name, way)
        read.write_scene_copy(context, [part], tmp_path)
    assert len(part.faces) == PART * ROWS
    with within(20):
        written = write.write_joint(context, [part], HINGE)
        context.scene.frame_set(30)
    with within(1):
        write.set_joint(written, HINGE.flipped())
    with within(10):
        write.revert(context, written)
    assert len(dense.data.polygons) == ROWS * COLUMNS
