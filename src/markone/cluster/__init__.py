"""Runs the tasks of a training, and of predictions for many files, on the workers of Dask or Ray."""
