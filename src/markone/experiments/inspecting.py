"""Inspecting data before training: the kind of each column, what is made of it, and what may be wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.data import kinds
from markone.data.dates import STYLES
from markone.data.delimited import DelimitedTable
from markone.data.labels import members_of
from markone.data.overview import Look
from markone.data.read import read
from markone.data.sets import SET_KINDS
from markone.data.source import Column, Label, Source
from markone.data.tables import TableSource, as_label, each_once
from markone.errors import Setting, Words, text_of
from markone.features.derived import pieces_of
from markone.reporting.grids import SCREEN, Grid, cells, counted, label_in_words, shortened
from markone.reporting.shown import Content, Shown

MOST_ROWS = 50_000
"""The number of rows that are inspected."""
FEWEST_TESTED = 50
"""The smallest number of rows for a test whether a column predicts the target."""
BINS = 64
GIVEN_AWAY = 0.1
"""A column gives the target away if it alone makes at most this share of the mistakes of the most frequent class."""
MOST_WRONG = 0.02
"""And if it is wrong in at most this share of the rows."""
MOSTLY = 0.9
"""The share of numbers in a column from which on the other values may be an oversight."""
MOST_NUMBERS = 20
"""With more different numbers, a target is more likely a measurement than a class."""
IMBALANCED = 0.95
FEW_IN_CLASS = 10
SHOWN = 5
NAME_WIDTH, KIND_WIDTH = 24, 20
MADE = {
    "numeric": "a number",
    "decimal-comma": "a number",
    "boolean": "0 or 1",
    "categorical": "a feature for each category",
    "text": "features of its words",
    "set": "a feature for each item",
    "comma-set": "a feature for each item",
    "image": "features of its pixels",
    "rows": "its features, as they are",
}
ORDER = (
    *("separator", "header", "gives the target away", "measurement", "target of ids", "one class"),
    *("different labels", "unlabelled", "imbalance", "rare classes", "almost numbers", "id", "copy", "constant"),
    "repeated rows",
)
"""What remarks are about, the most important ones first."""
NOTHING, TARGET = "ignored", "target"


# ---- the result


@dataclass(frozen=True, slots=True, repr=False)
class InspectedColumn(Brief):
    """What is known about a column."""

    name: str
    kind: str
    """Its kind, or `ignored` or `target`."""
    reason: str
    makes: str
    """What features are made of it."""
    missing: int | None
    distinct: int | None
    """The number of different values; None if it was not counted."""
    examples: str


@dataclass(frozen=True, slots=True, repr=False)
class Remark(Brief):
    """Something that may be wrong with the data."""

    about: str
    """What it is about, in one or two words, such as `id` or `imbalance`."""
    column: str | None
    words: Words

    def in_brief(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return text_of(self.words, str)


@dataclass(frozen=True, slots=True, repr=False)
class Inspection(Shown):
    """The columns of some data, and remarks about them."""

    name: str
    rows: int
    """The number of rows that were inspected: all, or the first 50,000."""
    columns: list[InspectedColumn]
    classes: dict[Any, int] = field(default_factory=dict)
    """The number of rows of each label, the most frequent first."""
    remarks: list[Remark] = field(default_factory=list)

    def in_brief(self) -> str:
        return f"{self.name}, {len(self.columns)} columns, {counted(len(self.remarks), 'remark')}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rows": self.rows,
            "columns": [asdict(column) for column in self.columns],
            "classes": {label_in_words(label): count for label, count in self.classes.items()},
            "remarks": [{"about": one.about, "column": one.column, "text": str(one)} for one in self.remarks],
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, named: Callable[[Setting], str] = str) -> Iterator[str]:
        """Return the lines for a screen. The function `named` formats settings."""
        yield f"{self.name}, {self.rows_in_words()}."
        yield ""
        width = min(NAME_WIDTH, max(6, *(cells(shortened(one.name, NAME_WIDTH)) for one in self.columns)))
        widest = max(4, *(len(one.kind) for one in self.columns))
        yield f"{'column':<{width}}  {'kind':<{widest}}  missing  different  examples"
        for one in self.columns:
            name = shortened(one.name, width)
            counts = ("" if count is None else f"{count:,}" for count in (one.missing, one.distinct))
            missing, distinct = counts
            start = f"{name}{' ' * (width - cells(name))}  {one.kind:<{widest}}  {missing:>7}  {distinct:>9}  "
            yield (start + shortened(one.examples, max(10, SCREEN - cells(start)))).rstrip()
            why = f"{one.reason}; becomes {one.makes}" if one.makes else one.reason
            yield from (f"    {line}" for line in wrap(why, SCREEN - 4))
        if self.classes:
            yield ""
            yield from wrap(self.classes_in_words(), SCREEN)
        for remark in self.remarks:
            yield ""
            yield from wrap(f"{text_of(remark.words, named)}.", SCREEN)
        if not self.remarks:
            yield ""
            yield "Nothing looks wrong."

    def rows_in_words(self) -> str:
        return f"the first {MOST_ROWS:,} rows" if self.rows >= MOST_ROWS else counted(self.rows, "row")

    def classes_in_words(self) -> str:
        shown = [f"{label_in_words(label, 20)} ({count:,})" for label, count in [*self.classes.items()][:SHOWN]]
        others = f" and {counted(len(self.classes) - SHOWN, 'other')}" if len(self.classes) > SHOWN else ""
        return f"{counted(len(self.classes), 'class', 'classes')}: {', '.join(shown)}{others}."

    def parts(self) -> Iterator[Content]:
        yield f"{self.name}, {self.rows_in_words()}."
        head = ["column", "kind", "missing", "different", "reason", "becomes", "examples"]
        yield Grid(
            [head],
            [
                [
                    c.name,
                    c.kind,
                    *("" if n is None else f"{n:,}" for n in (c.missing, c.distinct)),
                    c.reason,
                    c.makes,
                    c.examples,
                ]
                for c in self.columns
            ],
            words=(0, 1, 4, 5, 6),
        )
        yield self.classes_in_words() if self.classes else ""
        yield from (f"{one}." for one in self.remarks)


# ---- inspecting


def inspect(what: Any, target: Any = None, **options: Any) -> Inspection:
    """Inspect data before training: show each column with its kind and the reason, and warn about common problems.

    Parameters
    ----------
    what
        The data, as for `markone.read`, or a source.
    target
        The column to predict, or the labels, if there are any.
    options
        Further options of `markone.read`, such as `kinds` or `separator`.

    Returns
    -------
    Inspection
        Its `columns` and `remarks`. Printed, it is a table; in a notebook, it is shown as HTML.

    Examples
    --------
    >>> rows = {"id": range(100), "age": [30, 41] * 50, "paid": [True, False] * 50}  # who is 30 has paid
    >>> found = inspect(rows, target="paid")
    >>> [(column.name, column.kind) for column in found.columns]
    [('id', 'ignored'), ('age', 'numeric'), ('paid', 'target')]
    >>> [remark.about for remark in found.remarks]
    ['gives the target away', 'id']
    """
    if isinstance(what, Source):
        return inspect_source(what)
    if isinstance(target, str):
        source = read(what, **options)
        if isinstance(source, TableSource) and target in source.sampled:
            return inspect_table(source, target)
    return inspect_source(read(what, target=target, **options))


def inspect_source(source: Source) -> Inspection:
    if isinstance(source, TableSource):
        return inspect_table(source, source.own_target)
    counts: dict[Any, int] = {}
    rows = 0
    for batch in source.batches():
        rows += len(batch)
        if batch.labels is not None:
            for number, count in zip(*np.unique(batch.labels[batch.labels >= 0], return_counts=True), strict=True):
                label = source.labels[number]
                counts[label] = counts.get(label, 0) + int(count)
        if rows >= MOST_ROWS:
            break
    columns = [
        InspectedColumn(column.name, column.kind, "by the format", made_of(column), None, None, "")
        for column in source.columns
    ]
    classes = by_frequency(counts)
    return Inspection(source.name, min(rows, MOST_ROWS), columns, classes, [*about_classes(classes)])


def inspect_table(source: TableSource, target: str | None) -> Inspection:
    """Inspect the first rows of a table."""
    return of_rows(source, first_rows(source), target)


def inspect_sample(source: TableSource) -> Inspection:
    """Inspect only the rows that were read when the table was opened."""
    return of_rows(source, source.sampled, source.own_target)


def first_rows(source: TableSource) -> dict[str, Any]:
    """The first rows of all columns, as they are stored or written."""
    import pyarrow as pa

    has_lists = {name for name, array in source.sampled.items() if pa.types.is_list(array.type)}
    wanted = {name: "set" if name in has_lists else "categorical" for name in source.sampled}
    found: dict[str, list[Any]] = {name: [] for name in wanted}
    rows = 0
    for some in source.table.scan(wanted):
        for name, arrays in found.items():
            arrays.append(some.columns[name])
        rows += some.size
        if rows >= MOST_ROWS:
            break
    joined = {name: pa.chunked_array(arrays).combine_chunks() for name, arrays in found.items()}
    whole = {name: pa.concat_arrays(a.chunks) if isinstance(a, pa.ChunkedArray) else a for name, a in joined.items()}
    return {name: kinds.without_nan(array[:MOST_ROWS]) for name, array in whole.items()}


def of_rows(source: TableSource, arrays: Mapping[str, Any], target: str | None) -> Inspection:
    kind_of = {column.name: column.kind for column in source.columns}
    values = {name: Values(name, array, kind_of.get(name)) for name, array in arrays.items()}
    set_kind = None if target is None else kind_of_sets(source, target)
    labels = None if target is None or set_kind is not None else values[target]
    if source.labels_beside is not None and not source.several:
        labels = labels_beside(source.label_name, source.labels_beside[: len(next(iter(arrays.values())))])
    columns = []
    for name, some in values.items():
        is_target = name == target
        kind = TARGET if is_target else kind_of.get(name, NOTHING)
        kind = "importance" if name == source.importance else kind
        made = "" if kind in (TARGET, NOTHING, "importance") else made_of(Column(name, kind), some)  # type: ignore[arg-type]
        reason = "the column to predict" if is_target else source.reasons.get(name, "the weights of the rows")
        columns.append(InspectedColumn(name, kind, reason, made, some.missing, some.distinct, some.examples))
    used = [some for name, some in values.items() if name in kind_of and name != target]
    classes = {} if labels is None else by_frequency(labels.frequencies())
    if target is not None and set_kind is not None:
        classes = by_frequency(label_counts(arrays[target], set_kind))
    rows = len(next(iter(arrays.values())))
    name = f"{source.name}, {source.table.how}" if source.table.how else source.name
    found = sorted(remarks(source, values, used, labels, classes, target), key=lambda one: ORDER.index(one.about))
    return Inspection(name, rows, columns, classes, found)


def kind_of_sets(source: TableSource, target: str) -> str | None:
    """The kind of the target, if a row can have several labels."""
    said = source.options.kinds.get(target)
    if said in SET_KINDS:
        return said
    return "set" if said is None and kinds.is_list_of_labels(source.sampled[target].type) else None


def label_counts(array: Any, kind: str) -> Counter[Label]:
    """In how many rows each label occurs, if a row can have several."""
    where, cells = each_once(kinds.decoded(array))
    found: Counter[Label] = Counter()
    counts: list[int] = np.bincount(where[where >= 0], minlength=len(cells)).tolist()
    for cell, count in zip(cells, counts, strict=True):
        found.update(dict.fromkeys(members_of(as_label(cell, kind) or ()), count))
    return found


def made_of(column: Column, some: Values | None = None) -> str:
    """What features are made of a column, in words."""
    if column.kind in STYLES:
        return f"its {', '.join(piece.word for piece in pieces_of(column))}"
    if column.kind == "categorical" and some is not None and some.distinct is not None:
        return counted(some.distinct, "category", "categories")
    return MADE[column.kind]


def by_frequency(counts: Mapping[Any, int]) -> dict[Any, int]:
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))


class Values:
    """The values of a column as numbers: equal values have equal codes, and a missing value has the code -1."""

    def __init__(self, name: str, array: Any, kind: str | None) -> None:
        import pyarrow as pa

        self.name, self.kind = name, kind
        self.array = kinds.decoded(array)
        if kind not in (None, "categorical", "text", *SET_KINDS) and kinds.is_words(self.array.type):
            self.array = without_blanks(self.array)
        self.missing = self.array.null_count
        self.own_array = array
        plain = self.array
        if pa.types.is_nested(plain.type):
            plain = pa.array([None if value is None else repr(value) for value in plain.to_pylist()], pa.string())
        encoded = plain.dictionary_encode()
        self.dictionary = encoded.dictionary
        self.codes: NDArray[np.int64] = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        self.distinct: int = len(self.dictionary)

    def frequencies(self) -> dict[Any, int]:
        counts = np.bincount(self.codes[self.codes >= 0], minlength=self.distinct).tolist()
        return dict(zip(self.dictionary.to_pylist(), counts, strict=True))

    @property
    def examples(self) -> str:
        return Look.of(self.name, "", self.own_array).examples

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The values as numbers, with NaN for missing ones; None if they are not numbers or dates."""
        import pyarrow as pa

        if self.kind not in ("numeric", "decimal-comma", *STYLES):
            return None
        made, _ = kinds.as_kind(self.array, self.kind)
        if self.kind in STYLES:
            made = made.cast(pa.int64()).cast(pa.float64(), safe=False)
        return np.asarray(made.to_numpy(zero_copy_only=False), np.float64)


