"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# The tests have a process for each core: threads of the numerical libraries would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("quick", deadline=None, derandomize=True, max_examples=25, print_blob=False)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=100)
settings.register_profile("fuzz", deadline=None, max_examples=3000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
