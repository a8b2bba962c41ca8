"""`markone parse`: trains, uses and evaluates parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from markone.cli.options import Flag, given
from markone.cli.sentences import (
    Craft,
    ReadingSentences,
    SentenceFile,
    SentenceFiles,
    check_tags,
    learn_and_tell,
    library_options,
    measure,
    write_found,
)
from markone.cli.shared_options import Checkpoint, Json, Minutes, ModelFile, Out, Quiet, SavedAs, Test
from markone.cli.training import Keeping
from markone.structured.corpora import Corpus
from markone.structured.parser import Parser
from markone.structured.sentences import Sentences
from markone.structured.tree_bank import DEPREL

FOR_PYTHON = {"source", "tag", "checkpoint", "resume", "callback", "progress"}

if TYPE_CHECKING:
    Parsing = dict[str, Any]
else:
    Parsing = library_options("Parsing", Parser.train, FOR_PYTHON, "Learning to parse")


def train(
    *data: SentenceFiles,
    out: SavedAs = None,
    tag: Flag = False,
    test: Test = None,
    checkpoint: Checkpoint = False,
    minutes: Minutes = None,
    resume: Annotated[
        Flag, Parameter(help="Resume an interrupted training, which gives the same parser bit for bit.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
    learning: Parsing | None = None,
    reading: ReadingSentences | None = None,
) -> None:
    """Train a dependency parser on a treebank, and save it.

    A treebank is a CoNLL-U file in which each word has a part of speech, a head and a label. Ctrl-C saves a checkpoint,
    from which --resume continues the training.

    For example:

    `markone parse train treebank.conllu`

    `markone parse train treebank.conllu --mode fast --test test.conllu -o fast.parser`

    `markone parse train treebank.conllu --tag --mode fast -o text.parser`

    Parameters
    ----------
    tag
        Also train a tagger and save it in the parser, which can then parse plain text and words without tags. The
        parser is trained on predicted tags, so that it learns to cope with the mistakes of the tagger.
    """
    settings = given(learning) | {"tag": tag}
    keeping = Keeping(checkpoint, minutes, resume, True, quiet)
    learn_and_tell(PARSERS, data, settings, reading, keeping, out=out, test=test, json=json)


def run(
    model: ModelFile,
    data: SentenceFile,
    /,
    *,
    out: Out = None,
    output: Literal["conllu", "jsonl", "tree", "html"] = "conllu",
    reading: ReadingSentences | None = None,
) -> None:
    """Parse the sentences of files or of plain text with a parser that `markone parse train` has saved.

    CoNLL-U is copied with new heads and labels. The old heads are ignored, and the column DEPS, which depends on them,
    becomes an underscore. A parser that was trained with --tag tags the words first; other parsers need tagged words.
    For an empty file, nothing is written.

    For example:

    `markone parse run treebank.parser test.conllu -o parsed.conllu`

    `echo "The dog barks." | markone parse run text.parser - --output tree`

    `markone parse run treebank.parser test.conllu --output jsonl`

    Parameters
    ----------
    output
        The output format: conllu; jsonl; tree, a drawing in characters; or html, a page of pictures.
    """

    def writing(parser: Parser, _: Corpus) -> tuple[str, Callable[[Sentences], bytes]]:
        def write(batch: Sentences) -> bytes:
            check_tags(parser, batch)
            return written(parser.parsed(batch), parser.settings.tags, output)

        return output, write

    page = (PAGE_BEGINS, PAGE_ENDS) if output == "html" else (b"", b"")
    write_found(PARSERS, model, data, reading, out, writing, *page)


def evaluate(
    model: ModelFile, /, *data: SentenceFiles, json: Json = False, reading: ReadingSentences | None = None
) -> None:
    """Measure a parser on a treebank.

    The report shows the share of words with the right head (UAS), and with the right head and label (LAS). As in the
    CoNLL shared task of 2018, all words count, and subtypes of labels are ignored. A parser that was trained with --tag
    uses its own tags; other parsers use the tags of the treebank.

    For example:

    `markone parse evaluate treebank.parser test.conllu`

    `markone parse evaluate treebank.parser test.conllu --json`
    """
    measure(PARSERS, model, data, reading, json=json)


# ---- reports about a parser


def facts_of(parser: Parser) -> dict[str, Any]:
    return {
        "mode": parser.settings.mode,
        "tags": parser.settings.tags,
        "tagger": parser.tagger is not None,
        "labels": parser.labels,
        "features": len(parser.weights),
        "crossing": parser.crossing,
    }


def lines_about(parser: Parser) -> Iterator[str]:
    with_tagger = "" if parser.tagger is None else " and a tagger"
    yield (
        f"Trained a parser with {len(parser.labels)} labels ({parser.settings.mode}, {len(parser.weights):,} features)"
        f"{with_tagger}."
    )
    if parser.crossing:
        treatment = "the arcs were lifted" if parser.settings.crossing == "lift" else "these sentences were skipped"
        yield f"  {parser.crossing:,} sentences have crossing arcs; {treatment}."


def judged(parser: Parser) -> str:
    return "moves" if parser.settings.mode == "fast" else "sentences"


PARSERS = Craft("parser", Parser, facts=facts_of, lines=lines_about, judged=judged, heads=True)


# ---- writing

PAGE_BEGINS = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Trees</title>
<style>body { font-family: sans-serif; margin: 2em } svg { display: block; margin: 0 0 2em }</style>
"""
PAGE_ENDS = b"</html>\n"


def written(parsed: Sentences, tags: str, output: str) -> bytes:
    """Return a batch with its trees in the output format."""
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
