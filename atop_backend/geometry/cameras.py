"""The fixed rig of four cameras around the normalised object, and what they see.

The normalised frame has the rest shape's bounding-box centre at the origin and its farthest
vertex at distance 1, Z up. The rig follows the paper (section 5.1): azimuths 45, 135, 225 and 315
degrees. Azimuth 0 looks at the -Y side and positive azimuth turns towards +X, as ImageDream's do.
"""

from __future__ import annotations

import math

import numpy as np

from atop_backend.contracts import Camera

AZIMUTHS_DEG = (45.0, 135.0, 225.0, 315.0)
FIELD_OF_VIEW_DEG = 40.0
DISTANCE = 4.0  # leaves room around the unit sphere for parts that swing out of it
SIZE_PX = 256


def look_at_origin(azimuth_rad: float, elevation_rad: float, size_px: int = SIZE_PX) -> Camera:
    """The camera at `DISTANCE` from the origin that looks at it with Z upwards."""
    backward = np.array(
        [
            math.cos(elevation_rad) * math.sin(azimuth_rad),
            -math.cos(elevation_rad) * math.cos(azimuth_rad),
            math.sin(elevation_rad),
        ]
    )
    right = np.array([math.cos(azimuth_rad), math.sin(azimuth_rad), 0.0])
    up = np.cross(backward, right)
    world_to_camera = np.eye(4)
    world_to_camera[:3, :3] = np.stack([right, -up, -backward])
    world_to_camera[:3, 3] = [0.0, 0.0, DISTANCE]
    focal_px = size_px / 2 / math.tan(math.radians(FIELD_OF_VIEW_DEG) / 2)
    rows = tuple(tuple(map(float, row)) for row in world_to_camera)
    return Camera(size_px, size_px, focal_px, rows)  # type: ignore[arg-type]


def rig(elevation_rad: float, size_px: int = SIZE_PX) -> tuple[Camera, ...]:
    """The four cameras of the paper at one elevation."""
    return tuple(
        look_at_origin(math.radians(azimuth), elevation_rad, size_px) for azimuth in AZIMUTHS_DEG
    )


def camera_to_world(camera: Camera) -> np.ndarray:
    """The camera's pose, (4, 4), OpenCV axes."""
    return np.linalg.inv(np.asarray(camera.world_to_camera))


def camera_centre(camera: Camera) -> np.ndarray:
    """Where the camera stands, (3,)."""
    return camera_to_world(camera)[:3, 3]


def project(camera: Camera, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pixels (..., 2) and depths (...) of world points (..., 3).

    The centre of the top left pixel is (0.5, 0.5).
    """
    pose = np.asarray(camera.world_to_camera)
    seen = points @ pose[:3, :3].T + pose[:3, 3]
    depths = seen[..., 2]
    middle = np.array([camera.width_px / 2, camera.height_px / 2])
    return seen[..., :2] / depths[..., None] * camera.focal_px + middle, depths


def pixel_rays(camera: Camera) -> np.ndarray:
    """World direction through each pixel's centre, (height, width, 3), of camera depth 1."""
    columns = (np.arange(camera.width_px) + 0.5 - camera.width_px / 2) / camera.focal_px
    rows = (np.arange(camera.height_px) + 0.5 - camera.height_px / 2) / camera.focal_px
    x, y = np.meshgrid(columns, rows)
    directions = np.stack([x, y, np.ones_like(x)], axis=-1)
    return directions @ np.asarray(camera.world_to_camera)[:3, :3]


def seen_positions(
    camera: Camera, face_ids: np.ndarray, vertices: np.ndarray, triangles: np.ndarray
) -> np.ndarray:
    """The surface point under each pixel, (height, width, 3); zeros where nothing is seen.

    Args:
        face_ids: Index of the triangle seen by each pixel, (height, width), -1 for none.
    """
    hit = face_ids >= 0
    corners = vertices[triangles[face_ids[hit]]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    rays = pixel_rays(camera)[hit]
    centre = camera_centre(camera)
    facing = np.einsum("nc,nc->n", rays, normals)
    reach = np.einsum("nc,nc->n", corners[:, 0] - centre, normals)
    middle_depths = project(camera, corners.mean(axis=1))[1]
    grazing = np.abs(facing) < 1e-9 * np.linalg.norm(normals, axis=1).clip(1e-30)
    depths = np.where(grazing, middle_depths, reach / np.where(grazing, 1.0, facing))
    positions = np.zeros((*face_ids.shape, 3))
    positions[hit] = centre + rays * depths[:, None]
    return positions


def embedding(camera: Camera) -> np.ndarray:
    """The camera as the networks are told, (16,): row-major camera-to-world, unit position.

    Blender's camera axes (x right, y up, z backward), as ImageDream was trained with.
    """
    pose = camera_to_world(camera) @ np.diag([1.0, -1.0, -1.0, 1.0])
    pose[:3, 3] /= np.linalg.norm(pose[:3, 3])
    return pose.reshape(16)
