"""In videos that people look at seen surfaces keep their colours and unmoved pixels stay."""

from __future__ import annotations

import numpy as np
import pytest

from atop_backend import compositing
from atop_backend.config import FitConfig
from atop_backend.contracts import JointMotion
from atop_backend.geometry import cameras
from atop_backend.geometry.joints import joint_matrix, transform_points
from atop_backend.geometry.visibility import visible_faces
from atop_backend.motion.evidence import block_points, evidence_from_clip
from atop_backend.rendering.views import RestViews

SIZE = 128
LID = JointMotion("revolute", (-1.0, 0.0, 0.0), (0.0, 0.5 / 0.81, 0.3 / 0.81), 0.0, 1.0)
GREY, INSIDE = 190, np.array([40, 160, 90])


def painted(points):
    """A colour for every point at rest: smooth, so that a wrong place shows."""
    return 128 + 60 * np.stack([np.sin(3 * points[..., i] + i) for i in range(3)], axis=-1)


def look(shape, camera, moved_by):
    """Colours, rest points and where the part is, seen with the part moved by an amount."""
    corners = shape.vertices[shape.triangles]
    corners[shape.part] = transform_points(LID, moved_by, corners[shape.part].reshape(-1, 3)
                                           ).reshape(-1, 3, 3)  # fmt: skip
    seen = visible_faces(camera, corners)
    names = np.arange(3 * len(corners)).reshape(-1, 3)
    places = cameras.seen_positions(camera, seen.faces, corners.reshape(-1, 3), names)
    part = (seen.faces >= 0) & shape.part[seen.faces]
    places[part] = transform_points(LID, -moved_by, places[part])
    colours = np.where(seen.faces[..., None] >= 0, painted(places), GREY)
    return np.rint(colours).astype(np.uint8), places, part


@pytest.fixture
def seen(box_with_lid):
    rig = cameras.rig(0.4, SIZE)
    rgb, positions, masks = (
        np.stack(values)
        for values in zip(*(look(box_with_lid, camera, 0.0) for camera in rig), strict=True)
    )
    return RestViews(box_with_lid, rig, rgb, masks, np.zeros(masks.shape, np.int32), positions)


def generated(frames, colour=INSIDE):
    """What a network might have made: one colour all over."""
    return np.broadcast_to(colour, (4, frames, SIZE, SIZE, 3)).astype(np.uint8)


def carried(seen, amount):
    """One frame with the lid moved, and the pixels whose colours depend on what was generated."""
    frames, others = (
        compositing.carry_along(seen, generated(1, colour), [joint_matrix(LID, amount)])[:, 0]
        for colour in (INSIDE, 255 - INSIDE)
    )
    return frames, (frames != others).any(axis=-1)


def test_surfaces_seen_at_rest_carry_their_colours_along(seen):
    frames, hidden = carried(seen, 0.7)
    made = 0
    for view, camera in enumerate(seen.cameras):
        true, _, part = look(seen.shape, camera, 0.7)
        inner = part & compositing._alike(part)
        wrong = np.abs(frames[view].astype(float) - true).max(axis=-1)
        shown = inner & ~compositing._spread(hidden[view], 1)
        assert (wrong[shown] < 12).mean() > 0.95
        made += shown.sum()
    assert made > 300


def test_pixels_that_the_part_never_covers_are_those_of_the_rest_view(seen):
    poses = [joint_matrix(LID, amount) for amount in (0.3, 0.6)]
    result = compositing.carry_along(seen, generated(2), poses)
    for view, camera in enumerate(seen.cameras):
        for frame, amount in enumerate((0.3, 0.6)):
            part = look(seen.shape, camera, amount)[2] | seen.part_mask[view]
            away = ~compositing._spread(part, 3)
            np.testing.assert_array_equal(result[view, frame][away], seen.rgb[view][away])


def test_what_comes_to_light_is_generated_and_even(seen):
    frames, hidden = carried(seen, 1.0)
    inner = np.stack([h & compositing._alike(h) for h in hidden])
    assert inner.sum() > 200  # the inside of the box and the lower face of its lid
    for view in (0, 3):  # looked into from the front
        under_lid = inner[view] & look(seen.shape, seen.cameras[view], 1.0)[2]
        spread = np.percentile(frames[view][under_lid], (2, 98), axis=0)
        assert (spread[1] - spread[0]).max() < 2
    assert not hidden[(seen.rgb == GREY).all(axis=-1)].all()


def test_a_part_that_has_not_moved_looks_as_at_rest(seen):
    result = compositing.carry_along(seen, generated(1), [np.eye(4)])
    apart = np.abs(result[:, 0].astype(float) - seen.rgb).max(axis=-1)
    assert np.percentile(apart, 98) < 4


def test_frames_in_between_are_as_many_as_asked_for_and_end_alike(seen):
    poses = [joint_matrix(LID, amount) for amount in (0.25, 0.5, 0.75, 1.0)]
    all_four = compositing.carry_along(seen, generated(2), poses, between=2)
    ends = compositing.carry_along(seen, generated(2), poses[1::2])
    assert all_four.shape[:2] == (4, 4)
    np.testing.assert_array_equal(all_four[:, 1::2], ends)
    assert (all_four[:, 0] != all_four[:, 1]).any()


def test_the_shown_motion_is_that_of_the_videos_own_joint(seen):
    frames = np.array([0.5, 1.0])
    points, _, places = block_points(seen.positions, seen.part_mask)
    blocks = SIZE // 8
    motions = np.zeros((4, 2, 3, blocks, blocks))
    silhouettes = np.zeros((4, 2, blocks, blocks))
    view, row, column = places.T
    for frame, share in enumerate(frames):
        moved = transform_points(LID, share * LID.upper, points)
        motions[view, frame, :, row, column] = moved - points
        for i, camera in enumerate(seen.cameras):
            part = look(seen.shape, camera, share * LID.upper)[2]
            silhouettes[i, frame] = part.reshape(blocks, 8, blocks, 8).mean(axis=(1, 3))
    evidence = evidence_from_clip(
        seen.positions, seen.part_mask, seen.cameras, silhouettes[None], motions[None], frames
    )
    poses = compositing.shown_motion(
        seen.shape, evidence, FitConfig(points=256), ("revolute", "prismatic"), between=2
    )
    assert len(poses) == 4
    np.testing.assert_allclose(poses[-1], joint_matrix(LID, LID.upper), atol=0.03)
    np.testing.assert_allclose(poses[1], joint_matrix(LID, 0.5 * LID.upper), atol=0.03)
