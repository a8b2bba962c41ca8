"""Data: what users have, as blocks of rows that the core can read."""
