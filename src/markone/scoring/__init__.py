"""Scores many files, each a task of its own: by threads, or on the workers of a cluster."""
