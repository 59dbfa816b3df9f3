"""Fuzzy metaballs: the shape as a cloud of Gaussians whose centres follow the generated videos."""
