"""Trains models: learners change weights in passes over the data, with held-out rows and checkpoints."""
