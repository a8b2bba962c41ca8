"""Benchmarks: compares Markone with other libraries on the same data. See `python -m benchmarks --help`."""
