"""The commands, with rows that have several labels."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path
from typing import Any

import pytest

WORDS = {"film": ["actor", "screen"], "food": ["bread", "sauce"], "sports": ["goal", "team"]}


@pytest.fixture
def articles(folder: Path) -> Path:
    for name, seed in (("train", 0), ("test", 1)):
        chance = random.Random(seed)
        rows = []
        for _ in range(300):
            own = [label for label in WORDS if chance.random() < 0.4]
            words = [
                *(chance.choice(WORDS[label]) for label in own for _ in range(2)),
                *chance.choices("abcdefghij", k=8),
            ]
            rows.append((" ".join(words), own))
        (folder / f"{name}.csv").write_text("text,tags\n" + "".join(f"{text},{';'.join(own)}\n" for text, own in rows))
        lines = [" ".join([*(f"__label__{one}" for one in own), text]) for text, own in rows]
        (folder / f"{name}.ft").write_text("\n".join(lines) + "\n")
        objects = [json.dumps({"text": text, "tags": own}) for text, own in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(objects) + "\n")
    return folder


CSV = ("train.csv", "--target", "tags", "--kinds", "tags=set")


def test_every_format_trains_the_same_weights(articles: Path, run: Any) -> None:
    said = run("train", *CSV, "-o", "csv.model", "--test", "test.csv")
    assert "Learned 3 labels of tags from 300 rows" in said and "Micro F1 100.0%, macro F1 100.0% on 300 rows" in said
    run("train", "train.jsonl", "--target", "tags", "-o", "jsonl.model", "--quiet")
    run("train", "train.ft", "--kinds", "label=set", "-o", "ft.model", "--quiet")
    results = [
        json.loads(run("evaluate", f"{name}.model", f"test.{name}", "--json")) for name in ("csv", "jsonl", "ft")
    ]
    assert results[0]["micro_f1"] == 1 and results[0] == results[1] == results[2]
    predicted = [run("predict", f"{name}.model", f"test.{name}") for name in ("csv", "jsonl", "ft")]
    assert predicted[0] == predicted[1] == predicted[2]
    lines = (articles / "test.csv").read_text().splitlines()[1:]
    assert predicted[0].splitlines() == [line.partition(",")[2] for line in lines]


def test_predictions_are_written_as_lists(articles: Path, run: Any) -> None:
    run("train", *CSV, "-o", "a.model", "--quiet")
    run("predict", "a.model", "test.csv", "-o", "a.csv", "--keep", "text", "--scores", "--probabilities")
    head, first = (articles / "a.csv").read_text().splitlines()[:2]
    groups = [f"{group}:{label}" for group in ("score", "probability") for label in WORDS]
    assert head == ",".join(["text", "prediction", *groups]) and len(first.split(",")) == 8
    labels = [label for label in WORDS if label in first.split(",")[1]]
    said = json.loads(run("predict", "a.model", "test.csv", "--output", "jsonl", "--scores").splitlines()[0])
    assert said["prediction"] == labels and [*said["scores"]] == [*WORDS]
    # What was predicted is read as labels again.
    again = json.loads(
        run("evaluate", "a.model", "a.csv", "--target", "prediction", "--kinds", "prediction=set", "--json")
    )
    assert again["accuracy"] == 1


def test_labels_with_signs_between_items_are_written_as_json(folder: Path, run: Any) -> None:
    rows = [{"text": "red", "tags": ["a;b", "c"]}, {"text": "blue", "tags": []}] * 30
    (folder / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("train", "odd.jsonl", "--target", "tags", "-o", "odd.model", "--quiet")
    assert run("predict", "odd.model", "odd.jsonl").splitlines()[:2] == ['["a;b", "c"]', "[]"]


def test_explanations_and_reports(articles: Path, run: Any) -> None:
    facts = json.loads(run("train", *CSV, "-o", "a.model", "--json", "--threshold", "f1"))
    assert facts["classes"] == [*WORDS] and [one["threshold"]["aim"] for one in facts["labels"]] == ["f1"] * 3
    said = run("explain", "a.model", "--text", "actor goal")
    assert said.startswith("predictions: film, sports\n") and "prediction: not food" in said
    assert "film is predicted from a score of" in said
    assert "micro F1" in run("evaluate", "a.model", "test.csv")
    assert "features that support food" in run("explain", "a.model")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("train", *CSV, "--tune", "--rule", "naive-bayes"), "--rule is 'naive-bayes', which cannot learn several"),
        (("train", *CSV, "--rule", "mlp"), "--rule is 'mlp', which cannot learn several labels"),
        (("train", *CSV, "--abstain", "1%"), "--abstain is for rows with one label each"),
        (("train", *CSV, "--class-weight", "filn=2"), "--class-weight names 'filn', which is not among the classes"),
        (("train", "train.ft"), "a second label, '__label__food'; --kinds label=set reads lines with several labels"),
        (("validate", *CSV, "--method", "loo"), "--method is 'loo', which is for rows with one label each"),
        (("validate", *CSV, "--plot", "a.svg"), "--plot draws accuracies of classes"),
        (("compare", *CSV, "--plot", "a.svg"), "--plot draws accuracies of classes"),
        (("audit", *CSV), "needs one label for each row"),
        (("certify", *CSV), "needs one label for each row"),
        (("evaluate", "a.model", "test.csv", "--margins"), "this model predicts several labels for each row"),
        (("evaluate", "a.model", "test.csv", "--errors", "3"), "this model predicts several labels for each row"),
        (("explain", "a.model", "--plot", "a.svg"), "this model predicts several labels for each row"),
        (("filter", "a.model", "test.jsonl", "-o", "out"), "must name the label to keep"),
    ],
)
def test_what_is_not_for_several_labels_is_refused(
    words: tuple[str, ...], sentence: str, articles: Path, run: Any
) -> None:
    run("train", *CSV, "-o", "a.model", "--quiet")
    assert sentence in run(*words, status=2)


def test_training_goes_on_and_folds_are_tested(articles: Path, run: Any) -> None:
    run("train", *CSV, "-o", "a.model", "--quiet")
    assert "Learned 3 labels" in run("train", *CSV, "--from", "a.model", "-o", "b.model", "--class-weight", "food=2")
    said = run("validate", *CSV, "--folds", "3")
    assert said.startswith("mira: micro F1 ") and "3 folds" in said and "All tests together" in said
    assert json.loads(run("validate", *CSV, "--folds", "3", "--json"))["rows"] > 0


def test_rules_are_compared_and_settings_are_tuned(articles: Path, run: Any) -> None:
    said = run("compare", *CSV, "--folds", "3", "--html", "a.html")
    assert "7 ways to learn from" in said and "micro F1" in said and "accuracy" not in said
    assert "micro F1" in (articles / "a.html").read_text()
    found = json.loads(run("compare", *CSV, "--folds", "3", "--json"))
    run(*shlex.split(found["command"])[1:], "-o", "b.model", "--quiet")
    said = run("train", *CSV, "--tune", "--rule", "hinge", "-o", "a.model")
    assert "micro F1" in said and "No test data were read." in said and "Learned 3 labels" in said


def test_a_training_is_resumed(articles: Path, run: Any) -> None:
    run("train", *CSV, "-o", "whole.model", "--quiet", "--epochs", "5")
    run("train", *CSV, "-o", "part.model", "--quiet", "--epochs", "2", "--checkpoint")
    run("train", *CSV, "-o", "part.model", "--quiet", "--epochs", "5", "--resume")
    assert (articles / "part.model").read_bytes() == (articles / "whole.model").read_bytes()


def test_labels_are_counted_by_inspect(articles: Path, run: Any) -> None:
    said = run("inspect", *CSV)
    lines = (articles / "train.csv").read_text().splitlines()[1:]
    counts = [sum(label in line.partition(",")[2] for line in lines) for label in WORDS]
    assert "3 classes: " in said and all(
        f"{label} ({count})" in said for label, count in zip(WORDS, counts, strict=True)
    )
    assert "no label" not in said
    assert "3 classes: " in run("inspect", "train.jsonl", "--target", "tags")