def without_blanks(texts: Any) -> Any:
    """Blank texts are missing values where numbers, dates or truth values are written."""
    import pyarrow as pa
    import pyarrow.compute as pc

    blank = pc.equal(pc.utf8_trim_whitespace(texts), "")
    return pc.if_else(blank, pa.scalar(None, texts.type), texts)


def labels_beside(name: str, labels: Sequence[Any]) -> Values:
    import pyarrow as pa

    return Values(name, pa.array([None if label is None else kinds.written(label) for label in labels]), None)


# ---- remarks


def remarks(
    source: TableSource,
    values: Mapping[str, Values],
    used: Sequence[Values],
    labels: Values | None,
    classes: Mapping[Any, int],
    target: str | None,
) -> Iterator[Remark]:
    yield from about_layout(source)
    for name in (name for name in source.ids if name != target):
        what = f"{name} is left out: {source.reasons[name]}. If it says something about the target, set "
        yield Remark("id", name, (what, Setting("kinds", {name: "categorical"})))
    constant = [some.name for some in used if some.distinct == 1 and not some.missing]
    if constant:
        what = "is constant, so it does" if len(constant) == 1 else "are constant, so they do"
        which = ", ".join(constant[:SHOWN]) + (
            f" and {counted(len(constant) - SHOWN, 'other')}" * (len(constant) > SHOWN)
        )
        yield Remark("constant", constant[0], f"{which} {what} not help to predict")
    for some in used:
        yield from about_mixture(some)
    yield from about_copies(used)
    if labels is None:
        return
    odd = [*about_target(labels, target)]
    yield from odd
    if not {one.about for one in odd} & {"measurement", "target of ids"}:
        yield from about_classes(classes)
    yield from about_giving_away(used, labels)
    yield from about_repeated_rows(used, labels)


