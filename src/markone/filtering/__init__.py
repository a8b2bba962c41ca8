"""Keeps the best rows of large files, byte for byte."""
