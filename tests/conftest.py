"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("markone", deadline=None, derandomize=True, max_examples=100, print_blob=False)
settings.register_profile("fuzz", deadline=None, max_examples=3000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "markone"))
