"""`markone train`: what it prints, writes and refuses."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import markone
from commands import ROWS, TRAIN, rows_in
from markone.cli import main, messages, training
from markone.errors import DataError, Setting, SettingsError, Terminated


def test_train_says_how_much_a_final_model_would_not_have(run, monkeypatch):
    assert "--final" not in run(*TRAIN)
    monkeypatch.setattr("markone.cli.report.MUCH", 1000)
    assert re.search(r"Saved reviews.model, .* of it are only for --resume; --final leaves them out\.", run(*TRAIN))
    assert "--final leaves" not in run(*TRAIN, "--final")


def test_train_says_what_it_read_and_learned_on_one_screen(run, folder):
    (folder / "reviews.csv").write_text((folder / "reviews.csv").read_text() + ",no label here\n1,2,3\n4,5,6\n")
    text = run(*TRAIN, "--skip-bad")
    lines = text.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 90
    assert lines[0] == f"Read {ROWS + 1:,} rows from reviews.csv: 1 text (text)."
    assert lines[1] == "  1 row has no label and cannot be used."
    assert lines[2] == "  2 bad lines were skipped:"
    assert lines[3].startswith("    reviews.csv, line ") and "there are 3 fields instead of 2" in lines[3]
    assert re.match(r"Learned 2 classes of label from 950 rows \(mira, [\d,]+ features\)\.", lines[5])
    assert lines[6] == "  Positive class: happy."
    assert re.match(r"  10 passes: \d+ mistakes in the first, \d+ in the last\.", lines[7])
    assert re.match(r"  Accuracy \d\d\.\d% on 50 held-out rows \(\d+\.\d% for the most frequent class\)\.", lines[8])
    assert {line.split()[0] for line in lines[10:12]} == {"happy", "unhappy"}
    assert re.match(r"Saved reviews\.model, [\d.]+ kB\.", lines[12])
    assert lines[13:] == [
        "Next:  markone evaluate reviews.model TEST.csv",
        '       markone explain reviews.model --text "..."',
    ]


def test_train_prints_json_and_nothing_else(run, folder):
    facts = json.loads(run(*TRAIN, "--json", "--epochs", "3"))
    assert facts["model"] == "reviews.model" and facts["bytes"] == os.path.getsize("reviews.model")
    assert (facts["rows"], facts["held_out"], facts["unlabelled"], facts["bad_lines"]) == (950, 50, 0, 0)
    assert facts["columns"] == {"text": "text"} and facts["classes"] == ["unhappy", "happy"]
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
    assert text.startswith(
        "Read 30 rows from more.data:\n  1 numeric: age.\n  1 categorical: job.\n  1 boolean: member.\n"
    )
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


@pytest.mark.filterwarnings("default:renamed.csv lacks the column:markone.MarkoneWarning")
def test_columns_that_are_not_used_are_named(run, folder):
    rows = [{"a": i % 2, "b": None, "c": [i], "d": i, "y": "no" if i % 2 else "yes"} for i in range(8)]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("train", "a.jsonl", "--target", "y", "--kinds", "d=ignore")
    text = run(*command)
    assert text.startswith("Read 8 rows from a.jsonl: 1 numeric (a).\n")
    assert "\n  Not used: b (no value in the first 8 rows), c (lists or objects), d (as you\n    said).\n" in text
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
    assert run(*TRAIN, "-o", "pipe", status=2).startswith("pipe is a pipe, and a model must be saved in a file")
    text = run(*TRAIN, "-o", "/dev/null")
    assert text.endswith("The model was not saved: /dev/null is not a regular file.\n")


def test_a_training_that_has_all_its_passes_says_so(run):
    run(*TRAIN, "--epochs", "5", "--quiet")
    for epochs in ("3", "5"):
        run(*TRAIN, "--epochs", epochs, "--resume")
        assert run.errors.startswith("markone: the model already has 5 passes, so none was added; --epochs is")
    run(*TRAIN, "--epochs", "7", "--resume")
    assert run.errors == ""


def test_nothing_is_strong_where_nothing_was_learned(run, folder):
    (folder / "a.libsvm").write_text("1 1:1\n2 1:1\n" * 3)
    text = run("train", "a.libsvm", "--penalty", "l1", "--strength", "1000", "--rule", "logistic")
    assert text.startswith("The model is no better than always predicting the most frequent class: 50.0%\n")
    assert "\nRead 6 rows from a.libsvm: rows of features.\n" in text
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
    assert "load the model in Python with the function: markone.load(path, functions={'size': ...})" in said


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
        (("train",), "no file was given; name a file, as in: markone train reviews.csv --target label"),
        (
            ("train", "reviews.csv"),
            "there is nothing to predict: the columns of reviews.csv are label, text; name the column with the labels, "
            "for example --target label",
        ),
        (("train", "review.csv"), r"there is no file review.csv\. Did you mean '(reviews|new|more)\.csv'\?"),
        (
            ("train", "reviews.csv", "--target", "lable"),
            "--target must be a column of reviews.csv, not 'lable'. It has 'label', 'text'. Did you",
        ),
        (("train", "new.txt"), "the texts in new.txt have no labels; each line needs a label, a tab and a text"),
        (
            ("train", "-", "--target", "y"),
            "--format must be set for standard input, for instance --format csv",
        ),
        (
            (*TRAIN, "--eta", "1"),
            "--eta is not used by the rule 'mira', which finds its own step; leave it out, or set C",
        ),
        ((*TRAIN, "--epochs", "0"), "--epochs must be a whole number of at least 1, not 0"),
        ((*TRAIN, "--epochs", "1.5"), "Invalid value for --epochs: must be a whole number, not '1.5'"),
        ((*TRAIN, "--C", "x"), "Invalid value for --C: must be a number, not 'x'"),
        ((*TRAIN, "--rule", "prceptron"), 'Invalid value "prceptron" for --rule.* Did you mean "perceptron"?'),
        ((*TRAIN, "--epoch", "3"), r"Unknown option: --epoch. Did you mean --epochs\?"),
        ((*TRAIN, "--format", "cvs"), 'Invalid value "cvs" for --format.* Did you mean "(csv|tsv)"'),
        ((*TRAIN, "--kinds", "text"), "--kinds must be columns with their kinds, such as zip=text, not 'text'"),
        ((*TRAIN, "--kinds", "text=txet"), "--kinds text must be one of .*, not 'txet'. Did you mean 'text'"),
        ((*TRAIN, "--kinds", "txt=text"), "--kinds are for columns of reviews.csv, not for 'txt'"),
        ((*TRAIN, "--memory", "much"), "--memory must be a number of bytes"),
        ((*TRAIN, "--threads", "0"), "--threads must be a whole number of at least 1, not 0"),
        ((*TRAIN, "--minutes", "0"), "--minutes must be a number greater than 0, not 0"),
        ((*TRAIN, "--features", "nix.toml"), "nix.toml"),
        ((*TRAIN, "--from", "nix.model"), "there is no model nix.model"),
        ((*TRAIN, "--encoding", "klingon"), "--encoding must be the name of an encoding .*, not 'klingon'"),
        ((*TRAIN, "--no-header"), "--target must be a column of reviews.csv, not 'label'. It has 'c0', 'c1'"),
        ((*TRAIN, "-o", "nix/a.model"), "the folder nix for the model does not exist"),
        ((*TRAIN, "-o", "."), r"\. is a folder; name the file for the model with -o"),
        ((*TRAIN, "-o", "reviews.csv"), "reviews.csv is an input file; name another file for the output"),
        (
            (*TRAIN, "--longest-line", "10"),
            r"the line is longer than 10 bytes.*allow them with --longest-line",
        ),
    ],
)
def test_train_says_what_is_wrong(arguments, sentence, run, folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert re.match(f".*{sentence}", run(*arguments, status=2))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_plain_quotes_and_a_first_row_that_is_an_example_are_recognised(run, folder):
    (folder / "plain.tsv").write_text('ham\tok\nham\t"see" you\nspam\twin\n')
    assert run("train", "plain.tsv", status=2).endswith(
        "; if quotes are plain characters, set --quote none; --skip-bad skips such rows"
    )
    said = run("train", "plain.tsv", "--quote", "None", status=2)
    assert "no column of plain.tsv has been named; the first row, 'ham', 'ok', looks like an example" in said
    assert "--no-header" in said


def test_advice_is_in_the_words_of_the_command_line(run, folder):
    (folder / "bad.csv").write_text("n,y\n" + "1,a\n2,b\n" * 3000 + "x,a\n")
    assert run("train", "bad.csv", "--target", "y", status=2).endswith("; --skip-bad skips such rows")
    (folder / "numbers.csv").write_text("1,2\n3,4\n")
    said = run("train", "numbers.csv", "--target", "y", status=2)
    assert said.endswith("set --no-header, or --columns a,b,c with names; if it is one, set --header")
    assert messages.sentence(SettingsError("text.words", "must be x")) == "text.words must be x"
    advice = (Setting("from_model"), ", ", Setting("memory", ...), ", ", Setting("quote", None))
    error = DataError("the file skip_bad.csv says header=False", advice=("say ", *advice))
    assert str(error) == "the file skip_bad.csv says header=False; say from_model, memory=..., quote=None"
    said = messages.sentence(error, "train")
    assert said == "the file skip_bad.csv says header=False; say --from, --memory ..., --quote none"
    signs = (Setting("separator", "\t"), " ", Setting("target", "my class"), " ", Setting("hidden", (64, 32)))
    assert messages.sentence(DataError(signs), "train") == "--separator tab --target 'my class' --hidden 64,32"
    assert messages.sentence(DataError(Setting("target", ...)), "tag run") == "target=..."


def test_a_file_that_may_not_be_written_is_told_before_the_work(run, folder, monkeypatch):
    monkeypatch.setattr(training.os, "access", lambda path, mode: False)
    assert run(*TRAIN, status=2).startswith("you have no permission to write reviews.model")


# ---- interrupted


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_an_interruption_while_reading_saves_nothing(error, status, folder, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise error

    monkeypatch.setattr("markone.data.tables.TableSource.batches", interrupt)
    assert main([*TRAIN, "-o", "other.model"]) == status
    printed, told = capsys.readouterr()
    assert printed == "" and told.startswith(
        "markone: interrupted; no checkpoint was saved in other.model.checkpoint: "
    )
    assert not Path("other.model").exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_the_training_and_says_how_to_go_on(number, status, folder, tmp_path):
    command = [sys.executable, "-m", "markone", *TRAIN, "--epochs", "30000", "-o", "my model", "--checkpoint"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + 60
            while not Path("my model.checkpoint").exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == status and out == ""
    assert "a checkpoint is saved in my model.checkpoint" in err
    assert err.count("\n") == 1
    line = err.strip().partition("To resume: ")[2]
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
    assert (
        run.errors
        == "markone: there is no other.model.checkpoint to resume from; the training starts from the beginning\n"
    )


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
    assert "is an input file; name another file" in run(*words, status=2)
    assert (folder / "parts" / "a.csv").read_text() == rows and (folder / "spec.toml").read_text() == "unit = true\n"


def test_a_model_can_be_replaced_by_what_learns_on_from_it(run, folder):
    run(*TRAIN, "--quiet")
    run("train", "reviews.csv", "--target", "label", "--from", "reviews.model", "-o", "reviews.model", "--quiet")
    assert "right" in run("evaluate", "reviews.model", "reviews.csv")


def test_a_huge_count_is_refused(run, folder):
    (folder / "huge.toml").write_text("[text]\nmin_count = 9223372036854775807\n")
    assert "min_count must be a whole number from 1 to" in run(*TRAIN, "--features", "huge.toml", status=2)
