"""All figures of a folder of videos, and for each that cannot be had, what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from atop_backend.errors import InputError, missing_package
from atop_backend.metrics.frechet import frechet_distance, kernel_distance
from atop_backend.metrics.networks import HOW_TO_GET, I3D_FRAMES, ClipScore, Lpips, VideoFeatures
from atop_backend.metrics.videos import Frames, check_pair, find_videos, read_video

_AT_ONCE = 8  # frames that SSIM and the networks see together; bounds the memory
_MOST_DB = 100.0  # PSNR of equal frames, which would be infinite


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure, or why there is none."""

    metric: str
    value: float | None
    videos: int = 0  # it is a mean or a distance over
    backbone: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Files:
    """Where the user has the networks."""

    alexnet: Path | None = None
    clip: Path | None = None
    i3d: Path | None = None


@torch.no_grad()
def measure(
    made: Path,
    reference: Path | None,
    prompts: Mapping[str, str],
    files: Files,
    frames: int | None = None,
    device: torch.device | str = "cpu",
    on_video: Callable[[int, int], None] | None = None,
) -> list[Figure]:
    """PSNR, SSIM, LPIPS, CLIP score, FVD and the kernel distance to the same features.

    Args:
        made: The folder of videos to judge.
        reference: The folder of true videos; those with the same names are compared frame by
            frame, and all of them make up the distribution of FVD.
        prompts: A sentence for each video by name; "" stands for all others.
        frames: Frames taken of each video, evenly spaced; None takes all.

    Raises:
        InputError: Videos cannot be read or compared.
        SetupError: A network's file is named and broken, or a package is missing.
    """
    _require_torchmetrics()
    videos = find_videos(made)
    references = find_videos(reference) if reference else {}
    pairs = [name for name in videos if name in references]
    if references and not pairs:
        raise InputError(
            f"no video of {made} has a namesake in {reference},"
            f" such as {next(iter(videos))} and {next(iter(references))}",
            hint="give videos that belong together the same name",
        )
    networks = _Networks(files, device)
    rows: dict[str, list[float]] = {"psnr": [], "ssim": [], "lpips": [], "clip": []}
    features: dict[str, list[np.ndarray]] = {"made": [], "true": []}
    short = 0
    total = len(videos) + len(references)
    for number, (name, path) in enumerate([*videos.items(), *references.items()]):
        video = read_video(path, frames)
        pictures = _as_pictures(video, device)
        judged = number < len(videos)
        if judged and name in references:
            wanted = read_video(references[name], frames)
            check_pair(name, video, wanted)
            true_pictures = _as_pictures(wanted, device)
            rows["psnr"].append(_psnr(pictures, true_pictures))
            rows["ssim"].append(_ssim(pictures, true_pictures))
            if networks.lpips is not None:
                pairs = zip(pictures.split(_AT_ONCE), true_pictures.split(_AT_ONCE), strict=True)
                distances = torch.cat([networks.lpips(*pair) for pair in pairs])
                rows["lpips"].append(distances.mean().item())
        prompt = prompts.get(name, prompts.get(""))
        if judged and networks.clip is not None and prompt:
            scores = [networks.clip(some, prompt) for some in pictures.split(_AT_ONCE)]
            rows["clip"].append(torch.cat(scores).mean().item())
        if networks.i3d is not None and references:
            short += len(video) < I3D_FRAMES
            if len(video) >= I3D_FRAMES:
                kind = "made" if judged else "true"
                features[kind].append(networks.i3d(pictures).float().cpu().numpy())
        if on_video is not None:
            on_video(number + 1, total)
    return _figures(rows, features, short, files, bool(references), bool(prompts))


class _Networks:
    """Those networks whose files were given."""

    def __init__(self, files: Files, device: torch.device | str) -> None:
        self.lpips = Lpips(files.alexnet).to(device) if files.alexnet else None
        self.clip = ClipScore(files.clip).to(device) if files.clip else None
        self.i3d = VideoFeatures(files.i3d).to(device) if files.i3d else None


