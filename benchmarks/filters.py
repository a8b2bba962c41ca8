"""The filter beside fastText, for the same texts. `python -m benchmarks.serving --only filter` measures it.

Both use one core, in turns, and the best turn of each counts. Speeds are those of the processor time, so that other
programs on the machine change them less.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import markone
from benchmarks.report import Measured, as_times

LENGTH = 3000
"""The most characters of a text."""
WORDS = {"text": {"words": [1, 1]}}
JSON_LINES = "JSON lines with zstd"


@dataclass(frozen=True)
class Filtering:
    """Texts to filter, in memory and in a file."""

    folder: Path
    texts: list[str]
    size: int
    """Of the texts, in bytes."""

    @property
    def path(self) -> Path:
        return self.folder / "crawl.jsonl.zst"

    def speed(self, work: Callable[[Filtering, Any], object], model: Any) -> float:
        """Bytes of text in a second of processor time."""
        began = time.process_time()
        work(self, model)
        return self.size / (time.process_time() - began)


def compare_filters(
    made: Path, model: markone.Model, texts: list[str], labels: list[str], turns: int
) -> Iterator[Measured]:
    what = written(made, texts)
    about = f"texts of {what.size / len(what.texts):,.0f} bytes"
    words = markone.train(texts, target=labels, features=WORDS, rule="logistic", solver="online")
    few, pairs = (fasttext_model(made, texts, labels, longest) for longest in (1, 2))
    for one in (model, words):
        one.prepare()
    os.sched_setaffinity(0, {0})
    comparisons = (
        (JSON_LINES, "words and n-grams of up to three words", model, "words", few),
        (JSON_LINES, "words and n-grams of up to three words", model, "words and pairs of words", pairs),
        (JSON_LINES, "words", words, "words", few),
        ("texts in memory", "words", words, "words", few),
    )
    for source, ours_is, ours, theirs_is, theirs in comparisons:
        ours_at, theirs_at = (filtered, predicted_lines) if source == JSON_LINES else (scored, predicted)
        found = [(what.speed(ours_at, ours), what.speed(theirs_at, theirs)) for _ in range(turns)]
        one, other = (max(side) for side in zip(*found, strict=True))
        yield Measured(
            f"{ours_at.__name__}: {source}, {about}; theirs: fastText",
            f"{one / 1e6:,.0f} MB/s ({ours_is})",
            f"{other / 1e6:,.0f} MB/s ({theirs_is})",
            as_times(one / other),
            "3 times, 60 MB/s" if source == JSON_LINES else "3 times",
        )


def written(made: Path, texts: list[str]) -> Filtering:
    """Write JSON lines with texts of about 3 kB."""
    import pyarrow as pa

    long = [" ".join(texts[at : at + 3])[:LENGTH] for at in range(0, len(texts) - 2, 3)] * 4
    what = Filtering(made, long, sum(len(text.encode()) for text in long))
    with pa.output_stream(str(what.path), compression="zstd") as file:
        file.write(b"".join(json.dumps({"text": text}).encode() + b"\n" for text in long))
    return what


def filtered(what: Filtering, model: markone.Model) -> None:
    out = what.folder / f"kept{len(list(what.folder.iterdir()))}"
    markone.filter_files(model, str(what.path), out, threshold=0.9, threads=1)


def scored(what: Filtering, model: markone.Model) -> None:
    model.scores(what.texts, threads=1)


def predicted_lines(what: Filtering, model: Any) -> None:
    predict(model, texts_in(what.path))


def predicted(what: Filtering, model: Any) -> None:
    predict(model, what.texts)


def predict(model: Any, texts: Iterable[str]) -> None:
    """Predict with fastText, without the conversions of its Python interface, which fail with NumPy 2."""
    for text in texts:
        model.f.predict(text.replace("\n", " ") + "\n", 1, 0.0, "strict")


def texts_in(path: Path) -> Iterator[str]:
    """The texts of JSON lines, as a program around fastText reads them."""
    import pyarrow as pa

    with pa.input_stream(str(path), compression="zstd", buffer_size=2**20) as file:
        for line in io.TextIOWrapper(file, encoding="utf-8"):
            yield json.loads(line)["text"]


def fasttext_model(made: Path, texts: list[str], labels: list[str], longest: int) -> Any:
    """A model of fastText on the same texts, with n-grams of up to this many words."""
    import fasttext

    rows = (f"__label__{label} {text}\n" for text, label in zip(texts, labels, strict=True))
    (made / "train.ft").write_text("".join(rows), encoding="utf-8")
    return fasttext.train_supervised(str(made / "train.ft"), epoch=2, wordNgrams=longest, verbose=0)
