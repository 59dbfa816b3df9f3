"""URDF as something to film: a glTF of the robot at rest, and the joints of its links."""

from __future__ import annotations

from pathlib import Path

from atop_backend.export.urdf_reader import (
    carried_links,
    link_poses,
    movable_joints,
    read_urdf,
    urdf_to_glb,
)
from atop_backend.tuning.assets import Mover, rest_value, to_y_up, travel_from


def urdf_movers(path: Path, scratch: Path) -> tuple[Path, list[Mover]]:
    """The file for Blender and every joint that can move; links below a joint move with it.

    Raises:
        InputError: The file is no URDF, or names a mesh that cannot be read.
    """
    urdf = read_urdf(path)
    joints = movable_joints(urdf)
    rest = {joint.name: rest_value(joint.limits) for joint in joints}
    poses = link_poses(urdf, rest)
    movers = []
    for joint in joints:
        pose = poses[joint.child]
        motion = travel_from(
            "prismatic" if joint.kind == "prismatic" else "revolute",
            pose[:3, :3] @ joint.axis,
            pose[:3, 3],
            rest[joint.name],
            joint.limits,
            joint.name,
        )
        shown = tuple(sorted(link for link in carried_links(urdf, joint.child) if urdf.links[link]))
        if motion is not None and shown:
            movers.append(Mover(joint.child, shown, to_y_up(motion)))
    return (urdf_to_glb(urdf, scratch / "robot.glb", rest) if movers else path), movers