def _require_torchmetrics() -> None:
    try:
        import torchmetrics  # noqa: F401
    except ImportError as error:
        raise missing_package("metrics need", "torchmetrics", "metrics") from error


def _as_pictures(video: Frames, device: torch.device | str) -> Tensor:
    return torch.from_numpy(video.copy()).to(device).permute(0, 3, 1, 2).float() / 255


def _psnr(made: Tensor, wanted: Tensor) -> float:
    """Mean over the frames, in decibels."""
    from torchmetrics.functional.image import peak_signal_noise_ratio

    values = peak_signal_noise_ratio(made, wanted, data_range=1.0, reduction="none", dim=(1, 2, 3))
    return values.clamp_max(_MOST_DB).mean().item()


def _ssim(made: Tensor, wanted: Tensor) -> float:
    """Mean over the frames."""
    from torchmetrics.functional.image import structural_similarity_index_measure

    if min(made.shape[-2:]) < 11:
        raise InputError(
            f"frames of {made.shape[-1]} x {made.shape[-2]} are too small for SSIM",
            hint="its window has 11 x 11 pixels",
        )
    total = 0.0
    for some, others in zip(made.split(_AT_ONCE), wanted.split(_AT_ONCE), strict=True):
        value: Any = structural_similarity_index_measure(some, others, data_range=1.0)
        total += value.item() * len(some)
    return total / len(made)


def _figures(
    rows: Mapping[str, list[float]],
    features: Mapping[str, list[np.ndarray]],
    short: int,
    files: Files,
    has_reference: bool,
    has_prompts: bool,
) -> list[Figure]:
    reference_reason = "" if has_reference else "true videos; give their folder with --reference"
    lpips_reason = reference_reason or ("" if files.alexnet else HOW_TO_GET["lpips"])
    clip_reason = "" if has_prompts else "sentences; give --prompt TEXT or --prompts FILE"
    clip_reason = clip_reason or ("" if files.clip else HOW_TO_GET["clip"])
    fvd_reason = reference_reason or ("" if files.i3d else HOW_TO_GET["fvd"])
    made, true = features["made"], features["true"]
    if not fvd_reason and min(len(made), len(true)) < 2:
        fvd_reason = (
            f"two videos of {I3D_FRAMES} frames or more in each folder; {short} are shorter"
        )

    def mean(metric: str, key: str, backbone: str, reason: str) -> Figure:
        values = rows[key]
        if reason or not values:
            return Figure(metric, None, missing=reason or "a video with a sentence")
        return Figure(metric, sum(values) / len(values), len(values), backbone)

    figures = [
        mean("PSNR", "psnr", "", reference_reason),
        mean("SSIM", "ssim", "", reference_reason),
        mean("LPIPS", "lpips", "AlexNet", lpips_reason),
        mean("CLIP", "clip", str(files.clip.name if files.clip else ""), clip_reason),
    ]
    for metric, distance in (("FVD", frechet_distance), ("KVD", kernel_distance)):
        if fvd_reason:
            figures.append(Figure(metric, None, missing=fvd_reason))
        else:
            value = distance(np.stack(made), np.stack(true))
            figures.append(Figure(metric, value, min(len(made), len(true)), "I3D"))
    return figures


def as_json(figures: list[Figure]) -> dict[str, dict[str, Any]]:
    """The figures by name, as plain values."""
    return {figure.metric: asdict(figure) for figure in figures}


def table(figures: list[Figure]) -> str:
    """The figures for people; what is missing stands below."""
    lines = ["| metric | value | videos | network |", "|---|---|---|---|"]
    for figure in figures:
        value = "-" if figure.value is None else f"{figure.value:.4g}"
        lines.append(f"| {figure.metric} | {value} | {figure.videos or ''} | {figure.backbone} |")
    lines += [f"{f.metric} needs {f.missing}." for f in figures if f.missing]
    return "\n".join(lines)
