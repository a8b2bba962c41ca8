"""The common parts of `markone tag` and `markone parse`: reading, training, evaluating and writing."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from cyclopts import Parameter

from markone.cli.messages import readable, tell, typed
from markone.cli.models import COMMANDS_FOR, check_kind
from markone.cli.options import FileName, given, options, parameter_docs, usual_value
from markone.cli.progress import wished
from markone.cli.report import endings, print_json, size_in_words
from markone.cli.terminal import say
from markone.cli.training import Keeping, check_path, default_name, learn_and_save
from markone.data.files import STANDARD_INPUT
from markone.errors import DataError, NoDataError
from markone.reporting.grids import counted
from markone.structured.corpora import FORMATS, Corpus, open_corpus
from markone.structured.corpus_store import held_sentences
from markone.structured.parser import Parser
from markone.structured.sentences import Sentences
from markone.structured.tree_bank import with_tags
from markone.structured.writing import in_a_row

if TYPE_CHECKING:
    from markone.learning.checkpoints import Checkpoints
    from markone.model.history import History

WRITTEN = {
    "columns": " Written as form,pos,chunk.",
    "inputs": " Written as pos,lemma.",
    "separator": " Written as tab or space.",
}


@dataclass(frozen=True, slots=True)
class Craft:
    """One kind of models, with everything that its commands need."""

    kind: Literal["tagger", "parser"]
    model: Any
    """The class of the models."""
    facts: Callable[[Any], dict[str, Any]]
    """Facts about a trained model, for `--json`."""
    lines: Callable[[Any], Iterable[str]]
    """The lines about a trained model in the report."""
    judged: Callable[[Any], str] = lambda _: "sentences"
    """The things whose mistakes are counted in a pass."""
    remark: Callable[[Any], str | None] = lambda _: None
    """A remark for standard error, if there is one."""
    heads: bool = False
    """Whether the data must have trees."""


# ---- options

SentenceFiles = Annotated[
    FileName, Parameter(help="One or more files of the same format, a pattern, or - for standard input.")
]
SentenceFile = Annotated[FileName, Parameter(help="A file, a pattern, or - for standard input.")]


def reading_options() -> Any:
    """Return the options of `open_corpus`, with its help texts."""
    without = {"what", "once", "heads"}
    return library_options("Sentences", open_corpus, without, "Reading sentences", format=Literal[FORMATS])


def library_options(name: str, function: Callable[..., Any], without: Collection[str], group: str, **types: Any) -> Any:
    """Return the parameters of a library function as options, with their defaults."""
    hints = {one: kind for one, kind in get_type_hints(function).items() if one not in {*without, "return"}}
    helps = {one: text + WRITTEN.get(one, "") for one, text in parameter_docs(function).items()}
    for one, parameter in inspect.signature(function).parameters.items():
        if one in helps and parameter.default not in (None, inspect.Parameter.empty):
            helps[one] += usual_value(parameter.default)
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
    """Open files of one format, or standard input. `usual` are the names of columns that the user does not name."""
    what: Any = data[0] if len(data) == 1 else [Path(name) for name in data]
    return replace(open_corpus(what, heads=heads, once=once, **said), usual=usual)


def open_to_use(data: str, said: dict[str, Any], usual: Sequence[str] | None = None) -> Corpus:
    """Open a file, which may be empty, or standard input, to predict tags or trees for its sentences."""
    try:
        return open_files([data], said, heads=False, usual=usual, once=True)
    except NoDataError:
        return Corpus([], data, said.get("format") or "text")


def columns_of(model: Any) -> Sequence[str] | None:
    """Return the names of columns that a tagger remembers from its training data."""
    columns: Sequence[str] | None = getattr(model, "columns", None)
    return columns


def check_given(data: Sequence[str], example: str) -> None:
    if not data:
        raise DataError(f"no file was given; name a file of sentences, as in: {example}")


def check_tags(parser: Parser, batch: Sentences) -> None:
    """Check that the words have tags if the parser has no tagger."""
    tags = parser.settings.tags
    if parser.tagger is None and tags not in with_tags(batch, tags).columns:
        raise DataError(
            f"this parser needs words with {tags}; tag the words first with markone tag run, or train a parser with "
            "--tag, which tags them itself"
        )


# ---- training


def learn_and_tell(
    craft: Craft,
    data: Sequence[str],
    settings: dict[str, Any],
    reading: Mapping[str, Any] | None,
    keeping: Keeping,
    *,
    out: str | None,
    test: str | None,
    spec: str | None = None,
    json: bool,
) -> None:
    """Train a model on files, save it, evaluate it on the test file, and print a report or JSON.

    `spec` is another file that is read, which the model must therefore not overwrite.
    """
    check_given(data, f"markone {COMMANDS_FOR[craft.kind].train} treebank.conllu")
    path = out or default_name(data, craft.kind)
    check_path(path, [*data, *filter(None, [spec, test])])
    said = given(reading)
    sentences, spill = held_sentences(open_files(data, said, heads=craft.heads), settings.get("memory"))
    settings = {**settings, "memory": spill.left}

    def learn(checkpoints: Checkpoints, resumed: Any) -> Any:
        kept = {"checkpoint": checkpoints, "resume": resumed, "progress": wished(quiet=keeping.quiet)}
        return craft.model.train(sentences, **kept, **settings)

    model = learn_and_save(learn, path, keeping, craft.kind)
    if (remark := craft.remark(model)) is not None:
        tell(remark)
    evaluation = None if test is None else evaluated(craft, model, [test], said)
    if json:
        print_json(facts_of(craft, model, path, sentences, evaluation))
    elif not keeping.quiet:
        tell_training(craft, model, path, sentences, test, evaluation)
        say("\n".join(next_commands(craft, model, path, data[0])))


def about_training(history: History, judged: str) -> Iterator[str]:
    """Yield lines about the mistakes in the passes and the held-out accuracy. `judged` says what is counted."""
    passes = [one for one in history if one.mistakes is not None]
    if passes:
        first, last = passes[0].mistakes, passes[-1].mistakes
        count = counted(len(passes), "pass", "passes")
        more = f", {last:,} in the last" if len(passes) > 1 else ""
        yield f"  {count}: {first:,} {judged} wrong in the first{more}."
    restored = history.stopped == "held-out" and history.best_epoch is not None
    used = history[(history.best_epoch or 0) - 1] if restored else history[-1]
    if used.holdout is not None:
        rows = counted(history.held_out, "held-out sentence", "held-out sentences")
        yield f"  Accuracy {used.holdout:.2%} on {rows}."


def tell_training(craft: Craft, model: Any, path: str, sentences: Sentences, test: str | None, evaluation: Any) -> None:
    """Print the report of a training: what was read, trained, evaluated and saved."""
    words = counted(sentences.words, "word", "words")
    say(f"Read {counted(len(sentences), 'sentence', 'sentences')} with {words}.")
    for line in [*craft.lines(model), *about_training(model.history, craft.judged(model))]:
        say(line)
    if evaluation is not None:
        say(f"On {readable(str(test))}:")
        say("\n".join(f"  {line}" for line in str(evaluation).split("\n")))
    say(f"Saved {readable(path)}, {size_in_words(os.path.getsize(path))}.")


def next_commands(craft: Craft, model: Any, path: str, data: str) -> Iterator[str]:
    """Return the commands that measure and use the model, for files like that of the training."""
    commands = COMMANDS_FOR[craft.kind]
    like = f"TEST{'' if data == STANDARD_INPUT else endings(data)}"
    yield f"Next:  {typed('markone', *commands.measure.split(), path, like)}"
    if isinstance(model, Parser) and model.tagger is None:
        yield f"       {typed('markone', *commands.use.split(), path, like)}"
    else:
        yield f'       echo "..." | {typed("markone", *commands.use.split(), path, "-")}'


def facts_of(craft: Craft, model: Any, path: str, sentences: Sentences, evaluation: Any) -> dict[str, Any]:
    """Return the facts about a training for `--json`."""
    return {
        "model": path,
        "bytes": os.path.getsize(path),
        "sentences": len(sentences),
        "words": sentences.words,
        "held_out": model.history.held_out,
        "passes": [asdict(one) for one in model.history],
        "stopped": model.history.stopped,
        **craft.facts(model),
        **({} if evaluation is None else {"test": evaluation.as_dict()}),
    }


# ---- evaluating


def measure(craft: Craft, path: str, data: Sequence[str], reading: Mapping[str, Any] | None, *, json: bool) -> None:
    """Evaluate a model on files, and print a report or JSON."""
    check_given(data, f"markone {COMMANDS_FOR[craft.kind].measure} treebank.{craft.kind} test.conllu")
    check_kind(path, craft.kind, "measure", *data)
    evaluation = evaluated(craft, craft.model.load(path), data, given(reading))
    if json:
        print_json(evaluation.as_dict())
    else:
        say(evaluation)


def evaluated(craft: Craft, model: Any, data: Sequence[str], said: dict[str, Any]) -> Any:
    return model.evaluate(open_files(data, said, heads=craft.heads, usual=columns_of(model)).read())


# ---- writing


def write_found(
    craft: Craft,
    path: str,
    data: str,
    reading: Mapping[str, Any] | None,
    out: str | None,
    writing: Callable[[Any, Corpus], tuple[str, Callable[[Sentences], bytes]]],
    begin: bytes = b"",
    end: bytes = b"",
) -> None:
    """Write the predictions of a model, one batch at a time, between `begin` and `end`.

    `writing` takes the model and the corpus, and returns the output format and a function that formats a batch.
    """
    from markone.cli.output import check_not_read, opened

    check_not_read(out, path, data)
    check_kind(path, craft.kind, "use", data)
    model = craft.model.load(path)
    corpus = open_to_use(data, given(reading), columns_of(model))
    format, formatted = writing(model, corpus)
    empty = True
    pieces = map(formatted, corpus)
    with opened(out) as write:
        for piece in in_a_row(pieces) if format in ("conllu", "columns") else pieces:
            write(begin + piece if empty else piece)
            empty = False
        write(begin + end if empty else end)
