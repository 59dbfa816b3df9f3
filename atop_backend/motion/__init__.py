"""From what the videos show to a joint: hypotheses, scores, refinement, range, confidence."""
