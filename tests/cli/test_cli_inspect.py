"""`markone inspect`, and what `markone train` says about columns."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def customers(folder):
    def row(i: int) -> str:
        return f"{7000 + i},{20 + i % 37},{'north' if i % 3 else 'south'},{'late' if i % 2 else 'ok'},{i % 2}"

    (folder / "customers.csv").write_text("id,age,region,payment,churn\n" + "\n".join(map(row, range(200))) + "\n")
    return "customers.csv"


def test_inspect_shows_columns_and_remarks(run, customers):
    said = run("inspect", customers, "--target", "churn")
    assert "age      numeric" in said and "whole numbers; becomes a number" in said
    text = " ".join(said.split())
    assert "id is left out: an id, by its name: 200 different numbers in 200 rows." in text
    assert "payment alone predicts churn in 100.0% of the rows. Is it known before the outcome?" in text
    assert "--kinds payment=ignore" in text


def test_inspect_can_write_json(run, customers):
    facts = json.loads(run("inspect", customers, "--target", "churn", "--kinds", "payment=ignore", "--json"))
    assert [column["kind"] for column in facts["columns"]] == ["ignored", "numeric", "categorical", "ignored", "target"]
    assert [one["about"] for one in facts["remarks"]] == ["different labels", "id"] and facts["classes"] == {
        "0": 100,
        "1": 100,
    }


def test_inspect_reads_several_files_and_pipes(run, folder, customers):
    text = (folder / customers).read_text()
    (folder / "more.csv").write_text(text)
    assert json.loads(run("inspect", customers, "more.csv", "--json"))["rows"] == 400
    assert json.loads(run("inspect", "-", "--format", "csv", "--json", given=text))["rows"] == 200
    assert run("inspect", status=2).startswith("no file was given")


def test_train_says_the_same_in_short(run, customers):
    train = ("train", customers, "--target", "churn", "-o", "customers.model")
    lines = run(*train).splitlines()
    columns = ["  1 numeric: age.", "  2 categorical: region, payment."]
    assert lines[:3] == ["Read 200 rows from customers.csv:", *columns]
    assert "  Not used: id (an id, by its name: 200 different numbers in 200 rows)." in lines
    assert "  Note: payment alone predicts churn in 100.0% of the rows. Is it known before" in lines
    facts = json.loads(run(*train, "--json"))
    assert len(facts["remarks"]) == 2
    assert facts["columns"] == {"age": "numeric", "region": "categorical", "payment": "categorical"}
