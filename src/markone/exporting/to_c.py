"""The C export: one header of C99 without dependencies but the standard library, for tables and texts."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from markone.errors import DataError, shorten
from markone.exporting import c_texts
from markone.exporting.c_strings import c_string, lines
from markone.exporting.document import Document, as_table
from markone.exporting.interpreter import Answer, narrow
from markone.exporting.options import Options, Ran
from markone.exporting.parts import ExportError, cell_of, first_name, places_on
from markone.exporting.samples import Row
from markone.exporting.texts import in_json

PREFIX = "model"
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1")
INSTALL = "install a C compiler, cc"
KEYWORDS = """ alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const
 consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double
 dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new
 noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict
 return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try
 typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq stdin stdout stderr
 errno linux unix """
"""The words of C and C++, and the names in small letters that headers define as macros."""
TYPES = {"numeric": "double", "boolean": "int", "categorical": "const char *", "date": "const char *"}
TYPES["datetime"] = TYPES["text"] = TYPES["date"]
MISSING = {"double": "NAN", "int": "-1", "const char *": "NULL"}

RUNTIME = """
static inline double @_narrow(double x) { return (float)x; }

/* The place of a text among sorted ones; -1 if it is not there. */
static inline int @_find(const char *const *sorted, int count, const char *text) {
    int low = 0, high = count - 1;
    while (low <= high) {
        const int middle = low + (high - low) / 2, order = strcmp(text, sorted[middle]);
        if (order == 0) return middle;
        if (order < 0) high = middle - 1;
        else low = middle + 1;
    }
    return -1;
}

/* The number of cuts that are not above a number. */
static inline int @_interval(const double *cuts, int count, double number) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (cuts[middle] <= number) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* A piece of a date such as 2024-12-31 or 2024-12-31T23:59: y(ear), m(onth), d(ay), w(eekday), h(our), or n(umber) of
   days since 1970; NAN if there is no date. Months count from 0, and weekdays from Monday, 0. */
static inline double @_piece(const char *date, char piece) {
    int year, month, day, hour = 0, y, era, of_era, of_year;
    long days;
    if (date == NULL || sscanf(date, "%d-%d-%d%*1[T ]%d", &year, &month, &day, &hour) < 3) return NAN;
    y = month <= 2 ? year - 1 : year;
    era = (y >= 0 ? y : y - 399) / 400;
    of_era = y - era * 400;
    of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    days = era * 146097L + (of_era * 365L + of_era / 4 - of_era / 100 + of_year) - 719468L;
    switch (piece) {
    case 'y': return year;
    case 'm': return month - 1;
    case 'd': return day;
    case 'w': return (double)(((days + 3) % 7 + 7) % 7);
    case 'h': return hour;
    default: return (double)days;
    }
}
"""


# ---- texts and names


def identifiers(names: Sequence[str]) -> dict[str, str]:
    """Return a different identifier for each name. Names in capital letters may be macros, so they are changed.

    >>> identifiers(["age", "2nd", "int", "a b", "a-b", "NULL"])
    {'age': 'age', '2nd': 'c_2nd', 'int': 'c_int', 'a b': 'a_b', 'a-b': 'a_b_2', 'NULL': 'c_NULL'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:40] or "column"
        reserved = (
            plain[0].isdigit() or plain[0] == "_" or plain.isupper() or re.search(rf"\b{plain}\b", KEYWORDS) is not None
        )
        plain = f"c_{plain}" if reserved else plain
        one, number = plain, 2
        while one in taken:
            one, number = f"{plain}_{number}", number + 1
        taken.add(one)
        found[name] = one
    return found


def digits(number: float) -> str:
    return repr(float(number))


# ---- the header


