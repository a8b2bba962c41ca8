"""The result of an audit: what was found in the rows, as a report, as rows of a table, and for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.data.source import Label
from markone.reporting.grids import Grid, counted, label_in_words
from markone.reporting.shown import Content, Shown

LIKELY = 0.5
"""A label is probably wrong if its doubt is greater than this. Among labels of which 5 to 20% were changed at random,
about as many have such doubts as were changed (docs/auditing.md)."""
SHOWN = 10
LABEL_WIDTH = 16
Problem = Literal["label", "conflict", "leak", "repeat"]


@dataclass(frozen=True, slots=True, repr=False)
class Finding(Brief):
    """A row that may need attention."""

    problem: Problem
    """`label`: the label is probably wrong. `conflict`: the row is the same or nearly the same as another one, with
    another label. `leak`: a test row is the same or nearly the same as a training row. `repeat`: the row is the same or
    nearly the same as another one, with the same label."""
    row: int
    """The number of the row in the data, starting with 1; of a leak, in the test rows."""
    label: Label | None
    """Its label; None for a test row without one."""
    suggestion: Label | None
    """Another label: the most likely one, or that of the other row. None if it would be the same."""
    doubt: float | None = None
    """How much the label loses by, as a share of what labels usually win by."""
    other: int | None = None
    """The training row that it is the same as, or nearly."""
    similarity: float | None = None
    """1 if the rows are the same, else the share of words, pairs and triples of words that are in both texts."""
    text: str = ""
    """The beginning of the row."""

    def in_brief(self) -> str:
        return f"{self.problem} of row {self.row:,}, {label_in_words(self.label)}"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Audit(Shown):
    """The findings of an audit, and how doubtful each label is."""

    name: str
    rows: int
    """The number of rows with labels."""
    classes: list[Label]
    rule: str
    folds: int
    findings: list[Finding]
    """Labels that are probably wrong, conflicts, repeated rows, and leaks; the worst of each come first."""
    doubts: NDArray[np.float64]
    """The doubt about the label of each row with a label: how much it loses by, as a share of what labels usually win
    by. NaN if it cannot be judged."""
    numbers: NDArray[np.int64]
    """The numbers of these rows in the data, starting with 1."""
    against: str | None = None
    """The name of the test rows."""
    tested: int = 0
    """Their number."""
    remarks: list[str] = field(default_factory=list)
    """Remarks for the user, in sentences."""

    def of(self, problem: Problem) -> list[Finding]:
        """Return the findings of one kind."""
        return [one for one in self.findings if one.problem == problem]

    def ranking(self) -> NDArray[np.int64]:
        """Return the numbers of all rows that were judged, the most doubtful first."""
        order = np.argsort(-self.doubts, kind="stable")  # NaN comes last
        judged: NDArray[np.int64] = self.numbers[order[: int(np.isfinite(self.doubts).sum())]]
        return judged

    def in_brief(self) -> str:
        return f"{self.name}, {counted(self.rows, 'row')}, {counted(len(self.findings), 'finding')}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rows": self.rows,
            "rule": self.rule,
            "folds": self.folds,
            "against": self.against,
            "tested": self.tested,
            "counts": {problem: len(self.of(problem)) for problem in ("label", "conflict", "leak", "repeat")},
            "findings": [one.as_dict() for one in self.findings],
            "remarks": self.remarks,
        }

    def parts(self) -> Iterator[Content]:
        yield (
            f"{self.name}, {counted(self.rows, 'row')} with labels. Each label was judged by models of the rule "
            f"{self.rule} that were trained on other rows ({self.folds} folds, twice)."
        )
        yield from self.remarks
        yield ""
        yield from self.about_labels()
        yield from self.about_conflicts()
        yield from self.about_leaks()
        repeats = self.of("repeat")
        if repeats:
            yield (
                f"{counted(len(repeats), 'row repeats', 'rows repeat')} another row with the same label, exactly or "
                "nearly. In cross-validation, the copy of a test row may be among the training rows, and makes the "
                "test too easy."
            )
        if not self.findings:
            yield "Nothing looks wrong."

    def about_labels(self) -> Iterator[str | Grid]:
        found = self.of("label")
        if not found:
            return
        share = len(found) / self.rows
        yield f"{counted(len(found), 'label is', 'labels are')} probably wrong ({share:.1%} of the rows):"
        yield table(found, "rather", "doubt")
        yield (
            "A doubt of 1 means that the label loses by as much as other labels win by. Read these rows from the top, "
            "and correct the labels that are wrong. Do not remove rows unread: rare and difficult examples with right "
            "labels are among them."
        )
        yield ""

    def about_conflicts(self) -> Iterator[str | Grid]:
        found = self.of("conflict")
        if not found:
            return
        yield (
            f"{counted(len(found), 'row has', 'rows have')} another label than a row that is the same or nearly the "
            "same:"
        )
        yield table(found, "other", "similar")
        yield (
            "No model can be right on both. Decide which label is right, or whether another column would tell the rows "
            "apart."
        )
        yield ""

    def about_leaks(self) -> Iterator[str | Grid]:
        if self.against is None:
            return
        found = self.of("leak")
        if not found:
            yield f"No row of {self.against} is the same or nearly the same as a training row."
            yield ""
            return
        share = len(found) / self.tested
        yield (
            f"{len(found):,} of {counted(self.tested, 'row')} of {self.against} ({share:.1%}) "
            f"{'is' if len(found) == 1 else 'are'} the same or nearly the same as a training row:"
        )
        yield table(found, "other", "similar")
        yield (
            "A model has seen these rows, so a test on them says nothing about new rows. Remove them from the training "
            "rows or from the test."
        )
        yield ""


def table(found: list[Finding], second: str, last: str) -> Grid:
    """Return a table of the first findings."""
    of_labels = last == "doubt"
    rows = []
    for one in found[:SHOWN]:
        label = "" if one.label is None else label_in_words(one.label, LABEL_WIDTH)
        instead = "" if one.suggestion is None else label_in_words(one.suggestion, LABEL_WIDTH)
        number = one.doubt if of_labels else one.similarity
        beside = [instead] if of_labels else [instead, f"{one.other:,}"]
        rows.append([one.text or "–", f"{one.row:,}", label, *beside, f"{number:.2f}"])
    more = len(found) - len(rows)
    heads = ["", "row", "label", *([second] if of_labels else ["but", "as row"]), last]
    return Grid([heads], rows, [[f"and {more:,} more", *[""] * (len(heads) - 1)]] if more else [])
