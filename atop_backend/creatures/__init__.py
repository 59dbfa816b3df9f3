"""Generated rigged creatures with known motions, and the training of the rig prior on them."""
