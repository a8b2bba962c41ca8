"""Plain files to measure on: what MARKONE_DATA has compressed, or rows from a seed. All are made before the clock runs.

Ours and scikit-learn read these files as they are. A peer with a format of its own gets the same examples in that.
"""

from __future__ import annotations

import gzip
import inspect
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file

from benchmarks import datasets
from benchmarks.datasets import ZIPF, Dataset, folder
from benchmarks.kept import kept


@dataclass(frozen=True, slots=True)
class Files:
    """A file to learn from and a file to test on."""

    train: Path
    test: Path

    def rewritten(self, convert: Callable[[str], str], suffix: str) -> Files:
        """The same examples with each line converted, for who reads another format."""
        code = inspect.getsourcefile(convert)
        assert code is not None

        def rewrite(path: Path) -> Path:
            def write(other: Path) -> None:
                with (
                    path.open(encoding="utf-8", newline="\n") as old,
                    other.open("w", encoding="utf-8", newline="\n") as new,
                ):
                    new.writelines(convert(line.rstrip("\n")) + "\n" for line in old)

            return kept(path.with_suffix(suffix).name, code, [path], write)

        return Files(rewrite(self.train), rewrite(self.test))


def unpacked(path: Path, name: str) -> Path:
    def write(plain: Path) -> None:
        with gzip.open(path) as packed, plain.open("wb") as file:
            shutil.copyfileobj(packed, file)

    return kept(name, __file__, [path], write)


def imdb_texts() -> Files:
    home = folder("imdb")
    return Files(
        unpacked(home / "train.tsv.gz", "imdb-train.tsv"),
        unpacked(home / "test.tsv.gz", "imdb-test.tsv"),
    )


def imdb_ten_times() -> Files:
    """The same to learn from; to test on, the test set over and over."""
    once = imdb_texts()

    def write(path: Path) -> None:
        with path.open("wb") as file:
            for _ in range(10):
                file.write(once.test.read_bytes())

    return Files(once.train, kept("imdb-test-10.tsv", __file__, [once.test], write))


def a9a_lines() -> Files:
    home = folder("a9a")
    return Files(unpacked(home / "a9a.gz", "a9a-train.libsvm"), unpacked(home / "a9a.t.gz", "a9a-test.libsvm"))


def zipf_lines() -> Files:
    def lines(part: str) -> Path:
        def write(path: Path) -> None:
            split = ZIPF.load()
            labels = np.where(getattr(split, f"{part}_labels") == 1, 1, -1)
            dump_svmlight_file(getattr(split, part), labels, str(path), zero_based=False)

        return kept(f"zipf-{part}.libsvm", __file__, [Path(datasets.__file__)], write)

    return Files(lines("train"), lines("test"))


def adult_table() -> Files:
    """The labels of the test file lose the full stop that those to learn from do not have."""
    packed = folder("adult") / "adult.test.csv.gz"

    def write(path: Path) -> None:
        path.write_bytes(gzip.decompress(packed.read_bytes()).replace(b"K.\n", b"K\n"))

    return Files(
        unpacked(packed.with_name("adult.data.gz"), "adult-train.csv"),
        kept("adult-test.csv", __file__, [packed], write),
    )


def adult_part() -> Files:
    whole = adult_table()

    def write(path: Path) -> None:
        with whole.train.open("rb") as rows:
            path.write_bytes(b"".join(islice(rows, 10_000)))

    return Files(kept("adult-10000.csv", __file__, [whole.train], write), whole.test)


ADULT_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
ADULT_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")

IMDB_FILE = Dataset(
    "imdb.tsv", "25,000 film reviews, two classes, a label, a tab and a text on each line", cache(imdb_texts)
)
IMDB_TEN_TIMES = Dataset("imdb.tsv, ten times", "the same; to test on, the test set ten times", cache(imdb_ten_times))
A9A_FILE = Dataset("a9a.libsvm", "32,561 census records, two classes, 123 features of 0 and 1", cache(a9a_lines))
ZIPF_FILE = Dataset("zipf.libsvm", "the rows of zipf, 86 MB", cache(zipf_lines))
ADULT_FILE = Dataset(
    "adult.csv",
    "32,561 census records, two classes, 6 columns of numbers and 8 of categories, no header",
    cache(adult_table),
)
ADULT_PART = Dataset("adult.csv, 10,000 rows", "the first 10,000 of them", cache(adult_part))
