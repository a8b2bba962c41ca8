"""Reads files, data frames, lists and arrays: they become sources of batches, and blocks of rows for the core."""
