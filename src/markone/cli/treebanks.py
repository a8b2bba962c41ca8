"""What the commands for sentences have in common: how files of them are read, what is said and written of them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

from cyclopts import Parameter

from markone.cli.messages import readable
from markone.cli.models import COMMANDS_FOR, check_kind
from markone.cli.options import FileName, options, parameter_docs
from markone.cli.report import counted, print_json, size_in_words
from markone.cli.terminal import say
from markone.data.strings import Strings
from markone.errors import DataError, NoDataError
from markone.structured.corpora import COLUMNS_OF_CONLLU, FORMATS, Corpus, open_corpus
from markone.structured.corpus_store import held_sentences
from markone.structured.parser import Parser
from markone.structured.sentences import FORM, TAG, Sentences
from markone.structured.tree_bank import with_tags
from markone.structured.writing import append_column, in_a_row, write_columns, write_conllu, write_json

if TYPE_CHECKING:
    from markone.model.history import History
    from markone.structured.tagger import Tagger

Output = Literal["conllu", "columns", "jsonl"]
WRITTEN = {
    "columns": " Written as form,pos,chunk.",
    "inputs": " Written as pos,lemma.",
    "separator": " Written as tab or space.",
}


# ---- options

Files = Annotated[FileName, Parameter(help="Files of one format, a pattern, or - for standard input.")]
File = Annotated[FileName, Parameter(help="A file, a pattern, or - for standard input.")]
Test = Annotated[
    FileName | None,
    Parameter(help="A labelled file in the same format: the model is measured on it when everything else is done."),
]
Out = Annotated[
    FileName | None, Parameter(name=["--out", "-o"], help="The file to write. It appears when all is written.")
]


def reading_options() -> Any:
    """Those of `open_corpus`, in its own words."""
    without = {"what", "once", "heads"}
    return library_options("Sentences", open_corpus, without, "Reading sentences", format=Literal[FORMATS])


def library_options(name: str, function: Callable[..., Any], without: Collection[str], group: str, **types: Any) -> Any:
    """The settings of a function of the library as options, with their usual values."""
    hints = {one: kind for one, kind in get_type_hints(function).items() if one not in {*without, "return"}}
    helps = {one: text + WRITTEN.get(one, "") for one, text in parameter_docs(function).items()}
    for one, parameter in inspect.signature(function).parameters.items():
        if one in helps and parameter.default not in (None, inspect.Parameter.empty):
            usual = parameter.default
            helps[one] += f" [default: {('yes' if usual else 'no') if isinstance(usual, bool) else usual}]"
    return options(name, hints | types, helps, group)


if TYPE_CHECKING:
    ReadingSentences = dict[str, Any]
else:
    ReadingSentences = reading_options()


# ---- reading


def open_files(
    data: Sequence[str],
    said: dict[str, Any],
    *,
    heads: bool,
    usual: Sequence[str] | None = None,
    once: bool = False,
) -> Corpus:
    """Files of one format, or standard input. Columns that the user does not name have their usual names."""
    what: Any = data[0] if len(data) == 1 else [Path(name) for name in data]
    return replace(open_corpus(what, heads=heads, once=once, **said), usual=usual)


def open_to_use(data: str, said: dict[str, Any], usual: Sequence[str] | None = None) -> Corpus:
    """A file or standard input whose sentences get new tags or trees, and may be none."""
    try:
        return open_files([data], said, heads=False, usual=usual, once=True)
    except NoDataError:
        return Corpus([], data, said.get("format") or "text")


def read_to_learn(data: Sequence[str], said: dict[str, Any], settings: dict[str, Any], *, heads: bool) -> Sentences:
    """All sentences of the files, in memory as far as they may be; the settings say what is left of that."""
    sentences, spill = held_sentences(open_files(data, said, heads=heads), settings.get("memory"))
    settings["memory"] = spill.left
    return sentences


def check_given(data: Sequence[str], example: str) -> None:
    if not data:
        raise DataError(f"there are no sentences; name a file of them, as in: {example}")


def check_tags(parser: Parser, batch: Sentences) -> None:
    """That a parser which does not tag words itself is given their tags."""
    tags = parser.settings.tags
    if parser.tagger is None and tags not in with_tags(batch, tags).columns:
        raise DataError(
            f"the words have no {tags}, by which this parser goes; tag them first with markone tag run, or train a "
            "parser with --tag, which does so itself"
        )


# ---- saying


def about_training(history: History, judged: str) -> Iterator[str]:
    """How the passes went, and how many of what is judged were wrong in them."""
    passes = [one for one in history if one.mistakes is not None]
    if passes:
        first, last = passes[0].mistakes, passes[-1].mistakes
        made = counted(len(passes), "pass", "passes")
        yield f"  {made}: {first:,} {judged} wrong in the first, {last:,} in the last."
    restored = history.stopped == "held-out" and history.best_epoch is not None
    used = history[(history.best_epoch or 0) - 1] if restored else history[-1]
    if used.holdout is not None:
        yield f"  {used.holdout:.2%} right on {counted(history.held_out, 'held-out sentence', 'held-out sentences')}."


def tell_training(
    path: str,
    sentences: Sentences,
    history: History,
    learned: Iterable[str],
    evaluation: Any,
    test: str | None,
    judged: str = "sentences",
) -> None:
    """What people are told of a training of any kind: what was read, learned, measured and saved."""
    words = counted(sentences.words, "word", "words")
    say(f"Read {counted(len(sentences), 'sentence', 'sentences')} of {words}.")
    for line in [*learned, *about_training(history, judged)]:
        say(line)
    if evaluation is not None:
        say(f"On {readable(str(test))}:")
        say("\n".join(f"  {line}" for line in str(evaluation).split("\n")))
    say(f"Saved {readable(path)}, {size_in_words(os.path.getsize(path))}.")


def facts_of(
    path: str, sentences: Sentences, history: History, learned: dict[str, Any], evaluation: Any
) -> dict[str, Any]:
    """What machines are told of a training of any kind."""
    return {
        "model": path,
        "bytes": os.path.getsize(path),
        "sentences": len(sentences),
        "words": sentences.words,
        "held_out": history.held_out,
        "passes": [asdict(one) for one in history],
        "stopped": history.stopped,
        **learned,
        **({} if evaluation is None else {"test": evaluation.as_dict()}),
    }


def measure(
    load: Callable[[str], Tagger | Parser],
    kind: str,
    path: str,
    data: Sequence[str],
    said: dict[str, Any],
    *,
    json: bool,
) -> None:
    """Measures a tagger or a parser, and tells people or machines."""
    check_given(data, f"markone {COMMANDS_FOR[kind].measure} treebank.{kind} test.conllu")
    check_kind(path, kind, "measure", *data)
    model = load(path)
    usual = None if isinstance(model, Parser) else model.columns
    evaluation = model.evaluate(open_files(data, said, heads=isinstance(model, Parser), usual=usual).read())
    if json:
        print_json(evaluation.as_dict())
    else:
        say(evaluation)


# ---- writing


def write_all(
    corpus: Corpus,
    out: str | None,
    format: str,
    found: Callable[[Sentences], bytes],
    *,
    begin: bytes = b"",
    end: bytes = b"",
) -> None:
    """Writes what is found of the sentences, a batch at a time, with what begins and ends a page around it."""
    from markone.cli.output import opened

    empty = True
    pieces = map(found, corpus)
    with opened(out) as write:
        for piece in in_a_row(pieces) if format in ("conllu", "columns") else pieces:
            write(begin + piece if empty else piece)
            empty = False
        write(begin + end if empty else end)


def usual_output(corpus: Corpus) -> Output:
    """The format that sentences are in, if they can be written so."""
    formats: dict[str, Output] = {one: one for one in get_args(Output)}
    return formats.get(corpus.format, "columns")


def written(batch: Sentences, column: str, found: Strings, format: Output) -> bytes:
    """A batch with a column that was found."""
    if format == "columns" and batch.source is not None and batch.source.format == "columns":
        return append_column(batch, found)
    if format == "conllu":
        if column not in COLUMNS_OF_CONLLU:
            raise DataError(f"CoNLL-U has no column for {column!r}; say --output columns or jsonl")
        return write_conllu(batch, {column: found})
    name = column if column in COLUMNS_OF_CONLLU else TAG
    write = write_columns if format == "columns" else write_json
    return write(batch.with_columns({name: found}), [FORM, name])
