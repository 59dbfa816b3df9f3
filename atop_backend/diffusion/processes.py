"""One or several processes that train together, as `accelerate launch` or torchrun starts them.

A run alone needs nothing but torch; accelerate is asked for only where there are more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from atop_backend.diffusion.device import pick_device
from atop_backend.errors import missing_package


def process_number() -> int:
    """Which of the processes this one is, known before anything heavy is loaded."""
    return int(os.environ.get("RANK", "0"))


class Processes:
    """This process among those of the run.

    Args:
        device_name: As for `pick_device`; with several processes "cpu" means no GPUs, and any
            other name one GPU each.
    """

    def __init__(self, device_name: str) -> None:
        self.count = int(os.environ.get("WORLD_SIZE", "1"))
        self.index = 0
        self._accelerator: Any = None
        if self.count == 1:
            self.device = pick_device(device_name)
            return
        try:
            from accelerate import Accelerator
        except ImportError as error:
            raise missing_package(
                "several processes need", "accelerate", "finetune", "start a single process"
            ) from error
        # numbers are chosen by the run itself, which also keeps the state of their scaling
        on_cpu = device_name == "cpu" or not torch.cuda.is_available()
        self._accelerator = Accelerator(mixed_precision="no", cpu=on_cpu)
        self.index = self._accelerator.process_index
        self.device = self._accelerator.device

    @property
    def leads(self) -> bool:
        """Whether this process writes files and reports."""
        return self.index == 0

    def share(self, module: nn.Module) -> nn.Module:
        """The module, with gradients that are means over all processes."""
        return module if self._accelerator is None else self._accelerator.prepare_model(module)

    @contextmanager
    def accumulating(self, module: nn.Module, more: bool) -> Iterator[None]:
        """Meanwhile gradients stay in this process if more are to be added to them."""
        if self._accelerator is None or not more:
            yield
            return
        with self._accelerator.no_sync(module):
            yield

    def gather(self, values: list[Any]) -> list[Any]:
        """The values of all processes, in their order, in each of them."""
        if self._accelerator is None:
            return values
        from accelerate.utils import gather_object

        return gather_object(values)

    def wait(self) -> None:
        """Until all processes have come here."""
        if self._accelerator is not None:
            self._accelerator.wait_for_everyone()
