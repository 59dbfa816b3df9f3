"""Training pictures show what the cameras of the product would see."""

import numpy as np
import torch

from atop_backend.contracts import JointMotion
from atop_backend.geometry import cameras
from atop_backend.synthetic.batch import pack
from atop_backend.synthetic.objects import MOVING, STATIC, ArticulatedObject, Builder
from atop_backend.synthetic.posing import move
from atop_backend.synthetic.raster import rasterise
from atop_backend.synthetic.render import draw, random_look
from atop_backend.synthetic.solids import box


def cupboard(joint: JointMotion) -> ArticulatedObject:
    builder = Builder()
    wood, paint = builder.material([0.7, 0.5, 0.3]), builder.material([0.2, 0.4, 0.8])
    builder.add(box([-0.5, -0.4, -0.6], [0.5, 0.4, 0.6]), wood, STATIC)
    builder.add(box([-0.5, -0.45, -0.6], [0.5, -0.4, 0.6]), paint, MOVING)
    return ArticulatedObject(
        "cupboard", builder.triangles.astype(np.float32), builder.materials,
        np.stack(builder.colours).astype(np.float32), builder.moving, joint, True, ("open it",),
    )  # fmt: skip


HINGE = JointMotion("revolute", (0.0, 0.0, -1.0), (-0.5, -0.4, 0.0), 0.0, 1.2)
SLIDER = JointMotion("prismatic", (0.0, -1.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.5)


def pictures(joint, shares=(0.5, 1.0)):
    objects = pack([cupboard(joint)])
    look = random_look(objects, torch.Generator().manual_seed(0))
    return objects, look, draw(objects, torch.tensor([shares]), look)


def test_points_seen_lie_on_the_surface_under_their_pixel():
    _, look, seen = pictures(HINGE)
    for view in range(4):
        points = seen.positions[0, view].permute(1, 2, 0).double().numpy()
        hit = (points != 0).any(axis=-1)
        assert hit.sum() > 3000
        inside = np.abs(points[hit]) <= np.array([0.5, 0.45, 0.6]) + 1e-4
        assert inside.all()
        matrix = look.world_to_camera[0, view].double().numpy()
        camera = points[hit] @ matrix[:, :3].T + matrix[:, 3]
        focal = 128 / np.tan(np.radians(cameras.FIELD_OF_VIEW_DEG) / 2)
        pixels = camera[:, :2] / camera[:, 2:] * focal + 128
        rows, columns = np.nonzero(hit)
        np.testing.assert_allclose(pixels, np.stack([columns, rows], 1) + 0.5, atol=0.01)


def test_motions_are_those_of_the_joint_in_units_of_the_part():
    for joint in (HINGE, SLIDER):
        objects, _, seen = pictures(joint)
        mask = seen.silhouettes[0, :, 0].float()
        weights = torch.nn.functional.avg_pool2d(mask[:, None], 8)[:, 0]
        points = torch.nn.functional.avg_pool2d(seen.positions[0] * mask[:, None], 8)
        view, row, column = (int(i) for i in np.argwhere(weights.numpy() > 0.9)[0])
        point = (points / weights[:, None])[view, :, row, column].double().numpy()
        for frame, share in enumerate((0.5, 1.0)):
            expected = move(point[None], joint, share * joint.upper)[0] - point
            found = seen.motions[0, view, frame, :, row, column] * objects.part_radius[0]
            np.testing.assert_allclose(found.numpy(), expected, atol=2e-5)


def test_silhouettes_follow_the_part():
    _, _, seen = pictures(SLIDER, shares=(1e-6, 1.0))
    front = seen.silhouettes[0, 0]
    assert (front[0] != front[1]).float().mean() < 1e-3
    assert (front[0] != front[2]).float().mean() > 0.02
    assert not seen.motions[0, :, :, :, 0, 0].any()  # a corner of the picture sees no part


def test_the_nearer_triangle_wins_and_padding_is_ignored():
    flat = torch.tensor([[2.0, 2.0], [30.0, 2.0], [2.0, 30.0]])
    near, far = torch.full((3, 1), 0.5), torch.full((3, 1), 0.2)
    screen = torch.stack([torch.cat([flat, far], 1), torch.cat([flat, near], 1)])[None]
    both = rasterise(screen, torch.tensor([2]), 32)
    one = rasterise(screen, torch.tensor([1]), 32)
    assert both[0, 5, 5] == 1
    assert one[0, 5, 5] == 0
    assert both[0, 31, 31] == -1
