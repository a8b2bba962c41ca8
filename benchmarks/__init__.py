"""Benchmarks: Markone and its peers on the same data, in one process and run. `python -m benchmarks --help`."""