class Header:
    """Collects the tables and the statements of the header."""

    def __init__(self, document: Document, prefix: str) -> None:
        self.document, self.prefix = document, prefix
        self.names = identifiers([column["name"] for column in document["columns"]])
        self.kinds = {column["name"]: column["kind"] for column in document["columns"]}
        self.exactly = narrow if document["bits"] == 32 else float
        self.tables: list[str] = []
        self.statements: list[str] = []
        self.weights: list[Sequence[float]] = []
        self.values = 0
        """The largest number of values of a row."""
        for part in document["parts"]:
            if part["part"] == "numbers":
                self.add_numbers(part)
            elif part["part"] == "cells":
                self.add_cells(part)
            elif part["part"] == "ngrams":
                c_texts.add_ngrams(self, part)
            elif part["part"] == "document":
                c_texts.add_document(self, part)
            else:
                words = "is an item of a set; the header has only numbers, categories, dates and texts"
                raise ExportError(first_name(part), words)
        self.has_texts = "characters" in document

    def column_of(self, part: Mapping[str, Any]) -> str:
        """The field of a part with only one column."""
        return self.names[part["columns"][0]["column"]]

    def table(self, kind: str, items: Sequence[str]) -> str:
        name = f"{self.prefix}_table_{len(self.tables)}"
        self.tables.append(f"static const {kind}{name}[] = {{\n    {lines(items)}}};")
        return name

    def number(self, facts: Mapping[str, Any]) -> str:
        """An expression for a number of a row; NAN if it is missing."""
        if "date" in facts:
            letter = {"days": "n"}.get(facts["piece"], facts["piece"][0])
            return f"{self.prefix}_piece(row->{self.names[facts['date']]}, '{letter}')"
        field = f"row->{self.names[facts['column']]}"
        return f"({field} < 0 ? NAN : (double)({field} != 0))" if self.kinds[facts["column"]] == "boolean" else field

    def scaled(self, facts: Mapping[str, Any]) -> str:
        if facts["spread"] is None:
            return "0.0"
        number = self.number(facts)
        filled = number if facts["fill"] is None else f"(isnan({number}) ? {digits(facts['fill'])} : {number})"
        return f"({filled} - {digits(facts['center'])}) / {digits(facts['spread'])}"

    def put(self, part: Mapping[str, Any], feature: str, value: str, condition: str = "") -> None:
        """Add a statement that notes the value of a feature. Zeros of dense parts are left out where the model leaves
        them out."""
        noted = f"({value} != 0)" if part["presence"] else value
        checks = [condition] if condition else []
        if part["dense"] and not self.document["zeros"]:
            checks.append(f"({value}) != 0")
        begin = f"    if ({' && '.join(checks)}) {{ " if checks else "    "
        end = " }" if checks else ""
        self.statements.append(f"{begin}feature[n] = {feature}; value[n++] = {noted};{end}")
        self.values += 1

    def add_numbers(self, part: Mapping[str, Any]) -> None:
        name = f"x{len(self.statements)}"
        start = len(self.weights)
        self.statements.append(f"    double {name}[{len(part['features'])}];")
        for i, feature in enumerate(part["features"]):
            if "number" in feature:
                made = f"{self.prefix}_narrow({self.scaled(part['columns'][feature['number']])})"
            elif "missing" in feature:
                made = f"isnan({self.number(part['columns'][feature['missing']])}) ? 1.0 : 0.0"
            else:
                first, second = feature["product"]
                made = f"{self.prefix}_narrow({name}[{first}] * {name}[{second}])"
            self.weights.append(feature["weights"])
            self.statements.append(f"    {name}[{i}] = {made};")
        for i in range(len(part["features"])):
            self.put(part, str(start + i), f"{name}[{i}]")

    def place(self, facts: Mapping[str, Any]) -> str:
        """An expression for the place of a row on an axis; -1 without one."""
        if "cuts" in facts:
            number, size = self.number(facts), len(facts["cuts"])
            table = self.table("double ", [digits(cut) for cut in facts["cuts"]] or ["0.0"])
            return f"(isnan({number}) ? -1 : {self.prefix}_interval({table}, {size}, {number}))"
        missing, other = facts["missing"], facts["other"]
        if "date" in facts:
            return self.place_of_date(facts)
        field = f"row->{self.names[facts['column']]}"
        if not facts["values"]:
            return f"({field} == NULL ? {missing} : {other})"
        ordered = sorted(enumerate(facts["values"]), key=lambda one: one[1].encode("utf-8", "surrogatepass"))
        sorted_values = self.table("char *const ", [c_string(value) for _, value in ordered])
        places = self.table("int ", [str(place) for place, _ in ordered])
        self.statements.append(
            f"    at = {field} == NULL ? -1 : {self.prefix}_find({sorted_values}, {len(ordered)}, {field});"
        )
        axis = f"a{len(self.statements)}"
        self.statements.append(f"    const int {axis} = {field} == NULL ? {missing} : at < 0 ? {other} : {places}[at];")
        return axis

    def place_of_date(self, facts: Mapping[str, Any]) -> str:
        from markone.data.dates import MONTHS, WEEKDAYS

        names = {"month": MONTHS, "weekday": WEEKDAYS}.get(facts["piece"], tuple(map(str, range(24))))
        places = {value: place for place, value in enumerate(facts["values"])}
        table = self.table("int ", [str(places.get(name, facts["other"])) for name in names])
        number = self.number(facts)
        return f"(isnan({number}) ? {facts['missing']} : {table}[(int){number}])"

    def add_cells(self, part: Mapping[str, Any]) -> None:
        places = [self.place(axis) for axis in part["axes"]]
        product = " * ".join(f"({self.scaled(column)})" for column in part["factors"])
        value = f"{self.prefix}_narrow({product})" if product else "1.0"
        start = len(self.weights)
        self.weights += [feature["weights"] for feature in part["features"]]
        at = [tuple(feature["at"]) for feature in part["features"]]
        if not places:
            self.put(part, str(start), value)
            return
        sizes = [*map(places_on, part["axes"])]
        cell, total = places[0], math.prod(sizes)
        for place, size in zip(places[1:], sizes[1:], strict=True):
            cell = f"({cell} * {size} + {place})"
        if total > 2**31 - 1:
            raise ExportError(part["features"][0]["name"], "is of too many combinations of categories for an int in C")
        present = " && ".join(
            f"{place} >= 0" for place, axis in zip(places, part["axes"], strict=True) if "cuts" in axis
        )
        if len(places) == 1 and at == [(i,) for i in range(total)]:
            self.put(part, f"{start} + {cell}", value, present)
            return
        # Not every combination of categories is a feature, so the cells of features are sorted.
        cells = [cell_of(one, sizes) for one in at]
        order = sorted(range(len(cells)), key=cells.__getitem__)
        known = self.table("int ", [str(cells[i]) for i in order])
        numbers = self.table("int ", [str(start + i) for i in order])
        self.statements.append(f"    at = {present or 1} ? {self.prefix}_cell({known}, {len(order)}, {cell}) : -1;")
        self.put(part, f"{numbers}[at]", value, "at >= 0")


