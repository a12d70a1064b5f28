"""Foundations: arrays, checks, errors, randomness, names."""
