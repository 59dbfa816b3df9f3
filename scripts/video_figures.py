"""How good generated videos are: pictures of held-out generated objects against their true ones.

    video_figures.py sample dump.npz --count 24          # the default preset's videos, slow
    video_figures.py score dump.npz [--sheet sheet.png]  # figures and pictures from that, quick

The videos are those of the product: same samples, same frames, same compositing. An object's true
pictures show one motion that fits the sentence; where the sentence leaves open how far a part
goes, a good video may differ from them. The score therefore also gives the figures of a composite
that knows the true motion: what is lost there is lost by the pictures alone.
"""

from __future__ import annotations

import argparse
import math
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

_FIRST_SEED = 300_000  # past the held-out objects that training and the fit look at
_SHOWN = 0.05  # share of a latent pixel that the generated part covers at least where it is


def draw_videos(out: Path, count: int, first: int, device: str) -> None:
    """Write rest views, true frames and generated frames of `count` objects."""
    import torch
    from torch.nn.functional import avg_pool2d

    from atop_backend.config import resolve
    from atop_backend.diffusion import generate as product
    from atop_backend.geometry.cameras import SIZE_PX
    from atop_backend.synthetic.render import Pictures, draw, random_look
    from atop_backend.training.data import HELD_OUT_SEED, packed_objects

    settings = resolve("default", ()).generate
    prior = product.load_prior(settings, 0, device)
    shares = torch.tensor([settings.frames], device=prior.device)
    arrays: dict[str, Any] = {}
    names: list[int] = []
    seed = HELD_OUT_SEED + _FIRST_SEED + first
    while len(names) < count:
        objects = packed_objects(seed, 1)
        look = random_look(objects.batch, torch.Generator().manual_seed(seed))
        there = objects.batch.to(prior.device), shares, look.to(prior.device)
        pictures = Pictures(*(values.cpu() for values in draw(*there)))
        mask = pictures.silhouettes[0, :, 0].numpy()
        seed += 1
        if mask.sum() < 64:
            continue  # the product would uncover such a part first
        smooth = avg_pool2d(draw(*there, 2 * SIZE_PX).rgb[0].flatten(0, 1), 2).cpu()
        smooth = smooth.unflatten(0, (len(mask), -1))  # outlines as Blender draws them
        pixels = (smooth.permute(0, 1, 3, 4, 2) * 255).round().byte().numpy()
        positions = pictures.positions[0].permute(0, 2, 3, 1).numpy()
        batch = objects.batch
        used = int(batch.counts[0])
        triangles, moving = batch.triangles[0, :used].numpy(), batch.moving[0, :used].numpy()
        views = tuple(camera_of(row) for row in look.cameras[0].double().numpy())
        scene = product.RestScene(
            pixels[:, 0], mask, positions, views, triangles[moving].reshape(-1, 3)
        )
        text = prior.encode_text(objects.prompts[0][0])
        conditions = product.build_conditions(prior, scene, text, settings.frames)
        begun = time.monotonic()
        clip = product.generate_clip(prior, conditions, settings, seed)
        assert clip.silhouettes is not None
        assert clip.motions is not None
        name = len(names)
        names.append(seed - 1)
        radius = float(batch.part_radius[0])
        arrays |= {
            f"{name}_pixels": pixels, f"{name}_mask": mask,
            f"{name}_moved": pictures.silhouettes[0, :, 1:].numpy(),
            f"{name}_positions": positions.astype(np.float32),
            f"{name}_cameras": look.cameras[0].numpy(),
            f"{name}_triangles": triangles, f"{name}_moving": moving,
            f"{name}_rgb": product.decode_pictures(prior, clip),
            f"{name}_silhouettes": clip.silhouettes.numpy(),
            f"{name}_motions": clip.motions.numpy(), f"{name}_frames": clip.frames.numpy(),
            f"{name}_true_motions": pictures.motions[0].numpy() * radius,
            f"{name}_prompt": np.array(f"{objects.kinds[0]}: {objects.prompts[0][0]}"),
        }  # fmt: skip
        print(f"{name + 1} of {count}: {time.monotonic() - begun:.1f} s", flush=True)
    np.savez(out, seeds=np.array(names), **arrays)


def camera_of(embedding: np.ndarray) -> Any:
    """The rig's camera that has this embedding."""
    from atop_backend.geometry import cameras

    position = embedding.reshape(4, 4)[:3, 3]
    azimuth = math.atan2(position[0], -position[1])
    return cameras.look_at_origin(azimuth, math.asin(position[2]))