CELL = """
/* The place of a cell among sorted ones; -1 if it is not there. */
static inline int @_cell(const int *sorted, int count, int cell) {
    int low = 0, high = count - 1;
    while (low <= high) {
        const int middle = low + (high - low) / 2;
        if (sorted[middle] == cell) return middle;
        if (sorted[middle] > cell) high = middle - 1;
        else low = middle + 1;
    }
    return -1;
}
"""


def write(document: Document, options: Options) -> bytes:
    document = as_table(document)
    prefix = options.name or PREFIX
    header = Header(document, prefix)
    text = "\n".join(pieces(document, header)).replace("@", prefix)
    return (text + "\n").encode()


def pieces(document: Document, header: Header) -> Iterator[str]:
    labels, scores = document["classes"], len(document["bias"])
    classes = len(labels) or 1
    yield "/* A model, exported by Markone: include this header in a program of C99 or C++, and link with -lm."
    if labels:
        abstains = "" if document["decision"]["margin"] is None else ", or -1 if the model makes no prediction"
        yield f"   @_predict returns the number of a class, whose label is @_labels[number]{abstains}."
    else:
        yield "   @_predict returns a number."
    yield "   Missing values are NAN in a double, a negative int, and NULL instead of a text. Texts are in UTF-8. */"
    yield "#ifndef @_MARKONE_H\n#define @_MARKONE_H\n"
    yield "#include <limits.h>\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>"
    yield "#include <stdlib.h>\n#include <string.h>\n"
    yield "typedef struct {"
    for column in document["columns"]:
        kind = TYPES[column["kind"]]
        space = "" if kind.endswith("*") else " "
        yield f"    {kind}{space}{header.names[column['name']]}; /* {c_string(column['name'])} */"
    yield "} @_row;\n"
    yield f"enum {{ @_classes = {classes} }};\n"
    if labels:
        shown = [c_string(label if isinstance(label, str) else in_json(label)) for label in labels]
        yield f"static const char *const @_labels[] = {{\n    {lines(shown)}}};\n"
    if header.has_texts:
        yield from c_texts.tables_of(document["characters"])
        yield c_texts.runtime()
    yield from header.tables
    rows = ["{" + ", ".join(digits(header.exactly(one)) for one in weights) + "}" for weights in header.weights]
    yield f"static const double @_weights[][{scores}] = {{\n    {lines(rows)}}};"
    yield f"static const double @_bias[] = {{{', '.join(digits(header.exactly(one)) for one in document['bias'])}}};"
    yield RUNTIME + CELL
    yield "/* The sums of the row: one for each class or, with two classes, that of the second. */"
    if header.has_texts:
        yield from summing_texts(document, header)
    else:
        yield f"static inline void @_sums(const @_row *row, double sums[{scores}]) {{"
        yield f"    int feature[{header.values}], n = 0, at = 0, i, k;"
        yield f"    double value[{header.values}], part[{document['lanes']}][{scores}] = {{{{0}}}};"
        yield from header.statements
    yield "    (void)at;"
    if document["unit"]:
        way = "value[i] / length" if all(one["dense"] for one in document["parts"]) else "value[i] * (1 / length)"
        yield "    {\n        double length = 0;\n        for (i = 0; i < n; ++i) length += value[i] * value[i];"
        yield "        length = sqrt(length);"
        yield f"        for (i = 0; i < n && length > 0; ++i) value[i] = @_narrow({way});\n    }}"
    yield f"    for (i = 0; i < n; ++i)\n        for (k = 0; k < {scores}; ++k)"
    yield f"            part[i % {document['lanes']}][k] += @_weights[feature[i]][k] * value[i];"
    yield f"    for (n = {document['lanes']} / 2; n > 0; n /= 2)\n        for (i = 0; i < n; ++i)"
    yield f"            for (k = 0; k < {scores}; ++k) part[i][k] += part[i + n][k];"
    total = "@_narrow(part[0][k] + @_bias[k])" if document["bits"] == 32 else "part[0][k] + @_bias[k]"
    yield f"    for (k = 0; k < {scores}; ++k) sums[k] = {total};"
    if header.has_texts:
        yield "    free(found.feature);\n    free(found.value);"
    yield "}\n"
    yield "/* The score of each class. With two classes, the first has the score 0. */"
    yield "static inline void @_scores(const @_row *row, double scores[@_classes]) {"
    if len(labels) == 2:
        yield "    scores[0] = 0;\n    @_sums(row, scores + 1);\n}\n"
    else:
        yield "    @_sums(row, scores);\n}\n"
    yield from predicting(document)
    if document["probabilities"] is not None:
        yield from probable(document["probabilities"], classes)
    yield "#endif"


