"""Opens training data, and data for a model. The latter are read like the training data, unless the user or the name of
the file says otherwise."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markone.cli.options import given
from markone.data.files import STANDARD_INPUT
from markone.data.finding import files_in, find, format_of
from markone.data.formats import LABEL_OF_LINES, has_sets_of_labels, has_target_column, useless_options
from markone.data.options import MAKE
from markone.data.read import read
from markone.data.source import Source, no_target
from markone.errors import DataError
from markone.features.examples import completed
from markone.model.model import Model

ANY_FORMAT = ("encoding", "longest_line")
"""The options that also apply to files of another format."""


def check_given(command: str, data: Sequence[str]) -> None:
    if not data:
        raise DataError(f"no file was given; name a file, as in: markone {command} reviews.csv --target label")


def open_rows(
    command: str,
    data: Sequence[str],
    reading: Mapping[str, Any] | None,
    base: Model | None = None,
    *,
    target: str | None,
    importance: str | None = None,
    threads: int | None,
) -> Source:
    """Open labelled rows; if there is a base model, they are read like its training data."""
    check_given(command, data)
    said = given(reading)
    options = {"target": target, **said}
    if base is not None:
        options = options_like(data[0], base, said, target=target, with_labels=True)
    what = data[0] if len(data) == 1 else [Path(name) for name in data]
    source = labelled(read(what, importance=importance, threads=threads, **options))
    remember_name(source, data[0])
    return source


def open_data(
    data: str,
    model: Model,
    said: Mapping[str, Any],
    *,
    target: str | None = None,
    with_labels: bool = False,
    keep: Any = (),
    once: bool = False,
    threads: int | None = None,
) -> Source:
    """Open data for a model. `said` are the options of `markone.read` that the user gave.

    With labels, they are in the column `target`, by default the target of the model.
    """
    options = options_like(data, model, said, target=target, with_labels=with_labels)
    if keep:
        options["keep"] = keep
    source = read(data, once=once, threads=threads, **options)
    return completed(labelled(source) if with_labels else source, model.features.columns)


def options_like(
    data: str, model: Model, said: Mapping[str, Any], *, target: str | None, with_labels: bool
) -> dict[str, Any]:
    """Return the arguments of `markone.read`, with the target, that read data like the training data of the model."""
    named = None if data == STANDARD_INPUT else name_says(data)
    format = said.get("format") or usual_format(data, named, model, with_labels=with_labels)
    options = options_for(format, named, model.reading, said)
    if with_labels and target is None and has_target_column(format):
        target = model.target
    # Lines contain their labels also when these are not wanted, and must be read so.
    column = target if has_target_column(format) else LABEL_OF_LINES if has_sets_of_labels(format) else None
    kind = model.reading.get("kinds", {}).get(column)
    if kind is not None and column is not None and (with_labels or not has_target_column(format)):
        options["kinds"] = {column: kind, **options.get("kinds", {})}
    return {"target": target, **options}


def options_for(
    format: str | None, named: str | None, reading: Mapping[str, Any], said: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of `markone.read` for a file of this format: those that the user gave, and else those of the
    training data. `named` is the format that the name of the file says."""
    options = usual_options(reading, format) | dict(said)
    if any(name in said for name in ("header", "columns")):
        options = {name: value for name, value in options.items() if name in said or name not in ("header", "columns")}
    if "format" not in said and format != named:
        options["format"] = format
    return options


def open_like(data: str, source: Source, said: Mapping[str, Any], threads: int | None) -> Source:
    """Open data in the same format as a source, with or without labels."""
    named = None if data == STANDARD_INPUT else name_says(data)
    own = source.reading.get("format")
    format = said.get("format") or (own if named in (None, source.reading.get("named")) else named)
    return read(data, threads=threads, **options_for(format, named, source.reading, said))


def labelled(source: Source) -> Source:
    """Return the source, or raise an error if its examples have no labels."""
    if source.target is not None:
        return source
    if source.reading.get("format") == "lines":
        raise DataError(f"the texts in {source.name} have no labels; each line needs a label, a tab and a text")
    raise no_target(source)


def usual_format(data: str, named: str | None, model: Model, *, with_labels: bool) -> str | None:
    """Return the format that the name of the data says, or else the format of the training data.

    If the name of the training data was misleading, a file with such a name has their format, too. Standard input that
    is to be predicted by a model of texts is plain lines.
    """
    if data == STANDARD_INPUT and not with_labels and [column.kind for column in model.features.columns] == ["text"]:
        return "lines"
    own: str | None = model.reading.get("format")
    return own if named in (None, model.reading.get("named")) else named


def remember_name(source: Source, data: str) -> None:
    """Note in `reading`, which the model stores, the format that the name of the file says, if it is another one."""
    named = None if data == STANDARD_INPUT else name_says(data)
    # A name that ends in .txt does not say whether texts have labels.
    if named not in (None, source.reading.get("format")) and {named, source.reading.get("format")} != {"tab", "lines"}:
        source.reading = {**source.reading, "named": named}


def name_says(data: str) -> str | None:
    """Return the format according to the name of a file, or of the files of a folder or a pattern."""
    first = find(data)[0]
    if not os.path.isdir(first):
        return format_of(first)
    files, folders = files_in(first)
    return next(filter(None, map(format_of, files)), "folders" if folders else None)


def usual_options(reading: Mapping[str, Any], format: str | None) -> dict[str, Any]:
    """Return the options of the training data that apply to a file of this format, without the kinds of columns."""
    names = MAKE if format == reading.get("format") else ANY_FORMAT
    excluded = {"kinds", "named", *useless_options(format)}
    return {name: reading[name] for name in names if name in reading and name not in excluded}
