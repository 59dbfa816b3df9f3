"""Drafts of generated objects, built once for all tests of a run."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.generate import kinds


@lru_cache(maxsize=4000)
def draft(kind: str, seed: int) -> Draft:
    """The draft of this kind and seed; not to be changed."""
    return kinds()[kind][1](np.random.default_rng(seed))