def summing_texts(document: Document, header: Header) -> Iterator[str]:
    """Begin the sums of a model of texts. The number of its features depends on the texts, so they are in memory that
    grows."""
    scores = len(document["bias"])
    yield "static inline int @_collect(const @_row *row, @_found *to) {"
    yield "    int n = 0, at = 0, i = 0, *feature;\n    double *value;"
    yield f"    if (!@_reserve(to, {header.values + 1})) return -1;"
    yield "    feature = to->feature, value = to->value;"
    yield from (one.replace("@@room@@", str(header.values + 1)) for one in header.statements)
    yield "    (void)at, (void)i, (void)feature, (void)value;\n    return n;\n}\n"
    yield f"static inline void @_sums(const @_row *row, double sums[{scores}]) {{"
    yield "    @_found found = {NULL, NULL, 0};"
    yield "    int n = @_collect(row, &found), at = 0, i, k, *const feature = found.feature;"
    yield f"    double *const value = found.value, part[{document['lanes']}][{scores}] = {{{{0}}}};"
    yield "    if (n < 0) {"
    yield f"        for (k = 0; k < {scores}; ++k) sums[k] = NAN;"
    yield "        free(found.feature);\n        free(found.value);\n        return;\n    }"


def predicting(document: Document) -> Iterator[str]:
    decision = document["decision"]
    if not document["classes"]:
        yield "static inline double @_predict(const @_row *row) {\n    double scores[1];\n    @_scores(row, scores);"
        yield "    return scores[0];\n}\n"
        return
    yield "static inline int @_predict(const @_row *row) {\n    double scores[@_classes];\n    int best = 0, k;"
    yield "    @_scores(row, scores);"
    if decision["threshold"] is not None:
        yield f"    best = scores[1] >= {digits(decision['threshold'])};\n    k = best;\n    (void)k;"
    else:
        beats = ">=" if decision["tie"] == "second" else ">"
        yield f"    for (k = 1; k < @_classes; ++k)\n        if (scores[k] {beats} scores[best]) best = k;"
    if decision["margin"] is not None:
        yield "    for (k = 0; k < @_classes; ++k)"
        yield f"        if (k != best && scores[best] - scores[k] <= {digits(decision['margin'])}) return -1;"
    yield "    return best;\n}\n"


