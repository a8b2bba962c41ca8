"""Filters: the right rows with the same bytes, whatever the format; and no row lost or twice after a kill."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import markone
from markone.cli import main
from markone.data.files import NamedFile, open_plain
from markone.filtering.filtering import FASTTEXT_MAGIC
from markone.storage.journal import line_of
from quickly import slow

WORDS = ["good", "fine", "bad", "poor", "text", "film", "story", "with", "many", "words", "and", "more"]


def model_of(**more: Any) -> markone.Model:
    texts = ["good fine text", "fine good story", "bad poor text", "poor bad story"]
    return markone.train(texts, target=["good", "good", "bad", "bad"], positive="good", **{"rule": "logistic", **more})


def texts_of(count: int, seed: int = 0) -> list[str]:
    chosen = random.Random(seed)
    return [
        " ".join(chosen.choices(WORDS, k=chosen.randint(1, 30))) + chosen.choice(["", ' "ü"', "\n\t"])
        for _ in range(count)
    ]


def lines_of(texts: list[str], seed: int = 0) -> list[bytes]:
    """JSON lines in many styles: other fields before and after, spaces, and escapes."""
    chosen = random.Random(seed)
    made = []
    for number, text in enumerate(texts):
        fields: list[tuple[str, Any]] = [
            ("text", text),
            ("id", number),
            ("meta", {"text": "good", "a": [1, {"b": None}]}),
        ]
        chosen.shuffle(fields)
        ascii_only, spaces = chosen.random() < 0.5, chosen.choice([(",", ":"), (", ", ": ")])
        made.append(json.dumps(dict(fields), ensure_ascii=ascii_only, separators=spaces).encode() + b"\n")
    return made


def content(path: Path) -> bytes:
    with open_plain(NamedFile(str(path))) as file:
        return bytes(file.read())


def output(out: Path) -> bytes:
    """All shards in their order."""
    return b"".join(content(path) for path in sorted(out.iterdir()) if path.name != "manifest.journal")


def write(path: Path, data: bytes) -> Path:
    codec = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    if codec is None:
        path.write_bytes(data)
    else:
        with pa.output_stream(str(path), compression=codec) as file:
            file.write(data)
    return path


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst"])
def test_kept_lines_have_the_same_bytes(ending: str, tmp_path: Path) -> None:
    model = model_of()
    texts = texts_of(5000)
    lines = lines_of(texts)
    path = write(tmp_path / f"crawl.{ending}", b"".join(lines)[:-1])  # without the last line break
    good = model.probabilities(texts)[:, 1]
    for number, (options, kept) in enumerate(
        (
            ({"threshold": 0.6}, good >= 0.6),
            ({"label": "good"}, np.array(model.predict(texts)) == "good"),
            ({"label": "bad", "threshold": 0.7}, 1 - good >= 0.7),
        )
    ):
        report = markone.filter_files(model, str(path), tmp_path / f"out{number}", **options)
        assert 0 < kept.sum() < 5000
        assert output(tmp_path / f"out{number}") == b"".join(line for line, yes in zip(lines, kept, strict=True) if yes)
        assert (report.rows, report.kept, report.bad) == (5000, kept.sum(), 0)
        assert sum(report.counts) == 5000 and len(report.edges) == 11
        assert all(name.endswith(ending) for name in report.files)
    assert "Kept" in str(report) and "MB/s" in str(report)


def test_a_share_is_kept_by_a_threshold_from_a_sample(tmp_path: Path) -> None:
    chosen = random.Random(3)
    weights = {f"word{i}": chosen.gauss(0, 1) for i in range(500)}  # so that nearly all values differ
    model = markone.Model.from_weights(weights, classes=["bad", "good"], rule="logistic")
    texts = [" ".join(chosen.choices([*weights], k=20)) for _ in range(4000)]
    path = write(tmp_path / "crawl.jsonl", b"".join(lines_of(texts)))
    for keep, share in (("10%", 0.1), (0.5, 0.5), ("100%", 1.0)):
        report = markone.filter_files(model, str(path), tmp_path / f"out{share}", keep=keep)
        assert report.share == pytest.approx(share, abs=0.01) and report.threshold is not None
        assert report.kept == (model.probabilities(texts)[:, 1] >= report.threshold).sum()


@pytest.mark.parametrize("rule", ["mira", "naive-bayes"])
def test_margins_without_probabilities_and_three_classes(rule: str, tmp_path: Path) -> None:
    texts = texts_of(1000)
    path = write(tmp_path / "crawl.jsonl", b"".join(lines_of(texts)))
    model = markone.train(["good text", "bad text", "many words"], target=["good", "bad", "long"], rule=rule)
    right = sum(label == "good" for label in model.predict(texts))
    assert markone.filter_files(model, str(path), tmp_path / "a", label="good").kept == right
    limit = 0.5 if model.scorer.has_probabilities else 0.25
    report = markone.filter_files(model, str(path), tmp_path / "b", label="good", threshold=limit, scores=True)
    column = model.classes.index("good")
    if model.scorer.has_probabilities:
        values = model.probabilities(texts)[:, column]
    else:
        scores = model.scores(texts).astype(float)
        values = scores[:, column] - np.delete(scores, column, axis=1).max(axis=1)
    assert report.kept == (values >= limit).sum()
    found = [json.loads(line) for line in output(tmp_path / "b").splitlines()]
    assert [row["score"] for row in found] == [value for value in values.tolist() if value >= limit]
    assert [row["text"] for row in found] == [text for text, value in zip(texts, values, strict=True) if value >= limit]
    with pytest.raises(markone.SettingsError, match="more than two"):
        markone.filter_files(model, str(path), tmp_path / "c", keep=0.1)


def test_parquet_keeps_all_columns(tmp_path: Path) -> None:
    model = model_of()
    texts = texts_of(3000)
    table = pa.table({"id": range(3000), "body": texts, "tags": [["a", None]] * 3000})
    pq.write_table(table, tmp_path / "crawl.parquet", row_group_size=500)
    for scores in (False, True):
        out = tmp_path / f"out{scores}"
        report = markone.filter_files(
            model, str(tmp_path / "crawl.parquet"), out, threshold=0.6, text="body", scores=scores, shard="1 MiB"
        )
        found = pq.read_table([str(out / name) for name in report.files])
        good = model.probabilities(texts)[:, 1]
        assert found.select(table.column_names).equals(table.filter(pa.array(good >= 0.6)))
        assert (
            (found["score"].to_pylist() == good[good >= 0.6].tolist()) if scores else "score" not in found.column_names
        )
    with pytest.raises(markone.DataError, match="no column 'text'; it has 'id', 'body'"):
        markone.filter_files(model, str(tmp_path / "crawl.parquet"), tmp_path / "no", threshold=0.6)


def test_tables_of_other_columns(tmp_path: Path) -> None:
    rows = [{"age": 20 + i % 50, "job": "cook" if i % 3 else "judge"} for i in range(300)]
    model = markone.train(rows, target=["old" if row["age"] > 45 else "young" for row in rows], rule="mira")
    lines = [json.dumps(row).encode() + b"\n" for row in rows]
    path = write(tmp_path / "people.jsonl", b"".join(lines))
    markone.filter_files(model, str(path), tmp_path / "out", label="old")
    kept = model.predict(rows) == "old"
    assert output(tmp_path / "out") == b"".join(line for line, yes in zip(lines, kept, strict=True) if yes)


@given(st.lists(st.text(max_size=20), min_size=1, max_size=20), st.integers(0, 3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_scored_as_by_the_model(tmp_path_factory: Any, texts: list[str], style: int) -> None:
    folder = tmp_path_factory.mktemp("any")
    model = model_of()
    ends = [b"\n", b"\r\n", b"\n\n", b" \n"][style]
    lines = [
        json.dumps({"text": text}, ensure_ascii=bool(style % 2)).encode("utf-8", "surrogatepass") for text in texts
    ]
    path = write(folder / "a.jsonl", ends.join(lines) + ends)
    report = markone.filter_files(model, str(path), folder / "out", label="good")
    assert report.rows == len(texts) and report.kept == sum(label == "good" for label in model.predict(texts))
    kept = [line for line, label in zip(lines, model.predict(texts), strict=True) if label == "good"]
    assert [line.strip() for line in output(folder / "out").splitlines() if line.strip()] == kept


BAD = [
    b"not json",
    b"[1]",
    b'{"text": 3}',
    b'{"other": "a"}',
    b'{"text": "\xff"}',
    b'{"text": "a"}{"text": "b"}',
    b'{"text":',
]


@pytest.mark.parametrize("bad", BAD)
def test_bad_lines_are_named_or_skipped(bad: bytes, tmp_path: Path) -> None:
    model = model_of()
    lines = lines_of(texts_of(100))
    path = write(tmp_path / "a.jsonl", b"".join([*lines[:50], bad + b"\n", *lines[50:]]))
    with pytest.raises(markone.DataError, match=r"a\.jsonl, line 51: .*skip_bad"):
        markone.filter_files(model, str(path), tmp_path / "no", threshold=0.0)
    with pytest.raises(markone.DataError) as error:
        markone.filter_files(model, str(path), tmp_path / "no", threshold=0.0)
    assert "encoding" not in str(error.value)  # the filter has no such option
    report = markone.filter_files(model, str(path), tmp_path / "out", threshold=0.0, skip_bad=True)
    assert (report.rows, report.kept, report.bad) == (100, 100, 1)
    assert output(tmp_path / "out") == b"".join(lines)


def test_two_objects_on_a_line_do_not_shift_others(tmp_path: Path) -> None:
    odd = b'{"text": "good"}{"text": "bad"}\n{"text":\n"good fine"}\n{"text": "bad poor"}\n'
    path = write(tmp_path / "a.jsonl", odd)
    with pytest.raises(markone.DataError, match="line 1"):
        markone.filter_files(model_of(), str(path), tmp_path / "out", label="good")


# ---- going on


def test_a_filter_goes_on_after_an_error(tmp_path: Path) -> None:
    model = model_of()
    lines = lines_of(texts_of(30_000))
    whole = write(tmp_path / "crawl.jsonl.zst", b"".join(lines))
    right = markone.filter_files(model, str(whole), tmp_path / "whole", threshold=0.6, shard="1 MiB")
    assert len(right.files) >= 3
    calls = []

    def stop(rows: int, _: float) -> None:
        calls.append(rows)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        markone.filter_files(model, str(whole), tmp_path / "out", threshold=0.6, shard="1 MiB", seen=stop)
    first = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(first) == 3  # two shards, and the manifest
    before = (tmp_path / "out" / first[0]).stat().st_mtime_ns
    report = markone.filter_files(model, str(whole), tmp_path / "out", threshold=0.6, shard="1 MiB", threads=1)
    assert (tmp_path / "out" / first[0]).stat().st_mtime_ns == before
    assert (report.rows, report.kept, report.counts, report.files) == (
        right.rows,
        right.kept,
        right.counts,
        right.files,
    )
    for name in right.files:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    again = markone.filter_files(model, str(whole), tmp_path / "out", threshold=0.6, shard="1 MiB")
    assert again.kept == right.kept and again.size == 0
    for change in ({"threshold": 0.7}, {"label": "bad"}, {"scores": True}, {"shard": "2 MiB"}):
        with pytest.raises(markone.DataError, match="another"):
            markone.filter_files(model, str(whole), tmp_path / "out", **{"threshold": 0.6, "shard": "1 MiB", **change})
    with pytest.raises(markone.DataError, match="another model"):
        markone.filter_files(model_of(rule="mira"), str(whole), tmp_path / "out", threshold=0.6, shard="1 MiB")
    os.utime(whole)
    with pytest.raises(markone.DataError, match="other files"):
        markone.filter_files(model, str(whole), tmp_path / "out", threshold=0.6, shard="1 MiB")


@pytest.mark.parametrize("kills", [1, slow(8)])
def test_kill_at_any_moment_loses_no_row(tmp_path: Path, kills: int) -> None:
    model_of().save(tmp_path / "m.model")
    lines = lines_of(texts_of(3_000))
    for number in range(2):
        write(tmp_path / f"crawl{number}.jsonl.gz", b"".join(lines * 20))
    command = [
        sys.executable,
        "-m",
        "markone",
        "filter",
        "m.model",
        "crawl*.jsonl.gz",
        "--keep",
        "30%",
        "--shard",
        "1 MiB",
    ]
    chosen = random.Random(1)
    for _ in range(kills):
        process = subprocess.Popen([*command, "-o", "out"], cwd=tmp_path, stdout=subprocess.DEVNULL)
        time.sleep(chosen.uniform(0.3, 1.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run([*command, "-o", "out"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([*command, "-o", "whole"], cwd=tmp_path, check=True, capture_output=True)
    shards = sorted(path.name for path in (tmp_path / "whole").iterdir() if path.name != "manifest.journal")
    assert shards == sorted(path.name for path in (tmp_path / "out").iterdir() if path.name != "manifest.journal")
    assert output(tmp_path / "out") == output(tmp_path / "whole")


# ---- the command, and mistakes


def test_a_manifest_with_other_entries_is_refused(tmp_path: Path) -> None:
    """The checksums are right, but the entries are not those of a filter."""
    source = write(tmp_path / "a.jsonl", b"".join(lines_of(texts_of(50))))
    model = model_of()
    markone.filter_files(model, str(source), tmp_path / "out", threshold=0.5)
    manifest = tmp_path / "out" / "manifest.journal"
    start, entry = (json.loads(line[17:]) for line in manifest.read_bytes().splitlines())
    for first, second in (
        ({**start, "edges": None}, entry),
        ({**start, "threshold": "high"}, entry),
        (start, {**entry, "rows": -1}),
        (start, {**entry, "counts": [1]}),
        (start, {**entry, "output": "../elsewhere"}),
        (start, {}),
        (start, []),
    ):
        manifest.write_bytes(line_of(first) + line_of(second))
        with pytest.raises(markone.DataError, match="move it away to start again"):
            markone.filter_files(model, str(source), tmp_path / "out", threshold=0.5)


def test_scores_get_a_name_that_the_row_does_not_have(tmp_path: Path) -> None:
    rows = [
        b'{"text": "good", "score": 1}\n',
        b'{"score_": 2, "text": "good", "\\u0073core": 1}\n',
        b'{"text": "score"}\n',
    ]
    source = write(tmp_path / "a.jsonl", b"".join(rows))
    markone.filter_files(model_of(), str(source), tmp_path / "out", threshold=0.0, scores=True)
    found = [[*json.loads(line)] for line in output(tmp_path / "out").splitlines()]
    assert found == [["text", "score", "score_"], ["score_", "text", "score", "score__"], ["text", "score"]]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    model_of().save("m.model")
    write(tmp_path / "crawl.jsonl.gz", b"".join(lines_of(texts_of(500))))
    assert main(["filter", "m.model", "crawl.jsonl.gz", "--threshold", "0.6", "-o", "out"]) == 0
    said = capsys.readouterr().out
    assert "of 500 rows" in said and "Rows by the probability of good:" in said
    assert main(["filter", "m.model", "crawl.jsonl.gz", "--keep", "20%", "-o", "some", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == 500 and 0.2 <= found["share"] < 0.3
    (tmp_path / "ft.bin").write_bytes(FASTTEXT_MAGIC + bytes(100))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").write_text("mine")
    (tmp_path / "a.csv").write_text("text\ngood\n")
    for arguments, words in (
        (["ft.bin", "crawl.jsonl.gz", "--keep", "10%"], "a model of fastText, which Markone cannot read"),
        (["m.model", "crawl.jsonl.gz"], "--keep or"),
        (["m.model", "--keep", "10%"], "no files to filter"),
        (["m.model", "crawl.jsonl.gz", "--keep", "10%", "--threshold", "1"], "cannot both"),
        (["m.model", "crawl.jsonl.gz", "--keep", "many"], "a share such as 10%"),
        (["m.model", "crawl.jsonl.gz", "--keep", "0%"], "greater than 0"),
        (["m.model", "crawl.jsonl.gz", "--label", "god"], "Did you mean 'good'?"),
        (["m.model", "crawl.jsonl.gz", "--keep", "10%", "-o", "full"], "not empty"),
        (["m.model", "crawl.jsonl.gz", "--keep", "10%", "--shard", "1MB"], "--shard must be"),
        (["m.model", "a.csv", "--keep", "10%"], "neither a file of JSON lines"),
        (["m.model", "none.jsonl", "--keep", "10%"], "none.jsonl"),
        (["m.model", "crawl.jsonl.gz", "--label", "good", "--text", "body", "-o", "b"], "the field 'body' is missing"),
    ):
        assert main(["filter", *arguments]) == 2, arguments
        error = capsys.readouterr().err
        assert words in error, error
    assert (tmp_path / "full" / "a").read_text() == "mine"
    assert gzip.decompress((tmp_path / "crawl.jsonl.gz").read_bytes())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keep": 0.1, "threshold": 0.5}, "keep and threshold cannot both be given"),
        ({}, "keep or threshold or label must say which rows to keep"),
        ({"threshold": 1.5}, "threshold must be a number from 0 to 1, not 1.5"),
        ({"threshold": -0.1}, "threshold must be a number from 0 to 1, not -0.1"),
        ({"keep": "ten"}, "a share such as 10%"),
    ],
)
def test_a_choice_of_rows_that_makes_no_sense_is_refused(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", b'{"text": "good"}\n')
    with pytest.raises(markone.SettingsError, match=words):
        markone.filter_files(model_of(), str(tmp_path / "a.jsonl"), tmp_path / "out", **options)
    margins = markone.train(["good", "bad"], target=["yes", "no"], rule="mira")
    assert markone.filter_files(margins, str(tmp_path / "a.jsonl"), tmp_path / "out", threshold=-9.0).kept == 1