def about_layout(source: TableSource) -> Iterator[Remark]:
    """Remarks about a separator or a header that may be wrong."""
    table = source.table
    if not isinstance(table, DelimitedTable):
        return
    sign = table.better_separator()
    if sign is not None:
        words = (f"the fields seem to be separated by {sign!r}; if they are, set ", Setting("separator", sign))
        yield Remark("separator", None, words)
        return
    hint = table.header_hint(source.sampled)
    if hint:
        yield Remark("header", None, hint)


def about_mixture(some: Values) -> Iterator[Remark]:
    """A remark about a column of words of which almost all are numbers."""
    if some.kind not in ("categorical", "text") or not kinds.is_words(some.dictionary.type) or some.distinct < 3:
        return
    counts = some.frequencies()
    others = {value: n for value, n in counts.items() if kinds.number(value) is None}
    total, numbers = sum(counts.values()), len(counts) - len(others)
    if others and sum(others.values()) <= (1 - MOSTLY) * total and numbers > len(others):
        first = list(others)[:3]
        words = (
            f"{some.name} is {some.kind}, but {1 - sum(others.values()) / total:.0%} of its values are numbers. The "
            f"others are {', '.join(map(repr, first))}. If they mean that a number is missing, set ",
            Setting("missing", ["", "?", *first]),
        )
        yield Remark("almost numbers", some.name, words)


