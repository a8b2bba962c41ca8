"""Experiments: what a way to learn is worth on data, measured on rows that it has not seen, and which way is best."""
