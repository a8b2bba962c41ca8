"""`markone explain`: shows the weights of a model, or why it makes a prediction."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from markone.cli.options import FileName, Flag, WholeNumber, given, read_options
from markone.cli.shared_options import Plot
from markone.data.source import Source
from markone.data.subsets import OneBatch, taken
from markone.errors import DataError, Setting, SettingsError
from markone.structured.corpora import FORMATS as FORMATS_OF_SENTENCES

if TYPE_CHECKING:
    from markone.model.model import Model
    from markone.reporting.shown import Shown

    Reading = dict[str, Any]
else:
    Reading = read_options(FORMATS_OF_SENTENCES)


def explain(
    model: FileName,
    data: FileName | None = None,
    /,
    *,
    text: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    row: WholeNumber | None = None,
    word: WholeNumber | None = None,
    top: WholeNumber = 20,
    running: Flag = False,
    html: FileName | None = None,
    plot: Plot = None,
    json: Flag = False,
    reading: Reading | None = None,
) -> None:
    """Show the most important features of a model or, for an example, the reasons for its prediction.

    For a model, the table shows the features with the largest weights for each class, how often they occur, and their
    odds. For an example, it shows each feature with its value, its weight and their product. The products add up to the
    score.

    For a tagger or a parser, an example is a sentence. The table shows for each word the prediction, the second best
    answer, the difference of their scores, and the strongest evidence for and against the prediction. With --word, it
    shows all evidence about the tag of one word, or about its head and label.

    For example:

    `markone explain reviews.model`

    `markone explain reviews.model --text "not a good film, and far too long"`

    `markone explain reviews.model --row 3 new.csv --html row3.html`

    `markone explain reviews.model --plot weights.png`

    `markone explain naive-bayes.model "not a good film" --running`

    `markone explain treebank.tagger "The dog barks."`

    `markone explain text.parser "The dog barks." --word 2`

    `markone explain treebank.parser --row 3 test.conllu`

    Parameters
    ----------
    model
        The file of the model, tagger or parser.
    data
        The file that contains the example, for --row; or a text of several words, which is the example, as with --text.
    text
        The example, for a model of texts; for taggers and parsers, a sentence.
    row
        The number of the example in the data, starting with 1; for taggers and parsers, the number of the sentence.
    word
        The number of a word in the sentence, starting with 1.
    top
        The number of features to show.
    running
        For naive Bayes and a text: show the words in their order, with their probabilities in each class and the
        running totals of the logarithms.
    html
        Write an HTML page to this file instead. It marks the words of texts.
    json
        Print one JSON object instead. It contains all features of an example.
    """
    from markone.cli.console import Terminal
    from markone.cli.output import check_not_read, write_page
    from markone.cli.pictures import check_picture, of_explanation, save_picture
    from markone.cli.report import print_json
    from markone.cli.terminal import WIDE, knows_width
    from markone.model.model import load
    from markone.storage.container import kind_of

    if text is None and row is None and data is not None and is_text(data):
        text, data = data, None
    example = example_in(data, row, text, reading)
    check_not_read(html, model, data)
    check_picture(plot, model, data, written=[html])
    if plot is not None and running:
        raise SettingsError("plot", "draws products and weights, but not running totals; leave out --running")
    if (kind := kind_of(model)) in ("tagger", "parser"):
        if running:
            raise SettingsError("running", "is only for naive Bayes; leave it out")
        if plot is not None:
            raise SettingsError("plot", f"draws the weights of classifiers, and this is a {kind}; use --html instead")
        from markone.cli.explain_sentences import explain_words

        found = explain_words(model, text, example, given(reading), word=word, top=top)
    elif word is not None:
        raise SettingsError("word", "is only for taggers and parsers; leave it out")
    else:
        predictor = load(model)
        if plot is not None and (predictor.predicts_numbers or predictor.several is not None):
            what = "numbers" if predictor.predicts_numbers else "several labels for each row"
            raise SettingsError("plot", f"draws the weights of classes, and this model predicts {what}; use --html")
        found = explain_example(predictor, text, example, given(reading), top=top, running=running)
        save_picture(plot, lambda: of_explanation(found, predictor), f"Explanation of {model}")
    write_page(html, found.html)
    if json:
        print_json(found.as_dict())
    elif html is None:
        Terminal(highlight=False, width=None if knows_width() else WIDE).print(found)


def example_in(data: str | None, row: int | None, text: str | None, reading: Reading | None) -> tuple[str, int] | None:
    """Return the data and the number of the row to explain, or None."""
    if text is not None and (row is not None or data is not None):
        raise SettingsError("text", "is the example, so leave out --row and the data")
    if row is None and data is not None and not os.path.exists(data):
        advice = ("if this is the text to explain, write ", Setting("text", data))
        raise DataError(f"there is no file {data}", advice=advice)
    if (row is None) != (data is None):
        raise SettingsError("row", "and the data belong together: give both, as in --row 3 new.csv")
    if reading and data is None:
        raise SettingsError(next(iter(reading)), "is only for reading data; leave it out, or give --row and the data")
    if row is not None and row < 1:
        raise SettingsError("row", f"must be at least 1, not {row}", value=row)
    return None if row is None or data is None else (data, row)


def is_text(data: str) -> bool:
    """Whether this is a text rather than a file: it has several words, and no file has this name."""
    return len(data.split()) > 1 and not os.path.exists(data)


def explain_example(
    predictor: Model,
    text: str | None,
    example: tuple[str, int] | None,
    said: dict[str, Any],
    *,
    top: int,
    running: bool,
) -> Shown:
    found: Shown
    if text is not None:
        found = predictor.explain(check_text(text, predictor), top=top, running=running)
    elif example is not None:
        found = next(predictor.explain(one_row(*example, predictor, said), top=top, running=running))
    else:
        found = predictor.explain(top=top, running=running)
    return found


def check_text(text: str, model: Model) -> str:
    columns = [column.name for column in model.features.columns]
    if [column.kind for column in model.features.columns] != ["text"]:
        raise SettingsError(
            "text", f"is only for models of texts, and this model needs {', '.join(columns)}; use --row 1 DATA instead"
        )
    return text


def one_row(data: str, number: int, model: Model, said: dict[str, Any]) -> Source:
    from markone.cli.reading import open_data

    source = open_data(data, model, said, once=True)
    before = 0
    for batch in source.batches():
        if number <= before + len(batch):
            return OneBatch(source, replace(taken(batch, np.array([number - before - 1])), labels=None))
        before += len(batch)
    raise DataError(f"there is no row {number:,} in {source.name}, which has {before:,} rows")
