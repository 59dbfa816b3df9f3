"""Small pictures of a job for the report: as it was given, and with the joint that was found."""

from __future__ import annotations

import base64
import io
from functools import lru_cache
from pathlib import Path

from atop_backend.contracts import JointMotion

SIDE_PX = 128


@lru_cache(maxsize=1000)  # a report is written again and again while a batch runs
def before_and_after(job_dir: Path, joint: JointMotion) -> tuple[str, str]:
    """Data URIs of both pictures; empty strings where there is nothing to draw from.

    Args:
        joint: In the frame of the asset.
    """
    try:
        import numpy as np
        from PIL import Image

        from atop_backend import preview
        from atop_backend.geometry.meshes import joint_to_normalised
        from atop_backend.rendering.views import load_views
    except ImportError:  # a driver without the machine learning extra
        return "", ""
    if not (job_dir / "render" / "shape.npz").is_file():
        return "", ""
    seen = load_views(job_dir)
    view = int(np.argmax(seen.part_mask.sum(axis=(1, 2))))
    joint = joint_to_normalised(joint, seen.shape)
    opened = joint.upper if abs(joint.upper) >= abs(joint.lower) else joint.lower
    after = preview.draw_motion(seen.shape, joint, opened, seen.cameras[view], SIDE_PX)
    before = Image.fromarray(seen.rgb[view]).resize((SIDE_PX, SIDE_PX), Image.Resampling.LANCZOS)
    return _data_uri(before), _data_uri(after)


def _data_uri(picture) -> str:
    stream = io.BytesIO()
    picture.convert("RGB").save(stream, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()
