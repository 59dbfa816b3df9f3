"""Procedural articulated objects with exact joints, and their renderer for training."""
