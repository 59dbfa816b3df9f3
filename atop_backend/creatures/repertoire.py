"""The form in which a body's motions are listed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from atop_backend.creatures.motion import Animator

# moves an animator; the number is how much, 1 as usual
Act = Callable[[Animator, np.random.Generator, float], None]
Acts = list[tuple[tuple[str, ...], float, Act]]  # verbs in their base form, weight, what is done
