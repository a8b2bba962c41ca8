"""The demo: it runs the commands that it shows, and its table and sentences say what was measured."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import shlex
from pathlib import Path

import pytest

from markone.cli import demo as demo_module
from markone.cli import main
from markone.demo.reviews import COLUMNS, write_reviews

RULES = ("perceptron", "mira", "logistic", "hinge")
ROW = re.compile(r"^ *(\w+) +(last|averaged) +[▁-█]* +([\d. ]+)$", re.MULTILINE)


def rows(output: str) -> dict[tuple[str, str], list[float]]:
    """The table: numbers by rule and kind of weights."""
    return {(rule, weights): [float(n) for n in numbers.split()] for rule, weights, numbers in ROW.findall(output)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


def run_demo(
    folder: Path, *options: str, columns: int = 80, few: bool = False, output: io.TextIOWrapper | None = None
) -> str:
    """What it prints; where its numbers do not matter, of few reviews, which take a fifth of the time."""
    output = output or io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(output):
        patch.chdir(folder)
        patch.setenv("COLUMNS", str(columns))
        if few:
            patch.setattr(demo_module, "TRAINING_REVIEWS", 200)
            patch.setattr(demo_module, "TEST_REVIEWS", 100)
        assert main(["demo", *options]) == 0
    output.seek(0)
    return output.read()


@pytest.fixture(scope="module")
def usual(folder: Path) -> str:
    return run_demo(folder)


def untimed(output: str) -> str:
    """Without the comparison, which tells seconds."""
    before, compared = output.split("$ markone compare ")
    return before + compared[compared.index("\nWhat can be proved about the data?") :]


def test_it_trains_evaluates_explains_compares_and_certifies_from_files(usual: str, folder: Path) -> None:
    commands = [shlex.split(line)[2] for line in usual.splitlines() if line.startswith("$ markone ")]
    of_reviews, of_sentences = ["train", "evaluate", "explain", "compare", "certify"], ["parse", "parse", "explain"]
    assert commands == [*of_reviews, *of_sentences, "train", "evaluate"]
    assert "9 ways to learn from 2,000 rows of 2 classes" in usual and "\nUse " in usual
    reviews, digits = (float(found) for found in re.findall(r"accuracy +([\d.]+)%", untimed(usual)))
    assert reviews > 90 and digits > 90
    assert "prediction: " in usual and "lovely" in usual
    assert "separable: 500 rows" in usual and "a perceptron makes at most" in usual
    [heads_right] = re.findall(r"UAS ([\d.]+) %", usual)
    assert float(heads_right) > 95 and "┴─► guest   NOUN   nsubj" in usual
    assert "'light' depends on 'green' as 'amod'" in usual
    assert {path.name for path in (folder / "markone-demo").iterdir()} == {
        "reviews.csv",
        "new-reviews.csv",
        "reviews.model",
        "sentences.conllu",
        "new-sentences.conllu",
        "sentences.parser",
        "story.txt",
        "digits-images-idx3-ubyte",
        "digits-labels-idx1-ubyte",
        "new-digits-images-idx3-ubyte",
        "new-digits-labels-idx1-ubyte",
        "digits.model",
    }


def test_it_ends_with_commands_that_run(
    usual: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    commands = usual.split("Try next:\n\n")[1].splitlines()
    assert len(commands) == 5
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "markone" and main(arguments) == 0, command
        assert capsys.readouterr().out


def test_every_learner_is_shown_twice(usual: str) -> None:
    table = rows(usual)
    assert list(table) == [(rule, weights) for rule in RULES for weights in ("last", "averaged")]
    for first, second, fifth, final, best in table.values():
        assert best >= max(first, second, fifth, final)
        assert 85 < final <= 100


def test_the_table_shows_what_training_measured(usual: str) -> None:
    from sklearn.datasets import load_digits

    from markone.data.blocks import Block
    from markone.learning.online import Linear
    from markone.learning.passes import teach
    from markone.model.settings import Settings

    X, y = load_digits(return_X_y=True)
    linear = Linear(Settings(rule="mira", epochs=12, holdout=0.3), features=64, classes=10)
    history = teach(linear, Block.of(X / 16, y))
    expected = [round(100 * (history[epoch - 1].holdout or 0), 1) for epoch in (1, 2, 5, 12)]
    assert rows(usual)["mira", "averaged"][:4] == expected


def test_the_sentences_follow_from_the_table(usual: str) -> None:
    table = rows(usual)
    text = " ".join(usual.split())
    for rule in RULES:
        gain = table[rule, "averaged"][3] - table[rule, "last"][3]
        assert (f"{abs(gain):.1f} ({rule})" in text) == (abs(gain) > 0.05)
    top = max(numbers[3] for numbers in table.values())
    ending = text[text.index(f"The best accuracy after the last pass is {top}%, with ") : text.index("Try next:")]
    for (rule, weights), numbers in table.items():
        assert (f"{rule} ({weights})" in ending) == (numbers[3] == top)


def test_it_says_when_averaging_lowers_accuracy() -> None:
    curves = [
        demo_module.Curve("mira", "last", [90.0, 95.0]),
        demo_module.Curve("mira", "averaged", [93.0, 94.0]),
        demo_module.Curve("hinge", "last", [91.0, 95.0]),
        demo_module.Curve("hinge", "averaged", [91.0, 95.0]),
    ]
    assert list(demo_module.conclude(curves)) == [
        "Averaging lowered the accuracy after the last pass by 1.0 (mira) points.",
        "From one pass to the next, accuracy moved by up to 5.0 points with the last weights, "
        "by up to 4.0 with the averaged ones.",
        "The best accuracy after the last pass is 95.0%, with mira (last), hinge (last) and hinge (averaged).",
    ]


def test_it_repeats_itself_and_its_options_change_it(tmp_path: Path) -> None:
    usual = untimed(run_demo(tmp_path, few=True))
    elsewhere = run_demo(tmp_path, "--seed", "0", "--epochs", "12", "--folder", "somewhere-x", few=True)
    assert untimed(elsewhere.replace("somewhere-x", "markone-demo")) == usual
    other = untimed(run_demo(tmp_path, "--seed", "1", "--epochs", "2", "--folder", "other", few=True))
    assert all(len(numbers) == 3 for numbers in rows(other).values())
    assert other.split("Four rules")[0].replace("other", "markone-demo") != usual.split("Four rules")[0]


def test_it_fits_into_80_columns_without_colours(usual: str) -> None:
    assert "\x1b" not in usual
    assert all(
        len(line) <= 80 for line in usual.splitlines() if not line.lstrip().startswith(("$", "markone ", "Next"))
    )
    assert set(demo_module.BARS) & set(usual)


def test_it_needs_neither_width_nor_unicode(usual: str, tmp_path: Path) -> None:
    narrow = run_demo(tmp_path, columns=60, few=True)
    assert rows(narrow) == rows(usual)
    assert not set(demo_module.BARS) & set(narrow)
    narrower = run_demo(tmp_path, columns=40, few=True).split("Four rules")[1]
    assert rows(narrower) == {key: numbers[-2:] for key, numbers in rows(usual).items()}
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict", write_through=True)
    run_demo(tmp_path, few=True, output=plain)
    assert b"The best accuracy" in plain.buffer.getvalue()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["demo", "--folder", str(tmp_path / "file")]) == 2
    assert "cannot write to the folder" in capsys.readouterr().err


def test_reviews_are_of_both_kinds_and_the_same_for_the_same_seed(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("two", 2)):
        write_reviews(tmp_path / name, 300, seed)
    one, again, two = ((tmp_path / name).read_text() for name in ("one", "again", "two"))
    assert one == again != two
    table = list(csv.DictReader(one.splitlines()))
    assert tuple(table[0]) == COLUMNS and len(table) == 300
    assert 100 < sum(row["guest"] == "happy" for row in table) < 200
    assert any("not" in row["review"] for row in table)


def test_sparkline_has_a_bar_for_each_pass_up_to_a_limit() -> None:
    assert demo_module.sparkline([80, 85, 90], low=80, high=90) == "▁▅█"
    assert demo_module.sparkline([90, 90], low=90, high=90) == "▁▁"
    many = demo_module.sparkline(range(100), low=0, high=99)
    assert len(many) == demo_module.MOST_BARS
    assert many == "".join(sorted(many))
    assert many[-1] == "█"
