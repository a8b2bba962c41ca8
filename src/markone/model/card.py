"""The card of a model: what it was trained on, how, how good it is, and what it cannot do; as Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from markone import __version__
from markone.brief import Brief
from markone.errors import SettingsError
from markone.model.history import REASONS
from markone.reporting import html
from markone.reporting.grids import Grid, counted, label_in_words, plain_number, visible

if TYPE_CHECKING:
    from markone.model.model import Model

STRONGEST = 10
MOST_ROWS = 30
"""The largest number of columns or classes that are listed."""
MANY_HELD_OUT = 100
"""With so many held-out examples, of which none is wrong, a table is suspiciously easy."""
NOT_OF_TABLES = ("text", "image", "rows")
MOST_NUMBERS = 20
"""More classes than this that are all numbers are probably measurements."""
SPECIAL = "\\`*_{}[]<>#|"

Rows = list[tuple[str, str]]


@dataclass(frozen=True, slots=True, repr=False)
class Section(Brief):
    """A part of a card: sentences, and a table of two columns."""

    title: str
    sentences: tuple[str, ...] = ()
    heads: tuple[str, str] = ("", "")
    rows: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Card(Brief):
    """The card of a model. `str` is Markdown, and `html` is a page."""

    name: str
    sections: tuple[Section, ...]

    def in_brief(self) -> str:
        return f"{self.name}, {len(self.sections)} sections"

    def __str__(self) -> str:
        return self.markdown()

    def markdown(self) -> str:
        """Return the card as Markdown."""
        return "\n\n".join(
            [f"# {marked_down(self.name)}", *(part for one in self.sections for part in in_markdown(one))]
        )

    def html(self) -> str:
        """Return the card as a complete page, which loads nothing from the network."""
        return html.page(self.name, self._repr_html_())

    def _repr_html_(self) -> str:
        return html.fragment(
            [f"<h1>{html.escaped(self.name)}</h1>", *(part for one in self.sections for part in in_html(one))]
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the card for JSON."""
        return {
            "name": self.name,
            "sections": [
                {"title": one.title, "sentences": list(one.sentences), "rows": [list(row) for row in one.rows]}
                for one in self.sections
            ],
        }


def in_markdown(section: Section) -> Iterator[str]:
    yield f"## {marked_down(section.title)}"
    yield from map(marked_down, section.sentences)
    if section.rows:
        head, *rows = ([*map(marked_down, row)] for row in (section.heads, *section.rows))
        yield "\n".join(f"| {first} | {second} |" for first, second in (head, ("---", "---"), *rows))


def in_html(section: Section) -> Iterator[str]:
    yield f"<h2>{html.escaped(section.title)}</h2>"
    yield from map(html.paragraph, section.sentences)
    if section.rows:
        yield html.table(Grid([list(section.heads)], [list(row) for row in section.rows], words=(0, 1)))


def marked_down(text: str) -> str:
    """Return a text on one line, in which no character has a meaning in Markdown.

    >>> print(marked_down("a|b *c*"))
    a\\|b \\*c\\*
    """
    return "".join(f"\\{character}" if character in SPECIAL else character for character in visible(text))


# ---- the parts of a card


def card_of(model: Model, name: str | None = None) -> Card:
    title = name or f"A model of {model.target!r}" if model.target or name else "A model"
    parts = (about, data, training, figures, features, limits)
    return Card(title, tuple(part(model) for part in parts))


def overview(model: Model) -> Iterator[str | Grid]:
    """Return what a notebook shows of a model: what it is, how good it is, and its strongest features."""
    yield f"Model: {model.in_brief()}"
    for part in (data(model), figures(model)):
        yield from part.sentences
    rows = figures(model).rows
    if rows:
        yield Grid([], [list(row) for row in rows])
    strong = features(model)
    yield from strong.sentences
    if strong.rows:
        yield Grid([list(strong.heads)], [list(row) for row in strong.rows], words=(0, 1), sentences=True)


def about(model: Model) -> Section:
    return Section(
        "Model",
        (),
        ("fact", "value"),
        (
            ("rule", model.settings.rule),
            kinds_of_labels(model),
            ("features", f"{model.features.width:,}"),
            ("digest", model.digest),
            ("Markone", __version__),
        ),
    )


def kinds_of_labels(model: Model) -> tuple[str, str]:
    if model.several is None:
        return "classes", counted(len(model.classes), "class", "classes")
    return "labels", f"{counted(len(model.classes), 'label')}, of which an example can have several"