def probable(how: Mapping[str, Any], classes: int) -> Iterator[str]:
    if how["offsets"]:
        yield from probable_by_class(how)
        return
    slopes, knots, heights = ([digits(one) for one in how[name]] for name in ("slopes", "knots", "heights"))
    yield "static inline double @_log_odds(double score) {"
    if knots:
        yield f"    static const double slopes[] = {{{', '.join(slopes)}}}, knots[] = {{{', '.join(knots)}}},"
        yield f"                        heights[] = {{{', '.join(heights)}}};\n    int at = 0, nearest;"
        yield f"    while (at < {len(knots)} && knots[at] < score) ++at;\n    nearest = at > 0 ? at - 1 : 0;"
        yield "    return heights[nearest] + slopes[at] * (score - knots[nearest]);\n}\n"
    else:
        yield f"    return score * {slopes[0]};\n}}\n"
    yield "/* The probability of each class. */"
    yield "static inline void @_probabilities(const @_row *row, double shares[@_classes]) {"
    yield "    double top = 0, total = 0;\n    int k;\n    @_scores(row, shares);"
    yield f"    for (k = {1 if classes == 2 else 0}; k < @_classes; ++k) shares[k] = @_log_odds(shares[k]);"
    yield "    top = shares[0];\n    for (k = 1; k < @_classes; ++k)\n        if (shares[k] > top) top = shares[k];"
    yield SHARES


SHARES = """    for (k = 0; k < @_classes; ++k) total += shares[k] = exp(shares[k] - top);
    for (k = 0; k < @_classes; ++k) shares[k] /= total;
}
"""