def about_copies(used: Sequence[Values]) -> Iterator[Remark]:
    """Remarks about columns that have the same values as another one, or other words for them."""
    met: dict[bytes, Values] = {}
    for some in used:
        if some.distinct < 2:
            continue
        # If values are rarely repeated, the codes of any two columns are equal, so the values are compared, too.
        rare = some.distinct > len(some.codes) / 2
        key = some.codes.tobytes() + (repr(some.dictionary.to_pylist()).encode() if rare else b"")
        if key in met:
            words = (
                f"{some.name} says the same as {met[key].name} in every row. One of them is enough: ",
                Setting("kinds", {some.name: "ignore"}),
            )
            yield Remark("copy", some.name, words)
        met.setdefault(key, some)


def about_target(labels: Values, target: str | None) -> Iterator[Remark]:
    import pyarrow as pa

    rows = int((labels.codes >= 0).sum())
    if labels.missing:
        yield Remark(
            "unlabelled", target, f"{counted(labels.missing, 'row has', 'rows have')} no label and cannot be used"
        )
    if rows < FEWEST_TESTED:
        return
    numbers = [kinds.number(str(value)) for value in labels.dictionary.to_pylist()[: MOST_NUMBERS + 1]]
    if labels.distinct > MOST_NUMBERS and None not in numbers and not pa.types.is_boolean(labels.array.type):
        words = (
            f"the target {labels.name} has {labels.distinct:,} different numbers. Are they classes? To predict "
            "numbers, use the rule 'regression'"
        )
        yield Remark("measurement", target, words)
    elif labels.distinct > rows / 2:
        words = (
            f"the target {labels.name} has {labels.distinct:,} different values in {rows:,} rows. Is it an id or a "
            "text? A class needs several examples"
        )
        yield Remark("target of ids", target, words)


