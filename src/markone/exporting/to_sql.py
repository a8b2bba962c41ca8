"""The SQL export: a table of weights, and one query that scores the rows of another table.

Each part of the document becomes a branch of one query, which yields the features of all rows: the number of the part,
the cell within the part, and the value. They are joined with the weights, and added up for each row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from markone.data.dates import MONTHS, WEEKDAYS
from markone.errors import DataError, shorten
from markone.exporting.document import Document, as_table
from markone.exporting.interpreter import Answer, narrow
from markone.exporting.options import Options, Ran
from markone.exporting.parts import ExportError, cell_of, first_name, places_on
from markone.exporting.samples import Row
from markone.exporting.sql_tokens import folded, letters_only, pattern_of, signs_only
from markone.exporting.texts import in_json
from markone.exporting.tokens import SELECTORS

TABLE = "data"
ROW = "markone_row"
AT_ONCE = 500
"""The number of rows of an INSERT."""
MOST_CELLS = 2**62
SELECTED = "".join(map(chr, SELECTORS))
STEEPEST = 700
"""Log-odds beyond this are cut, because their exponential is no number in some engines."""
INSTALL = "run it in PostgreSQL; for the other dialects, install DuckDB, or a Python whose SQLite has math functions"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sql:
    """What differs between dialects."""

    text: str = "VARCHAR"
    double: str = "DOUBLE PRECISION"
    narrow: Callable[[str], str]
    """Rounds an expression to 32 bits."""
    greatest: str = "greatest"
    nul: str | None = None
    """A character 0 as an expression; None if texts cannot contain it."""
    date: dict[str, str]
    """The pieces of a date, as expressions with {} for the column."""
    items: str
    """A table of the items of a set, as an expression with {} for the column."""
    item: str
    """The item in that table."""
    tokens: str | None = None
    """Selects tokens with their places, from a column and a pattern; None if there are no regular expressions."""
    matches: str = ""
    """Whether a pattern is found in a text."""
    escape: str = ""
    """A character in a pattern, by its number."""
    most_branches: int | None = None
    """How many queries UNION ALL can join; None if there is no limit."""


EXTRACTED = {
    "year": "EXTRACT(year FROM CAST({} AS TIMESTAMP))",
    "month": "EXTRACT(month FROM CAST({} AS TIMESTAMP))",
    "day": "EXTRACT(day FROM CAST({} AS TIMESTAMP))",
    "weekday": "EXTRACT(isodow FROM CAST({} AS TIMESTAMP))",
    "hour": "CAST(EXTRACT(hour FROM CAST({} AS TIMESTAMP)) AS INTEGER)",
    "days": "(CAST({} AS DATE) - DATE '1970-01-01')",
}
DIALECTS: dict[str, Sql] = {
    "duckdb": Sql(
        narrow=lambda x: f"CAST(CAST({x} AS FLOAT) AS DOUBLE)",
        nul="chr(0)",
        date=EXTRACTED,
        items="unnest({}) AS t(item)",
        item="t.item",
        tokens="SELECT {row}, unnest(found) AS token, generate_subscripts(found, 1) AS place FROM "
        "(SELECT {row}, regexp_extract_all({text}, {pattern}) AS found FROM markone_input) AS texts",
        matches="regexp_matches({}, {})",
        escape="\\x{{{:x}}}",
    ),
    "postgresql": Sql(
        text="TEXT",
        narrow=lambda x: f"CAST(CAST({x} AS REAL) AS DOUBLE PRECISION)",
        date=EXTRACTED,
        items="unnest({}) AS t(item)",
        item="t.item",
        tokens="SELECT {row}, t.found[1] AS token, t.place FROM markone_input, "
        "regexp_matches({text}, {pattern}, 'g') WITH ORDINALITY AS t(found, place)",
        matches="({} ~ {})",
        escape="\\U{:08x}",
    ),
    "sqlite": Sql(
        text="TEXT",
        double="REAL",
        # Veltkamp's splitting rounds to 53 - 29 bits.
        narrow=lambda x: f"(({x}) * 536870913.0 - (({x}) * 536870913.0 - ({x})))",
        greatest="max",
        nul="char(0)",
        date={
            "year": "CAST(strftime('%Y', {}) AS INTEGER)",
            "month": "CAST(strftime('%m', {}) AS INTEGER)",
            "day": "CAST(strftime('%d', {}) AS INTEGER)",
            "weekday": "(CAST(strftime('%w', {}) AS INTEGER) + 6) % 7 + 1",
            "hour": "CAST(strftime('%H', {}) AS INTEGER)",
            "days": "CAST(julianday(date({})) - 2440587.5 AS INTEGER)",
        },
        most_branches=500,
        items="json_each({}) AS t",
        item="t.value",
    ),
}


# ---- texts and names


def literal(text: str, sql: Sql) -> str:
    """Return a string of SQL. A character 0 cannot be written, so it is a function."""
    if "\0" in text and sql.nul is None:
        raise ExportError(text, "contains a character 0, which PostgreSQL does not allow")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ExportError(text, "contains half of a surrogate pair, which is no text in SQL") from None
    return f" || {sql.nul} || ".join("'" + piece.replace("'", "''") + "'" for piece in text.split("\0"))


def identifier(name: str) -> str:
    if "\0" in name:
        raise ExportError(name, "is of a column whose name contains a character 0, which SQL does not allow; rename it")
    if name.lower().startswith("markone_"):
        raise ExportError(name, "is of a column whose name the query uses itself; rename it")
    return '"' + name.replace('"', '""') + '"'


def column(facts: Any, sql: Sql) -> str:
    """Return a column, or a piece of a date."""
    if "date" not in facts:
        return f"d.{identifier(facts['column'])}"
    found = sql.date[facts["piece"]].format(f"d.{identifier(facts['date'])}")
    names = {"month": MONTHS, "weekday": WEEKDAYS}.get(facts["piece"], ())
    cases = " ".join(f"WHEN {i} THEN '{name}'" for i, name in enumerate(names, 1))
    return f"(CASE {found} {cases} END)" if names else found


# ---- the query


class Query:
    """Collects the parts of the query, and the rows of the table of weights."""

    def __init__(self, document: Document, sql: Sql, table: str) -> None:
        self.document, self.sql, self.table = document, sql, table
        self.kinds = {one["name"]: one["kind"] for one in document["columns"]}
        self.exactly: Callable[[float], float] = narrow if document["bits"] == 32 else float
        self.weights: list[str] = []
        self.values: list[str] = []
        """The places of categories."""
        self.axes = 0
        self.inputs: list[tuple[str, bool]] = []
        """Expressions that all branches can use, each with whether it uses the others."""
        self.steps: list[str] = []
        self.branches: list[str] = []
        for number, part in enumerate(document["parts"]):
            ADDED[part["part"]](self, number, part)
            if sql.most_branches is not None and len(self.branches) > sql.most_branches:
                raise ExportError(
                    first_name(part), f"is one of too many; SQLite joins at most {sql.most_branches} of them"
                )

    def number(self, facts: Any) -> str:
        """Return a number of a row; NULL if it is missing."""
        found = column(facts, self.sql)
        if self.kinds.get(facts["column"]) == "boolean":
            return f"(CASE WHEN {found} THEN 1.0 WHEN NOT {found} THEN 0.0 END)"
        plain = f"CAST({found} AS {self.sql.double})"
        if self.sql.double == "REAL" or "date" in facts:
            return plain
        return f"NULLIF({plain}, CAST('NaN' AS {self.sql.double}))"

    def scaled(self, facts: Any) -> str:
        if facts["spread"] is None:
            return "0.0"
        number = self.number(facts)
        filled = number if facts["fill"] is None else f"coalesce({number}, {digits(facts['fill'])})"
        return f"(({filled} - {digits(facts['center'])}) / {digits(facts['spread'])})"

    def input(self, expression: str, *, late: bool = False) -> str:
        """Give a name to an expression that is computed once for each row. If it is late, it may use the others."""
        self.inputs.append((expression, late))
        return f"markone_{len(self.inputs)}"

    def weigh(
        self, part: int, cell: int, name: str, weights: Sequence[float], word: str | None = None, factor: float = 1.0
    ) -> None:
        said = "NULL" if word is None else literal(word, self.sql)
        numbers = ", ".join(map(digits, [factor, *map(self.exactly, weights)]))
        self.weights.append(f"({part}, {cell}, {literal(name, self.sql)}, {said}, {numbers})")

    def yields(self, part: int, cell: str, value: str, where: str = "") -> None:
        self.branches.append(
            f"SELECT {ROW}, {part} AS part, {cell} AS cell, {value} AS value FROM markone_input{where}"
        )

    def place(self, facts: Any) -> str:
        """Return the place of a row on an axis."""
        if "cuts" in facts:
            number = self.input(self.number(facts))
            cases = "".join(f" WHEN {number} < {digits(cut)} THEN {i}" for i, cut in enumerate(facts["cuts"]))
            return f"(CASE WHEN {number} IS NULL THEN NULL{cases} ELSE {len(facts['cuts'])} END)"
        self.axes += 1
        axis = self.axes
        for i, one in enumerate(facts["values"]):
            self.values.append(f"({axis}, {literal(one, self.sql)}, {i})")
        value = self.input(f"CAST({column(facts, self.sql)} AS {self.sql.text})")
        found = f"(SELECT v.place FROM {self.table}_values AS v WHERE v.axis = {axis} AND v.value = {value})"
        return f"(CASE WHEN {value} IS NULL THEN {facts['missing']} ELSE coalesce({found}, {facts['other']}) END)"


def digits(number: float) -> str:
    """Return a number in all its digits, with a point or an exponent, so that it is no integer."""
    text = repr(float(number))
    return f"({text})" if text.startswith("-") else text


def add_numbers(query: Query, number: int, part: Any) -> None:
    made: list[str] = []
    for cell, feature in enumerate(part["features"]):
        if "number" in feature:
            value = query.input(query.sql.narrow(query.scaled(part["columns"][feature["number"]])))
        elif "missing" in feature:
            missing = query.number(part["columns"][feature["missing"]])
            value = query.input(f"(CASE WHEN {missing} IS NULL THEN 1.0 ELSE 0.0 END)")
        else:
            first, second = feature["product"]
            value = query.sql.narrow(f"{made[first]} * {made[second]}")
        made.append(value)
        query.weigh(number, cell, feature["name"], feature["weights"])
        query.yields(
            number, str(cell), f"(CASE WHEN {value} <> 0 THEN 1.0 ELSE 0.0 END)" if part["presence"] else value
        )


def add_cells(query: Query, number: int, part: Any) -> None:
    places = [query.place(axis) for axis in part["axes"]]
    sizes = [*map(places_on, part["axes"])]
    if math.prod(sizes) > MOST_CELLS:
        raise ExportError(part["features"][0]["name"], "is of too many combinations of categories for a number in SQL")
    cell = "0"
    for place, size in zip(places, sizes, strict=True):
        cell = f"({cell} * {size} + {place})" if cell != "0" else place
    for feature in part["features"]:
        query.weigh(number, cell_of(feature["at"], sizes), feature["name"], feature["weights"])
    product = " * ".join(map(query.scaled, part["factors"]))
    value = query.input(query.sql.narrow(product)) if product else "1.0"
    query.yields(number, query.input(cell, late=True), value)


def add_items(query: Query, number: int, part: Any) -> None:
    name = query.input(column(part["columns"][0], query.sql))
    for cell, feature in enumerate(part["features"]):
        query.weigh(number, cell, feature["name"], feature["weights"], feature.get("item"))
        if "missing" in feature:
            query.yields(number, str(cell), "1.0", f" WHERE {name} IS NULL")
    query.branches.append(
        f"SELECT DISTINCT {ROW}, {number}, w.cell, 1.0 FROM markone_input, {query.sql.items.format(name)}, "
        f"{query.table}_weights AS w WHERE w.part = {number} AND w.word = {query.sql.item}"
    )


def add_ngrams(query: Query, number: int, part: Any) -> None:
    sql, tokens = query.sql, part["tokens"]
    example = first_name(part)
    if part["hash_bits"] is not None:
        raise ExportError(example, "is found by its hash, which SQL cannot compute")
    if tokens["runs"] is not None:
        raise ExportError(example, "is an n-gram of characters, but SQL finds only words; train with n-grams of words")
    if tokens["choice"] != "all" or tokens["negation"]:
        raise ExportError(example, "is of words that negations or templates choose, which SQL does not do")
    if sql.tokens is None:
        raise ExportError(
            example, "is of words, and SQLite has no regular expressions to find them; use another dialect"
        )
    characters = query.document["characters"]
    known = {letter for feature in part["features"] for letter in feature[0]}
    words = {word for feature in part["features"] for word in feature[0].split(" ")}
    text = query.input(f"coalesce(CAST({column(part['columns'][0], sql)} AS {sql.text}), '')")

    def quoted(one: str) -> str:
        return literal(one, sql)

    pattern, prepared = pattern_of(tokens, characters, sql.escape, text, quoted)
    chosen = sql.tokens.format(row=ROW, text=prepared, pattern=pattern)
    shown = "token"
    if tokens["emoji"]:
        without = f"regexp_replace(token, {quoted('[' + SELECTED + ']')}, '', 'g')"
        letters = letters_only(tokens, characters, sql.escape, quoted)
        shown = f"(CASE WHEN {sql.matches.format('token', letters)} THEN token ELSE {without} END)"
    if tokens["fold"]:
        shown = folded(shown, characters, known, words, quoted)
    signs = "" if tokens["signs"] else signs_only(tokens, characters, sql.escape, quoted)
    where = f" WHERE NOT {sql.matches.format('token', signs)}" if signs else ""
    found = f"markone_tokens_{number}"
    query.steps.append(f"{found} AS (SELECT {ROW}, place, {shown} AS token FROM ({chosen}) AS tokens{where})")
    shortest, longest = part["lengths"]
    leads = ", ".join(f"lead(token, {i}) OVER (PARTITION BY {ROW} ORDER BY place) AS t{i}" for i in range(1, longest))
    query.steps.append(
        f"markone_lines_{number} AS (SELECT {ROW}, token AS t0{', ' + leads if leads else ''} FROM {found})"
    )
    grams = " UNION ALL ".join(
        f"SELECT {ROW}, {' || chr(32) || '.join(f't{i}' for i in range(size))} AS word FROM markone_lines_{number}"
        f" WHERE t{size - 1} IS NOT NULL"
        for size in range(shortest, longest + 1)
    )
    query.steps.append(
        f"markone_counts_{number} AS (SELECT {ROW}, w.cell, w.factor, count(*) AS times FROM ({grams}) AS g "
        f"JOIN {query.table}_weights AS w ON w.part = {number} AND w.word = g.word GROUP BY {ROW}, w.cell, w.factor)"
    )
    plain = {"count": f"CAST(times AS {sql.double})", "binary": "1.0", "log": sql.narrow("ln(1.0 + times)")}[
        part["value"]
    ]
    value = sql.narrow(f"{plain} * factor") if part["weighted"] else plain
    value = "1.0" if part["presence"] else value
    query.branches.append(f"SELECT {ROW}, {number} AS part, cell, {value} AS value FROM markone_counts_{number}")
    first = 2 if part["weighted"] else 1
    for cell, feature in enumerate(part["features"]):
        factor = narrow(feature[1]) if part["weighted"] else 1.0
        query.weigh(number, cell, part["prefix"] + feature[0], feature[first:], feature[0], factor)


def add_document(_: Query, __: int, part: Any) -> None:
    raise ExportError(first_name(part), "is of a whole text, which this SQL does not read")


ADDED: dict[str, Callable[[Query, int, Any], None]] = {
    "numbers": add_numbers,
    "cells": add_cells,
    "set": add_items,
    "ngrams": add_ngrams,
    "document": add_document,
}


# ---- the file


def write(document: Document, options: Options) -> bytes:
    document = as_table(document)
    name = options.name or TABLE
    sql = DIALECTS[options.dialect or "duckdb"]
    query = Query(document, sql, name)
    scores = range(len(document["bias"]))
    numbers = ", ".join(f"w{k} {sql.double} NOT NULL" for k in scores)
    lines = [
        f"-- A model, exported by Markone for {options.dialect or 'duckdb'}. It reads the table {name}.",
        f"-- Columns: {comment([one['name'] for one in document['columns']])}.",
        f"-- Classes, in the order of the scores: {comment(document['classes'])}." if document["classes"] else "",
        f"CREATE TABLE {name}_weights (part INTEGER NOT NULL, cell BIGINT NOT NULL, name {sql.text} NOT NULL, "
        f"word {sql.text}, factor {sql.double} NOT NULL, {numbers});",
        *inserted(f"{name}_weights", query.weights),
        f"CREATE TABLE {name}_values (axis INTEGER NOT NULL, value {sql.text} NOT NULL, place INTEGER NOT NULL);",
        *inserted(f"{name}_values", query.values),
        "",
        f"-- The query.{NOTE if len(document['bias']) == 1 and document['classes'] else ''}",
        query_of(document, query, name) + ";",
    ]
    return "\n".join(line for line in lines if line is not None).encode()


NOTE = " With two classes, the score is that of the second."


def comment(value: Any) -> str:
    """Return values in one line of a comment."""
    return in_json(value).replace("\u2028", " ").replace("\u2029", " ").replace("\x85", " ")


def inserted(table: str, rows: list[str]) -> Iterator[str]:
    for start in range(0, len(rows), AT_ONCE):
        yield f"INSERT INTO {table} VALUES\n" + ",\n".join(rows[start : start + AT_ONCE]) + ";"


def query_of(document: Document, query: Query, name: str) -> str:
    sql = query.sql
    rounded = sql.narrow if document["bits"] == 32 else str
    scores = [*range(len(document["bias"]))]
    steps = [
        *with_inputs(query.inputs, name),
        *query.steps,
        f"markone_features AS ({chr(10)}{(chr(10) + 'UNION ALL ').join(query.branches)})",
    ]
    joined = f"markone_features AS f JOIN {name}_weights AS w ON w.part = f.part AND w.cell = f.cell"
    value = "f.value"
    if document["unit"]:
        steps.append(
            f"markone_lengths AS (SELECT f.{ROW}, sqrt(sum(f.value * f.value)) AS length FROM {joined} "
            f"GROUP BY f.{ROW})"
        )
        joined += f" JOIN markone_lengths AS l ON l.{ROW} = f.{ROW}"
        value = sql.narrow("f.value / (CASE WHEN l.length > 0 THEN l.length ELSE 1.0 END)")
    sums = ", ".join(f"sum(w.w{k} * {value}) AS s{k}" for k in scores)
    steps.append(f"markone_sums AS (SELECT f.{ROW}, {sums} FROM {joined} GROUP BY f.{ROW})")
    totals = [
        rounded(f"coalesce(s.s{k}, 0.0) + {digits(query.exactly(one))}") for k, one in enumerate(document["bias"])
    ]
    each = ", ".join(f"{total} AS score_{k}" for k, total in zip(score_numbers(document), totals, strict=True))
    steps.append(
        f"markone_scores AS (SELECT d.{ROW}, {each} FROM markone_rows AS d "
        f"LEFT JOIN markone_sums AS s ON s.{ROW} = d.{ROW})"
    )
    shown = ", ".join(f"r.score_{k}" for k in score_numbers(document))
    answers = [f"{prediction(document, query)} AS prediction", shown, *probabilities(document, sql)]
    return (
        "WITH "
        + ",\n".join(steps)
        + f"\nSELECT d.*, {', '.join(answers)}\nFROM markone_rows AS d "
        + f"JOIN markone_scores AS r ON r.{ROW} = d.{ROW}\nORDER BY d.{ROW}"
    )


def with_inputs(inputs: list[tuple[str, bool]], name: str) -> list[str]:
    """Return the rows with their numbers, which are computed once, and with all expressions: first those of columns,
    and around them those that use others."""
    rows = f"markone_rows AS MATERIALIZED (SELECT row_number() OVER () AS {ROW}, t.* FROM {name} AS t)"
    found = "SELECT * FROM markone_rows"
    for wanted in (False, True):
        layer = [f"{one} AS markone_{i}" for i, (one, late) in enumerate(inputs, 1) if late == wanted]
        if layer:
            found = f"SELECT d.*, {', '.join(layer)} FROM ({found}) AS d"
    return [rows, f"markone_input AS ({found})"]


def score_numbers(document: Document) -> list[int]:
    """The numbers of the classes that have scores: with two classes, only the second has one."""
    return [1] if len(document["classes"]) == 2 else [*range(len(document["bias"]))]


def prediction(document: Document, query: Query) -> str:
    decision, labels, sql = document["decision"], document["classes"], query.sql
    if not labels:
        return "r.score_0"
    shown = [label_in(label, labels, sql) for label in labels]
    margin = decision["margin"]
    if len(labels) == 2:
        threshold = 0.0 if decision["threshold"] is None else decision["threshold"]
        sign = ">=" if decision["threshold"] is not None or decision["tie"] == "second" else ">"
        second = f"r.score_1 {sign} {digits(threshold)}"
        found = f"CASE WHEN {second} THEN {shown[1]} ELSE {shown[0]} END"
        doubt = f"CASE WHEN {second} THEN r.score_1 ELSE -r.score_1 END"
        return found if margin is None else f"CASE WHEN {doubt} <= {digits(margin)} THEN NULL ELSE {found} END"
    scores = [f"r.score_{k}" for k in range(len(labels))]
    best = f"{sql.greatest}({', '.join(scores)})"
    order = [*enumerate(shown)] if decision["tie"] == "first" else [*enumerate(shown)][::-1]
    found = "CASE " + " ".join(f"WHEN r.score_{k} = {best} THEN {label}" for k, label in order) + " END"
    if margin is None:
        return found
    near = " + ".join(f"(CASE WHEN {best} - {score} <= {digits(margin)} THEN 1 ELSE 0 END)" for score in scores)
    return f"CASE WHEN {near} > 1 THEN NULL ELSE {found} END"


def label_in(label: Any, labels: list[Any], sql: Sql) -> str:
    kinds = {type(one) for one in labels}
    if kinds == {bool}:
        return str(label).upper()
    if kinds <= {int, float}:
        return repr(label)
    return literal(label if isinstance(label, str) else in_json(label), sql)


def probabilities(document: Document, sql: Sql) -> list[str]:
    how = document["probabilities"]
    if how is None:
        return []
    scores = [f"r.score_{k}" for k in score_numbers(document)]
    if how["offsets"]:
        return by_class(scores, how, sql)
    odds = [log_odds(score, how) for score in scores]
    if len(odds) == 1:
        [one] = odds
        cut = (
            f"CASE WHEN {one} > {STEEPEST} THEN {STEEPEST}.0 WHEN {one} < -{STEEPEST} THEN -{STEEPEST}.0 ELSE {one} END"
        )
        second = f"1.0 / (1.0 + exp(-({cut})))"
        return [f"1.0 - {second} AS probability_0", f"{second} AS probability_1"]
    top = f"{sql.greatest}({', '.join(odds)})"
    return shares([f"CASE WHEN {one} - {top} < -{STEEPEST} THEN -{STEEPEST}.0 ELSE {one} - {top} END" for one in odds])


def by_class(scores: list[str], how: Any, sql: Sql) -> list[str]:
    """The probabilities of classes with slopes of their own. That of the best score is the largest."""
    odds = [
        f"({score} * {digits(slope)} + {digits(offset)})"
        for score, slope, offset in zip(scores, how["slopes"], how["offsets"], strict=True)
    ]
    below = digits(-how["lead"])
    best, top = (f"{sql.greatest}({', '.join(each)})" for each in (scores, odds))
    return shares(
        [
            f"CASE WHEN {score} = {best} THEN 0.0 WHEN {one} - {top} < -{STEEPEST} THEN -{STEEPEST}.0 "
            f"WHEN {one} - {top} > {below} THEN {below} ELSE {one} - {top} END"
            for score, one in zip(scores, odds, strict=True)
        ]
    )


def shares(logs: list[str]) -> list[str]:
    each = [f"exp({one})" for one in logs]
    return [f"{share} / ({' + '.join(each)}) AS probability_{k}" for k, share in enumerate(each)]


def log_odds(score: str, how: Any) -> str:
    knots, slopes, heights = how["knots"], how["slopes"], how["heights"]
    if not knots:
        return f"{score} * {digits(slopes[0])}"
    lines = [
        f"{digits(heights[max(at - 1, 0)])} + {digits(slope)} * ({score} - {digits(knots[max(at - 1, 0)])})"
        for at, slope in enumerate(slopes)
    ]
    cases = " ".join(f"WHEN {score} <= {digits(knot)} THEN {line}" for knot, line in zip(knots, lines, strict=False))
    return f"(CASE {cases} ELSE {lines[-1]} END)"


# ---- the check


def run(content: bytes, document: Document, rows: Sequence[Row], options: Options) -> Ran | None:
    """Run the file in DuckDB or SQLite; None for PostgreSQL, and if the engine is not there."""
    engine = RUN.get(options.dialect or "duckdb")
    return None if engine is None else engine(content.decode(), as_table(document), rows, options.name or TABLE)


def in_duckdb(program: str, document: Document, rows: Sequence[Row], name: str) -> Ran | None:
    if find_spec("duckdb") is None:
        return None
    import duckdb
    import pyarrow as pa

    kinds = {"numeric": pa.float64(), "boolean": pa.bool_(), "set": pa.list_(pa.string())}
    table = pa.table(
        {
            one["name"]: pa.array([row.get(one["name"]) for row in rows], kinds.get(one["kind"], pa.string()))
            for one in document["columns"]
        }
    )
    with duckdb.connect(config={"preserve_insertion_order": True}) as connection:
        try:
            connection.register("markone_rows", table)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM markone_rows")
            found = connection.execute(program)
            return Ran("DuckDB", answers_in(document, found.fetchall()))
        except duckdb.Error as error:
            raise DataError(f"nothing was written: DuckDB does not accept the query: {shorten(str(error))}") from None


def in_sqlite(program: str, document: Document, rows: Sequence[Row], name: str) -> Ran | None:
    import json
    import sqlite3
    from contextlib import closing

    names = [one["name"] for one in document["columns"]]
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("SELECT exp(1.0), sqrt(2.0), ln(2.0)")
        except sqlite3.Error:  # it was built without math functions
            return None
        try:
            connection.execute(f"CREATE TABLE {name} ({', '.join(map(identifier, names))})")
            plain = [[json.dumps(v) if isinstance(v := row.get(one), list) else v for one in names] for row in rows]
            connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(names))})", plain)
            *before, query = program.split("\n-- The query.")
            connection.executescript("\n-- The query.".join(before))
            found = connection.execute("-- " + query)
            return Ran("SQLite", answers_in(document, found.fetchall()))
        except sqlite3.Error as error:
            raise DataError(f"nothing was written: SQLite does not accept the query: {shorten(str(error))}") from None


RUN = {"duckdb": in_duckdb, "sqlite": in_sqlite}


def answers_in(document: Document, rows: Sequence[Sequence[Any]]) -> list[Answer]:
    """Return the answers in the columns that the query adds, which are the last ones."""
    labels = document["classes"]
    kinds = {type(one) for one in labels}
    shown = (
        labels
        if kinds == {bool} or kinds <= {int, float}
        else [x if isinstance(x, str) else in_json(x) for x in labels]
    )
    scores = len(document["bias"])
    has = 0 if document["probabilities"] is None else len(labels)
    found = []
    for row in rows:
        label, *numbers = row[len(row) - 1 - scores - has :]
        number = None if label is None or not labels else shown.index(label)
        found.append(Answer(number, numbers[:scores], numbers[scores:] if has else None))
    return found
