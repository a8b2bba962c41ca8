"""What tests of the commands have in common."""

from __future__ import annotations

import csv
import io
from pathlib import Path

ROWS = 1000
TRAIN = ("train", "reviews.csv", "--target", "label")


def rows_in(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))
