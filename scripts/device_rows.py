"""Rows of a table of what work costs on a device: seconds, executed operations and memory.

Operations are counted where they are executed (matrix products, convolutions and attention) and
stand beside the rate of plain matrix products that the same device reaches in the same run.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode

DRIVER_GB = 1.25  # of a card, for the context and the libraries' kernels


@dataclass
class Row:
    """One line of the table."""

    name: str
    seconds: float | None = None
    tflop: float | None = None
    tflop_per_s: float | None = None
    of_ceiling: float | None = None
    peak_gb: float | None = None  # of tensors, 2^30 bytes
    limit_gb: float | None = None
    attention: str = ""  # the kernels that computed it
    trouble: str = ""


class Bench:
    """Measures work on one device and keeps the rows.

    Args:
        matrix: Side of the matrices whose product sets the ceiling.
        only: Words of which a row's name must have one; none takes all.
    """

    def __init__(self, device: torch.device, matrix: int, only: list[str]) -> None:
        self.device = device
        self.matrix = matrix
        self.rows: list[Row] = []
        self.only = only
        types = {"bf16": torch.bfloat16, "fp32": torch.float32}
        self.ceilings = {name: self._matrix_rate(dtype) for name, dtype in types.items()}
        for name, rate in self.ceilings.items():
            print(f"matrix products of {matrix} in {name}: {rate:.1f} TFLOP/s", flush=True)

    def measure(
        self,
        name: str,
        work: Callable[[], object],
        tflop: Callable[[], tuple[float, str]],
        repeats: int = 1,
        per: int = 1,
        numbers: str = "bf16",
        limit_gb: float | None = None,
    ) -> None:
        """Time `work` after `tflop`, which counts its operations and warms up, and add a row.

        Args:
            per: Steps that one call of `work` makes; the row is for one of them.
            limit_gb: Memory of the card that this is to fit.
        """
        if not self.wanted(name):
            return
        row = Row(name, limit_gb=limit_gb)
        try:
            with self._limited(limit_gb):
                row.tflop, row.attention = tflop()
                row.seconds, row.peak_gb = self._timed(work, repeats)
            row.seconds /= per
            row.tflop_per_s = row.tflop / row.seconds
            row.of_ceiling = row.tflop_per_s / self.ceilings[numbers]
        except torch.OutOfMemoryError as error:
            row.trouble = f"out of memory: {str(error).splitlines()[0][:120]}"
        except RuntimeError as error:  # one row less is better than no table
            row.trouble = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}"
        self.rows.append(row)
        print(cells(row), flush=True)
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def wanted(self, name: str) -> bool:
        """Whether a row of this name was asked for."""
        return not self.only or any(word in name for word in self.only)

    def _timed(self, work: Callable[[], object], repeats: int) -> tuple[float, float | None]:
        gpu = self.device.type == "cuda"
        if gpu:
            torch.cuda.reset_peak_memory_stats()
        best = float("inf")
        for _ in range(repeats):
            self.wait()
            begun = time.monotonic()
            work()
            self.wait()
            best = min(best, time.monotonic() - begun)
        return best, torch.cuda.max_memory_allocated() / 2**30 if gpu else None

    def wait(self) -> None:
        """Until the device has done all it was given."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def _limited(self, limit_gb: float | None) -> _Limit:
        return _Limit(limit_gb if self.device.type == "cuda" else None)

    def _matrix_rate(self, dtype: torch.dtype) -> float:
        """TFLOP/s of a large product of random matrices; the best of some."""
        size = self.matrix
        first, second = torch.randn(2, size, size, device=self.device).to(dtype)
        best = min(self._timed(lambda: torch.matmul(first, second), 1)[0] for _ in range(10))
        return 2 * size**3 / best / 1e12


class _Limit:
    """Holds the allocator to the memory of a smaller card."""

    def __init__(self, limit_gb: float | None) -> None:
        self.limit_gb = limit_gb

    def __enter__(self) -> None:
        if self.limit_gb is not None:
            torch.cuda.empty_cache()
            total = torch.cuda.get_device_properties(0).total_memory / 2**30
            torch.cuda.set_per_process_memory_fraction((self.limit_gb - DRIVER_GB) / total)

    def __exit__(self, *_: object) -> None:
        if self.limit_gb is not None:
            torch.cuda.set_per_process_memory_fraction(1.0)


def count(work: Callable[[], object]) -> tuple[float, str]:
    """TFLOP that `work` executes, and the fused attention kernels that ran (known on a GPU)."""
    with FlopCounterMode(display=False) as counter:
        work()
    kernels = [str(op).split(".")[-1] for op in counter.get_flop_counts()["Global"]]
    found = {kernel for kernel in kernels if "attention" in kernel and "backward" not in kernel}
    return counter.get_total_flops() / 1e12, " ".join(sorted(found))


def cells(row: Row) -> str:
    """The row as a line of a Markdown table."""
    if row.trouble:
        return f"| {row.name} | {row.trouble} | | | | | {row.limit_gb or ''} | |"

    def shown(value: float | None, digits: int) -> str:
        return "" if value is None else f"{value:.{digits}f}"

    share = "" if row.of_ceiling is None else f"{row.of_ceiling:.0%}"
    return (f"| {row.name} | {shown(row.seconds, 3)} | {shown(row.tflop, 1)} |"
            f" {shown(row.tflop_per_s, 1)} | {share} | {shown(row.peak_gb, 1)} |"
            f" {row.limit_gb or ''} | {row.attention} |")  # fmt: skip


HEADER = (
    "| what | seconds | TFLOP | TFLOP/s | of matrix products | peak GB | within GB | attention |\n"
    "|---|---|---|---|---|---|---|---|"
)
