"""Engines, which run tasks: on threads of this process, or on the workers of Dask or Ray."""
