"""`markone parse`: learn to parse sentences, parse them, and measure how well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from markone.cli.models import check_kind
from markone.cli.options import FileName, Flag, given
from markone.cli.training import (
    Checkpoint,
    Json,
    Minutes,
    Quiet,
    check_path,
    default_name,
    learn_and_save,
    progress,
)
from markone.cli.treebanks import (
    File,
    Files,
    Out,
    ReadingSentences,
    Test,
    check_given,
    check_tags,
    facts_of,
    library_options,
    measure,
    open_files,
    open_to_use,
    read_to_learn,
    tell_training,
    write_all,
)
from markone.structured.parser import Parser
from markone.structured.sentences import Sentences
from markone.structured.tree_bank import DEPREL

FOR_PYTHON = {"source", "tag", "checkpoint", "resume", "callback", "progress"}

if TYPE_CHECKING:
    Parsing = dict[str, Any]
else:
    Parsing = library_options("Parsing", Parser.train, FOR_PYTHON, "Learning to parse")


def train(
    *data: Files,
    out: Annotated[FileName | None, Parameter(name=["--out", "-o"])] = None,
    tag: Flag = False,
    test: Test = None,
    checkpoint: Checkpoint = False,
    minutes: Minutes = None,
    resume: Flag = False,
    json: Json = False,
    quiet: Quiet = False,
    learning: Parsing | None = None,
    reading: ReadingSentences | None = None,
) -> None:
    """Learn to parse from a treebank, and save the parser.

    A treebank is a file of CoNLL-U, in which each word has a part of speech, a head and a label. Ctrl-C keeps what was
    learned so far, and --resume goes on from there as if nothing had happened.

    Examples:

    `markone parse train treebank.conllu`

    `markone parse train treebank.conllu --mode fast --test test.conllu -o fast.parser`

    `markone parse train treebank.conllu --tag --mode fast -o text.parser`

    Parameters
    ----------
    out
        The file of the parser: named like the data, with the ending .parser, by default.
    tag
        Learn a tagger as well, which becomes part of the parser, so that it can parse words without tags and plain
        text. The parser learns from tags that are as good as those will be.
    resume
        Go on with a training that was interrupted, to the same parser, bit for bit.
    """
    from markone.cli.report import print_json

    check_given(data, "markone parse train treebank.conllu")
    path = out or default_name(data, "parser")
    check_path(path, [*data, *filter(None, [test])])
    settings: dict[str, Any] = given(learning)
    sentences = read_to_learn(data, given(reading), settings, heads=True)
    parser = learn_and_save(
        lambda checkpoints, going_on: Parser.train(
            sentences, tag=tag, checkpoint=checkpoints, resume=going_on, progress=progress(quiet), **settings
        ),
        path,
        kind="parser",
        checkpoint=checkpoint,
        minutes=minutes,
        resume=resume,
        final=True,
        quiet=quiet,
    )
    evaluation = None if test is None else parser.evaluate(open_files([test], given(reading), heads=True).read())
    if json:
        learned = {
            "mode": parser.settings.mode,
            "tags": parser.settings.tags,
            "tagger": parser.tagger is not None,
            "labels": parser.labels,
            "features": len(parser.weights),
            "crossing": parser.crossing,
        }
        print_json(facts_of(path, sentences, parser.history, learned, evaluation))
    elif not quiet:
        judged = "moves" if parser.settings.mode == "fast" else "sentences"
        tell_training(path, sentences, parser.history, about_parser(parser), evaluation, test, judged)


def about_parser(parser: Parser) -> Iterator[str]:
    with_tagger = "" if parser.tagger is None else ", with a tagger"
    yield (
        f"Learned trees of {len(parser.labels)} labels ({parser.settings.mode}, {len(parser.weights):,} features)"
        f"{with_tagger}."
    )
    if parser.crossing:
        done = "lifted" if parser.settings.crossing == "lift" else "left out"
        yield f"  {parser.crossing:,} sentences have arcs that cross; these were {done}."


def run(
    model: FileName,
    data: File,
    /,
    *,
    out: Out = None,
    output: Literal["conllu", "jsonl", "tree", "html"] = "conllu",
    reading: ReadingSentences | None = None,
) -> None:
    """Parse the sentences of files, or of plain text, with a parser that `markone parse train` has saved.

    CoNLL-U is written as it was read, with new heads and labels. What stood in HEAD does not matter, and DEPS, which
    belonged to it, becomes an underscore. A parser that was trained with --tag tags the words first; any other needs
    their tags. Of an empty file nothing is written.

    Examples:

    `markone parse run treebank.parser test.conllu -o parsed.conllu`

    `echo "The dog barks." | markone parse run text.parser - --output tree`

    `markone parse run treebank.parser test.conllu --output jsonl`

    Parameters
    ----------
    model
        The file of the parser.
    output
        How to write: conllu; jsonl; tree, drawn in characters; or html, a page of pictures.
    """
    from markone.cli.output import check_not_read

    check_not_read(out, model, data)
    check_kind(model, "parser", "use", data)
    parser = Parser.load(model)
    corpus = open_to_use(data, given(reading))

    def found(batch: Sentences) -> bytes:
        check_tags(parser, batch)
        return written(parser.parsed(batch), parser.settings.tags, output)

    page = {"begin": PAGE_BEGINS, "end": PAGE_ENDS} if output == "html" else {}
    write_all(corpus, out, output, found, **page)


def evaluate(
    model: FileName,
    /,
    *data: Files,
    json: Flag = False,
    reading: ReadingSentences | None = None,
) -> None:
    """Measure a parser on a treebank.

    Tells the share of words that have the right head (UAS), and the right head and label (LAS), by the rules of the
    CoNLL shared task of 2018: all words count, and subtypes of labels do not. A parser that was trained with --tag uses
    its own tags, any other those of the treebank.

    Examples:

    `markone parse evaluate treebank.parser test.conllu`

    `markone parse evaluate treebank.parser test.conllu --json`

    Parameters
    ----------
    model
        The file of the parser.
    json
        Print one JSON object instead of the lines.
    """
    measure(Parser.load, "parser", model, data, given(reading), json=json)


# ---- writing

PAGE_BEGINS = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Trees</title>
<style>body { font-family: sans-serif; margin: 2em } svg { display: block; margin: 0 0 2em }</style>
"""
PAGE_ENDS = b"</html>\n"


def written(parsed: Sentences, tags: str, output: str) -> bytes:
    """A batch with its trees, in the format that was asked for."""
    from markone.structured.corpora import COLUMNS_OF_CONLLU
    from markone.structured.drawing import tree_svg, tree_text
    from markone.structured.sentences import FORM, HEAD
    from markone.structured.writing import write_conllu, write_json

    if output == "conllu":
        new = [DEPREL, *({tags} & COLUMNS_OF_CONLLU.keys())]
        return write_conllu(parsed, {name: parsed.column(name) for name in new}, parsed.heads)
    if output == "jsonl":
        return write_json(parsed, [FORM, tags, HEAD, DEPREL])
    columns = parsed.lists(), parsed.head_lists(), parsed.lists(DEPREL), parsed.lists(tags)
    draw = tree_text if output == "tree" else tree_svg
    return "".join(f"{draw(*one)}\n\n" for one in zip(*columns, strict=True)).encode("utf-8", "backslashreplace")
