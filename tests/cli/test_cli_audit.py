"""`markone audit`."""

from __future__ import annotations

import csv
import json

import pytest

from commands import rows_in


@pytest.fixture
def doubted(folder):
    """Reviews, of which four have the wrong label, and one is there twice."""
    rows = rows_in(folder / "reviews.csv")
    for row in rows[10:14]:
        row["label"] = {"good": "bad", "bad": "good"}.get(row["label"], row["label"])
    labels = sorted({row["label"] for row in rows})
    rows[10]["label"] = labels[rows[10]["label"] == labels[0]]
    rows.append(rows[0])
    with (folder / "doubted.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return "doubted.csv", len(rows)


def test_audit_reports_and_writes_findings(run, folder, doubted):
    name, rows = doubted
    said = run("audit", name, "--target", "label", "-o", "findings.csv")
    assert f"{name}, {rows:,} rows with labels." in said and "repeat another row" in " ".join(said.split())
    written = rows_in(folder / "findings.csv")
    assert [*written[0]] == ["problem", "row", "label", "suggestion", "doubt", "other", "similarity", "text"]
    repeats = [one for one in written if one["problem"] == "repeat"]
    assert (repeats[-1]["row"], repeats[-1]["other"]) == (str(rows), "1")
    run("audit", name, "--target", "label", "-o", "findings.jsonl")
    lines = [json.loads(line) for line in (folder / "findings.jsonl").read_text().splitlines()]
    assert [str(one["row"]) for one in lines] == [one["row"] for one in written]
    run("audit", name, "--target", "label", "-o", "findings", "--output", "jsonl")
    assert (folder / "findings").read_text() == (folder / "findings.jsonl").read_text()
    facts = json.loads(run("audit", name, "--target", "label", "--json"))
    assert facts["findings"] == lines and facts["bad_lines"] == 0


def test_audit_against_a_test_file(run, folder, doubted):
    name, _ = doubted
    rows = rows_in(folder / "reviews.csv")
    (folder / "again.csv").write_text("text\n" + f'"{rows[2]["text"]}"\nsomething never written before by anyone\n')
    facts = json.loads(run("audit", name, "--target", "label", "--against", "again.csv", "--json"))
    assert [(one["row"], one["other"]) for one in facts["findings"] if one["problem"] == "leak"] == [(1, 3)]
    assert facts["against"] == "again.csv" and facts["tested"] == 2
    said = run("audit", name, "--target", "label", "--against", "test.csv")
    assert "test.csv" in said


def test_audit_reads_the_test_file_like_the_training_file(run, folder):
    lines = [f"{'ab'[i % 2]};{i};x{i}" for i in range(60)]
    (folder / "train.dat").write_text("\n".join(lines))
    (folder / "test.dat").write_text("\n".join([lines[5], "a;99;y"]))
    options = ("--format", "csv", "--separator", ";", "--no-header")
    facts = json.loads(run("audit", "train.dat", "--target", "c0", *options, "--against", "test.dat", "--json"))
    assert [(one["row"], one["other"]) for one in facts["findings"] if one["problem"] == "leak"] == [(1, 6)]


def test_audit_refuses_with_a_sentence(run, folder, doubted):
    name, _ = doubted
    audit = ("audit", name, "--target", "label")
    assert run("audit", status=2).startswith("no file was given")
    assert "is an input file" in run(*audit, "-o", name, status=2)
    assert "is an input file" in run(*audit, "--against", "test.csv", "-o", "test.csv", status=2)
    assert "--output is the format of a file" in run(*audit, "--output", "csv", status=2)
    assert "--folds must be a whole number" in run(*audit, "--folds", "1", status=2)
    assert "there is no file none.csv" in run(*audit, "--against", "none.csv", status=2)
    assert not (folder / "findings.csv").exists()


def test_rows_without_importance_are_not_trained_on(run, folder):
    """Half of the rows say the opposite of the others, but weigh nothing."""
    lines = ["text,label,weight"]
    for i in range(120):
        good = i % 2 == 0
        wrong = i % 4 >= 2
        lines.append(f"{'good' if good else 'bad'} thing {i},{'p' if good != wrong else 'n'},{0 if wrong else 1}")
    (folder / "weighted.csv").write_text("\n".join(lines) + "\n")
    audit = ("audit", "weighted.csv", "--target", "label", "--json")
    found = json.loads(run(*audit, "--importance", "weight"))
    listed = {one["row"] for one in found["findings"] if one["problem"] == "label"}
    wrong = {i + 1 for i in range(120) if i % 4 >= 2}
    assert len(listed) >= 30 and listed <= wrong
    plain = json.loads(run(*audit, "--kinds", "weight=ignore"))
    assert not {one["row"] for one in plain["findings"] if one["problem"] == "label"} <= wrong
