"""Stores models safely: the container of a model file, atomic writing, and learned state as facts and arrays."""
