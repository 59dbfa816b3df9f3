"""Many assets over night: a manifest on disk, workers that may die, and a report."""
