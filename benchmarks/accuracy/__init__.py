"""The accuracy of Markone without settings, and of its peers, on many data sets: `python -m benchmarks.accuracy`."""
