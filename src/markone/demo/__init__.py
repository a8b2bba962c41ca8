"""The data of `markone demo`: hotel reviews, sentences with their trees, and dots for three regressions."""
