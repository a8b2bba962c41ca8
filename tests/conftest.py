"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("markone", deadline=None, derandomize=True, max_examples=100, print_blob=False)
settings.load_profile("markone")
