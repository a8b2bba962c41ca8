"""Formats tables, HTML and marked text for several rooms."""
