"""The one call behind which both networks stand."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from atop_backend.diffusion.conditions import Conditions

Prediction = Literal["v", "epsilon"]
ClipLatents = Float[Tensor, "batch views frames channels latent latent"]


@runtime_checkable
class Denoiser(Protocol):
    """A network that tells signal from noise in the latents of a multi-view clip."""

    @property
    def prediction(self) -> Prediction:
        """What the network answers with."""
        ...

    @property
    def channels(self) -> int:
        """Channels of the latents it denoises."""
        ...

    def denoise(
        self, latents: ClipLatents, timestep: Float[Tensor, " batch"], conditions: Conditions
    ) -> ClipLatents:
        """The network's prediction for noisy latents.

        Args:
            latents: Noisy channels of the moved frames; the rest frame is a condition.
            timestep: Share of the schedule, 0 (clean) to 1 (noise).
        """
        ...
