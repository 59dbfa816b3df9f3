"""The two multi-view video denoisers, their conditions, sampling, guidance and training."""
