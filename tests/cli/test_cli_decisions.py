"""`markone train --threshold` and `--abstain`, and what the other commands then show."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def mails(folder):
    """Mails of which some are urgent, which words tell only now and then."""
    random = np.random.default_rng(0)
    words = np.array([*"abcdefgh"])
    for name, rows in (("mails.csv", 3000), ("new-mails.csv", 2000)):
        urgent = random.random(rows) < 0.15
        texts = [" ".join(random.choice(words[:6] if one else words, 5)) for one in urgent]
        labels = np.where(urgent, "urgent", "usual")
        (folder / name).write_text("text,kind\n" + "".join(f"{a},{b}\n" for a, b in zip(texts, labels, strict=True)))
    return folder


def test_a_threshold_is_chosen_kept_and_shown(mails, run):
    wanted = ("--positive", "urgent", "--threshold", "f1", "-o", "t.model")
    report = " ".join(run("train", "mails.csv", "--target", "kind", *wanted).split())
    assert (
        "urgent is predicted from a score of -" in report
        and "on 3,000 rows, each scored by a model that was not trained" in report
    )
    run("train", "mails.csv", "--target", "kind", "--positive", "urgent", "-o", "plain.model", "--quiet")
    plain, chosen = (json.loads(run("evaluate", f"{name}.model", "new-mails.csv", "--json")) for name in ("plain", "t"))
    assert plain["threshold"] is None and chosen["threshold"]["aim"] == "f1"
    f1 = [one["classes"][1]["f1"] for one in (plain, chosen)]
    assert f1[1] > f1[0] + 0.05
    assert "urgent is predicted from this score on, for f1" in run("evaluate", "t.model", "new-mails.csv")
    said = run("predict", "t.model", "new-mails.csv").split()
    assert said.count("urgent") > run("predict", "plain.model", "new-mails.csv").split().count("urgent")
    assert '"threshold": {"aim": "f1"' in run(
        "train", "mails.csv", "--target", "kind", "--threshold", "f1", "-o", "j.model", "--json"
    )


def test_a_rare_class_that_is_hardly_found_is_named_with_what_to_set(mails, run):
    run("train", "mails.csv", "--target", "kind", "-o", "plain.model", "--quiet")
    said = " ".join(run("evaluate", "plain.model", "new-mails.csv").split())
    advice = "--positive urgent --threshold f1"
    assert said.endswith(f"cases. To find it more often, train with {advice}.") and "urgent is found in " in said
    report = run("train", "mails.csv", "--target", "kind", "-o", "plain.model", "--test", "new-mails.csv")
    assert advice in " ".join(report.split())
    run("train", "mails.csv", "--target", "kind", *advice.split(), "-o", "b.model", "--quiet")
    found = json.loads(run("evaluate", "b.model", "new-mails.csv", "--json"))["classes"][1]
    assert found["class"] == "urgent" and found["recall"] > 0.5
    assert "To find it" not in run("evaluate", "b.model", "new-mails.csv")


def test_class_weights_are_advised_where_they_help(folder, run):
    random = np.random.default_rng(0)
    for name, rows in (("points.csv", 1500), ("new.csv", 1500)):
        kinds = random.choice(3, rows, p=[0.6, 0.3, 0.1])
        points = random.normal(size=(rows, 2)) + 1.2 * np.array([[0, 0], [1, 0], [0, 1]])[kinds]
        lines = [f"{x:.3f},{y:.3f},k{kind}\n" for (x, y), kind in zip(points, kinds, strict=True)]
        (folder / name).write_text("x,y,kind\n" + "".join(lines))
    run("train", "points.csv", "--target", "kind", "-o", "plain.model", "--quiet")
    said = " ".join(run("evaluate", "plain.model", "new.csv").split())
    assert said.endswith("To find it more often, train with --class-weight balanced.")
    run("train", "points.csv", "--target", "kind", "--class-weight", "balanced", "-o", "b.model", "--quiet")
    before, after = (json.loads(run("evaluate", f"{name}.model", "new.csv", "--json")) for name in ("plain", "b"))
    assert after["classes"][2]["recall"] > before["classes"][2]["recall"] + 0.2


def test_abstention_leaves_lines_empty(mails, run):
    report = run("train", "mails.csv", "--target", "kind", "--abstain", "8%", "-o", "a.model")
    assert "at most 8.00% of the predictions are wrong" in " ".join(report.split())
    lines = run("predict", "a.model", "new-mails.csv").split("\n")[:-1]
    assert len(lines) == 2000 and 0 < lines.count("") < 2000 and {*lines} <= {"", "usual", "urgent"}
    rows = run("predict", "a.model", "new-mails.csv", "--output", "jsonl", "--probabilities").splitlines()
    assert [json.loads(row)["prediction"] or "" for row in rows] == lines
    table = run("predict", "a.model", "new-mails.csv", "--output", "csv", "--scores").splitlines()
    assert [row.split(",")[0] for row in table[1:]] == lines
    found = json.loads(run("evaluate", "a.model", "new-mails.csv", "--json"))
    assert found["abstained"] == lines.count("") and found["abstention"]["error"] == 0.08
    assert "without a prediction, for an error of at most 8.00%" in run("evaluate", "a.model", "new-mails.csv")
    number = lines.index("") + 1
    assert "makes no prediction" in run("explain", "a.model", "--row", str(number), "new-mails.csv")


def test_wrong_wishes_get_a_sentence(mails, run):
    def said(*options):
        return run("train", "mails.csv", "--target", "kind", "-o", "w.model", *options, status=2)

    assert "--threshold must be a probability between 0 and 1, f1" in said("--threshold", "best")
    assert "--abstain must be the largest share of wrong predictions" in said("--abstain", "many")
    assert "--threshold is chosen for rows as they are" in said("--threshold", "f1", "--class-weight", "balanced")
    assert "--threshold needs data" in run("train", "--start", "spam.json", "--threshold", "f1", status=2)
    assert not (mails / "w.model").exists()