def data(model: Model) -> Section:
    """The columns and classes of the data."""
    history, columns = model.history, model.features.columns
    rows: Rows = [(f"column {column.name}", str(column.kind)) for column in columns[:MOST_ROWS]]
    rows += [("more columns", f"{len(columns) - MOST_ROWS:,}")] if len(columns) > MOST_ROWS else []
    rows += [(f"class {label_in_words(label)}", f"number {i}") for i, label in enumerate(model.classes[:MOST_ROWS])]
    rows += [("more classes", f"{len(model.classes) - MOST_ROWS:,}")] if len(model.classes) > MOST_ROWS else []
    said = f"It was trained on {counted(history.rows, 'example')}" + (
        f", and {history.held_out:,} were held out." if history.held_out else "."
    )
    skipped = f"{history.unlabelled:,} examples without a label were skipped." if history.unlabelled else ""
    target = "" if model.target is None else f"It predicts the column {model.target}."
    given = history.stopped == "given"
    sentences = ("Its numbers were given, and not learned.",) if given else tuple(filter(None, (said, skipped, target)))
    return Section("Data", sentences, ("part", "kind"), tuple(rows))


def training(model: Model) -> Section:
    """The settings, with the defaults of the rule, and why training ended."""
    spelled = model.settings.spelled_out()
    rows = [
        (field.name, plain(value))
        for field in fields(spelled)
        if (value := getattr(spelled, field.name)) is not None and value != {}
    ]
    passes = len(model.history)
    said = f"Training ended after {counted(passes, 'pass', 'passes')}, because {REASONS[model.history.stopped]}."
    return Section("Training", (said,), ("setting", "value"), tuple(rows))


def figures(model: Model) -> Section:
    """What is known of its accuracy."""
    history = model.history
    rows: Rows = []
    held = [one.holdout for one in history if one.holdout is not None]
    if held:
        best = history.best_epoch
        used = next((one.holdout for one in history if one.epoch == best), held[-1]) if best else held[-1]
        what = "held-out accuracy" if model.several is None else "held-out examples whose labels are all right"
        rows.append((what, f"{used:.1%}" if used is not None else "unknown"))
    if history.majority is not None and not model.predicts_numbers:
        what = "class" if model.several is None else "set of labels"
        rows.append((f"accuracy of always predicting the most frequent {what}", f"{history.majority:.1%}"))
    last = history[-1] if len(history) else None
    if last is not None and last.mistakes is not None and history.rows:
        decisions = history.rows * (1 if model.several is None else len(model.classes))
        rows.append(("mistakes in the last pass", f"{last.mistakes:,} of {decisions:,}"))
    sentences = () if held else ("No examples were held out, so its accuracy on new examples is unknown.",)
    return Section("Figures", (*sentences, *doubts(model)), ("figure", "value"), tuple(rows))


def doubts(model: Model) -> Iterator[str]:
    """What suggests that the data or the rule are not what was meant."""
    history = model.history
    rates = [one.holdout for one in history if one.holdout is not None]
    if (
        rates
        and max(rates) == 1
        and history.held_out >= MANY_HELD_OUT
        and any(column.kind not in NOT_OF_TABLES for column in model.features.columns)
    ):
        yield (
            "It was right on all held-out examples. Does a column give the target away, because it is known only "
            "afterwards? markone.inspect looks for such columns."
        )
    if (
        model.several is None
        and len(model.classes) > MOST_NUMBERS
        and all(isinstance(label, int | float) for label in model.classes)
    ):
        yield f"Its {len(model.classes):,} classes are numbers. To predict numbers, use the rule 'regression'."


def features(model: Model) -> Section:
    """The strongest features of each class."""
    try:
        explained = model.explain(top=STRONGEST)
    except SettingsError:  # the features of a network interact
        return Section("Strongest features", ("Its features have no weights of their own.",))
    rows = [
        (label_in_words(label), ", ".join(map(visible, names)))
        for label, names in explained.by_class(STRONGEST)[:MOST_ROWS]
    ]
    return Section("Strongest features", (), ("class", "features"), tuple(rows))


def limits(model: Model) -> Section:
    """What users of the model should know."""
    said = [
        f"It knows {counted(len(model.classes), 'class', 'classes')}, and predicts one of them for every example, "
        "however strange the example is."
    ]
    if model.several is not None:
        said = [
            f"It knows {counted(len(model.classes), 'label')}, and decides about each of them on its own, for every "
            "example."
        ]
    kinds = {column.kind for column in model.features.columns}
    if "text" in kinds:
        said.append("Words that were not in its training data do not change its scores.")
    if "categorical" in kinds:
        said.append("Values of a categorical column that were not in its training data count as one other value.")
    if model.several is not None and model.several.calibrated:
        said.append("The probabilities of its labels were learned from rows that it was not trained on.")
    elif model.calibrator is not None:
        rows = counted(model.calibrator.rows, "row")
        said.append(f"Its probabilities were learned from {rows} that it was not trained on.")
    elif model.has_probabilities:
        said.append("Its probabilities are computed from its scores. They are not calibrated on other data.")
    else:
        said.append("Its scores are not probabilities.")
    said.append("It repeats what its training data have, including their errors and their bias.")
    return Section("Limits", tuple(said))


def plain(value: Any) -> str:
    return plain_number(value) if isinstance(value, float) else str(value)
