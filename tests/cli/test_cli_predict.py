"""`markone predict`: what it writes, in which form, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import markone
from commands import rows_in
from markone.cli import main
from markone.errors import DataError
from markone.model import writing


def test_predict_writes_a_label_a_line(run, folder):
    model = markone.load("reviews.model")
    texts = (folder / "new.txt").read_text().splitlines()
    expected = "".join(f"{label}\n" for label in model.predict(texts))
    assert run("predict", "reviews.model", "new.txt") == expected
    assert run("predict", "reviews.model", "new.csv") == expected
    assert run("predict", "reviews.model", "test.csv", "--threads", "1") == expected
    assert run("predict", "reviews.model", "-", given=(folder / "new.txt").read_bytes()) == expected
    assert run("predict", "reviews.model", "-", "--format", "csv", given=(folder / "new.csv").read_bytes()) == expected
    assert run("predict", "reviews.model", "new.csv", "-o", "out.txt") == ""
    assert (folder / "out.txt").read_text() == expected


def test_predict_keeps_columns_and_writes_scores(run, folder):
    model = markone.load("l.model")
    rows = rows_in(folder / "test.csv")
    texts = [row["text"] for row in rows]
    scores, probabilities = model.scores(texts), model.probabilities(texts)
    run("predict", "l.model", "test.csv", "--keep", "all", "--scores", "--probabilities", "-o", "out.csv")
    found = rows_in(folder / "out.csv")
    assert list(found[0]) == [
        "label",
        "text",
        "prediction",
        "score:unhappy",
        "score:happy",
        "probability:unhappy",
        "probability:happy",
    ]
    assert [(row["label"], row["text"]) for row in found] == [(row["label"], row["text"]) for row in rows]
    assert [row["prediction"] for row in found] == model.predict(texts).tolist()
    assert [float(row["score:happy"]) for row in found] == pytest.approx(scores[:, 1].tolist(), rel=1e-6)
    assert [float(row["probability:unhappy"]) for row in found] == pytest.approx(probabilities[:, 0].tolist(), rel=1e-6)
    lines = run("predict", "l.model", "test.csv", "--keep", "text", "--scores", "--output", "jsonl").splitlines()
    objects = list(map(json.loads, lines))
    assert [one["text"] for one in objects] == texts
    assert [one["scores"]["happy"] for one in objects] == pytest.approx(scores[:, 1].tolist(), rel=1e-6)
    assert json.loads(run("predict", "l.model", "new.csv", "--probabilities", "--output", "jsonl").splitlines()[0]) == {
        "prediction": objects[0]["prediction"],
        "probabilities": {
            label: pytest.approx(p, rel=1e-6) for label, p in zip(model.classes, probabilities[0], strict=True)
        },
    }


def test_the_ending_of_the_file_or_what_is_written_says_the_format(run, folder):
    assert run("predict", "reviews.model", "new.csv", "--scores").startswith("prediction,score:unhappy,score:happy\n")
    run("predict", "reviews.model", "new.csv", "-o", "out.jsonl")
    assert json.loads((folder / "out.jsonl").read_text().splitlines()[0])["prediction"] in ("happy", "unhappy")
    for name in ("out", "out.data"):
        run("predict", "reviews.model", "new.csv", "-o", name, *(["--output", "labels"] if "." in name else []))
        assert (folder / name).read_text().splitlines()[0] in ("happy", "unhappy")
    said = run("predict", "reviews.model", "new.csv", "--keep", "all", "-o", "out.txt", status=2)
    assert said == "--output must be csv or jsonl to write columns or scores, not labels"


HOSTILE = ["plain", 'a "quote"', "a, comma", "two\nlines", "carriage\rreturn", "naïve %s {}", " spaces ", ""]


def test_what_is_kept_is_quoted_so_that_it_can_be_read_again(run, folder):
    with (folder / "hostile.csv").open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(["text", "prediction", "a%s"])
        writer.writerows([text, "mine", "100%"] for text in HOSTILE)
    run("predict", "reviews.model", "hostile.csv", "--keep", "all", "-o", "out.csv")
    rows = list(csv.reader(io.StringIO((folder / "out.csv").read_bytes().decode(), newline="")))
    assert rows[0] == ["text", "prediction", "a%s", "prediction_"]
    assert [row[0] for row in rows[1:]] == HOSTILE and all(row[1:3] == ["mine", "100%"] for row in rows[1:])
    run("predict", "reviews.model", "hostile.csv", "--keep", "all", "-o", "out.jsonl")
    objects = list(map(json.loads, (folder / "out.jsonl").read_text().splitlines()))
    assert [one["text"] for one in objects] == HOSTILE and objects[0]["a%s"] == "100%"
    (folder / "hostile.jsonl").write_text(
        "".join(json.dumps({"text": text, "n": i, "nested": {"a": [1, None]}}) + "\n" for i, text in enumerate(HOSTILE))
    )
    run("predict", "reviews.model", "hostile.jsonl", "--keep", "all", "-o", "again.jsonl")
    objects = list(map(json.loads, (folder / "again.jsonl").read_text().splitlines()))
    assert [one["text"] for one in objects] == HOSTILE
    assert objects[3]["n"] == 3 and objects[3]["nested"] == {"a": [1, None]}
    run("predict", "reviews.model", "hostile.jsonl", "--keep", "nested,n", "-o", "nested.csv")
    assert (folder / "nested.csv").read_text().splitlines()[1].startswith('"{""a"": [1, null]}",0,')


def test_bytes_that_are_no_text_pass_through(run, folder):
    data = b"clean \xff room\nna\xc3\xafve\n"
    found = run("predict", "reviews.model", "-", "--keep", "all", "-o", "out.csv", given=data)
    assert found == "" and b"clean \xff room," in (folder / "out.csv").read_bytes()
    lines = run("predict", "reviews.model", "-", "--keep", "all", "--output", "jsonl", given=data).splitlines()
    assert json.loads(lines[0])["text"] == "clean � room" and json.loads(lines[1])["text"] == "naïve"


def test_columns_of_every_kind_can_be_written(run, folder):
    import datetime

    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table(
        {
            "age": [30.0, None, 50.0],
            "job": ["clerk", "baker", None],
            "member": ["yes", "no", "no"],
            "born": [datetime.date(2000, 1, 2)] * 3,
            "raw": [b"x", b"\xff", None],
            "true": [True, False, None],
        }
    )
    pa.parquet.write_table(table, folder / "people.parquet")
    run("predict", "people.model", "people.parquet", "--keep", "all", "-o", "out.csv")
    assert (folder / "out.csv").read_bytes().splitlines()[1].startswith(b"30,clerk,yes,2000-01-02,x,true,")
    objects = [
        json.loads(line)
        for line in run("predict", "people.model", "people.parquet", "--keep", "all", "--output", "jsonl").splitlines()
    ]
    assert objects[1]["born"] == "2000-01-02" and objects[1]["age"] is None and objects[0]["true"] is True


def test_labels_of_more_than_one_line_need_columns(run, folder):
    markone.train(["a b", "c d"] * 3, target=["one\ntwo", "three"] * 3).save("lines.model")
    said = run("predict", "lines.model", "-", given="a\n", status=2)
    assert said == r"--output must be csv or jsonl for this model, because its label 'one\ntwo' has more than one line"
    assert run("predict", "lines.model", "-", "--output", "csv", given="a\n") == 'prediction\n"one\ntwo"\n'


def test_labels_may_be_numbers_and_truth_values(run, folder):
    markone.train(["a b", "c d"] * 3, target=[True, False] * 3).save("t.model")
    assert run("predict", "t.model", "-", given="a\nc\n") == "true\nfalse\n"
    assert run("predict", "t.model", "-", "--output", "jsonl", given="a\n") == '{"prediction": true}\n'
    markone.train(["a b", "c d"] * 3, target=[10, 2] * 3).save("n.model")
    assert run("predict", "n.model", "-", "--output", "jsonl", given="a\n") == '{"prediction": 10}\n'


def test_a_file_is_read_as_those_were_that_the_model_was_trained_on(run, folder):
    rows = (folder / "people.csv").read_text().splitlines()[1:]
    (folder / "people.data").write_text("\n".join(row.replace(",", ";") for row in rows))
    columns = "age,job,member,income"
    run(
        "train",
        "people.data",
        "--format",
        "csv",
        "--separator",
        ";",
        "--columns",
        columns,
        "--target",
        "income",
        "--kinds",
        "age=numeric",
        "--quiet",
        "-o",
        "p.model",
    )
    assert markone.load("p.model").reading == {
        "format": "csv",
        "separator": ";",
        "columns": columns.split(","),
        "kinds": {"age": "numeric"},
    }
    expected = run("predict", "people.model", "people.csv")
    assert run("predict", "p.model", "people.data") == expected
    assert run("predict", "p.model", "-", given=(folder / "people.data").read_bytes()) == expected
    assert "examples are right" in run("evaluate", "p.model", "people.data")
    (folder / "people.jsonl").write_text(
        "".join(json.dumps({**row, "age": int(row["age"])}) + "\n" for row in rows_in(folder / "people.csv"))
    )
    assert run("predict", "p.model", "people.jsonl") == expected  # of another format, by its name
    assert run("predict", "p.model", "people.csv", "--separator", ",", "--header") == expected


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nix.model", "new.csv"), "there is no model nix.model"),
        (("new.csv", "new.csv"), "new.csv is not a Markone model"),
        (("reviews.model", "nix.csv"), "there is no file nix.csv"),
        (
            ("reviews.model", "new.csv", "--keep", "txt"),
            "--keep must name columns of new.csv, not 'txt'. Did you mean 'text'",
        ),
        (("reviews.model", "new.csv", "-o", "nix/out.csv"), "cannot save nix/out.csv"),
        (("reviews.model", "new.csv", "-o", "."), "it is a folder"),
        (("reviews.model", "new.csv", "-o", "x.parquet"), "the name of x.parquet does not tell the format"),
        (
            ("reviews.model", "new.csv", "-o", "x.csv.gz"),
            "the output is not compressed, but x.csv.gz has the name of a compressed file",
        ),
        (("reviews.model", "new.csv", "-o", "x.csv.gz", "--output", "csv"), "leave out .gz"),
        (("reviews.model", "new.csv", "-o", "new.csv"), "new.csv is an input file; name another file for the output"),
        (("reviews.model", "new.csv", "-o", "reviews.model"), "reviews.model is an input file"),
        (("people.model", "new.csv"), "the model needs the column 'age', and new.csv has text"),
        (("reviews.model", "new.csv", "--output", "xml"), 'Invalid value "xml" for --output'),
        (("reviews.model",), "markone predict needs DATA; markone predict --help has examples"),
        (
            ("reviews.model", "not good"),
            "no file not good; texts come from a file or a pipe: echo 'not good' | markone predict",
        ),
        (("reviews.model", "new.csv", "extra"), "too many arguments: 'extra' is not expected here."),
        (("reviews.model", "new.csv", "--threads", "0"), "--threads must be a whole number of at least 1, not 0"),
    ],
)
def test_predict_says_what_is_wrong(arguments, sentence, run, folder):
    before = sorted(path.name for path in folder.iterdir())
    assert sentence in run("predict", *arguments, given=b"", status=2)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_model_of_few_rows_has_no_probabilities(run, folder):
    markone.train(["free money", "see you"] * 9, target=["spam", "ham"] * 9).save("few.model")
    said = run("predict", "few.model", "new.csv", "--probabilities", status=2)
    assert "--probabilities cannot be computed: scores of the rule 'mira' become probabilities by rows" in said


@pytest.mark.filterwarnings("default::markone.MarkoneWarning")
def test_columns_that_are_absent_are_told_in_one_line(run, folder):
    people = rows_in(folder / "people.csv")
    (folder / "fewer.csv").write_text("age,income\n" + "".join(f"{one['age']},{one['income']}\n" for one in people))
    (folder / "gaps.csv").write_text("age,job,member\n" + "".join(f"{one['age']},,\n" for one in people))
    told = "markone: fewer.csv lacks columns 'job', 'member' of the model, which count as missing in every row.\n"
    assert run("predict", "people.model", "fewer.csv") == run("predict", "people.model", "gaps.csv")
    run("predict", "people.model", "fewer.csv")
    assert run.errors == told
    assert "accuracy" in run("evaluate", "people.model", "fewer.csv")
    assert run.errors == told


def test_a_file_of_predictions_appears_whole_or_not_at_all(run, folder):
    (folder / "bad.csv").write_text("text\n" + "a clean room\n" * 60_000 + '"not closed\n')
    (folder / "out.csv").write_text("old")
    assert "bad.csv, line" in run("predict", "reviews.model", "bad.csv", "-o", "out.csv", status=2)
    assert (folder / "out.csv").read_text() == "old"
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    run("predict", "reviews.model", "bad.csv", "-o", "out.csv", "--skip-bad")
    assert run.errors.startswith("markone: 1 bad line was skipped:")
    assert (folder / "out.csv").read_text().count("\n") == 60_001


def test_a_signal_leaves_nothing_half_written(folder, monkeypatch, capsys):
    def terminate(*_):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(writing.CsvWriter, "lines", terminate)
    names = sorted(path.name for path in folder.iterdir())
    assert main(["predict", "reviews.model", "new.csv", "-o", "out.csv"]) == 143
    assert sorted(path.name for path in folder.iterdir()) == names
    assert capsys.readouterr() == ("", "markone: interrupted\n")
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_full_disk_is_told(folder, capsys):
    for command in (["predict", "reviews.model", "new.csv"], ["evaluate", "reviews.model", "test.csv"]):
        with open("/dev/full", "w") as full:
            process = subprocess.run(
                [sys.executable, "-m", "markone", *command], stdout=full, stderr=subprocess.PIPE, text=True
            )
        assert process.returncode == 2
        assert process.stderr.count("\n") == 1 and "No space left on device" in process.stderr


def test_each_line_is_answered_when_it_comes(folder):
    command = [sys.executable, "-m", "markone", "predict", "reviews.model", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        for line, label in (("a clean, quiet, lovely room", "happy"), ("dirty, noisy, awful", "unhappy")) * 2:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == label + "\n"
        process.stdout.close()
        process.stdin.write("one more\n")
        process.stdin.close()
        assert process.wait(timeout=20) == 141


def test_one_line_is_predicted_without_heavy_imports(folder):
    program = (
        "import sys, numpy; numpys = {*sys.modules};"  # old versions of NumPy import more than new ones
        "from markone.cli import main; main(['predict', 'reviews.model', 'new.txt', '-o', 'out.txt']);"
        "print(*({*sys.modules} - numpys))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = set(answer.stdout.split())
    loaded = {module.split(".")[0] for module in modules}
    assert not loaded & {"pyarrow", "scipy", "sklearn", "pandas", "rich", "docstring_parser", "zipfile", "_hashlib"}
    assert not loaded & {"tomllib", "difflib", "html", "tempfile"}
    # What shows results is imported when it shows some.
    shows = ("data.overview", "reporting.charts", "reporting.html", "model.explaining", "model.running", "model.losses")
    assert not modules & {f"markone.{name}" for name in shows}
    # Only the file of the command itself is imported, so that only its options are made.
    assert "markone.cli.predict" in answer.stdout.split()
    assert not {f"markone.cli.{name}" for name in ("train", "evaluate", "compare", "tag")} & {*answer.stdout.split()}


def test_kept_columns_never_share_a_name_with_ours(run, folder):
    (folder / "a.csv").write_text('text,scores,probabilities,prediction,"c\rd"\na clean room,1,2,3,4\n')
    run("predict", "l.model", "a.csv", "--keep", "all", "--scores", "--probabilities", "-o", "a.jsonl")
    pairs = json.loads((folder / "a.jsonl").read_text(), object_pairs_hook=list)
    names = [name for name, _ in pairs]
    assert names[-3:] == ["prediction_", "scores_", "probabilities_"] and len({*names}) == len(names) == 8
    run("predict", "l.model", "a.csv", "--keep", "all", "-o", "b.csv")
    [row] = rows_in(folder / "b.csv")
    assert row["c\rd"] == "4" and b'"c\rd"' in (folder / "b.csv").read_bytes()


def test_numbers_are_written_in_digits_that_give_the_same_numbers_back():
    import numpy as np

    values = np.array([[0.1, -1e-30], [3e38, 1 / 3]], np.float32)
    digits = writing.in_digits(values)
    assert [[np.float32(text) for text in column] for column in digits] == values.T.tolist()
    with pytest.raises(DataError, match="a score overflowed"):
        writing.in_digits(np.array([[np.inf]], np.float32))


@pytest.mark.parametrize("output", ["labels", "csv", "jsonl"])
def test_of_nothing_nothing_is_predicted(run, folder, output):
    assert run("predict", "reviews.model", "-", "--output", output, given="") == ""
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text((folder / "test.csv").read_text().splitlines()[0] + "\n")
    for name in ("empty.csv", "header.csv"):
        assert run("predict", "reviews.model", name, "--output", output) == ""
    assert "empty.csv is empty" in run("evaluate", "reviews.model", "empty.csv", status=2)