def about_classes(classes: Mapping[Any, int]) -> Iterator[Remark]:
    total = sum(classes.values())
    if total < FEWEST_TESTED or len(classes) > total / 2:
        return
    label, most = next(iter(classes.items()))
    if len(classes) == 1:
        yield Remark(
            "one class", None, f"there is only one class, {label_in_words(label)}, so there is nothing to learn"
        )
    elif most >= IMBALANCED * total:
        words = (
            f"{most / total:.1%} of the rows are of the class {label_in_words(label)}. Accuracy says little then: "
            "compare it with this share"
        )
        yield Remark("imbalance", None, words)
    few = [label for label, count in classes.items() if count < FEW_IN_CLASS]
    if few and len(classes) > 1:
        which = ", ".join(label_in_words(one, 20) for one in few[:SHOWN]) + (" and others" if len(few) > SHOWN else "")
        what = counted(len(few), "class has", "classes have")
        yield Remark("rare classes", None, f"{what} fewer than {FEW_IN_CLASS} rows: {which}")


def about_giving_away(used: Sequence[Values], labels: Values) -> Iterator[Remark]:
    """Remarks about columns that alone predict the target, or one class, almost perfectly.

    Half of the rows say which class is most frequent for each value, or between two quantiles of numbers. The other
    half is the test.
    """
    known = np.flatnonzero(labels.codes >= 0)
    if len(known) < 2 * FEWEST_TESTED or not 2 <= labels.distinct <= len(known) / 10:
        return
    order = np.random.default_rng(0).permutation(known)
    learn, test = order[: len(order) // 2], order[len(order) // 2 :]
    truth = labels.codes[test]
    shares = np.bincount(truth, minlength=labels.distinct) / len(test)
    names = labels.dictionary.to_pylist()
    for some in used:
        groups = grouped(some, learn)
        if groups is None:
            continue
        predicted = most_frequent(groups[learn], labels.codes[learn], labels.distinct, groups.max() + 1)[groups[test]]
        wrong = float((predicted != truth).mean())
        advice = (
            " Is it known before the outcome? If not, leave it out: ",
            Setting("kinds", {some.name: "ignore"}),
        )
        if wrong <= min(MOST_WRONG, GIVEN_AWAY * (1 - shares.max())):
            words = f"{some.name} alone predicts {labels.name} in {1 - wrong:.1%} of the rows."
            yield Remark("gives the target away", some.name, (words, *advice))
            continue
        if some.numbers is not None:
            continue
        for number in np.argsort(-shares, kind="stable"):
            missed = float(((predicted == number) != (truth == number)).mean())
            if min(shares[number], 1 - shares[number]) > 0.05 and missed <= GIVEN_AWAY / 5 * shares[number]:
                words = (
                    f"{some.name} alone tells {label_in_words(names[number], 20)} from the other classes in "
                    f"{1 - missed:.1%} of the rows."
                )
                yield Remark("gives the target away", some.name, (words, *advice))
                break


def grouped(some: Values, learn: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The groups of equal values or, for numbers with many values, of values between two quantiles; None if the values
    are rarely repeated. A missing value is a group, too."""
    numbers = some.numbers
    if numbers is not None and some.distinct > BINS:
        cuts = np.unique(np.nanquantile(numbers[learn], np.linspace(0, 1, BINS)[1:-1])) if len(learn) else np.zeros(0)
        groups = np.searchsorted(cuts, numbers, side="right").astype(np.int64)
        groups[np.isnan(numbers)] = len(cuts) + 1
        return groups
    return None if some.distinct > len(some.codes) / 4 else some.codes + 1


def most_frequent(groups: NDArray[np.int64], labels: NDArray[np.int64], classes: int, count: int) -> NDArray[np.int64]:
    """The most frequent label of each group; of all rows for a group without any."""
    table = np.bincount(groups * classes + labels, minlength=int(count) * classes).reshape(int(count), classes)
    found: NDArray[np.int64] = table.argmax(axis=1)
    found[table.sum(axis=1) == 0] = np.bincount(labels, minlength=classes).argmax()
    return found


def about_repeated_rows(used: Sequence[Values], labels: Values) -> Iterator[Remark]:
    """Remarks about rows with the same values, with the same label or with different ones."""
    if not used:
        return
    row = np.zeros(len(labels.codes), np.int64)
    for some in used:
        row = np.unique(row * (some.distinct + 1) + some.codes + 1, return_inverse=True)[1]
    known = labels.codes >= 0
    pairs = np.unique(np.stack([row[known], labels.codes[known]]), axis=1)
    rows, of_each = np.unique(pairs[0], return_counts=True)
    torn = np.isin(row[known], rows[of_each > 1]).sum()
    repeated = int(known.sum()) - len(rows)
    if torn:
        what = counted(int(torn), "row equals", "rows equal")
        words = f"{what} another row except for the label, so no model can be right on all rows"
        yield Remark("different labels", None, words)
    # With few possible rows, repetitions are no surprise.
    possible = math.prod(some.distinct + 1 for some in used)
    if repeated > 0.01 * known.sum() and possible > 10 * len(row):
        what = counted(repeated, "row repeats", "rows repeat")
        yield Remark("repeated rows", None, f"{what} an earlier row; a copy in the test rows makes a test too easy")