def psnr(one: np.ndarray, other: np.ndarray, where: np.ndarray | None = None) -> float:
    """Peak signal-to-noise ratio in dB of 8-bit pictures, over some pixels; nan over none."""
    errors = (one.astype(np.float64) - other) ** 2
    mean = errors.mean() if where is None else errors[where].mean() if where.any() else math.nan
    return 10 * math.log10(255**2 / max(mean, 1e-3)) if math.isfinite(mean) else math.nan


def ssim(made: np.ndarray, wanted: np.ndarray) -> float:
    """Mean structural similarity of 8-bit pictures (n, size, size, 3), as torchmetrics has it."""
    import torch
    from torchmetrics.functional.image import structural_similarity_index_measure

    one, other = (torch.from_numpy(p.copy()).movedim(-1, 1) / 255 for p in (made, wanted))
    value = structural_similarity_index_measure(one, other, data_range=1.0)
    return float(value[0] if isinstance(value, tuple) else value)


def edge_distance(made: np.ndarray, wanted: np.ndarray) -> float:
    """How differently edges run, 0 to about 1: not LPIPS, which needs a network's weights.

    At full, half and quarter size the mean absolute difference of the colour gradients of pictures
    (n, size, size, 3), over the mean of the two pictures' own; the mean of the three.
    """
    distances = []
    a, b = made.astype(np.float32), wanted.astype(np.float32)
    for _ in range(3):
        apart = own = 0.0
        for axis in (1, 2):
            first, second = np.diff(a, axis=axis), np.diff(b, axis=axis)
            apart = apart + np.abs(first - second).mean(axis=(1, 2, 3))
            own = own + np.abs(first).mean(axis=(1, 2, 3)) + np.abs(second).mean(axis=(1, 2, 3))
        distances.append(np.mean(apart / np.maximum(own, 1e-6)))
        half = (len(a), a.shape[1] // 2, 2, a.shape[2] // 2, 2, 3)
        a, b = (p.reshape(half).mean(axis=(2, 4)) for p in (a, b))
    return float(np.mean(distances))


def variants_of(data: Any, name: str) -> dict[str, np.ndarray]:
    """Frames (views, frames, size, size, 3) of one object after each kind of compositing."""
    from atop_backend import compositing
    from atop_backend.config import FitConfig
    from atop_backend.motion.evidence import evidence_from_clip

    seen = rest_views(data, name)
    made = data[f"{name}_rgb"]
    evidence = evidence_from_clip(
        seen.positions, seen.part_mask, seen.cameras, data[f"{name}_silhouettes"],
        data[f"{name}_motions"], data[f"{name}_frames"],
    )  # fmt: skip
    told = compositing.shown_motion(seen.shape, evidence, FitConfig(), ("revolute", "prismatic"))
    true, truth = true_poses(seen, data[f"{name}_true_motions"]), data[f"{name}_pixels"][:, 1:]
    return {
        "decoded": made,
        "carried": compositing.carry_along(seen, made, told),
        "true motion": compositing.carry_along(seen, made, true),
        "true motion and colours": compositing.carry_along(seen, truth, true),
    }


def true_poses(seen: Any, motions: np.ndarray) -> list[np.ndarray]:
    """The part's true motions (4, 4), from exact displacements of what is seen of it."""
    from atop_backend.geometry.joints import fit_rigid
    from atop_backend.motion.evidence import block_points

    points, weights, places = block_points(seen.positions, seen.part_mask)
    view, row, column = places.T
    found = []
    for moved in motions[view, :, :, row, column].astype(np.float64).transpose(1, 0, 2):
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = fit_rigid(points, points + moved, weights)
        found.append(pose)
    return found


def rest_views(data: Any, name: str) -> Any:
    """The rest views of one object as a job would have them."""
    from atop_backend.geometry.meshes import RestShape
    from atop_backend.rendering.views import RestViews

    corners = data[f"{name}_triangles"].reshape(-1, 3).astype(np.float64)
    faces = np.arange(len(corners)).reshape(-1, 3)
    shape = RestShape(corners, faces, data[f"{name}_moving"], np.eye(4), (name,))
    positions = data[f"{name}_positions"]
    unknown = np.full(positions.shape[:-1], -1, dtype=np.int32)
    views = tuple(camera_of(row) for row in data[f"{name}_cameras"].astype(np.float64))
    mask = data[f"{name}_mask"]
    return RestViews(shape, views, data[f"{name}_pixels"][:, 0], mask, unknown, positions)


def figures_of(frames: np.ndarray, data: Any, name: str) -> dict[str, float]:
    """All figures of one object's frames.

    "unmoved in truth" is where the true part never comes; "unmoved" is where neither that nor the
    generated part comes.
    """
    from scipy.ndimage import binary_dilation

    pixels, moved = data[f"{name}_pixels"], data[f"{name}_moved"]
    rest, truth = pixels[:, :1], pixels[:, 1:]
    part = moved | data[f"{name}_mask"][:, None]
    still = ~part & (truth == rest).all(axis=-1)
    shown = data[f"{name}_silhouettes"].max(axis=0) > _SHOWN  # where any sample has the part
    block = truth.shape[2] // shown.shape[2]
    spread = np.ones((1, 1, 3, 3), dtype=bool)
    near = binary_dilation(shown, spread).repeat(block, 2).repeat(block, 3)
    made, wanted = (p.reshape(-1, *p.shape[2:]) for p in (frames, truth))
    return {
        "PSNR": float(np.mean([psnr(*pair) for pair in zip(made, wanted, strict=True)])),
        "PSNR of the part": psnr(frames, truth, part),
        "PSNR unmoved in truth": psnr(frames, np.broadcast_to(rest, truth.shape), still),
        "PSNR unmoved": psnr(frames, np.broadcast_to(rest, truth.shape), still & (near == 0)),
        "SSIM": ssim(made, wanted),
        "edge distance": edge_distance(made, wanted),
    }


def score_one(dump: Path, name: str) -> tuple[dict[str, dict[str, float]], np.ndarray]:
    """Figures of one object under every kind of compositing, and a strip of the last frames."""
    from PIL import Image, ImageDraw

    with np.load(dump) as data:
        variants = variants_of(data, name)
        found = {kind: figures_of(frames, data, name) for kind, frames in variants.items()}
        pixels = data[f"{name}_pixels"]
        view = int(data[f"{name}_mask"].sum(axis=(1, 2)).argmax())
        last = [pixels[view, 0], pixels[view, -1], *(v[view, -1] for v in variants.values())]
        label = f"{data[f'{name}_prompt']} ({found['carried']['PSNR']:.1f} dB)"
    strip = Image.fromarray(np.concatenate(last, axis=1))
    ImageDraw.Draw(strip).text((4, 2), label, fill=(0, 0, 0))
    return found, np.asarray(strip)


def score(dump: Path, sheet: Path | None, limit: int | None, workers: int) -> None:
    """Print the mean figures of every kind of compositing; draw a sheet of the last frames."""
    from PIL import Image

    with np.load(dump) as data:
        names = [str(index) for index in range(min(len(data["seeds"]), limit or 1 << 30))]
    with ProcessPoolExecutor(workers) as pool:
        scored = list(pool.map(partial(score_one, dump), names))
    if sheet is not None:
        Image.fromarray(np.concatenate([strip for _, strip in scored])).save(sheet)
    for kind in scored[0][0]:
        rows = [found[kind] for found, _ in scored]
        means = {key: np.nanmean([row[key] for row in rows]) for key in rows[0]}
        print(f"{kind:24s}", ", ".join(f"{key} {value:.3f}" for key, value in means.items()))
        still = np.array([row["PSNR unmoved"] for row in rows])
        print(
            f"{'':24s} unmoved: worst {still.min():.1f} dB, above 35 dB {np.mean(still > 35):.3f}"
        )


def main() -> None:
    """Sample or score, as the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    draws = steps.add_parser("sample", help="generate the videos")
    draws.add_argument("dump", type=Path)
    draws.add_argument("--count", type=int, default=24)
    draws.add_argument("--first", type=int, default=0, help="leave out so many seeds")
    draws.add_argument("--device", default="cpu")
    scores = steps.add_parser("score", help="figures of videos generated before")
    scores.add_argument("dump", type=Path)
    scores.add_argument("--sheet", type=Path, help="PNG: rest, truth, then every compositing")
    scores.add_argument("--limit", type=int)
    scores.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.step == "score":
        score(arguments.dump, arguments.sheet, arguments.limit, arguments.workers)
        return
    draw_videos(arguments.dump, arguments.count, arguments.first, arguments.device)


if __name__ == "__main__":
    main()