def probable_by_class(how: Mapping[str, Any]) -> Iterator[str]:
    """The probabilities of classes with slopes of their own. That of the best score is the largest."""
    slopes, offsets = (", ".join(map(digits, how[name])) for name in ("slopes", "offsets"))
    yield "/* The probability of each class. */"
    yield "static inline void @_probabilities(const @_row *row, double shares[@_classes]) {"
    yield f"    static const double slopes[] = {{{slopes}}},"
    yield f"                        offsets[] = {{{offsets}}};"
    yield "    double scores[@_classes], best, top, total = 0;\n    int k;\n    @_scores(row, scores);"
    yield "    for (k = 0; k < @_classes; ++k) shares[k] = slopes[k] * scores[k] + offsets[k];"
    yield "    best = scores[0];\n    top = shares[0];\n    for (k = 1; k < @_classes; ++k) {"
    yield "        if (scores[k] > best) best = scores[k];\n        if (shares[k] > top) top = shares[k];\n    }"
    yield "    for (k = 0; k < @_classes; ++k) {\n        if (scores[k] == best) shares[k] = top;"
    lead = digits(how["lead"])
    yield f"        else if (shares[k] > top - {lead}) shares[k] = top - {lead};\n    }}"
    yield SHARES


# ---- the check


def run(content: bytes, document: Document, rows: Sequence[Row], options: Options) -> Ran | None:
    """Compile a program that includes the header, and run it; None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    document = as_table(document)
    with TemporaryDirectory() as folder:
        header, source, program = (Path(folder) / name for name in ("model.h", "check.c", "check"))
        header.write_bytes(content)
        source.write_bytes(program_of(document, rows, options.name or PREFIX).encode())
        for command in ([compiler, *FLAGS, str(source), "-o", str(program), "-lm"], [str(program)]):
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
            if done.returncode != 0:
                raise DataError(f"nothing was written: the header fails in C: {shorten(done.stderr)}")
    return Ran(f"a program of {' '.join(('cc', *FLAGS[:-1]))}", [answer_in(line) for line in done.stdout.splitlines()])


def answer_in(line: str) -> Answer:
    label, scores, probabilities = json.loads(line)
    return Answer(label, scores, probabilities)


def program_of(document: Document, rows: Sequence[Row], prefix: str) -> str:
    texts: list[str] = []
    data = ",\n".join(
        "{" + ", ".join(value_in(column, row, texts) for column in document["columns"]) + "}" for row in rows
    )
    labels, has = len(document["classes"]), document["probabilities"] is not None
    body = ["@_scores(rows + i, s);", 'printf("[null, [");']
    if labels:
        body[1:] = ["k = @_predict(rows + i);", 'if (k < 0) printf("[null, ["); else printf("[%d, [", k);']
    first = 1 if labels == 2 else 0
    body.append(f'for (k = {first}; k < @_classes; ++k) printf("%s%.17g", k > {first} ? ", " : "", s[k]);')
    if has:
        body.append('@_probabilities(rows + i, s); printf("], [");')
        body.append('for (k = 0; k < @_classes; ++k) printf("%s%.17g", k > 0 ? ", " : "", s[k]);')
        body.append('printf("]]\\n");')
    else:
        body.append('printf("], null]\\n");')
    text = (
        '#include "model.h"\n'
        + "".join(f"static const char t{i}[] = {one};\n" for i, one in enumerate(texts))
        + f"static const @_row rows[] = {{\n{data}}};\n"
        f"int main(void) {{\n    int i, k;\n    double s[@_classes];\n    for (i = 0; i < {len(rows)}; ++i) {{\n"
        + "".join(f"        {line}\n" for line in body)
        + "    }\n    return 0;\n}\n"
    )
    return text.replace("@", prefix)


def value_in(column: Mapping[str, Any], row: Row, texts: list[str]) -> str:
    """Return a value of a row. A text may be long, so it becomes an array of numbers."""
    value, kind = row.get(column["name"]), TYPES[column["kind"]]
    if value is None:
        return MISSING[kind]
    if column["kind"] == "text":
        data = value.replace("\0", " ").encode("utf-8", "replace")  # a character 0 is not part of a word either
        texts.append("{" + ", ".join(str(byte - 256 if byte > 127 else byte) for byte in (*data, 0)) + "}")
        return f"t{len(texts) - 1}"
    if kind == "const char *":
        return c_string(value)
    return str(int(value)) if kind == "int" else digits(value)
