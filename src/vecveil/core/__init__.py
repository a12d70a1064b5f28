"""What every other folder stands on: arrays, checks, errors, randomness, names."""
