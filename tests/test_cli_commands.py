"""Train, evaluate, explain and predict on the command line: what they print, write and refuse."""

from __future__ import annotations

import csv
import gzip
import inspect
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import pytest

import markone
from markone.cli import COMMANDS, Terminated, main, options, output, sentences
from markone.cli import train as train_module
from markone.cli.reviews import write_reviews
from markone.errors import DataError, SettingsError
from markone.model.settings import Settings

ROWS = 1000


def rows_in(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Files of reviews, and models of them: one of each kind that is asked for below."""
    folder = tmp_path_factory.mktemp("made")
    for name, count, seed in (("reviews.csv", ROWS, 1), ("test.csv", 100, 2), ("more.csv", 60, 3)):
        write_reviews(folder / name, count, seed)
        text = (folder / name).read_text().replace("guest,review", "label,text")
        (folder / name).write_text(text)
    rows = rows_in(folder / "test.csv")
    (folder / "new.csv").write_text("text\n" + "".join(f'"{row["text"]}"\n' for row in rows))
    (folder / "new.txt").write_text("".join(f"{row['text']}\n" for row in rows))
    (folder / "reviews.csv.gz").write_bytes(gzip.compress((folder / "reviews.csv").read_bytes()))
    (folder / "people.csv").write_text(
        "age,job,member,income\n"
        + "".join(
            f"{20 + i},{'clerk' if i % 3 else 'baker'},{'yes' if i % 2 else 'no'},{'high' if i > 20 else 'low'}\n"
            for i in range(40)
        )
    )
    at = os.getcwd()
    os.chdir(folder)
    try:
        assert main(["train", "reviews.csv", "--target", "label", "--quiet"]) == 0
        assert (
            main(["train", "reviews.csv", "--target", "label", "--quiet", "--rule", "logistic", "-o", "l.model"]) == 0
        )
        assert main(["train", "people.csv", "--target", "income", "--quiet"]) == 0
    finally:
        os.chdir(at)
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch) -> Path:
    """A folder of its own with these files, in which the test is."""
    for path in made.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def run(folder, capsys, monkeypatch):
    """Runs a command: what it printed, what it complained of, and its status."""

    def command(*arguments: str, given: bytes | str | None = None, status: int = 0) -> str:
        if given is not None:
            data = given.encode() if isinstance(given, str) else given
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        capsys.readouterr()
        assert main(list(map(str, arguments))) == status, capsys.readouterr()
        captured = capsys.readouterr()
        if status == 0:
            command.errors = captured.err
            return captured.out
        assert captured.err.startswith("markone: ") and captured.err.count("\n") == 1
        return captured.err.removeprefix("markone: ").rstrip("\n")

    return command


TRAIN = ("train", "reviews.csv", "--target", "label")


# ---- help


def examples_of(name: str) -> list[str]:
    """The commands that the help of a command shows."""
    document = inspect.getdoc(getattr(__import__(f"markone.cli.{name}", fromlist=[name]), name)) or ""
    return [line.strip("`") for line in document.splitlines() if re.match(r"`(markone|echo|zcat) ", line)]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("demo", "completion")])
def test_the_examples_in_the_help_run(name, folder):
    commands = examples_of(name)
    assert len(commands) >= 2
    in_pipes = [command for command in commands if "|" in command]
    for command in commands:
        if command not in in_pipes:
            assert main(shlex.split(command)[1:]) == 0, command
    if in_pipes:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        script = "set -e\n" + "\n".join(in_pipes)
        subprocess.run(["sh", "-c", script], check=True, env={**os.environ, "PATH": path}, capture_output=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name, run):
    text = run(name, "--help")
    assert "Example" in text
    assert not re.search(r"│ +--[\w-]+( \w+)? +│", text)
    assert "None" not in text
    assert not re.search(r"\w+=(True|False|None)", text)


def test_options_are_those_of_the_settings_and_of_read(run):
    text = run("train", "--help")
    for field in fields(Settings):
        assert re.search(rf"--{field.name}\b", text)
    for name in inspect.signature(markone.read).parameters:
        assert (options.option(name) in text) == (name not in ("what", "keep", "once"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_options_and_choices(shell, run):
    script = run("completion", shell)
    for word in ("train", "skip-bad", "perceptron", "probabilities"):
        assert word in script
    assert run("completion", "tcsh", status=2).startswith('Invalid value "tcsh"')


# ---- train


def test_train_says_how_much_a_final_model_would_not_have(run, monkeypatch):
    assert "--final" not in run(*TRAIN)
    monkeypatch.setattr("markone.cli.report.MUCH", 1000)
    assert re.search(r"Saved reviews.model, .* Of that, .* are for --resume; --final leaves them out\.", run(*TRAIN))
    assert "--final leaves" not in run(*TRAIN, "--final")


def test_train_says_what_it_read_and_learned_on_one_screen(run, folder):
    (folder / "reviews.csv").write_text((folder / "reviews.csv").read_text() + ",no label here\n1,2,3\n4,5,6\n")
    text = run(*TRAIN, "--skip-bad")
    lines = text.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 90
    assert lines[0] == f"Read {ROWS + 1:,} rows of reviews.csv: 1 text (text)."
    assert lines[1] == "  1 row has no label: nothing was learned from them."
    assert lines[2] == "  2 bad lines were passed over:"
    assert lines[3].startswith("    reviews.csv, line ") and "there are 3 fields instead of 2" in lines[3]
    assert re.match(r"Learned 2 classes of label from 950 rows \(mira, [\d,]+ features\)\.", lines[5])
    assert re.match(r"  10 passes: \d+ mistakes in the first, \d+ in the last\.", lines[6])
    assert re.match(r"  \d\d\.\d% right on 50 held-out rows; the commonest class alone gets \d+\.\d%", lines[7])
    assert {line.split()[0] for line in lines[9:11]} == {"happy", "unhappy"}
    assert re.match(r"Saved reviews\.model, [\d.]+ kB\.", lines[11])
    assert lines[12:] == [
        "Next:  markone evaluate reviews.model TEST.csv",
        '       markone explain reviews.model --text "..."',
    ]


def test_train_prints_json_and_nothing_else(run, folder):
    facts = json.loads(run(*TRAIN, "--json", "--epochs", "3"))
    assert facts["model"] == "reviews.model" and facts["bytes"] == os.path.getsize("reviews.model")
    assert (facts["rows"], facts["held_out"], facts["unlabelled"], facts["bad_lines"]) == (950, 50, 0, 0)
    assert facts["columns"] == {"text": "text"} and facts["classes"] == ["happy", "unhappy"]
    assert len(facts["passes"]) == 3 and facts["stopped"] == "epochs"
    assert facts["holdout"] == facts["passes"][-1]["holdout_averaged"] > facts["majority"] - 0.2
    assert set(facts["strongest"]) == {"happy", "unhappy"}


def test_train_is_quiet_when_asked_and_in_a_pipe(run):
    assert run(*TRAIN, "--quiet") == "" and run.errors == ""
    run(*TRAIN)
    assert run.errors == ""


def test_the_library_trains_the_same_model(run, folder):
    run(*TRAIN, "-o", "a.model", "--rule", "hinge", "--epochs", "3", "--seed", "5")
    model = markone.train(markone.read("reviews.csv", target="label"), rule="hinge", epochs=3, seed=5)
    model.save("b.model")
    assert Path("a.model").read_bytes() == Path("b.model").read_bytes()


CHANGED = [
    ("--rule", "perceptron"),
    ("--rule", "logistic"),
    ("--epochs", "2"),
    ("--C", "0.001"),
    ("--no-average",),
    ("--no-bias",),
    ("--start", "random"),
    ("--order", "given"),
    ("--seed", "7"),
    ("--holdout", "0.5"),
    ("--patience", "1"),
    ("--format", "tsv", "--columns", "label,text", "--separator", ",", "--header"),
    ("--kinds", "text=categorical"),
    ("--missing", "happy"),
    ("--features", "spec.toml"),
    ("--final",),
]


@pytest.mark.parametrize("options", CHANGED, ids=" ".join)
def test_every_option_of_train_changes_the_model(options, run, folder):
    (folder / "spec.toml").write_text("[text]\nwords = [1, 2]\n")
    status = 2 if options[0] == "--missing" else 0
    said = run(*TRAIN, "--quiet", "-o", "other.model", *options, status=status)
    if status == 2:
        assert "all examples have the label 'unhappy'" in said
    else:
        assert Path("reviews.model").read_bytes() != Path("other.model").read_bytes()


def test_importance_changes_the_model(run, folder):
    lines = (folder / "reviews.csv").read_text().splitlines()
    (folder / "n.csv").write_text("\n".join(["label,text,n", *(f"{line},{i % 5}" for i, line in enumerate(lines[1:]))]))
    train = ("train", "n.csv", "--target", "label", "--quiet")
    run(*train, "--importance", "n", "-o", "a.model")
    run(*train, "--kinds", "n=ignore", "-o", "b.model")
    assert Path("a.model").read_bytes() != Path("b.model").read_bytes()


@pytest.mark.parametrize("options", [("--threads", "1"), ("--memory", "1 MiB"), ("--checkpoint",), ("--minutes", "1")])
def test_some_options_change_only_how(options, run, folder):
    run(*TRAIN, "-o", "b.model", *options)
    assert Path("reviews.model").read_bytes() == Path("b.model").read_bytes()
    assert not list(folder.glob("*.checkpoint"))


def test_a_model_learns_on(run, folder):
    lines = (folder / "more.csv").read_text() + "neutral,a hotel with a fountain\n" * 200
    (folder / "more.csv").write_text(lines)
    facts = json.loads(run("train", "more.csv", "--target", "label", "--from", "reviews.model", "--json"))
    assert facts["model"] == "more.model" and facts["classes"] == ["happy", "neutral", "unhappy"]
    assert facts["features"] > markone.load("reviews.model").features.width
    assert run("predict", "more.model", "-", given="a fountain, a fountain\n") == "neutral\n"


def test_a_model_learns_on_from_data_that_are_read_as_its_own_were(run, folder):
    rows = [row.replace(",", ";") for row in (folder / "people.csv").read_text().splitlines()[1:]]
    (folder / "old.data").write_text("\n".join(rows))
    (folder / "more.data").write_text("\n".join(f"{row};7" for row in rows[:30]))
    make = ("--format", "csv", "--separator", ";", "--columns", "age,job,member,income")
    run("train", "old.data", *make, "--target", "income", "--quiet")
    text = run(
        "train", "more.data", "--from", "old.model", "--columns", "age,job,member,income,more", "-o", "new.model"
    )
    assert text.startswith("Read 30 rows of more.data: 1 numeric, 1 categorical, 1 boolean (age, job, member).\n")
    assert "\n  Not used: more (not in the model).\n" in text
    assert markone.load("new.model").target == "income"
    run("train", "old.data", "--from", "new.model", "--columns", "age,job,member,income", "-o", "again.model")
    assert run("evaluate", "again.model", "old.data") == run("evaluate", "again.model", "old.data", *make)


def test_labelled_lines_come_from_a_pipe_as_the_model_knows_them(run, folder):
    data = (folder / "test.csv").read_bytes()
    assert run("evaluate", "reviews.model", "-", given=data) == run("evaluate", "reviews.model", "test.csv")
    run("train", "-", "--from", "reviews.model", "-o", "on.model", "--quiet", given=data)
    run("train", "test.csv", "--from", "reviews.model", "-o", "on2.model", "--quiet")
    assert (folder / "on.model").read_bytes() == (folder / "on2.model").read_bytes()


def test_the_next_command_fits_files_whose_names_do_not_say_their_format(run, folder):
    rows = rows_in(folder / "test.csv")
    lines = "".join(f"{row['label']}\t{row['text']}\n" for row in rows)
    for name in ("a.tsv", "TEST.tsv", "TEST"):
        (folder / name).write_text(lines)
    said = run("train", "a.tsv", "--format", "tab")
    assert "Next:  markone evaluate a.model TEST.tsv\n" in said
    assert markone.load("a.model").reading == {"format": "tab", "named": "tsv"}
    for name in ("TEST.tsv", "TEST"):
        assert "of 100 examples are right" in run("evaluate", "a.model", name)
    assert "of 100 examples are right" in run("evaluate", "a.model", "test.csv", "--target", "label")
    run("train", "TEST.tsv", "--from", "a.model", "-o", "b.model", "--quiet")
    assert "of 100 examples are right" in run("evaluate", "b.model", "TEST.tsv")


def test_the_next_command_fits_images(run, folder):
    import numpy as np

    from markone.cli.demo import write_idx

    for name in ("my", "TEST"):
        write_idx(folder / f"{name}-images-idx3-ubyte", np.arange(8 * 9, dtype=np.uint8).reshape(8, 3, 3))
        write_idx(folder / f"{name}-labels-idx1-ubyte", np.arange(8, dtype=np.uint8) % 2)
    said = run("train", "my-images-idx3-ubyte", "-o", "my.model")
    [line] = [line for line in said.splitlines() if line.startswith("Next:")]
    assert line == "Next:  markone evaluate my.model TEST-images-idx3-ubyte"
    assert "of 8 examples are right" in run(*shlex.split(line)[2:])


def test_columns_that_are_not_used_are_named(run, folder):
    rows = [{"a": i % 2, "b": None, "c": [i], "d": i, "y": "no" if i % 2 else "yes"} for i in range(8)]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("train", "a.jsonl", "--target", "y", "--kinds", "d=ignore")
    text = run(*command)
    assert text.startswith("Read 8 rows of a.jsonl: 1 numeric (a).\n")
    assert "\n  Not used: b (no value in the first 8 rows), c (lists or objects), d (as you said).\n" in text
    assert list(json.loads(run(*command, "--json"))["not_used"]) == ["b", "c", "d"]
    (folder / "renamed.csv").write_text((folder / "test.csv").read_text().replace("text", "words"))
    assert "Not used" not in run("train", "renamed.csv", "--from", "reviews.model", "-o", "r.model")


def test_names_with_control_characters_are_made_visible(run, folder):
    path = folder / "a\x1b[31m.csv"
    path.write_text("\x1b[31mcolumn,y\n" + "1,\x1b]0;x\x07\n2,b\n" * 4)
    text = run("train", path.name, "--target", "y")
    assert "\x1b" not in text and "\x07" not in text
    assert r"1 numeric (\x1b[31mcolumn)" in text and r"Saved a\x1b[31m.model" in text
    assert r"explain $'a\x1b[31m.model' --row 1 $'a\x1b[31m.csv'" in text
    text = run("evaluate", "a\x1b[31m.model", path.name)
    assert "\x1b" not in text and r"\x1b]0;x\x07" in text
    assert r"there is no file b\x1b.csv" in run("train", "b\x1b.csv", "--target", "y", status=2)
    assert r"a\x1b[31m.csv has \x1b[31mcolumn" in run("predict", "reviews.model", path.name, status=2)


def test_a_long_name_is_cut_in_a_sentence(run, folder):
    (folder / "a.csv").write_text("x" * 5000 + "a,y\n1,2\n3,4\n")
    said = run("predict", "reviews.model", "a.csv", status=2)
    assert "xxx…xxx" in said and "xxa, y." in said and len(said) < 400


def test_what_is_no_file_keeps_no_model(run, folder):
    os.mkfifo("pipe")
    assert run(*TRAIN, "-o", "pipe", status=2).startswith("pipe is a pipe, and a model is saved in a file")
    text = run(*TRAIN, "-o", "/dev/null")
    assert text.endswith("The model is not kept: /dev/null is no file.\n")


def test_a_training_that_has_all_its_passes_says_so(run):
    run(*TRAIN, "--epochs", "5", "--quiet")
    for epochs in ("3", "5"):
        run(*TRAIN, "--epochs", epochs, "--resume")
        assert run.errors.startswith("markone: 5 passes were made already, and none is added; --epochs says")
    run(*TRAIN, "--epochs", "7", "--resume")
    assert run.errors == ""


def test_nothing_is_strong_where_nothing_was_learned(run, folder):
    (folder / "a.libsvm").write_text("1 1:1\n2 1:1\n" * 3)
    text = run("train", "a.libsvm", "--penalty", "l1", "--strength", "1000", "--rule", "logistic")
    assert text.startswith("Read 6 rows of a.libsvm: rows of features.\n")
    assert "Strongest" not in text


def test_truth_values_are_written_in_one_way(run, folder):
    (folder / "a.csv").write_text("x,y\n" + "1,true\n2,false\n" * 9)
    for text in (run("train", "a.csv", "--target", "y"), run("evaluate", "a.model", "a.csv")):
        assert "false" in text and "False" not in text
    assert set(run("predict", "a.model", "a.csv").split()) == {"true", "false"}


def test_missing_says_what_is_usual(run):
    assert "[default: an empty field, ?, NA, N/A" in " ".join(run("train", "--help").replace("│", "").split())


def test_a_model_of_python_functions_is_for_python(run, folder):
    markone.train(["a b", "c d"] * 3, target=[1, 2] * 3, functions={"size": len_of}).save("f.model")
    said = run("predict", "f.model", "new.csv", status=2)
    assert "load it in Python, and give it there: markone.load(path, functions={'size': ...})" in said


def len_of(example):
    return {"size": len(example)}


def test_train_reads_a_pipe(run, folder):
    facts = json.loads(
        run("train", "-", "--format", "csv", "--target", "label", "--json", given=(folder / "reviews.csv").read_bytes())
    )
    assert facts["model"] == "markone.model" and facts["rows"] == 950
    assert Path("markone.model").read_bytes() == Path("reviews.model").read_bytes()


def test_train_reads_several_files_and_folders(run, folder):
    facts = json.loads(run("train", "reviews.csv", "more.csv", "--target", "label", "--json"))
    assert facts["model"] == "markone.model" and facts["rows"] + facts["held_out"] == ROWS + 60
    for name, text in (("good", "clean and quiet"), ("bad", "dirty and noisy")):
        (folder / "texts" / name).mkdir(parents=True)
        for i in range(5):
            (folder / "texts" / name / f"{i}.txt").write_text(f"{text} {i}")
    assert json.loads(run("train", "texts/", "--json"))["model"] == "texts.model"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("train",), "there are no data to learn from; name a file, as in: markone train reviews.csv --target label"),
        (("train", "reviews.csv"), "say with --target which column has the labels; reviews.csv has label, text"),
        (("train", "review.csv"), r"there is no file review.csv\. Did you mean '(reviews|new|more)\.csv'\?"),
        (
            ("train", "reviews.csv", "--target", "lable"),
            "--target must be a column of reviews.csv, not 'lable'. Did you",
        ),
        (("train", "new.txt"), "new.txt has texts without labels; each line needs a label, a tab and a text"),
        (
            ("train", "-", "--target", "y"),
            "--format must say what comes from standard input, for instance --format csv",
        ),
        (
            (*TRAIN, "--eta", "1"),
            "--eta is not used by the rule 'mira', which finds its own step; leave it out, or set C",
        ),
        ((*TRAIN, "--epochs", "0"), "--epochs must be at least 1, not 0"),
        ((*TRAIN, "--epochs", "1.5"), "Invalid value for --epochs: must be a whole number, not '1.5'"),
        ((*TRAIN, "--C", "x"), "Invalid value for --C: must be a number, not 'x'"),
        ((*TRAIN, "--rule", "prceptron"), 'Invalid value "prceptron" for --rule.* Did you mean "perceptron"?'),
        ((*TRAIN, "--epoch", "3"), r"Unknown option: --epoch. Did you mean --epochs\?"),
        ((*TRAIN, "--format", "cvs"), 'Invalid value "cvs" for --format.* Did you mean "(csv|tsv)"'),
        ((*TRAIN, "--kinds", "text"), "--kinds must say the kinds of columns, as in zip=text, not 'text'"),
        ((*TRAIN, "--kinds", "text=txet"), "--kinds text must be one of .*, not 'txet'. Did you mean 'text'"),
        ((*TRAIN, "--kinds", "txt=text"), "--kinds are for columns of reviews.csv, not for 'txt'"),
        ((*TRAIN, "--memory", "much"), "--memory must be a number of bytes"),
        ((*TRAIN, "--threads", "0"), "--threads must be a whole number of at least 1, not 0"),
        ((*TRAIN, "--minutes", "0"), "--minutes must be a number greater than 0, not 0"),
        ((*TRAIN, "--features", "nix.toml"), "nix.toml"),
        ((*TRAIN, "--from", "nix.model"), "there is no model nix.model"),
        ((*TRAIN, "--encoding", "klingon"), "--encoding must be one that Python knows, like 'latin-1', not 'klingon'"),
        ((*TRAIN, "--no-header"), "--target must be a column of reviews.csv, not 'label'. It has 'c0', 'c1'"),
        ((*TRAIN, "-o", "nix/a.model"), "there is no folder nix, in which to save the model"),
        ((*TRAIN, "-o", "."), r"\. is a folder; say with -o in which file the model is to be saved"),
        ((*TRAIN, "-o", "reviews.csv"), "reviews.csv is what is read; name another file to be written"),
        (
            (*TRAIN, "--longest-line", "10"),
            r"the line is longer than 10 bytes.*say how long lines may be with --longest-line",
        ),
    ],
)
def test_train_says_what_is_wrong(arguments, sentence, run, folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert re.match(f".*{sentence}", run(*arguments, status=2))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_advice_is_in_the_words_of_the_command_line(run, folder):
    (folder / "bad.csv").write_text("n,y\n" + "1,a\n2,b\n" * 3000 + "x,a\n")
    assert run("train", "bad.csv", "--target", "y", status=2).endswith("; --skip-bad passes over such rows")
    (folder / "numbers.csv").write_text("1,2\n3,4\n")
    said = run("train", "numbers.csv", "--target", "y", status=2)
    assert said.endswith("say --no-header, or --columns a,b,c with names; if it is, --header")
    assert sentences.sentence(SettingsError("text.words", "must be x")) == "text.words must be x"
    assert sentences.with_options("the file skip_bad.csv") == "the file skip_bad.csv"
    assert sentences.with_options("say memory=..., or quote=None") == "say --memory ..., or --quote none"
    assert sentences.sentence(DataError("say from_model")) == "say --from"


def test_a_file_that_may_not_be_written_is_told_before_the_work(run, folder, monkeypatch):
    monkeypatch.setattr(train_module.os, "access", lambda path, mode: False)
    assert run(*TRAIN, status=2).startswith("reviews.model may not be written to")


# ---- interrupted


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_an_interruption_while_reading_saves_nothing(error, status, folder, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise error

    monkeypatch.setattr("markone.data.tables.TableSource.batches", interrupt)
    assert main([*TRAIN, "-o", "other.model"]) == status
    printed, told = capsys.readouterr()
    assert printed == "" and told.startswith("markone: interrupted; nothing is kept in other.model.checkpoint, since ")
    assert not Path("other.model").exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_the_training_and_says_how_to_go_on(number, status, folder, tmp_path):
    command = [sys.executable, "-m", "markone", *TRAIN, "--epochs", "30000", "-o", "my model", "--checkpoint"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not Path("my model.checkpoint").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == status and out == ""
    assert "kept in my model.checkpoint" in err
    [line] = [line.strip() for line in err.splitlines() if line.startswith("  markone")]
    assert shlex.split(line) == ["markone", *command[3:], "--resume"]
    done = len(markone.load("my model.checkpoint").history)
    assert main(resumed(line, done + 2)) == 0
    assert main([*TRAIN, "--epochs", str(done + 2), "-o", "other", "--quiet"]) == 0
    assert Path("my model").read_bytes() == Path("other").read_bytes()
    assert not Path("my model.checkpoint").exists()


def resumed(line: str, epochs: int) -> list[str]:
    """The command that was told, with fewer passes."""
    words = shlex.split(line)[1:]
    words[words.index("--epochs") + 1] = str(epochs)
    return words


def test_to_resume_what_was_never_begun_begins(run):
    run(*TRAIN, "--resume", "-o", "fresh.model", "--quiet")
    assert Path("fresh.model").read_bytes() == Path("reviews.model").read_bytes()
    run(*TRAIN, "--resume", "-o", "other.model")
    assert run.errors == "markone: there is no other.model.checkpoint to go on from; the training begins\n"


# ---- evaluate


def test_evaluate_shows_what_the_library_measures(run):
    text = run("evaluate", "reviews.model", "test.csv")
    evaluation = markone.load("reviews.model").evaluate(markone.read("test.csv", target="label"))
    assert text == f"{evaluation}\n"
    facts = json.loads(run("evaluate", "reviews.model", "test.csv", "--json"))
    assert facts == {**json.loads(json.dumps(evaluation.as_dict())), "bad_lines": 0}
    assert json.loads(run("evaluate", "l.model", "test.csv", "--json"))["log_loss"] > 0
    assert json.loads(run("evaluate", "reviews.model", "test.csv", "--json", "--threads", "1")) == facts


def test_evaluate_finds_the_target_or_is_told(run, folder):
    text = (folder / "test.csv").read_text()
    (folder / "other.csv").write_text(text.replace("label,", "truth,", 1))
    assert run("evaluate", "reviews.model", "other.csv", status=2).startswith("--target must be a column of other.csv")
    same = run("evaluate", "reviews.model", "other.csv", "--target", "truth")
    assert same == run("evaluate", "reviews.model", "test.csv")
    (folder / "test.txt").write_text("".join(f"{r['label']}\t{r['text']}\n" for r in csv.DictReader(text.splitlines())))
    assert run("evaluate", "reviews.model", "test.txt") == same
    said = run("evaluate", "reviews.model", "new.txt", status=2)
    assert said == "new.txt has texts without labels; each line needs a label, a tab and a text"
    assert run("evaluate", "reviews.model", "-", "--format", "csv", given=text) == same


def test_evaluate_tells_of_bad_lines(run, folder):
    (folder / "bad.csv").write_text((folder / "test.csv").read_text() + "1,2,3\n")
    assert "--skip-bad" in run("evaluate", "reviews.model", "bad.csv", status=2)
    run("evaluate", "reviews.model", "bad.csv", "--skip-bad")
    assert run.errors.startswith("markone: 1 bad line was passed over:\nmarkone:   bad.csv, line ")
    assert json.loads(run("evaluate", "reviews.model", "bad.csv", "--skip-bad", "--json"))["bad_lines"] == 1


# ---- explain


def test_explain_shows_a_model_and_an_example(run, folder):
    model = markone.load("reviews.model")
    assert "what speaks for happy" in run("explain", "reviews.model")
    assert json.loads(run("explain", "reviews.model", "--json")) == json.loads(json.dumps(model.explain().as_dict()))
    assert len(run("explain", "reviews.model", "--top", "2")) < len(run("explain", "reviews.model"))
    text = "not a clean room"
    facts = json.loads(run("explain", "reviews.model", "--text", text, "--json"))
    assert facts == json.loads(json.dumps(model.explain(text).as_dict()))
    assert "clean" in run("explain", "reviews.model", "--text", text)
    assert run("explain", "reviews.model", "--text", "-dirty") and run("explain", "reviews.model", "--text", "-")


@pytest.mark.parametrize("data", ["new.csv", "new.txt", "test.csv"])
def test_explain_finds_a_row(data, run, folder):
    text = rows_in(folder / "test.csv")[41]["text"]
    expected = run("explain", "reviews.model", "--text", text, "--json")
    assert run("explain", "reviews.model", "--row", "42", data, "--json") == expected


def test_explain_explains_rows_of_every_kind(run, folder):
    assert "age" in run("explain", "people.model", "--row", "3", "people.csv")
    (folder / "a.libsvm").write_text("1 3:1 7:2\n-1 2:1\n" * 10)
    run("train", "a.libsvm", "--quiet")
    facts = json.loads(run("explain", "a.model", "--row", "2", "a.libsvm", "--json"))
    assert facts["prediction"] == "-1" and {row["feature"] for row in facts["tables"][0]["rows"]} == {"2", "BIAS"}


def test_explain_writes_a_page(run, folder):
    assert run("explain", "reviews.model", "--text", "<b>clean</b>", "--html", "page.html") == ""
    page = (folder / "page.html").read_text()
    assert page.startswith("<!") and "<b>clean" not in page


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--text", "a", "--row", "1", "new.csv"), "--text is an example of its own; leave out --row and its data"),
        (("--row", "1"), "--row needs the data that the row is in, and data need a row: --row 3 new.csv"),
        (("new.csv",), "--row needs the data that the row is in"),
        (("--row", "0", "new.csv"), "--row must be at least 1, not 0"),
        (("--row", "101", "new.csv"), "there is no row 101 in new.csv, which has 100"),
        (("--top", "0"), "--top must be a whole number of at least 1, not 0"),
        (("--format", "csv"), "--format is for data; leave it out, or say --row and the data that it is in"),
        (("--html", "nix/page.html"), "nix"),
        (("--html", "reviews.model"), "reviews.model is what is read; name another file to be written"),
    ],
)
def test_explain_says_what_is_wrong(arguments, sentence, run):
    assert sentence in run("explain", "reviews.model", *arguments, status=2)
    said = run("explain", "people.model", "--text", "x", status=2)
    assert said == "--text is for models of texts, and this one needs age, job, member; give a row: --row 1 DATA"


# ---- predict


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
        "score:happy",
        "score:unhappy",
        "probability:happy",
        "probability:unhappy",
    ]
    assert [(row["label"], row["text"]) for row in found] == [(row["label"], row["text"]) for row in rows]
    assert [row["prediction"] for row in found] == model.predict(texts).tolist()
    assert [float(row["score:unhappy"]) for row in found] == pytest.approx(scores[:, 1].tolist(), rel=1e-6)
    assert [float(row["probability:happy"]) for row in found] == pytest.approx(probabilities[:, 0].tolist(), rel=1e-6)
    lines = run("predict", "l.model", "test.csv", "--keep", "text", "--scores", "--output", "jsonl").splitlines()
    objects = list(map(json.loads, lines))
    assert [one["text"] for one in objects] == texts
    assert [one["scores"]["unhappy"] for one in objects] == pytest.approx(scores[:, 1].tolist(), rel=1e-6)
    assert json.loads(run("predict", "l.model", "new.csv", "--probabilities", "--output", "jsonl").splitlines()[0]) == {
        "prediction": objects[0]["prediction"],
        "probabilities": {
            label: pytest.approx(p, rel=1e-6) for label, p in zip(model.classes, probabilities[0], strict=True)
        },
    }


def test_the_ending_of_the_file_or_what_is_written_says_the_format(run, folder):
    assert run("predict", "reviews.model", "new.csv", "--scores").startswith("prediction,score:happy,score:unhappy\n")
    run("predict", "reviews.model", "new.csv", "-o", "out.jsonl")
    assert json.loads((folder / "out.jsonl").read_text().splitlines()[0])["prediction"] in ("happy", "unhappy")
    for name in ("out", "out.data"):
        run("predict", "reviews.model", "new.csv", "-o", name, *(["--output", "labels"] if "." in name else []))
        assert (folder / name).read_text().splitlines()[0] in ("happy", "unhappy")
    said = run("predict", "reviews.model", "new.csv", "--keep", "all", "-o", "out.txt", status=2)
    assert said == "--output must be csv or jsonl to write columns or scores beside the labels, not labels"


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
    assert said == r"--output must be csv or jsonl for this model: its label 'one\ntwo' has more than one line"
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
        (("new.csv", "new.csv"), "new.csv is no Markone model"),
        (("reviews.model", "nix.csv"), "there is no file nix.csv"),
        (
            ("reviews.model", "new.csv", "--keep", "txt"),
            "--keep must name columns of new.csv, not 'txt'. Did you mean 'text'",
        ),
        (
            ("reviews.model", "new.csv", "--probabilities"),
            "--probabilities are those of models of the rules 'logistic', 'naive-bayes' and 'mlp', and",
        ),
        (("reviews.model", "new.csv", "-o", "nix/out.csv"), "cannot save nix/out.csv"),
        (("reviews.model", "new.csv", "-o", "."), "it is a folder"),
        (("reviews.model", "new.csv", "-o", "x.parquet"), "the name of x.parquet does not say how to write it"),
        (("reviews.model", "new.csv", "-o", "x.csv.gz"), "x.csv.gz is named like a compressed file"),
        (("reviews.model", "new.csv", "-o", "x.csv.gz", "--output", "csv"), "leave out .gz"),
        (("reviews.model", "new.csv", "-o", "new.csv"), "new.csv is what is read; name another file to be written"),
        (("reviews.model", "new.csv", "-o", "reviews.model"), "reviews.model is what is read"),
        (("people.model", "new.csv"), "the model needs the column 'age', and new.csv has text"),
        (("people.model", "-"), "standard input is empty"),
        (("reviews.model", "new.csv", "--output", "xml"), 'Invalid value "xml" for --output'),
        (("reviews.model",), "requires an argument"),
        (("reviews.model", "new.csv", "extra"), "too many words: 'extra' is left over."),
        (("reviews.model", "new.csv", "--threads", "0"), "--threads must be a whole number of at least 1, not 0"),
    ],
)
def test_predict_says_what_is_wrong(arguments, sentence, run, folder):
    before = sorted(path.name for path in folder.iterdir())
    assert sentence in run("predict", *arguments, given=b"", status=2)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_file_of_predictions_appears_whole_or_not_at_all(run, folder):
    (folder / "bad.csv").write_text("text\n" + "a clean room\n" * 60_000 + '"not closed\n')
    (folder / "out.csv").write_text("old")
    assert "bad.csv, line" in run("predict", "reviews.model", "bad.csv", "-o", "out.csv", status=2)
    assert (folder / "out.csv").read_text() == "old"
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    run("predict", "reviews.model", "bad.csv", "-o", "out.csv", "--skip-bad")
    assert run.errors.startswith("markone: 1 bad line was passed over:")
    assert (folder / "out.csv").read_text().count("\n") == 60_001


def test_a_signal_leaves_nothing_half_written(folder, monkeypatch, capsys):
    def terminate(*_):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(output.CsvWriter, "lines", terminate)
    names = sorted(path.name for path in folder.iterdir())
    assert main(["predict", "reviews.model", "new.csv", "-o", "out.csv"]) == 143
    assert sorted(path.name for path in folder.iterdir()) == names
    assert capsys.readouterr() == ("", "")
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
        "import sys; from markone.cli import main; main(['predict', 'reviews.model', 'new.txt', '-o', 'out.txt']);"
        "print(*sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {module.split(".")[0] for module in answer.stdout.split()}
    assert "numpy" in loaded
    assert not loaded & {"pyarrow", "scipy", "sklearn", "pandas", "rich"}


# ---- progress


def test_a_terminal_sees_progress(folder, monkeypatch, capsys):
    from rich.console import Console

    told = io.StringIO()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=told, force_terminal=True, width=100))
    for command in (
        [*TRAIN],
        ["evaluate", "reviews.model", "test.csv"],
        ["predict", "l.model", "new.csv", "-o", "o.csv"],
    ):
        told.truncate(0)
        assert main([*command, "--quiet"]) == 0
        assert told.getvalue() == ""
        assert main(command) == 0
        assert "rows" in told.getvalue()
    assert main(["predict", "l.model", "new.csv"]) == 0


def test_the_bar_shows_the_share_where_it_is_known():
    from markone.learning.progress import Bar

    bar = Bar()
    bar.read(100)
    [task] = bar._progress.tasks
    assert task.total is None
    bar.read(200, 0.25)
    assert (task.total, task.completed) == (1.0, 0.25) and task.fields["speed"].startswith("200 rows, ")
    bar.close()


def test_the_bar_shows_the_last_pass_and_does_not_scroll(capsys):
    from markone.learning.progress import Bar
    from markone.model.history import Pass

    bar = Bar()
    bar.start(rows=10, epochs=200)
    for epoch in (1, 2):
        bar.finish_pass(Pass(epoch, 1234, 5, 0.5, 1.0, 0.1, holdout_last=0.875))
    [task] = bar._progress.tasks
    assert task.description == "pass 3 of 200, last 1,234 wrong, 87.5% held out"
    bar.close()
    assert "mistakes" not in capsys.readouterr().err


# ---- output


def test_kept_columns_never_share_a_name_with_ours(run, folder):
    (folder / "a.csv").write_text('text,scores,probabilities,prediction,"c\rd"\na clean room,1,2,3,4\n')
    run("predict", "l.model", "a.csv", "--keep", "all", "--scores", "--probabilities", "-o", "a.jsonl")
    pairs = json.loads((folder / "a.jsonl").read_text(), object_pairs_hook=list)
    names = [name for name, _ in pairs]
    assert names[-3:] == ["prediction_", "scores_", "probabilities_"] and len({*names}) == len(names) == 8
    run("predict", "l.model", "a.csv", "--keep", "all", "-o", "b.csv")
    [row] = rows_in(folder / "b.csv")
    assert row["c\rd"] == "4" and b'"c\rd"' in (folder / "b.csv").read_bytes()


def test_off_a_terminal_names_are_not_cut(run, folder, monkeypatch):
    name = "a long name of a feature " * 4 + "which ends here"
    (folder / "a.jsonl").write_text("".join(json.dumps({name: i % 2, "y": f"l{i % 2}"}) + "\n" for i in range(8)))
    run("train", "a.jsonl", "--target", "y", "--quiet")
    assert name not in run("explain", "a.model")
    monkeypatch.delenv("COLUMNS")
    assert name in run("explain", "a.model")


def test_numbers_are_written_in_digits_that_give_the_same_numbers_back():
    import numpy as np

    values = np.array([[0.1, -1e-30], [3e38, 1 / 3]], np.float32)
    digits = output.in_digits(values)
    assert [[np.float32(text) for text in column] for column in digits] == values.T.tolist()
    with pytest.raises(DataError, match="beyond all numbers"):
        output.in_digits(np.array([[np.inf]], np.float32))


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "reviews.model", "parts/*.csv", "-o", "parts/a.csv"),
        ("predict", "reviews.model", "parts", "-o", "parts/a.csv"),
        ("train", "parts/*.csv", "--target", "label", "-o", "parts/a.csv"),
        ("train", "parts", "--target", "label", "-o", "parts/a.csv"),
        ("train", "parts/a.csv", "--target", "label", "--features", "spec.toml", "-o", "spec.toml"),
    ],
)
def test_nothing_that_a_pattern_or_a_folder_reads_is_written_over(run, folder, words):
    run(*TRAIN, "--quiet")
    (folder / "parts").mkdir()
    rows = (folder / "reviews.csv").read_text()
    (folder / "parts" / "a.csv").write_text(rows)
    (folder / "spec.toml").write_text("unit = true\n")
    assert "is what is read; name another file" in run(*words, status=2)
    assert (folder / "parts" / "a.csv").read_text() == rows and (folder / "spec.toml").read_text() == "unit = true\n"


def test_a_model_can_be_replaced_by_what_learns_on_from_it(run, folder):
    run(*TRAIN, "--quiet")
    run("train", "reviews.csv", "--target", "label", "--from", "reviews.model", "-o", "reviews.model", "--quiet")
    assert "right" in run("evaluate", "reviews.model", "reviews.csv")


def test_a_terminal_of_one_column_is_no_reason_to_draw_for_ever(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1")
    assert "--target" in run("train", "--help")


def test_a_huge_count_is_refused(run, folder):
    (folder / "huge.toml").write_text("[text]\nmin_count = 9223372036854775807\n")
    assert "min_count must be a whole number from 1 to" in run(*TRAIN, "--features", "huge.toml", status=2)
