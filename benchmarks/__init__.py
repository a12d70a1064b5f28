"""Benchmarks: time vecveil on this machine, beside references."""
