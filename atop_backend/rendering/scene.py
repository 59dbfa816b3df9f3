"""The articulated scene: the asset with its joint, keyframed by Blender in a child process."""

from __future__ import annotations

import tempfile
from pathlib import Path

from atop_backend.config import ReportConfig
from atop_backend.contracts import JobRequest, JointMotion
from atop_backend.errors import SetupError
from atop_backend.rendering.process import run_in_blender
from atop_backend.rendering.selectors import parse, with_absolute_file

WORKER = Path(__file__).with_name("blender_articulate.py")
FILES = {"scene": "articulated.blend", "animation": "articulated.glb"}


def write_scene(
    request: JobRequest,
    settings: ReportConfig,
    joint: JointMotion,
    job_dir: Path,
    easing: str = "EASE",
) -> dict[str, str]:
    """Write articulated.blend and articulated.glb into the job folder; returns name -> file.

    Args:
        joint: In the frame and units of the asset file.

    Raises:
        InputError, SetupError: The asset cannot be changed; Blender is missing or failed.
    """
    order = {
        "command": "articulate",
        "asset": str(request.asset.resolve()),
        "parts": [with_absolute_file(part, Path.cwd()) for part in request.parts],
        "joint": joint.to_dict(),
        "tag": parse(request.parts[0]).name or "Part",
        "seconds": settings.seconds,
        "fps": settings.fps,
        "easing": easing,
    }
    with tempfile.TemporaryDirectory(prefix=".scene-", dir=job_dir) as folder:
        aside = Path(folder)
        run_in_blender(
            WORKER,
            order,
            aside,
            blender=request.blender,
            time_limit_s=settings.time_limit_s,
        )
        for file in FILES.values():
            if not (aside / file).is_file():
                raise SetupError(
                    f"Blender reported success but did not write {file}",
                    hint="check free space on the disk",
                )
            (aside / file).replace(job_dir / file)
    return dict(FILES)
