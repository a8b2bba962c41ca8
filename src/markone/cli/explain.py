"""`markone explain`: what a model goes by, and why it says what it says of an example."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Reading, WholeNumber, given
from markone.data.source import Batch, GivenRows, Source
from markone.data.texts import Texts
from markone.errors import DataError, SettingsError

if TYPE_CHECKING:
    from markone.model.model import Model


def explain(
    model: FileName,
    data: FileName | None = None,
    /,
    *,
    text: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    row: WholeNumber | None = None,
    top: WholeNumber = 20,
    html: FileName | None = None,
    json: Flag = False,
    reading: Reading | None = None,
) -> None:
    """Show what a model goes by or, with an example, why it predicts what it predicts.

    Of a model: the features with the largest weights for each class, how often they occur, and their odds. Of an
    example: each feature with its value, its weight and their product; the products sum to the score.

    Examples:

    `markone explain reviews.model`

    `markone explain reviews.model --text "not a good film, and far too long"`

    `markone explain reviews.model --row 3 new.csv --html row3.html`

    Parameters
    ----------
    model
        The file of the model.
    data
        Where the example is, with --row.
    text
        The example, for a model of texts.
    row
        The number of the example in the data, from 1.
    top
        How many features to show.
    html
        Write a page for a browser, in which the words of texts are marked, to this file instead.
    json
        Print one JSON object, with all features of an example.
    """
    from markone.cli.output import check_not_read
    from markone.cli.report import print_json
    from markone.model.file import load

    if text is not None and (row is not None or data is not None):
        raise SettingsError("text", "is an example of its own; leave out --row and its data")
    if (row is None) != (data is None):
        raise SettingsError("row", "needs the data that the row is in, and data need a row: --row 3 new.csv")
    check_not_read(html, model, data)
    predictor = load(model)
    if text is not None:
        found = predictor.explain(check_text(text, predictor), top=top)
    elif row is not None and data is not None:
        found = next(predictor.explain(one_row(data, row, predictor, given(reading)), top=top))
    elif reading:
        raise SettingsError(next(iter(reading)), "is for data; leave it out, or say --row and the data that it is in")
    else:
        found = predictor.explain(top=top)
    if html is not None:
        from markone.model.atomic import writing

        with writing(html) as file:
            file.write(found.html().encode())
    if json:
        print_json(found.as_dict())
    elif html is None:
        from markone.cli.terminal import WIDE, Terminal, knows_width

        Terminal(highlight=False, width=None if knows_width() else WIDE).print(found)


def check_text(text: str, model: Model) -> str:
    columns = [column.name for column in model.features.columns]
    if [column.kind for column in model.features.columns] != ["text"]:
        raise SettingsError(
            "text", f"is for models of texts, and this one needs {', '.join(columns)}; give a row: --row 1 DATA"
        )
    return text


def one_row(data: str, number: int, model: Model, said: dict[str, Any]) -> Source:
    from markone.cli.reading import open_data

    if number < 1:
        raise SettingsError("row", f"must be at least 1, not {number}")
    source = open_data(data, model, said, once=True)
    before = 0
    for batch in source.batches():
        if number <= before + len(batch):
            return OneRow(source, row_of(batch, number - before - 1))
        before += len(batch)
    raise DataError(f"there is no row {number:,} in {source.name}, which has {before:,}")


class OneRow(Source):
    """A single example of a source."""

    def __init__(self, source: Source, batch: Batch) -> None:
        self.name, self.columns, self.target, self.labels = source.name, source.columns, source.target, source.labels
        self.bad = source.bad
        self.batch = batch

    def batches(self) -> Iterator[Batch]:
        yield self.batch


def row_of(batch: Batch, row: int) -> Batch:
    """A batch of one of its examples."""
    which = np.array([row])

    def only(values: Any) -> Any:
        if isinstance(values, GivenRows):
            return GivenRows(values.matrix[which], values.names)
        return values.take(which) if isinstance(values, Texts) else values[row : row + 1]

    columns = {name: only(values) for name, values in batch.columns.items()}
    return replace(batch, columns=columns, size=1, labels=None, importance=None, kept={})
