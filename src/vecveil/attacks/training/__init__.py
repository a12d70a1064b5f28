"""Training networks: the loop that every attack shares, its schedule and its checkpoints."""
