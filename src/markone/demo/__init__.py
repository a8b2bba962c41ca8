"""Generates the data of `markone demo`: hotel reviews, and sentences with their trees."""
