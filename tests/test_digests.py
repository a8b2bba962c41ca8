"""The same data give the same bytes, whatever the versions of NumPy and SciPy are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.digests import DIGESTS, KINDS, digests_of

KNOWN = json.loads(DIGESTS.read_text())


@pytest.mark.parametrize("name", KINDS)
def test_a_model_has_the_bytes_that_it_has_elsewhere(name: str, tmp_path: Path) -> None:
    found, known = digests_of(name, tmp_path), KNOWN[name]
    assert sorted(found) == sorted(known)
    differ = [part for part in found if found[part] != known[part]]
    assert not differ, f"{name} differs in {', '.join(differ)}; python tests/golden/digests.py renews what is meant so"


def test_all_digests_are_of_models_that_are_made() -> None:
    assert list(KNOWN) == list(KINDS)
