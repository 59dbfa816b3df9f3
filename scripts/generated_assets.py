"""Writes generated objects as .obj files with a `body` and a `part`, for soak and speed tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from atop_backend.batch.jobs import BatchJob
from atop_backend.contracts import JobRequest
from atop_backend.synthetic.generate import generate

FIRST_SEED = 7_000_000  # far from the seeds that anything is trained or tuned on


def write_asset(path: Path, seed: int) -> str:
    """Write one object, Y up as the format has it; a sentence that describes its motion."""
    made = generate(seed)
    lines = []
    written = 0
    for name, chosen in (("body", ~made.moving), ("part", made.moving)):
        corners = made.triangles[chosen].reshape(-1, 3)
        places, index = np.unique(corners, axis=0, return_inverse=True)
        lines.append(f"o {name}")
        lines += [f"v {x:.6g} {z:.6g} {-y:.6g}" for x, y, z in places.tolist()]
        faces = index.reshape(-1, 3) + 1 + written
        lines += [f"f {a} {b} {c}" for a, b, c in faces.tolist()]
        written += len(places)
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return made.prompts[0]


def write_jobs(folder: Path, count: int, template: JobRequest) -> list[BatchJob]:
    """Write so many assets into a folder; a job for the part of each."""
    from dataclasses import replace

    folder.mkdir(parents=True, exist_ok=True)
    jobs = []
    for number in range(count):
        path = folder / f"asset_{number:04d}.obj"
        prompt = write_asset(path, FIRST_SEED + number)
        request = replace(template, asset=path, parts=("part",), prompt=prompt)
        jobs.append(BatchJob(path.stem, path.name, request))
    return jobs
