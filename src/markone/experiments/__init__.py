"""Measures learning algorithms on held-out rows: validation, leave-one-out, tuning and comparison."""
